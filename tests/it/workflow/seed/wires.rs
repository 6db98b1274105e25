//! What the seed left undone second: the schema goes to the service itself, converted for each. What is asserted is what
//! arrives, since a call says nothing of it.

use sandcastle::AnswerGuarantee;

use super::*;

/// A schema with everything that some service refuses.
fn bounded() -> Value {
    object(
        &json!({
            "severity": { "type": "string", "enum": ["low", "high"], "description": "How bad it is." },
            "score": { "type": "integer", "minimum": 1, "maximum": 5 },
            "summary": { "type": "string", "minLength": 2, "maxLength": 25, "pattern": "^I" },
            "labels": { "type": "array", "items": { "type": "string" }, "maxItems": 3 },
            "owner": object(&json!({ "name": { "type": "string" }, "team": { "type": "string" } }), &["name"]),
        }),
        &["severity", "score", "summary", "owner"],
    )
}

/// The schema in a request: the object that has this field, wherever a service wants it.
pub(super) fn on_the_wire(bench: &Bench, field: &str) -> Value {
    let requests = bench.server.requests();
    schema_in(&requests[0].body, field)
        .unwrap_or_else(|| panic!("{:?}: {:#}", bench.service, requests[0].body))
        .clone()
}

fn schema_in<'v>(value: &'v Value, field: &str) -> Option<&'v Value> {
    if value["properties"].get(field).is_some() {
        return Some(value);
    }
    match value {
        Value::Object(fields) => fields.values().find_map(|inner| schema_in(inner, field)),
        Value::Array(items) => items.iter().find_map(|inner| schema_in(inner, field)),
        _ => None,
    }
}

/// Every object of a schema, and what is in them.
fn objects(schema: &Value) -> Vec<&Value> {
    let mut all = Vec::new();
    if schema.get("properties").is_some() {
        all.push(schema);
    }
    match schema {
        Value::Object(fields) => all.extend(fields.values().flat_map(objects)),
        Value::Array(items) => all.extend(items.iter().flat_map(objects)),
        _ => {}
    }
    all
}

/// Whether nothing but its properties can be in an object. Services that write by a grammar close it without being told.
fn is_closed(service: Service, object: &Value) -> bool {
    let is_told = matches!(service, Service::OpenAi | Service::Responses | Service::Anthropic);
    object.get("additionalProperties").map_or(!is_told, |others| others == false)
}

fn answer() -> Value {
    json!({ "severity": "high", "score": 5, "summary": "It crashes.", "labels": ["bug"], "owner": { "name": "Ada", "team": "a" } })
}

#[tokio::test]
async fn seed_3_7_each_service_is_held_to_the_schema_in_its_own_way() {
    for service in Service::ALL {
        let bench = Bench::new(service, [Reply::text(answer().to_string())]).await;
        let result = bench.run(&asking_with("    strategy: native\n", &bounded(), "")).await;
        assert_eq!(result.output["triage"], answer(), "{service:?}");
        let record = result.step("triage").unwrap();
        assert_eq!(record.answer_guarantee, Some(AnswerGuarantee::Native), "{service:?}");
        assert_eq!((record.attempts, bench.asked()), (1, 1), "{service:?}");
        let schema = on_the_wire(&bench, "severity");
        let members = schema["properties"]["severity"]["enum"].clone();
        assert_eq!(members, json!(["low", "high"]), "{service:?}: {schema:#}");
        assert_eq!(schema["properties"]["severity"]["description"], "How bad it is.", "{service:?}");
    }
}

