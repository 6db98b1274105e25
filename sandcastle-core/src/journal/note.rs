//! What a journal says: its first line, and the notes that follow it.
//!
//! One JSON object a line. Field names are fixed by this file; a reader skips fields that it does not know and keeps
//! notes that it does not know, so that an older `sandcastle` can read what a newer one wrote.

use std::ffi::OsString;
use std::ops::Deref;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::report::Outcome;
use crate::process::ProcessIdentity;
use crate::work::Commit;

/// The version of what is written here.
pub(super) const VERSION: u32 = 1;

/// What is known of a run before it does anything.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Begun {
    pub(crate) name: Option<String>,
    pub(crate) agent: String,
    pub(crate) model: Option<String>,
    pub(crate) sandbox: String,
    pub(crate) strategy: String,
    /// The folder that the run was asked to work in.
    pub(crate) cwd: StoredPath,
    /// The root of the work tree that it is in.
    pub(crate) repository: StoredPath,
    /// The branch that the agent works on, as far as that is known by now.
    pub(crate) source_branch: Option<String>,
    /// The branch that its commits are to land on.
    pub(crate) target_branch: Option<String>,
}

/// The first line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Head {
    /// The version of the journal.
    pub(super) journal: u32,
    pub(super) run: String,
    pub(super) started_at: String,
    /// The process that drives the run.
    pub(super) owner: ProcessIdentity,
    /// The mark of everything that the run starts.
    pub(super) mark: String,
    #[serde(flatten)]
    pub(super) begun: Begun,
}

/// Something that a run came to own, or did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "kebab-case")]
pub(crate) enum Note {
    /// It works in this worktree. To be written before the worktree is made.
    Worktree { path: StoredPath, branch: String, base: Option<String>, origin: Origin },
    /// It is done with that worktree.
    WorktreeClosed { path: StoredPath, fate: Fate },
    /// It works in this work tree, which is the user's own. What it commits is counted from `base`, and from where the log of
    /// the `HEAD` had come to. The last note of this kind counts.
    InPlace { path: StoredPath, branch: String, base: Option<String>, log_end: u64 },
    /// It started a program whose descendants carry `mark`.
    Process { pid: u32, start: Option<u64>, mark: String },
    /// That program is gone, and what it started.
    ProcessEnded { pid: u32 },
    /// It made a sandbox that outlives its maker.
    Sandbox { provider: String, id: String },
    /// That sandbox is gone.
    SandboxClosed { id: String },
    /// It keeps a schema in this folder of the host. To be written before the folder is made.
    Scratch { path: StoredPath },
    /// That folder is gone.
    ScratchRemoved,
    /// The agent named its conversation.
    Session { id: String, file: Option<StoredPath> },
    /// The work is done, and the agent is asked for the answer in this session.
    Extracting { session: String },
    /// The contract of the answer.
    Output { tag: String, format: Format, schema: Value },
    /// The agent finished its turn with this block.
    Answered { block: String },
    /// The block was good and this is its value.
    Accepted { value: Value },
    /// The commits that the run has brought so far, oldest first. The last note of this kind counts.
    Commits { commits: Vec<NotedCommit> },
    /// It is about to move `target` so that it holds `tip`. To be written before that.
    Landing { source: String, tip: String, target: String },
    /// It has moved the target.
    Landed { target: String, commit: String },
    /// It is over.
    Ended {
        outcome: Outcome,
        error: Option<String>,
        /// Whether something that it owned is still there.
        #[serde(default)]
        keeps: bool,
    },
    /// Somebody was shown what it had left.
    Recovered {
        /// Where its branch stood then, if it worked in the user's own work tree: what came later is not its doing.
        #[serde(default)]
        tip: Option<String>,
    },
}

/// Says whether a run made a worktree or found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Origin {
    Fresh,
    Reused,
}

/// Says what became of a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Fate {
    Removed,
    Preserved,
}

/// Says how the block of an answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    Json,
    Text,
}

/// A commit as it was noted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NotedCommit {
    pub(crate) sha: String,
    pub(crate) subject: String,
}

impl From<&Commit> for NotedCommit {
    fn from(commit: &Commit) -> Self {
        Self { sha: commit.sha.to_string(), subject: commit.subject.clone() }
    }
}

/// A path that comes back as it was, also if it is not text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StoredPath(PathBuf);

impl<P: Into<PathBuf>> From<P> for StoredPath {
    fn from(path: P) -> Self {
        Self(path.into())
    }
}

impl Deref for StoredPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

/// The two forms of a path in JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PathForm {
    Text(String),
    Bytes { bytes: Vec<u8> },
}

impl Serialize for StoredPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => PathForm::Bytes { bytes: self.0.as_os_str().as_bytes().to_vec() }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for StoredPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let path = match PathForm::deserialize(deserializer)? {
            PathForm::Text(text) => PathBuf::from(text),
            PathForm::Bytes { bytes } => PathBuf::from(OsString::from_vec(bytes)),
        };
        // What is not absolute would mean another place in every folder.
        if path.is_absolute() { Ok(Self(path)) } else { Err(D::Error::custom("a path is not absolute")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_not_text_comes_back_as_it_was() {
        for bytes in [&b"/a/b"[..], b"/a/\xff\n", "/ä".as_bytes()] {
            let path = StoredPath::from(OsString::from_vec(bytes.to_vec()));
            let json = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<StoredPath>(&json).unwrap(), path, "{json}");
        }
        assert!(serde_json::from_str::<StoredPath>("\"a/b\"").is_err());
    }

    #[test]
    fn every_note_comes_back_as_it_was() {
        let path = StoredPath::from("/w");
        let notes = [
            Note::Worktree { path: path.clone(), branch: "b".into(), base: None, origin: Origin::Fresh },
            Note::WorktreeClosed { path, fate: Fate::Removed },
            Note::InPlace { path: StoredPath::from("/u"), branch: "b".into(), base: None, log_end: 3 },
            Note::Process { pid: 1, start: Some(2), mark: "M".into() },
            Note::Accepted { value: serde_json::json!({ "note": "x", "at": 1 }) },
            Note::Ended { outcome: Outcome::Failed, error: Some("e".into()), keeps: true },
            Note::Recovered { tip: Some("t".into()) },
        ];
        for note in notes {
            let json = serde_json::to_value(&note).unwrap();
            assert_eq!(serde_json::from_value::<Note>(json).unwrap(), note);
        }
        let older = serde_json::json!({ "note": "recovered", "at": "2026-11-30T09:43:12Z" });
        assert_eq!(serde_json::from_value::<Note>(older).unwrap(), Note::Recovered { tip: None });
    }
}
