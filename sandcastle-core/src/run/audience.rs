//! Those who are told what happens in a run: the log, the caller's function, and subscribers of `tracing`.
//!
//! All are told the same, in order, with secrets masked. Nothing about being told can fail a run: a log that cannot be
//! written and a function that panics are trouble that is told once, to the others.

use std::borrow::Cow;
use std::path::Path;

use super::event::{Callback, Panicked, RunEvent};
use super::log::{Header, RunLog};
use super::trace;
use crate::error::Error;
use crate::event::AgentEvent;
use crate::secret::{Masker, Secrets};
use crate::work::Work;

/// How much of a line that is told as it is; a longer one is cut.
const LONGEST_RAW_LINE: usize = 64 * 1024;

/// Those who are told.
#[derive(Debug)]
pub(super) struct Audience {
    secrets: Secrets,
    text: HeldText,
    listeners: Listeners,
}

/// Who hears of an event once it is masked.
#[derive(Debug)]
struct Listeners {
    log: RunLog,
    callback: Option<Callback>,
    /// What has gone wrong with telling.
    troubles: Vec<String>,
}

/// What is held back of a text because it may be the beginning of a secret.
#[derive(Debug)]
struct HeldText {
    masker: Masker,
    speaker: Speaker,
}

/// Whose text it is that is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaker {
    Agent,
    Thoughts,
    SubAgent,
}

impl Audience {
    pub(super) fn new(log: RunLog, callback: Option<Callback>, secrets: Secrets) -> Self {
        let text = HeldText { masker: Masker::new(&secrets), speaker: Speaker::Agent };
        Self { secrets, text, listeners: Listeners { log, callback, troubles: Vec::new() } }
    }

    /// Returns the file that the log goes to.
    pub(super) fn log_file(&self) -> Option<&Path> {
        self.listeners.log.file()
    }

    /// Returns what is masked.
    pub(super) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Writes the lines that begin a run.
    pub(super) fn header(&mut self, header: &Header<'_>) {
        let name = header.name.map(|name| self.secrets.mask(name));
        self.listeners.log.header(&Header { name: name.as_deref(), ..*header });
    }

    /// Tells everybody.
    pub(super) fn tell(&mut self, event: &RunEvent) {
        if self.secrets.is_empty() {
            return self.listeners.tell(event);
        }
        match said(event) {
            Some((speaker, text)) => self.tell_text(speaker, text),
            None => {
                if breaks_text(event) {
                    self.tell_held_text();
                }
                self.listeners.tell(&masked(event, &self.secrets));
            }
        }
    }

    /// Tells a line of the agent as it is, if anybody wants that.
    pub(super) fn tell_raw_line(&mut self, line: &[u8]) {
        if !self.listeners.log.wants_raw_lines() {
            return;
        }
        let whole = String::from_utf8_lossy(line);
        let shown = &whole[..whole.floor_char_boundary(LONGEST_RAW_LINE)];
        let line = if shown.len() < whole.len() {
            format!("{} ...", self.secrets.mask_cut(shown))
        } else {
            self.secrets.mask(shown).into_owned()
        };
        self.tell_held_text();
        self.listeners.tell(&RunEvent::RawLine { line });
    }

    /// Returns what has gone wrong with telling since it was asked last.
    pub(super) fn troubles(&mut self) -> Vec<String> {
        std::mem::take(&mut self.listeners.troubles)
    }

    /// Tells the log of the error that ended the run, which is masked already.
    pub(super) fn failed(&mut self, error: &Error) {
        self.tell_held_text();
        self.listeners.log.failed(error);
        self.listeners.check_log();
    }

    /// Tells the log what the run has brought.
    pub(super) fn succeeded(&mut self, work: &Work) {
        self.tell_held_text();
        self.listeners.log.succeeded(work);
        self.listeners.check_log();
    }

    fn tell_text(&mut self, speaker: Speaker, text: &str) {
        if self.text.speaker != speaker {
            self.tell_held_text();
            self.text.speaker = speaker;
        }
        let mut shown = String::with_capacity(text.len());
        self.text.masker.push(text, &mut shown);
        self.tell_shown(shown);
    }

    fn tell_held_text(&mut self) {
        let mut shown = String::new();
        self.text.masker.finish(&mut shown);
        self.tell_shown(shown);
    }

    fn tell_shown(&mut self, text: String) {
        if text.is_empty() {
            return;
        }
        let event = match self.text.speaker {
            Speaker::Agent => AgentEvent::Text { text },
            Speaker::Thoughts => AgentEvent::Thinking { text },
            Speaker::SubAgent => AgentEvent::SubAgentText { text },
        };
        self.listeners.tell(&RunEvent::Agent { event });
    }
}

