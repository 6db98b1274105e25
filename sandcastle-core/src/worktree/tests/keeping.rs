//! What is kept when a place is closed, and what goes.

use std::time::Duration;

use super::*;
use crate::error::ErrorKind;
use crate::process::{Program, capture};

#[tokio::test]
async fn case_147_uncommitted_work_keeps_the_worktree_and_says_how_to_look() {
    let scene = Scene::new().await;
    let place = scene.open("agent/x").await.unwrap();
    fs::write(place.top().join("README.md"), "edited").unwrap();
    let top = place.top().to_path_buf();
    let closed = finished(place).await;
    assert_eq!(closed.preserved.as_deref(), Some(top.as_path()));
    let note = &closed.notes[0];
    for part in ["README.md", "cd ", "worktree remove --force", top.to_str().unwrap()] {
        assert!(note.contains(part), "{note}");
    }
}

#[tokio::test]
async fn the_command_that_cleans_up_works_for_a_worktree_that_is_locked_too() {
    for locked in [false, true] {
        let scene = Scene::new().await;
        let place = scene.open("agent/x").await.unwrap();
        fs::write(place.top().join("README.md"), "edited").unwrap();
        let top = place.top().to_path_buf();
        if locked {
            scene.git(["worktree", "lock", top.to_str().unwrap()]).await;
        }
        let closed = finished(place).await;
        let (_, command) = closed.notes[0].split_once("clean up: `").unwrap();
        let program = Program::new("sh").args(["-c", command.trim_end_matches('`')]);
        let ended = capture(&program, 1024, Duration::from_secs(30)).await.unwrap();
        assert!(ended.status.success(), "{command}");
        assert!(!top.exists(), "{command}");
    }
}

#[tokio::test]
async fn what_git_ignores_is_not_of_value() {
    let scene = Scene::new().await.aimed();
    scene.repo.write(".gitignore", "target/\n").unwrap();
    scene.commit("x").await;
    let place = scene.open("b").await.unwrap();
    fs::create_dir(place.top().join("target")).unwrap();
    fs::write(place.top().join("target/out"), "").unwrap();
    let top = place.top().to_path_buf();
    assert_eq!(finished(place).await, crate::worktree::Closed::default());
    assert!(!top.exists());
    assert_eq!(scene.branches().await, ["b", "main"], "a named branch stays");
}

#[tokio::test]
async fn w_4_what_cannot_be_told_is_kept() {
    let scene = Scene::new().await;
    type Damage = fn(&Place);
    let ways: [(&str, Damage); 5] = [
        ("index", |place| fs::write(place.repository().git_dir().join("index"), "rubbish").unwrap()),
        ("head", |place| fs::write(place.repository().git_dir().join("HEAD"), "rubbish").unwrap()),
        ("state", |place| fs::remove_dir_all(place.repository().git_dir()).unwrap()),
        ("link", |place| fs::write(place.top().join(".git"), "gitdir: /nowhere\n").unwrap()),
        ("symlink", |place| {
            let moved = place.top().with_extension("moved");
            fs::rename(place.top(), &moved).unwrap();
            std::os::unix::fs::symlink(&moved, place.top()).unwrap();
        }),
    ];
    for (branch, damage) in ways {
        let place = scene.open(branch).await.unwrap();
        let top = place.top().to_path_buf();
        damage(&place);
        let closed = finished(place).await;
        assert_eq!(closed.preserved, Some(top.clone()), "{branch}");
        assert!(top.join("README.md").exists(), "{branch}");
        assert_eq!(closed.notes.len(), 1);
    }
}

#[tokio::test]
async fn w_4_files_that_git_was_told_not_to_look_at_are_kept() {
    let scene = Scene::new().await;
    for (branch, flag) in [("a", "--assume-unchanged"), ("s", "--skip-worktree")] {
        let place = scene.open(branch).await.unwrap();
        git_in(place.top(), ["update-index", flag, "README.md"]).await;
        fs::write(place.top().join("README.md"), "hidden work").unwrap();
        assert!(finished(place).await.preserved.is_some(), "{flag}");
    }
}

