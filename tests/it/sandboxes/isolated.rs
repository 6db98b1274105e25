//! Sandboxes that share no files with this host, with a folder of this host in the part of the other machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sandcastle::sandbox::{
    BoxFuture, Inherit, Isolated, IsolatedHandle, IsolatedProvider, Owner, Program, Running, SandboxHandle,
    SandboxProvider, SandboxRequest, Sharing,
};
use sandcastle::testing::{ScratchRepo, Script, Scripted, Turn};
use sandcastle::{
    BranchStrategy, Logging, NoSandbox, Result, RunOptions, SandboxOptions, Timeouts, WorktreeOptions,
    create_sandbox, create_worktree,
};

/// A folder in the part of a machine.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    root: Arc<tempfile::TempDir>,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self { root: Arc::new(tempfile::tempdir().unwrap()) }
    }

    fn workspace(&self) -> PathBuf {
        self.root.path().join("work")
    }
}

impl IsolatedProvider for Machine {
    fn name(&self) -> &str {
        "machine"
    }

    fn create(&self, _: Owner) -> BoxFuture<'_, Result<Arc<dyn IsolatedHandle>>> {
        let room = Room { workspace: self.workspace(), home: self.root.path().join("home") };
        Box::pin(async move {
            std::fs::create_dir_all(&room.home).unwrap();
            Ok(Arc::new(room) as Arc<dyn IsolatedHandle>)
        })
    }
}

#[derive(Debug)]
struct Room {
    workspace: PathBuf,
    home: PathBuf,
}

impl IsolatedHandle for Room {
    fn workspace(&self) -> &Path {
        &self.workspace
    }

    fn home(&self) -> Option<PathBuf> {
        Some(self.home.clone())
    }

    fn start(&self, mut program: Program) -> BoxFuture<'_, std::io::Result<Running>> {
        program.inherit = Inherit::Nothing;
        program.env.splice(
            0..0,
            [("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), self.home.clone().into())],
        );
        Box::pin(async move { Running::start(&program) })
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async {
            std::fs::remove_dir_all(&self.workspace).unwrap();
            Ok(())
        })
    }
}

fn options(repository: &ScratchRepo, turn: Turn, machine: &Machine) -> RunOptions {
    RunOptions::new(Scripted::new(Script::new().turn(turn)), Isolated::new(machine.clone()))
        .cwd(repository.path())
        .prompt("go")
        .logging(Logging::off())
}

#[tokio::test]
async fn it_does_what_every_sandbox_does() {
    sandcastle::testing::sandbox_conformance(Isolated::new(Machine::new())).await.unwrap();
}

#[tokio::test]
async fn a_sandbox_that_does_not_do_it_is_told_what_it_lacks() {
    /// Swallows exits, as a client does that is not asked for them.
    #[derive(Debug)]
    struct Careless;

    #[derive(Debug)]
    struct Room(Arc<dyn SandboxHandle>);

    impl SandboxProvider for Careless {
        fn name(&self) -> &str {
            "careless"
        }

        fn sharing(&self) -> Sharing {
            Sharing::Host
        }

        fn create(&self, request: SandboxRequest) -> BoxFuture<'_, Result<Arc<dyn SandboxHandle>>> {
            Box::pin(async move {
                let inner = SandboxProvider::create(&NoSandbox::new(), request).await?;
                Ok(Arc::new(Room(inner)) as Arc<dyn SandboxHandle>)
            })
        }
    }

    impl SandboxHandle for Room {
        fn worktree(&self) -> &Path {
            self.0.worktree()
        }

        fn home(&self) -> Option<PathBuf> {
            self.0.home()
        }

        fn start(&self, mut program: Program) -> BoxFuture<'_, std::io::Result<Running>> {
            let Program { name, args, .. } = &program;
            let wrapped = Program::new("sh").args(["-c", "\"$@\"; exit 0", "sh"]).args([name]).args(args);
            (program.name, program.args) = (wrapped.name, wrapped.args);
            self.0.start(program)
        }

        fn close(&self) -> BoxFuture<'_, Result<()>> {
            self.0.close()
        }
    }

    let error = sandcastle::testing::sandbox_conformance(Careless).await.unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("exit code") && said.contains("death by signal") && said.contains("NotFound"),
        "{said}"
    );
    assert!(!said.contains("two programs"), "{said}");
}

