//! The command lines of `opencode`.

use sandcastle_core::agent::{AgentCommand, AgentRequest, StopRequest, TurnMode};
use sandcastle_core::session::SessionRequest;
use sandcastle_core::{Error, ErrorKind, Result};

use super::OpenCode;
use crate::free_hand;
use crate::option_value::option_value;
use crate::prompt_argument::prompt_argument;

/// Approves of whatever is not denied.
const FREE_HAND: &str = "--auto";

/// Denies every tool, whatever the user's own settings allow: they are merged, and what is said by the variable comes last.
const SPEAK_ONLY: (&str, &str) = ("OPENCODE_PERMISSION", "{\"*\":\"deny\"}");

/// Words one unattended turn. The prompt goes by standard input: as an argument the program would put quotes around it.
pub(super) fn unattended(agent: &OpenCode, request: &AgentRequest<'_>) -> Result<AgentCommand> {
    let run = AgentCommand::new(&agent.program).args(["run", "--format", "json"]);
    let run = match request.mode {
        TurnMode::SpeakOnly => run.env(SPEAK_ONLY.0, SPEAK_ONLY.1),
        _ => run.arg(FREE_HAND),
    };
    let run = run
        .arg("--thinking")
        // It takes the variable `PWD`, which may be that of another program, for its working folder.
        .arg("--dir")
        .arg(request.cwd);
    let mut command = session(configured(agent, run)?, request.session);
    if let Some(variant) = &agent.variant {
        command = command.args(["--variant", option_value(super::NAME, "variant", variant)?]);
    }
    Ok(finished(agent, command, request.mode).stdin(request.prompt))
}

/// Words the start of the terminal interface. It shows the prompt, and sends it when the person says so.
pub(super) fn interactive(agent: &OpenCode, request: &AgentRequest<'_>) -> Result<AgentCommand> {
    // In one word with its option, so that the prompt may begin with anything.
    let option = Some(request.prompt).filter(|prompt| !prompt.is_empty());
    let option = option.map(|prompt| format!("--prompt={prompt}")).unwrap_or_default();
    let prompt = prompt_argument(super::NAME, &option)?;
    let folder = AgentCommand::new(&agent.program).arg(request.cwd);
    let command = finished(agent, session(configured(agent, folder)?, request.session), TurnMode::Work);
    Ok(command.args(prompt))
}

fn configured(agent: &OpenCode, mut command: AgentCommand) -> Result<AgentCommand> {
    if let Some(model) = &agent.model {
        command = command.args(["--model", with_provider(model)?]);
    }
    if let Some(agent) = &agent.agent {
        command = command.args(["--agent", option_value(super::NAME, "agent", agent)?]);
    }
    Ok(command)
}

/// Refuses a model without its provider: the program would fail with an error of its server that names neither.
fn with_provider(model: &str) -> Result<&str> {
    let model = option_value(super::NAME, "model", model)?;
    match model.split_once('/') {
        Some((provider, name)) if !provider.is_empty() && !name.is_empty() => Ok(model),
        _ => Err(Error::new(
            ErrorKind::InvalidOptions,
            format!("give `opencode` the model `{model:.60}`: it names no provider"),
        )
        .with_hint("write it as `provider/model`; `opencode models` lists those that there are")),
    }
}

fn session(command: AgentCommand, session: &SessionRequest) -> AgentCommand {
    match session {
        SessionRequest::Resume(id) => command.args(["--session", id.as_str()]),
        SessionRequest::Fork(id) => command.args(["--session", id.as_str(), "--fork"]),
        _ => command,
    }
}