#[tokio::test]
async fn seed_3_8_what_arrives_is_the_real_structure_and_closed() {
    for service in Service::ALL {
        let bench = Bench::new(service, [Reply::text(answer().to_string())]).await;
        bench.run(&asking_with("    strategy: native\n", &bounded(), "")).await;
        let schema = on_the_wire(&bench, "severity");
        let names = |object: &Value| -> Vec<String> {
            object["properties"].as_object().unwrap().keys().cloned().collect()
        };
        let all = objects(&schema);
        assert_eq!(all.len(), 2, "{service:?}: {schema:#}");
        let mut fields = names(all[0]);
        fields.sort();
        assert_eq!(fields, ["labels", "owner", "score", "severity", "summary"], "{service:?}");
        for object in all {
            assert!(is_closed(service, object), "{service:?}: {schema:#}");
        }
        let written = schema.to_string();
        for keyword in ["propertyNames", "patternProperties", "unevaluatedProperties", "$schema"] {
            assert!(!written.contains(keyword), "{service:?}: {schema:#}");
        }
    }
}

#[tokio::test]
async fn seed_3_8_bounds_that_a_service_may_refuse_are_the_engines() {
    // An answer that only the bounds refuse: a score of 9, a summary that is too long.
    let mut wrong = answer();
    wrong["score"] = json!(9);
    wrong["summary"] = json!("It crashes whenever it is started.");
    for service in Service::ALL {
        let replies = [Reply::text(wrong.to_string()), Reply::text(wrong.to_string())];
        let bench = Bench::new(service, replies).await;
        let error = bench.fails(&asking_with("    strategy: native\n", &bounded(), "")).await;
        let said = error.to_string();
        assert!(said.contains("did not match output_schema after 1 retry: "), "{service:?}: {said}");
        assert!(said.contains("output.score must be at most 5"), "{service:?}: {said}");
        assert!(said.contains("output.summary must be at most 25 characters"), "{service:?}: {said}");
        assert_eq!(bench.asked(), 2, "{service:?}: no service refused what it was sent");
    }
}

#[tokio::test]
async fn seed_3_7_a_tool_that_has_to_be_called_carries_it_too() {
    for service in [Service::Anthropic, Service::OpenAi, Service::Responses, Service::Gemini] {
        let bench = Bench::new(service, [Reply::tool("respond_with_triage", answer())]).await;
        let result = bench.run(&asking_with("    strategy: forced-tool\n", &bounded(), "")).await;
        assert_eq!(result.output["triage"], answer(), "{service:?}");
        let schema = on_the_wire(&bench, "severity");
        assert!(objects(&schema).iter().all(|object| is_closed(service, object)), "{service:?}: {schema:#}");
    }
}

#[tokio::test]
async fn seed_3_7_a_program_gets_it_beside_the_prompt() {
    let bench = Bench::answering([]).await;
    let script =
        json!({ "turns": [{ "steps": [{ "say": "Done." }], "structured": answer() }], "native": "argument" });
    let script = bench.repository.write(".git/script.json", script.to_string()).unwrap();
    let document = format!(
        "version: \"1.1\"\nsteps:\n  - step: triage\n    type: agent\n    agent: {{ name: scripted, model: \"{}\" }}\n    prompt: Sort it.\n    strategy: native\n    output_schema: {}\n",
        script.display(),
        bounded()
    );
    let result = bench.run(&document).await;
    assert_eq!(result.output["triage"], answer());
    assert_eq!(result.step("triage").unwrap().answer_guarantee, Some(AnswerGuarantee::Native));
    let session = std::fs::read_dir(bench.sessions()).unwrap().next().unwrap().unwrap().path();
    let read = |name: &str| std::fs::read_to_string(session.join(name)).unwrap();
    assert!(
        read("prompt-1").starts_with("Sort it.") && read("prompt-1").contains("severity"),
        "{}",
        read("prompt-1")
    );
    let schema: Value = serde_json::from_str(&read("schema-1")).unwrap();
    assert!(objects(&schema).iter().all(|object| object["properties"].is_object()), "{schema:#}");
    assert_eq!(schema["properties"]["severity"]["enum"], json!(["low", "high"]), "{schema:#}");
}

