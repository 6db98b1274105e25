//! Plan, implement, review, merge: scripted agents in real worktrees, real commands, and commits on the main branch at the end.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::desk::{Desk, json_of, one_turn};
use crate::support::model_server::{Law, ModelServer, Reply};
use crate::support::process::Finished;

/// Does what the newest prompt says, line by line, and commits it.
const IMPLEMENT: &str = r#"
prompt=$(ls -t "$HOME"/.local/state/sandcastle/scripted/*/prompt-1 | head -n 1)
sed -n 's/^[0-9]*\. write \(.*\) to \(.*\)$/\2 \1/p' "$prompt" | while read -r file content; do echo "$content" >"$file"; done
"#;

/// A desk with the document and the scripts of its agents.
struct Delivery {
    desk: Desk,
    document: PathBuf,
}

impl Delivery {
    async fn new(review: Value) -> Self {
        let delivery = Self { desk: Desk::new().await, document: PathBuf::new() };
        let plan = json!({ "steps": [{ "file": "greeting.txt" }, { "file": "farewell.txt", "content": "hello again" }] });
        delivery.script("plan", &json!([{ "say": format!("Here it is.\n<plan>{plan}</plan>") }]));
        delivery.script(
            "implement",
            &json!([{ "shell": IMPLEMENT }, { "commit": "Say hello" }, { "say": "Done." }]),
        );
        delivery.script("review", &json!([{ "say": format!("<review>{review}</review>") }]));
        let text = include_str!("../../fixtures/workflows/delivery.yaml");
        let document = delivery.with(text);
        Self { document, ..delivery }
    }

    fn with(&self, text: &str) -> PathBuf {
        self.desk.file("delivery.yaml", text.replace("SCRIPTS", self.desk.home.path().to_str().unwrap()))
    }

    fn script(&self, name: &str, steps: &Value) {
        self.desk.file(&format!("{name}.json"), one_turn(steps).to_string());
    }

    fn run(&self, args: &[&str]) -> Finished {
        let begin = ["--format", "json", "workflow", "run", self.document.to_str().unwrap()];
        self.desk.run(&[&begin[..], args].concat())
    }

    async fn assert_merged(&self, commits: usize) {
        self.desk.assert_whole_but_for(".sandcastle").await;
        assert!(self.desk.has("main", "greeting.txt").await && self.desk.has("main", "farewell.txt").await);
        let subjects = self.desk.subjects("main").await;
        assert_eq!(subjects.len(), commits, "{subjects:?}");
        assert!(subjects.contains(&"Say hello".to_owned()), "{subjects:?}");
        assert_eq!(self.desk.worktrees().await, Vec::<PathBuf>::new());
    }
}

impl Desk {
    /// As [`Desk::assert_whole`]; what is kept of runs is nobody's change.
    async fn assert_whole_but_for(&self, kept: &str) {
        let status = self.git(["status", "--porcelain"]).await;
        let left: Vec<&str> = status.lines().filter(|line| !line.contains(kept)).collect();
        assert_eq!(left, [""; 0]);
        assert!(!self.repository.path().join(".git/MERGE_HEAD").exists(), "half merged");
    }
}

fn good() -> Value {
    json!({ "verdict": "good", "problems": [] })
}

const GIVEN: [&str; 4] = ["--input", "Greet people.", "--var", "topic=greeting"];

/// The record of a step in what a run printed.
fn step<'v>(object: &'v Value, name: &str) -> &'v Value {
    let trace = object["trace"].as_array().unwrap();
    trace.iter().find(|record| record["step"] == name).unwrap_or_else(|| panic!("no `{name}` in {object:#}"))
}

#[tokio::test]
async fn what_is_planned_is_implemented_checked_reviewed_and_merged() {
    let delivery = Delivery::new(good()).await;
    let ended = delivery.run(&GIVEN);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let object = json_of(&ended);
    let output = &object["output"];
    assert_eq!(
        (&output["verdict"], &output["files"]),
        (&json!("good"), &json!(["greeting.txt", "farewell.txt"]))
    );

    // The plan is typed, with what it left out, and what the agent did came of it.
    let plan = &step(&object, "plan")["output"];
    assert_eq!((&plan["risk"], &plan["steps"][0]["content"]), (&json!("low"), &json!("hello")));
    assert_eq!(delivery.desk.git(["show", "main:greeting.txt"]).await, "hello");
    assert_eq!(delivery.desk.git(["show", "main:farewell.txt"]).await, "hello again");

    let implemented = step(&object, "implement");
    assert_eq!(implemented["branch"], "agent/greeting");
    let sha = delivery.desk.git(["rev-parse", "agent/greeting"]).await;
    assert_eq!(implemented["commits"][0]["sha"].as_str(), Some(sha.as_str()));
    assert_eq!(output["commits"], json!([sha]));
    assert_eq!(step(&object, "check")["output"]["exit_code"], 0);
    assert_eq!(step(&object, "decide")["output"]["taken"], "then");
    // The beginning, the commit of the agent, and the merge of both.
    delivery.assert_merged(3).await;
    assert_eq!(delivery.desk.branches().await, ["agent/greeting"]);

    // The run of the workflow and those of its agents are on record.
    let run = object["run"].as_str().unwrap();
    let shown = delivery.desk.runs(&["show", run]);
    assert_eq!(shown["id"], run, "{shown}");
    assert!(shown.to_string().contains("delivery"), "{shown}");
    for name in ["plan", "implement", "review"] {
        let run = step(&object, name)["run"].as_str().unwrap();
        let shown = delivery.desk.runs(&["show", run]);
        assert_eq!(shown["id"], run, "{shown}");
    }
    assert!(step(&object, "review")["usage"]["input_tokens"].as_u64() > Some(0), "{object:#}");
}

#[tokio::test]
async fn a_bad_review_asks_somebody_who_may_merge_it_later() {
    let delivery = Delivery::new(json!({ "verdict": "bad", "problems": ["no test", "rude"] })).await;
    let ended = delivery.run(&GIVEN);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    let object = json_of(&ended);
    assert_eq!(object["status"], "awaiting-approval");
    assert_eq!(object["approvals"][0]["message"], "Merge it although it is bad (no test; rude)?");
    assert_eq!(delivery.desk.subjects("main").await, ["begin"]);
    assert_eq!(delivery.desk.worktrees().await, Vec::<PathBuf>::new());

    let run = object["run"].as_str().unwrap();
    let ended = delivery.run(&["--resume", run, "--approve", "ask=it is only a greeting"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let object = json_of(&ended);
    assert_eq!(step(&object, "implement")["status"], "resumed");
    assert_eq!(step(&object, "ask")["output"]["note"], "it is only a greeting");
    // The agents were not asked again: there is one commit of theirs.
    delivery.assert_merged(3).await;
}

#[tokio::test]
async fn a_plan_that_does_not_fit_is_asked_for_again_and_one_that_never_does_changes_nothing() {
    let delivery = Delivery::new(good()).await;
    let bad = "<plan>{\"steps\":[{\"file\":\"../up.txt\"}]}</plan>";
    delivery.script("plan", &json!([{ "say": bad }]));
    let ended = delivery.run(&GIVEN);
    assert_eq!(ended.code(), Some(3), "{ended:?}");
    let object = json_of(&ended);
    let message = object["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("the step `plan` did not match output_schema after 1 retry: output.steps[0].file"),
        "{message}"
    );
    assert_eq!(step(&object, "plan")["attempts"], 2);
    assert_eq!((delivery.desk.branches().await.len(), delivery.desk.worktrees().await.len()), (0, 0));
    assert_eq!(delivery.desk.subjects("main").await, ["begin"]);
}

#[tokio::test]
async fn an_agent_may_merge_its_work_itself() {
    let delivery = Delivery::new(good()).await;
    let text = include_str!("../../fixtures/workflows/delivery.yaml");
    let itself = text.replace("branch: \"agent/{{ vars.topic }}\"", "branch: merge-to-head");
    let (before, _) = itself.split_once("  - step: check").unwrap();
    delivery.with(&format!("{before}outputs:\n  commits: \"{{{{ steps.implement.commits }}}}\"\n"));
    let ended = delivery.run(&GIVEN);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    delivery.assert_merged(2).await;
    assert_eq!(delivery.desk.branches().await, [""; 0]);
    let sha = delivery.desk.git(["rev-parse", "main"]).await;
    assert_eq!(json_of(&ended)["output"]["commits"], json!([sha]));
}

#[tokio::test]
async fn a_document_may_name_no_branch_that_is_none() {
    let delivery = Delivery::new(good()).await;
    let ended = delivery.run(&["--input", "x", "--var", "topic=../up"]);
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    assert_eq!(json_of(&ended)["error"]["kind"], "invalid-options");
    assert!(ended.stdout.contains("topic"), "{ended:?}");
}

#[tokio::test]
async fn row_194_one_produces_and_another_one_extracts() {
    let delivery = Delivery::new(good()).await;
    let work = "Renamed `open` to `connect`. 12 files are different, and 3 tests were added.";
    delivery.script("work", &json!([{ "write-file": { "path": "made.txt", "content": "1" } }, { "commit": "Rename" }, { "say": work }]));
    let answer = Reply::text("<extract>{\"files\": 12, \"tests\": 3}</extract>");
    let server = ModelServer::for_clients(Law::OfTheService, [answer]);
    let document = format!(
        r#"version: "1.1"
models:
  default: {{ provider: openai-compatible, name: m, base_url: "{}/v1" }}
steps:
  - step: work
    type: agent
    agent: {{ name: scripted, model: SCRIPTS/work.json }}
    branch: agent/rename
    prompt: Rename it, and say what you did.
  - step: extract
    type: model
    prompt: "What does this say? {{{{ work.text }}}} The commits are {{{{ work.commits | length }}}}."
    output_schema:
      type: object
      properties: {{ files: {{ type: integer }}, tests: {{ type: integer }} }}
      required: [files, tests]
"#,
        server.url()
    );
    delivery.with(&document);
    let ended = delivery.run(&[]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(json_of(&ended)["output"]["extract"], json!({ "files": 12, "tests": 3 }));
    let told = server.requests()[0].user_texts().join("\n");
    assert!(told.contains(work) && told.contains("The commits are 1."), "{told}");
}
