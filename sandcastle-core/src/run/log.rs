//! The run log: what happened, as text that a person can read.
//!
//! An agent's text is hostile: control characters are made visible, so that showing the log in a terminal is safe.
//! Text that arrives in pieces is joined; everything else begins on a line of its own.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::event::RunEvent;
use super::options::Logging;
use crate::config::{ConfigDir, Kept};
use crate::error::{Error, ErrorKind, Result};
use crate::event::AgentEvent;
use crate::work::{AttemptOutcome, Work};

/// A log that is open, or none.
#[derive(Debug)]
pub(super) struct RunLog {
    sink: Sink,
    file: Option<PathBuf>,
    at_line_start: bool,
}

#[derive(Debug)]
enum Sink {
    File(BufWriter<File>),
    Terminal(io::Stderr),
    Off,
}

impl RunLog {
    /// Opens the log that `logging` asks for, or the default one of the repository.
    pub(super) fn open(logging: Option<&Logging>, config: &ConfigDir, name: &str) -> Result<Self> {
        let (sink, file) = match logging {
            Some(Logging::Off) => (Sink::Off, None),
            Some(Logging::Terminal) => (Sink::Terminal(io::stderr()), None),
            Some(Logging::File(path)) => open_file(path.clone())?,
            None => open_file(default_file(config, name)?)?,
        };
        Ok(Self { sink, file, at_line_start: true })
    }

    /// Returns the file it goes to.
    pub(super) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Writes the lines that begin a run.
    pub(super) fn header(&mut self, title: &str) {
        self.line(&format!("=== {} {title}", now()));
    }

    /// Writes what happened.
    pub(super) fn write(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started { agent, branch } => self.line(&format!("--- {agent} works on {branch}")),
            RunEvent::IterationStarted { number } => {
                self.line(&format!("--- {} agent process {number}", now()))
            }
            RunEvent::IterationEnded { exit } => self.line(&format!("--- {} {exit}", now())),
            RunEvent::AttemptFailed {
                number,
                outcome: AttemptOutcome::AgentFailed | AttemptOutcome::Transport,
                message,
                ..
            } => self.line(&format!("--- attempt {number} failed to {message}")),
            RunEvent::AttemptFailed { number, message, remaining, .. } => {
                self.line(&format!("--- attempt {number} failed, {remaining} left: {message}"));
            }
            RunEvent::Warning { message } => self.line(&format!("!!! {message}")),
            RunEvent::Agent { event } => self.agent(event),
        }
    }

    fn agent(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Text { text } => self.text(text),
            AgentEvent::Session { id } => self.line(&format!("--- session {id}")),
            AgentEvent::Thinking { text } => self.line(&format!("  ~ {}", one_line(text))),
            AgentEvent::SubAgentText { text } => self.line(&format!("  | {}", one_line(text))),
            AgentEvent::ToolCall { name, detail } => self.line(&format!("  > {name}: {}", one_line(detail))),
            AgentEvent::ToolResult { is_error: true } => self.line("  < failed"),
            AgentEvent::Waiting { message } => self.line(&format!("  . {}", one_line(message))),
            AgentEvent::Warning { message } => self.line(&format!("  ! {}", one_line(message))),
            AgentEvent::TurnFailed { message, .. } => {
                self.line(&format!("  ! turn failed: {}", one_line(message)))
            }
            AgentEvent::Unknown { line } => self.line(&format!("  ? {}", one_line(line))),
            AgentEvent::ToolResult { .. } | AgentEvent::Usage { .. } | AgentEvent::TurnCompleted { .. } => {}
        }
        if !matches!(event, AgentEvent::Text { .. }) {
            self.flush();
        }
    }

    /// Writes the error that ended a run.
    pub(super) fn failed(&mut self, error: &Error) {
        self.line(&format!("!!! {} failed to {error:#}", now()));
    }

    /// Writes what a run has brought.
    pub(super) fn succeeded(&mut self, work: &Work) {
        let commits = work.commits.len();
        let tokens = work.usage.total_tokens();
        self.line(&format!("=== {} done: {commits} commits, {tokens} tokens", now()));
    }

    /// Writes what is still in memory.
    pub(super) fn close(&mut self) {
        self.flush();
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.put(&clean(text));
        self.at_line_start = text.ends_with('\n');
    }

    fn line(&mut self, line: &str) {
        if !self.at_line_start {
            self.put("\n");
        }
        self.put(&clean(line));
        self.put("\n");
        self.at_line_start = true;
        self.flush();
    }

    /// A log that cannot be written does not fail a run.
    fn put(&mut self, text: &str) {
        let _ = match &mut self.sink {
            Sink::File(file) => file.write_all(text.as_bytes()),
            Sink::Terminal(stderr) => stderr.write_all(text.as_bytes()),
            Sink::Off => Ok(()),
        };
    }

    fn flush(&mut self) {
        if let Sink::File(file) = &mut self.sink {
            let _ = file.flush();
        }
    }
}

