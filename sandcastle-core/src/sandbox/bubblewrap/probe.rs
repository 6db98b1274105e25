//! Whether `bwrap` is there and works, found out by making a sandbox once; and if not, what to do about it.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::arguments;
use super::view::{candidates, is_program};
use crate::error::{Error, ErrorKind, Result};
use crate::process::{Inherit, Program, capture_gently};

/// Where `bwrap` is looked for beside the search path.
const USUAL_FOLDERS: &str = "/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin";
/// How long the probe may take, on a machine that does a lot beside.
const PATIENCE: Duration = Duration::from_secs(20);
/// What the probe may print.
const MOST_PRINTED: usize = 4096;

/// What is known of a `bwrap` that works here.
#[derive(Clone, Debug)]
pub(super) struct Bwrap {
    pub(super) path: PathBuf,
    pub(super) nesting: Nesting,
    pub(super) rights: Rights,
}

/// Says whether programs inside can be kept from making namespaces of their own, in which they would have capabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Nesting {
    #[default]
    Forbidden,
    /// It was asked for, or this `bwrap` is older than 0.8 and cannot forbid it.
    Possible,
}

/// Says how `bwrap` gets the right to make a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rights {
    /// By a user namespace.
    Namespace,
    /// Its file belongs to root and is setuid, so nothing may be done that takes this from it.
    Setuid,
}

static WORKING: Mutex<Option<HashMap<PathBuf, Bwrap>>> = Mutex::new(None);

impl Bwrap {
    /// Finds `bwrap` and tries it; what works is not tried again in this process.
    ///
    /// # Errors
    /// [`ErrorKind::Sandbox`], with what to do about it as hints.
    pub(super) async fn find(named: Option<&Path>, search: &OsStr) -> Result<Self> {
        let path = match named {
            Some(path) => path.to_path_buf(),
            None => {
                let mut folders = search.to_owned();
                folders.push(":");
                folders.push(USUAL_FOLDERS);
                // A folder that is relative would mean another one at each place.
                let found = candidates(OsStr::new("bwrap"), &folders, Path::new("/"));
                found.into_iter().find(|path| is_program(path)).ok_or_else(missing)?
            }
        };
        let known = WORKING
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .and_then(|all| all.get(&path).cloned());
        if let Some(known) = known {
            return Ok(known);
        }
        let working = Self::try_out(path.clone()).await?;
        let mut all = WORKING.lock().unwrap_or_else(PoisonError::into_inner);
        all.get_or_insert_default().insert(path, working.clone());
        Ok(working)
    }

    async fn try_out(path: PathBuf) -> Result<Self> {
        let setuid = fs::metadata(&path).is_ok_and(|metadata| metadata.permissions().mode() & 0o4000 != 0);
        let rights = if setuid { Rights::Setuid } else { Rights::Namespace };
        let mut said = String::new();
        for nesting in [Nesting::Forbidden, Nesting::Possible] {
            let bwrap = Self { path: path.clone(), nesting, rights };
            match bwrap.attempt().await {
                Ok(None) => return Ok(bwrap),
                Ok(Some(words)) => said = words,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing()),
                Err(error) => {
                    let message = format!("start `{}`", path.display());
                    return Err(Error::new(ErrorKind::Sandbox, message).with_source(error));
                }
            }
        }
        Err(refused(&path, &said, &Kernel::read()))
    }

    /// Makes a sandbox, and returns what `bwrap` said if it could not.
    async fn attempt(&self) -> io::Result<Option<String>> {
        let mut program = Program::new(&self.path).args(arguments::boundary(self)).cwd("/");
        program = program.args(["--unshare-net", "--ro-bind", "/", "/"]).args(arguments::KERNEL);
        program.args.extend([OsString::from("--"), self.path.clone().into(), "--version".into()]);
        program.inherit = Inherit::Nothing;
        let captured = capture_gently(&program, MOST_PRINTED, PATIENCE, Duration::ZERO).await?;
        Ok((!captured.status.success()).then_some(captured.stderr))
    }
}

