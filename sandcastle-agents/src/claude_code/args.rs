//! The command lines of `claude`.

use sandcastle_core::Result;
use sandcastle_core::agent::{AgentCommand, AgentRequest, RequestSchema, StopRequest, TurnMode};
use sandcastle_core::session::SessionRequest;

use super::{ClaudeCode, PermissionMode};
use crate::free_hand;
use crate::prompt_argument::prompt_argument;

/// The option that takes a schema.
pub(super) const SCHEMA: &str = "--json-schema";

/// Arguments that let the program do what it likes.
const FREE_HAND: &[&str] = &["--dangerously-skip-permissions", "--allow-dangerously-skip-permissions"];

/// What a turn has that may only speak: no tool of the program's own, no server that offers others, and nothing that would be asked
/// for. The tool that gives a value by a schema is not among those that are taken away.
const SPEAK_ONLY: [&str; 5] = ["--permission-mode", "dontAsk", "--strict-mcp-config", "--tools", ""];

/// Words one unattended turn. The prompt goes by standard input, where it may be of any length.
pub(super) fn unattended(agent: &ClaudeCode, request: &AgentRequest<'_>) -> AgentCommand {
    // Without `--verbose` the program refuses to print a stream.
    let print = AgentCommand::new(&agent.program).args(["-p", "--output-format", "stream-json", "--verbose"]);
    let mut command = session(configured(agent, print, request.mode), request.session);
    if let Some(turns) = agent.max_turns {
        command = command.args(["--max-turns".to_owned(), turns.to_string()]);
    }
    if let Some(RequestSchema::Text(schema)) = request.schema {
        command = command.args([SCHEMA, schema]);
    }
    if let Some(dollars) = request.max_cost {
        // It looks at what it has cost after each answer of the model, and ends the turn.
        command = command.args(["--max-budget-usd".to_owned(), dollars.to_string()]);
    }
    finished(agent, command, request.mode).stdin(request.prompt)
}

/// Words the start of the terminal interface.
pub(super) fn interactive(agent: &ClaudeCode, request: &AgentRequest<'_>) -> Result<AgentCommand> {
    let prompt = prompt_argument(super::NAME, request.prompt)?;
    let start = configured(agent, AgentCommand::new(&agent.program), TurnMode::Work);
    let command = finished(agent, session(start, request.session), TurnMode::Work);
    Ok(match prompt {
        // Options that take a list would swallow a prompt that does not stand behind `--`.
        Some(prompt) => command.args(["--", prompt]),
        None => command,
    })
}

fn configured(agent: &ClaudeCode, mut command: AgentCommand, mode: TurnMode) -> AgentCommand {
    command = match permission_mode(agent.permissions) {
        _ if mode == TurnMode::SpeakOnly => command.args(SPEAK_ONLY),
        Some(mode) => command.args(["--permission-mode", mode]),
        None => command.arg("--dangerously-skip-permissions"),
    };
    if let Some(model) = &agent.model {
        command = command.args(["--model", model]);
    }
    if let Some(effort) = agent.effort {
        command = command.args(["--effort", effort.as_str()]);
    }
    command
}

fn session(command: AgentCommand, session: &SessionRequest) -> AgentCommand {
    match session {
        SessionRequest::Resume(id) => command.args(["--resume", id.as_str()]),
        SessionRequest::Fork(id) => command.args(["--resume", id.as_str(), "--fork-session"]),
        _ => command,
    }
}

fn finished(agent: &ClaudeCode, command: AgentCommand, mode: TurnMode) -> AgentCommand {
    // A termination would leave the tool that is running alive.
    command.args(free_hand::arguments(&agent.args, mode, FREE_HAND)).stop(StopRequest::interrupt())
}

