//! The command lines of `pi`.

use sandcastle_core::agent::{AgentCommand, AgentRequest, StopRequest, TurnMode};
use sandcastle_core::session::SessionRequest;
use sandcastle_core::{Error, ErrorKind, Result};

use super::Pi;
use crate::option_value::option_value;
use crate::prompt_argument::prompt_argument;
use crate::uuid::check_uuid;

/// Words one unattended turn. The prompt goes by standard input, where it may be of any length and begin with anything.
pub(super) fn unattended(agent: &Pi, request: &AgentRequest<'_>) -> Result<AgentCommand> {
    let mut print = AgentCommand::new(&agent.program).args(["-p", "--mode", "json"]);
    if request.mode == TurnMode::SpeakOnly {
        print = print.arg("--no-tools");
    }
    let command = session(configured(agent, print)?, request.session)?;
    Ok(finished(agent, command).stdin(request.prompt))
}

/// Words the start of the terminal interface.
pub(super) fn interactive(agent: &Pi, request: &AgentRequest<'_>) -> Result<AgentCommand> {
    let prompt = prompt_argument(super::NAME, request.prompt)?;
    let command = session(configured(agent, AgentCommand::new(&agent.program))?, request.session)?;
    let command = finished(agent, command);
    match prompt {
        // The program refuses `--`, so nothing can say that this is no option and no file.
        Some(prompt) if prompt.starts_with(['-', '@']) => {
            let problem =
                "pass the prompt to `pi` as an argument: it begins with `-` or `@`, as options and files do";
            Err(Error::new(ErrorKind::Prompt, problem).with_hint("begin the prompt with a word"))
        }
        Some(prompt) => Ok(command.arg(prompt)),
        None => Ok(command),
    }
}

fn configured(agent: &Pi, mut command: AgentCommand) -> Result<AgentCommand> {
    if let Some(provider) = &agent.provider {
        command = command.args(["--provider", option_value(super::NAME, "provider", provider)?]);
    }
    if let Some(model) = &agent.model {
        command = command.args(["--model", option_value(super::NAME, "model", model)?]);
    }
    if let Some(level) = agent.thinking {
        command = command.args(["--thinking", level.as_str()]);
    }
    Ok(command)
}

fn session(command: AgentCommand, session: &SessionRequest) -> Result<AgentCommand> {
    let (option, verb, id) = match session {
        SessionRequest::Resume(id) => ("--session", "resume", id),
        SessionRequest::Fork(id) => ("--fork", "fork", id),
        _ => return Ok(command),
    };
    // The beginning of an id would be taken for the first session that begins so.
    check_uuid(super::NAME, verb, id)?;
    Ok(command.args([option, id.as_str()]))
}

fn finished(agent: &Pi, command: AgentCommand) -> AgentCommand {
    // Of all signals only this one ends its tools as well.
    command.args(&agent.args).stop(StopRequest::terminate())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sandcastle_core::SessionId;
    use sandcastle_core::agent::{Agent, StopSignal};

    use super::*;
    use crate::pi::ThinkingLevel;

    const ID: &str = "01a22a7d-521a-7258-8994-396f10b3b0b4";

    fn command(agent: &Pi, session: &SessionRequest) -> Result<AgentCommand> {
        agent.command(&AgentRequest::new("--do it", Path::new("/work"), session))
    }

    fn words(command: &AgentCommand) -> String {
        let words = std::iter::once(&command.program).chain(&command.args);
        words.map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_turn_that_may_only_speak_has_no_tools() {
        let id = SessionRequest::Resume(SessionId::new(ID).unwrap());
        let request = AgentRequest::new("sum up", Path::new("/work"), &id).with_mode(TurnMode::SpeakOnly);
        let command = words(&Pi::new("").command(&request).unwrap());
        assert_eq!(command, format!("pi -p --mode json --no-tools --session {ID}"));
    }

    #[test]
    fn w_43_the_prompt_goes_by_standard_input() {
        let command = command(&Pi::new("m"), &SessionRequest::Fresh).unwrap();
        assert_eq!(words(&command), "pi -p --mode json --model m");
        assert_eq!(command.stdin, b"--do it");
        assert_eq!(command.stop.signal, StopSignal::Terminate);
    }

    #[test]
    fn w_22_a_fork_is_not_a_resume() {
        let id = SessionId::new(ID).unwrap();
        let resumed = command(&Pi::new(""), &SessionRequest::Resume(id.clone())).unwrap();
        assert_eq!(words(&resumed), format!("pi -p --mode json --session {ID}"));
        let forked = command(&Pi::new(""), &SessionRequest::Fork(id)).unwrap();
        assert_eq!(words(&forked), format!("pi -p --mode json --fork {ID}"));
    }

    #[test]
    fn the_beginning_of_an_id_is_no_id() {
        for id in ["0", "01a22a7d", "session.jsonl"] {
            let session = SessionRequest::Resume(SessionId::new(id).unwrap());
            let error = command(&Pi::new(""), &session).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::SessionNotFound, "{id}");
            assert!(error.to_string().contains(id), "{error}");
        }
    }

    #[test]
    fn every_choice_has_its_option() {
        let agent = Pi::new("m")
            .program("/opt/pi")
            .provider("anthropic")
            .thinking(ThinkingLevel::XHigh)
            .arg("--no-skills")
            .env("PI_OFFLINE", "1");
        let command = command(&agent, &SessionRequest::Fresh).unwrap();
        let expected = "/opt/pi -p --mode json --provider anthropic --model m --thinking xhigh --no-skills";
        assert_eq!(words(&command), expected);
        assert_eq!((Agent::env(&agent), command.env), (vec![("PI_OFFLINE".into(), "1".into())], Vec::new()));
    }

    #[test]
    fn values_that_look_like_options_are_refused_by_name() {
        for (agent, value) in
            [(Pi::new("-m"), "model `-m`"), (Pi::new("m").provider("--x"), "provider `--x`")]
        {
            let error = command(&agent, &SessionRequest::Fresh).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidOptions);
            assert!(error.to_string().contains(value), "{error}");
        }
    }

    #[test]
    fn the_terminal_interface_gets_the_prompt_as_its_last_argument() {
        let agent = Pi::new("m").arg("--no-skills");
        let start = |prompt: &str| {
            let request = AgentRequest::new(prompt, Path::new("/work"), &SessionRequest::Fresh);
            agent.interactive_command(&request).map(Option::unwrap)
        };
        assert_eq!(words(&start("do it").unwrap()), "pi --model m --no-skills do it");
        assert_eq!(words(&start("").unwrap()), "pi --model m --no-skills");
        for refused in ["-p", "@file", "\0"] {
            assert_eq!(start(refused).unwrap_err().kind(), ErrorKind::Prompt, "{refused}");
        }
    }
}
