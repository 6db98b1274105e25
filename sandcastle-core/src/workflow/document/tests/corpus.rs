//! Fixtures: each file is a case, and a file more is a case more.
//!
//! `fixtures/good/*.yaml` are read without a word. Beside each `fixtures/bad/**/NAME.yaml` there is a `NAME.expected` with all
//! that is found in it. Both are held against the published schema, too: it accepts the good ones, and refuses those broken
//! ones whose expectation begins with `schema: refused`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;

use super::super::report::Report;
use super::super::tree;
use crate::workflow::{Findings, Workflow};

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/workflow/document/tests/fixtures").join(folder);
    let mut found = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.extension().and_then(|ending| ending.to_str()) {
                _ if path.is_dir() => folders.push(path),
                Some("yaml") => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

fn findings(path: &Path) -> Findings {
    match Workflow::from_file(path) {
        Ok(workflow) => workflow.check(),
        Err(error) => error.workflow_findings().unwrap_or_else(|| panic!("{error:#}")).clone(),
    }
}

/// The findings as they stand in an expectation.
fn written(findings: &Findings) -> String {
    let each = findings.as_slice().iter().map(|finding| {
        let hint = finding.hint.as_ref().map_or_else(String::new, |hint| format!("  {hint}\n"));
        let severity = if findings.errors().any(|error| error == finding) { "" } else { "warning: " };
        format!("{severity}{finding}\n{hint}")
    });
    each.collect()
}

/// Tells whether the published schema accepts a document; what is no YAML never gets there.
fn is_accepted(path: &Path) -> Option<bool> {
    static PUBLISHED: LazyLock<jsonschema::Validator> =
        LazyLock::new(|| jsonschema::options().offline().build(&Workflow::json_schema()).unwrap());
    let text = fs::read(path).unwrap();
    let tree = tree::parse(std::str::from_utf8(&text).ok()?, &mut Report::default())?;
    Some(PUBLISHED.is_valid(&tree.to_json()))
}

#[test]
fn good_documents_are_read_without_a_word() {
    let paths = fixtures("good");
    assert!(paths.len() >= 12, "{} good documents", paths.len());
    for path in paths {
        let shown = path.display();
        assert_eq!(written(&findings(&path)), "", "{shown}");
        assert_eq!(is_accepted(&path), Some(true), "{shown}: the published schema");
    }
}

#[test]
fn broken_documents_are_found_out_with_place_and_advice() {
    let paths = fixtures("bad");
    assert!(paths.len() >= 50, "{} broken documents", paths.len());
    let mut wrong = String::new();
    for path in paths {
        let accepted = match is_accepted(&path) {
            None => "unread",
            Some(true) => "accepted",
            Some(false) => "refused",
        };
        let actual = format!("schema: {accepted}\n{}", written(&findings(&path)));
        let expected = fs::read_to_string(path.with_extension("expected")).unwrap_or_default();
        if actual != expected {
            wrong += &format!("=== {}\n{actual}", path.with_extension("expected").display());
        }
    }
    assert!(wrong.is_empty(), "what is found is not what is expected:\n{wrong}===");
}

#[test]
fn every_error_says_where_it_is_and_what_to_do() {
    for path in fixtures("bad") {
        let findings = findings(&path);
        assert!(findings.has_errors(), "{}: nothing is wrong", path.display());
        for finding in findings.as_slice() {
            let shown = format!("{}: {finding:#}", path.display());
            assert!(finding.place.is_some() && finding.hint.is_some(), "{shown}");
            assert!(!finding.message.ends_with('.') && !shown.contains('\n'), "{shown}");
        }
    }
}

#[test]
fn the_published_schema_is_one_and_describes_every_key() {
    let schema = Workflow::json_schema();
    assert!(jsonschema::meta::is_valid(&schema));
    let mut waiting = vec![&schema];
    let mut keys = 0;
    while let Some(part) = waiting.pop() {
        let properties = part.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, key) in properties.filter(|_| part.get("additionalProperties").is_some()) {
            assert!(key["description"].as_str().is_some_and(|text| text.ends_with('.')), "{name}: {key}");
            keys += 1;
        }
        match part {
            Value::Object(map) => waiting.extend(map.values()),
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
    assert!(keys > 80, "{keys} keys are described");
}
