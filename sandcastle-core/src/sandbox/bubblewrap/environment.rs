//! The variables of programs inside: few of this process, none of its secrets.
//!
//! `bwrap` hands its own environment on, so that no value stands in an argument vector. What would steer `bwrap` itself,
//! outside the boundary, takes the other way.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::process::Program;
use crate::sandbox::Network;
use crate::sandbox::proxy::forward;

/// What programs inside inherit of this process beside what is kept by name.
const KEPT: &[&str] = &["PATH", "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "USER", "LOGNAME"];
/// What is kept of these begins so.
const KEPT_PREFIX: &[u8] = b"LC_";
/// The search path where this process has none.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Variables by which a program is made to load or read what they name, before it has done anything. A file of variables can
/// be written by an agent.
const STEERING: &[&str] = &[
    "GCONV_PATH",
    "GETCONF_DIR",
    "GLIBC_TUNABLES",
    "HOSTALIASES",
    "LOCALDOMAIN",
    "LOCPATH",
    "NIS_PATH",
    "NLSPATH",
    "RES_OPTIONS",
    "RESOLV_HOST_CONF",
    "TZDIR",
];
const STEERING_PREFIXES: &[&[u8]] = &[b"LD_", b"MALLOC_", b"BWRAP_"];

/// Picks what programs inside inherit out of an environment.
pub(super) fn inherited(
    environment: impl IntoIterator<Item = (OsString, OsString)>,
    by_name: &[OsString],
) -> Vec<(OsString, OsString)> {
    let is_kept = |key: &OsStr| {
        KEPT.iter().any(|kept| key == *kept)
            || key.as_bytes().starts_with(KEPT_PREFIX)
            || by_name.iter().any(|name| name == key)
    };
    environment.into_iter().filter(|(key, _)| is_kept(key)).collect()
}

/// The variables of one program, on their two ways.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Environment {
    /// By the environment of `bwrap`.
    pub(super) plain: Vec<(OsString, OsString)>,
    /// By its arguments.
    pub(super) steering: Vec<(OsString, OsString)>,
}

/// Where the variables of a program come from, from the weakest to the strongest; its own are stronger still.
#[derive(Debug)]
pub(super) struct Sources<'s> {
    pub(super) inherited: &'s [(OsString, OsString)],
    pub(super) home: &'s OsStr,
    pub(super) network: &'s Network,
    pub(super) set: &'s [(OsString, OsString)],
}

impl Environment {
    pub(super) fn of(program: &Program, sources: &Sources<'_>) -> Self {
        let mut all: Vec<(OsString, OsString)> = vec![("PATH".into(), DEFAULT_PATH.into())];
        all.extend(sources.inherited.iter().filter(|(key, _)| !program.removed_env.contains(key)).cloned());
        all.push(("HOME".into(), sources.home.to_owned()));
        if matches!(sources.network, Network::Limited(_)) {
            all.extend(forward::variables());
        }
        all.extend(sources.set.iter().cloned());
        all.extend(program.env.iter().cloned());
        let (steering, plain) = all.into_iter().partition(|(key, _)| is_steering(key));
        Self { plain, steering }
    }

    /// Returns the search path that counts.
    pub(super) fn path(&self) -> &OsStr {
        self.plain.iter().rev().find(|(key, _)| key == "PATH").map_or(OsStr::new(""), |(_, path)| path)
    }
}

fn is_steering(key: &OsStr) -> bool {
    STEERING.iter().any(|name| key == *name)
        || STEERING_PREFIXES.iter().any(|prefix| key.as_bytes().starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(key: &str, value: &str) -> (OsString, OsString) {
        (key.into(), value.into())
    }

    #[test]
    fn little_is_inherited_and_secrets_only_by_name() {
        let environment = [
            "PATH",
            "LC_ALL",
            "LANG",
            "SSH_AUTH_SOCK",
            "AWS_SECRET_ACCESS_KEY",
            "KEY",
            "DBUS_SESSION_BUS_ADDRESS",
        ]
        .map(|key| pair(key, "x"));
        let kept = inherited(environment, &["KEY".into()]);
        assert_eq!(kept, ["PATH", "LC_ALL", "LANG", "KEY"].map(|key| pair(key, "x")));
    }

    #[test]
    fn what_would_steer_bwrap_goes_another_way_and_the_programs_own_values_count() {
        let program =
            Program::new("x").env("LD_PRELOAD", "/tree/evil.so").env("PATH", "/tree/bin").env_remove("LANG");
        let inherited = [pair("PATH", "/bin"), pair("LANG", "C")];
        let set = [pair("HOME", "/elsewhere"), pair("GLIBC_TUNABLES", "x")];
        let sources = Sources {
            inherited: &inherited,
            home: OsStr::new("/home/agent"),
            network: &Network::On,
            set: &set,
        };
        let environment = Environment::of(&program, &sources);
        assert_eq!(environment.steering, [pair("GLIBC_TUNABLES", "x"), pair("LD_PRELOAD", "/tree/evil.so")]);
        assert_eq!(environment.path(), "/tree/bin");
        assert!(environment.plain.iter().all(|(key, _)| key != "LANG"));
        assert_eq!(
            environment.plain.iter().rev().find(|(key, _)| key == "HOME"),
            Some(&pair("HOME", "/elsewhere"))
        );
    }
}
