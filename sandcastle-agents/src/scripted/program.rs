//! From a script to a shell program.
//!
//! Every word that comes from a script is quoted here and nowhere else; every event is written here as JSON, so that
//! the program only has to print. The program travels on the command line, cut into arguments of permitted length:
//! it needs no file and works wherever `sh` does.

use sandcastle_core::event::StopReason;
use sandcastle_core::{Error, ErrorKind, Result};
use serde::Serialize;
use serde_json::value::RawValue;

use super::script::{AfterLast, Script, Sequence};
use super::turn::{LeftOutput, Step, Turn, TurnUsage};
use super::wire::Record;
use crate::json::Text;
use crate::prompt_argument::MAX_ARGUMENT;

/// The part that is the same for all scripts.
const PRELUDE: &str = include_str!("program.sh");

/// Joins the pieces of the program, which end with `--`, and runs it with the arguments behind them.
const LOADER: &str = "p=; while [ \"$1\" != -- ]; do p=$p$1; shift; done; shift; eval \"$p\"";

/// The longest piece of a program in one argument, in bytes.
const PIECE: usize = MAX_ARGUMENT / 2;

/// The longest program: with the variables it has to fit what a process can be started with.
const MAX_PROGRAM: usize = 1024 * 1024;

/// Compiles `script` into the arguments of `sh`, up to where those of the program begin.
pub(super) fn arguments(script: &Script) -> Result<Vec<String>> {
    let program = program(script)?;
    if program.len() > MAX_PROGRAM {
        let problem = format!("put a script of {} bytes on a command line of {MAX_PROGRAM}", program.len());
        return Err(Error::new(ErrorKind::InvalidOptions, problem)
            .with_hint("say long texts with `repeat`, or write them with a shell command"));
    }
    let mut arguments: Vec<String> = ["-c", LOADER, "sandcastle-scripted"].map(str::to_owned).into();
    let mut rest = program.as_str();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        arguments.push(piece.to_owned());
        rest = after;
    }
    arguments.push("--".to_owned());
    Ok(arguments)
}

fn program(script: &Script) -> Result<String> {
    let mut program = PRELUDE.to_owned();
    for (index, turn) in script.turns.iter().enumerate() {
        program += &format!("turn_{}() {{\n{}}}\n", index + 1, body(turn)?);
    }
    let after = match script.after {
        AfterLast::Fail => "fail",
        AfterLast::Repeat => "repeat",
    };
    let sequence = match script.sequence {
        Sequence::PerSession => "per-session",
        Sequence::AcrossSessions => "across-sessions",
    };
    program += &format!("turns={} after={after} sequence={sequence}\nrun \"$@\"\n", script.turns.len());
    Ok(program)
}

fn body(turn: &Turn) -> Result<String> {
    let TurnUsage { input_tokens, output_tokens, cost_usd } = turn.usage;
    let completed = Record::Completed {
        input_tokens,
        output_tokens,
        cost_usd,
        stop: turn.stop.unwrap_or(StopReason::Complete),
        structured: turn.structured.clone(),
    };
    let complete = format!("complete {}\n", json(&completed)?);
    let mut body = String::new();
    for step in &turn.steps {
        body += &lines(step, &complete)?;
    }
    Ok(body + &complete)
}

