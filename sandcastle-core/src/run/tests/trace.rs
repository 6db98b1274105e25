//! What a subscriber is told.

use std::fmt;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::*;
use crate::error::{Error, ErrorKind};
use crate::id::BranchName;
use crate::work::AttemptOutcome;

/// Writes down spans and events, one per line.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push_str(&format!(" {}={value:?}", field.name()));
    }
}

impl Notes {
    fn note(&self, head: String, record: impl FnOnce(&mut Fields<'_>)) {
        let mut line = head;
        record(&mut Fields(&mut line));
        self.0.lock().unwrap().push(line);
    }

    fn of(act: impl FnOnce()) -> String {
        let notes = Self::default();
        tracing::subscriber::with_default(notes.clone(), act);
        notes.0.lock().unwrap().join("\n")
    }
}

impl Subscriber for Notes {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.note(format!("span {}", span.metadata().name()), |fields| span.record(fields));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        self.note("then".to_owned(), |fields| values.record(fields));
    }

    fn event(&self, event: &Event<'_>) {
        self.note(event.metadata().level().to_string(), |fields| event.record(fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn spans_say_where_in_a_run_something_happens() {
    let id = RunId::new("20261130-094312-5f3a9c").unwrap();
    let notes = Notes::of(|| {
        run(&id, "scripted", Some("fix"), "agent/fix");
        sandbox("docker");
        hook("host-worktree-ready");
        iteration(1);
        attempt(2);
    });
    assert_eq!(
        notes,
        "span run run=\"20261130-094312-5f3a9c\" agent=\"scripted\" name=\"fix\" branch=\"agent/fix\"\n\
         span sandbox sandbox=\"docker\"\n\
         span hook hook=\"host-worktree-ready\"\n\
         span iteration number=1\n\
         span attempt number=2"
    );
}

#[test]
fn what_an_agent_says_is_told_at_no_level() {
    let said = || "the words of the agent".to_owned();
    let agent = |event| RunEvent::Agent { event };
    let notes = Notes::of(|| {
        for told in [
            agent(AgentEvent::Text { text: said() }),
            agent(AgentEvent::Thinking { text: said() }),
            agent(AgentEvent::ToolCall { name: "Bash".into(), detail: said() }),
            RunEvent::RawLine { line: said() },
            RunEvent::HookStarted { hook: "h".into(), command: said() },
            RunEvent::AttemptFailed {
                number: 1,
                outcome: AttemptOutcome::Missing,
                message: said(),
                problems: Vec::new(),
                remaining: 2,
            },
            RunEvent::Merged {
                source: BranchName::from_git("fix"),
                target: BranchName::from_git("main"),
                commits: 3,
            },
            RunEvent::Warning { message: Error::new(ErrorKind::Io, "close it").to_string() },
        ] {
            event(&told);
        }
    });
    assert!(!notes.contains("words"), "{notes}");
    for line in [
        "DEBUG message=tool called tool=\"Bash\"",
        "INFO message=hook started hook=\"h\"",
        "WARN message=attempt failed number=1 outcome=Missing remaining=2",
        "INFO message=merged source=\"fix\" target=\"main\" commits=3",
        "WARN message=close it",
    ] {
        assert!(notes.contains(line), "{line} is not in\n{notes}");
    }
}

#[test]
fn without_a_subscriber_nothing_is_even_worded() {
    struct Never;
    impl fmt::Display for Never {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("nobody asked")
        }
    }
    assert!(!tracing::enabled!(Level::ERROR));
    tracing::error!(never = %Never, "x");
}
