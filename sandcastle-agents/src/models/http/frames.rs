//! The answer of a service as a stream of its events, each a text of JSON.
//!
//! Bytes become lines first, bounded and valid, and lines become events: a line itself, or what server-sent events make of
//! several. That way the reader of events is never given more than a line to look at again, however a hostile server cuts
//! its stream into pieces.

use std::pin::Pin;

use eventsource_stream::{EventStream, EventStreamError};
use futures_util::stream::{self, Stream, StreamExt};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use sandcastle_core::event::FailureKind;
use sandcastle_core::jsonl::{Line, LineBuffer};
use sandcastle_core::model::ModelFailure;

use super::Service;
use super::failure::{ErrorBody, bounded_text, compressed, encoding};
use crate::excerpt::one_line;
use crate::models::wire::{broken, too_long};

/// The longest line, and the longest event: some services repeat the whole answer in their last one.
const MAX_EVENT: usize = 16 * 1024 * 1024;

/// The longest answer, with everything around it. A hundred thousand tokens with an event each are a tenth of this.
const MAX_STREAM: usize = 256 * 1024 * 1024;

/// How a service cuts its answer into events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    ServerSentEvents,
    /// One JSON value a line.
    Lines,
}

/// The events of an answer, in order. It ends where the body does; whether the answer did is for others to say.
pub(crate) type Frames<'a> = Pin<Box<dyn Stream<Item = Result<String, ModelFailure>> + Send + 'a>>;

/// Reads an answer as it streams.
///
/// # Errors
/// If it is something else: another kind of document, or an error that came with the status of a success.
pub(crate) async fn frames<'a>(
    service: &'a Service,
    response: Response,
    framing: Framing,
) -> Result<Frames<'a>, (ModelFailure, ErrorBody)> {
    let kind = content_type(&response);
    let expected = match framing {
        // Some servers send events under no name, or that of plain text.
        Framing::ServerSentEvents => matches!(kind.as_str(), "" | "text/event-stream" | "text/plain"),
        Framing::Lines => !kind.starts_with("text/html"),
    };
    if !expected || encoding(response.headers()).is_some() {
        return Err(no_stream(service, response, &kind).await);
    }
    let lines = lines(service, response, framing);
    Ok(match framing {
        Framing::Lines => Box::pin(lines.filter(|line| {
            let blank = line.as_ref().is_ok_and(|line| line.trim().is_empty());
            std::future::ready(!blank)
        })),
        Framing::ServerSentEvents => Box::pin(EventStream::new(lines).map(|event| match event {
            Ok(event) => Ok(event.data),
            Err(EventStreamError::Transport(failure)) => Err(failure),
            Err(error) => Err(broken(error)),
        })),
    })
}

fn content_type(response: &Response) -> String {
    let value =
        response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// What came in the place of a stream. A whole JSON document may be an error with the wrong status.
async fn no_stream(service: &Service, response: Response, kind: &str) -> (ModelFailure, ErrorBody) {
    let status = response.status().as_u16();
    let encoding = encoding(response.headers()).map(str::to_owned);
    let text = bounded_text(response, service.silence).await;
    let (failure, body) = match (ErrorBody::in_document(&text), encoding) {
        (Some(body), _) => (body.failure(body.kind_by_code().unwrap_or(FailureKind::Request)), body),
        (None, Some(encoding)) => (compressed(FailureKind::Other, &encoding), ErrorBody::default()),
        (None, None) => {
            let sent = one_line(kind);
            let problem =
                format!("the service does not stream its answer as it was asked to: it sent `{sent}`");
            (ModelFailure::new(FailureKind::Other, problem), ErrorBody::default())
        }
    };
    (failure.with_status(status), body)
}

/// Where the reading of a body stands.
struct Body<'a> {
    service: &'a Service,
    framing: Framing,
    response: Response,
    lines: LineBuffer,
    /// Of the whole body, so far.
    read: usize,
    /// Since the last blank line: of one event.
    event: usize,
    end: End,
}

/// Whether there is more to come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    Reached,
    /// Something was wrong, and has been said.
    Failed,
}

/// The lines of a body, with their ends, as text.
fn lines(
    service: &Service,
    response: Response,
    framing: Framing,
) -> impl Stream<Item = Result<String, ModelFailure>> + Send {
    let lines = LineBuffer::with_max_line(MAX_EVENT);
    let body = Body { service, framing, response, lines, read: 0, event: 0, end: End::Open };
    stream::unfold(body, |mut body| async move {
        let line = body.next().await.transpose()?;
        if line.is_err() {
            body.end = End::Failed;
        }
        Some((line, body))
    })
}

impl Body<'_> {
    async fn next(&mut self) -> Result<Option<String>, ModelFailure> {
        while self.end == End::Open {
            if let Some(line) = self.lines.next_line() {
                return text_of(line, self.framing, &mut self.event).map(Some);
            }
            match self.response.chunk().await {
                Ok(Some(chunk)) => self.take(&chunk)?,
                Ok(None) => self.end = End::Reached,
                Err(error) => return Err(self.service.failure_of(&error)),
            }
        }
        if self.end == End::Failed {
            return Ok(None);
        }
        if let Some(line) = self.lines.next_line() {
            return text_of(line, self.framing, &mut self.event).map(Some);
        }
        self.lines.finish().map(|line| text_of(line, self.framing, &mut self.event)).transpose()
    }

    fn take(&mut self, chunk: &[u8]) -> Result<(), ModelFailure> {
        self.read = self.read.saturating_add(chunk.len());
        if self.read > MAX_STREAM {
            return Err(too_long("the stream of the answer", MAX_STREAM));
        }
        self.lines.push(chunk);
        Ok(())
    }
}

/// A line as text, if neither it nor the event that it belongs to is too long.
fn text_of(line: Line<'_>, framing: Framing, event: &mut usize) -> Result<String, ModelFailure> {
    let too_long = || too_long("an event of the answer", MAX_EVENT);
    let Line::Complete(bytes) = line else { return Err(too_long()) };
    let text = str::from_utf8(bytes).map_err(|_| broken("it is not valid UTF-8"))?;
    // A mark of the byte order may stand at the beginning and means nothing. The reader of events panics on it.
    let text = text.trim_start_matches('\u{feff}');
    let ends_event = framing == Framing::Lines || text.trim_end().is_empty();
    *event = if ends_event { 0 } else { event.saturating_add(bytes.len()) };
    if *event > MAX_EVENT {
        return Err(too_long());
    }
    Ok(format!("{text}\n"))
}
