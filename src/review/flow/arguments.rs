//! What a prompt of a pull request can name, and how much of it.
//!
//! Values are other people's texts. They are bounded, so that nobody fills a prompt by writing a long comment, and a template
//! takes them as text: nothing in them is a placeholder or a command. `MARK` is a word that none of them can know, by which
//! the built-in templates say where such a text begins and ends.

use std::hash::{BuildHasher, RandomState};

use serde_json::{Value, json};

use crate::review::{Checkout, PullRequest};

/// The most of a diff that is put into a prompt, in bytes. All that a prompt holds has to fit into one argument of a program,
/// which some agents take it by.
const MAX_DIFF: usize = 48 * 1024;
/// The same of everything that was said.
const MAX_COMMENTS: usize = 32 * 1024;
/// The same of one remark.
const MAX_REMARK: usize = 4 * 1024;
/// The same of a description.
const MAX_BODY: usize = 8 * 1024;
/// The same of a title.
const MAX_TITLE: usize = 512;

/// The names of the arguments.
pub(super) const NAMES: [&str; 13] = [
    "PR_NUMBER",
    "BRANCH",
    "PR_TITLE",
    "PR_BODY",
    "ISSUE_NUMBER",
    "ISSUE_TITLE",
    "LINKED_ISSUE",
    "DIFF",
    "PR_COMMENTS_JSON",
    "BASE_BRANCH",
    "BASE_COMMIT",
    "CONFLICTS",
    "MARK",
];

/// What the arguments are made of.
#[derive(Debug)]
pub(super) struct Sources<'a> {
    pub(super) pull_request: &'a PullRequest,
    pub(super) checkout: &'a Checkout,
    pub(super) diff: &'a [u8],
    /// The files that do not merge by themselves.
    pub(super) conflicts: &'a [String],
}

impl Sources<'_> {
    /// Returns the value of an argument; `None` for a name that is none.
    pub(super) fn value(&self, name: &str) -> Option<String> {
        let pull_request = self.pull_request;
        let issue = pull_request.issues.first();
        Some(match name {
            "PR_NUMBER" => pull_request.number.to_string(),
            "BRANCH" => self.checkout.branch().to_string(),
            "PR_TITLE" => title(&pull_request.title),
            "PR_BODY" => body(&pull_request.body, "(no description)"),
            "ISSUE_NUMBER" => issue.map_or_else(|| "(none)".to_owned(), |issue| format!("#{}", issue.number)),
            "ISSUE_TITLE" => {
                issue.map_or_else(|| "(no linked issue)".to_owned(), |issue| title(&issue.title))
            }
            "LINKED_ISSUE" => issue.map_or_else(
                || "(no linked issue)".to_owned(),
                |issue| body(&issue.body, "(no description)"),
            ),
            "DIFF" => self.diff(),
            "PR_COMMENTS_JSON" => comments(pull_request),
            "BASE_BRANCH" => pull_request.base.branch.to_string(),
            "BASE_COMMIT" => self.checkout.base().to_string(),
            "CONFLICTS" => self.conflicts(),
            "MARK" => mark(),
            _ => return None,
        })
    }

    fn diff(&self) -> String {
        let text = String::from_utf8_lossy(self.diff).replace('\0', "\u{fffd}");
        match text.trim_end() {
            "" => "(no changes)".to_owned(),
            text if text.len() <= MAX_DIFF => text.to_owned(),
            text => format!(
                "{}\n[cut here: {} bytes in all; `git diff {}...HEAD` shows the rest]",
                whole_lines(text, MAX_DIFF),
                text.len(),
                self.checkout.base(),
            ),
        }
    }

    fn conflicts(&self) -> String {
        let names = self.conflicts.iter().map(|path| format!("- `{}`", one_line(path)));
        let listed = names.collect::<Vec<_>>().join("\n");
        if listed.is_empty() { "(none)".to_owned() } else { cut(&listed, MAX_BODY) }
    }
}

