//! A pull request: an agent works in the feedback on it, and what of its report is true is pushed and posted.
//!
//! `cargo run --example pull_request` plays it with the scripted agent, a remote in a folder, and a code host of its own that
//! prints what is said there. For GitHub it is `sandcastle::forges::GitHub`.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use sandcastle::forge::{
    BranchTip, CommentId, ForgeFuture, Head, HeadOrigin, NewReview, ReviewThread, ThreadComment, ThreadState,
};
use sandcastle::review::{Forge, PullRequest, PullRequestRun};
use sandcastle::testing::{ScratchRepo, Script, Scripted, Turn};
use sandcastle::{BranchName, CommitId, NoSandbox, RunOptions};

/// A code host with one pull request.
#[derive(Debug)]
struct Host(PullRequest);

impl Forge for Host {
    fn name(&self) -> &str {
        "example"
    }

    fn repository(&self) -> &str {
        "owner/name"
    }

    fn pull_request(&self, _: u64) -> ForgeFuture<'_, PullRequest> {
        Box::pin(async { Ok(self.0.clone()) })
    }

    fn reply<'a>(&'a self, _: &'a PullRequest, to: &'a CommentId, body: &'a str) -> ForgeFuture<'a, String> {
        println!("posted    in reply to {to}: {body}");
        Box::pin(async { Ok("https://example.com/1".to_owned()) })
    }

    fn review<'a>(&'a self, _: &'a PullRequest, review: &'a NewReview) -> ForgeFuture<'a, String> {
        for comment in &review.comments {
            println!("posted    on {}:{}: {}", comment.path, comment.line, comment.body);
        }
        Box::pin(async { Ok("https://example.com/2".to_owned()) })
    }

    fn comment<'a>(&'a self, _: &'a PullRequest, body: &'a str) -> ForgeFuture<'a, String> {
        println!("posted    {body}");
        Box::pin(async { Ok("https://example.com/3".to_owned()) })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> sandcastle::Result<()> {
    let (repository, remote) = (ScratchRepo::new().await?, ScratchRepo::new().await?);
    let host = Host(pull_request(&repository, &remote).await?);

    let work = Turn::new().write_file("tower.txt", "wall\nmoat\ndrawbridge\n").commit("Add a drawbridge");
    let report = r#"<output>{
        "threadReplies": [
            { "commentId": "C1", "body": "There is a drawbridge now." },
            { "commentId": "C9", "body": "Done, too." }
        ],
        "newInlineComments": [
            { "path": "tower.txt", "line": 3, "body": "It is made of oak." },
            { "path": "tower.txt", "line": 30, "body": "And this." }
        ],
        "topLevelComments": []
    }</output>"#;
    let agent = Scripted::new(Script::new().turn(work.say("Done.")).turn(Turn::new().say(report)));
    let agent = agent.state_dir(repository.path().join(".sandcastle/scripted"));

    let options = RunOptions::new(agent, NoSandbox::new()).cwd(repository.path());
    let mut done = PullRequestRun::new(host, 12, options).for_push().implement().await?;
    println!("counts    {}", done.counts);
    for dropped in &done.dropped {
        println!("dropped   {dropped}");
    }
    done.push().await?;
    done.post().await?;
    let pushed = remote.git(["log", "-1", "--format=%s", "tower"]).await?;
    println!("remote    {}", pushed.trim());
    Ok(())
}

/// Makes the branches, here and there, and a pull request with a conversation that waits.
async fn pull_request(repository: &ScratchRepo, remote: &ScratchRepo) -> sandcastle::Result<PullRequest> {
    let there = remote.path().display().to_string();
    repository.git(["remote", "add", "origin", &there]).await?;
    let base = repository.git(["rev-parse", "HEAD"]).await?;
    repository.git(["checkout", "-q", "-b", "tower"]).await?;
    repository.write("tower.txt", "wall\nmoat\n")?;
    repository.git(["add", "tower.txt"]).await?;
    repository.git(["commit", "-q", "-m", "Add a tower"]).await?;
    let head = repository.git(["rev-parse", "HEAD"]).await?;
    repository
        .git(["push", "-q", "--force", "origin", "tower", "main:trunk", "tower:refs/pull/12/head"])
        .await?;
    repository.git(["checkout", "-q", "main"]).await?;

    let base = BranchTip { branch: BranchName::new("trunk")?, commit: CommitId::new(base.trim())? };
    let head = Head::new(BranchName::new("tower")?, CommitId::new(head.trim())?, HeadOrigin::Same);
    let mut pull_request = PullRequest::new(12, base, head);
    pull_request.title = "Add a tower".to_owned();
    pull_request.threads.push(ReviewThread {
        id: "T1".to_owned(),
        state: ThreadState::Unresolved,
        path: "tower.txt".to_owned(),
        line: Some(2),
        comments: vec![ThreadComment {
            id: CommentId::new("C1"),
            author: "mona".to_owned(),
            body: "How does one get across?".to_owned(),
        }],
    });
    Ok(pull_request)
}
