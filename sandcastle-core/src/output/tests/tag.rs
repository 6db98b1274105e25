//! Which block of a whole text counts: the rows of the field whose texts mention, repeat, nest or miss the tag.

use std::fmt::Debug;

use super::{AgentOutput, ExtractError, L, N, OutputSpec, S, Stage};

/// The number that a text gives.
#[track_caller]
fn number(text: &str) -> i64 {
    N::extract(text).unwrap_or_else(|error| panic!("{text}: {error:#}")).n
}

/// The string that a text gives.
#[track_caller]
fn string(text: &str) -> String {
    S::extract(text).unwrap_or_else(|error| panic!("{text}: {error:#}")).s
}

/// The error that a text gives, at this stage.
#[track_caller]
fn no_answer<T: AgentOutput + Debug>(stage: Stage, text: &str) -> ExtractError {
    let error = T::extract(text).expect_err(text);
    assert_eq!(error.stage(), stage, "{text}: {error:#}");
    error
}

#[test]
fn case_001_w_18_a_mention_in_prose_is_no_opener() {
    assert_eq!(number("I will wrap it in <result> tags.\n<result>{\"n\":1}</result>"), 1);
    assert_eq!(number("<result>{\"n\":1}</result>\nI put it in <result> as you asked."), 1);
    assert_eq!(number("<result>{\"n\":1}</result>\nThe <result> and </result> tags are in place."), 1);
    assert_eq!(number("Use `<result>` then.\n<result>{\"n\":1}</result> (`<result>`...`</result>`)"), 1);
    assert_eq!(number("<result>{\"n\":1}</result> <result>"), 1);
}

#[test]
fn case_003_the_last_block_wins() {
    assert_eq!(number("<result>{\"n\":1}</result> wait: <result>{\"n\":2}</result>"), 2);
    assert_eq!(number("<result>{\"n\":1,}</result> sorry: <result>{\"n\":2}</result>"), 2);
    assert_eq!(number("<result>{\"n\": <result>{\"n\":2}</result>"), 2);
    let error =
        no_answer::<N>(Stage::JsonParse, "<result>{\"n\":1}</result> better: <result>{\"n\":2,}</result>");
    assert_eq!(error.raw_matched.as_deref(), Some("{\"n\":2,}"));
    no_answer::<N>(
        Stage::SchemaValidate,
        "<result>{\"n\":1}</result> better: <result>{\"n\":\"2\"}</result>",
    );
}

#[test]
fn policy_1_a_last_opener_that_is_never_closed_is_an_error() {
    for begun in
        ["{\"n\":2", "{\"n\":2}", "[", "\"", "7", "-3", "true", "null", "```json\n{\"n\":2}\n```", "```"]
    {
        no_answer::<N>(Stage::Unclosed, &format!("<result>{{\"n\":1}}</result> then <result> {begun}"));
    }
    for prose in ["", " ", "is", "(", "</", "`x`", "tags", "numbers", "'", "<b>"] {
        assert_eq!(number(&format!("<result>{{\"n\":1}}</result> then <result> {prose}")), 1, "{prose}");
    }
}

