//! What every sandbox has to do, checked on one.
//!
//! Each check stands for something that a run relies on. All are made, and all that fail are named.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::{Duration, Instant};

use crate::agent::StopRequest;
use crate::error::{Error, ErrorKind, Result};
use crate::run::{Sandbox, SandboxOptions, create_sandbox};
use crate::sandbox::{Output, Program, Running, SandboxProvider};
use crate::testing::ScratchRepo;
use crate::work::Exit;
use crate::worktree::BranchStrategy;

/// How long one check may take.
const LIMIT: Duration = Duration::from_secs(60);

type Check = for<'a> fn(&'a Bench) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;
type Outcome = std::result::Result<(), String>;

/// Every check and what it is called.
const CHECKS: &[(&str, Check)] = &[
    ("both outputs and the exit code come back", |bench| Box::pin(bench.outputs())),
    ("bytes that are no text come back as they are", |bench| Box::pin(bench.bytes())),
    ("a death by signal is not taken for an exit", |bench| Box::pin(bench.signal())),
    ("the standard input arrives, and its end", |bench| Box::pin(bench.input())),
    ("an input that is not read is no error", |bench| Box::pin(bench.unread_input())),
    ("a program that is not there is `NotFound`", |bench| Box::pin(bench.missing())),
    ("arguments and variables arrive byte for byte", |bench| Box::pin(bench.words())),
    ("a variable stands in no argument on this host", |bench| Box::pin(bench.secret())),
    ("programs start in the work tree, or where they are told", |bench| Box::pin(bench.folders())),
    ("what is printed comes while the program runs", |bench| Box::pin(bench.streaming())),
    ("8 MiB of output come whole", |bench| Box::pin(bench.flood())),
    ("an end reaches programs that do not stop, and what they started", |bench| Box::pin(bench.ending())),
    ("a dropped program is ended", |bench| Box::pin(bench.dropping())),
    ("two programs run at once", |bench| Box::pin(bench.two())),
    ("a commit that is made inside is on the branch here, with the author of this host", |bench| {
        Box::pin(bench.commit())
    }),
    ("files that are not committed are the same inside and here", |bench| Box::pin(bench.files())),
];

/// Checks that a provider of sandboxes does everything that a run relies on, in a scratch repository.
///
/// It makes one sandbox, around a worktree of its own, and closes it. What is checked: streams, exits, signals, arguments,
/// variables, folders, the end of programs, and that git's work comes back. Whether it keeps anything out is not: that is what
/// a provider is for, and tests of its own have to show it.
///
/// A provider of isolated sandboxes is checked as [`Isolated::new(provider)`](crate::sandbox::Isolated::new).
///
/// # Errors
/// [`ErrorKind::Sandbox`] with every check that failed and what was seen; the error of making or closing it otherwise.
///
/// # Cancel safety
/// Dropping the future ends the sandbox.
///
/// # Examples
/// ```
/// # use sandcastle_core as sandcastle;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> sandcastle::Result<()> {
/// use sandcastle::NoSandbox;
///
/// sandcastle::testing::sandbox_conformance(NoSandbox::new()).await?;
/// # Ok(()) }
/// ```
pub async fn sandbox_conformance(provider: impl SandboxProvider) -> Result<()> {
    sandbox_conformance_in(provider, &ScratchRepo::new().await?).await
}

/// As [`sandbox_conformance`], in a repository of the caller's, where it has to belong to somebody else or lie somewhere else.
///
/// # Errors
/// As there.
///
/// # Cancel safety
/// As there; the worktree stays.
pub async fn sandbox_conformance_in(provider: impl SandboxProvider, repository: &ScratchRepo) -> Result<()> {
    let options = SandboxOptions::new(provider)
        .cwd(repository.path())
        .branch_strategy(BranchStrategy::branch("sandbox-conformance"));
    let sandbox = create_sandbox(options).await?;
    let bench = Bench { sandbox, repository: repository.path().to_path_buf() };
    let mut failed = Vec::new();
    for (name, check) in CHECKS {
        let outcome = tokio::time::timeout(LIMIT, check(&bench)).await;
        if let Err(seen) = outcome.unwrap_or_else(|_| Err(format!("nothing within {LIMIT:?}"))) {
            failed.push(format!("{name}: {seen}"));
        }
    }
    bench.sandbox.close().await?;
    if failed.is_empty() {
        return Ok(());
    }
    let count = format!("{} of {}", failed.len(), CHECKS.len());
    Err(Error::new(
        ErrorKind::Sandbox,
        format!("do what every sandbox does ({count}):\n- {}", failed.join("\n- ")),
    ))
}

