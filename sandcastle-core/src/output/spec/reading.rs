//! The way of an answer through what is asked for: block, JSON, schema, type, validator.

use serde_json::Value;

use super::{Judge, OutputSpec};
use crate::event::StopReason;
use crate::output::locate::Locator;
use crate::output::read::{self, Reading};
use crate::output::validate::Checker;
use crate::output::{ExtractError, OutputFormat, Problem, Seen, defaults};

impl OutputSpec {
    /// Reads the last block in a text.
    ///
    /// # Errors
    /// Says at which stage the answer failed, with every problem and the exact block.
    pub fn extract(&self, text: &str) -> Result<Value, ExtractError> {
        let mut locator = self.locator();
        locator.push(text);
        self.read_block(locator.finish()?.as_str())
    }

    /// Reads the block that was located in an answer that ended so, as a run does that was answered so.
    ///
    /// # Errors
    /// As [`OutputSpec::extract`]; an answer that was refused, held back or cut off fails by that name, even if what is there
    /// of it would do.
    pub fn read_located(&self, located: Locator, stop: StopReason) -> Result<Value, ExtractError> {
        let located = ExtractError::unless_stopped(&self.tag, stop, Some(located))?;
        let block =
            located.map_or_else(|| Err(ExtractError::missing(&*self.tag, Seen::Nothing)), Locator::finish)?;
        self.read_block(block.as_str())
    }

    /// Reads the inside of a block that a [`Locator`] has found.
    ///
    /// # Errors
    /// As [`OutputSpec::extract`].
    pub fn read_block(&self, block: &str) -> Result<Value, ExtractError> {
        let value = match (self.format, self.judge) {
            (OutputFormat::Text, judge) => {
                if let Judge::Type(judge) = judge {
                    judge(block, self)?;
                }
                Value::from(block.trim())
            }
            (OutputFormat::Json, Judge::Type(judge)) => {
                judge(block, self)?;
                self.read_prepared(block)?.value
            }
            (OutputFormat::Json, Judge::Schema | Judge::Filled) => self.read_fitting(block)?,
            (OutputFormat::Json, Judge::Nobody) => self.read_prepared(block)?.value,
        };
        match self.validator.as_ref().map_or(Ok(()), |validator| validator(&value)) {
            Ok(()) => Ok(value),
            Err(problems) => Err(ExtractError::rejected(&self.tag, block, Some(value), problems)),
        }
    }

    fn read_fitting(&self, block: &str) -> Result<Value, ExtractError> {
        let Reading { mut value, .. } = self.read_prepared(block)?;
        if let Judge::Filled = self.judge {
            let filled = defaults::fill(&mut value, self.schema());
            filled.map_err(|problem| ExtractError::schema(&self.tag, block, None, vec![problem]))?;
        }
        let problems = self.checker(block)?.problems(&value);
        if problems.is_empty() {
            Ok(value)
        } else {
            Err(ExtractError::schema(&self.tag, block, Some(value), problems))
        }
    }

    /// Reads a block, and lets the preparing function have its say.
    pub(in crate::output) fn read_prepared<'b>(&self, block: &'b str) -> Result<Reading<'b>, ExtractError> {
        let reading = self.read_json(block)?;
        Ok(match &self.prepare {
            Some(prepare) => reading.prepared(&**prepare),
            None => reading,
        })
    }

    pub(in crate::output) fn read_json<'b>(&self, block: &'b str) -> Result<Reading<'b>, ExtractError> {
        read::read(block).map_err(|fault| ExtractError::json_parse(&self.tag, block, fault))
    }

    /// Returns the compiled schema; that of a type may turn out to be none.
    pub(in crate::output) fn checker(&self, block: &str) -> Result<&Checker, ExtractError> {
        self.schema.checker().map_err(|problems| {
            let problems = problems.iter().map(|problem| {
                Problem::new("", format!("the schema of the type cannot be used: at {problem}"))
            });
            ExtractError::schema(&self.tag, block, None, problems.collect())
        })
    }
}
