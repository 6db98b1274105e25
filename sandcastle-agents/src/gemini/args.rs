//! The command lines of `gemini`.

use sandcastle_core::agent::{AgentCommand, AgentRequest, StopRequest, TurnMode};
use sandcastle_core::session::SessionRequest;
use sandcastle_core::{Error, ErrorKind, Result};

use super::{ApprovalMode, Gemini};
use crate::free_hand;
use crate::prompt_argument::prompt_argument;
use crate::uuid::check_uuid;

/// How much the program reads of its standard input, in bytes; it drops the rest without a word.
const MAX_PROMPT: usize = 8 * 1024 * 1024;

/// Words one unattended turn. The prompt goes by standard input.
pub(super) fn unattended(agent: &Gemini, request: &AgentRequest<'_>) -> Result<AgentCommand> {
    check_length(request.prompt)?;
    let approval = match request.mode {
        // Its read-only mode, in which it may write nothing but a plan, into its own folder.
        TurnMode::SpeakOnly => ApprovalMode::Plan,
        _ => agent.approval.unwrap_or(ApprovalMode::Yolo),
    };
    let command = AgentCommand::new(&agent.program)
        .args(["--output-format", "stream-json", "--skip-trust"])
        .args(["--approval-mode", name(approval)]);
    Ok(configured(agent, session(command, request.session)?, request.mode).stdin(request.prompt))
}

/// Words the start of the terminal interface, where a person is there to approve.
pub(super) fn interactive(agent: &Gemini, request: &AgentRequest<'_>) -> Result<AgentCommand> {
    let prompt = prompt_argument(super::NAME, request.prompt)?;
    let mut command = AgentCommand::new(&agent.program);
    if let Some(approval) = agent.approval {
        command = command.args(["--approval-mode", name(approval)]);
    }
    let command = configured(agent, session(command, request.session)?, TurnMode::Work);
    Ok(match prompt {
        // In one word, so that a prompt may begin with a hyphen.
        Some(prompt) => command.arg(format!("--prompt-interactive={prompt}")),
        None => command,
    })
}

fn check_length(prompt: &str) -> Result<()> {
    if prompt.len() <= MAX_PROMPT {
        return Ok(());
    }
    let problem =
        format!("put a prompt of {} bytes to `gemini`: it takes at most {MAX_PROMPT}", prompt.len());
    Err(Error::new(ErrorKind::Prompt, problem)
        .with_hint("put the long part into a file and name the file in the prompt"))
}

fn name(approval: ApprovalMode) -> &'static str {
    match approval {
        ApprovalMode::Yolo => "yolo",
        ApprovalMode::Default => "default",
        ApprovalMode::AutoEdit => "auto_edit",
        ApprovalMode::Plan => "plan",
    }
}

fn session(command: AgentCommand, session: &SessionRequest) -> Result<AgentCommand> {
    match session {
        SessionRequest::Resume(id) => {
            // A number resumes the session of that place in a list, `latest` the last one.
            check_uuid(super::NAME, "resume", id)?;
            Ok(command.args(["--resume", id.as_str()]))
        }
        SessionRequest::Fork(id) => {
            let problem = format!("fork the session `{id}`: `{}` cannot fork by an id", super::NAME);
            Err(Error::new(ErrorKind::InvalidOptions, problem))
        }
        _ => Ok(command),
    }
}