struct Bench {
    sandbox: Sandbox,
    repository: PathBuf,
}

/// What a program did.
#[derive(Debug)]
struct Done {
    exit: Exit,
    stdout: Vec<u8>,
    stderr: String,
}

impl Done {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end().to_owned()
    }
}

fn shell(script: &str) -> Program {
    Program::new("sh").args(["-c", script])
}

fn expect(is_so: bool, seen: impl std::fmt::Debug) -> Outcome {
    if is_so { Ok(()) } else { Err(format!("{seen:?}")) }
}

fn failed(error: &io::Error) -> String {
    error.to_string()
}

impl Bench {
    async fn start(&self, program: Program) -> io::Result<Running> {
        self.sandbox.handle().start(program).await
    }

    async fn play(&self, program: Program) -> std::result::Result<Done, String> {
        let mut running = self.start(program).await.map_err(|error| failed(&error))?;
        let mut stdout = Vec::new();
        let status = loop {
            match running.next().await.map_err(|error| failed(&error))? {
                Output::Stdout(bytes) => stdout.extend_from_slice(bytes),
                Output::Exited(status) => break status,
            }
        };
        running.sweep().await;
        Ok(Done { exit: Exit::from(status), stdout, stderr: running.stderr().text() })
    }

    /// Runs a program until it has printed something, and returns it running.
    async fn until_it_speaks(&self, script: &str) -> std::result::Result<Running, String> {
        let mut running = self.start(shell(script)).await.map_err(|error| failed(&error))?;
        match running.next().await.map_err(|error| failed(&error))? {
            Output::Stdout(_) => Ok(running),
            Output::Exited(status) => Err(format!("it ended with {status}")),
        }
    }

    async fn outputs(&self) -> Outcome {
        let done = self.play(shell("echo out; echo err >&2; exit 3")).await?;
        expect((done.exit, done.text().as_str(), done.stderr.trim()) == (Exit::Code(3), "out", "err"), done)
    }

    async fn bytes(&self) -> Outcome {
        let done = self.play(shell(r"printf '\377\000\n\036x'")).await?;
        expect(done.stdout == b"\xff\0\n\x1ex", done)
    }

    async fn signal(&self) -> Outcome {
        let done = self.play(shell("kill -9 $$")).await?;
        expect(done.exit == Exit::Signal(9), done)
    }

    async fn input(&self) -> Outcome {
        let done = self.play(shell("wc -c").stdin(vec![b'x'; 3 << 20])).await?;
        expect(done.text().trim() == (3 << 20).to_string(), &done)?;
        let done = self.play(shell("cat; echo end")).await?;
        expect(done.text() == "end", done)
    }

    async fn unread_input(&self) -> Outcome {
        let done = self.play(shell("echo on").stdin(vec![b'x'; 3 << 20])).await?;
        expect((done.exit, done.text().as_str()) == (Exit::Code(0), "on"), done)
    }

