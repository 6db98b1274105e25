//! The grammar of `#[output(...)]`: `key`, `key = value`, separated by commas.
//!
//! Written on token trees rather than on a `syn` parser because it has to go on after a mistake: a broken entry ends at
//! its comma, and the next one is read as if nothing had happened.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Meta};

use super::{Given, known_keys};
use crate::ctxt::{Ctxt, Reported};
use crate::message::Mistake;

/// One key, and the tokens of its value if there is one.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: Ident,
    pub(super) value: Option<TokenStream>,
}

impl Entry {
    /// Joins the key with what its value was read as.
    pub(super) fn given<T>(&self, value: T) -> Given<T> {
        Given { key: self.key.clone(), value }
    }
}

/// Reads the entries of one attribute.
pub(super) fn entries(attribute: &Attribute, ctxt: &mut Ctxt) -> Vec<Result<Entry, Reported>> {
    let Meta::List(list) = &attribute.meta else {
        return vec![Err(ctxt.report(&attribute.meta, &Mistake::NotAList))];
    };
    let tokens: Vec<TokenTree> = list.tokens.clone().into_iter().collect();
    let mut parts: Vec<&[TokenTree]> = tokens.split_inclusive(is_comma).collect();
    // A list may be empty; a comma may follow the last entry. Everything else between two commas is an entry.
    parts.retain(|part| !part.is_empty());
    parts.into_iter().map(|part| entry(part, ctxt)).collect()
}

/// Reads one entry, which still has the comma that ends it, if any.
fn entry(part: &[TokenTree], ctxt: &mut Ctxt) -> Result<Entry, Reported> {
    let (body, comma) = match part.split_last() {
        Some((last, body)) if is_comma(last) => (body, Some(last)),
        _ => (part, None),
    };
    match body {
        [TokenTree::Ident(key)] => Ok(Entry { key: key.clone(), value: None }),
        [TokenTree::Ident(key), TokenTree::Punct(punct), value @ ..] if punct.as_char() == '=' => {
            no_comma_missing(value, ctxt)?;
            let value = (!value.is_empty()).then(|| value.iter().cloned().collect());
            Ok(Entry { key: key.clone(), value })
        }
        [TokenTree::Ident(_), next @ TokenTree::Ident(_), ..] => Err(ctxt.report(next, &Mistake::NoComma)),
        [TokenTree::Ident(key), next, ..] => {
            Err(ctxt.report(next, &Mistake::NotAnAssignment { key: key.to_string() }))
        }
        [other, ..] => Err(ctxt.report(other, &Mistake::NotAKey { keys: known_keys() })),
        [] => Err(ctxt.report(comma.to_token_stream(), &Mistake::NotAKey { keys: known_keys() })),
    }
}

/// Reports `tag = "a" text`, which would otherwise read as a strange value of the first key.
fn no_comma_missing(value: &[TokenTree], ctxt: &mut Ctxt) -> Result<(), Reported> {
    match value {
        [TokenTree::Literal(_), next @ TokenTree::Ident(_), ..] => Err(ctxt.report(next, &Mistake::NoComma)),
        _ => Ok(()),
    }
}

fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',')
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn read(attribute: &Attribute) -> Vec<Option<(String, Option<String>)>> {
        let mut ctxt = Ctxt::default();
        let entries = entries(attribute, &mut ctxt);
        let mistakes = entries.iter().filter(|entry| entry.is_err()).count();
        let reported = ctxt.finish(Ok(())).err().map_or(0, |error| error.into_iter().count());
        assert_eq!(mistakes, reported, "each broken entry is reported once");
        let spelled = |entry: Entry| (entry.key.to_string(), entry.value.map(|value| value.to_string()));
        entries.into_iter().map(|entry| entry.ok().map(spelled)).collect()
    }

    fn good(key: &str, value: Option<&str>) -> Option<(String, Option<String>)> {
        Some((key.to_owned(), value.map(str::to_owned)))
    }

    #[test]
    fn reads_keys_with_and_without_values() {
        let entries = read(&parse_quote!(#[output(tag = "result", text, crate = "a::b",)]));
        assert_eq!(
            entries,
            [good("tag", Some("\"result\"")), good("text", None), good("crate", Some("\"a::b\""))]
        );
        assert_eq!(read(&parse_quote!(#[output()])), []);
    }

    #[test]
    fn goes_on_after_a_broken_entry() {
        let entries = read(&parse_quote!(#[output(3, a(b), tag = "x" text, , max_retries = 1)]));
        assert_eq!(entries, [None, None, None, None, good("max_retries", Some("1"))]);
    }

    #[test]
    fn a_value_keeps_everything_up_to_the_comma() {
        assert_eq!(read(&parse_quote!(#[output(a = -1)])), [good("a", Some("- 1"))]);
        assert_eq!(
            read(&parse_quote!(#[output(a =, b = c::d)])),
            [good("a", None), good("b", Some("c :: d"))]
        );
    }

    #[test]
    fn other_forms_of_the_attribute_are_no_list() {
        assert_eq!(read(&parse_quote!(#[output])), [None]);
        assert_eq!(read(&parse_quote!(#[output = "result"])), [None]);
    }
}