#[tokio::test]
async fn without_a_sandbox_everything_is_as_in_one() {
    sandcastle::testing::sandbox_conformance(NoSandbox::new()).await.unwrap();
}

#[tokio::test]
async fn commits_come_back_on_every_strategy() {
    for strategy in [BranchStrategy::head(), BranchStrategy::merge_to_head(), BranchStrategy::branch("task")]
    {
        let repository = ScratchRepo::new().await.unwrap();
        let machine = Machine::new();
        let turn = Turn::new().write_file("new.txt", "new\n").commit("made elsewhere").say("done");
        let result =
            sandcastle::run(options(&repository, turn, &machine).branch_strategy(strategy)).await.unwrap();
        assert_eq!(result.commits.len(), 1, "{:?}", result.warnings);
        let branch = result.branch.as_str();
        let subject = repository.git(["log", "-1", "--format=%s", branch]).await.unwrap();
        assert_eq!(subject, "made elsewhere");
        assert_eq!(repository.git(["status", "--porcelain"]).await.unwrap(), "");
        assert!(result.warnings.is_empty(), "{:?}", result.warnings);
        assert!(!machine.workspace().exists());
        let kept = std::fs::read_dir(repository.path().join(".sandcastle/sandboxes")).unwrap();
        assert_eq!(kept.filter(|entry| entry.as_ref().unwrap().file_name() != ".gitignore").count(), 0);
    }
}

#[tokio::test]
async fn w_26_w_42_w_59_uncommitted_work_travels_both_ways_and_again() {
    let repository = ScratchRepo::new().await.unwrap();
    repository.write("kept.txt", "changed here\n").unwrap();
    repository.write("näme \"with\" quotes\n.bin", b"\0\xff\n").unwrap();
    std::os::unix::fs::symlink("README.md", repository.path().join("link")).unwrap();
    let machine = Machine::new();
    let sandbox = create_sandbox(SandboxOptions::new(Isolated::new(machine.clone())).cwd(repository.path()))
        .await
        .unwrap();
    let inside = machine.workspace();
    assert_eq!(std::fs::read(inside.join("näme \"with\" quotes\n.bin")).unwrap(), b"\0\xff\n");
    assert_eq!(std::fs::read_link(inside.join("link")).unwrap(), Path::new("README.md"));

    let sh = |script: &str| Program::new("sh").args(["-c", script]);
    for round in ["one", "two"] {
        let script = format!(
            "printf {round} >'made {round}.txt'; chmod +x 'made {round}.txt'; printf '\\000{round}' >kept.txt; \
             rm -f link; ln -s nowhere 'link {round}'; git add 'made {round}.txt'"
        );
        let done = sandbox.exec(sh(&script)).await.unwrap();
        assert!(done.exit.is_success(), "{done:?}");
        let here = repository.path();
        assert_eq!(std::fs::read(here.join("kept.txt")).unwrap(), format!("\0{round}").into_bytes());
        assert_eq!(std::fs::read_link(here.join(format!("link {round}"))).unwrap(), Path::new("nowhere"));
        assert!(!here.join("link").exists());
        let made = std::fs::metadata(here.join(format!("made {round}.txt"))).unwrap();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&made.permissions()) & 0o100, 0o100);
        let status = repository.git(["status", "--porcelain", "-z"]).await.unwrap();
        assert!(status.contains(&format!("A  made {round}.txt")), "{status:?}");
    }
    // Nothing was done: nothing comes, and nothing fails.
    sandbox.exec(sh(":")).await.unwrap();
    sandbox.close().await.unwrap();
}

