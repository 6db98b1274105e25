//! Stand-ins, with a git of this host in the part of the one inside: it is told by variables what a mount would show it.

mod hostile;

use std::os::unix::fs::symlink;

use super::*;
use crate::process::{Program, capture};
use crate::testing::ScratchRepo;

struct Scene {
    host: ScratchRepo,
    _kept: tempfile::TempDir,
    repository: Repository,
    stand_in: StandIn,
}

impl Scene {
    /// A stand-in for a worktree of the branch `task`.
    async fn linked() -> Self {
        let host = ScratchRepo::new().await.unwrap();
        host.git(["branch", "other"]).await.unwrap();
        let kept = tempfile::tempdir().unwrap();
        let top = kept.path().join("tree");
        host.git(["worktree", "add", "-q", "-b", "task", top.to_str().unwrap()]).await.unwrap();
        Self::of(host, kept, &top).await
    }

    /// A stand-in for the user's own work tree.
    async fn in_place() -> Self {
        let host = ScratchRepo::new().await.unwrap();
        let (kept, top) = (tempfile::tempdir().unwrap(), host.path().to_path_buf());
        Self::of(host, kept, &top).await
    }

    async fn of(host: ScratchRepo, kept: tempfile::TempDir, top: &Path) -> Self {
        let repository = Repository::discover(top).await.unwrap();
        let stand_in = StandIn::make(
            &kept.path().join("stand-in"),
            Original { repository: &repository, seen: None, run: None },
        )
        .await
        .unwrap();
        Self { host, _kept: kept, repository, stand_in }
    }

    fn top(&self) -> &Path {
        self.repository.top().unwrap()
    }

    fn own(&self) -> PathBuf {
        self.stand_in.git().join(own_part(&self.repository))
    }

    async fn inside(&self, args: &[&str]) -> String {
        let (done, said) = self.try_inside(args).await;
        assert!(done, "git {args:?}: {said}");
        said
    }

    async fn try_inside(&self, args: &[&str]) -> (bool, String) {
        let program = Program::new("git")
            .args(["-c", "user.name=Agent", "-c", "user.email=agent@example.invalid"])
            .args(args)
            .cwd(self.top())
            .env("GIT_DIR", self.own())
            .env("GIT_WORK_TREE", self.top())
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.repository.common_dir().join("objects"));
        let captured = capture(&program, 1 << 20, std::time::Duration::from_secs(30)).await.unwrap();
        let said = match captured.status.success() {
            true => String::from_utf8_lossy(&captured.stdout).into_owned(),
            false => captured.stderr,
        };
        (captured.status.success(), said.trim_end().to_owned())
    }

    async fn commits(&self, file: &str, text: &str) -> String {
        fs::write(self.top().join(file), text).unwrap();
        self.inside(&["add", file]).await;
        self.inside(&["commit", "-qm", file]).await;
        self.inside(&["rev-parse", "HEAD"]).await
    }

    /// Git of the host, in the work tree.
    async fn outside(&self, args: &[&str]) -> String {
        crate::git::print(self.top(), args).await.unwrap()
    }

    async fn refs(&self) -> String {
        self.outside(&["for-each-ref", "--format=%(refname) %(objectname)"]).await
    }
}

#[tokio::test]
async fn what_is_committed_inside_is_there_only_when_it_was_brought_back() {
    for scene in [Scene::linked().await, Scene::in_place().await] {
        let before = scene.refs().await;
        let commit = scene.commits("new.txt", "new\n").await;
        assert_eq!(scene.refs().await, before);
        assert_eq!(scene.stand_in.bring_back().await.unwrap(), [""; 0]);
        assert_eq!(scene.outside(&["rev-parse", "HEAD"]).await, commit);
        assert_eq!(scene.outside(&["status", "--porcelain"]).await, "");
        assert_eq!(scene.outside(&["fsck", "--connectivity-only"]).await, "");
        assert!(scene.repository.committed_here(0).contains(&commit));
        // Once more, and nothing; then what came later.
        assert_eq!(scene.stand_in.bring_back().await.unwrap(), [""; 0]);
        let second = scene.commits("new.txt", "newer\n").await;
        scene.stand_in.bring_back().await.unwrap();
        assert_eq!(scene.outside(&["rev-list", "-2", "HEAD"]).await, format!("{second}\n{commit}"));
    }
}

