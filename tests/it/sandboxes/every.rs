//! What is true of every sandbox that is built in: it does what a sandbox does, and whole runs work in it.

use std::sync::Arc;

use sandcastle::agent::SchemaDelivery;
use sandcastle::sandbox::{Isolated, Program, SandboxProvider, Ssh};
use sandcastle::testing::{ScratchRepo, Script, Scripted, Turn, sandbox_conformance_in};
use sandcastle::{
    AnswerGuarantee, BranchStrategy, Bubblewrap, Docker, ErrorKind, Logging, NoSandbox, OutputStrategy,
    Podman, RunOptions, SandboxOptions, create_sandbox,
};
use serde_json::json;

use crate::run::Retried;
use crate::support::engines::{self, Engine};

/// A kind of sandbox, as tests make it.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) provider: Arc<dyn SandboxProvider>,
}

/// Those that are here. One that is missing is skipped by name, or fails where it is required.
pub(super) fn kinds() -> Vec<Kind> {
    let mut kinds = vec![kind("none", NoSandbox::new())];
    kinds.extend(engines::bubblewrap().map(|_| kind("bubblewrap", Bubblewrap::new())));
    kinds.extend(Engine::docker().map(|engine| kind("docker", docker(&engine))));
    kinds.extend(Engine::podman().map(|engine| kind("podman", podman(&engine))));
    kinds.extend(Engine::remote_docker().map(|engine| kind("remote docker", Isolated::new(docker(&engine)))));
    kinds.extend(
        engines::Ssh::user().map(|ssh| {
            kind("ssh", Isolated::new(Ssh::new(ssh.host).program(ssh.program).config(ssh.config)))
        }),
    );
    kinds
}

pub(super) fn kind(name: &'static str, provider: impl SandboxProvider) -> Kind {
    Kind { name, provider: Arc::new(provider) }
}

pub(super) fn docker(engine: &Engine) -> Docker {
    let docker = Docker::new(&engine.image).program(&engine.program).home("/home/sandcastle");
    engine.environment.iter().fold(docker, |docker, (key, value)| docker.client_env(key, value))
}

pub(super) fn podman(engine: &Engine) -> Podman {
    let podman = Podman::new(&engine.image).program(&engine.program).home("/home/sandcastle");
    engine.environment.iter().fold(podman, |podman, (key, value)| podman.client_env(key, value))
}

