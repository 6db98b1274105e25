//! Picks the alternative that was meant, of several that do not fit.
//!
//! "fits none of the alternatives" helps nobody. For an `Option`, what is wrong is what is wrong with the value inside;
//! for an enum, the variant that the tag or the key names was meant. So the alternatives are ranked by how they fail,
//! and only the best is explained. If all fail at the value itself, what they expect is put into one sentence.

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use super::wording::{alternatives, one_of, types_of, wrong_type};
use crate::output::problem::Problems;
use crate::output::quote::option;

/// How an alternative fails; the least is the closest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Miss {
    /// Something inside is wrong.
    Inside,
    /// A field is missing.
    Lacking,
    /// A field is not known; with one that is missing, it is another variant.
    Keys,
    /// A field that says which variant it is says another.
    Tag,
    /// It is another kind of value altogether.
    Kind,
}

/// Explains why `value` at `path` fits no alternative; `branches` are the errors of each.
pub(super) fn explain(
    path: &str,
    value: &Value,
    branches: &[Vec<ValidationError<'static>>],
    problems: &mut Problems,
) {
    let ranked: Vec<_> = branches.iter().map(|errors| (rank(path, errors), errors)).collect();
    let Some(((miss, ..), best)) = ranked.iter().min_by_key(|(rank, _)| *rank) else {
        return problems.add(path, "fits no alternative, as there is none");
    };
    let message = match miss {
        Miss::Kind => Some((path.to_owned(), other_kind(path, value, branches))),
        Miss::Tag => other_tag(path, branches),
        Miss::Keys => other_key(path, branches).map(|message| (path.to_owned(), message)),
        Miss::Inside | Miss::Lacking => None,
    };
    match message {
        Some((path, message)) => problems.add(&path, &message),
        None => best.iter().for_each(|error| super::explain(error, problems)),
    }
}

/// Ranks an alternative: how it fails, in how many places, and how far from the deepest place that was reached.
fn rank(path: &str, errors: &[ValidationError<'static>]) -> (Miss, usize, usize) {
    let miss = errors.iter().map(|error| miss(path, error)).max().unwrap_or(Miss::Inside);
    let depth = errors.iter().map(|error| error.instance_path().as_str().len()).max().unwrap_or(0);
    (miss, errors.len(), usize::MAX - depth)
}

fn miss(path: &str, error: &ValidationError<'static>) -> Miss {
    let place = error.instance_path().as_str();
    let below = place.strip_prefix(path).unwrap_or(place).matches('/').count();
    match error.kind() {
        Kind::Type { .. } | Kind::Enum { .. } | Kind::Constant { .. } | Kind::FalseSchema if below == 0 => {
            Miss::Kind
        }
        Kind::Constant { .. } if below == 1 => Miss::Tag,
        Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } if below == 0 => Miss::Keys,
        Kind::Required { .. } if below == 0 => Miss::Lacking,
        // Alternatives within alternatives, and references to them, are no level of their own.
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } if below == 0 => {
            context.iter().map(|errors| rank(path, errors).0).min().unwrap_or(Miss::Inside)
        }
        _ => Miss::Inside,
    }
}

/// All alternatives that lie at `path`, those within alternatives included.
fn errors_at<'e>(
    path: &str,
    branches: &'e [Vec<ValidationError<'static>>],
    found: &mut Vec<&'e ValidationError<'static>>,
) {
    for error in branches.iter().flatten() {
        match error.kind() {
            Kind::AnyOf { context } | Kind::OneOfNotValid { context }
                if error.instance_path().as_str() == path =>
            {
                errors_at(path, context, found);
            }
            _ => found.push(error),
        }
    }
}

/// Says which kinds of values, or which values, would have been right.
fn other_kind(path: &str, value: &Value, branches: &[Vec<ValidationError<'static>>]) -> String {
    let (mut types, mut options) = (Vec::new(), Vec::new());
    let mut errors = Vec::new();
    errors_at(path, branches, &mut errors);
    for error in errors.into_iter().filter(|error| error.instance_path().as_str() == path) {
        match error.kind() {
            Kind::Type { kind } => types.extend(types_of(kind)),
            Kind::Enum { options: more } => options.extend(more.as_array().into_iter().flatten()),
            Kind::Constant { expected_value } => options.push(&**expected_value),
            _ => {}
        }
    }
    types.sort();
    types.dedup();
    let same_kind =
        options.iter().any(|option| std::mem::discriminant(*option) == std::mem::discriminant(value));
    if !same_kind && !types.is_empty() {
        return wrong_type(&types, value);
    }
    let nested = [JsonType::Array, JsonType::Object].into_iter().filter(|nested| types.contains(nested));
    let nested: Vec<_> = nested.map(JsonType::as_str).collect();
    match nested.as_slice() {
        [] => one_of(options),
        nested => format!("{}, or an {}", one_of(options), alternatives(nested)),
    }
}

/// If all alternatives are told apart by the same field, says what it may be.
fn other_tag(path: &str, branches: &[Vec<ValidationError<'static>>]) -> Option<(String, String)> {
    let mut errors = Vec::new();
    errors_at(path, branches, &mut errors);
    let tags = || {
        errors.iter().filter_map(|error| match error.kind() {
            Kind::Constant { expected_value } => Some((error.instance_path().as_str(), &**expected_value)),
            _ => None,
        })
    };
    let (place, _) = tags().next()?;
    let all_have_it = branches.iter().all(|branch| {
        miss_of(path, branch) == Miss::Kind
            || branch.iter().any(|error| is_alternative(error) || error.instance_path().as_str() == place)
    });
    all_have_it.then(|| {
        let options = tags().filter(|(other, _)| *other == place).map(|(_, option)| option);
        (place.to_owned(), one_of(options))
    })
}

fn miss_of(path: &str, errors: &[ValidationError<'static>]) -> Miss {
    rank(path, errors).0
}

fn is_alternative(error: &ValidationError<'static>) -> bool {
    matches!(error.kind(), Kind::AnyOf { .. } | Kind::OneOfNotValid { .. })
}

/// If all alternatives are told apart by the key they have, says which keys there are.
fn other_key(path: &str, branches: &[Vec<ValidationError<'static>>]) -> Option<String> {
    let mut keys = Vec::new();
    for branch in branches.iter().filter(|branch| miss_of(path, branch) == Miss::Keys) {
        let mut required = branch.iter().filter_map(|error| match error.kind() {
            Kind::Required { property } => Some(option(property)),
            _ => None,
        });
        match (required.next(), required.next()) {
            (Some(key), None) => keys.push(key),
            _ => return None,
        }
    }
    (keys.len() > 1).then(|| format!("must have exactly one of the keys {}", keys.join(", ")))
}
