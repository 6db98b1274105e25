//! Sandboxes that need no engine: bubblewrap, which is really tried, and what the kernel has.

use sandcastle::sandbox::Program;

use super::tools::{of_answer, silent};
use super::{Finding, LIMIT, State, Subject};
use crate::programs::answer;

const BUBBLEWRAP: &str = "bubblewrap";

/// Runs a program in new namespaces, as a sandbox does.
const TRIAL: &[&str] = &[
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-net",
    "--die-with-parent",
    "--ro-bind",
    "/",
    "/",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--",
    "true",
];

pub(super) async fn bubblewrap() -> Finding {
    let version = Program::new("bwrap").args(["--version"]);
    let found = of_answer(Subject::Sandbox, BUBBLEWRAP, answer(&version, LIMIT).await);
    if found.state != State::Works {
        return found.hint("install the package `bubblewrap` (Linux only)");
    }
    let broken = |why: String| {
        Finding { state: State::Broken, ..found.clone() }.detail(why).hint(
            "user namespaces are switched off: see `sysctl kernel.unprivileged_userns_clone`, \
             `kernel.apparmor_restrict_unprivileged_userns` and `user.max_user_namespaces`",
        )
    };
    match answer(&Program::new("bwrap").args(TRIAL), LIMIT).await {
        Ok(ended) if ended.status.success() => found.clone().detail("user namespaces work"),
        Ok(ended) => broken(ended.complaint().to_owned()),
        Err(silence) => broken(silent(Subject::Sandbox, BUBBLEWRAP, &silence).detail.unwrap_or_default()),
    }
}

/// Asks the kernel for Landlock. Nothing is restricted by asking.
#[cfg(target_os = "linux")]
pub(super) fn landlock() -> Finding {
    use landlock::{ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr};

    let has = |abi: ABI| {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        ruleset.handle_access(AccessFs::from_all(abi)).is_ok_and(|ruleset| ruleset.create().is_ok())
    };
    // Those at which what files can be kept from has grown.
    let newest = [(ABI::V5, "5"), (ABI::V3, "3"), (ABI::V2, "2"), (ABI::V1, "1")]
        .into_iter()
        .find(|(abi, _)| has(*abi));
    let found = |state| Finding::new(Subject::Sandbox, "landlock", state);
    match newest {
        Some((_, version)) => {
            found(State::Works).detail(format!("the kernel has version {version} or newer"))
        }
        None => {
            found(State::Missing).hint("Linux 5.13 or newer, with `landlock` in the kernel's parameter `lsm`")
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn landlock() -> Finding {
    Finding::new(Subject::Sandbox, "landlock", State::Missing).hint("it is a part of Linux")
}
