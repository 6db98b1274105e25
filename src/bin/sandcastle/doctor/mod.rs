//! What works on this machine: git, agents, sandboxes and what they need.
//!
//! Every probe has a time of its own, and all go on at once, so one that hangs delays nothing but itself. Probes look and
//! change nothing: agents are asked for their version, in an empty environment with a home folder of their own; an engine on
//! another machine is not asked at all, since that takes keys.

mod agents;
mod engines;
mod kernel;
mod tools;

use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};

/// How long a probe may take.
const LIMIT: Duration = Duration::from_secs(10);

/// What was found out about one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) subject: Subject,
    pub(crate) name: &'static str,
    pub(crate) state: State,
    pub(crate) version: Option<String>,
    /// What else there is to say.
    pub(crate) detail: Option<String>,
    /// How to get it.
    pub(crate) hint: Option<&'static str>,
}

/// What a thing is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Git,
    Agent,
    Sandbox,
    Tool,
}

/// Whether a thing can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Works,
    /// It is not there.
    Missing,
    /// It is there and does not work.
    Broken,
}

impl Finding {
    fn new(subject: Subject, name: &'static str, state: State) -> Self {
        Self { subject, name, state, version: None, detail: None, hint: None }
    }

    fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Says how to get it, if it cannot be used.
    fn hint(mut self, hint: &'static str) -> Self {
        self.hint = (self.state != State::Works).then_some(hint);
        self
    }
}

impl Subject {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::Agent => "agent",
            Self::Sandbox => "sandbox",
            Self::Tool => "tool",
        }
    }
}

impl State {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Works => "ok",
            Self::Missing => "missing",
            Self::Broken => "broken",
        }
    }
}

/// Names the sandboxes with a wall that work here, those first that keep most apart.
pub(crate) async fn working_sandboxes() -> Vec<&'static str> {
    let probes: [BoxFuture<'static, Finding>; 3] =
        [Box::pin(engines::docker()), Box::pin(engines::podman()), Box::pin(kernel::bubblewrap())];
    let findings = join_all(probes).await;
    findings.iter().filter(|found| found.state == State::Works).map(|found| found.name).collect()
}

/// Looks at everything at once.
pub(crate) async fn examine() -> Vec<Finding> {
    let mut probes: Vec<BoxFuture<'static, Finding>> = vec![Box::pin(tools::git())];
    probes.extend(agents::probes());
    probes.push(Box::pin(engines::docker()));
    probes.push(Box::pin(engines::podman()));
    probes.push(Box::pin(kernel::bubblewrap()));
    probes.push(Box::pin(async { kernel::landlock() }));
    probes.extend(tools::probes());
    join_all(probes).await
}
