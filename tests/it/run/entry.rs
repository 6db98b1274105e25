//! What is refused before anything is started.

use std::time::Duration;

use sandcastle::testing::{ScratchRepo, Turn};
use sandcastle::{CancellationToken, ErrorKind, Logging, NoSandbox, OutputSpec, RunOptions, Scripted};

use super::{Bench, N, Retried, say};

/// Asserts that nothing was touched and returns the error as it is shown.
async fn refused(bench: &Bench, kind: ErrorKind, options: RunOptions) -> String {
    let error = sandcastle::run_with::<N>(options).await.unwrap_err();
    assert_eq!(error.kind(), kind, "{error:#}");
    assert!(error.work().is_none());
    assert!(!bench.log().exists(), "a log was opened");
    assert!(!bench.repository.path().join("started").exists(), "the agent was started");
    format!("{error:#}")
}

fn started() -> [Turn; 1] {
    [Turn::new().shell("touch started").say("x")]
}

#[tokio::test]
async fn an_output_needs_exactly_one_iteration() {
    let bench = Bench::new().await;
    let said = refused(&bench, ErrorKind::InvalidOptions, bench.options(started()).max_iterations(3)).await;
    assert!(
        said.contains("`<result>` from a run of 3 iterations") && said.contains("set `max_iterations` to 1")
    );
    let said = refused(&bench, ErrorKind::InvalidOptions, bench.options(started()).max_iterations(0)).await;
    assert!(said.contains("0 iterations"), "{said}");
}

#[tokio::test]
async fn case_195_the_prompt_has_to_name_the_tag() {
    let bench = Bench::new().await;
    let options = RunOptions::new(bench.agent(started()), NoSandbox::new())
        .cwd(bench.repository.path())
        .logging(Logging::file(bench.log()));
    let said = refused(&bench, ErrorKind::Prompt, options.clone().prompt("do it")).await;
    assert!(said.contains("does not contain `<result>`") && said.contains("prompt_snippet()"), "{said}");
    refused(&bench, ErrorKind::Prompt, options.clone().prompt("answer in <Result>")).await;
    refused(&bench, ErrorKind::Prompt, options.clone()).await;
    refused(&bench, ErrorKind::Prompt, options.clone().prompt("  \n")).await;
    refused(&bench, ErrorKind::Prompt, options.clone().prompt("<result>").prompt_file("x")).await;
    let said = refused(&bench, ErrorKind::Prompt, options.prompt_file("no/such/file")).await;
    assert!(said.contains("no/such/file"), "{said}");
}

#[tokio::test]
async fn case_057_retries_need_an_agent_that_can_resume() {
    let bench = Bench::new().await;
    let agent = bench.agent(started()).without_resume();
    let error = sandcastle::run_with::<Retried>(bench.options_of(agent.clone())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOptions);
    assert!(error.to_string().contains("the agent `scripted` cannot resume"), "{error}");
    assert!(!bench.log().exists());
    let error = sandcastle::run(bench.options_of(agent.clone()).resume_session("x")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOptions);
    sandcastle::run_with::<N>(bench.options([say("<result>{\"n\":1}</result>")])).await.unwrap();
}

#[tokio::test]
async fn sessions_are_named_well_and_belong_to_one_iteration() {
    let bench = Bench::new().await;
    let options = bench.options(started());
    for bad in ["../../etc/passwd", "--help", ""] {
        refused(&bench, ErrorKind::InvalidOptions, options.clone().resume_session(bad)).await;
    }
    refused(&bench, ErrorKind::InvalidOptions, options.clone().resume_session("a").fork_session("b")).await;
    let error = sandcastle::run(options.resume_session("a").max_iterations(2)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOptions);
}

