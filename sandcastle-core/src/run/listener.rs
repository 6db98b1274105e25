//! What an agent process prints, and what it means.
//!
//! Lines become events, and the events a [`Turn`]. Nothing of the text is kept but its end and what the locator of the
//! output keeps.

use std::path::Path;
use std::time::Instant;

use super::completion::Completion;
use super::deadline::{Silence, Silent};
use super::ending::End;
use super::event::RunEvent;
use super::iteration::{Stage, Turn, TurnEnd};
use super::ledger::Ledger;
use super::liveness::Liveness;
use super::native::Heard;
use super::plan::Ask;
use super::verdict;
use crate::agent::{Decoder, StopRequest};
use crate::budget::Spent;
use crate::event::{AgentEvent, FailureKind, StopReason, UsageScope};
use crate::id::SessionId;
use crate::jsonl::{Line, LineBuffer};
use crate::output::locate::Locator;
use crate::sandbox::{Output, Running, Tail};
use crate::session::SessionRequest;
use crate::work::{Exit, Iteration, Usage};

/// How much of what the agent said is kept.
const TEXT_TAIL: usize = 1024 * 1024;

/// Reads one process.
pub(super) struct Listener<'a> {
    stage: &'a Stage<'a>,
    origin: Option<&'a SessionId>,
    lines: LineBuffer,
    decoder: Box<dyn Decoder>,
    events: Vec<AgentEvent>,
    silence: Silence,
    completion: Completion,
    locator: Option<Locator>,
    native: Option<Heard>,
    text: Tail,
    spoke: bool,
    acted: bool,
    session: Option<SessionId>,
    usage: Option<(Usage, UsageScope)>,
    verdict: Option<TurnEnd>,
    last_warning: Option<String>,
}

impl<'a> Listener<'a> {
    pub(super) fn new(stage: &'a Stage<'a>, session: &'a SessionRequest, ask: Option<&Ask<'_>>) -> Self {
        Self {
            stage,
            origin: session.origin(),
            lines: LineBuffer::new(),
            decoder: stage.agent.decoder(),
            events: Vec::new(),
            silence: Silence::new(stage.limits),
            completion: Completion::new(&stage.signals),
            locator: ask.map(|ask| ask.spec.locator()),
            native: ask.and_then(Heard::new),
            text: Tail::new(TEXT_TAIL),
            spoke: false,
            acted: false,
            session: None,
            usage: None,
            verdict: None,
            last_warning: None,
        }
    }

    /// Listens until the process is gone, a limit is reached or the run is cancelled.
    pub(super) async fn listen(&mut self, running: &mut Running, ledger: &mut Ledger) -> End {
        let (limits, cancel) = (self.stage.limits, &self.stage.cancel);
        loop {
            tokio::select! {
                biased;
                end = limits.cut_off(cancel) => return End::from(end),
                output = running.next() => match output {
                    Ok(Output::Stdout(bytes)) => self.lines.push(bytes),
                    Ok(Output::Exited(status)) => {
                        self.read_rest(ledger);
                        return End::Exited(status);
                    }
                    Err(error) => return End::Lost(error),
                },
                silent = self.silence.reached() => {
                    if self.is_dead(silent, running).await {
                        return End::from(silent);
                    }
                    continue;
                }
                () = self.silence.another_minute() => {
                    ledger.tell(&RunEvent::Silent { minutes: self.silence.tell() });
                    continue;
                }
            }
            self.read_lines(ledger);
            if self.native.as_ref().is_some_and(Heard::is_in_vain) {
                return End::InVain;
            }
            if let Some(spent) = self.over_budget(ledger) {
                ledger.budget_reached(spent);
                return End::OverBudget(spent);
            }
            // Output that is always ready keeps the timer from being asked.
            if let Some(silent) = self.silence.is_over()
                && self.is_dead(silent, running).await
            {
                return End::from(silent);
            }
        }
    }

    /// Tells whether a silence that has reached its limit is to end the agent. One that gives another sign of life, where that
    /// counts, may be silent for as long again; one that gives none is heard once more, as it may have ended meanwhile.
    async fn is_dead(&mut self, silent: Silent, running: &mut Running) -> bool {
        let limits = self.stage.limits;
        if silent == Silent::AfterTheEnd || limits.liveness == Liveness::Output || self.silence.searched() {
            return true;
        }
        tokio::select! {
            biased;
            // Whoever listens next finds that.
            _ = limits.cut_off(&self.stage.cancel) => {}
            is_busy = running.is_busy() => if is_busy {
                self.silence.broken();
            },
        }
        false
    }

    /// Returns the budget that is spent by now, if the agent has not finished.
    fn over_budget(&self, ledger: &Ledger) -> Option<Spent> {
        if self.verdict.is_some() || self.completion.stands() {
            return None;
        }
        let used = match (self.usage?, &self.session) {
            ((total, UsageScope::Session), Some(session)) => ledger.used_by_now(session, self.origin, total),
            ((used, _), _) => used,
        };
        self.stage.budget.spent_by(&(ledger.work.usage + used))
    }