#[tokio::test]
async fn what_is_staged_and_what_is_not_stay_apart() {
    let scene = Scene::linked().await;
    fs::write(scene.top().join("a.txt"), "staged\n").unwrap();
    scene.inside(&["add", "a.txt"]).await;
    fs::write(scene.top().join("a.txt"), "more\n").unwrap();
    fs::write(scene.top().join("b.txt"), "untracked\n").unwrap();
    scene.stand_in.bring_back().await.unwrap();
    assert_eq!(scene.outside(&["status", "--porcelain"]).await, "AM a.txt\n?? b.txt");
    assert_eq!(scene.outside(&["show", ":a.txt"]).await, "staged");
}

#[tokio::test]
async fn w_1_a_branch_of_somebody_else_is_never_moved() {
    let scene = Scene::linked().await;
    let before = scene.outside(&["rev-parse", "main", "other"]).await;
    let commit = scene.commits("new.txt", "new\n").await;
    scene.inside(&["update-ref", "refs/heads/main", &commit]).await;
    scene.inside(&["branch", "-D", "other"]).await;
    scene.inside(&["branch", "feature"]).await;
    scene.inside(&["tag", "v1"]).await;
    scene.inside(&["update-ref", "refs/notes/x", &commit]).await;
    let notes = scene.stand_in.bring_back().await.unwrap();
    assert_eq!(scene.outside(&["rev-parse", "main", "other"]).await, before);
    assert_eq!(scene.outside(&["rev-parse", "feature", "v1", "task"]).await, [commit.as_str(); 3].join("\n"));
    assert_eq!(scene.outside(&["rev-parse", "refs/sandcastle/stand-in/heads/main"]).await, commit);
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].contains("`refs/heads/main`"), "{notes:?}");
}

#[tokio::test]
async fn what_is_checked_out_inside_is_checked_out_outside() {
    let scene = Scene::linked().await;
    scene.inside(&["checkout", "-qb", "feature"]).await;
    let commit = scene.commits("new.txt", "new\n").await;
    scene.stand_in.bring_back().await.unwrap();
    assert_eq!(scene.outside(&["symbolic-ref", "HEAD"]).await, "refs/heads/feature");
    scene.inside(&["checkout", "-q", "--detach"]).await;
    let detached = scene.commits("newer.txt", "new\n").await;
    scene.stand_in.bring_back().await.unwrap();
    assert_eq!(scene.outside(&["rev-parse", "HEAD", "feature"]).await, format!("{detached}\n{commit}"));
    assert_eq!(scene.outside(&["status", "--porcelain"]).await, "");
}

#[tokio::test]
async fn a_branch_that_moved_outside_is_not_overwritten_and_the_work_is_kept() {
    let scene = Scene::linked().await;
    let commit = scene.commits("new.txt", "new\n").await;
    let other = scene.outside(&["commit-tree", "-m", "other", "-p", "HEAD", "HEAD^{tree}"]).await;
    scene.host.git(["update-ref", "refs/heads/task", &other]).await.unwrap();
    let error = scene.stand_in.bring_back().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Git);
    assert_eq!(scene.outside(&["rev-parse", "task"]).await, other);
    assert_eq!(scene.outside(&["rev-parse", "refs/sandcastle/stand-in/heads/task"]).await, commit);
    assert!(format!("{error:#}").contains("refs/sandcastle/stand-in/heads/task"), "{error:#}");
}

#[tokio::test]
async fn commits_that_were_reset_away_are_brought_back_too() {
    let scene = Scene::linked().await;
    let lost = scene.commits("new.txt", "new\n").await;
    scene.inside(&["reset", "-q", "--hard", "HEAD^"]).await;
    scene.commits("other.txt", "new\n").await;
    scene.stand_in.bring_back().await.unwrap();
    assert_eq!(scene.outside(&["cat-file", "-t", &lost]).await, "commit");
    assert!(scene.outside(&["reflog", "--format=%H"]).await.contains(&lost));
}

