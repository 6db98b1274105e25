//! What of a report is true of the pull request, and what is said of the rest.

use sandcastle::forge::{
    BranchTip, Comment, CommentId, Head, HeadOrigin, ReviewThread, ThreadComment, ThreadState,
};
use sandcastle::review::{
    CommentableLines, Diff, DropReason, Dropped, InlineComment, MAX_REMARKS, PullRequest, Remark,
    ThreadReply, TopLevelComment, keep_inline, keep_replies, keep_top_level,
};
use sandcastle::{BranchName, CommitId};

/// A pull request with one thread that waits, one that is resolved, and one without a comment.
fn pull_request() -> PullRequest {
    let commit = CommitId::new("0".repeat(40)).unwrap();
    let branch = |name: &str| BranchName::new(name).unwrap();
    let base = BranchTip { branch: branch("main"), commit: commit.clone() };
    let mut pull_request = PullRequest::new(12, base, Head::new(branch("topic"), commit, HeadOrigin::Same));
    pull_request.threads = vec![
        thread(ThreadState::Unresolved, &["PRRC_waits", "PRRC_waits_too"]),
        thread(ThreadState::Resolved, &["PRRC_over"]),
        thread(ThreadState::Unresolved, &[]),
    ];
    pull_request
}

fn thread(state: ThreadState, ids: &[&str]) -> ReviewThread {
    let said = |id: &&str| ThreadComment {
        id: CommentId::new(*id),
        author: "somebody".to_owned(),
        body: "Why?".to_owned(),
    };
    ReviewThread {
        id: "PRRT_1".to_owned(),
        state,
        path: "src/a.rs".to_owned(),
        line: Some(4),
        comments: ids.iter().map(said).collect(),
    }
}

fn reply(id: &str, body: &str) -> ThreadReply {
    ThreadReply { comment_id: id.to_owned(), body: body.to_owned() }
}

fn on(path: &str, line: u64) -> InlineComment {
    InlineComment { path: path.to_owned(), line, body: "Why?".to_owned() }
}

/// Lines 10 to 13 and 40 of `src/a.rs`; `gone.rs` was deleted, and `tool` only became executable.
fn lines() -> CommentableLines {
    let diff = "\
diff --git a/gone.rs b/gone.rs
deleted file mode 100644
index 257cc56..0000000
--- a/gone.rs
+++ /dev/null
@@ -1 +0,0 @@
-foo
diff --git a/src/a.rs b/src/a.rs
index 257cc56..5716ca5 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -10,3 +10,4 @@
 ten
+eleven
 twelve
 thirteen
@@ -39,0 +40 @@
+forty
diff --git a/tool b/tool
old mode 100644
new mode 100755
";
    Diff::parse(diff.as_bytes()).unwrap().commentable()
}

fn reasons(dropped: &[Dropped]) -> Vec<&DropReason> {
    dropped.iter().map(|dropped| &dropped.reason).collect()
}

fn sentences(dropped: &[Dropped]) -> Vec<String> {
    dropped.iter().map(ToString::to_string).collect()
}

#[test]
fn replies_are_kept_for_comments_of_threads_that_wait() {
    let replies = vec![
        reply("PRRC_over", "Done."),
        reply("PRRC_waits_too", "Done."),
        reply("PRRC_made_up", "Done."),
        reply("PRRC_waits", "Done."),
        reply("PRRC_waits", "Once more."),
        reply("PRRT_1", "To the thread itself."),
        reply("prrc_waits", "In other letters."),
    ];
    let (kept, dropped) = keep_replies(replies, &pull_request());
    assert_eq!(kept, [reply("PRRC_waits_too", "Done."), reply("PRRC_waits", "Done.")]);
    assert_eq!(
        reasons(&dropped),
        [
            &DropReason::ResolvedThread,
            &DropReason::UnknownComment,
            &DropReason::Repeated,
            &DropReason::UnknownComment,
            &DropReason::UnknownComment
        ]
    );
    assert_eq!(dropped[2].what, Remark::ThreadReply(reply("PRRC_waits", "Once more.")));
    assert_eq!(
        sentences(&dropped)[..3],
        [
            "the reply to the comment `PRRC_over` was left out: its thread is resolved",
            "the reply to the comment `PRRC_made_up` was left out: no thread of the pull request has that comment",
            "the reply to the comment `PRRC_waits` was left out: the same was said before",
        ]
    );
}

#[test]
fn row_197_comments_are_kept_on_lines_of_the_diff() {
    let comments = vec![
        on("src/a.rs", 10),
        on("src/a.rs", 13),
        on("src/a.rs", 14),
        on("src/a.rs", 9),
        on("src/a.rs", 40),
        on("src/a.rs", 99),
        on("src/A.rs", 10),
        on("src/b.rs", 1),
        on("gone.rs", 1),
        on("tool", 1),
    ];
    let (kept, dropped) = keep_inline(comments, &pull_request(), &lines());
    assert_eq!(kept, [on("src/a.rs", 10), on("src/a.rs", 13), on("src/a.rs", 40)]);
    let at =
        |nearest: &[std::ops::RangeInclusive<u64>]| DropReason::LineNotInDiff { nearest: nearest.to_vec() };
    assert_eq!(
        reasons(&dropped),
        [
            &at(&[10..=13, 40..=40]),
            &at(&[10..=13]),
            &at(&[40..=40]),
            &DropReason::FileNotInDiff,
            &DropReason::FileNotInDiff,
            &DropReason::FileNotInDiff,
            &at(&[])
        ]
    );
    let sentences = sentences(&dropped);
    assert_eq!(
        sentences[0],
        "the comment on line 14 of `src/a.rs` was left out: the diff does not have that line; \
         the nearest that it has are 10-13 and 40"
    );
    assert_eq!(
        sentences[3],
        "the comment on line 10 of `src/A.rs` was left out: the diff does not have that file"
    );
    assert!(sentences[6].ends_with("the diff has none of the lines of that file"), "{}", sentences[6]);
}

