//! The `sandcastle` command as a script sees it: its output, its exit codes, one JSON object.

mod automation;
mod budgets;
mod doctor;
mod extract;
mod images;
mod init;
mod native;
mod pr;
mod progress;
mod scaffold_files;
mod scaffolds;
mod schema;
mod strategies;
mod workflow;

use rustix::process::Signal;
use serde_json::json;

use crate::support::desk::{Desk, json_of, one_turn};
use crate::support::processes::UniqueSleep;

const SCHEMA: &str =
    r#"{"type":"object","properties":{"severity":{"enum":["low","high"]}},"required":["severity"]}"#;

#[tokio::test]
async fn extract_prints_the_bare_value() {
    let desk = Desk::new().await;
    let text = "thinking... <result>\n```json\n{\"severity\": \"low\"}\n```\n</result> bye";
    let ended = desk.run_with_input(&["extract", "--tag", "result"], text);
    assert_eq!(
        (ended.code(), ended.stdout.as_str()),
        (Some(0), "{\"severity\":\"low\"}\n"),
        "{}",
        ended.stderr
    );
    let file = desk.file("said.txt", text);
    let schema = desk.file("schema.json", SCHEMA);
    let (file, schema) = (file.to_str().unwrap(), schema.to_str().unwrap());
    let ended = desk.run(&["--format", "json", "extract", "--tag", "result", "--schema", schema, file]);
    assert_eq!(json_of(&ended), json!({ "output": { "severity": "low" } }));
    let ended = desk.run_with_input(&["extract", "--tag", "s", "--text"], "<s> two\nlines </s>");
    assert_eq!(ended.stdout, "two\nlines\n");
}

#[tokio::test]
async fn extract_says_what_is_wrong_and_where() {
    let desk = Desk::new().await;
    let schema = desk.file("schema.json", SCHEMA);
    let args = ["--format", "json", "extract", "--tag", "result", "--schema", schema.to_str().unwrap()];
    for (text, stage) in [
        ("nothing", "missing"),
        ("<result>{\"severity\":", "unclosed"),
        ("<result>{\"severity\":}</result>", "json-parse"),
        ("<result>{\"severity\":\"big\"}</result>", "schema-validate"),
    ] {
        let ended = desk.run_with_input(&args, text);
        assert_eq!(ended.code(), Some(3), "{text}");
        assert_eq!(json_of(&ended)["error"]["stage"], stage, "{text}: {}", ended.stdout);
        assert_eq!(json_of(&ended)["error"]["tag"], "result");
    }
    let ended = desk.run_with_input(&args, "<result>{\"severity\":\"big\"}</result>");
    let error = &json_of(&ended)["error"];
    assert_eq!(error["problems"][0]["path"], "/severity");
    assert_eq!(error["raw_matched"], "{\"severity\":\"big\"}");
    let message = error["problems"][0]["message"].as_str().unwrap();
    assert!(message.contains("low") && message.contains("high"), "{message}");
}

#[tokio::test]
async fn extract_reads_an_agents_own_lines() {
    let desk = Desk::new().await;
    let codex = concat!(
        r#"{"type":"thread.started","thread_id":"t"}"#,
        "\n",
        r#"{"type":"item.completed","item":{"id":"1","type":"command_execution","aggregated_output":"<result>{\"n\":0}</result>"}}"#,
        "\n",
        r#"{"type":"item.completed","item":{"id":"2","type":"agent_message","text":"<result>{\"n\":"}}"#,
        "\n",
        r#"{"type":"item.completed","item":{"id":"3","type":"agent_message","text":"2}</result>"}}"#,
        "\n",
        r#"{"type":"turn.completed","usage":{}}"#,
        "\n",
    );
    let ended = desk.run_with_input(&["extract", "--tag", "result", "--agent", "codex"], codex);
    assert_eq!(ended.stdout, "{\"n\":2}\n", "{}", ended.stderr);
    let ended = desk.run_with_input(&["extract", "--tag", "result", "--agent", "coddex"], codex);
    assert_eq!(ended.code(), Some(2));
    assert!(ended.stderr.contains("coddex") && ended.stderr.contains("codex"), "{}", ended.stderr);
}

