//! Plays scripts as real processes and reads what they print.

mod place;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::{Duration, Instant};

use sandcastle_core::SessionId;
use sandcastle_core::agent::{Agent, AgentRequest, SessionPlace};
use sandcastle_core::event::{AgentEvent, FailureKind, StopReason};
use sandcastle_core::session::SessionRequest;
use serde_json::json;

use self::place::{Place, Played};
use super::{AfterLast, LeftOutput, Script, Scripted, Sequence, Turn};

fn resume(played: &Played) -> SessionRequest {
    SessionRequest::Resume(played.session())
}

#[test]
fn an_answer_is_said_and_the_turn_is_complete() {
    let place = Place::new();
    let agent = Scripted::answering("it's \"<result>{\"n\":1}</result>\"\n日本 \0 $HOME `x` \\n")
        .state_dir(place.state());
    let played = place.play(&agent, "go", &SessionRequest::Fresh);
    assert_eq!(played.text(), "it's \"<result>{\"n\":1}</result>\"\n日本 \0 $HOME `x` \\n");
    assert!(played.is_complete() && played.output.status.success());
    assert_eq!(played.stderr(), "");
}

#[test]
fn every_event_comes_in_order() {
    let turn = Turn::new()
        .think("hm")
        .say_pieces(["a", "b"])
        .sub_agent_says("mine")
        .tool("Bash", json!({"command": "ls"}))
        .tool_output("<result>0</result>")
        .tool_fails("no")
        .raw_line("plain")
        .usage(7, 3)
        .stop(StopReason::Refused)
        .structured(json!({"n": 1}));
    let played = Place::new().play_turn(turn);
    let events = serde_json::to_value(&played.events[1..]).unwrap();
    let expected = json!([
        {"type": "thinking", "text": "hm"},
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b"},
        {"type": "sub-agent-text", "text": "mine"},
        {"type": "tool-call", "name": "Bash", "detail": "ls"},
        {"type": "tool-result", "is_error": false},
        {"type": "tool-result", "is_error": true},
        {"type": "unknown", "line": "plain"},
        {"type": "usage", "scope": "process", "usage": {
            "input_tokens": 7, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 3}},
        {"type": "turn-completed", "stop": "refused", "structured": {"n": 1}},
    ]);
    assert_eq!(events, expected);
}

#[test]
fn a_resumed_session_plays_the_next_turn_and_keeps_the_prompts() {
    let place = Place::new();
    let agent = place.agent(Script::new().turn(Turn::new().say("1")).turn(Turn::new().say("2")));
    let first = place.play(&agent, "first\n", &SessionRequest::Fresh);
    let second = place.play(&agent, "", &resume(&first));
    assert_eq!((first.text(), second.text()), ("1".to_owned(), "2".to_owned()));
    assert_eq!(first.session(), second.session());
    assert_eq!(Scripted::prompts(&place.state(), &first.session()).unwrap(), ["first\n", ""]);
}

#[test]
fn a_script_that_is_over_fails_or_repeats() {
    let place = Place::new();
    let script = Script::new().turn(Turn::new().say("1"));
    let failing = place.agent(script.clone());
    let first = place.play(&failing, "", &SessionRequest::Fresh);
    let over = place.play(&failing, "", &resume(&first));
    assert_eq!((over.code(), over.failure()), (1, Some(FailureKind::Other)));
    assert_eq!(over.stderr(), "the script has no turn 2\n");
    let repeating = place.agent(script.after(AfterLast::Repeat));
    assert_eq!(place.play(&repeating, "", &resume(&first)).text(), "1");
}

