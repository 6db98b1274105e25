//! The variables that an agent gets, and the secrets that nobody else does.

use std::sync::{Arc, Mutex};

use sandcastle::agent::{AgentCommand, AgentRequest, Capabilities, Decoder};
use sandcastle::event::StopReason;
use sandcastle::testing::Turn;
use sandcastle::{Agent, AgentEvent, AgentOutput, ErrorKind, Logging, NoSandbox, RunOptions};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Bench, say};
use crate::support::real_agent::search_path;

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result")]
struct Answer {
    s: String,
}

/// A turn that writes down the variables it has.
fn looks_around() -> Turn {
    Turn::new().shell("env > seen.txt").say("done")
}

fn has(bench: &Bench, line: &str) -> bool {
    let seen = std::fs::read_to_string(bench.repository.path().join("seen.txt")).unwrap();
    seen.lines().any(|other| other == line)
}

/// A sandbox in which programs see only what is set for them.
fn bare() -> NoSandbox {
    NoSandbox::new().clear_env().env("PATH", search_path())
}

#[tokio::test]
async fn case_181_the_typed_value_has_the_secret_and_nothing_else_has() {
    let bench = Bench::new().await;
    let heard = Arc::new(Mutex::new(String::new()));
    let told = Arc::clone(&heard);
    let turn = Turn::new().say_pieces(["I have TOKEN=s3", "cret. <result>{\"s\":\"s3", "cret\"}</result>"]);
    let options = bench
        .options([turn])
        .env("TOKEN", "s3cret")
        .on_event(move |event| told.lock().unwrap().push_str(&format!("{event:?}")));
    let result = sandcastle::run_with::<Answer>(options).await.unwrap();
    assert_eq!(result.output.s, "s3cret");
    let shown = bench.logged() + &heard.lock().unwrap();
    assert!(shown.contains("I have TOKEN=***. <result>{\"s\":\"***\"}</result>"), "{shown}");
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[tokio::test]
async fn case_181_an_error_shows_a_mask_and_keeps_what_was_said() {
    let bench = Bench::new().await;
    let turn = say("<result>{\"s\": [\"s3cret\"]}</result>");
    let error =
        sandcastle::run_with::<Answer>(bench.options([turn]).env("TOKEN", "s3cret")).await.unwrap_err();
    let output = error.structured_output().unwrap();
    assert_eq!(output.raw_matched.as_deref(), Some("{\"s\": [\"s3cret\"]}"));
    assert!(output.feedback().contains("s3cret"), "the agent is told what it said");
    let mut shown = format!("{error} {error:#} {error:?} {error:#?} {output} {output:#} {output:?}");
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        shown.push_str(&format!("{error} {error:?}"));
        cause = error.source();
    }
    shown.push_str(&bench.logged());
    assert!(!shown.contains("s3cret"), "{shown}");
    assert!(shown.contains("***"), "{shown}");
}

#[tokio::test]
async fn case_183_the_agent_gets_what_is_in_the_configuration_folder() {
    let bench = Bench::new().await;
    bench.repository.write(".env", "AWS_KEY=x\n").unwrap();
    bench.repository.write(".sandcastle/.env", "TOKEN='y'\n").unwrap();
    sandcastle::run(bench.options([looks_around()])).await.unwrap();
    assert!(has(&bench, "TOKEN=y") && !has(&bench, "AWS_KEY=x"));
}

#[tokio::test]
async fn row_158_a_key_without_a_value_is_that_of_the_host() {
    let bench = Bench::new().await;
    bench.repository.write(".sandcastle/.env", "CARGO_MANIFEST_DIR=\nNOT_ON_THE_HOST=\n").unwrap();
    let agent = bench.agent([looks_around()]);
    let options = RunOptions::new(agent, bare()).cwd(bench.repository.path()).prompt("go");
    sandcastle::run(options).await.unwrap();
    assert!(has(&bench, concat!("CARGO_MANIFEST_DIR=", env!("CARGO_MANIFEST_DIR"))));
    assert!(!has(&bench, "NOT_ON_THE_HOST="));
}

