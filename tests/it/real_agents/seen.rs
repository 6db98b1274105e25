//! What a run tells of its agent while it goes on.

use std::sync::{Arc, Mutex};

use sandcastle::{AgentEvent, RunEvent, RunOptions};

/// The events of an agent, as they were told.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen(Arc<Mutex<Vec<AgentEvent>>>);

impl Seen {
    /// Listens to the run of these options.
    pub(super) fn by(&self, options: RunOptions) -> RunOptions {
        let seen = Arc::clone(&self.0);
        options.on_event(move |event| {
            if let RunEvent::Agent { event } = event {
                seen.lock().unwrap().push(event.clone());
            }
        })
    }

    pub(super) fn count(&self, like: impl Fn(&AgentEvent) -> bool) -> usize {
        self.0.lock().unwrap().iter().filter(|event| like(event)).count()
    }

    /// The session that the agent named.
    pub(super) fn session(&self) -> Option<String> {
        let events = self.0.lock().unwrap();
        events.iter().find_map(|event| match event {
            AgentEvent::Session { id } => Some(id.to_string()),
            _ => None,
        })
    }
}
