//! Objects that somebody else made, taken over into the repository.
//!
//! Git fetches them from a folder of ours that has nothing but the ids that were found and looks for objects where somebody
//! else has put them, and checks them as it checks those of a server.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::borrowed::{Borrowed, FETCH};
use super::command::Git;
use super::repository::Repository;
use super::takeover::is_id;
use crate::error::{Error, ErrorKind, Result};

/// What the ids are called on the way.
const INCOMING: &str = "refs/sandcastle/incoming";

/// Checks of objects that say nothing about their safety; old commits fail them.
const LENIENT: &[&str] = &[
    "badDate",
    "badDateOverflow",
    "badEmail",
    "badName",
    "badTimezone",
    "missingEmail",
    "missingNameBeforeEmail",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "missingTaggerEntry",
    "multipleAuthors",
    "zeroPaddedDate",
    "zeroPaddedFilemode",
    "badFilemode",
];

/// A git folder of ours that sees objects of somebody else's, and those of the repository.
#[derive(Debug)]
pub(super) struct Passage {
    folder: TempDir,
    git: Git,
}

impl Passage {
    /// Sees the objects of the git folder `other`, and those of `repository`.
    pub(super) async fn over(other: &Path, repository: &Repository) -> Result<Self> {
        let objects = [other.join("objects"), repository.common_dir().join("objects")];
        let (folder, git) = Borrowed::passage(repository, &objects).await?;
        Ok(Self { folder, git })
    }

    /// Sees the objects of `repository`, and has a place for more.
    pub(super) async fn beside(repository: &Repository) -> Result<Self> {
        let (folder, git) = Borrowed::passage(repository, &[repository.common_dir().join("objects")]).await?;
        Ok(Self { folder, git })
    }

    /// Takes in what is in a bundle that leaves out what `known` leads to.
    pub(super) async fn unbundle(&self, bundle: &Path, known: &BTreeSet<&str>) -> Result<()> {
        self.name("known", known)?;
        let bundle = bundle.to_string_lossy();
        let args = FETCH.into_iter().chain(["--", &*bundle, "+refs/*:refs/bundle/*"]);
        let answer = self.git.reach(args).await?;
        if answer.is_success() { Ok(()) } else { Err(answer.refused("read a bundle", self.folder.path())) }
    }

    /// Writes a bundle of what some names lead to, without what is known. There may be nothing to write.
    pub(super) async fn bundle(
        &self,
        to: &Path,
        names: &[(&str, &str)],
        known: &BTreeSet<&str>,
    ) -> Result<()> {
        let refs: String = names.iter().map(|(name, id)| format!("{id} {name}\n")).collect();
        fs::write(self.folder.path().join("packed-refs"), refs)
            .map_err(|error| Error::new(ErrorKind::Io, "name what goes into a bundle").with_source(error))?;
        if names.iter().all(|(_, id)| known.contains(id)) {
            return Ok(());
        }
        let without: Vec<String> = known.iter().map(|id| format!("^{id}")).collect();
        let to = to.to_string_lossy();
        let args = ["bundle", "create", "--quiet", &to, "--all"]
            .into_iter()
            .chain(without.iter().map(String::as_str));
        self.git.does("write a bundle", args).await.map(drop)
    }

    fn name(&self, what: &str, ids: &BTreeSet<&str>) -> Result<()> {
        let refs =
            ids.iter().enumerate().map(|(number, id)| format!("{id} refs/sandcastle/{what}/{number}\n"));
        fs::write(self.folder.path().join("packed-refs"), refs.collect::<String>())
            .map_err(|error| Error::new(ErrorKind::Io, "name what is brought back").with_source(error))
    }

