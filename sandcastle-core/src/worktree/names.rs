//! Names: which a branch may have, which a temporary one gets, and the folder that belongs to it.
//!
//! Pure text. A branch name often comes from a model and ends up in scripts that people write around a run, so what is
//! allowed is a good deal narrower than what git allows.

use crate::error::{Error, ErrorKind, Result};
use crate::id::{BranchName, RunId};

/// The longest name of a branch, in bytes; its lock and its log have to fit into a file name.
const MAX_BRANCH: usize = 200;
/// How much of a branch name is repeated in front of a hash.
const MAX_READABLE: usize = 80;
/// How much of the name of a run becomes part of a branch.
const MAX_LABEL: usize = 40;
/// What the branches that runs make for themselves begin with.
const TEMPORARY: &str = "sandcastle/";

/// Checks the name of a branch that a caller gave.
pub(crate) fn checked_branch(name: &str) -> Result<BranchName> {
    match flaw_of(name) {
        None => Ok(BranchName::from_git(name)),
        Some(flaw) => {
            let shown = name.escape_debug().to_string();
            Err(Error::new(ErrorKind::InvalidOptions, format!("use `{shown:.80}` as a branch: {flaw}"))
                .with_hint("a branch name is made of letters, digits, `/`, `-`, `_`, `.`, `+`, `=`, `,`, `#`, `%` and `@`"))
        }
    }
}

fn flaw_of(name: &str) -> Option<String> {
    let bad = |c: char| !(c.is_alphanumeric() || "/-_.+=,#%@".contains(c));
    if name.is_empty() {
        return Some("the name is empty".to_owned());
    }
    if name.len() > MAX_BRANCH {
        return Some(format!("the name has {} bytes, {MAX_BRANCH} are allowed", name.len()));
    }
    if let Some(c) = name.chars().find(|c| bad(*c)) {
        return Some(format!("`{}` is not allowed in it", c.escape_debug()));
    }
    if matches!(name, "HEAD" | "@") {
        return Some("git has another meaning for it".to_owned());
    }
    let is_id = |length| name.len() == length && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id(40) || is_id(64) {
        return Some("it looks like the id of a commit".to_owned());
    }
    if name.contains("..") || name.ends_with('.') {
        return Some("it contains `..` or ends with `.`".to_owned());
    }
    name.split('/').find_map(|part| match part {
        "" => Some("a part between its slashes is empty".to_owned()),
        part if part.starts_with(['-', '.']) => Some(format!("`{part}` begins with `-` or `.`")),
        part if part.to_ascii_lowercase().ends_with(".lock") => Some(format!("`{part}` ends with `.lock`")),
        _ => None,
    })
}

/// Checks the name of a commit that a caller gave, as far as that can be told without a repository.
pub(crate) fn checked_revision(revision: &str) -> Result<()> {
    match flaw_of_revision(revision) {
        None => Ok(()),
        Some(flaw) => {
            let shown = revision.escape_debug().to_string();
            Err(Error::new(ErrorKind::InvalidOptions, format!("begin the branch at `{shown:.80}`: {flaw}"))
                .with_hint("name a branch, a tag or the id of a commit"))
        }
    }
}

fn flaw_of_revision(revision: &str) -> Option<&'static str> {
    if revision.is_empty() {
        return Some("the name is empty");
    }
    if revision.contains(char::is_control) {
        return Some("it has a control character");
    }
    if revision.starts_with('-') {
        return Some("it begins with `-`");
    }
    // Behind these, git reads a language of its own.
    if revision.contains([':', '{']) {
        return None;
    }
    if revision.contains("..") {
        return Some("it is a range, with `..` in it");
    }
    let name = revision.split(['^', '~']).next().unwrap_or_default();
    let is_wrong = |part: &str| part.is_empty() || part.ends_with(['.', ' ']) || part.ends_with(".lock");
    let is_refused = name.contains([' ', '?', '*', '[', '\\']) || name.split('/').any(is_wrong);
    is_refused.then_some("git has no such names")
}

