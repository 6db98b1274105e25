//! Another machine, by `ssh`: any that has sshd, git and a POSIX shell.
//!
//! One connection is opened and shared by everything that is started there. Host keys, users and jump hosts are the affair of
//! the user's own ssh configuration.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::{
    Afterwards, BoxFuture, IsolatedHandle, IsolatedProvider, Line, Owner, Program, RemoteShell, Running,
    Streams,
};
use crate::error::{Error, ErrorKind, Result};
use crate::process::quoted;
use crate::secret::Variables;

/// Options of every call; the user's own configuration comes behind them.
const OPTIONS: &[&str] = &[
    // Nobody is asked for a password.
    "BatchMode=yes",
    "ConnectTimeout=20",
    // A machine that has died is noticed within a minute.
    "ServerAliveInterval=15",
    "ServerAliveCountMax=3",
    "ForwardAgent=no",
    "ForwardX11=no",
    "PermitLocalCommand=no",
];

/// Makes a folder of its own for each sandbox, and says where it is and what the machine has.
const PROBE: &str = r#"umask 077
base=${sandcastle_base:-${TMPDIR:-/var/tmp}}
mkdir -p "$base" && folder=$(mktemp -d "$base/sandcastle-XXXXXXXX") || exit
for tool in git tar grep; do command -v $tool >/dev/null || missing="$missing $tool"; done
printf 'at\t%s\t%s\t%s\tend' "$folder" "$HOME" "$missing""#;

