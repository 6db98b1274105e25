//! The branch goes back, on condition that nobody else has moved it.

use std::os::unix::fs::PermissionsExt as _;

use super::place::{Place, says};
use crate::error::ErrorKind;
use crate::forge::HeadOrigin;
use crate::review::Checkout;

async fn opened_and_committed(place: &Place) -> Checkout {
    let checkout = place.open().await.unwrap();
    place.git(&["switch", "--quiet", "feature"]).await;
    place.commits("agent.txt", "agent\n").await;
    checkout
}

#[tokio::test]
async fn the_branch_is_pushed_and_so_is_it_again() {
    let place = Place::new().await;
    let checkout = opened_and_committed(&place).await;
    let tip = checkout.push().await.unwrap();
    assert_eq!(tip, checkout.tip().await.unwrap());
    assert_eq!(place.remote_tip("feature").await, tip);
    assert_eq!(place.git(&["rev-parse", "origin/feature"]).await, tip.as_str());
    assert_eq!(checkout.push().await.unwrap(), tip, "the answer of the first may have got lost");
    assert_eq!(place.remote_tip("main").await, *checkout.base(), "nothing else was moved");
}

#[tokio::test]
async fn a_branch_that_moved_meanwhile_is_told_and_stays() {
    let place = Place::new().await;
    let checkout = opened_and_committed(&place).await;
    let theirs = place.author_commits("theirs.txt", "theirs\n").await;
    place.publish("feature").await;
    let error = checkout.push().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Git);
    says(
        &error,
        &format!("the branch has moved on from `{:.12}`, it stands at `{theirs:.12}` now", checkout.start()),
    );
    assert_eq!(place.remote_tip("feature").await, theirs);
    place.author.git(["push", "--quiet", "origin", "--delete", "feature"]).await.unwrap();
    says(&checkout.push().await.unwrap_err(), "it has gone");
}

#[tokio::test]
async fn a_branch_that_moves_while_it_is_pushed_is_told() {
    let place = Place::new().await;
    let checkout = opened_and_committed(&place).await;
    let theirs = place.author_commits("theirs.txt", "theirs\n").await;
    place.author.git(["push", "--quiet", "origin", "HEAD:refs/heads/aside"]).await.unwrap();
    // Runs when the remote has said where the branch stands, and has not moved it yet.
    let hook = place.remote().join("hooks/pre-receive");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let script = format!(
        "#!/bin/sh\nunset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES\n\
         git update-ref refs/heads/feature {theirs}\n"
    );
    std::fs::write(&hook, script).unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let error = checkout.push().await.unwrap_err();
    says(&error, &format!("it stands at `{theirs:.12}` now"));
    assert_eq!(place.remote_tip("feature").await, theirs);
}

#[tokio::test]
async fn what_the_remote_says_is_told() {
    let place = Place::new().await;
    let checkout = opened_and_committed(&place).await;
    let hook = place.remote().join("hooks/update");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\necho the branch is protected >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let error = checkout.push().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Git);
    says(&error, "push `feature` to `origin`");
    says(&error, "the branch is protected");
    says(&error, "hook declined");
    assert_eq!(place.remote_tip("feature").await, *checkout.start());
    std::fs::remove_dir_all(place.remote()).unwrap();
    let error = checkout.push().await.unwrap_err();
    says(&error, "does not appear to be a git repository");
}

#[tokio::test]
async fn what_others_have_seen_is_not_taken_away() {
    let place = Place::new().await;
    let checkout = opened_and_committed(&place).await;
    place.git(&["reset", "--quiet", "--hard", "HEAD~2"]).await;
    place.commits("instead.txt", "instead\n").await;
    let error = checkout.push().await.unwrap_err();
    says(&error, "is no longer in it");
    assert_eq!(place.remote_tip("feature").await, *checkout.start());
}

