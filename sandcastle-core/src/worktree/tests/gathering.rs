//! Which commits count as the agent's.

use super::*;
use crate::worktree::Gathered;

fn subjects(gathered: &Gathered) -> Vec<&str> {
    gathered.commits.iter().map(|commit| commit.subject.as_str()).collect()
}

#[tokio::test]
async fn commits_are_listed_oldest_first() {
    let scene = Scene::new().await;
    let place = scene.open("b").await.unwrap();
    assert!(place.gather(place.origin(), LIMIT).await.unwrap().commits.is_empty());
    commit(place.top(), "one").await;
    let tip = commit(place.top(), "two").await;
    let gathered = place.gather(place.origin(), LIMIT).await.unwrap();
    assert_eq!(subjects(&gathered), ["one", "two"]);
    assert_eq!((gathered.branch.as_str(), gathered.tip.unwrap().as_str()), ("b", tip.as_str()));
    assert!(gathered.notes.is_empty());
}

#[tokio::test]
async fn a_rebase_onto_a_moved_main_adds_nobodys_commits() {
    let scene = Scene::new().await;
    let place = scene.open("b").await.unwrap();
    commit(place.top(), "mine").await;
    scene.commit("the host's").await;
    git_in(place.top(), ["rebase", "--quiet", "main"]).await;
    commit(place.top(), "more").await;
    assert_eq!(subjects(&place.gather(place.origin(), LIMIT).await.unwrap()), ["mine", "more"]);
}

#[tokio::test]
async fn a_merge_of_main_is_the_agents_and_what_it_brings_is_not() {
    let scene = Scene::new().await;
    let place = scene.open("b").await.unwrap();
    commit(place.top(), "mine").await;
    scene.commit("the host's").await;
    git_in(place.top(), ["merge", "--quiet", "-m", "merge", "main"]).await;
    assert_eq!(subjects(&place.gather(place.origin(), LIMIT).await.unwrap()), ["mine", "merge"]);
}

#[tokio::test]
async fn a_branch_that_was_pushed_still_has_its_commits() {
    let scene = Scene::new().await;
    let _remote = remote(&scene).await;
    scene.git(["push", "--quiet", "origin", "main:b"]).await;
    scene.git(["fetch", "--quiet"]).await;
    let place = scene.open("b").await.unwrap();
    commit(place.top(), "mine").await;
    git_in(place.top(), ["push", "--quiet", "origin", "b"]).await;
    assert_eq!(subjects(&place.gather(place.origin(), LIMIT).await.unwrap()), ["mine"]);
}

#[tokio::test]
async fn w_49_a_detached_head_is_taken_in() {
    let scene = Scene::new().await;
    let place = scene.open("b").await.unwrap();
    commit(place.top(), "one").await;
    git_in(place.top(), ["checkout", "--quiet", "--detach"]).await;
    let tip = commit(place.top(), "two").await;
    let gathered = place.gather(place.origin(), LIMIT).await.unwrap();
    assert_eq!(subjects(&gathered), ["one", "two"]);
    assert_eq!(gathered.branch, "b");
    assert!(gathered.notes[0].contains("detached"));
    assert_eq!(scene.git(["rev-parse", "b"]).await, tip);
    assert_eq!(finished(place).await, crate::worktree::Closed::default());
}

#[tokio::test]
async fn w_49_commits_on_another_branch_are_found_and_keep_the_worktree() {
    let scene = Scene::new().await;
    scene.git(["branch", "other"]).await;
    let place = scene.open("b").await.unwrap();
    git_in(place.top(), ["checkout", "--quiet", "other"]).await;
    let tip = commit(place.top(), "elsewhere").await;
    let gathered = place.gather(place.origin(), LIMIT).await.unwrap();
    assert_eq!(subjects(&gathered), ["elsewhere"]);
    assert_eq!((gathered.branch.as_str(), gathered.tip.unwrap().as_str()), ("other", tip.as_str()));
    assert!(gathered.notes[0].contains("`other`"));
    assert!(finished(place).await.preserved.is_some());
}

