//! `kill -9` of a run in the user's own work tree: nobody works beside its agent, and what it committed there is told.

use serde_json::{Value, json};

use super::Scene;
use crate::support::desk::{json_of, one_turn};

const HEAD: [&str; 4] = ["--prompt", "x", "--branch-strategy", "head"];

fn subjects(branch: &Value) -> Vec<&str> {
    let commits = branch["commits"].as_array().into_iter().flatten();
    commits.filter_map(|commit| commit["subject"].as_str()).collect()
}

#[tokio::test]
async fn w_27_nobody_works_beside_the_agent_of_a_killed_run_in_the_users_own_work_tree() {
    let scene = Scene::new().await;
    let run = scene.kill(&json!([{ "shell": scene.moment() }]), &HEAD).await;
    scene.sleep.wait_for(1).await;
    let nothing = one_turn(&json!([{ "say": "x" }]));
    let refused = scene.desk.play(&nothing, &HEAD).run();
    let said = &json_of(&refused)["error"];
    assert_eq!(said["kind"], "branch-busy", "{said}");
    let (id, said) = (run["id"].as_str().expect("an id"), said.to_string());
    for part in [&format!("programs of the run {id}"), "process ", &format!("sandcastle runs recover {id}")] {
        assert!(said.contains(part), "`{part}`: {said}");
    }
    assert_eq!(scene.sleep.alive(), 1, "what this run did not start goes on");
    // A worktree is somewhere else.
    let beside = scene.desk.play(&nothing, &["--prompt", "x", "--branch-strategy", "merge-to-head"]).run();
    assert_eq!(beside.code(), Some(0), "{beside:?}");
    scene.desk.runs(&["recover", id]);
    assert_eq!(scene.sleep.alive(), 0);
    let ended = scene.desk.play(&nothing, &HEAD).run();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
}

#[tokio::test]
async fn w_28_what_a_killed_run_committed_in_the_users_own_work_tree_is_shown() {
    let scene = Scene::new().await;
    // Somebody else's work, which the agent takes in.
    scene.desk.git(["switch", "-qc", "theirs"]).await;
    scene.desk.git(["commit", "-q", "--allow-empty", "-m", "Theirs"]).await;
    scene.desk.git(["switch", "-q", "main"]).await;
    let steps = json!([
        { "write-file": { "path": "first", "content": "1" } },
        { "commit": "First" },
        { "shell": "git merge -q --no-ff --no-edit theirs && git branch backup" },
        { "write-file": { "path": "second", "content": "2" } },
        { "commit": "Second" },
        { "shell": scene.moment() }
    ]);
    let run = scene.kill(&steps, &HEAD).await;
    let id = run["id"].as_str().expect("an id");
    let told = |run: &Value| {
        let branch = &run["branches"][0];
        assert_eq!(
            (&branch["name"], run["branches"].as_array().map(Vec::len)),
            (&json!("main"), Some(1)),
            "{run}"
        );
        subjects(branch).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let own = told(&run);
    assert!(own.contains(&"First".to_owned()) && own.contains(&"Second".to_owned()), "{own:?}");
    assert!(!own.contains(&"Theirs".to_owned()) && !own.contains(&"begin".to_owned()), "{own:?}");
    scene.recover().await;
    // From here on it is the user who works there.
    scene.desk.git(["commit", "-q", "--allow-empty", "-m", "Mine"]).await;
    assert_eq!(told(&scene.desk.runs(&["show", id])), own);
    let shown = scene.desk.run(&["runs", "show", id]).stdout;
    assert!(shown.contains("First (main)") && shown.contains("Second (main)"), "{shown}");
    scene.desk.runs(&["clean"]);
    assert_eq!(scene.desk.runs(&["list"])["runs"], json!([]), "nothing of it is left");
    assert_eq!(scene.desk.subjects("main").await[0], "Mine");
}

#[tokio::test]
async fn a_killed_run_in_place_that_committed_nothing_names_no_commit() {
    let scene = Scene::new().await;
    let run = scene.kill(&json!([{ "shell": scene.moment() }]), &HEAD).await;
    assert_eq!(run["branches"][0]["commits"], json!([]), "{run}");
    let recovered = scene.recover().await;
    assert_eq!(
        (&recovered["rescued"], &recovered["run"]["worktrees"]),
        (&json!([]), &json!([])),
        "{recovered}"
    );
}
