//! What is seen of this host's files, and what can be changed.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use sandcastle::sandbox::{Access, Bubblewrap, Mount, Program, SandboxProvider};

use super::{Room, elsewhere, listing, shell};
use crate::support::repository::Repository;

#[tokio::test]
async fn the_work_tree_is_there_at_its_path_and_git_works_in_it() {
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    let tree = room.repository.path().canonicalize().unwrap();
    assert_eq!(room.told("pwd").await, tree.display().to_string());
    room.told("echo made >made.txt && git add made.txt && git commit -qm Inside && git log -1").await;
    assert_eq!(room.repository.subjects(), ["Inside", "first"]);
    let made = fs::metadata(tree.join("made.txt")).unwrap();
    assert_eq!(made.uid(), fs::metadata(&tree).unwrap().uid(), "files belong to whom the tree belongs");
    room.handle.close().await.unwrap();
    assert_eq!(listing(&tree), [".git", "README.md", "made.txt"], "nothing else is left in the tree");
}

#[tokio::test]
async fn nothing_else_of_this_host_is_readable_and_nothing_of_the_system_writable() {
    let elsewhere = elsewhere();
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    let secret = elsewhere.path().join("secret").display().to_string();
    symlink(&secret, room.repository.path().join("link")).unwrap();
    symlink("/", room.repository.path().join("root")).unwrap();
    for (what, script) in [
        ("another folder", format!("cat '{secret}'")),
        ("a link out of the tree", "cat link".to_owned()),
        ("a link to the root", format!("cat root/'{secret}'")),
        ("by way of a process", format!("cat /proc/1/root/'{secret}' /proc/self/root/'{secret}'")),
        ("home folders", "ls -A /root/.ssh /home/*/.ssh 2>/dev/null | grep .".to_owned()),
        ("other home folders", "ls -A /home | grep -v '^agent$'".to_owned()),
        ("passwords", "grep . /etc/shadow /etc/gshadow".to_owned()),
        ("private keys", "ls -A /etc/ssl/private | grep .".to_owned()),
        (
            "sockets of services",
            "find /run /var -mindepth 1 ! -path /var/tmp | grep -v '^/run/systemd'".to_owned(),
        ),
        ("settings of the kernel", "echo 1 >/proc/sys/vm/overcommit_memory".to_owned()),
        ("the core pattern", "cat /proc/sys/kernel/core_pattern >/proc/sys/kernel/core_pattern".to_owned()),
        ("the kernel's memory of devices", "ls /sys | grep .".to_owned()),
        ("/etc", "touch /etc/x".to_owned()),
        ("/usr", "touch /usr/x".to_owned()),
        ("/usr/bin", "echo x >>/usr/bin/env".to_owned()),
        ("the root", "touch /x || mkdir /y".to_owned()),
        ("/home", "touch /home/x".to_owned()),
        ("/dev", "find /dev -type b | grep .".to_owned()),
        ("a device file", "mknod device b 259 0 || mknod /tmp/device c 1 1".to_owned()),
        ("memory", "head -c1 /dev/mem /dev/kmsg /proc/kcore".to_owned()),
        ("mounts", "mount -o remount,rw /usr || mount --bind /tmp /usr || umount /etc".to_owned()),
        ("namespaces", "unshare -Ur true || unshare -m true".to_owned()),
        ("a root of its own", "chroot . /bin/true".to_owned()),
    ] {
        let said = room.sh(&format!("({script}) 2>/dev/null")).await;
        // What a script finds it prints; what it may not do fails.
        let failed = !said.went_well() && said.stdout.trim().is_empty();
        assert!(failed, "{what}: {said:?}");
    }
    assert!(!fs::exists("/etc/x").unwrap() && !fs::exists("/usr/x").unwrap());
}

#[tokio::test]
async fn home_and_temporary_files_are_shared_by_programs_and_gone_with_the_sandbox() {
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    room.told("echo kept >~/session && echo kept >/tmp/x && mkdir -p ~/closed/in && chmod 0 ~/closed").await;
    assert_eq!(room.told("cat ~/session /var/tmp/x; echo $HOME").await, "kept\nkept\n/home/agent");
    let home = room.handle.home().unwrap();
    assert_eq!(room.handle.home_inside().unwrap().to_str(), Some("/home/agent"));
    assert_eq!(fs::read_to_string(home.join("session")).unwrap(), "kept\n");
    let private = home.parent().unwrap();
    assert_eq!(fs::metadata(private).unwrap().permissions().mode() & 0o777, 0o700);
    room.handle.close().await.unwrap();
    assert!(!private.exists(), "{}", private.display());
    assert!(room.start(shell("true")).await.is_err(), "it is closed");
}

