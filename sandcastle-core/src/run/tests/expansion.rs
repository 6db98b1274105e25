//! Shell expressions of prompts.

use std::error::Error as _;
use std::time::{Duration, Instant};

use super::{Bench, hanging};
use crate::error::{Error, ErrorKind, Result};
use crate::id::BranchName;
use crate::prompt::{Branches, Filled, PromptSource};
use crate::run::deadline::Limits;
use crate::run::expansion::{Expanded, expand};
use crate::run::shell::CommandFailure;
use crate::sandbox::NoSandbox;
use crate::work::Exit;

fn filled(bench: &Bench, template: &str, arguments: &[(&str, &str)]) -> Filled {
    let file = bench.path("prompt.md");
    std::fs::write(&file, template).unwrap();
    let arguments: Vec<_> =
        arguments.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let branch = BranchName::from_git("main");
    let branches = Branches { source: &branch, target: &branch };
    PromptSource::File(file).read(&arguments).unwrap().fill(&branches)
}

async fn expanded(bench: &Bench, template: &str, arguments: &[(&str, &str)]) -> Result<Expanded> {
    expand(&filled(bench, template, arguments), &bench.inside(), &bench.bounds()).await
}

fn facts(error: &Error) -> CommandFailure {
    error.source().unwrap().downcast_ref::<CommandFailure>().unwrap().clone()
}

#[tokio::test]
async fn what_a_command_prints_is_put_in_its_place_and_never_read_again() {
    let bench = Bench::new().await;
    std::fs::write(bench.path("notes"), "{{A}} !`touch pwned` \\{{ $(touch pwned)\n\n \t\n").unwrap();
    let expanded =
        expanded(&bench, "a !`cat notes` b !`printf 12345678; echo` {{A}}", &[("A", "v")]).await.unwrap();
    assert_eq!(expanded.text, "a {{A}} !`touch pwned` \\{{ $(touch pwned) b 12345678 v");
    assert!(!bench.path("pwned").exists());
    let ran = [("cat notes".to_owned(), 10), ("printf 12345678; echo".to_owned(), 2)];
    assert_eq!(expanded.expressions, ran);
}

#[tokio::test]
async fn w_10_a_value_in_a_command_is_one_word_and_never_run() {
    let bench = Bench::new().await;
    let value = "x'; touch pwned; $(touch pwned) \"`touch pwned`\n-n";
    let expanded =
        expanded(&bench, "!`printf '<%s>' {{A}} \"{{A}}\" '{{A}}'`", &[("A", value)]).await.unwrap();
    assert_eq!(expanded.text, format!("<{value}>").repeat(3));
    assert!(!bench.path("pwned").exists());
}

#[tokio::test]
async fn a_prompt_without_expressions_starts_nothing() {
    let bench = Bench::with(NoSandbox::new().clear_env().env("PATH", "/nowhere")).await;
    let plain = expanded(&bench, "{{A}}", &[("A", "!`false`")]).await.unwrap();
    assert_eq!((plain.text.as_str(), plain.expressions.len()), ("!`false`", 0));
}

#[tokio::test]
async fn expressions_run_in_the_sandbox_with_its_folder_and_variables() {
    let mut bench = Bench::with(NoSandbox::new().env("OF_SANDBOX", "1")).await;
    bench.env.push(("OF_RUN".into(), "2".into()));
    let cwd = bench.folder.path().canonicalize().unwrap();
    let expanded = expanded(&bench, "!`pwd -P` !`echo $OF_SANDBOX$OF_RUN`", &[]).await.unwrap();
    assert_eq!(expanded.text, format!("{} 12", cwd.display()));
}

