//! The programs that `sandcastle init` writes: they are formatted, free of warnings, and do what their templates say.
//!
//! All are built in one workspace below `target/`, so what they depend on is compiled once. To run them, the file that
//! chooses their agents is replaced by one from `tests/fixtures/scaffolds/`, which plays scripts. Most are played without a
//! sandbox, one in bubblewrap, and one in a container of an image that the command built.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::init::{AGENTS, TEMPLATES};
use crate::support::desk::Desk;
use crate::support::engines::{self, Engine};
use crate::support::process::{Finished, Invocation};
use crate::support::requirement::variable;

/// The sandboxes that the library has. A row lets its scaffolds be compiled.
const SANDBOXES: &[&str] = &["none", "docker", "podman", "bubblewrap"];

/// How long cargo may take to compile everything.
const COMPILING: Duration = Duration::from_secs(900);

/// The sources of this package.
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Where scaffolds are built.
fn workshop() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("scaffolds")
}

/// A tool of Rust, with the environment that it needs.
fn tool(program: &str, folder: &Path) -> Invocation {
    let needed = ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];
    let given = needed.into_iter().filter_map(|key| Some((key.to_owned(), variable(key)?)));
    let target = workshop().join("target").display().to_string();
    Invocation::new(program, folder)
        .environment(given)
        .environment([
            ("CARGO_TARGET_DIR".to_owned(), target),
            ("CARGO_INCREMENTAL".to_owned(), "0".to_owned()),
        ])
        .patience(COMPILING)
}

fn cargo(folder: &Path, args: &[&str]) -> Finished {
    tool(env!("CARGO"), folder).arguments(args).run()
}

/// Makes a scaffold and returns its files.
async fn scaffold(flags: &[&str]) -> BTreeMap<String, String> {
    let desk = Desk::new().await;
    let made = desk.scaffolded(flags);
    let files = made["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap());
    files.map(|file| (file.to_owned(), desk.part(file))).collect()
}

/// Puts scaffolds into one workspace.
fn assemble(workspace: &Path, members: &[(String, BTreeMap<String, String>)]) {
    let names: Vec<String> = members.iter().map(|(name, _)| format!("{name:?}")).collect();
    // Nobody debugs these.
    let manifest = "resolver = \"3\"\n\n[profile.dev]\ndebug = false\n";
    let manifest = format!("[workspace]\nmembers = [{}]\n{manifest}", names.join(", "));
    write(&workspace.join("Cargo.toml"), &manifest);
    write(&workspace.join("Cargo.lock"), &fs::read_to_string(Path::new(ROOT).join("Cargo.lock")).unwrap());
    for (name, files) in members {
        for (path, content) in files {
            let content = match path.as_str() {
                "Cargo.toml" => content.replace("sandcastle-project", name).replace("\n[workspace]\n", ""),
                _ => content.clone(),
            };
            write(&workspace.join(name).join(path), &content);
        }
    }
}

/// Writes a file, unless it is like that: cargo goes by times. Other tests may do the same at the same time, so it is whole
/// at every moment.
fn write(path: &Path, content: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(content) {
        let folder = path.parent().unwrap();
        fs::create_dir_all(folder).unwrap();
        let mut file = tempfile::NamedTempFile::new_in(folder).unwrap();
        file.write_all(content.as_bytes()).unwrap();
        file.persist(path).unwrap();
    }
}

#[tokio::test]
async fn row_187_every_scaffold_is_formatted_and_agents_differ_only_where_they_should() {
    for template in TEMPLATES {
        let first = scaffold(&["--template", template, "--agent", AGENTS[0]]).await;
        for agent in AGENTS {
            let files = scaffold(&["--template", template, "--agent", agent]).await;
            assert!(files.keys().eq(first.keys()), "{template} {agent}");
            for (path, content) in &files {
                assert!(!content.contains("<%") && !content.contains("%>"), "{template} {agent}: {path}");
                let is_its_own = ["src/agents.rs", ".env.example"].contains(&path.as_str());
                // Whom nobody can ask again has no retries.
                let expected = match agent {
                    "cursor" => first[path].replace(", max_retries = 2", ""),
                    _ => first[path].clone(),
                };
                assert!(is_its_own || *content == expected, "{template} {agent}: {path}");
            }
            assert_formatted(&files);
        }
    }
}

#[tokio::test]
async fn row_187_the_scaffold_of_every_sandbox_is_formatted() {
    for sandbox in SANDBOXES {
        for template in TEMPLATES {
            assert_formatted(&scaffold(&["--template", template, "--sandbox", sandbox]).await);
        }
    }
}

fn assert_formatted(files: &BTreeMap<String, String>) {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        write(&folder.path().join(path), content);
    }
    let ended =
        tool("rustfmt", folder.path()).arguments(["--check", "--edition", "2024", "src/main.rs"]).run();
    assert_eq!(ended.code(), Some(0), "{}{}", ended.stdout, ended.stderr);
}

