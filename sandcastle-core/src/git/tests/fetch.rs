//! Fetching a branch of a remote.

use std::time::Duration;

use super::Trapped;
use crate::error::{Error, ErrorKind};
use crate::git::{Fetch, Repository};
use crate::id::{BranchName, CommitId};

async fn fetch(repository: &Repository, branch: &str) -> Result<CommitId, Error> {
    let branch = &BranchName::from_git(branch);
    Fetch { remote: "origin", branch, limit: Duration::from_secs(30) }.into(repository).await
}

/// Moves the branch `side` of the remote by one commit, and returns its tip.
async fn move_remote(place: &Trapped) -> String {
    let script = "git clone -q $OUT/origin.git $OUT/other && cd $OUT/other && git switch -q side && \
                  echo new >new.txt && git add . && git commit -qm new && git push -q origin side && \
                  git rev-parse HEAD >$OUT/tip";
    let (is_success, said) = place.script(script).await;
    assert!(is_success, "{said}");
    std::fs::read_to_string(place.out().join("tip")).unwrap().trim().to_owned()
}

#[tokio::test]
async fn a_branch_of_a_remote_is_fetched_and_its_tracking_branch_moved() {
    let place = Trapped::repository().await;
    let repository = Repository::discover(place.scratch.path()).await.unwrap();
    let tip = move_remote(&place).await;
    assert_eq!(fetch(&repository, "side").await.unwrap(), tip.as_str());
    assert_eq!(place.scratch.git(["rev-parse", "origin/side"]).await.unwrap(), tip);
    place.scratch.git(["merge", "--quiet", "--ff-only", "origin/side"]).await.unwrap();
    assert!(!repository.git_dir().join("FETCH_HEAD").exists());
    assert_eq!(fetch(&repository, "side").await.unwrap(), tip.as_str());
}

#[tokio::test]
async fn an_address_relative_to_the_repository_is_found_from_a_work_tree_too() {
    let place = Trapped::repository().await;
    let (is_success, said) =
        place.script("cp -r $OUT/origin.git near.git; git remote set-url origin ./near.git").await;
    assert!(is_success, "{said}");
    let agent = Repository::discover(&place.agent()).await.unwrap();
    fetch(&agent, "side").await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_fetched_is_an_error_that_names_it() {
    let place = Trapped::repository().await;
    let repository = Repository::discover(place.scratch.path()).await.unwrap();
    let error = fetch(&repository, "absent").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Git);
    assert!(error.to_string().contains("fetch `absent` from `origin`"), "{error}");
    for address in ["ext::sh -c date", "--upload-pack=date", "/nowhere/at/all", "ssh://-oProxyCommand=date/x"]
    {
        place.scratch.git(["config", "remote.origin.url", address]).await.unwrap();
        assert_eq!(fetch(&repository, "side").await.unwrap_err().kind(), ErrorKind::Git, "{address}");
    }
    place.scratch.git(["remote", "remove", "origin"]).await.unwrap();
    let error = fetch(&repository, "side").await.unwrap_err();
    assert!(error.to_string().contains("there is no remote `origin`"), "{error}");
}

#[tokio::test]
async fn a_tracking_branch_that_stands_for_another_moves_only_itself() {
    let place = Trapped::repository().await;
    let repository = Repository::discover(place.scratch.path()).await.unwrap();
    move_remote(&place).await;
    let main = place.scratch.git(["rev-parse", "main"]).await.unwrap();
    place.scratch.git(["symbolic-ref", "refs/remotes/origin/side", "refs/heads/main"]).await.unwrap();
    fetch(&repository, "side").await.unwrap();
    assert_eq!(place.scratch.git(["rev-parse", "main"]).await.unwrap(), main);
}