fn finished(agent: &OpenCode, command: AgentCommand, mode: TurnMode) -> AgentCommand {
    // An interrupt does nothing at all.
    command.args(free_hand::arguments(&agent.args, mode, &[FREE_HAND])).stop(StopRequest::terminate())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sandcastle_core::SessionId;
    use sandcastle_core::agent::{Agent, StopSignal};

    use super::*;

    const RUN: &str = "opencode run --format json --auto --thinking --dir /work";

    fn command(agent: &OpenCode, session: &SessionRequest) -> Result<AgentCommand> {
        agent.command(&AgentRequest::new("--do it", Path::new("/work"), session))
    }

    fn words(command: &AgentCommand) -> String {
        let words = std::iter::once(&command.program).chain(&command.args);
        words.map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_turn_that_may_only_speak_is_denied_every_tool() {
        let id = SessionRequest::Resume(SessionId::new("ses_1").unwrap());
        let request = AgentRequest::new("sum up", Path::new("/work"), &id).with_mode(TurnMode::SpeakOnly);
        let command = OpenCode::new("").arg("--auto").arg("--pure").command(&request).unwrap();
        let expected = "opencode run --format json --thinking --dir /work --session ses_1 --pure";
        assert_eq!(words(&command), expected);
        assert_eq!(command.env, [(SPEAK_ONLY.0.into(), SPEAK_ONLY.1.into())]);
    }

    #[test]
    fn w_43_the_prompt_goes_by_standard_input() {
        let command = command(&OpenCode::new("a/m"), &SessionRequest::Fresh).unwrap();
        assert_eq!(words(&command), format!("{RUN} --model a/m"));
        assert_eq!(command.stdin, b"--do it");
        assert_eq!(command.stop.signal, StopSignal::Terminate);
    }

    #[test]
    fn sessions_are_resumed_and_forked_by_id() {
        let id = SessionId::new("ses_dd5743e5affejfi0WdXp32MI8k").unwrap();
        let resumed = command(&OpenCode::new(""), &SessionRequest::Resume(id.clone())).unwrap();
        assert_eq!(words(&resumed), format!("{RUN} --session {id}"));
        let forked = command(&OpenCode::new(""), &SessionRequest::Fork(id.clone())).unwrap();
        assert_eq!(words(&forked), format!("{RUN} --session {id} --fork"));
    }

    #[test]
    fn every_choice_has_its_option() {
        let agent = OpenCode::new("a/b/m")
            .program("/opt/opencode")
            .variant("high")
            .agent("plan")
            .arg("--pure")
            .env("OPENCODE_CONFIG", "/c");
        let command = command(&agent, &SessionRequest::Fresh).unwrap();
        let options = "--model a/b/m --agent plan --variant high --pure";
        assert_eq!(words(&command), format!("/opt/{RUN} {options}"));
        assert_eq!(
            (Agent::env(&agent), command.env),
            (vec![("OPENCODE_CONFIG".into(), "/c".into())], Vec::new())
        );
    }

    #[test]
    fn what_the_program_would_misread_is_refused_by_name() {
        for (agent, named) in [
            (OpenCode::new("-m/x"), "model `-m/x`"),
            (OpenCode::new("opus"), "model `opus`"),
            (OpenCode::new("anthropic/"), "model `anthropic/`"),
            (OpenCode::new("").variant("--x"), "variant `--x`"),
            (OpenCode::new("").agent(""), "agent ``"),
        ] {
            let error = command(&agent, &SessionRequest::Fresh).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidOptions);
            assert!(error.to_string().contains(named), "{error}");
        }
    }

    /// `-p` would be the password of a server.
    #[test]
    fn the_terminal_interface_gets_the_prompt_behind_its_long_option() {
        let agent = OpenCode::new("a/m").agent("plan").variant("high");
        let start = |prompt: &str| {
            let request = AgentRequest::new(prompt, Path::new("/work"), &SessionRequest::Fresh);
            agent.interactive_command(&request).map(Option::unwrap)
        };
        let options = "opencode /work --model a/m --agent plan";
        assert_eq!(words(&start("--do it").unwrap()), format!("{options} --prompt=--do it"));
        assert_eq!(words(&start("").unwrap()), options);
        for refused in ["\0".to_owned(), "x".repeat(128 * 1024 - 9)] {
            assert_eq!(start(&refused).unwrap_err().kind(), ErrorKind::Prompt);
        }
    }
}
