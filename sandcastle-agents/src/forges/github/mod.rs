//! GitHub, over its REST and GraphQL interfaces.
//!
//! `address` is where it is and `gate` the only way there; `client` asks by way of it, and `page` reads lists to their end or
//! to a bound. `read` and `write` are what a [`Forge`] does, in the shapes of `wire`; `failure` is what is said when it does
//! not. The token goes into a header and nowhere else. Nothing is asked twice, and nothing is read from the environment.

mod address;
mod client;
mod closing;
mod failure;
mod gate;
mod page;
mod read;
mod wire;
mod write;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sandcastle_core::forge::{CommentId, Forge, ForgeFuture, NewReview, PullRequest};
use sandcastle_core::secret::Token;
use sandcastle_core::{Error, ErrorKind, Result};

use self::address::{Address, OFFICIAL, RepositoryName};
use self::client::Client;
use self::failure::{Failure, Intent};
use self::gate::Gate;
use self::read::Reader;
use self::write::Writer;
use crate::transport::{Proxies, Transport, is_loopback, unusable};

/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The greatest number that GraphQL can ask for.
const MAX_NUMBER: u64 = i32::MAX as u64;

/// A repository on GitHub, or on a GitHub Enterprise Server.
///
/// Pull requests are read whole, page by page, within bounds: 10 000 comments, reviews and issues, 200 pages of one list,
/// 16 MiB of one answer and 64 MiB of all. Requests are sent once, to the base address and nowhere else; redirects are not
/// followed. A dropped future closes its connection; what had been sent may have arrived.
///
/// GraphQL, and with it the threads of a pull request, wants a token: one that may read and write pull requests and read
/// issues. It is never shown.
///
/// ```no_run
/// use sandcastle_agents::forges::GitHub;
/// use sandcastle_core::forge::Forge;
///
/// # async fn example(token: String) -> sandcastle_core::Result<()> {
/// let github = GitHub::new("owner/name").token(token);
/// let pull_request = github.pull_request(12).await?;
/// for thread in pull_request.unresolved() {
///     println!("{}: {}", thread.path, thread.comments[0].body);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct GitHub {
    repository: String,
    base: String,
    token: Option<Token>,
    timeout: Duration,
    transport: Transport,
    connections: Arc<OnceLock<reqwest::Client>>,
}

impl GitHub {
    /// Names a repository, as `owner/name`. It is checked when it is used.
    #[must_use]
    pub fn new(repository: impl Into<String>) -> Self {
        Self {
            repository: repository.into(),
            base: OFFICIAL.to_owned(),
            token: None,
            timeout: PATIENCE,
            transport: Transport::default(),
            connections: Arc::default(),
        }
    }

    /// Sets the token that requests are made with: a personal one, that of an installation, or the `GITHUB_TOKEN` of a
    /// workflow.
    #[must_use]
    pub fn token(mut self, token: impl Into<Token>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Sets the address of the REST interface; the default is `https://api.github.com`.
    ///
    /// That of a GitHub Enterprise Server ends in `/api/v3`, and its GraphQL interface is at `/api/graphql`; everywhere else
    /// it is at `/graphql` below the base. A token is sent only over TLS, or to this machine.
    #[must_use]
    pub fn base_url(mut self, base: impl Into<String>) -> Self {
        self.base = base.into();
        self.connections = Arc::default();
        self
    }

    /// Sets how long one request may take, with its answer; the default is 30 seconds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self.transport.connect = timeout;
        self.connections = Arc::default();
        self
    }

    /// Sends requests by way of the proxies that the environment names (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY` and the like) or
    /// the settings of the system do; by default nobody looks for any. What is on this machine is never reached through a
    /// proxy.
    #[must_use]
    pub fn system_proxies(mut self) -> Self {
        self.transport.proxies = Proxies::OfTheSystem;
        self.connections = Arc::default();
        self
    }

