//! How the real programs behave: the facts that the engine is built on, without the engine.
//!
//! A program that changes one of them in a later version fails here first, and by name.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use crate::support::model_server::{ModelServer, Reply};
use crate::support::process::{Finished, is_running};
use crate::support::real_agent::RealAgent;
use crate::support::repository::Repository;

/// A stretch of silence that no test waits for.
const LONG: Duration = Duration::from_secs(3600);

/// The session of a run, whichever program it was.
fn session(finished: &Finished) -> String {
    let events = finished.events();
    let named = events.iter().find_map(|event| event["session_id"].as_str().or(event["thread_id"].as_str()));
    named.unwrap_or_else(|| panic!("no session in {finished:#?}")).to_owned()
}

#[test]
fn a_resumed_session_holds_the_conversation() {
    let agents = [RealAgent::claude_code(), RealAgent::codex()];
    for agent in agents.into_iter().flatten() {
        let server = ModelServer::start([Reply::text("first answer"), Reply::text("second answer")]);
        let (home, repository) = (agent.home(&server), Repository::new());
        let first = agent.turn(&home, repository.path()).input("first prompt").run();
        let second = agent.next_turn(&home, repository.path(), &session(&first)).input("second prompt").run();

        assert_eq!((first.code(), second.code()), (Some(0), Some(0)), "{first:#?}, {second:#?}");
        assert_eq!(session(&first), session(&second));
        let request = &server.turns()[1];
        for said in ["first prompt", "second prompt"] {
            assert!(
                request.user_texts().iter().any(|text| text == said),
                "{agent:?}: {:?}",
                request.user_texts()
            );
        }
        assert_eq!(request.assistant_texts(), ["first answer"], "{agent:?}");
    }
}

#[test]
fn a_session_that_is_not_there_fails_without_a_request() {
    let agents = [RealAgent::claude_code(), RealAgent::codex()];
    for agent in agents.into_iter().flatten() {
        let server = ModelServer::start([]);
        let (home, repository) = (agent.home(&server), Repository::new());
        let unknown = "00000000-0000-4000-8000-000000000000";
        let finished = agent.next_turn(&home, repository.path(), unknown).input("hello").run();

        assert_eq!(finished.code(), Some(1), "{finished:#?}");
        assert!(finished.stderr.contains(unknown), "{finished:#?}");
        assert!(server.turns().is_empty(), "{agent:?}");
    }
}

#[test]
fn a_rate_limit_is_waited_out() {
    let agents = [RealAgent::claude_code(), RealAgent::codex()];
    for agent in agents.into_iter().flatten() {
        let server = ModelServer::start([Reply::status(429).retry_after(1), Reply::text("patience")]);
        let (home, repository) = (agent.home(&server), Repository::new());
        let finished = agent.turn(&home, repository.path()).input("hello").run();

        assert_eq!(finished.code(), Some(0), "{finished:#?}");
        assert!(finished.stdout.contains("patience"), "{finished:#?}");
        assert_eq!(server.turns().len(), 2, "{agent:?}");
    }
}

#[test]
fn a_connection_that_closes_without_an_answer_is_a_failure() {
    let agents = [RealAgent::claude_code(), RealAgent::codex()];
    for agent in agents.into_iter().flatten() {
        let server = ModelServer::start([Reply::dropped().always()]);
        let (home, repository) = (agent.home(&server), Repository::new());
        let finished = agent.turn(&home, repository.path()).input("hello").run();
        assert_eq!(finished.code(), Some(1), "{finished:#?}");
    }
}

#[test]
fn an_error_in_the_stream_is_a_failure() {
    let agents = [RealAgent::claude_code(), RealAgent::codex()];
    for agent in agents.into_iter().flatten() {
        let server = ModelServer::start([Reply::error_event("overloaded_error").always()]);
        let (home, repository) = (agent.home(&server), Repository::new());
        let finished = agent.turn(&home, repository.path()).input("hello").run();
        assert_eq!(finished.code(), Some(1), "{finished:#?}");
    }
}

#[test]
fn an_answer_at_the_output_limit_is_a_failure() {
    let agents = [RealAgent::claude_code(), RealAgent::codex()];
    for agent in agents.into_iter().flatten() {
        let server = ModelServer::start([Reply::text("cut off").at_output_limit().always()]);
        let (home, repository) = (agent.home(&server), Repository::new());
        let finished = agent.turn(&home, repository.path()).input("hello").run();

        assert_eq!(finished.code(), Some(1), "{finished:#?}");
        let last = finished.events().pop().expect("a last event");
        assert!(last.to_string().contains("output"), "{last}");
    }
}

#[test]
fn an_empty_answer_is_no_failure() {
    let agents = [RealAgent::claude_code(), RealAgent::codex()];
    for agent in agents.into_iter().flatten() {
        let server = ModelServer::start([Reply::empty().always()]);
        let (home, repository) = (agent.home(&server), Repository::new());
        let finished = agent.turn(&home, repository.path()).input("hello").run();
        assert_eq!(finished.code(), Some(0), "{finished:#?}");
    }
}

#[test]
fn a_termination_ends_a_request() {
    let cases = [(RealAgent::claude_code(), (Some(143), None)), (RealAgent::codex(), (None, Some(15)))];
    for (agent, expected) in cases {
        let Some(agent) = agent else { continue };
        let finished = signalled_while_it_waits_for_an_answer(&agent, Signal::TERM);
        assert_eq!((finished.code(), finished.signal()), expected, "{finished:#?}");
    }
}