#[test]
fn case_005_a_closer_in_a_string_is_data() {
    assert_eq!(string(r#"<result>{"s":"a </result> b"}</result>"#), "a </result> b");
    assert_eq!(string(r#"<result>{"s":"\"</result>"}</result>"#), "\"</result>");
    assert_eq!(
        string(r#"<result>{"s":"<result>{\"s\":1}</result>"}</result>"#),
        "<result>{\"s\":1}</result>"
    );
    assert_eq!(string("<result>\n```\n{\"s\":\"</result>\"}\n```\n</result>"), "</result>");
    assert_eq!(string(r#"<result>{"s":"a \\"}</result>"#), "a \\");
}

#[test]
fn case_007_a_closer_may_be_repeated() {
    assert_eq!(number("<result>{\"n\":3}</result>\n</result>\n</result>"), 3);
    assert_eq!(number("</result><result>{\"n\":3}</result></result> </result>"), 3);
    assert_eq!(L::extract("<result>{\"items\":[3]}</result></result>").unwrap().items, [3]);
}

#[test]
fn case_016_an_example_of_the_format_is_no_answer() {
    assert_eq!(number("Format: <result>{\"n\": <number>}</result>\n<result>{\"n\":8}</result>"), 8);
    assert_eq!(number("Format: <result>{...}</result>\n<result>{\"n\":8}</result>"), 8);
    assert_eq!(number("Format: <result>{\"n\": \"</result>\n<result>{\"n\":8}</result>"), 8);
    assert_eq!(number("```\n<result>{\"n\": 0}</result>\n```\n<result>{\"n\":8}</result>"), 8);
    assert_eq!(number("Format: `<result>JSON</result>`. <result>{\"n\":8}</result>"), 8);
}

#[test]
fn case_017_a_closer_that_is_nearly_right_is_named() {
    for (text, found) in [
        ("<result>{\"n\":1}</Result>", "</Result>"),
        ("<result>{\"n\":1}</results>", "</results>"),
        ("<result>\n```json\n{\"n\":1}\n```\n</RESULT>", "</RESULT>"),
        ("<result>{\"n\":1}</answer> Done.", "</answer>"),
        ("<result>{\"n\":1}<result>", "<result>"),
        ("<result>{\"n\":1}</ result>", "</ result>"),
    ] {
        let error = no_answer::<N>(Stage::Unclosed, text);
        let shown = error.to_string();
        assert!(shown.contains("`</result>`") && shown.contains(&format!("`{found}`")), "{text}: {shown}");
    }
}

#[test]
fn case_017_a_text_names_a_closer_that_is_nearly_right() {
    let spec = OutputSpec::text("result").unwrap();
    let error = spec.extract("<result>a </b> c</Result> Done.").unwrap_err();
    assert_eq!((error.stage(), error.raw_matched.as_deref()), (Stage::Unclosed, Some("a </b> c")));
    assert!(error.to_string().contains("expected `</result>`, found `</Result>`"), "{error}");
    assert_eq!(spec.extract("<result>a </b> c").unwrap_err().raw_matched.as_deref(), Some("a </b> c"));
}

#[test]
fn case_019_a_tag_may_be_nested_in_itself() {
    assert_eq!(number("<result><result>{\"n\":4}</result></result>"), 4);
    assert_eq!(number("<result>\n<result>\n<result>{\"n\":4}</result>\n</result></result>"), 4);
    assert_eq!(number("<result>\n```json\n<result>{\"n\":4}</result>\n```\n</result>"), 4);
}

#[test]
fn case_020_a_closer_in_prose_ends_nothing() {
    assert_eq!(number("The </result> closer ends it. <result>{\"n\":6}</result>"), 6);
    assert_eq!(number("From <result> to </result>: <result>{\"n\":6}</result> and </result>."), 6);
    assert_eq!(number("`</result>`\n\n<result>\n{\"n\":6}\n</result>"), 6);
}

#[test]
fn case_021_a_draft_in_reasoning_is_no_answer() {
    assert_eq!(number("<think><result>{\"n\":0}</result></think>\n<result>{\"n\":7}</result>"), 7);
    assert_eq!(number("<think><result>{\"n\":0}</think>\n<result>{\"n\":7}</result>"), 7);
    assert_eq!(number("<thinking>so <result>{\"n\": \"</thinking>\n<result>{\"n\":7}</result>"), 7);
}

#[test]
fn case_022_a_bare_value_is_seen_and_not_taken() {
    for text in ["{\"n\":1}", "Done:\n```json\n{\"n\":1}\n```", "It is {\"n\": 1}.", "[1, 2]"] {
        let error = no_answer::<N>(Stage::Missing, text);
        assert!(error.to_string().contains("JSON outside of it"), "{text}: {error}");
        assert!(error.feedback(1).contains("between `<result>` and `</result>`"), "{}", error.feedback(1));
    }
    for text in ["<output>{\"n\":1}</output>", "&lt;result&gt;{\"n\":1}&lt;/result&gt;"] {
        let error = no_answer::<N>(Stage::Missing, text);
        assert!(error.to_string().contains("JSON outside of it"), "{text}: {error}");
    }
    for opener in ["<Result>", "<results>", "<result >", "<result id=\"1\">", "< result>"] {
        let error = no_answer::<N>(Stage::Missing, &format!("{opener}{{\"n\":1}}</result>"));
        assert!(error.to_string().contains(&format!("`{opener}`")), "{opener}: {error}");
    }
    let error = no_answer::<N>(Stage::Missing, "I could not do it.");
    assert!(!error.to_string().contains("JSON"), "{error}");
}

#[test]
fn case_023_terminal_colours_are_dropped() {
    assert_eq!(number("\u{1b}[32m<result>\u{1b}[0m{\"n\":1}\u{1b}[0m</result>"), 1);
    assert_eq!(number("\u{1b}[1;38;5;196m<res\u{1b}[0mult>{\"n\"\u{1b}[K:1}</result>\u{1b}[0m"), 1);
    assert_eq!(number("\u{1b}]8;;https://example.com\u{1b}\\<result>\u{1b}]8;;\u{7}{\"n\":1}</result>"), 1);
    assert_eq!(string(r#"<result>{"s":"\u001b[32m"}</result>"#), "\u{1b}[32m");
}

#[test]
fn case_024_a_whole_text_with_fences_in_its_strings() {
    assert_eq!(
        string("<result>\n```json\n{\"s\":\"run ```bash\\nls\\n``` now\"}\n```\n</result>"),
        "run ```bash\nls\n``` now"
    );
    assert_eq!(
        string("<result>\n~~~\n{\"s\":\"~~~\\n</result>\\n~~~\"}\n~~~\n</result>"),
        "~~~\n</result>\n~~~"
    );
}

#[test]
fn case_030_the_whole_answer_may_stand_in_a_fence() {
    assert_eq!(number("```xml\n<result>{\"n\":1}</result>\n```"), 1);
    assert_eq!(number("~~~\n<result>\n```json\n{\"n\":1}\n```\n</result>\n~~~"), 1);
    assert_eq!(number("`<result>{\"n\":1}</result>`"), 1);
    assert_eq!(number("    <result>{\"n\":1}</result>\r\n"), 1);
}
