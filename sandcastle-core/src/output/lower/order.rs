//! The order of properties, which is the one in which they are declared: models fill them in one after the other.
//!
//! Where demands of several schemas become one, the merge has those first that it comes to first. Here a schema is read as
//! it is written, with what it refers to in the place of the reference, and its properties are sorted so.

use std::collections::{HashMap, HashSet};

use super::node::{Node, Word, Words};
use super::report::Report;
use super::sentence;
use super::walk::Walker;

impl<'s> Walker<'s> {
    /// Sorts properties as they are declared in the words of which these were merged.
    pub(super) fn in_declared_order(&mut self, written: Words<'s>, merged: &mut Words<'s>) {
        let Some(Word::Named(properties)) = merged.get_mut("properties") else { return };
        if properties.len() < 2 {
            return;
        }
        let mut properties = std::mem::take(properties);
        let ranks = self.ranks(written);
        properties.sort_by_key(|(name, _)| ranks.get(name).copied().unwrap_or(usize::MAX));
        merged.set("properties", Word::Named(properties));
    }

    /// Numbers the properties of words, those of references and conjunctions included.
    fn ranks(&mut self, written: Words<'s>) -> HashMap<&'s str, usize> {
        let (mut ranks, mut passed) = (HashMap::new(), HashSet::new());
        let mut waiting: Vec<_> = written.into_iter().rev().collect();
        while let Some((key, word)) = waiting.pop() {
            match (key, word) {
                ("properties", Word::Named(properties)) => {
                    for (name, _) in properties {
                        let next = ranks.len();
                        ranks.entry(name).or_insert(next);
                    }
                }
                ("allOf", Word::List(parts)) => {
                    waiting.extend(parts.iter().rev().flat_map(|part| self.words_of(part)));
                }
                ("$ref", reference) => {
                    let Some(reference) = sentence::text_of(&reference) else { continue };
                    let Ok((pointer, target)) = self.resolve(reference) else { continue };
                    if passed.insert(pointer.clone()) {
                        waiting.extend(self.words_of(&Node::raw(pointer, target)));
                    }
                }
                _ => {}
            }
        }
        ranks
    }

    /// Returns the words of a schema, the last one first.
    fn words_of(&mut self, node: &Node<'s>) -> Vec<(&'s str, Word<'s>)> {
        if !self.spend(node.weight()) {
            return Vec::new();
        }
        node.read(&mut Report::default()).into_iter().rev().collect()
    }
}