#[tokio::test]
async fn row_191_every_template_builds_without_a_warning() {
    let mut members = Vec::new();
    // Every template with every sandbox, and every agent with some of them.
    let mut agents = AGENTS.iter().cycle();
    for template in TEMPLATES {
        for (sandbox, agent) in SANDBOXES.iter().zip(agents.by_ref()) {
            let files = scaffold(&["--template", template, "--agent", agent, "--sandbox", sandbox]).await;
            members.push((format!("{template}-{agent}-{sandbox}"), files));
        }
    }
    let workspace = workshop().join("real");
    assemble(&workspace, &members);
    let ended = cargo(&workspace, &["clippy", "--offline", "--quiet", "--", "-D", "warnings"]);
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
}

/// A scaffold lies in a repository that may be a workspace, too.
#[tokio::test]
async fn a_scaffold_is_no_member_of_the_workspace_that_it_lies_in() {
    let desk = Desk::new().await;
    desk.repository.write("Cargo.toml", "[workspace]\nmembers = [\"*\"]\n").unwrap();
    desk.scaffolded(&[]);
    let args = ["metadata", "--offline", "--no-deps", "--format-version", "1"];
    let args = [&args[..], &["--manifest-path", ".sandcastle/Cargo.toml"]].concat();
    let ended = cargo(desk.repository.path(), &args);
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    let metadata: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!(metadata["workspace_root"].as_str().unwrap().ends_with("/.sandcastle"), "{metadata}");
}

/// What a program did in a repository.
struct Played {
    desk: Desk,
    ended: Finished,
}

/// Makes a scaffold whose agents play a script.
async fn scripted(template: &str, flags: &[&str]) -> BTreeMap<String, String> {
    let mut files = scaffold(&[&["--template", template], flags].concat()).await;
    let agents = Path::new(ROOT).join(format!("tests/fixtures/scaffolds/{template}.rs"));
    files.insert("src/agents.rs".to_owned(), fs::read_to_string(agents).unwrap());
    files
}

/// Builds one member of a workspace and returns its program.
fn build(workspace: &str, members: &[(String, BTreeMap<String, String>)], name: &str) -> PathBuf {
    let workspace = workshop().join(workspace);
    assemble(&workspace, members);
    let ended = cargo(&workspace, &["build", "--offline", "--quiet", "--package", name]);
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    workshop().join("target/debug").join(name)
}

/// Builds all templates with scripted agents, once, and plays one.
async fn play(template: &str) -> Played {
    let mut members = Vec::new();
    for template in TEMPLATES {
        members.push((format!("{template}-scripted"), scripted(template, &[]).await));
    }
    let program = build("scripted", &members, &format!("{template}-scripted"));
    let desk = Desk::new().await;
    desk.program(
        "gh",
        "#!/bin/sh\necho \"$@\" >>\"$HOME/asked\"\necho '[{\"id\": 1, \"title\": \"One\"}]'\n",
    );
    let played = Played::by(desk, program, BTreeMap::new());
    assert_eq!(played.ended.code(), Some(0), "{}{}", played.ended.stdout, played.ended.stderr);
    played
}

impl Played {
    /// Runs a program at a desk, with a few variables more.
    fn by(desk: Desk, program: PathBuf, environment: BTreeMap<String, String>) -> Self {
        let home = ("HOME".to_owned(), desk.home.path().display().to_string());
        let program = Invocation::new(program, desk.repository.path());
        let ended = desk.with_programs(program.environment(environment).environment([home])).run();
        Self { desk, ended }
    }

    /// How often the issue tracker was asked for what there is to do.
    fn lists(&self) -> usize {
        let asked = fs::read_to_string(self.desk.home.path().join("asked")).unwrap_or_default();
        asked.lines().filter(|line| line.starts_with("issue list ")).count()
    }

    fn said(&self, text: &str) {
        assert!(
            self.ended.stdout.contains(text),
            "{text:?} is not in {}{}",
            self.ended.stdout,
            self.ended.stderr
        );
    }
}

#[tokio::test]
async fn row_191_blank_does_one_task() {
    let played = play("blank").await;
    played.said("done: It is written.\n1 commits on main\n");
    assert_eq!(played.desk.subjects("main").await, ["Do the task", "begin"]);
    assert_eq!(played.lists(), 0);
    played.desk.assert_whole().await;
}

#[tokio::test]
async fn row_191_simple_loop_merges_each_round_and_ends_when_nothing_is_left() {
    let played = play("simple-loop").await;
    played.said("1 One: It is done. (1 commits)\nnothing left to do: The list is empty.\n");
    assert_eq!(played.lists(), 2, "once a round");
    assert!(played.desk.has("main", "one.txt").await);
    assert!(played.desk.branches().await.is_empty() && played.desk.worktrees().await.is_empty());
    played.desk.assert_whole().await;
}

