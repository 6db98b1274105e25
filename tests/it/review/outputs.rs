//! What an agent may report, in which names, and what is refused.

use sandcastle::output::lower::{Dialect, lower};
use sandcastle::output::{ExtractError, Stage};
use sandcastle::review::{
    ExploreOutput, ImplementOutput, InlineComment, ReviewOutput, ThreadReply, TopLevelComment,
    UpdateBranchOutput,
};
use sandcastle::{AgentOutput, OutputSpec};
use serde_json::{Value, json};

fn read<T: AgentOutput>(answer: &Value) -> Result<T, ExtractError> {
    T::extract(&format!("Done.\n<output>\n{answer:#}\n</output>"))
}

/// Reads an answer with one comment on a line.
fn comment(comment: &Value) -> Result<InlineComment, ExtractError> {
    let answer = json!({ "summary": "s", "inlineComments": [comment], "replies": [] });
    read::<ReviewOutput>(&answer).map(|mut review| review.inline_comments.remove(0))
}

#[track_caller]
fn places<T: AgentOutput + std::fmt::Debug>(stage: Stage, answer: &Value) -> Vec<String> {
    let error = read::<T>(answer).expect_err("it must be refused");
    assert_eq!(error.stage(), stage, "{answer}: {error:#}");
    error.problems.into_iter().map(|problem| problem.path).collect()
}

#[test]
fn reports_ask_twice_for_what_they_did_not_get() {
    assert_eq!((ReviewOutput::TAG, ReviewOutput::MAX_RETRIES), ("output", 2));
    assert_eq!((ImplementOutput::TAG, ImplementOutput::MAX_RETRIES), ("output", 2));
    assert_eq!((ExploreOutput::TAG, ExploreOutput::MAX_RETRIES), ("output", 2));
    assert_eq!((UpdateBranchOutput::TAG, UpdateBranchOutput::MAX_RETRIES), ("output", 2));
}

#[test]
fn a_review_is_read_in_the_names_that_it_was_asked_for_in() {
    let answer = json!({
        "summary": "One thing.",
        "inlineComments": [{ "path": "src/a.rs", "line": 3, "body": "Why?" }],
        "replies": [{ "commentId": "PRRC_1", "body": "Done." }],
    });
    let review = read::<ReviewOutput>(&answer).unwrap();
    let inline_comments = vec![InlineComment { path: "src/a.rs".into(), line: 3, body: "Why?".into() }];
    let replies = vec![ThreadReply { comment_id: "PRRC_1".into(), body: "Done.".into() }];
    assert_eq!(review, ReviewOutput { summary: "One thing.".into(), inline_comments, replies });
    assert_eq!(serde_json::to_value(&review).unwrap(), answer);
}

#[test]
fn row_196_other_names_for_the_same_are_taken() {
    let plain = comment(&json!({ "path": "src/a.rs", "line": 120, "body": "Why?" })).unwrap();
    for other in [
        json!({ "file": "src/a.rs", "line": 120, "body": "Why?" }),
        json!({ "path": "src/a.rs", "line": 120, "comment": "Why?" }),
        json!({ "file": "./src/a.rs", "lineRange": "120-135", "comment": "Why?" }),
        json!({ "path": "././/src/a.rs", "lineRange": "L120-L135", "body": "Why?", "severity": "low" }),
        json!({ "path": "src/a.rs", "lineRange": 120, "body": "Why?" }),
        json!({ "path": "src/a.rs", "lineRange": [120, 135], "body": "Why?" }),
        json!({ "path": "src/a.rs", "lineRange": { "start": 120, "end": 135 }, "body": "Why?" }),
        json!({ "path": "src/a.rs", "line": null, "lineRange": "120", "body": "Why?" }),
        json!({ "path": "src/a.rs", "line": 120, "lineRange": "7-9", "body": "Why?" }),
        json!({ "path": "src/a.rs", "file": "b.rs", "line": 120, "body": "Why?", "comment": "other" }),
        json!({ "path": null, "file": "src/a.rs", "line": 120, "body": "Why?", "side": "RIGHT" }),
    ] {
        assert_eq!(comment(&other).unwrap_or_else(|error| panic!("{other}: {error:#}")), plain, "{other}");
    }
    let reply = json!({ "summary": "s", "replies": [{ "commentId": "PRRC_1", "comment": "Done." }] });
    assert_eq!(read::<ReviewOutput>(&reply).unwrap().replies[0].body, "Done.");
    let whole = json!({ "topLevelComments": [{ "comment": "All done." }] });
    assert_eq!(
        read::<ImplementOutput>(&whole).unwrap().top_level_comments,
        [TopLevelComment { body: "All done.".into() }]
    );
    assert_eq!(read::<ExploreOutput>(&json!({ "body": "Look." })).unwrap().comment, "Look.");
    assert_eq!(read::<UpdateBranchOutput>(&json!({ "body": "Merged." })).unwrap().comment, "Merged.");
}

#[test]
fn lists_that_are_absent_are_empty() {
    for answer in [
        json!({ "summary": "s" }),
        json!({ "summary": "s", "inlineComments": null, "replies": null, "extra": 1 }),
        json!({ "summary": "s", "inlineComments": [], "replies": [] }),
    ] {
        let review = read::<ReviewOutput>(&answer).unwrap();
        assert!(review.inline_comments.is_empty() && review.replies.is_empty(), "{answer}");
    }
    let nothing =
        ImplementOutput { thread_replies: vec![], new_inline_comments: vec![], top_level_comments: vec![] };
    assert_eq!(read::<ImplementOutput>(&json!({})).unwrap(), nothing);
}

