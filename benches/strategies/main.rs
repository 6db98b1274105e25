//! How often a real model gives a valid value, by strategy: this project's side of docs/STRATEGIES.md.
//!
//! Prints one JSON object for each try, as `table.mjs` reads it; `benches/rstructor` prints the other side's. The address and
//! the model are those of `.ci/model env`, without which there is nothing to measure; the arguments are the number of
//! tries, 10 without it, the name of one schema, and the name of one strategy. `success` is judged here once more by the schema of the type, and by
//! nothing else.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "it is told by its environment whom to ask, and prints what it measured"
)]

mod cases;

use std::time::{Duration, Instant};

use sandcastle::models::{Capabilities, OpenAiCompatible};
use sandcastle::output::lower::Dialect;
use sandcastle::{ModelRun, OutputSpec, OutputStrategy, Usage};
use serde_json::{Value, json};

use self::cases::{Case, MAX_OUTPUT_TOKENS, Release, Review, TEMPERATURE, Ticket};

const STRATEGIES: [OutputStrategy; 3] =
    [OutputStrategy::Tag, OutputStrategy::Native, OutputStrategy::ForcedTool];

/// How often it is asked again: not at all, and twice.
const RETRIES: [u32; 2] = [0, 2];

/// For a server that shares its cores with others.
const SILENCE: Duration = Duration::from_secs(600);

/// What is measured, where that is not everything.
struct Only {
    schema: Option<String>,
    strategy: Option<String>,
}

impl Only {
    fn allows(wanted: Option<&str>, name: &str) -> bool {
        wanted.is_none_or(|wanted| wanted == name)
    }
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    // Cargo adds `--bench`.
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let tries = arguments.next().map_or(Ok(10), |tries| tries.parse())?;
    let only = Only { schema: arguments.next(), strategy: arguments.next() };
    let Ok(url) = std::env::var("SANDCASTLE_MODEL_URL") else {
        eprintln!("skipped: `SANDCASTLE_MODEL_URL` is not set; see `.ci/model`");
        return Ok(());
    };
    let model = model(&url, std::env::var("SANDCASTLE_MODEL_NAME").ok());
    measure::<Ticket>(&model, tries, &only).await?;
    measure::<Review>(&model, tries, &only).await?;
    measure::<Release>(&model, tries, &only).await
}

/// The server enforces a tool only half, so it is not declared to have that; here it is, to see what that half is worth.
fn model(url: &str, name: Option<String>) -> OpenAiCompatible {
    let capabilities = Capabilities::of(Dialect::LlamaCpp).with_native().with_forced_tool();
    let model = OpenAiCompatible::llama_cpp(url).declares(capabilities).silence_timeout(SILENCE);
    name.into_iter().fold(model, OpenAiCompatible::model)
}

async fn measure<T: Case>(model: &OpenAiCompatible, tries: usize, only: &Only) -> Outcome {
    if !Only::allows(only.schema.as_deref(), T::NAME) {
        return Ok(());
    }
    let schema = schemars::schema_for!(T).to_value();
    let judge = jsonschema::validator_for(&schema)?;
    for strategy in STRATEGIES {
        if !Only::allows(only.strategy.as_deref(), strategy.as_str()) {
            continue;
        }
        for retries in RETRIES {
            for attempt in 0..tries {
                let spec = OutputSpec::json("result", schema.clone())?.max_retries(retries)?;
                let run = ModelRun::new(model.clone())
                    .prompt(T::prompt(attempt))
                    .output_spec(spec)
                    .strategy(strategy)
                    .temperature(TEMPERATURE)
                    .max_output_tokens(MAX_OUTPUT_TOKENS);
                let begun = Instant::now();
                let mut line = match run.run_typed().await {
                    Ok(result) => given(&judge, &result.output, result.attempts.len(), &result.usage),
                    Err(error) => failed(&error)?,
                };
                line["side"] = "sandcastle".into();
                line["schema"] = T::NAME.into();
                line["strategy"] = strategy.as_str().into();
                line["retries"] = retries.into();
                line["seconds"] = begun.elapsed().as_secs_f64().into();
                println!("{line}");
            }
        }
    }
    Ok(())
}

/// Describes a try that gave a value.
fn given(judge: &jsonschema::Validator, value: &Value, attempts: usize, usage: &Usage) -> Value {
    let problems: Vec<_> = judge.iter_errors(value).map(|error| error.to_string()).collect();
    let failure = (!problems.is_empty())
        .then(|| json!({ "stage": "delivered all the same", "message": problems.join("; ") }));
    json!({
        "success": failure.is_none(),
        "attempts": attempts,
        "tokens": usage.total_tokens(),
        "failure": failure,
    })
}

/// Describes a try that gave none; what is not about the answer ends the measurement.
fn failed(error: &sandcastle::Error) -> Result<Value, String> {
    let output = error.structured_output().ok_or_else(|| format!("{error:#}"))?;
    let stages: Vec<_> = output.attempts.iter().map(|attempt| json!(attempt.outcome)).collect();
    Ok(json!({
        "success": false,
        "attempts": output.attempts.len(),
        "tokens": output.usage.total_tokens(),
        "failure": { "stage": output.stage().as_str(), "message": output.to_string() },
        "ledger": stages,
    }))
}