#[tokio::test]
async fn a_repository_within_the_worktree_is_kept() {
    let scene = Scene::new().await;
    let place = scene.open("b").await.unwrap();
    let inner = place.top().join("inner");
    fs::create_dir(&inner).unwrap();
    git_in(&inner, ["init", "--quiet"]).await;
    git_in(
        &inner,
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "-m", "x"],
    )
    .await;
    git_in(place.top(), ["add", "inner"]).await;
    git_in(place.top(), ["commit", "--quiet", "-m", "embedded"]).await;
    assert_eq!(git_in(place.top(), ["status", "--porcelain"]).await, "");
    let closed = finished(place).await;
    assert!(closed.notes[0].contains("a repository of its own"), "{:?}", closed.notes);
    assert!(inner.join(".git/HEAD").exists());
}

#[tokio::test]
async fn w_58_a_temporary_branch_goes_with_its_worktree_unless_something_is_lost() {
    let scene = Scene::new().await;
    let plan = scene.plan(BranchStrategy::merge_to_head()).await.unwrap();

    let place = plan.open(1, LIMIT).await.unwrap();
    commit(place.top(), "one").await;
    scene.git(["merge", "--quiet", place.branch()]).await;
    assert_eq!(place.close(Fate::Finished { landed: true }).await, crate::worktree::Closed::default());
    assert_eq!(scene.branches().await, ["main"]);

    let place = plan.open(2, LIMIT).await.unwrap();
    commit(place.top(), "two").await;
    let closed = finished(place).await;
    assert_eq!(closed.preserved, None);
    assert!(closed.notes[0].contains("were not merged"), "{:?}", closed.notes);

    let place = plan.open(3, LIMIT).await.unwrap();
    commit(place.top(), "three").await;
    let closed = place.close(Fate::Finished { landed: true }).await;
    assert!(closed.notes[0].contains("no other branch holds"), "what is said is not believed");

    let place = plan.open(4, LIMIT).await.unwrap();
    fs::write(place.top().join("wip"), "").unwrap();
    let closed = place.close(Fate::Finished { landed: true }).await;
    let top = closed.preserved.unwrap();
    assert_eq!(git_in(&top, ["branch", "--show-current"]).await, plan.source_branch(4).as_str());
    assert_eq!(scene.branches().await.len(), 4);
}

#[tokio::test]
async fn w_57_a_place_that_something_was_committed_in_is_not_worthless() {
    let scene = Scene::new().await;
    let place = scene.open("b").await.unwrap();
    let made = commit(place.top(), "hook").await;
    place.close(Fate::Worthless).await;
    assert_eq!(scene.git(["rev-parse", "b"]).await, made);
}

#[tokio::test]
async fn symlinks_out_of_a_worktree_are_not_followed_when_it_goes() {
    let scene = Scene::new().await;
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("precious"), "").unwrap();
    scene.repo.write(".gitignore", "link\n").unwrap();
    scene.commit("x").await;
    for fate in [Fate::Worthless, Fate::Finished { landed: false }] {
        let place = scene.open("b").await.unwrap();
        std::os::unix::fs::symlink(outside.path(), place.top().join("link")).unwrap();
        let top = place.top().to_path_buf();
        place.close(fate).await;
        assert!(!top.exists());
        assert!(outside.path().join("precious").exists());
    }
}

#[tokio::test]
async fn a_dropped_place_keeps_its_worktree_and_frees_its_branch() {
    let scene = Scene::new().await;
    let place = scene.open("b").await.unwrap();
    let top = place.top().to_path_buf();
    assert_eq!(scene.open("b").await.unwrap_err().kind(), ErrorKind::BranchBusy);
    drop(place);
    assert!(!scene.open("b").await.unwrap().is_fresh());
    assert!(top.exists());
}