impl Drop for Audience {
    /// Tells what is held back, so that the end of a text is not lost with a run that is dropped.
    fn drop(&mut self) {
        self.tell_held_text();
    }
}

impl Listeners {
    fn tell(&mut self, event: &RunEvent) {
        trace::event(event);
        self.log.write(event);
        if let Some(callback) = &self.callback
            && callback.call(event) == Err(Panicked)
        {
            self.callback = None;
            self.report(
                "the function that is told what happens panicked, and is not called again".to_owned(),
            );
        }
        self.check_log();
    }

    fn check_log(&mut self) {
        if let Some(error) = self.log.trouble() {
            self.report(format!("the run log cannot be written: {error}"));
        }
    }

    /// Tells the others what has gone wrong with one of them. It is told once, so this ends.
    fn report(&mut self, message: String) {
        self.troubles.push(message.clone());
        self.tell(&RunEvent::Warning { message });
    }
}

/// Returns the text of an event that is a piece of one.
fn said(event: &RunEvent) -> Option<(Speaker, &str)> {
    let RunEvent::Agent { event } = event else { return None };
    match event {
        AgentEvent::Text { text } => Some((Speaker::Agent, text)),
        AgentEvent::Thinking { text } => Some((Speaker::Thoughts, text)),
        AgentEvent::SubAgentText { text } => Some((Speaker::SubAgent, text)),
        _ => None,
    }
}

/// Tells whether an event comes between two pieces of a text. Numbers do not: the log joins what is before them and
/// behind them, and there a secret would be whole again.
fn breaks_text(event: &RunEvent) -> bool {
    let RunEvent::Agent { event } = event else { return true };
    !matches!(event, AgentEvent::Usage { .. } | AgentEvent::ToolResult { is_error: false })
}

/// Tells whether there are no words in an event but names and numbers, or only data.
fn is_wordless(event: &RunEvent) -> bool {
    let RunEvent::Agent { event } = event else { return false };
    matches!(
        event,
        AgentEvent::Usage { .. }
            | AgentEvent::ToolResult { .. }
            | AgentEvent::TurnCompleted { .. }
            | AgentEvent::Session { .. }
    )
}

/// Puts masks over what an event says.
fn masked<'e>(event: &'e RunEvent, secrets: &Secrets) -> Cow<'e, RunEvent> {
    if is_wordless(event) {
        return Cow::Borrowed(event);
    }
    let mut masked = event.clone();
    let mut changed = false;
    let mut mask = |text: &mut String| {
        if let Cow::Owned(hidden) = secrets.mask(text) {
            *text = hidden;
            changed = true;
        }
    };
    match &mut masked {
        RunEvent::AttemptFailed { message, problems, .. } => {
            mask(message);
            let texts = problems.iter_mut().flat_map(|problem| [&mut problem.path, &mut problem.message]);
            texts.for_each(mask);
        }
        RunEvent::Warning { message } => mask(message),
        RunEvent::HookStarted { command, .. }
        | RunEvent::HookEnded { command, .. }
        | RunEvent::Expanded { command, .. } => mask(command),
        RunEvent::FallbackUsed { message, preview } => [message, preview].into_iter().for_each(mask),
        RunEvent::CannedUsed { message, preview, failed } => {
            [message, preview].into_iter().chain(failed).for_each(mask);
        }
        RunEvent::RawLine { line } => mask(line),
        RunEvent::ChangeUndone { paths, refs, .. } => {
            refs.iter_mut().for_each(&mut mask);
            for path in paths {
                let mut shown = path.to_string_lossy().into_owned();
                let before = shown.clone();
                mask(&mut shown);
                if shown != before {
                    *path = shown.into();
                }
            }
        }
        RunEvent::StrategyChosen { choice } => choice.texts_mut().for_each(mask),
        RunEvent::Agent { event } => match event {
            AgentEvent::ToolCall { name, detail } => {
                mask(name);
                mask(detail);
            }
            AgentEvent::Waiting { message }
            | AgentEvent::Warning { message }
            | AgentEvent::TurnFailed { message, .. } => mask(message),
            // The decoder may have cut it.
            AgentEvent::Unknown { line } => {
                if let Cow::Owned(hidden) = secrets.mask_cut(line) {
                    *line = hidden;
                    changed = true;
                }
            }
            _ => {}
        },
        _ => {}
    }
    if changed { Cow::Owned(masked) } else { Cow::Borrowed(event) }
}

#[cfg(test)]
#[path = "tests/audience.rs"]
mod tests;
