//! The tools that a request offers, and how a scripted call is put to them.

use serde_json::{Value, json};

use super::reply::Block;

/// A piece of an answer with its tool named, ready for any protocol.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Text(String),
    Thinking(String),
    Call { name: String, arguments: Value },
    TextCall { name: String, input: String },
}

/// The names of the offered tools, those inside namespaces included.
///
/// Codex offers them in the body or, to its newer models, in an item of the conversation.
pub(super) fn names(body: &Value) -> Vec<&str> {
    let items = list(&body["input"]).iter().filter(|item| item["type"] == "additional_tools");
    list(&body["tools"])
        .iter()
        .chain(items.flat_map(|item| list(&item["tools"])))
        .flat_map(|tool| match tool["type"].as_str() {
            Some("namespace") => list(&tool["tools"]),
            None if tool["functionDeclarations"].is_array() => list(&tool["functionDeclarations"]),
            _ => std::slice::from_ref(tool),
        })
        // Chat Completions put the name deeper; a tool of the provider's own (`{"type": "web_search"}`) has no other
        // name than its type.
        .filter_map(|tool| {
            [&tool["name"], &tool["function"]["name"], &tool["type"]].into_iter().find_map(Value::as_str)
        })
        .collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Puts a scripted block to the tools that the request offers.
///
/// # Errors
/// When the block needs a shell tool and none is offered.
pub(super) fn resolve(block: &Block, body: &Value) -> Result<Part, String> {
    let offered = names(body);
    Ok(match block {
        Block::Text(text) => Part::Text(text.clone()),
        Block::Thinking(text) => Part::Thinking(text.clone()),
        Block::Tool { name, arguments } => Part::Call { name: name.clone(), arguments: arguments.clone() },
        Block::TextTool { name, input } => Part::TextCall { name: name.clone(), input: input.clone() },
        Block::Structured(value) if offered.contains(&"StructuredOutput") => {
            Part::Call { name: "StructuredOutput".to_owned(), arguments: value.clone() }
        }
        Block::Structured(value) => Part::Text(value.to_string()),
        Block::Shell(command) => shell_call(command, &offered)?,
    })
}

/// A call of the first known shell tool, with the arguments that this tool takes.
fn shell_call(command: &str, offered: &[&str]) -> Result<Part, String> {
    let known = [
        ("Bash", json!({ "command": command, "description": "Runs a command" })),
        ("bash", json!({ "command": command, "description": "Runs a command" })),
        ("exec_command", json!({ "cmd": command })),
        ("shell_command", json!({ "command": command })),
        ("run_shell_command", json!({ "command": command })),
        ("shell", json!({ "command": ["bash", "-lc", command] })),
    ];
    if let Some((name, arguments)) = known.into_iter().find(|(name, _)| offered.contains(name)) {
        return Ok(Part::Call { name: name.to_owned(), arguments });
    }
    if offered.contains(&"exec") {
        // Codex's newer models call tools from a script of their own.
        let input = format!("text(await tools.exec_command({}));", json!({ "cmd": command }));
        return Ok(Part::TextCall { name: "exec".to_owned(), input });
    }
    Err(format!("no known shell tool is offered, only {offered:?}"))
}