#[test]
fn an_interrupt_ends_a_request() {
    if let Some(codex) = RealAgent::codex() {
        let finished = signalled_while_it_waits_for_an_answer(&codex, Signal::INT);
        assert_eq!(finished.code(), Some(1), "{finished:#?}");
    }
    if let Some(claude_code) = RealAgent::claude_code() {
        // Its exit code is that of a success or of a failure, as it happens. Its last event is always right, if there is time
        // for one: on a busy machine it may end without.
        let ends = || signalled_while_it_waits_for_an_answer(&claude_code, Signal::INT);
        let finished = std::iter::repeat_with(ends)
            .take(5)
            .find(|finished| !finished.events_of("result").is_empty())
            .expect("a last event in one of five");
        assert_eq!(finished.event("result")["is_error"], true, "{finished:#?}");
        assert_eq!(finished.event("result")["subtype"], "error_during_execution");
    }
}

/// A termination does not: it leaves commands behind, in both programs.
#[test]
fn an_interrupt_ends_the_command_that_is_running() {
    let agents = [RealAgent::claude_code(), RealAgent::codex()];
    for agent in agents.into_iter().flatten() {
        let command = "sh -c 'echo $$ > pid.part && mv pid.part pid && exec sleep 30'; true";
        let server = ModelServer::start([Reply::shell(command), Reply::silence(LONG)]);
        let (home, repository) = (agent.home(&server), Repository::new());
        let running = agent.turn(&home, repository.path()).input("hello").start();
        let pid = wait_for(|| repository.read("pid")?.trim().parse().ok().and_then(Pid::from_raw));
        running.signal(Signal::INT);
        running.finish();

        wait_for(|| (!is_running(pid)).then_some(()));
    }
}

#[test]
fn claude_code_has_structured_output_of_its_own() {
    let Some(agent) = RealAgent::claude_code() else { return };
    let server = ModelServer::start([
        Reply::structured(json!({ "n": "three" })),
        Reply::structured(json!({ "n": 3 })),
    ]);
    let (home, repository) = (agent.home(&server), Repository::new());
    let schema = schema();
    let finished = agent
        .turn(&home, repository.path())
        .arguments(["--json-schema", &schema.to_string()])
        .input("count")
        .run();

    assert_eq!(finished.code(), Some(0), "{finished:#?}");
    assert_eq!(finished.event("result")["structured_output"], json!({ "n": 3 }));
    assert!(server.turns()[1].tool_results()[0].contains("/n: must be integer"));
}

#[test]
fn codex_passes_a_schema_on_and_checks_nothing() {
    let Some(agent) = RealAgent::codex() else { return };
    let server = ModelServer::start([Reply::structured(json!({ "n": "three" }))]);
    let (home, repository) = (agent.home(&server), Repository::new());
    repository.write("schema.json", &schema().to_string());
    let finished = agent
        .turn(&home, repository.path())
        .arguments(["--output-schema", "schema.json"])
        .input("count")
        .run();

    assert_eq!(finished.code(), Some(0), "{finished:#?}");
    assert_eq!(finished.event("item.completed")["item"]["text"], r#"{"n":"three"}"#);
    assert_eq!(server.turns()[0].body["text"]["format"]["schema"], schema());
}

#[test]
fn codex_runs_from_the_launcher_that_npm_installs() {
    let Some(agent) = RealAgent::codex_launcher() else { return };
    let server = ModelServer::start([Reply::text("hello")]);
    let (home, repository) = (agent.home(&server), Repository::new());
    let finished = agent.turn(&home, repository.path()).input("hello").run();
    assert_eq!(finished.code(), Some(0), "{finished:#?}");
    assert_eq!(finished.event("item.completed")["item"]["text"], "hello");
}

/// What went wrong stands in its last message alone.
#[test]
fn pi_exits_as_after_a_success_whatever_happened() {
    let Some(agent) = RealAgent::pi() else { return };
    let server = ModelServer::start([Reply::status(401).always()]);
    let (home, repository) = (agent.home(&server), Repository::new());
    let finished = agent.turn(&home, repository.path()).input("hello").run();
    assert_eq!((finished.code(), finished.stderr.as_str()), (Some(0), ""), "{finished:#?}");
    let last = finished.events_of("message_end").pop().expect("a message");
    assert_eq!(last["message"]["stopReason"], "error", "{last}");
}

/// It believes the variable `PWD` more than its own working folder.
#[test]
fn opencode_works_where_its_option_says() {
    let Some(agent) = RealAgent::opencode() else { return };
    let server = ModelServer::start([Reply::shell("pwd"), Reply::text("hello")]);
    let (home, repository, other) = (agent.home(&server), Repository::new(), Repository::new());
    let home = home.with(&[("PWD", other.path().display().to_string())]);
    let folder = repository.path().display().to_string();
    let finished = agent.turn(&home, repository.path()).arguments(["--dir", &folder]).input("hello").run();
    assert_eq!(finished.code(), Some(0), "{finished:#?}");
    let real = std::fs::canonicalize(repository.path()).expect("a folder");
    assert_eq!(server.turns()[1].tool_results()[0].trim(), real.display().to_string());
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "n": { "type": "integer" } },
        "required": ["n"],
        "additionalProperties": false,
    })
}

fn signalled_while_it_waits_for_an_answer(agent: &RealAgent, signal: Signal) -> Finished {
    let server = ModelServer::start([Reply::silence(LONG)]);
    let (home, repository) = (agent.home(&server), Repository::new());
    let running = agent.turn(&home, repository.path()).input("hello").start();
    server.wait_for_turns(1);
    running.signal(signal);
    running.finish()
}

/// Waits until there is something, and fails after a while.
fn wait_for<T>(mut found: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "nothing in {:?}", started.elapsed());
        std::thread::sleep(Duration::from_millis(20));
    }
}
