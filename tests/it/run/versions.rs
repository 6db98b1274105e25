//! Structured output of programs that print what Claude Code and Codex print: which version it takes, what shows that a schema
//! was dropped, and where the value is.
//!
//! The program is a shell script that keeps a list of how it was started. All of the way is real but the model.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use sandcastle::{
    Agent, AnswerGuarantee, AttemptOutcome, BranchStrategy, ClaudeCode, Codex, Error, ErrorKind, Hooks,
    Logging, NoSandbox, OutputStrategy, RunOptions, RunResult, Stage, Support,
};
use serde_json::{Value, json};

use super::{Bench, N, Retried};

use OutputStrategy::{Auto, Native, Tag};

const CODEX_ID: &str = "01a22a78-cd89-7501-878d-29e9d7ff0388";
pub(super) const TAGGED: &str = "Answer as <result>JSON</result>.";
pub(super) const UNTAGGED: &str = "Count.";
pub(super) const GOOD: &str = r#"<result>{"n":5}</result>"#;

/// A program that prints a version, and in its turns what it is told to.
pub(super) struct Stand {
    pub(super) bench: Bench,
    pub(super) program: PathBuf,
}

impl Stand {
    /// `version` is a shell command. A turn that goes on with a session prints the second text.
    pub(super) async fn new(version: &str, fresh: &str, resumed: &str) -> Self {
        let bench = Bench::new().await;
        let program = bench.state.path().join("agent.sh");
        let script = format!(
            "#!/bin/sh\nd=${{0%/*}}\n\
             if [ \"$*\" = --version ]; then echo version >>\"$d/calls\"; {version}; exit; fi\n\
             echo \"$*\" >>\"$d/calls\"\ncat >/dev/null\n\
             case \" $* \" in *resume*) cat \"$d/resumed\" ;; *) cat \"$d/fresh\" ;; esac\n"
        );
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(bench.state.path().join("fresh"), fresh).unwrap();
        fs::write(bench.state.path().join("resumed"), resumed).unwrap();
        Self { bench, program }
    }

    pub(super) async fn codex(version: &str, fresh: &str, resumed: &str) -> Self {
        Self::new(&format!("echo codex-cli {version}"), &codex_says(fresh), &codex_says(resumed)).await
    }

    /// Prints these lines in its first turn.
    async fn claude(lines: &[Value]) -> Self {
        let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
        Self::new("echo '2.1.197 (Claude Code)'", &(lines.join("\n") + "\n"), "").await
    }

    pub(super) fn options(&self, agent: impl Agent, strategy: OutputStrategy, prompt: &str) -> RunOptions {
        RunOptions::new(agent, NoSandbox::new())
            .cwd(self.bench.repository.path())
            .prompt(prompt)
            .output_strategy(strategy)
            .logging(Logging::off())
    }

    pub(super) fn by_codex(&self, strategy: OutputStrategy, prompt: &str) -> RunOptions {
        self.options(Codex::new("").program(&self.program), strategy, prompt)
    }

    async fn by_claude(&self, strategy: OutputStrategy, prompt: &str) -> Result<RunResult<N>, Error> {
        let agent = ClaudeCode::new("").program(&self.program);
        sandcastle::run_with::<N>(self.options(agent, strategy, prompt)).await
    }

