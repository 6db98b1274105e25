//! The workflows that `init --template github` writes, each of whose promises is held against the parsed YAML of every file.

mod scripts;

use std::path::Path;

use serde_json::{Value, json};

use super::init::AGENTS;
use crate::support::desk::{Desk, json_of};
use crate::support::process::Finished;
use crate::support::yaml;

const KINDS: [&str; 4] = ["explore", "review", "implement", "update-branch"];

impl Desk {
    fn automate(&self, flags: &[&str]) -> Finished {
        let needed = [("--agent", "claude-code"), ("--sandbox", "docker")];
        let mut all = vec!["--format", "json", "init", "--template", "github"];
        all.extend(flags);
        for (flag, value) in needed {
            if !flags.contains(&flag) {
                all.extend([flag, value]);
            }
        }
        self.with_programs(self.command(&all)).run()
    }

    fn workflow_text(&self, kind: &str) -> String {
        let file = format!(".github/workflows/agent-{kind}.yml");
        std::fs::read_to_string(self.repository.path().join(file)).unwrap()
    }
}

/// Every workflow of every agent in every sandbox, with what it is of.
async fn all() -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for agent in AGENTS {
        for sandbox in ["none", "docker", "podman", "bubblewrap"] {
            let desk = Desk::new().await;
            let ended = desk.automate(&["--agent", agent, "--sandbox", sandbox]);
            assert_eq!(ended.code(), Some(0), "{ended:?}");
            for kind in KINDS {
                let name = format!("{kind} with {agent} in {sandbox}");
                found.push((name, yaml::parse(&desk.workflow_text(kind))));
            }
        }
    }
    found
}

/// Says the condition of the job that all others wait for, less the one word of those who may start it without a label.
fn condition<'w>(name: &str, workflow: &'w Value) -> &'w str {
    let condition = workflow["jobs"]["begin"]["if"].as_str().unwrap();
    match name.starts_with("update-branch") {
        true => condition.strip_prefix("github.event_name == 'workflow_dispatch' || ").unwrap(),
        false => condition,
    }
}

fn jobs(workflow: &Value) -> impl Iterator<Item = (&str, &Value)> {
    workflow["jobs"].as_object().unwrap().iter().map(|(name, job)| (name.as_str(), job))
}

fn steps(job: &Value) -> impl Iterator<Item = &Value> {
    job["steps"].as_array().unwrap().iter()
}

/// Everything that is written in a part of a workflow.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(map) => map.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn workflows_begin_only_when_somebody_sets_their_label() {
    for (name, workflow) in all().await {
        assert_eq!(workflow["on"]["pull_request"], json!({ "types": ["labeled"] }), "{name}");
        let kind = name.split(' ').next().unwrap();
        // A pull request in conflict starts nothing by its labels, and is what this one is for.
        let others = if kind == "update-branch" { &["workflow_dispatch"][..] } else { &[] };
        let events = workflow["on"].as_object().unwrap().keys().filter(|event| *event != "pull_request");
        assert_eq!(events.collect::<Vec<_>>(), others, "{name}");
        let condition = condition(&name, &workflow);
        assert!(
            condition.contains(&format!("github.event.label.name == 'agent:{kind}'")),
            "{name}: {condition}"
        );
        // The other jobs wait for the one with the condition, and none of them runs without it.
        assert_eq!(workflow["jobs"]["agent"]["needs"], "begin", "{name}");
        assert!(workflow["jobs"]["agent"].get("if").is_none(), "{name}");
        let deliver = workflow["jobs"]["deliver"]["if"].as_str().unwrap();
        assert!(deliver.contains("needs.begin.result == 'success'"), "{name}: {deliver}");
        assert_eq!(jobs(&workflow).map(|(job, _)| job).collect::<Vec<_>>(), ["begin", "agent", "deliver"]);
    }
}

#[tokio::test]
async fn workflows_leave_the_code_of_strangers_alone() {
    for (name, workflow) in all().await {
        let condition = condition(&name, &workflow);
        let same = "&& github.event.pull_request.head.repo.full_name == github.repository";
        assert!(condition.contains(same), "{name}: {condition}");
        assert!(!condition.contains("||"), "{name}: {condition}");
        for text in texts(&workflow) {
            assert!(!text.contains("pull_request_target"), "{name}: {text}");
        }
    }
}

