//! One call of git: its environment, its limits, what it may execute, and its errors.
//!
//! Nothing that the repository itself names is executed by a call: settings of fixed names are overruled in every call,
//! and before a call that reads or writes files of a work tree the repository's configuration is read, and what it
//! names with names of its own (filters, drivers, helpers) is overruled too. The user's own configuration is honoured.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::overrides::Overrides;
use super::settings::{Listing, Settings};
use crate::error::{Error, ErrorKind, Result};
use crate::process::{Program, capture_gently};

/// Variables that would point git at another repository, change what it prints, or make it run something.
pub(crate) const DROPPED_VARIABLES: &[&str] = &[
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_QUARANTINE_PATH",
    "GIT_REFLOG_ACTION",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_ATTR_SOURCE",
    "GIT_TRACE",
];

/// Settings that outrank the repository's own in every call.
const HARDENED: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    // What it prints is taken for references of a repository whose objects are borrowed.
    "core.alternateRefsCommand=true",
    // Names that other systems take for `.git` are refused on all.
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "core.quotePath=false",
    // A rescue takes files as they are.
    "core.safecrlf=false",
    // What git says ends up in errors, cut to a length: it has to begin with what is wrong.
    "advice.graftFileDeprecated=false",
    "color.ui=false",
    "log.showSignature=false",
    "merge.verifySignatures=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "tag.forceSignAnnotated=false",
    // Git in a submodule would start without any of these settings.
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "status.submoduleSummary=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "i18n.logOutputEncoding=UTF-8",
    "i18n.commitEncoding=UTF-8",
];

/// Variables that every call gets.
const FIXED_VARIABLES: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("LANGUAGE", ""),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    // What an agent put in the place of an object is not what is merged.
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_GRAFT_FILE", "/dev/null"),
];

/// Commands that neither look into files of a work tree nor start anything that a setting of a free name can name.
const INERT_COMMANDS: &[&str] = &[
    "cat-file",
    "check-ref-format",
    "commit-tree",
    "config",
    "for-each-ref",
    "merge-base",
    "merge-tree",
    "rev-list",
    "rev-parse",
    "symbolic-ref",
    "update-ref",
    "version",
];

/// Commands that start another git in each submodule to see whether it is clean; that one would be steered by the
/// submodule's own configuration and by none of our settings.
const DESCENDING_COMMANDS: &[&str] = &["status", "diff", "diff-files", "diff-index"];

/// The protocols by which a remote may be reached; `ext::` and helpers of other names start programs.
const PROTOCOLS: &str = "file:git:http:https:ssh";

/// What one call may print.
const OUTPUT_LIMIT: usize = 64 * 1024 * 1024;
/// How long a call that changes references may take to end when nobody waits for it any more.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long one call may take unless its caller says otherwise.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Git, aimed at a folder, and at a repository that is named or found from there.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    cwd: PathBuf,
    env: Vec<(OsString, OsString)>,
    timeout: Duration,
    configuration: Configuration,
    /// Files that git reads to their end before it does anything.
    read_first: Vec<PathBuf>,
    /// What is known of the repository's settings.
    settings: Option<Settings>,
    /// How long a call may take to end by itself when nobody waits for it any more.
    patience: Duration,
}

/// Says whose the configuration is that git finds in the folder it works in.
#[derive(Clone, Debug)]
pub(super) enum Configuration {
    /// The repository's, which an agent may have written.
    Foreign,
    /// Our own, with these settings added.
    Ours(Overrides),
}

/// Says how a call of git ended.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

impl Answer {
    /// Tells whether git ended with 0.
    pub(crate) fn is_success(&self) -> bool {
        self.code == Some(0)
    }

    /// Returns the first line of what it printed, if it succeeded and printed one.
    pub(crate) fn line(&self) -> Option<&str> {
        std::str::from_utf8(self.line_bytes()?).ok()
    }

