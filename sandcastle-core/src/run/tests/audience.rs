//! Who is told what, behind which mask, and what happens when telling goes wrong.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::config::ConfigDir;
use crate::event::{FailureKind, StopReason, UsageScope};
use crate::output::Problem;
use crate::run::log::LogName;
use crate::run::logging::Logging;
use crate::work::{AttemptOutcome, Usage};

struct Stand {
    folder: tempfile::TempDir,
    heard: Arc<Mutex<Vec<RunEvent>>>,
}

impl Stand {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), heard: Arc::default() }
    }

    fn audience(&self, logging: &Logging, secrets: &[&str]) -> Audience {
        let name = LogName { target: None, source: "main", name: None };
        let log = RunLog::open(Some(logging), &ConfigDir::in_folder(self.folder.path()), &name).unwrap();
        let heard = Arc::clone(&self.heard);
        let callback = Callback::new(move |event| heard.lock().unwrap().push(event.clone()));
        Audience::new(log, Some(callback), Secrets::declared(secrets).unwrap())
    }

    fn file(&self) -> Logging {
        Logging::file(self.folder.path().join("run.log"))
    }

    fn logged(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("run.log")).unwrap()
    }

    fn heard(&self) -> Vec<RunEvent> {
        self.heard.lock().unwrap().clone()
    }
}

fn agent(event: AgentEvent) -> RunEvent {
    RunEvent::Agent { event }
}

fn text(text: &str) -> RunEvent {
    agent(AgentEvent::Text { text: text.to_owned() })
}

fn said_in(events: &[RunEvent]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        RunEvent::Agent { event: AgentEvent::Text { text } } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn case_181_a_secret_is_in_no_log_and_no_event() {
    let stand = Stand::new();
    let mut audience = stand.audience(&stand.file(), &["s3cret"]);
    let detail = || "echo s3cret".to_owned();
    for event in [
        text("TOKEN=s3c"),
        agent(AgentEvent::Usage { usage: Usage::default(), scope: UsageScope::Process }),
        text("ret, and "),
        agent(AgentEvent::ToolCall { name: "Bash".into(), detail: detail() }),
        agent(AgentEvent::Thinking { text: "s3".into() }),
        agent(AgentEvent::Thinking { text: "cret".into() }),
        agent(AgentEvent::Waiting { message: detail() }),
        agent(AgentEvent::Warning { message: detail() }),
        agent(AgentEvent::Unknown { line: "{\"x\":\"s3cret\",\"y\":\"s3cre".into() }),
        agent(AgentEvent::TurnFailed { failure: FailureKind::Other, message: detail() }),
        RunEvent::Warning { message: detail() },
        RunEvent::HookStarted { hook: "h".into(), command: detail() },
        RunEvent::AttemptFailed {
            number: 1,
            outcome: AttemptOutcome::JsonParse,
            message: detail(),
            problems: vec![Problem::new(detail(), detail())],
            remaining: 0,
        },
        text("s3cr"),
    ] {
        audience.tell(&event);
    }
    drop(audience);
    let shown = format!("{}{:?}", stand.logged(), stand.heard());
    assert!(!shown.contains("s3cre") && !shown.contains("cret"), "{shown}");
    assert!(stand.logged().starts_with("TOKEN=***, and \n  > Bash: echo ***\n"), "{}", stand.logged());
    assert!(stand.logged().ends_with("s3cr"), "{}", stand.logged());
}

#[test]
fn the_value_of_an_answer_is_data_and_is_told_as_it_is() {
    let stand = Stand::new();
    let mut audience = stand.audience(&stand.file(), &["s3cret"]);
    let structured = Some(serde_json::json!({"token": "s3cret"}));
    let event = agent(AgentEvent::TurnCompleted { stop: StopReason::Complete, structured });
    audience.tell(&event);
    assert_eq!(stand.heard(), [event]);
}

#[test]
fn row_178_without_secrets_events_are_told_as_they_come() {
    let stand = Stand::new();
    let mut audience = stand.audience(&stand.file(), &[]);
    let events =
        [text("a"), text("b"), agent(AgentEvent::ToolCall { name: "Bash".into(), detail: "ls".into() })];
    events.iter().for_each(|event| audience.tell(event));
    assert_eq!(stand.heard(), events);
}

#[test]
fn row_179_raw_lines_are_told_on_request_and_masked() {
    let stand = Stand::new();
    let mut audience = stand.audience(&stand.file(), &["s3cret"]);
    audience.tell_raw_line(b"{\"a\":1}");
    assert_eq!(stand.heard(), []);
    let mut audience = stand.audience(&stand.file().verbose(), &["s3cret"]);
    audience.tell_raw_line(b"{\"a\":\"s3cret\xff\"}");
    audience.tell_raw_line(&[vec![b'x'; LONGEST_RAW_LINE - 4], b"s3cret".to_vec()].concat());
    let heard = stand.heard();
    assert_eq!(heard[0], RunEvent::RawLine { line: "{\"a\":\"***\u{fffd}\"}".into() });
    let RunEvent::RawLine { line } = &heard[1] else { panic!("{heard:?}") };
    assert!(line.ends_with("xxx*** ..."), "{}", &line[line.len() - 20..]);
    assert!(stand.logged().starts_with("  # {\"a\":\"***\u{fffd}\"}\n  # xxx"));
}

#[test]
fn row_178_a_callback_that_panics_is_not_called_again() {
    let stand = Stand::new();
    let calls = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&calls);
    let mut audience = stand.audience(&stand.file(), &[]);
    audience.listeners.callback = Some(Callback::new(move |_| {
        *counted.lock().unwrap() += 1;
        panic!("on purpose");
    }));
    audience.tell(&text("one"));
    audience.tell(&text("two"));
    let troubles = audience.troubles();
    assert_eq!(*calls.lock().unwrap_or_else(std::sync::PoisonError::into_inner), 1);
    assert!(troubles.len() == 1 && troubles[0].contains("panicked"), "{troubles:?}");
    assert!(audience.troubles().is_empty());
    drop(audience);
    assert!(stand.logged().contains("!!! the function that is told"), "{}", stand.logged());
    assert!(stand.logged().ends_with("two"), "{}", stand.logged());
}

#[test]
fn a_log_that_cannot_be_written_is_told_once_to_the_others() {
    let stand = Stand::new();
    let mut audience = stand.audience(&Logging::file("/dev/full"), &[]);
    for _ in 0..3 {
        audience.tell(&RunEvent::IterationStarted { number: 1 });
    }
    assert_eq!(audience.troubles().len(), 1);
    let warnings = stand.heard().iter().filter(|event| matches!(event, RunEvent::Warning { .. })).count();
    assert_eq!((warnings, stand.heard().len()), (1, 4));
}

proptest! {
    #[test]
    fn however_an_agent_splits_its_text_the_same_is_told(
        text_of_agent in "(s3cret|s3c|ret|\\PC){0,20}",
        cuts in prop::collection::vec(0_usize..100, 0..8),
    ) {
        let stand = Stand::new();
        let mut audience = stand.audience(&Logging::off(), &["s3cret"]);
        let mut cuts: Vec<usize> =
            cuts.iter().map(|cut| text_of_agent.floor_char_boundary(cut % (text_of_agent.len() + 1))).collect();
        cuts.extend([0, text_of_agent.len()]);
        cuts.sort_unstable();
        for pair in cuts.windows(2) {
            audience.tell(&text(&text_of_agent[pair[0]..pair[1]]));
        }
        let masked = audience.secrets().mask(&text_of_agent).into_owned();
        drop(audience);
        prop_assert_eq!(said_in(&stand.heard()), masked);
    }
}
