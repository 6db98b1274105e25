//! `sandcastle init`: what it asks, refuses and says. What it writes is looked at by `scaffold_files`, built and run by
//! `scaffolds`.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::desk::{Desk, json_of};
use crate::support::process::{Finished, Invocation};
use crate::support::terminal::{CTRL_C, Terminal};

/// The flags without which there would be questions.
const NEEDED: [(&str, &str); 4] = [
    ("--agent", "claude-code"),
    ("--sandbox", "none"),
    ("--issue-tracker", "github-issues"),
    ("--template", "blank"),
];

pub(super) const TEMPLATES: [&str; 5] =
    ["blank", "simple-loop", "sequential-reviewer", "parallel-planner", "parallel-planner-with-review"];

pub(super) const AGENTS: [&str; 7] =
    ["claude-code", "codex", "pi", "opencode", "gemini", "copilot", "cursor"];

impl Desk {
    /// The command that makes a scaffold, with these flags in place of those that are needed.
    pub(super) fn init(&self, flags: &[&str]) -> Invocation {
        let mut all = vec!["--format", "json", "init", "--sandcastle-path", env!("CARGO_MANIFEST_DIR")];
        all.extend(flags);
        for (flag, value) in NEEDED {
            if !flags.contains(&flag) {
                all.extend([flag, value]);
            }
        }
        self.command(&all)
    }

    pub(super) fn scaffolded(&self, flags: &[&str]) -> Value {
        let ended = self.init(flags).run();
        assert_eq!(ended.code(), Some(0), "{flags:?}: {ended:?}");
        json_of(&ended)
    }

