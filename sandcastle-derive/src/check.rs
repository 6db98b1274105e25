//! The third phase: the rules that hold between an item and its attributes.
//!
//! The only place that can build a [`Checked`], which is all that the expansion accepts; so the expansion cannot fail.
//! Whether the type implements `Deserialize`, or the validating function has the right signature, is left to the
//! compiler: it knows, and says it better.

use syn::{ExprPath, Field, Fields, Generics, Ident, LitStr, Path, Type};

use crate::attr::{Attributes, Given};
use crate::ctxt::{Ctxt, Reported};
use crate::input::{Input, Shape};
use crate::message::Mistake;

/// The most often that a run may ask again.
const RETRY_LIMIT: u32 = 10;

/// Tags with a meaning of their own in an agent's text, and that meaning.
const RESERVED_TAGS: [(&str, &str); 3] = [
    ("promise", "agents end their work with it"),
    ("think", "models reason in it"),
    ("thinking", "models reason in it"),
];

/// An item that satisfies every rule.
#[derive(Clone, Copy)]
pub(crate) struct Checked<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) generics: &'a Generics,
    pub(crate) tag: &'a LitStr,
    pub(crate) format: Format<'a>,
    pub(crate) max_retries: u32,
    pub(crate) validate: Option<&'a ExprPath>,
    pub(crate) prepare: Option<&'a ExprPath>,
    pub(crate) krate: Option<&'a Path>,
    /// Keeps other modules from building one.
    _proof: Proof,
}

#[derive(Clone, Copy)]
struct Proof;

/// How the inside of the tag is read.
#[derive(Clone, Copy)]
pub(crate) enum Format<'a> {
    Json,
    /// Text, from which the only field is made.
    Text {
        inner: &'a Type,
    },
}

/// Holds `input` and `attributes` against the rules, and ends the collecting of mistakes.
pub(crate) fn check<'a>(
    input: &Input<'a>,
    attributes: &'a Attributes,
    mut ctxt: Ctxt,
) -> syn::Result<Checked<'a>> {
    possible_values(input, &mut ctxt);
    owned(input.generics, &mut ctxt);
    misplaced(input, &mut ctxt);
    let tag = tag(input, attributes, &mut ctxt);
    let format = format(input, attributes, &mut ctxt);
    let max_retries = max_retries(attributes, &mut ctxt);
    let prepare = prepare(attributes, &mut ctxt);
    let checked = || {
        Ok(Checked {
            name: input.name,
            generics: input.generics,
            tag: tag?,
            format: format?,
            max_retries: max_retries?,
            validate: given(attributes.validate.as_ref())?,
            prepare: prepare?,
            krate: given(attributes.krate.as_ref())?,
            _proof: Proof,
        })
    };
    ctxt.finish(checked())
}

/// A union cannot be read, since nothing says which field is meant; an enum without variants has no value at all.
fn possible_values(input: &Input<'_>, ctxt: &mut Ctxt) {
    match input.shape {
        Shape::Union(token) => _ = ctxt.report(token, &Mistake::Union),
        Shape::Enum(variants) if variants.is_empty() => _ = ctxt.report(input.name, &Mistake::NoVariants),
        Shape::Enum(_) | Shape::Struct(_) => {}
    }
}

/// An answer outlives the text it is read from, so it can borrow nothing.
fn owned(generics: &Generics, ctxt: &mut Ctxt) {
    for parameter in generics.lifetimes() {
        let lifetime = &parameter.lifetime;
        ctxt.report(lifetime, &Mistake::Lifetime { lifetime: lifetime.to_string() });
    }
}

/// The compiler allows a derive's attributes on fields and variants too, where ours would silently do nothing.
fn misplaced(input: &Input<'_>, ctxt: &mut Ctxt) {
    for misplaced in input.misplaced() {
        ctxt.report(misplaced.attribute.path(), &Mistake::Misplaced { place: misplaced.place });
    }
}

/// There must be a tag, and it must be one that a reader of the agent's text can tell from everything else.
fn tag<'a>(input: &Input<'a>, attributes: &'a Attributes, ctxt: &mut Ctxt) -> Result<&'a LitStr, Reported> {
    let Some(slot) = &attributes.tag else { return Err(no_tag(input, attributes, ctxt)) };
    let Given { value, .. } = slot.as_ref().map_err(|reported| *reported)?;
    let tag = value.value();
    if tag.is_empty() {
        Err(ctxt.report(value, &Mistake::EmptyTag))
    } else if !is_name(&tag) {
        Err(ctxt.report(value, &Mistake::TagNotAName { tag: tag.escape_debug().to_string() }))
    } else if let Some(meaning) = reserved_for(&tag) {
        Err(ctxt.report(value, &Mistake::ReservedTag { tag, meaning }))
    } else {
        Ok(value)
    }
}