#[test]
fn the_same_is_said_once_and_something_else_on_the_same_line_is_not_the_same() {
    let other = InlineComment { body: "And why that?".to_owned(), ..on("src/a.rs", 10) };
    let said = vec![on("src/a.rs", 10), other.clone(), on("src/a.rs", 10), on("src/a.rs", 11)];
    let (kept, dropped) = keep_inline(said, &pull_request(), &lines());
    assert_eq!(kept, [on("src/a.rs", 10), other, on("src/a.rs", 11)]);
    assert_eq!(dropped, [Dropped { what: on("src/a.rs", 10).into(), reason: DropReason::Repeated }]);

    let whole = |body: &str| TopLevelComment { body: body.to_owned() };
    let (kept, dropped) = keep_top_level(vec![whole("a"), whole("b"), whole("a")], &pull_request());
    assert_eq!((kept, reasons(&dropped)), (vec![whole("a"), whole("b")], vec![&DropReason::Repeated]));
    assert_eq!(dropped[0].to_string(), "the comment that begins `a` was left out: the same was said before");
}

#[test]
fn what_the_pull_request_says_already_is_not_said_again() {
    let mut pull_request = pull_request();
    let thread = &mut pull_request.threads[0];
    (thread.path, thread.line) = ("src/a.rs".to_owned(), Some(10));
    let body = thread.comments[0].body.clone();
    let id = thread.comments[0].id.to_string();
    pull_request.comments = vec![Comment { author: "mona".to_owned(), body: "Two.\n".to_owned() }];

    let again = |body: &str| InlineComment { body: body.to_owned(), ..on("src/a.rs", 10) };
    let elsewhere = InlineComment { line: 11, ..again(&body) };
    let said = vec![again(&body), again("Another thing."), elsewhere.clone()];
    let (kept, dropped) = keep_inline(said, &pull_request, &lines());
    assert_eq!(
        (kept, reasons(&dropped)),
        (vec![again("Another thing."), elsewhere], vec![&DropReason::Repeated])
    );

    let whole = |body: &str| TopLevelComment { body: body.to_owned() };
    let (kept, dropped) = keep_top_level(vec![whole("One."), whole("Two.")], &pull_request);
    assert_eq!((kept, reasons(&dropped)), (vec![whole("One.")], vec![&DropReason::Repeated]));

    pull_request.threads[0].state = ThreadState::Unresolved;
    let (kept, dropped) =
        keep_replies(vec![reply(&id, &format!("{body} ")), reply(&id, "Yes.")], &pull_request);
    assert_eq!((kept, reasons(&dropped)), (vec![reply(&id, "Yes.")], vec![&DropReason::Repeated]));
}

#[test]
fn what_nobody_would_take_or_read_is_left_out() {
    let long = InlineComment { body: "ü".repeat(65_537), ..on("src/a.rs", 10) };
    let fits = InlineComment { body: "ü".repeat(65_536), ..on("src/a.rs", 10) };
    let (kept, dropped) = keep_inline(vec![long, fits.clone()], &pull_request(), &lines());
    assert_eq!((kept, reasons(&dropped)), (vec![fits], vec![&DropReason::TooLong { characters: 65_537 }]));
    assert!(dropped[0].to_string().ends_with("it has 65537 characters, and at most 65536 are taken"));

    let many = (0..MAX_REMARKS + 3).map(|n| TopLevelComment { body: n.to_string() }).collect();
    let (kept, dropped) = keep_top_level(many, &pull_request());
    assert_eq!((kept.len(), dropped.len()), (MAX_REMARKS, 3));
    assert!(dropped.iter().all(|dropped| dropped.reason == DropReason::TooMany));
    assert!(dropped[0].to_string().ends_with("there are 100 of its kind already"));
}

#[test]
fn a_reply_that_is_left_out_takes_no_place_from_a_good_one() {
    let long = "x".repeat(70_000);
    let (kept, dropped) =
        keep_replies(vec![reply("PRRC_waits", &long), reply("PRRC_waits", "Done.")], &pull_request());
    assert_eq!(kept, [reply("PRRC_waits", "Done.")]);
    assert_eq!(dropped.len(), 1);
}

#[test]
fn what_an_agent_wrote_is_shown_on_one_line_and_cut() {
    let hostile = format!("a\n\u{1b}[31m\u{202e}{}", "x".repeat(10_000));
    let (_, replies) = keep_replies(vec![reply(&hostile, "b")], &pull_request());
    let (_, inline) = keep_inline(vec![on(&hostile, 1)], &pull_request(), &lines());
    let whole = |_| TopLevelComment { body: hostile.clone() };
    let (_, top_level) = keep_top_level((0..2).map(whole).collect(), &pull_request());
    for dropped in [replies, inline, top_level].concat() {
        let sentence = dropped.to_string();
        assert!(!sentence.contains(char::is_control) && !sentence.contains('\u{202e}'), "{sentence:?}");
        assert!(sentence.chars().count() < 300, "{sentence}");
    }
}

#[test]
fn what_was_dropped_can_be_read_by_a_program() {
    let (_, dropped) = keep_inline(vec![on("src/a.rs", 20)], &pull_request(), &lines());
    assert_eq!(
        serde_json::to_value(&dropped).unwrap(),
        serde_json::json!([{
            "what": { "inline-comment": { "path": "src/a.rs", "line": 20, "body": "Why?" } },
            "reason": { "line-not-in-diff": { "nearest": [{ "start": 10, "end": 13 }, { "start": 40, "end": 40 }] } },
        }])
    );
}
