//! `sandcastle workflow` as a script sees it: documents that are checked and drawn; running is in `running`, agents in `agents`, consent in
//! `approvals`, what is left of runs in `records`.

mod agents;
mod approvals;
mod records;
mod running;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::desk::{Desk, json_of};
use crate::support::process::Finished;

impl Desk {
    /// Puts a document beside the repository.
    fn document(&self, text: &str) -> PathBuf {
        self.file("flow.yaml", text)
    }

    /// Runs `sandcastle workflow`.
    fn workflow(&self, args: &[&str]) -> Finished {
        self.run(&[&["workflow"], args].concat())
    }

    /// Runs a document, and returns what is printed for programs.
    fn run_document(&self, text: &str, args: &[&str]) -> (Option<i32>, Value) {
        let file = self.document(text);
        let ended =
            self.run(&[&["--format", "json", "workflow", "run", file.to_str().unwrap()], args].concat());
        (ended.code(), json_of(&ended))
    }
}

const WRONG: &str = r#"version: "1.1"
name: wrong
steps:
  - step: first
    type: tool
    runn: [echo, hello]
  - step: second
    type: condition
    if: first.exit_cod == 0
    then:
      - step: third
        type: approval
        message: Well?
"#;

#[tokio::test]
async fn names_that_nobody_has_are_found_before_a_run_and_keys_are_not_asked_for() {
    let desk = Desk::new().await;
    let file = desk.document(
        r#"version: "1.1"
steps:
  - { step: a, type: agent, agent: claud-code, prompt: hi }
  - { step: b, type: agent, agent: claude-code, sandbox: dokcer, prompt: hi }
  - { step: c, type: model, model: { provider: antropic, name: x }, prompt: hi }
  - { step: d, type: model, model: { provider: openai, name: x, api_key: "${NOBODY_SETS_THIS}" }, prompt: hi }
"#,
    );
    let ended = desk.workflow(&["check", "--format", "json", file.to_str().unwrap()]);
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    let findings = json_of(&ended)["findings"].clone();
    let said: Vec<_> =
        findings.as_array().unwrap().iter().map(|it| (it["line"].clone(), it["hint"].clone())).collect();
    let meant = |line: u32, name: &str| (json!(line), json!(format!("did you mean `{name}`?")));
    assert_eq!(said, [meant(3, "claude-code"), meant(4, "docker"), meant(5, "anthropic")], "{findings}");
}

#[tokio::test]
async fn what_is_wrong_is_shown_beside_its_line() {
    let desk = Desk::new().await;
    let file = desk.document(WRONG);
    let file = file.to_str().unwrap();
    let ended = desk.workflow(&["check", file]);
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    assert!(ended.stdout.contains(&format!("{file}:6:5: error: ")), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("  6 |     runn: [echo, hello]\n    |     ^\n  hint: "),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("`exit_code`"), "{}", ended.stdout);
    let last = ended.stdout.lines().last().unwrap();
    assert!(last.ends_with("errors"), "{last}");

    let ended = desk.run(&["--format", "json", "workflow", "check", file]);
    let object = json_of(&ended);
    assert_eq!((ended.code(), &object["valid"]), (Some(2), &json!(false)));
    let finding = &object["findings"][0];
    assert_eq!((&finding["line"], &finding["severity"]), (&json!(6), &json!("error")), "{object}");

    let (code, object) = desk.run_document(WRONG, &[]);
    assert_eq!((code, &object["error"]["kind"]), (Some(2), &json!("invalid-workflow")), "{object}");
    assert!(object["error"]["findings"].as_array().is_some_and(|findings| findings.len() > 1), "{object}");
}

const RIGHT: &str = r#"version: "1.1"
name: right
vars:
  who: world
steps:
  - step: greet
    type: tool
    run: [printf, "%s", "hello {{ vars.who }}"]
"#;

#[tokio::test]
async fn what_is_right_is_said_and_drawn() {
    let desk = Desk::new().await;
    let file = desk.document(RIGHT);
    let file = file.to_str().unwrap();
    let ended = desk.workflow(&["check", file]);
    assert_eq!(
        (ended.code(), ended.stdout.as_str()),
        (Some(0), "nothing is wrong with the workflow `right`\n")
    );
    let ended = desk.workflow(&["graph", file]);
    assert!(
        ended.stdout.starts_with("flowchart TD\n") && ended.stdout.contains("n1[\"greet<br/>"),
        "{ended:?}"
    );
    let ended = desk.workflow(&["graph", "--as", "svg", file]);
    assert!(ended.stdout.starts_with("<svg ") && ended.stdout.ends_with("</svg>\n"), "{ended:?}");
    let ended = desk.run(&["--format", "json", "workflow", "graph", file]);
    assert_eq!(json_of(&ended)["as"], "mermaid");
}

#[tokio::test]
async fn editors_get_a_schema_that_documents_fit() {
    let desk = Desk::new().await;
    let ended = desk.run(&["--format", "json", "workflow", "schema"]);
    let validator = jsonschema::validator_for(&json_of(&ended)).unwrap();
    let document = json!({ "version": "1.1", "steps": [{ "step": "a", "type": "tool", "run": ["true"] }] });
    assert!(validator.is_valid(&document));
    let unknown = json!({ "version": "1.1", "steps": [{ "step": "a", "type": "tool", "runn": ["true"] }] });
    assert!(!validator.is_valid(&unknown));
}

#[tokio::test]
async fn the_schema_in_the_repository_is_that_of_the_command() {
    let desk = Desk::new().await;
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/workflow.schema.json");
    let kept = std::fs::read_to_string(file).unwrap();
    let printed = desk.workflow(&["schema"]).stdout;
    assert!(kept == printed, "write it anew: sandcastle workflow schema >docs/workflow.schema.json");
}

#[tokio::test]
async fn the_documents_beside_the_examples_are_right() {
    let desk = Desk::new().await;
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/workflows");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            let ended = desk.run(&["--format", "json", "workflow", "check", path.to_str().unwrap()]);
            assert_eq!(json_of(&ended)["findings"], json!([]), "{}", path.display());
            count += 1;
        }
    }
    assert!(count >= 2, "{count}");
}

#[tokio::test]
async fn a_document_that_is_not_there_is_bad_usage() {
    let desk = Desk::new().await;
    for command in ["check", "run", "graph"] {
        let ended = desk.workflow(&[command, "nowhere.yaml"]);
        assert_eq!(ended.code(), Some(2), "{ended:?}");
        assert!(ended.stderr.contains("`nowhere.yaml`"), "{}", ended.stderr);
    }
}

#[tokio::test]
async fn the_name_of_a_workflow_moves_no_cursor() {
    let desk = Desk::new().await;
    let text = "version: \"1.1\"\nname: \"a\\e[2J\\nb\"\nsteps: [{ step: a, type: tool, run: [echo] }]\n";
    let ended = desk.workflow(&["check", desk.document(text).to_str().unwrap()]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(ended.stdout, "nothing is wrong with the workflow `a\u{fffd}[2J b`\n");
}
