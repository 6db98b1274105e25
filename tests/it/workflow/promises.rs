//! What a script may rely on: exit codes, exactly one object on the standard output, and that a key is shown nowhere.

use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::desk::{Desk, json_of, wait_for};
use crate::support::model_server::{Law, ModelServer, Reply};
use crate::support::terminal::{CTRL_C, Terminal};

const SAYS: &str = "version: \"1.1\"\nsteps:\n  - { step: say, type: tool, run: [printf, hello] }\n";
const FAILS: &str =
    "version: \"1.1\"\nsteps:\n  - { step: fail, type: tool, run: [sh, -c, \"echo why >&2; exit 7\"] }\n";
const ASKS: &str = "version: \"1.1\"\nsteps:\n  - { step: ask, type: approval }\n";
const WRONG: &str = "version: \"1.1\"\nsteps:\n  - { step: say, type: tool, runn: [ls] }\n";
const DECLARES: &str = "version: \"1.1\"\nvars:\n  n: { type: integer, minimum: 1 }\n  on: true\n  tags: [a]\n  who: \"7\"\n  ratio: 0.5\n  pick: { type: string, enum: [low, high], default: low }\nsteps:\n  - { step: say, type: tool, run: [\"true\"] }\noutputs: { n: \"{{ vars.n }}\", on: \"{{ vars.on }}\", tags: \"{{ vars.tags }}\", who: \"{{ vars.who }}\", ratio: \"{{ vars.ratio }}\", pick: \"{{ vars.pick }}\" }\n";
const PRINTS: &str = "version: \"1.1\"\nsteps:\n  - step: count\n    type: tool\n    run: [echo, \"{\\\"n\\\": 0}\"]\n    output_schema: { type: object, properties: { n: { type: integer, minimum: 1 } }, required: [n] }\n";

/// What a command says for programs, with its exit code.
fn told(desk: &Desk, document: &str, args: &[&str]) -> (Option<i32>, Value) {
    let file = desk.file("flow.yaml", document);
    let (command, rest) = args.split_first().unwrap();
    let begin = ["--format", "json", "workflow", command, file.to_str().unwrap()];
    let ended = desk.run(&[&begin[..], rest].concat());
    (ended.code(), json_of(&ended))
}

#[tokio::test]
async fn each_end_has_its_exit_code_and_is_told_in_one_object() {
    let desk = Desk::new().await;
    for (document, args, code, pointer, value) in [
        (SAYS, &["run"][..], 0, "/status", json!("completed")),
        (SAYS, &["check"], 0, "/valid", json!(true)),
        (SAYS, &["graph"], 0, "/as", json!("mermaid")),
        (SAYS, &["graph", "--as", "svg"], 0, "/as", json!("svg")),
        (ASKS, &["run", "--approve", "all"], 0, "/status", json!("completed")),
        (ASKS, &["run"], 1, "/status", json!("awaiting-approval")),
        (ASKS, &["run", "--reject", "ask=no"], 1, "/status", json!("rejected")),
        (FAILS, &["run"], 1, "/step", json!("fail")),
        (FAILS, &["run"], 1, "/error/kind", json!("workflow-step")),
        (WRONG, &["run"], 2, "/error/kind", json!("invalid-workflow")),
        (WRONG, &["graph"], 2, "/error/kind", json!("invalid-workflow")),
        (WRONG, &["check"], 2, "/valid", json!(false)),
        ("a: [", &["check"], 2, "/valid", json!(false)),
        ("", &["run"], 2, "/error/kind", json!("invalid-workflow")),
        (DECLARES, &["run"], 2, "/error/kind", json!("invalid-options")),
        (DECLARES, &["run", "--var", "n=0"], 2, "/error/kind", json!("invalid-options")),
        (SAYS, &["run", "--var", "n=1"], 2, "/error/kind", json!("invalid-options")),
        (SAYS, &["run", "--approve", "say"], 2, "/error/kind", json!("invalid-options")),
        (SAYS, &["run", "--resume", "20200101-000000-aaaaaa"], 2, "/error/kind", json!("invalid-options")),
        (SAYS, &["run", "--max-parallel", "0"], 2, "/error/kind", json!("usage")),
        (SAYS, &["run", "--nonsense"], 2, "/error/kind", json!("usage")),
        (SAYS, &["run", "--input", "@nowhere"], 2, "/error/kind", json!("usage")),
        (SAYS, &["run", "--cwd", "nowhere"], 2, "/error/kind", json!("invalid-options")),
        (PRINTS, &["run"], 3, "/error/kind", json!("structured-output")),
    ] {
        let (ended, object) = told(&desk, document, args);
        assert_eq!(
            (ended, object.pointer(pointer)),
            (Some(code), Some(&value)),
            "{args:?} of {document}: {object:#}"
        );
    }
}

