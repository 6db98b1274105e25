//! Time limits, cancelling and dropping: the agent and all it started are gone, the work is kept.

use std::time::{Duration, Instant};

use sandcastle::agent::{AgentCommand, AgentRequest, Capabilities, Decoder};
use sandcastle::event::FailureKind;
use sandcastle::testing::Turn;
use sandcastle::{
    Agent, AgentEvent, Cancellation, CancellationToken, ErrorKind, Exit, Liveness, Logging, NoSandbox,
    RunOptions,
};

use super::{Bench, N, Retried, say};
use crate::support::processes::UniqueSleep;

const GOOD: &str = r#"<result>{"n":5}</result>"#;

/// Commits, starts a tool in a session of its own, and then says nothing more.
fn stuck(sleep: &UniqueSleep) -> Turn {
    Turn::new()
        .write_file("x", "1")
        .commit("Work")
        .say("half")
        .shell(format!("setsid sleep {} </dev/null >/dev/null 2>&1 &", sleep.seconds()))
        .hang()
}

#[tokio::test]
async fn case_169_silence_ends_the_run_and_keeps_the_work() {
    let bench = Bench::new().await;
    let sleep = UniqueSleep::new();
    let options = bench.options([stuck(&sleep)]).idle_timeout(Duration::from_millis(600));
    let error = sandcastle::run_with::<N>(options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IdleTimeout);
    assert_eq!(sleep.alive(), 0);
    let work = error.work().unwrap();
    assert_eq!((work.commits.len(), work.text.as_str()), (1, "half"));
    assert!(work.session_id().is_some());
}

#[tokio::test]
async fn the_total_limit_ends_an_agent_that_keeps_talking() {
    let bench = Bench::new().await;
    let sleep = UniqueSleep::new();
    let turn = Turn::new()
        .shell(format!("setsid sleep {} </dev/null >/dev/null 2>&1 &", sleep.seconds()))
        .repeat("and so on ", u64::MAX / 2);
    let options = bench.options([turn]).total_timeout(Duration::from_millis(700));
    let error = sandcastle::run(options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TotalTimeout);
    assert_eq!(sleep.alive(), 0);
}

#[tokio::test]
async fn a_cancelled_run_leaves_no_process_behind() {
    let bench = Bench::new().await;
    let sleep = UniqueSleep::new();
    let token = CancellationToken::new();
    let run =
        tokio::spawn(sandcastle::run(bench.options([stuck(&sleep).ignore_stop()]).cancel(token.clone())));
    sleep.wait_for(1).await;
    token.cancel();
    let error = run.await.unwrap().unwrap_err();
    assert!(error.is_cancelled());
    assert_eq!(sleep.alive(), 0);
    assert_eq!(error.work().unwrap().commits.len(), 1);
}

#[tokio::test]
async fn a_dropped_run_leaves_no_process_behind() {
    let bench = Bench::new().await;
    let sleep = UniqueSleep::new();
    let mut run = Box::pin(sandcastle::run(bench.options([stuck(&sleep)])));
    tokio::select! {
        _ = &mut run => unreachable!("it hangs"),
        () = sleep.wait_for(1) => {}
    }
    drop(run);
    assert_eq!(sleep.alive(), 0);
    assert_eq!(bench.repository.git(["log", "-1", "--format=%s"]).await.unwrap(), "Work");
}

#[tokio::test]
async fn an_agent_that_ignores_the_request_is_killed() {
    let bench = Bench::new().await;
    let sleep = UniqueSleep::new();
    let begin = Turn::new().ignore_stop().shell(format!("sleep {} &", sleep.seconds())).say("x").hang();
    let options = bench.options([begin]).idle_timeout(Duration::from_millis(400));
    let begun = Instant::now();
    assert!(sandcastle::run(options).await.unwrap_err().is_timeout());
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    assert_eq!(sleep.alive(), 0);
}

#[tokio::test]
async fn case_167_an_agent_that_does_not_exit_gives_its_value() {
    let bench = Bench::new().await;
    let sleep = UniqueSleep::new();
    let turn = say(GOOD).complete().shell(format!("sleep {} & wait", sleep.seconds()));
    let options = bench.options([turn]).completion_timeout(Duration::from_millis(300));
    let result = sandcastle::run_with::<N>(options).await.unwrap();
    assert_eq!(result.output.n, 5);
    assert_eq!(result.iterations[0].exit, Exit::Ended);
    assert!(result.warnings[0].contains("did not exit within"), "{:?}", result.warnings);
    assert_eq!(sleep.alive(), 0);
}