#[tokio::test]
async fn row_159_the_call_is_over_the_agent_over_the_sandbox_over_the_file() {
    let bench = Bench::new().await;
    bench.repository.write(".sandcastle/.env", "A=file\nB=file\nC=file\nD=file\n").unwrap();
    let agent = bench.agent([looks_around()]).env("C", "agent").env("D", "agent");
    let sandbox = bare().env("B", "sandbox");
    let options = RunOptions::new(agent, sandbox).cwd(bench.repository.path()).prompt("go").env("D", "call");
    sandcastle::run(options).await.unwrap();
    for line in ["A=file", "B=sandbox", "C=agent", "D=call"] {
        assert!(has(&bench, line), "{line}");
    }
}

#[tokio::test]
async fn row_159_what_both_the_sandbox_and_the_agent_set_is_refused_before_anything_starts() {
    let bench = Bench::new().await;
    let agent = bench.agent([looks_around()]).env("TOKEN", "0ne").env("Z", "1");
    let options = RunOptions::new(agent, bare().env("TOKEN", "tw0").env("Z", "1")).prompt("go");
    let options = options.cwd(bench.repository.path());
    let error = sandcastle::run(options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOptions);
    let shown = format!("{error:#?}");
    assert!(error.to_string().contains("`TOKEN`, `Z`") && !shown.contains("0ne") && !shown.contains("tw0"));
    assert!(error.work().is_none() && !bench.repository.path().join(".sandcastle").exists());
}

#[tokio::test]
async fn w_12_the_agents_variables_are_there_in_a_sandbox_that_is_shared() {
    let bench = Bench::new().await;
    bench.repository.write(".sandcastle/.env", "FROM_FILE=1\n").unwrap();
    let sandbox = sandcastle::create_sandbox(
        sandcastle::SandboxOptions::new(bare().env("OF", "sandbox")).cwd(bench.repository.path()),
    )
    .await
    .unwrap();
    let agent = bench.agent([looks_around()]).env("MINE", "agent");
    sandbox.options(agent).prompt("go").await.unwrap();
    for line in ["FROM_FILE=1", "OF=sandbox", "MINE=agent"] {
        assert!(has(&bench, line), "{line}");
    }
    let agent = bench.agent([looks_around()]).env("OF", "agent");
    let error = sandbox.options(agent).prompt("go").await.unwrap_err();
    assert!(error.to_string().contains("`OF`"), "{error}");
}

#[tokio::test]
async fn w_23_debug_of_options_agents_and_sandboxes_shows_names_only() {
    let bench = Bench::new().await;
    let agent = sandcastle::ClaudeCode::new("opus").env("ONE", "s3cret");
    let shown = format!(
        "{:?} {agent:?} {:?} {:?}",
        RunOptions::new(agent.clone(), bare().env("TWO", "s3cret")).env("THREE", "s3cret"),
        sandcastle::Codex::new("gpt").env("FOUR", "s3cret"),
        bench.agent([say("x")]).env("FIVE", "s3cret"),
    );
    assert!(!shown.contains("s3cret"), "{shown}");
    for name in ["ONE", "TWO", "THREE", "FOUR", "FIVE"] {
        assert!(shown.contains(name), "{name} is not in {shown}");
    }
}

#[tokio::test]
async fn the_subject_of_a_commit_is_shown_with_masks() {
    let bench = Bench::new().await;
    let turn = Turn::new().shell("echo 1 >x; git add x; git commit -qm \"Use $TOKEN\"").exit(3);
    let error = sandcastle::run(bench.options([turn]).env("TOKEN", "s3cret")).await.unwrap_err();
    assert_eq!(error.work().unwrap().commits[0].subject, "Use ***");
    assert!(!format!("{error:?}").contains("s3cret"));
    for run in std::fs::read_dir(bench.repository.path().join(".sandcastle/runs")).unwrap().flatten() {
        let Ok(journal) = std::fs::read_to_string(run.path().join("journal.jsonl")) else { continue };
        assert!(journal.contains("Use ***") && !journal.contains("s3cret"), "{journal}");
    }
}