#[tokio::test]
async fn w_38_limits_and_signals_are_checked() {
    let bench = Bench::new().await;
    let options = bench.options(started());
    let said = refused(&bench, ErrorKind::InvalidOptions, options.clone().idle_timeout(Duration::ZERO)).await;
    assert!(said.contains("`idle_timeout` of zero"), "{said}");
    refused(&bench, ErrorKind::InvalidOptions, options.clone().total_timeout(Duration::ZERO)).await;
    refused(&bench, ErrorKind::InvalidOptions, options.clone().completion_signal("")).await;
    let forever =
        options.idle_timeout(Duration::MAX).completion_timeout(Duration::MAX).total_timeout(Duration::MAX);
    sandcastle::run(forever).await.unwrap();
}

#[tokio::test]
async fn the_folder_has_to_be_in_a_repository() {
    let bench = Bench::new().await;
    let options = bench.options(started());
    let said = refused(&bench, ErrorKind::InvalidOptions, options.clone().cwd("/no/such/folder")).await;
    assert!(said.contains("/no/such/folder"), "{said}");
    let file = bench.repository.path().join("README.md");
    refused(&bench, ErrorKind::InvalidOptions, options.clone().cwd(file)).await;
    let outside = tempfile::TempDir::new().unwrap();
    let said = refused(&bench, ErrorKind::Git, options.clone().cwd(outside.path())).await;
    assert!(said.contains("not inside a git repository") && said.contains("git init"), "{said}");
    let said = refused(&bench, ErrorKind::Git, options.cwd(bench.repository.path().join(".git"))).await;
    assert!(said.contains("not in a work tree"), "{said}");
}

#[tokio::test]
async fn a_run_that_is_cancelled_already_starts_nothing() {
    let bench = Bench::new().await;
    let token = CancellationToken::new();
    token.cancel();
    refused(&bench, ErrorKind::Cancelled, bench.options(started()).cancel(token)).await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let bench = Bench::new().await;
    let agent = sandcastle::ClaudeCode::new("").program("no-such-agent-program");
    let options = RunOptions::new(agent, NoSandbox::new()).cwd(bench.repository.path()).prompt("go");
    let error = sandcastle::run(options.logging(Logging::off())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AgentStart);
    assert!(error.to_string().contains("`no-such-agent-program`"), "{error:#}");
}

#[tokio::test]
async fn a_schema_that_cannot_be_used_is_refused_where_it_is_made() {
    let error = OutputSpec::json("result", serde_json::json!({ "type": 5 })).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOutput);
    let error = OutputSpec::json("two words", serde_json::json!({})).unwrap_err();
    assert!(error.to_string().contains("two words"), "{error}");
    let repository = ScratchRepo::new().await.unwrap();
    let spec = OutputSpec::json("n", serde_json::json!({ "type": "integer" })).unwrap();
    let options = RunOptions::new(Scripted::answering("<n>3</n>"), NoSandbox::new())
        .cwd(repository.path())
        .env("HOME", repository.path().join(".git"))
        .logging(Logging::off())
        .prompt("say <n>");
    assert_eq!(sandcastle::run_spec(options, spec).await.unwrap().output, 3);
}

#[tokio::test]
async fn templates_are_filled_and_inline_prompts_are_not() {
    let bench = Bench::new().await;
    let template = bench.repository.write("task.md", "Fix {{ ISSUE }} in <result>.\n{{BODY}}\n").unwrap();
    let options = RunOptions::new(bench.agent([say("<result>{\"n\":1}</result>")]), NoSandbox::new())
        .cwd(bench.repository.path())
        .logging(Logging::file(bench.log()));
    let filled =
        options.clone().prompt_file(&template).prompt_arg("ISSUE", 7).prompt_arg("BODY", "{{ISSUE}}");
    let result = sandcastle::run_with::<N>(filled.prompt_arg("SPARE", "x")).await.unwrap();
    assert_eq!(bench.prompts(result.session_id().unwrap()), ["Fix 7 in <result>.\n{{ISSUE}}\n"]);
    assert!(result.warnings[0].contains("{{SPARE}}"), "{:?}", result.warnings);

    let missing = options.clone().prompt_file(&template).prompt_arg("ISSUE", 7);
    let error = sandcastle::run_with::<N>(missing).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Prompt);
    assert!(error.to_string().contains("`{{BODY}}`") && error.to_string().contains("task.md:2:1"), "{error}");

    let both = options.prompt("<result>").prompt_arg("A", 1);
    assert_eq!(sandcastle::run_with::<N>(both).await.unwrap_err().kind(), ErrorKind::Prompt);
}