    /// A file of the scaffold.
    pub(super) fn part(&self, path: &str) -> String {
        let path = self.repository.path().join(".sandcastle").join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub(super) fn has_part(&self, path: &str) -> bool {
        self.repository.path().join(".sandcastle").join(path).exists()
    }
}

fn message(ended: &Finished) -> String {
    let error = &json_of(ended)["error"];
    format!("{} {}", error["message"].as_str().unwrap(), error["hints"])
}

#[tokio::test]
async fn case_196_without_a_terminal_the_missing_flags_are_named_at_once() {
    let desk = Desk::new().await;
    let begun = Instant::now();
    let ended = desk.run(&["--format", "json", "init"]);
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    for (flag, _) in NEEDED {
        assert!(message(&ended).contains(&format!("`{flag}`")), "{flag}: {ended:?}");
    }
    for (missing, _) in NEEDED {
        let given =
            NEEDED.iter().filter(|(flag, _)| *flag != missing).flat_map(|(flag, value)| [*flag, value]);
        let ended = desk.run(&["--format", "json", "init"].into_iter().chain(given).collect::<Vec<_>>());
        assert_eq!(ended.code(), Some(2), "{ended:?}");
        for (flag, _) in NEEDED {
            assert_eq!(message(&ended).contains(&format!("`{flag}`")), flag == missing, "{ended:?}");
        }
    }
    assert!(!desk.repository.path().join(".sandcastle").exists());
}

#[tokio::test]
async fn row_183_what_cannot_be_chosen_is_refused_with_what_can() {
    let desk = Desk::new().await;
    for (flag, known) in [
        ("--agent", &AGENTS[..]),
        ("--sandbox", &["none", "docker", "podman", "bubblewrap"]),
        ("--issue-tracker", &["github-issues", "beads", "custom"]),
        ("--template", &TEMPLATES),
    ] {
        let ended = desk.init(&[flag, "nonsense"]).run();
        assert_eq!(ended.code(), Some(2), "{ended:?}");
        let message = message(&ended);
        assert!(message.contains("nonsense"), "{message}");
        assert!(known.iter().all(|name| message.contains(name)), "{message}");
    }
    for flags in [
        &["--model", " "][..],
        &["--image-name", "x"],
        &["--build-image", "true"],
        &["--sandbox", "docker", "--image-name", "-x"],
        &["--issue-tracker", "beads", "--create-label", "true"],
        &["--issue-tracker", "custom", "--workflow", "true"],
        &["--sandcastle-git", ""],
    ] {
        let arguments = ["--format", "json", "init"].into_iter().chain(flags.iter().copied());
        let rest =
            NEEDED.iter().filter(|(flag, _)| !flags.contains(flag)).flat_map(|(flag, value)| [*flag, value]);
        let ended = desk.run(&arguments.chain(rest).collect::<Vec<_>>());
        assert_eq!(ended.code(), Some(2), "{flags:?}: {ended:?}");
        assert!(!desk.repository.path().join(".sandcastle").exists(), "{flags:?}");
    }
    let ended = desk.init(&["--cwd", "/"]).run();
    assert_eq!(ended.code(), Some(2), "there is no repository: {ended:?}");
}

#[tokio::test]
async fn row_184_a_scaffold_is_not_overwritten_and_what_runs_left_is_no_obstacle() {
    let desk = Desk::new().await;
    let folder = desk.repository.path().join(".sandcastle");
    for left in ["logs", "runs", "worktrees", "locks"] {
        std::fs::create_dir_all(folder.join(left)).unwrap();
    }
    std::fs::write(folder.join(".env"), "KEY=mine\n").unwrap();
    desk.scaffolded(&[]);
    assert_eq!(desk.part(".env"), "KEY=mine\n");
    let before = desk.part("src/agents.rs");
    let ended = desk.init(&["--agent", "codex"]).run();
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    assert!(message(&ended).contains("a scaffold already"), "{ended:?}");
    assert_eq!(desk.part("src/agents.rs"), before);
    let left = std::fs::read_dir(desk.repository.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(
        !left.into_iter().any(|name| name.to_string_lossy().contains("new")),
        "a half-made folder is left"
    );
}

#[tokio::test]
async fn a_scaffold_belongs_to_the_repository_and_not_to_the_folder_of_the_command() {
    let desk = Desk::new().await;
    let linked = desk.home.path().join("linked");
    desk.git(["worktree", "add", "-q", linked.to_str().unwrap()]).await;
    desk.scaffolded(&["--cwd", linked.to_str().unwrap()]);
    assert!(desk.has_part("Cargo.toml"));
    assert!(!linked.join(".sandcastle").exists() && !linked.join(".github").exists());
}

#[tokio::test]
async fn w_46_strong_and_cheap_models_are_kept_apart_unless_one_is_asked_for() {
    let desk = Desk::new().await;
    let template = ["--template", "parallel-planner-with-review"];
    let made = desk.scaffolded(&template);
    let models = made["models"].as_object().unwrap();
    assert_eq!(models["planner"], models["reviewer"]);
    assert_ne!(models["planner"], models["implementer"]);
    for (role, model) in models {
        let function = format!("pub fn {role}() -> ClaudeCode {{\n    ClaudeCode::new({model})\n}}");
        assert!(desk.part("src/agents.rs").contains(&function), "{function}");
    }
    let desk = Desk::new().await;
    // A name can end no literal.
    let made = desk.scaffolded(&["--template", "parallel-planner", "--model", r#"a"b\"#]);
    assert!(made["models"].as_object().unwrap().values().all(|model| model == r#"a"b\"#), "{made}");
    assert_eq!(desk.part("src/agents.rs").matches(r#"ClaudeCode::new("a\"b\\")"#).count(), 3);
}

#[tokio::test]
async fn w_46_a_label_that_cannot_be_made_is_a_warning() {
    let desk = Desk::new().await;
    desk.program(
        "gh",
        "#!/bin/sh\nprintf '%s\\n' \"$@\" >\"$HOME/said\"\necho 'HTTP 403: no rights' >&2; exit 1\n",
    );
    let ended = desk.with_programs(desk.init(&["--create-label", "true"])).run();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let made = json_of(&ended);
    assert!(made["warnings"][0].as_str().unwrap().contains("no rights"), "{made}");
    assert!(ended.stderr.contains("warning: failed to make the label `Sandcastle`"), "{}", ended.stderr);
    let said = std::fs::read_to_string(desk.home.path().join("said")).unwrap();
    assert!(said.starts_with("label\ncreate\nSandcastle\n"), "{said}");
}

#[tokio::test]
async fn row_182_on_a_terminal_what_no_flag_says_is_asked_for() {
    let desk = Desk::new().await;
    let command = |args: &[&str]| desk.command(args).environment([("TERM".to_owned(), "xterm".to_owned())]);
    let mut terminal =
        Terminal::start(command(&["init", "--issue-tracker", "github-issues", "--template", "blank"]));
    terminal.wait_for("Which agent works?");
    terminal.enter("codex\r");
    // What works is found out before it is offered.
    terminal.wait_for("Where do agents work?");
    terminal.enter("without isolation\r");
    terminal.wait_for("Make the label");
    terminal.enter("n\r");
    let (code, seen) = terminal.finish();
    assert_eq!(code, Some(0), "{seen}");
    assert!(!seen.contains("Build the image") && !seen.contains("How do agents"), "{seen}");
    assert!(desk.part("src/agents.rs").contains("Codex::new("));
    assert!(desk.part("src/sandbox.rs").contains("NoSandbox::new()"));
}

#[tokio::test]
async fn row_182_a_question_that_is_not_answered_leaves_nothing() {
    for key in [CTRL_C, "\x1b"] {
        let desk = Desk::new().await;
        let command = desk.command(&["init"]).environment([("TERM".to_owned(), "xterm".to_owned())]);
        let mut terminal = Terminal::start(command);
        terminal.wait_for("Which agent works?");
        terminal.enter(key);
        let (code, seen) = terminal.finish();
        assert_eq!(code, Some(130), "{seen}");
        assert!(seen.contains("nothing was written"), "{seen}");
        assert!(!desk.repository.path().join(".sandcastle").exists());
    }
}

#[tokio::test]
async fn what_was_made_is_one_object() {
    let desk = Desk::new().await;
    let made = desk.scaffolded(&["--sandbox", "podman", "--image-name", "team/x:1"]);
    for (key, value) in [
        ("agent", json!("claude-code")),
        ("sandbox", json!("podman")),
        ("image", json!("team/x:1")),
        ("image_built", json!(false)),
        ("issue_tracker", json!("github-issues")),
        ("template", json!("blank")),
        ("label", json!(null)),
        ("warnings", json!([])),
    ] {
        assert_eq!(made[key], value, "{key}");
    }
    let next = made["next"].to_string();
    assert!(next.contains("sandcastle podman build-image --image-name team/x:1"), "{next}");
    assert!(next.contains("cargo run --manifest-path .sandcastle/Cargo.toml"), "{next}");
    assert_eq!(
        Path::new(made["folder"].as_str().unwrap()),
        desk.repository.path().canonicalize().unwrap().join(".sandcastle")
    );
}
