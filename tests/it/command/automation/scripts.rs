//! The scripts of the workflows, run as GitHub would: with a real `bash`, `git` and `jq`, and a `gh` that writes down what it is
//! asked for.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{KINDS, steps};
use crate::support::desk::Desk;
use crate::support::process::{Finished, Invocation};
use crate::support::requirement::absent;
use crate::support::tower::Tower;
use crate::support::yaml;

/// Writes down its arguments and its input, and answers what is asked of GraphQL.
const GH: &str = r#"#!/bin/sh
{ printf '%s\n' "$*"; case "$*" in *"--input -"*) cat; echo;; esac; } >>"$HOME/asked"
case "$*" in *graphql*) echo 4711;; *pulls/12) cat "$HOME/pull";; esac
"#;

/// A machine of GitHub Actions with one pull request.
struct Runner {
    desk: Desk,
    tower: Tower,
}

impl Runner {
    async fn new() -> Option<Self> {
        if !Path::new("/usr/bin/jq").exists() || !Path::new("/bin/bash").exists() {
            absent("jq", "the scripts of the workflows want it, and bash");
            return None;
        }
        let desk = Desk::new().await;
        let tower = Tower::build(&desk.repository, &desk.home.path().join("remote.git"), &[]).await;
        assert_eq!(desk.automate(&["--sandbox", "none"]).code(), Some(0));
        desk.git(["branch", "-q", "tower", "origin/tower"]).await;
        desk.program("gh", GH);
        let runner = Self { desk, tower };
        std::fs::create_dir_all(runner.results()).unwrap();
        Some(runner)
    }

    fn results(&self) -> PathBuf {
        self.desk.home.path().join("results")
    }

    fn result(&self, name: &str, value: &Value) {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        std::fs::write(self.results().join(name), text).unwrap();
    }

    /// Runs a step of a workflow.
    fn step(&self, kind: &str, job: &str, name: &str) -> Finished {
        self.step_with(kind, job, name, &[])
    }