#[tokio::test]
async fn case_186_an_inline_prompt_is_never_looked_into() {
    let bench = Bench::new().await;
    let turns = [say("one"), say("two"), say("three")];
    let prompts = ["see {{BRANCH}}", "{{ NO_SUCH }} and {{", "run !`touch pwned` now"];
    for (turn, prompt) in turns.into_iter().zip(prompts) {
        let options = RunOptions::new(bench.agent([turn]), NoSandbox::new())
            .cwd(bench.repository.path())
            .logging(Logging::off())
            .prompt(prompt);
        let result = sandcastle::run(options).await.unwrap();
        assert_eq!(bench.prompts(result.session_id().unwrap()), [prompt]);
    }
    assert!(!bench.repository.path().join("pwned").exists());
}

/// Options whose prompt is a template with this text.
fn template(bench: &Bench, text: &str) -> RunOptions {
    let path = bench.repository.write("task.md", text).unwrap();
    RunOptions::new(bench.agent(started()), NoSandbox::new())
        .cwd(bench.repository.path())
        .logging(Logging::file(bench.log()))
        .prompt_file(path)
}

#[tokio::test]
async fn case_187_what_an_argument_brings_is_not_executed() {
    let bench = Bench::new().await;
    for mark in ["!`touch pwned`", "$(touch pwned)", "`touch pwned`", "{{T}}"] {
        let result = sandcastle::run(template(&bench, "{{T}}").prompt_arg("T", mark)).await.unwrap();
        assert_eq!(bench.prompts(result.session_id().unwrap()), [mark]);
    }
    assert!(!bench.repository.path().join("pwned").exists());
}

#[tokio::test]
async fn case_189_spaces_inside_the_braces_do_not_matter() {
    let bench = Bench::new().await;
    let options = template(&bench, "{{ KEY }}, {{KEY}}").prompt_arg("KEY", "v");
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!(bench.prompts(result.session_id().unwrap()), ["v, v"]);
}

#[tokio::test]
async fn case_190_a_missing_argument_is_named_and_nothing_starts() {
    let bench = Bench::new().await;
    let said = refused(&bench, ErrorKind::Prompt, template(&bench, "<result> {{ISSUE}}")).await;
    assert!(said.contains("`{{ISSUE}}`"), "{said}");
    let other = template(&bench, "<result> {{ISSUE}}").prompt_arg("issue", 7);
    let said = refused(&bench, ErrorKind::Prompt, other).await;
    assert!(said.contains("`{{ISSUE}}`"), "{said}");
}

#[tokio::test]
async fn case_194_a_slash_command_is_told_to_be_plain_text() {
    let bench = Bench::new().await;
    for (prompt, command) in [
        ("/review --fix", Some("`/review`")),
        ("\n/my:own-command", Some("`/my:own-command`")),
        ("/etc/passwd is readable", None),
        ("see /review", None),
        ("/ or not", None),
    ] {
        let options = RunOptions::new(bench.agent([say("ok")]), NoSandbox::new())
            .cwd(bench.repository.path())
            .logging(Logging::off())
            .prompt(prompt);
        let warnings = sandcastle::run(options).await.unwrap().warnings;
        assert_eq!(warnings.len(), usize::from(command.is_some()), "{prompt}: {warnings:?}");
        assert!(command.is_none_or(|command| warnings[0].contains(command)), "{warnings:?}");
    }
}
