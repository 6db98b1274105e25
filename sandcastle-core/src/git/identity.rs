//! Who makes the commits of a run.
//!
//! Read from git as data, handed on by the environment; no configuration is written.

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
        let listing = self.git().listing().await?;
        let Identity { name, email } = Identity::default();
        let value_of = |key| listing.value(key).and_then(usable);
        Ok(Identity {
            name: value_of("user.name").unwrap_or(name),
            email: value_of("user.email").unwrap_or(email),
        })
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
