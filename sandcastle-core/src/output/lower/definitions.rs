//! The definitions that a copy refers to: their names, which of them are yet to be copied, and which refer to themselves.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::Value;

use super::name;
use super::rules::{Names, Recursion};

/// The longest name that a definition gets.
const MAX_NAME: usize = 60;

#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// Names by pointers into the original.
    names: HashMap<String, String>,
    /// The names that are taken, each with the number that the next of its kind gets.
    taken: HashMap<String, usize>,
    /// Where names are those of rules: which they may not be.
    forbidden: Option<HashSet<String>>,
    waiting: VecDeque<String>,
    /// The one that is being copied; the root, at first.
    current: String,
    edges: HashMap<String, Vec<Edge>>,
}

/// A reference within one definition to another.
#[derive(Debug)]
struct Edge {
    to: String,
    /// Where it stands.
    at: String,
    /// Whether it is below a property that may be left out.
    optional: bool,
}

impl Definitions {
    pub(super) fn new(names: Names, schema: &Value) -> Self {
        let forbidden = (names == Names::OfRules).then(|| name::ends_of_rules(schema));
        Self { forbidden, ..Self::default() }
    }

    /// Notes a reference.
    pub(super) fn note(&mut self, pointer: &str, at: &str, optional: bool) {
        let edge = Edge { to: pointer.to_owned(), at: at.to_owned(), optional };
        self.edges.entry(self.current.clone()).or_default().push(edge);
    }

    /// Returns the name of what is referred to, which is copied under it.
    pub(super) fn refer(&mut self, pointer: &str) -> String {
        if !self.names.contains_key(pointer) {
            let name = self.new_name(pointer);
            self.names.insert(pointer.to_owned(), name);
            self.waiting.push_back(pointer.to_owned());
        }
        self.name(pointer)
    }

    /// Returns the name of a definition; the root has none, unless it was given one.
    pub(super) fn name(&self, pointer: &str) -> String {
        self.names.get(pointer).cloned().unwrap_or_default()
    }

    /// Returns the next one to copy.
    pub(super) fn next(&mut self) -> Option<String> {
        let next = self.waiting.pop_front()?;
        self.current.clone_from(&next);
        Some(next)
    }

    /// Tells whether it is not a definition that is being copied.
    pub(super) fn is_at_root(&self) -> bool {
        self.current.is_empty()
    }

    /// Takes the last step of a pointer, in letters that need no escape anywhere.
    fn new_name(&mut self, pointer: &str) -> String {
        let last = pointer.rsplit('/').next().unwrap_or_default();
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' };
        let kind: String = last.chars().take(MAX_NAME).map(plain).collect();
        let kind = match (kind.is_empty(), pointer.is_empty()) {
            (true, true) => "root".to_owned(),
            (true, false) => "_".to_owned(),
            (false, _) => kind,
        };
        let styled = |name: &str| match self.forbidden {
            Some(_) => name::of_rule(name),
            None => name.to_owned(),
        };
        let first = styled(&kind);
        let mut name = first.clone();
        while self.is_taken(&name) {
            let number = self.taken.entry(first.clone()).or_insert(1);
            *number += 1;
            name = styled(&format!("{first}{number}"));
        }
        self.taken.insert(name.clone(), 1);
        name
    }

    fn is_taken(&self, name: &str) -> bool {
        self.taken.contains_key(name) || self.forbidden.as_ref().is_some_and(|names| names.contains(name))
    }

    /// Returns the places of references by which something refers to itself in a way that a dialect does not know.
    pub(super) fn circles(&self, recursion: Recursion) -> Vec<String> {
        let counts = |edge: &Edge| match recursion {
            Recursion::Allowed => false,
            Recursion::ThroughOptional => !edge.optional,
            Recursion::Refused => true,
        };
        let (mut found, mut done, mut on_way) = (Vec::new(), HashSet::new(), HashSet::new());
        let mut starts: Vec<&str> = self.edges.keys().map(String::as_str).collect();
        starts.sort_unstable();
        for start in starts {
            if done.contains(start) {
                continue;
            }
            // Those on the way, each with the references that are left to follow.
            let mut way = vec![(start, self.edges_of(start))];
            on_way.insert(start);
            while let Some((at, edges)) = way.last_mut() {
                match edges.next() {
                    None => {
                        on_way.remove(*at);
                        done.insert(*at);
                        way.pop();
                    }
                    Some(edge) if on_way.contains(edge.to.as_str()) && counts(edge) => {
                        found.push(edge.at.clone());
                    }
                    Some(edge) if !done.contains(edge.to.as_str()) && counts(edge) => {
                        on_way.insert(&edge.to);
                        way.push((&edge.to, self.edges_of(&edge.to)));
                    }
                    Some(_) => {}
                }
            }
        }
        found
    }

    fn edges_of(&self, pointer: &str) -> std::slice::Iter<'_, Edge> {
        self.edges.get(pointer).map(Vec::as_slice).unwrap_or_default().iter()
    }
}
