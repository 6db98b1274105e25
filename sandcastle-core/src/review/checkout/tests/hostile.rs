//! Repositories full of traps, remotes that say something else, and an agent that leads astray.

use std::time::Duration;

use super::place::{NUMBER, Place, says};
use crate::error::ErrorKind;
use crate::forge::{BranchTip, Head, HeadOrigin, PullRequest};
use crate::git::tests::{TRAPS, Trap, Trapped};
use crate::id::{BranchName, CommitId};
use crate::review::{Checkout, CheckoutOptions};

/// What only a push would run.
const PUSH_TRAPS: &[Trap] = &[
    Trap { name: "hook of a push", plant: "hook pre-push", spring: "git push -q origin HEAD:refs/heads/x" },
    Trap {
        name: "program of a push",
        plant: "git config remote.origin.receivepack $TRAP",
        spring: "git push -q origin HEAD:refs/heads/x",
    },
    Trap {
        name: "signature of a push",
        plant: "git config push.gpgSign true; git config gpg.program $TRAP; git config user.signingKey x; \
                git -C $OUT/origin.git config receive.certNonceSeed x",
        spring: "git push -q origin HEAD:refs/heads/x",
    },
];

async fn pull_request(place: &Trapped) -> PullRequest {
    let commit = async |name: &str| {
        CommitId::from_git(place.scratch.git(["rev-parse", &format!("refs/heads/{name}")]).await.unwrap())
    };
    let branch = |name| BranchName::new(name).unwrap();
    let base = BranchTip { branch: branch("main"), commit: commit("main").await };
    let head = Head::new(branch("side"), commit("side").await, HeadOrigin::Same);
    PullRequest::new(NUMBER, base, head)
}

/// Everything that is done with a pull request. Calls may fail; they may not execute.
async fn all_calls(place: &Trapped, pull_request: &PullRequest) {
    let options = CheckoutOptions::new(place.scratch.path());
    let Ok(checkout) = Checkout::open(pull_request, &options).await else { return };
    let _ = checkout.is_checked_out().await;
    let _ = checkout.diff().await;
    let _ = checkout.outlook().await;
    let _ = checkout.merge_base().await;
    let _ = checkout.push().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn w_1_nothing_that_is_done_with_a_pull_request_springs_a_trap() {
    let mut wrong = Vec::new();
    for trap in TRAPS.iter().chain(PUSH_TRAPS) {
        let place = Trapped::repository().await;
        let pull_request = pull_request(&place).await;
        place.plant(trap).await;
        all_calls(&place, &pull_request).await;
        if place.is_sprung() {
            wrong.push(trap.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[tokio::test]
async fn w_1_the_traps_of_a_push_are_real() {
    for trap in PUSH_TRAPS {
        let place = Trapped::repository().await;
        place.plant(trap).await;
        let said = place.spring(trap).await;
        assert!(place.is_sprung(), "{} springs nothing: {said}", trap.name);
    }
}

#[tokio::test]
async fn an_agent_that_writes_another_address_leads_nobody_there() {
    let place = Place::new().await;
    let checkout = place.open().await.unwrap();
    place.git(&["switch", "--quiet", "feature"]).await;
    let tip = place.commits("agent.txt", "agent\n").await;
    let trap = place.out("trap.git");
    place
        .git(&["clone", "--quiet", "--bare", place.remote().to_str().unwrap(), trap.to_str().unwrap()])
        .await;
    let url = format!("file://{}", place.remote().display());
    for (key, value) in [
        ("remote.origin.url", trap.to_str().unwrap()),
        ("remote.origin.pushurl", trap.to_str().unwrap()),
        (&format!("url.{}.insteadOf", trap.display()), &url),
        (&format!("url.{}.pushInsteadOf", trap.display()), &url),
    ] {
        place.git(&["config", key, value]).await;
    }
    assert_eq!(checkout.push().await.unwrap(), tip);
    assert_eq!(place.remote_tip("feature").await, tip);
    let there = crate::git::print(&trap, ["rev-parse", "refs/heads/feature"]).await.unwrap();
    assert_eq!(there, checkout.start().as_str());
}

#[tokio::test]
async fn a_remote_that_serves_something_else_is_not_believed() {
    let place = Place::new().await;
    let pull_request = place.pull_request(HeadOrigin::Same).await;
    let id = async |what| crate::git::print(&place.remote(), ["rev-parse", what]).await.unwrap();
    // Another commit, and a file.
    let others =
        [("refs/heads/main", "it stands at"), ("refs/heads/feature:feature.txt", "fetch `feature`, `main`")];
    let [other, file] = others.map(|(what, _)| what);
    let ids = [id(other).await, id(file).await];
    for ((_, reason), id) in others.into_iter().zip(ids) {
        std::fs::write(place.remote().join("refs/heads/feature"), format!("{id}\n")).unwrap();
        let error = Checkout::open(&pull_request, &place.options()).await.unwrap_err();
        says(&error, reason);
        assert!(!place.state().await[0].contains("feature"), "no branch was made");
    }
}

#[tokio::test]
async fn names_of_a_remote_are_data() {
    let place = Place::new().await;
    let pull_request = place.pull_request(HeadOrigin::Same).await;
    for name in ["", "--upload-pack=date", "a\nb", "../x", "$(date)", "origin.url x"] {
        let mut options = place.options();
        options.remote = name.to_owned();
        let error = Checkout::open(&pull_request, &options).await.unwrap_err();
        says(&error, "there is no remote");
    }
    for address in ["ext::sh -c date", "--upload-pack=date", "ssh://-oProxyCommand=date/x", "/nowhere"] {
        place.git(&["config", "remote.odd.url", address]).await;
        let mut options = place.options();
        options.remote = "odd".to_owned();
        let error = Checkout::open(&pull_request, &options).await.unwrap_err();
        says(&error, "fetch `feature`, `main` from `odd`");
    }
}

#[tokio::test]
async fn a_remote_that_says_nothing_is_not_waited_for_for_ever() {
    let place = Place::new().await;
    let pull_request = place.pull_request(HeadOrigin::Same).await;
    let checkout = place.open().await.unwrap();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("git://127.0.0.1:{}/owner/repo.git", silent.local_addr().unwrap().port());
    place.git(&["remote", "set-url", "origin", &address]).await;
    let mut options = place.options();
    options.limit = Duration::from_millis(500);
    let error = Checkout::open(&pull_request, &options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StepTimeout, "{error:?}");
    assert_eq!(place.here_tip("feature").await, *checkout.start());
}
