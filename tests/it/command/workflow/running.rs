//! Workflows that run: what they are given, what they give, and how they end.

use rustix::process::Signal;
use serde_json::json;

use super::*;
use crate::support::model_server::{Law, ModelServer, Reply};

const GREET: &str = r#"version: "1.1"
vars:
  who: { type: string, minLength: 2 }
  times: 1
steps:
  - step: greet
    type: tool
    run: [printf, "%s", "{{ input }} {{ vars.who }}{{ trigger.mark }}"]
outputs:
  said: "{{ greet.stdout }}"
  times: "{{ vars.times + 1 }}"
"#;

#[tokio::test]
async fn a_workflow_is_given_an_input_variables_and_a_trigger() {
    let desk = Desk::new().await;
    let trigger = desk.file("event.json", r#"{"mark": "!"}"#);
    let given = ["--input", "hello", "--var", "who=7; rm -rf", "--var", "times=2", "--trigger"];
    let (code, object) = desk.run_document(GREET, &[&given[..], &[trigger.to_str().unwrap()]].concat());
    assert_eq!(code, Some(0), "{object}");
    assert_eq!(object["status"], "completed");
    assert_eq!(object["output"], json!({ "said": "hello 7; rm -rf!", "times": 3 }));
    assert_eq!(
        (&object["trace"][0]["step"], &object["trace"][0]["status"]),
        (&json!("greet"), &json!("completed"))
    );
}

#[tokio::test]
async fn an_input_comes_from_a_file_or_the_standard_input() {
    let desk = Desk::new().await;
    let trigger = desk.file("event.json", r#"{"mark": ""}"#);
    let text = desk.file("input.txt", "from a file");
    let file = desk.document(GREET);
    for (input, said) in [(format!("@{}", text.display()), "from a file we"), ("-".to_owned(), "typed we")] {
        let args =
            ["--format", "json", "workflow", "run", file.to_str().unwrap(), "--var", "who=we", "--input"];
        let ended = desk
            .command(&args)
            .arguments([input.as_str(), "--trigger", trigger.to_str().unwrap()])
            .input("typed")
            .run();
        assert_eq!(json_of(&ended)["output"]["said"], said, "{ended:?}");
    }
}

#[tokio::test]
async fn what_is_missing_or_does_not_fit_is_refused_before_anything_runs() {
    let desk = Desk::new().await;
    let document = GREET.replace("run: [printf,", "run: [touch, ran,");
    for (args, said) in [
        (&["--var", "times=2"][..], "who"),
        (&["--var", "who=a"], "who"),
        (&["--var", "who=we", "--var", "times=many"], "times"),
        (&["--var", "who=we", "--var", "whoo=x"], "whoo"),
        (&["--var", "who=we", "--approve", "greet"], "greet"),
    ] {
        let (code, object) = desk.run_document(&document, args);
        assert_eq!(code, Some(2), "{args:?}: {object}");
        assert!(object["error"].to_string().contains(said), "{args:?}: {object}");
    }
    assert!(!desk.repository.path().join("ran").exists());
}

fn triage(server: &ModelServer) -> String {
    format!(
        r#"version: "1.1"
models:
  default: {{ provider: openai-compatible, name: m, base_url: "{}/v1" }}
steps:
  - step: before
    type: tool
    run: [touch, ran]
  - step: triage
    type: model
    prompt: "Sort {{{{ input }}}}"
    output_schema:
      type: object
      properties: {{ severity: {{ type: string, enum: [low, high] }} }}
      required: [severity]
"#,
        server.url()
    )
}

fn answer(severity: &str) -> Reply {
    Reply::text(format!("<triage>{{\"severity\": \"{severity}\"}}</triage>"))
}

#[tokio::test]
async fn a_model_that_answers_wrongly_once_is_asked_once_more() {
    let desk = Desk::new().await;
    let server = ModelServer::for_clients(Law::OfTheService, [answer("urgent"), answer("high")]);
    let (code, object) = desk.run_document(&triage(&server), &["--input", "it crashes"]);
    assert_eq!((code, &object["output"]["triage"]), (Some(0), &json!({ "severity": "high" })), "{object}");
    let record = &object["trace"][1];
    assert_eq!(record["attempts"], 2);
    assert_eq!(record["rejected"], json!(["output.severity must be one of low, high"]));
    assert!(server.requests()[1].body.to_string().contains("output.severity must be one of low, high"));
}

#[tokio::test]
async fn a_model_that_answers_wrongly_twice_fails_its_step_with_an_exit_code_of_its_own() {
    let desk = Desk::new().await;
    let server = ModelServer::for_clients(Law::OfTheService, [answer("urgent"), answer("very")]);
    let (code, object) = desk.run_document(&triage(&server), &[]);
    let said = "did not match output_schema after 1 retry: output.severity must be one of low, high";
    assert_eq!(code, Some(3), "{object}");
    assert!(object["error"]["message"].as_str().is_some_and(|it| it.contains(said)), "{object}");
    assert_eq!((&object["step"], server.requests().len()), (&json!("triage"), 2), "{object}");
    assert_eq!(object["trace"][0]["status"], "completed");
    let resume = object["error"]["resume_command"].as_str().unwrap();
    assert!(resume.starts_with("sandcastle workflow run ") && resume.contains(" --resume "), "{resume}");
}

#[tokio::test]
async fn a_service_that_fails_is_not_called_again_unless_the_document_says_so() {
    let desk = Desk::new().await;
    let server = ModelServer::for_clients(Law::OfTheService, [Reply::status(503).always()]);
    let (code, object) = desk.run_document(&triage(&server), &[]);
    assert_eq!((code, &object["error"]["kind"]), (Some(1), &json!("model-failed")), "{object}");
    assert_eq!((server.requests().len(), &object["trace"][1]["attempts"]), (1, &json!(0)), "{object}");
    assert!(object["error"]["hints"][0].to_string().contains("`transport_retries`"), "{object}");

    let server = ModelServer::for_clients(Law::OfTheService, [Reply::status(503), answer("low")]);
    let document = triage(&server).replace("    prompt: ", "    transport_retries: 1\n    prompt: ");
    let (code, object) = desk.run_document(&document, &[]);
    assert_eq!((code, server.requests().len()), (Some(0), 2), "{object}");
}

#[tokio::test]
async fn an_answer_that_is_not_certain_enough_waits_for_somebody() {
    let desk = Desk::new().await;
    let said = |confidence: f64| {
        Reply::text(format!("<triage>{{\"severity\": \"low\", \"confidence\": {confidence}}}</triage>"))
    };
    let gated = |server: &ModelServer, action: &str| {
        let rails = format!("guardrails: {{ confidence_threshold: 0.7, fallback_action: {action} }}\nsteps:");
        let fields = "high] }, confidence: { type: number } }\n      required: [confidence, severity]";
        let asked = "    confidence_gate: true\n    prompt: ";
        let document = triage(server).replace("steps:", &rails).replace("    prompt: ", asked);
        document.replace("high] } }\n      required: [severity]", fields)
    };
    let server = ModelServer::for_clients(Law::OfTheService, [said(0.7)]);
    let (code, object) = desk.run_document(&gated(&server, "escalate_to_human"), &[]);
    assert_eq!((code, &object["output"]["triage"]["confidence"]), (Some(0), &json!(0.7)), "{object}");

    let server = ModelServer::for_clients(Law::OfTheService, [said(0.69)]);
    let (code, object) = desk.run_document(&gated(&server, "escalate_to_human"), &[]);
    assert_eq!((code, &object["approvals"][0]["step"]), (Some(1), &json!("triage")), "{object}");
    let next = object["resume_command"].as_str().unwrap().strip_prefix("sandcastle ").unwrap();
    let ended = desk.run(&[&["--format", "json"], &next.split(' ').collect::<Vec<_>>()[..]].concat());
    assert_eq!(json_of(&ended)["output"]["triage"]["confidence"], 0.69, "{ended:?}");
    assert_eq!(server.requests().len(), 1, "the answer is kept, not asked for again");

    let server = ModelServer::for_clients(Law::OfTheService, [said(0.69)]);
    let (code, object) = desk.run_document(&gated(&server, "fail"), &[]);
    let message = object["error"]["message"].as_str().unwrap();
    assert!(code == Some(1) && message.contains("`triage`") && message.contains("0.69"), "{message}");
}

#[tokio::test]
async fn a_key_that_is_not_set_is_named_before_anything_runs() {
    let desk = Desk::new().await;
    let server = ModelServer::for_clients(Law::OfTheService, []);
    let document =
        triage(&server).replace("openai-compatible, name: m,", "anthropic, name: m, api_key: \"${MY_KEY}\",");
    let (code, object) = desk.run_document(&document, &[]);
    assert_eq!(code, Some(2), "{object}");
    assert!(object["error"].to_string().contains("`MY_KEY`"), "{object}");
    assert!(!desk.repository.path().join("ran").exists() && server.requests().is_empty());
}

#[tokio::test]
async fn a_command_that_fails_fails_the_workflow_and_says_how_to_go_on() {
    let desk = Desk::new().await;
    let document =
        "version: \"1.1\"\nsteps:\n  - { step: no, type: tool, run: [sh, -c, \"echo why >&2; exit 7\"] }\n";
    let file = desk.document(document);
    let ended = desk.workflow(&["run", file.to_str().unwrap()]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    assert!(ended.stderr.contains("no: tool\nno: failed to run "), "{}", ended.stderr);
    assert!(ended.stderr.contains("go on     sandcastle workflow run "), "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
}

#[tokio::test]
async fn an_interrupt_ends_everything_and_the_run_goes_on_later() {
    let desk = Desk::new().await;
    let document = r#"version: "1.1"
steps:
  - { step: first, type: tool, run: [sh, -c, "echo x >>first"] }
  - { step: second, type: tool, run: [sh, -c, "echo x >>second; test -e go || sleep 1000"] }
"#;
    let file = desk.document(document);
    let args = ["--format", "json", "workflow", "run", file.to_str().unwrap()];
    let running = desk.command(&args).start();
    crate::support::desk::wait_for(&desk.repository.path().join("second")).await;
    running.signal(Signal::INT);
    let ended = running.finish();
    let object = json_of(&ended);
    assert_eq!((ended.code(), &object["error"]["kind"]), (Some(130), &json!("cancelled")), "{object}");

    desk.repository.write("go", "").unwrap();
    let run = object["run"].as_str().unwrap();
    let ended = desk.run(&[&args[..], &["--resume", run]].concat());
    assert_eq!((ended.code(), &json_of(&ended)["status"]), (Some(0), &json!("completed")), "{ended:?}");
    let lines = |name: &str| std::fs::read_to_string(desk.repository.path().join(name)).unwrap();
    assert_eq!((lines("first").as_str(), lines("second").as_str()), ("x\n", "x\nx\n"));
    assert!(ended.stderr.contains("second: is done again"), "{}", ended.stderr);
}

#[tokio::test]
async fn a_file_that_is_not_there_is_named_with_what_is_wrong_and_what_to_do() {
    let desk = Desk::new().await;
    for (step, code, parts) in [
        (
            "type: tool, run: [scripts/build.sh]",
            1,
            &["`scripts/build.sh`", "there is no file `", "begins at the `cwd` of its step"][..],
        ),
        (
            "type: agent, agent: { name: scripted, model: gone.json }, prompt: hi",
            2,
            &["the script `gone.json`", "No such file", "the path of its script"],
        ),
        (
            "type: agent, agent: codex, prompt_file: prompts/gone.md",
            2,
            &[
                "cannot read `prompts/gone.md`",
                "there is no such file",
                "begins at the folder of the document",
            ],
        ),
    ] {
        let document = format!("version: \"1.1\"\nsteps:\n  - {{ step: a, {step} }}\n");
        let (ended, object) = desk.run_document(&document, &[]);
        assert_eq!(ended, Some(code), "{object:#}");
        let file = desk.document(&document);
        let human = desk.workflow(&["run", file.to_str().unwrap()]).stderr;
        for part in parts {
            assert!(object.to_string().contains(part), "{part}: {object:#}");
            assert!(human.contains(part), "{part}: {human}");
        }
    }
}

#[tokio::test]
async fn an_engine_that_is_not_there_is_a_matter_of_the_environment_for_whoever_writes_documents() {
    let desk = Desk::new().await;
    let says =
        "#!/bin/sh\necho 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock.' >&2\nexit 1\n";
    desk.program("docker", says);
    let script = desk.file("script.json", r#"{ "turns": [{ "steps": [{ "say": "hi" }] }] }"#);
    let document = format!(
        "version: \"1.1\"\nsteps:\n  - {{ step: a, type: agent, agent: {{ name: scripted, model: {} }}, sandbox: {{ name: docker, image: x }}, prompt: hi }}\n",
        script.display()
    );
    let file = desk.document(&document);
    let args = ["--format", "json", "workflow", "run", file.to_str().unwrap()];
    let ended = desk.with_programs(desk.command(&args)).run();
    let object = json_of(&ended);
    assert_eq!(ended.code(), Some(1), "{object:#}");
    let hints = object["error"]["hints"].to_string();
    assert!(hints.contains("`DOCKER_HOST`") && !hints.contains(".host("), "{object:#}");
}