#[test]
fn case_122_a_fork_leaves_its_origin_as_it_is() {
    let place = Place::new();
    let agent = place.agent(Script::new().turn(Turn::new().say("1")).turn(Turn::new().say("2")));
    let first = place.play(&agent, "a", &SessionRequest::Fresh);
    let home = place.root.path().join("home");
    let work = place.work();
    let locate = SessionPlace::new(&home, &work, &[]);
    let file = agent.session_file(&first.session(), &locate).unwrap();
    let before = fs::read(&file).unwrap();
    let forks = [(); 2].map(|()| place.play(&agent, "b", &SessionRequest::Fork(first.session())));
    assert_eq!(forks[0].text(), "2");
    assert_eq!(forks[1].text(), "2");
    assert_ne!(forks[0].session(), forks[1].session());
    assert_eq!(Scripted::prompts(&place.state(), &forks[0].session()).unwrap(), ["a", "b"]);
    assert_eq!(Scripted::prompts(&place.state(), &first.session()).unwrap(), ["a"]);
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn an_unknown_session_is_refused() {
    let place = Place::new();
    let agent = Scripted::answering("x").state_dir(place.state());
    let id = SessionId::new("nowhere").unwrap();
    for request in [SessionRequest::Resume(id.clone()), SessionRequest::Fork(id)] {
        let played = place.play(&agent, "", &request);
        assert_eq!((played.code(), played.failure()), (1, Some(FailureKind::SessionNotFound)));
        assert_eq!(played.stderr(), "no session with the id nowhere\n");
    }
    assert_eq!(fs::read_dir(place.state()).unwrap().count(), 0, "nothing is left of a refused prompt");
}

#[test]
fn a_session_can_be_refused_for_a_while() {
    let place = Place::new();
    let wait = Duration::from_millis(800);
    let turn = Turn::new().say("1").refuse_resume_for(wait);
    let agent = place.agent(Script::new().turn(turn).turn(Turn::new().say("2")));
    let first = place.play(&agent, "", &SessionRequest::Fresh);
    assert_eq!(place.play(&agent, "", &resume(&first)).failure(), Some(FailureKind::SessionNotFound));
    std::thread::sleep(wait);
    assert_eq!(place.play(&agent, "", &resume(&first)).text(), "2");
}

#[test]
fn turns_can_be_counted_across_sessions() {
    let place = Place::new();
    let script = Script::new().turn(Turn::new().say("1")).turn(Turn::new().say("2"));
    let agent = place.agent(script.sequence(Sequence::AcrossSessions));
    let texts = [(); 2].map(|()| place.play(&agent, "", &SessionRequest::Fresh).text());
    assert_eq!(texts, ["1", "2"]);
}

#[test]
fn the_default_state_folder_is_in_the_home_of_the_process() {
    let place = Place::new();
    let agent = Scripted::answering("x");
    let played = place.play(&agent, "hello", &SessionRequest::Fresh);
    let home = place.root.path().join("home");
    let state = home.join(".local/state/sandcastle/scripted");
    assert_eq!(Scripted::prompts(&state, &played.session()).unwrap(), ["hello"]);
    let work = place.work();
    let file = agent.session_file(&played.session(), &SessionPlace::new(&home, &work, &[]));
    assert_eq!(file.unwrap(), state.join(played.session().as_str()).join("session.jsonl"));
}

#[test]
fn files_are_written_and_committed_without_an_identity() {
    let place = Place::new();
    let turn = Turn::new()
        .shell("git init -q -b main")
        .write_file("a/b's file.txt", "it's 100%\n\\n")
        .commit("add it's file")
        .say("done");
    let played = place.play_turn(turn);
    assert_eq!((played.text(), played.stderr()), ("done".to_owned(), ""));
    assert_eq!(fs::read_to_string(place.work().join("a/b's file.txt")).unwrap(), "it's 100%\n\\n");
    let log = place.play_turn(Turn::new().shell("git log --format='%an %s'"));
    assert_eq!(log.stderr(), "Scripted add it's file\n");
}

#[test]
fn a_step_that_cannot_be_carried_out_fails_the_turn() {
    for turn in [Turn::new().commit("outside a repository"), Turn::new().shell("exit 3")] {
        let played = Place::new().play_turn(turn.say("never"));
        assert_eq!((played.code(), played.failure()), (1, Some(FailureKind::Other)));
        assert_eq!(played.text(), "");
    }
}

#[test]
fn a_turn_fails_and_exits_as_it_is_told() {
    let place = Place::new();
    let failed = place.play_turn(Turn::new().say("partial").fail(FailureKind::Transport, "it's busy"));
    assert_eq!(
        (failed.code(), failed.failure(), failed.is_complete()),
        (1, Some(FailureKind::Transport), false)
    );
    let zero = place.play_turn(Turn::new().fail(FailureKind::Transport, "busy").exit(0));
    assert_eq!((zero.code(), zero.is_complete()), (0, false));
    let silent = place.play_turn(Turn::new().stderr("oh no").exit(7));
    assert_eq!((silent.code(), silent.stderr(), silent.is_complete()), (7, "oh no\n", false));
    let complete = place.play_turn(Turn::new().complete().exit(3));
    assert_eq!((complete.code(), complete.is_complete()), (3, true));
    let killed = place.play_turn(Turn::new().kill_self(9));
    assert_eq!(killed.output.status.signal(), Some(9));
}

#[test]
fn a_turn_can_linger_behind_its_end() {
    let start = Instant::now();
    let played = Place::new().play_turn(Turn::new().say("x").linger(Duration::from_millis(300)));
    assert!(played.is_complete() && start.elapsed() >= Duration::from_millis(300));
    let ends = played.events.iter().filter(|event| matches!(event, AgentEvent::TurnCompleted { .. }));
    assert_eq!(ends.count(), 1);
}

#[test]
fn a_request_to_stop_can_be_ignored() {
    let place = Place::new();
    let stop = |turn: Turn| {
        let agent = place.agent(Script::new().turn(turn.say("ready").hang()));
        let mut child = place.start(&agent, "", &SessionRequest::Fresh);
        // The prompt is read, and the turn has begun, once something was printed.
        let mut first = [0; 64];
        std::io::Read::read(child.stdout.as_mut().unwrap(), &mut first).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        place.play_turn(Turn::new().shell(format!("kill -15 {}", child.id())));
        std::thread::sleep(Duration::from_millis(200));
        let ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        ended
    };
    assert!(stop(Turn::new()));
    assert!(!stop(Turn::new().ignore_stop()));
}

#[test]
fn a_process_can_be_left_behind_with_or_without_the_outputs() {
    let place = Place::new();
    let elapsed = |output| {
        let start = Instant::now();
        let played = place.play_turn(Turn::new().leave_behind(2, output).say("x"));
        assert!(played.is_complete());
        start.elapsed()
    };
    assert!(elapsed(LeftOutput::Closed) < Duration::from_millis(1500));
    assert!(
        elapsed(LeftOutput::Held) >= Duration::from_millis(1900),
        "the pipe ends with the process that holds it"
    );
}

#[test]
fn much_is_said_fast() {
    let place = Place::new();
    let turn = Turn::new().repeat("x".repeat(1000), 100_000).repeat("y".repeat(100_000), 100).say("end");
    let played = place.play_turn(turn);
    let said: usize = played.text().len();
    assert_eq!(said, 100_000 * 1000 + 100 * 100_000 + 3);
}

#[test]
fn a_script_may_be_longer_than_one_argument() {
    let long = "日本".repeat(50_000);
    let played = Place::new().play_turn(Turn::new().say(&long));
    assert_eq!(played.text(), long);
}

#[test]
fn a_long_prompt_is_read_to_its_end() {
    let place = Place::new();
    let prompt = "0123456789".repeat(300_000);
    let played =
        place.play(&place.agent(Script::new().turn(Turn::new().say("x"))), &prompt, &SessionRequest::Fresh);
    assert_eq!(Scripted::prompts(&place.state(), &played.session()).unwrap(), [prompt]);
}

#[test]
fn the_terminal_interface_reads_a_line_plays_a_turn_and_answers() {
    let place = Place::new();
    let agent = place.agent(Script::new().turn(Turn::new().say("quiet").write_file("made", "x")));
    let request = AgentRequest::new("", Path::new("/"), &SessionRequest::Fresh);
    let command = agent.interactive_command(&request).unwrap().unwrap().stdin("hello\n");
    let output = place.spawn(&command).wait_with_output().unwrap();
    assert_eq!(str::from_utf8(&output.stdout).unwrap(), "scripted agent, say something: done: hello\n");
    assert!(place.work().join("made").exists());
}