/// A recorded stream of each, and what it answers.
#[tokio::test]
async fn extract_reads_the_lines_of_every_agent() {
    let desk = Desk::new().await;
    let streams = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/streams");
    let played = "{\"text\":\"<result>{\\\"n\\\":\"}\n{\"text\":\"4}</result>\"}\n";
    let played = desk.file("played.jsonl", played);
    let answers = [
        ("claude-code", "2.1.197/case-010-answer-split-over-two-messages", "{\"items\":[1,2]}"),
        ("codex", "0.171.0/tool-commit", "{\"commits\":1}"),
        ("pi", "0.73.1/tool-commit", "{\"commits\":1}"),
        ("opencode", "1.18.33/case-108-the-tag-in-text-events", "{\"items\":[1,2]}"),
        ("gemini", "0.61.0/tool-commit", "{\"n\": 3}"),
        ("copilot", "1.0.102/text", "{\"n\": 7}"),
        ("cursor", "documented/tools", "{\"n\": 3}"),
    ];
    let recorded = answers
        .map(|(agent, case, answer)| (agent, streams.join(agent).join(format!("{case}.jsonl")), answer));
    let all: Vec<_> = recorded.into_iter().chain([("scripted", played, "{\"n\":4}")]).collect();
    let names: Vec<_> = all.iter().map(|(agent, ..)| *agent).collect();
    assert_eq!(names, sandcastle::registry::AGENTS.iter().map(|entry| entry.name).collect::<Vec<_>>());
    for (agent, file, answer) in &all {
        let file = file.to_str().unwrap();
        let ended = desk.run(&["extract", "--tag", "result", "--text", "--agent", agent, file]);
        assert_eq!(ended.stdout.trim_end(), *answer, "{agent}: {}", ended.stderr);
    }
}

/// The help names whatever there is.
#[tokio::test]
async fn the_help_names_every_agent() {
    let desk = Desk::new().await;
    for command in ["run", "interactive"] {
        let ended = desk.run(&[command, "--help"]);
        for entry in sandcastle::registry::AGENTS {
            let name = format!("`{}`", entry.name);
            assert!(ended.stdout.contains(&name), "{command} does not name {name}: {}", ended.stdout);
        }
    }
}

#[tokio::test]
async fn run_prints_one_object_with_everything() {
    let desk = Desk::new().await;
    let script = one_turn(&json!([
        { "write-file": { "path": "x", "content": "1" } },
        { "commit": "Work" },
        { "say": "<result>{\"severity\":\"low\"}</result>" }
    ]));
    let ended = desk.play(&script, &["--prompt", "answer in <result>", "--tag", "result"]).run();
    assert_eq!(ended.code(), Some(0), "{}{}", ended.stdout, ended.stderr);
    let object = json_of(&ended);
    assert_eq!(object["output"], json!({ "severity": "low" }));
    assert_eq!(object["branch"], "main");
    assert_eq!(object["commits"][0]["sha"].as_str().unwrap().len(), 40);
    assert_eq!(object["answer_guarantee"], "tag");
    assert_eq!(object["iterations"].as_array().unwrap().len(), 1);
    assert!(object["completion_signal"].is_null());
}

#[tokio::test]
async fn run_fails_with_the_stage_and_the_work() {
    let desk = Desk::new().await;
    let schema = desk.file("schema.json", SCHEMA);
    let script = one_turn(&json!([{ "say": "<result>{\"severity\":\"big\"}</result>" }]));
    let args = [
        "--prompt",
        "in <result>",
        "--tag",
        "result",
        "--schema",
        schema.to_str().unwrap(),
        "--max-retries",
        "1",
    ];
    let ended = desk.play(&script, &args).run();
    assert_eq!(ended.code(), Some(3), "{}", ended.stderr);
    let error = &json_of(&ended)["error"];
    assert_eq!(error["stage"], "schema-validate");
    assert_eq!(error["attempts"].as_array().unwrap().len(), 2);
    assert!(error["session_id"].is_string(), "{error}");
    assert_eq!(error["branch"], "main");
}

