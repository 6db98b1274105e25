//! Agents in a workflow: in real worktrees, on branches, with typed outputs that later steps read.

use serde_json::json;

use super::*;
use crate::support::desk::one_turn;

const WORK: &str = r#"version: "1.1"
vars:
  branch: { type: string, pattern: "^[a-z/0-9-]+$" }
steps:
  - step: plan
    type: agent
    agent: { name: scripted, model: PLANNER }
    prompt: "Plan this: {{ input }}"
    output_schema:
      type: object
      properties:
        steps: { type: array, items: { type: string }, minItems: 1 }
        risk: { type: string, enum: [low, high], default: low }
      required: [steps]
  - step: implement
    type: agent
    agent: { name: scripted, model: IMPLEMENTER }
    branch: "{{ vars.branch }}"
    prompt: "{% for step in plan.steps %}{{ loop.index }}. {{ step }}\n{% endfor %}"
  - step: examine
    type: parallel
    branches:
      review:
        - step: review
          type: agent
          agent: { name: scripted, model: REVIEWER }
          branch: "{{ vars.branch }}"
          prompt: "Review {{ steps.implement.commits | length }} commits on {{ implement.branch }}."
          output_schema:
            type: object
            properties: { verdict: { type: string, enum: [good, bad] } }
            required: [verdict]
      changes:
        - step: changes
          type: tool
          run: [git, log, --format=%s, "HEAD..{{ vars.branch }}", --]
  - step: decide
    type: condition
    if: review.verdict == "good" and plan.risk == "low"
    then:
      - step: merge
        type: tool
        run: [git, merge, -q, --no-edit, "{{ vars.branch }}"]
outputs:
  verdict: "{{ review.verdict }}"
  subjects: "{{ changes.stdout | trim }}"
  commits: "{{ implement.commits }}"
"#;

/// The document with a script for each role.
fn work(desk: &Desk, verdicts: &[&str]) -> String {
    let plan = json!([{ "say": "<plan>{\"steps\": [\"write it\", \"commit it\"]}</plan>" }]);
    let implementation = json!([{ "write-file": { "path": "made", "content": "1" } }, { "commit": "Make it" }, { "say": "done" }]);
    let say = |verdict: &&str| json!({ "steps": [{ "say": format!("<review>{{\"verdict\": \"{verdict}\"}}</review>") }] });
    let review = json!({ "turns": verdicts.iter().map(say).collect::<Vec<_>>() });
    let scripts =
        [("PLANNER", one_turn(&plan)), ("IMPLEMENTER", one_turn(&implementation)), ("REVIEWER", review)];
    scripts.iter().fold(WORK.to_owned(), |document, (role, script)| {
        let file = desk.file(&format!("{role}.json"), script.to_string());
        document.replace(role, file.to_str().unwrap())
    })
}

const BRANCH: [&str; 4] = ["--input", "make it", "--var", "branch=agent/make-it"];

#[tokio::test]
async fn a_plan_is_implemented_reviewed_and_merged() {
    let desk = Desk::new().await;
    let (code, object) = desk.run_document(&work(&desk, &["good"]), &BRANCH);
    assert_eq!(code, Some(0), "{object}");
    assert_eq!(
        (&object["output"]["verdict"], &object["output"]["subjects"]),
        (&json!("good"), &json!("Make it"))
    );
    assert_eq!(object["output"]["commits"].as_array().map(Vec::len), Some(1), "{object}");
    assert_eq!(desk.subjects("main").await[0], "Make it");
    assert!(desk.has("main", "made").await);
    assert_eq!(desk.branches().await, ["agent/make-it"]);
    let plan = object["trace"].as_array().unwrap().iter().find(|record| record["step"] == "plan").unwrap();
    assert_eq!(
        plan["output"],
        json!({ "steps": ["write it", "commit it"], "risk": "low" }),
        "with its default"
    );
    assert!(plan["run"].is_string(), "`runs show` knows the run of an agent: {plan}");
}

#[tokio::test]
async fn a_reviewer_that_answers_wrongly_is_asked_once_more() {
    let desk = Desk::new().await;
    let (code, object) = desk.run_document(&work(&desk, &["fine", "bad"]), &BRANCH);
    assert_eq!((code, &object["output"]["verdict"]), (Some(0), &json!("bad")), "{object}");
    let review =
        object["trace"].as_array().unwrap().iter().find(|record| record["step"] == "review").unwrap();
    assert_eq!(review["attempts"], 2, "{review}");
    assert_eq!(desk.subjects("main").await.len(), 1, "nothing is merged that is not good");
}

#[tokio::test]
async fn an_agent_that_is_not_known_is_refused_before_anything_runs() {
    let desk = Desk::new().await;
    let document = work(&desk, &["good"]).replacen("name: scripted", "name: scripter", 1);
    let (code, object) = desk.run_document(&document, &BRANCH);
    assert_eq!(code, Some(2), "{object}");
    assert!(object["error"].to_string().contains("did you mean `scripted`?"), "{object}");
    assert_eq!(desk.branches().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_step_says_what_counts_as_a_sign_of_life() {
    let desk = Desk::new().await;
    let build = json!([{ "shell": "timeout 2 sh -c 'while :; do :; done'; true" }, { "say": "built" }]);
    let script = desk.file("build.json", one_turn(&build).to_string());
    let document = format!(
        "version: '1.1'\nsteps:\n  - step: build\n    type: agent\n    agent: {{ name: scripted, model: '{}' }}\n    \
         prompt: Build it.\n    idle_timeout: 0.4\n",
        script.display()
    );
    let (code, object) = desk.run_document(&document, &[]);
    assert_eq!(code, Some(1), "{object}");
    assert!(object["error"].to_string().contains("silent"), "{object}");
    let (code, object) = desk.run_document(&format!("{document}    liveness: processor\n"), &[]);
    assert_eq!(code, Some(0), "{object}");
    let (code, object) = desk.run_document(&format!("{document}    liveness: procesor\n"), &[]);
    assert_eq!(code, Some(2), "{object}");
    assert!(object["error"].to_string().contains("did you mean `processor`?"), "{object}");
}
