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
        let from_new = git.clone().env("GIT_ATTR_SOURCE", new.as_str());
        let attributes = from_new.feed(["check-attr", "-z", "--stdin", "filter"], changed).await?;
        if !attributes.is_success() {
            return Err(attributes.refused("read the attributes of files", git.cwd()));
        }
        let fields: Vec<&[u8]> = attributes.stdout.split(|byte| *byte == 0).collect();
        let triples = fields.chunks_exact(3);
        let filtered = triples.filter(|triple| filters.contains(triple[2]));
        Ok(filtered.map(|triple| triple[0].to_vec()).collect())
    }
}
