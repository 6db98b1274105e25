//! Who makes the commits of a run.
//!
//! Read from git as data, handed on by the environment; no configuration is written.

use super::overrides::Key;
use super::repository::Repository;
use crate::error::Result;

/// How many characters a name or an address may have.
const MAX_CHARS: usize = 200;

/// A name and an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    name: String,
    email: String,
}

impl Default for Identity {
    fn default() -> Self {
        Self { name: "Sandcastle".to_owned(), email: "sandcastle@localhost".to_owned() }
    }
}

impl Identity {
    /// Returns the variables by which git takes it.
    pub(crate) fn variables(&self) -> [(&'static str, &str); 4] {
        [
            ("GIT_AUTHOR_NAME", &self.name),
            ("GIT_AUTHOR_EMAIL", &self.email),
            ("GIT_COMMITTER_NAME", &self.name),
            ("GIT_COMMITTER_EMAIL", &self.email),
        ]
    }
}

impl Repository {
    /// Reads the user's identity; what is not set is taken from [`Identity::default`].
    ///
    /// # Errors
    /// [`ErrorKind::Git`](crate::ErrorKind::Git) when the configuration cannot be read.
    pub(crate) async fn identity(&self) -> Result<Identity> {
        let answer = self.git().ask(["config", "-z", "--get-regexp", "^user\\.(name|email)$"]).await?;
        // Git ends with 1 when there is none.
        if !matches!(answer.code, Some(0 | 1)) {
            return Err(answer.refused("read `user.name` and `user.email`", self.git().cwd()));
        }
        let mut identity = Identity::default();
        for entry in answer.stdout.split(|byte| *byte == 0) {
            let Some(at) = entry.iter().position(|byte| *byte == b'\n') else { continue };
            let Some(value) = usable(&entry[at + 1..]) else { continue };
            match Key::parse(&entry[..at]).map(|key| key.name) {
                Some("name") => identity.name = value,
                Some("email") => identity.email = value,
                _ => {}
            }
        }
        Ok(identity)
    }
}

/// Drops what git would refuse or what would not fit into a commit; `None` if nothing is left.
fn usable(value: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(value);
    let kept: String = text.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>')).collect();
    let short: String = kept.trim().chars().take(MAX_CHARS).collect();
    // Git strips punctuation at the ends of a name, and refuses what is then empty.
    short.contains(char::is_alphanumeric).then_some(short)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ScratchRepo;

    #[tokio::test]
    async fn the_identity_is_read_as_data_and_has_a_default() {
        let scratch = ScratchRepo::new().await.unwrap();
        let repository = Repository::discover(scratch.path()).await.unwrap();
        let identity = repository.identity().await.unwrap();
        assert_eq!(identity.variables()[0], ("GIT_AUTHOR_NAME", "Scratch"));
        assert_eq!(identity.variables()[3], ("GIT_COMMITTER_EMAIL", "scratch@example.invalid"));
        for hostile in ["$(touch x) <evil>\n", "...", ""] {
            scratch.git(["config", "user.name", hostile]).await.unwrap();
            let name = repository.identity().await.unwrap().name;
            assert!(name == "$(touch x) evil" || !name.is_empty() && !name.contains(['<', '\n']), "{name}");
        }
    }
}
