//! A step that runs a command on this host.
//!
//! It is an argument vector, and no shell reads it: whatever a template puts into an argument stays in that argument. An argument
//! that a template makes up entirely may still look like an option to the command; where that matters the author of the workflow
//! writes `--` before it. The command has what this process has as its environment, but for what would lead its git
//! elsewhere. It is ended with everything it started when it is over, when its time is, and when the run is.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::super::definition::{OnFailure, Step, ToolStep, is_below};
use super::super::record::Deed;
use super::fault::Fault;
use super::stage::Stage;
use super::wording;
use crate::agent::StopRequest;
use crate::error::{Error, ErrorKind};
use crate::git::DROPPED_VARIABLES;
use crate::output::{AnswerForm, ExtractError, OutputSpec, clip, one_line};
use crate::process::{Output, Program, Running, Tail};
use crate::run::StructuredOutputError;
use crate::secret::Shown;
use crate::work::{Exit, Work};

/// How much of the standard output is kept: its end. Of the standard error it is less, see [`Running::stderr`].
const KEPT: usize = 1 << 20;
/// The most characters of a command, and of what it printed, within a sentence.
const SHOWN_COMMAND: usize = 200;
const SHOWN_OUTPUT: usize = 600;
/// The most characters of a path.
const SHOWN_PATH: usize = 1000;
/// What is added to the number of a signal to tell it as an exit code, as shells do.
const KILLED: i32 = 128;

/// What a command has left.
struct Ended {
    exit: Exit,
    stdout: Tail,
    stderr: Tail,
}

/// Runs a command, and returns what it printed.
pub(super) async fn run(
    stage: &Stage<'_>,
    step: &Step,
    kind: &ToolStep,
    deed: &mut Deed,
) -> Result<Value, Fault> {
    let program = program_of(stage, kind)?;
    let shown = shown(&program);
    let ended = ended(stage, &program, kind.timeout, &shown).await?;
    note_cuts(stage, step, &ended, deed);
    if !ended.exit.is_success() && kind.on_failure == OnFailure::Fail {
        return Err(failed(&shown, &ended));
    }
    match &stage.made.of_step(step)?.spec {
        None => Ok(json!({
            "stdout": ended.stdout.text(),
            "stderr": ended.stderr.text(),
            "exit_code": match ended.exit {
                Exit::Code(code) => code,
                Exit::Signal(signal) => KILLED + signal,
                Exit::Ended => KILLED,
            },
        })),
        Some(spec) => {
            deed.attempts = 1;
            read(spec, &ended.stdout).inspect_err(|fault| deed.rejected.push(fault.said.clone()))
        }
    }
}

/// Notes of which stream only the end is kept, and says so: a step that reads it would take that for all of it.
fn note_cuts(stage: &Stage<'_>, step: &Step, ended: &Ended, deed: &mut Deed) {
    deed.stdout_truncated = ended.stdout.is_cut();
    deed.stderr_truncated = ended.stderr.is_cut();
    for (name, tail) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
        if tail.is_cut() {
            stage.warn(format!(
                "the step `{}`: its `{name}` is the last {} of {} bytes; have the command write the whole into a file",
                step.name,
                tail.limit(),
                tail.total()
            ));
        }
    }
}

/// Fills in what templates say.
fn program_of(stage: &Stage<'_>, kind: &ToolStep) -> Result<Program, Fault> {
    let render = |text| stage.render_text(text, "run");
    let argv = kind.argv.iter().map(render).collect::<Result<Vec<_>, _>>()?;
    let (name, args) = argv.split_first().ok_or_else(|| Fault::ruled("has no command"))?;
    if name.is_empty() {
        return Err(Fault::ruled("has a command without a name"));
    }
    if stage.audience.secrets().shown_by(&argv) == Some(Shown::Declared) {
        return Err(Fault::ruled(
            "would start a command with a secret in its arguments, where every user of this host can read it",
        ));
    }
    let mut program = Program::new(name).args(args).cwd(folder(stage, kind)?);
    program.removed_env.extend(DROPPED_VARIABLES.iter().map(Into::into));
    program.env.extend(stage.record.mark());
    for (name, value) in &kind.env {
        let value = stage.render_text(value, "env")?;
        stage.audience.learn([(name.as_str(), value.as_str())])?;
        program = program.env(name, value);
    }
    match &kind.stdin {
        None => Ok(program),
        Some(text) => Ok(program.stdin(stage.render_text(text, "stdin")?)),
    }
}

/// Finds the folder that a command runs in; it is not outside of that of the workflow.
fn folder(stage: &Stage<'_>, kind: &ToolStep) -> Result<PathBuf, Fault> {
    let Some(text) = &kind.cwd else { return Ok(stage.folder.clone()) };
    let below = stage.render_text(text, "cwd")?;
    let shown = one_line(&below);
    if !is_below(&below) {
        return Err(Fault::ruled(format!(
            "would run in `{shown}`, which is not below the folder of the workflow"
        )));
    }
    let folder = stage.folder.join(&below);
    match folder.canonicalize() {
        Ok(real) if real.starts_with(&stage.folder) && real.is_dir() => Ok(real),
        Ok(_) => Err(Fault::ruled(format!(
            "would run in `{shown}`, which is no folder below that of the workflow"
        ))),
        Err(error) => Err(Error::new(ErrorKind::WorkflowStep, format!("run in `{shown}`: {error}"))
            .with_source(error)
            .into()),
    }
}

