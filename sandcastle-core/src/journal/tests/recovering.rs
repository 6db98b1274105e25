//! What `recover` saves.

use super::super::report::{LandingState, RescuedWork, RunState};
use super::*;
use crate::error::ErrorKind;

#[tokio::test]
async fn w_28_a_killed_run_is_found_and_nothing_of_it_is_lost() {
    let scene = Scene::new().await;
    let run = scene.begin_with_worktree().await;
    scene.commit(&run.worktree, "one.txt").await;
    fs::write(run.worktree.join("README.md"), "changed\n").unwrap();
    fs::write(run.worktree.join("new.txt"), "new\n").unwrap();
    fs::write(run.worktree.join(".gitignore"), "*.log\n").unwrap();
    fs::write(run.worktree.join("build.log"), "ignored\n").unwrap();
    leave_running(run.journal.mark()).await;
    let mark = run.journal.mark().clone();
    scene.kill(&run.id, run.journal);

    let runs = scene.runs().await;
    let report = &runs.list().await.unwrap()[0];
    assert_eq!(report.state, RunState::Died);
    assert_eq!(report.worktrees[0].changed.as_ref().unwrap().len(), 3);
    assert_eq!(report.branches[0].commits[0].subject, "one.txt");
    assert_eq!(report.processes[0].name, "sleep");

    let index = fs::read(scene.repository.path().join(".git/index")).unwrap();
    let recovery = runs.recover(&run.id).await.unwrap();
    assert_eq!(recovery.ended_processes, 1);
    assert_eq!(Leftovers::of([mark]).list(), []);
    assert_eq!(recovery.left_in_place, [""; 0]);
    let [rescued] = &recovery.rescued[..] else { panic!("{recovery:?}") };
    assert_eq!(rescued.what, RescuedWork::Uncommitted);
    assert_eq!(rescued.branch, format!("sandcastle-rescue/{}", run.id));
    let files = scene.git(["ls-tree", "--name-only", &rescued.commit]).await;
    assert_eq!(files, ".gitignore\nREADME.md\nnew.txt\none.txt");
    assert_eq!(scene.git(["show", &format!("{}:README.md", rescued.commit)]).await, "changed");
    assert_eq!(scene.git(["log", "--format=%s", &run.branch]).await, "one.txt\nbegin");
    // Nothing was touched.
    assert_eq!(scene.git(["rev-parse", "main"]).await, scene.git(["rev-parse", "HEAD"]).await);
    assert_eq!(fs::read(scene.repository.path().join(".git/index")).unwrap(), index);
    let status = scene.git_in(&run.worktree, &["status", "--porcelain"]).await;
    assert_eq!(status.lines().count(), 3, "{status}");
}

#[tokio::test]
async fn to_recover_twice_and_at_once_gives_one_branch() {
    let scene = Scene::new().await;
    let run = scene.begin_with_worktree().await;
    fs::write(run.worktree.join("new.txt"), "new\n").unwrap();
    scene.kill(&run.id, run.journal);
    let runs = scene.runs().await;
    let (a, b) = tokio::join!(runs.recover(&run.id), runs.recover(&run.id));
    let (a, b) = (a.unwrap().rescued, b.unwrap().rescued);
    assert_eq!(a, b);
    assert_eq!(runs.recover(&run.id).await.unwrap().rescued, a);
    let rescue = format!("sandcastle-rescue/{}", run.id);
    assert_eq!(scene.branches().await, ["main".to_owned(), rescue.clone(), run.branch.clone()]);
    // What came later is another branch, and the first one stays.
    fs::write(run.worktree.join("new.txt"), "newer\n").unwrap();
    let again = runs.recover(&run.id).await.unwrap().rescued;
    assert_eq!(again[0].branch, format!("{rescue}-2"));
    assert_eq!(scene.git(["show", &format!("{rescue}:new.txt")]).await, "new");
}

