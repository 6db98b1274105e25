//! What a typed run makes of answers that are none, over each wire: the right error by its name, once, and with what came.

use std::time::{Duration, Instant};

use sandcastle::event::FailureKind;
use sandcastle::{AnswerGuarantee, Error, ErrorKind, ModelRun, OutputSpec, OutputStrategy, Stage};
use serde_json::{Value, json};

use super::{Service, streams};
use crate::support::model_server::{ModelServer, Reply};

const PROSE: &str = "There are three of them, I think.";

/// A count, which every service carries as it is.
fn count() -> OutputSpec {
    let schema = json!({
        "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"],
        "additionalProperties": false,
    });
    OutputSpec::json("count", schema).expect("a schema")
}

fn ask(service: Service, server: &ModelServer) -> ModelRun<Value> {
    ModelRun::shared(service.declared(&server.url())).prompt("How many?").output_spec(count())
}

/// The error of a run that is asked by a strategy and gets these replies, and how often the server was asked.
async fn error_of(service: Service, strategy: OutputStrategy, reply: Reply) -> (Error, usize) {
    let server = service.server([reply]);
    let asked = ask(service, &server).strategy(strategy).await;
    let error = asked.err().unwrap_or_else(|| panic!("{service:?}: it is no value"));
    (error, server.requests().len())
}

#[track_caller]
fn assert_stage(error: &Error, stage: Stage, raw: &str, what: &str) {
    let output = error.structured_output().unwrap_or_else(|| panic!("{what}: {error:#}"));
    assert_eq!((output.stage(), output.answer.as_deref()), (stage, Some(raw)), "{what}: {error:#}");
}

