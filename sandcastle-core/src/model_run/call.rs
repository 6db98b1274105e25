//! One call of a model, made again when its service fails on the way.
//!
//! Only trouble of the way is met with patience: what the service says about the request itself will be the same the next
//! time. Nothing of this reaches the model, and none of it is an attempt at an output.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBuilder};
use futures_util::FutureExt as _;
use tracing::Instrument as _;

use super::event::{ModelRunEvent, ServedBy};
use super::ledger::{Ledger, Limit};
use super::trace;
use super::watch::{CutOff, Watch};
use crate::event::FailureKind;
use crate::model::{Model, ModelAnswer, ModelFailure, ModelPiece, ModelRequest};
use crate::work::Usage;

/// How long it is waited at first, before that is doubled.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause, and the longest that a service may ask for. One that wants more is given up.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Broken {
    /// The service gave none, and asking it again is no use or was of none.
    Failed(ModelFailure),
    /// The run was cut off.
    Cut(CutOff),
    /// The budget was spent by calls that failed.
    Spent(Limit),
}

/// Makes calls.
#[derive(Debug)]
pub(super) struct Caller<'a> {
    pub(super) watch: &'a Watch,
    /// How often one call is made again.
    pub(super) retries: u32,
}

impl Caller<'_> {
    /// Calls a model until there is an answer; `answer_tool` is known to nobody but the model and is told as the answer.
    pub(super) async fn call(
        &self,
        model: &dyn Model,
        request: &ModelRequest,
        answer_tool: Option<&str>,
        ledger: &mut Ledger,
    ) -> Result<ModelAnswer, Broken> {
        let mut pauses = self.pauses();
        loop {
            let served_by = ServedBy::of(model);
            let span = trace::call(ledger.calls, &served_by);
            ledger.tell(&ModelRunEvent::CallStarted { number: ledger.calls, served_by });
            let called = self.once(model, request, answer_tool, ledger).instrument(span).await;
            let failure = match called? {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let pause = pause_after(&failure, &mut pauses);
            let spent = ledger.spent();
            ledger.tell(&ModelRunEvent::CallFailed {
                number: ledger.calls,
                failure: failure.kind,
                message: failure.to_string(),
                usage: failure.usage,
                again_after: pause.filter(|_| spent.is_none()),
            });
            match (pause, spent) {
                (None, _) => return Err(Broken::Failed(failure)),
                (Some(_), Some(limit)) => return Err(Broken::Spent(limit)),
                (Some(pause), None) => self.watch.over(tokio::time::sleep(pause)).await?,
            }
        }
    }

    async fn once(
        &self,
        model: &dyn Model,
        request: &ModelRequest,
        answer_tool: Option<&str>,
        ledger: &mut Ledger,
    ) -> Result<Result<ModelAnswer, ModelFailure>, CutOff> {
        let audience = &ledger.audience;
        let mut listener = |piece: ModelPiece| audience.tell(&told(piece, answer_tool));
        // The call itself is made inside, so that a panic of it is caught as one of its future is.
        let asked = async { model.answer(request, &mut listener).await };
        let asked = AssertUnwindSafe(asked).catch_unwind();
        let panicked =
            |_| Err(ModelFailure::new(FailureKind::Other, "the code that calls the model panicked"));
        let mut answered = self.watch.over(asked).await?.unwrap_or_else(panicked);
        let usage = match &mut answered {
            Ok(answer) => &mut answer.usage,
            Err(failure) => &mut failure.usage,
        };
        *usage = priced(*usage, model);
        ledger.usage += *usage;
        if let Ok(answer) = &answered {
            let (number, stop) = (ledger.calls, answer.stop.clone());
            ledger.tell(&ModelRunEvent::CallEnded { number, stop, usage: answer.usage });
        }
        Ok(answered)
    }

    fn pauses(&self) -> impl Iterator<Item = Duration> + use<> {
        ExponentialBuilder::default()
            .with_min_delay(FIRST_PAUSE)
            .with_max_delay(LONGEST_PAUSE)
            .with_max_times(self.retries as usize)
            .with_jitter()
            .build()
    }
}

/// Returns how long to wait before a call is made again; `None` if it is not.
fn pause_after(failure: &ModelFailure, pauses: &mut impl Iterator<Item = Duration>) -> Option<Duration> {
    if failure.kind != FailureKind::Transport {
        return None;
    }
    let pause = pauses.next()?;
    let wanted = failure.retry_after.unwrap_or_default();
    (wanted <= LONGEST_PAUSE).then(|| pause.max(wanted))
}

/// Adds the cost that a service does not say itself.
fn priced(usage: Usage, model: &dyn Model) -> Usage {
    let cost_usd = usage.cost_usd.or_else(|| Some(model.price()?.of(&usage)));
    Usage { cost_usd, ..usage }
}

fn told(piece: ModelPiece, answer_tool: Option<&str>) -> ModelRunEvent {
    match piece {
        ModelPiece::ToolCall { name } if Some(&*name) == answer_tool => ModelRunEvent::AnswerBegun,
        piece => ModelRunEvent::Piece { piece },
    }
}

impl From<CutOff> for Broken {
    fn from(cut_off: CutOff) -> Self {
        Self::Cut(cut_off)
    }
}