    /// How it was started, time by time.
    pub(super) fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.bench.state.path().join("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    /// Whether each of its turns had a schema.
    pub(super) fn schemas(&self) -> Vec<bool> {
        let turns = self.calls().into_iter().filter(|call| call != "version");
        turns.map(|call| call.contains("--output-schema") || call.contains("--json-schema")).collect()
    }
}

/// A turn of Codex that ends well with this message.
fn codex_says(text: &str) -> String {
    codex_turn(&[text])
}

/// A turn of Codex that ends well, with these messages.
pub(super) fn codex_turn(messages: &[&str]) -> String {
    let begun =
        [json!({ "type": "thread.started", "thread_id": CODEX_ID }), json!({ "type": "turn.started" })];
    let said = messages.iter().map(|text| {
        json!({ "type": "item.completed", "item": { "id": "item_0", "type": "agent_message", "text": text } })
    });
    let lines = begun.into_iter().chain(said).chain([json!({ "type": "turn.completed", "usage": {} })]);
    lines.map(|line| line.to_string() + "\n").collect()
}

fn claude_begins(tools: &[&str]) -> Value {
    json!({ "type": "system", "subtype": "init", "session_id": "s-1", "tools": tools })
}

fn claude_says(text: &str) -> Value {
    json!({ "type": "assistant", "session_id": "s-1", "message": { "content": [{ "type": "text", "text": text }] } })
}

fn claude_ends(more: &Value) -> Value {
    let mut end = json!({ "type": "result", "subtype": "success", "is_error": false, "session_id": "s-1", "result": "" });
    end.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    end
}

#[track_caller]
pub(super) fn stage_of<T: std::fmt::Debug>(run: Result<RunResult<T>, Error>) -> Stage {
    let error = run.unwrap_err();
    error.structured_output().unwrap_or_else(|| panic!("{error:#}")).stage()
}

/// It is an entry check, though only the sandbox can tell: nothing is asked, and nothing stays.
#[tokio::test]
async fn a_program_that_is_too_old_is_asked_for_its_version_and_for_nothing_else() {
    let expected = [
        (Native, TAGGED, ErrorKind::InvalidOptions),
        (Native, UNTAGGED, ErrorKind::InvalidOptions),
        (Auto, UNTAGGED, ErrorKind::Prompt),
    ];
    for (strategy, prompt, kind) in expected {
        let stand = Stand::codex("0.79.0", r#"{"n":5}"#, "").await;
        for branches in
            [BranchStrategy::head(), BranchStrategy::merge_to_head(), BranchStrategy::branch("agent/new")]
        {
            let hooks = Hooks::new().host_worktree_ready("echo 1 >by-a-hook");
            let hooks = if branches == BranchStrategy::head() { Hooks::new() } else { hooks };
            let options = stand.by_codex(strategy, prompt).branch_strategy(branches.clone()).hooks(hooks);
            let error = sandcastle::run_with::<N>(options).await.unwrap_err();
            assert_eq!((error.kind(), error.is_entry_check()), (kind, true), "{error:#}");
            let message = error.to_string();
            for part in ["the agent `codex`", "0.79.0", "0.80.0", strategy.as_str()] {
                assert!(message.contains(part), "{message}");
            }
            let work = error.work().unwrap();
            assert_eq!((work.iterations.len(), &work.preserved_worktree), (0, &None), "{error:#}");
            assert_eq!(stand.bench.left_over().await, (vec![], 0), "{branches:?}");
        }
        assert_eq!(stand.calls(), ["version"; 3]);
    }
}

#[tokio::test]
async fn a_branch_that_was_there_and_its_worktree_stay_when_a_program_is_too_old() {
    let stand = Stand::codex("0.79.0", r#"{"n":5}"#, "").await;
    stand.bench.git(["branch", "agent/there"]).await;
    let top = stand.bench.repository.path().join("there");
    stand.bench.git(["worktree", "add", "-q", top.to_str().unwrap(), "agent/there"]).await;
    fs::write(top.join("half"), "done").unwrap();
    let options = stand.by_codex(Native, UNTAGGED).branch_strategy(BranchStrategy::branch("agent/there"));
    let error = sandcastle::run_with::<N>(options).await.unwrap_err();
    assert!(error.is_entry_check(), "{error:#}");
    assert_eq!(stand.bench.left_over().await, (vec!["agent/there".to_owned()], 1));
    assert_eq!(fs::read_to_string(top.join("half")).unwrap(), "done");
}

/// What commands in a prompt do is not done in vain.
#[tokio::test]
async fn the_version_is_asked_for_before_the_commands_in_a_prompt() {
    let stand = Stand::codex("0.79.0", r#"{"n":5}"#, "").await;
    let file = stand.bench.repository.write("prompt.md", "see !`touch ran; echo '<result>'`").unwrap();
    let options = |strategy| {
        RunOptions::new(Codex::new("").program(&stand.program), NoSandbox::new())
            .cwd(stand.bench.repository.path())
            .prompt_file(&file)
            .output_strategy(strategy)
            .logging(Logging::off())
    };
    let error = sandcastle::run_with::<N>(options(Native)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOptions, "{error:#}");
    assert!(!stand.bench.exists("ran"));
    // What they print may name the tag, so `auto` waits for it.
    let error = sandcastle::run_with::<N>(options(Auto)).await.unwrap_err();
    assert_eq!(stage_of::<()>(Err(error)), Stage::Missing);
    assert!(stand.bench.exists("ran"));
    assert_eq!(stand.schemas(), [false]);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_no_matter_of_its_version() {
    let bench = Bench::new().await;
    for strategy in [Native, Auto] {
        let agent = Codex::new("").program("/nowhere/codex");
        let options = bench.asked(agent, strategy, TAGGED).branch_strategy(BranchStrategy::merge_to_head());
        let error = sandcastle::run_with::<N>(options).await.unwrap_err();
        assert_eq!((error.kind(), error.is_entry_check()), (ErrorKind::AgentStart, false), "{error:#}");
        assert!(error.to_string().contains("`/nowhere/codex --version` could not be started"), "{error}");
        assert_eq!(bench.left_over().await, (vec![], 0));
    }
}

#[tokio::test]
async fn auto_asks_a_program_that_is_too_old_by_the_tag() {
    let stand = Stand::codex("0.79.0", GOOD, "").await;
    let result = sandcastle::run_with::<N>(stand.by_codex(Auto, TAGGED)).await.unwrap();
    assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Tag));
    let choice = result.strategy.unwrap();
    assert_eq!(choice.strategy, Tag);
    assert!(choice.reason.contains("0.79.0") && choice.reason.contains("0.80.0"), "{}", choice.reason);
    assert_eq!(stand.schemas(), [false]);
}

#[tokio::test]
async fn a_version_that_cannot_be_read_is_none_to_rely_on() {
    for version in ["echo none", "echo 1.0.0 >&2", "exit 3", "yes"] {
        let stand = Stand::new(version, &codex_says(GOOD), "").await;
        let error = sandcastle::run_with::<N>(stand.by_codex(Native, TAGGED)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOptions, "{error:#}");
        assert!(error.to_string().contains("its version is not known"), "{error}");
        assert_eq!(stand.calls(), ["version"]);
        let result = sandcastle::run_with::<N>(stand.by_codex(Auto, TAGGED)).await.unwrap();
        assert_eq!(result.strategy.unwrap().strategy, Tag);
    }
}

#[tokio::test]
async fn nothing_is_asked_where_words_were_asked_for() {
    let stand = Stand::codex("0.79.0", GOOD, "").await;
    sandcastle::run_with::<N>(stand.by_codex(Tag, TAGGED)).await.unwrap();
    let calls = stand.calls();
    assert!(calls.len() == 1 && calls[0].starts_with("exec"), "{calls:?}");
}

#[tokio::test]
async fn case_091_an_old_codex_takes_no_schema_where_it_resumes() {
    // By the tag where it resumes, if the prompt asks for it, ...
    let stand = Stand::codex("0.130.0", r#"{"n":"x"}"#, GOOD).await;
    let result = sandcastle::run_with::<Retried>(stand.by_codex(Auto, TAGGED)).await.unwrap();
    assert_eq!((result.output.n, result.answer_guarantee), (5, Some(AnswerGuarantee::Tag)));
    let strategies: Vec<_> = result.attempts.iter().map(|attempt| attempt.strategy).collect();
    assert_eq!((strategies, stand.schemas()), (vec![Native, Tag], vec![true, false]));
    assert!(result.strategy.as_ref().unwrap().reason.contains("0.132.0"), "{:?}", result.strategy);

    // ... and not at all where nothing else would ask for the answer.
    for (strategy, prompt, kind) in
        [(Native, TAGGED, ErrorKind::InvalidOptions), (Auto, UNTAGGED, ErrorKind::Prompt)]
    {
        let stand = Stand::codex("0.130.0", r#"{"n":5}"#, GOOD).await;
        let error = sandcastle::run_with::<Retried>(stand.by_codex(strategy, prompt)).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error:#}");
        assert!(error.to_string().contains("0.132.0"), "{error}");
        assert_eq!(stand.calls(), ["version"]);
        // Without retries no turn resumes.
        let result = sandcastle::run_with::<N>(stand.by_codex(strategy, prompt)).await.unwrap();
        assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Native));
    }

    let stand = Stand::codex("0.132.0", r#"{"n":"x"}"#, r#"{"n":5}"#).await;
    let result = sandcastle::run_with::<Retried>(stand.by_codex(Native, UNTAGGED)).await.unwrap();
    assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Native));
    assert_eq!((stand.schemas(), stand.calls().len()), (vec![true, true], 3));
}

#[tokio::test]
async fn a_model_or_a_service_of_the_users_own_is_taken_only_if_they_say_so() {
    let stand = Stand::codex("0.171.0", r#"{"n":5}"#, "").await;
    let agents = [
        Codex::new("qwen3-coder"),
        Codex::new("").config("model_provider", "\"mine\""),
        Codex::new("").arg("--oss"),
    ];
    for agent in agents.map(|agent| agent.program(&stand.program)) {
        let run = sandcastle::run_with::<N>(stand.options(agent.clone(), Auto, UNTAGGED));
        assert_eq!(run.await.unwrap_err().kind(), ErrorKind::Prompt);
        let declared = agent.clone().native_output(Support::Declared);
        for (agent, strategy) in [(declared, Auto), (agent.clone(), Native)] {
            let result = sandcastle::run_with::<N>(stand.options(agent, strategy, UNTAGGED)).await.unwrap();
            assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Native));
        }
        let denied = agent.native_output(Support::Denied("my server ignores it".to_owned()));
        let error = sandcastle::run_with::<N>(stand.options(denied, Native, UNTAGGED)).await.unwrap_err();
        assert!(error.to_string().ends_with("`codex`: my server ignores it"), "{error}");
    }
}

/// Two schemas are never passed, whatever is said of the agent.
#[tokio::test]
async fn a_schema_among_the_arguments_of_an_agent_leaves_no_room_for_that_of_a_run() {
    let stand = Stand::codex("0.171.0", GOOD, "").await;
    let own = ["--output-schema=/own.json", "--json-schema={}"];
    let codex = Codex::new("").program(&stand.program).native_output(Support::Declared);
    let claude = ClaudeCode::new("").program(&stand.program).native_output(Support::Declared);
    let apart = codex.clone().arg("--output-schema").arg("/own.json");
    let agents: [(Arc<dyn Agent>, &str); 3] = [
        (Arc::new(codex.arg(own[0])), "--output-schema"),
        (Arc::new(apart), "--output-schema"),
        (Arc::new(claude.arg(own[1])), "--json-schema"),
    ];
    for (agent, option) in agents {
        let options = |strategy, prompt| {
            RunOptions::shared(Arc::clone(&agent), Arc::new(NoSandbox::new()))
                .cwd(stand.bench.repository.path())
                .prompt(prompt)
                .output_strategy(strategy)
                .logging(Logging::off())
        };
        let error = sandcastle::run_with::<N>(options(Native, UNTAGGED)).await.unwrap_err();
        assert_eq!((error.kind(), error.work().is_none()), (ErrorKind::InvalidOptions, true), "{error:#}");
        let (said, name) = (error.to_string(), format!("the agent `{}`", agent.name()));
        assert!(said.contains(&name) && said.contains(&format!("`{option}`")), "{said}");
        let error = sandcastle::run_with::<N>(options(Auto, UNTAGGED)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Prompt, "{error:#}");
        assert_eq!(stand.calls(), [] as [&str; 0]);
    }

    let agent = Codex::new("").program(&stand.program).arg(own[0]);
    let result = sandcastle::run_with::<N>(stand.options(agent, Auto, TAGGED)).await.unwrap();
    assert!(result.strategy.unwrap().reason.contains("`--output-schema`"));
    let [call] = &stand.calls()[..] else { panic!("{:?}", stand.calls()) };
    assert_eq!(call.matches("--output-schema").count(), 1, "{call}");
}

#[tokio::test]
async fn a_schema_that_claude_code_drops_without_a_word_is_noticed() {
    let drops = [claude_begins(&["Bash"]), claude_says(GOOD), claude_ends(&json!({}))];
    let stand = Stand::claude(&drops).await;
    for (strategy, prompt) in [(Native, TAGGED), (Auto, UNTAGGED)] {
        let error = stand.by_claude(strategy, prompt).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AgentFailed, "{error:#}");
        assert!(error.to_string().contains("the schema of the answer was refused"), "{error}");
        assert_eq!(error.work().unwrap().attempts[0].outcome, AttemptOutcome::SchemaRefused);
    }
    let result = stand.by_claude(Auto, TAGGED).await.unwrap();
    assert_eq!((result.output, result.answer_guarantee), (N { n: 5 }, Some(AnswerGuarantee::Tag)));
    assert_eq!((result.strategy.unwrap().strategy, result.warnings.len()), (Tag, 1));
    // The turn went on: nothing was asked twice.
    assert_eq!((result.iterations.len(), stand.schemas()), (1, vec![true, true, true]));
}

