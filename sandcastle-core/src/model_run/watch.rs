//! What cuts a model run off from outside: its caller, or the clock.

use std::future::pending;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::error::{Error, ErrorKind};

/// The token and the moment at which a run must be over.
#[derive(Debug)]
pub(super) struct Watch {
    cancel: CancellationToken,
    ends_at: Option<Instant>,
    total: Duration,
}

/// What cut a run off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CutOff {
    Cancelled,
    OutOfTime,
}

impl Watch {
    pub(super) fn new(cancel: CancellationToken, total: Option<Duration>) -> Self {
        let ends_at = total.and_then(|total| Instant::now().checked_add(total));
        Self { cancel, ends_at, total: total.unwrap_or_default() }
    }

    /// Waits for a future, which is dropped when the run is cut off.
    pub(super) async fn over<T>(&self, future: impl Future<Output = T>) -> Result<T, CutOff> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(CutOff::Cancelled),
            () = self.out_of_time() => Err(CutOff::OutOfTime),
            value = future => Ok(value),
        }
    }

    async fn out_of_time(&self) {
        match self.ends_at {
            Some(at) => sleep_until(at).await,
            None => pending().await,
        }
    }

    /// Words what cut the run `name` off.
    pub(super) fn error(&self, cut_off: CutOff, name: &str) -> Error {
        match cut_off {
            CutOff::Cancelled => {
                Error::new(ErrorKind::Cancelled, format!("finish `{name}`: the run was cancelled"))
            }
            CutOff::OutOfTime => {
                let total = self.total;
                Error::new(ErrorKind::TotalTimeout, format!("finish `{name}` within {total:?}"))
                    .with_hint("raise `total_timeout`")
            }
        }
    }
}
