//! The file that a program reads the schema of its answer from: where it is, who may read it, and that it goes.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::process::Signal;
use sandcastle::agent::SchemaDelivery;
use sandcastle::sandbox::{Program, SandboxProvider};
use sandcastle::testing::{Script, Scripted, Turn};
use sandcastle::{
    AgentEvent, Bubblewrap, CancellationToken, ErrorKind, Logging, NoSandbox, OutputStrategy, RunEvent,
    SandboxOptions, Stage,
};
use serde_json::{Value, json};

use super::native::{UNTAGGED, gives, stage_of};
use super::{Bench, N, say};
use crate::support::desk::Desk;
use crate::support::engines;
use crate::support::processes::UniqueSleep;

use OutputStrategy::Native;

/// Where the schema goes by a file, that is not in the work tree, nobody else may read it, and it goes with the run.
#[tokio::test]
async fn the_file_of_a_schema_is_private_and_does_not_stay() {
    for end in [gives(json!({ "n": 5 })), say("nothing")] {
        let bench = Bench::new().await;
        let temporary = tempfile::tempdir().unwrap();
        let seen = bench.state.path().join("seen");
        let look = format!("find \"$TMPDIR\" -mindepth 1 -printf '%m %P\\n' | sort >'{}'", seen.display());
        let turn = end.shell(look).shell("test -z \"$(git status --porcelain)\"");
        let agent = bench.taking(SchemaDelivery::File, [turn]);
        let options = bench.asked(agent, Native, UNTAGGED).env("TMPDIR", temporary.path());
        let ended = sandcastle::run_with::<N>(options).await;
        assert_eq!(ended.is_err(), ended.is_err_and(|error| stage_of(&error) == Stage::Missing));
        let seen = std::fs::read_to_string(seen).unwrap();
        let lines: Vec<_> = seen.lines().collect();
        let [file, folder] = lines.as_slice() else { panic!("{seen}") };
        assert!(file.starts_with("600 sandcastle-schema-") && file.ends_with("/schema.json"), "{seen}");
        assert!(folder.starts_with("700 sandcastle-schema-"), "{seen}");
        assert_eq!(left_in(temporary.path()), 0);
    }
}

/// Not even one that leads there by a link.
#[tokio::test]
async fn a_temporary_folder_in_the_work_tree_is_no_place_for_a_schema() {
    let bench = Bench::new().await;
    let inside = bench.repository.path().join("tmp");
    std::fs::create_dir(&inside).unwrap();
    let link = bench.state.path().join("link");
    std::os::unix::fs::symlink(&inside, &link).unwrap();
    for temporary in [inside.clone(), link, bench.repository.path().join("none/../tmp"), "tmp".into()] {
        let everything = "git add --all --force . && git commit -q --allow-empty -m All";
        let turn = gives(json!({ "n": 5 })).shell("test -z \"$(ls tmp)\"").shell(everything);
        let agent = bench.taking(SchemaDelivery::File, [turn]);
        let options = bench.asked(agent, Native, UNTAGGED).env("TMPDIR", &temporary);
        sandcastle::run_with::<N>(options).await.unwrap();
        let committed = bench.git(["log", "--all", "--name-only", "--format="]).await;
        assert!(!committed.contains("schema"), "{}: {committed}", temporary.display());
    }
}

