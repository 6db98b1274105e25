//! The arguments that a container is made with.
//!
//! They are seen by everybody on this host and kept by the engine, so no value of a variable is among them: those go to the
//! launcher inside, with each program.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use super::account::Account;
use super::engine::Engine;
use super::gate::Gate;
use super::mounts::Bind;
use super::settings::{Init, Privileges, Root, Selinux, Settings};
use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::{Access, Network, SandboxRequest};

/// Folders that programs expect to be able to write.
const SCRATCH: [&str; 3] = ["/tmp", "/var/tmp", "/run"];

/// All that is settled about a container before it is made.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) settings: &'a Settings,
    pub(super) request: &'a SandboxRequest,
    pub(super) name: &'a str,
    pub(super) account: &'a Account,
    pub(super) worktree: &'a Path,
    pub(super) home: Option<&'a Path>,
    pub(super) binds: &'a [Bind],
    pub(super) gate: Option<&'a Gate>,
}

impl Plan<'_> {
    /// Writes the arguments up to those of the first shell inside, which follow.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] when a number is none that an engine takes.
    pub(super) fn arguments(&self) -> Result<Vec<OsString>> {
        let mut args = Arguments::default();
        args.words(["run", "--interactive", "--rm", "--pull=never", "--log-driver=none"]);
        args.option("--name", self.name);
        for (name, value) in self.request.owner.labels() {
            args.option("--label", format!("{name}={value}"));
        }
        for (name, value) in &self.settings.labels {
            args.option("--label", format!("{name}={value}"));
        }
        self.user(&mut args);
        self.rights(&mut args);
        self.limits(&mut args)?;
        self.surroundings(&mut args);
        self.files(&mut args);
        args.option("--workdir", self.worktree);
        args.option("--entrypoint", "sh");
        args.0.push(OsString::from(&self.settings.image));
        args.0.extend(self.gate.into_iter().flat_map(Gate::before_the_shell));
        Ok(args.0)
    }

    fn user(&self, args: &mut Arguments) {
        let Account { uid, gid, userns } = self.account;
        args.option("--user", format!("{uid}:{gid}"));
        if let Some(mode) = userns {
            args.option("--userns", mode);
        }
        for group in &self.settings.groups {
            args.option("--group-add", group);
        }
        if let Some(home) = self.home {
            let mut variable = OsString::from("HOME=");
            variable.push(home);
            args.option("--env", variable);
        }
    }

    fn rights(&self, args: &mut Arguments) {
        let settings = self.settings;
        args.option("--cap-drop", "ALL");
        for capability in &settings.capabilities {
            args.option("--cap-add", capability);
        }
        if settings.privileges == Privileges::Fixed {
            args.option("--security-opt", "no-new-privileges");
        }
        if settings.root == Root::ReadOnly {
            args.words(["--read-only"]);
        }
        if settings.init == Init::Engine {
            args.words(["--init"]);
        }
    }

    fn limits(&self, args: &mut Arguments) -> Result<()> {
        let settings = self.settings;
        match settings.pids {
            0 => args.option("--pids-limit", "-1"),
            count => args.option("--pids-limit", count.to_string()),
        }
        if let Some(cpus) = settings.cpus {
            if !(cpus.is_finite() && cpus > 0.0) {
                return Err(impossible(&format!("`{cpus}` processors")));
            }
            args.option("--cpus", cpus.to_string());
        }
        if let Some(memory) = settings.memory {
            if memory == 0 {
                return Err(impossible("no memory"));
            }
            args.option("--memory", format!("{memory}b"));
        }
        Ok(())
    }

    fn surroundings(&self, args: &mut Arguments) {
        let settings = self.settings;
        if settings.client.engine() == Engine::Podman {
            // Otherwise it hands over the proxies of this process's environment, with the passwords in them.
            args.option("--http-proxy", "false");
        }
        if let Some(Network::Off | Network::Limited(_)) = settings.network {
            args.option("--network", "none");
        }
        for network in &settings.networks {
            args.option("--network", network);
        }
        for (name, address) in &settings.hosts {
            args.option("--add-host", format!("{name}:{address}"));
        }
        for device in &settings.devices {
            args.option("--device", device);
        }
    }

    fn files(&self, args: &mut Arguments) {
        let is_covered = |path: &Path| self.binds.iter().any(|bind| bind.inside == path);
        if self.settings.root == Root::ReadOnly {
            for scratch in SCRATCH.into_iter().filter(|scratch| !is_covered(Path::new(scratch))) {
                args.option(
                    "--tmpfs",
                    format!("{scratch}:rw,exec,nosuid,nodev,mode=1777{}", self.unfilled()),
                );
            }
        }
        if let Some(home) = self.home.filter(|home| *home != Path::new("/") && !is_covered(home)) {
            match (&self.settings.home, self.settings.root) {
                (Some(_), _) => args.option("--tmpfs", self.own_home(home)),
                // A new volume is filled with what the image has there, and goes with the container.
                (None, Root::ReadOnly) => args.option("--volume", home),
                (None, Root::Writable) => {}
            }
        }
        for bind in self.binds {
            self.bind(bind, args);
        }
        for hidden in &self.request.hidden {
            self.hide(hidden, args);
        }
    }

    fn own_home(&self, home: &Path) -> OsString {
        let Account { uid, gid, .. } = self.account;
        let options = match self.settings.client.engine() {
            Engine::Docker => format!("mode=0700,uid={uid},gid={gid}"),
            // It can only be root's.
            Engine::Podman if *uid == 0 => format!("mode=0700{}", self.unfilled()),
            Engine::Podman => format!("mode=1777{}", self.unfilled()),
        };
        let mut spec = home.as_os_str().to_os_string();
        spec.push(format!(":rw,exec,nosuid,nodev,{options}"));
        spec
    }

    fn bind(&self, bind: &Bind, args: &mut Arguments) {
        let has_colon = |path: &Path| path.as_os_str().as_bytes().contains(&b':');
        if has_colon(&bind.host) || has_colon(&bind.inside) {
            return self.bind_at_length(bind, args);
        }
        let read_only = (bind.access == Access::ReadOnly).then_some("ro");
        let label = match bind.label {
            Selinux::Shared => Some("z"),
            Selinux::Private => Some("Z"),
            Selinux::Off => None,
        };
        let options: Vec<&str> = read_only.into_iter().chain(label).collect();
        let mut spec = bind.host.as_os_str().to_os_string();
        spec.push(":");
        spec.push(&bind.inside);
        if !options.is_empty() {
            spec.push(":");
            spec.push(options.join(","));
        }
        args.option("--volume", spec);
    }

    /// Writes a mount in the form in which a path may have a colon. Docker gives no label in it.
    fn bind_at_length(&self, bind: &Bind, args: &mut Arguments) {
        let relabel = match (self.settings.client.engine(), bind.label) {
            (Engine::Podman, Selinux::Shared) => Some("relabel=shared"),
            (Engine::Podman, Selinux::Private) => Some("relabel=private"),
            _ => None,
        };
        let read_only = (bind.access == Access::ReadOnly).then_some("readonly");
        args.option("--mount", mount_spec(&bind.host, &bind.inside, read_only.into_iter().chain(relabel)));
    }

    /// Puts nothing in the place of what is there, if anything is.
    fn hide(&self, hidden: &Path, args: &mut Arguments) {
        let Some(metadata) = self.seen_at(hidden) else { return };
        if metadata.is_dir() {
            let mut spec = hidden.as_os_str().to_os_string();
            spec.push(format!(":ro,noexec,nosuid,nodev,size=4k,mode=0555{}", self.unfilled()));
            args.option("--tmpfs", spec);
        } else {
            args.option("--mount", mount_spec(Path::new("/dev/null"), hidden, ["readonly"]));
        }
    }

    /// Podman fills a folder in memory with what lies under it, and gives it the same mode, unless it is told not to.
    fn unfilled(&self) -> &'static str {
        match self.settings.client.engine() {
            Engine::Docker => "",
            Engine::Podman => ",notmpcopyup",
        }
    }

    /// Looks at what of this host is seen at a path inside.
    fn seen_at(&self, inside: &Path) -> Option<fs::Metadata> {
        let bind = self
            .binds
            .iter()
            .rev()
            .filter(|bind| inside.starts_with(&bind.inside))
            .max_by_key(|bind| bind.inside.as_os_str().len())?;
        let below = inside.strip_prefix(&bind.inside).ok()?;
        let host = if below.as_os_str().is_empty() { bind.host.clone() } else { bind.host.join(below) };
        fs::metadata(host).ok()
    }
}