/// Ends whoever still works in the folder, also those that are not known by a mark, and removes it.
const REMOVE: &str = r#"for link in /proc/[0-9]*/cwd; do
  case $(readlink "$link" 2>/dev/null) in
    "$1" | "$1"/*) link=${link#/proc/}; kill -s KILL "${link%/cwd}" 2>/dev/null ;;
  esac
done
rm -rf -- "$1""#;

/// A machine that is reached by `ssh`, for [`Isolated`](super::Isolated).
///
/// Each sandbox is a folder of its own there, in `/var/tmp` unless another is named, which is removed when it is closed, and
/// whoever still works in it is ended. Programs run as the user who logs in, with that user's home folder: the machine is the
/// isolation, not the user.
///
/// ```no_run
/// use sandcastle_core::sandbox::{Isolated, Ssh};
///
/// let provider = Isolated::new(Ssh::new("builder@build-7.example.org").folder("/scratch"));
/// # let _ = provider;
/// ```
#[derive(Clone)]
pub struct Ssh {
    host: String,
    program: PathBuf,
    args: Vec<OsString>,
    folder: Option<PathBuf>,
    env: Variables,
}

impl fmt::Debug for Ssh {
    /// Shows the names of variables and never their values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ssh")
            .field("host", &self.host)
            .field("args", &self.args)
            .field("folder", &self.folder)
            .field("env", &self.env)
            .finish_non_exhaustive()
    }
}

impl Ssh {
    /// Names a machine as `ssh` does: `host`, `user@host`, or an alias of the user's configuration.
    #[must_use]
    pub fn new(host: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            program: PathBuf::from("ssh"),
            args: Vec::new(),
            folder: None,
            env: Variables::default(),
        }
    }

    /// Uses a configuration file in place of the user's own.
    #[must_use]
    pub fn config(self, file: impl AsRef<Path>) -> Self {
        self.arg("-F", file.as_ref())
    }

    /// Sets the port; by default it is what the configuration says, or 22.
    #[must_use]
    pub fn port(self, port: u16) -> Self {
        self.arg("-p", Path::new(&port.to_string()))
    }

    /// Sets the file of the private key.
    #[must_use]
    pub fn identity(self, file: impl AsRef<Path>) -> Self {
        self.arg("-i", file.as_ref())
    }

    /// Adds an option as `ssh -o` takes it, `Name=value`. Those that are set here outrank it where they have the same name.
    #[must_use]
    pub fn option(self, option: impl AsRef<str>) -> Self {
        self.arg("-o", Path::new(option.as_ref()))
    }

    /// Sets the program; by default it is `ssh`, from the `PATH`.
    #[must_use]
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// Sets the folder on the machine in which sandboxes are made; it is made if it is not there.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Sets a variable for every program inside.
    #[must_use]
    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.set(key, value);
        self
    }

    fn arg(mut self, flag: &str, value: &Path) -> Self {
        self.args.extend([flag.into(), value.into()]);
        self
    }

    async fn open(&self) -> Result<Machine> {
        if self.host.is_empty() || self.host.starts_with('-') {
            let what = format!("reach `{}` by ssh: that is no name of a machine", self.host);
            return Err(Error::new(ErrorKind::InvalidOptions, what));
        }
        let control = tempfile::Builder::new().prefix("sandcastle-ssh-").tempdir().map_err(|error| {
            Error::new(ErrorKind::Sandbox, "make a folder for a connection").with_source(error)
        })?;
        let socket = control.path().join("c");
        let shell = |connection| {
            Arc::new(Shell { ssh: self.clone(), socket: socket.clone(), connection }) as Arc<dyn RemoteShell>
        };
        let probe = match &self.folder {
            Some(folder) => format!("sandcastle_base={}\n{PROBE}", quoted(&folder.to_string_lossy())),
            None => PROBE.to_owned(),
        };
        let mut line = Line::open(shell(Connection::Opens), Afterwards::Leave, &probe)
            .map_err(|error| self.not_reached(error))?;
        let said = line.ready().await.map_err(|error| self.not_reached(error))?;
        let fields: Vec<&str> = said.split('\t').collect();
        let ["at", folder, home, missing, "end"] = fields[..] else {
            let why = io::Error::other(said.clone());
            let what = format!("make a folder on `{}`", self.host);
            return Err(Error::new(ErrorKind::Sandbox, what).with_source(why));
        };
        let machine = Machine {
            workspace: Path::new(folder).join("work"),
            folder: folder.into(),
            home: home.into(),
            host: self.host.clone(),
            shell: shell(Connection::Uses),
            _line: line,
            _control: control,
        };
        if !missing.is_empty() {
            machine.close().await?;
            let what = format!("use `{}`: it has no{}", self.host, missing.replace(' ', " `") + "`");
            return Err(Error::new(ErrorKind::Sandbox, what).with_hint("install it there"));
        }
        Ok(machine)
    }

    fn not_reached(&self, error: io::Error) -> Error {
        let hint = match error.kind() {
            io::ErrorKind::NotFound => {
                "install an ssh client, or name its path with `Ssh::program`".to_owned()
            }
            _ => format!(
                "see whether `ssh -o BatchMode=yes {} true` works; nobody is asked for a password",
                self.host
            ),
        };
        Error::new(ErrorKind::Sandbox, format!("reach `{}` by ssh", self.host))
            .with_source(error)
            .with_hint(hint)
    }
}

impl IsolatedProvider for Ssh {
    fn name(&self) -> &str {
        "ssh"
    }

    fn env(&self) -> Vec<(OsString, OsString)> {
        self.env.to_vec()
    }

    fn create(&self, _: Owner) -> BoxFuture<'_, Result<Arc<dyn IsolatedHandle>>> {
        Box::pin(async { Ok(Arc::new(self.open().await?) as Arc<dyn IsolatedHandle>) })
    }
}

/// What a call does with the shared connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connection {
    Opens,
    Uses,
}

/// A shell on the machine.
#[derive(Debug)]
struct Shell {
    ssh: Ssh,
    socket: PathBuf,
    connection: Connection,
}

impl RemoteShell for Shell {
    fn client(&self, script: &str, args: &[&str], streams: Streams) -> Program {
        // What ssh is given is put together and read by the login shell there.
        let words = std::iter::once(script).chain(["sh"]).chain(args.iter().copied()).map(quoted);
        let command = words.fold("exec sh -c".to_owned(), |command, word| command + " " + &word);
        let mut socket = OsString::from("ControlPath=");
        socket.push(&self.socket);
        let master = match self.connection {
            Connection::Opens => "ControlMaster=yes",
            Connection::Uses => "ControlMaster=no",
        };
        let options = OPTIONS.iter().copied().chain(["ControlPersist=no", master]);
        let options = options.map(OsString::from).chain([socket]).flat_map(|option| ["-o".into(), option]);
        let terminal = if streams == Streams::Terminal { "-tt" } else { "-T" };
        Program::new(&self.ssh.program)
            .args(options)
            .args(&self.ssh.args)
            .args([terminal, "--", &self.ssh.host, &command])
            .streams(streams)
    }
}

/// A folder on the machine, and the way to it.
#[derive(Debug)]
struct Machine {
    folder: PathBuf,
    workspace: PathBuf,
    home: PathBuf,
    host: String,
    shell: Arc<dyn RemoteShell>,
    /// The shared connection; it ends with it.
    _line: Line,
    _control: TempDir,
}

impl IsolatedHandle for Machine {
    fn workspace(&self) -> &Path {
        &self.workspace
    }

    fn home(&self) -> Option<PathBuf> {
        Some(self.home.clone())
    }

    fn id(&self) -> Option<String> {
        Some(format!("{}:{}", self.host, self.folder.display()))
    }

    fn start(&self, program: Program) -> BoxFuture<'_, io::Result<Running>> {
        let shell = Arc::clone(&self.shell);
        Box::pin(async move { Running::remote(shell, &program).await })
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async {
            let folder = self.folder.clone().into();
            let program = Program::new("sh").args([OsString::from("-c"), REMOVE.into(), "sh".into(), folder]);
            let removed = async {
                let mut running = self.start(program.cwd("/")).await?;
                super::ended(&mut running, |_| Ok(())).await
            };
            removed.await.map_err(|error| {
                let (host, folder) = (&self.host, self.folder.display());
                Error::new(ErrorKind::Sandbox, format!("remove the folder `{folder}` on `{host}`"))
                    .with_source(error)
            })
        })
    }
}
