//! Documents from anywhere: whatever they are, they are read or refused, soon, and in few words.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::error::ErrorKind;
use crate::workflow::Workflow;

/// Longer than this is slow, on a machine that has much else to do.
const SOON: Duration = Duration::from_secs(20);

/// Reads a document; what is said about it is bounded, on lines of its own, and within the document.
#[track_caller]
fn assert_read_or_refused(document: &str) {
    let begun = Instant::now();
    let result = Workflow::from_yaml(document);
    let shown: String = document.chars().take(60).collect();
    assert!(begun.elapsed() < SOON, "{:?}: {shown:?}", begun.elapsed());
    let Err(error) = result else { return };
    assert_eq!(error.kind(), ErrorKind::InvalidWorkflow);
    let findings = error.workflow_findings().unwrap_or_else(|| panic!("{error:#}: {shown:?}"));
    assert!(findings.as_slice().len() <= 101, "{}", findings.as_slice().len());
    let lines = document.split(['\n', '\r']).count() as u32;
    for finding in findings.as_slice() {
        let said = format!("{finding:#}");
        assert!(said.len() < 10_000 && !said.contains(char::is_control), "{said:?}");
        assert!(finding.place.is_none_or(|place| (1..=lines).contains(&place.line)), "{said:?}: {shown:?}");
    }
}

#[test]
fn documents_without_end_are_refused_soon() {
    let flat = |item: &str, count: usize| item.repeat(count);
    for document in [
        "x".repeat(3 << 20),
        flat("[", 120_000),
        flat("{", 120_000),
        flat("{a: ", 20_000),
        flat("[a, ", 60_000),
        flat("- ", 120_000),
        flat("? ", 120_000),
        flat("a: ", 40_000),
        flat("!", 300_000),
        flat("&a ", 40_000),
        flat("*a ", 40_000),
        flat("'", 300_000),
        flat("\"\\", 120_000),
        flat("\n", 300_000),
        flat(" ", 300_000),
        flat("\t", 300_000),
        flat("---\n", 60_000),
        flat("#", 300_000),
        flat("%", 300_000),
        flat("a: b\n", 20_000),
        flat("🦀: 🦀\n", 40_000),
        format!("a: |\n{}", flat(" b\n", 20_000)),
        format!("a: >\n{}", flat(" b\n", 20_000)),
        format!("a: \"{}\"", flat("\\n", 150_000)),
        format!("a: '{}'", flat("''", 150_000)),
        format!("a: [{}]", flat("é, ", 30_000)),
        format!("version: '1.1'\nsteps: [{}]", flat("{step: a, type: tool, run: [ls]}, ", 8_000)),
        format!(
            "version: '1.1'\nvars: {{{}}}",
            (0..20_000).fold(String::new(), |mut all, n| {
                let _ = write!(all, "v{n}: {n}, ");
                all
            })
        ),
    ] {
        assert_read_or_refused(&document);
    }
}

#[test]
fn schemas_without_end_are_refused_soon() {
    let begin = "version: '1.1'\nsteps:\n- step: a\n  type: tool\n  run: [ls]\n  output_schema: {type: object, properties: {f: ";
    let deep = |open: &str, close: &str| format!("{}{{type: string}}{}", open.repeat(15), close.repeat(15));
    for node in [
        deep("{type: object, default: {}, properties: {a: ", "}}"),
        deep("{type: array, minItems: 1, items: ", "}"),
        format!("{{enum: [{}]}}", "a, ".repeat(10_000)),
        format!("{{anyOf: [{}]}}", "{type: string}, ".repeat(20_000)),
        format!("{{oneOf: [{}]}}", "{const: 1, enum: [1, 2, 3]}, ".repeat(20_000)),
        format!(
            "{{type: object, properties: {{a: {{type: string}}}}, required: [{}]}}",
            "b, ".repeat(10_000)
        ),
        "{type: string, pattern: '(((a{1000}){1000}){1000})'}".to_owned(),
        format!("{{type: string, pattern: '{}', default: aaaa}}", "(a*)*".repeat(1000)),
        "{type: string, pattern: '^(a+)+$', default: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab}".to_owned(),
    ] {
        assert_read_or_refused(&format!("{begin}{node}}}}}\n"));
    }
}

#[test]
fn odd_beginnings_and_ends_are_read_or_refused() {
    for document in [
        "\u{feff}",
        "\u{feff}\u{feff}a: b",
        "\0",
        "a: \0",
        "\r",
        "\r\r\n",
        "a:\r\n  b",
        "\u{85}a: b",
        "\u{2028}",
        "...",
        "--- ",
        "---\n...\n---",
        "%YAML 1.1\n---\na: b",
        "%TAG ! tag:x,2000:\n---\na: !b c",
        "? a",
        "? [a]\n: b",
        "{a: b, a: c}",
        "a: !!binary aGk=",
        ": ",
        "-",
        "[]",
        "''",
        "a: \"\\ud800\"",
        "a: \"\\U00110000\"",
        "a: \"\\x",
        "a: |9\n b",
        "a: |+\n\n\n",
        "a: >-\n\n",
        "{? }",
        "{,}",
        "[a: b, c: d]",
        "a: @b",
        "a: `b`",
    ] {
        assert_read_or_refused(document);
    }
}

/// Pieces that documents are made of, so that what is put together gets far.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "version: \"1.1\"\n",
            "steps:\n",
            "  - step: a\n",
            "    type: model\n",
            "    type: tool\n",
            "    run: [a, b]\n",
            "    prompt: x\n",
            "    output_schema:\n",
            "      type: object\n",
            "      properties:\n",
            "        f: {type: string}\n",
            "vars:\n",
            "  v: 1\n",
            "- ",
            ": ",
            "{",
            "}",
            "[",
            "]",
            ",",
            "\n",
            "  ",
            "    ",
            "|",
            ">",
            "'",
            "\"",
            "\\",
            "&a",
            "*a",
            "!t",
            "#",
            "?",
            "%",
            "---\n",
            "...\n",
            "\t",
            "\r\n",
            "é",
            "🦀",
            "\u{feff}",
            "\u{2028}",
            "{{ input }}",
            "null",
            "~",
            "1.10",
            "0x",
            ".nan",
            "<<",
            "anyOf",
            "default",
            "required",
        ])
        .prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn no_text_makes_the_reader_fall(document in pieces()) {
        assert_read_or_refused(&document);
    }

    #[test]
    fn no_change_of_a_good_document_makes_the_reader_fall(
        at in any::<prop::sample::Index>(),
        length in 0_usize..40,
        instead in pieces(),
    ) {
        let good: Vec<char> = include_str!("fixtures/good/everything.yaml").chars().collect();
        let at = at.index(good.len());
        let behind = (at + length).min(good.len());
        let document: String =
            good[..at].iter().copied().chain(instead.chars()).chain(good[behind..].iter().copied()).collect();
        assert_read_or_refused(&document);
    }
}
