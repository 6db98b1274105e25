//! The budget of a run: whether another agent process may be paid, and what is said when not.
//!
//! It covers the whole run, retries and iterations included, and counts what the agent itself tells. Whoever listens to a
//! process ends it; here it is only known when.

use super::event::RunEvent;
use super::ledger::Ledger;
use super::options::Settings;
use crate::agent::Metering;
use crate::budget::{Budget, Spent};
use crate::error::{Error, ErrorKind, Result};
use crate::work::Usage;

/// Checks the limits, and that the agent can be held to them.
pub(super) fn check(settings: &Settings) -> Result<()> {
    let (budget, can) = (&settings.budget, settings.agent.capabilities());
    budget.check()?;
    let agent = settings.agent.name();
    let refused = |option: &str, what: &str| {
        let message = format!("hold the agent `{agent}` to a `{option}`: it does not tell {what}");
        Error::new(ErrorKind::InvalidOptions, message)
    };
    if budget.max_cost.is_some() && can.cost == Metering::Absent {
        let error = refused("max_cost", "what it costs");
        return Err(match can.tokens {
            Metering::Absent => error.with_hint(INSTEAD),
            _ => error.with_hint("use `max_tokens`, which it can be held to"),
        });
    }
    if budget.max_tokens.is_some() && can.tokens == Metering::Absent {
        return Err(refused("max_tokens", "how many tokens it uses").with_hint(INSTEAD));
    }
    Ok(())
}

/// What limits an agent that tells nothing of what it uses.
const INSTEAD: &str = "limit it with `total_timeout`";

/// Words that the run did not come to its end for want of a budget, while it was about to do `what`.
pub(super) fn error_of(spent: Spent, what: &str) -> Error {
    let option = match spent {
        Spent::Cost { .. } => "max_cost",
        Spent::Tokens { .. } => "max_tokens",
    };
    Error::new(ErrorKind::Budget, format!("{what}: {spent}"))
        .with_source(spent)
        .with_hint(format!("raise `{option}`, or resume the session to go on with a new budget"))
}

impl Ledger {
    /// Checks that another agent process may be paid, which is needed to do `what`.
    ///
    /// # Errors
    /// [`ErrorKind::Budget`] when the budget is spent.
    pub(super) fn afford(&mut self, budget: &Budget, what: &str) -> Result<()> {
        let Some(spent) = budget.spent_by(&self.work.usage) else { return Ok(()) };
        self.budget_reached(spent);
        Err(error_of(spent, what))
    }

    /// Tells, once, that a budget is spent.
    pub(super) fn budget_reached(&mut self, spent: Spent) {
        if !std::mem::replace(&mut self.budget_told, true) {
            self.tell(&RunEvent::BudgetReached { spent });
        }
    }

    /// Notes that a run has come to a good end over its budget: what is done and paid for is not thrown away.
    pub(super) fn note_overspending(&mut self, budget: &Budget) {
        if let Some(spent) = budget.spent_by(&self.work.usage) {
            self.budget_reached(spent);
            self.warn(format!("{spent}; the run had come to its end by then"));
        }
    }

    /// Warns of an agent that has used something and tells no cost: it has no price for the model.
    pub(super) fn look_for_a_price(&mut self, budget: &Budget, agent: &str, used: &Usage) {
        if budget.max_cost.is_some() && used.cost_usd.is_none() && used.total_tokens() > 0 {
            self.warn_once(format!(
                "`{agent}` told no cost of what it used: it has no price for the model, so `max_cost` does not limit it, and \
                 `max_tokens` would"
            ));
        }
    }
}

impl Error {
    /// Returns the budget that ended the run, or that ended the retries of a structured output.
    #[must_use]
    pub fn spent(&self) -> Option<&Spent> {
        self.source_as().or_else(|| self.structured_output()?.spent.as_ref())
    }
}
