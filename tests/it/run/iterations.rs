//! Runs without a structured output.

use std::future::IntoFuture;
use std::sync::{Arc, Mutex};

use sandcastle::testing::{ScratchRepo, Script, Sequence, Turn};
use sandcastle::{AgentEvent, ErrorKind, Exit, NoSandbox, RunEvent, RunOptions, Scripted};

use super::{Bench, say};

#[tokio::test]
async fn a_run_returns_text_commits_branch_usage_and_session() {
    let bench = Bench::new().await;
    let turn = Turn::new()
        .write_file("a/b.txt", "1")
        .commit("One")
        .write_file("c", "2")
        .commit("Two")
        .say("done.")
        .usage(11, 7);
    let result = sandcastle::run(bench.options([turn]).name("first")).await.unwrap();
    assert_eq!(result.text, "done.");
    let subjects: Vec<&str> = result.commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert_eq!(subjects, ["One", "Two"]);
    assert_eq!(result.branch, "main");
    assert_eq!((result.usage.input_tokens, result.usage.output_tokens), (11, 7));
    assert_eq!(result.iterations.len(), 1);
    assert_eq!(result.iterations[0].exit, Exit::Code(0));
    assert!(result.session_id().is_some());
    assert_eq!(result.answer_guarantee, None);
    assert_eq!(result.commits[1].sha, bench.repository.git(["rev-parse", "HEAD"]).await.unwrap().as_str());
    assert_eq!(result.log_file.as_deref(), Some(bench.log().as_path()));
}

#[tokio::test]
async fn a_repository_without_commits_is_worked_in() {
    let bench = Bench::new().await;
    bench.repository.git(["checkout", "--quiet", "--orphan", "fresh"]).await.unwrap();
    let turn = Turn::new().write_file("x", "1").commit("First").say("ok");
    let result = sandcastle::run(bench.options([turn])).await.unwrap();
    assert_eq!(result.branch, "fresh");
    assert_eq!(result.commits.len(), 1);
}

#[tokio::test]
async fn a_folder_below_the_root_is_worked_in() {
    let bench = Bench::new().await;
    let below = bench.repository.write("deep/er/x.txt", "x").unwrap();
    let options = bench.options([Turn::new().shell("pwd > here").say("ok")]).cwd(below.parent().unwrap());
    sandcastle::run(options).await.unwrap();
    let here = std::fs::read_to_string(bench.repository.path().join("deep/er/here")).unwrap();
    assert!(here.trim_end().ends_with("deep/er"), "{here}");
}

#[tokio::test]
async fn iterations_end_with_the_signal() {
    let bench = Bench::new().await;
    let script = Script::new().turn(say("working")).turn(say("working")).turn(say("all DO").say("NE"));
    let agent = Scripted::new(script.sequence(Sequence::AcrossSessions)).state_dir(bench.state.path());
    let options = bench.options_of(agent).max_iterations(5).completion_signal("DONE");
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!(result.iterations.len(), 3, "{result:?}");
    assert_eq!(result.completion_signal.as_deref(), Some("DONE"));
    let sessions: std::collections::HashSet<_> =
        result.iterations.iter().map(|i| i.session_id.clone()).collect();
    assert_eq!(sessions.len(), 3, "each iteration begins a session");
}

#[tokio::test]
async fn the_default_signal_and_the_most_iterations() {
    let bench = Bench::new().await;
    let result = sandcastle::run(bench.options([say("on it")]).max_iterations(2)).await.unwrap();
    assert_eq!((result.iterations.len(), result.completion_signal), (2, None));
    let result =
        sandcastle::run(bench.options([say("<promise>COMPLETE</promise>")]).max_iterations(2)).await.unwrap();
    assert_eq!(result.iterations.len(), 1);
    assert_eq!(result.completion_signal.as_deref(), Some("<promise>COMPLETE</promise>"));
}

#[tokio::test]
async fn the_default_signal_may_be_one_of_several() {
    let bench = Bench::new().await;
    let options = bench.options([say("<promise>COMPLETE</promise>")]).max_iterations(3);
    let options = options.completion_signal("<promise>COMPLETE</promise>").completion_signal("DONE");
    assert_eq!(sandcastle::run(options).await.unwrap().iterations.len(), 1);
}

#[tokio::test]
async fn an_empty_answer_is_no_success_and_keeps_its_commits() {
    let bench = Bench::new().await;
    let error =
        sandcastle::run(bench.options([Turn::new().write_file("x", "1").commit("Work")])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AgentFailed);
    assert!(error.to_string().contains("without saying anything"), "{error}");
    assert_eq!(error.work().unwrap().commits[0].subject, "Work");
}

#[tokio::test]
async fn events_arrive_in_order() {
    let bench = Bench::new().await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let turn =
        Turn::new().say("a").tool("Bash", serde_json::json!({ "command": "ls" })).tool_output("x").say("b");
    let options = bench.options([turn]).on_event(move |event| sink.lock().unwrap().push(event.clone()));
    sandcastle::run(options).await.unwrap();
    let seen = seen.lock().unwrap();
    assert!(matches!(seen.first(), Some(RunEvent::Started { branch, .. }) if branch == "main"));
    assert!(matches!(seen.last(), Some(RunEvent::IterationEnded { exit: Exit::Code(0), .. })));
    let words: Vec<String> = seen
        .iter()
        .filter_map(|event| match event {
            RunEvent::Agent { event: AgentEvent::Text { text } } => Some(text.clone()),
            RunEvent::Agent { event: AgentEvent::ToolCall { name, detail } } => {
                Some(format!("{name}: {detail}"))
            }
            _ => None,
        })
        .collect();
    assert_eq!(words, ["a", "Bash: ls", "b"]);
}