fn configured(agent: &Gemini, mut command: AgentCommand, mode: TurnMode) -> AgentCommand {
    if let Some(model) = &agent.model {
        command = command.args(["--model", model]);
    }
    // Every signal ends the program and none its tools.
    command.args(free_hand::arguments(&agent.args, mode, &["-y", "--yolo"])).stop(StopRequest::terminate())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sandcastle_core::SessionId;
    use sandcastle_core::agent::Agent;

    use super::*;

    const ID: &str = "fc4e5bc5-d785-4ff8-8883-d84096c89783";
    const HEADLESS: &str = "gemini --output-format stream-json --skip-trust --approval-mode";

    fn command(agent: &Gemini, session: &SessionRequest) -> Result<AgentCommand> {
        agent.command(&AgentRequest::new("--do it", Path::new("/work"), session))
    }

    fn words(command: &AgentCommand) -> String {
        let words = std::iter::once(&command.program).chain(&command.args);
        words.map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_turn_that_may_only_speak_plans_at_the_most() {
        let id = SessionRequest::Resume(SessionId::new(ID).unwrap());
        let request = AgentRequest::new("sum up", Path::new("/work"), &id).with_mode(TurnMode::SpeakOnly);
        let agent = Gemini::new("").approval_mode(ApprovalMode::Yolo).arg("--yolo").arg("--debug");
        let command = words(&agent.command(&request).unwrap());
        assert_eq!(command, format!("{HEADLESS} plan --resume {ID} --debug"));
    }

    #[test]
    fn a_fresh_turn_takes_the_prompt_by_standard_input() {
        let command = command(&Gemini::new("m"), &SessionRequest::Fresh).unwrap();
        assert_eq!(words(&command), format!("{HEADLESS} yolo --model m"));
        assert_eq!(command.stdin, b"--do it");
        assert_eq!(command.env, []);
    }

    #[test]
    fn sessions_are_resumed_by_id() {
        let session = SessionRequest::Resume(SessionId::new(ID).unwrap());
        assert_eq!(
            words(&command(&Gemini::new(""), &session).unwrap()),
            format!("{HEADLESS} yolo --resume {ID}")
        );
    }

    #[test]
    fn what_would_resume_another_session_is_refused() {
        for id in ["1", "latest", "fc4e5bc5"] {
            let session = SessionRequest::Resume(SessionId::new(id).unwrap());
            let error = command(&Gemini::new(""), &session).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::SessionNotFound, "{id}");
        }
        let fork = SessionRequest::Fork(SessionId::new(ID).unwrap());
        assert_eq!(command(&Gemini::new(""), &fork).unwrap_err().kind(), ErrorKind::InvalidOptions);
    }

    #[test]
    fn every_choice_has_its_option() {
        let agent = Gemini::new("m")
            .program("/opt/gemini")
            .approval_mode(ApprovalMode::AutoEdit)
            .arg("--debug")
            .env("GEMINI_API_KEY", "k");
        let command = command(&agent, &SessionRequest::Fresh).unwrap();
        let expected = "/opt/gemini --output-format stream-json --skip-trust --approval-mode auto_edit --model m --debug";
        assert_eq!(words(&command), expected);
        assert_eq!(
            (Agent::env(&agent), command.env),
            (vec![("GEMINI_API_KEY".into(), "k".into())], Vec::new())
        );
    }

    #[test]
    fn the_terminal_interface_gets_the_prompt_in_one_word() {
        let start = |agent: &Gemini, prompt: &str| {
            let request = AgentRequest::new(prompt, Path::new("/work"), &SessionRequest::Fresh);
            agent.interactive_command(&request).map(|command| words(&command.unwrap()))
        };
        let agent = Gemini::new("m");
        assert_eq!(start(&agent, "-do it").unwrap(), "gemini --model m --prompt-interactive=-do it");
        assert_eq!(start(&agent, "").unwrap(), "gemini --model m");
        let agent = agent.approval_mode(ApprovalMode::Yolo);
        assert_eq!(start(&agent, "").unwrap(), "gemini --approval-mode yolo --model m");
    }

    #[test]
    fn a_prompt_of_which_the_end_would_be_dropped_is_refused_by_name() {
        let turn = |length: usize| {
            let prompt = "x".repeat(length);
            Gemini::new("").command(&AgentRequest::new(&prompt, Path::new("/work"), &SessionRequest::Fresh))
        };
        assert!(turn(MAX_PROMPT).is_ok());
        let error = turn(MAX_PROMPT + 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Prompt);
        assert_eq!(error.to_string(), "put a prompt of 8388609 bytes to `gemini`: it takes at most 8388608");
    }

    #[test]
    fn w_43_a_prompt_beyond_the_limit_of_an_argument_is_refused_by_name() {
        let start = |length: usize| {
            let prompt = "x".repeat(length);
            let request = AgentRequest::new(&prompt, Path::new("/work"), &SessionRequest::Fresh);
            Gemini::new("m").interactive_command(&request)
        };
        let error = start(128 * 1024).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Prompt);
        assert!(error.to_string().contains("`gemini`"), "{error}");
        assert!(start(1000).is_ok());
    }
}
