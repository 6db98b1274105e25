//! What a container says of itself before anything is started in it, in words of shell that cost no further process.

use std::path::PathBuf;

use crate::process::quoted;

/// What was found inside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Findings {
    pub(super) uid: Option<u32>,
    /// Whether the work tree can be written.
    pub(super) writes_worktree: bool,
    /// Whether the work tree belongs to the user.
    pub(super) owns_worktree: bool,
    /// Whether the home is a folder that can be written.
    pub(super) writes_home: bool,
    pub(super) home: PathBuf,
    /// Programs that are needed and not there.
    pub(super) missing: Vec<String>,
    /// The first folder of those that were asked for which cannot be written.
    pub(super) closed: Option<usize>,
}

/// Programs without which nothing works.
const NEEDED: &str = "cat git grep mktemp rm sleep tr";

/// Writes the question; it is asked in the work tree. `parents` are folders that have to be writable.
pub(super) fn question(parents: &[PathBuf]) -> String {
    let mut script = String::from(
        "while read -r key value rest; do [ \"$key\" != Uid: ] || uid=$value; done </proc/self/status; ",
    );
    script.push_str("tree=; [ ! -w . ] || tree=w; [ ! -O . ] || tree=${tree}o; home=; [ ! -d \"$HOME\" ] || [ ! -w \"$HOME\" ] || home=w; ");
    script.push_str(&format!("missing=; for name in {NEEDED}; do command -v $name >/dev/null || missing=$missing,$name; done; closed=; "));
    for (number, parent) in parents.iter().enumerate() {
        script.push_str(&format!(
            "[ -n \"$closed\" ] || [ -w {} ] || closed={number}; ",
            quoted(&parent.to_string_lossy())
        ));
    }
    script.push_str("echo \"uid=$uid tree=$tree home=$home missing=$missing closed=$closed HOME=$HOME\"");
    script
}

/// Reads the answer.
pub(super) fn answer(said: &str) -> Option<Findings> {
    let (words, home) = said.split_once(" HOME=")?;
    let mut findings = Findings { home: PathBuf::from(home.trim_end()), ..Findings::default() };
    for (key, value) in words.split(' ').filter_map(|word| word.split_once('=')) {
        match key {
            "uid" => findings.uid = value.parse().ok(),
            "tree" => {
                findings.writes_worktree = value.contains('w');
                findings.owns_worktree = value.contains('o');
            }
            "home" => findings.writes_home = value == "w",
            "missing" => {
                findings.missing =
                    value.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
            }
            "closed" => findings.closed = value.parse().ok(),
            _ => {}
        }
    }
    Some(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Program, capture};

    #[tokio::test]
    async fn a_shell_answers_the_question() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("it's odd");
        std::fs::create_dir(&odd).unwrap();
        let script = question(&[odd.clone(), "/no/such".into(), "/nor/this".into()]);
        let program = Program::new("sh").args(["-c", &script]).cwd(&odd).env("HOME", &odd);
        let said = capture(&program, 4096, std::time::Duration::from_secs(10)).await.unwrap();
        let findings = answer(std::str::from_utf8(&said.stdout).unwrap()).unwrap();
        let uid = Some(rustix::process::geteuid().as_raw());
        let expected = Findings {
            uid,
            writes_worktree: true,
            owns_worktree: true,
            writes_home: true,
            home: odd,
            missing: Vec::new(),
            closed: Some(1),
        };
        assert_eq!(findings, expected);
    }

    #[test]
    fn what_is_no_answer_is_none() {
        assert_eq!(answer("sh: not found"), None);
        let poor = answer("uid= tree= home= missing=,git,tr closed= HOME=").unwrap();
        assert_eq!((poor.uid, poor.writes_worktree, poor.missing.len()), (None, false, 2));
    }
}
