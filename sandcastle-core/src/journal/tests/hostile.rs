//! Journals written by somebody who means harm.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::super::Removal;
use super::super::report::RunState;
use super::*;

/// Writes a journal of a dead run with these notes.
fn forge(scene: &Scene, notes: &[Value]) -> RunId {
    let (id, journal) = scene.begin();
    scene.kill(&id, journal);
    let mut text = fs::read_to_string(scene.journal_of(&id)).unwrap();
    for note in notes {
        text += &format!("{note}\n");
    }
    fs::write(scene.journal_of(&id), text).unwrap();
    id
}

fn worktree(path: &Path, branch: &str) -> Value {
    json!({ "note": "worktree", "path": path, "branch": branch, "base": null, "origin": "fresh" })
}

#[tokio::test]
async fn nothing_outside_of_the_folder_of_worktrees_is_touched() {
    let scene = Scene::new().await;
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().canonicalize().unwrap();
    fs::write(folder.join("precious"), "x").unwrap();
    // A worktree of the user's own, clean and merged, but with ignored files in it.
    let users = folder.join("users");
    scene.git(["worktree", "add", "-q", "-b", "users", users.to_str().unwrap()]).await;
    let worktrees = scene.config.make(Kept::Worktrees).unwrap();
    symlink(&users, worktrees.join("link")).unwrap();
    fs::create_dir(worktrees.join("stray")).unwrap();
    fs::write(worktrees.join("stray/precious"), "x").unwrap();
    let top = scene.repository.path().canonicalize().unwrap();
    let id = forge(
        &scene,
        &[
            worktree(&folder, "main"),
            worktree(&users, "users"),
            worktree(&top, "main"),
            worktree(&worktrees, "main"),
            worktree(&worktrees.join("link"), "users"),
            worktree(&worktrees.join("stray"), "stray"),
            worktree(&worktrees.join("../.."), "main"),
            worktree(Path::new("/"), "--force"),
        ],
    );
    let runs = scene.runs().await;
    let report = runs.show(&id).await.unwrap();
    assert!(report.worktrees.is_empty(), "{report:?}");
    runs.recover(&id).await.unwrap();
    runs.clean(Removal::Real).await.unwrap();
    runs.remove(&id, Removal::Real).await.unwrap();
    for path in [
        folder.join("precious"),
        users.join("README.md"),
        top.join("README.md"),
        worktrees.join("stray/precious"),
    ] {
        assert!(path.exists(), "{}", path.display());
    }
    assert_eq!(scene.branches().await, ["main", "users"]);
}

#[tokio::test]
async fn a_worktrees_own_git_file_is_not_believed() {
    let scene = Scene::new().await;
    let run = scene.begin_with_worktree().await;
    fs::write(run.worktree.join("precious"), "x").unwrap();
    // A repository that says that everything is ignored, and has a program run.
    let fake = tempfile::tempdir().unwrap();
    let git = fake.path().join("git");
    scene.git(["clone", "-q", "--bare", ".", git.to_str().unwrap()]).await;
    fs::write(git.join("info/exclude"), "*\n").unwrap();
    fs::write(run.worktree.join(".git"), format!("gitdir: {}\n", git.display())).unwrap();
    scene.kill(&run.id, run.journal);
    let runs = scene.runs().await;
    let report = runs.show(&run.id).await.unwrap();
    assert_eq!(report.worktrees[0].changed.as_deref(), Some(&[PathBuf::from("precious")][..]), "{report:?}");
    let rescued = runs.recover(&run.id).await.unwrap().rescued;
    assert_eq!(scene.git(["show", &format!("{}:precious", rescued[0].commit)]).await, "x");
    assert_eq!(runs.clean(Removal::Real).await.unwrap().removed, []);
    assert!(run.worktree.join("precious").exists());
}

