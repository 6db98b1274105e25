//! Files whose contents are in no commit, since git-lfs keeps them elsewhere: there is a pointer in their place.
//!
//! Git alone pushes the pointers. What they point to is pushed by a hook of git-lfs, and no hook runs here.

use std::collections::{BTreeMap, BTreeSet};

use super::repository::Repository;
use crate::error::Result;
use crate::id::CommitId;

/// How a pointer begins.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";
/// The longest that git-lfs takes for one, in bytes.
const MAX_POINTER: usize = 1024;

impl Repository {
    /// Lists the files that are pointers in commits which `tip` has and none of `known`. They are those that the attributes at
    /// `tip` give to git-lfs; a file that was committed where git-lfs was not installed is no pointer.
    ///
    /// # Errors
    /// [`ErrorKind::Git`](crate::ErrorKind::Git) when the commits cannot be read.
    pub(crate) async fn new_pointers(
        &self,
        tip: &CommitId,
        known: [&CommitId; 2],
    ) -> Result<BTreeSet<Vec<u8>>> {
        let known = known.map(|known| format!("^{known}"));
        let args = ["rev-list", "--objects", "--filter=object:type=blob", tip, &known[0], &known[1]];
        let listed = self.git().does("list the files of new commits", args).await?.stdout;
        // Each content is listed with one of the paths that it has; a line without any is a commit.
        let line = |line: &[u8]| {
            let space = line.iter().position(|byte| *byte == b' ')?;
            Some((line[space + 1..].to_vec(), line[..space].to_vec())).filter(|(path, _)| !path.is_empty())
        };
        let files: BTreeMap<Vec<u8>, Vec<u8>> =
            listed.split(|byte| *byte == b'\n').filter_map(line).collect();
        let paths = files.keys().flat_map(|path| [path.as_slice(), b"\0"]).collect::<Vec<_>>().concat();
        let filters = self.filters_at(tip, paths).await?;
        let large: Vec<Vec<u8>> =
            filters.into_iter().filter(|(_, filter)| filter == b"lfs").map(|(path, _)| path).collect();
        let ids: Vec<&[u8]> = large.iter().filter_map(|path| files.get(path)).map(Vec::as_slice).collect();
        let pointers = self.pointers_among(&ids).await?;
        let is_pointer = |path: &Vec<u8>| files.get(path).is_some_and(|id| pointers.contains(id));
        Ok(large.into_iter().filter(is_pointer).collect())
    }

    /// Lists those of these contents that are pointers.
    async fn pointers_among(&self, ids: &[&[u8]]) -> Result<BTreeSet<Vec<u8>>> {
        let sized = ["cat-file", "--batch-check=%(objectsize) %(objectname)"];
        let sized = self.git().feed(sized, ids.join(&b'\n')).await?.stdout;
        let mut pointers = BTreeSet::new();
        for line in String::from_utf8_lossy(&sized).lines() {
            let Some((size, id)) = line.split_once(' ') else { continue };
            if size.parse().is_ok_and(|size: usize| size <= MAX_POINTER)
                && self.git().ask(["cat-file", "blob", id]).await?.stdout.starts_with(POINTER)
            {
                pointers.insert(id.as_bytes().to_vec());
            }
        }
        Ok(pointers)
    }
}