#[tokio::test]
async fn what_was_staged_is_saved_beside_the_files() {
    let scene = Scene::new().await;
    let run = scene.begin_with_worktree().await;
    fs::write(run.worktree.join("a.txt"), "staged").unwrap();
    scene.git_in(&run.worktree, &["add", "a.txt"]).await;
    fs::remove_file(run.worktree.join("a.txt")).unwrap();
    scene.kill(&run.id, run.journal);
    let rescued = scene.runs().await.recover(&run.id).await.unwrap().rescued;
    assert_eq!(scene.git(["ls-tree", "--name-only", &rescued[0].commit]).await, "README.md");
    assert_eq!(scene.git(["show", &format!("{}^2:a.txt", rescued[0].commit)]).await, "staged");
}

#[tokio::test]
async fn a_conflict_in_the_middle_of_a_merge_is_saved_as_it_stands() {
    let scene = Scene::new().await;
    let run = scene.begin_with_worktree().await;
    scene.git_in(&run.worktree, &["checkout", "-qb", "side"]).await;
    fs::write(run.worktree.join("README.md"), "side\n").unwrap();
    scene.git_in(&run.worktree, &["commit", "-qam", "side"]).await;
    scene.git_in(&run.worktree, &["checkout", "-q", &run.branch]).await;
    fs::write(run.worktree.join("README.md"), "ours\n").unwrap();
    scene.git_in(&run.worktree, &["commit", "-qam", "ours"]).await;
    let merge = ["-C", run.worktree.to_str().unwrap(), "merge", "side"];
    assert!(scene.repository.git(merge).await.is_err());
    scene.kill(&run.id, run.journal);
    let recovery = scene.runs().await.recover(&run.id).await.unwrap();
    let saved = scene.git(["show", &format!("{}:README.md", recovery.rescued[0].commit)]).await;
    assert!(saved.contains("<<<<<<<"), "{saved}");
    assert!(recovery.left_in_place[0].contains("a merge was begun in it and not ended"), "{recovery:?}");
}

#[tokio::test]
async fn commits_on_no_branch_get_one() {
    let scene = Scene::new().await;
    let run = scene.begin_with_worktree().await;
    scene.git_in(&run.worktree, &["checkout", "-q", "--detach"]).await;
    let head = scene.commit(&run.worktree, "detached.txt").await;
    scene.kill(&run.id, run.journal);
    // Another one whose worktree and branch are gone.
    let gone = scene.begin_with_worktree().await;
    let tip = scene.commit(&gone.worktree, "gone.txt").await;
    let commits = vec![super::super::NotedCommit { sha: tip.clone(), subject: "gone.txt".into() }];
    let _ = gone.journal.note(&Note::Commits { commits });
    scene.git(["worktree", "remove", gone.worktree.to_str().unwrap()]).await;
    scene.git(["branch", "-qD", &gone.branch]).await;
    scene.kill(&gone.id, gone.journal);

    let runs = scene.runs().await;
    for (id, commit) in [(&run.id, head), (&gone.id, tip)] {
        let rescued = runs.recover(id).await.unwrap().rescued;
        assert_eq!(rescued[0].what, RescuedWork::Commits);
        assert_eq!(rescued[0].commit, commit);
        assert_eq!(scene.git(["rev-parse", &rescued[0].branch]).await, commit);
        assert!(runs.recover(id).await.unwrap().rescued.is_empty(), "it has a branch now");
    }
}

#[tokio::test]
async fn a_landing_that_was_interrupted_is_told_from_one_that_was_done() {
    let scene = Scene::new().await;
    let mut reports = Vec::new();
    for lands in [false, true] {
        let run = scene.begin_with_worktree().await;
        let tip = scene.commit(&run.worktree, &format!("{lands}.txt")).await;
        let landing = Note::Landing { source: run.branch.clone(), tip, target: "main".into() };
        let _ = run.journal.note(&landing);
        if lands {
            scene.git(["merge", "-q", "--no-edit", &run.branch]).await;
        }
        scene.kill(&run.id, run.journal);
        reports.push(scene.runs().await.show(&run.id).await.unwrap());
    }
    assert_eq!(reports[0].landing.as_ref().unwrap().state, LandingState::Interrupted);
    assert_eq!(reports[1].landing.as_ref().unwrap().state, LandingState::Landed);
    assert_eq!(reports[1].branches[0].commits, []);
}

