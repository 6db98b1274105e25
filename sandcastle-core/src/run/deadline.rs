//! Time limits of a run.

use std::future::pending;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::liveness::Liveness;

/// The limits that a run sets, with the moment at which the whole run must be over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) idle: Duration,
    pub(super) completion: Duration,
    pub(super) total: Option<Duration>,
    pub(super) ends_at: Option<Instant>,
    pub(super) liveness: Liveness,
}

impl Limits {
    pub(super) fn new(idle: Duration, completion: Duration, total: Option<Duration>) -> Self {
        let ends_at = total.and_then(|total| Instant::now().checked_add(total));
        Self { idle, completion, total, ends_at, liveness: Liveness::default() }
    }

    /// Returns when the run is cancelled or the whole of it must be over; never, if neither comes.
    pub(super) async fn cut_off(&self, cancel: &CancellationToken) -> CutOff {
        tokio::select! {
            biased;
            () = cancel.cancelled() => CutOff::Cancelled,
            () = self.total_reached() => CutOff::OutOfTime,
        }
    }

    async fn total_reached(&self) {
        match self.ends_at {
            Some(at) => sleep_until(at).await,
            None => pending().await,
        }
    }
}

/// What cuts a run off from outside, whatever the agent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CutOff {
    Cancelled,
    OutOfTime,
}

/// How often a silence is told while it lasts.
const TOLD_EVERY: Duration = Duration::from_secs(60);

/// The limit on silence: one length while the agent works, another one when it has finished.
#[derive(Debug)]
pub(super) struct Silence {
    since: Instant,
    limits: Limits,
    finished: bool,
    /// How often this silence was told.
    told: u32,
    /// Whether another sign of life was looked for, and there was none.
    searched: bool,
}

/// Which limit on silence was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Silent {
    /// The agent was still at work.
    AtWork,
    /// The agent had finished.
    AfterTheEnd,
}

impl Silence {
    pub(super) fn new(limits: Limits) -> Self {
        Self { since: Instant::now(), limits, finished: false, told: 0, searched: false }
    }

    /// Notes that the agent did something.
    pub(super) fn broken(&mut self) {
        self.since = Instant::now();
        self.told = 0;
        self.searched = false;
    }

    /// Returns when the silence of an agent that is at work has lasted for another minute.
    pub(super) async fn another_minute(&self) {
        let at = self.since.checked_add(TOLD_EVERY * (self.told + 1));
        match at.filter(|_| !self.finished) {
            Some(at) => sleep_until(at).await,
            None => pending().await,
        }
    }

    /// Notes that the silence was told, and returns how many minutes it has lasted.
    pub(super) fn tell(&mut self) -> u32 {
        self.told += 1;
        self.told
    }

    /// Notes that the agent has finished.
    pub(super) fn finished(&mut self) {
        self.finished = true;
    }

    /// Notes that another sign of life was looked for in vain. Tells whether it was before.
    pub(super) fn searched(&mut self) -> bool {
        std::mem::replace(&mut self.searched, true)
    }

    /// Notes that the agent is at work after all.
    pub(super) fn resumed(&mut self) {
        self.finished = false;
    }

    /// Tells whether the agent has finished.
    pub(super) fn has_finished(&self) -> bool {
        self.finished
    }

    /// Returns when the limit is reached.
    pub(super) async fn reached(&self) -> Silent {
        match self.ends_at() {
            Some(at) => sleep_until(at).await,
            None => pending().await,
        }
        self.kind()
    }

    /// Tells whether the limit is reached by now.
    pub(super) fn is_over(&self) -> Option<Silent> {
        self.ends_at().is_some_and(|at| at <= Instant::now()).then(|| self.kind())
    }

    fn ends_at(&self) -> Option<Instant> {
        let limit = if self.finished { self.limits.completion } else { self.limits.idle };
        self.since.checked_add(limit)
    }

    fn kind(&self) -> Silent {
        if self.finished { Silent::AfterTheEnd } else { Silent::AtWork }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn row_011_each_minute_of_silence_is_told_until_it_is_broken() {
        let limit = Duration::from_secs(600);
        let mut silence = Silence::new(Limits::new(limit, limit, None));
        let begun = Instant::now();
        for minute in 1..=3 {
            silence.another_minute().await;
            assert_eq!((silence.tell(), begun.elapsed().as_secs()), (minute, u64::from(minute) * 60));
        }
        silence.broken();
        let broken = Instant::now();
        silence.another_minute().await;
        assert_eq!((silence.tell(), broken.elapsed().as_secs()), (1, 60));
        silence.finished();
        let never = tokio::time::timeout(Duration::from_secs(6000), silence.another_minute()).await;
        assert!(never.is_err(), "an agent that has finished may be silent");
    }
}