#[tokio::test]
async fn row_191_sequential_reviewer_has_both_work_in_one_sandbox_on_a_branch() {
    let played = play("sequential-reviewer").await;
    played.said("1 One\n  implemented on sandcastle/sequential-reviewer/");
    played.said("  approved\n  - Said more clearly.\nnothing was implemented: The list is empty.\n");
    assert_eq!(played.desk.subjects("main").await, ["begin"], "merging is left to a person");
    let mut reviewed = Vec::new();
    for branch in played.desk.branches().await {
        assert!(branch.starts_with("sandcastle/sequential-reviewer/"), "{branch}");
        reviewed.push(played.desk.subjects(&branch).await);
    }
    assert!(
        reviewed.contains(&["Review one", "Implement one", "begin"].map(str::to_owned).to_vec()),
        "{reviewed:?}"
    );
    assert!(played.desk.worktrees().await.is_empty());
}

#[tokio::test]
async fn row_191_parallel_planner_works_on_some_at_once_and_merges_all() {
    let played = play("parallel-planner").await;
    for id in 1..=6 {
        assert!(played.desk.has("main", &format!("{id}.txt")).await, "issue {id} is not merged");
        played.said(&format!("{id}: 1 commits on sandcastle/issue-{id}\n"));
    }
    played.said("merged: sandcastle/issue-1, and others\nnot merged: none: none\nnothing left to do\n");
    assert_eq!(played.lists(), 2, "once a plan, however often it is corrected");
    let at_once = fs::read_to_string(played.desk.home.path().join("at-once")).unwrap();
    let most = at_once.lines().map(|line| line.trim().parse::<u32>().unwrap()).max();
    assert!((2..=4).contains(&most.unwrap()), "{at_once}");
    assert!(played.desk.worktrees().await.is_empty());
    played.desk.assert_whole().await;
}

#[tokio::test]
async fn row_191_parallel_planner_with_review_reviews_what_was_implemented() {
    let played = play("parallel-planner-with-review").await;
    played.said("1: not approved\n1: - Ask somebody.\n");
    played.said("2: no commits\n");
    played.said("1: 3 commits on sandcastle/issue-1\nmerged: sandcastle/issue-1\nnothing left to do\n");
    let subjects = played.desk.subjects("main").await;
    let work = "Work on sandcastle/issue-1";
    assert_eq!(subjects, ["Review", work, work, "begin"], "an implementer is sent back until nothing comes");
    assert!(played.desk.worktrees().await.is_empty());
}

/// In one sandbox with two agents; the list of tasks is made inside, where no program of a home folder is seen.
#[tokio::test]
async fn row_191_a_scaffold_works_in_bubblewrap() {
    if engines::bubblewrap().is_none() {
        return;
    }
    let name = "sequential-reviewer-bubblewrap".to_owned();
    let mut files = scripted("sequential-reviewer", &["--sandbox", "bubblewrap"]).await;
    let prompt = files.get_mut("prompts/implement.md").unwrap();
    let command = prompt.split("!`").nth(1).and_then(|rest| rest.split('`').next()).unwrap().to_owned();
    *prompt =
        prompt.replace(&command, "test \"$HOME\" = /home/agent && echo '[{\"id\": 1, \"title\": \"One\"}]'");
    let program = build(&name, &[(name.clone(), files)], &name);
    let played = Played::by(Desk::new().await, program, BTreeMap::new());
    played.said("1 One\n  implemented on sandcastle/sequential-reviewer/");
    played.said("  approved\n  - Said more clearly.\nnothing was implemented: The list is empty.\n");
    assert_eq!(played.desk.subjects("main").await, ["begin"]);
    assert!(played.desk.worktrees().await.is_empty());
    played.desk.assert_whole().await;
}

/// What an image needs to be one for agents; the recipe of a scaffold fetches more than that, from a registry.
const RECIPE: &str = r#"USER 0:0
ARG AGENT_UID=1000
ARG AGENT_GID=1000
RUN mkdir -p /home/own && chown "${AGENT_UID}:${AGENT_GID}" /home/own
ENV HOME=/home/own
USER ${AGENT_UID}:${AGENT_GID}
"#;

#[tokio::test]
async fn row_191_a_scaffold_works_in_a_container_of_its_image() {
    const IMAGE: &str = "sandcastle-scaffold-test:own";
    let Some(engine) = Engine::docker() else { return };
    let name = "blank-docker".to_owned();
    let files = scripted("blank", &["--sandbox", "docker", "--image-name", IMAGE]).await;
    let program = build(&name, &[(name.clone(), files)], &name);
    let desk = Desk::new().await;
    let recipe = desk.file("recipe", format!("FROM {}\n{RECIPE}", engine.image)).display().to_string();
    let image = |desk: &Desk, args: &[&str]| {
        let command = desk.command(&[&["docker"], args, &["--image-name", IMAGE]].concat());
        let ended = command.environment(engine.environment.clone()).run();
        assert_eq!(ended.code(), Some(0), "{ended:?}");
    };
    image(&desk, &["build-image", "--dockerfile", &recipe]);
    let played = Played::by(desk, program, engine.environment.clone());
    image(&played.desk, &["remove-image"]);
    played.said("done: It is written.\n1 commits on main\n");
    assert_eq!(played.desk.subjects("main").await, ["Do the task", "begin"]);
    played.desk.assert_whole().await;
}