#[tokio::test]
async fn expressions_run_side_by_side_and_keep_their_order() {
    let bench = Bench::new().await;
    let begun = Instant::now();
    let template: String = (0..8).map(|n| format!("!`sleep 0.{}; echo {n}`", 9 - n)).collect();
    assert_eq!(expanded(&bench, &template, &[]).await.unwrap().text, "01234567");
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn more_expressions_than_run_at_once() {
    let bench = Bench::new().await;
    let template: String = (0..40).map(|n| format!("!`echo {n}`,")).collect();
    let expected: String = (0..40).map(|n| format!("{n},")).collect();
    assert_eq!(expanded(&bench, &template, &[]).await.unwrap().text, expected);
}

#[tokio::test]
async fn case_191_a_command_that_fails_names_itself_its_exit_and_its_place() {
    let bench = Bench::new().await;
    let error = expanded(&bench, "a\n !`echo oh no >&2; exit 7`", &[]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PromptExpansion);
    let said = error.to_string();
    assert!(said.contains("prompt.md:2:2: `echo oh no >&2; exit 7` ended with exit code 7 after "), "{said}");
    assert!(said.ends_with(": oh no"), "{said}");
    let facts = facts(&error);
    assert_eq!((facts.exit, facts.printed.as_str()), (Some(Exit::Code(7)), "oh no"));
    assert_eq!(facts.command, "echo oh no >&2; exit 7");
    assert!(facts.elapsed > Duration::ZERO && facts.limit == Duration::from_secs(30));
}

#[tokio::test]
async fn w_7_a_death_by_signal_is_a_failure() {
    let bench = Bench::new().await;
    let error = expanded(&bench, "x !`echo lost; kill -9 $$`", &[]).await.unwrap_err();
    assert_eq!(facts(&error).exit, Some(Exit::Signal(9)));
    assert!(error.to_string().contains("signal 9"), "{error}");
}

#[tokio::test]
async fn case_061_a_command_that_hangs_fails_fast_with_elapsed_and_limit() {
    let mut bench = Bench::new().await;
    bench.timeouts = bench.timeouts.prompt_expression(Duration::from_millis(400));
    let begun = Instant::now();
    let error = expanded(&bench, &format!("!`{}`", hanging("a")), &[]).await.unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(error.kind(), ErrorKind::StepTimeout);
    assert!(error.to_string().contains("took longer than 400ms and was ended after "), "{error}");
    let facts = facts(&error);
    assert_eq!(facts.limit, Duration::from_millis(400));
    assert!(facts.elapsed >= facts.limit && facts.exit.is_none());
    assert!(error.hints()[0].contains("prompt_expression"));
    bench.assert_gone(&["a.own", "a.child"]);
}

#[tokio::test]
async fn w_3_the_first_failure_ends_the_others_and_all_they_started() {
    let bench = Bench::new().await;
    let template = format!(
        "!`{}` !`{}` !`until test -s a.child && test -s b.child; do sleep 0.01; done; exit 3`",
        hanging("a"),
        hanging("b")
    );
    let begun = Instant::now();
    let error = expanded(&bench, &template, &[]).await.unwrap_err();
    assert_eq!(facts(&error).exit, Some(Exit::Code(3)));
    assert!(begun.elapsed() < Duration::from_secs(10));
    bench.assert_gone(&["a.own", "a.child", "b.own", "b.child"]);
}

#[tokio::test]
async fn w_3_cancelling_ends_the_commands() {
    let bench = Bench::new().await;
    let filled = filled(&bench, &format!("!`{}`", hanging("a")), &[]);
    let (shell, bounds) = (bench.inside(), bench.bounds());
    let cancel = async {
        bench.wait_for(&["a.own", "a.child"]).await;
        bench.cancel.cancel();
    };
    let (result, ()) = tokio::join!(expand(&filled, &shell, &bounds), cancel);
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Cancelled);
    bench.assert_gone(&["a.own", "a.child"]);
}

#[tokio::test]
async fn w_3_the_end_of_the_whole_run_ends_the_commands() {
    let mut bench = Bench::new().await;
    let second = Duration::from_secs(1);
    bench.limits = Limits::new(second, second, Some(second));
    let error = expanded(&bench, &format!("!`{}`", hanging("a")), &[]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TotalTimeout);
    bench.assert_gone(&["a.own", "a.child"]);
}

#[tokio::test]
async fn w_3_a_dropped_future_ends_the_commands() {
    let bench = Bench::new().await;
    let filled = filled(&bench, &format!("!`{}`", hanging("a")), &[]);
    let (shell, bounds) = (bench.inside(), bench.bounds());
    tokio::select! {
        result = expand(&filled, &shell, &bounds) => panic!("{result:?}"),
        () = bench.wait_for(&["a.own", "a.child"]) => {}
    }
    bench.assert_gone(&["a.own", "a.child"]);
}

#[tokio::test]
async fn what_a_command_leaves_in_the_background_is_ended() {
    let bench = Bench::new().await;
    let expanded =
        expanded(&bench, "!`sleep 1000 >&- 2>&- & echo $! > a.child; echo done`", &[]).await.unwrap();
    assert_eq!(expanded.text, "done");
    bench.assert_gone(&["a.child"]);
}

#[tokio::test]
async fn w_21_characters_cut_by_the_pipe_stay_whole_and_bad_bytes_are_marked() {
    let bench = Bench::new().await;
    let long = "日本".repeat(40_000);
    std::fs::write(bench.path("long"), &long).unwrap();
    let template = "!`cat long` !`printf '\\346'; sleep 0.1; printf '\\227\\245'` !`printf 'a\\377b\\0c'`";
    let text = expanded(&bench, template, &[]).await.unwrap().text;
    assert_eq!(text, format!("{long} 日 a\u{fffd}b\u{fffd}c"));
}

#[tokio::test]
async fn w_20_output_without_end_is_bounded() {
    let bench = Bench::new().await;
    let begun = Instant::now();
    let error = expanded(&bench, "!`yes`", &[]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PromptExpansion);
    assert!(error.to_string().contains("`yes` printed more than 1048576 bytes"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn hostile_output_of_a_failure_is_one_bounded_line() {
    let bench = Bench::new().await;
    let template = "!`printf '\\033[31mred\\nline ' >&2; head -c 100000 /dev/zero | tr '\\0' x >&2; printf END >&2; false`";
    let said = expanded(&bench, template, &[]).await.unwrap_err().to_string();
    assert!(said.len() < 1200 && said.ends_with("xEND"), "{said}");
    assert!(!said.contains(['\n', '\u{1b}']));
}

#[tokio::test]
async fn a_shell_that_is_not_there_is_named() {
    let bench = Bench::with(NoSandbox::new().clear_env().env("PATH", "/nowhere")).await;
    let error = expanded(&bench, "x !`true`", &[]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PromptExpansion);
    assert!(error.to_string().contains("could not be started"), "{error}");
}

#[tokio::test]
async fn a_prompt_that_turns_out_blank_is_refused() {
    let bench = Bench::new().await;
    let error = expanded(&bench, " !`true` ", &[]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Prompt);
}