#[tokio::test]
async fn exit_codes_tell_usage_from_failure() {
    let desk = Desk::new().await;
    let failing = one_turn(&json!([{ "exit": 4 }]));
    assert_eq!(desk.play(&failing, &["--prompt", "go"]).run().code(), Some(1));
    let ended = desk.play(&failing, &["--prompt", "go", "--tag", "result"]).run();
    assert_eq!(ended.code(), Some(2), "the prompt does not name the tag");
    assert_eq!(json_of(&ended)["error"]["kind"], "prompt");
    let ended = desk.play(&failing, &["--prompt", "go", "--idle-timeout", "never"]).run();
    assert_eq!(ended.code(), Some(2));
    assert_eq!(json_of(&ended)["error"]["kind"], "usage");
    assert_eq!(desk.run(&["--help"]).code(), Some(0));
    assert_eq!(desk.run(&["frobnicate"]).code(), Some(2));
}

#[tokio::test]
async fn hints_name_flags() {
    let desk = Desk::new().await;
    let template = desk.file("task.md", "Do it for {{WHO}}.");
    let cases: [(&[&str], &str); 4] = [
        (&["--prompt-file", template.to_str().unwrap()], "`--arg`"),
        (&["--prompt", "hi", "--tag", "result"], "`sandcastle schema snippet`"),
        (&["--prompt", "hi", "--max-iterations", "0"], "`--max-iterations`"),
        (&["--prompt", "hi", "--cwd", "/nowhere"], "`--cwd`"),
    ];
    let script = one_turn(&json!([{ "say": "hello" }]));
    for (args, flag) in cases {
        let ended = desk.play(&script, args).run();
        let hint = json_of(&ended)["error"]["hints"][0].clone();
        assert!(hint.as_str().is_some_and(|hint| hint.contains(flag)), "{flag}: {}", ended.stdout);
    }
    let ended = desk.run(&["run", "--agent", "scripted", "--prompt", "hi"]);
    assert!(ended.stderr.contains("hint: name its file with `--model`"), "{}", ended.stderr);
}

#[tokio::test]
async fn a_person_is_told_what_a_failed_run_left() {
    let desk = Desk::new().await;
    let steps =
        json!([{ "write-file": { "path": "a", "content": "a" } }, { "commit": "add a" }, { "say": "no" }]);
    let script = desk.file("script.json", one_turn(&steps).to_string());
    let script = ["run", "--agent", "scripted", "--model", script.to_str().unwrap()];
    let ended = desk.run(&[&script[..], &["--prompt", "<result>", "--tag", "result"]].concat());
    assert_eq!(ended.code(), Some(3), "{}", ended.stderr);
    for label in [" add a", "  session   scripted-", "  log       /"] {
        assert!(ended.stderr.contains(label), "{label}: {}", ended.stderr);
    }
}

#[tokio::test]
async fn row_174_a_person_is_told_how_to_follow_the_log() {
    let desk = Desk::new().await;
    let script = desk.file("script.json", one_turn(&json!([{ "say": "hello" }])).to_string());
    let args = ["run", "--agent", "scripted", "--model", script.to_str().unwrap(), "--prompt", "hi"];
    let ended = desk.run(&args);
    assert!(ended.stderr.contains("  tail -f .sandcastle/logs/main.log\n"), "{}", ended.stderr);
    let log = desk.file("elsewhere.log", "");
    let ended = desk.run(&[&args[..], &["--log", log.to_str().unwrap()]].concat());
    assert!(ended.stderr.contains(&format!("  tail -f {}\n", log.display())), "{}", ended.stderr);
}