#[tokio::test]
async fn w_47b_the_agent_has_no_token_that_writes_and_who_writes_executes_nothing_of_the_pull_request() {
    for (name, workflow) in all().await {
        assert_eq!(workflow["permissions"], json!({}), "{name}");
        let agent = &workflow["jobs"]["agent"];
        let reads = json!({ "contents": "read", "issues": "read", "pull-requests": "read" });
        assert_eq!(agent["permissions"], reads, "{name}");
        let pushes = !name.starts_with("explore");
        let mut writes = json!({ "pull-requests": "write" });
        assert_eq!(workflow["jobs"]["begin"]["permissions"], writes, "{name}");
        if pushes {
            writes["contents"] = json!("write");
        }
        assert_eq!(workflow["jobs"]["deliver"]["permissions"], writes, "{name}");
        for (job, body) in jobs(&workflow) {
            for step in steps(body).filter(|step| step["uses"].as_str().is_some_and(is_checkout)) {
                // The head is never checked out: what it brings is seen by the agent alone, in its own worktree.
                let base = match name.starts_with("update-branch") {
                    true => "${{ github.event.pull_request.base.sha || needs.begin.outputs.base }}",
                    false => "${{ github.event.pull_request.base.sha }}",
                };
                assert_eq!(step["with"]["ref"], base, "{name}, {job}");
                let keeps = step["with"].get("persist-credentials").is_none();
                assert_eq!(keeps, job == "deliver", "{name}, {job}");
            }
            if job != "agent" {
                let scripts = steps(body).filter_map(|step| step["run"].as_str());
                for script in scripts {
                    assert!(
                        !script.contains("cargo ") && !script.contains("sandcastle "),
                        "{name}: {script}"
                    );
                }
                assert!(!texts(body).iter().any(|text| text.contains("secrets.")), "{name}, {job}");
            }
        }
    }
}

fn is_checkout(uses: &str) -> bool {
    uses.starts_with("actions/checkout@")
}

#[tokio::test]
async fn keys_are_seen_by_the_step_of_the_agent_alone() {
    for (name, workflow) in all().await {
        let agent = &workflow["jobs"]["agent"];
        assert!(agent.get("env").is_none() && workflow.get("env").is_none(), "{name}");
        let with_keys: Vec<&str> = steps(agent)
            .filter(|step| texts(step).iter().any(|text| text.contains("secrets.")))
            .map(|step| step["name"].as_str().unwrap())
            .collect();
        assert_eq!(with_keys, ["Run the agent"], "{name}");
    }
}

#[tokio::test]
async fn what_strangers_write_is_part_of_no_script() {
    for (name, workflow) in all().await {
        for (job, body) in jobs(&workflow) {
            for script in steps(body).filter_map(|step| step["run"].as_str()) {
                assert!(!script.contains("${{"), "{name}, {job}: {script}");
                assert!(!script.contains("eval ") && !script.contains("sh -c"), "{name}, {job}: {script}");
            }
        }
        // What is read of the event goes into variables and conditions, and is of a few kinds.
        let known = ["github.event.label.name", "number", "head.ref", "base.sha", "head.repo.full_name"];
        for text in texts(&workflow) {
            for (at, _) in text.match_indices("github.event.") {
                let expression: String =
                    text[at..].chars().take_while(|c| c.is_alphanumeric() || "._".contains(*c)).collect();
                assert!(known.iter().any(|known| expression.ends_with(known)), "{name}: {expression}");
            }
        }
    }
}

#[tokio::test]
async fn one_workflow_at_a_time_changes_a_pull_request() {
    let mut groups = Vec::new();
    for (name, workflow) in all().await {
        let concurrency = &workflow["concurrency"];
        assert_eq!(concurrency["cancel-in-progress"], "false", "{name}");
        let group = concurrency["group"].as_str().unwrap();
        let kind = name.split(' ').next().unwrap();
        assert!(group.contains(&format!("github.event.label.name == 'agent:{kind}' && ")), "{name}: {group}");
        let dispatched =
            "github.event_name == 'workflow_dispatch' && format('agent-pull-request-{0}', inputs.number) || ";
        assert_eq!(group.contains(dispatched), kind == "update-branch", "{name}: {group}");
        groups.push(group.replace(dispatched, "").replace(kind, "KIND"));
    }
    // Whatever the label, it is the same group of the pull request.
    groups.dedup();
    assert_eq!(groups.len(), 1, "{groups:#?}");
    assert!(groups[0].contains("format('agent-pull-request-{0}', github.event.pull_request.number)"));
}

