//! What a run may use at the most, in money and in tokens.
//!
//! A budget is only arithmetic: who spends it asks, and decides what to do when it is spent.

use std::fmt;

use crate::error::{Error, ErrorKind, Result};
use crate::work::Usage;

/// What may be used; nothing is limited by default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Budget {
    /// In US dollars.
    pub(crate) max_cost: Option<f64>,
    /// Tokens of every kind, read from a cache or not.
    pub(crate) max_tokens: Option<u64>,
}

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Spent {
    Cost { limit: f64, used: f64 },
    Tokens { limit: u64, used: u64 },
}

impl Budget {
    /// Checks the limits themselves.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] if one is zero, negative or no number.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(cost) = self.max_cost.filter(|cost| !(cost.is_finite() && *cost > 0.0)) {
            return Err(Error::new(
                ErrorKind::InvalidOptions,
                format!("use a `max_cost` of {cost} US dollars"),
            )
            .with_hint("a budget is a number above zero"));
        }
        if self.max_tokens == Some(0) {
            return Err(Error::new(ErrorKind::InvalidOptions, "use a `max_tokens` of 0")
                .with_hint("a budget is a number above zero"));
        }
        Ok(())
    }

    /// Returns the limit that `used` has reached, if there is one.
    pub(crate) fn spent_by(&self, used: &Usage) -> Option<Spent> {
        if let (Some(limit), Some(used)) = (self.max_cost, used.cost_usd)
            && used >= limit
        {
            return Some(Spent::Cost { limit, used });
        }
        let (limit, used) = (self.max_tokens?, used.total_tokens());
        (used >= limit).then_some(Spent::Tokens { limit, used })
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cost { limit, used } => {
                write!(f, "the budget of ${limit} is spent: ${used:.4} were used")
            }
            Self::Tokens { limit, used } => {
                write!(f, "the budget of {limit} tokens is spent: {used} were used")
            }
        }
    }
}
