//! Journals that are written through the door of the run, held against real repositories and real processes.

mod cleaning;
mod hostile;
mod reading;
mod recovering;

use std::fs;
use std::path::{Path, PathBuf};

use super::writer::JOURNAL;
use super::{Begun, Fate, Journal, Note, Origin, Runs, note::StoredPath};
use crate::config::{ConfigDir, Kept};
use crate::id::RunId;
use crate::process::{Leftovers, Mark, Program};
use crate::testing::ScratchRepo;

/// A repository in which runs are begun, and killed.
struct Scene {
    repository: ScratchRepo,
    config: ConfigDir,
}

/// A run that was begun, with a worktree of its own.
struct Begin {
    id: RunId,
    journal: Journal,
    worktree: PathBuf,
    branch: String,
}

impl Scene {
    async fn new() -> Self {
        let repository = ScratchRepo::new().await.unwrap();
        let config = ConfigDir::in_folder(&repository.path().canonicalize().unwrap());
        Self { repository, config }
    }

    async fn runs(&self) -> Runs {
        Runs::of(self.repository.path()).await.unwrap()
    }

    async fn git<const N: usize>(&self, args: [&str; N]) -> String {
        self.repository.git(args).await.unwrap()
    }

    async fn git_in(&self, folder: &Path, args: &[&str]) -> String {
        let all = ["-C", folder.to_str().unwrap()].into_iter().chain(args.iter().copied());
        self.repository.git(all).await.unwrap()
    }

    fn folder_of(&self, id: &RunId) -> PathBuf {
        self.config.place_of(Kept::Runs).join(id.as_str())
    }

    fn journal_of(&self, id: &RunId) -> PathBuf {
        self.folder_of(id).join(JOURNAL)
    }

    fn begin(&self) -> (RunId, Journal) {
        let id = RunId::generate();
        let journal = Journal::begin(&self.config, &id, &begun(self.repository.path())).unwrap();
        (id, journal)
    }

    /// Begins a run that makes a worktree on a temporary branch.
    async fn begin_with_worktree(&self) -> Begin {
        let (id, journal) = self.begin();
        let branch = format!("sandcastle/{id}");
        let worktree = self.config.make(Kept::Worktrees).unwrap().join(format!("sandcastle-{id}"));
        let base = self.git(["rev-parse", "HEAD"]).await;
        let note = Note::Worktree {
            path: worktree.as_path().into(),
            branch: branch.clone(),
            base: Some(base),
            origin: Origin::Fresh,
        };
        assert_eq!(journal.note(&note), None);
        self.git(["worktree", "add", "-q", "-b", &branch, worktree.to_str().unwrap()]).await;
        Begin { id, journal, worktree, branch }
    }

    /// Turns a run into one whose process was killed: its lock is gone, and its journal names a process that is none.
    fn kill(&self, id: &RunId, journal: Journal) {
        kill(&self.journal_of(id), journal);
    }

    async fn commit(&self, worktree: &Path, name: &str) -> String {
        fs::write(worktree.join(name), name).unwrap();
        self.git_in(worktree, &["add", name]).await;
        self.git_in(worktree, &["commit", "-qm", name]).await;
        self.git_in(worktree, &["rev-parse", "HEAD"]).await
    }

    async fn branches(&self) -> Vec<String> {
        let names = self.git(["for-each-ref", "--format=%(refname:short)", "refs/heads"]).await;
        names.lines().map(str::to_owned).collect()
    }
}

fn begun(folder: &Path) -> Begun {
    Begun {
        name: Some("fix it".to_owned()),
        agent: "scripted".to_owned(),
        model: None,
        sandbox: "none".to_owned(),
        strategy: "merge-to-head".to_owned(),
        cwd: folder.into(),
        repository: folder.into(),
        source_branch: None,
        target_branch: Some("main".to_owned()),
    }
}

/// Takes away what the end of the journal's process would take away, and the note that its destructor writes.
fn kill(file: &Path, journal: Journal) {
    let bytes = fs::read(file).unwrap();
    drop(journal);
    fs::write(file, bytes).unwrap();
    with_another_owner(file);
}

/// Says that the process of a journal is one that does not exist.
fn with_another_owner(file: &Path) {
    let text = fs::read_to_string(file).unwrap();
    let (head, notes) = text.split_once('\n').unwrap();
    let mut head: serde_json::Value = serde_json::from_str(head).unwrap();
    head["owner"] = serde_json::json!({ "pid": u32::MAX });
    fs::write(file, format!("{head}\n{notes}")).unwrap();
}

/// Starts a process that outlives its owner, with the mark of a run.
async fn leave_running(mark: &Mark) {
    let (key, value) = mark.variable();
    let program = Program::new("sh").args(["-c", "setsid sleep 300 >/dev/null 2>&1 & echo"]).env(key, value);
    crate::process::capture(&program, 1024, std::time::Duration::from_secs(10)).await.unwrap();
    // The shell has gone before its child has become what it is to be.
    while Leftovers::of([mark.clone()]).list().iter().all(|left| left.name != "sleep") {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
}
