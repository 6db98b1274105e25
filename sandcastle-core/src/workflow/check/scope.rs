//! What expressions can read at one place of a workflow: which steps are done by then, and why the others are not.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde_json::Value;

use super::super::definition::{Defaults, Step, StepKind, Workflow, WorkflowVersion};
use super::guards::Fact;
use super::schema::{Node, read};
use super::shape::{Absence, Fields, Shape};
use crate::workflow::nearest::{instead_of, listed};

/// All steps of a workflow, with the schemas of what they give.
pub(super) struct Catalogue<'w> {
    pub(super) workflow: &'w Workflow,
    entries: Vec<Entry<'w>>,
    by_name: HashMap<&'w str, usize>,
    /// For how many more names the nearest one is looked for, which takes its time where there are many.
    guesses: Cell<usize>,
}

/// For how many names the nearest one is looked for in a workflow; nobody reads more of them at once.
const MAX_GUESSES: usize = 200;

/// A step, and where it stands.
struct Entry<'w> {
    step: &'w Step,
    output: Value,
    facts: Value,
    /// The steps that it is in, each with the way that leads to it.
    trail: Vec<(&'w str, Way<'w>)>,
}

/// A way through a step that has steps in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way<'w> {
    Then,
    Else,
    Branch(&'w str),
}

/// The key of a document that the way has.
impl fmt::Display for Way<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Then => f.write_str("then"),
            Self::Else => f.write_str("else"),
            Self::Branch(name) => write!(f, "branches.{name}"),
        }
    }
}

impl<'w> Catalogue<'w> {
    pub(super) fn new(workflow: &'w Workflow) -> Self {
        let mut catalogue =
            Self { workflow, entries: Vec::new(), by_name: HashMap::new(), guesses: Cell::new(MAX_GUESSES) };
        catalogue.add(&workflow.steps, &[]);
        catalogue
    }

    fn add(&mut self, steps: &'w [Step], trail: &[(&'w str, Way<'w>)]) {
        if trail.len() > super::MAX_DEPTH {
            return;
        }
        for step in steps {
            let name = step.name.as_str();
            let output = step.output_schema(self.workflow.version);
            // Of two steps with one name, which is an error in itself, the first is meant.
            self.by_name.entry(name).or_insert(self.entries.len());
            self.entries.push(Entry { step, output, facts: step.facts_schema(), trail: trail.to_vec() });
            for (way, steps) in ways(step) {
                let mut trail = trail.to_vec();
                trail.push((name, way));
                self.add(steps, &trail);
            }
        }
    }

    fn entry(&self, name: &str) -> Option<&Entry<'w>> {
        self.entries.get(*self.by_name.get(name)?)
    }

    /// Says what there is in the place of a name.
    pub(super) fn instead_of<'n>(&self, word: &str, names: impl Iterator<Item = &'n str> + Clone) -> String {
        match self.guesses.get().checked_sub(1) {
            Some(left) => {
                self.guesses.set(left);
                instead_of(word, names)
            }
            None => format!("there are {}", listed(names)),
        }
    }

    /// The steps that surely are done behind one way of a condition.
    pub(super) fn behind(&self, condition: &str, way: Way<'_>) -> Vec<&'w str> {
        let Some(entry) = self.entry(condition) else { return Vec::new() };
        let mut names = Vec::new();
        for (_, steps) in ways(entry.step).into_iter().filter(|(other, _)| *other == way) {
            surely(steps, &mut names, 0);
        }
        names
    }
}

fn surely<'w>(steps: &'w [Step], names: &mut Vec<&'w str>, depth: usize) {
    for step in steps.iter().filter(|_| depth <= super::MAX_DEPTH) {
        names.push(step.name.as_str());
        if matches!(step.kind, StepKind::Parallel(_)) {
            ways(step).into_iter().for_each(|(_, steps)| surely(steps, names, depth + 1));
        }
    }
}