#[tokio::test]
async fn w_37_what_is_set_where_a_place_is_made_is_there_in_its_runs() {
    let bench = Bench::new().await;
    let place = sandcastle::WorktreeOptions::new()
        .cwd(bench.repository.path())
        .env("OF", "worktree")
        .env("SET", "worktree")
        .env("ANEW", "worktree")
        .secret("d3clared");
    let worktree = sandcastle::create_worktree(place).await.unwrap();
    let made = sandcastle::SandboxOptions::new(bare()).env("SET", "sandbox").env("API_TOKEN", "s3cret");
    let sandbox = worktree.create_sandbox(made).await.unwrap();
    let turn = Turn::new().shell("env > seen.txt").say_pieces(["I have s3cret and d3cla", "red"]);
    let options = sandbox.options(bench.agent([turn])).prompt("go").env("ANEW", "run");
    sandbox.run(options.logging(Logging::file(bench.log()))).await.unwrap();
    let seen = std::fs::read_to_string(worktree.path().join("seen.txt")).unwrap();
    for line in ["OF=worktree", "SET=sandbox", "ANEW=run", "API_TOKEN=s3cret"] {
        assert!(seen.lines().any(|other| other == line), "{line} is not in {seen}");
    }
    let logged = bench.logged();
    assert!(logged.contains("I have *** and ***"), "{logged}");
}

#[tokio::test]
async fn w_23_a_hook_that_fails_where_a_place_is_made_shows_a_mask() {
    let bench = Bench::new().await;
    let hooks = sandcastle::Hooks::new().sandbox_ready("echo bad key $API_TOKEN >&2; exit 3");
    let options = sandcastle::SandboxOptions::new(bare()).cwd(bench.repository.path()).hooks(hooks);
    let error = sandcastle::create_sandbox(options.env("API_TOKEN", "s3cret")).await.unwrap_err();
    let shown = format!("{error:#} {error:#?}");
    assert!(shown.contains("bad key ***") && !shown.contains("s3cret"), "{shown}");
}

#[tokio::test]
async fn w_43_a_declared_secret_is_an_argument_of_no_shell() {
    let bench = Bench::new().await;
    let template = bench.repository.write("prompt.md", "see !`echo {{KEY}}`").unwrap();
    let options = || RunOptions::new(bench.agent([say("ok")]), bare()).cwd(bench.repository.path());
    let expression = options().prompt_file(template).prompt_arg("KEY", "d3clared").secret("d3clared");
    let hooks = sandcastle::Hooks::new().sandbox_ready("login d3clared");
    let hook = options().prompt("go").hooks(hooks.clone()).secret("d3clared");
    let made = sandcastle::SandboxOptions::new(bare()).cwd(bench.repository.path()).hooks(hooks);
    let errors = [
        sandcastle::run(expression).await.unwrap_err(),
        sandcastle::run(hook).await.unwrap_err(),
        sandcastle::create_sandbox(made.secret("d3clared")).await.unwrap_err(),
    ];
    for error in errors {
        let shown = format!("{error:#} {error:#?}");
        assert_eq!(error.kind(), ErrorKind::InvalidOptions, "{shown}");
        assert!(shown.contains("start `sh` with a secret") && !shown.contains("d3clared"), "{shown}");
    }
    assert!(!bench.repository.path().join(".sandcastle").exists(), "nothing was begun");
}

/// Has a value among the arguments of its program.
#[derive(Debug)]
struct Outspoken(&'static str);

impl Agent for Outspoken {
    fn name(&self) -> &str {
        "outspoken"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none()
    }

    fn command(&self, _: &AgentRequest<'_>) -> sandcastle::Result<AgentCommand> {
        Ok(AgentCommand::new("sh").args(["-c", "echo done", self.0]))
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        struct Words;
        impl Decoder for Words {
            fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) {
                events.push(AgentEvent::Text { text: String::from_utf8_lossy(line).into_owned() });
                events.push(AgentEvent::TurnCompleted { stop: StopReason::Complete, structured: None });
            }
        }
        Box::new(Words)
    }
}

#[tokio::test]
async fn w_43_that_an_argument_looks_secret_is_said_once_whatever_the_iterations() {
    let bench = Bench::new().await;
    let options = RunOptions::new(Outspoken("s3cret-val"), NoSandbox::new())
        .cwd(bench.repository.path())
        .prompt("Go.")
        .logging(Logging::file(bench.log()))
        .env("API_TOKEN", "s3cret-val")
        .max_iterations(2);
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!(result.iterations.len(), 2);
    let said = |text: &str| text.matches("that looks secret").count();
    assert_eq!((said(&result.warnings.concat()), said(&bench.logged())), (1, 1), "{:?}", result.warnings);
}
