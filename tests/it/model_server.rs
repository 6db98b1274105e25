//! The scripted model server, asked by a bare client and by the real programs.
//!
//! What is shown here is that the programs take its answers for a model's, failures included. What they do
//! with them is the subject of [`super::real_agents`].

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::model_server::{ModelServer, Reply};
use crate::support::real_agent::RealAgent;
use crate::support::repository::Repository;

/// Asks with HTTP/1.0, where a body ends with its connection, and gives the status line and the body.
fn ask(server: &ModelServer, method: &str, path: &str, body: &Value) -> (String, String) {
    let mut connection = send(server, method, path, body);
    let mut response = String::new();
    connection.read_to_string(&mut response).expect("a response");
    let (head, body) = response.split_once("\r\n\r\n").expect("a head and a body");
    (head.lines().next().unwrap_or_default().to_owned(), body.to_owned())
}

fn send(server: &ModelServer, method: &str, path: &str, body: &Value) -> TcpStream {
    let address = server.url().replace("http://", "");
    let mut connection = TcpStream::connect(address).expect("the server is there");
    let body = body.to_string();
    let head = format!("x-api-key: secret\r\ncontent-length: {}", body.len());
    write!(connection, "{method} {path} HTTP/1.0\r\n{head}\r\n\r\n{body}").expect("a request");
    connection
}

/// Asks with POST and gives the body, which is JSON.
fn post(server: &ModelServer, path: &str, body: &Value) -> Value {
    let (status, body) = ask(server, "POST", path, body);
    serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error} ({status}): {body}"))
}

/// How an answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delivery {
    Stream,
    Whole,
}

/// A request as agents make it: with a shell tool.
fn with_tools(delivery: Delivery) -> Value {
    let stream = delivery == Delivery::Stream;
    json!({ "model": "m", "stream": stream, "tools": [{ "name": "Bash" }], "messages": [] })
}

/// The data of the events of a stream.
fn events(stream: &str) -> Vec<Value> {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).expect("JSON")).collect()
}

#[test]
fn a_question_without_tools_uses_up_nothing() {
    let server = ModelServer::start([Reply::text("from the script")]);
    let title = json!({ "messages": [{ "role": "user", "content": "a title?" }] });

    assert_eq!(post(&server, "/v1/messages", &title)["content"][0]["text"], "aside");
    let answer = post(&server, "/v1/messages", &with_tools(Delivery::Whole));
    assert_eq!(answer["content"][0]["text"], "from the script");
    assert_eq!(answer["stop_reason"], "end_turn");

    assert_eq!((server.requests().len(), server.turns().len()), (2, 1));
    assert_eq!(server.requests()[0].user_texts(), ["a title?"]);
}

#[test]
fn replies_come_in_order_and_a_spent_script_refuses() {
    let server = ModelServer::start([Reply::text("one"), Reply::shell("ls")]);
    let question = with_tools(Delivery::Whole);

    assert_eq!(post(&server, "/v1/messages", &question)["content"][0]["text"], "one");
    assert_eq!(post(&server, "/v1/messages", &question)["content"][0]["input"]["command"], "ls");
    let (status, body) = ask(&server, "POST", "/v1/messages", &question);
    assert_eq!(status, "HTTP/1.0 400 Bad Request");
    assert!(body.contains("the script is spent"), "{body}");
}

#[test]
fn a_lasting_reply_is_never_used_up() {
    let server = ModelServer::start([Reply::status(429).retry_after(1).always()]);
    for _ in 0..3 {
        let (status, body) = ask(&server, "POST", "/v1/responses", &with_tools(Delivery::Stream));
        assert_eq!(status, "HTTP/1.0 429 Too Many Requests");
        assert!(body.contains("rate_limit_error"), "{body}");
    }
}