#[test]
fn row_196_a_line_is_counted_from_one_and_is_never_guessed() {
    for line in
        [json!(0), json!(-1), json!(1.5), json!("7"), json!(4_294_967_296_u64), json!([7]), json!(true)]
    {
        let answer =
            json!({ "summary": "s", "inlineComments": [{ "path": "a", "line": line, "body": "b" }] });
        assert_eq!(
            places::<ReviewOutput>(Stage::SchemaValidate, &answer),
            ["/inlineComments/0/line"],
            "{line}"
        );
    }
    for range in [json!("v2 line 7"), json!("0"), json!("0-5"), json!("9-7"), json!(""), json!([]), json!({})]
    {
        let answer = json!({ "newInlineComments": [{ "path": "a", "lineRange": range, "body": "b" }] });
        let found = places::<ImplementOutput>(Stage::SchemaValidate, &answer);
        assert_eq!(found, ["/newInlineComments/0/line"], "{range}");
    }
    let error = comment(&json!({ "path": "a", "lineRange": "v2 line 7", "body": "b" })).unwrap_err();
    assert!(format!("{error:#}").contains("integer"), "{error:#}");
    let error = comment(&json!({ "path": "a", "body": "b" })).unwrap_err();
    assert_eq!(error.problems[0].to_string(), "/inlineComments/0/line: is required");
}

#[test]
fn texts_that_say_nothing_are_refused() {
    let blank = json!({
        "threadReplies": [{ "commentId": " ", "body": "\n" }],
        "newInlineComments": [{ "path": " ", "line": 1, "body": "\t" }],
        "topLevelComments": [{ "body": "  " }],
    });
    assert_eq!(
        places::<ImplementOutput>(Stage::Rejected, &blank),
        [
            "/threadReplies/0/commentId",
            "/threadReplies/0/body",
            "/newInlineComments/0/path",
            "/newInlineComments/0/body",
            "/topLevelComments/0/body"
        ]
    );
    assert_eq!(places::<ReviewOutput>(Stage::Rejected, &json!({ "summary": " " })), ["/summary"]);
    assert_eq!(places::<ReviewOutput>(Stage::SchemaValidate, &json!({ "summary": "" })), ["/summary"]);
    assert_eq!(places::<ReviewOutput>(Stage::SchemaValidate, &json!({ "summary": null })), ["/summary"]);
    assert_eq!(places::<ExploreOutput>(Stage::Rejected, &json!({ "comment": " " })), ["/comment"]);
    assert_eq!(places::<UpdateBranchOutput>(Stage::Rejected, &json!({ "comment": " " })), ["/comment"]);
    let long = json!({ "comment": "x".repeat(65_537) });
    assert_eq!(places::<ExploreOutput>(Stage::SchemaValidate, &long), ["/comment"]);
    assert!(read::<ExploreOutput>(&json!({ "comment": "ä".repeat(65_536) })).is_ok());
}

#[test]
fn paths_stay_in_the_repository() {
    for path in ["/etc/passwd", "../a", "a/../../b", "..", ".//../a"] {
        let error = comment(&json!({ "path": path, "line": 1, "body": "b" })).unwrap_err();
        assert_eq!(error.stage(), Stage::Rejected, "{path}: {error:#}");
        assert_eq!(error.problems[0].path, "/inlineComments/0/path", "{path}");
    }
    for path in ["a", "a..b", "..a", ".github/workflows/ci.yml", "a b/ü.rs", "a\\b"] {
        assert_eq!(comment(&json!({ "path": path, "line": 1, "body": "b" })).unwrap().path, path);
    }
}

#[test]
fn everything_that_is_wrong_is_said_at_once_and_right_names_are_never_missed() {
    let answer = json!({
        "summary": "s",
        "inlineComments": [
            { "file": "a.rs", "line": 5, "comment": "fine" },
            { "file": "b.rs", "lineRange": "around 7", "comment": "no line" },
            { "file": "c.rs", "line": 0 },
            "not a comment",
        ],
        "replies": { "commentId": "PRRC_1", "body": "no list" },
    });
    let mut found = places::<ReviewOutput>(Stage::SchemaValidate, &answer);
    found.sort();
    assert_eq!(
        found,
        [
            "/inlineComments/1/line",
            "/inlineComments/2/body",
            "/inlineComments/2/line",
            "/inlineComments/3",
            "/replies"
        ]
    );
}

#[test]
fn an_answer_of_another_kind_is_refused() {
    for answer in [json!([]), json!("LGTM"), json!(3), json!(null), json!([{ "summary": "s" }])] {
        assert_eq!(places::<ReviewOutput>(Stage::SchemaValidate, &answer), [""], "{answer}");
        assert_eq!(places::<ImplementOutput>(Stage::SchemaValidate, &answer), [""], "{answer}");
        assert_eq!(places::<ExploreOutput>(Stage::SchemaValidate, &answer), [""], "{answer}");
    }
}

#[test]
fn a_contract_at_run_time_gives_the_names_of_the_schema() {
    let answer = r#"{"summary":"s","inlineComments":[{"file":"./a","lineRange":"2-3","comment":"b"}]}"#;
    assert_eq!(
        OutputSpec::of::<ReviewOutput>().read_block(answer).unwrap(),
        json!({ "summary": "s", "inlineComments": [{ "path": "a", "body": "b", "line": 2 }], "replies": [] })
    );
}

#[test]
fn every_wire_carries_a_report() {
    for dialect in Dialect::ALL {
        for schema in [
            ReviewOutput::schema(),
            ImplementOutput::schema(),
            ExploreOutput::schema(),
            UpdateBranchOutput::schema(),
        ] {
            let lowering = lower(schema.as_value(), dialect);
            assert!(lowering.refused.is_empty(), "{dialect:?}: {:?}", lowering.refused);
        }
    }
}
