//! Tells whether `null` fits a schema, as far as can be seen.

use std::collections::HashMap;

use serde_json::Value;

use super::node::{Node, Word, Words};
use super::report::Report;
use super::sentence;
use super::walk::Walker;

/// How deep is looked.
const MAX_DEPTH: usize = 100;

/// One look at a schema.
struct Look {
    /// What is known of references; of one that is being looked at, that it does not help.
    known: HashMap<String, bool>,
    depth: usize,
}

impl<'s> Walker<'s> {
    /// Tells whether `null` may fit.
    pub(super) fn may_be_null(&mut self, node: &Node<'s>) -> bool {
        self.fits_null(node, &mut Look { known: HashMap::new(), depth: 0 })
    }

    fn fits_null(&mut self, node: &Node<'s>, look: &mut Look) -> bool {
        if let Some(flag) = node.as_flag() {
            return flag;
        }
        if look.depth == MAX_DEPTH || !self.spend(node.weight()) {
            return true;
        }
        look.depth += 1;
        let words = node.read(&mut Report::default());
        let fits =
            fits_null_itself(&words) && self.refers_to_null(&words, look) && self.parts_fit(&words, look);
        look.depth -= 1;
        fits
    }

    fn refers_to_null(&mut self, words: &Words<'s>, look: &mut Look) -> bool {
        let Some(Ok((pointer, target))) =
            words.get("$ref").and_then(sentence::text_of).map(|reference| self.resolve(reference))
        else {
            return true;
        };
        if let Some(known) = look.known.get(&pointer) {
            return *known;
        }
        look.known.insert(pointer.clone(), false);
        let fits = self.fits_null(&Node::raw(pointer.clone(), target), look);
        look.known.insert(pointer, fits);
        fits
    }

    fn parts_fit(&mut self, words: &Words<'s>, look: &mut Look) -> bool {
        ["allOf", "anyOf", "oneOf"].into_iter().all(|key| {
            let Some(Word::List(parts)) = words.get(key) else { return true };
            let mut fits = parts.iter().map(|part| self.fits_null(part, look));
            if key == "allOf" { fits.all(|fits| fits) } else { fits.any(|fits| fits) }
        })
    }
}

fn fits_null_itself(words: &Words<'_>) -> bool {
    let by_type = words.types().is_none_or(|types| types.has("null"));
    let members = words.data("enum").and_then(Value::as_array);
    by_type
        && members.is_none_or(|members| members.contains(&Value::Null))
        && words.data("const").is_none_or(Value::is_null)
}
