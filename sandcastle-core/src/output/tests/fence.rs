//! What may stand around a value.

use super::{N, S, Stage, read, refused};

#[test]
fn case_024_a_fence_within_a_string_is_data() {
    let block = "\n```json\n{\"s\":\"run ```bash\\nls\\n``` now\"}\n```\n";
    assert_eq!(read::<S>(block).unwrap().s, "run ```bash\nls\n``` now");
}

#[test]
fn case_025_only_the_outer_fence_is_removed() {
    assert_eq!(read::<S>("```json\n{\"s\":\"uses ```json fences\"}\n```").unwrap().s, "uses ```json fences");
    assert_eq!(read::<S>("```\n{\"s\":\"ends with ```\"}\n```").unwrap().s, "ends with ```");
}

#[test]
fn case_027_backticks_within_a_value_are_no_fence() {
    assert_eq!(read::<S>("{\"s\":\"use `print`\"}").unwrap().s, "use `print`");
    assert_eq!(read::<S>("{\"s\":\"```\"}").unwrap().s, "```");
}

#[test]
fn case_028_fence_without_newlines() {
    assert_eq!(read::<N>("```json\n{\"n\":1}\n```").unwrap().n, 1);
}

#[test]
fn case_029_any_info_string() {
    for info in ["", "json", "JSON title=\"out\"", "  jsonc  ", "{.json}", "日本語", "1"] {
        let block = format!("\n```{info}\n{{\"n\":1}}\n```\n");
        assert_eq!(read::<N>(&block).unwrap().n, 1, "{info}");
    }
}

#[test]
fn case_029_fences_are_three_or_more_backticks_or_tildes() {
    for fence in ["```", "````", "~~~", "~~~~~"] {
        assert_eq!(
            read::<N>(&format!("\u{a0}{fence}json\r\n{{\"n\":1}}\r\n{fence} ")).unwrap().n,
            1,
            "{fence}"
        );
    }
    assert_eq!(read::<N>("````json\n{\"n\":1}\n```").unwrap().n, 1, "the closing fence may be shorter");
    refused::<N>(Stage::JsonParse, "``\n{\"n\":1}\n``");
    refused::<N>(Stage::JsonParse, "```\n{\"n\":1}\n~~~");
    refused::<N>(Stage::JsonParse, "```\n```\n{\"n\":1}\n```\n```");
}

#[test]
fn case_029_a_fence_may_be_in_one_line() {
    for block in ["```json {\"n\":1} ```", "```{\"n\":1}```", "```json{\"n\":1}\n```", "```{\"n\":\n1}\n```"]
    {
        assert_eq!(read::<N>(block).unwrap().n, 1, "{block}");
    }
}

#[test]
fn case_029_half_a_fence_is_an_error() {
    let error = refused::<N>(Stage::JsonParse, "\n```json\n{\"n\":1}\n");
    assert!(error.problems[0].message.contains("never closed at line 2 column 1"), "{error}");
    let error = refused::<N>(Stage::JsonParse, "{\"n\":1}\n```\n");
    assert!(error.problems[0].message.contains("never opened at line 2 column 1"), "{error}");
    let error = refused::<N>(Stage::JsonParse, "```\n{\"n\":1}\n```\nI hope this helps.");
    assert!(error.problems[0].message.contains("text behind the code fence at line 4"), "{error}");
    for block in ["```", "``````", "``` ", "```\n", "~~~json"] {
        refused::<N>(Stage::JsonParse, block);
    }
}

#[test]
fn case_030_white_space_of_every_kind_is_removed() {
    assert_eq!(read::<N>("\u{a0}\u{2003}\n{\"n\":1}\u{3000}\u{85}").unwrap().n, 1);
    refused::<N>(Stage::JsonParse, "\u{feff}{\"n\":1}");
}

#[test]
fn case_033_prose_before_the_json_is_an_error_with_a_place() {
    let error = refused::<N>(Stage::JsonParse, "\nHere it is, starting with [:\n{\"n\":1}\n");
    assert_eq!(error.problems[0].message, "expected a JSON value, found `H` at line 2 column 1");
    assert!(error.feedback(1).contains("JSON only"), "{}", error.feedback(1));
    let error = refused::<N>(Stage::JsonParse, "the answer: {\"n\":1}");
    assert!(error.feedback(1).contains("JSON only"), "{}", error.feedback(1));
    let error = refused::<N>(Stage::JsonParse, "{\"n\":1} as you asked");
    assert!(error.feedback(1).contains("JSON only"), "{}", error.feedback(1));
}

#[test]
fn case_033_places_in_a_fence_are_those_of_the_block() {
    let error = refused::<N>(Stage::JsonParse, "\u{a0}\n```json\n{\n  \"日\": 1,\n}\n```");
    assert_eq!(error.problems[0].message, "trailing comma at line 5 column 1");
    let shown = format!("{error:#}");
    assert!(shown.ends_with("  4 |   \"日\": 1,\n  5 | }\n    | ^"), "{shown}");
}
