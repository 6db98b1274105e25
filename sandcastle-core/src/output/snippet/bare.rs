//! A shape without words about it, for a model that is to fill it in.
//!
//! Small models copy what they see, comments included, and a comment is no JSON. Limits stay: they stand inside the
//! placeholders.

use super::model::{Definition, Kind, Node, Object, Others, Presence};

/// Takes away comments, and what is said about keys that are absent or unknown.
pub(super) fn strip(definitions: &mut [Definition]) {
    definitions.iter_mut().for_each(|definition| strip_node(&mut definition.node));
}

fn strip_node(node: &mut Node) {
    node.notes.clear();
    match &mut node.kind {
        Kind::Plain(_) | Kind::Literal(_) | Kind::Reference(_) => {}
        Kind::Object(object) => strip_object(object),
        Kind::Array(item) => strip_node(item),
        Kind::Tuple(tuple) => tuple.items.iter_mut().chain(tuple.rest.as_deref_mut()).for_each(strip_node),
        Kind::Union(parts) | Kind::Intersection(parts) => parts.iter_mut().for_each(strip_node),
    }
}

fn strip_object(object: &mut Object) {
    object.others = Others::Allowed;
    for field in &mut object.fields {
        field.presence = Presence::Required;
        strip_node(&mut field.node);
    }
    for keyed in &mut object.keyed {
        strip_node(&mut keyed.key);
        strip_node(&mut keyed.value);
    }
}