#[tokio::test]
async fn schemas_are_checked_and_worded() {
    let desk = Desk::new().await;
    let good = desk.file("good.json", SCHEMA);
    let bad = desk.file("bad.json", "{\"type\": 5}");
    assert_eq!(desk.run(&["schema", "check", good.to_str().unwrap()]).code(), Some(0));
    assert_eq!(desk.run(&["schema", "check", bad.to_str().unwrap()]).code(), Some(2));
    for style in ["typescript", "json-schema", "example"] {
        let ended =
            desk.run(&["schema", "snippet", "--tag", "verdict", "--style", style, good.to_str().unwrap()]);
        assert!(
            ended.stdout.contains("<verdict>") && ended.stdout.contains("low"),
            "{style}: {}",
            ended.stdout
        );
    }
}

#[tokio::test]
async fn an_interrupt_ends_the_agent_and_says_130() {
    for signal in [Signal::INT, Signal::TERM, Signal::QUIT, Signal::HUP] {
        let desk = Desk::new().await;
        let sleep = UniqueSleep::new();
        let script = one_turn(&json!([{ "shell": format!("setsid sleep {}", sleep.seconds()) }]));
        let running = desk.play(&script, &["--prompt", "go"]).start();
        sleep.wait_for(1).await;
        running.signal(signal);
        let ended = running.finish();
        assert_eq!(ended.code(), Some(130), "{signal:?}");
        assert_eq!(json_of(&ended)["error"]["kind"], "cancelled", "{signal:?}");
        assert_eq!(sleep.alive(), 0, "{signal:?}");
    }
}

#[tokio::test]
async fn interactive_hands_the_terminal_to_the_agent() {
    let desk = Desk::new().await;
    let script = desk.file(
        "script.json",
        one_turn(&json!([{ "shell": "echo x > made && git add made && git commit -qm Made" }])).to_string(),
    );
    let args = ["interactive", "--agent", "scripted", "--model", script.to_str().unwrap()];
    let ended = desk.run_with_input(&args, "hello\n");
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(
        ended.stdout.contains("say something: ") && ended.stdout.contains("done: hello"),
        "{}",
        ended.stdout
    );
    assert_eq!(desk.repository.git(["log", "-1", "--format=%s"]).await.unwrap(), "Made");
}

#[tokio::test]
async fn a_character_that_is_split_by_a_read_is_whole() {
    let desk = Desk::new().await;
    let long = format!("{}<s>{}</s>", "x".repeat(65_535), "日本".repeat(50_000));
    let ended = desk.run_with_input(&["extract", "--tag", "s", "--text"], &long);
    assert_eq!(ended.stdout.trim_end(), "日本".repeat(50_000));
}

#[tokio::test]
async fn case_126_git_is_read_in_one_language() {
    let desk = Desk::new().await;
    let stub = "#!/bin/sh\nif [ \"$LC_ALL\" != C ]; then echo 'Schwerwiegend: kein Repository' >&2; exit 128; fi\n\
                PATH=${PATH#*:} exec git \"$@\"\n";
    std::fs::create_dir(desk.home.path().join("stub")).unwrap();
    let git = desk.file("stub/git", stub);
    std::fs::set_permissions(&git, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", git.parent().unwrap().display(), crate::support::real_agent::search_path());
    let german = [("PATH", path.as_str()), ("LC_ALL", "de_DE.UTF-8"), ("LANGUAGE", "de")];
    let answer = one_turn(&json!([{ "say": "ok" }]));
    let ended = desk
        .play(&answer, &["--prompt", "go"])
        .environment(german.map(|(key, value)| (key.to_owned(), value.to_owned())))
        .run();
    assert_eq!(ended.code(), Some(0), "{}{}", ended.stdout, ended.stderr);
    assert_eq!(json_of(&ended)["branch"], "main");
}