#[tokio::test]
async fn a_merge_with_conflicts_leaves_the_files_and_says_so() {
    let scene = Scene::linked().await;
    scene.inside(&["checkout", "-qb", "side"]).await;
    scene.commits("README.md", "side\n").await;
    scene.inside(&["checkout", "-q", "task"]).await;
    scene.commits("README.md", "task\n").await;
    assert!(!scene.try_inside(&["merge", "-q", "side"]).await.0);
    let notes = scene.stand_in.bring_back().await.unwrap();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[1].contains("merge"), "{notes:?}");
    assert_eq!(scene.outside(&["status", "--porcelain"]).await, " M README.md");
    assert!(fs::read_to_string(scene.top().join("README.md")).unwrap().contains("<<<<"));
}

#[tokio::test]
async fn the_host_keeps_everything_whatever_is_deleted_inside() {
    let scene = Scene::linked().await;
    scene.host.git(["stash", "list"]).await.unwrap();
    let before = scene.refs().await;
    scene.inside(&["reflog", "expire", "--expire=now", "--all"]).await;
    scene.inside(&["gc", "-q", "--prune=now"]).await;
    scene.inside(&["worktree", "prune"]).await;
    scene.inside(&["config", "core.fsmonitor", "touch /tmp/x"]).await;
    for folder in ["hooks", "refs", "logs"] {
        let _ = fs::remove_dir_all(scene.stand_in.git().join(folder));
    }
    let _ = scene.stand_in.bring_back().await;
    assert_eq!(scene.refs().await, before);
    assert_eq!(scene.outside(&["fsck", "--connectivity-only"]).await, "");
    assert_eq!(scene.outside(&["config", "--list", "--local"]).await.matches("fsmonitor").count(), 0);
    assert_eq!(scene.outside(&["worktree", "list"]).await.lines().count(), 2);
}

#[tokio::test]
async fn git_packs_inside_and_its_refs_are_found_all_the_same() {
    let scene = Scene::linked().await;
    let commit = scene.commits("new.txt", "new\n").await;
    scene.inside(&["gc", "-q"]).await;
    scene.stand_in.bring_back().await.unwrap();
    assert_eq!(scene.outside(&["rev-parse", "task"]).await, commit);
}

#[tokio::test]
async fn a_folder_that_leads_elsewhere_is_refused() {
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("x"), "secret").unwrap();
    type Harm = fn(&Path, &Path, &Path);
    let harms: [(&str, Harm); 6] = [
        ("objects", |git, _, to| symlink(to, git.join("objects/ab")).unwrap()),
        ("pack", |git, _, to| symlink(to.join("x"), git.join("objects/pack/pack-1.pack")).unwrap()),
        ("alternates", |git, _, to| {
            fs::write(git.join("objects/info/alternates"), to.to_str().unwrap()).unwrap()
        }),
        ("head", |_, own, to| {
            fs::remove_file(own.join("HEAD")).unwrap();
            symlink(to.join("x"), own.join("HEAD")).unwrap();
        }),
        ("pipe", |_, own, _| {
            fs::remove_file(own.join("HEAD")).unwrap();
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, own.join("HEAD"), rustix::fs::FileType::Fifo, mode, 0)
                .unwrap();
        }),
        ("own", |_, own, to| {
            fs::remove_dir_all(own).unwrap();
            symlink(to, own).unwrap();
        }),
    ];
    for (name, harm) in harms {
        let scene = Scene::linked().await;
        scene.commits("new.txt", "new\n").await;
        let before = scene.refs().await;
        harm(&scene.stand_in.git(), &scene.own(), elsewhere.path());
        let error =
            tokio::time::timeout(std::time::Duration::from_secs(20), scene.stand_in.bring_back()).await;
        assert_eq!(error.unwrap().unwrap_err().kind(), ErrorKind::Git, "{name}");
        assert_eq!(scene.refs().await, before, "{name}");
        let _ = scene.stand_in.follow().await;
    }
    let left: Vec<_> =
        fs::read_dir(elsewhere.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["x"]);
}

#[tokio::test]
async fn a_tree_that_would_write_into_a_git_folder_is_not_taken_over() {
    let scene = Scene::linked().await;
    let program = Program::new("git")
        .args(["hash-object", "-w", "-t", "tree", "--literally", "--stdin"])
        .cwd(scene.top())
        .env("GIT_DIR", scene.own())
        .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", scene.repository.common_dir().join("objects"));
    // A folder `.git` in the tree: a checkout would write into the repository itself.
    let real = scene.inside(&["rev-parse", "HEAD^{tree}"]).await;
    let real = data_encoding::HEXLOWER.decode(real.as_bytes()).unwrap();
    let program = program.stdin([b"40000 .git\0", real.as_slice()].concat());
    let captured = capture(&program, 4096, std::time::Duration::from_secs(9)).await.unwrap();
    let tree = String::from_utf8(captured.stdout).unwrap();
    let before = scene.refs().await;
    fs::write(scene.stand_in.git().join("refs/tags/evil"), tree).unwrap();
    let error = scene.stand_in.bring_back().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Git);
    assert!(error.to_string().contains("Dotgit"), "{error}");
    assert_eq!(scene.refs().await, before);
}

