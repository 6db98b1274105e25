//! The files that work on a pull request ends in: every byte of them, and that nothing else is written.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use sandcastle::review::{
    ExploreOutput, ImplementOutput, InlineComment, ResultFiles, ResultFolder, ReviewOutput, ThreadReply,
    TopLevelComment, UpdateBranchOutput,
};
use sandcastle::{CommitId, ErrorKind};

fn tip() -> CommitId {
    CommitId::new("a".repeat(40)).unwrap()
}

fn review() -> ReviewOutput {
    ReviewOutput {
        summary: "One *thing*.\n".to_owned(),
        inline_comments: vec![InlineComment {
            path: "src/ü.rs".to_owned(),
            line: 7,
            body: "Say \"why\".\nAnd <b>how</b>.".to_owned(),
        }],
        replies: vec![ThreadReply { comment_id: "PRRC_1".to_owned(), body: "Done.".to_owned() }],
    }
}

/// The names and contents of everything in a folder.
fn found(folder: &Path) -> Vec<(String, String)> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
        .collect();
    found.sort();
    found
}

#[track_caller]
fn written(files: &ResultFiles, expected: &[(&str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    ResultFolder::open(folder.path()).unwrap().write(files).unwrap();
    let expected: Vec<_> =
        expected.iter().map(|(name, contents)| ((*name).to_owned(), (*contents).to_owned())).collect();
    assert_eq!(found(folder.path()), expected);
}

#[test]
fn a_review_is_what_github_takes_and_three_files_beside() {
    let payload = r#"{
  "commit_id": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  "event": "COMMENT",
  "body": "One *thing*.\n",
  "comments": [
    {
      "path": "src/ü.rs",
      "line": 7,
      "side": "RIGHT",
      "body": "Say \"why\".\nAnd <b>how</b>."
    }
  ]
}
"#;
    let replies = r#"[
  {
    "commentId": "PRRC_1",
    "body": "Done."
  }
]
"#;
    let with = |verdict| {
        [
            ("replies.json", replies),
            ("review_payload.json", payload),
            ("summary.md", "One *thing*.\n"),
            ("verdict.txt", verdict),
        ]
    };
    written(&ResultFiles::of_review(&review(), &tip(), 0).unwrap(), &with("clean"));
    written(&ResultFiles::of_review(&review(), &tip(), 2).unwrap(), &with("improved"));
}

#[test]
fn answered_feedback_is_four_files() {
    let mut output = ImplementOutput {
        thread_replies: vec![],
        new_inline_comments: vec![],
        top_level_comments: vec![TopLevelComment { body: "All done.".to_owned() }],
    };
    let top_level = "[\n  {\n    \"body\": \"All done.\"\n  }\n]\n";
    written(
        &ResultFiles::of_implement(&output, 1).unwrap(),
        &[
            ("has_commits.txt", "true"),
            ("implement_new_inline_comments.json", "[]\n"),
            ("implement_thread_replies.json", "[]\n"),
            ("implement_top_level_comments.json", top_level),
        ],
    );
    let ReviewOutput { inline_comments, replies, .. } = review();
    (output.new_inline_comments, output.thread_replies) = (inline_comments, replies);
    output.top_level_comments.clear();
    let inline = "[\n  {\n    \"path\": \"src/ü.rs\",\n    \"line\": 7,\n    \
                  \"body\": \"Say \\\"why\\\".\\nAnd <b>how</b>.\"\n  }\n]\n";
    let replies = "[\n  {\n    \"commentId\": \"PRRC_1\",\n    \"body\": \"Done.\"\n  }\n]\n";
    written(
        &ResultFiles::of_implement(&output, 0).unwrap(),
        &[
            ("has_commits.txt", "false"),
            ("implement_new_inline_comments.json", inline),
            ("implement_thread_replies.json", replies),
            ("implement_top_level_comments.json", "[]\n"),
        ],
    );
}

