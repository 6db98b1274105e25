//! The kinds of values that keys take: a string, a path in a string, a whole number, nothing.
//!
//! Each function reports a value of another kind on the value itself, or on the key if there is none.

use proc_macro2::{Span, TokenStream};
use syn::parse::{Parse, Parser};
use syn::{ExprPath, LitInt, LitStr, Path};

use super::Given;
use super::entry::Entry;
use crate::ctxt::{Ctxt, Reported};
use crate::message::Mistake;
use crate::symbol::Key;

/// What was read, or the proof that the user was told why not.
type Read<T> = Result<Given<T>, Reported>;

/// Reads `key = "..."`.
pub(super) fn string(key: Key, entry: &Entry, ctxt: &mut Ctxt) -> Read<LitStr> {
    let value = required(key, entry, ctxt)?;
    match syn::parse2(value.clone()) {
        Ok(string) => Ok(entry.given(string)),
        Err(_) => Err(ctxt.report(value, &Mistake::NotAString { key, form: key.form() })),
    }
}

/// Reads `key = "path::to::function"`, which may also be `Self::function` or `<Type as Trait>::function`.
pub(super) fn path(key: Key, entry: &Entry, ctxt: &mut Ctxt) -> Read<ExprPath> {
    quoted(ExprPath::parse, key, entry, ctxt)
}

/// Reads `key = "path::to::module"`.
pub(super) fn module(key: Key, entry: &Entry, ctxt: &mut Ctxt) -> Read<Path> {
    quoted(Path::parse_mod_style, key, entry, ctxt)
}

/// Reads `max_retries = 3`.
pub(super) fn integer(entry: &Entry, ctxt: &mut Ctxt) -> Read<LitInt> {
    let value = required(Key::MaxRetries, entry, ctxt)?;
    match syn::parse2(value.clone()) {
        Ok(integer) if is_count(&integer) => Ok(entry.given(integer)),
        _ => Err(ctxt.report(value, &Mistake::RetriesNotAnInteger)),
    }
}

/// Reads a key that stands alone.
pub(super) fn nothing(entry: &Entry, ctxt: &mut Ctxt) -> Read<()> {
    match &entry.value {
        None => Ok(entry.given(())),
        Some(value) => Err(ctxt.report(value, &Mistake::TextTakesNoValue)),
    }
}

fn required<'a>(key: Key, entry: &'a Entry, ctxt: &mut Ctxt) -> Result<&'a TokenStream, Reported> {
    let missing = Mistake::NoValue { key, form: key.form() };
    entry.value.as_ref().ok_or_else(|| ctxt.report(&entry.key, &missing))
}

/// The path keeps the place of the string, for the compiler's errors about what it leads to, but counts as generated:
/// lints on how code is written would otherwise fire on the inside of a string.
fn quoted<T>(parser: impl Parser<Output = T>, key: Key, entry: &Entry, ctxt: &mut Ctxt) -> Read<T> {
    let written = string(key, entry, ctxt)?.value;
    let mut generated = written.clone();
    generated.set_span(Span::call_site().located_at(written.span()));
    match generated.parse_with(parser) {
        Ok(path) => Ok(entry.given(path)),
        Err(_) => Err(ctxt.report(written, &Mistake::NotAPath { key, form: key.form() })),
    }
}

/// `syn` counts `-1` and `3px` as integers too.
fn is_count(integer: &LitInt) -> bool {
    !integer.base10_digits().starts_with('-') && matches!(integer.suffix(), "" | "u32")
}

#[cfg(test)]
mod tests {
    use quote::{ToTokens, quote};
    use syn::Ident;

    use super::*;

    fn read<T: ToTokens>(
        value: TokenStream,
        reader: impl FnOnce(&Entry, &mut Ctxt) -> Read<T>,
    ) -> Result<String, String> {
        let entry = Entry { key: Ident::new("key", Span::call_site()), value: Some(value) };
        let mut ctxt = Ctxt::default();
        let outcome = reader(&entry, &mut ctxt);
        let shown = ctxt.finish(outcome).map_err(|error| error.to_string());
        shown.map(|given| given.value.into_token_stream().to_string())
    }

    #[test]
    fn integers_are_whole_and_positive() {
        for good in [quote!(0), quote!(3), quote!(1_0), quote!(0x0A), quote!(3u32)] {
            assert_eq!(read(good.clone(), integer), Ok(good.to_string()));
        }
        for bad in [quote!(-1), quote!(1.5), quote!("3"), quote!(true), quote!(3px), quote!(2 + 1)] {
            assert_eq!(read(bad, integer), Err(Mistake::RetriesNotAnInteger.text()));
        }
    }

    #[test]
    fn paths_may_be_qualified() {
        let reader = |entry: &Entry, ctxt: &mut Ctxt| path(Key::Validate, entry, ctxt);
        for good in ["check", "self::check", "Self::check", "a::check::<Self>", "<Self as Trait>::check"] {
            assert!(read(good.into_token_stream(), reader).is_ok(), "{good}");
        }
        for bad in ["", "a check", "a::", "|x| x", "1", "check()"] {
            assert!(read(bad.into_token_stream(), reader).is_err(), "{bad}");
        }
    }

    #[test]
    fn modules_are_plain_paths() {
        let reader = |entry: &Entry, ctxt: &mut Ctxt| module(Key::Crate, entry, ctxt);
        for good in ["sandcastle_core", "::sandcastle_core", "crate::x", "super::x"] {
            assert!(read(good.into_token_stream(), reader).is_ok(), "{good}");
        }
        for bad in ["", "a::<b>", "<a>::b", "sandcastle-core"] {
            assert!(read(bad.into_token_stream(), reader).is_err(), "{bad}");
        }
    }
}
