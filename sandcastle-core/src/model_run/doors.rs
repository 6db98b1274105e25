//! The ways to run a model run, and to read an answer without one.
//!
//! All of them read and judge in one place, `verdict`; what differs is what becomes of an answer that is not valid.

use std::future::IntoFuture;

use super::driver::drive;
#[cfg(feature = "workflow")]
use super::entry;
use super::options::{ModelRun, Settings};
use super::outcome::ModelResult;
use super::output::{ModelOutput, ModelRunFuture, TypedOutput};
use super::plan::{self, Plan, PlannedOutput};
use super::verdict;
use crate::error::{Error, ErrorKind, Result};
use crate::output::{ExtractError, OutputSpec};
#[cfg(feature = "workflow")]
use crate::strategy::StrategyChoice;

impl<O: ModelOutput> ModelRun<O> {
    /// Makes the checks of a run, and says how the schema would reach the model. Nothing is sent.
    ///
    /// # Errors
    /// As those of a run before anything is sent.
    #[cfg(feature = "workflow")]
    pub(crate) fn check(&self) -> Result<Option<StrategyChoice>> {
        Ok(entry::check(&self.settings)?.first.1.choice().cloned())
    }

    /// Asks the model, and returns its answer as a value.
    ///
    /// # Errors
    /// Before anything is sent, when the options do not pass the checks ([`Error::is_entry_check`]); afterwards when no valid
    /// output is obtained ([`Error::structured_output`] has the exact answer, the stage and every problem), a budget is
    /// spent, the service gives no answer ([`Error::model_failure`]), a time limit is reached, or the run is cancelled.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection. What the service had begun it may still charge for.
    ///
    /// # Examples
    /// ```
    /// # use sandcastle_core as sandcastle;
    /// # async fn example<Verdict: sandcastle::AgentOutput>(model: impl sandcastle::model::Model) -> sandcastle::Result<()> {
    /// use sandcastle::ModelRun;
    ///
    /// let result = ModelRun::new(model).prompt("Is this mail spam? ...").output::<Verdict>().run_typed().await?;
    /// let verdict: Verdict = result.output;
    /// # let _ = verdict; Ok(()) }
    /// ```
    pub fn run_typed(self) -> ModelRunFuture<O::Value>
    where
        O: TypedOutput,
    {
        Box::pin(typed::<O>(self.settings))
    }

    /// Reads an answer as a run does that was answered so: in the form in which the first model is asked, judged by the same
    /// code. Nothing is sent, and no fallback is taken.
    ///
    /// # Errors
    /// Says at which stage the answer fails, with every problem.
    ///
    /// # Examples
    /// ```
    /// # use sandcastle_core as sandcastle;
    /// use sandcastle::{ModelRun, OutputSpec, testing::ScriptedModel};
    ///
    /// let spec = OutputSpec::json("count", serde_json::json!({ "type": "integer" }))?;
    /// let run = ModelRun::new(ScriptedModel::new()).output_spec(spec);
    /// assert_eq!(run.parse_output("<count>3</count>").unwrap(), 3);
    /// assert!(run.parse_output("<count>three</count>").is_err());
    /// # Ok::<(), sandcastle::Error>(())
    /// ```
    pub fn parse_output(&self, raw: &str) -> Result<O::Value, ExtractError>
    where
        O: TypedOutput,
    {
        let settings = &self.settings;
        let Some(spec) = &settings.spec else { return Err(ExtractError::empty("")) };
        // A strategy that cannot be served has a form all the same.
        let output = Plan::new(settings, &*settings.model).ok().and_then(|plan| plan.output);
        let form = output.as_ref().map_or_else(|| plan::form_of(settings.strategy), PlannedOutput::form);
        let lowering = output.as_ref().and_then(|output| output.lowering.as_ref());
        let mut kept = None;
        let mut judge = |text: &str| keep::<O>(&mut kept, text, spec);
        verdict::on_text(raw, form, lowering, spec, &mut judge)?;
        kept.ok_or_else(|| ExtractError::empty(spec.tag()))
    }

    /// Asks the model, and returns what it said, with everything that was recorded.
    ///
    /// Where an output is asked for, answers are judged and corrected as in [`run_typed`](Self::run_typed), and the fallbacks
    /// are taken, but that there is no valid output is no error: [`ModelResult::unmet`] has it, and the text is there.
    ///
    /// # Errors
    /// As [`run_typed`](Self::run_typed), except when there is an answer and it is not valid.
    ///
    /// # Cancel safety
    /// As [`run_typed`](Self::run_typed).
    ///
    /// # Examples
    /// ```
    /// # use sandcastle_core as sandcastle;
    /// use sandcastle::{ModelRun, testing::ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> sandcastle::Result<()> {
    /// let first = ModelRun::new(ScriptedModel::new().answer("A crab.")).prompt("Whose mascot is Ferris?").run().await?;
    /// assert_eq!(first.text, "A crab.");
    /// let more = ModelRun::new(ScriptedModel::new().answer("Orange.")).messages(first.messages).prompt("Its colour?");
    /// assert_eq!(more.run().await?.text, "Orange.");
    /// # Ok(()) }
    /// ```
    pub fn run(self) -> ModelRunFuture<O::Found> {
        Box::pin(found::<O>(self.settings))
    }
}

async fn typed<O: ModelOutput>(settings: Settings) -> Result<ModelResult<O::Value>> {
    let (mut result, kept) = driven::<O>(settings).await?;
    if let Some(unmet) = result.unmet.take() {
        return Err(unmet);
    }
    let Some(value) = O::value(kept) else {
        return Err(Error::new(ErrorKind::StructuredOutput, "keep the output that was accepted")
            .with_hint("this is a mistake in sandcastle: please report it"));
    };
    Ok(result.with_output(value))
}

async fn found<O: ModelOutput>(settings: Settings) -> Result<ModelResult<O::Found>> {
    let (result, kept) = driven::<O>(settings).await?;
    Ok(result.with_output(O::found(kept)))
}

async fn driven<O: ModelOutput>(settings: Settings) -> Result<(ModelResult<()>, Option<O::Value>)> {
    let spec = settings.spec.clone();
    let mut kept = None;
    let mut judge = |text: &str| match &spec {
        Some(spec) => keep::<O>(&mut kept, text, spec),
        None => Ok(()),
    };
    let result = drive(settings, &mut judge).await?;
    Ok((result, kept))
}

/// Reads the text of an answer, and keeps its value if it is good.
fn keep<O: ModelOutput>(
    kept: &mut Option<O::Value>,
    text: &str,
    spec: &OutputSpec,
) -> Result<(), ExtractError> {
    *kept = Some(O::read(text, spec)?);
    Ok(())
}

impl<O: ModelOutput> IntoFuture for ModelRun<O> {
    type Output = Result<ModelResult<O::Value>>;
    type IntoFuture = ModelRunFuture<O::Value>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(typed::<O>(self.settings))
    }
}
