//! Why GitHub did not do what it was asked: its status, its own words, what its headers say, and what to do about it.
//!
//! Its words are on one line, cut and without the token before they become a message. Nothing is tried again here.

use std::fmt;

use http::HeaderMap;
use jiff::Timestamp;
use octocrab::GitHubError;
use sandcastle_core::secret::Token;
use sandcastle_core::{Error, ErrorKind};
use serde::Deserialize;
use serde_json::Value;

use crate::excerpt::{cut, masked, one_line};
use crate::transport::{Objection, Subject};

/// The most bytes of a message.
const MAX_MESSAGE: usize = 1000;

/// The most of the errors in one refusal that are shown.
const MAX_ERRORS: usize = 5;

/// What to do about a refusal where there is no token.
const NO_TOKEN: &str = "give a token: without one GitHub tells little, and nothing of threads, not even those of public pull requests";

/// What went wrong with one request.
#[derive(Debug)]
pub(super) struct Failure {
    kind: ErrorKind,
    words: String,
    hints: Vec<String>,
    fate: Fate,
    is_absence: bool,
    is_denial: bool,
}

/// What became of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// GitHub did not do it, or it was not sent.
    Refused,
    /// Nobody here knows.
    Unknown,
}

/// What a request was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// To learn something: it can be asked again.
    Read,
    /// To say something: said again, it would be there twice.
    Write,
}

impl Failure {
    /// Something that GitHub answered, and that cannot be.
    pub(super) fn strange(problem: impl fmt::Display) -> Self {
        Self::new(format!("the answer cannot be used: {problem}"), Fate::Unknown).with_hint(
            "see that the base address is that of GitHub's interface, and that no proxy answers in its place",
        )
    }

    /// More than anybody means to read.
    pub(super) fn beyond(bound: impl fmt::Display) -> Self {
        Self::new(format!("there is more than is read of a pull request: {bound}"), Fate::Unknown)
    }

    /// Nothing came back, or not all of it.
    pub(super) fn lost(problem: impl Into<String>) -> Self {
        Self::new(problem, Fate::Unknown)
    }

    /// Nothing was sent.
    pub(super) fn unsent(problem: impl Into<String>) -> Self {
        Self::new(problem, Fate::Refused)
    }

