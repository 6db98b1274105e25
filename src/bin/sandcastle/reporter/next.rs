//! Command lines to go on with, ready to be pasted into a shell.

use std::fmt;
use std::path::Path;

use sandcastle::RunId;

/// The command line that continues a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Resume<'a> {
    pub(crate) agent: &'a str,
    pub(crate) model: Option<&'a str>,
    /// The flags that say which sandbox it goes on in, with their values.
    pub(crate) sandbox: Vec<(&'static str, Option<String>)>,
    /// The folder to go on in, if it is not the current one.
    pub(crate) folder: Option<&'a Path>,
    /// The branch strategy to go on with, if it is not that of the folder.
    pub(crate) strategy: Option<String>,
    pub(crate) session: &'a str,
}

impl fmt::Display for Resume<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.model.map(str::to_owned);
        let folder = self.folder.map(|folder| folder.to_string_lossy().into_owned());
        write!(f, "sandcastle run --agent {}", quoted(self.agent))?;
        let given = |flag, value: Option<String>| value.map(|value| (flag, Some(value)));
        let place =
            given("--cwd", folder).into_iter().chain(given("--branch-strategy", self.strategy.clone()));
        for (flag, value) in given("--model", model).into_iter().chain(self.sandbox.clone()).chain(place) {
            write!(f, " {flag}")?;
            if let Some(value) = value {
                write!(f, " {}", quoted(&value))?;
            }
        }
        write!(f, " --resume {} --prompt '...'", quoted(self.session))
    }
}

/// Words the command line that goes on with the run of a workflow.
pub(crate) fn workflow(run: &RunId, file: &Path, cwd: Option<&Path>) -> String {
    let cwd = cwd.map(|cwd| format!(" --cwd {}", quoted(&cwd.to_string_lossy()))).unwrap_or_default();
    format!("sandcastle workflow run {} --resume {run}{cwd}", quoted(&file.to_string_lossy()))
}

/// Words the command line that shows a run.
pub(crate) fn show(run: &str, cwd: Option<&Path>) -> String {
    let cwd = cwd.map(|cwd| format!(" --cwd {}", quoted(&cwd.to_string_lossy()))).unwrap_or_default();
    format!("sandcastle runs show {run}{cwd}")
}

/// Writes a word so that a shell takes it for one word and nothing else.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-@:+,=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_word() {
        assert_eq!(quoted("/a/b-c.d"), "/a/b-c.d");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("$(x)'y"), r"'$(x)'\''y'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn what_is_resumed_where_is_said_only_if_it_has_to_be() {
        let resume = Resume {
            agent: "codex",
            model: None,
            sandbox: Vec::new(),
            folder: None,
            strategy: None,
            session: "x",
        };
        assert_eq!(resume.to_string(), "sandcastle run --agent codex --resume x --prompt '...'");
        let folder = Some(Path::new("/a b"));
        let sandbox = vec![("--sandbox", Some("docker".to_owned())), ("--container-writable-root", None)];
        let strategy = Some("branch:b".to_owned());
        let resume = Resume { model: Some("m"), sandbox, folder, strategy, ..resume };
        assert_eq!(
            resume.to_string(),
            "sandcastle run --agent codex --model m --sandbox docker --container-writable-root --cwd '/a b' \
             --branch-strategy branch:b --resume x --prompt '...'"
        );
    }
}
