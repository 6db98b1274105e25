//! The names that programs and scripts rely on for how a schema reaches a model, as they are typed and as they are printed.
//!
//! A name that changes does so here first, on purpose. What the names do is shown by other tests; nothing is run here.

use sandcastle::output::lower::Dialect;
use sandcastle::testing::ScriptedModel;
use sandcastle::{
    AgentOutput, AnswerGuarantee, Codex, ModelRun, NoSandbox, OutputSpec, OutputStrategy, RunOptions, Stage,
};
use serde::Serialize;
use serde_json::json;

use crate::support::desk::Desk;

#[derive(Debug, serde::Deserialize, schemars::JsonSchema, AgentOutput)]
#[output(tag = "n")]
struct N {
    #[expect(dead_code, reason = "it is never read: nothing is run")]
    n: u8,
}

fn printed<T: Serialize>(values: &[T]) -> serde_json::Value {
    json!(values)
}

/// Compiles, and is refused only for what is wrong with it.
#[test]
fn options_of_runs_and_of_model_runs_have_the_same_words() {
    let canned = json!({ "n": 1 });
    let run = RunOptions::new(Codex::new("m"), NoSandbox::new())
        .output_strategy(OutputStrategy::Auto)
        .max_cost(1.5)
        .max_tokens(1000)
        .output::<N>()
        .fallback(|error| Err(error.to_string()))
        .canned(canned.clone());
    assert!(run.is_ok());
    let model_run = ModelRun::new(ScriptedModel::new())
        .system("s")
        .prompt("p")
        .strategy(OutputStrategy::ForcedTool)
        .max_cost(1.5)
        .max_tokens(1000)
        .max_retries(2)
        .max_iterations(5)
        .output::<N>()
        .fallback(|error| Err(error.to_string()))
        .canned(canned.clone());
    assert!(model_run.is_ok());
    let spec = OutputSpec::of::<N>().fallback(|error| Err(error.to_string())).canned(canned);
    assert!(spec.is_ok());
}

#[test]
fn names_are_printed_in_kebab_case() {
    use OutputStrategy::{Auto, ForcedTool, Native, Tag};
    let strategies = [Tag, Native, ForcedTool, Auto];
    assert_eq!(printed(&strategies), json!(["tag", "native", "forced-tool", "auto"]));
    assert_eq!(strategies.map(OutputStrategy::as_str), ["tag", "native", "forced-tool", "auto"]);

    let guarantees = [
        AnswerGuarantee::Tag,
        AnswerGuarantee::Native,
        AnswerGuarantee::ForcedTool,
        AnswerGuarantee::Fallback,
        AnswerGuarantee::Canned,
    ];
    assert_eq!(printed(&guarantees), json!(["tag", "native", "forced-tool", "fallback", "canned"]));

    let stages = [
        Stage::Missing,
        Stage::Unclosed,
        Stage::JsonParse,
        Stage::SchemaValidate,
        Stage::Rejected,
        Stage::Refused,
        Stage::Filtered,
        Stage::Truncated,
        Stage::Empty,
    ];
    let names = [
        "missing",
        "unclosed",
        "json-parse",
        "schema-validate",
        "rejected",
        "refused",
        "filtered",
        "truncated",
        "empty",
    ];
    assert_eq!(printed(&stages), json!(names));
    assert_eq!(stages.map(Stage::as_str), names);
}

#[test]
fn dialects_are_named_for_those_who_own_them() {
    let dialects = [
        Dialect::ClaudeCode,
        Dialect::Codex,
        Dialect::Anthropic,
        Dialect::OpenAi,
        Dialect::Gemini,
        Dialect::Ollama,
        Dialect::LlamaCpp,
    ];
    let names = ["claude-code", "codex", "anthropic", "openai", "gemini", "ollama", "llama-cpp"];
    assert_eq!(printed(&dialects), json!(names));
    assert_eq!(dialects.map(|dialect| dialect.to_string()), names);
}

#[tokio::test]
async fn the_command_takes_the_same_names() {
    let desk = Desk::new().await;
    let told = |args: &[&str]| desk.run(args).stderr;
    let dialects = "claude-code, codex, anthropic, openai, gemini, ollama, llama-cpp]";
    assert!(told(&["schema", "lower", "--dialect", "x", "-"]).contains(dialects));
    let strategies = told(&["run", "--strategy", "x"]);
    assert!(strategies.contains("[possible values: tag, native, auto]"), "{strategies}");
    let flags = desk.run(&["run", "--help"]).stdout;
    for flag in ["--strategy", "--max-cost", "--max-tokens", "--max-retries", "--tag", "--schema", "--text"] {
        assert!(flags.contains(flag), "{flag}");
    }
}
