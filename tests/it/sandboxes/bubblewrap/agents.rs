//! The real agent programs in a sandbox whose network leads to their model and nowhere else.

use std::sync::Arc;

use sandcastle::sandbox::{Bubblewrap, Network};
use sandcastle::{
    Agent, AnswerGuarantee, ClaudeCode, Codex, Logging, OutputSpec, OutputStrategy, RunOptions,
};
use serde_json::json;

use super::Room;
use crate::run::N;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::real_agent::RealAgent;
use crate::support::repository::Repository;

const GOOD: &str = r#"<result>{"n":5}</result>"#;

/// What belongs to the sandbox, whatever the home of a test says.
const OF_THE_SANDBOX: [&str; 4] = ["HOME", "PATH", "TMPDIR", "CLAUDE_CODE_TMPDIR"];

/// Plays a run with a commit and a value, and then another one that goes on in its session.
async fn works_and_goes_on(program: RealAgent, agent: Arc<dyn Agent>) {
    if Room::new(Bubblewrap::new()).await.is_none() {
        return;
    }
    let (other, repository) = (Repository::new(), Repository::new());
    let secret = other.path().join("README.md").display().to_string();
    let work = format!("cat '{secret}' >seen; echo made >made && git add made && git commit -qm Inside");
    let server = ModelServer::start([Reply::shell(work), Reply::text(GOOD), Reply::text("again")]);
    let home = program.home(&server);
    let model = server.url().trim_start_matches("http://").to_owned();
    let mut sandbox = Bubblewrap::new().network(Network::limited([model])).home(home.path());
    for (key, value) in home.environment() {
        if !OF_THE_SANDBOX.contains(&key.as_str()) {
            sandbox = sandbox.env(key, value);
        }
    }
    let sandbox = Arc::new(sandbox);
    let options = |prompt: &str| {
        RunOptions::shared(Arc::clone(&agent), sandbox.clone())
            .cwd(repository.path())
            .logging(Logging::off())
            .prompt(prompt)
    };
    let result = sandcastle::run_with::<N>(options("Answer as <result>JSON</result>.")).await.unwrap();
    assert_eq!(result.output, N { n: 5 });
    assert_eq!(repository.subjects(), ["Inside", "first"]);
    assert_eq!(repository.read("seen").unwrap(), "", "another repository is not seen");
    let session = result.session_id().expect("a session").clone();
    let again = sandcastle::run(options("Go on.").resume_session(session.as_str())).await.unwrap();
    assert_eq!((again.text.as_str(), again.session_id()), ("again", Some(&session)));
}

#[tokio::test]
async fn a_session_outlives_the_fresh_home_folder_of_its_sandbox() {
    let Some(program) = RealAgent::claude_code() else { return };
    if Room::new(Bubblewrap::new()).await.is_none() {
        return;
    }
    let (repository, store) = (Repository::new(), tempfile::tempdir().unwrap());
    let server = ModelServer::start([Reply::text("one"), Reply::text("two")]);
    let home = program.home(&server);
    let sandbox = home.environment().into_iter().filter(|(key, _)| !OF_THE_SANDBOX.contains(&key.as_str()));
    let sandbox = Arc::new(sandbox.fold(Bubblewrap::new(), |sandbox, (key, value)| sandbox.env(key, value)));
    let agent = Arc::new(ClaudeCode::new("sonnet").program(&program.program));
    let options = |prompt: &str| {
        RunOptions::shared(agent.clone(), sandbox.clone())
            .cwd(repository.path())
            .session_store(store.path())
            .logging(Logging::off())
            .prompt(prompt)
    };
    let first = sandcastle::run(options("Begin.")).await.unwrap();
    let session = first.session_id().expect("a session");
    assert!(first.iterations[0].session_file.as_ref().expect("its file").starts_with(store.path()));
    let second = sandcastle::run(options("Go on.").resume_session(session.as_str())).await.unwrap();
    assert_eq!((second.text.as_str(), second.session_id()), ("two", Some(session)));
    assert!(server.turns()[1].user_texts().join(" ").contains("Begin."), "the history came along");
}

#[tokio::test]
async fn claude_code_works_where_it_reaches_nothing_but_its_model() {
    let Some(program) = RealAgent::claude_code() else { return };
    let agent = Arc::new(ClaudeCode::new("sonnet").program(&program.program));
    works_and_goes_on(program, agent).await;
}

#[tokio::test]
async fn codex_works_where_it_reaches_nothing_but_its_model() {
    let Some(program) = RealAgent::codex_launcher() else { return };
    let agent = Arc::new(Codex::new("").program(&program.program));
    works_and_goes_on(program, agent).await;
}

/// The schema is in a file that only the inside has, in every turn.
#[tokio::test]
async fn codex_reads_its_schema_from_a_file_inside() {
    let Some(program) = RealAgent::codex_launcher() else { return };
    if Room::new(Bubblewrap::new()).await.is_none() {
        return;
    }
    let repository = Repository::new();
    let look = Reply::shell("ls /tmp >seen; git status --porcelain >>seen");
    let answers = [json!({ "n": "x" }), json!({ "n": 5 })].map(Reply::structured);
    let server = ModelServer::start([look].into_iter().chain(answers));
    let home = program.home(&server);
    let mut sandbox = Bubblewrap::new().home(home.path());
    for (key, value) in home.environment() {
        if !OF_THE_SANDBOX.contains(&key.as_str()) {
            sandbox = sandbox.env(key, value);
        }
    }
    let schema = json!({
        "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"],
        "additionalProperties": false,
    });
    let spec = OutputSpec::json("result", schema.clone()).unwrap().max_retries(1).unwrap();
    let options = RunOptions::new(Codex::new("").program(&program.program), sandbox)
        .cwd(repository.path())
        .logging(Logging::off())
        .output_strategy(OutputStrategy::Native)
        .prompt("Count.");
    let result = sandcastle::run_spec(options, spec).await.unwrap();
    assert_eq!((result.output, result.answer_guarantee), (json!({ "n": 5 }), Some(AnswerGuarantee::Native)));
    let sent: Vec<_> =
        server.turns().iter().map(|turn| turn.body["text"]["format"]["schema"].clone()).collect();
    assert_eq!(sent, vec![schema; 3]);
    let seen = repository.read("seen").unwrap();
    assert!(seen.contains("sandcastle-schema-") && !seen.contains("schema.json"), "{seen}");
    let outside = std::fs::read_dir("/tmp").unwrap().flatten().map(|entry| entry.file_name());
    let name = seen.lines().find(|line| line.starts_with("sandcastle-schema-")).unwrap();
    assert!(outside.into_iter().all(|entry| entry != name), "{name} is on this host, too");
}
