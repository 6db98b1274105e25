//! What keeps a run from being gone on with: somebody else who does, a document that changed, a record that is none.

use super::*;

#[tokio::test]
async fn two_do_not_go_on_with_the_same_run() {
    let scene = Scene::new().await;
    let text = DOCUMENT.replace("echo inner >>effects", &format!("echo inner >>effects; {}", scene.moment()));
    scene.document(&text);
    let running = scene.command(&["--approve", "all"]).start();
    let moment = scene.desk.repository.path().join("moment");
    wait_for(&moment).await;
    let refused = |what: &str| {
        let ended = scene.resume(&["--approve", "all"]).run();
        let object = json_of(&ended);
        assert_eq!(
            (ended.code(), &object["error"]["kind"]),
            (Some(2), &json!("invalid-options")),
            "{what}: {object}"
        );
        assert!(object["error"]["message"].as_str().unwrap().ends_with("it goes on"), "{what}: {object}");
    };
    refused("beside the run itself");
    running.kill_group();
    assert_eq!(running.finish().signal(), Some(9));
    std::fs::remove_file(&moment).unwrap();

    let running = scene.resume(&["--approve", "all"]).start();
    wait_for(&moment).await;
    refused("beside one that goes on with it");
    assert_eq!(scene.sleep.alive(), 1, "the one that was refused has ended nothing");
    running.kill_group();
    running.finish();
    scene.go();
    scene.resume_to_the_end();
    assert_eq!((scene.effects()["first"], scene.effects()["inner"]), (1, 3));
}

#[tokio::test]
async fn a_document_that_changed_is_taken_only_if_no_finished_step_did() {
    let scene = Scene::new().await;
    let waiting =
        DOCUMENT.replace("echo inner >>effects", &format!("echo inner >>effects; {}", scene.moment()));
    scene.document(&waiting);
    scene.kill_at_the_moment(&["--approve", "all"]).await;
    let line = |text: &str, of: &str| text.lines().position(|line| line.contains(of)).unwrap() + 1;

    // A step that is done, another one that is gone, and one that has another place.
    for (changed, step) in [
        (waiting.replace("echo first", "echo once"), "first"),
        (waiting.replace("enum: [low, high]", "enum: [low, mid, high]"), "sort"),
        (waiting.replace("prompt: Do it.", "prompt: Do it well."), "work"),
        (waiting.replace("severity == \"high\"", "severity != \"low\""), "choice"),
    ] {
        assert_ne!(changed, waiting);
        scene.document(&changed);
        let ended = scene.resume(&["--approve", "all"]).run();
        let object = json_of(&ended);
        assert_eq!(ended.code(), Some(2), "{step}: {object}");
        let said = format!("the step `{step}` is done in the run that is resumed, and has changed since");
        let findings = object["error"]["findings"].as_array().unwrap_or_else(|| panic!("{object:#}"));
        let finding = findings.iter().find(|finding| finding["message"] == said.as_str());
        let finding = finding.unwrap_or_else(|| panic!("{step}: {object:#}"));
        assert_eq!(finding["line"], line(&changed, &format!("step: {step}")), "{finding}");
    }
    let renamed = waiting.replace("step: first", "step: begin");
    scene.document(&renamed);
    let ended = scene.resume(&["--approve", "all"]).run();
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    assert!(
        ended.stdout.contains("the step `first` is done in the run that is resumed, and is gone since"),
        "{ended:?}"
    );
    assert_eq!(
        (scene.effects()["first"], scene.effects().contains_key("last")),
        (1, false),
        "nothing has run"
    );

    // What is still to be done may change, as may what is only written differently.
    let mended =
        waiting.replace("\"last\"", "\"last\", \"more\"").replace("# A step of every kind", "# Every kind");
    scene.document(&mended);
    scene.go();
    let ended = scene.resume_to_the_end();
    assert!(ended.stderr.contains("the workflow has changed since"), "{}", ended.stderr);
    assert_eq!((scene.effects()["first"], scene.effects()["sort"], scene.effects()["work"]), (1, 1, 1));
}

#[tokio::test]
async fn a_record_that_somebody_else_has_written_to_is_not_guessed_at() {
    let scene = Scene::new().await;
    scene.kill_after(scene.command(&["--approve", "all"]), 3).await;
    let (record, mut lines) = (scene.record().unwrap(), scene.lines());
    lines.insert(2, "this is no note\n".to_owned());
    std::fs::write(&record, lines.concat()).unwrap();
    let ended = scene.resume(&["--approve", "all"]).run();
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    assert!(
        json_of(&ended)["error"]["message"].as_str().unwrap().contains("its line 3 cannot be read"),
        "{ended:?}"
    );
    assert!(scene.desk.repository.path().join("effects").exists());

    let ended = scene.command(&["--resume", "20200101-000000-aaaaaa"]).run();
    assert_eq!(ended.code(), Some(2), "{ended:?}");
}
