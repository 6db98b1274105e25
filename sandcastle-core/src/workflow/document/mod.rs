//! From a YAML document to a workflow, and everything that is wrong with it.
//!
//! `tree` reads YAML and knows where everything is written; `keys` is the table of what a document can say, against which
//! `hold` holds the tree, and of which `publish` makes the JSON Schema for editors; `build` makes the workflow, `contract` its
//! output schemas. Whatever is wrong goes into one `report`, so that all of it is said at once. Only `files` touches
//! files: it reads the prompts that a document names.

mod build;
mod contract;
mod files;
mod hold;
mod keys;
mod publish;
mod report;
#[cfg(test)]
mod tests;
mod tree;

use std::fs::File;
use std::path::Path as FilePath;

use serde_json::Value;

use self::files::{Folder, NoFolder, PromptFiles, read_bounded};
use self::hold::Extent;
use self::report::{Path, Report};
use self::tree::{Content, Node};
use super::definition::{Workflow, WorkflowVersion};
use super::finding::{Finding, Findings, Place, Severity};
use crate::error::{Error, ErrorKind, Result};

impl Workflow {
    /// Reads a workflow from a YAML document, and [checks](Self::check) it.
    ///
    /// The text is in no folder, so a document that names a `prompt_file` is refused; see [`from_file`](Self::from_file).
    ///
    /// # Errors
    /// [`ErrorKind::InvalidWorkflow`] if something is wrong with it;
    /// [`Error::workflow_findings`](crate::Error::workflow_findings) has all of it, with lines and columns.
    ///
    /// # Examples
    /// ```
    /// use sandcastle_core::workflow::Workflow;
    ///
    /// let document = r#"
    /// version: "1.1"
    /// steps:
    ///   - step: tests
    ///     type: tool
    ///     run: [cargo, test]
    ///     on_failur: continue
    /// "#;
    /// let error = Workflow::from_yaml(document).unwrap_err();
    /// let finding = &error.workflow_findings().unwrap().as_slice()[0];
    /// assert_eq!(finding.path, "steps[0].on_failur");
    /// assert_eq!(finding.place.unwrap().to_string(), "7:5");
    /// assert!(finding.hint.as_ref().unwrap().starts_with("did you mean `on_failure`?"));
    /// ```
    pub fn from_yaml(text: &str) -> Result<Self> {
        let (workflow, findings) = Self::read_yaml(text, DEFAULT_NAME, &NoFolder);
        accepted(workflow, findings, "the workflow")
    }

    /// Reads a workflow from a file with a YAML document, and [checks](Self::check) it.
    ///
    /// It has the name of the file unless it says another. Prompts in files (`prompt_file`) are read now, from the folder of
    /// the document or below it.
    ///
    /// # Errors
    /// As [`from_yaml`](Self::from_yaml), and [`ErrorKind::InvalidWorkflow`] if the file cannot be read as text.
    pub fn from_file(path: impl AsRef<FilePath>) -> Result<Self> {
        let path = path.as_ref();
        let what = format!("the workflow `{}`", path.display());
        let text = File::open(path).and_then(|file| read_bounded(file, tree::MAX_BYTES as u64));
        let text = text.map_err(|error| {
            Error::new(ErrorKind::InvalidWorkflow, format!("read {what}")).with_source(error)
        })?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = Folder(folder.unwrap_or(FilePath::new(".")));
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let (mut workflow, findings) = Self::read_yaml(&text, &name, &folder);
        if let Some(workflow) = &mut workflow {
            workflow.file = std::path::absolute(path).ok();
        }
        accepted(workflow, findings, &what)
    }

    /// Returns the JSON Schema of documents, of draft 2020-12, by which editors complete and check them.
    ///
    /// It says which keys there are and what they hold. What only the whole document can tell, such as whether an
    /// expression reads something that is there, is for [`from_yaml`](Self::from_yaml) to say.
    #[must_use]
    pub fn json_schema() -> Value {
        publish::json_schema()
    }

    fn read_yaml(text: &str, default_name: &str, files: &dyn PromptFiles) -> (Option<Self>, Findings) {
        let mut report = Report::default();
        let Some(root) = tree::parse(text, &mut report) else {
            if report.count() == 0 {
                report.error(&Path::default(), BEGIN, "is empty", "begin with `version: \"1.1\"`");
            }
            return (None, report.into_findings());
        };
        // Where a part of the document could not be read, nobody knows what else is there.
        let is_unread = report.count() > 0;
        let version = version(&root);
        let extent = hold::hold(&root, version, &mut report);
        let mut workflow = build::build(&root, version, files, &mut report);
        workflow.source = Some(text.to_owned());
        if root.get("name").is_none() {
            default_name.clone_into(&mut workflow.name);
        }
        if !is_unread && extent == Extent::Bounded {
            // What the structure has made wrong is not said again in other words.
            let more = workflow.check().0.into_iter().filter(|finding| !report.covers(&finding.path));
            let more: Vec<_> = more.collect();
            for finding in more {
                match report.is_full() {
                    true => report.count_more(finding.severity),
                    false => report.add(located(finding, &root)),
                }
            }
        }
        (Some(workflow), report.into_findings())
    }
}

/// The name of a workflow that has none, and is in no file either.
const DEFAULT_NAME: &str = "workflow";

const BEGIN: Place = Place { line: 1, column: 1 };

/// The version that the document is read by: the one that it has, or the newest if it has none that is known.
fn version(root: &Node) -> WorkflowVersion {
    match root.get("version").map(|node| (node, &node.content)) {
        Some((node, Content::Text(_) | Content::Number(..)))
            if node.spelled().is_some_and(|text| text.source == "1.0") =>
        {
            WorkflowVersion::V1_0
        }
        _ => WorkflowVersion::V1_1,
    }
}

/// Gives a finding the place of the very key, where all that is known of it is its step.
fn located(finding: Finding, root: &Node) -> Finding {
    // What is wrong with a prompt in a file is found where the file is named.
    let in_file = finding.path.strip_suffix(".prompt").filter(|step| {
        let step = root.on_the_way(step).last();
        step.is_some_and(|step| step.get("prompt").is_none() && step.get("prompt_file").is_some())
    });
    let path = in_file.map_or_else(|| finding.path.clone(), |step| format!("{step}.prompt_file"));
    let around: Vec<_> = root.on_the_way(&path).map(|node| node.place).collect();
    match (finding.place, around.split_last()) {
        (Some(place), Some((_, around))) if !around.contains(&place) => finding,
        (_, Some((nearest, _))) => Finding { place: Some(*nearest), path, ..finding },
        (_, None) => finding,
    }
}

fn accepted(workflow: Option<Workflow>, findings: Findings, what: &str) -> Result<Workflow> {
    match workflow {
        Some(workflow) if !findings.has_errors() => Ok(workflow),
        _ => {
            let errors = findings.errors().count();
            let first = findings.as_slice().iter().find(|finding| finding.severity == Severity::Error);
            let first = first.map(ToString::to_string).unwrap_or_default();
            let more = if errors > 1 { format!(", and {} more", errors - 1) } else { String::new() };
            Err(Error::new(ErrorKind::InvalidWorkflow, format!("read {what}: {first}{more}"))
                .with_source(findings))
        }
    }
}
