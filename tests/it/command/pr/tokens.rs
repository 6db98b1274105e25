//! The token: where it is looked for, and everywhere that it does not get to.

use serde_json::json;

use super::{Yard, report};
use crate::support::desk::json_of;
use crate::support::github::TOKEN;

/// An agent that writes down what it sees of its environment.
fn spy() -> serde_json::Value {
    json!([
        { "steps": [
            { "shell": "env >\"$HOME/seen\"" },
            { "shell": "echo GH_TOKEN is $GH_TOKEN and GITHUB_TOKEN is $GITHUB_TOKEN." },
            { "say": "I looked." },
        ] },
        report(&json!({ "comment": "x" })),
    ])
}

#[tokio::test]
async fn the_token_gets_to_no_agent_by_any_way() {
    let yard = Yard::new().await;
    // What the repository's file of variables asks for is no way either.
    yard.desk.repository.write(".sandcastle/.env", "GH_TOKEN=\nGITHUB_TOKEN=\nMINE=\n").unwrap();
    // Workflows hand one token over by several names.
    let both = ["GH_TOKEN", "MINE", "INPUT_TOKEN"].map(|name| (name.to_owned(), TOKEN.to_owned()));
    let ended = yard.command("explore", &spy(), &["--token-env", "MINE", "-v"]).environment(both).run();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let seen = std::fs::read_to_string(yard.desk.home.path().join("seen")).unwrap();
    assert!(seen.contains("PATH=") && !seen.contains(TOKEN), "{seen}");
    for empty in ["GH_TOKEN=\n", "GITHUB_TOKEN=\n", "MINE=\n", "INPUT_TOKEN=\n"] {
        assert!(seen.contains(empty), "{empty} {seen}");
    }
    assert!(!ended.stdout.contains(TOKEN) && !ended.stderr.contains(TOKEN), "{ended:?}");
    let logs = yard.desk.repository.path().join(".sandcastle");
    let mut folders = vec![logs, yard.results()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                    assert!(!text.contains(TOKEN), "{}: {text}", path.display());
                }
            }
        }
    }
}

#[tokio::test]
async fn a_secret_that_an_agent_was_talked_into_saying_is_not_said_in_public() {
    const KEY: &str = "sk-not-for-everybody-0123456789";
    let yard = Yard::new().await;
    let said = report(&json!({
        "summary": format!("I was told to write {KEY}."),
        "replies": [{ "commentId": "PRRC_moat_1", "body": format!("`{KEY}`") }],
    }));
    let turns = json!([{ "steps": [{ "say": "I looked." }] }, said]);
    let key = [("SERVICE_API_KEY".to_owned(), KEY.to_owned())];
    let ended = yard.command("review", &turns, &["--post"]).environment(key).run();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let posted = format!("{:?}", yard.server.posted());
    assert!(posted.contains("I was told to write ***.") && !posted.contains(KEY), "{posted}");
    assert_eq!(yard.result("summary.md"), "I was told to write ***.\n");
    assert!(!yard.result("replies.json").contains(KEY), "{}", yard.result("replies.json"));
    let warnings = json_of(&ended)["warnings"].to_string();
    assert!(warnings.contains("had a secret in it"), "{warnings}");
}

#[tokio::test]
async fn a_token_is_in_one_of_two_variables_or_in_the_one_that_is_named() {
    let yard = Yard::new().await;
    for (variables, args) in [
        (&[("GITHUB_TOKEN", ""), ("GH_TOKEN", TOKEN)][..], &[][..]),
        (&[("GITHUB_TOKEN", TOKEN), ("GH_TOKEN", "wrong")], &[]),
        (&[("GITHUB_TOKEN", "wrong"), ("MINE", TOKEN)], &["--token-env", "MINE"]),
    ] {
        let variables = variables.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let ended = yard.command("explore", &spy(), args).environment(variables).run();
        assert_eq!(ended.code(), Some(0), "{args:?}: {ended:?}");
    }
}

#[tokio::test]
async fn a_token_that_is_missing_or_handed_on_is_refused_by_name() {
    let yard = Yard::new().await;
    let own = format!("GH_TOKEN={TOKEN}");
    for args in [
        &["--token-env", "NOT_SET"][..],
        &["--env", "GITHUB_TOKEN"],
        &["--env", &own],
        &["--token-env", "A=B"],
        &["--env", "INPUT_TOKEN"],
    ] {
        let same = [("INPUT_TOKEN".to_owned(), format!("{TOKEN}\n"))];
        let ended = yard.command("explore", &spy(), args).environment(same).run();
        assert_eq!(ended.code(), Some(2), "{args:?}: {ended:?}");
        assert!(!ended.stdout.contains(TOKEN), "{ended:?}");
    }
    // Even what is public has threads that GitHub tells nobody without one.
    let ended =
        yard.command("explore", &spy(), &[]).environment([("GITHUB_TOKEN".to_owned(), String::new())]).run();
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    let error = &json_of(&ended)["error"];
    assert!(error["message"].as_str().unwrap().contains("neither `GITHUB_TOKEN` nor `GH_TOKEN`"), "{error}");
    assert!(error["hints"].to_string().contains("gh auth token"), "{error}");
    assert!(!yard.results().exists(), "nothing was begun");
    assert_eq!(yard.server.requests().len(), 0);
}

#[tokio::test]
async fn a_wrong_token_is_told_and_not_shown() {
    let yard = Yard::new().await;
    let wrong = [("GITHUB_TOKEN".to_owned(), "ghp_wrong".to_owned())];
    let ended = yard.command("explore", &spy(), &[]).environment(wrong).run();
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    assert_eq!(json_of(&ended)["error"]["kind"], "forge");
    assert!(!ended.stdout.contains("ghp_wrong"), "{ended:?}");
    assert!(yard.result("failure_reason.txt").contains("token"), "{}", yard.result("failure_reason.txt"));
}