impl Kind {
    pub(super) fn run(&self, repository: &ScratchRepo, turn: Turn, strategy: BranchStrategy) -> RunOptions {
        RunOptions::new(Scripted::new(Script::new().turn(turn)), Arc::clone(&self.provider))
            .cwd(repository.path())
            .branch_strategy(strategy)
            .prompt("go")
            .logging(Logging::off())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_does_what_a_sandbox_does() {
    let mut failed = Vec::new();
    for kind in kinds() {
        let repository = ScratchRepo::new().await.unwrap();
        if let Err(error) = sandbox_conformance_in(Arc::clone(&kind.provider), &repository).await {
            failed.push(format!("{}: {error:#}", kind.name));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_commits_in_each_and_with_every_strategy() {
    for kind in kinds() {
        for strategy in
            [BranchStrategy::head(), BranchStrategy::merge_to_head(), BranchStrategy::branch("task")]
        {
            let repository = ScratchRepo::new().await.unwrap();
            let turn = Turn::new().write_file("new.txt", "new\n").commit("made inside").say("done");
            let result = sandcastle::run(kind.run(&repository, turn, strategy)).await;
            let result = result.unwrap_or_else(|error| panic!("{}: {error:#}", kind.name));
            assert_eq!(result.commits.len(), 1, "{}: {:?}", kind.name, result.warnings);
            assert!(result.warnings.is_empty(), "{}: {:?}", kind.name, result.warnings);
            let log = ["log", "-1", "--format=%s|%an", result.branch.as_str()];
            assert_eq!(repository.git(log).await.unwrap(), "made inside|Scratch", "{}", kind.name);
            assert_eq!(repository.git(["status", "--porcelain"]).await.unwrap(), "", "{}", kind.name);
            let branches =
                repository.git(["for-each-ref", "--format=%(refname)", "refs/heads"]).await.unwrap();
            assert!(!branches.contains("refs/heads/sandcastle/"), "{}: {branches}", kind.name);
            let kept = repository.path().join(".sandcastle/sandboxes");
            let kept = std::fs::read_dir(kept).into_iter().flatten().flatten();
            let kept: Vec<_> =
                kept.map(|entry| entry.file_name()).filter(|name| name != ".gitignore").collect();
            assert!(kept.is_empty(), "{}: {kept:?}", kind.name);
        }
    }
}

/// A schema that goes by a file is there in each, for corrections too, and never in the work tree.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_gets_into_each_by_a_file() {
    for kind in kinds() {
        let repository = ScratchRepo::new().await.unwrap();
        let clean = "test -z \"$(git status --porcelain --ignored)\"";
        let script = Script::new()
            .native(SchemaDelivery::File)
            .turn(Turn::new().say("so").structured(json!({ "n": "x" })))
            .turn(Turn::new().shell(clean).say("so").structured(json!({ "n": 5 })));
        let options = RunOptions::new(Scripted::new(script), Arc::clone(&kind.provider))
            .cwd(repository.path())
            .branch_strategy(BranchStrategy::merge_to_head())
            .output_strategy(OutputStrategy::Native)
            .prompt("go")
            .logging(Logging::off());
        let result = sandcastle::run_with::<Retried>(options).await;
        let result = result.unwrap_or_else(|error| panic!("{}: {error:#}", kind.name));
        assert_eq!((result.output.n, result.attempts.len()), (5, 2), "{}", kind.name);
        assert_eq!(result.answer_guarantee, Some(AnswerGuarantee::Native), "{}", kind.name);
        assert!(result.warnings.is_empty(), "{}: {:?}", kind.name, result.warnings);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_dies_costs_an_error_and_nothing_that_came_back() {
    for engine in [Engine::docker(), Engine::podman(), Engine::remote_docker()].into_iter().flatten() {
        let repository = ScratchRepo::new().await.unwrap();
        let provider: Arc<dyn SandboxProvider> =
            match (engine.program.ends_with("podman"), Engine::remote_docker()) {
                (true, _) => Arc::new(podman(&engine)),
                (_, Some(remote)) if remote.environment == engine.environment => {
                    Arc::new(Isolated::new(docker(&engine)))
                }
                _ => Arc::new(docker(&engine)),
            };
        let options = SandboxOptions::shared(provider)
            .cwd(repository.path())
            .branch_strategy(BranchStrategy::branch("task"));
        let sandbox = create_sandbox(options).await.unwrap();
        let kind = Kind { name: "any", provider: Arc::new(sandbox.clone()) };
        let turn = Turn::new().write_file("first.txt", "1\n").commit("first").say("done");
        sandcastle::run(kind.run(&repository, turn, BranchStrategy::head()).cwd(sandbox.worktree()))
            .await
            .unwrap();

        let filter = format!("label=sandcastle.repository={}", repository.path().display());
        let listed = engine.invocation(["ps", "--quiet", "--no-trunc", "--filter", &filter]).run();
        let killed = listed.stdout.trim().to_owned();
        let killer = std::thread::spawn({
            let engine = engine.clone();
            move || {
                std::thread::sleep(std::time::Duration::from_secs(2));
                engine.invocation(["kill", "--signal=KILL", &killed]).run()
            }
        });
        let turn = Turn::new().shell("sleep 60").say("never");
        let error = sandbox
            .options(Scripted::new(Script::new().turn(turn)))
            .prompt("go")
            .logging(Logging::off())
            .await
            .unwrap_err();
        assert_eq!(killer.join().unwrap().code(), Some(0));
        assert!(matches!(error.kind(), ErrorKind::Sandbox | ErrorKind::Sync), "{error:#}");
        assert_eq!(repository.git(["log", "-1", "--format=%s", "task"]).await.unwrap(), "first");
        let _ = sandbox.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shared_one_is_used_by_run_after_run() {
    for kind in kinds() {
        let repository = ScratchRepo::new().await.unwrap();
        let options = SandboxOptions::shared(Arc::clone(&kind.provider))
            .cwd(repository.path())
            .branch_strategy(BranchStrategy::branch("task"));
        let sandbox =
            create_sandbox(options).await.unwrap_or_else(|error| panic!("{}: {error:#}", kind.name));
        for round in ["one", "two"] {
            let turn = Turn::new().write_file(format!("{round}.txt"), "1\n").commit(round).say("done");
            let options =
                sandbox.options(Scripted::new(Script::new().turn(turn))).prompt("go").logging(Logging::off());
            let result = options.await.unwrap_or_else(|error| panic!("{}: {error:#}", kind.name));
            let subjects: Vec<&str> = result.commits.iter().map(|commit| commit.subject.as_str()).collect();
            assert_eq!(subjects, [round], "{}", kind.name);
        }
        let done = sandbox.exec(Program::new("sh").args(["-c", "ls; git log --format=%s"])).await.unwrap();
        let said = String::from_utf8(done.stdout).unwrap();
        assert!(said.starts_with("README.md\none.txt\ntwo.txt\ntwo\none\n"), "{}: {said}", kind.name);
        let closed = sandbox.close().await.unwrap();
        assert_eq!(closed.preserved_worktree, None, "{}: {closed:?}", kind.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_065_sessions_are_kept_in_the_repository_only_where_the_home_goes() {
    for kind in kinds() {
        let repository = ScratchRepo::new().await.unwrap();
        let run = kind.run(&repository, Turn::new().say("done"), BranchStrategy::head());
        sandcastle::run(run).await.unwrap_or_else(|error| panic!("{}: {error:#}", kind.name));
        let is_kept = repository.path().join(".sandcastle/sessions").exists();
        assert_eq!(is_kept, kind.name != "none", "{}", kind.name);
        assert_eq!(repository.git(["status", "--porcelain"]).await.unwrap(), "", "{}", kind.name);
    }
}