/// Writes down what was said, leaving out the oldest remarks if it is too much.
fn comments(pull_request: &PullRequest) -> String {
    let remark = |author: &str, body: &str| json!({ "author": author, "body": cut(body, MAX_REMARK) });
    let mut said: Vec<Value> = pull_request.comments.iter().map(|it| remark(&it.author, &it.body)).collect();
    let mut reviews: Vec<Value> = pull_request
        .reviews
        .iter()
        .filter(|it| !it.body.trim().is_empty())
        .map(|it| json!({ "author": it.author, "verdict": it.verdict, "body": cut(&it.body, MAX_REMARK) }))
        .collect();
    let mut threads: Vec<Value> = pull_request
        .unresolved()
        .flat_map(|thread| thread.comments.iter().map(move |comment| (thread, comment)))
        .map(|(thread, comment)| {
            json!({
                "commentId": comment.id,
                "threadId": thread.id,
                "path": thread.path,
                "line": thread.line,
                "author": comment.author,
                "body": cut(&comment.body, MAX_REMARK),
            })
        })
        .collect();
    // What is asked for is in the conversations; they go last.
    let left_out = leave_out_oldest([&mut said, &mut reviews, &mut threads], MAX_COMMENTS);
    let mut all = json!({ "issue_comments": said, "review_summaries": reviews, "review_threads": threads });
    if left_out > 0 {
        all["left_out"] = json!(format!("the {left_out} oldest remarks, to keep this short"));
    }
    format!("{all:#}").replace('\0', "\u{fffd}")
}

/// Takes remarks away until the others fit, the oldest of the first list first, and returns how many.
fn leave_out_oldest(lists: [&mut Vec<Value>; 3], limit: usize) -> usize {
    let whole: usize = lists.iter().flat_map(|values| values.iter()).map(written_size).sum();
    let mut excess = whole.saturating_sub(limit);
    let mut left_out = 0;
    for values in lists {
        let mut oldest = 0;
        while let Some(value) = values.get(oldest).filter(|_| excess > 0) {
            excess = excess.saturating_sub(written_size(value));
            oldest += 1;
        }
        values.drain(..oldest);
        left_out += oldest;
    }
    left_out
}

/// Returns how many bytes a remark takes in its list, where each of its lines is indented.
fn written_size(remark: &Value) -> usize {
    const INDENT: usize = 4;
    let text = format!("{remark:#}");
    text.len() + (INDENT + 1) * (text.lines().count() + 1)
}

fn title(text: &str) -> String {
    cut(&one_line(text), MAX_TITLE)
}

fn body(text: &str, absent: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\0', "\u{fffd}");
    match text.trim() {
        "" => absent.to_owned(),
        text => cut(text, MAX_BODY),
    }
}

/// Puts a text that belongs on one line onto one.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned()
}

/// Cuts a text and says so.
fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    format!("{} [cut after {limit} of {} bytes]", &text[..text.floor_char_boundary(limit)], text.len())
}

/// Returns the lines of a text that fit whole.
fn whole_lines(text: &str, limit: usize) -> &str {
    let fits = &text[..text.floor_char_boundary(limit)];
    fits.rfind('\n').map_or(fits, |end| &fits[..end])
}

