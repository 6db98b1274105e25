//! What a run would refuse when a step begins, of what is written out: folders, files, names of branches, characters that no
//! program can be given. What a template fills in is known only then. The rules are those of the run, which are asked here and
//! nowhere repeated.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use super::super::definition::{
    AgentStep, Branching, Step, StepKind, Text, ToolStep, Workflow, WorkflowVersion, is_below,
};
use super::super::expression::{Template, placeholders};
use super::super::finding::{Finding, Place};
use super::MAX_DEPTH;
use super::order::texts;
use super::scope::ways;
use crate::error::Error;
use crate::output::one_line;
use crate::worktree;

/// Finds what a run of a workflow would refuse.
pub(super) fn check(workflow: &Workflow, found: &mut Vec<Finding>) {
    let mut refusals = Refusals { version: workflow.version, found };
    refusals.steps(&workflow.steps, "steps", 0);
}

struct Refusals<'f> {
    version: WorkflowVersion,
    found: &'f mut Vec<Finding>,
}

/// A text of a step, and where it is.
struct Written<'w> {
    text: Cow<'w, Text>,
    path: String,
    place: Option<Place>,
}

impl Refusals<'_> {
    fn steps(&mut self, steps: &[Step], path: &str, depth: usize) {
        for (index, step) in steps.iter().enumerate().filter(|_| depth <= MAX_DEPTH) {
            let path = format!("{path}[{index}]");
            self.characters(step, &path);
            match &step.kind {
                StepKind::Model(model) => self.time(model.timeout, step, &path, "timeout"),
                StepKind::Agent(agent) => self.agent(step, agent, &path),
                StepKind::Tool(tool) => self.tool(step, tool, &path),
                StepKind::Condition(_) | StepKind::Approval(_) | StepKind::Parallel(_) => {}
            }
            for (way, steps) in ways(step) {
                self.steps(steps, &format!("{path}.{way}"), depth + 1);
            }
        }
    }

    /// No program, variable, name or terminal takes a NUL character. What a command reads may have any.
    fn characters(&mut self, step: &Step, path: &str) {
        for (key, text) in texts(step).iter().filter(|(key, _)| key != "stdin") {
            if let Some(at) = text.source.find('\0') {
                let place = text.place(at).or(step.place);
                let hint = "leave it out: only `stdin` can have one";
                self.error(format!("{path}.{key}"), place, "has a NUL character", hint);
            }
        }
    }

    fn agent(&mut self, step: &Step, agent: &AgentStep, path: &str) {
        self.time(agent.timeout, step, path, "timeout");
        self.time(agent.idle_timeout, step, path, "idle_timeout");
        if let Some(branch) = agent.branch() {
            let branch = written(Cow::Owned(branch), step, format!("{path}.branch"));
            self.hold(&branch, |name| worktree::checked_branch(name).map(drop));
        }
        if let Some(base) = &agent.base {
            let base = written(Cow::Borrowed(base), step, format!("{path}.base"));
            self.hold(&base, worktree::checked_revision);
            if !matches!(agent.branching, Branching::Branch(_)) {
                let hint = "name a `branch`, or leave `base` out: the others begin at what is checked out";
                self.error(base.path, base.place, "only a branch with a name has a `base`", hint);
            }
        }
        for (index, text) in agent.copy_to_worktree.iter().enumerate() {
            let file = written(Cow::Borrowed(text), step, format!("{path}.copy_to_worktree[{index}]"));
            self.hold(&file, |name| worktree::check_paths(&[PathBuf::from(name)]));
        }
        if agent.branching == Branching::Head && !agent.copy_to_worktree.is_empty() {
            let hint = "say `branch: merge-to-head`, or name a branch";
            let message = "there is nothing to copy to: on `head` an agent works in your own work tree";
            self.error(format!("{path}.copy_to_worktree"), step.place, message, hint);
        }
    }

    fn tool(&mut self, step: &Step, tool: &ToolStep, path: &str) {
        self.time(tool.timeout, step, path, "timeout");
        match tool.argv.first() {
            None => self.error(format!("{path}.run"), step.place, "no program is named", PROGRAM),
            Some(program) => {
                let program = written(Cow::Borrowed(program), step, format!("{path}.run[0]"));
                if self.literal(&program.text).is_some_and(|name| name.trim().is_empty()) {
                    self.error(program.path, program.place, "no program is named", PROGRAM);
                }
            }
        }
        let cwd = tool.cwd.iter().map(|cwd| written(Cow::Borrowed(cwd), step, format!("{path}.cwd")));
        for cwd in cwd {
            if let Some(folder) = self.literal(&cwd.text).filter(|folder| !is_below(folder)) {
                let message = format!("`{:.60}` is not below the folder of the workflow", one_line(&folder));
                let hint = "name a folder below it, such as `crates/core`";
                self.error(cwd.path, cwd.place, message, hint);
            }
        }
    }

    /// Asks a rule of the run about a text that is what it is.
    fn hold(&mut self, written: &Written<'_>, rule: impl Fn(&str) -> Result<(), Error>) {
        if written.text.source.contains('\0') {
            // That has been said.
            return;
        }
        let refusal = self.literal(&written.text).and_then(|text| rule(&text).err());
        if let Some(refusal) = refusal {
            let hint = refusal.hints().first().map_or("write another one", String::as_str);
            self.error(written.path.clone(), written.place, format!("a run would fail to {refusal}"), hint);
        }
    }

    /// The text that a template becomes in any case; `None` if something is filled in, or it cannot be read.
    fn literal(&self, text: &Text) -> Option<String> {
        let source = &text.source;
        match self.version {
            _ if !source.contains('{') => Some(source.clone()),
            WorkflowVersion::V1_0 => placeholders(source).next().is_none().then(|| source.clone()),
            WorkflowVersion::V1_1 => Template::read(source).ok()?.literal(),
        }
    }

    fn time(&mut self, limit: Option<Duration>, step: &Step, path: &str, key: &str) {
        if limit.is_some_and(|limit| limit.is_zero()) {
            self.error(
                format!("{path}.{key}"),
                step.place,
                format!("`{key}` is longer than nothing"),
                "leave it out for no limit",
            );
        }
    }

    fn error(
        &mut self,
        path: String,
        place: Option<Place>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.found.push(Finding::error(path, place, message).with_hint(hint));
    }
}

/// What a command begins with.
const PROGRAM: &str = "the first word is the program";

fn written<'w>(text: Cow<'w, Text>, step: &Step, path: String) -> Written<'w> {
    let place = text.place(0).or(step.place);
    Written { text, path, place }
}