#[tokio::test]
async fn a_dropped_sandbox_leaves_nothing_behind_either() {
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    let private = room.handle.home().unwrap().parent().unwrap().to_path_buf();
    let mut running = room.start(shell("while :; do echo x >~/$$; done")).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    drop(room.handle);
    assert!(!private.exists(), "though something was still writing there");
    running.sweep().await;
}

#[tokio::test]
async fn a_home_folder_that_lasts_is_the_one_that_was_named() {
    let host = elsewhere();
    let home = host.path().join("home");
    let provider = Bubblewrap::new().home(&home);
    assert_eq!(SandboxProvider::home(&provider), Some(home.clone()));
    let Some(room) = Room::new(provider).await else { return };
    room.told("echo session >~/session").await;
    room.handle.close().await.unwrap();
    assert_eq!(fs::read_to_string(home.join("session")).unwrap(), "session\n");
}

#[tokio::test]
async fn what_is_shown_by_name_is_seen_and_what_is_hidden_is_empty() {
    let (read, written) = (elsewhere(), elsewhere());
    let repository = Repository::new();
    let tree = repository.path().canonicalize().unwrap();
    fs::create_dir_all(tree.join("others/tree")).unwrap();
    fs::write(tree.join("others/tree/work"), "hidden").unwrap();
    fs::write(tree.join("token"), "hidden").unwrap();
    let provider =
        Bubblewrap::new().read(read.path()).write(written.path()).hide(written.path().join("secret"));
    let room = Room::with(provider, repository, |mut request| {
        request.hidden = vec![tree.join("others"), tree.join("token"), tree.join("absent")];
        request
    });
    let Some(room) = room.await else { return };
    let (read, write) = (read.path().display(), written.path().display());
    assert_eq!(room.told(&format!("cat '{read}/secret'; touch '{write}/made'")).await, "hidden");
    assert!(!room.sh(&format!("touch '{read}/made'")).await.went_well());
    assert_eq!(room.told(&format!("cat '{write}/secret' token; ls -A others")).await, "");
    assert!(!room.sh("touch others/x").await.went_well(), "work must not vanish there");
    assert!(written.path().join("made").exists());
}

#[tokio::test]
async fn mounts_of_a_request_are_where_it_says_and_their_places_are_taken_away() {
    let (outside, repository) = (elsewhere(), Repository::new());
    let tree = repository.path().canonicalize().unwrap();
    let place = tree.join("deep/er/place");
    let room = Room::with(Bubblewrap::new(), repository, |mut request| {
        request.mounts.push(Mount::new(outside.path(), Access::ReadOnly).at(&place));
        request.mounts.push(Mount::new(outside.path().join("secret"), Access::ReadOnly).at("/srv/x/file"));
        request
    });
    let Some(room) = room.await else { return };
    assert_eq!(room.told("cat deep/er/place/secret /srv/x/file").await, "hidden\nhidden");
    room.handle.close().await.unwrap();
    assert_eq!(listing(&tree), [".git", "README.md"]);
}

#[tokio::test]
async fn case_152_154_159_a_git_folder_that_is_elsewhere_is_used_and_cannot_steer_the_host() {
    let repository = Repository::new();
    repository.git(["worktree", "add", "-q", "-b", "task", ".trees/task"]);
    let main = repository.path().canonicalize().unwrap();
    let (tree, git) = (main.join(".trees/task"), main.join(".git"));
    let mut request = sandcastle::sandbox::SandboxRequest::new(&tree);
    request.mounts.push(Mount::new(&git, Access::ReadWrite));
    for steering in ["config", "hooks"] {
        request.mounts.push(Mount::new(git.join(steering), Access::ReadOnly));
    }
    let Some(room) = Room::with(Bubblewrap::new(), repository, |_| request).await else { return };
    assert_eq!(room.told("git log -1 --format=%s && git commit -q --allow-empty -m Task").await, "first");
    for planted in
        ["echo x >$(git rev-parse --git-common-dir)/hooks/post-commit", "git config core.pager evil"]
    {
        assert!(!room.sh(planted).await.went_well(), "{planted}");
    }
    assert_eq!(room.repository.git(["log", "-1", "--format=%s", "task"]).trim(), "Task");
    let before = room.told("git status --porcelain && git config --global --list 2>/dev/null || :").await;
    assert_eq!(before, "", "no folder has to be declared safe");
    assert!(!room.sh("cat ../../README.md").await.went_well(), "the main tree is not seen");
}