    /// Asks the process to stop, listens to its last words, and ends it with everything it started.
    pub(super) async fn listen_to_the_end(
        &mut self,
        running: &mut Running,
        stop: StopRequest,
        ledger: &mut Ledger,
    ) {
        running.ask_to_stop(stop.signal);
        let last_words = async {
            while let Ok(Output::Stdout(bytes)) = running.next().await {
                self.lines.push(bytes);
                self.read_lines(ledger);
            }
        };
        if tokio::time::timeout(stop.grace, last_words).await.is_ok() {
            self.read_rest(ledger);
        }
        running.sweep().await;
    }

    fn read_lines(&mut self, ledger: &mut Ledger) {
        while let Some(line) = self.lines.next_line() {
            tell_raw(&line, ledger);
            read_line(line, self.decoder.as_mut(), &mut self.events);
            self.take_events(ledger);
        }
    }

    fn read_rest(&mut self, ledger: &mut Ledger) {
        self.read_lines(ledger);
        if let Some(line) = self.lines.finish() {
            tell_raw(&line, ledger);
            read_line(line, self.decoder.as_mut(), &mut self.events);
        }
        self.decoder.end(&mut self.events);
        self.take_events(ledger);
    }

    fn take_events(&mut self, ledger: &mut Ledger) {
        // The list goes back afterwards: a stream has many lines, and each would allocate one.
        let mut events = std::mem::take(&mut self.events);
        for event in events.drain(..) {
            self.take(&event);
            match &event {
                AgentEvent::Warning { message } => ledger.agent_warned(self.stage.agent.name(), message),
                AgentEvent::Session { id } => ledger.named_session(id, || self.stage.session_file(id)),
                AgentEvent::TurnCompleted { .. } => ledger.answered_with(self.locator.as_ref()),
                _ => {}
            }
            ledger.tell(&RunEvent::Agent { event });
        }
        self.events = events;
    }

    fn take(&mut self, event: &AgentEvent) {
        if self.is_activity(event) {
            self.silence.broken();
        }
        if let Some(native) = &mut self.native {
            native.take(event);
        }
        match event {
            AgentEvent::Session { id } => self.session = Some(id.clone()),
            AgentEvent::Text { text } => self.take_text(text),
            AgentEvent::Usage { usage, scope } => self.usage = Some((*usage, *scope)),
            AgentEvent::Warning { message } | AgentEvent::Waiting { message } => {
                self.last_warning = Some(message.clone());
            }
            AgentEvent::TurnCompleted { stop, .. } => {
                self.verdict = Some(TurnEnd::Completed(*stop));
                self.silence.finished();
            }
            AgentEvent::TurnFailed { failure, message } => {
                self.verdict = Some(TurnEnd::Failed(*failure, message.clone()));
                self.silence.finished();
            }
            AgentEvent::ToolCall { .. } => {
                self.acted = true;
                self.goes_on();
            }
            AgentEvent::SubAgentText { .. } => self.acted = true,
            AgentEvent::Thinking { .. } => self.goes_on(),
            AgentEvent::ToolResult { .. } | AgentEvent::SchemaTaken | AgentEvent::Unknown { .. } => {}
        }
    }

    /// Tells whether an event breaks the silence. An agent that has finished may go on to print heartbeats for ever, so
    /// then only what it says and does counts.
    fn is_activity(&self, event: &AgentEvent) -> bool {
        match event {
            AgentEvent::Waiting { .. } => false,
            AgentEvent::Session { .. }
            | AgentEvent::Usage { .. }
            | AgentEvent::Warning { .. }
            | AgentEvent::Unknown { .. } => !self.silence.has_finished(),
            _ => true,
        }
    }

    fn take_text(&mut self, text: &str) {
        self.acted = true;
        self.spoke = self.spoke || !text.trim_start().is_empty();
        self.text.push(text.as_bytes());
        self.completion.push(text);
        if self.completion.stands() {
            self.silence.finished();
        }
        if let Some(locator) = &mut self.locator {
            locator.push(text);
        }
    }

    /// Notes that the main agent works. It has not finished then, even if it has spoken of the signal, unless its turn is over.
    fn goes_on(&mut self) {
        if self.completion.goes_on() && self.verdict.is_none() {
            self.silence.resumed();
        }
    }

    pub(super) fn conclude(mut self, end: &End, stderr: &Tail, begun: Instant, ledger: &mut Ledger) -> Turn {
        let exit = match end {
            End::Exited(status) => Exit::from(*status),
            _ => Exit::Ended,
        };
        let mut record = Iteration::new(exit, begun.elapsed());
        record.mode = self.stage.mode;
        record.session_file = self.session.as_ref().and_then(|id| self.stage.session_file(id));
        record.usage = self.usage_of_process(record.session_file.as_deref(), ledger);
        let used = ledger.work.usage + record.usage;
        let turn_end = self.verdict(end, exit, stderr, ledger);
        let turn_end = self.with_budget(turn_end, &used);
        if let TurnEnd::OverBudget(spent) = &turn_end {
            ledger.budget_reached(*spent);
        }
        record.session_id = self.session;
        ledger.work.text = self.text.text();
        Turn {
            end: turn_end,
            signal: self.completion.found(),
            located: self.locator,
            native: self.native,
            spoke: self.spoke,
            acted: self.acted,
            record,
        }
    }