    /// Trusts a server whose certificate is signed by this one, or by one of these, beside those whom the platform trusts. It
    /// is PEM, as a file of it is.
    #[must_use]
    pub fn root_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
        let pem: Vec<u8> = pem.into();
        self.transport.roots.push(pem.into());
        self.connections = Arc::default();
        self
    }

    /// What everything that is asked begins with: the name, checked, and a client.
    fn begin(&self) -> Result<(RepositoryName, Client)> {
        let repository = RepositoryName::read(&self.repository).ok_or_else(|| {
            let shown = self.repository.escape_debug().to_string();
            Error::new(ErrorKind::InvalidOptions, format!("use `{shown:.100}` as a repository of GitHub"))
                .with_hint("a repository is named `owner/name`")
        })?;
        let address = Address::new(&self.base)?;
        if self.token.is_some() && address.url().scheme() != "https" && !is_loopback(address.url()) {
            let problem = "send the token to a base address that begins with `http://`: everybody on the way could read it";
            return Err(Error::new(ErrorKind::InvalidOptions, problem).with_hint("begin it with `https://`"));
        }
        let connections = self
            .connections(&address)
            .map_err(|failure| self.error(failure, "reach GitHub", Intent::Read))?;
        let gate = Gate::new(connections, address.clone(), self.token.as_ref(), self.timeout)?;
        Ok((repository, Client::new(gate, address)))
    }

    /// The connections that clones share.
    fn connections(&self, address: &Address) -> Result<reqwest::Client, Failure> {
        if let Some(client) = self.connections.get() {
            return Ok(client.clone());
        }
        let builder = self.transport.client(address.url())?.timeout(self.timeout);
        let client = builder.build().map_err(|error| unusable(&error))?;
        Ok(self.connections.get_or_init(|| client).clone())
    }

    fn error(&self, failure: Failure, what: &str, intent: Intent) -> Error {
        failure.into_error(what, intent, self.token.as_ref())
    }

    /// What a pull request is called in messages.
    fn called(&self, number: u64) -> String {
        format!("pull request #{number} of `{}`", self.repository)
    }

    async fn write<T>(
        &self,
        pull_request: &PullRequest,
        what: &str,
        write: impl AsyncFnOnce(Writer<'_>) -> Result<T, Failure>,
    ) -> Result<T> {
        let (repository, client) = self.begin()?;
        let what = format!("{what} {}", self.called(pull_request.number));
        let writer = Writer { client, repository: &repository, pull: pull_request };
        write(writer).await.map_err(|failure| self.error(failure, &what, Intent::Write))
    }
}

impl Forge for GitHub {
    fn name(&self) -> &str {
        "github"
    }

    fn repository(&self) -> &str {
        &self.repository
    }

    fn pull_request(&self, number: u64) -> ForgeFuture<'_, PullRequest> {
        Box::pin(async move {
            let what = format!("read {}", self.called(number));
            if number == 0 || number > MAX_NUMBER {
                return Err(Error::new(ErrorKind::Forge, format!("{what}: none has this number")));
            }
            let (repository, client) = self.begin()?;
            let reader = Reader { client, repository: &repository };
            reader.read(number).await.map_err(|failure| self.error(failure, &what, Intent::Read))
        })
    }

    fn reply<'a>(
        &'a self,
        pull_request: &'a PullRequest,
        comment: &'a CommentId,
        body: &'a str,
    ) -> ForgeFuture<'a, String> {
        Box::pin(self.write(pull_request, "reply in", async |writer| writer.reply(comment, body).await))
    }

    fn review<'a>(&'a self, pull_request: &'a PullRequest, review: &'a NewReview) -> ForgeFuture<'a, String> {
        Box::pin(self.write(pull_request, "post a review of", async |writer| writer.review(review).await))
    }

    fn comment<'a>(&'a self, pull_request: &'a PullRequest, body: &'a str) -> ForgeFuture<'a, String> {
        Box::pin(self.write(pull_request, "comment on", async |writer| writer.comment(body).await))
    }
}

impl fmt::Debug for GitHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = reqwest::Url::parse(&self.base).ok().and_then(|url| url.host_str().map(str::to_owned));
        f.debug_struct("GitHub")
            .field("repository", &self.repository)
            .field("host", &host)
            .field("token", &self.token)
            .field("timeout", &self.timeout)
            .field("transport", &self.transport)
            .finish_non_exhaustive()
    }
}