/// A turn that can bring nothing is not waited for.
#[tokio::test]
async fn a_turn_whose_schema_was_dropped_is_ended_at_once() {
    let stand = Stand::claude(&[claude_begins(&["Bash"])]).await;
    let script = fs::read_to_string(&stand.program).unwrap() + "exec sleep 3600\n";
    fs::write(&stand.program, script).unwrap();
    let error = stand.by_claude(Native, UNTAGGED).await.unwrap_err();
    assert!(error.to_string().contains("the schema of the answer was refused"), "{error}");
}

#[tokio::test]
async fn the_value_of_claude_code_is_in_its_result() {
    let begins = claude_begins(&["Bash", "StructuredOutput"]);
    let ends = claude_ends(&json!({ "structured_output": { "n": 5 } }));
    let stand = Stand::claude(&[begins.clone(), claude_says("{\"n\":7}"), ends]).await;
    let result = stand.by_claude(Native, UNTAGGED).await.unwrap();
    assert_eq!((result.output, result.answer_guarantee), (N { n: 5 }, Some(AnswerGuarantee::Native)));

    let without = [begins.clone(), claude_says("{\"n\":5}"), claude_ends(&json!({}))];
    assert_eq!(stage_of(Stand::claude(&without).await.by_claude(Native, TAGGED).await), Stage::Missing);
    let null = [begins.clone(), claude_ends(&json!({ "structured_output": null }))];
    assert_eq!(stage_of(Stand::claude(&null).await.by_claude(Native, TAGGED).await), Stage::Missing);

    let gave_up = json!({
        "type": "result", "subtype": "error_max_structured_output_retries", "is_error": true, "session_id": "s-1",
        "errors": ["Failed to provide valid structured output after 5 attempts"],
    });
    let error = Stand::claude(&[begins, gave_up]).await.by_claude(Native, UNTAGGED).await.unwrap_err();
    assert!(error.to_string().contains("after 5 attempts"), "{error}");
    assert_eq!(error.work().unwrap().attempts[0].outcome, AttemptOutcome::NativeMissing);
}

/// A stream that does not say which tools there are says nothing against the schema.
#[tokio::test]
async fn case_050_only_a_list_of_tools_tells_that_a_schema_was_dropped() {
    let value = claude_ends(&json!({ "structured_output": { "n": 5 } }));
    let begins = json!({ "type": "system", "subtype": "init", "session_id": "s-1" });
    for beginning in [vec![], vec![begins.clone()], vec![claude_begins(&["Bash"])]] {
        let with = [beginning.clone(), vec![claude_says("Done."), value.clone()]].concat();
        let result = Stand::claude(&with).await.by_claude(Auto, TAGGED).await.unwrap();
        assert_eq!((result.output, result.answer_guarantee), (N { n: 5 }, Some(AnswerGuarantee::Native)));
    }
    for beginning in [vec![], vec![begins]] {
        let without = [beginning, vec![claude_says(GOOD), claude_ends(&json!({}))]].concat();
        let stand = Stand::claude(&without).await;
        assert_eq!(stage_of(stand.by_claude(Native, TAGGED).await), Stage::Missing);
        let result = stand.by_claude(Auto, TAGGED).await.unwrap();
        assert_eq!((result.output, result.answer_guarantee), (N { n: 5 }, Some(AnswerGuarantee::Tag)));
    }
}