/// It answers with success, and has not heard the schema.
#[tokio::test]
async fn prose_in_the_place_of_a_document_is_no_json_and_can_be_corrected() {
    for service in Service::ALL {
        let (error, asked) = error_of(service, OutputStrategy::Native, Reply::text(PROSE)).await;
        assert_stage(&error, Stage::JsonParse, PROSE, &format!("{service:?}"));
        assert_eq!(asked, 1, "{service:?}: never by another strategy");

        let server = service.server([Reply::text(PROSE), Reply::text(r#"{"n":3}"#)]);
        let result = ask(service, &server).strategy(OutputStrategy::Native).max_retries(1).await;
        let result = result.unwrap_or_else(|error| panic!("{service:?}: {error:#}"));
        assert_eq!(
            (result.output, result.answer_guarantee),
            (json!({ "n": 3 }), Some(AnswerGuarantee::Native))
        );
        assert_eq!(server.requests()[1].assistant_texts(), [PROSE], "{service:?}");
    }
}

#[tokio::test]
async fn an_end_that_is_not_known_is_named_where_the_answer_is_no_value() {
    for (service, reason) in [
        (Service::Anthropic, "pause_turn"),
        (Service::OpenAi, "insufficient_rope"),
        (Service::Responses, "max_holograms"),
        (Service::Gemini, "MALFORMED_FUNCTION_CALL"),
        (Service::Ollama, "unload"),
    ] {
        for (said, stage) in [("", Stage::Empty), ("I look into", Stage::JsonParse)] {
            let mut events = streams::opening(service);
            events.push(streams::text(service, said));
            events.extend(streams::end(service, reason));
            let (error, _) =
                error_of(service, OutputStrategy::Native, streams::reply(service, &events)).await;
            assert_stage(&error, stage, said, &format!("{service:?}"));
            assert!(error.to_string().contains(&format!("the answer ended as `{reason}`")), "{error}");
        }
        // A value is one, however it ended; it is said.
        let mut events = streams::opening(service);
        events.push(streams::text(service, r#"{"n":3}"#));
        events.extend(streams::end(service, reason));
        let server = service.server([streams::reply(service, &events)]);
        let result = ask(service, &server).await.unwrap_or_else(|error| panic!("{service:?}: {error:#}"));
        assert_eq!(result.output, json!({ "n": 3 }), "{service:?}");
        assert!(result.warnings.iter().any(|warning| warning.contains(reason)), "{:?}", result.warnings);
    }
}

/// Half of an answer is none, and nothing of it gets into the next one.
#[tokio::test]
async fn what_breaks_off_in_the_middle_is_asked_for_again_and_forgotten() {
    let mut asking = tokio::task::JoinSet::new();
    for service in Service::ALL {
        let half = || [streams::opening(service), vec![streams::text(service, r#"{"n":4,"#)]].concat();
        let failed = [half(), vec![streams::error(service, "overloaded_error", 529, "too many")]].concat();
        asking.spawn(assert_asked_again(service, half()));
        asking.spawn(assert_asked_again(service, failed));
    }
    asking.join_all().await;
}

async fn assert_asked_again(service: Service, broken: Vec<Value>) {
    let server = service.server([streams::reply(service, &broken), Reply::text(r#"{"n":3}"#)]);
    let result = ask(service, &server).await.unwrap_or_else(|error| panic!("{service:?}: {error:#}"));
    assert_eq!((result.output, result.text.as_str()), (json!({ "n": 3 }), r#"{"n":3}"#), "{service:?}");
    assert_eq!((result.attempts.len(), result.iterations), (1, 1), "{service:?}");
    let asked = server.requests();
    assert_eq!((asked.len(), &asked[0].body), (2, &asked[1].body), "{service:?}");
}

/// What a service says of the request in the middle of an answer it would say again.
#[tokio::test]
async fn an_error_about_the_request_ends_the_run_even_in_the_middle() {
    for (service, name) in [
        (Service::Anthropic, "invalid_request_error"),
        (Service::OpenAi, "context_length_exceeded"),
        (Service::Responses, "invalid_prompt"),
        (Service::Gemini, "INVALID_ARGUMENT"),
        (Service::LlamaCpp, "exceed_context_size_error"),
    ] {
        let mut events = streams::opening(service);
        events.push(streams::text(service, "half"));
        events.push(streams::error(service, name, 400, "it is too much"));
        let (error, asked) = error_of(service, OutputStrategy::Auto, streams::reply(service, &events)).await;
        assert_eq!((error.kind(), asked), (ErrorKind::ModelFailed, 1), "{service:?}: {error:#}");
        assert_eq!(
            error.model_failure().map(|failure| failure.kind),
            Some(FailureKind::Request),
            "{service:?}"
        );
        assert!(error.to_string().contains("it is too much"), "{service:?}: {error}");
    }
}

#[tokio::test]
async fn a_compressed_answer_is_called_so_and_not_asked_for_again() {
    // gzip of nothing: what it holds is never looked at.
    let gzip = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00";
    for service in Service::ALL {
        for (status, kind) in [(200, FailureKind::Other), (400, FailureKind::Request)] {
            let reply = Reply::raw(status, streams::content_type(service), gzip.to_vec())
                .header("content-encoding", "gzip");
            let (error, asked) = error_of(service, OutputStrategy::Auto, reply).await;
            let failure = error.model_failure().unwrap_or_else(|| panic!("{service:?}: {error:#}"));
            assert_eq!((failure.kind, failure.status, asked), (kind, Some(status), 1), "{service:?}");
            assert!(
                failure.message.contains("compresses") && failure.message.contains("`gzip`"),
                "{failure}"
            );
            assert!(error.hints().iter().any(|hint| hint.contains("accept-encoding")), "{error:?}");
        }
    }
}

/// A wait that nobody would sit out is no wait: it is said, and nothing is asked again.
#[tokio::test]
async fn a_service_that_wants_to_be_asked_tomorrow_is_not_asked_again() {
    for (after, seconds) in
        [("3600", 3600), ("99999999999999999999999999", 86_400), ("Fri, 31 Dec 2100 23:59:59 GMT", 86_400)]
    {
        let reply = Reply::raw(429, "application/json", r#"{"error":{"message":"slowly"}}"#);
        let (error, asked) =
            error_of(Service::OpenAi, OutputStrategy::Auto, reply.header("retry-after", after)).await;
        assert_eq!((error.kind(), asked), (ErrorKind::ModelFailed, 1), "{after}: {error:#}");
        let wait = error.model_failure().and_then(|failure| failure.retry_after);
        assert_eq!(wait, Some(Duration::from_secs(seconds)), "{after}");
        assert!(error.hints().iter().any(|hint| hint.contains(&format!("in {seconds} s"))), "{error:?}");
    }
}

#[tokio::test]
async fn a_wait_that_is_over_or_short_is_kept() {
    for (after, least) in [("Sun, 06 Nov 1994 08:49:37 GMT", 0.5), ("1", 1.0), ("1.25", 1.25), ("soon", 0.5)]
    {
        let limited = Reply::raw(429, "application/json", "{}").header("retry-after", after);
        let server = Service::OpenAi.server([limited, Reply::text(r#"{"n":3}"#)]);
        let began = Instant::now();
        let result = ask(Service::OpenAi, &server).await.unwrap_or_else(|error| panic!("{after}: {error:#}"));
        assert_eq!((result.output, server.requests().len()), (json!({ "n": 3 }), 2));
        assert!(began.elapsed() >= Duration::from_secs_f64(least), "{after}: {:?}", began.elapsed());
    }
}

/// More than anybody answers, in good events: within bounds, by its name, and once.
#[tokio::test]
async fn an_answer_without_end_is_refused_by_its_length() {
    let piece = "x".repeat(1 << 20);
    for service in Service::ALL {
        let more = streams::framed(service, &streams::text(service, &piece));
        let reply = streams::reply(service, &streams::opening(service)).and_endless(more);
        let (error, asked) = error_of(service, OutputStrategy::Auto, reply).await;
        let failure = error.model_failure().unwrap_or_else(|| panic!("{service:?}: {error:#}"));
        assert_eq!((failure.kind, asked), (FailureKind::Other, 1), "{service:?}: {failure}");
        assert_eq!(failure.message, "the answer is longer than 16777216 bytes", "{service:?}");
    }
    let document = Reply::raw(400, "text/plain", "").and_endless(piece);
    let (error, _) = error_of(Service::OpenAi, OutputStrategy::Auto, document).await;
    assert!(error.to_string().len() < 1000);
}

#[tokio::test]
async fn case_098_events_that_nobody_knows_are_passed_over() {
    for service in Service::ALL {
        let mut events = [streams::unheard_of(service), streams::opening(service)].concat();
        // Who is opened by a name begins with it.
        if service == Service::Anthropic {
            events.rotate_left(2);
        }
        for piece in [r#"{"n""#, ":", "3}"] {
            events.push(streams::text(service, piece));
            events.push(streams::unheard_of(service)[0].clone());
        }
        events.extend(streams::whole(service));
        assert_counted(service, streams::reply(service, &events), 3).await;
    }
}

#[tokio::test]
async fn case_101_an_event_of_three_megabytes_and_case_103_many_small_ones_are_ordinary() {
    for service in Service::ALL {
        let spaces = " ".repeat(3 << 20);
        let wide = vec![streams::text(service, "{\"n\":"), streams::text(service, &spaces)];
        let blank = streams::text(service, " ");
        let many = [vec![streams::text(service, "{\"n\":")], vec![blank; 5_000]].concat();
        for events in [wide, many] {
            let last = vec![streams::text(service, "7}")];
            let events = [streams::opening(service), events, last, streams::whole(service)].concat();
            assert_counted(service, streams::reply(service, &events), 7).await;
        }
    }
}

async fn assert_counted(service: Service, reply: Reply, n: u32) {
    let server = service.server([reply]);
    let result = ask(service, &server).await.unwrap_or_else(|error| panic!("{service:?}: {error:#}"));
    assert_eq!((result.output, result.warnings.len()), (json!({ "n": n }), 0), "{service:?}");
}

/// A byte now and then is no silence: what ends it is the time of the run, and the service is told by the end of its connection.
#[tokio::test]
async fn an_answer_that_trickles_on_ends_with_the_time_of_the_run() {
    let mut asking = tokio::task::JoinSet::new();
    // The scripted Gemini says all of a text at once.
    for service in Service::ALL.into_iter().filter(|service| *service != Service::Gemini) {
        asking.spawn(async move {
            let long = Reply::text("word ".repeat(40_000)).slowly(Duration::from_millis(50));
            let server = service.server([long]);
            let began = Instant::now();
            let run = ask(service, &server).total_timeout(Duration::from_millis(400));
            let error = run.await.expect_err("it takes minutes");
            assert_eq!(error.kind(), ErrorKind::TotalTimeout, "{service:?}: {error:#}");
            assert!(began.elapsed() < Duration::from_secs(5), "{service:?}: {:?}", began.elapsed());
            while server.abandoned() == 0 {
                assert!(began.elapsed() < Duration::from_secs(20), "{service:?}: the connection stays open");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
    }
    asking.join_all().await;
}