fn missing() -> Error {
    Error::new(ErrorKind::Sandbox, "find `bwrap`, the program of bubblewrap")
        .with_hint("Debian, Ubuntu: `sudo apt-get install bubblewrap`")
        .with_hint("Fedora, RHEL: `sudo dnf install bubblewrap`; openSUSE: `sudo zypper install bubblewrap`")
        .with_hint(
            "Arch: `sudo pacman -S bubblewrap`; Alpine: `sudo apk add bubblewrap`; NixOS: `pkgs.bubblewrap`",
        )
}

/// What the kernel allows to programs without rights.
#[derive(Debug, Default)]
struct Kernel {
    /// AppArmor lets only programs with a profile have rights in a user namespace.
    apparmor: bool,
    /// Debian's switch for user namespaces is off.
    switched_off: bool,
    /// No user namespace may be made at all.
    none_allowed: bool,
}

impl Kernel {
    fn read() -> Self {
        let is = |path: &str, value: &str| fs::read_to_string(path).is_ok_and(|text| text.trim() == value);
        Self {
            apparmor: is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
            switched_off: is("/proc/sys/kernel/unprivileged_userns_clone", "0"),
            none_allowed: is("/proc/sys/user/max_user_namespaces", "0"),
        }
    }
}

fn refused(path: &Path, said: &str, kernel: &Kernel) -> Error {
    let said = said.trim();
    let message = format!("make a sandbox with `{}`: {said:.500}", path.display());
    let mut hints = Vec::new();
    if kernel.none_allowed {
        hints.push("this kernel allows no user namespaces: `sudo sysctl user.max_user_namespaces=15000`");
    }
    if kernel.switched_off {
        hints.push(
            "user namespaces are only for root here: `sudo sysctl kernel.unprivileged_userns_clone=1`, and the same line in a \
             file of `/etc/sysctl.d` to keep it so",
        );
    }
    if kernel.apparmor {
        hints.push(
            "AppArmor keeps programs without a profile from user namespaces: on Ubuntu 24.04 install `apparmor-profiles`, copy \
             `/usr/share/apparmor/extra-profiles/bwrap-userns-restrict` to `/etc/apparmor.d` and load it with \
             `sudo apparmor_parser -r`; later versions bring it along",
        );
    }
    if hints.is_empty()
        && (said.contains("proc") || said.contains("namespace") || said.contains("Operation not permitted"))
    {
        hints.push(
            "within a container its engine decides: `docker run` and `podman run` take \
             `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`, or run agents there without another \
             sandbox",
        );
    }
    let error = Error::new(ErrorKind::Sandbox, message);
    hints.into_iter().fold(error, Error::with_hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn where_it_is_missing_the_error_says_how_to_get_it() {
        let error = Bwrap::find(Some(Path::new("/nonexistent/bwrap")), OsStr::new("")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Sandbox);
        let hints = error.hints().join("\n");
        for distribution in ["apt-get", "dnf", "pacman", "apk", "zypper", "NixOS"] {
            assert!(hints.contains(distribution), "{hints}");
        }
    }

    #[test]
    fn each_cause_has_its_own_way_out() {
        let hint = |said: &str, kernel: Kernel| {
            refused(Path::new("/usr/bin/bwrap"), said, &kernel).hints().join("\n")
        };
        let denied = "bwrap: setting up uid map: Permission denied";
        assert!(
            hint(denied, Kernel { apparmor: true, ..Kernel::default() }).contains("bwrap-userns-restrict")
        );
        let switched_off = Kernel { switched_off: true, ..Kernel::default() };
        assert!(
            hint("bwrap: No permissions to create new namespace", switched_off)
                .contains("unprivileged_userns_clone=1")
        );
        let none = Kernel { none_allowed: true, ..Kernel::default() };
        assert!(hint("bwrap: No space left on device", none).contains("max_user_namespaces"));
        let masked = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted";
        assert!(hint(masked, Kernel::default()).contains("systempaths=unconfined"));
        assert_eq!(hint("bwrap: Unknown option --x", Kernel::default()), "");
    }
}
