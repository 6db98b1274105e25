//! Git, and the programs that some uses need.

use futures_util::future::BoxFuture;
use sandcastle::sandbox::Program;

use super::{Finding, LIMIT, State, Subject};
use crate::programs::{Ended, Silence, answer};

/// A program that is asked for its version.
struct Tool {
    name: &'static str,
    ask: &'static str,
    purpose: &'static str,
    hint: &'static str,
}

const TOOLS: &[Tool] = &[
    Tool {
        name: "socat",
        ask: "-V",
        purpose: "lets sandboxes reach named hosts only",
        hint: "install the package `socat`",
    },
    Tool {
        name: "ssh",
        ask: "-V",
        purpose: "sandboxes on other machines",
        hint: "install the OpenSSH client",
    },
    Tool {
        name: "gh",
        ask: "--version",
        purpose: "issues and pull requests on GitHub",
        hint: "https://cli.github.com says how to install it",
    },
];

pub(super) fn probes() -> impl Iterator<Item = BoxFuture<'static, Finding>> {
    TOOLS.iter().map(|tool| Box::pin(probe(tool)) as BoxFuture<'static, Finding>)
}

async fn probe(tool: &'static Tool) -> Finding {
    let program = Program::new(tool.name).args([tool.ask]);
    of_answer(Subject::Tool, tool.name, answer(&program, LIMIT).await).detail(tool.purpose).hint(tool.hint)
}

/// Looks for git. Worktrees that lock, and merges beside a repository, need version 2.38.
pub(super) async fn git() -> Finding {
    let hint = "install git 2.38 or newer";
    let found = of_answer(Subject::Git, "git", answer(&Program::new("git").args(["--version"]), LIMIT).await);
    let too_old = found.version.as_deref().and_then(release).is_some_and(|release| release < (2, 38));
    let state = if too_old { State::Broken } else { found.state };
    let found = Finding { state, ..found };
    if too_old { found.detail("it is too old") } else { found }.hint(hint)
}

/// Reads the two leading numbers of a version.
fn release(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Says of a program what its answer about its version says.
pub(super) fn of_answer(subject: Subject, name: &'static str, answer: Result<Ended, Silence>) -> Finding {
    match answer {
        Ok(ended) if ended.status.success() => {
            let found = ended.all_lines().find_map(version).unwrap_or_else(|| ended.first_line());
            Finding::new(subject, name, State::Works).version(found)
        }
        Ok(ended) => Finding::new(subject, name, State::Broken).detail(ended.complaint()),
        Err(silence) => silent(subject, name, &silence),
    }
}

/// Says of a program what its silence says.
pub(super) fn silent(subject: Subject, name: &'static str, silence: &Silence) -> Finding {
    match silence {
        Silence::Absent => Finding::new(subject, name, State::Missing),
        Silence::TooLong(limit) => {
            let detail = format!("it did not answer within {} s", limit.as_secs());
            Finding::new(subject, name, State::Broken).detail(detail)
        }
        Silence::Failed(error) => Finding::new(subject, name, State::Broken).detail(error.to_string()),
    }
}

/// Finds the version in a line: the first word with a digit and a dot, without what is around it.
fn version(line: &str) -> Option<&str> {
    let words =
        line.split([' ', ',', '_']).map(|word| word.trim_start_matches(['v', '(']).trim_end_matches(')'));
    words.into_iter().find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_programs_say() {
        for (line, found) in [
            ("git version 2.47.3", "2.47.3"),
            ("2.1.197 (Claude Code)", "2.1.197"),
            ("codex-cli 0.171.0", "0.171.0"),
            ("Docker version 28.1.1, build 4eba377", "28.1.1"),
            ("OpenSSH_9.2p1 Debian-2+deb12u3, OpenSSL 3.0.15", "9.2p1"),
            ("bubblewrap 0.8.0", "0.8.0"),
            ("v22.1.0", "22.1.0"),
            ("socat version 1.7.4.4 on 06 Nov 2022", "1.7.4.4"),
        ] {
            assert_eq!(version(line), Some(found), "{line}");
        }
        assert_eq!(version("socat by Somebody - see www.example.org"), None);
    }

    #[test]
    fn an_old_git_is_told_from_a_new_one() {
        assert!(release("2.9.5").unwrap() < (2, 38));
        assert!(release("2.38.1").unwrap() >= (2, 38));
        assert!(release("3.0").unwrap() > (2, 38));
        assert_eq!(release("next"), None);
    }
}
