//! The other side of the comparison of strategies: `rstructor` asks the same server for the same types in the same words.
//!
//! Prints one JSON object for each try, as `benches/strategies/table.mjs` reads it. The address and the model are those of
//! `.ci/model env`; the arguments are the number of tries, 10 without it, and the name of one schema. `success` is judged here by
//! the schema of the type, whatever the library says, and by nothing else.
//!
//! The library has one strategy, the service's own structured output, and takes a type in two ways that are both measured.
//! By its bridge for types that have a schema already, it reads the answer by serde and checks no bounds. With a
//! validator beside that, as a user could write one, each answer is held to the whole schema: more than the library does
//! by itself, so that what is compared is how the libraries ask.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it is told by its environment whom to ask, and prints what it measured"
)]

#[path = "../../strategies/cases.rs"]
mod cases;
mod judged;

use std::time::Duration;

use rstructor::{
    AttemptOutcome, AttemptRecord, ExtractionReport, Instructor, LLMClient, OpenAIClient, RStructorError,
    Schemars,
};
use serde::Serialize;
use serde_json::{Value, json};

use self::cases::{Case, MAX_OUTPUT_TOKENS, Release, Review, TEMPERATURE, Ticket};
use self::judged::{Judged, problems};

/// How often it asks again: not at all, and as often as this project's side.
const RETRIES: [usize; 2] = [0, 2];

/// For a server that shares its cores with others.
const TIMEOUT: Duration = Duration::from_secs(600);

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let tries = arguments.next().map_or(Ok(10), |tries| tries.parse())?;
    let only = arguments.next();
    let client = client()?;
    measure::<Ticket>(&client, tries, only.as_deref()).await?;
    measure::<Review>(&client, tries, only.as_deref()).await?;
    measure::<Release>(&client, tries, only.as_deref()).await
}

fn client() -> Result<OpenAIClient, Box<dyn std::error::Error>> {
    let variable =
        |name: &str| std::env::var(name).map_err(|_| format!("`{name}` is not set; see `.ci/model env`"));
    let client = OpenAIClient::new("none")?
        .base_url(format!("{}/v1", variable("SANDCASTLE_MODEL_URL")?))
        .model(variable("SANDCASTLE_MODEL_NAME")?)
        .temperature(TEMPERATURE)
        .max_tokens(MAX_OUTPUT_TOKENS)
        .timeout(TIMEOUT);
    Ok(client)
}

async fn measure<T: Case>(client: &OpenAIClient, tries: usize, only: Option<&str>) -> Outcome {
    if only.is_some_and(|only| only != T::NAME) {
        return Ok(());
    }
    for retries in RETRIES {
        let client = client.clone().max_retries(retries);
        for attempt in 0..tries {
            let prompt = T::prompt(attempt);
            let plain = ask::<T, Schemars<T>>(&client, &prompt).await?;
            print::<T>("rstructor", retries, plain);
            let judged = ask::<T, Judged<T>>(&client, &prompt).await?;
            print::<T>("rstructor, checked", retries, judged);
        }
    }
    Ok(())
}

/// What came of one try.
struct Try {
    report: ExtractionReport,
    failure: Option<Failure>,
}

/// Where a try failed, and why.
#[derive(Serialize)]
struct Failure {
    stage: &'static str,
    message: String,
}

async fn ask<T, Form>(client: &OpenAIClient, prompt: &str) -> Result<Try, Box<dyn std::error::Error>>
where
    T: Case,
    Form: Instructor + Send + 'static,
{
    Ok(match client.extract_with_report::<Form>(prompt).await {
        Ok(extraction) => {
            let problems = problems::<T>(&serde_json::to_value(&extraction.data)?)?;
            // The library calls this a success.
            let failure = problems.map(|message| Failure { stage: "delivered all the same", message });
            Try { report: extraction.report, failure }
        }
        Err(error) => {
            let failure = Failure { stage: stage(error.error()), message: error.error().to_string() };
            Try { report: error.report, failure: Some(failure) }
        }
    })
}

/// The library does not tell an answer that was cut off from one that is no JSON.
fn stage(error: &RStructorError) -> &'static str {
    match error {
        RStructorError::OutputDecodeError { .. }
        | RStructorError::SerializationError(_)
        | RStructorError::JsonError(_) => "decoding",
        RStructorError::ValidationError(_) => "validation",
        RStructorError::SchemaError(_) | RStructorError::SchemaCompatibilityError { .. } => "schema",
        RStructorError::ApiError { .. } | RStructorError::HttpError(_) | RStructorError::Timeout => "service",
        _ => "other",
    }
}

fn print<T: Case>(side: &str, retries: usize, attempt: Try) {
    let Try { report, failure } = attempt;
    let line = json!({
        "side": side,
        "schema": T::NAME,
        "strategy": "native",
        "retries": retries,
        "success": failure.is_none(),
        "attempts": report.attempts.len(),
        "tokens": report.cumulative_usage.as_ref().map(|usage| usage.total_tokens()),
        "failure": failure,
        "ledger": report.attempts.iter().map(entry).collect::<Vec<_>>(),
    });
    println!("{line}");
}

/// What the library says of one attempt, and whether the answer had come to the limit.
fn entry(attempt: &AttemptRecord) -> Value {
    let failure = match &attempt.outcome {
        AttemptOutcome::Failed { message, .. } => Some(message),
        _ => None,
    };
    let tokens = attempt.usage.as_ref().map(|usage| usage.output_tokens);
    json!({ "failure": failure, "output_tokens": tokens, "at_limit": tokens == Some(MAX_OUTPUT_TOKENS.into()) })
}