#[tokio::test]
async fn w_17_a_signal_shortens_the_wait_for_an_agent_that_hangs() {
    let bench = Bench::new().await;
    let options = bench.options([say("all done <promise>COMPLETE</promise>").hang()]);
    let options = options.completion_timeout(Duration::from_millis(300)).max_iterations(3);
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!(result.iterations.len(), 1);
    assert!(result.completion_signal.is_some());
}

#[tokio::test]
async fn w_17_an_agent_that_speaks_of_the_signal_is_not_ended_amid_its_work() {
    let bench = Bench::new().await;
    let turn = say("I will say <promise>COMPLETE</promise> when the build is through.")
        .tool("Bash", serde_json::json!({ "command": "make" }))
        .sleep(Duration::from_millis(900))
        .write_file("built", "1")
        .commit("Built")
        .say("It is.");
    let options = bench.options([turn]).completion_timeout(Duration::from_millis(300));
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!((result.commits.len(), result.iterations[0].exit), (1, Exit::Code(0)));
    assert_eq!(result.warnings, Vec::<String>::new());
}

#[tokio::test]
async fn w_54_a_build_that_prints_nothing_is_work_if_the_processor_counts() {
    let bench = Bench::new().await;
    let build = "timeout 3 sh -c 'while :; do :; done'; true";
    let turn =
        || Turn::new().tool("Bash", serde_json::json!({ "command": "make" })).shell(build).say("built");
    let options = |turn: Turn| bench.options([turn]).idle_timeout(Duration::from_millis(400));
    let error = sandcastle::run(options(turn())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IdleTimeout, "{error:#}");
    let result = sandcastle::run(options(turn()).liveness(Liveness::Processor)).await.unwrap();
    assert_eq!(result.text, "built");
    // It ends while it is watched.
    let brief = Turn::new().shell("timeout 1 sh -c 'while :; do :; done'; true").say("brief");
    let result = sandcastle::run(options(brief).liveness(Liveness::Processor)).await.unwrap();
    assert_eq!(result.text, "brief");
    let error = sandcastle::run(options(Turn::new().hang()).liveness(Liveness::Processor)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IdleTimeout, "{error:#}");
}

#[tokio::test]
async fn what_a_finished_agent_leaves_behind_is_ended_and_told() {
    let bench = Bench::new().await;
    let sleep = UniqueSleep::new();
    let turn =
        Turn::new().shell(format!("setsid sleep {} </dev/null >/dev/null 2>&1 &", sleep.seconds())).say(GOOD);
    let result = sandcastle::run_with::<N>(bench.options([turn])).await.unwrap();
    assert_eq!(result.iterations[0].exit, Exit::Code(0));
    assert!(result.warnings[0].contains("left behind"), "{:?}", result.warnings);
    assert_eq!(sleep.alive(), 0);
}

#[tokio::test]
async fn an_agents_words_stay_on_the_line_of_the_error() {
    let bench = Bench::new().await;
    for kind in [FailureKind::Other, FailureKind::SessionNotFound] {
        let turn = Turn::new().fail(kind, "a\nb\u{1b}[31mc");
        let error = sandcastle::run(bench.options([turn])).await.unwrap_err();
        assert!(!error.to_string().contains(char::is_control), "{error:?}");
    }
}

#[tokio::test]
async fn what_hides_its_environment_is_found_in_the_group() {
    let bench = Bench::new().await;
    let sleep = UniqueSleep::new();
    let shell = format!("env -i sleep {} </dev/null >/dev/null 2>&1 &", sleep.seconds());
    let turn = Turn::new().shell(shell).say(GOOD);
    sandcastle::run_with::<N>(bench.options([turn])).await.unwrap();
    assert_eq!(sleep.alive(), 0);
}

