//! What a model run has done so far: calls, attempts, usage, warnings; and what it may still do.

use serde::Serialize;

use super::event::{Audience, Callback, ModelRunEvent, ServedBy};
use crate::budget::{Budget, Spent};
use crate::error::{Error, ErrorKind};
use crate::output::{ExtractError, Problem};
use crate::strategy::{AnswerGuarantee, OutputStrategy};
use crate::work::{Attempt, AttemptOutcome, Usage, Work};

/// Records one answer that was judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ModelAttempt {
    /// Counts from 1.
    pub number: u32,
    /// The number of the call that gave the answer.
    pub iteration: u32,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// One line on what went wrong; absent when it was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Everything that was wrong with it, at most 100 problems and what is left of them as a number.
    pub problems: Vec<Problem>,
    /// How the schema reached the model.
    pub strategy: OutputStrategy,
    /// Who answered.
    pub served_by: ServedBy,
    /// What was used since the attempt before: by the answer, the calls of tools before it, and calls that failed.
    pub usage: Usage,
    /// What the model was told about it, as it was sent; absent when nothing more was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correction: Option<String>,
}

/// The most problems of one attempt that are kept; those of a validator may be any number.
const MAX_PROBLEMS: usize = 100;
/// The most characters of what a validator says of one problem.
const MAX_PROBLEM_CHARS: usize = 600;

/// The record of one run, with those who are told what is written into it.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) audience: Audience,
    pub(super) calls: u32,
    pub(super) usage: Usage,
    pub(super) attempts: Vec<ModelAttempt>,
    pub(super) warnings: Vec<String>,
    budget: Budget,
    max_calls: u32,
}

/// What keeps a run from calling once more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Limit {
    Calls(u32),
    Spent(Spent),
}

impl Ledger {
    pub(super) fn new(callback: Callback, budget: Budget, max_calls: u32) -> Self {
        Self {
            audience: Audience::new(callback),
            calls: 0,
            usage: Usage::default(),
            attempts: Vec::new(),
            warnings: Vec::new(),
            budget,
            max_calls,
        }
    }

    pub(super) fn tell(&self, event: &ModelRunEvent) {
        self.audience.tell(event);
    }

    pub(super) fn warn(&mut self, message: String) {
        self.tell(&ModelRunEvent::Warning { message: message.clone() });
        self.warnings.push(message);
    }

    /// Returns what keeps the run from calling once more.
    pub(super) fn limit(&self) -> Option<Limit> {
        let calls = (self.calls >= self.max_calls).then_some(Limit::Calls(self.max_calls));
        calls.or_else(|| self.spent())
    }

    /// Returns what of the budget is spent; a call that is made again asks for this alone.
    pub(super) fn spent(&self) -> Option<Limit> {
        self.budget.spent_by(&self.usage).map(Limit::Spent)
    }

    /// Notes an answer that was accepted.
    pub(super) fn accepted(&mut self, strategy: OutputStrategy, served_by: ServedBy, by: AnswerGuarantee) {
        let attempt = self.attempt(strategy, served_by);
        self.tell(&ModelRunEvent::AttemptAccepted { number: attempt.number, answer_guarantee: by });
        self.attempts.push(attempt);
        if let Some(limit) = self.spent() {
            self.warn(format!("{limit}; the answer was given all the same"));
        }
    }

    /// Notes an answer that was not; `correction` is what is said about it, with the attempts that are left.
    pub(super) fn refused(
        &mut self,
        strategy: OutputStrategy,
        served_by: ServedBy,
        error: &ExtractError,
        correction: Option<(String, u32)>,
    ) {
        let (correction, remaining) = correction.unzip();
        let attempt = ModelAttempt {
            outcome: error.stage().outcome(),
            message: Some(error.to_string()),
            problems: bounded(&error.problems),
            correction,
            ..self.attempt(strategy, served_by)
        };
        self.tell(&ModelRunEvent::AttemptFailed {
            number: attempt.number,
            outcome: attempt.outcome,
            message: error.to_string(),
            remaining: remaining.unwrap_or(0),
        });
        self.attempts.push(attempt);
    }

    fn attempt(&self, strategy: OutputStrategy, served_by: ServedBy) -> ModelAttempt {
        let earlier = self.attempts.iter().fold(Usage::default(), |sum, attempt| sum + attempt.usage);
        ModelAttempt {
            number: self.next_attempt(),
            iteration: self.calls,
            outcome: AttemptOutcome::Accepted,
            message: None,
            problems: Vec::new(),
            strategy,
            served_by,
            usage: self.usage.since(&earlier),
            correction: None,
        }
    }

    /// Returns the number of the attempt that is judged next.
    pub(super) fn next_attempt(&self) -> u32 {
        u32::try_from(self.attempts.len()).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// Writes it down as every run does; `text` is what was answered last.
    pub(super) fn work(&self, text: &str) -> Work {
        let attempts = self.attempts.iter().map(|attempt| Attempt {
            number: attempt.number,
            outcome: attempt.outcome,
            strategy: attempt.strategy,
            message: attempt.message.clone(),
            commits: Vec::new(),
            usage: attempt.usage,
            session_id: None,
        });
        Work {
            attempts: attempts.collect(),
            usage: self.usage,
            text: text.to_owned(),
            warnings: self.warnings.clone(),
            ..Work::default()
        }
    }
}

impl Limit {
    /// Words it as what ended the run `name`.
    pub(super) fn error(self, name: &str) -> Error {
        let hint = match self {
            Self::Calls(_) => "raise `max_iterations`",
            Self::Spent(_) => "raise `max_cost` or `max_tokens`",
        };
        let error = Error::new(ErrorKind::Budget, format!("finish `{name}`: {self}")).with_hint(hint);
        match self {
            Self::Calls(_) => error,
            Self::Spent(spent) => error.with_source(spent),
        }
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Calls(1) => f.write_str("the model may be called once"),
            Self::Calls(most) => write!(f, "the model may be called {most} times"),
            Self::Spent(spent) => spent.fmt(f),
        }
    }
}

fn bounded(problems: &[Problem]) -> Vec<Problem> {
    let cut = |text: &str| match text.char_indices().nth(MAX_PROBLEM_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    };
    let kept = problems.iter().take(MAX_PROBLEMS);
    let mut kept: Vec<_> =
        kept.map(|problem| Problem::new(cut(&problem.path), cut(&problem.message))).collect();
    if let Some(more) = problems.len().checked_sub(MAX_PROBLEMS).filter(|more| *more > 0) {
        kept.push(Problem::new("", format!("and {more} more")));
    }
    kept
}
