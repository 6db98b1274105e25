//! What a journal says, and how a run stands.

use serde_json::json;

use super::super::note::Format;
use super::super::report::{Outcome, RunState};
use super::super::shelf;
use super::*;

#[tokio::test]
async fn a_run_goes_on_until_it_says_how_it_ended() {
    let scene = Scene::new().await;
    let runs = scene.runs().await;
    assert!(runs.list().await.unwrap().is_empty());
    let (id, journal) = scene.begin();
    let report = runs.show(&id).await.unwrap();
    assert_eq!((report.state, report.pid), (RunState::Running, Some(std::process::id())));
    assert_eq!(journal.end(Outcome::Failed, Some("merge".to_owned())), None);
    let report = &runs.list().await.unwrap()[0];
    assert_eq!((report.state, report.outcome), (RunState::Finished, Some(Outcome::Failed)));
    assert_eq!(report.error.as_deref(), Some("merge"));
    assert_eq!(report.left(), [""; 0]);
}

#[tokio::test]
async fn a_run_that_was_dropped_says_so() {
    let scene = Scene::new().await;
    let (id, journal) = scene.begin();
    drop(journal);
    let report = scene.runs().await.show(&id).await.unwrap();
    assert_eq!((report.state, report.outcome), (RunState::Finished, Some(Outcome::Cancelled)));
}

#[tokio::test]
async fn the_lock_alone_shows_that_a_run_goes_on() {
    let scene = Scene::new().await;
    let (id, journal) = scene.begin();
    with_another_owner(&scene.journal_of(&id));
    assert_eq!(scene.runs().await.show(&id).await.unwrap().state, RunState::Running);
    scene.kill(&id, journal);
    assert_eq!(scene.runs().await.show(&id).await.unwrap().state, RunState::Died);
}

#[tokio::test]
async fn what_the_agent_answered_survives_the_run() {
    let scene = Scene::new().await;
    let (id, journal) = scene.begin();
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    for note in [
        Note::Output { tag: "result".into(), format: Format::Json, schema },
        Note::Session { id: "ses-1".into(), file: Some("/nowhere/ses-1.jsonl".into()) },
        Note::Answered { block: " {\"n\": 3} ".into() },
    ] {
        assert_eq!(journal.note(&note), None);
    }
    scene.kill(&id, journal);
    let report = scene.runs().await.show(&id).await.unwrap();
    let answer = report.answer.clone().unwrap();
    assert_eq!(
        (answer.tag.as_str(), answer.value, answer.problem),
        ("result", Some(json!({ "n": 3 })), None)
    );
    let session = report.session.clone().unwrap();
    assert_eq!((session.id.as_str(), session.file), ("ses-1", None));
    assert_eq!(report.left(), ["an answer", "a session"]);
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_no_value() {
    let scene = Scene::new().await;
    let (id, journal) = scene.begin();
    let schema = json!({ "type": "integer" });
    let _ = journal.note(&Note::Output { tag: "result".into(), format: Format::Json, schema });
    let _ = journal.note(&Note::Answered { block: "\"x\"".into() });
    scene.kill(&id, journal);
    let answer = scene.runs().await.show(&id).await.unwrap().answer.unwrap();
    assert_eq!((answer.value, answer.block.as_deref()), (None, Some("\"x\"")));
    assert!(answer.problem.is_some());
}

#[tokio::test]
async fn a_torn_line_garbage_and_notes_of_the_future_do_no_harm() {
    let scene = Scene::new().await;
    let (id, journal) = scene.begin();
    let file = scene.journal_of(&id);
    scene.kill(&id, journal);
    let mut bytes = fs::read(&file).unwrap();
    bytes.extend_from_slice(b"\xff\xfe{{{\n\n[1]\n{\"note\":\"levitated\",\"height\":3}\n");
    bytes.extend_from_slice(b"{\"note\":\"session\",\"id\":\"ses-2\",\"file\":null,\"mood\":\"new\"}\n");
    bytes.extend_from_slice(b"{\"note\":\"sess");
    fs::write(&file, bytes).unwrap();
    let report = scene.runs().await.show(&id).await.unwrap();
    assert_eq!(report.damaged_lines, 3);
    assert_eq!(report.unknown_notes, [json!({ "note": "levitated", "height": 3 })]);
    assert_eq!(report.session.unwrap().id, "ses-2");
    // A note that is added by somebody else stands on a line of its own.
    scene.runs().await.recover(&id).await.unwrap();
    assert!(scene.runs().await.show(&id).await.unwrap().recovered);
}

#[test]
fn only_the_newest_of_the_runs_that_left_nothing_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let config = ConfigDir::in_folder(folder.path());
    let ids: Vec<RunId> = (0..130).map(|n| RunId::new(format!("20260101-000000-{n:06x}")).unwrap()).collect();
    for (number, id) in ids.iter().enumerate() {
        let journal = Journal::begin(&config, id, &begun(folder.path())).unwrap();
        if number == 3 {
            let (path, branch) = (StoredPath::from("/w"), "b".to_owned());
            let _ = journal.note(&Note::Worktree { path, branch, base: None, origin: Origin::Fresh });
        }
        if number == 5 {
            kill(&config.place_of(Kept::Runs).join(id.as_str()).join(JOURNAL), journal);
        } else {
            assert_eq!(journal.end(Outcome::Done, None), None);
        }
    }
    let left = shelf::ids(&config.place_of(Kept::Runs)).unwrap();
    assert_eq!(left.len(), 102);
    assert_eq!(left[..3], [ids[3].clone(), ids[5].clone(), ids[30].clone()]);
}