#[tokio::test]
async fn an_interrupt_is_130_and_one_object_whichever_signal_it_is() {
    let desk = Desk::new().await;
    let root = desk.repository.path();
    let document = "version: \"1.1\"\nsteps:\n  - { step: wait, type: tool, run: [sh, -c, \"touch here; sleep 1000\"] }\n";
    let file = desk.file("flow.yaml", document);
    for signal in [Signal::INT, Signal::TERM] {
        let running = desk.command(&["--format", "json", "workflow", "run", file.to_str().unwrap()]).start();
        wait_for(&root.join("here")).await;
        running.signal(signal);
        let ended = running.finish();
        let object = json_of(&ended);
        assert_eq!((ended.code(), &object["error"]["kind"]), (Some(130), &json!("cancelled")), "{object}");
        assert_eq!(object["trace"][0]["status"], "cancelled", "{object}");
        assert!(object["error"]["resume_command"].as_str().unwrap().contains(" --resume "), "{object}");
        std::fs::remove_file(root.join("here")).unwrap();
    }
}

#[tokio::test]
async fn variables_have_the_types_that_they_are_declared_with() {
    let desk = Desk::new().await;
    let (code, object) = told(&desk, DECLARES, &["run", "--var", "n=3"]);
    let defaults = json!({ "n": 3, "on": true, "tags": ["a"], "who": "7", "ratio": 0.5, "pick": "low" });
    assert_eq!((code, &object["output"]), (Some(0), &defaults), "{object}");
    let set = [
        "run",
        "--var",
        "n=2",
        "--var",
        "on=false",
        "--var",
        "tags=[\"x\", \"y\"]",
        "--var",
        "who=3",
        "--var",
        "ratio=1",
        "--var",
        "pick=high",
    ];
    let (code, object) = told(&desk, DECLARES, &set);
    let expected = json!({ "n": 2, "on": false, "tags": ["x", "y"], "who": "3", "ratio": 1, "pick": "high" });
    assert_eq!((code, &object["output"]), (Some(0), &expected), "{object}");
    for (wrong, said) in [
        ("n=1.5", "n"),
        ("n=x", "n"),
        ("n=", "n"),
        ("n=0", "at least 1"),
        ("on=yes", "on"),
        ("tags=x", "tags"),
        ("tags={}", "tags"),
        ("pick=mid", "low"),
        ("picks=low", "`pick`"),
    ] {
        let (code, object) = told(&desk, DECLARES, &["run", "--var", "n=1", "--var", wrong]);
        assert_eq!(code, Some(2), "{wrong}: {object}");
        assert!(object["error"].to_string().contains(said), "{wrong}: {object}");
    }
}

#[tokio::test]
async fn the_workflows_of_these_tests_pass_their_own_check() {
    let desk = Desk::new().await;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/workflows");
    let mut count = 0;
    for path in std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()) {
        if path.extension().is_some_and(|ending| ending == "yaml") {
            let ended = desk.run(&["--format", "json", "workflow", "check", path.to_str().unwrap()]);
            assert_eq!(json_of(&ended)["findings"], json!([]), "{}", path.display());
            count += 1;
        }
    }
    assert!(count >= 2, "{count}");
}

