//! Kills in the middle of a step of each kind.

use std::path::Path;

use super::*;

#[tokio::test]
async fn a_kill_amid_a_command_ends_it_before_it_is_done_again() {
    let scene = Scene::new().await;
    let text = DOCUMENT.replace("echo first >>effects", &format!("echo first >>effects; {}", scene.moment()));
    scene.document(&text);
    scene.kill_at_the_moment(&["--approve", "all"]).await;
    scene.go();
    let ended = scene.resume_to_the_end();
    assert_eq!(scene.sleep.alive(), 0, "what was left of the command works beside the next one");
    assert!(ended.stderr.contains("`first` had begun"), "{}", ended.stderr);
    assert_eq!((scene.effects()["first"], scene.effects()["last"]), (2, 1));
}

#[tokio::test]
async fn a_kill_amid_a_call_of_a_model_asks_once_more() {
    let answer = Reply::text("<sort>{\"severity\":\"high\"}</sort>").always();
    let scene = Scene::with([Reply::silence(Duration::from_secs(60)), answer]).await;
    let running = scene.command(&["--approve", "all"]).start();
    while scene.server.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    running.kill_group();
    assert_eq!(running.finish().signal(), Some(9));
    let ended = scene.resume_to_the_end();
    assert!(ended.stderr.contains("`sort` had begun"), "{}", ended.stderr);
    assert_eq!((scene.effects()["first"], scene.effects()["sort"]), (1, 2));
}

#[tokio::test]
async fn a_kill_amid_an_agent_leaves_its_branch_to_the_next() {
    let scene = Scene::new().await;
    scene.work(&scene.moment());
    scene.kill_at_the_moment(&["--approve", "all"]).await;
    scene.go();
    let ended = scene.resume_to_the_end();
    assert_eq!(scene.sleep.alive(), 0);
    assert!(ended.stderr.contains("`work` had begun"), "{}", ended.stderr);
    assert_eq!((scene.effects()["first"], scene.effects()["work"]), (1, 2));
    assert_eq!(scene.desk.subjects("agent/work").await, ["Work", "begin"]);
    assert_eq!(scene.desk.worktrees().await, Vec::<PathBuf>::new());
}

#[tokio::test]
async fn a_kill_at_a_question_asks_again_and_does_nothing_else_again() {
    let scene = Scene::new().await;
    let file = scene.desk.home.path().join("flow.yaml");
    kill_at_the_question(&scene, &file);
    // Nobody is at a terminal now.
    let ended = scene.resume(&[]).run();
    assert_eq!(
        (ended.code(), &json_of(&ended)["status"]),
        (Some(1), &json!("awaiting-approval")),
        "{ended:?}"
    );
    scene.resume_to_the_end();
    assert_eq!(scene.effects().values().copied().collect::<BTreeSet<_>>(), BTreeSet::from([1]));
}

#[tokio::test]
async fn a_kill_while_a_person_looks_at_an_answer_keeps_the_answer() {
    let answer = Reply::text("<sort>{\"severity\":\"high\",\"confidence\":0.4}</sort>");
    let scene = Scene::with([answer]).await;
    let gated = DOCUMENT
        .replace("    prompt: Sort it.\n", "    prompt: Sort it.\n    confidence_gate: true\n")
        .replace("        severity: { type", "        confidence: { type: number }\n        severity: { type")
        .replace("required: [severity]", "required: [severity, confidence]")
        .replace(
            "\nsteps:\n",
            "\nguardrails: { confidence_threshold: 0.5, fallback_action: escalate_to_human }\nsteps:\n",
        );
    let file = scene.document(&gated);
    kill_at_the_question(&scene, &file);
    let ended = scene.resume(&[]).run();
    let object = json_of(&ended);
    assert_eq!((ended.code(), &object["status"]), (Some(1), &json!("awaiting-approval")), "{object}");
    assert_eq!(object["approvals"][0]["reason"]["output"]["confidence"], 0.4, "{object}");
    scene.resume_to_the_end();
    assert_eq!(scene.effects().values().copied().collect::<BTreeSet<_>>(), BTreeSet::from([1]));
}

#[tokio::test]
async fn a_kill_amid_a_parallel_keeps_the_branch_that_is_done() {
    let scene = Scene::new().await;
    let moment = scene.moment();
    // It begins to wait once the other branch is on record.
    let late = format!(
        "echo right_one >>effects; until grep -q '\"step-done\",\"step\":\"left_two\"' .sandcastle/runs/*/workflow.jsonl; do sleep 0.01; done; {moment}"
    );
    let text = DOCUMENT.replace("\"echo right_one >>effects\"", &json!(late).to_string());
    scene.document(&text);
    scene.kill_at_the_moment(&["--approve", "all"]).await;
    assert!(scene.done().contains("left_two") && !scene.done().contains("right_one"));
    scene.go();
    scene.resume_to_the_end();
    let effects = scene.effects();
    assert_eq!((effects["left_one"], effects["left_two"], effects["right_one"]), (1, 1, 2));
    assert_eq!(scene.sleep.alive(), 0);
}

#[tokio::test]
async fn a_decision_outlives_a_kill() {
    let scene = Scene::new().await;
    let text = DOCUMENT
        .replace(r#"echo \"$1\" >>effects"#, &format!(r#"echo \"$1\" >>effects; {}"#, scene.moment()));
    assert_ne!(text, DOCUMENT);
    scene.document(&text);
    scene.kill_at_the_moment(&["--approve", "ask=by hand"]).await;
    scene.go();
    // It is not asked again, and the note is that of then.
    let ended = scene.resume(&[]).run();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let object = json_of(&ended);
    let asked = object["trace"].as_array().unwrap().iter().find(|record| record["step"] == "ask").unwrap();
    assert_eq!((&asked["status"], &asked["output"]["note"]), (&json!("resumed"), &json!("by hand")));
}

/// Runs a document on a terminal, and kills it while it waits for a person.
#[track_caller]
fn kill_at_the_question(scene: &Scene, file: &Path) {
    let command = scene.desk.command(&["workflow", "run", file.to_str().unwrap()]);
    let terminal = Terminal::start(command.environment([("TERM".to_owned(), "xterm".to_owned())]));
    terminal.wait_for("May it go on?");
    terminal.signal(Signal::KILL);
    assert_eq!(terminal.finish().0, None);
}
