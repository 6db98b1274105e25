//! Which files git would write unfiltered, because the filter is one that the repository names and that is not run.

use super::repository::Repository;
use crate::error::Result;
use crate::id::CommitId;

impl Repository {
    /// Lists the files that differ between two commits and need a filter that only the repository's own configuration
    /// defines; written without it, they would not be what the user expects.
    ///
    /// # Errors
    /// [`ErrorKind::Git`](crate::ErrorKind::Git) when git cannot compare the commits.
    pub(crate) async fn filtered_between(&self, old: &CommitId, new: &CommitId) -> Result<Vec<Vec<u8>>> {
        let git = self.git();
        let listing = git.listing().await?;
        let filters = listing.overrides.filters();
        if filters.is_empty() {
            return Ok(Vec::new());
        }
        let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", old, new];
        let changed = git.does("compare the commits", args).await?.stdout;
        let given = self.filters_at(new, changed).await?;
        let filtered = given.into_iter().filter(|(_, filter)| filters.contains(filter.as_slice()));
        Ok(filtered.map(|(path, _)| path).collect())
    }

    /// Reads which filters the attributes of a commit give to paths, each of which ends in a NUL.
    ///
    /// # Errors
    /// [`ErrorKind::Git`](crate::ErrorKind::Git) when git cannot read them.
    pub(super) async fn filters_at(
        &self,
        commit: &CommitId,
        paths: Vec<u8>,
    ) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let git = self.git().clone().env("GIT_ATTR_SOURCE", commit.as_str());
        let attributes = git.feed(["check-attr", "-z", "--stdin", "filter"], paths).await?;
        if !attributes.is_success() {
            return Err(attributes.refused("read the attributes of files", git.cwd()));
        }
        let fields: Vec<&[u8]> = attributes.stdout.split(|byte| *byte == 0).collect();
        let triples = fields.chunks_exact(3);
        Ok(triples.map(|triple| (triple[0].to_vec(), triple[2].to_vec())).collect())
    }
}
