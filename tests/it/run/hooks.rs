//! Hooks, copied files, environment and prompts, as a run puts them together.

use std::time::{Duration, Instant};

use sandcastle::testing::Turn;
use sandcastle::{BranchStrategy, ErrorKind, Hook, Hooks, NoSandbox, RunOptions, Timeouts};

use super::{Bench, N, say};
use crate::support::processes::UniqueSleep;

fn merged(options: RunOptions) -> RunOptions {
    options.branch_strategy(BranchStrategy::merge_to_head())
}

#[tokio::test]
async fn hooks_run_in_order_before_the_agent() {
    let bench = Bench::new().await;
    bench.repository.write(".gitignore", "cache/\n").unwrap();
    bench.repository.write("cache/deep/x.json", "{}").unwrap();
    bench.repository.git(["add", ".gitignore"]).await.unwrap();
    bench.repository.git(["commit", "-qm", "Ignore"]).await.unwrap();
    let hooks = Hooks::new()
        .host_worktree_ready("test -f cache/deep/x.json && echo worktree >>cache/order")
        .host_worktree_ready("echo second >>cache/order")
        .sandbox_ready("sleep 0.2; echo sandbox >>cache/order");
    let turn = Turn::new().shell("cp cache/order order; git add order").commit("Order").say("ok");
    let options = merged(bench.options([turn])).hooks(hooks).copy_to_worktree(["cache/deep/x.json"]);
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!(result.preserved_worktree, None, "ignored files keep no worktree");
    let order = std::fs::read_to_string(bench.repository.path().join("order")).unwrap();
    assert_eq!(order, "worktree\nsecond\nsandbox\n");
}

#[tokio::test]
async fn w_13_w_57_a_hook_that_fails_ends_the_run_before_the_agent_and_leaves_nothing() {
    let bench = Bench::new().await;
    for hooks in [
        Hooks::new().host_worktree_ready("echo trouble >&2; exit 7"),
        Hooks::new().host_sandbox_ready("echo trouble >&2; exit 7"),
        Hooks::new().sandbox_ready("echo trouble >&2; exit 7"),
    ] {
        let options =
            merged(bench.options([Turn::new().shell("touch /tmp/never-started").say("ok")])).hooks(hooks);
        let error = sandcastle::run(options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Hook, "{error:#}");
        let shown = format!("{error:#}");
        assert!(shown.contains("exit 7") && shown.contains("trouble"), "{shown}");
        assert!(error.work().unwrap().iterations.is_empty());
    }
    let branches = bench.repository.git(["branch", "--format=%(refname:short)"]).await.unwrap();
    assert_eq!(branches, "main");
    let worktrees = bench.repository.git(["worktree", "list"]).await.unwrap();
    assert_eq!(worktrees.lines().count(), 1);
}

#[tokio::test]
async fn case_171_a_hook_that_hangs_is_ended_with_its_children() {
    let bench = Bench::new().await;
    let sleep = UniqueSleep::new();
    let command = format!("setsid sleep {0} & sleep {0}", sleep.seconds());
    let hooks = Hooks::new().sandbox_ready(Hook::new(command).timeout(Duration::from_millis(400)));
    let error = sandcastle::run(merged(bench.options([say("ok")])).hooks(hooks)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StepTimeout, "{error:#}");
    assert!(error.to_string().contains("400ms"), "{error}");
    assert_eq!(sleep.alive(), 0);
}

#[tokio::test]
async fn w_37_a_hook_is_ended_when_the_run_is_cancelled() {
    let bench = Bench::new().await;
    let sleep = UniqueSleep::new();
    let token = sandcastle::CancellationToken::new();
    let hooks = Hooks::new().host_worktree_ready(format!("sleep {}", sleep.seconds()));
    let options = merged(bench.options([say("ok")])).hooks(hooks).cancel(token.clone());
    let run = tokio::spawn(sandcastle::run(options));
    sleep.wait_for(1).await;
    token.cancel();
    assert!(run.await.unwrap().unwrap_err().is_cancelled());
    assert_eq!(sleep.alive(), 0);
}

