//! The command lines of `codex`.

use sandcastle_core::agent::{AgentCommand, AgentRequest, RequestSchema, StopRequest, TurnMode};
use sandcastle_core::session::SessionRequest;
use sandcastle_core::{Error, ErrorKind, Result};

use super::Codex;
use crate::effort::Effort;
use crate::free_hand;
use crate::prompt_argument::prompt_argument;
use crate::uuid::check_uuid;

/// The option that takes the file of a schema.
pub(super) const SCHEMA: &str = "--output-schema";

/// Lets the program do what it likes.
const FREE_HAND: &str = "--dangerously-bypass-approvals-and-sandbox";

/// What a turn has that may only speak: the program's own sandbox, which lets it read, and nobody to approve of more. It is said by
/// settings, which also a resumed turn takes.
const SPEAK_ONLY: [&str; 4] = ["-c", "sandbox_mode=\"read-only\"", "-c", "approval_policy=\"never\""];

/// The longest prompt that the program accepts, in characters.
const MAX_PROMPT: usize = 1_048_576;

/// Words one unattended turn. The prompt goes by standard input, which `-` asks for.
pub(super) fn unattended(agent: &Codex, request: &AgentRequest<'_>) -> Result<AgentCommand> {
    check_length(request.prompt)?;
    let (subcommand, origin) = session(request.session)?;
    let mut command = AgentCommand::new(&agent.program).arg("exec").args(subcommand).arg("--json");
    command = match request.mode {
        // Of two values of a setting the last one counts.
        TurnMode::SpeakOnly => configured(agent, command, request.mode).args(SPEAK_ONLY),
        _ => configured(agent, command.arg(FREE_HAND), request.mode),
    };
    if let Some(RequestSchema::File(schema)) = request.schema {
        command = command.arg(SCHEMA).arg(schema);
    }
    Ok(command.args(origin).arg("-").stdin(request.prompt))
}

/// Words the start of the terminal interface, where a person is there to approve.
pub(super) fn interactive(agent: &Codex, request: &AgentRequest<'_>) -> Result<AgentCommand> {
    let prompt = prompt_argument(super::NAME, request.prompt)?;
    let (subcommand, origin) = session(request.session)?;
    let command = configured(agent, AgentCommand::new(&agent.program).args(subcommand), TurnMode::Work);
    Ok(match (origin, prompt) {
        (origin, Some(prompt)) => command.arg("--").args(origin).arg(prompt),
        (origin, None) => command.args(origin),
    })
}

fn check_length(prompt: &str) -> Result<()> {
    // A prompt has at most as many characters as bytes, so most need no counting.
    if prompt.len() <= MAX_PROMPT {
        return Ok(());
    }
    let characters = prompt.chars().count();
    if characters <= MAX_PROMPT {
        return Ok(());
    }
    let problem =
        format!("put a prompt of {characters} characters to `codex`: it takes at most {MAX_PROMPT}");
    Err(Error::new(ErrorKind::Prompt, problem)
        .with_hint("put the long part into a file and name the file in the prompt"))
}

fn session(session: &SessionRequest) -> Result<(Option<&'static str>, Option<&str>)> {
    let (subcommand, id) = match session {
        SessionRequest::Resume(id) => ("resume", id),
        SessionRequest::Fork(id) => ("fork", id),
        _ => return Ok((None, None)),
    };
    // What is no UUID is taken for the title of a session, and where none has that title, a new one is begun.
    check_uuid(super::NAME, subcommand, id)?;
    Ok((Some(subcommand), Some(id)))
}

