//! Whole runs of programs that print what Claude Code and Codex print: the rows of the field about streams.
//!
//! The program is a shell script in the agent's place, so all of the way is real but the model: process, pipe, decoder,
//! locator, verdict.

use std::fmt::Debug;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use sandcastle::{
    Agent, AgentOutput, ClaudeCode, Codex, Error, ErrorKind, Logging, NoSandbox, RunOptions, RunResult, Stage,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Bench, N};
use crate::support::process::Invocation;
use crate::support::requirement::variable;

const CODEX_ID: &str = "01a22a78-cd89-7501-878d-29e9d7ff0388";

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result")]
struct S {
    s: String,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, AgentOutput)]
#[output(tag = "result")]
struct L {
    items: Vec<i64>,
}

/// A bench with a program that reads all of its input and then does what the script says.
struct Stand {
    bench: Bench,
    script: PathBuf,
}

impl Stand {
    async fn new(script: &str) -> Self {
        let bench = Bench::new().await;
        let path = bench.state.path().join("agent.sh");
        fs::write(&path, format!("#!/bin/sh\nwc -c > \"${{0%/*}}/input\"\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Self { bench, script: path }
    }

    /// Prints these lines and exits with this code.
    async fn printing(lines: &str, code: u8) -> Self {
        let stand = Self::new(&format!("cat \"${{0%/*}}/stream\"\nexit {code}")).await;
        fs::write(stand.bench.state.path().join("stream"), lines).unwrap();
        stand
    }

    fn options(&self, agent: impl Agent + 'static) -> RunOptions {
        RunOptions::new(agent, NoSandbox::new())
            .cwd(self.bench.repository.path())
            .prompt("Answer as <result>JSON</result>.")
            .logging(Logging::file(self.bench.log()))
    }

    fn claude(&self) -> RunOptions {
        self.options(ClaudeCode::new("").program(&self.script))
    }

    fn codex(&self) -> RunOptions {
        self.options(Codex::new("").program(&self.script))
    }
}

fn recorded(agent_and_case: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/streams");
    fs::read_to_string(format!("{root}/{agent_and_case}.jsonl")).unwrap()
}

/// Runs Claude Code on a stream of the fixtures.
async fn claude<T: AgentOutput>(case: &str) -> Result<RunResult<T>, Error> {
    let stand = Stand::printing(&recorded(&format!("claude-code/2.1.197/{case}")), 0).await;
    sandcastle::run_with::<T>(stand.claude()).await
}

/// Runs Codex on a stream of the fixtures, which ends with this exit code.
async fn codex<T: AgentOutput>(case: &str, code: u8) -> Result<RunResult<T>, Error> {
    let stand = Stand::printing(&recorded(&format!("codex/0.171.0/{case}")), code).await;
    sandcastle::run_with::<T>(stand.codex()).await
}

/// The line in which Claude Code's main agent says this.
fn says(text: &str) -> String {
    json!({ "type": "assistant", "message": { "content": [{ "type": "text", "text": text }] } }).to_string()
}

/// The line in which a tool that Claude Code called has printed this.
fn tool_printed(text: &str) -> String {
    let result = json!({ "type": "tool_result", "tool_use_id": "t", "content": text });
    json!({ "type": "user", "message": { "role": "user", "content": [result] } }).to_string()
}

/// The line in which Claude Code ends its turn well.
fn ends(text: &str) -> String {
    json!({ "type": "result", "subtype": "success", "is_error": false, "result": text }).to_string()
}

#[track_caller]
fn stage_of<T: Debug>(run: Result<RunResult<T>, Error>) -> Stage {
    let error = run.unwrap_err();
    error.structured_output().unwrap_or_else(|| panic!("{error:#}")).stage()
}

#[tokio::test]
async fn case_010_a_block_split_over_two_messages_is_one() {
    let result = claude::<L>("case-010-answer-split-over-two-messages").await.unwrap();
    assert_eq!(result.output.items, [1, 2]);
    let tool_between = [says("<result>{\"n\""), tool_printed("</result>"), says(":4}</result>"), ends("")];
    let stand = Stand::printing(&tool_between.join("\n"), 0).await;
    assert_eq!(sandcastle::run_with::<N>(stand.claude()).await.unwrap().output.n, 4);
}

#[tokio::test]
async fn case_012_a_sign_off_behind_the_answer_hides_nothing() {
    assert_eq!(claude::<N>("case-012-sign-off-behind-the-answer").await.unwrap().output.n, 5);
    assert_eq!(claude::<N>("case-098-unknown-event-type").await.unwrap().output.n, 1);
}

#[tokio::test]
async fn case_013_the_result_of_a_sub_agent_neither_counts_nor_ends_the_run() {
    for case in [
        "case-013-sub-agent-ends-first",
        "case-013-result-of-another-session-first",
        "case-013-unmarked-result-first",
    ] {
        assert_eq!(claude::<N>(case).await.unwrap().output.n, 2, "{case}");
    }
    let alone = json!({
        "type": "assistant", "parent_tool_use_id": "toolu_9",
        "message": { "content": [{ "type": "text", "text": "<result>{\"n\":1}</result>" }] },
    });
    let stand = Stand::printing(&[alone.to_string(), says("Done."), ends("Done.")].join("\n"), 0).await;
    assert_eq!(stage_of(sandcastle::run_with::<N>(stand.claude()).await), Stage::Missing);
}

#[tokio::test]
async fn case_015_what_a_tool_prints_is_never_searched() {
    assert_eq!(stage_of(claude::<N>("case-015-tool-echoes-the-prompt").await), Stage::Missing);
    let item = |item| json!({ "type": "item.completed", "item": item }).to_string();
    let codex = [
        json!({ "type": "thread.started", "thread_id": CODEX_ID }).to_string(),
        item(json!({ "type": "command_execution", "aggregated_output": "<result>{\"n\":0}</result>" })),
        item(json!({ "type": "reasoning", "text": "<result>{\"n\":0}</result>" })),
        item(json!({ "type": "agent_message", "text": "Finished." })),
        json!({ "type": "turn.completed", "usage": {} }).to_string(),
    ];
    let stand = Stand::printing(&codex.join("\n"), 0).await;
    assert_eq!(stage_of(sandcastle::run_with::<N>(stand.codex()).await), Stage::Missing);
}

#[tokio::test]
async fn case_050_success_without_a_block_is_no_success() {
    assert_eq!(stage_of(claude::<N>("case-050-success-without-structured-output").await), Stage::Missing);
}

#[tokio::test]
async fn case_109_an_error_on_standard_output_is_what_the_user_sees() {
    for (case, said) in
        [("case-109-error-alone", "usage limit"), ("case-109-error-and-exit", "You've hit your usage limit.")]
    {
        let error = codex::<N>(case, 1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AgentFailed, "{error:#}");
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[tokio::test]
async fn case_111_a_failed_turn_with_exit_0_is_a_failure() {
    let error = codex::<N>("case-111-failed-turn-with-partial-text", 0).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AgentFailed, "{error:#}");
    assert!(error.to_string().contains("stream disconnected"), "{error}");
    assert_eq!(error.work().unwrap().text, "I have begun");
}

#[tokio::test]
async fn case_112_an_error_before_success_is_a_warning() {
    let result = codex::<N>("case-112-error-before-success", 0).await.unwrap();
    assert_eq!(result.output.n, 1);
    assert!(result.warnings.iter().any(|warning| warning.contains("reconnecting")), "{:?}", result.warnings);
}

#[tokio::test]
async fn case_114_the_last_count_of_a_thread_is_the_total() {
    let stand = Stand::printing(&recorded("codex/0.171.0/case-114-usage-of-the-whole-thread"), 0).await;
    let usage = sandcastle::run(stand.codex()).await.unwrap().usage;
    assert_eq!(usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens, 25);
}

#[tokio::test]
async fn case_116_the_session_is_named_in_results_and_in_errors() {
    let result = codex::<N>("case-112-error-before-success", 0).await.unwrap();
    assert_eq!(result.session_id().unwrap().as_str(), CODEX_ID);
    let error = codex::<N>("case-116-session-and-no-answer", 0).await.unwrap_err();
    assert_eq!(error.work().unwrap().session_id().unwrap().as_str(), CODEX_ID);
    let error = codex::<N>("text", 0).await.unwrap_err();
    let missing = error.structured_output().unwrap();
    assert_eq!((missing.stage(), missing.session_id.is_some()), (Stage::Missing, true));
}

#[tokio::test]
async fn case_166_an_agent_that_reads_its_input_to_the_end_can_begin() {
    let stand = Stand::printing(&recorded("codex/0.171.0/case-112-error-before-success"), 0).await;
    let run = tokio::time::timeout(Duration::from_secs(20), sandcastle::run_with::<N>(stand.codex())).await;
    assert_eq!(run.unwrap().unwrap().output.n, 1);
}

#[tokio::test]
async fn case_167_an_agent_that_sleeps_behind_its_result_gives_its_value() {
    let lines = [says("<result>{\"n\":5}</result>"), ends("<result>{\"n\":5}</result>")].join("\n");
    let stand = Stand::new(&format!("printf '%s\\n' '{lines}'\nexec sleep 600")).await;
    let options = stand.claude().completion_timeout(Duration::from_millis(300));
    let result = sandcastle::run_with::<N>(options).await.unwrap();
    assert_eq!(result.output.n, 5);
    assert!(result.warnings[0].contains("did not exit within"), "{:?}", result.warnings);
}

#[tokio::test]
async fn case_167_heartbeats_behind_the_result_do_not_put_off_the_end() {
    let lines = [says("<result>{\"n\":5}</result>"), ends("")].join("\n");
    for heartbeat in [r#"{"type":"system","subtype":"status"}"#, r#"{"type":"heartbeat"}"#, "still here"] {
        let script = format!("printf '%s\\n' '{lines}'\nwhile :; do echo '{heartbeat}'; sleep 0.05; done");
        let stand = Stand::new(&script).await;
        let options = stand.claude().completion_timeout(Duration::from_millis(300));
        let run = tokio::time::timeout(Duration::from_secs(20), sandcastle::run_with::<N>(options)).await;
        assert_eq!(run.expect(heartbeat).unwrap().output.n, 5);
    }
}

#[tokio::test]
async fn case_172_a_prompt_longer_than_an_argument_goes_by_the_input() {
    let long = format!("<result> {}", "x".repeat(300 * 1024));
    let lines = [says("<result>{\"n\":5}</result>"), ends("")].join("\n");
    let stand = Stand::printing(&lines, 0).await;
    for agent in ["claude", "codex"] {
        let run: RunOptions = if agent == "claude" {
            RunOptions::new(ClaudeCode::new("").program(&stand.script), NoSandbox::new())
        } else {
            RunOptions::new(Codex::new("").program(&stand.script), NoSandbox::new())
        };
        let run = run.cwd(stand.bench.repository.path()).logging(Logging::off()).prompt(&long);
        let ended = sandcastle::run(run).await;
        assert_eq!(ended.is_ok(), agent == "claude", "the lines are Claude Code's");
        let input = fs::read_to_string(stand.bench.state.path().join("input")).unwrap();
        assert_eq!(input.trim().parse::<usize>().unwrap(), long.len(), "{agent}");
    }
}

#[tokio::test]
async fn case_100_a_line_of_300_kilobytes_in_small_writes_is_one_line() {
    let text = format!("{}<result>{{\"s\":\"日本\"}}</result>", "日".repeat(100_000));
    let lines = [says(&text), ends("")].join("\n");
    let stand = Stand::new("dd if=\"${0%/*}/stream\" bs=8191 status=none").await;
    fs::write(stand.bench.state.path().join("stream"), lines).unwrap();
    assert_eq!(sandcastle::run_with::<S>(stand.claude()).await.unwrap().output.s, "日本");
}

#[tokio::test]
async fn case_101_a_tool_result_of_three_megabytes_is_an_ordinary_line() {
    let lines = [tool_printed(&"x".repeat(3 << 20)), says("<result>{\"n\":3}</result>"), ends("")].join("\n");
    let stand = Stand::printing(&lines, 0).await;
    assert_eq!(sandcastle::run_with::<N>(stand.claude()).await.unwrap().output.n, 3);
}

#[tokio::test]
async fn case_103_two_hundred_thousand_lines_are_no_limit() {
    let script = format!(
        "yes '{}' | head -n 200000\nprintf '%s\\n' '{}' '{}'",
        tool_printed("20 bytes of a tool.."),
        says("<result>{\"n\":3}</result>"),
        ends("")
    );
    let stand = Stand::new(&script).await;
    let result = sandcastle::run_with::<N>(stand.claude().logging(Logging::off())).await.unwrap();
    assert_eq!(result.output.n, 3);
}

/// Says that this process is the one whose memory is measured.
const MEASURED: &str = "SANDCASTLE_TEST_MEASURED";

/// Plays itself in a process of its own: the peak of one in which other tests run is theirs as well.
#[tokio::test]
async fn case_104_half_a_gigabyte_with_the_tag_at_its_end_takes_no_memory() {
    if variable(MEASURED).is_none() {
        let played = Invocation::of_this_test(MEASURED, "yes").run();
        assert!(played.status.success() && played.stdout.contains("1 passed"), "{played:?}");
        return;
    }
    let last = [says("<result>{\"n\":3}</result>"), ends("")].join("\n");
    let script = format!(
        "i=0; while [ $i -lt 500 ]; do cat \"${{0%/*}}/lines\"; i=$((i+1)); done; printf '%s\\n' '{}'",
        last.replace('\n', "' '")
    );
    let stand = Stand::new(&script).await;
    let lines = [tool_printed(&"x".repeat(900_000)), says(&"x".repeat(100_000)), String::new()].join("\n");
    fs::write(stand.bench.state.path().join("lines"), lines).unwrap();
    let result = sandcastle::run_with::<N>(stand.claude().logging(Logging::off())).await.unwrap();
    assert_eq!(result.output.n, 3);
    let peak = peak_mib();
    assert!(peak < 64, "{peak} MiB");
}

/// Reads the peak of the resident memory of this process.
fn peak_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[tokio::test]
async fn case_106_a_character_that_is_split_by_a_pause_is_whole() {
    let line = says("<result>{\"s\":\"日本\"}</result>");
    let at = line.find('日').unwrap() + 1;
    let stand = Stand::new("cat \"${0%/*}/a\"; sleep 0.2; cat \"${0%/*}/b\"").await;
    fs::write(stand.bench.state.path().join("a"), &line.as_bytes()[..at]).unwrap();
    let rest = [&line.as_bytes()[at..], b"\n", ends("").as_bytes()].concat();
    fs::write(stand.bench.state.path().join("b"), rest).unwrap();
    assert_eq!(sandcastle::run_with::<S>(stand.claude()).await.unwrap().output.s, "日本");
}

#[tokio::test]
async fn case_169_an_agent_that_falls_silent_is_ended_with_what_it_said() {
    let session = json!({ "type": "system", "subtype": "init", "session_id": "s-1" });
    let stand = Stand::new(&format!(
        "printf '%s\\n' '{session}' '{}'\ngit commit -q --allow-empty -m Work\nexec sleep 600",
        says("I have begun")
    ))
    .await;
    let options = stand.claude().idle_timeout(Duration::from_millis(700));
    let error = sandcastle::run_with::<N>(options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IdleTimeout);
    let work = error.work().unwrap();
    assert_eq!((work.text.as_str(), work.commits.len()), ("I have begun", 1));
    assert_eq!(work.session_id().unwrap().as_str(), "s-1");
}

#[tokio::test]
async fn policy_3_the_exit_code_is_weighed_against_the_completed_turn() {
    let whole = [says("<result>{\"n\":5}</result>"), ends("")].join("\n");
    let result = sandcastle::run_with::<N>(Stand::printing(&whole, 7).await.claude()).await.unwrap();
    assert!(result.warnings.iter().any(|warning| warning.contains("exit code 7")), "{:?}", result.warnings);
    let cut = says("<result>{\"n\":5}</result>");
    let error = sandcastle::run_with::<N>(Stand::printing(&cut, 7).await.claude()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AgentFailed);
    assert!(error.work().unwrap().text.contains("<result>{\"n\":5}</result>"));

    let item = json!({ "type": "agent_message", "text": "<result>{\"n\":5}</result>" });
    let codex = [
        json!({ "type": "turn.started" }).to_string(),
        json!({ "type": "item.completed", "item": item }).to_string(),
        json!({ "type": "turn.completed", "usage": {} }).to_string(),
        json!({ "type": "error", "message": "no farewell" }).to_string(),
    ];
    let result =
        sandcastle::run_with::<N>(Stand::printing(&codex.join("\n"), 1).await.codex()).await.unwrap();
    assert_eq!((result.output.n, result.warnings.len()), (5, 2), "{:?}", result.warnings);
}
