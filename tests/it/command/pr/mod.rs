//! `sandcastle pr` through the front door: a pull request on a GitHub of loopback, its branch in a bare repository, and a scripted
//! agent.

mod delivery;
mod enterprise;
mod reports;
mod sandboxed;
mod tokens;
mod trouble;
mod updates;

use std::path::PathBuf;

use sandcastle::SessionId;
use sandcastle::testing::Scripted;
use serde_json::{Value, json};

use crate::support::desk::{Desk, json_of};
use crate::support::github::{GitHubServer, REPOSITORY, Scene, TOKEN};
use crate::support::process::{Finished, Invocation};
use crate::support::tower::{Tower, lines};

/// A repository with the remote of a pull request, and the host that has it.
struct Yard {
    desk: Desk,
    server: GitHubServer,
    /// The commit that the pull request stands at.
    head: String,
}

impl Yard {
    /// Pull request 12 brings `tower` into `release`.
    async fn new() -> Self {
        Self::of(|scene| scene).await
    }

    async fn of(change: impl FnOnce(Scene) -> Scene) -> Self {
        Self::with_base(&[], change).await
    }

    /// As [`Yard::new`], where these lines have changed in `release` since `tower` was begun.
    async fn with_base(changed: &[(usize, &str)], change: impl FnOnce(Scene) -> Scene) -> Self {
        let desk = Desk::new().await;
        let Tower { head, base } =
            Tower::build(&desk.repository, &desk.home.path().join("remote.git"), changed).await;
        let server = GitHubServer::start(change(Scene::new(&head, &base)));
        Self { desk, server, head }
    }

    fn results(&self) -> PathBuf {
        self.desk.home.path().join("results")
    }

    /// A file with results.
    fn result(&self, name: &str) -> String {
        let path = self.results().join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The names of the files with results.
    fn result_names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.results()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    /// The command, with an agent that plays these turns.
    fn command(&self, kind: &str, turns: &Value, args: &[&str]) -> Invocation {
        let script = self.desk.file("script.json", json!({ "turns": turns }).to_string());
        let (url, results) = (self.server.url(), self.results());
        let mut all = vec!["--format", "json", "pr", kind, "12", "--api-url", &url, "--repo", REPOSITORY];
        all.extend(["--agent", "scripted", "--model", script.to_str().unwrap()]);
        all.extend(["--output-dir", results.to_str().unwrap()]);
        all.extend(args);
        self.plain(&all)
    }

    /// The command with these words and no others, and the token.
    fn plain(&self, args: &[&str]) -> Invocation {
        self.desk.command(args).environment([("GITHUB_TOKEN".to_owned(), TOKEN.to_owned())])
    }

    fn play(&self, kind: &str, turns: &Value, args: &[&str]) -> Finished {
        self.command(kind, turns, args).run()
    }

    /// What the agent was told.
    fn prompts(&self, ended: &Finished) -> Vec<String> {
        let session = json_of(ended)["run"]["iterations"][0]["session_id"].as_str().unwrap().to_owned();
        let state = self.desk.home.path().join(".local/state/sandcastle/scripted");
        Scripted::prompts(&state, &SessionId::new(session).unwrap()).unwrap()
    }

    /// The commit that a branch of the remote stands at.
    async fn remote_tip(&self, branch: &str) -> String {
        let listed = self.desk.git(["ls-remote", "origin", &format!("refs/heads/{branch}")]).await;
        listed.split_whitespace().next().unwrap_or_default().to_owned()
    }
}

impl Desk {
    async fn tip(&self, revision: &str) -> String {
        self.git(["rev-parse", revision]).await.trim().to_owned()
    }
}

/// What an agent reports.
fn report(value: &Value) -> Value {
    json!({ "steps": [{ "say": format!("<output>{value}</output>") }] })
}

/// An agent that changes the fifteenth line, commits it and is done.
fn work() -> Value {
    json!({ "steps": [
        { "write-file": { "path": "src/lib.rs", "content": lines(&[(2, "a wall"), (15, "a thicker wall")]) } },
        { "commit": "Make the wall thicker" },
        { "say": "Done. <promise>COMPLETE</promise>" },
    ] })
}

/// The remarks of an agent that is right in half of them: one thread of three is open and real, and two of four lines are in
/// the diff, one of them only since the agent's own commit.
fn remarks() -> (Value, Value) {
    let reply = |id: &str, body: &str| json!({ "commentId": id, "body": body });
    let replies = json!([
        reply("PRRC_moat_1", "From the river."),
        reply("PRRC_done_1", "It is mended."),
        reply("PRRC_nobody", "As you say."),
    ]);
    let comment = |path: &str, line: u32| json!({ "path": path, "line": line, "body": "Here." });
    let comments = json!([
        comment("src/lib.rs", 15),
        comment("src/lib.rs", 9),
        { "file": "./docs/moat.md", "lineRange": "1-1", "comment": "Here, too." },
        comment("src/other.rs", 3),
    ]);
    (replies, comments)
}