/// The ways through a step.
pub(super) fn ways(step: &Step) -> Vec<(Way<'_>, &[Step])> {
    match &step.kind {
        StepKind::Condition(choice) => vec![(Way::Then, &choice.then), (Way::Else, &choice.otherwise)],
        StepKind::Parallel(step) => {
            step.branches.iter().map(|branch| (Way::Branch(&branch.name), branch.steps.as_slice())).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a step that stands before is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Done,
    /// If its condition went that way.
    Perhaps,
}

/// What can be read at one place.
#[derive(Clone)]
pub(super) struct Scope<'c, 'w> {
    pub(super) catalogue: &'c Catalogue<'w>,
    pub(super) steps: BTreeMap<&'w str, Standing>,
    /// What is known because the conditions around this place were answered so.
    pub(super) facts: Vec<Fact>,
    /// The step that reads, if one does.
    pub(super) reader: Option<&'w str>,
}

/// What is wrong with a name.
pub(super) struct Unknown {
    pub(super) message: String,
    pub(super) hint: String,
}

impl<'c, 'w> Scope<'c, 'w> {
    pub(super) fn new(catalogue: &'c Catalogue<'w>) -> Self {
        Self { catalogue, steps: BTreeMap::new(), facts: Vec::new(), reader: None }
    }

    /// What stands behind a name at the beginning of an expression.
    pub(super) fn root(&self, name: &str) -> Result<Shape<'c>, Unknown> {
        let workflow = self.catalogue.workflow;
        match name {
            // A document is run with a text; a program may give its workflow anything.
            "input" if workflow.source.is_some() => Ok(Shape::text()),
            "input" | "trigger" | "steps" => Ok(Shape::unknown()),
            "vars" => Ok(Shape::object(Fields::Only(
                workflow
                    .vars
                    .iter()
                    .map(|var| (var.name.as_str(), read(&[Node::root(&var.schema, Defaults::Filled)])))
                    .collect(),
            ))),
            name => self.step(name, |entry| {
                let defaults =
                    entry.step.contract.as_ref().map_or(Defaults::Left, |contract| contract.defaults);
                read(&[Node::root(&entry.output, defaults)])
            }),
        }
    }

    /// Tells whether there is a step of this name anywhere.
    pub(super) fn knows(&self, step: &str) -> bool {
        self.catalogue.entry(step).is_some()
    }

    /// What is known of a step beside its output.
    pub(super) fn facts_of(&self, name: &str) -> Result<Shape<'c>, Unknown> {
        self.step(name, |entry| read(&[Node::root(&entry.facts, Defaults::Left)]))
    }

    fn step(&self, name: &str, shape: impl FnOnce(&'c Entry<'w>) -> Shape<'c>) -> Result<Shape<'c>, Unknown> {
        let entry = self.catalogue.entry(name).ok_or_else(|| self.nowhere(name))?;
        match self.steps.get(name) {
            Some(Standing::Done) => Ok(shape(entry)),
            Some(Standing::Perhaps) => Ok(shape(entry).because(Absence::NotRun(name.to_owned()))),
            None => Err(self.unready(name, entry)),
        }
    }

    fn nowhere(&self, name: &str) -> Unknown {
        let roots = match self.catalogue.workflow.version {
            WorkflowVersion::V1_0 => &[][..],
            WorkflowVersion::V1_1 => &["input", "vars", "trigger", "steps"][..],
        };
        let names = self.steps.keys().copied().chain(roots.iter().copied());
        Unknown {
            message: format!("there is no step `{name}`"),
            hint: self.catalogue.instead_of(name, names),
        }
    }

    /// Says why a step that exists cannot be read here.
    fn unready(&self, name: &str, entry: &Entry<'_>) -> Unknown {
        let reader = self.reader.and_then(|reader| self.catalogue.entry(reader));
        let Some(reader) = reader else { return self.nowhere(name) };
        if reader.step.name.as_str() == name {
            let hint = "only steps that come before can be read".to_owned();
            return Unknown { message: format!("`{name}` cannot read its own output"), hint };
        }
        if reader.trail.iter().any(|(around, _)| *around == name) {
            let hint = "its output is there when all of its steps are done".to_owned();
            return Unknown { message: format!("`{name}` is not done while its own steps are"), hint };
        }
        let parting = reader.trail.iter().zip(&entry.trail).find(|(one, other)| one != other);
        if let Some(((around, _), (_, way))) = parting.filter(|((one, _), (other, _))| one == other) {
            return match way {
                Way::Branch(_) => Unknown {
                    message: format!("`{name}` is in another branch of `{around}`, at the same time"),
                    hint: format!("read it behind `{around}`"),
                },
                Way::Then | Way::Else => Unknown {
                    message: format!("`{name}` is on the other way of `{around}`, which is not gone then"),
                    hint: format!("read it behind `{around}`, with a default"),
                },
            };
        }
        let hint = "only steps that come before can be read".to_owned();
        Unknown { message: format!("`{name}` comes later"), hint }
    }
}
