//! Why a service gave no answer: what its status, its headers and its own words say.
//!
//! A body is read to a bound, and what is kept of it is one line. Keys in it are masked by who knows them, and only then is it
//! cut ([`cut`]): half a key would not be found.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, HeaderMap, LOCATION, RETRY_AFTER};
use sandcastle_core::event::FailureKind;
use sandcastle_core::model::ModelFailure;
use serde_json::Value;

use super::{Service, client};
use crate::excerpt::one_line;
use crate::http_status;
use crate::transport;

/// The most bytes of a refusal that are read.
const MAX_BODY: usize = 64 * 1024;

/// The most characters of a service's own words that are kept.
const MAX_WORDS: usize = 600;

/// The longest wait that a service may ask for; what is longer is no answer to a request of today.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// What a service says of a failure, in the shapes that services have for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ErrorBody {
    /// In its own words, on one line.
    pub(crate) message: String,
    /// What kind it calls it: its `code`, `type` or `status`, whichever there are.
    pub(crate) names: Vec<String>,
    /// More, where a service has more to say.
    pub(crate) details: Value,
}

impl ErrorBody {
    /// Reads the error out of a body: an object or a text under `error`, an object itself, or plain text.
    pub(crate) fn of_text(text: &str) -> Self {
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Array(list)) => list.first().map(Self::of_value).unwrap_or_default(),
            Ok(value) if value.is_object() => Self::of_value(&value),
            _ => Self { message: one_line(text), ..Self::default() },
        }
    }

    /// Reads the error out of a document that came in the place of an answer, if it has one.
    pub(crate) fn in_document(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let value = value.get(0).unwrap_or(&value);
        (!value["error"].is_null()).then(|| Self::of_value(value))
    }

    /// Reads the error out of an object that has one, or is one.
    pub(crate) fn of_value(value: &Value) -> Self {
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let message = error.as_str().or_else(|| error["message"].as_str()).unwrap_or_default();
        let name = |key| match &error[key] {
            Value::String(name) => Some(name.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        Self {
            message: one_line(message),
            names: ["code", "type", "status"].into_iter().filter_map(name).collect(),
            details: error["details"].clone(),
        }
    }

    /// Tells whether the service calls it so.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// What kind it is by a code that is the status of an answer.
    pub(crate) fn kind_by_code(&self) -> Option<FailureKind> {
        self.names.iter().filter_map(|name| name.parse().ok()).find_map(http_status::failure_of)
    }

    /// The failure that it is, if it is of this kind: in the service's words, or else under its names.
    pub(crate) fn failure(&self, kind: FailureKind) -> ModelFailure {
        let words = if self.message.is_empty() { self.names.join(", ") } else { self.message.clone() };
        let words =
            if words.is_empty() { "the service does not say why it failed".to_owned() } else { words };
        ModelFailure::new(kind, words)
    }
}

/// A failure of the connection. The address is not repeated: it may hold what is secret.
pub(super) fn of(error: &reqwest::Error, service: &Service) -> ModelFailure {
    if error.is_builder() {
        return ModelFailure::new(
            FailureKind::Request,
            format!("the request cannot be sent: {}", transport::causes(error)),
        );
    }
    if let Some(objection) = transport::objection_of(error) {
        return client::failure_of(objection);
    }
    let problem = if error.is_timeout() && error.is_connect() {
        format!("the service could not be reached within {} s", service.transport.connect.as_secs_f32())
    } else if error.is_timeout() {
        format!("the service said nothing for {} s", service.silence.as_secs_f32())
    } else if error.is_connect() {
        format!("the service could not be reached: {}", transport::causes(error))
    } else {
        format!("the connection to the service was lost: {}", transport::causes(error))
    };
    ModelFailure::new(FailureKind::Transport, problem)
}

/// Reads an answer whose status says that it is none; for so long, and no longer.
pub(super) async fn refused(response: Response, patience: Duration) -> (ModelFailure, ErrorBody) {
    let status = response.status().as_u16();
    let retry_after = retry_of(response.headers(), Timestamp::now());
    let encoding = encoding(response.headers()).map(str::to_owned);
    let moved = host_of_redirect(&response);
    let body = ErrorBody::of_text(&bounded_text(response, patience).await);
    let kind = match status {
        402 => FailureKind::Limit,
        409 => FailureKind::Transport,
        _ => http_status::failure_of(status).unwrap_or(FailureKind::Request),
    };
    let mut failure = match (status, moved, encoding) {
        (300..400, host, _) => redirected(host),
        (_, _, Some(encoding)) if body.message.is_empty() => compressed(kind, &encoding),
        _ => body.failure(kind),
    };
    failure.status = Some(status);
    failure.retry_after = retry_after;
    (failure, body)
}

/// The host that a redirect names. The rest of its address may hold what is secret.
fn host_of_redirect(response: &Response) -> Option<String> {
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    response.url().join(location).ok()?.host_str().map(str::to_owned)
}

fn redirected(host: Option<String>) -> ModelFailure {
    let host = host.map(|host| format!(" at the host `{host}`")).unwrap_or_default();
    let problem =
        format!("the service wants the request at another address{host}, and redirects are not followed");
    ModelFailure::new(FailureKind::Request, problem)
        .with_hint("if that address is the right one, give it as the base address")
}

/// A failure whose words nobody reads.
pub(super) fn compressed(kind: FailureKind, encoding: &str) -> ModelFailure {
    let problem =
        format!("the service compresses what it says, against what it was asked: `{}`", one_line(encoding));
    ModelFailure::new(kind, problem)
        .with_hint("have the server, or the proxy before it, heed `accept-encoding: identity`")
}

/// The beginning of a body, as text. A body that breaks off, or trickles on when nobody waits any more, is as good as one
/// that is cut; one that is compressed, which was not asked for, has no words.
pub(super) async fn bounded_text(mut response: Response, patience: Duration) -> String {
    if encoding(response.headers()).is_some() {
        return String::new();
    }
    let mut body = Vec::new();
    let reading = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = MAX_BODY - body.len();
            body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if body.len() >= MAX_BODY {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(patience, reading).await;
    let text = String::from_utf8_lossy(&body);
    // The last word may be half a key.
    let whole = if body.len() < MAX_BODY { None } else { text.rsplit_once(char::is_whitespace) };
    whole.map_or(&*text, |(whole, _)| whole).to_owned()
}

/// How a body is compressed, if it is.
pub(super) fn encoding(headers: &HeaderMap) -> Option<&str> {
    let encoding = headers.get(CONTENT_ENCODING)?.to_str().unwrap_or("?").trim();
    (!encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity")).then_some(encoding)
}

/// When a service wants to be asked again: `retry-after-ms`, or `retry-after` in seconds or as a date.
fn retry_of(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let milliseconds = || wait(text("retry-after-ms")?.parse::<f64>().ok()? / 1000.0);
    let seconds = || wait(text(RETRY_AFTER.as_str())?.parse().ok()?);
    let date = || until(text(RETRY_AFTER.as_str())?, now);
    milliseconds().or_else(seconds).or_else(date)
}

/// How long it is until a date of HTTP; one that is over is no wait.
fn until(date: &str, now: Timestamp) -> Option<Duration> {
    let date = jiff::fmt::rfc2822::parse(date).ok()?.timestamp();
    wait(date.duration_since(now).as_secs_f64().max(0.0))
}

/// A wait of so many seconds that a service asks for, bounded; however large the number is, it is not none.
pub(crate) fn wait(seconds: f64) -> Option<Duration> {
    let bounded = if seconds.is_finite() { seconds.min(LONGEST_WAIT.as_secs_f64()) } else { f64::NAN };
    Duration::try_from_secs_f64(bounded).ok()
}

/// The beginning of a service's words.
pub(crate) fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_WORDS).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn every_shape_of_an_error_is_read() {
        for (body, message, name) in [
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                "Overloaded",
                "overloaded_error",
            ),
            (r#"{"error":{"message":"no","code":"invalid_json_schema"}}"#, "no", "invalid_json_schema"),
            (r#"{"error":{"message":"no","code":502}}"#, "no", "502"),
            (r#"[{"error":{"message":"no","status":"INVALID_ARGUMENT"}}]"#, "no", "INVALID_ARGUMENT"),
            (r#"{"error":"invalid JSON schema in format"}"#, "invalid JSON schema in format", ""),
            (r#"{"message":"no","code":"x"}"#, "no", "x"),
            ("<html>\n  <b>Bad\u{1b}[31m Gateway</b>", "<html> <b>Bad [31m Gateway</b>", ""),
            ("[]", "", ""),
            ("7", "7", ""),
        ] {
            let error = ErrorBody::of_text(body);
            assert_eq!(error.message, message, "{body}");
            assert!(name.is_empty() || error.is(name), "{error:?}");
        }
        assert_eq!(cut(&"é".repeat(5000)).chars().count(), MAX_WORDS);
        assert_eq!(cut("é"), "é");
    }

    #[test]
    fn a_wait_is_read_and_bounded() {
        let now: Timestamp = "1994-11-06T08:49:30Z".parse().unwrap();
        for (name, value, wait) in [
            ("retry-after", "2", Some(2000)),
            ("retry-after", "0.5", Some(500)),
            ("retry-after-ms", "1500", Some(1500)),
            ("retry-after-ms", "0.5", Some(0)),
            ("retry-after-ms", "NaN", None),
            ("retry-after-ms", "1e12", Some(24 * 60 * 60 * 1000)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(7000)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:29 GMT", Some(0)),
            ("retry-after", "Mon, 06 Nov 1995 08:49:37 GMT", Some(24 * 60 * 60 * 1000)),
            ("retry-after", "Mon, 06 Nov 1994 08:49:37 GMT", None),
            ("retry-after", "Sun, 06 Nov 99999 08:49:37 GMT", None),
            ("retry-after", "1e30", Some(24 * 60 * 60 * 1000)),
            ("retry-after", "99999999999999999999999999", Some(24 * 60 * 60 * 1000)),
            ("retry-after", "inf", None),
            ("retry-after", "", None),
            ("retry-after", "-1", None),
            ("retry-after", "soon", None),
            ("retry-after", "999999", Some(24 * 60 * 60 * 1000)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            let read = retry_of(&headers, now).map(|wait| wait.as_millis());
            assert_eq!(read, wait, "{name}: {value}");
        }
    }
}