    /// Writes the tree of an index that somebody else has written; `None` if it has none, or says that it has another than it has.
    ///
    /// Git believes what an index says of the trees that it would make, and checks no path in it. So its entries are put into
    /// an index of ours, one by one, as a user would.
    pub(super) async fn tree_of(&self, index: &[u8]) -> Result<Option<String>> {
        let theirs = self.folder.path().join("index");
        fs::write(&theirs, index)
            .map_err(|error| Error::new(ErrorKind::Io, "copy what was staged inside").with_source(error))?;
        let theirs = self.git.clone().env("GIT_INDEX_FILE", theirs);
        let claimed = theirs.ask(["write-tree"]).await?;
        let Some(claimed) = claimed.line().filter(|id| is_id(id)) else { return Ok(None) };
        let listed = theirs.ask(["ls-files", "--stage", "-z"]).await?;
        let entries = self.without_intents(&listed.stdout, claimed).await?;
        let ours = self.git.clone().env("GIT_INDEX_FILE", self.folder.path().join("checked"));
        let taken = ours.feed(["update-index", "-z", "--index-info"], entries).await?;
        if !(listed.is_success() && taken.is_success()) {
            return Ok(None);
        }
        let tree = ours.ask(["write-tree"]).await?;
        Ok(tree.line().filter(|tree| *tree == claimed).map(str::to_owned))
    }

    /// Takes out the files that are to be added later: they are listed as if they were there and empty.
    async fn without_intents(&self, listed: &[u8], tree: &str) -> Result<Vec<u8>> {
        let empty = self.git.feed(["hash-object", "--stdin"], Vec::new()).await?;
        let empty = empty.line().unwrap_or_default().as_bytes();
        let lines = || listed.split_inclusive(|byte| *byte == 0);
        let is_empty = |line: &&[u8]| line.split(|byte| *byte == b' ').nth(1) == Some(empty);
        if !lines().any(|line| is_empty(&line)) {
            return Ok(listed.to_vec());
        }
        let there = self.git.ask(["ls-tree", "-r", "-z", "--name-only", "--full-tree", tree]).await?;
        let there: BTreeSet<&[u8]> = there.stdout.split_inclusive(|byte| *byte == 0).collect();
        let is_staged = |line: &&[u8]| {
            let path = line.iter().position(|byte| *byte == b'\t').map(|tab| &line[tab + 1..]);
            !is_empty(line) || path.is_some_and(|path| there.contains(path))
        };
        Ok(lines().filter(is_staged).flatten().copied().collect())
    }

    /// Fetches objects, those of `logged` if they are there.
    pub(super) async fn bring(
        &self,
        repository: &Repository,
        tips: &BTreeSet<&str>,
        logged: &[String],
    ) -> Result<()> {
        let there = self.there(logged).await?;
        let ids: BTreeSet<&str> = tips.iter().copied().chain(there.iter().map(String::as_str)).collect();
        if ids.is_empty() {
            return Ok(());
        }
        self.name("incoming", &ids)?;
        let lenient = LENIENT.iter().flat_map(|id| ["-c".to_owned(), format!("fetch.fsck.{id}=ignore")]);
        let (from, refspec) = (self.folder.path().to_string_lossy(), format!("+{INCOMING}/*:{INCOMING}/*"));
        let fetch =
            ["-c", "fetch.fsckObjects=true"].into_iter().chain(FETCH).chain(["--", &*from, &*refspec]);
        let args = lenient.chain(fetch.map(str::to_owned));
        let target = Borrowed::knowing(repository).await?;
        let answer = target.git().reach(args).await?;
        if answer.is_success() {
            Ok(())
        } else {
            Err(answer.refused("take over what was made inside", self.folder.path()))
        }
    }

    /// Returns those of some commits that are there with all that they need.
    async fn there(&self, ids: &[String]) -> Result<Vec<String>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let lines: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let answer = self
            .git
            .feed(["cat-file", "--batch-check=%(objectname) %(objecttype)"], lines.into_bytes())
            .await?;
        let text = String::from_utf8_lossy(&answer.stdout);
        let commits = text.lines().filter_map(|line| line.strip_suffix(" commit"));
        Ok(commits.map(str::to_owned).collect())
    }
}