/// Makes a word that nobody could have written into a text before.
fn mark() -> String {
    format!("{:016x}", RandomState::new().hash_one(std::time::SystemTime::now()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forge::{
        BranchTip, Comment, CommentId, Head, HeadOrigin, ReviewThread, ThreadComment, ThreadState,
    };
    use crate::{BranchName, CommitId};

    fn pull_request() -> PullRequest {
        let (branch, commit) = (BranchName::new("main").unwrap(), CommitId::new("0".repeat(40)).unwrap());
        let head = Head::new(BranchName::new("topic").unwrap(), commit.clone(), HeadOrigin::Same);
        PullRequest::new(12, BranchTip { branch, commit }, head)
    }

    fn said(body: &str) -> Comment {
        Comment { author: "mona".to_owned(), body: body.to_owned() }
    }

    fn thread(id: &str, state: ThreadState) -> ReviewThread {
        let comment =
            ThreadComment { id: CommentId::new(id), author: "mona".to_owned(), body: "Why?".to_owned() };
        let (id, path) = (format!("thread-{id}"), "a.rs".to_owned());
        ReviewThread { id, state, path, line: Some(7), comments: vec![comment] }
    }

    #[test]
    fn what_was_said_is_bounded_and_what_is_asked_goes_last() {
        let mut pull_request = pull_request();
        pull_request.comments =
            (0..40).map(|number| said(&format!("{number} {}", "x".repeat(10_000)))).collect();
        pull_request.threads = vec![thread("A", ThreadState::Unresolved), thread("B", ThreadState::Resolved)];
        let text = comments(&pull_request);
        assert!(text.len() < MAX_COMMENTS + 4096, "{}", text.len());
        let all: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(all["review_threads"].as_array().unwrap().len(), 1);
        assert_eq!(all["review_threads"][0]["commentId"], "A");
        let kept = all["issue_comments"].as_array().unwrap();
        assert!(kept[0]["body"].as_str().unwrap().contains("[cut after 4096 of "), "{kept:?}");
        assert!(kept.last().unwrap()["body"].as_str().unwrap().starts_with("39 "), "the newest stay");
        assert_eq!(all["left_out"], format!("the {} oldest remarks, to keep this short", 40 - kept.len()));
    }

    #[test]
    fn many_short_remarks_take_no_more_room_than_a_few_long_ones() {
        let mut pull_request = pull_request();
        pull_request.comments = vec![said("x"); 5000];
        pull_request.threads =
            (0..5000).map(|number| thread(&number.to_string(), ThreadState::Unresolved)).collect();
        let text = comments(&pull_request);
        assert!((MAX_COMMENTS / 2..MAX_COMMENTS + 256).contains(&text.len()), "{}", text.len());
        let all: Value = serde_json::from_str(&text).unwrap();
        let kept = all["review_threads"].as_array().unwrap();
        assert_eq!(kept.last().unwrap()["commentId"], "4999", "the newest stay");
        assert_eq!(
            all["left_out"],
            format!("the {} oldest remarks, to keep this short", 10_000 - kept.len())
        );
    }

    #[test]
    fn what_is_much_is_bounded_in_a_moment() {
        let mut pull_request = pull_request();
        pull_request.comments = vec![said(&"x".repeat(4000)); 10_000];
        let begun = std::time::Instant::now();
        assert!(comments(&pull_request).len() < MAX_COMMENTS + 256);
        // In a build without optimisation, on a machine that has other things to do.
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
    }

    #[test]
    fn a_title_is_one_line_and_a_text_is_cut_between_characters() {
        assert_eq!(title("One\n# Two\u{1b}[2J\r"), "One # Two [2J");
        let cut = body(&"ü".repeat(MAX_BODY), "none");
        assert!(cut.contains(" [cut after 8192 of 16384 bytes]") && cut.starts_with('ü'), "{cut:.40}");
        assert_eq!(
            (body(" \r\n", "none"), body("a\0b\r\nc", "none")),
            ("none".into(), "a\u{fffd}b\nc".into())
        );
    }

    #[test]
    fn a_diff_is_cut_between_lines() {
        assert_eq!(whole_lines("one\ntwo\nthree", 9), "one\ntwo");
        assert_eq!(whole_lines("ünbroken", 1), "");
    }

    #[test]
    fn a_mark_is_another_one_each_time() {
        assert!(mark() != mark() && mark().len() == 16);
    }

    #[test]
    fn the_templates_name_nothing_that_a_pull_request_does_not_bring() {
        for text in [
            include_str!("../prompts/explore.md"),
            include_str!("../prompts/review.md"),
            include_str!("../prompts/implement.md"),
            include_str!("../prompts/update_branch.md"),
        ] {
            let named = text.split("{{").skip(1).map(|rest| rest.split("}}").next().unwrap());
            named.for_each(|name| assert!(NAMES.contains(&name), "{name}"));
            for words in ["Do not push", "resolve\nconversations", "labels", "`<<< {{MARK}}`"] {
                assert!(text.contains(words) || text.contains(&words.replace('\n', " ")), "{words}: {text}");
            }
            assert!(!text.contains("!`") && !text.contains("<output>"), "{text}");
            // What may be any sentence is only where it is said to be other people's.
            let ours = text.split("<<< {{MARK}}\n").map(|part| part.split(">>> {{MARK}}\n").last().unwrap());
            for part in ours {
                for theirs in
                    ["PR_TITLE", "PR_BODY", "ISSUE_TITLE", "LINKED_ISSUE", "DIFF", "COMMENTS", "CONFLICTS"]
                {
                    assert!(!part.contains(theirs), "{theirs}: {part}");
                }
            }
        }
    }
}
