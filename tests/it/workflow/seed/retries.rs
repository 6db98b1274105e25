//! One retry, of an answer that does not fit and of nothing else. Requests are counted where they arrive.

use std::net::TcpListener;
use std::time::Duration;

use sandcastle::ErrorKind;
use sandcastle::workflow::StepStatus;

use super::*;

fn bad() -> Reply {
    Reply::text(r#"{"severity":"urgent"}"#)
}

fn good() -> Reply {
    Reply::text(r#"{"severity":"high"}"#)
}

#[tokio::test]
async fn seed_3_3_one_retry_names_the_problems_and_the_rejected_answer() {
    let bench = Bench::new(Service::OpenAi, [bad(), good()]).await;
    let more = "  - { step: told, type: tool, run: [printf, \"%s\", \"{{ steps.triage.attempts }}\"] }\n";
    let result = bench.run(&asking(&severity(), more)).await;
    assert_eq!(result.output["triage"], json!({ "severity": "high" }));
    let told = bench.last_told();
    assert!(told.contains("output.severity must be one of low, high"), "{told}");
    assert!(told.contains(r#"{"severity":"urgent"}"#), "{told}");
    // A retry is an event, is counted, and its cost is that of both.
    assert_eq!(bench.retried(), [["output.severity must be one of low, high"]]);
    let record = result.step("triage").unwrap();
    assert_eq!((record.attempts, record.rejected.len()), (2, 1));
    assert_eq!(result.output["told"]["stdout"], "2");
    assert_eq!((record.usage.input_tokens, record.usage.output_tokens), (22, 14));
    assert_eq!(bench.asked(), 2);
}

#[tokio::test]
async fn seed_3_3_a_second_failure_fails_the_step_visibly() {
    let bench = Bench::new(Service::OpenAi, [bad(), Reply::text("{}"), good()]).await;
    let more = "  - { step: never, type: tool, run: [touch, ran] }\n";
    let error = bench.fails(&asking(&severity(), more)).await;
    assert_eq!(error.kind(), ErrorKind::StructuredOutput);
    let said = "the step `triage` did not match output_schema after 1 retry: output.severity is required";
    assert!(error.to_string().ends_with(said), "{error}");
    let failure = error.workflow_failure().unwrap();
    assert_eq!(failure.step.as_deref(), Some("triage"));
    assert_eq!((failure.trace[0].status, failure.trace[0].attempts), (StepStatus::Failed, 2));
    assert_eq!(failure.trace[0].rejected.len(), 2);
    assert_eq!(bench.asked(), 2, "exactly two, never three");
    assert!(!bench.repository.path().join("ran").exists());
}

#[tokio::test]
async fn seed_3_3_a_call_that_throws_is_not_retried() {
    let later = Duration::from_secs(30);
    for (what, reply) in [
        ("500", Reply::status(500)),
        ("503", Reply::status(503)),
        ("529", Reply::status(529)),
        ("429", Reply::status(429)),
        ("400", Reply::status(400)),
        ("401", Reply::status(401)),
        ("a lost connection", Reply::dropped()),
        ("a broken stream", Reply::text(r#"{"severity":"#).severed()),
        ("a timeout", Reply::silence(later)),
    ] {
        let bench = Bench::new(Service::OpenAi, [reply, good(), good()]).await;
        let error = bench.fails(&asking_with("    timeout: 2\n", &severity(), "")).await;
        assert_eq!(bench.asked(), 1, "{what}: {error:#}");
        assert_ne!(error.kind(), ErrorKind::StructuredOutput, "{what}: {error:#}");
        assert!(!error.to_string().contains("output_schema"), "{what}: {error:#}");
        assert_eq!(bench.retried(), [[""; 0]; 0], "{what}");
    }
}

#[tokio::test]
async fn seed_3_3_a_service_that_is_not_there_is_asked_once() {
    // It is bound and never accepts more than it counts: whoever connects is sent away without a byte.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let counted = std::thread::spawn(move || {
        drop(listener.accept().unwrap());
        listener.set_nonblocking(true).unwrap();
        std::thread::sleep(Duration::from_secs(2));
        std::iter::from_fn(|| listener.accept().ok()).count() + 1
    });
    let repository = ScratchRepo::new().await.unwrap();
    let workflow = Workflow::from_yaml(&asking(&severity(), "")).unwrap();
    let options = || {
        let served = Served { service: Service::OpenAi, url: url.clone(), sessions: PathBuf::new() };
        WorkflowOptions::new(repository.path()).providers(served)
    };
    let error = workflow.run(options()).await.unwrap_err();
    assert_ne!(error.kind(), ErrorKind::StructuredOutput, "{error:#}");
    assert_eq!(counted.join().unwrap(), 1);
    // And now nobody listens there at all.
    let error = workflow.run(options()).await.unwrap_err();
    assert!(error.to_string().contains("could not be reached"), "{error:#}");
    assert_eq!(error.workflow_failure().unwrap().trace[0].attempts, 0, "no answer was judged");
}

#[tokio::test]
async fn seed_3_3_a_retry_that_throws_is_not_made_again() {
    let bench = Bench::new(Service::OpenAi, [bad(), Reply::status(500), good()]).await;
    let error = bench.fails(&asking(&severity(), "")).await;
    assert_eq!(bench.asked(), 2, "{error:#}");
    // There was an answer, and it was not valid; both that and what kept it from being corrected are said.
    assert_eq!(error.kind(), ErrorKind::StructuredOutput, "{error:#}");
    let said = error.to_string();
    assert!(
        said.contains("/severity") && said.contains("HTTP 500") && !said.contains("after 1 retry"),
        "{said}"
    );
}

#[tokio::test]
async fn seed_3_3_transport_retries_are_there_for_who_asks_for_them() {
    let bench = Bench::new(Service::OpenAi, [Reply::status(500).retry_after(0), good()]).await;
    let result = bench.run(&asking_with("    transport_retries: 1\n", &severity(), "")).await;
    assert_eq!((result.step("triage").unwrap().attempts, bench.asked()), (1, 2));
    assert_eq!(bench.retried(), [[""; 0]; 0]);
}

#[tokio::test]
async fn seed_3_9_a_structure_that_a_client_would_throw_at_is_a_schema_failure_and_retried() {
    let schema = object(
        &json!({ "severity": { "type": "string", "enum": ["low", "high"] }, "score": { "type": "integer" } }),
        &["severity", "score"],
    );
    for (what, broken) in [
        ("a wrong enum value", r#"{"severity":"urgent","score":1}"#),
        ("a wrong type", r#"{"severity":"low","score":"1"}"#),
        ("a missing field", r#"{"severity":"low"}"#),
        ("another kind", r#"["low"]"#),
        ("no JSON at all", "It is rather bad."),
        ("half of it", r#"{"severity":"low","sco"#),
        ("nothing", ""),
    ] {
        for service in Service::ALL {
            let replies = [Reply::text(broken), Reply::text(r#"{"severity":"low","score":1}"#)];
            let bench = Bench::new(service, replies).await;
            let result = bench.run(&asking_with("    strategy: native\n", &schema, "")).await;
            assert_eq!(result.step("triage").unwrap().attempts, 2, "{what} of {service:?}");
            assert_eq!(bench.asked(), 2, "{what} of {service:?}");
            assert_eq!(bench.retried().len(), 1, "{what} of {service:?}");
        }
    }
}

#[tokio::test]
async fn seed_3_3_agents_have_the_same_one_retry() {
    let bench = Bench::answering([]).await;
    let script = |second: &str| {
        let turns = json!({ "turns": [
            { "steps": [{ "say": "<triage>{\"severity\":\"urgent\"}</triage>" }] },
            { "steps": [{ "say": format!("<triage>{second}</triage>") }] },
            { "steps": [{ "say": "<triage>{\"severity\":\"low\"}</triage>" }] },
        ] });
        bench.repository.write(".git/script.json", turns.to_string()).unwrap()
    };
    let document = |path: &Path| {
        format!(
            "version: \"1.1\"\nsteps:\n  - step: triage\n    type: agent\n    agent: {{ name: scripted, model: \"{}\" }}\n    prompt: Sort it.\n    output_schema: {}\n",
            path.display(),
            severity()
        )
    };
    let result = bench.run(&document(&script(r#"{"severity":"high"}"#))).await;
    assert_eq!(result.output["triage"], json!({ "severity": "high" }));
    assert_eq!(result.step("triage").unwrap().attempts, 2);
    assert_eq!(bench.retried().len(), 1);

    let error = bench.fails(&document(&script("{}"))).await;
    assert_eq!(error.kind(), ErrorKind::StructuredOutput);
    let said = "did not match output_schema after 1 retry: output.severity is required";
    assert!(error.to_string().ends_with(said), "{error}");
}