#[tokio::test]
async fn seed_3_7_where_nothing_is_declared_words_are_used_and_strategy_native_is_refused_by_name() {
    let repository = ScratchRepo::new().await.unwrap();
    let server = Service::OpenAi.server([Reply::text("<triage>{\"severity\":\"low\"}</triage>")]);
    let named = |lines: &str| {
        let document = asking_with(lines, &severity(), "");
        document.replace(
            "{ provider: openai, name: gpt-4.1, api_key: \"${A_KEY}\" }",
            &format!("{{ provider: openai-compatible, name: m, base_url: \"{}/v1\" }}", server.url()),
        )
    };
    let options = || WorkflowOptions::new(repository.path()).providers(BuiltIn::new());
    let result = Workflow::from_yaml(&named("")).unwrap().run(options()).await.unwrap();
    assert_eq!(result.step("triage").unwrap().answer_guarantee, Some(AnswerGuarantee::Tag));
    assert_eq!(result.output["triage"], json!({ "severity": "low" }));

    let refused = Workflow::from_yaml(&named("    strategy: native\n")).unwrap().run(options()).await;
    let error = refused.unwrap_err();
    assert!(error.is_entry_check(), "{error:#}");
    assert!(error.to_string().contains("the step `triage` cannot be done"), "{error:#}");
    assert!(error.hints()[0].ends_with("say so in its model: `supports: [native]`"), "{error:#}");
    assert!(!error.to_string().contains("in Rust"), "{error:#}");
    assert_eq!(server.requests().len(), 1, "nothing was asked");
}

#[tokio::test]
async fn what_a_server_behind_a_base_url_supports_a_document_says() {
    let keys = || BuiltIn::new().keys(|_| Some("a key".to_owned()));
    for (service, provider) in [
        (Service::Anthropic, "anthropic"),
        (Service::OpenAi, "openai"),
        (Service::OpenAi, "openai-compatible"),
        (Service::Responses, "openai-responses"),
        (Service::Gemini, "gemini"),
    ] {
        for (supports, strategy, guarantee, reply) in [
            ("native", "native", AnswerGuarantee::Native, Reply::text(answer().to_string())),
            ("[native, forced-tool]", "auto", AnswerGuarantee::Native, Reply::text(answer().to_string())),
            (
                "[forced-tool]",
                "forced-tool",
                AnswerGuarantee::ForcedTool,
                Reply::tool("respond_with_triage", answer()),
            ),
        ] {
            let bench = Bench::new(service, [reply]).await;
            let base = match service {
                Service::OpenAi | Service::Responses => format!("{}/v1", bench.server.url()),
                _ => bench.server.url(),
            };
            let lines = format!("    strategy: {strategy}\n");
            let document = asking_with(&lines, &bounded(), "").replace(
                "provider: openai, name: gpt-4.1, api_key: \"${A_KEY}\"",
                &format!(
                    "provider: {provider}, name: m, api_key: \"${{A_KEY}}\", base_url: \"{base}\", supports: {supports}"
                ),
            );
            let workflow = Workflow::from_yaml(&document).unwrap();
            assert!(!workflow.check_with(&keys()).has_errors(), "{document}");
            let options = WorkflowOptions::new(bench.repository.path()).providers(keys());
            let result = workflow.run(options).await.unwrap_or_else(|error| panic!("{error:#}\n{document}"));
            let what = format!("{provider} {supports}");
            assert_eq!(result.output["triage"], answer(), "{what}");
            assert_eq!(result.step("triage").unwrap().answer_guarantee, Some(guarantee), "{what}");
            let schema = on_the_wire(&bench, "severity");
            assert_eq!(
                schema["properties"]["severity"]["enum"],
                json!(["low", "high"]),
                "{what}: {schema:#}"
            );
        }
    }
}

#[test]
fn what_a_service_supports_is_one_of_two_words() {
    let document = |supports: &str| {
        asking_with("", &severity(), "").replace("name: gpt-4.1", &format!("name: m, supports: {supports}"))
    };
    assert_found(&document("[nativ]"), "did you mean `native`?");
    assert_found(&document("[]"), "models.default.supports: is empty");
    assert_found(&document("tag"), "must be one of `native`, `forced-tool`");
}