/// Finds a branch that rules out `name`, because one of the two would have to be the folder of the other.
pub(crate) fn branch_in_the_way<'a>(
    name: &BranchName,
    mut branches: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let is_below =
        |lower: &str, upper: &str| lower.strip_prefix(upper).is_some_and(|rest| rest.starts_with('/'));
    branches.find(|other| is_below(name, other) || is_below(other, name))
}

/// Returns what the temporary branches of a run are called; the later ones have a number behind it.
pub(crate) fn temporary_branch(run: &RunId, label: Option<&str>) -> String {
    let label: String = label
        .unwrap_or_default()
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' })
        .take(MAX_LABEL)
        .collect();
    match label.trim_matches('-') {
        "" => format!("{TEMPORARY}{run}"),
        label => format!("{TEMPORARY}{label}/{run}"),
    }
}

/// Tells whether a run made a branch of this name for itself.
pub(crate) fn is_temporary(branch: &BranchName) -> bool {
    let Some(rest) = branch.strip_prefix(TEMPORARY) else { return false };
    let (label, id) = rest.split_once('/').unwrap_or(("x", rest));
    let is_label = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_run = |id: &str| RunId::new(id).is_ok() && !id.contains(|c: char| c.is_ascii_uppercase());
    let without_number = id.rsplit_once('-').filter(|(_, number)| is_number(number)).map(|(id, _)| id);
    !label.is_empty() && label.chars().all(is_label) && (is_run(id) || without_number.is_some_and(is_run))
}