#[tokio::test]
async fn actions_are_pinned_and_jobs_have_limits() {
    for (name, workflow) in all().await {
        for (job, body) in jobs(&workflow) {
            let minutes: u32 = body["timeout-minutes"].as_str().unwrap().parse().unwrap();
            assert!((1..=180).contains(&minutes), "{name}, {job}");
            for uses in steps(body).filter_map(|step| step["uses"].as_str()) {
                let (action, commit) = uses.split_once('@').unwrap();
                assert!(action.starts_with("actions/"), "{name}: {uses}");
                assert!(commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{uses}");
            }
        }
    }
}

#[tokio::test]
async fn pushes_have_a_lease_and_labels_say_how_it_stands() {
    for (name, workflow) in all().await {
        let scripts: Vec<&str> =
            jobs(&workflow).flat_map(|(_, job)| steps(job)).filter_map(|step| step["run"].as_str()).collect();
        let pushes: Vec<&&str> = scripts.iter().filter(|script| script.contains("git push")).collect();
        assert_eq!(pushes.len(), usize::from(!name.starts_with("explore")), "{name}");
        for push in pushes {
            assert!(push.contains("--force-with-lease=\"refs/heads/$BRANCH:$start\""), "{name}: {push}");
            assert_eq!(push.matches("git push").count(), 1, "{name}: {push}");
        }
        let deliver = &workflow["jobs"]["deliver"];
        let failed = steps(deliver).last().unwrap();
        assert!(failed["if"].as_str().unwrap().starts_with("always() && "), "{name}: {failed}");
        let script = failed["run"].as_str().unwrap();
        for part in ["agent:in-progress", "labels[]=agent:blocked", "failure_reason.txt"] {
            assert!(script.contains(part), "{name}: {script}");
        }
        let begun: Vec<&str> =
            steps(&workflow["jobs"]["begin"]).filter_map(|step| step["run"].as_str()).collect();
        assert!(begun.last().unwrap().contains("labels[]=agent:in-progress"), "{name}: {begun:?}");
    }
}

/// Whatever is chosen becomes one word of a script.
#[tokio::test]
async fn what_is_chosen_is_a_word_in_a_script_or_refused() {
    let desk = Desk::new().await;
    let ended =
        desk.automate(&["--model", "a'; rm -rf ~ #", "--sandcastle-git", "https://x/y", "--rev", "v1 $(id)"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let text = desk.workflow_text("review");
    assert!(text.contains(r"--model 'a'\''; rm -rf ~ #' "), "{text}");
    assert!(text.contains("--git https://x/y --rev 'v1 $(id)' sandcastle"), "{text}");
    for flags in [
        &["--model", "${{ secrets.X }}"][..],
        &["--rev", "${{ secrets.X }}"],
        &["--sandcastle-path", env!("CARGO_MANIFEST_DIR")],
        &["--issue-tracker", "beads"],
        &["--workflow", "false"],
        &["--build-image", "true"],
        &["--sandbox", "none", "--image-name", "x"],
    ] {
        let desk = Desk::new().await;
        let ended = desk.automate(flags);
        assert_eq!(ended.code(), Some(2), "{flags:?}: {ended:?}");
        assert!(!desk.repository.path().join(".github").exists(), "{flags:?}");
    }
}

#[tokio::test]
async fn workflows_that_are_there_stay_and_a_scaffold_is_no_obstacle() {
    let desk = Desk::new().await;
    desk.scaffolded(&["--sandbox", "docker", "--workflow", "false"]);
    desk.repository.write(".sandcastle/Dockerfile", "FROM mine\n").unwrap();
    let made = json_of(&desk.automate(&[]));
    let files: Vec<&str> =
        made["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    assert_eq!(files, KINDS.map(|kind| format!(".github/workflows/agent-{kind}.yml")));
    assert_eq!(desk.part("Dockerfile"), "FROM mine\n");
    // The same again is nothing new, and one that was changed is somebody's.
    assert_eq!(json_of(&desk.automate(&[]))["files"], json!([]));
    desk.repository.write(".github/workflows/agent-review.yml", "mine\n").unwrap();
    let ended = desk.automate(&["--agent", "codex"]);
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    assert!(ended.stdout.contains("agent-review.yml"), "{ended:?}");
    assert_eq!(desk.workflow_text("review"), "mine\n");
    assert!(desk.workflow_text("explore").contains("--agent claude-code"));

    let desk = Desk::new().await;
    std::os::unix::fs::symlink(desk.home.path(), desk.repository.path().join(".github")).unwrap();
    assert_eq!(desk.automate(&[]).code(), Some(1));
    assert!(!desk.home.path().join("workflows").exists());
}

#[tokio::test]
async fn labels_are_made_if_they_are_wanted_and_named_otherwise() {
    let desk = Desk::new().await;
    let log = desk.home.path().join("labels");
    desk.program("gh", &format!("#!/bin/sh\nprintf '%s\\n' \"$3\" >>'{}'\n", log.display()));
    let made = json_of(&desk.automate(&["--create-label", "true"]));
    let labels = KINDS.map(|kind| format!("agent:{kind}"));
    let labels: Vec<&str> =
        labels.iter().map(String::as_str).chain(["agent:in-progress", "agent:blocked"]).collect();
    assert_eq!(made["labels"], json!(labels));
    assert_eq!(std::fs::read_to_string(&log).unwrap().lines().collect::<Vec<_>>(), labels);
    let desk = Desk::new().await;
    let made = json_of(&desk.automate(&[]));
    assert_eq!(made["labels"], json!([]));
    for label in labels {
        assert!(made["next"].to_string().contains(&format!("gh label create {label}")), "{made}");
    }
    assert!(Path::new(&desk.repository.path().join(".sandcastle/Dockerfile")).exists());
}