#[test]
fn many_runs_begin_and_end_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let config = ConfigDir::in_folder(folder.path());
    std::thread::scope(|scope| {
        for thread in 0..20 {
            let (config, folder) = (&config, folder.path());
            scope.spawn(move || {
                for number in 0..20 {
                    let id = RunId::new(format!("20260101-0000{thread:02}-{number:06x}")).unwrap();
                    let journal = Journal::begin(config, &id, &begun(folder)).unwrap();
                    assert_eq!(journal.end(Outcome::Done, None), None);
                }
            });
        }
    });
    let left = shelf::ids(&config.place_of(Kept::Runs)).unwrap();
    assert_eq!(left.len(), 100);
}

#[tokio::test]
async fn a_worktree_with_something_begun_in_it_is_not_called_clean() {
    for (command, said) in [("status", "a clean worktree"), ("bisect start", "a worktree to be looked at")] {
        let scene = Scene::new().await;
        let run = scene.begin_with_worktree().await;
        scene.git_in(&run.worktree, &command.split(' ').collect::<Vec<_>>()).await;
        scene.kill(&run.id, run.journal);
        assert_eq!(scene.runs().await.show(&run.id).await.unwrap().left(), [said], "{command}");
    }
}

#[tokio::test]
async fn a_relative_folder_means_the_same_repository() {
    let scene = Scene::new().await;
    let run = scene.begin_with_worktree().await;
    fs::write(run.worktree.join("new"), "x").unwrap();
    scene.kill(&run.id, run.journal);
    let here = std::env::current_dir().unwrap();
    let up: PathBuf = here.components().skip(1).map(|_| "..").collect();
    let relative = up.join(scene.repository.path().strip_prefix("/").unwrap());
    let report = Runs::of(&relative).await.unwrap().show(&run.id).await.unwrap();
    assert_eq!(report.worktrees[0].changed.as_deref(), Some(&[PathBuf::from("new")][..]), "{report:?}");
    // From inside of the worktree it is the same repository, too.
    let report = Runs::of(&run.worktree).await.unwrap().show(&run.id).await.unwrap();
    assert_eq!(report.worktrees.len(), 1);
}

#[tokio::test]
async fn a_journal_that_was_cut_off_anywhere_can_be_read() {
    let scene = Scene::new().await;
    let (id, journal) = scene.begin();
    let _ = journal.note(&Note::Output { tag: "r".into(), format: Format::Text, schema: json!({}) });
    let _ = journal.note(&Note::Session { id: "ses".into(), file: None });
    let _ = journal.note(&Note::Answered { block: "\u{e9} done".into() });
    scene.kill(&id, journal);
    let whole = fs::read(scene.journal_of(&id)).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
    for end in 0..=whole.len() {
        fs::write(scene.journal_of(&id), &whole[..end]).unwrap();
        let read = super::super::reader::read(&scene.folder_of(&id), &id);
        assert_eq!(read.is_ok(), end > first, "cut off at {end}");
        if let Ok(history) = read {
            assert!(history.damaged <= 1 && history.block.is_none_or(|block| block == "\u{e9} done"));
        }
    }
}
