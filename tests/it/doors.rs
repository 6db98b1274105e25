//! One place reads and judges answers for every door: the derived type, the specification, a run, the command.

use std::fs;

use sandcastle::testing::{ScratchRepo, Scripted};
use sandcastle::{AgentOutput, ExtractError, Logging, NoSandbox, OutputSpec, Problem, RunOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::process::Invocation;
use crate::support::real_agent::search_path;

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result")]
struct Verdict {
    severity: Severity,
    #[schemars(range(min = 1, max = 5))]
    score: u8,
    #[serde(default)]
    notes: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Low,
    High,
}

/// What a door gives: the value, or what is wrong with the text, in the words of a program.
type Answer = Result<Value, Value>;

fn refusal(stage: &str, message: &str, raw: Option<&str>, problems: &[Problem]) -> Value {
    json!({ "stage": stage, "message": message, "raw_matched": raw, "problems": problems })
}

fn refused(error: &ExtractError) -> Value {
    let (stage, message) = (error.stage().as_str(), error.to_string());
    refusal(stage, &message, error.raw_matched.as_deref(), &error.problems)
}

fn by_the_type(text: &str) -> Answer {
    Verdict::extract(text).map(|value| json!(value)).map_err(|error| refused(&error))
}

fn by_the_specification(spec: &OutputSpec, text: &str) -> Answer {
    spec.extract(text).map_err(|error| refused(&error))
}

async fn by_a_run(repository: &ScratchRepo, state: &TempDir, text: &str) -> Answer {
    let options = RunOptions::new(Scripted::answering(text).state_dir(state.path()), NoSandbox::new())
        .cwd(repository.path())
        .logging(Logging::off())
        .prompt("Answer in <result>.");
    sandcastle::run_with::<Verdict>(options).await.map(|result| json!(result.output)).map_err(|error| {
        let error = error.structured_output().unwrap_or_else(|| panic!("{text}: {error:#}"));
        let (stage, message) = (error.stage().as_str(), error.to_string());
        refusal(stage, &message, error.raw_matched.as_deref(), &error.problems)
    })
}

fn by_the_command(home: &TempDir, schema: &str, text: &str) -> Answer {
    let environment = [("PATH", search_path()), ("HOME", home.path().display().to_string())];
    let ended = Invocation::new(env!("CARGO_BIN_EXE_sandcastle"), home.path())
        .arguments(["--format", "json", "extract", "--tag", "result", "--schema", schema])
        .environment(environment.map(|(key, value)| (key.to_owned(), value)))
        .input(text)
        .run();
    let object: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
    match object.get("output") {
        Some(value) => Ok(value.clone()),
        None => {
            let error = &object["error"];
            let keys = ["stage", "message", "raw_matched", "problems"];
            Err(keys.iter().map(|key| ((*key).to_owned(), error[key].clone())).collect())
        }
    }
}

const TEXTS: &[&str] = &[
    r#"<result>{"severity":"low","score":1,"notes":[]}</result>"#,
    "The <result> tag:\n<result>\n```json\n{\"severity\":\"high\",\"score\":5,\"notes\":[\"</result>\"]}\n```\n</result>",
    r#"<result>{"severity":"low"}</result> no: <result>{"severity":"low","score":2,"notes":["日本"]}</result>"#,
    "nothing to see",
    r#"{"severity":"low","score":1}"#,
    r#"<Result>{"severity":"low","score":1}</Result>"#,
    r#"<result>{"severity":"low","score":1}"#,
    r#"<result>{"severity":"low","score":1}</Result>"#,
    r#"<result>{"severity":"low","score":1,}</result>"#,
    "<result>\n{\"severity\":\"low\",\n \"score\":1,\n \"score\":2}\n</result>",
    "<result>{\"severity\":\"low\",\"score\":1}\n{\"severity\":\"low\",\"score\":1}</result>",
    "<result>Here it is: {\"severity\":\"low\",\"score\":1}</result>",
    "<result></result>",
    r#"<result>{"severity":"mid","score":6,"notes":[1]}</result>"#,
    r#"<result>{"notes":"x"}</result>"#,
    r#"<result>"{\"severity\":\"low\",\"score\":1}"</result>"#,
    "<result>[]</result>",
    "<result>null</result>",
];

#[tokio::test]
async fn every_door_gives_the_same() {
    let (repository, home) = (ScratchRepo::new().await.unwrap(), TempDir::new().unwrap());
    let schema = Verdict::schema().to_value();
    let file = home.path().join("schema.json");
    fs::write(&file, schema.to_string()).unwrap();
    let (of_type, of_schema) = (OutputSpec::of::<Verdict>(), OutputSpec::json("result", schema).unwrap());
    let (mut good, mut bad) = (0, 0);
    for text in TEXTS {
        let expected = by_the_type(text);
        *if expected.is_ok() { &mut good } else { &mut bad } += 1;
        assert_eq!(by_the_specification(&of_type, text), expected, "{text}");
        assert_eq!(by_the_specification(&of_schema, text), expected, "{text}");
        assert_eq!(by_a_run(&repository, &home, text).await, expected, "{text}");
        assert_eq!(by_the_command(&home, file.to_str().unwrap(), text), expected, "{text}");
    }
    assert_eq!((good, bad), (3, 15));
}
