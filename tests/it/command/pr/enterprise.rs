//! A GitHub Enterprise Server: REST below `/api/v3`, GraphQL beside it, repositories at the host itself.

use serde_json::json;

use super::{Yard, remarks, report, work};
use crate::support::desk::json_of;
use crate::support::github::{GitHubServer, Posted, REPOSITORY, Scene, TOKEN};
use crate::support::process::Invocation;

impl Yard {
    /// As [`Yard::new`], at a server of somebody's own, whose address is that of `origin`, too.
    async fn of_enterprise() -> Self {
        let mut yard = Self::new().await;
        let base = yard.desk.tip("release").await;
        yard.server = GitHubServer::start_enterprise(Scene::new(&yard.head, &base));
        let address = format!("{}/{REPOSITORY}.git", yard.server.host());
        yard.desk.git(["remote", "set-url", "origin", &address]).await;
        // The server speaks no git, so the user's own settings say where what is at that address really is.
        let there = yard.desk.home.path().join("remote.git");
        let settings = format!("[url \"{}\"]\n\tinsteadOf = {address}\n", there.display());
        yard.desk.file(".gitconfig", settings);
        yard
    }

    /// The command as somebody types it who leaves to the remote which repository it is.
    fn typed(&self, args: &[&str]) -> Invocation {
        let (replies, comments) = remarks();
        let said = report(
            &json!({ "threadReplies": replies, "newInlineComments": comments, "topLevelComments": [] }),
        );
        let script = self.desk.file("script.json", json!({ "turns": [work(), said] }).to_string());
        let results = self.results();
        let mut all = vec!["--format", "json", "pr", "implement", "12", "--push", "--post"];
        all.extend(["--agent", "scripted", "--model", script.to_str().unwrap()]);
        all.extend(["--output-dir", results.to_str().unwrap()]);
        all.extend(args);
        self.desk.command(&all).environment([("GITHUB_TOKEN".to_owned(), TOKEN.to_owned())])
    }

    /// Where the branch of the pull request stands in the remote.
    async fn pushed(&self) -> String {
        let there = self.desk.home.path().join("remote.git");
        let tip = ["--git-dir", there.to_str().unwrap(), "rev-parse", "refs/heads/tower"];
        self.desk.git(tip).await.trim().to_owned()
    }
}

#[tokio::test]
async fn a_server_of_somebodys_own_is_read_pushed_to_and_posted_on() {
    for slash in ["", "/"] {
        let yard = Yard::of_enterprise().await;
        let api = yard.server.url() + slash;
        let ended = yard.typed(&["--api-url", &api]).run();
        assert_eq!(ended.code(), Some(0), "{api}: {ended:?}");
        assert_eq!(json_of(&ended)["counts"]["inline_comments"], 2, "{ended:?}");
        assert_eq!(yard.pushed().await, yard.desk.tip("tower").await);
        let posted = yard.server.posted();
        assert!(matches!(posted.as_slice(), [Posted::Reply(_), Posted::Review(_)]), "{posted:?}");
        for request in yard.server.requests() {
            let path = request.path();
            assert!(path.starts_with("/api/v3/repos/octo/sand/") || path == "/api/graphql", "{path}");
        }
    }
}

#[tokio::test]
async fn a_token_goes_to_no_server_that_only_the_repository_names() {
    let yard = Yard::of_enterprise().await;
    let ended = yard.typed(&[]).run();
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    assert!(ended.stdout.contains("--api-url https://127.0.0.1/api/v3"), "{ended:?}");
    // One whose interface is not where it was said to be answers nothing that is of use.
    let ended = yard.typed(&["--api-url", &yard.server.host()]).run();
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    let paths: Vec<_> = yard.server.requests().into_iter().map(|request| request.target).collect();
    assert_eq!(paths, ["/repos/octo/sand/pulls/12"]);
}