#[tokio::test]
async fn case_098_an_unknown_line_is_kept_and_harmless() {
    let bench = Bench::new().await;
    let turn =
        Turn::new().raw_line(r#"{"type":"rate_limit_event","x":1}"#).raw_line("not json at all").say("ok");
    let result = sandcastle::run(bench.options([turn])).await.unwrap();
    assert_eq!(result.text, "ok");
    assert!(bench.logged().contains("rate_limit_event"), "{}", bench.logged());
}

#[tokio::test]
async fn case_201_both_runs_are_in_the_log() {
    let bench = Bench::new().await;
    sandcastle::run(bench.options([say("first answer")]).name("one")).await.unwrap();
    sandcastle::run(bench.options([say("second answer")]).name("two")).await.unwrap();
    let log = bench.logged();
    assert_eq!(log.matches("=== ").count(), 4, "{log}");
    assert!(log.contains("first answer") && log.contains("second answer"), "{log}");
}

#[tokio::test]
async fn case_202_the_error_is_in_the_log() {
    let bench = Bench::new().await;
    let turn = Turn::new().stderr("the disk is full").exit(7);
    let error = sandcastle::run(bench.options([turn])).await.unwrap_err();
    assert!(error.to_string().contains("exit code 7: the disk is full"), "{error}");
    assert!(bench.logged().contains("the disk is full"), "{}", bench.logged());
}

#[tokio::test]
async fn the_default_log_stays_out_of_git() {
    let repository = ScratchRepo::new().await.unwrap();
    let options =
        RunOptions::new(Scripted::answering("ok"), NoSandbox::new()).cwd(repository.path()).prompt("go");
    let state = tempfile::TempDir::new().unwrap();
    let result = sandcastle::run(options.env("HOME", state.path())).await.unwrap();
    assert!(result.log_file.unwrap().ends_with(".sandcastle/logs/main.log"));
    assert_eq!(repository.git(["status", "--porcelain"]).await.unwrap(), "");
}

#[tokio::test]
async fn a_session_is_resumed_and_forked_by_id_and_from_a_result() {
    let bench = Bench::new().await;
    let agent = bench.agent([say("one"), say("two"), say("three")]);
    let first = sandcastle::run(bench.options_of(agent)).await.unwrap();
    let id = first.session_id().unwrap().clone();

    let second = first.resume("go on").await.unwrap();
    assert_eq!((second.text.as_str(), second.session_id()), ("two", Some(&id)));

    let fork = second.fork("and then?").await.unwrap();
    assert_eq!(fork.text, "three");
    assert_ne!(fork.session_id(), Some(&id));
    assert_eq!(bench.prompts(&id).len(), 2, "the parent stays as it is");
    assert_eq!(bench.prompts(fork.session_id().unwrap()).last().unwrap(), "and then?");

    let unknown = bench.options([say("x")]).resume_session("no-such-session");
    assert_eq!(sandcastle::run(unknown).await.unwrap_err().kind(), ErrorKind::SessionNotFound);
}

#[tokio::test]
async fn case_117_a_resumed_session_works_in_the_same_folder() {
    let bench = Bench::new().await;
    let below = bench.repository.write("deep/er/x.txt", "x").unwrap();
    let turns = [Turn::new().shell("pwd >> here").say("one"), Turn::new().shell("pwd >> here").say("two")];
    let first = sandcastle::run(bench.options(turns).cwd(below.parent().unwrap())).await.unwrap();
    let second = first.resume("go on").await.unwrap();
    assert_eq!((second.text.as_str(), second.session_id()), ("two", first.session_id()));
    let here = std::fs::read_to_string(bench.repository.path().join("deep/er/here")).unwrap();
    let lines: Vec<&str> = here.lines().collect();
    assert!(lines.len() == 2 && lines[0] == lines[1] && lines[0].ends_with("deep/er"), "{here}");
}

#[tokio::test]
async fn case_122_two_forks_at_once_leave_their_parent_as_it_is() {
    let bench = Bench::new().await;
    let parent = sandcastle::run(bench.options([say("one"), say("two")])).await.unwrap();
    let id = parent.session_id().unwrap();
    let before = bench.prompts(id);
    let (left, right) = tokio::join!(parent.fork("left").into_future(), parent.fork("right").into_future());
    let (left, right) = (left.unwrap(), right.unwrap());
    assert_eq!(bench.prompts(id), before);
    let ids = [id, left.session_id().unwrap(), right.session_id().unwrap()];
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
    assert_eq!(bench.prompts(ids[1]).last().unwrap(), "left");
    assert_eq!(bench.prompts(ids[2]).last().unwrap(), "right");
}

#[tokio::test]
async fn an_agent_that_changes_the_branch_is_told_of() {
    let bench = Bench::new().await;
    let turn = Turn::new().shell("git checkout -q -b other").write_file("x", "1").commit("There").say("ok");
    let result = sandcastle::run(bench.options([turn])).await.unwrap();
    assert_eq!((result.branch.as_str(), result.commits[0].subject.as_str()), ("other", "There"));
    assert!(result.warnings[0].contains("left the branch `main` for `other`"), "{:?}", result.warnings);
}
