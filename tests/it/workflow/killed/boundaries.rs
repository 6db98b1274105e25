//! Kills between steps, at each boundary and twice in a row, and records that end anywhere.

use super::*;

#[tokio::test]
async fn a_kill_at_each_boundary_of_steps_loses_no_finished_one() {
    for steps in 0..=STEPS {
        let scene = Scene::new().await;
        scene.kill_after(scene.command(&["--approve", "all"]), steps).await;
        let kill = Kill::of(&scene.lines());
        assert!(kill.done.len() >= steps, "{kill:?}");
        scene.resume_to_the_end();
        scene.assert_nothing_was_lost(&[kill]);
        assert_eq!(scene.desk.worktrees().await, Vec::<PathBuf>::new());
    }
}

#[tokio::test]
async fn two_kills_in_a_row_lose_no_finished_step_either() {
    for steps in [1, 2, 4, 7] {
        let scene = Scene::new().await;
        scene.kill_after(scene.command(&["--approve", "all"]), steps).await;
        let first = Kill::of(&scene.lines());
        let more = (first.done.len() + 2).min(STEPS);
        scene.kill_after(scene.resume(&["--approve", "all"]), more).await;
        let second = Kill::of(&scene.lines());
        scene.resume_to_the_end();
        scene.assert_nothing_was_lost(&[first, second]);
    }
}

/// A kill tears the record between any two bytes. So it is cut there, at the end of each line and within the next, and the
/// run goes on from there: what the rest of the record says is done again, nothing else.
#[tokio::test]
async fn a_record_that_ends_anywhere_is_gone_on_with_from_there() {
    let scene = Scene::new().await;
    let ended = scene.command(&["--approve", "all"]).run();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let (record, lines) = (scene.record().unwrap(), scene.lines());
    assert!(lines.len() > 2 * STEPS, "{lines:?}");
    for whole in 1..=lines.len() {
        let torn = lines.get(whole).map_or("", |next| &next[..next.len() / 2]);
        let kept = &lines[..whole];
        std::fs::write(&record, kept.concat() + torn).unwrap();
        let (before, done) = (scene.effects(), done_in(kept));
        let is_decided = !notes_in(kept, "decided").is_empty();
        let ended = scene.resume(if is_decided { &[] } else { &["--approve", "all"] }).run();
        assert_eq!(ended.code(), Some(0), "cut behind line {whole}: {ended:?}");
        let after = scene.effects();
        for mark in MARKS {
            let made = after[mark] - before[mark];
            assert_eq!(made, usize::from(!done.contains(mark)), "`{mark}`, cut behind line {whole}");
        }
        let object = json_of(&ended);
        for step in &done {
            let trace = object["trace"].as_array().unwrap();
            let of_step: Vec<_> = trace.iter().filter(|record| record["step"] == step.as_str()).collect();
            assert!(of_step.len() == 1 && of_step[0]["status"] == "resumed", "{step}: {of_step:?}");
        }
    }
}