    /// Works out what the process used. A turn that failed or was ended may have told no count: an agent that counts
    /// over whole sessions has one in its file.
    fn usage_of_process(&self, session_file: Option<&Path>, ledger: &mut Ledger) -> Usage {
        let in_file = || Some((self.stage.agent.session_usage(session_file?)?, UsageScope::Session));
        match (self.usage.or_else(in_file), &self.session) {
            (Some((total, UsageScope::Session)), Some(session)) => {
                ledger.used_in_session(session, self.origin, total)
            }
            (Some((usage, _)), _) => usage,
            (None, _) => Usage::default(),
        }
    }

    /// Tells an end for want of money as what it is, whoever has seen it first, with what was used in the end.
    fn with_budget(&self, end: TurnEnd, used: &Usage) -> TurnEnd {
        let budget = &self.stage.budget;
        let told_by_the_agent = |limit| Spent::Cost { limit, used: used.cost_usd.unwrap_or(limit) };
        let spent = match end {
            TurnEnd::OverBudget(spent) => Some(spent),
            TurnEnd::Failed(FailureKind::Budget, _) => budget.max_cost.map(told_by_the_agent),
            _ => None,
        };
        match spent {
            Some(spent) => TurnEnd::OverBudget(budget.spent_by(used).unwrap_or(spent)),
            None => end,
        }
    }

    /// Judges the turn: by the last word of the agent first, then by how its process ended.
    fn verdict(&mut self, end: &End, exit: Exit, stderr: &Tail, ledger: &mut Ledger) -> TurnEnd {
        let agent = self.stage.agent.name();
        let verdict = self.verdict.take();
        match (end, verdict) {
            (End::Cancelled, _) => TurnEnd::Cancelled,
            (End::OutOfTime, _) => TurnEnd::OutOfTime,
            (End::Idle, _) => TurnEnd::Idle,
            (End::Lost(error), _) => TurnEnd::Lost(error.to_string()),
            (End::InVain, _) => TurnEnd::Failed(FailureKind::SchemaRefused, verdict::DROPPED.to_owned()),
            (End::OverBudget(_), Some(TurnEnd::Completed(stop))) => TurnEnd::Completed(stop),
            (End::OverBudget(spent), _) => TurnEnd::OverBudget(*spent),
            (_, Some(TurnEnd::Failed(kind, message))) => TurnEnd::Failed(kind, message),
            (End::Exited(_), verdict) => match exit {
                Exit::Signal(_) => self.died(exit, stderr),
                Exit::Code(code) if code != 0 && verdict.is_some() => {
                    ledger.warn(format!("`{agent}` completed its turn and then ended with {exit}"));
                    verdict.unwrap_or(TurnEnd::Completed(StopReason::Complete))
                }
                Exit::Code(0) | Exit::Ended => verdict.unwrap_or_else(|| {
                    let message =
                        format!("`{agent}` ended without completing its turn{}", said(stderr, None));
                    TurnEnd::Failed(self.kind_of(stderr), message)
                }),
                Exit::Code(_) => self.died(exit, stderr),
            },
            (End::Finished, verdict) => {
                let limit = self.stage.limits.completion;
                ledger.warn(format!(
                    "`{agent}` did not exit within {limit:?} after it had finished, and was ended"
                ));
                verdict.unwrap_or(TurnEnd::Completed(StopReason::Complete))
            }
        }
    }

    fn died(&self, exit: Exit, stderr: &Tail) -> TurnEnd {
        let agent = self.stage.agent.name();
        let verb = if matches!(exit, Exit::Signal(_)) { "was killed by" } else { "ended with" };
        TurnEnd::Failed(
            self.kind_of(stderr),
            format!("`{agent}` {verb} {exit}{}", said(stderr, self.last_warning.as_deref())),
        )
    }

    /// Asks the agent what its error output says of a failure.
    fn kind_of(&self, stderr: &Tail) -> FailureKind {
        self.stage.agent.stderr_failure(&stderr.text()).unwrap_or(FailureKind::Other)
    }
}

fn tell_raw(line: &Line<'_>, ledger: &mut Ledger) {
    if let Line::Complete(bytes) = line {
        ledger.tell_raw_line(bytes);
    }
}

fn read_line(line: Line<'_>, decoder: &mut dyn Decoder, events: &mut Vec<AgentEvent>) {
    match line {
        Line::Complete(b"") => {}
        Line::Complete(bytes) => decoder.line(bytes, events),
        Line::Oversized { bytes } => events.push(AgentEvent::Warning {
            message: format!("a line of {bytes} bytes was passed over: it is longer than any line is read"),
        }),
    }
}

/// Quotes what the agent said last about its trouble.
fn said(stderr: &Tail, warning: Option<&str>) -> String {
    let text = stderr.text();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(3)..].join(" / ");
    match (warning, last.is_empty()) {
        (Some(warning), _) => format!(": {warning}"),
        (None, false) => format!(": {last:.600}"),
        (None, true) => String::new(),
    }
}
