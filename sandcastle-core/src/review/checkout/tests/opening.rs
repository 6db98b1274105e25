//! A pull request comes here: its branch is made, found, moved or refused.

use super::place::{Place, says};
use crate::error::ErrorKind;
use crate::forge::HeadOrigin;
use crate::id::BranchName;
use crate::review::Checkout;

#[tokio::test]
async fn a_branch_is_made_at_the_commit_of_the_pull_request_and_nothing_is_checked_out() {
    let place = Place::new().await;
    let before = place.git(&["rev-parse", "--symbolic-full-name", "HEAD"]).await;
    let checkout = place.open().await.unwrap();
    assert_eq!(*checkout.branch(), "feature");
    assert_eq!(*checkout.start(), place.remote_tip("feature").await);
    assert_eq!(checkout.tip().await.unwrap(), *checkout.start());
    assert_eq!(*checkout.base(), place.remote_tip("main").await);
    assert_eq!(place.git(&["rev-parse", "origin/feature"]).await, checkout.start().as_str());
    assert_eq!(place.git(&["rev-parse", "--symbolic-full-name", "HEAD"]).await, before);
    assert!(!checkout.is_checked_out().await.unwrap());
    let configuration = std::fs::read_to_string(place.here().join(".git/config")).unwrap();
    assert!(!configuration.contains("[branch \"feature\"]"), "no upstream was set");
}

#[tokio::test]
async fn the_head_of_a_fork_is_fetched_by_the_number_of_the_pull_request() {
    let place = Place::new().await;
    let fork = place.author_commits("fork.txt", "f\n").await;
    place.author.git(["push", "--quiet", "origin", "HEAD:refs/pull/7/head"]).await.unwrap();
    for origin in [HeadOrigin::Fork("somebody/repo".to_owned()), HeadOrigin::Gone] {
        let mut pull_request = place.pull_request(origin).await;
        pull_request.head.commit = fork.clone();
        let checkout = Checkout::open(&pull_request, &place.options()).await.unwrap();
        assert_eq!((checkout.branch().as_str(), checkout.tip().await.unwrap()), ("pull/7", fork.clone()));
    }
}

#[tokio::test]
async fn a_branch_can_have_a_name_of_ones_own_and_the_repository_be_seen_from_below() {
    let place = Place::new().await;
    let mut options = place.options();
    options.branch = Some(BranchName::new("mine/ä@7").unwrap());
    std::fs::create_dir(place.here().join("below")).unwrap();
    options.folder = place.here().join("below");
    let checkout = Checkout::open(&place.pull_request(HeadOrigin::Same).await, &options).await.unwrap();
    assert_eq!(*checkout.branch(), "mine/ä@7");
    assert_eq!(place.here_tip("mine/ä@7").await, *checkout.start());
}

#[tokio::test]
async fn a_branch_that_is_ahead_is_taken_as_it_is() {
    let place = Place::new().await;
    place.git(&["fetch", "--quiet", "origin", "feature:feature"]).await;
    place.git(&["switch", "--quiet", "feature"]).await;
    let ahead = place.commits("mine.txt", "mine\n").await;
    let checkout = place.open().await.unwrap();
    assert_eq!(checkout.tip().await.unwrap(), ahead);
    assert_eq!(*checkout.start(), place.remote_tip("feature").await);
    assert!(checkout.is_checked_out().await.unwrap());
}

#[tokio::test]
async fn a_branch_that_is_behind_is_moved_with_its_files() {
    let place = Place::new().await;
    place.git(&["fetch", "--quiet", "origin", "feature:feature"]).await;
    place.author_commits("more.txt", "more\n").await;
    place.publish("feature").await;
    let checkout = place.open().await.unwrap();
    assert_eq!(place.here_tip("feature").await, *checkout.start(), "where it is checked out nowhere");
    place.git(&["switch", "--quiet", "feature"]).await;
    place.author_commits("most.txt", "most\n").await;
    place.publish("feature").await;
    let checkout = place.open().await.unwrap();
    assert_eq!(place.here_tip("feature").await, *checkout.start());
    assert!(place.here().join("most.txt").exists());
    assert_eq!(place.git(&["status", "--porcelain"]).await, "");
}

#[tokio::test]
async fn an_edit_in_the_way_of_moving_it_is_named_and_stays() {
    let place = Place::new().await;
    place.git(&["fetch", "--quiet", "origin", "feature:feature"]).await;
    place.git(&["switch", "--quiet", "feature"]).await;
    place.author_commits("feature.txt", "theirs\n").await;
    place.publish("feature").await;
    std::fs::write(place.here().join("feature.txt"), "mine\n").unwrap();
    let before = place.state().await;
    let error = place.open().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Git);
    says(&error, "bring the branch `feature` up to the pull request");
    says(&error, "local edits");
    says(&error, "`feature.txt`");
    assert_eq!(place.state().await, before);
}