#[tokio::test]
async fn w_42_a_merge_comes_back_as_a_merge() {
    let repository = ScratchRepo::new().await.unwrap();
    let machine = Machine::new();
    let script = "git config user.name a && git config user.email a@example.invalid && \
        git checkout -qb side && echo side >side.txt && git add . && git commit -qm side && git checkout -q - && \
        echo main >main.txt && git add . && git commit -qm main && git merge -q --no-ff -m merged side";
    let sandbox = create_sandbox(SandboxOptions::new(Isolated::new(machine.clone())).cwd(repository.path()))
        .await
        .unwrap();
    let done = sandbox.exec(Program::new("sh").args(["-c", script])).await.unwrap();
    assert!(done.exit.is_success(), "{done:?}");
    let parents = repository.git(["log", "-1", "--format=%P"]).await.unwrap();
    assert_eq!(parents.split(' ').count(), 2);
    assert_eq!(repository.git(["rev-parse", "side"]).await.unwrap(), parents.split(' ').nth(1).unwrap());
    sandbox.close().await.unwrap();
}

#[tokio::test]
async fn w_41_only_the_branch_that_is_worked_on_leaves_this_host() {
    let repository = ScratchRepo::new().await.unwrap();
    repository.git(["checkout", "-qb", "secret"]).await.unwrap();
    repository.write("secret.txt", "s3cret\n").unwrap();
    repository.git(["add", "."]).await.unwrap();
    repository.git(["commit", "-qm", "secret"]).await.unwrap();
    let secret = repository.git(["rev-parse", "HEAD"]).await.unwrap();
    repository.git(["checkout", "-q", "main"]).await.unwrap();
    repository.git(["config", "http.https://example.invalid/.extraheader", "s3cret"]).await.unwrap();
    let machine = Machine::new();
    let sandbox = create_sandbox(SandboxOptions::new(Isolated::new(machine.clone())).cwd(repository.path()))
        .await
        .unwrap();
    let script = format!("git for-each-ref; git config --list; git cat-file -e {secret} || echo hidden");
    let said = sandbox.exec(Program::new("sh").args(["-c", &script])).await.unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("refs/heads/main") && said.contains("hidden"), "{said}");
    assert!(!said.contains("secret") && !said.contains("s3cret"), "{said}");
    sandbox.close().await.unwrap();
}

#[tokio::test]
async fn w_29_what_git_ignores_travels_when_it_is_named() {
    let repository = ScratchRepo::new().await.unwrap();
    for (path, content) in [
        (".gitignore", "/deps\n/ways\n*.secret\n"),
        ("deps/lib/code", "code\n"),
        ("ways/other", "other\n"),
        ("a.secret", "s3cret\n"),
    ] {
        repository.write(path, content).unwrap();
    }
    repository.git(["add", "."]).await.unwrap();
    repository.git(["commit", "-qm", "ignore"]).await.unwrap();
    let strategy = BranchStrategy::branch("task");
    let run = |steps: Turn| {
        options(&repository, steps.say("done"), &Machine::new()).branch_strategy(strategy.clone())
    };
    let seen =
        Turn::new().shell("test \"$(cat deps/lib/code)\" = code && test ! -e a.secret && test ! -e ways");
    let result = sandcastle::run(run(seen).copy_to_worktree(["deps"])).await.unwrap();
    assert_eq!(result.text, "done");

    // The copies belong to the worktree, and each of its sandboxes has them, unless a link leads there by now.
    let made = WorktreeOptions::new().cwd(repository.path()).branch_strategy(strategy);
    let worktree = create_worktree(made.copy_to_worktree(["deps", "ways/other"])).await.unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("other"), "s3cret\n").unwrap();
    std::fs::remove_dir_all(worktree.path().join("ways")).unwrap();
    std::os::unix::fs::symlink(outside.path(), worktree.path().join("ways")).unwrap();
    let sandbox = worktree.create_sandbox(SandboxOptions::new(Isolated::new(Machine::new()))).await.unwrap();
    let done = sandbox.exec(Program::new("cat").args(["deps/lib/code", "ways/other"])).await.unwrap();
    assert_eq!((done.stdout.as_slice(), done.exit.is_success()), (&b"code\n"[..], false));
    sandbox.close().await.unwrap();
}

