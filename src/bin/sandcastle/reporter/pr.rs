//! The words for what came of work on a pull request. What agents said is cleaned.

use std::path::Path;

use sandcastle::forge::HeadOrigin;
use sandcastle::review::{PostingState, PullRequestOutput, PullRequestResult};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::next::quoted;
use super::{Lines, clean};

/// What came of it, and where it went.
pub(crate) struct Shown<'a, T> {
    pub(crate) done: &'a PullRequestResult<T>,
    pub(crate) folder: &'a Path,
    /// The remote that has the pull request.
    pub(crate) remote: &'a str,
}

impl<T: PullRequestOutput + Serialize> Shown<'_, T> {
    /// Words it for a program.
    pub(crate) fn described(&self) -> Value {
        let done = self.done;
        let mut object = json!({
            "number": done.pull_request.number,
            "url": done.pull_request.url,
            "output": done.output,
            "counts": done.counts,
            "dropped": done.dropped,
            "branch": done.checkout.branch(),
            "base": done.checkout.base(),
            "start": done.checkout.start(),
            "tip": done.tip,
            "unpushed": done.has_unpushed(),
            "postings": self.postings(),
            "output_dir": self.folder.to_string_lossy(),
            "warnings": done.warnings,
        });
        object["run"] = done.run.as_ref().map_or(Value::Null, |run| {
            let run = json!(run.work());
            let kept = [
                "run",
                "commits",
                "iterations",
                "attempts",
                "usage",
                "text",
                "log_file",
                "preserved_worktree",
            ];
            let part = |name: &&str| ((*name).to_owned(), run[*name].clone());
            Value::Object(kept.iter().map(part).collect::<Map<_, _>>())
        });
        object
    }

    fn postings(&self) -> Vec<Value> {
        let state = |state: &PostingState| match state {
            PostingState::Posted(address) => json!({ "state": "posted", "url": address }),
            PostingState::Failed => json!({ "state": "failed" }),
            _ => json!({ "state": "waiting" }),
        };
        let postings = self.done.postings().iter();
        postings.map(|posting| json!({ "what": posting.what, "result": state(&posting.state) })).collect()
    }

    /// Words it for a person: the counts, what was left out, the files, and what to do next.
    pub(crate) fn summary(&self) -> String {
        let done = self.done;
        let mut lines = Lines::default();
        lines.all("warning", done.warnings.iter());
        lines.some("url", Some(&done.pull_request.url).filter(|url| !url.is_empty()));
        lines.add("branch", done.checkout.branch());
        if let Some(run) = &done.run {
            lines.commits(&run.commits);
            lines.some("worktree", run.preserved_worktree.as_ref().map(|path| path.display()));
            lines.some("session", run.session_id());
            lines.some("log", run.log_file.as_ref().map(|path| path.display()));
            lines.add("run", &run.run_id);
        }
        lines.add("results", self.folder.display());
        for posting in done.postings() {
            if let PostingState::Posted(address) = &posting.state {
                lines.add("posted", address);
            }
        }
        lines.some("next", self.next());
        clean(&format!("{}\n\n{}", done.counts, lines.behind("")))
    }

    /// Words what is left to do by hand. The branch of a fork is out of reach.
    fn next(&self) -> Option<String> {
        let (branch, head) = (self.done.checkout.branch(), &self.done.pull_request.head);
        let is_here = self.done.has_unpushed() && head.origin == HeadOrigin::Same;
        is_here.then(|| {
            let refs = quoted(&format!("{branch}:{}", head.branch));
            let start = self.done.checkout.start();
            format!("git log {start:.12}..{}; git push {} {refs}", quoted(branch), quoted(self.remote))
        })
    }
}