    async fn missing(&self) -> Outcome {
        match self.start(Program::new("sandcastle-no-such-program")).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(format!("{:?}: {error}", error.kind())),
            Ok(_) => Err("it was started".to_owned()),
        }
    }

    async fn words(&self) -> Outcome {
        let word = " a'b\"c\n\n$HOME `x` \\ é *";
        let program = shell("printf '%s|%s' \"$1\" \"$WORD\"").args(["sh", word]).env("WORD", word);
        let done = self.play(program).await?;
        expect(done.stdout == format!("{word}|{word}").into_bytes(), done)
    }

    async fn secret(&self) -> Outcome {
        let secret = format!("s3cret-{:016x}", fastrand::u64(..));
        let program = shell("echo \"${#SECRET}\"; sleep 60").env("SECRET", &secret);
        let mut running = self.start(program).await.map_err(|error| failed(&error))?;
        let spoke = matches!(running.next().await.map_err(|error| failed(&error))?, Output::Stdout(b"23\n"));
        let seen = arguments_of_all().into_iter().find(|arguments| arguments.contains(&secret));
        running.end(StopRequest::default()).await;
        expect(spoke && seen.is_none(), (spoke, seen.map(|arguments| arguments.replace(&secret, "***"))))
    }

    async fn folders(&self) -> Outcome {
        let done = self.play(shell("pwd -P; ls README.md")).await?;
        let worktree = self.sandbox.handle().worktree().to_path_buf();
        expect(done.text().ends_with("README.md"), &done)?;
        let told = self.play(shell("pwd -P").cwd("/")).await?;
        expect(told.text() == "/", (told, worktree))
    }

    async fn streaming(&self) -> Outcome {
        let begun = Instant::now();
        let mut running = self.until_it_speaks("echo first; sleep 30").await?;
        let waited = begun.elapsed();
        running.end(StopRequest::default()).await;
        expect(waited < Duration::from_secs(20), waited)
    }

    async fn flood(&self) -> Outcome {
        let done = self.play(shell("head -c 8388608 /dev/zero")).await?;
        expect(done.stdout.len() == 8 << 20, done.stdout.len())
    }

    async fn ending(&self) -> Outcome {
        let sleep = unique_sleep();
        let script = format!("trap '' TERM INT; setsid sleep {sleep} & sleep {sleep} & echo on; wait; wait");
        let script = script.replace("setsid ", &self.prefix("setsid").await?);
        let mut running = self.until_it_speaks(&script).await?;
        running.end(StopRequest::default()).await;
        self.nothing_sleeps(&sleep).await
    }

    async fn dropping(&self) -> Outcome {
        let sleep = unique_sleep();
        let running =
            self.until_it_speaks(&format!("trap '' TERM; sleep {sleep} & echo on; wait; wait")).await?;
        drop(running);
        self.nothing_sleeps(&sleep).await
    }

    async fn two(&self) -> Outcome {
        let mut one = self.until_it_speaks("echo on; sleep 60").await?;
        let other = self.play(shell("echo beside")).await?;
        one.end(StopRequest::default()).await;
        expect(other.text() == "beside", other)
    }

    async fn commit(&self) -> Outcome {
        let script = "echo made >'näme.txt' && git add -A && git commit -qm 'of the conformance test' && git status --porcelain";
        let done = self.sandbox.exec(shell(script)).await.map_err(|error| format!("{error:#}"))?;
        expect(done.exit.is_success() && done.stdout.is_empty(), &done)?;
        let log = ["log", "-1", "--format=%s|%an", "sandbox-conformance"];
        let log = crate::git::print(&self.repository, log).await.map_err(|error| error.to_string())?;
        let author = crate::git::print(&self.repository, ["config", "user.name"]).await;
        let author = author.map_err(|error| error.to_string())?;
        expect(log == format!("of the conformance test|{author}"), log)?;
        let status = crate::git::print(self.sandbox.worktree(), ["status", "--porcelain"]).await;
        expect(status.as_deref().is_ok_and(str::is_empty), status.map_err(|error| error.to_string()))
    }

    async fn files(&self) -> Outcome {
        let script =
            "printf 'x' >loose && ln -s loose link && mkdir -p deep/er && printf '\\000' >deep/er/file";
        let done = self.sandbox.exec(shell(script)).await.map_err(|error| format!("{error:#}"))?;
        let top = self.sandbox.worktree();
        let deep = std::fs::read(top.join("deep/er/file")).ok();
        let link = std::fs::read_link(top.join("link")).ok();
        let is_so = deep.as_deref() == Some(b"\0") && link.as_deref() == Some(Path::new("loose"));
        expect(is_so, (done, deep, link))
    }

    /// Says how a tool is called, if it is there.
    async fn prefix(&self, tool: &str) -> std::result::Result<String, String> {
        let done = self.play(shell(&format!("command -v {tool}"))).await?;
        Ok(if done.exit.is_success() { format!("{tool} ") } else { String::new() })
    }

    /// Looks inside and here for a sleep that should have ended.
    async fn nothing_sleeps(&self, sleep: &str) -> Outcome {
        let look = "for file in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <\"$file\"; echo; done 2>/dev/null";
        let inside = self.play(shell(look)).await?;
        let wanted = format!("sleep {sleep}");
        let is_there = |text: &str| text.lines().any(|line| line.trim_end() == wanted);
        let here = arguments_of_all().iter().any(|arguments| is_there(arguments));
        expect(!is_there(&inside.text()) && !here, "it still sleeps")
    }
}

/// Names a number of seconds that nobody else sleeps.
fn unique_sleep() -> String {
    format!("{}.{:09}", fastrand::u32(1_000..9_999), fastrand::u32(1..1_000_000_000))
}

/// Lists the arguments of every process that this one can see; none where there is no `/proc`.
fn arguments_of_all() -> Vec<String> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let arguments = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    arguments.map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " ")).collect()
}
