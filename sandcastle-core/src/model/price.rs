//! What a call of a model costs, by what it used. Nothing here knows a model or looks anything up.

use crate::work::Usage;

/// Holds what a model costs, in US dollars for a million tokens.
///
/// ```
/// use sandcastle_core::Usage;
/// use sandcastle_core::model::Price;
///
/// // Two dollars for input and ten for output; a prompt of more than 272,000 tokens makes the call dearer.
/// let price = Price::new(2.0, 10.0).cached(2.5, 0.2).long_prompts(272_000, 2.0, 1.5);
/// let mut usage = Usage::default();
/// usage.output_tokens = 1_000;
/// assert_eq!(price.of(&usage), 0.01);
/// usage.input_tokens = 500_000;
/// assert_eq!(price.of(&usage), 2.015);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Price {
    /// Input that is neither read from a cache nor written to one.
    pub input: f64,
    /// Output, reasoning included.
    pub output: f64,
    /// Input that is written to a cache.
    pub cache_creation: f64,
    /// Input that is read from a cache.
    pub cache_read: f64,
    /// How much dearer a call with a long prompt is, where it is.
    pub long_prompts: Option<LongPrompts>,
}

/// Tells how much dearer a whole call is whose prompt is longer than most.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LongPrompts {
    /// The most tokens of input, cached or not, that cost what they ordinarily do.
    pub above: u64,
    /// What every price of input is multiplied by.
    pub input_factor: f64,
    /// What the price of output is multiplied by.
    pub output_factor: f64,
}

impl Price {
    /// Names what input and output cost. Input that is cached costs the same until it is said otherwise.
    #[must_use]
    pub const fn new(input: f64, output: f64) -> Self {
        Self { input, output, cache_creation: input, cache_read: input, long_prompts: None }
    }

    /// Sets what cached input costs.
    #[must_use]
    pub const fn cached(mut self, creation: f64, read: f64) -> Self {
        self.cache_creation = creation;
        self.cache_read = read;
        self
    }

    /// Sets by what the prices are multiplied for the whole of a call that has more than `above` tokens of input.
    #[must_use]
    pub const fn long_prompts(mut self, above: u64, input_factor: f64, output_factor: f64) -> Self {
        self.long_prompts = Some(LongPrompts { above, input_factor, output_factor });
        self
    }

    /// Tells whether every part of it is a number from zero.
    pub(crate) fn is_one(&self) -> bool {
        let parts = [self.input, self.output, self.cache_creation, self.cache_read];
        let factors = self.long_prompts.map_or([1.0; 2], |long| [long.input_factor, long.output_factor]);
        parts.iter().chain(&factors).all(|part| part.is_finite() && *part >= 0.0)
    }

    /// Returns what one call costs that used this, in US dollars.
    #[must_use]
    pub fn of(&self, usage: &Usage) -> f64 {
        // Token counts are far below what a double holds exactly.
        #[expect(clippy::cast_precision_loss, reason = "counts of tokens are small")]
        let part = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        let (input_factor, output_factor) = self.factors(usage);
        let input = part(usage.input_tokens, self.input)
            + part(usage.cache_creation_input_tokens, self.cache_creation)
            + part(usage.cache_read_input_tokens, self.cache_read);
        input * input_factor + part(usage.output_tokens, self.output) * output_factor
    }

    fn factors(&self, usage: &Usage) -> (f64, f64) {
        let prompt = usage
            .input_tokens
            .saturating_add(usage.cache_creation_input_tokens)
            .saturating_add(usage.cache_read_input_tokens);
        match self.long_prompts {
            Some(long) if prompt > long.above => (long.input_factor, long.output_factor),
            _ => (1.0, 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_long_by_all_of_its_input_and_makes_the_whole_call_dearer() {
        let price = Price::new(1.0, 10.0).cached(2.0, 0.5).long_prompts(1_000_000, 2.0, 1.5);
        let usage = |input, written, read| Usage {
            input_tokens: input,
            cache_creation_input_tokens: written,
            cache_read_input_tokens: read,
            output_tokens: 1_000_000,
            ..Usage::default()
        };
        assert!((price.of(&usage(1_000_000, 0, 0)) - 11.0).abs() < 1e-9);
        assert!((price.of(&usage(500_000, 300_000, 200_000)) - 11.2).abs() < 1e-9);
        assert!((price.of(&usage(500_000, 300_000, 200_001)) - (2.4 + 15.0)).abs() < 1e-5);
        assert!(price.of(&usage(u64::MAX, u64::MAX, u64::MAX)).is_finite());
    }
}
