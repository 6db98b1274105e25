//! What services answer: text, thoughts, calls, ends and counts, in one vocabulary.

use sandcastle::model::{Message, ModelPiece, ModelStop, ToolSpec};
use serde_json::json;

use super::{KEY, Service, question};
use crate::support::model_server::{ModelServer, Reply};

fn text_of(pieces: &[ModelPiece]) -> String {
    let text = |piece: &ModelPiece| match piece {
        ModelPiece::Text { text } => Some(text.clone()),
        _ => None,
    };
    pieces.iter().filter_map(text).collect()
}

#[tokio::test]
async fn an_answer_is_the_same_however_its_stream_is_cut() {
    let text = "ä日🙂 {\"n\": 3}\r\n\n".repeat(20);
    for service in Service::ALL {
        for reply in [Reply::text(&text), Reply::text(&text).byte_by_byte()] {
            let (answer, pieces) = service.told(reply.usage(10, 7), &question()).await;
            let answer = answer.unwrap_or_else(|failure| panic!("{service:?}: {failure}"));
            assert_eq!((answer.text.as_str(), text_of(&pieces).as_str()), (text.as_str(), text.as_str()));
            assert_eq!((answer.stop, answer.usage.cost_usd), (ModelStop::Complete, None), "{service:?}");
            assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens), (10, 7), "{service:?}");
            assert!(answer.served_by.is_some() && answer.calls.is_empty(), "{service:?}");
        }
    }
}

#[tokio::test]
async fn what_a_cache_took_is_counted_apart() {
    for (service, written, read) in [
        (Service::Anthropic, 3, 4),
        (Service::OpenAi, 3, 4),
        (Service::Responses, 3, 4),
        (Service::Gemini, 0, 4),
        (Service::LlamaCpp, 0, 4),
    ] {
        let usage = service.answer(Reply::text("x").usage(10, 7).cached(written, read)).await.usage;
        let counts = [usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens];
        assert_eq!(counts, [10, written, read], "{service:?}");
    }
}

#[tokio::test]
async fn every_end_is_told_apart() {
    use ModelStop::{Complete, ContextLimit, Filtered, OutputLimit, Refused};
    for (service, refused, filtered, context) in [
        (Service::Anthropic, Refused, Refused, ContextLimit),
        (Service::OpenAi, Refused, Filtered, OutputLimit),
        (Service::Responses, Refused, Filtered, OutputLimit),
        (Service::Gemini, Filtered, Filtered, OutputLimit),
        // Nobody refuses or filters there.
        (Service::Ollama, Complete, Complete, Complete),
    ] {
        let words = || Reply::text("{\"n\":");
        for (reply, stop) in [
            (words(), Complete),
            (words().at_output_limit(), OutputLimit),
            (words().refused(), refused),
            (words().filtered(), filtered),
            (words().at_context_limit(), context),
        ] {
            let answer = service.answer(reply).await;
            assert_eq!((answer.stop, answer.text.as_str()), (stop, "{\"n\":"), "{service:?}");
        }
    }
}

#[tokio::test]
async fn a_tool_is_called_and_its_result_goes_back_with_what_the_model_thought() {
    for service in Service::ALL {
        let call = Reply::thinking("hm").and_text("I look.").and_tool("count", json!({ "of": "a b" }));
        let server = service.server([call, Reply::text("3")]);
        let mut request = question();
        request.tools = vec![ToolSpec::new("count", "Counts.", json!({ "type": "object" }))];
        let first = service.ask(&server, &request).await.unwrap();
        assert_eq!((first.text.as_str(), first.calls.len()), ("I look.", 1), "{service:?}");
        let call = first.calls[0].clone();
        assert_eq!(call.name, "count");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&call.arguments).unwrap(),
            json!({ "of": "a b" })
        );

        request.messages.push(Message::Assistant {
            text: first.text,
            calls: first.calls,
            replay: first.replay,
        });
        let (name, content, is_error) = (call.name, "3".to_owned(), false);
        request.messages.push(Message::ToolResult { call: call.id, name, content, is_error });
        assert_eq!(service.ask(&server, &request).await.unwrap().text, "3");

        let asked = server.requests();
        assert_eq!(asked[1].tool_results(), ["3"], "{service:?}");
        let thought = asked[1].body.to_string().contains("c2NyaXB0ZWQ=");
        assert_eq!(thought, matches!(service, Service::Anthropic | Service::Responses), "{service:?}");
    }
}

#[tokio::test]
async fn a_key_goes_into_its_header_and_nowhere_else() {
    for (service, header, path) in [
        (Service::Anthropic, "x-api-key", "/v1/messages"),
        (Service::OpenAi, "authorization", "/v1/chat/completions"),
        (Service::Responses, "authorization", "/v1/responses"),
        (Service::Gemini, "x-goog-api-key", "/v1beta/models/gemini-3.8-flash:streamGenerateContent"),
        (Service::Ollama, "authorization", "/api/chat"),
        (Service::LlamaCpp, "authorization", "/v1/chat/completions"),
    ] {
        let server = service.server([Reply::text("x")]);
        service.ask(&server, &question()).await.unwrap();
        let [request] = &server.requests()[..] else { panic!("one request") };
        // The server masks the headers that it knows for keys'.
        assert_eq!((request.path.as_str(), request.header(header)), (path, Some("***")));
        assert!(!format!("{request:?}").contains(KEY), "{request:?}");
    }
}

/// Agents ask the same server for titles; clients do not, and the two must not be mixed up.
#[tokio::test]
async fn a_question_without_tools_is_answered_by_the_script() {
    let server = Service::Anthropic.server([Reply::text("from the script")]);
    assert_eq!(Service::Anthropic.ask(&server, &question()).await.unwrap().text, "from the script");
    let for_agents = ModelServer::start([Reply::text("from the script")]);
    assert_eq!(Service::Anthropic.ask(&for_agents, &question()).await.unwrap().text, "aside");
}
