//! The file that a program reads the schema of its answer from: where it is, who may read it, and that it goes.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use sandcastle::agent::SchemaDelivery;
use sandcastle::testing::Turn;
use sandcastle::{ErrorKind, OutputStrategy, Stage};
use serde_json::json;

use super::native::{UNTAGGED, gives, stage_of};
use super::{Bench, N, say};

use OutputStrategy::Native;

/// Where the schema goes by a file, that is not in the work tree, nobody else may read it, and it goes with the run.
#[tokio::test]
async fn the_file_of_a_schema_is_private_and_does_not_stay() {
    for end in [gives(json!({ "n": 5 })), say("nothing")] {
        let bench = Bench::new().await;
        let temporary = tempfile::tempdir().unwrap();
        let seen = bench.state.path().join("seen");
        let look = format!("find \"$TMPDIR\" -mindepth 1 -printf '%m %P\\n' | sort >'{}'", seen.display());
        let turn = end.shell(look).shell("test -z \"$(git status --porcelain)\"");
        let agent = bench.taking(SchemaDelivery::File, [turn]);
        let options = bench.asked(agent, Native, UNTAGGED).env("TMPDIR", temporary.path());
        let ended = sandcastle::run_with::<N>(options).await;
        assert_eq!(ended.is_err(), ended.is_err_and(|error| stage_of(&error) == Stage::Missing));
        let seen = std::fs::read_to_string(seen).unwrap();
        let lines: Vec<_> = seen.lines().collect();
        let [file, folder] = lines.as_slice() else { panic!("{seen}") };
        assert!(file.starts_with("600 sandcastle-schema-") && file.ends_with("/schema.json"), "{seen}");
        assert!(folder.starts_with("700 sandcastle-schema-"), "{seen}");
        assert_eq!(left_in(temporary.path()), 0);
    }
}

#[tokio::test]
async fn a_temporary_folder_in_the_work_tree_is_no_place_for_a_schema() {
    let bench = Bench::new().await;
    let inside = bench.repository.path().join("tmp");
    std::fs::create_dir(&inside).unwrap();
    let turn = gives(json!({ "n": 5 })).shell("test -z \"$(ls tmp)\"");
    let agent = bench.taking(SchemaDelivery::File, [turn]);
    let options = bench.asked(agent, Native, UNTAGGED).env("TMPDIR", &inside);
    sandcastle::run_with::<N>(options).await.unwrap();
}

/// What makes the file is whatever the search path leads to, and what it made is removed later.
#[tokio::test]
async fn a_folder_that_is_not_ours_is_never_taken_for_one() {
    let bench = Bench::new().await;
    let programs = tempfile::tempdir().unwrap();
    let precious = programs.path().join("precious");
    std::fs::create_dir(&precious).unwrap();
    let liar = programs.path().join("mktemp");
    std::fs::write(&liar, format!("#!/bin/sh\nprintf %s '{}'\n", precious.display())).unwrap();
    std::fs::set_permissions(&liar, std::fs::Permissions::from_mode(0o755)).unwrap();
    let agent = bench.taking(SchemaDelivery::File, [gives(json!({ "n": 5 }))]);
    let path = format!("{}:/usr/bin:/bin", programs.path().display());
    let options = bench.asked(agent, Native, UNTAGGED).env("PATH", path);
    let error = sandcastle::run_with::<N>(options).await.unwrap_err();
    assert_eq!((error.kind(), bench.sessions()), (ErrorKind::Sandbox, 0), "{error:#}");
    assert!(precious.join("schema.json").exists());
}

/// A dropped run cannot wait for anything, and leaves no file all the same.
#[tokio::test]
async fn a_dropped_run_leaves_no_schema_behind() {
    let bench = Bench::new().await;
    let temporary = tempfile::tempdir().unwrap();
    let agent = bench.taking(SchemaDelivery::File, [Turn::new().hang()]);
    let options = bench.asked(agent, Native, UNTAGGED).env("TMPDIR", temporary.path());
    let run = sandcastle::run_with::<N>(options);
    let waited = async {
        while bench.sessions() == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        left_in(temporary.path())
    };
    let there = tokio::select! {
        ended = run => panic!("{ended:?}"),
        there = waited => there,
    };
    assert_eq!((there, left_in(temporary.path())), (1, 0));
}

fn left_in(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}