async fn ended(
    stage: &Stage<'_>,
    program: &Program,
    limit: Option<Duration>,
    shown: &str,
) -> Result<Ended, Fault> {
    let start = Running::start(program);
    let mut running = start.map_err(|error| not_started(program, shown, error))?;
    let mut stdout = Tail::new(KEPT);
    let cut = tokio::select! {
        biased;
        ended = listen(&mut running, &mut stdout) => match ended {
            Ok(exit) => {
                running.sweep().await;
                return Ok(Ended { exit, stdout, stderr: running.stderr().clone() });
            }
            Err(error) => Error::new(ErrorKind::WorkflowStep, format!("wait for `{shown}`: {error}")).with_source(error),
        },
        () = stage.stop.cancelled() => Error::new(ErrorKind::Cancelled, format!("finish `{shown}`: it was cancelled")),
        limit = over(limit) => {
            Error::new(ErrorKind::StepTimeout, format!("finish `{shown}` within {} s", limit.as_secs_f64()))
        }
    };
    running.end(StopRequest::default()).await;
    Err(cut.into())
}

/// Says why a command did not start, and what to do.
fn not_started(program: &Program, shown: &str, error: io::Error) -> Error {
    let said = match unstartable(program, error.kind()) {
        Some((why, hint)) => {
            Error::new(ErrorKind::WorkflowStep, format!("start `{shown}`: {why}")).with_hint(hint)
        }
        None => Error::new(ErrorKind::WorkflowStep, format!("start `{shown}`: {error}")),
    };
    said.with_source(error)
}

/// Says what is wrong with a program that the system does not start; what it says itself names neither the file nor its place.
fn unstartable(program: &Program, kind: io::ErrorKind) -> Option<(String, &'static str)> {
    let name = program.name.to_string_lossy();
    let is_path = name.contains('/');
    let path = program.cwd.as_deref().unwrap_or(Path::new("")).join(&program.name);
    let place = clip(&one_line(&path.to_string_lossy()), SHOWN_PATH).into_owned();
    Some(match kind {
        io::ErrorKind::NotFound if !is_path => (
            format!("no program `{}` is on the `PATH`", one_line(&name)),
            "install it, or write the path of the program",
        ),
        io::ErrorKind::NotFound if path.exists() => (
            format!("`{place}` is there, and the program that its first line names (`#!`) is not"),
            "install that program, or correct the line; it must not end in a carriage return",
        ),
        io::ErrorKind::NotFound => (
            format!("there is no file `{place}`"),
            "the path of a program begins at the `cwd` of its step, and that at the folder of the workflow",
        ),
        io::ErrorKind::PermissionDenied if path.is_dir() => {
            (format!("`{place}` is a folder"), "write the path of a program")
        }
        io::ErrorKind::PermissionDenied if is_path => (
            format!("`{place}` may not be executed"),
            "make it executable with `chmod +x`, or let its interpreter read it: `run: [sh, FILE]`",
        ),
        _ => return None,
    })
}

async fn listen(running: &mut Running, stdout: &mut Tail) -> io::Result<Exit> {
    loop {
        match running.next().await? {
            Output::Stdout(bytes) => stdout.push(bytes),
            Output::Exited(status) => return Ok(status.into()),
        }
    }
}

/// Waits until a time is over; for ever without one.
async fn over(limit: Option<Duration>) -> Duration {
    match limit {
        None => std::future::pending().await,
        Some(limit) => {
            tokio::time::sleep(limit).await;
            limit
        }
    }
}

/// Reads what was printed as the output that it has to be.
fn read(spec: &OutputSpec, stdout: &Tail) -> Result<Value, Fault> {
    if stdout.is_cut() {
        let total = stdout.total();
        return Err(Fault::ruled(format!(
            "printed {total} bytes, and an output that has to match output_schema has at most {KEPT}"
        )));
    }
    spec.read_block(&stdout.text()).map_err(|error| unfit(error, spec))
}

fn unfit(error: ExtractError, spec: &OutputSpec) -> Fault {
    let said = format!("did not match output_schema: {}", wording::problems(&error).join("; "));
    let message = format!("get a valid `<{}>` of what a command printed: {error}", spec.tag());
    let output = StructuredOutputError::new(error, AnswerForm::Document, &Work::default());
    Fault { said, error: Error::new(ErrorKind::StructuredOutput, message).with_source(output) }
}

fn failed(shown: &str, ended: &Ended) -> Fault {
    let stderr = ended.stderr.text();
    let printed = if stderr.trim().is_empty() { ended.stdout.text() } else { stderr };
    // What a command complains of stands at the end of what it prints.
    let printed = printed.trim();
    let start = printed.char_indices().rev().nth(SHOWN_OUTPUT).map_or(0, |(at, _)| at);
    let said = match one_line(&printed[start..]) {
        nothing if nothing.is_empty() => format!("failed to run `{shown}`: {}", ended.exit),
        printed => format!("failed to run `{shown}`: {}: {printed}", ended.exit),
    };
    let message = said.trim_start_matches("failed to ").to_owned();
    Fault { said, error: Error::new(ErrorKind::WorkflowStep, message) }
}

fn shown(program: &Program) -> String {
    let words = std::iter::once(&program.name).chain(&program.args).map(|word| word.to_string_lossy());
    clip(&one_line(&words.collect::<Vec<_>>().join(" ")), SHOWN_COMMAND).into_owned()
}