/// Words one step; the output ends with a line feed.
fn lines(step: &Step, complete: &str) -> Result<String> {
    let line = match step {
        Step::SayPieces(pieces) => {
            return pieces.iter().map(|piece| emit(&Record::Text(piece.as_str().into()))).collect();
        }
        Step::Say(text) => return emit(&Record::Text(text.as_str().into())),
        Step::Think(text) => return emit(&Record::Thinking(text.as_str().into())),
        Step::SubAgentSays(text) => return emit(&Record::SubAgentText(text.as_str().into())),
        Step::Tool { name, input } => {
            return emit(&Record::Tool { name: name.as_str().into(), input: &raw(input)? });
        }
        Step::Used(TurnUsage { input_tokens, output_tokens, cost_usd }) => {
            let (input_tokens, output_tokens, cost_usd) = (*input_tokens, *output_tokens, *cost_usd);
            return emit(&Record::Used { input_tokens, output_tokens, cost_usd });
        }
        Step::ToolOutput(text) => return emit(&tool_result(false, text)),
        Step::ToolFails(text) => return emit(&tool_result(true, text)),
        Step::WriteFile { path, content } => {
            format!("write_file {} {} || broken write-file", quoted(path)?, quoted(content)?)
        }
        Step::Commit(message) => format!("commit {} || broken commit", quoted(message)?),
        Step::Shell(command) => format!("sh -c {} >&2 </dev/null || broken shell", quoted(command)?),
        Step::RawLine(line) => format!("emit {}", quoted(line)?),
        Step::Stderr(line) => format!("emit {} >&2", quoted(line)?),
        Step::SleepMs(duration) => format!("silence {}", seconds(*duration)),
        Step::Hang => "silence".to_owned(),
        Step::Complete => return Ok(complete.to_owned()),
        Step::Fail { kind, message } => {
            format!("fail {}", json(&Record::Failed { kind: *kind, message: message.as_str().into() })?)
        }
        Step::Exit(code) => format!("exit {code}"),
        Step::KillSelf(signal) => format!("kill -{signal} $$; silence"),
        Step::LeaveBehind { seconds, output: LeftOutput::Closed } => {
            format!("leave_behind {seconds} >/dev/null 2>&1 </dev/null")
        }
        Step::LeaveBehind { seconds, output: LeftOutput::Held } => {
            format!("leave_behind {seconds} </dev/null")
        }
        Step::LingerMs(duration) => format!("{complete}silence {}", seconds(*duration)),
        Step::HoldOpen => format!("{complete}silence"),
        Step::IgnoreStop => "trap '' TERM INT HUP".to_owned(),
        Step::Repeat { text, times } => {
            format!("repeat {} {times}", json(&Record::Text(text.as_str().into()))?)
        }
        Step::RefuseResumeForMs(duration) => format!("refuse_resume_for {duration}"),
    };
    Ok(line + "\n")
}

fn emit(record: &Record<'_>) -> Result<String> {
    Ok(format!("emit {}\n", json(record)?))
}

fn tool_result(is_error: bool, output: &str) -> Record<'_> {
    Record::ToolResult { is_error, output: Text::from(output) }
}

/// Writes a record as one quoted word.
fn json(record: &Record<'_>) -> Result<String> {
    quoted(&serde_json::to_string(record).map_err(unwritable)?)
}

fn raw(value: &impl Serialize) -> Result<Box<RawValue>> {
    serde_json::value::to_raw_value(value).map_err(unwritable)
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::new(ErrorKind::InvalidOptions, "write the script as JSON").with_source(error)
}

/// Quotes a word so that a shell takes it as it is.
fn quoted(word: &str) -> Result<String> {
    if word.contains('\0') {
        return Err(Error::new(
            ErrorKind::InvalidOptions,
            "put a NUL character of the script on a command line",
        )
        .with_hint("write it with a shell command, for example `printf '\\000' > file`"));
    }
    Ok(format!("'{}'", word.replace('\'', r"'\''")))
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_whatever_it_holds() {
        assert_eq!(quoted("it's $HOME `x` \"\n").unwrap(), "'it'\\''s $HOME `x` \"\n'");
        assert!(quoted("\0").is_err());
    }

    #[test]
    fn a_long_program_is_cut_between_characters() {
        let script = Script::new().turn(Turn::new().say("日".repeat(100_000)));
        let arguments = arguments(&script).unwrap();
        assert!(arguments.len() > 5 && arguments.iter().all(|argument| argument.len() < MAX_ARGUMENT));
        let pieces = &arguments[3..arguments.len() - 1];
        assert_eq!(pieces.concat(), program(&script).unwrap());
    }

    #[test]
    fn a_program_that_fits_no_command_line_is_refused() {
        let error = arguments(&Script::new().turn(Turn::new().say("x".repeat(MAX_PROGRAM)))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOptions);
    }

    #[test]
    fn durations_are_written_in_seconds() {
        assert_eq!(seconds(50), "0.050");
        assert_eq!(seconds(61_001), "61.001");
    }
}