    /// Returns the path that it printed, if it succeeded and printed one; a path may hold anything, line feeds too.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        self.line_bytes().map(path_from)
    }

    fn line_bytes(&self) -> Option<&[u8]> {
        let line = self.stdout.strip_suffix(b"\n").unwrap_or(&self.stdout);
        (self.is_success() && !line.is_empty()).then_some(line)
    }

    /// Turns a bad answer into an error that says what git said.
    pub(crate) fn refused(&self, what: &str, cwd: &Path) -> Error {
        let said = self.stderr.trim();
        let error = Error::new(ErrorKind::Git, format!("{what} in `{}`: {said:.500}", cwd.display()));
        if said.contains("dubious ownership") {
            error.with_hint(
                "the repository belongs to another user: add it to git's `safe.directory`, or run as its owner",
            )
        } else {
            error
        }
    }
}

/// Reads a path as git prints it.
pub(crate) fn path_from(bytes: &[u8]) -> PathBuf {
    PathBuf::from(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes))
}

impl Git {
    /// Aims at `cwd`; the repository is found from there.
    pub(crate) fn at(cwd: impl Into<PathBuf>) -> Self {
        Self {
            cwd: cwd.into(),
            env: Vec::new(),
            timeout: TIMEOUT,
            configuration: Configuration::Foreign,
            read_first: Vec::new(),
            settings: None,
            patience: Duration::ZERO,
        }
    }

    /// Names the files that the repository's settings are in.
    #[must_use]
    pub(super) fn settings(mut self, settings: Option<Settings>) -> Self {
        self.settings = settings;
        self
    }

    /// Names those files for the work tree whose own one is `own`.
    pub(super) fn settings_of(&self, own: PathBuf) -> Option<Settings> {
        self.settings.as_ref().map(|settings| settings.with_own(own))
    }

    /// Has calls that were begun come to their end when nobody waits for them any more, so that what they change is changed
    /// as a whole. For calls that are a matter of milliseconds.
    #[must_use]
    pub(crate) fn to_its_end(&self) -> Self {
        Self { patience: PATIENCE, ..self.clone() }
    }

    /// Names files that git will read: a pipe or a device in the place of one would be waited for, or read for ever.
    #[must_use]
    pub(super) fn reads_first(mut self, files: impl IntoIterator<Item = PathBuf>) -> Self {
        self.read_first.extend(files);
        self
    }

    /// Says whose configuration git will find.
    #[must_use]
    pub(super) fn configuration(mut self, configuration: Configuration) -> Self {
        self.configuration = configuration;
        self
    }

