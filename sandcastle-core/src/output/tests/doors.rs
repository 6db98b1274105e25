//! The whole way from a text to a value, through every door of the core; those of the facade are with its tests.

use super::{AgentOutput, ExtractError, N, OutputSpec, Stage};

/// What a door gave: the number, or what an error says.
fn shown(read: Result<i64, ExtractError>) -> String {
    read.map_or_else(|error| format!("{error:#}\n{}", error.feedback(1)), |n| n.to_string())
}

fn doors(text: &str) -> [String; 3] {
    let spec = OutputSpec::of::<N>();
    let mut locator = spec.locator();
    for piece in text.split_inclusive(' ') {
        locator.push(piece);
    }
    let in_pieces = locator.finish().and_then(|block| N::read_block(block.as_str(), &spec));
    let value = spec.extract(text).map(|value| value["n"].as_i64().unwrap_or_default());
    [shown(N::extract(text).map(|read| read.n)), shown(value), shown(in_pieces.map(|read| read.n))]
}

#[test]
fn types_specifications_and_pieces_give_the_same() {
    for text in [
        "Done. <result>{\"n\":1}</result>",
        "<result>\n```json\n{ \"n\": 1 }\n```\n</result> bye",
        "<result>{\"n\": 1,}</result>",
        "<result>{\"n\": \"x\"}</result>",
        "<result>{\"n\": 1.0}</result>",
        "<result>{\"n\": 1}",
        "{\"n\": 1}",
        "nothing",
    ] {
        let [first, second, third] = doors(text);
        assert_eq!(first, second, "{text}");
        assert_eq!(first, third, "{text}");
    }
}

#[test]
fn an_answer_that_ended_early_keeps_what_there_is() {
    let locator = || {
        let mut locator = OutputSpec::of::<N>().locator();
        locator.push("<result>{\"n\": 1, \"more\": [1, 2");
        Some(locator)
    };
    let error = ExtractError::truncated("result", locator());
    assert_eq!(
        (error.stage(), error.raw_matched.as_deref()),
        (Stage::Truncated, Some("{\"n\": 1, \"more\": [1, 2"))
    );
    assert!(format!("{error:#}").contains("cut off by the output limit"), "{error:#}");
    let error = ExtractError::refused("result", locator());
    assert_eq!((error.stage(), error.raw_matched.is_some()), (Stage::Refused, true));
    assert_eq!(ExtractError::truncated("result", None).raw_matched, None);
}
