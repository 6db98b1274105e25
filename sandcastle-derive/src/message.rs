//! The catalogue: every mistake the derive knows, with the message and the hint the user reads.
//!
//! Each entry names the case under `tests/ui` that shows it, and a test below holds the two together. Nothing here
//! decides when a mistake was made, or where it is shown.

use crate::symbol::Key;

/// Declares [`Mistake`]: a variant, the facts it carries, its case under `tests/ui`, its message and its hint.
macro_rules! catalogue {
    ($(
        $(#[$doc:meta])*
        $name:ident $({ $($fact:ident: $kind:ty),+ })? at $case:literal: $message:literal, hint $hint:literal;
    )+) => {
        /// A mistake in the use of `#[derive(AgentOutput)]`.
        #[derive(Debug)]
        pub(crate) enum Mistake {
            $($(#[$doc])* $name $({ $($fact: $kind),+ })?,)+
        }

        impl Mistake {
            /// Words the mistake: a message, and on a line of its own what to do instead.
            pub(crate) fn text(&self) -> String {
                let [message, hint] = match self {
                    $(Self::$name $({ $($fact),+ })? => [format!($message), format!($hint)],)+
                };
                format!("{message}\nhint: {hint}")
            }
        }

        /// The case, the message and the hint of each entry, with the names of its facts still in braces.
        #[cfg(test)]
        const ENTRIES: &[(&str, &str, &str)] = &[$(($case, $message, $hint)),+];
    };
}

catalogue! {
    /// The type has no `#[output(...)]`.
    NoAttribute { name: String } at "missing/attribute":
        "`{name}` does not say which tag its answer stands in",
        hint "add `#[output(tag = \"result\")]` to the type";
    /// There is an `#[output(...)]`, but none with a `tag`.
    NoTag at "missing/tag":
        "`#[output(...)]` does not say which tag the answer stands in",
        hint "add `tag = \"result\"`";
    /// A key that takes a value stands alone.
    NoValue { key: Key, form: &'static str } at "missing/value":
        "`{key}` needs a value",
        hint "write `{form}`";

    /// `#[output]` or `#[output = "..."]`.
    NotAList at "malformed/not-a-list":
        "`output` takes a list of keys in parentheses",
        hint "write `#[output(tag = \"result\")]`";
    /// Something between two commas is not a key.
    NotAKey { keys: String } at "malformed/not-a-key":
        "expected a key",
        hint "the keys are {keys}";
    /// `key(...)`, `key: ...`, `some::key = ...`
    NotAnAssignment { key: String } at "malformed/not-an-assignment":
        "expected `=` or `,` after `{key}`",
        hint "a key takes its value after `=`";
    /// Two keys without a comma between them.
    NoComma at "malformed/no-comma":
        "expected `,` before the next key",
        hint "separate the keys with commas";
    /// `#[output(...)]` on a field or a variant.
    Misplaced { place: &'static str } at "malformed/misplaced":
        "`output` has no meaning on a {place}",
        hint "it describes the whole answer: move it to the type";

    /// A key that is spelled almost like a known one.
    MisspeltKey { word: String, nearest: Key } at "unknown-key/misspelt":
        "unknown key `{word}`",
        hint "did you mean `{nearest}`?";
    /// A key that resembles none of ours.
    UnknownKey { word: String, keys: String } at "unknown-key/unrelated":
        "unknown key `{word}`",
        hint "the keys are {keys}; serde's and schemars' go into attributes of their own";
    /// A key is given again.
    RepeatedKey { key: Key } at "duplicate/same-attribute":
        "`{key}` is given twice",
        hint "keep one of the two";

    /// A value that should be a string is something else.
    NotAString { key: Key, form: &'static str } at "tag/not-a-string":
        "`{key}` must be a string",
        hint "write `{form}`";
    /// `tag = ""`
    EmptyTag at "tag/empty":
        "the tag is empty",
        hint "name what the answer is, as in `tag = \"result\"`";
    /// The tag cannot be written as `<tag>`.
    TagNotAName { tag: String } at "tag/not-a-name":
        "`{tag}` cannot be the name of a tag",
        hint "start with an ASCII letter or `_`, and go on with letters, digits, `-`, `_` or `.`";
    /// The tag means something else in an agent's text.
    ReservedTag { tag: String, meaning: &'static str } at "tag/reserved":
        "the tag `{tag}` is reserved",
        hint "{meaning}; choose another name";

    /// `max_retries = "three"`
    RetriesNotAnInteger at "retries/not-an-integer":
        "`max_retries` must be a whole number",
        hint "write a number from 0 to 10, without quotes";
    /// More retries than a run allows.
    TooManyRetries { limit: u32 } at "retries/too-many":
        "`max_retries` is above {limit}",
        hint "an agent that is wrong so often needs a better prompt; the most is {limit}";

    /// A string that should hold a path does not.
    NotAPath { key: Key, form: &'static str } at "validate/not-a-path":
        "the value of `{key}` is not a path",
        hint "write `{form}`";

    /// `text = ...`
    TextTakesNoValue at "text/with-value":
        "`text` takes no value",
        hint "write `text` alone, or leave it out for a JSON output";
    /// `text` on a shape that cannot hold exactly one text.
    TextNeedsOneField { found: String } at "text/two-fields":
        "a `text` output must be a tuple struct with one field, but this is {found}",
        hint "wrap the text, as in `struct Summary(String);`";
    /// `text` beside `prepare`.
    TextPrepared at "prepare/of-a-text":
        "`prepare` has no meaning for a `text` output",
        hint "a text is trimmed and never parsed: change it in the `From<String>` of the field";

    /// The derive stands on a union.
    Union at "shape/union":
        "a union cannot be an agent's answer",
        hint "use an enum: it knows which of its variants it is";
    /// An enum without variants.
    NoVariants at "shape/no-variants":
        "an enum without variants has no value that an agent could answer with",
        hint "add the answers that are allowed";
    /// A type that borrows.
    Lifetime { lifetime: String } at "shape/lifetime":
        "an agent's answer cannot borrow for `{lifetime}`",
        hint "the answer outlives the text it was read from: use owned types, such as `String` for `&str`";
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::ENTRIES;

    /// Splits a template at its `{facts}` into the parts that never change.
    fn fixed_parts(template: &str) -> impl Iterator<Item = &str> {
        template.split('{').enumerate().map(|(index, part)| match part.split_once('}') {
            Some((_, fixed)) if index > 0 => fixed,
            _ => part,
        })
    }

    #[test]
    fn every_entry_has_a_case_that_shows_it() {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ui");
        for (case, message, hint) in ENTRIES {
            assert!(cases.join(format!("{case}.rs")).is_file(), "`{case}.rs` is missing");
            let shown = fs::read_to_string(cases.join(format!("{case}.stderr"))).unwrap_or_default();
            let mut rest = shown.as_str();
            for part in fixed_parts(message).chain(fixed_parts(hint)) {
                let Some(at) = rest.find(part) else {
                    panic!("`{case}.stderr` does not show `{part}` where it should");
                };
                rest = &rest[at + part.len()..];
            }
        }
    }

    #[test]
    fn no_two_entries_share_a_case() {
        let mut cases: Vec<_> = ENTRIES.iter().map(|(case, ..)| case).collect();
        cases.sort_unstable();
        let all = cases.len();
        cases.dedup();
        assert_eq!(cases.len(), all);
    }

    #[test]
    fn messages_are_lowercase_fragments() {
        for (_, message, hint) in ENTRIES {
            for text in [message, hint] {
                assert!(!text.starts_with(char::is_uppercase), "`{text}` begins with a capital");
                assert!(!text.ends_with('.'), "`{text}` ends with a period");
            }
        }
    }
}
