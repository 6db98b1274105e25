//! Which programs hold an answer to a schema themselves, from which version on, and with which models: rows with dates and
//! sources.
//!
//! A model that is in no row is not refused: nothing is known of it. Users say what they know with the agent's own
//! `native_output`.

use std::ffi::OsString;

use sandcastle_core::Support;
use sandcastle_core::agent::{AgentCommand, NativeOutput, VersionCheck};

/// Holds what is known of the structured output of one program.
#[derive(Debug)]
#[non_exhaustive]
pub struct NativeFacts {
    /// The oldest version that does it right.
    pub since: &'static str,
    /// The oldest that takes a schema where it goes on with a session.
    pub resumed_since: &'static str,
    /// How the names of models begin with which it is known to work.
    pub models: &'static [&'static str],
    /// The day on which that was looked at last.
    pub seen: &'static str,
    /// Where it is from.
    pub sources: &'static [&'static str],
}

/// Claude Code offers the schema as a tool and checks its arguments, whatever the model. Before 2.1.187 a model may call that
/// tool again and again; a schema that cannot be compiled is dropped without a word, which its first event shows.
pub(crate) const CLAUDE_CODE: &NativeFacts = &NativeFacts {
    since: "2.1.187",
    resumed_since: "2.1.187",
    models: &["claude-", "default", "fable", "haiku", "opus", "sonnet"],
    seen: "2026-11-30",
    sources: &[
        "https://code.claude.com/docs/en/cli-reference",
        "https://github.com/anthropics/claude-code/blob/main/CHANGELOG.md",
        "runs of 2.1.197",
    ],
};

/// Codex hands the schema to the model's service and checks nothing. In some versions before 0.80.0 it did so for some of its
/// models only; a resumed turn has had the option since 0.132.0.
pub(crate) const CODEX: &NativeFacts = &NativeFacts {
    since: "0.80.0",
    resumed_since: "0.132.0",
    models: &["codex-", "gpt-4.1", "gpt-4o", "gpt-5", "gpt-6", "o3", "o4-mini"],
    seen: "2026-11-30",
    sources: &[
        "https://platform.openai.com/docs/guides/structured-outputs",
        "https://github.com/openai/codex/issues/4181",
        "https://github.com/openai/codex/pull/23123",
        // That the program runs models of GPT-6, and that these have structured output.
        "https://github.com/generalaction/emdash/pull/3147",
        "https://runware.ai/docs/models/openai-gpt-6-astra",
        "https://vercel.com/ai-gateway/models/openai/gpt-6-sol.md",
        "https://vercel.com/ai-gateway/models/gpt-6.2-astra.md",
        "runs of 0.171.0",
    ],
};

/// Says that there cannot be a schema beside the one that further arguments name already.
pub(crate) fn taken_by(option: &str, args: &[OsString]) -> Option<Support> {
    let is_it = |arg: &OsString| {
        let rest = arg.as_encoded_bytes().strip_prefix(option.as_bytes());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"="))
    };
    let is_taken = args.iter().any(is_it);
    is_taken.then(|| Support::Denied(format!("its arguments have a schema already, by `{option}`")))
}

/// Says where the requests of a program go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    /// To the service that the program was made for, as far as its options tell.
    Own,
    /// To another one, of which nothing is known.
    Other,
}

/// How services word, in small letters, that they do not take a schema or have no structured output for a model. Of those
/// with a second part, both are there. A schema of a tool that is not ours may be meant by some; asking by words then fails
/// in the same way.
const REFUSALS: &[(&str, &str)] = &[
    ("invalid_json_schema", ""),
    ("invalid schema for response_format", ""),
    ("invalid schema for text.format", ""),
    ("output_schema is not supported", ""),
    ("json_schema", "not supported"),
    ("response_format", "not supported"),
    ("text.format", "not supported"),
    ("output_config", "not supported"),
    ("output_config", "not permitted"),
    ("output_config.format", ""),
    ("input_schema", ""),
    ("compiled grammar is too large", ""),
    ("schema is too complex", ""),
    ("failed to parse grammar", ""),
];