#[test]
fn a_look_an_update_and_a_failure_are_short() {
    let comment = "Look.\r\n\n".to_owned();
    written(
        &ResultFiles::of_explore(&ExploreOutput { comment: comment.clone() }),
        &[("comment.md", "Look.\n")],
    );
    let update = UpdateBranchOutput { comment };
    for (commits, should_push) in [(0, "false"), (1, "true")] {
        let files = ResultFiles::of_update_branch(&update, commits);
        written(&files, &[("comment.md", "Look.\n"), ("should_push.txt", should_push)]);
    }
    written(&ResultFiles::of_failure("no session"), &[("failure_reason.txt", "no session\n")]);
}

#[test]
fn the_results_of_an_earlier_run_go_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("failure_reason.txt"), "old").unwrap();
    fs::write(folder.path().join("should_push.txt"), "true").unwrap();
    let theirs = [("COMMENT.md", "theirs"), ("comment.md.orig", "theirs"), ("theirs.txt", "theirs")];
    for (name, text) in theirs {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let opened = ResultFolder::open(folder.path()).unwrap();
    let theirs = theirs.map(|(name, text)| (name.to_owned(), text.to_owned()));
    assert_eq!(found(folder.path()), theirs);
    opened.write(&ResultFiles::of_review(&review(), &tip(), 1).unwrap()).unwrap();
    opened.write(&ResultFiles::of_failure("the push was refused")).unwrap();
    ResultFolder::open(folder.path()).unwrap();
    assert_eq!(found(folder.path()), theirs);
}

#[test]
fn a_folder_that_has_the_name_of_a_result_is_named_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("verdict.txt/theirs");
    fs::create_dir_all(&inside).unwrap();
    let error = ResultFolder::open(folder.path()).unwrap_err();
    assert!(error.to_string().contains("verdict.txt") && inside.exists(), "{error}");
}

#[test]
fn a_folder_that_is_not_there_is_made_and_files_are_readable_like_others() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("a/b"), folder.path().join("other"));
    let opened = ResultFolder::open(&path).unwrap();
    opened.write(&ResultFiles::of_failure("why")).unwrap();
    assert_eq!(opened.path(), path);
    fs::write(&other, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&path.join("failure_reason.txt")), mode(&other));
}

#[test]
fn links_that_were_planted_are_replaced_and_not_followed() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let precious = elsewhere.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    for name in ["verdict.txt", "summary.md", "failure_reason.txt"] {
        symlink(&precious, folder.path().join(name)).unwrap();
    }
    symlink(elsewhere.path().join("unborn"), folder.path().join("replies.json")).unwrap();
    let opened = ResultFolder::open(folder.path()).unwrap();
    opened.write(&ResultFiles::of_review(&review(), &tip(), 0).unwrap()).unwrap();
    opened.write(&ResultFiles::of_failure("why")).unwrap();
    assert_eq!(found(elsewhere.path()), [("precious".to_owned(), "precious".to_owned())]);
    let linked = |entry: fs::DirEntry| entry.file_type().unwrap().is_symlink();
    assert!(!fs::read_dir(folder.path()).unwrap().any(|entry| linked(entry.unwrap())));
    assert_eq!(fs::read_to_string(folder.path().join("verdict.txt")).unwrap(), "clean");
}

#[test]
fn a_folder_that_is_exchanged_for_a_link_stays_the_folder() {
    let (place, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = place.path().join("out");
    let opened = ResultFolder::open(&path).unwrap();
    fs::rename(&path, place.path().join("moved")).unwrap();
    symlink(elsewhere.path(), &path).unwrap();
    opened.write(&ResultFiles::of_failure("why")).unwrap();
    assert_eq!(found(elsewhere.path()), []);
    assert_eq!(found(&place.path().join("moved")), [("failure_reason.txt".to_owned(), "why\n".to_owned())]);
}

#[test]
fn what_cannot_be_written_is_named_and_leaves_nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let opened = ResultFolder::open(folder.path()).unwrap();
    fs::create_dir(folder.path().join("verdict.txt")).unwrap();
    let error = opened.write(&ResultFiles::of_review(&review(), &tip(), 0).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("verdict.txt"), "{error}");
    assert!(
        fs::read_dir(folder.path())
            .unwrap()
            .all(|entry| { !entry.unwrap().file_name().to_string_lossy().starts_with('.') })
    );

    let file = folder.path().join("a-file");
    fs::write(&file, "").unwrap();
    let error = ResultFolder::open(&file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("a-file"), "{error}");
}