#[tokio::test]
async fn a_diverged_head_is_noted_and_kept() {
    let scene = Scene::new().await;
    let place = scene.open("b").await.unwrap();
    let one = commit(place.top(), "one").await;
    git_in(place.top(), ["checkout", "--quiet", "--detach", "main"]).await;
    commit(place.top(), "stray").await;
    let gathered = place.gather(place.origin(), LIMIT).await.unwrap();
    assert_eq!(gathered.tip.as_ref().unwrap(), one.as_str());
    assert_eq!(gathered.commits.len(), 2);
    assert!(gathered.notes[0].contains("not ahead of"));
    assert!(finished(place).await.preserved.is_some());
}

#[tokio::test]
async fn a_branch_that_the_agent_deleted_comes_back_with_its_work() {
    let scene = Scene::new().await;
    let place = scene.open("b").await.unwrap();
    git_in(place.top(), ["checkout", "--quiet", "--detach"]).await;
    let tip = commit(place.top(), "one").await;
    git_in(place.top(), ["branch", "--quiet", "-D", "b"]).await;
    assert_eq!(subjects(&place.gather(place.origin(), LIMIT).await.unwrap()), ["one"]);
    assert_eq!(scene.git(["rev-parse", "b"]).await, tip);
}

#[tokio::test]
async fn w_49_an_error_is_no_empty_list() {
    let scene = Scene::new().await;
    let place = scene.open("b").await.unwrap();
    let tip = commit(place.top(), "one").await;
    let object = place.repository().common_dir().join("objects").join(&tip[..2]).join(&tip[2..]);
    fs::remove_file(object).unwrap();
    place.gather(place.origin(), LIMIT).await.unwrap_err();
}

#[tokio::test]
async fn a_replacement_hides_nothing() {
    let scene = Scene::new().await;
    let place = scene.open("b").await.unwrap();
    commit(place.top(), "one").await;
    let tip = commit(place.top(), "two").await;
    git_in(place.top(), ["replace", "--graft", &tip]).await;
    assert_eq!(subjects(&place.gather(place.origin(), LIMIT).await.unwrap()), ["one", "two"]);
}

#[tokio::test]
async fn in_place_the_commits_are_found_too() {
    let scene = Scene::new().await;
    let plan = scene.plan(BranchStrategy::head()).await.unwrap();
    let place = plan.open(1, LIMIT).await.unwrap();
    scene.commit("one").await;
    scene.git(["checkout", "--quiet", "--detach"]).await;
    let tip = scene.commit("two").await;
    let gathered = place.gather(place.origin(), LIMIT).await.unwrap();
    assert_eq!(subjects(&gathered), ["one", "two"]);
    assert_eq!((gathered.branch.as_str(), gathered.tip.unwrap().as_str()), ("HEAD", tip.as_str()));
    assert_ne!(scene.git(["rev-parse", "main"]).await, tip, "the caller's branches are the caller's");
}

#[tokio::test]
async fn a_repository_without_commits_has_none() {
    let folder = tempfile::tempdir().unwrap();
    git_in(folder.path(), ["init", "--quiet", "--initial-branch=main"]).await;
    git_in(folder.path(), ["config", "user.name", "a"]).await;
    git_in(folder.path(), ["config", "user.email", "a@b"]).await;
    let repository = Repository::discover(folder.path()).await.unwrap();
    let plan = Plan::new(&repository, &BranchStrategy::head(), &RunId::generate(), None).await.unwrap();
    let place = plan.open(1, LIMIT).await.unwrap();
    assert_eq!((place.base(), place.gather(place.origin(), LIMIT).await.unwrap().tip), (None, None));
    commit(folder.path(), "first").await;
    assert_eq!(subjects(&place.gather(place.origin(), LIMIT).await.unwrap()), ["first"]);
}

#[tokio::test]
async fn w_48_collecting_has_a_limit_that_can_be_set() {
    let scene = Scene::new().await;
    let place = scene.open("agent/x").await.unwrap();
    // Without a commit git is not asked, and what takes no time keeps to any limit.
    commit(place.top(), "mine").await;
    let error = place.gather(place.origin(), Duration::ZERO).await.unwrap_err();
    assert_eq!(error.kind(), crate::error::ErrorKind::StepTimeout, "{error:#}");
    assert!(error.to_string().contains("agent/x"), "{error}");
}