fn no_tag(input: &Input<'_>, attributes: &Attributes, ctxt: &mut Ctxt) -> Reported {
    if let Some(reported) = attributes.unreadable {
        return reported;
    }
    match input.attributes().next() {
        Some(attribute) => ctxt.report(attribute.path(), &Mistake::NoTag),
        None => ctxt.report(input.name, &Mistake::NoAttribute { name: input.name.to_string() }),
    }
}

/// The names of XML elements, without the letters outside ASCII that agents would write in more than one form.
fn is_name(tag: &str) -> bool {
    tag.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && tag.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'))
}

fn reserved_for(tag: &str) -> Option<&'static str> {
    if tag.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("xml")) {
        return Some("names that begin with `xml` belong to XML itself");
    }
    RESERVED_TAGS.into_iter().find_map(|(reserved, meaning)| (tag == reserved).then_some(meaning))
}

/// Text fills one field, and only a tuple struct has a field that needs no name.
fn format<'a>(input: &Input<'a>, attributes: &Attributes, ctxt: &mut Ctxt) -> Result<Format<'a>, Reported> {
    let Some(slot) = &attributes.text else { return Ok(Format::Json) };
    let Given { key, .. } = slot.as_ref().map_err(|reported| *reported)?;
    match only_field(input.shape) {
        Ok(field) => Ok(Format::Text { inner: &field.ty }),
        Err(found) => Err(ctxt.report(key, &Mistake::TextNeedsOneField { found })),
    }
}

/// Returns the field of a tuple struct that has just one, or says what the item is instead.
fn only_field(shape: Shape<'_>) -> Result<&Field, String> {
    let fields = match shape {
        Shape::Struct(Fields::Unnamed(fields)) => &fields.unnamed,
        Shape::Struct(Fields::Named(_)) => return Err("a struct with named fields".to_owned()),
        Shape::Struct(Fields::Unit) => return Err("a struct without fields".to_owned()),
        Shape::Enum(_) => return Err("an enum".to_owned()),
        Shape::Union(_) => return Err("a union".to_owned()),
    };
    match fields.first() {
        Some(field) if fields.len() == 1 => Ok(field),
        _ => Err(format!("a tuple struct with {} fields", fields.len())),
    }
}

fn max_retries(attributes: &Attributes, ctxt: &mut Ctxt) -> Result<u32, Reported> {
    let Some(given) = given(attributes.max_retries.as_ref())? else { return Ok(0) };
    // Digits are all that is left to parse, so a number that does not fit is too large.
    match given.base10_parse() {
        Ok(retries) if retries <= RETRY_LIMIT => Ok(retries),
        _ => Err(ctxt.report(given, &Mistake::TooManyRetries { limit: RETRY_LIMIT })),
    }
}

/// A text is never parsed, so it is no value that could be prepared.
fn prepare<'a>(attributes: &'a Attributes, ctxt: &mut Ctxt) -> Result<Option<&'a ExprPath>, Reported> {
    match (&attributes.prepare, &attributes.text) {
        (Some(Ok(prepare)), Some(_)) => Err(ctxt.report(&prepare.key, &Mistake::TextPrepared)),
        (prepare, _) => given(prepare.as_ref()),
    }
}

/// Returns the value of a slot that needs no further check.
fn given<T>(slot: Option<&Result<Given<T>, Reported>>) -> Result<Option<&T>, Reported> {
    slot.map(|slot| slot.as_ref().map(|given| &given.value).map_err(|reported| *reported)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_xml_elements() {
        for good in ["a", "_", "result", "my-result", "Result_2.b"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "1st", "-a", ".a", "a b", "a:b", "<a>", "a/", "é", "aé", "a\n"] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn whole_names_are_reserved_and_everything_of_xml() {
        for reserved in ["promise", "think", "thinking", "xml", "XML", "xMlReport"] {
            assert!(reserved_for(reserved).is_some(), "{reserved}");
        }
        for free in ["promises", "rethink", "thinkings", "axml", "xm", "result"] {
            assert!(reserved_for(free).is_none(), "{free}");
        }
    }

    #[test]
    fn a_text_fills_the_only_field_of_a_tuple_struct() {
        let found = |item: syn::DeriveInput| match only_field(Input::new(&item).shape) {
            Ok(_) => String::new(),
            Err(found) => found,
        };
        assert_eq!(
            found(syn::parse_quote!(
                struct A(String);
            )),
            ""
        );
        assert_eq!(
            found(syn::parse_quote!(
                struct A();
            )),
            "a tuple struct with 0 fields"
        );
        assert_eq!(
            found(syn::parse_quote!(
                struct A(u8, u8);
            )),
            "a tuple struct with 2 fields"
        );
        assert_eq!(
            found(syn::parse_quote!(
                struct A;
            )),
            "a struct without fields"
        );
        assert_eq!(
            found(syn::parse_quote!(
                struct A {
                    a: u8,
                }
            )),
            "a struct with named fields"
        );
        assert_eq!(
            found(syn::parse_quote!(
                enum A {
                    B(u8),
                }
            )),
            "an enum"
        );
    }
}