#[tokio::test]
async fn case_145_a_second_run_brings_its_own_commits() {
    let repository = ScratchRepo::new().await.unwrap();
    let made = SandboxOptions::new(Isolated::new(Machine::new())).cwd(repository.path());
    let sandbox = create_sandbox(made).await.unwrap();
    for round in ["one", "two"] {
        let turn = Turn::new().write_file(format!("{round}.txt"), "1\n").commit(round).say("done");
        let options = sandbox.options(Scripted::new(Script::new().turn(turn))).prompt("go");
        let result = options.logging(Logging::off()).await.unwrap();
        assert_eq!(result.commits.len(), 1, "{:?}", result.commits);
    }
    sandbox.close().await.unwrap();
    assert_eq!(repository.git(["log", "--format=%s"]).await.unwrap(), "two\none\nbegin");
}

#[tokio::test]
async fn w_48_bringing_work_in_has_a_limit_that_can_be_set() {
    let repository = ScratchRepo::new().await.unwrap();
    let limits = Timeouts::new().sandbox_start(Duration::from_millis(1));
    let never = options(&repository, Turn::new().say("never"), &Machine::new()).timeouts(limits);
    let error = sandcastle::run(never).await.unwrap_err();
    assert_eq!(error.kind(), sandcastle::ErrorKind::StepTimeout, "{error:#}");
    assert!(error.to_string().contains("the sandbox `machine` within 1ms"), "{error:#}");
}

#[tokio::test]
async fn w_5_what_cannot_be_brought_back_is_kept_outside_of_the_worktree() {
    let repository = ScratchRepo::new().await.unwrap();
    let machine = Machine::new();
    let sandbox =
        create_sandbox(SandboxOptions::new(Isolated::new(machine)).cwd(repository.path())).await.unwrap();
    // Changed on both sides.
    std::fs::write(repository.path().join("README.md"), "outside\n").unwrap();
    let script = "echo inside >README.md";
    let error = sandbox.exec(Program::new("sh").args(["-c", script])).await.unwrap_err();
    assert_eq!(error.kind(), sandcastle::ErrorKind::Sync, "{error:#}");
    assert_eq!(std::fs::read_to_string(repository.path().join("README.md")).unwrap(), "outside\n");
    let bundle = format!("{error:#}");
    let bundle = bundle.split('`').find(|part| part.ends_with(".bundle")).unwrap().to_owned();
    assert!(Path::new(&bundle).exists() && bundle.contains("/.sandcastle/sandboxes/"), "{bundle}");
    repository.git(["fetch", "-q", &bundle, "refs/*:refs/inside/*"]).await.unwrap();
    let kept = repository.git(["show", "refs/inside/sandcastle/files:README.md"]).await.unwrap();
    assert_eq!(kept, "inside");
}

#[tokio::test]
async fn w_29_files_that_git_ignores_travel_if_they_are_named() {
    let repository = ScratchRepo::new().await.unwrap();
    repository.write(".gitignore", "deps\n").unwrap();
    repository.git(["add", "."]).await.unwrap();
    repository.git(["commit", "-qm", "ignore"]).await.unwrap();
    repository.write("deps/a/b.txt", "of the host\n").unwrap();
    let turn = Turn::new().shell("cp deps/a/b.txt seen.txt").commit("seen").say("done");
    let options = options(&repository, turn, &Machine::new())
        .branch_strategy(BranchStrategy::merge_to_head())
        .copy_to_worktree(["deps"]);
    sandcastle::run(options).await.unwrap();
    assert_eq!(repository.git(["show", "main:seen.txt"]).await.unwrap(), "of the host");
}

#[tokio::test]
async fn w_40_a_workspace_that_holds_something_is_never_replaced() {
    let repository = ScratchRepo::new().await.unwrap();
    let machine = Machine::new();
    std::fs::create_dir_all(machine.workspace()).unwrap();
    std::fs::write(machine.workspace().join("mine"), "mine").unwrap();
    let turn = Turn::new().say("never");
    let error = sandcastle::run(options(&repository, turn, &machine)).await.unwrap_err();
    assert_eq!(error.kind(), sandcastle::ErrorKind::Sync);
    assert!(format!("{error:#}").contains("is not empty"), "{error:#}");
}