#[test]
fn a_shell_command_needs_a_shell_tool() {
    let server = ModelServer::start([Reply::shell("ls")]);
    let body = json!({ "tools": [{ "name": "Read" }, { "type": "web_search" }] });
    let answer = post(&server, "/v1/messages", &body);
    assert_eq!(answer["error"]["message"], r#"no known shell tool is offered, only ["Read", "web_search"]"#);
}

#[test]
fn clients_may_greet_list_models_and_count() {
    let server = ModelServer::start([]);
    assert_eq!(ask(&server, "HEAD", "/", &Value::Null).0, "HTTP/1.0 200 OK");
    assert!(ask(&server, "GET", "/v1/models", &Value::Null).1.contains(r#""object":"list""#));
    assert!(
        post(&server, "/v1/messages/count_tokens", &with_tools(Delivery::Whole))["input_tokens"].is_u64()
    );
    assert_eq!(ask(&server, "GET", "/elsewhere", &Value::Null).0, "HTTP/1.0 404 Not Found");

    assert!(server.turns().is_empty());
    let methods: Vec<String> = server.requests().into_iter().map(|request| request.method).collect();
    assert_eq!(methods, ["HEAD", "GET", "POST", "GET"]);
}

#[test]
fn keys_are_not_kept() {
    let server = ModelServer::start([]);
    ask(&server, "HEAD", "/", &Value::Null);
    assert_eq!(server.requests()[0].header("x-api-key"), Some("***"));
}

#[test]
fn a_long_text_arrives_whole_in_pieces() {
    let text = "ä日🙂".repeat(4000);
    let server = ModelServer::start([Reply::text(&text), Reply::text(&text)]);

    let (_, stream) = ask(&server, "POST", "/v1/messages", &with_tools(Delivery::Stream));
    let deltas: Vec<Value> =
        events(&stream).into_iter().filter(|event| event["type"] == "content_block_delta").collect();
    assert_eq!(deltas.len(), 3);
    let arrived: String = deltas.iter().filter_map(|event| event["delta"]["text"].as_str()).collect();
    assert!(arrived == text, "Messages");

    let (_, stream) = ask(&server, "POST", "/v1/responses", &with_tools(Delivery::Stream));
    let events = events(&stream);
    let deltas = events.iter().filter(|event| event["type"] == "response.output_text.delta");
    let arrived: String = deltas.filter_map(|event| event["delta"].as_str()).collect();
    assert!(arrived == text, "Responses");
    let last = events.last().expect("an event");
    assert_eq!(last["type"], "response.completed");
    assert!(last["response"]["output"][0]["content"][0]["text"] == text, "Responses, as a whole");
}

#[test]
fn tools_that_take_text_get_text_where_there_are_any() {
    let server = ModelServer::start([Reply::text_tool("apply_patch", "*** Begin Patch").always()]);
    let answer = post(&server, "/v1/responses", &with_tools(Delivery::Whole));
    assert_eq!(answer["output"][0]["type"], "custom_tool_call");
    assert_eq!(answer["output"][0]["input"], "*** Begin Patch");
    let answer = post(&server, "/v1/messages", &with_tools(Delivery::Whole));
    assert_eq!(answer["content"][0]["input"], json!({ "input": "*** Begin Patch" }));
}

#[test]
fn any_tool_is_called_by_its_name() {
    let server = ModelServer::start([Reply::tool("Read", json!({ "file_path": "README.md" })).always()]);
    let answer = post(&server, "/v1/messages", &with_tools(Delivery::Whole));
    assert_eq!(answer["stop_reason"], "tool_use");
    assert_eq!(answer["content"][0]["name"], "Read");
    let answer = post(&server, "/v1/responses", &with_tools(Delivery::Whole));
    assert_eq!(answer["output"][0]["arguments"], r#"{"file_path":"README.md"}"#);
}

#[test]
fn a_slow_stream_takes_its_time() {
    let pause = Duration::from_millis(20);
    let server = ModelServer::start([Reply::text("slow").slowly(pause)]);
    let started = Instant::now();
    let (_, stream) = ask(&server, "POST", "/v1/messages", &with_tools(Delivery::Stream));
    assert_eq!(events(&stream).len(), 6);
    assert!(started.elapsed() >= 6 * pause);
}

#[test]
fn dropping_the_server_closes_what_is_open() {
    let server = ModelServer::start([Reply::silence(Duration::from_secs(3600))]);
    let mut connection = send(&server, "POST", "/v1/messages", &with_tools(Delivery::Stream));
    server.wait_for_turns(1);
    drop(server);
    // How it is closed does not matter, that nothing is waited for does.
    let _ = connection.read_to_end(&mut Vec::new());
}

#[test]
fn claude_code_works_with_its_shell_and_answers() {
    let Some(agent) = RealAgent::claude_code() else { return };
    let server = ModelServer::start([
        Reply::thinking("the user wants a commit")
            .and_text("I commit.")
            .and_shell("git commit -q --allow-empty -m second && echo committed"),
        Reply::text("first block").and_text("second block").usage(100, 20),
    ]);
    let (home, repository) = (agent.home(&server), Repository::new());
    let finished = agent.turn(&home, repository.path()).input("please commit").run();

    assert_eq!(finished.code(), Some(0), "{finished:#?}");
    assert_eq!(repository.subjects(), ["second", "first"]);
    assert_eq!(finished.events_of("assistant").len(), 5, "one event per block");
    let result = finished.event("result");
    assert_eq!(result["result"], "second block");
    assert_eq!(
        (&result["usage"]["input_tokens"], &result["usage"]["output_tokens"]),
        (&json!(111), &json!(27))
    );

    let turns = server.turns();
    assert_eq!(turns.len(), 2);
    assert!(turns[0].user_texts().iter().any(|text| text == "please commit"));
    assert_eq!(turns[1].assistant_texts(), ["I commit."]);
    assert_eq!(turns[1].tool_results(), ["committed"]);
    assert_eq!(turns[0].header("x-api-key"), Some("***"));
}

#[test]
fn codex_works_with_its_shell_and_answers() {
    let Some(agent) = RealAgent::codex() else { return };
    // The second model is one that is offered a script in place of a shell.
    for (model, tool) in [("gpt-5.5", "exec_command"), ("gpt-6.2-sol", "exec")] {
        let server = ModelServer::start([
            Reply::thinking("the user wants a commit")
                .and_text("I commit.")
                .and_shell("git commit -q --allow-empty -m second && echo committed"),
            Reply::text("first block").and_text("second block").usage(100, 20),
        ]);
        let (home, repository) = (agent.home(&server), Repository::new());
        let finished =
            agent.turn(&home, repository.path()).arguments(["--model", model]).input("please commit").run();

        assert_eq!(finished.code(), Some(0), "{model}: {finished:#?}");
        assert_eq!(repository.subjects(), ["second", "first"], "{model}");
        let items = finished.events_of("item.completed");
        let kinds: Vec<&str> = items.iter().filter_map(|event| event["item"]["type"].as_str()).collect();
        let expected = ["reasoning", "agent_message", "command_execution", "agent_message", "agent_message"];
        assert_eq!(kinds, expected, "{model}");
        let usage = &finished.event("turn.completed")["usage"];
        assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&json!(111), &json!(27)), "{model}");

        let turns = server.turns();
        assert_eq!(turns.len(), 2, "{model}");
        assert!(turns[0].tools().contains(&tool), "{model}: {:?}", turns[0].tools());
        assert_eq!(turns[1].assistant_texts(), ["I commit."], "{model}");
        assert!(turns[1].tool_results()[0].contains("committed"), "{model}: {:?}", turns[1].tool_results());
        assert_eq!(turns[0].header("authorization"), Some("***"), "{model}");
    }
}

#[test]
fn claude_code_sees_the_status_of_a_refusal() {
    let Some(agent) = RealAgent::claude_code() else { return };
    for (status, asked) in [(400, 1), (401, 2), (429, 2), (500, 2)] {
        let server = ModelServer::start([Reply::status(status).always()]);
        let (home, repository) = (agent.home(&server), Repository::new());
        let finished = agent.turn(&home, repository.path()).input("hello").run();

        assert_eq!(finished.code(), Some(1), "{status}: {finished:#?}");
        assert_eq!(finished.event("result")["api_error_status"], status);
        assert_eq!(finished.event("result")["is_error"], true, "{status}");
        assert_eq!(server.turns().len(), asked, "{status}");
    }
}

#[test]
fn codex_sees_the_reason_of_a_refusal() {
    let Some(agent) = RealAgent::codex() else { return };
    let cases = [
        (400, "invalid_request_error"),
        (401, "unexpected status 401 Unauthorized"),
        (429, "last status: 429 Too Many Requests"),
        (500, "high demand"),
    ];
    for (status, reason) in cases {
        let server = ModelServer::start([Reply::status(status).always()]);
        let (home, repository) = (agent.home(&server), Repository::new());
        let finished = agent.turn(&home, repository.path()).input("hello").run();

        assert_eq!(finished.code(), Some(1), "{status}: {finished:#?}");
        let failure = finished.event("turn.failed");
        let message = failure["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(reason), "{status}: {message}");
    }
}

#[test]
fn both_ask_again_after_a_stream_that_broke_off() {
    let agents = [RealAgent::claude_code(), RealAgent::codex()];
    for agent in agents.into_iter().flatten() {
        for broken in [Reply::text("half").cut_short(), Reply::text("half").severed()] {
            let server = ModelServer::start([broken.clone(), Reply::text("the whole answer")]);
            let (home, repository) = (agent.home(&server), Repository::new());
            let finished = agent.turn(&home, repository.path()).input("hello").run();

            assert_eq!(finished.code(), Some(0), "{agent:?}, {broken:?}: {finished:#?}");
            assert!(finished.stdout.contains("the whole answer"), "{agent:?}, {broken:?}: {finished:#?}");
            assert_eq!(server.turns().len(), 2, "{agent:?}, {broken:?}");
        }
    }
}
