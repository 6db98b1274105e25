//! A GitHub on loopback, with one pull request: it plays the REST and the GraphQL interface from a fixture, with their pages
//! and their errors, and keeps what was said.
//!
//! Requests without the token, without a `user-agent` or without the version of the interface are refused as GitHub refuses
//! them. It binds a free port of 127.0.0.1 and is gone when it is dropped.
//!
//! ```ignore
//! let server = GitHubServer::start(Scene::new(&head, &base).branches("feature", "main"));
//! let github = server.client(); // or `--api-url server.url()`, with `TOKEN` in `GITHUB_TOKEN`
//! // ...
//! assert!(server.posted().is_empty());
//! ```

mod exchange;
mod graphql;
mod http;
mod rest;
mod scene;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sandcastle::forges::GitHub;

pub(crate) use self::exchange::{Reply, Request};
pub(crate) use self::rest::Posted;
pub(crate) use self::scene::Scene;
use super::loopback::{Loopback, Port};

/// The token that the server knows.
pub(crate) const TOKEN: &str = "ghp_loopbackTokenOfATest0123456789abcdef";

/// The repository that the server has.
pub(crate) const REPOSITORY: &str = "octo/sand";

/// The number of its pull request.
pub(crate) const NUMBER: u64 = 12;

/// A running server. One per test; dropping it stops it.
#[derive(Debug)]
pub(crate) struct GitHubServer {
    hub: Arc<Hub>,
    loopback: Loopback,
}

impl GitHubServer {
    /// Starts a server with this pull request.
    pub(crate) fn start(scene: Scene) -> Self {
        Self::with_paths(scene, Paths { rest: "", graphql: "/graphql" })
    }

    /// Starts a GitHub Enterprise Server, whose interfaces are at paths of their own:
    /// <https://docs.github.com/en/enterprise-server@latest/graphql/guides/managing-enterprise-accounts>
    pub(crate) fn start_enterprise(scene: Scene) -> Self {
        Self::with_paths(scene, Paths { rest: "/api/v3", graphql: "/api/graphql" })
    }

    fn with_paths(scene: Scene, paths: Paths) -> Self {
        let port = Port::free();
        let hub = Arc::new(Hub::new(scene, port.url(), paths));
        let serving = Arc::clone(&hub);
        let loopback =
            port.serve("GitHub server", move |request| http::answer(request, Arc::clone(&serving)));
        Self { hub, loopback }
    }

    /// The address of the REST interface.
    pub(crate) fn url(&self) -> String {
        self.loopback.url() + self.hub.paths.rest
    }

    /// The address of the host, where its repositories are.
    pub(crate) fn host(&self) -> String {
        self.loopback.url()
    }

    /// The repository, with the token.
    pub(crate) fn client(&self) -> GitHub {
        GitHub::new(REPOSITORY).base_url(self.url()).token(TOKEN)
    }

    /// Has at most so many on a page, whatever is asked for.
    pub(crate) fn page_size(self, size: usize) -> Self {
        self.hub.state().page_size = size;
        self
    }

    /// Answers in another way: requests of this method whose path ends in, or whose GraphQL query contains, these words. What was said
    /// last counts.
    pub(crate) fn on(
        &self,
        method: &'static str,
        words: &'static str,
        reply: impl Fn(&Request) -> Reply + Send + 'static,
    ) {
        self.hub.state().exceptions.insert(0, Exception { method, words, reply: Box::new(reply) });
    }

    /// Every request so far, in the order of arrival.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.hub.state().requests.clone()
    }

    /// What was said, in the order of arrival.
    pub(crate) fn posted(&self) -> Vec<Posted> {
        self.hub.state().posted.clone()
    }
}

/// What a server has, and what it was told.
#[derive(Debug)]
struct Hub {
    scene: Scene,
    base: String,
    paths: Paths,
    state: Mutex<State>,
}

/// Where the interfaces are.
#[derive(Clone, Copy, Debug)]
struct Paths {
    rest: &'static str,
    graphql: &'static str,
}

#[derive(Debug)]
struct State {
    page_size: usize,
    exceptions: Vec<Exception>,
    requests: Vec<Request>,
    posted: Vec<Posted>,
}

/// Another answer than the usual one.
struct Exception {
    method: &'static str,
    words: &'static str,
    reply: Box<dyn Fn(&Request) -> Reply + Send>,
}

impl Exception {
    fn is_for(&self, request: &Request) -> bool {
        let query = request.body["query"].as_str().unwrap_or_default();
        request.method == self.method && (request.path().ends_with(self.words) || query.contains(self.words))
    }
}

impl fmt::Debug for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exception({} {})", self.method, self.words)
    }
}

impl Hub {
    fn new(scene: Scene, host: String, paths: Paths) -> Self {
        let state =
            State { page_size: 100, exceptions: Vec::new(), requests: Vec::new(), posted: Vec::new() };
        Self { scene, base: host + paths.rest, paths, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, token: Option<&str>, request: &Request) -> Reply {
        let mut state = self.state();
        state.requests.push(request.clone());
        if let Some(refusal) = refusal(token, request) {
            return refusal;
        }
        if let Some(exception) = state.exceptions.iter().find(|exception| exception.is_for(request)) {
            return (exception.reply)(request);
        }
        let (reply, posted) = if request.method == "POST" && request.path() == self.paths.graphql {
            let answer = graphql::answer(&self.scene, state.page_size, &request.body);
            (Reply::json(200, &answer.body), answer.reply.map(Posted::Reply))
        } else if let Some(target) = request.target.strip_prefix(self.paths.rest) {
            let below = Request { target: target.to_owned(), ..request.clone() };
            rest::answer(&self.scene, &self.base, state.page_size, &below)
        } else {
            (rest::absent(), None)
        };
        state.posted.extend(posted);
        reply
    }
}

/// What GitHub says to requests that are none: <https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api>
fn refusal(token: Option<&str>, request: &Request) -> Option<Reply> {
    if request.header("user-agent").is_none_or(|agent| !agent.starts_with("sandcastle/")) {
        return Some(Reply::text(403, "text/html", "Request forbidden by administrative rules."));
    }
    if request.header("x-github-api-version") != Some("2022-11-28")
        || request.header("accept") != Some("application/vnd.github+json")
    {
        return Some(Reply::refusal(400, "the version or the kind of the answer is not said"));
    }
    (token != Some(&format!("Bearer {TOKEN}"))).then(|| Reply::refusal(401, "Bad credentials"))
}