    /// Sets a variable for every call.
    #[must_use]
    pub(crate) fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((key.into(), value.into()));
        self
    }

    /// Sets how long one call may take.
    #[must_use]
    pub(crate) fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Returns the folder in which git runs.
    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Asks git something. A bad exit is an answer, not an error.
    pub(crate) async fn ask<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Result<Answer> {
        self.feed(args, Vec::new()).await
    }

    /// As [`Git::ask`], with something to read on its standard input.
    pub(crate) async fn feed<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
        stdin: Vec<u8>,
    ) -> Result<Answer> {
        // In a partial clone git fetches what is missing, with the programs that the repository names. Before version
        // 2.45 only the empty list of protocols keeps it from that.
        let nowhere = [("GIT_NO_LAZY_FETCH", "1"), ("GIT_ALLOW_PROTOCOL", "")];
        self.call(args, nowhere.as_slice(), stdin).await
    }

    /// As [`Git::ask`], for a call that may reach a remote over a network. Nobody is asked for a password.
    pub(super) async fn reach<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Result<Answer> {
        let remote = [
            ("GIT_ALLOW_PROTOCOL", PROTOCOLS),
            ("GIT_PROTOCOL_FROM_USER", "0"),
            ("SSH_ASKPASS", "false"),
            ("SSH_ASKPASS_REQUIRE", "force"),
        ];
        self.call(args, remote.as_slice(), Vec::new()).await
    }

    /// Asks git to do something and returns what it printed. A bad exit is an error: "failed to `what` in ...".
    pub(crate) async fn does<A: AsRef<OsStr>>(
        &self,
        what: &str,
        args: impl IntoIterator<Item = A>,
    ) -> Result<Answer> {
        let answer = self.ask(args).await?;
        if answer.is_success() { Ok(answer) } else { Err(answer.refused(what, &self.cwd)) }
    }

    /// Reads the configuration that git finds, and what has to stand in the place of the repository's own.
    pub(super) async fn listing(&self) -> Result<Arc<Listing>> {
        let content = self.settings.as_ref().and_then(Settings::content);
        if let (Some(settings), Some(content)) = (&self.settings, &content)
            && let Some(known) = settings.known(content)
        {
            return Ok(known);
        }
        let answer = self.run(&self.program(["config", "--list", "-z", "--show-scope"])).await?;
        if !answer.is_success() {
            return Err(answer.refused("read the configuration", &self.cwd));
        }
        let listing = Arc::new(Listing::read(answer.stdout)?);
        if let (Some(settings), Some(content)) = (&self.settings, content) {
            settings.learn(content, &listing);
        }
        Ok(listing)
    }

    async fn overrides(&self, args: &[OsString]) -> Result<Overrides> {
        let is_inert =
            args.first().is_some_and(|command| INERT_COMMANDS.iter().any(|inert| command == inert));
        match &self.configuration {
            Configuration::Ours(settings) => Ok(settings.clone()),
            Configuration::Foreign if is_inert => Ok(Overrides::default()),
            Configuration::Foreign => Ok(self.listing().await?.overrides.clone()),
        }
    }

    async fn call<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
        env: &[(&str, &str)],
        stdin: Vec<u8>,
    ) -> Result<Answer> {
        let mut args: Vec<OsString> = args.into_iter().map(|arg| arg.as_ref().to_os_string()).collect();
        if args.first().is_some_and(|command| DESCENDING_COMMANDS.iter().any(|other| command == other)) {
            args.insert(1, "--ignore-submodules=dirty".into());
        }
        let overrides = self.overrides(&args).await?;
        let mut program = self.program(overrides.options().chain(args)).stdin(stdin);
        program.env.extend(overrides.variables());
        program.env.extend(env.iter().map(|(key, value)| ((*key).into(), (*value).into())));
        self.run(&program).await
    }

    fn program<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Program {
        let hardened = HARDENED.iter().flat_map(|setting| ["-c", setting]);
        let mut program = Program::new("git").args(hardened).args(args).cwd(&self.cwd);
        for variable in DROPPED_VARIABLES {
            program = program.env_remove(variable);
        }
        program.env.extend(FIXED_VARIABLES.iter().map(|(key, value)| ((*key).into(), (*value).into())));
        program.env.extend(self.env.iter().cloned());
        program
    }

    async fn run(&self, program: &Program) -> Result<Answer> {
        let is_odd = |path: &&PathBuf| {
            std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
                && !std::fs::read_link(path).is_ok_and(|target| target == Path::new("/dev/null"))
        };
        if let Some(odd) = self.read_first.iter().find(is_odd) {
            return Err(Error::new(
                ErrorKind::Git,
                format!("run `git`: `{}` is no plain file", odd.display()),
            )
            .with_hint("put back what was there before git can use the repository"));
        }
        // Git that is asked to stop removes its locks; git that is killed leaves them.
        let captured = capture_gently(program, OUTPUT_LIMIT, self.timeout, self.patience)
            .await
            .map_err(|error| not_run(&self.cwd, error))?;
        Ok(Answer { stdout: captured.stdout, stderr: captured.stderr, code: captured.status.code() })
    }
}

/// Runs git in `cwd` and returns what it printed, without the last line feed. A bad exit is an error.
pub(crate) async fn print<A: AsRef<OsStr>>(cwd: &Path, args: impl IntoIterator<Item = A>) -> Result<String> {
    let git = Git::at(cwd);
    let answer = git.run(&git.program(args)).await?;
    if !answer.is_success() {
        return Err(answer.refused("run git", cwd));
    }
    Ok(String::from_utf8_lossy(&answer.stdout).trim_end_matches('\n').to_owned())
}

fn not_run(cwd: &Path, error: io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::NotFound if !cwd.exists() => "the folder has gone since the run began",
        io::ErrorKind::NotFound => "install git 2.38 or newer and put it on the `PATH`",
        _ => "see whether `git status` works in that folder",
    };
    let kind = match error.kind() {
        io::ErrorKind::TimedOut => ErrorKind::StepTimeout,
        _ => ErrorKind::Git,
    };
    Error::new(kind, format!("run `git` in `{}`", cwd.display())).with_source(error).with_hint(hint)
}