#[tokio::test]
async fn a_branch_that_has_gone_another_way_is_refused_with_both_commits() {
    let place = Place::new().await;
    place.git(&["switch", "--quiet", "-c", "feature"]).await;
    let mine = place.commits("mine.txt", "mine\n").await;
    let before = place.state().await;
    let error = place.open().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Git);
    says(
        &error,
        &format!(
            "it stands at `{mine:.12}` and pull request 7 at `{:.12}`",
            place.remote_tip("feature").await
        ),
    );
    says(&error, "rename it with `git branch -m`");
    assert_eq!(place.state().await, before);
}

#[tokio::test]
async fn a_name_that_no_run_takes_is_that_of_the_remote_alone() {
    const ODD: &str = "fix(`id`)-{{MARK}}";
    let place = Place::new().await;
    place.publish(ODD).await;
    let mut pull_request = place.pull_request(HeadOrigin::Same).await;
    pull_request.head.branch = BranchName::new(ODD).unwrap();
    // Somebody who asks for such a name is told, before anything is there.
    let (before, mut options) = (place.state().await, place.options());
    options.branch = Some(BranchName::new(ODD).unwrap());
    let error = Checkout::open(&pull_request, &options).await.unwrap_err();
    assert_eq!((error.kind(), place.state().await), (ErrorKind::InvalidOptions, before));
    let checkout = Checkout::open(&pull_request, &place.options()).await.unwrap();
    assert_eq!(checkout.branch(), "pull/7");
    place.git(&["switch", "--quiet", "pull/7"]).await;
    let new = place.commits("new.txt", "new\n").await;
    assert_eq!(checkout.push().await.unwrap(), new);
    assert_eq!(place.remote_tip(ODD).await, new);
    // Where it is checked out there is nothing to name.
    place.git(&["switch", "--quiet", "-c", ODD]).await;
    pull_request.head.commit = new;
    assert_eq!(Checkout::open(&pull_request, &place.options()).await.unwrap().branch(), ODD);
}

#[tokio::test]
async fn a_pull_request_that_has_moved_on_since_it_was_read_is_told() {
    let place = Place::new().await;
    let pull_request = place.pull_request(HeadOrigin::Same).await;
    let new = place.author_commits("new.txt", "new\n").await;
    place.publish("feature").await;
    let error = Checkout::open(&pull_request, &place.options()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Git);
    says(&error, &format!("it stands at `{new:.12}`"));
    says(&error, "it has moved on");
    assert!(!place.state().await[0].contains("feature"), "no branch was made");
}

#[tokio::test]
async fn what_cannot_be_reached_is_named() {
    let place = Place::new().await;
    let mut options = place.options();
    options.remote = "upstream".to_owned();
    let pull_request = place.pull_request(HeadOrigin::Same).await;
    let error = Checkout::open(&pull_request, &options).await.unwrap_err();
    says(&error, "there is no remote `upstream`");
    let mut gone = pull_request.clone();
    gone.base.branch = BranchName::new("absent").unwrap();
    let error = Checkout::open(&gone, &place.options()).await.unwrap_err();
    says(&error, "fetch `feature`, `absent` from `origin`");
    let mut fork = pull_request;
    (fork.number, fork.head.origin) = (8, HeadOrigin::Gone);
    let error = Checkout::open(&fork, &place.options()).await.unwrap_err();
    says(&error, "fetch `refs/pull/8/head`, `main` from `origin`");
    options.folder = place.out("");
    options.remote = "origin".to_owned();
    let error = Checkout::open(&fork, &options).await.unwrap_err();
    says(&error, "not inside a git repository");
}

#[tokio::test]
async fn a_shallow_clone_is_completed_where_nobody_could_tell_what_is_new() {
    let place = Place::new().await;
    for options in [&["--depth=1", "--branch", "feature"][..], &["--depth=1", "--no-single-branch"]] {
        place.clone_with(options).await;
        assert!(place.here().join(".git/shallow").exists());
        let checkout = place.open().await.unwrap();
        let diff = String::from_utf8(checkout.diff().await.unwrap()).unwrap();
        assert!(diff.contains("feature.txt") && !diff.contains("main.txt"), "{diff}");
        assert!(!place.here().join(".git/shallow").exists());
        place.git(&["fsck", "--full"]).await;
        assert_eq!(place.git(&["rev-list", "--count", "feature"]).await, "4");
    }
}

#[tokio::test]
async fn a_shallow_clone_of_something_else_stays_as_it_is() {
    let place = Place::new().await;
    place.author.git(["switch", "--quiet", "-c", "aside"]).await.unwrap();
    place.author_commits("aside.txt", "1\n").await;
    place.author_commits("aside.txt", "2\n").await;
    place.publish("aside").await;
    place.clone_with(&["--depth=1", "--branch", "aside"]).await;
    let shallow = std::fs::read(place.here().join(".git/shallow")).unwrap();
    let checkout = place.open().await.unwrap();
    assert_eq!(std::fs::read(place.here().join(".git/shallow")).unwrap(), shallow);
    assert!(String::from_utf8(checkout.diff().await.unwrap()).unwrap().contains("feature.txt"));
}
