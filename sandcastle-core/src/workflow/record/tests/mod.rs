//! Records that are whole, torn, foreign, newer, damaged, and in use.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::json;

use super::{Deed, Given, Note, Past, Record, Verdict};
use crate::config::ConfigDir;
use crate::error::{Error, ErrorKind};
use crate::id::RunId;
use crate::journal::WorkflowHead;

/// A record in a folder that goes when it is dropped.
struct Ground {
    _folder: tempfile::TempDir,
    config: ConfigDir,
    run: RunId,
    file: PathBuf,
}

impl Ground {
    /// Writes a record of these notes, as a process does that is killed behind them.
    fn with(notes: &[Note]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (config, run) = (ConfigDir::in_folder(folder.path()), RunId::generate());
        let given = Given { input: json!("in"), trigger: json!(null), vars: serde_json::Map::new() };
        let document = json!({ "steps": { "a": { "type": "tool" } } });
        let record =
            Record::begin(&config, WorkflowHead::of(&run, "flow", folder.path(), None), &given, document)
                .unwrap();
        notes.iter().for_each(|note| record.write(note).unwrap());
        let file = folder.path().join(".sandcastle/runs").join(run.as_str()).join("workflow.jsonl");
        let written = fs::read(&file).unwrap();
        drop(record);
        fs::write(&file, written).unwrap();
        Self { _folder: folder, config, run, file }
    }

    async fn resume(&self) -> Result<(Record, Past), Error> {
        Record::resume(&self.config, &self.run).await
    }

    async fn refused(&self) -> (ErrorKind, String) {
        let error = self.resume().await.unwrap_err();
        (error.kind(), error.to_string())
    }

    fn append(&self, text: &str) {
        fs::File::options().append(true).open(&self.file).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn replace(&self, this: &str, that: &str) {
        let text = fs::read_to_string(&self.file).unwrap();
        assert!(text.contains(this), "{text}");
        fs::write(&self.file, text.replacen(this, that, 1)).unwrap();
    }
}

fn started(step: &str) -> Note {
    Note::StepStarted { step: step.to_owned() }
}

fn done(step: &str) -> Note {
    Note::StepDone { step: step.to_owned(), output: json!({ "n": 1 }), deed: Deed::default() }
}

#[tokio::test]
async fn what_was_done_and_decided_comes_back() {
    let decided =
        Note::Decided { step: "c".to_owned(), verdict: Verdict::Approved, remark: "yes".to_owned() };
    let ground = Ground::with(&[started("a"), done("a"), started("b"), decided]);
    let (_record, past) = ground.resume().await.unwrap();
    assert_eq!(past.name, "flow");
    assert_eq!(past.given.input, json!("in"));
    assert_eq!(past.done["a"].output, json!({ "n": 1 }));
    assert_eq!(past.done["a"].was, json!({ "type": "tool" }));
    let decided = &past.decided["c"];
    assert_eq!((decided.verdict, decided.remark.as_str()), (Verdict::Approved, "yes"));
    assert!(past.begun.contains("b") && past.torn.contains("b") && !past.begun.contains("a"));
}

#[tokio::test]
async fn a_line_that_was_torn_is_ignored_and_spoils_no_other() {
    let ground = Ground::with(&[started("a"), done("a")]);
    ground.append(r#"{"at":"now","note":"step-done","step":"b","out"#);
    let (record, past) = ground.resume().await.unwrap();
    assert!(past.done.contains_key("a") && !past.done.contains_key("b"));
    record.write(&started("b")).unwrap();
    drop(record);
    let (_record, past) = ground.resume().await.unwrap();
    assert!(past.begun.contains("b"), "the note behind the torn line is read");
}

#[tokio::test]
async fn a_record_that_cannot_be_trusted_is_refused_by_name() {
    let ground = Ground::with(&[started("a")]);
    ground.append("garbage\n");
    assert_eq!(ground.refused().await.0, ErrorKind::Io);
    assert!(ground.refused().await.1.contains("its line 3 cannot be read"));

    let ground = Ground::with(&[]);
    ground.replace("\"workflow\":1", "\"workflow\":2");
    assert!(ground.refused().await.1.contains("of version 2, which is newer than this program"));

    let ground = Ground::with(&[]);
    ground.replace(ground.run.as_str(), "20200101-000000-000000");
    assert!(ground.refused().await.1.contains("it is that of another run"));

    let ground = Ground::with(&[]);
    fs::write(&ground.file, "").unwrap();
    assert!(ground.refused().await.1.contains("its first line was never written"));

    fs::remove_file(&ground.file).unwrap();
    assert_eq!(ground.refused().await.0, ErrorKind::InvalidOptions);
    assert!(ground.refused().await.1.contains("it is not the run of a workflow"));
    fs::remove_dir(ground.file.parent().unwrap()).unwrap();
    assert!(ground.refused().await.1.contains("there is no such run"));
}

#[tokio::test]
async fn notes_of_a_newer_version_are_skipped() {
    let ground = Ground::with(&[started("a")]);
    ground.append("{\"note\":\"applauded\",\"by\":\"all\"}\n");
    assert!(ground.resume().await.is_ok());
    ground.append("{\"note\":\"step-done\",\"step\":7}\n");
    assert!(ground.refused().await.1.contains("its line 4 cannot be read"));
}

#[tokio::test]
async fn a_run_that_goes_on_is_not_resumed_by_anybody_else() {
    let ground = Ground::with(&[]);
    let (record, _) = ground.resume().await.unwrap();
    let (kind, said) = ground.refused().await;
    assert_eq!(kind, ErrorKind::InvalidOptions);
    assert!(said.contains("it goes on"), "{said}");
    record.end("failed", None).unwrap();
    drop(record);
    assert!(ground.resume().await.is_ok());
}

#[tokio::test]
async fn a_link_in_the_place_of_a_record_is_not_followed() {
    let ground = Ground::with(&[]);
    let elsewhere = ground.file.with_file_name("elsewhere");
    fs::rename(&ground.file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &ground.file).unwrap();
    assert_eq!(ground.refused().await.0, ErrorKind::Io);
}

#[test]
fn nobody_else_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let ground = Ground::with(&[]);
    assert_eq!(fs::metadata(&ground.file).unwrap().permissions().mode() & 0o777, 0o600);
}