#[tokio::test]
async fn what_is_born_while_it_is_looked_for_is_ended_too() {
    let bench = Bench::new().await;
    let file = bench.state.path().join("beat");
    // Each generation lives for some milliseconds, and only to start the next one.
    let chain = "f() { sleep 0.005; echo >\"$1\"; (f \"$1\") & }";
    let shell = format!("setsid sh -c '{chain}; f \"{}\"' </dev/null >/dev/null 2>&1 &", file.display());
    for _ in 0..5 {
        let turn = Turn::new().shell(&shell).sleep(Duration::from_millis(50)).say(GOOD);
        sandcastle::run_with::<N>(bench.options([turn])).await.unwrap();
        std::fs::remove_file(&file).unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(!file.exists(), "a process goes on");
    }
}

#[tokio::test]
async fn cancelling_a_retry_keeps_what_the_first_answer_lacked() {
    let bench = Bench::new().await;
    let sleep = UniqueSleep::new();
    let token = CancellationToken::new();
    let turns = [say(r#"<result>{"n":"x"}</result>"#), stuck(&sleep)];
    let run = tokio::spawn(sandcastle::run_with::<Retried>(bench.options(turns).cancel(token.clone())));
    sleep.wait_for(1).await;
    token.cancel();
    let error = run.await.unwrap().unwrap_err();
    assert!(error.is_cancelled());
    assert_eq!(error.structured_output().unwrap().raw_matched.as_deref(), Some(r#"{"n":"x"}"#));
    assert_eq!(sleep.alive(), 0);
}

#[tokio::test]
async fn case_172_a_long_prompt_arrives() {
    let bench = Bench::new().await;
    let long = "word ".repeat(60_000);
    let agent = bench.agent([say("ok")]);
    let options = RunOptions::new(agent, NoSandbox::new())
        .cwd(bench.repository.path())
        .logging(Logging::off())
        .prompt(&long);
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!(bench.prompts(result.session_id().unwrap())[0].trim_end(), long.trim_end());
}

/// Says something when it is asked to stop.
#[derive(Debug)]
struct Dying(String);

impl Agent for Dying {
    fn name(&self) -> &str {
        "dying"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none()
    }

    fn command(&self, _: &AgentRequest<'_>) -> sandcastle::Result<AgentCommand> {
        let program = format!("echo half; trap 'echo the rest; exit 1' TERM; sleep {} & wait", self.0);
        Ok(AgentCommand::new("sh").args(["-c", &program]))
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        struct Words;
        impl Decoder for Words {
            fn line(&mut self, line: &[u8], events: &mut Vec<AgentEvent>) {
                events.push(AgentEvent::Text { text: format!("{}. ", String::from_utf8_lossy(line)) });
            }
        }
        Box::new(Words)
    }
}

#[tokio::test]
async fn the_last_words_of_an_agent_that_is_ended_are_heard() {
    let bench = Bench::new().await;
    let sleep = UniqueSleep::new();
    let options = RunOptions::new(Dying(sleep.seconds().to_owned()), NoSandbox::new())
        .cwd(bench.repository.path())
        .logging(Logging::off())
        .prompt("go");
    let token = CancellationToken::new();
    let run = tokio::spawn(sandcastle::run(options.cancel(token.clone())));
    sleep.wait_for(1).await;
    token.cancel();
    let error = run.await.unwrap().unwrap_err();
    assert!(error.is_cancelled(), "{error}");
    assert_eq!(error.work().unwrap().text, "half. the rest. ");
    assert_eq!(sleep.alive(), 0);
}

#[tokio::test]
async fn row_015_the_reason_of_a_cancel_is_in_the_error_and_told_as_it_was_given() {
    let reason = "superseded by\nbuild 7 of t0k3n-val";
    let bench = Bench::new().await;
    let sleep = UniqueSleep::new();
    let (early, stop) = (Cancellation::new(), Cancellation::new());
    early.cancel(reason);
    let refused = sandcastle::run(bench.options([say("x")]).cancel(early)).await.unwrap_err();
    assert!(
        refused.to_string().ends_with("before it began: superseded by build 7 of t0k3n-val"),
        "{refused}"
    );
    let options = bench.options([stuck(&sleep)]).secret("t0k3n-val").cancel(stop.clone());
    let run = tokio::spawn(sandcastle::run(options));
    sleep.wait_for(1).await;
    stop.cancel(reason);
    let error = run.await.unwrap().unwrap_err();
    assert!(error.is_cancelled(), "{error}");
    assert!(error.to_string().ends_with("the run was cancelled: superseded by build 7 of ***"), "{error}");
    assert_eq!((stop.reason(), sleep.alive()), (Some(reason), 0));
}
