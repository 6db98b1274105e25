//! What agents leave in their work tree and in what they take for the git folder, for this host's own code to fall over:
//! links, pipes, sockets, files without an end.

use std::time::Duration;

use sandcastle::testing::{ScratchRepo, Turn};
use sandcastle::{BranchStrategy, ErrorKind};
use tempfile::TempDir;

use super::super::every::{Kind, kinds};
use super::picture;

/// Something that is left, by name: a shell script that knows `$OUT`, a folder outside, and `$GIT`, the git folder.
const LEFT: &[(&str, &str)] = &[
    (
        "links in the place of files",
        "for f in README.md .gitattributes .gitmodules copied; do ln -sf \"$OUT/secret\" $f; done",
    ),
    (
        "links in the place of folders",
        "rm -rf folder; ln -s \"$OUT\" folder; git add -A; git commit -qm Link",
    ),
    (
        "links to everything",
        "ln -s / everything; ln -s /proc/self/root root; ln -s . loop; ln -s loop2 loop2",
    ),
    (
        "pipes in the work tree",
        "mkfifo pipe; rm -f README.md; mkfifo README.md .gitattributes .gitignore .gitmodules copied",
    ),
    ("a socket", "timeout 1 socat UNIX-LISTEN:socket - </dev/null; true"),
    ("a pipe for the HEAD", "rm -f \"$GIT/HEAD\"; mkfifo \"$GIT/HEAD\""),
    (
        "pipes for refs",
        "rm -f \"$GIT/packed-refs\"; mkfifo \"$GIT/packed-refs\"; mkfifo \"$(git rev-parse --git-common-dir)/refs/heads/pipe\"",
    ),
    ("a pipe for the index", "rm -f \"$GIT/index\"; mkfifo \"$GIT/index\""),
    ("a pipe for the log", "rm -f \"$GIT/logs/HEAD\"; mkfifo \"$GIT/logs/HEAD\""),
    (
        "pipes for objects",
        "cd \"$(git rev-parse --git-common-dir)/objects\"; mkfifo pack/pack-1.idx pack/pack-1.pack info/commit-graph; mkdir -p ab; mkfifo ab/0123456789012345678901234567890123456789",
    ),
    (
        "objects from elsewhere",
        "cd \"$(git rev-parse --git-common-dir)/objects\"; mv info away; mkdir info; echo \"$OUT\" >info/alternates",
    ),
    (
        "links in the place of objects",
        "cd \"$(git rev-parse --git-common-dir)\"; mv objects away; ln -s \"$OUT\" objects",
    ),
    ("a link for the HEAD", "rm -f \"$GIT/HEAD\"; ln -s \"$OUT/secret\" \"$GIT/HEAD\""),
    ("a link for the index", "rm -f \"$GIT/index\"; ln -s \"$OUT/secret\" \"$GIT/index\""),
    ("an index that is too long", "truncate -s 1100000000 \"$GIT/index\""),
    ("an index of nothing", "truncate -s 100000000 \"$GIT/index\""),
    ("nothing at all", "rm -rf \"$(git rev-parse --git-common-dir)\"/* .git"),
    (
        "locks",
        "touch \"$GIT/index.lock\" \"$GIT/HEAD.lock\" \"$(git rev-parse --git-common-dir)/packed-refs.lock\"",
    ),
    (
        "a hundred thousand refs",
        "i=$(git rev-parse HEAD); seq 100000 | sed \"s,.*,$i refs/heads/many/&,\" >>\"$(git rev-parse --git-common-dir)/packed-refs\"",
    ),
    (
        "a tree that is too deep",
        "i=0; while [ $i -lt 2500 ]; do mkdir d && cd d || break; i=$((i+1)); done; echo x >file",
    ),
    (
        "names that are no text",
        "f=$(printf 'n\\377\\nx'); echo x >\"$f\"; git add -A; git commit -qm \"$f\"; git branch \"$(printf 'b\\377')\"",
    ),
    ("folders that nobody may enter", "mkdir shut; echo x >shut/file; chmod 0 shut; chmod 0 README.md"),
    (
        "a program that is called git",
        "mkdir -p bin; printf '#!/bin/sh\\necho head refs/heads/main\\necho files $$\\n' >bin/git; cp bin/git git; chmod +x bin/git git",
    ),
    (
        "somebody who goes on",
        "setsid env -i sh -c 'while :; do rm -f \"$1/HEAD\"; ln -s / \"$1/HEAD\"; sleep 0.001; done' sh \"$GIT\" >/dev/null 2>&1 </dev/null &",
    ),
    (
        "an output as of a launcher",
        "for n in 0 1 2 ffff; do printf '\\n\\036%s exit 0\\n%s exited 0\\nsandcastle %s exit 0\\n' $n $n $n; done",
    ),
];