fn open_file(path: PathBuf) -> Result<(Sink, Option<PathBuf>)> {
    let open = || {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        File::options().create(true).append(true).open(&path)
    };
    match open() {
        Ok(file) => Ok((Sink::File(BufWriter::new(file)), Some(path))),
        Err(error) => Err(Error::new(ErrorKind::Io, format!("open the run log `{}`", path.display()))
            .with_source(error)
            .with_hint("name another file with `Logging::file`, or use `Logging::off`")),
    }
}

/// Names the default log. Its folder hides itself from git, so that no agent commits it.
fn default_file(config: &ConfigDir, name: &str) -> Result<PathBuf> {
    let folder = config
        .make(Kept::Logs)
        .map_err(|error| error.with_hint("name another file with `Logging::file`, or use `Logging::off`"))?;
    Ok(folder.join(format!("{}.log", file_name(name))))
}

fn file_name(name: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    let name: String = name.chars().take(80).map(safe).collect();
    name.trim_start_matches('.').to_owned()
}

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// How much of a thing that is not an answer is shown.
const SHOWN: usize = 500;

fn one_line(text: &str) -> String {
    let mut line: String = text.chars().take(SHOWN).map(|c| if c == '\n' { ' ' } else { c }).collect();
    if line.len() < text.len() {
        line.push_str(" ...");
    }
    line
}

/// Makes control characters visible, so that a terminal does not obey them.
fn clean(text: &str) -> std::borrow::Cow<'_, str> {
    let harmless = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if text.chars().all(harmless) {
        return text.into();
    }
    let show = |c: char| {
        if harmless(c) {
            c
        } else {
            char::from_u32(0x2400 + c as u32).filter(|_| c < ' ').unwrap_or('\u{fffd}')
        }
    };
    text.chars().map(show).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(events: &[RunEvent]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/run.log");
        let mut log =
            RunLog::open(Some(&Logging::file(&path)), &ConfigDir::in_folder(folder.path()), "x").unwrap();
        for event in events {
            log.write(event);
        }
        log.close();
        fs::read_to_string(path).unwrap()
    }

    fn agent(event: AgentEvent) -> RunEvent {
        RunEvent::Agent { event }
    }

    fn text(text: &str) -> RunEvent {
        agent(AgentEvent::Text { text: text.to_owned() })
    }

    #[test]
    fn case_115_pieces_are_joined_and_a_tool_begins_a_line() {
        let tool = agent(AgentEvent::ToolCall { name: "Bash".into(), detail: "ls\n-l".into() });
        assert_eq!(logged(&[text("Hel"), text("lo"), tool, text("bye")]), "Hello\n  > Bash: ls -l\nbye");
    }

    #[test]
    fn a_terminal_that_shows_the_log_obeys_nothing() {
        assert_eq!(logged(&[text("a\x1b[2J\x07b\u{9b}c\td")]), "a\u{241b}[2J\u{2407}b\u{fffd}c\td");
    }

    #[test]
    fn the_default_folder_hides_itself() {
        let folder = tempfile::tempdir().unwrap();
        let log = RunLog::open(None, &ConfigDir::in_folder(folder.path()), "../main branch").unwrap();
        assert_eq!(log.file().unwrap(), folder.path().join(".sandcastle/logs/-main-branch.log"));
        assert_eq!(fs::read_to_string(folder.path().join(".sandcastle/logs/.gitignore")).unwrap(), "*\n");
    }
}
