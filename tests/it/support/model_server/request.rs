//! What an agent asked: the recorded request and the questions that tests put to it.
//!
//! The questions are the same for all protocols: what the user said, what the model had said, what tools
//! answered.

use serde_json::Value;

/// Headers whose values are never kept.
const SECRET_HEADERS: [&str; 5] = ["authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie"];

/// A request as it arrived, keys masked.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// The JSON body, or null if there was none.
    pub(crate) body: Value,
    pub(super) purpose: Purpose,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The agent's own work: it offers tools, or goes on with a conversation, and takes the next reply of the script.
    Turn,
    /// A title or the like: a question to the model without tools.
    Aside,
    /// A count of tokens.
    Count,
    /// Anything else: greetings, lists of models, unknown paths.
    Other,
}

impl Request {
    pub(super) fn new(parts: &hyper::http::request::Parts, body: &[u8]) -> Self {
        let headers = parts.headers.iter().map(|(name, value)| {
            let shown =
                if SECRET_HEADERS.contains(&name.as_str()) { "***".into() } else { lossy(value.as_bytes()) };
            (name.as_str().to_owned(), shown)
        });
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let path = parts.uri.path().to_owned();
        let purpose = purpose(&path, &body);
        Self { method: parts.method.to_string(), path, headers: headers.collect(), body, purpose }
    }

    pub(crate) fn is_turn(&self) -> bool {
        self.purpose == Purpose::Turn
    }

    /// The value of a header, if it was sent.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Everything the user said in the conversation so far, one string per piece of text.
    pub(crate) fn user_texts(&self) -> Vec<String> {
        self.texts_of("user")
    }

    /// Everything the model had said in the conversation so far, one string per piece of text.
    pub(crate) fn assistant_texts(&self) -> Vec<String> {
        self.texts_of("assistant")
    }

    /// What the agent's tools answered in the conversation so far.
    pub(crate) fn tool_results(&self) -> Vec<String> {
        let inside_messages =
            self.conversation().filter_map(|message| message["content"].as_array()).flatten();
        self.conversation()
            .chain(inside_messages)
            .filter_map(|item| match item["type"].as_str() {
                Some("tool_result") => Some(&item["content"]),
                Some("function_call_output" | "custom_tool_call_output") => Some(&item["output"]),
                _ => (item["role"] == "tool").then_some(&item["content"]),
            })
            .map(|content| pieces(content).join("\n"))
            .chain(self.conversation().flat_map(function_responses))
            .collect()
    }

    /// The names of the tools that the agent offers.
    pub(crate) fn tools(&self) -> Vec<&str> {
        super::offer::names(&self.body)
    }

    fn texts_of(&self, role: &str) -> Vec<String> {
        self.conversation()
            .filter(|message| message["role"] == role || (role == "assistant" && message["role"] == "model"))
            .flat_map(|message| [pieces(&message["content"]), pieces(&message["parts"])].concat())
            .collect()
    }

    /// The messages (Messages, Chat Completions), items (Responses) or contents (Gemini), oldest first.
    fn conversation(&self) -> impl Iterator<Item = &Value> {
        ["messages", "input", "contents"].into_iter().filter_map(|key| self.body[key].as_array()).flatten()
    }
}

fn purpose(path: &str, body: &Value) -> Purpose {
    if path.ends_with("/count_tokens") {
        Purpose::Count
    } else if super::wire::Protocol::of(path).is_none() {
        Purpose::Other
    } else if super::offer::names(body).is_empty() && !goes_on(body) {
        Purpose::Aside
    } else {
        Purpose::Turn
    }
}

/// Whether the model has said something before: an agent that may only speak offers no tools.
fn goes_on(body: &Value) -> bool {
    let lists = ["messages", "input", "contents"].into_iter().filter_map(|key| body[key].as_array());
    lists.flatten().any(|message| message["role"] == "assistant" || message["role"] == "model")
}

/// What tools answered in one content of a conversation with Gemini.
fn function_responses(content: &Value) -> Vec<String> {
    let parts = content["parts"].as_array().into_iter().flatten();
    let responses = parts.map(|part| &part["functionResponse"]["response"]);
    let texts = responses.filter_map(|response| response["output"].as_str().or(response["error"].as_str()));
    texts.map(str::to_owned).collect()
}

/// The texts of a content that is a string or a list of typed parts.
fn pieces(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
