//! What the wires of all services have in common: numbers that are only almost numbers, arguments that are only almost
//! JSON, and ids where a service gives none.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use sandcastle_core::event::FailureKind;
use sandcastle_core::model::{Message, ModelFailure, ModelRequest, ToolCall};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value, json};

/// How ids begin that no service has given.
const MADE_UP: &str = "unnamed-call-";

/// The most calls of tools in one answer; a stream with more is no answer.
pub(crate) const MAX_CALLS: usize = 1000;

/// Reads a count of tokens. What is no number, or negative, counts as nothing; what is too large, as the largest.
pub(crate) fn tokens<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let count = Value::deserialize(deserializer)?;
    let large = || count.as_f64().filter(|count| *count >= u64::MAX as f64).map(|_| u64::MAX);
    Ok(count.as_u64().or_else(large).unwrap_or_default())
}

/// Counts of tokens that a cache was in, as both APIs of OpenAI tell them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Cached {
    #[serde(deserialize_with = "tokens")]
    pub(crate) cached_tokens: u64,
    #[serde(deserialize_with = "tokens")]
    pub(crate) cache_write_tokens: u64,
}

/// The conversation, for a wire that has what the model is told about its part as its first message; `message` says how the
/// others are written, and leaves out those in which nothing is said.
pub(crate) fn messages(request: &ModelRequest, message: impl Fn(&Message) -> Option<Value>) -> Vec<Value> {
    let system = request.system.as_deref().filter(|system| !system.is_empty());
    let system = system.map(|system| json!({ "role": "system", "content": system }));
    system.into_iter().chain(request.messages.iter().filter_map(message)).collect()
}

/// Reads an event of a stream.
///
/// # Errors
/// [`FailureKind::Transport`] if it is no JSON of the expected shape: the stream was damaged on its way.
pub(crate) fn event<'d, T: Deserialize<'d>>(data: &'d str) -> Result<T, ModelFailure> {
    serde_json::from_str(data).map_err(|error| broken(format!("an event cannot be read: {error}")))
}

/// A stream that is not what the service's protocol says.
pub(crate) fn broken(problem: impl std::fmt::Display) -> ModelFailure {
    ModelFailure::new(FailureKind::Transport, format!("the stream of the answer is damaged: {problem}"))
}

/// More than anybody answers. The next time it would be as much, so that nothing is tried again.
pub(crate) fn too_long(what: &str, most: usize) -> ModelFailure {
    ModelFailure::new(FailureKind::Other, format!("{what} is longer than {most} bytes"))
}

/// A stream that ended before the answer did.
pub(crate) fn cut_off() -> ModelFailure {
    ModelFailure::new(FailureKind::Transport, "the stream ended before the answer did")
}

/// The arguments of a call for a wire that wants an object: what the model wrote if it is one, else an object around it.
pub(crate) fn arguments_object(call: &ToolCall) -> Value {
    if call.arguments.trim().is_empty() {
        return json!({});
    }
    match serde_json::from_str::<Map<String, Value>>(&call.arguments) {
        Ok(object) => object.into(),
        Err(_) => json!({ "arguments": call.arguments }),
    }
}

/// The arguments of a call for a wire that wants text, which some servers read: always JSON.
pub(crate) fn arguments_text(call: &ToolCall) -> String {
    match serde_json::from_str::<Map<String, Value>>(&call.arguments) {
        Ok(_) => call.arguments.clone(),
        Err(_) => arguments_object(call).to_string(),
    }
}

/// What a tool said, for a wire that has no place to say that it failed.
pub(crate) fn tool_text(content: &str, is_error: bool) -> String {
    if is_error { format!("the tool failed: {content}") } else { content.to_owned() }
}

/// The id that a service gave a call, or one that no other call has.
pub(crate) fn call_id(given: Option<String>) -> String {
    given.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("{MADE_UP}{:016x}", fastrand::u64(..)))
}

/// Returns the id if a service gave it.
pub(crate) fn given_id(id: &str) -> Option<&str> {
    (!id.starts_with(MADE_UP)).then_some(id)
}

/// The id of a call for a service that takes only some: its own are such, and one of another service becomes one that is
/// always the same.
pub(crate) fn plain_id(id: &str, longest: usize) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !id.is_empty() && id.len() <= longest && id.bytes().all(is_plain) {
        return id.into();
    }
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    format!("call_{:016x}", hasher.finish()).into()
}

/// A number as short as it was written: `0.2`, not `0.20000000298`.
pub(crate) fn decimal(number: f32) -> Option<Value> {
    let number: f64 = number.to_string().parse().ok()?;
    Number::from_f64(number).map(Value::from)
}

/// Tells whether it is the first of several answers, by a number that may be left out.
pub(crate) fn is_first(index: &Value) -> bool {
    index.as_u64().unwrap_or_default() == 0
}

/// Sets `key` in an object if there is something to set.
pub(crate) fn set(object: &mut Value, key: &str, value: Option<impl Into<Value>>) {
    if let (Some(object), Some(value)) = (object.as_object_mut(), value) {
        object.insert(key.to_owned(), value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_counts_are_no_trouble() {
        #[derive(Deserialize)]
        struct Counted {
            #[serde(default, deserialize_with = "tokens")]
            n: u64,
        }
        for (json, count) in [
            (r#"{"n":7}"#, 7),
            (r#"{"n":-7}"#, 0),
            (r#"{"n":null}"#, 0),
            (r#"{"n":"7"}"#, 0),
            (r#"{"n":1e300}"#, u64::MAX),
            (r#"{"n":18446744073709551615}"#, u64::MAX),
            ("{}", 0),
        ] {
            assert_eq!(serde_json::from_str::<Counted>(json).unwrap().n, count, "{json}");
        }
    }

    #[test]
    fn arguments_are_an_object_whatever_the_model_wrote() {
        for (written, object) in [
            (r#"{"a":1}"#, json!({ "a": 1 })),
            ("", json!({})),
            (r#"{"a":"#, json!({ "arguments": "{\"a\":" })),
            ("[1]", json!({ "arguments": "[1]" })),
        ] {
            let call = ToolCall::new("1", "t", written);
            assert_eq!(arguments_object(&call), object);
            assert_eq!(serde_json::from_str::<Value>(&arguments_text(&call)).unwrap(), object);
        }
    }

    #[test]
    fn numbers_stay_short() {
        assert_eq!(decimal(0.2).unwrap().to_string(), "0.2");
        assert_eq!(decimal(f32::NAN), None);
        assert_eq!(decimal(f32::INFINITY), None);
    }

    #[test]
    fn ids_of_other_services_are_made_to_fit_and_told_apart() {
        assert_eq!(plain_id("toolu_01A-b", 40), "toolu_01A-b");
        let (long, longer) = ("x".repeat(41), "x".repeat(42));
        let ids = ["functions.count:0", "functions.count:1", "", "ä", &long, &longer];
        let fitting: Vec<_> = ids.iter().map(|id| plain_id(id, 40)).collect();
        for (at, id) in fitting.iter().enumerate() {
            assert!(plain_id(id, 40) == *id && !fitting[..at].contains(id), "{fitting:?}");
        }
        assert_eq!(plain_id(&long, 64), long);
    }

    #[test]
    fn ids_are_the_services_own_where_it_has_some() {
        assert_eq!(call_id(Some("call_1".to_owned())), "call_1");
        assert_eq!(given_id("call_1"), Some("call_1"));
        let (one, other) = (call_id(None), call_id(Some(String::new())));
        assert!(one != other && given_id(&one).is_none() && given_id(&other).is_none());
    }
}