fn permission_mode(mode: PermissionMode) -> Option<&'static str> {
    Some(match mode {
        PermissionMode::Bypass => return None,
        PermissionMode::Default => "default",
        PermissionMode::AcceptEdits => "acceptEdits",
        PermissionMode::Plan => "plan",
        PermissionMode::Auto => "auto",
        PermissionMode::DontAsk => "dontAsk",
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sandcastle_core::SessionId;
    use sandcastle_core::agent::{Agent, StopSignal};

    use super::*;
    use crate::effort::Effort;

    const PRINT: &str = "claude -p --output-format stream-json --verbose";

    fn command(agent: &ClaudeCode, session: &SessionRequest) -> AgentCommand {
        agent.command(&AgentRequest::new("--do it", Path::new("/work"), session)).unwrap()
    }

    fn words(command: &AgentCommand) -> String {
        let words = std::iter::once(&command.program).chain(&command.args);
        words.map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_fresh_turn_takes_the_prompt_by_standard_input() {
        let command = command(&ClaudeCode::new("opus"), &SessionRequest::Fresh);
        assert_eq!(words(&command), format!("{PRINT} --dangerously-skip-permissions --model opus"));
        assert_eq!(command.stdin, b"--do it");
        assert_eq!(command.stop.signal, StopSignal::Interrupt);
        assert_eq!(command.env, []);
    }

    #[test]
    fn an_empty_model_is_left_to_the_program() {
        let command = command(&ClaudeCode::new(""), &SessionRequest::Fresh);
        assert_eq!(words(&command), format!("{PRINT} --dangerously-skip-permissions"));
        assert_eq!(ClaudeCode::new("").model(), None);
    }

    #[test]
    fn sessions_are_resumed_and_forked_by_id() {
        let agent = ClaudeCode::new("");
        let id = SessionId::new("bc25b0aa").unwrap();
        let resumed = command(&agent, &SessionRequest::Resume(id.clone()));
        assert_eq!(words(&resumed), format!("{PRINT} --dangerously-skip-permissions --resume bc25b0aa"));
        let forked = command(&agent, &SessionRequest::Fork(id));
        assert_eq!(words(&forked), words(&resumed) + " --fork-session");
    }

    #[test]
    fn a_turn_that_may_only_speak_has_no_tools_and_no_free_hand() {
        let id = SessionRequest::Resume(SessionId::new("bc25b0aa").unwrap());
        let request = AgentRequest::new("sum up", Path::new("/work"), &id).with_mode(TurnMode::SpeakOnly);
        let agent = ClaudeCode::new("m").arg("--dangerously-skip-permissions").arg("--bare");
        let command = agent.command(&request.with_schema(Some(RequestSchema::Text("{}")))).unwrap();
        let speaking = "--permission-mode dontAsk --strict-mcp-config --tools  --model m --resume bc25b0aa";
        assert_eq!(words(&command), format!("{PRINT} {speaking} --json-schema {{}} --bare"));
    }

    #[test]
    fn a_schema_is_one_argument_of_every_turn() {
        let agent = ClaudeCode::new("").arg("--bare");
        let id = SessionId::new("bc25b0aa").unwrap();
        for session in [SessionRequest::Fresh, SessionRequest::Resume(id.clone()), SessionRequest::Fork(id)] {
            let request = AgentRequest::new("do it", Path::new("/work"), &session);
            let schema = Some(RequestSchema::Text("{\"type\":\"object\"}"));
            let with = agent.command(&request.with_schema(schema)).unwrap();
            let without = words(&agent.command(&request).unwrap());
            let expected = without.replace(" --bare", " --json-schema {\"type\":\"object\"} --bare");
            assert_eq!(words(&with), expected);
        }
    }

    #[test]
    fn case_088_a_turn_with_a_schema_prints_a_stream() {
        let request = AgentRequest::new("do it", Path::new("/work"), &SessionRequest::Fresh);
        let schema = Some(RequestSchema::Text("{}"));
        let command = ClaudeCode::new("").command(&request.with_schema(schema)).unwrap();
        assert!(words(&command).starts_with(PRINT), "{command:?}");
    }

    #[test]
    fn every_choice_has_its_option() {
        let agent = ClaudeCode::new("m")
            .program("/opt/claude")
            .effort(Effort::XHigh)
            .permission_mode(PermissionMode::AcceptEdits)
            .max_turns(3)
            .arg("--bare")
            .env("IS_SANDBOX", "1");
        let command = command(&agent, &SessionRequest::Fresh);
        let expected = "/opt/claude -p --output-format stream-json --verbose --permission-mode acceptEdits --model m \
                        --effort xhigh --max-turns 3 --bare";
        assert_eq!(words(&command), expected);
        assert_eq!((Agent::env(&agent), command.env), (vec![("IS_SANDBOX".into(), "1".into())], Vec::new()));
    }

    #[test]
    fn money_is_written_without_an_exponent() {
        let request = AgentRequest::new("do it", Path::new("/work"), &SessionRequest::Fresh);
        let command = ClaudeCode::new("").command(&request.with_max_cost(Some(0.000_000_5))).unwrap();
        assert!(words(&command).ends_with(" --max-budget-usd 0.0000005"), "{}", words(&command));
    }

    #[test]
    fn the_terminal_interface_gets_the_prompt_as_its_last_argument() {
        let agent = ClaudeCode::new("m").arg("--allowedTools").arg("Bash");
        let start = |prompt: &str| {
            let request = AgentRequest::new(prompt, Path::new("/work"), &SessionRequest::Fresh);
            agent.interactive_command(&request).map(Option::unwrap)
        };
        let options = "claude --dangerously-skip-permissions --model m --allowedTools Bash";
        assert_eq!(words(&start("--do it").unwrap()), format!("{options} -- --do it"));
        assert_eq!(words(&start("").unwrap()), options);
        assert!(start("\0").is_err());
    }
}