#[tokio::test]
async fn no_program_of_the_repository_is_run() {
    let scene = Scene::new().await;
    let run = scene.begin_with_worktree().await;
    let trap = scene.repository.path().join("trapped");
    let program = format!("touch '{}'; cat", trap.display());
    for key in
        ["filter.trap.clean", "filter.trap.smudge", "filter.trap.process", "core.fsmonitor", "core.pager"]
    {
        scene.git(["config", key, &program]).await;
    }
    scene.git(["config", "filter.trap.required", "true"]).await;
    let hooks = scene.repository.path().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in ["reference-transaction", "post-index-change", "pre-commit"] {
        let hook = hooks.join(hook);
        fs::write(&hook, format!("#!/bin/sh\ntouch '{}'\n", trap.display())).unwrap();
        fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    fs::write(run.worktree.join(".gitattributes"), "* filter=trap\n").unwrap();
    fs::write(run.worktree.join("README.md"), "changed\n").unwrap();
    fs::write(run.worktree.join("new"), "raw\n").unwrap();
    scene.kill(&run.id, run.journal);
    let runs = scene.runs().await;
    let recovery = runs.recover(&run.id).await.unwrap();
    runs.clean(Removal::Real).await.unwrap();
    runs.remove(&run.id, Removal::Real).await.unwrap();
    assert!(!trap.exists());
    assert_eq!(scene.git(["cat-file", "blob", &format!("{}:new", recovery.rescued[0].commit)]).await, "raw");
    assert!(!run.worktree.exists());
}

#[tokio::test]
async fn a_link_out_of_the_worktree_is_saved_as_a_link() {
    let scene = Scene::new().await;
    let run = scene.begin_with_worktree().await;
    scene.git_in(&run.worktree, &["config", "core.symlinks", "true"]).await;
    fs::create_dir(run.worktree.join("dir")).unwrap();
    scene.commit(&run.worktree, "dir/passwd").await;
    fs::remove_dir_all(run.worktree.join("dir")).unwrap();
    symlink("/etc", run.worktree.join("dir")).unwrap();
    scene.kill(&run.id, run.journal);
    let rescued = scene.runs().await.recover(&run.id).await.unwrap().rescued;
    let tree = scene.git(["ls-tree", "-r", &rescued[0].commit]).await;
    assert!(tree.contains("120000") && !tree.contains("dir/passwd"), "{tree}");
}

#[tokio::test]
async fn names_that_git_would_take_for_something_else_are_only_names() {
    let scene = Scene::new().await;
    let id = forge(
        &scene,
        &[
            worktree(Path::new("/w"), "main~0"),
            worktree(Path::new("/w"), "../../../etc/passwd"),
            worktree(Path::new("/w"), "--upload-pack=touch x"),
            json!({ "note": "commits", "commits": [{ "sha": "--output=x", "subject": "" }] }),
            json!({ "note": "landing", "source": "-x", "tip": "--help", "target": "main^{/x}", "target_before": "" }),
            json!({ "note": "process", "pid": 1, "start": null, "mark": "PATH" }),
            json!({ "note": "session", "id": "--resume", "file": "/etc/passwd" }),
        ],
    );
    let runs = scene.runs().await;
    let report = runs.show(&id).await.unwrap();
    assert!(
        report.branches.is_empty() && report.session.is_none() && report.processes.is_empty(),
        "{report:?}"
    );
    let recovery = runs.recover(&id).await.unwrap();
    assert!(recovery.rescued.is_empty() && recovery.ended_processes == 0, "{recovery:?}");
    runs.remove(&id, Removal::Real).await.unwrap();
    assert_eq!(scene.branches().await, ["main"]);
}

#[tokio::test]
async fn links_pipes_and_folders_are_no_journals() {
    let scene = Scene::new().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let (real, journal) = scene.begin();
    scene.kill(&real, journal);
    fs::copy(scene.journal_of(&real), elsewhere.path().join(JOURNAL)).unwrap();
    let ids: Vec<RunId> = (0..4).map(|_| RunId::generate()).collect();
    symlink(elsewhere.path(), scene.folder_of(&ids[0])).unwrap();
    for id in &ids[1..] {
        fs::create_dir(scene.folder_of(id)).unwrap();
    }
    symlink(elsewhere.path().join(JOURNAL), scene.journal_of(&ids[1])).unwrap();
    let pipe = scene.journal_of(&ids[2]);
    let made = rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0);
    made.unwrap();
    fs::create_dir(scene.journal_of(&ids[3])).unwrap();
    let runs = scene.runs().await;
    for id in &ids {
        assert_eq!(runs.show(id).await.unwrap().state, RunState::Unreadable, "{id}");
    }
    runs.clean(Removal::Real).await.unwrap();
    for id in &ids {
        runs.remove(id, Removal::Real).await.unwrap();
    }
    assert!(elsewhere.path().join(JOURNAL).exists());
}