fn configured(agent: &Codex, mut command: AgentCommand, mode: TurnMode) -> AgentCommand {
    if let Some(model) = &agent.model {
        command = command.args(["-m", model]);
    }
    if let Some(effort) = agent.effort {
        let effort = if effort == Effort::Max { Effort::XHigh } else { effort };
        command = command.args(["-c".to_owned(), format!("model_reasoning_effort=\"{effort}\"")]);
    }
    for (key, value) in &agent.config {
        command = command.args(["-c".to_owned(), format!("{key}={value}")]);
    }
    // Of all signals only this one ends its tools as well.
    command
        .args(free_hand::arguments(&agent.args, mode, &[FREE_HAND, "--yolo"]))
        .stop(StopRequest::interrupt())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sandcastle_core::SessionId;
    use sandcastle_core::agent::{Agent, StopSignal};

    use super::*;

    const ID: &str = "01a22a7e-d29e-7d31-b9cd-cb4025110f7d";

    fn command(agent: &Codex, session: &SessionRequest) -> AgentCommand {
        agent.command(&AgentRequest::new("do it", Path::new("/work"), session)).unwrap()
    }

    fn words(command: &AgentCommand) -> String {
        let words = std::iter::once(&command.program).chain(&command.args);
        words.map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_turn_that_may_only_speak_reads_at_the_most() {
        let agent = Codex::new("m").config("sandbox_mode", "\"danger-full-access\"").arg("--yolo");
        let id = SessionRequest::Resume(SessionId::new(ID).unwrap());
        let request = AgentRequest::new("sum up", Path::new("/work"), &id).with_mode(TurnMode::SpeakOnly);
        let command = words(&agent.command(&request).unwrap());
        assert!(!command.contains("dangerously") && !command.contains("--yolo"), "{command}");
        let last = format!("-c sandbox_mode=\"read-only\" -c approval_policy=\"never\" {ID} -");
        assert!(
            command.starts_with("codex exec resume --json -m m") && command.ends_with(&last),
            "{command}"
        );
    }

    #[test]
    fn a_fresh_turn_takes_the_prompt_by_standard_input() {
        let command = command(&Codex::new("m"), &SessionRequest::Fresh);
        assert_eq!(words(&command), "codex exec --json --dangerously-bypass-approvals-and-sandbox -m m -");
        assert_eq!(command.stdin, b"do it");
        assert_eq!(command.stop.signal, StopSignal::Interrupt);
    }

    #[test]
    fn sessions_are_resumed_and_forked_by_id() {
        let id = SessionId::new(ID).unwrap();
        let bypass = "--json --dangerously-bypass-approvals-and-sandbox";
        let resumed = command(&Codex::new(""), &SessionRequest::Resume(id.clone()));
        assert_eq!(words(&resumed), format!("codex exec resume {bypass} {ID} -"));
        let forked = command(&Codex::new(""), &SessionRequest::Fork(id));
        assert_eq!(words(&forked), format!("codex exec fork {bypass} {ID} -"));
    }

    #[test]
    fn a_schema_is_a_file_of_every_turn() {
        let id = SessionId::new(ID).unwrap();
        let agent = Codex::new("m");
        for session in [SessionRequest::Fresh, SessionRequest::Resume(id.clone()), SessionRequest::Fork(id)] {
            let request = AgentRequest::new("do it", Path::new("/work"), &session);
            let schema = Some(RequestSchema::File(Path::new("/tmp/s.json")));
            let with = words(&agent.command(&request.with_schema(schema)).unwrap());
            let without = words(&agent.command(&request).unwrap());
            assert_eq!(with, without.replace(" -m m", " -m m --output-schema /tmp/s.json"));
        }
    }

    #[test]
    fn an_id_that_would_begin_a_new_session_is_refused() {
        for id in
            ["01a22a7e", "last", "01a22a7ed29e-7d31-b9cd-cb4025110f7d-", "01a22a7ed29e7d31b9cdcb4025110f7d"]
        {
            let session = SessionRequest::Resume(SessionId::new(id).unwrap());
            let request = AgentRequest::new("do it", Path::new("/work"), &session);
            let error = Codex::new("").command(&request).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::SessionNotFound, "{id}");
            assert!(error.to_string().contains(id), "{error}");
        }
    }

    #[test]
    fn every_choice_has_its_option() {
        let agent = Codex::new("m")
            .program("/opt/codex")
            .effort(Effort::Max)
            .config("features.x", "true")
            .arg("--ephemeral")
            .env("CODEX_HOME", "/codex");
        let command = command(&agent, &SessionRequest::Fresh);
        let expected = "/opt/codex exec --json --dangerously-bypass-approvals-and-sandbox -m m \
                        -c model_reasoning_effort=\"xhigh\" -c features.x=true --ephemeral -";
        assert_eq!(words(&command), expected);
        assert_eq!(
            (Agent::env(&agent), command.env),
            (vec![("CODEX_HOME".into(), "/codex".into())], Vec::new())
        );
    }

    #[test]
    fn a_prompt_that_is_too_long_is_refused_by_name() {
        let request = |prompt: &str| {
            Codex::new("").command(&AgentRequest::new(prompt, Path::new("/work"), &SessionRequest::Fresh))
        };
        assert!(request(&"é".repeat(MAX_PROMPT)).is_ok());
        let error = request(&"x".repeat(MAX_PROMPT + 1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Prompt);
        assert_eq!(
            error.to_string(),
            "put a prompt of 1048577 characters to `codex`: it takes at most 1048576"
        );
    }

    #[test]
    fn the_terminal_interface_gets_the_prompt_as_its_last_argument() {
        let start = |prompt: &str, session: &SessionRequest| {
            let request = AgentRequest::new(prompt, Path::new("/work"), session);
            words(&Codex::new("m").interactive_command(&request).unwrap().unwrap())
        };
        let id = SessionId::new(ID).unwrap();
        assert_eq!(start("--do it", &SessionRequest::Fresh), "codex -m m -- --do it");
        assert_eq!(start("", &SessionRequest::Fresh), "codex -m m");
        assert_eq!(start("on", &SessionRequest::Resume(id)), format!("codex resume -m m -- {ID} on"));
    }
}
