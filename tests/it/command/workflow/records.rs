//! What is left of runs of workflows: the list that tells of them, the command that goes on, and where a record may be.

use std::path::Path;

use serde_json::json;

use super::*;
use crate::support::process::Invocation;

/// A command line as a shell hands it to the command.
fn words_of(line: &str) -> Vec<String> {
    let script = format!("printf '%s\\n' {line}");
    let shell = Invocation::new("/bin/sh", Path::new("/")).arguments(["-c".to_owned(), script]);
    shell.run().stdout.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn the_list_of_runs_says_the_whole_command_that_goes_on() {
    let desk = Desk::new().await;
    let file = desk.home.path().join("it's a flow.yaml");
    std::fs::write(&file, "version: \"1.1\"\nsteps:\n  - { step: ask, type: approval }\n").unwrap();
    let ended = desk.run(&["--format", "json", "workflow", "run", file.to_str().unwrap()]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    let run = json_of(&ended)["run"].as_str().unwrap().to_owned();

    let listed = desk.runs(&["list"])["runs"][0].clone();
    let shown = desk.runs(&["show", &run]);
    let line = listed["resume_command"].as_str().unwrap_or_else(|| panic!("{listed:#}"));
    assert_eq!((&shown["resume_command"], &shown["workflow"]["file"]), (&json!(line), &json!(file)));
    let human = desk.run(&["runs", "show", &run]).stdout;
    assert!(human.contains(line) && !human.contains("FILE"), "{human}");

    // It means the same wherever it is pasted.
    let words = words_of(line);
    let args: Vec<&str> = words.iter().map(String::as_str).skip(1).chain(["--approve", "ask"]).collect();
    let pasted = desk.command(&args).in_folder(desk.home.path()).run();
    assert_eq!((words[0].as_str(), pasted.code()), ("sandcastle", Some(0)), "{line}: {pasted:?}");
    assert_eq!(desk.runs(&["show", &run])["resume_command"], json!(null), "there is nothing to go on with");
}

#[tokio::test]
async fn workflows_that_ran_outside_of_git_are_listed_shown_and_cleaned_there() {
    let desk = Desk::new().await;
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().canonicalize().unwrap();
    let file = desk.document("version: \"1.1\"\nsteps:\n  - { step: ask, type: approval }\n");
    let at = |args: &[&str]| {
        desk.run(&[&["--format", "json"], args, &["--cwd", folder.to_str().unwrap()]].concat())
    };
    let nothing = at(&["runs", "list"]);
    assert_eq!(nothing.code(), Some(2), "{nothing:?}");
    assert!(nothing.stdout.contains("not inside a git repository"), "{nothing:?}");

    let ended = at(&["workflow", "run", file.to_str().unwrap()]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    let run = json_of(&ended)["run"].as_str().unwrap().to_owned();
    let listed = json_of(&at(&["runs", "list"]));
    assert_eq!((&listed["runs"][0]["id"], &listed["runs"][1]), (&json!(run), &json!(null)), "{listed:#}");
    let shown = json_of(&at(&["runs", "show", &run]));
    assert_eq!(shown["workflow"]["status"], "awaiting-approval", "{shown:#}");
    assert!(shown["resume_command"].as_str().unwrap().contains(folder.to_str().unwrap()), "{shown:#}");

    let kept = json_of(&at(&["runs", "clean"]));
    assert_eq!(kept["kept"][0]["why"], "its workflow can be resumed", "{kept:#}");
    let removed = json_of(&at(&["runs", "clean", "--force", &run]));
    assert_eq!(removed["removed"][0]["run"], json!(run), "{removed:#}");
    assert_eq!(json_of(&at(&["runs", "list"]))["runs"], json!([]));
}

#[tokio::test]
async fn the_record_of_a_run_goes_through_no_link() {
    let link = ".sandcastle/runs";
    let desk = Desk::new().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let place = desk.repository.path().join(link);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), &place).unwrap();
    let (code, object) = desk
        .run_document("version: \"1.1\"\nsteps:\n  - { step: say, type: tool, run: [touch, ran] }\n", &[]);
    assert_eq!(code, Some(1), "{link}: {object}");
    let said = format!("{link}` is a symbolic link");
    assert!(object.to_string().contains(&said), "{link}: {object:#}");
    assert!(!desk.repository.path().join("ran").exists(), "{link}: nothing was run");
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0, "{link}");
    let listed = desk.run(&["--format", "json", "runs", "list"]);
    assert!(listed.code() == Some(1) && listed.stdout.contains(&said), "{link}: {listed:?}");
}
