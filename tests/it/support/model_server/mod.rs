//! A scripted model server: the model's side of a coding agent, on loopback.
//!
//! It speaks Anthropic Messages, OpenAI Responses, OpenAI Chat Completions, Gemini and Ollama, gives the replies of a script one
//! after the other, and keeps every request for the test to look at. It binds a free port of 127.0.0.1 and is gone when
//! it is dropped: its thread owns the runtime and with it every connection.
//!
//! ```ignore
//! let server = ModelServer::start([
//!     Reply::shell("git commit --allow-empty -m done"),
//!     Reply::text("<result>{\"n\":1}</result>"),
//! ]);
//! // ... run an agent against `server.url()` ...
//! assert!(server.turns()[1].tool_results()[0].contains("done"));
//! ```

mod http;
mod ledger;
mod offer;
mod police;
mod reply;
mod request;
mod wire;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use self::ledger::{Audience, Ledger};
pub(crate) use self::police::Law;
pub(crate) use self::reply::Reply;
pub(crate) use self::request::Request;
use super::loopback::{Loopback, Port};

/// How long a test waits for a request before it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server. One per test; dropping it stops it.
#[derive(Debug)]
pub(crate) struct ModelServer {
    ledger: Arc<Ledger>,
    loopback: Loopback,
}

impl ModelServer {
    /// Starts a server that gives these replies, in this order, to the requests that offer tools.
    ///
    /// Requests without tools (titles, summaries) are answered aside and use up nothing. A request after the
    /// last reply is refused with status 400, which no agent repeats, and a message that says so.
    pub(crate) fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::with(Audience::Agents, replies)
    }

    /// Starts a server for clients of the services themselves: every request is answered by the script, unless it breaks the
    /// law of its service. Then it is refused in that service's words, and no reply is used up.
    pub(crate) fn for_clients(law: Law, replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::with(Audience::Clients(law), replies)
    }

    fn with(audience: Audience, replies: impl IntoIterator<Item = Reply>) -> Self {
        let ledger = Arc::new(Ledger::new(audience, replies));
        let serving = Arc::clone(&ledger);
        let answer = move |request| http::answer(request, Arc::clone(&serving));
        Self { ledger, loopback: Port::free().serve("model server", answer) }
    }

    /// The address without a path, as Anthropic's clients want it.
    pub(crate) fn url(&self) -> String {
        self.loopback.url()
    }

    /// Every request so far, in the order of arrival.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.ledger.requests()
    }

    /// The requests that a reply of the script answered, in the order of arrival.
    pub(crate) fn turns(&self) -> Vec<Request> {
        self.requests().into_iter().filter(Request::is_turn).collect()
    }

    /// How many streams the client went away from before their end.
    pub(crate) fn abandoned(&self) -> usize {
        self.ledger.abandoned()
    }

    /// Waits until the script has answered this many requests.
    ///
    /// Blocks its thread: in an async test call it through `spawn_blocking`.
    pub(crate) fn wait_for_turns(&self, count: usize) {
        let started = Instant::now();
        while self.turns().len() < count {
            assert!(
                started.elapsed() < PATIENCE,
                "the agent sent {} of {count} requests in {PATIENCE:?}",
                self.turns().len()
            );
            thread::sleep(Duration::from_millis(10));
        }
    }
}