fn impossible(what: &str) -> Error {
    Error::new(ErrorKind::InvalidOptions, format!("start a container with {what}"))
}

#[derive(Default)]
struct Arguments(Vec<OsString>);

impl Arguments {
    fn words<const N: usize>(&mut self, words: [&str; N]) {
        self.0.extend(words.map(OsString::from));
    }

    /// Adds an option and its value in one word, so that no value is taken for an option.
    fn option(&mut self, name: &str, value: impl AsRef<OsStr>) {
        let mut word = OsString::from(name);
        word.push("=");
        word.push(value);
        self.0.push(word);
    }
}

/// Writes a mount as the fields of a line of comma-separated values.
fn mount_spec<'a>(host: &Path, inside: &Path, options: impl IntoIterator<Item = &'a str>) -> OsString {
    let mut spec = b"type=bind".to_vec();
    for (key, path) in [("source", host), ("target", inside)] {
        spec.extend_from_slice(b",\"");
        spec.extend_from_slice(key.as_bytes());
        spec.push(b'=');
        for byte in path.as_os_str().as_bytes() {
            spec.extend(std::iter::repeat_n(*byte, if *byte == b'"' { 2 } else { 1 }));
        }
        spec.push(b'"');
    }
    for option in options {
        spec.push(b',');
        spec.extend_from_slice(option.as_bytes());
    }
    OsString::from_vec(spec)
}

#[cfg(test)]
mod tests;
