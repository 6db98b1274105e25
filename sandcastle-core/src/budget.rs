//! What a run may use at the most, in money and in tokens.
//!
//! A budget is only arithmetic: who spends it asks, and decides what to do when it is spent.

use std::fmt;

use serde::Serialize;

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

/// Says which budget was reached, and what had been used by then.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Spent {
    /// The one of money.
    Cost {
        /// What was allowed, in US dollars.
        limit: f64,
        /// What was used, in US dollars.
        used: f64,
    },
    /// The one of tokens.
    Tokens {
        /// How many were allowed.
        limit: u64,
        /// How many were used.
        used: u64,
    },
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

    /// Returns what may still be paid after `used`, in US dollars; `None` without a limit on money.
    pub(crate) fn money_left(&self, used: &Usage) -> Option<f64> {
        Some((self.max_cost? - used.cost_usd.unwrap_or_default()).max(0.0))
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

impl std::error::Error for Spent {}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(tokens: u64, cost: Option<f64>) -> Usage {
        Usage { output_tokens: tokens, cost_usd: cost, ..Usage::default() }
    }

    #[test]
    fn a_limit_is_reached_when_it_is_used_up() {
        let budget = Budget { max_cost: Some(0.5), max_tokens: Some(100) };
        assert_eq!(budget.spent_by(&used(99, Some(0.49))), None);
        assert_eq!(budget.spent_by(&used(100, None)), Some(Spent::Tokens { limit: 100, used: 100 }));
        let spent = budget.spent_by(&used(100, Some(0.5))).unwrap();
        assert_eq!(spent.to_string(), "the budget of $0.5 is spent: $0.5000 were used");
        assert_eq!(Budget::default().spent_by(&used(u64::MAX, Some(f64::MAX))), None);
    }

    #[test]
    fn money_that_was_not_told_is_not_used() {
        let budget = Budget { max_cost: Some(0.5), max_tokens: None };
        assert_eq!(budget.money_left(&used(9, None)), Some(0.5));
        assert_eq!(budget.money_left(&used(9, Some(0.75))), Some(0.0));
        assert_eq!(Budget::default().money_left(&used(9, None)), None);
    }

    #[test]
    fn a_limit_is_a_number_above_zero() {
        for cost in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = Budget { max_cost: Some(cost), max_tokens: None }.check().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidOptions, "{cost}");
        }
        assert!(Budget { max_cost: None, max_tokens: Some(0) }.check().is_err());
        assert!(Budget { max_cost: Some(0.01), max_tokens: Some(1) }.check().is_ok());
    }
}