#[tokio::test]
async fn w_27_a_run_that_goes_on_is_not_recovered_nor_what_it_took_over() {
    let scene = Scene::new().await;
    let dead = scene.begin_with_worktree().await;
    fs::write(dead.worktree.join("new.txt"), "new\n").unwrap();
    scene.kill(&dead.id, dead.journal);
    let (live, journal) = scene.begin();
    let _ = journal.note(&Note::Worktree {
        path: dead.worktree.as_path().into(),
        branch: dead.branch,
        base: None,
        origin: Origin::Reused,
    });
    let runs = scene.runs().await;
    let error = runs.recover(&live).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOptions);
    let recovery = runs.recover(&dead.id).await.unwrap();
    assert!(recovery.rescued.is_empty());
    assert!(recovery.left_in_place[0].contains(live.as_str()), "{recovery:?}");
    assert_eq!(recovery.run.worktrees[0].used_by.as_ref(), Some(&live));
}

#[tokio::test]
async fn a_run_that_is_not_there_is_a_wrong_option() {
    let scene = Scene::new().await;
    let id = RunId::generate();
    let runs = scene.runs().await;
    for error in [
        runs.show(&id).await.unwrap_err(),
        runs.recover(&id).await.unwrap_err(),
        runs.remove(&id, super::super::Removal::Real).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::InvalidOptions);
    }
}

#[tokio::test]
async fn files_folders_and_links_that_took_each_others_place_are_saved() {
    let scene = Scene::new().await;
    let run = scene.begin_with_worktree().await;
    let at = |name: &str| run.worktree.join(name);
    fs::create_dir(at("folder")).unwrap();
    scene.commit(&run.worktree, "folder/inner").await;
    scene.commit(&run.worktree, "file").await;
    scene.commit(&run.worktree, "pipe").await;
    fs::remove_dir_all(at("folder")).unwrap();
    fs::write(at("folder"), "a file now").unwrap();
    for name in ["file", "pipe"] {
        fs::remove_file(at(name)).unwrap();
    }
    fs::create_dir(at("file")).unwrap();
    fs::write(at("file/inner"), "a folder now").unwrap();
    let pipe = at("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    fs::write(at("line\nfeed \u{e4}"), "odd").unwrap();
    fs::create_dir(at("nested")).unwrap();
    scene.git_in(&at("nested"), &["init", "-q"]).await;
    fs::write(at("nested/own"), "x").unwrap();
    scene.kill(&run.id, run.journal);
    let recovery = scene.runs().await.recover(&run.id).await.unwrap();
    let files = scene.git(["ls-tree", "-r", "-z", "--name-only", &recovery.rescued[0].commit]).await;
    assert_eq!(files, "README.md\0file/inner\0folder\0line\nfeed \u{e4}\0");
    assert!(recovery.left_in_place[0].contains("nested"), "{recovery:?}");
}

#[tokio::test]
async fn w_5_the_rescue_outlives_the_worktree() {
    let scene = Scene::new().await;
    let run = scene.begin_with_worktree().await;
    fs::write(run.worktree.join("new.txt"), "new\n").unwrap();
    scene.kill(&run.id, run.journal);
    let runs = scene.runs().await;
    let rescued = runs.recover(&run.id).await.unwrap().rescued;
    runs.remove(&run.id, super::super::Removal::Real).await.unwrap();
    assert!(!run.worktree.exists());
    assert_eq!(scene.git(["show", &format!("{}:new.txt", rescued[0].branch)]).await, "new");
}

#[tokio::test]
async fn w_57_a_worktree_that_git_had_not_finished_is_no_work() {
    let scene = Scene::new().await;
    let run = scene.begin_with_worktree().await;
    fs::remove_file(run.worktree.join("README.md")).unwrap();
    scene.git(["worktree", "lock", "--reason", "initializing", run.worktree.to_str().unwrap()]).await;
    scene.kill(&run.id, run.journal);
    let runs = scene.runs().await;
    let recovery = runs.recover(&run.id).await.unwrap();
    assert!(recovery.rescued.is_empty() && recovery.left_in_place.len() == 1, "{recovery:?}");
    assert_eq!(runs.clean(super::super::Removal::Real).await.unwrap().removed, []);
    runs.remove(&run.id, super::super::Removal::Real).await.unwrap();
    assert!(!run.worktree.exists());
    assert_eq!(scene.branches().await, ["main"]);
}