#[tokio::test]
async fn a_fork_is_pushed_to_only_where_a_remote_is_that_fork() {
    let place = Place::new().await;
    let pull_request = place.pull_request(HeadOrigin::Fork("somebody/Repo".to_owned())).await;
    let checkout = Checkout::open(&pull_request, &place.options()).await.unwrap();
    place.git(&["switch", "--quiet", "pull/7"]).await;
    let tip = place.commits("agent.txt", "agent\n").await;
    let before = place.remote_tip("feature").await;
    let error = checkout.push().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Git);
    says(&error, "comes from the fork `somebody/Repo`, and the remote `origin` is another repository");
    assert_eq!(place.remote_tip("feature").await, before);

    let fork = place.out("somebody/repo.git");
    place
        .git(&["clone", "--quiet", "--bare", place.remote().to_str().unwrap(), fork.to_str().unwrap()])
        .await;
    place.git(&["remote", "add", "fork", fork.to_str().unwrap()]).await;
    let mut options = place.options();
    options.push_remote = Some("fork".to_owned());
    let checkout = Checkout::open(&pull_request, &options).await.unwrap();
    assert_eq!(checkout.push().await.unwrap(), tip);
    let pushed = crate::git::print(&fork, ["rev-parse", "refs/heads/feature"]).await.unwrap();
    assert_eq!(pushed, tip.as_str());
    assert_eq!(place.remote_tip("feature").await, before, "the other repository is not touched");

    let mut gone = pull_request;
    gone.head.origin = HeadOrigin::Gone;
    let checkout = Checkout::open(&gone, &options).await.unwrap();
    says(&checkout.push().await.unwrap_err(), "is there no more");
}

#[tokio::test]
async fn an_address_of_its_own_to_push_to_is_used() {
    let place = Place::new().await;
    let other = place.out("other/repo.git");
    place
        .git(&["clone", "--quiet", "--bare", place.remote().to_str().unwrap(), other.to_str().unwrap()])
        .await;
    place.git(&["config", "remote.origin.pushurl", other.to_str().unwrap()]).await;
    let checkout = opened_and_committed(&place).await;
    let tip = checkout.push().await.unwrap();
    assert_eq!(crate::git::print(&other, ["rev-parse", "refs/heads/feature"]).await.unwrap(), tip.as_str());
    assert_eq!(place.remote_tip("feature").await, *checkout.start());
}

#[tokio::test]
async fn branches_of_odd_names_come_and_go() {
    for name in ["a/b+c", "ü/日本", "quo\"te'$(x)", "refs/heads/x", "a,b=c;d&e|f"] {
        let place = Place::new().await;
        place.author.git(["push", "--quiet", "origin", &format!("HEAD:refs/heads/{name}")]).await.unwrap();
        let mut pull_request = place.pull_request(HeadOrigin::Same).await;
        pull_request.head.branch = crate::id::BranchName::new(name).unwrap();
        let checkout = Checkout::open(&pull_request, &place.options()).await.unwrap();
        let here = format!("refs/heads/{}", checkout.branch());
        place.git(&["checkout", "--quiet", "--detach", &here]).await;
        let tip = place.commits("odd.txt", "odd\n").await;
        place.git(&["update-ref", &here, &tip]).await;
        assert_eq!(checkout.push().await.unwrap(), tip, "{name}");
        assert_eq!(place.remote_tip(name).await, tip);
    }
}

/// A file of git-lfs as it is in a commit.
fn pointer(size: u32) -> String {
    let id = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{id}\nsize {size}\n")
}

#[tokio::test]
async fn what_git_lfs_keeps_elsewhere_is_named_and_not_pushed_without_it() {
    let place = Place::new().await;
    let checkout = opened_and_committed(&place).await;
    place.commits(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n").await;
    std::fs::write(place.here().join("not-its-own.txt"), pointer(1)).unwrap();
    std::fs::write(place.here().join("whole.bin"), "committed where there is no git-lfs").unwrap();
    let before = place.commits("notes", "x").await;
    assert_eq!(checkout.push().await.unwrap(), before, "all of it is in the commits");

    std::fs::write(place.here().join("ä wall.bin"), pointer(2)).unwrap();
    place.commits("moat.bin", &pointer(3)).await;
    place.git(&["rm", "--quiet", "moat.bin"]).await;
    place.commits("notes", "y").await;
    let error = checkout.push().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Git);
    says(&error, "the contents of `moat.bin`, `ä wall.bin` are kept by git-lfs");
    says(&error, "`git push origin feature:feature`");
    assert_eq!(place.remote_tip("feature").await, before);
}

#[tokio::test]
async fn what_the_base_brings_of_git_lfs_is_there_already() {
    let place = Place::new().await;
    place.author.git(["switch", "--quiet", "main"]).await.unwrap();
    place.author_commits(".gitattributes", "*.bin filter=lfs\n").await;
    place.author_commits("moat.bin", &pointer(1)).await;
    place.publish("main").await;
    let checkout = place.open().await.unwrap();
    let merged = checkout.merge_base().await.unwrap();
    assert_eq!(checkout.push().await.unwrap(), merged);
}