#[tokio::test]
async fn a_work_tree_that_is_shown_elsewhere_is_where_programs_begin() {
    let repository = Repository::new();
    let tree = repository.path().canonicalize().unwrap();
    let room = Room::with(Bubblewrap::new(), repository, |mut request| {
        request.mounts = vec![Mount::new(&tree, Access::ReadWrite).at("/work/tree")];
        request
    });
    let Some(room) = room.await else { return };
    assert_eq!(room.handle.worktree().to_str(), Some("/work/tree"));
    assert_eq!(room.told("pwd; ls").await, "/work/tree\nREADME.md");
}

#[tokio::test]
async fn namespaces_within_are_for_those_who_ask_for_them() {
    let make = "unshare -U true 2>/dev/null";
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    assert!(!room.sh(make).await.went_well());
    let Some(room) = Room::new(Bubblewrap::new().allow_user_namespaces()).await else { return };
    assert!(room.sh(make).await.went_well());
}

#[tokio::test]
async fn a_link_that_an_agent_puts_in_the_way_of_a_mount_is_refused() {
    let (outside, repository) = (elsewhere(), Repository::new());
    let tree = repository.path().canonicalize().unwrap();
    fs::create_dir(tree.join("cache")).unwrap();
    let room = Room::with(Bubblewrap::new(), repository, |mut request| {
        request.mounts.push(Mount::new(tree.join("cache"), Access::ReadOnly));
        request
    });
    let Some(room) = room.await else { return };
    room.told("true").await;
    fs::remove_dir(tree.join("cache")).unwrap();
    symlink(outside.path(), tree.join("cache")).unwrap();
    let error = room.start(shell("cat cache/secret")).await.unwrap_err();
    assert!(error.to_string().contains("is a link, where there must be none"), "{error}");
}

#[tokio::test]
async fn a_link_that_an_agent_left_leads_the_places_of_mounts_nowhere() {
    let (outside, repository) = (elsewhere(), Repository::new());
    let tree = repository.path().canonicalize().unwrap();
    symlink(outside.path(), tree.join("deep")).unwrap();
    if Room::new(Bubblewrap::new()).await.is_none() {
        return;
    }
    for inside in ["deep/er/place", "deep"] {
        let mut request = sandcastle::sandbox::SandboxRequest::new(&tree);
        request.mounts.push(Mount::new("/usr", Access::ReadOnly).at(tree.join(inside)));
        let error = Bubblewrap::new().create(request).await.unwrap_err();
        assert!(format!("{error:#}").contains("is a link"), "{error:#}");
    }
    let mut request = sandcastle::sandbox::SandboxRequest::new(&tree);
    request.hidden.push(tree.join("deep/secret"));
    let handle = Bubblewrap::new().create(request).await.unwrap();
    assert!(handle.start(shell("true")).await.is_err(), "what cannot be hidden is not shown");
    assert_eq!(listing(outside.path()), ["secret"]);
}

#[tokio::test]
async fn a_program_of_a_home_folder_is_seen_when_it_is_started_and_its_neighbours_are_not() {
    let home = elsewhere();
    let program = home.path().join(".local/bin/agent");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(&program, format!("#!/bin/sh\necho here; cat '{}/secret'\n", home.path().display())).unwrap();
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    let error = room.start(Program::new(&program)).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "it cannot be executed yet");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let said = room.run(Program::new("agent").env("PATH", path)).await;
    assert_eq!((said.stdout.as_str(), said.went_well()), ("here\n", false), "{said:?}");
}

#[tokio::test]
async fn a_setuid_program_gives_nothing() {
    let Some(room) = Room::new(Bubblewrap::new()).await else { return };
    let status = room.told("cp /usr/bin/id . && chmod u+s id && ./id -u && cat /proc/self/status").await;
    for line in ["NoNewPrivs:\t1", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000"] {
        assert!(status.contains(line), "{line} in {status}");
    }
}