    /// GitHub wants the request at another place, which is not shown: a host may name it after what it was told.
    pub(super) fn moved() -> Self {
        let words = "it wants the request at another address, and redirects are not followed";
        Self { is_absence: true, ..Self::new(words, Fate::Refused) }
            .with_hint("the repository may have been renamed: give the name that it has now")
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// What an answer of GraphQL says is wrong, under whatever status it came.
    pub(super) fn of_errors(errors: &[GraphQlError], headers: &HeaderMap) -> Self {
        let message = errors.iter().take(MAX_ERRORS).map(GraphQlError::words).collect::<Vec<_>>().join("; ");
        let reason = errors.iter().find_map(|error| Reason::of_error(error, headers));
        let failure = Self::new(format!("GitHub says: {message}"), Fate::Refused);
        reason.unwrap_or(Reason::Unsaid).explain(failure)
    }

    /// Tells whether GitHub says that something is not there, or not for whom the token belongs to, or elsewhere by now.
    pub(super) fn is_absence(&self) -> bool {
        self.is_absence
    }

    /// The error of a caller who asked for `what`, a fragment that completes "failed to ...".
    pub(super) fn into_error(self, what: &str, intent: Intent, token: Option<&Token>) -> Error {
        let shown = |text: &str| {
            cut(&masked(&one_line(text), token.map(Token::reveal).into_iter()), MAX_MESSAGE).to_owned()
        };
        let mut error = Error::new(self.kind, shown(&format!("{what}: {}", self.words)));
        if intent == Intent::Write && self.fate == Fate::Unknown {
            error = error.with_hint("it may have arrived: look at the pull request before it is said again");
        }
        match token {
            // Whatever GitHub says then, such as that too much was asked, it says for want of one.
            None if self.is_denial => error.with_hint(NO_TOKEN),
            _ => self.hints.iter().fold(error, |error, hint| error.with_hint(shown(hint))),
        }
    }

    fn new(words: impl Into<String>, fate: Fate) -> Self {
        Self {
            kind: ErrorKind::Forge,
            words: words.into(),
            hints: Vec::new(),
            fate,
            is_absence: false,
            is_denial: false,
        }
    }

    /// Whether it is where a comment was to be that GitHub does not know.
    fn is_about_lines(&self) -> bool {
        let words = self.words.to_lowercase();
        ["diff", "could not be resolved", "commit"].iter().any(|word| words.contains(word))
    }

    /// What a status says, with the words that came with it.
    fn of_refusal(refusal: &GitHubError) -> Self {
        let status = refusal.status_code.as_u16();
        let headers = refusal.headers.clone().unwrap_or_default();
        let message = match refusal.message.trim_start() {
            page if page.starts_with('<') => "a page for people".to_owned(),
            words => format!("`{words}`"),
        };
        let details = refusal.errors.iter().flatten().take(MAX_ERRORS).map(detail);
        let words = std::iter::once(message).chain(details).collect::<Vec<_>>().join("; ");
        let failure = Self::new(format!("GitHub answers with status {status} and {words}"), Fate::Refused);
        Reason::of_status(status, &refusal.message, &headers).explain(failure)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for Failure {}

impl From<octocrab::Error> for Failure {
    fn from(error: octocrab::Error) -> Self {
        match error {
            octocrab::Error::GitHub { source, .. } => Self::of_refusal(&source),
            octocrab::Error::Json { source, .. } => Self::strange(source),
            octocrab::Error::Service { source, .. } => match source.downcast::<Self>() {
                Ok(failure) => *failure,
                Err(other) => Self::lost(format!("the request was not made: {other}")),
            },
            other => Self::lost(format!("the request was not made: {other}")),
        }
    }
}

impl From<Objection> for Failure {
    fn from(objection: Objection) -> Self {
        let mut failure = Self::unsent(objection.words);
        if objection.to == Subject::Given {
            failure.kind = ErrorKind::InvalidOptions;
        }
        failure.hints.extend(objection.hint.map(str::to_owned));
        failure
    }
}

/// One error in an answer of GraphQL.
#[derive(Debug, Deserialize)]
pub(super) struct GraphQlError {
    #[serde(default)]
    message: String,
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

impl GraphQlError {
    fn words(&self) -> String {
        match &self.kind {
            Some(kind) => format!("`{}` ({kind})", self.message),
            None => format!("`{}`", self.message),
        }
    }
}

/// What is behind a refusal, as far as it changes what somebody does about it.
enum Reason {
    Token,
    Limit { until: Option<Timestamp>, seconds: Option<u64> },
    SingleSignOn,
    Permission { wanted: Option<String> },
    Absent,
    Gone,
    Invalid,
    Trouble,
    Unsaid,
}

impl Reason {
    fn of_status(status: u16, message: &str, headers: &HeaderMap) -> Self {
        match status {
            401 => Self::Token,
            403 | 429 => Self::of_denial(status, message, headers),
            404 => Self::Absent,
            410 => Self::Gone,
            422 => Self::Invalid,
            500.. => Self::Trouble,
            _ => Self::Unsaid,
        }
    }

    /// Whether it is too much, or too little: both come with the same status.
    fn of_denial(status: u16, message: &str, headers: &HeaderMap) -> Self {
        let is_spent = text(headers, "x-ratelimit-remaining") == Some("0");
        let seconds = text(headers, "retry-after").and_then(|seconds| seconds.parse().ok());
        if status == 429 || is_spent || seconds.is_some() || message.to_lowercase().contains("rate limit") {
            return Self::Limit { until: reset(headers).filter(|_| is_spent), seconds };
        }
        if headers.contains_key("x-github-sso") {
            return Self::SingleSignOn;
        }
        let wanted = ["x-accepted-github-permissions", "x-accepted-oauth-scopes"];
        let wanted = wanted.into_iter().find_map(|name| text(headers, name).filter(|text| !text.is_empty()));
        Self::Permission { wanted: wanted.map(str::to_owned) }
    }

    fn of_error(error: &GraphQlError, headers: &HeaderMap) -> Option<Self> {
        Some(match error.kind.as_deref()? {
            "RATE_LIMITED" | "RATE_LIMIT" => Self::Limit { until: reset(headers), seconds: None },
            "FORBIDDEN" | "INSUFFICIENT_SCOPES" => Self::Permission { wanted: None },
            "NOT_FOUND" => Self::Absent,
            "UNPROCESSABLE" => Self::Invalid,
            "SERVICE_UNAVAILABLE" | "INTERNAL" => Self::Trouble,
            _ => return None,
        })
    }

    fn explain(self, mut failure: Failure) -> Failure {
        failure.is_absence = matches!(self, Self::Absent | Self::Gone | Self::Permission { .. });
        failure.is_denial = matches!(self, Self::Token | Self::Limit { .. } | Self::Permission { .. });
        let hint = match self {
            Self::Token => "give a token that GitHub knows: this one is wrong, has expired or was revoked".to_owned(),
            Self::Limit { until: Some(until), .. } => format!("the rate limit is used up until {until}"),
            Self::Limit { seconds: Some(seconds), .. } => {
                format!("GitHub wants to be left alone for {seconds} s: too much was asked in a short time")
            }
            Self::Limit { .. } => {
                "wait for some minutes: too much was asked in a short time, and GitHub does not say for how long".to_owned()
            }
            Self::SingleSignOn => {
                "authorise the token for the single sign-on of the organization, on GitHub's page of tokens".to_owned()
            }
            Self::Permission { wanted: Some(wanted) } => {
                format!("give a token that is permitted to do it; GitHub accepts one with `{wanted}`")
            }
            Self::Permission { wanted: None } => {
                "give a token that is permitted to do it: to read and write pull requests, and to read issues".to_owned()
            }
            Self::Absent => {
                "see that the name and the number are right and that the token may see them: GitHub says the same of what is not there and of what is hidden".to_owned()
            }
            Self::Gone => "the repository has it no more, or has turned it off".to_owned(),
            Self::Invalid if !failure.is_about_lines() => return failure,
            Self::Invalid => {
                "GitHub takes comments only on lines of the diff that it has: push the commits before, and see that nobody pushed meanwhile".to_owned()
            }
            Self::Trouble => {
                failure.fate = Fate::Unknown;
                "the trouble is GitHub's: look at its status page, and ask again later".to_owned()
            }
            Self::Unsaid => return failure,
        };
        failure.with_hint(hint)
    }
}

/// One of the errors of a refusal: words, or an object that has some.
fn detail(error: &Value) -> String {
    let words = |key| error[key].as_str();
    match error {
        Value::String(words) => words.clone(),
        _ => match (words("message"), words("field"), words("code")) {
            (Some(message), _, _) => message.to_owned(),
            (None, Some(field), Some(code)) => format!("{field}: {code}"),
            _ => error.to_string(),
        },
    }
}

/// When what may be asked begins anew.
fn reset(headers: &HeaderMap) -> Option<Timestamp> {
    Timestamp::from_second(text(headers, "x-ratelimit-reset")?.parse().ok()?).ok()
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}
