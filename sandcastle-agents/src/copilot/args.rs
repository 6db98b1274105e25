//! The command lines of `copilot`.

use sandcastle_core::agent::{AgentCommand, AgentRequest, StopRequest, TurnMode};
use sandcastle_core::session::SessionRequest;
use sandcastle_core::{Error, ErrorKind, Result};

use super::Copilot;
use crate::free_hand;
use crate::prompt_argument::prompt_argument;
use crate::uuid::check_uuid;

/// Arguments that approve of whatever tool there is.
const FREE_HAND: &[&str] = &["--allow-all-tools", "--allow-all", "--yolo"];

/// What a turn has that may only speak: what changes something is denied, whatever else is allowed.
const SPEAK_ONLY: [&str; 2] = ["--deny-tool=shell", "--deny-tool=write"];

/// Words one unattended turn. Without `-p` the program takes its prompt from standard input, where it may be of any
/// length and no list of processes shows it.
pub(super) fn unattended(agent: &Copilot, request: &AgentRequest<'_>) -> Result<AgentCommand> {
    let command = AgentCommand::new(&agent.program).args(["--output-format", "json"]);
    let command = match request.mode {
        TurnMode::SpeakOnly => command.args(SPEAK_ONLY),
        _ => command.arg("--allow-all-tools"),
    };
    let command = session(command.arg("--no-ask-user"), request.session)?;
    Ok(configured(agent, command, request.mode).stdin(request.prompt))
}

/// Words the start of the terminal interface, where a person is there to approve. `-p` would leave it at once.
pub(super) fn interactive(agent: &Copilot, request: &AgentRequest<'_>) -> Result<AgentCommand> {
    let prompt = prompt_argument(super::NAME, request.prompt)?;
    let start = session(AgentCommand::new(&agent.program), request.session)?;
    let command = configured(agent, start, TurnMode::Work);
    Ok(match prompt {
        // In one word, so that a prompt may begin with a hyphen.
        Some(prompt) => command.arg(format!("--interactive={prompt}")),
        None => command,
    })
}

fn session(command: AgentCommand, session: &SessionRequest) -> Result<AgentCommand> {
    match session {
        SessionRequest::Resume(id) => {
            // Names and the beginnings of ids would be looked for as well.
            check_uuid(super::NAME, "resume", id)?;
            Ok(command.arg(format!("--resume={id}")))
        }
        SessionRequest::Fork(id) => {
            let problem = format!("fork the session `{id}`: `{}` cannot fork", super::NAME);
            Err(Error::new(ErrorKind::InvalidOptions, problem))
        }
        _ => Ok(command),
    }
}

fn configured(agent: &Copilot, mut command: AgentCommand, mode: TurnMode) -> AgentCommand {
    if let Some(model) = &agent.model {
        command = command.args(["--model", model]);
    }
    if let Some(effort) = agent.effort {
        command = command.args(["--reasoning-effort", effort.as_str()]);
    }
    // Both signals end the turn, the tool that is running and the program, which still names its session.
    command.args(free_hand::arguments(&agent.args, mode, FREE_HAND)).stop(StopRequest::interrupt())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sandcastle_core::SessionId;
    use sandcastle_core::agent::{Agent, StopSignal};

    use super::*;
    use crate::effort::Effort;

    const ID: &str = "a7d88c87-f307-4df3-a6a8-af780fbc7d40";
    const JSON: &str = "copilot --output-format json --allow-all-tools --no-ask-user";

    fn command(agent: &Copilot, session: &SessionRequest) -> Result<AgentCommand> {
        agent.command(&AgentRequest::new("--do it", Path::new("/work"), session))
    }

    fn words(command: &AgentCommand) -> String {
        let words = std::iter::once(&command.program).chain(&command.args);
        words.map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_turn_that_may_only_speak_is_denied_what_changes_something() {
        let id = SessionRequest::Resume(SessionId::new(ID).unwrap());
        let request = AgentRequest::new("sum up", Path::new("/work"), &id).with_mode(TurnMode::SpeakOnly);
        let command = words(&Copilot::new("").arg("--allow-all-tools").command(&request).unwrap());
        let denied = "--deny-tool=shell --deny-tool=write --no-ask-user";
        assert_eq!(command, format!("copilot --output-format json {denied} --resume={ID}"));
    }

    #[test]
    fn w_43_a_turn_takes_the_prompt_by_standard_input() {
        let command = command(&Copilot::new("m"), &SessionRequest::Fresh).unwrap();
        assert_eq!(words(&command), format!("{JSON} --model m"));
        assert_eq!(command.stdin, b"--do it");
        assert_eq!(command.stop.signal, StopSignal::Interrupt);
    }

    #[test]
    fn sessions_are_resumed_by_id() {
        let session = SessionRequest::Resume(SessionId::new(ID).unwrap());
        assert_eq!(words(&command(&Copilot::new(""), &session).unwrap()), format!("{JSON} --resume={ID}"));
    }

    #[test]
    fn what_would_resume_another_session_is_refused() {
        for id in ["a7d88c87", "my-feature"] {
            let session = SessionRequest::Resume(SessionId::new(id).unwrap());
            let error = command(&Copilot::new(""), &session).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::SessionNotFound, "{id}");
        }
        let fork = SessionRequest::Fork(SessionId::new(ID).unwrap());
        assert_eq!(command(&Copilot::new(""), &fork).unwrap_err().kind(), ErrorKind::InvalidOptions);
    }

    #[test]
    fn every_choice_has_its_option() {
        let agent = Copilot::new("m")
            .program("/opt/copilot")
            .effort(Effort::XHigh)
            .arg("--no-custom-instructions")
            .env("COPILOT_OFFLINE", "true");
        let command = command(&agent, &SessionRequest::Fresh).unwrap();
        let expected = "/opt/copilot --output-format json --allow-all-tools --no-ask-user --model m \
                        --reasoning-effort xhigh --no-custom-instructions";
        assert_eq!(words(&command), expected);
        assert_eq!(
            (Agent::env(&agent), command.env),
            (vec![("COPILOT_OFFLINE".into(), "true".into())], Vec::new())
        );
    }

    #[test]
    fn the_terminal_interface_gets_the_prompt_in_one_word() {
        let start = |prompt: &str| {
            let request = AgentRequest::new(prompt, Path::new("/work"), &SessionRequest::Fresh);
            Copilot::new("m").interactive_command(&request).map(|command| words(&command.unwrap()))
        };
        assert_eq!(start("-do it").unwrap(), "copilot --model m --interactive=-do it");
        assert_eq!(start("").unwrap(), "copilot --model m");
    }

    #[test]
    fn w_43_a_prompt_beyond_the_limit_of_an_argument_is_refused_by_name() {
        let prompt = "é".repeat(64 * 1024);
        let request = AgentRequest::new(&prompt, Path::new("/work"), &SessionRequest::Fresh);
        let error = Copilot::new("m").interactive_command(&request).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Prompt);
        assert!(
            error.to_string().contains("131072 bytes") && error.to_string().contains("`copilot`"),
            "{error}"
        );
    }
}
