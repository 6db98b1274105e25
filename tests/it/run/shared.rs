//! A sandbox that several runs share.

use sandcastle::sandbox::Program;
use sandcastle::testing::{ScratchRepo, Turn};
use sandcastle::{
    CancellationToken, ErrorKind, Exit, Logging, NoSandbox, RunOptions, SandboxOptions, create_sandbox,
};

use super::{Bench, N, say};
use crate::support::processes::UniqueSleep;

const GOOD: &str = r#"<result>{"n":5}</result>"#;

#[tokio::test]
async fn case_119_each_run_in_one_sandbox_has_its_session_and_usage() {
    let bench = Bench::new().await;
    let sandbox =
        create_sandbox(SandboxOptions::new(NoSandbox::new()).cwd(bench.repository.path())).await.unwrap();
    let run = |turn| {
        let options = sandbox.options(bench.agent([turn])).prompt("in <result>").logging(Logging::off());
        sandbox.run_with::<N>(options)
    };
    let first = run(Turn::new().write_file("x", "1").commit("One").say(GOOD).usage(1, 2)).await.unwrap();
    let second = run(say(GOOD).usage(3, 4)).await.unwrap();
    assert_eq!((first.commits.len(), second.commits.len()), (1, 0));
    assert_eq!((first.usage.output_tokens, second.usage.output_tokens), (2, 4));
    assert!(first.session_id().is_some() && second.session_id().is_some());
    assert_ne!(first.session_id(), second.session_id());
    sandbox.close().await.unwrap();
}

#[tokio::test]
async fn a_sandbox_is_usable_after_a_cancelled_run() {
    let bench = Bench::new().await;
    let sandbox =
        create_sandbox(SandboxOptions::new(NoSandbox::new()).cwd(bench.repository.path())).await.unwrap();
    let sleep = UniqueSleep::new();
    let token = CancellationToken::new();
    let stuck = bench.options([Turn::new().say("x").shell(format!("sleep {}", sleep.seconds()))]);
    let run = tokio::spawn(sandbox.run(stuck.cancel(token.clone())));
    sleep.wait_for(1).await;
    token.cancel();
    assert!(run.await.unwrap().unwrap_err().is_cancelled());
    assert_eq!(sleep.alive(), 0);
    assert_eq!(sandbox.run(bench.options([say("again")])).await.unwrap().text, "again");
}

#[tokio::test]
async fn a_command_runs_to_its_end() {
    let bench = Bench::new().await;
    let below = bench.repository.write("deep/x", "1").unwrap();
    let sandbox =
        create_sandbox(SandboxOptions::new(NoSandbox::new().env("WORD", "hi")).cwd(below.parent().unwrap()))
            .await
            .unwrap();
    let program = Program::new("sh").args(["-c", "echo $WORD; cat x; echo trouble >&2; exit 3"]);
    let executed = sandbox.exec(program).await.unwrap();
    assert_eq!((executed.exit, executed.stdout.as_slice()), (Exit::Code(3), b"hi\n1".as_slice()));
    assert_eq!(executed.stderr, "trouble\n");
    let error = sandbox.exec(Program::new("no-such-program")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Sandbox);
    assert!(error.to_string().contains("`no-such-program`"), "{error}");
}

#[tokio::test]
async fn a_sandbox_belongs_to_one_work_tree() {
    let bench = Bench::new().await;
    let other = ScratchRepo::new().await.unwrap();
    let sandbox =
        create_sandbox(SandboxOptions::new(NoSandbox::new()).cwd(bench.repository.path())).await.unwrap();
    let error = sandbox.run(bench.options([say("x")]).cwd(other.path())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOptions);
    assert!(error.to_string().contains(&other.path().display().to_string()), "{error}");
    let nowhere =
        create_sandbox(SandboxOptions::new(NoSandbox::new()).cwd("/no/such/folder")).await.unwrap_err();
    assert_eq!(nowhere.kind(), ErrorKind::InvalidOptions);
}

/// What a sandbox shares and which variables it has are its own, and so is what is secret of them.
#[tokio::test]
async fn a_provider_that_the_options_name_counts_for_nothing() {
    let bench = Bench::new().await;
    let provider = NoSandbox::new().env("API_TOKEN", "of-the-sandbox-1234");
    let sandbox = create_sandbox(SandboxOptions::new(provider).cwd(bench.repository.path())).await.unwrap();
    let turn = Turn::new()
        .shell("test \"$API_TOKEN\" = of-the-sandbox-1234 && test -z \"$OTHER\"")
        .say("it is of-the-sandbox-1234");
    let another = NoSandbox::new().env("API_TOKEN", "of-another-5678").env("OTHER", "1");
    let options =
        RunOptions::new(bench.agent([turn]), another).prompt("go").logging(Logging::file(bench.log()));
    sandbox.run(options).await.unwrap();
    let logged = bench.logged();
    assert!(logged.contains("it is ") && !logged.contains("of-the-sandbox-1234"), "{logged}");
}
