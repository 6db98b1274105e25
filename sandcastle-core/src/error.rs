//! The one error type of the library.
//!
//! Every module describes its failures in its own words and turns them into [`Error`] at its edge. What a caller
//! needs in order to react is the [`ErrorKind`], the hints, and the [`Work`] that had been done by then.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

use crate::work::Work;

/// Result of the fallible functions of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

type Source = Box<dyn StdError + Send + Sync + 'static>;

/// Reports why an operation failed, and what had been done by then.
///
/// `{}` is one lowercase line that completes "failed to ..."; `{:#}` adds the chain of causes, one per line, and the
/// hints. `{:?}` is the whole sentence, because that is what `main` and `unwrap` show; `{:#?}` is every field.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    hints: Vec<String>,
    work: Option<Work>,
    source: Option<Source>,
}

/// Classifies an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The options contradict each other or the agent; the agent was asked for nothing.
    InvalidOptions,
    /// The prompt is missing, unreadable or does not fit the output that is asked for; the agent was asked for nothing.
    Prompt,
    /// The schema or the tag of an output cannot be used; nothing was started.
    InvalidOutput,
    /// Git is missing, failed, or the folder is not a repository it can work in.
    Git,
    /// A worktree could not be made, used or put away.
    Worktree,
    /// Another run that is alive works on the branch.
    BranchBusy,
    /// The commits could not be merged into the target branch: a conflict, or a checkout in the way. They are on the
    /// source branch.
    Merge,
    /// The agent changed what git executes: configuration, hooks or attributes of the repository.
    RepositoryChanged,
    /// A file could not be copied into the worktree.
    Copy,
    /// A hook failed.
    Hook,
    /// A shell expression of the prompt failed.
    PromptExpansion,
    /// A step around the agent took longer than its limit.
    StepTimeout,
    /// The sandbox could not be started or used.
    Sandbox,
    /// What was done in a sandbox could not be brought back, or what it needs not be brought in. What came back so far is kept,
    /// and the message says where.
    Sync,
    /// The agent program could not be started.
    AgentStart,
    /// The agent ran and failed: a failed turn, a bad exit, a death by signal or an empty answer.
    AgentFailed,
    /// The session to resume or fork is not known to the agent.
    SessionNotFound,
    /// The agent finished its work and named no session, so there is none to ask for the output in.
    NoSession,
    /// The agent was silent for longer than the idle timeout.
    IdleTimeout,
    /// The run took longer than the total timeout.
    TotalTimeout,
    /// The run was cancelled.
    Cancelled,
    /// What may be spent was spent before there was an outcome: money, tokens, or calls of a model.
    Budget,
    /// The model's service gave no answer.
    ModelFailed,
    /// The agent finished, and no valid structured output was obtained.
    StructuredOutput,
    /// The document or the steps of a workflow are wrong; nothing was started.
    InvalidWorkflow,
    /// A step of a workflow failed by the workflow's own rules: a command, an expression, a confidence that is too low.
    WorkflowStep,
    /// A code host could not be reached, or refused what was asked of it.
    Forge,
    /// A workflow of a pull request ended with nothing that could be given.
    NothingProduced,
    /// A file could not be read or written.
    Io,
}