#[tokio::test]
async fn copying_into_the_users_own_tree_is_refused() {
    let bench = Bench::new().await;
    let error = sandcastle::run(bench.options([say("ok")]).copy_to_worktree(["x"])).await.unwrap_err();
    assert!(error.is_entry_check(), "{error:#}");
    assert!(error.to_string().contains("copy_to_worktree"), "{error}");
}

#[tokio::test]
async fn case_138_a_file_to_copy_that_is_missing_is_named() {
    let bench = Bench::new().await;
    let error =
        sandcastle::run(merged(bench.options([say("ok")])).copy_to_worktree(["no/such"])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Copy, "{error:#}");
    assert!(error.to_string().contains("no/such"), "{error}");
    let worktrees = bench.repository.git(["worktree", "list"]).await.unwrap();
    assert_eq!(worktrees.lines().count(), 1);
}

#[tokio::test]
async fn case_183_the_agent_gets_the_declared_variables_and_no_others() {
    let bench = Bench::new().await;
    bench.repository.write(".env", "AWS_KEY=x\n").unwrap();
    bench.repository.write(".sandcastle/.env", "WORD='v1'\nOTHER=\"v2\"\nEMPTY=\n").unwrap();
    let turn =
        Turn::new().shell(r#"echo "$WORD $OTHER ${AWS_KEY-none} ${EMPTY-unset} $RUN" >seen"#).say("ok");
    let sandbox = NoSandbox::new().clear_env().env("PATH", "/usr/bin:/bin").env("OTHER", "sandbox");
    let options = RunOptions::new(bench.agent([turn]), sandbox)
        .cwd(bench.repository.path())
        .prompt("x")
        .env("RUN", "run");
    sandcastle::run(options).await.unwrap();
    let seen = std::fs::read_to_string(bench.repository.path().join("seen")).unwrap();
    assert_eq!(seen, "v1 sandbox none unset run\n");
}

#[tokio::test]
async fn case_181_a_secret_is_masked_in_log_and_error_and_not_in_the_value() {
    let bench = Bench::new().await;
    let secret = "s3cret-value-0123456789";
    let turn = Turn::new()
        .say_pieces([
            "it is s3cret-va",
            "lue-0123456789. ",
            "<result>{\"n\":5,\"x\":\"s3cret-value-0123456789\"}",
        ])
        .say("</result>");
    let options = bench.options([turn]).env("API_TOKEN", secret);
    let result = sandcastle::run_spec(
        options,
        sandcastle::OutputSpec::json("result", serde_json::json!({ "type": "object" })).unwrap(),
    );
    let result = result.await.unwrap();
    assert_eq!(result.output["x"], secret);
    assert!(!bench.logged().contains(secret), "{}", bench.logged());
    let failing =
        bench.options([Turn::new().stderr(format!("bad key {secret}")).exit(3)]).env("API_TOKEN", secret);
    let error = sandcastle::run_with::<N>(failing).await.unwrap_err();
    assert!(!format!("{error:#}").contains(secret), "{error:#}");
    assert!(!bench.logged().contains(secret), "{}", bench.logged());
}

#[tokio::test]
async fn case_191_an_expression_that_fails_ends_the_run_before_the_agent() {
    let bench = Bench::new().await;
    let file = bench.repository.write("prompt.md", "first\nsee !`echo trouble >&2; exit 7`\n").unwrap();
    let options = RunOptions::new(bench.agent([say("ok")]), NoSandbox::new()).cwd(bench.repository.path());
    let error = sandcastle::run(options.prompt_file(file)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PromptExpansion, "{error:#}");
    let shown = format!("{error:#}");
    assert!(
        shown.contains("exit 7") && shown.contains("trouble") && shown.contains("prompt.md:2"),
        "{shown}"
    );
    assert!(error.work().unwrap().iterations.is_empty());
}

#[tokio::test]
async fn case_61_an_expression_that_takes_too_long_names_its_limit() {
    let bench = Bench::new().await;
    let sleep = UniqueSleep::new();
    let file = bench.repository.write("prompt.md", format!("see !`sleep {}`", sleep.seconds())).unwrap();
    let options = RunOptions::new(bench.agent([say("ok")]), NoSandbox::new()).cwd(bench.repository.path());
    let options =
        options.prompt_file(file).timeouts(Timeouts::default().prompt_expression(Duration::from_millis(300)));
    let begun = Instant::now();
    let error = sandcastle::run(options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StepTimeout, "{error:#}");
    assert!(error.to_string().contains("300ms"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(sleep.alive(), 0);
}

#[tokio::test]
async fn case_187_w_10_values_stay_data_inside_expressions_too() {
    let bench = Bench::new().await;
    let evil = "x'; touch pwned; echo '$(touch pwned) `touch pwned` !`touch pwned`";
    let file = bench.repository.write("prompt.md", "{{T}} and !`printf %s {{T}}` <result>").unwrap();
    let agent = bench.agent([say(r#"<result>{"n":5}</result>"#)]);
    let options = RunOptions::new(agent, NoSandbox::new()).cwd(bench.repository.path()).prompt_file(file);
    let result = sandcastle::run_with::<N>(options.prompt_arg("T", evil)).await.unwrap();
    let prompts = bench.prompts(result.session_id().unwrap());
    assert_eq!(prompts, [format!("{evil} and {evil} <result>")]);
    assert!(!bench.repository.path().join("pwned").exists());
}

#[tokio::test]
async fn the_tag_may_come_out_of_an_expression() {
    let bench = Bench::new().await;
    let file = bench.repository.write("prompt.md", "answer !`printf '<%s>' result`").unwrap();
    let agent = bench.agent([say(r#"<result>{"n":5}</result>"#)]);
    let options = RunOptions::new(agent, NoSandbox::new()).cwd(bench.repository.path()).prompt_file(file);
    assert_eq!(sandcastle::run_with::<N>(options).await.unwrap().output.n, 5);
    let file = bench.repository.write("prompt.md", "answer !`printf nothing`").unwrap();
    let agent = bench.agent([say(r#"<result>{"n":5}</result>"#)]);
    let options = RunOptions::new(agent, NoSandbox::new()).cwd(bench.repository.path()).prompt_file(file);
    let error = sandcastle::run_with::<N>(options).await.unwrap_err();
    assert!(error.to_string().contains("<result>"), "{error}");
    assert!(error.work().is_none_or(|work| work.iterations.is_empty()));
}

#[tokio::test]
async fn case_165_the_configuration_is_that_of_the_main_tree() {
    let bench = Bench::new().await;
    bench.repository.write(".sandcastle/.env", "WORD=main\n").unwrap();
    let linked = bench.state.path().join("linked");
    bench.repository.git(["worktree", "add", "-q", linked.to_str().unwrap()]).await.unwrap();
    let turn = || Turn::new().shell(r#"echo "$WORD" >seen; git add seen"#).commit("Seen").say("ok");
    for strategy in [BranchStrategy::head(), BranchStrategy::merge_to_head()] {
        let options = bench.options([turn()]).cwd(&linked).branch_strategy(strategy);
        sandcastle::run(options).await.unwrap();
        assert_eq!(std::fs::read_to_string(linked.join("seen")).unwrap(), "main\n");
        bench
            .repository
            .git(["-C", linked.to_str().unwrap(), "reset", "-q", "--hard", "HEAD~1"])
            .await
            .unwrap();
    }
    assert!(!linked.join(".sandcastle").exists());
}

#[tokio::test]
async fn w_14_an_agent_without_a_home_commits_as_the_user_and_no_configuration_is_written() {
    let bench = Bench::new().await;
    let home = bench.state.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let turn = Turn::new().write_file("x", "1").commit("Work").say("ok");
    let sandbox = NoSandbox::new().clear_env().env("PATH", "/usr/bin:/bin").env("HOME", &home);
    let options = RunOptions::new(bench.agent([turn]), sandbox).cwd(bench.repository.path()).prompt("x");
    bench.repository.git(["config", "--unset", "user.name"]).await.unwrap();
    merged(options).await.unwrap();
    let author = bench.repository.git(["log", "-1", "--format=%an <%ae>"]).await.unwrap();
    assert!(author.ends_with(" <scratch@example.invalid>"), "{author}");
    assert_eq!(std::fs::read_dir(&home).unwrap().count(), 0);
}