async fn leave(kind: &Kind, name: &str, script: &str, strategy: BranchStrategy) {
    let (repository, outside) = (ScratchRepo::new().await.unwrap(), TempDir::new().unwrap());
    std::fs::write(outside.path().join("secret"), "s3cret\n").unwrap();
    for file in ["copied", "folder/file"] {
        repository.write(file, "mine\n").unwrap();
    }
    let who = format!("{}, {strategy:?}: {name}", kind.name);
    let before = picture(outside.path());
    let config = repository.path().join(".git/config");
    let was = std::fs::read(&config).unwrap();
    let begin = format!("OUT='{}'; GIT=$(git rev-parse --absolute-git-dir)", outside.path().display());
    let turn = Turn::new()
        .write_file("made", "1")
        .commit("Work")
        .shell(format!("{begin}\n({script}\n); true"))
        .say("ok");
    let limit = Duration::from_secs(90);
    let first = kind.run(&repository, turn, strategy.clone()).copy_to_worktree(["copied", "folder/file"]);
    let first = tokio::time::timeout(limit, sandcastle::run(first)).await;
    let first = first.unwrap_or_else(|_| panic!("{who}: it hangs"));
    // The same branch again, into which the same files are copied.
    let again = Turn::new().write_file("again", "1").say("ok");
    let second = kind.run(&repository, again, strategy.clone()).copy_to_worktree(["copied", "folder/file"]);
    let second = tokio::time::timeout(limit, sandcastle::run(second)).await;
    drop(second.unwrap_or_else(|_| panic!("{who}: the next one hangs")));

    assert_eq!(picture(outside.path()), before, "{who}");
    assert_eq!(std::fs::read(&config).unwrap(), was, "{who}");
    assert_eq!(std::fs::read_to_string(repository.path().join("copied")).unwrap(), "mine\n", "{who}");
    assert_eq!(repository.git(["status", "--porcelain", "-uno"]).await.unwrap(), "", "{who}");
    repository.git(["fsck", "--connectivity-only"]).await.unwrap();
    // Whatever it was, what was committed before is somewhere, and said to be there.
    match first {
        Ok(result) => assert!(!result.commits.is_empty(), "{who}: {:?}", result.warnings),
        Err(error) => {
            let kept = std::fs::read_dir(repository.path().join(".sandcastle/sandboxes"))
                .into_iter()
                .flatten()
                .count()
                > 1;
            let has = error.work().is_some_and(|work| !work.commits.is_empty());
            // On another machine it is gone with the git folder that it was in.
            let is_told = kind.name == "ssh" && error.kind() == ErrorKind::Sync;
            assert!(kept || has || is_told, "{who}: {error:#}");
        }
    }
}

async fn leave_everything(name: &str) {
    for kind in kinds().iter().filter(|kind| kind.name == name) {
        for (name, script) in LEFT {
            leave(kind, name, script, BranchStrategy::branch("agent/hostile")).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_left_by_an_agent_in_bubblewrap_leads_nowhere_and_holds_nobody_up() {
    leave_everything("bubblewrap").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_left_by_an_agent_in_docker_leads_nowhere_and_holds_nobody_up() {
    leave_everything("docker").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_left_by_an_agent_in_podman_leads_nowhere_and_holds_nobody_up() {
    leave_everything("podman").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_left_by_an_agent_on_another_machine_leads_nowhere_and_holds_nobody_up() {
    leave_everything("ssh").await;
}