impl Error {
    /// Creates an error; `message` is a lowercase fragment that completes "failed to ...".
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), hints: Vec::new(), work: None, source: None }))
    }

    /// Adds a reason to the message.
    pub(crate) fn because(mut self, reason: &str) -> Self {
        self.0.message = format!("{}: {reason}", self.0.message);
        self
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Source>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Adds one sentence on what to do.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hints.push(hint.into());
        self
    }

    /// Adds what had been done before the failure.
    #[must_use]
    pub fn with_work(mut self, work: Work) -> Self {
        self.0.work = Some(work);
        self
    }

    /// Returns what kind of failure this is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns what to do about it, in the order of usefulness.
    #[must_use]
    pub fn hints(&self) -> &[String] {
        &self.0.hints
    }

    /// Returns what the run had done by then; `None` when a check failed before it had begun to keep a record.
    #[must_use]
    pub fn work(&self) -> Option<&Work> {
        self.0.work.as_ref()
    }

    /// Tells whether the failure was found before the agent, or a model, was asked for anything.
    ///
    /// Nearly all of it is checked before anything is made. Two things are known only in the sandbox, which is put away again:
    /// the version of the agent's program, where its own structured output is asked for, and what the commands in a prompt print.
    #[must_use]
    pub fn is_entry_check(&self) -> bool {
        match self.kind() {
            ErrorKind::InvalidOptions
            | ErrorKind::Prompt
            | ErrorKind::InvalidOutput
            | ErrorKind::InvalidWorkflow => true,
            // These are found at the entry, or later by a run that has a record of what it did.
            ErrorKind::Git | ErrorKind::SessionNotFound => self.work().is_none(),
            _ => false,
        }
    }

    /// Tells whether the run ended because it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.kind() == ErrorKind::Cancelled
    }

    /// Tells whether a time limit ended the run.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self.kind(), ErrorKind::IdleTimeout | ErrorKind::TotalTimeout | ErrorKind::StepTimeout)
    }

    /// Puts the message, the hints and the causes into other words. A cause whose words stay the same stays what it is.
    pub(crate) fn reworded(mut self, word: &dyn Fn(&str) -> Cow<'_, str>) -> Self {
        let inner = &mut *self.0;
        inner.message = word(&inner.message).into_owned();
        inner.hints.iter_mut().for_each(|hint| *hint = word(hint).into_owned());
        if let Some(source) = inner.source.as_deref()
            && let Some(reworded) = Reworded::unless_the_same(source, word)
        {
            inner.source = Some(Box::new(reworded));
        }
        self
    }

    pub(crate) fn source_as_mut<E: StdError + 'static>(&mut self) -> Option<&mut E> {
        self.0.source.as_deref_mut().and_then(|source| source.downcast_mut())
    }

    /// Finds the first of its causes that is an `E`.
    pub(crate) fn source_as<E: StdError + 'static>(&self) -> Option<&E> {
        let mut causes = std::iter::successors(self.source(), |&cause| cause.source());
        causes.find_map(|cause| cause.downcast_ref())
    }
}

/// A cause in other words.
pub(crate) struct Reworded {
    said: String,
    at_length: String,
    source: Option<Box<Self>>,
}

impl Reworded {
    /// Puts an error and its causes into other words, if those are others.
    pub(crate) fn unless_the_same(
        error: &(dyn StdError + 'static),
        word: &dyn Fn(&str) -> Cow<'_, str>,
    ) -> Option<Self> {
        let mut cause = Some(error);
        while let Some(part) = cause {
            let shown = format!("{part:#}\n{part:?}");
            if word(&shown) != shown {
                return Some(Self::of(error, word));
            }
            cause = part.source();
        }
        None
    }

    fn of(error: &(dyn StdError + 'static), word: &dyn Fn(&str) -> Cow<'_, str>) -> Self {
        Self {
            said: word(&error.to_string()).into_owned(),
            at_length: word(&format!("{error:#}")).into_owned(),
            source: error.source().map(|source| Box::new(Self::of(source, word))),
        }
    }
}

impl fmt::Display for Reworded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if f.alternate() { &self.at_length } else { &self.said })
    }
}

impl fmt::Debug for Reworded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.at_length)
    }
}

impl StdError for Reworded {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        if f.alternate() {
            let mut cause = self.source();
            while let Some(error) = cause {
                let said = format!("{error:#}");
                // What the message repeats of its cause is not said again, only what the cause adds to it.
                match said.strip_prefix(&error.to_string()) {
                    Some(more) if self.0.message.contains(&error.to_string()) => f.write_str(more)?,
                    _ => write!(f, "\n  caused by: {said}")?,
                }
                cause = error.source();
            }
            for hint in &self.0.hints {
                write!(f, "\n  hint: {hint}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return write!(f, "failed to {self:#}");
        }
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .field("hints", &self.0.hints)
            .field("work", &self.0.work)
            .field("source", &self.0.source)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_pointer_wide_and_can_cross_threads() {
        fn assert_send_sync<T: Send + Sync + 'static>() {}
        assert_send_sync::<Error>();
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }

    #[test]
    fn the_alternate_form_does_not_repeat_what_the_message_says() {
        let error = Error::new(ErrorKind::Git, "open it: disk on fire")
            .with_source(std::io::Error::other("disk on fire"));
        assert_eq!(format!("{error:#}"), "open it: disk on fire");
    }

    #[test]
    fn the_alternate_form_adds_causes_and_hints() {
        let error = Error::new(ErrorKind::Git, "open the repository")
            .with_source(std::io::Error::other("disk on fire"))
            .with_hint("run `git init`");
        assert_eq!(error.to_string(), "open the repository");
        assert_eq!(
            format!("{error:#}"),
            "open the repository\n  caused by: disk on fire\n  hint: run `git init`"
        );
    }

    #[test]
    fn what_main_and_unwrap_show_can_be_read() {
        let error = Error::new(ErrorKind::Git, "open the repository").with_hint("run `git init`");
        assert_eq!(format!("{error:?}"), "failed to open the repository\n  hint: run `git init`");
        assert!(format!("{error:#?}").contains("kind: Git"));
    }
}
