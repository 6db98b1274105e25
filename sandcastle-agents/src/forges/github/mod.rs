//! GitHub, over its REST and GraphQL interfaces.

/// Names a repository on GitHub.
#[derive(Clone, Debug)]
pub struct GitHub {
    repository: String,
}

impl GitHub {
    /// Names a repository, as `owner/name`.
    #[must_use]
    pub fn new(repository: impl Into<String>) -> Self {
        Self { repository: repository.into() }
    }

    /// Returns the repository's name.
    #[must_use]
    pub fn repository_name(&self) -> &str {
        &self.repository
    }
}