/// Tells whether this is the number of an iteration as it is written behind a branch.
fn is_number(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the name of the folder that belongs to a branch, and to no other.
///
/// - A name of lower-case ASCII letters, digits, `-`, `_` and `.` is the name of the folder.
/// - A temporary branch has its slashes replaced by dashes: `sandcastle-20261130-094312-5f3a9c`.
/// - Any other name has whatever else is in it replaced by dashes, is cut, and has a hash of the whole behind it:
///   `agent-fix-42-0f3a9c51`. A plain name that looks like one of these two forms is hashed as well.
pub(crate) fn folder_of(branch: &BranchName) -> String {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    if is_temporary(branch) {
        return branch.replace('/', "-");
    }
    let looks_hashed = branch
        .rsplit_once('-')
        .is_some_and(|(_, end)| end.len() == 8 && end.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let is_folder = branch.len() <= MAX_READABLE
        && branch.chars().all(is_plain)
        && !looks_hashed
        && !branch.starts_with("sandcastle-");
    if is_folder {
        return branch.to_string();
    }
    let readable = |c: char| if is_plain(c) || c.is_ascii_uppercase() { c } else { '-' };
    let readable: String = branch.chars().map(readable).take(MAX_READABLE).collect();
    format!("{readable}-{:08x}", hash(branch))
}

/// Folds FNV-1a, which is the same on every machine and in every version, into 32 bits.
fn hash(text: &str) -> u32 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let [a, b, c, d, e, f, g, h] = hash.to_be_bytes();
    u32::from_be_bytes([a ^ e, b ^ f, c ^ g, d ^ h])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(branch: &str) -> String {
        folder_of(&BranchName::from_git(branch))
    }

    #[test]
    fn w_2_names_that_a_shell_or_git_reads_otherwise_are_refused() {
        for good in ["main", "agent/fix-42", "fix/#42", "fëature", "v1.2+rc=3", "a@b", "x/y/z"] {
            assert_eq!(checked_branch(good).unwrap(), good);
        }
        let bad = [
            "",
            "-x",
            "a/-x",
            "x$(cmd)",
            "x`cmd`",
            "a b",
            "a\tb",
            "a\nb",
            "a\u{0}",
            "a\"b",
            "a'b",
            "a;b",
            "a|b",
            "a&b",
            "a<b",
            "a>b",
            "a*b",
            "a?b",
            "a[b",
            "a\\b",
            "a~1",
            "a^",
            "a:b",
            "a{b",
            "@{-1}",
            "a!b",
            "(a)",
            "..",
            "fix..x",
            ".a",
            "a/.b",
            "a.",
            "a.lock",
            "a.LOCK",
            "a.lock/b",
            "/a",
            "a/",
            "a//b",
            "HEAD",
            "@",
            "\u{202e}a",
            &"a".repeat(201),
            &"0".repeat(40),
        ];
        for name in bad {
            let error = checked_branch(name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidOptions, "{name:?}");
            assert!(!error.to_string().contains(char::is_control), "{error}");
        }
    }

    #[test]
    fn names_that_no_commit_can_have_are_refused() {
        for good in [
            "main",
            "v1.2",
            "HEAD~2",
            "main^",
            "@",
            "HEAD@{2 days ago}",
            ":/a..b",
            "abc123",
            "x!y/z",
            "a^{/b c}",
        ] {
            assert_eq!(checked_revision(good).ok(), Some(()), "{good}");
        }
        for bad in [
            "", "-rf", "a..b", "a...b", "x.lock", "x.lock/y", "a b", "a\nb", "a\0", "/a", "a/", "a*", "^",
            "a.",
        ] {
            let error = checked_revision(bad).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidOptions, "{bad:?}");
            assert!(!error.to_string().contains(char::is_control), "{error}");
        }
    }

    #[test]
    fn a_branch_cannot_be_the_folder_of_another() {
        let in_the_way = |name: &str, all: &[&'static str]| {
            branch_in_the_way(&BranchName::from_git(name), all.iter().copied())
        };
        assert_eq!(in_the_way("feat/x", &["main", "feat"]), Some("feat"));
        assert_eq!(in_the_way("feat", &["feat/x/y"]), Some("feat/x/y"));
        assert_eq!(in_the_way("feat", &["feat", "feature/x", "feat-x"]), None);
    }

    #[test]
    fn temporary_branches_carry_the_run_and_its_name() {
        let run = RunId::new("20261130-094312-5f3a9c").unwrap();
        assert_eq!(temporary_branch(&run, None), "sandcastle/20261130-094312-5f3a9c");
        let named = temporary_branch(&run, Some("My/agent.v2"));
        assert_eq!(named, "sandcastle/my-agent-v2/20261130-094312-5f3a9c");
        assert_eq!(temporary_branch(&run, Some("../ é")), "sandcastle/20261130-094312-5f3a9c");
        assert!(checked_branch(&temporary_branch(&run, Some(&"é/x".repeat(500)))).is_ok());
        for name in [&named, &format!("{named}-2"), "sandcastle/20261130-094312-5f3a9c-17"] {
            assert!(is_temporary(&BranchName::from_git(name)), "{name}");
        }
        for name in [
            "sandcastle/x",
            "sandcastle/20261130-094312-5f3a9c-0",
            "sandcastle//20261130-094312-5f3a9c",
            "main",
        ] {
            assert!(!is_temporary(&BranchName::from_git(name)), "{name}");
        }
    }

    #[test]
    fn w_9_no_two_branches_share_a_folder() {
        assert_eq!(folder("fix-42"), "fix-42");
        assert_eq!(folder("sandcastle/20261130-094312-5f3a9c-2"), "sandcastle-20261130-094312-5f3a9c-2");
        assert!(folder("agent/fix-42").starts_with("agent-fix-42-"));
        let hashed = folder("a/b");
        let branches = [
            "a/b",
            "a-b",
            "x",
            "X",
            &hashed,
            "fë",
            "fé",
            "f-",
            "sandcastle/20261130-094312-5f3a9c",
            "sandcastle-20261130-094312-5f3a9c",
            "sandcastle/a/20261130-094312-5f3a9c",
            "sandcastle/A/20261130-094312-5f3a9c",
            "sandcastle-a-20261130-094312-5f3a9c",
            &format!("{}1", "x/".repeat(90)),
            &format!("{}2", "x/".repeat(90)),
        ];
        let folders: std::collections::HashSet<String> =
            branches.iter().map(|branch| folder(branch).to_lowercase()).collect();
        assert_eq!(folders.len(), branches.len(), "{folders:?}");
        assert!(folders.iter().all(|folder| folder.len() <= 100 && !folder.contains('/')));
    }

    #[test]
    fn the_hash_stays_what_it_is() {
        assert_eq!(folder("a/b"), "a-b-e2480c78");
    }
}