    /// As [`Runner::step`], with these variables.
    fn step_with(&self, kind: &str, job: &str, name: &str, variables: &[(&str, &str)]) -> Finished {
        let workflow = yaml::parse(&self.desk.workflow_text(kind));
        let step = steps(&workflow["jobs"][job]).find(|step| step["name"] == name);
        let script =
            step.unwrap_or_else(|| panic!("{kind} has no step `{name}`"))["run"].as_str().unwrap().to_owned();
        let script = self.desk.file("step.sh", script);
        let home = self.desk.home.path().display().to_string();
        let environment = [
            ("HOME", home.clone()),
            ("GITHUB_OUTPUT", format!("{home}/outputs")),
            ("RUNNER_TEMP", home),
            ("RESULTS", self.results().display().to_string()),
            ("BRANCH", "tower".to_owned()),
            ("REPOSITORY", "octo/sand".to_owned()),
            ("NUMBER", "12".to_owned()),
            ("LABELS", "repos/octo/sand/issues/12/labels".to_owned()),
            ("GITHUB_SERVER_URL", "https://github.com".to_owned()),
            ("GITHUB_RUN_ID", "7".to_owned()),
        ];
        let bash = Invocation::new("/bin/bash", self.desk.repository.path())
            .arguments(["--noprofile", "--norc", "-eo", "pipefail", script.to_str().unwrap()])
            .environment(environment.map(|(key, value)| (key.to_owned(), value)))
            .environment(variables.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        self.desk.with_programs(bash).run()
    }

    /// What `gh` was asked for.
    fn asked(&self) -> String {
        std::fs::read_to_string(self.desk.home.path().join("asked")).unwrap_or_default()
    }

    async fn remote_tip(&self) -> String {
        let listed = self.desk.git(["ls-remote", "origin", "refs/heads/tower"]).await;
        listed.split_whitespace().next().unwrap().to_owned()
    }

    /// The agent has committed, and its commits are packed.
    async fn packed(&self) -> String {
        self.desk.git(["checkout", "-q", "tower"]).await;
        self.desk.git(["commit", "-q", "--allow-empty", "-m", "Work"]).await;
        let tip = self.desk.git(["rev-parse", "tower"]).await.trim().to_owned();
        self.desk.file("result.json", json!({ "start": self.tower.head }).to_string());
        let packed = self.step("review", "agent", "Pack the commits");
        assert_eq!(packed.code(), Some(0), "{packed:?}");
        // The second job has a repository of its own.
        self.desk.git(["checkout", "-q", "release"]).await;
        self.desk.git(["branch", "-q", "-D", "tower"]).await;
        tip
    }
}

#[tokio::test]
async fn every_script_is_one() {
    let Some(runner) = Runner::new().await else { return };
    for kind in KINDS {
        let workflow = yaml::parse(&runner.desk.workflow_text(kind));
        for (job, body) in super::jobs(&workflow) {
            for script in steps(body).filter_map(|step| step["run"].as_str()) {
                let file = runner.desk.file("step.sh", script);
                let read = Invocation::new("/bin/bash", runner.desk.home.path())
                    .arguments(["-n", file.to_str().unwrap()])
                    .run();
                assert_eq!((read.code(), read.stderr.as_str()), (Some(0), ""), "{kind}, {job}: {script}");
            }
        }
    }
}

#[tokio::test]
async fn the_command_is_called_with_keys_by_name_and_its_answer_is_kept() {
    let Some(runner) = Runner::new().await else { return };
    std::fs::create_dir_all(runner.desk.home.path().join("sandcastle/bin")).unwrap();
    let stub = "#!/bin/sh\nprintf '%s\\n' \"$@\" >\"$HOME/called\"\necho '{\"start\":\"x\"}'\n";
    let stub = runner.desk.file("sandcastle/bin/sandcastle", stub);
    std::fs::set_permissions(&stub, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for kind in KINDS {
        let ended = runner.step_with(kind, "agent", "Run the agent", &[("ANTHROPIC_API_KEY", "sk-s3cret")]);
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        let called = std::fs::read_to_string(runner.desk.home.path().join("called")).unwrap();
        let results = runner.results().display().to_string();
        let expected = [
            "--format",
            "json",
            "pr",
            kind,
            "12",
            "--agent",
            "claude-code",
            "--model",
            "claude-opus-4-8",
            "--sandbox",
            "none",
            "--env",
            "ANTHROPIC_API_KEY",
            "--output-dir",
            &results,
        ];
        assert_eq!(called.lines().collect::<Vec<_>>(), expected);
        let answer = std::fs::read_to_string(runner.desk.home.path().join("result.json")).unwrap();
        assert_eq!(answer, "{\"start\":\"x\"}\n");
    }
}

#[tokio::test]
async fn a_branch_in_conflict_is_looked_up_and_a_strangers_is_left_alone() {
    let Some(runner) = Runner::new().await else { return };
    let look = |number| {
        runner.step_with("update-branch", "begin", "Look at the pull request", &[("NUMBER", number)])
    };
    let pull = |repository: Value| {
        let head = json!({ "ref": "tower$(id)", "repo": repository });
        runner.desk.file("pull", json!({ "head": head, "base": { "sha": "b45e" } }).to_string());
    };
    let outputs = runner.desk.home.path().join("outputs");
    for stranger in [json!({ "full_name": "mallory/sand" }), Value::Null] {
        pull(stranger);
        let ended = look("12");
        assert_eq!(ended.code(), Some(1), "{ended:?}");
        assert!(ended.stdout.contains("from a fork"), "{ended:?}");
    }
    pull(json!({ "full_name": "octo/sand" }));
    assert_eq!(look("12/../../other").code(), Some(1));
    assert!(!outputs.exists());
    let ended = look("12");
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(std::fs::read_to_string(outputs).unwrap(), "base=b45e\nbranch=tower$(id)\n");
}

#[tokio::test]
async fn commits_leave_the_first_job_as_a_bundle_and_the_second_pushes_them() {
    let Some(runner) = Runner::new().await else { return };
    let tip = runner.packed().await;
    let pushed = runner.step("review", "deliver", "Push the commits");
    assert_eq!(pushed.code(), Some(0), "{pushed:?}");
    assert_eq!(runner.remote_tip().await, tip);
}

#[tokio::test]
async fn nothing_is_packed_or_pushed_where_nothing_was_committed() {
    let Some(runner) = Runner::new().await else { return };
    runner.desk.file("result.json", json!({ "start": runner.tower.head }).to_string());
    let packed = runner.step("implement", "agent", "Pack the commits");
    assert_eq!(packed.code(), Some(0), "{packed:?}");
    assert!(!runner.results().join("commits.bundle").exists());
    let pushed = runner.step("implement", "deliver", "Push the commits");
    assert_eq!(
        (pushed.code(), runner.remote_tip().await),
        (Some(0), runner.tower.head.clone()),
        "{pushed:?}"
    );
}

#[tokio::test]
async fn a_branch_that_moved_on_or_was_rewritten_is_not_pushed_over() {
    let Some(runner) = Runner::new().await else { return };
    runner.packed().await;
    let remote = runner.desk.home.path().join("remote.git");
    let remote = remote.to_str().unwrap();
    runner.desk.git(["--git-dir", remote, "update-ref", "refs/heads/tower", &runner.tower.base]).await;
    let pushed = runner.step("review", "deliver", "Push the commits");
    assert_eq!(
        (pushed.code(), runner.remote_tip().await),
        (Some(1), runner.tower.base.clone()),
        "{pushed:?}"
    );
    let reason = std::fs::read_to_string(runner.results().join("failure_reason.txt")).unwrap();
    assert!(reason.contains("moved on"), "{reason}");
    // What the first job says of where it began is held against the branch, and is no option of git's.
    for start in ["--output=owned", "0000000000000000000000000000000000000000", "release~99"] {
        runner.result("start.txt", &json!(start));
        assert_ne!(runner.step("review", "deliver", "Push the commits").code(), Some(0), "{start}");
    }
    assert_eq!(runner.remote_tip().await, runner.tower.base);
}

#[tokio::test]
async fn what_is_to_be_said_is_posted_as_data() {
    let Some(runner) = Runner::new().await else { return };
    let evil = "$(touch owned) `id` \"; rm -rf ~ #\n@file '";
    runner.result("replies.json", &json!([{ "commentId": "PRRC_1", "body": evil }]));
    runner.result("review_payload.json", &json!({ "event": "COMMENT", "body": evil, "comments": [] }));
    let posted = runner.step("review", "deliver", "Post what is to be said");
    assert_eq!(posted.code(), Some(0), "{posted:?}");
    let asked = runner.asked();
    assert!(asked.contains("graphql --raw-field id=PRRC_1 "), "{asked}");
    assert!(asked.contains("repos/octo/sand/pulls/12/comments/4711/replies --input -"), "{asked}");
    assert!(asked.contains("repos/octo/sand/pulls/12/reviews --input -"), "{asked}");
    let written = json!(evil).to_string();
    assert_eq!(asked.matches(&written).count(), 2, "{asked}");
    assert!(!runner.desk.repository.path().join("owned").exists());

    let Some(runner) = Runner::new().await else { return };
    runner.result("implement_thread_replies.json", &json!([]));
    runner.result("implement_new_inline_comments.json", &json!([{ "path": "a", "line": 3, "body": evil }]));
    runner.result("implement_top_level_comments.json", &json!([{ "body": "One." }, { "body": "Two." }]));
    let posted = runner.step("implement", "deliver", "Post what is to be said");
    assert_eq!(posted.code(), Some(0), "{posted:?}");
    let asked = runner.asked();
    assert!(
        asked.contains("\"body\": \"Comments on lines: 1.\"")
            && asked.contains("\"side\": \"RIGHT\"")
            && asked.contains("\"event\": \"COMMENT\""),
        "{asked}"
    );
    assert_eq!(asked.matches("repos/octo/sand/issues/12/comments --input -").count(), 2, "{asked}");
    assert!(
        asked.contains("\"One.\"") && asked.contains("\"Two.\"") && !asked.contains("graphql"),
        "{asked}"
    );

    for kind in ["explore", "update-branch"] {
        let Some(runner) = Runner::new().await else { return };
        runner.result("comment.md", &json!(evil));
        let posted = runner.step(kind, "deliver", "Post what is to be said");
        assert_eq!(posted.code(), Some(0), "{posted:?}");
        assert!(runner.asked().contains(&json!(evil).to_string()), "{}", runner.asked());
    }
}

#[tokio::test]
async fn the_labels_say_how_it_stands_and_a_comment_why() {
    let Some(runner) = Runner::new().await else { return };
    let begun = runner.step("review", "begin", "Say that an agent is at work");
    assert_eq!(begun.code(), Some(0), "{begun:?}");
    runner.result("failure_reason.txt", &json!("failed to post: ```\n$(id)"));
    let failed = runner.step("review", "deliver", "Say that it failed, and why");
    assert_eq!(failed.code(), Some(0), "{failed:?}");
    let asked = runner.asked();
    for part in [
        "--method DELETE repos/octo/sand/issues/12/labels/agent:review",
        "--method POST repos/octo/sand/issues/12/labels --raw-field labels[]=agent:in-progress",
        "--method DELETE repos/octo/sand/issues/12/labels/agent:in-progress",
        "--method POST repos/octo/sand/issues/12/labels --raw-field labels[]=agent:blocked",
        "repos/octo/sand/issues/12/comments --input -",
        "`agent:review` failed ([log](https://github.com/octo/sand/actions/runs/7))",
        "$(id)",
    ] {
        assert!(asked.contains(part), "`{part}` is not in {asked}");
    }
    // Without a reason there is a comment all the same.
    std::fs::remove_dir_all(runner.results()).unwrap();
    let failed = runner.step("explore", "deliver", "Say that it failed, and why");
    assert_eq!(failed.code(), Some(0), "{failed:?}");
    assert!(runner.asked().contains("the log of the workflow says why"));
}
