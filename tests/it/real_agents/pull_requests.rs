//! Work on a pull request by the real programs: what they commit, what they are asked for, and what of it is kept.

use sandcastle::forge::Forge;
use sandcastle::review::{DropReason, PullRequestRun};
use serde_json::json;

use super::{Bench, Subject, for_both_agents};
use crate::support::github::{GitHubServer, Posted, Scene};
use crate::support::model_server::Reply;
use crate::support::tower::Tower;

for_both_agents![feedback_is_worked_in_answered_pushed_and_posted, a_report_is_asked_for_until_it_is_one];

const WORK: &str =
    "sed -i 's/line 15/a thicker wall/' src/lib.rs && git commit -q -a -m 'Make the wall thicker'";

impl Bench {
    /// The pull request, in this repository and on a host.
    async fn pull_request(&self) -> (Tower, GitHubServer) {
        let tower = Tower::build(&self.repository, &self.home.path().join("remote.git"), &[]).await;
        let server = GitHubServer::start(Scene::new(&tower.head, &tower.base));
        (tower, server)
    }

    fn work_on(&self, forge: impl Forge) -> PullRequestRun {
        PullRequestRun::new(forge, 12, self.options_without_prompt())
    }
}

/// Three threads, of which one is resolved and one made up, and four lines, of which two are not in the diff.
fn report() -> String {
    let reply = |id: &str| json!({ "commentId": id, "body": "As you say." });
    let comment = |path: &str, line: u32| json!({ "path": path, "line": line, "body": "Here." });
    let report = json!({
        "threadReplies": [reply("PRRC_walls_1"), reply("PRRC_done_1"), reply("PRRC_nobody")],
        "newInlineComments":
            [comment("src/lib.rs", 15), comment("src/lib.rs", 9), comment("docs/moat.md", 1), comment("src/main.rs", 1)],
        "topLevelComments": [],
    });
    format!("<output>{report}</output>")
}

async fn feedback_is_worked_in_answered_pushed_and_posted(subject: Subject) {
    let replies = [Reply::text("I begin. ").and_shell(WORK), Reply::text("Done."), Reply::text(report())];
    let bench = subject.bench(replies).await;
    let (tower, server) = bench.pull_request().await;
    let mut done = bench.work_on(server.client()).implement().await.unwrap();

    let run = done.run.as_ref().unwrap();
    assert_eq!(
        run.commits.iter().map(|it| it.subject.as_str()).collect::<Vec<_>>(),
        ["Make the wall thicker"]
    );
    assert!(run.text.ends_with("Done.") && !run.text.contains("<output>"), "{}", run.text);
    assert_eq!(done.output.thread_replies.len(), 1);
    let kept: Vec<_> = done.output.new_inline_comments.iter().map(|it| (it.path.as_str(), it.line)).collect();
    assert_eq!(kept, [("src/lib.rs", 15), ("docs/moat.md", 1)]);
    let reasons: Vec<_> = done.dropped.iter().map(|it| it.reason.clone()).collect();
    assert_eq!(
        reasons,
        [
            DropReason::ResolvedThread,
            DropReason::UnknownComment,
            DropReason::LineNotInDiff { nearest: vec![1..=5, 12..=18] },
            DropReason::FileNotInDiff,
        ]
    );
    // What it was told and asked.
    let turns = bench.server.turns();
    let told = turns[0].user_texts().join("\n");
    assert!(
        told.contains("PRRC_walls_1") && told.contains("+a wall") && !told.contains("<output>"),
        "{told}"
    );
    let asked = turns.last().unwrap().user_texts().pop().unwrap();
    assert!(asked.contains("threadReplies"), "{asked}");

    done.push().await.unwrap();
    assert!(!done.has_unpushed());
    let remote = bench.repository.git(["ls-remote", "origin", "refs/heads/tower"]).await.unwrap();
    assert!(remote.starts_with(done.tip.as_str()) && *done.tip != *tower.head, "{remote}");
    assert_eq!(done.post().await.unwrap().len(), 2);
    let posted = server.posted();
    assert!(matches!(posted.as_slice(), [Posted::Reply(_), Posted::Review(_)]), "{posted:#?}");
    // What was said is not said again.
    done.post().await.unwrap();
    assert_eq!(server.posted().len(), 2);
}

async fn a_report_is_asked_for_until_it_is_one(subject: Subject) {
    let review = r#"<output>{"summary": "Fine.", "inlineComments": [], "replies": []}</output>"#;
    let replies = [Reply::text("I looked."), Reply::text("It is fine."), Reply::text(review)];
    let bench = subject.bench(replies).await;
    let (tower, server) = bench.pull_request().await;
    let done = bench.work_on(server.client()).review().await.unwrap();
    assert_eq!(done.output.summary, "Fine.");
    assert_eq!((done.counts.commits, &*done.tip), (0, &*tower.head));
    assert_eq!(done.run.unwrap().attempts.len(), 2);
    assert_eq!(server.posted(), []);
}