#[tokio::test]
async fn a_journal_of_another_run_or_a_newer_version_is_left_alone() {
    let scene = Scene::new().await;
    let id = forge(&scene, &[]);
    let text = fs::read_to_string(scene.journal_of(&id)).unwrap();
    let newer = RunId::generate();
    fs::create_dir(scene.folder_of(&newer)).unwrap();
    fs::write(scene.journal_of(&newer), "{\"journal\":9,\"shape\":\"unheard of\"}\n").unwrap();
    let copied = RunId::generate();
    fs::create_dir(scene.folder_of(&copied)).unwrap();
    fs::write(scene.journal_of(&copied), text).unwrap();
    let runs = scene.runs().await;
    let newer_report = runs.show(&newer).await.unwrap();
    assert!(newer_report.error.unwrap().contains("version 9"));
    assert_eq!(runs.show(&copied).await.unwrap().state, RunState::Unreadable);
    let cleaned = runs.clean(Removal::Real).await.unwrap();
    assert!(scene.journal_of(&newer).exists() && scene.journal_of(&copied).exists(), "{cleaned:?}");
}

#[tokio::test]
async fn a_huge_journal_is_read_in_bounded_memory() {
    let scene = Scene::new().await;
    let id = forge(&scene, &[]);
    let mut text = fs::read_to_string(scene.journal_of(&id)).unwrap();
    for number in 0..200_000 {
        text += &format!(
            "{{\"note\":\"process\",\"pid\":1,\"start\":null,\"mark\":\"SANDCASTLE_TREE_{number:032X}\"}}\n"
        );
    }
    fs::write(scene.journal_of(&id), text).unwrap();
    let report = scene.runs().await.show(&id).await.unwrap();
    assert_eq!((report.state, report.processes.len(), report.damaged_lines), (RunState::Died, 0, 0));
}

#[tokio::test]
async fn the_folder_of_journals_is_no_link() {
    let scene = Scene::new().await;
    let elsewhere = tempfile::tempdir().unwrap();
    fs::create_dir_all(scene.config.path()).unwrap();
    symlink(elsewhere.path(), scene.config.place_of(Kept::Runs)).unwrap();
    let id = RunId::generate();
    assert!(Journal::begin(&scene.config, &id, &begun(scene.repository.path())).is_err());
    assert!(scene.runs().await.list().await.is_err());
    assert!(!elsewhere.path().join(id.as_str()).exists());
}

#[tokio::test]
async fn the_process_that_drives_another_run_is_not_ended() {
    let scene = Scene::new().await;
    let dead = scene.begin_with_worktree().await;
    let mark = dead.journal.mark().clone();
    leave_running(&mark).await;
    scene.kill(&dead.id, dead.journal);
    let pid = Leftovers::of([mark.clone()]).list()[0].pid;
    let (live, journal) = scene.begin();
    let text = fs::read_to_string(scene.journal_of(&live)).unwrap();
    let text = text.replacen(&format!("\"pid\":{}", std::process::id()), &format!("\"pid\":{pid}"), 1);
    fs::write(scene.journal_of(&live), text).unwrap();
    let recovery = scene.runs().await.recover(&dead.id).await.unwrap();
    assert_eq!(recovery.ended_processes, 0);
    assert!(recovery.left_in_place[0].contains(live.as_str()), "{recovery:?}");
    assert_eq!(Leftovers::of([mark]).end().await, 1);
    drop(journal);
}