/// Tells whether a service says that it does not take the schema of the answer.
pub(crate) fn is_refusal_of_schema(message: &str) -> bool {
    let lower = message.to_ascii_lowercase();
    REFUSALS.iter().any(|(one, other)| lower.contains(one) && lower.contains(other))
}

impl NativeFacts {
    /// Completes what a program says of itself by what is known of it.
    pub(crate) fn complete(
        &self,
        native: NativeOutput,
        command: AgentCommand,
        support: Support,
    ) -> NativeOutput {
        let check = VersionCheck::new(command.arg("--version"), self.since).resumed_since(self.resumed_since);
        native.with_support(support).with_version(check)
    }

    /// Returns what is known of a model. One that the program chooses itself is one of those that it was made for.
    pub(crate) fn support(&self, model: Option<&str>, service: Service) -> Support {
        let is_listed =
            model.is_none_or(|model| self.models.iter().any(|beginning| model.starts_with(beginning)));
        if is_listed && service == Service::Own { Support::Declared } else { Support::Unlisted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_date_and_a_source() {
        for row in [CLAUDE_CODE, CODEX] {
            let [year, month, day] = row.seen.split('-').collect::<Vec<_>>()[..] else { panic!("{row:?}") };
            assert!(year.len() == 4 && month.len() == 2 && day.len() == 2, "{row:?}");
            assert!(!row.sources.is_empty() && !row.models.is_empty(), "{row:?}");
        }
    }

    #[test]
    fn case_075_and_097_refusals_of_a_schema_are_known_in_the_words_of_many_services() {
        for message in [
            "The compiled grammar is too large, which would cause performance issues.",
            "Schema is too complex for compilation",
            "output_config.format: Extra inputs are not permitted",
            "output_config: not supported by this model",
            "tools.12.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12",
            "Invalid schema for response_format 'codex_output_schema': In context=(), schema must have type 'object'",
            "Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model.",
            "Unsupported parameter: 'text.format' is not supported with this model.",
        ] {
            assert!(is_refusal_of_schema(message), "{message}");
        }
        for message in [
            "prompt is too long: 210000 tokens > 200000 maximum",
            "output_config.effort: Input should be 'low', 'medium' or 'high'",
            "messages.1.content: Field required",
            "Invalid schema for function 'mcp__x__y': array schema missing items",
            "This model is not supported.",
        ] {
            assert!(!is_refusal_of_schema(message), "{message}");
        }
    }

    #[test]
    fn a_schema_among_the_arguments_is_found_in_both_spellings_and_nothing_like_it() {
        let taken = |arg: &str| taken_by("--json-schema", &["-x".into(), arg.into()]);
        for arg in ["--json-schema", "--json-schema={}", "--json-schema="] {
            let Some(Support::Denied(reason)) = taken(arg) else { panic!("{arg}") };
            assert!(reason.contains("`--json-schema`"), "{reason}");
        }
        for arg in ["--json-schema-x", "json-schema", "x --json-schema"] {
            assert_eq!(taken(arg), None, "{arg}");
        }
    }

    #[test]
    fn a_model_or_a_service_that_nobody_has_listed_is_unknown_and_not_refused() {
        let of = |model, service| CODEX.support(model, service);
        for model in ["gpt-5.5", "gpt-6-astra", "gpt-6.1-sol"] {
            assert_eq!(of(Some(model), Service::Own), Support::Declared, "{model}");
        }
        assert_eq!(of(None, Service::Own), Support::Declared);
        assert_eq!(of(Some("qwen3"), Service::Own), Support::Unlisted);
        assert_eq!(of(Some("gpt-5.5"), Service::Other), Support::Unlisted);
    }
}