#[tokio::test]
async fn what_a_killed_owner_left_is_brought_back_by_somebody_else() {
    let scene = Scene::linked().await;
    let commit = scene.commits("new.txt", "new\n").await;
    let any = Repository::discover(scene.host.path()).await.unwrap();
    let folder = scene.stand_in.folder();
    assert!(matches!(StandIn::left_in(folder, &any).await.unwrap(), Some(Left::InUse)));
    let known = fs::read_to_string(folder.join(KNOWN)).unwrap();
    let mut known: serde_json::Value = serde_json::from_str(&known).unwrap();
    known["owner"] = serde_json::json!({ "pid": u32::MAX });
    fs::write(folder.join(KNOWN), known.to_string()).unwrap();
    let Some(Left::Abandoned(left, None)) = StandIn::left_in(folder, &any).await.unwrap() else { panic!() };
    left.bring_back().await.unwrap();
    assert_eq!(scene.outside(&["rev-parse", "task"]).await, commit);
    // Whoever writes there cannot have another folder written to.
    known["top"] = serde_json::json!("/tmp");
    fs::write(folder.join(KNOWN), known.to_string()).unwrap();
    assert_eq!(StandIn::left_in(folder, &any).await.unwrap_err().kind(), ErrorKind::Git);
    left.remove().unwrap();
    assert!(StandIn::left_in(folder, &any).await.unwrap().is_none());
}

#[tokio::test]
async fn git_inside_follows_what_happened_outside() {
    let scene = Scene::linked().await;
    fs::write(scene.top().join("hook.txt"), "x\n").unwrap();
    scene.outside(&["add", "hook.txt"]).await;
    scene.outside(&["commit", "-qm", "of a hook"]).await;
    scene.host.git(["branch", "later"]).await.unwrap();
    scene.stand_in.follow().await.unwrap();
    assert_eq!(scene.inside(&["status", "--porcelain"]).await, "");
    assert_eq!(scene.inside(&["log", "-1", "--format=%s"]).await, "of a hook");
    assert!(scene.inside(&["branch"]).await.contains("later"));
    let commit = scene.commits("new.txt", "new\n").await;
    scene.stand_in.bring_back().await.unwrap();
    assert_eq!(scene.outside(&["rev-parse", "task"]).await, commit);
}

#[tokio::test]
async fn a_repository_without_commits_and_one_with_other_ids() {
    for format in ["sha1", "sha256"] {
        let folder = tempfile::tempdir().unwrap();
        crate::git::print(folder.path(), ["init", "-q", "-b", "main", "--object-format", format])
            .await
            .unwrap();
        let repository = Repository::discover(folder.path()).await.unwrap();
        let kept = tempfile::tempdir().unwrap();
        let stand_in = StandIn::make(
            &kept.path().join("stand-in"),
            Original { repository: &repository, seen: None, run: None },
        )
        .await
        .unwrap();
        let scene = Scene { host: ScratchRepo::new().await.unwrap(), _kept: kept, repository, stand_in };
        let commit = scene.commits("a.txt", "a\n").await;
        scene.stand_in.bring_back().await.unwrap();
        assert_eq!(scene.outside(&["rev-parse", "main"]).await, commit);
        assert_eq!(scene.outside(&["status", "--porcelain"]).await, "", "{format}");
    }
}

#[tokio::test]
async fn what_is_mounted_has_parents_before_children() {
    let scene = Scene::linked().await;
    let common = scene.repository.common_dir();
    let seen = scene.stand_in.seen();
    assert_eq!((seen[0].inside.as_path(), seen[0].writable), (common, true));
    assert!(seen[1..].iter().all(|seen| !seen.writable && seen.host.exists()));
    assert!(seen.iter().any(|seen| seen.host == common.join("objects")));
}
