//! The command lines of Cursor's `agent`.

use sandcastle_core::agent::{AgentCommand, AgentRequest, StopRequest, TurnMode};
use sandcastle_core::session::SessionRequest;
use sandcastle_core::{Error, ErrorKind, Result};

use super::Cursor;
use crate::free_hand;
use crate::prompt_argument::prompt_argument;

/// Words one unattended turn. `--force` also says that the folder is trusted; without it the program refuses to work
/// unattended.
pub(super) fn unattended(agent: &Cursor, request: &AgentRequest<'_>) -> Result<AgentCommand> {
    let print = AgentCommand::new(&agent.program).args(["--print", "--output-format", "stream-json"]);
    let print = match request.mode {
        // A mode that only answers; that the folder is trusted is then said alone.
        TurnMode::SpeakOnly => print.args(["--mode", "ask", "--trust"]),
        _ => print.arg("--force"),
    };
    worded(agent, print, request)
}

/// Words the start of the terminal interface, where a person is there to approve.
pub(super) fn interactive(agent: &Cursor, request: &AgentRequest<'_>) -> Result<AgentCommand> {
    worded(agent, AgentCommand::new(&agent.program), request)
}

/// Adds what both have in common; the prompt is the last argument.
fn worded(agent: &Cursor, mut command: AgentCommand, request: &AgentRequest<'_>) -> Result<AgentCommand> {
    if let SessionRequest::Resume(id) | SessionRequest::Fork(id) = request.session {
        let problem = format!("continue the session `{id}`: `{}` cannot do that by an id", super::NAME);
        return Err(Error::new(ErrorKind::InvalidOptions, problem));
    }
    let prompt = prompt_argument(super::NAME, request.prompt)?;
    if let Some(model) = &agent.model {
        command = command.args(["--model", model]);
    }
    let further = free_hand::arguments(&agent.args, request.mode, &["-f", "--force", "--yolo"]);
    let command = command.args(further).stop(StopRequest::terminate());
    Ok(match prompt {
        // Only there, so that no version is asked for more than it needs to know.
        Some(prompt) if prompt.starts_with('-') => command.args(["--", prompt]),
        Some(prompt) => command.arg(prompt),
        None => command,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sandcastle_core::SessionId;
    use sandcastle_core::agent::Agent;

    use super::*;

    const PRINT: &str = "agent --print --output-format stream-json --force";

    fn command(agent: &Cursor, prompt: &str, session: &SessionRequest) -> Result<AgentCommand> {
        agent.command(&AgentRequest::new(prompt, Path::new("/work"), session))
    }

    fn words(command: &AgentCommand) -> String {
        let words = std::iter::once(&command.program).chain(&command.args);
        words.map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_turn_that_may_only_speak_is_asked() {
        let request = AgentRequest::new("sum up", Path::new("/work"), &SessionRequest::Fresh);
        let agent = Cursor::new("").arg("--force").arg("-H");
        let command = words(&agent.command(&request.with_mode(TurnMode::SpeakOnly)).unwrap());
        assert_eq!(command, "agent --print --output-format stream-json --mode ask --trust -H sum up");
    }

    #[test]
    fn the_prompt_is_the_last_argument() {
        let start =
            |prompt: &str| words(&command(&Cursor::new("m"), prompt, &SessionRequest::Fresh).unwrap());
        assert_eq!(start("do it; rm $x"), format!("{PRINT} --model m do it; rm $x"));
        assert_eq!(start("--do it"), format!("{PRINT} --model m -- --do it"));
    }

    #[test]
    fn every_choice_has_its_option() {
        let agent =
            Cursor::new("").program("/opt/cursor-agent").arg("--approve-mcps").env("CURSOR_API_KEY", "k");
        let command = command(&agent, "go", &SessionRequest::Fresh).unwrap();
        assert_eq!(
            words(&command),
            "/opt/cursor-agent --print --output-format stream-json --force --approve-mcps go"
        );
        assert_eq!(
            (Agent::env(&agent), command.env),
            (vec![("CURSOR_API_KEY".into(), "k".into())], Vec::new())
        );
    }

    #[test]
    fn w_43_a_prompt_beyond_the_limit_of_an_argument_is_refused_by_name() {
        for (length, is_right) in [(128 * 1024 - 1, true), (128 * 1024, false), (1024 * 1024, false)] {
            // Quotes count as what they are: no shell sees them.
            let prompt = "'".repeat(length);
            match command(&Cursor::new("m"), &prompt, &SessionRequest::Fresh) {
                Ok(command) => assert!(is_right && command.args.last().unwrap().len() == length),
                Err(error) => {
                    assert!(!is_right, "{error}");
                    assert_eq!(error.kind(), ErrorKind::Prompt);
                    let message = error.to_string();
                    assert!(
                        message.contains("`cursor`") && message.contains(&length.to_string()),
                        "{message}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_session_is_not_continued() {
        let id = SessionId::new("fc4e5bc5-d785-4ff8-8883-d84096c89783").unwrap();
        for session in [SessionRequest::Resume(id.clone()), SessionRequest::Fork(id)] {
            let error = command(&Cursor::new("m"), "go", &session).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidOptions);
        }
    }

    #[test]
    fn w_56_the_terminal_interface_asks_for_permissions() {
        let start = |prompt: &str| {
            let request = AgentRequest::new(prompt, Path::new("/work"), &SessionRequest::Fresh);
            words(&Cursor::new("m").interactive_command(&request).unwrap().unwrap())
        };
        assert_eq!(start("do it"), "agent --model m do it");
        assert_eq!(start(""), "agent --model m");
    }
}