/// What makes the folder is whatever the search path leads to, and what is there is removed later.
#[tokio::test]
async fn a_link_in_the_place_of_the_folder_goes_and_not_what_it_leads_to() {
    let bench = Bench::new().await;
    let programs = tempfile::tempdir().unwrap();
    let precious = programs.path().join("precious");
    std::fs::create_dir(&precious).unwrap();
    std::fs::write(precious.join("kept"), "1").unwrap();
    let liar = programs.path().join("mkdir");
    let script = format!(
        "#!/bin/sh\ncase $2 in *sandcastle-schema-*) exec ln -s '{}' \"$2\" ;; esac\nexec /bin/mkdir \"$@\"\n",
        precious.display()
    );
    std::fs::write(&liar, script).unwrap();
    std::fs::set_permissions(&liar, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", programs.path().display());
    let temporary = tempfile::tempdir().unwrap();
    let agent = bench.taking(SchemaDelivery::File, [gives(json!({ "n": 5 }))]);
    let options = bench.asked(agent, Native, UNTAGGED).env("PATH", &path).env("TMPDIR", temporary.path());
    sandcastle::run_with::<N>(options).await.unwrap();
    assert_eq!(left_in(temporary.path()), 0);
    assert!(precious.join("kept").exists() && precious.join("schema.json").exists());
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_said_and_nothing_is_asked() {
    let bench = Bench::new().await;
    let temporary = tempfile::tempdir().unwrap();
    std::fs::set_permissions(temporary.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
    let full = bench.state.path().join("mkdir");
    std::fs::write(&full, "#!/bin/sh\necho no room >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&full, std::fs::Permissions::from_mode(0o755)).unwrap();
    let agent = bench.taking(SchemaDelivery::File, [gives(json!({ "n": 5 }))]);
    let path = format!("{}:/usr/bin:/bin", bench.state.path().display());
    let options = bench.asked(agent, Native, UNTAGGED).env("PATH", path).env("TMPDIR", temporary.path());
    let error = sandcastle::run_with::<N>(options).await.unwrap_err();
    assert_eq!((error.kind(), bench.sessions()), (ErrorKind::Sandbox, 0), "{error:#}");
    assert!(error.to_string().contains("no room"), "{error}");
}

#[tokio::test]
async fn a_cancelled_run_leaves_no_schema_behind_also_in_a_sandbox_that_goes_on() {
    let mut sandboxes: Vec<Arc<dyn SandboxProvider>> = vec![Arc::new(NoSandbox::new())];
    if engines::bubblewrap().is_some() {
        sandboxes.push(Arc::new(Bubblewrap::new()));
    }
    for provider in sandboxes {
        let bench = Bench::new().await;
        let options = SandboxOptions::shared(provider).cwd(bench.repository.path());
        let sandbox = sandcastle::create_sandbox(options).await.unwrap();
        let token = CancellationToken::new();
        let state = bench.repository.path().join("state");
        let script = Script::new().native(SchemaDelivery::File).turn(Turn::new().say("x").hang());
        let cancel = token.clone();
        let run = sandbox
            .options(Scripted::new(script).state_dir(&state))
            .prompt(UNTAGGED)
            .output_strategy(Native)
            .logging(Logging::off())
            .cancel(token)
            .on_event(move |event| {
                if matches!(event, RunEvent::Agent { event: AgentEvent::Text { .. } }) {
                    cancel.cancel();
                }
            });
        let error = sandbox.run_with::<N>(run).await.unwrap_err();
        assert!(error.is_cancelled(), "{error:#}");
        let run = error.work().unwrap().run_id.as_ref().unwrap();
        let look = format!("ls -d \"${{TMPDIR:-/tmp}}\"/sandcastle-schema-{run}");
        let looked = sandbox.exec(Program::new("sh").args(["-c", &look])).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&looked.stdout), "");
        sandbox.close().await.unwrap();
    }
}

/// A dropped run cannot wait for anything, and leaves no file all the same.
#[tokio::test]
async fn a_dropped_run_leaves_no_schema_behind() {
    let bench = Bench::new().await;
    let temporary = tempfile::tempdir().unwrap();
    let agent = bench.taking(SchemaDelivery::File, [Turn::new().hang()]);
    let options = bench.asked(agent, Native, UNTAGGED).env("TMPDIR", temporary.path());
    let run = sandcastle::run_with::<N>(options);
    let waited = async {
        while bench.sessions() == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        left_in(temporary.path())
    };
    let there = tokio::select! {
        ended = run => panic!("{ended:?}"),
        there = waited => there,
    };
    assert_eq!((there, left_in(temporary.path())), (1, 0));
}

/// A command that has run to the moment at which its agent has read the schema.
struct Killed {
    desk: Desk,
    temporary: PathBuf,
    sleep: UniqueSleep,
    run: String,
}

impl Killed {
    /// Kills the command alone, as the out-of-memory killer does.
    async fn in_sandbox(sandbox: &str) -> Self {
        let (desk, sleep) = (Desk::new().await, UniqueSleep::new());
        let temporary = desk.home.path().join("tmp");
        std::fs::create_dir(&temporary).unwrap();
        let schema = desk.file("schema", r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#);
        let moment = format!("sleep {}", sleep.seconds());
        let script = json!({ "native": "file", "turns": [{ "steps": [{ "shell": moment }] }] });
        let flags = ["--prompt", "Count.", "--tag", "result", "--strategy", "native", "--sandbox", sandbox];
        let more = ["--branch-strategy", "merge-to-head", "--schema", schema.to_str().unwrap()];
        let command = desk.play(&script, &[&flags[..], &more].concat());
        let command = command.environment([("TMPDIR".to_owned(), temporary.display().to_string())]);
        let running = command.start();
        sleep.wait_for(1).await;
        running.signal(Signal::KILL);
        assert_eq!(running.finish().signal(), Some(9));
        let run = desk.runs(&["list"])["runs"][0]["id"].as_str().unwrap().to_owned();
        Self { desk, temporary, sleep, run }
    }

    /// What of the schema is where an agent, git or a person could come across it.
    fn found(&self) -> Vec<PathBuf> {
        let everywhere = [self.desk.repository.path(), &self.temporary, &std::env::temp_dir()];
        let mut found: Vec<_> = everywhere.into_iter().flat_map(|folder| self.below(folder, 6)).collect();
        found.dedup();
        found
    }

    fn below(&self, folder: &Path, depth: u32) -> Vec<PathBuf> {
        let is_ours =
            |path: &Path| path.to_string_lossy().contains(&format!("sandcastle-schema-{}", self.run));
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let (mut found, mut folders) = (Vec::new(), Vec::new());
        for path in entries.map(|entry| entry.path()) {
            match path.is_dir() && !path.is_symlink() {
                _ if is_ours(&path) => found.push(path),
                true if depth > 0 && folder != std::env::temp_dir() => folders.push(path),
                _ => {}
            }
        }
        found.extend(folders.iter().flat_map(|folder| self.below(folder, depth - 1)));
        found
    }
}

#[tokio::test]
async fn the_schema_of_a_killed_run_is_in_no_work_tree_and_goes_when_that_is_cleaned() {
    let killed = Killed::in_sandbox("none").await;
    let folder = killed.temporary.join(format!("sandcastle-schema-{}", killed.run));
    assert_eq!(killed.found(), std::slice::from_ref(&folder));
    let shown = killed.desk.runs(&["show", &killed.run]);
    assert_eq!(shown["scratch"], json!(folder), "{shown}");

    // The agent may still read it.
    killed.desk.runs(&["clean"]);
    assert_eq!((killed.sleep.alive(), killed.found()), (1, vec![folder]));
    killed.desk.runs(&["recover", &killed.run]);
    let cleaned = killed.desk.runs(&["clean", &killed.run, "--force"]);
    assert!(cleaned["removed"].to_string().contains("sandcastle-schema-"), "{cleaned}");
    assert_eq!((killed.sleep.alive(), killed.found()), (0, vec![]));
    assert_eq!(killed.desk.runs(&["list"])["runs"], json!([]));
}

/// It is in the private folder of the sandbox, which the next one removes.
#[tokio::test]
async fn the_schema_of_a_killed_run_goes_with_its_bubblewrap() {
    if engines::bubblewrap().is_none() {
        return;
    }
    let killed = Killed::in_sandbox("bubblewrap").await;
    let private = killed.temporary.join("sandcastle-bwrap-");
    let is_private = |found: &PathBuf| found.to_string_lossy().starts_with(&*private.to_string_lossy());
    assert!(killed.found().iter().all(is_private), "{:?}", killed.found());
    assert_eq!(killed.desk.runs(&["show", &killed.run])["scratch"], Value::Null);
    let next = json!({ "turns": [{ "steps": [{ "say": "hello" }] }] });
    let next = killed.desk.play(&next, &["--prompt", "Say hello.", "--sandbox", "bubblewrap"]);
    let next = next.environment([("TMPDIR".to_owned(), killed.temporary.display().to_string())]).run();
    assert_eq!((next.code(), killed.found()), (Some(0), vec![]), "{}", next.stderr);
}

fn left_in(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}