/// The documents below a folder of the corpus of the core.
fn corpus(folder: &str) -> Vec<PathBuf> {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("sandcastle-core/src/workflow/document/tests/fixtures");
    let mut found: Vec<PathBuf> = left_below(&root.join(folder)).into_iter().map(|(path, _)| path).collect();
    found.retain(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    found
}

#[tokio::test]
async fn every_document_of_the_corpus_is_taken_or_refused_with_its_places() {
    let desk = Desk::new().await;
    let check = |path: &Path| {
        let ended = desk.run(&["--format", "json", "workflow", "check", path.to_str().unwrap()]);
        (ended.code(), json_of(&ended))
    };
    let (good, bad) = (corpus("good"), corpus("bad"));
    assert!(good.len() >= 10 && bad.len() >= 50, "{} and {}", good.len(), bad.len());
    for path in good {
        let (code, object) = check(&path);
        assert_eq!((code, &object["valid"]), (Some(0), &json!(true)), "{}: {object}", path.display());
    }
    for path in bad {
        let (code, object) = check(&path);
        assert_eq!((code, &object["valid"]), (Some(2), &json!(false)), "{}: {object}", path.display());
        let findings = object["findings"].as_array().unwrap();
        let is_placed =
            |finding: &Value| finding["line"].as_u64() > Some(0) && finding["column"].as_u64() > Some(0);
        assert!(!findings.is_empty() && findings.iter().all(is_placed), "{}: {object:#}", path.display());
    }
}

/// Answers a question on a terminal with these keys, each once something is shown.
async fn at_a_terminal(answers: &[(&str, &str)]) -> (Option<i32>, String) {
    let desk = Desk::new().await;
    let more = "  - { step: say, type: tool, run: [printf, \"%s\", \"note: {{ ask.note }}\"] }\n";
    let file = desk.file("flow.yaml", format!("{ASKS}{more}"));
    let command = desk.command(&["workflow", "run", file.to_str().unwrap()]);
    let mut terminal = Terminal::start(command.environment([("TERM".to_owned(), "xterm".to_owned())]));
    for (shown, keys) in answers {
        terminal.wait_for(shown);
        terminal.enter(keys);
    }
    terminal.finish()
}

const DOWN: &str = "\x1b[B";

#[tokio::test]
async fn a_person_at_the_terminal_may_refuse_or_say_nothing_yet() {
    let refuse = format!("{DOWN}\r");
    let (code, seen) = at_a_terminal(&[("May it go on?", &refuse), ("Why?", "not today\r")]).await;
    assert_eq!(code, Some(1), "{seen}");
    assert!(seen.contains("not today") && !seen.contains("note: "), "{seen}");

    let later = format!("{DOWN}{DOWN}\r");
    let (code, seen) = at_a_terminal(&[("May it go on?", &later)]).await;
    assert_eq!(code, Some(1), "{seen}");
    assert!(seen.contains(" --approve ask"), "{seen}");

    let (code, seen) = at_a_terminal(&[("May it go on?", "\r"), ("A note for later steps", CTRL_C)]).await;
    assert_eq!(code, Some(130), "{seen}");
}

/// The key of a service, in a variable whose name tells nobody that it is one.
const KEY: &str = "zebra-4711-crossing";

/// Everything that is left below a folder, as text.
fn left_below(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut left = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => left.extend(left_below(&path)),
            Ok(kind) if kind.is_file() => {
                let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                left.push((path, text));
            }
            _ => {}
        }
    }
    left
}

#[tokio::test]
async fn a_key_is_neither_printed_nor_written_down_whatever_a_service_says() {
    let echo = |reply: Reply| reply.because(format!("the key {KEY} is not valid, see Bearer {KEY}"));
    let answer = "<triage>{\"severity\":\"low\"}</triage>";
    for (what, reply, code) in [
        ("it answers", Reply::text(answer), 0),
        ("it refuses the key and repeats it", echo(Reply::status(401)), 1),
        ("it has an error and repeats it", echo(Reply::status(500)), 1),
        (
            "it says it as an answer that does not fit",
            Reply::text(format!("<triage>{{\"severity\":\"{KEY}\"}}</triage>")).always(),
            3,
        ),
        ("it says it in an answer that is none", Reply::text(format!("I know {KEY}.")).always(), 3),
    ] {
        let desk = Desk::new().await;
        let server = ModelServer::for_clients(Law::OfTheService, [reply]);
        let document = format!(
            "version: \"1.1\"\nmodels:\n  default: {{ provider: anthropic, name: claude-sonnet-4-5, base_url: \"{}\", api_key: \"${{ZEBRA}}\" }}\nsteps:\n  - step: triage\n    type: model\n    prompt: Sort it.\n    output_schema: {{ type: object, properties: {{ severity: {{ type: string, enum: [low, high] }} }}, required: [severity] }}\n",
            server.url()
        );
        let file = desk.file("flow.yaml", document);
        let args = ["-v", "--format", "json", "workflow", "run", file.to_str().unwrap()];
        let ended = desk.command(&args).environment([("ZEBRA".to_owned(), KEY.to_owned())]).run();
        assert_eq!(ended.code(), Some(code), "{what}: {ended:?}");
        let object = json_of(&ended);
        assert!(!server.requests().is_empty(), "{what}");
        assert!(!object.to_string().contains(KEY), "{what}: {object:#}");
        assert!(!ended.stderr.contains(KEY), "{what}: {}", ended.stderr);
        let left = left_below(&desk.repository.path().join(".sandcastle"));
        assert!(left.iter().any(|(path, _)| path.ends_with("workflow.jsonl")), "{what}: {left:?}");
        for (path, text) in left {
            assert!(!text.contains(KEY), "{what}: `{}`: {text}", path.display());
        }
    }
}

