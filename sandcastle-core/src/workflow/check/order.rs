//! Goes through a workflow in the order in which it runs, and reads every template and expression at its place, with what can be
//! read there.

use super::super::definition::{Step, StepKind, Text, Workflow, WorkflowVersion};
use super::super::expression::{Flaw, Template, read_expression};
use super::super::finding::{Finding, Place, Severity};
use super::MAX_DEPTH;
use super::guards::Fact;
use super::legacy;
use super::reader::{Reader, Remark};
use super::scope::{Catalogue, Scope, Standing, ways};

/// Reads everything that is written in a workflow.
pub(super) fn check(workflow: &Workflow, found: &mut Vec<Finding>) {
    let catalogue = Catalogue::new(workflow);
    let mut order = Order { version: workflow.version, found };
    let mut scope = Scope::new(&catalogue);
    order.steps(&workflow.steps, "steps", &mut scope, 0);
    scope.reader = None;
    for (name, text) in &workflow.outputs {
        order.template(text, &format!("outputs.{name}"), None, &scope);
    }
}

struct Order<'f> {
    version: WorkflowVersion,
    found: &'f mut Vec<Finding>,
}

impl<'f> Order<'f> {
    fn steps<'w>(&mut self, steps: &'w [Step], path: &str, scope: &mut Scope<'_, 'w>, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        for (index, step) in steps.iter().enumerate() {
            let path = format!("{path}[{index}]");
            scope.reader = Some(step.name.as_str());
            for (key, text) in texts(step) {
                self.template(&text, &format!("{path}.{key}"), step.place, scope);
            }
            match &step.kind {
                StepKind::Condition(choice) => {
                    let facts = self.condition(&choice.test, &format!("{path}.if"), step.place, scope);
                    self.both_ways(step, &path, facts, scope, depth);
                }
                StepKind::Parallel(_) => self.all_ways(step, &path, scope, depth),
                _ => {}
            }
            scope.steps.insert(step.name.as_str(), Standing::Done);
        }
    }

    /// What is done on one of two ways is perhaps done behind them.
    fn both_ways<'w>(
        &mut self,
        step: &'w Step,
        path: &str,
        facts: [Vec<Fact>; 2],
        scope: &mut Scope<'_, 'w>,
        depth: usize,
    ) {
        let before = scope.clone();
        for ((way, steps), facts) in ways(step).into_iter().zip(facts) {
            let mut inner = before.clone();
            inner.facts.extend(facts);
            self.steps(steps, &format!("{path}.{way}"), &mut inner, depth + 1);
            let new = inner.steps.into_keys().filter(|name| !before.steps.contains_key(name));
            scope.steps.extend(new.map(|name| (name, Standing::Perhaps)));
        }
    }

    /// What is done on ways that are all gone is done behind them.
    fn all_ways<'w>(&mut self, step: &'w Step, path: &str, scope: &mut Scope<'_, 'w>, depth: usize) {
        let before = scope.clone();
        for (way, steps) in ways(step) {
            let mut inner = before.clone();
            self.steps(steps, &format!("{path}.{way}"), &mut inner, depth + 1);
            scope.steps.extend(inner.steps);
        }
    }

    fn template(&mut self, text: &Text, path: &str, place: Option<Place>, scope: &Scope<'_, '_>) {
        let remarks = match self.version {
            WorkflowVersion::V1_0 => legacy::template(&text.source, scope),
            WorkflowVersion::V1_1 => match Template::read(&text.source) {
                Err(flaws) => flaws.into_iter().map(remark).collect(),
                Ok(template) => {
                    let mut reader = Reader::new(scope);
                    reader.statements(template.statements());
                    reader.remarks
                }
            },
        };
        self.say(remarks, text, path, place);
    }

    /// Reads a condition, and gives what its two answers say.
    fn condition(
        &mut self,
        text: &Text,
        path: &str,
        place: Option<Place>,
        scope: &Scope<'_, '_>,
    ) -> [Vec<Fact>; 2] {
        let (remarks, facts) = match self.version {
            WorkflowVersion::V1_0 => (legacy::condition(&text.source, scope), Default::default()),
            WorkflowVersion::V1_1 => match read_expression(&text.source) {
                Err(flaws) => (flaws.into_iter().map(remark).collect(), Default::default()),
                Ok(test) => {
                    let mut reader = Reader::new(scope);
                    reader.condition(&test.tree);
                    let facts = [true, false].map(|answer| reader.facts_of(&test.tree, answer));
                    (reader.remarks, facts)
                }
            },
        };
        self.say(remarks, text, path, place);
        facts
    }

    fn say(&mut self, remarks: Vec<Remark>, text: &Text, path: &str, place: Option<Place>) {
        let mut place_of = text.finder();
        for remark in remarks {
            let place = place_of(remark.offset).or(place);
            let finding = match remark.severity {
                Severity::Error => Finding::error(path, place, remark.message),
                Severity::Warning => Finding::warning(path, place, remark.message),
            };
            self.found.push(finding.with_hint(remark.hint));
        }
    }
}

pub(super) fn remark(flaw: Flaw) -> Remark {
    Remark { severity: Severity::Error, offset: flaw.offset, message: flaw.message, hint: flaw.hint }
}

/// The templates of a step, each with its key.
pub(super) fn texts(step: &Step) -> Vec<(String, Text)> {
    let mut texts = Vec::new();
    let mut add = |key: String, text: &Text| texts.push((key, text.clone()));
    match &step.kind {
        StepKind::Model(step) => {
            step.system.iter().for_each(|text| add("system".to_owned(), text));
            add("prompt".to_owned(), &step.prompt);
        }
        StepKind::Agent(step) => {
            step.branch().iter().for_each(|text| add("branch".to_owned(), text));
            step.base.iter().for_each(|text| add("base".to_owned(), text));
            add("prompt".to_owned(), &step.prompt);
            let files = step.copy_to_worktree.iter().enumerate();
            files.for_each(|(index, text)| add(format!("copy_to_worktree[{index}]"), text));
            step.env.iter().for_each(|(name, text)| add(format!("env.{name}"), text));
        }
        StepKind::Tool(step) => {
            step.argv.iter().enumerate().for_each(|(index, text)| add(format!("run[{index}]"), text));
            step.cwd.iter().for_each(|text| add("cwd".to_owned(), text));
            step.env.iter().for_each(|(name, text)| add(format!("env.{name}"), text));
            step.stdin.iter().for_each(|text| add("stdin".to_owned(), text));
        }
        StepKind::Approval(step) => step.message.iter().for_each(|text| add("message".to_owned(), text)),
        // Its test is no template, and its steps are read by themselves.
        StepKind::Condition(_) | StepKind::Parallel(_) => {}
    }
    texts
}
