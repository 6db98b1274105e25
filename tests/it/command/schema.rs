//! `sandcastle schema lower`: the copy of a schema for a wire, what is not in it, and why there is none.

use serde_json::{Value, json};

use crate::support::desk::{Desk, json_of};

const BOUNDED: &str = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"title":{"type":"string","maxLength":80},"note":{"type":"string"}},"required":["title"]}"#;
const OPEN: &str = r#"{"type":"object","properties":{"m":{"type":"object","additionalProperties":true},"any":{}},"required":["m","any"]}"#;

#[tokio::test]
async fn the_copy_goes_to_one_side_and_what_is_not_in_it_to_the_other() {
    let desk = Desk::new().await;
    let schema = desk.file("bounded.json", BOUNDED);
    let ended = desk.run(&["schema", "lower", "--dialect", "anthropic", schema.to_str().unwrap()]);
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    let copy: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        copy["properties"]["title"],
        json!({ "description": "At most 80 characters.", "type": "string" })
    );
    assert_eq!(copy["additionalProperties"], false);
    assert!(ended.stdout.contains("\n  \"type\": \"object\",\n"), "{}", ended.stdout);
    assert_eq!(
        ended.stderr,
        "moved `maxLength` at /properties/title into the description: At most 80 characters.\n\
         optional properties: 1 of 24\nunions: 0 of 16\n"
    );
    // The same bytes from the standard input, which is what no file is.
    let again = desk.run_with_input(&["schema", "lower", "--dialect", "anthropic"], BOUNDED);
    assert_eq!((again.code(), again.stdout), (Some(0), ended.stdout));
    let quiet = desk.run_with_input(&["--quiet", "schema", "lower", "--dialect", "anthropic", "-"], BOUNDED);
    assert_eq!((quiet.code(), quiet.stderr.as_str()), (Some(0), ""));
}

#[tokio::test]
async fn a_program_reads_one_object_with_everything() {
    let desk = Desk::new().await;
    for dialect in ["claude-code", "codex", "anthropic", "openai", "gemini", "ollama", "llama-cpp"] {
        let args = ["--format", "json", "schema", "lower", "--dialect", dialect, "-"];
        let result = json_of(&desk.run_with_input(&args, BOUNDED));
        let keys: Vec<_> = result.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["dialect", "wire", "moved", "refused", "counts"]);
        assert_eq!(result["dialect"], dialect);
        assert_eq!(result["refused"], json!([]));
        assert!(result["wire"].get("$schema").is_none(), "{result}");
    }
    let args = ["--format", "json", "schema", "lower", "--dialect", "codex"];
    let result = json_of(&desk.run_with_input(&args, BOUNDED));
    assert_eq!(result["wire"]["required"], json!(["title", "note"]));
    assert_eq!(
        result["moved"],
        json!([{ "pointer": "/properties/title", "keyword": "maxLength", "text": "At most 80 characters." }])
    );
    assert_eq!(result["counts"][0], json!({ "what": "properties", "count": 2, "limit": 5000 }));
}

#[tokio::test]
async fn a_schema_that_cannot_be_carried_ends_with_every_reason() {
    let desk = Desk::new().await;
    let schema = desk.file("open.json", OPEN);
    let args = ["schema", "lower", "--dialect", "openai", schema.to_str().unwrap()];
    let ended = desk.run(&args);
    assert_eq!((ended.code(), ended.stdout.as_str()), (Some(2), ""));
    for reason in [
        "failed to carry the schema in the dialect `openai`:",
        "\n  `additionalProperties` at /properties/m allows keys that are not declared, which this wire cannot carry\n",
        "\n  `type` at /properties/any is missing: this wire carries no value of any type\n",
    ] {
        assert!(ended.stderr.contains(reason), "{}", ended.stderr);
    }
    let ended = desk.run(&[&["--format", "json"], &args[..]].concat());
    assert_eq!(ended.code(), Some(2));
    let error = &json_of(&ended)["error"];
    assert_eq!((&error["kind"], &error["dialect"]), (&json!("invalid-output"), &json!("openai")));
    let pointers: Vec<_> =
        error["refused"].as_array().unwrap().iter().map(|one| one["pointer"].as_str().unwrap()).collect();
    assert_eq!(pointers, ["/properties/m", "/properties/any"]);
}

#[tokio::test]
async fn what_is_no_schema_or_no_dialect_is_bad_usage() {
    let desk = Desk::new().await;
    for (args, input, said) in [
        (["schema", "lower", "--dialect", "codex", "-"], "{\"type\":5}", "schema"),
        (["schema", "lower", "--dialect", "codex", "-"], "{", "read the schema `-`"),
        (
            ["schema", "lower", "--dialect", "open-ai", "-"],
            "{}",
            "[possible values: claude-code, codex, anthropic,",
        ),
        (["schema", "lower", "--dialect", "codex", "nowhere.json"], "", "nowhere.json"),
    ] {
        let ended = desk.run_with_input(&args, input);
        assert_eq!(ended.code(), Some(2), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{args:?}: {}", ended.stderr);
    }
}