/// Shows all that it has, lets the next step see whether that is true, and asks.
const SHOWS_ALL: &str = r#"version: "1.1"
vars: { deploy_token: "" }
steps:
  - { step: show, type: tool, run: [sh, -c, "env; printf %s \"$1\"", "-", "{{ vars.deploy_token }}"], env: { OTHER_KEY: "{{ input }}" } }
  - step: true_still
    type: condition
    if: vars.known in show.stdout and input in show.stdout
    then: [{ step: seen, type: tool, run: [sh, -c, "cat >&2; exit 4"], stdin: "{{ show.stdout }}", on_failure: continue }]
  - { step: ask, type: approval, message: "Is {{ show.stdout }} well?" }
  - { step: fail, type: tool, run: [sh, -c, "cat >&2; exit 5"], stdin: "{{ show.stdout }}" }
"#;

#[tokio::test]
async fn what_a_command_prints_of_its_environment_is_shown_masked_and_kept_as_it_is() {
    const KEYS: [&str; 3] = ["wombat-1001-burrow", "badger-0815-tunnel", "otter-2002-river"];
    let desk = Desk::new().await;
    let document = SHOWS_ALL.replace("vars: {", "vars: { known: wombat-1001-burrow,");
    let file = desk.file("flow.yaml", document);
    let token = format!("deploy_token={}", KEYS[2]);
    let begun: &[&str] = &["--input", KEYS[1], "--var", &token];
    let all = |run: Option<&str>, format: &str, rest: &[&str]| {
        let mut args = vec!["-v", "--format", format, "workflow", "run", file.to_str().unwrap()];
        match run {
            None => args.extend(begun),
            Some(run) => args.extend(["--resume", run]),
        }
        args.extend(rest);
        let ended =
            desk.command(&args).environment([("SERVICE_API_KEY".to_owned(), KEYS[0].to_owned())]).run();
        for key in KEYS {
            assert!(!ended.stdout.contains(key) && !ended.stderr.contains(key), "{args:?}: {ended:?}");
        }
        ended
    };
    let waiting = all(None, "json", &[]);
    let object = json_of(&waiting);
    assert_eq!(waiting.code(), Some(1), "{waiting:?}");
    let names: Vec<_> = object["trace"].as_array().unwrap().iter().map(|step| &step["step"]).collect();
    assert!(names.contains(&&json!("seen")), "what a later step reads is true: {object:#}");
    let shown = object["output"]["show"]["stdout"].as_str().unwrap();
    assert!(shown.contains("SERVICE_API_KEY=***") && shown.contains("OTHER_KEY=***"), "{shown}");

    assert_eq!(all(None, "human", &[]).code(), Some(1));
    assert_eq!(all(None, "human", &["--approve", "all"]).code(), Some(1));
    let run = object["run"].as_str().unwrap();
    let failed = all(Some(run), "json", &["--approve", "ask"]);
    let object = json_of(&failed);
    assert_eq!((failed.code(), &object["step"]), (Some(1), &json!("fail")), "{failed:?}");
    assert!(object["outputs"]["show"]["stdout"].as_str().unwrap().contains("OTHER_KEY=***"), "{object:#}");
    for args in [&["list"][..], &["show", run]] {
        let told = desk.runs(args).to_string();
        assert!(KEYS.iter().all(|key| !told.contains(key)), "{told}");
    }

    // What goes on with a run has to have what it was given and gave, and nobody but its owner may read that.
    let record = desk.repository.path().join(".sandcastle/runs").join(run).join("workflow.jsonl");
    let kept = std::fs::read_to_string(&record).unwrap();
    assert!(KEYS.iter().all(|key| kept.contains(key)), "{kept}");
    let mode = std::os::unix::fs::MetadataExt::mode(&record.metadata().unwrap());
    assert_eq!(mode & 0o077, 0, "{mode:o}");
}

#[tokio::test]
async fn a_key_that_is_written_into_a_document_is_refused_and_not_repeated() {
    let desk = Desk::new().await;
    let document = format!(
        "version: \"1.1\"\nmodels:\n  default: {{ provider: openai, name: gpt-4.1, api_key: {KEY} }}\nsteps:\n  - {{ step: ask, type: model, prompt: Hello. }}\n"
    );
    let file = desk.file("flow.yaml", document);
    for format in ["json", "human"] {
        for command in ["check", "run", "graph"] {
            let ended = desk.run(&["--format", format, "workflow", command, file.to_str().unwrap()]);
            assert_eq!(ended.code(), Some(2), "{ended:?}");
            assert!(!ended.stdout.contains(KEY) && !ended.stderr.contains(KEY), "{ended:?}");
        }
    }
}
