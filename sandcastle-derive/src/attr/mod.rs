//! The second phase: reads `#[output(...)]` into values that keep the tokens they came from.
//!
//! It decides what can be decided from one key alone: its spelling, that it is given once, and that its value is of the
//! right kind. What a value means for the type is left to [`check`](crate::check).

mod entry;
mod nearest;
mod value;

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::{ExprPath, LitInt, LitStr, Path};

use self::entry::Entry;
use crate::ctxt::{Ctxt, Reported};
use crate::input::Input;
use crate::message::Mistake;
use crate::symbol::Key;

/// What the user wrote for one key: nothing, a value, or something that was already reported.
pub(crate) type Slot<T> = Option<Result<Given<T>, Reported>>;

/// A value with the key in front of it.
pub(crate) struct Given<T> {
    pub(crate) key: Ident,
    pub(crate) value: T,
}

/// The values of all `#[output(...)]` attributes of a type.
#[derive(Default)]
pub(crate) struct Attributes {
    pub(crate) tag: Slot<LitStr>,
    pub(crate) max_retries: Slot<LitInt>,
    pub(crate) validate: Slot<ExprPath>,
    pub(crate) prepare: Slot<ExprPath>,
    pub(crate) text: Slot<()>,
    pub(crate) krate: Slot<Path>,
    /// Set if an entry belongs to no key, so that any key may be missing because of it.
    pub(crate) unreadable: Option<Reported>,
}

impl Attributes {
    /// Reads the attributes of `input`, and reports what cannot be read.
    pub(crate) fn read(input: &Input<'_>, ctxt: &mut Ctxt) -> Self {
        let mut attributes = Self::default();
        for attribute in input.attributes() {
            for entry in entry::entries(attribute, ctxt) {
                match entry {
                    Ok(entry) => attributes.accept(&entry, ctxt),
                    Err(reported) => attributes.unreadable = Some(reported),
                }
            }
        }
        attributes
    }

    fn accept(&mut self, entry: &Entry, ctxt: &mut Ctxt) {
        let word = entry.key.unraw().to_string();
        let Some(key) = Key::spelled(&word) else { return self.reject(entry, word, ctxt) };
        if self.holds(key) {
            ctxt.report(&entry.key, &Mistake::RepeatedKey { key });
            return;
        }
        match key {
            Key::Tag => self.tag = Some(value::string(key, entry, ctxt)),
            Key::MaxRetries => self.max_retries = Some(value::integer(entry, ctxt)),
            Key::Validate => self.validate = Some(value::path(key, entry, ctxt)),
            Key::Prepare => self.prepare = Some(value::path(key, entry, ctxt)),
            Key::Text => self.text = Some(value::nothing(entry, ctxt)),
            Key::Crate => self.krate = Some(value::module(key, entry, ctxt)),
        }
    }

    /// Reports an unknown key. It may have been meant as any key, so none counts as missing any more.
    fn reject(&mut self, entry: &Entry, word: String, ctxt: &mut Ctxt) {
        let mistake = match nearest::nearest(&word) {
            Some(nearest) => Mistake::MisspeltKey { word, nearest },
            None => Mistake::UnknownKey { word, keys: known_keys() },
        };
        self.unreadable = Some(ctxt.report(&entry.key, &mistake));
    }

    fn holds(&self, key: Key) -> bool {
        match key {
            Key::Tag => self.tag.is_some(),
            Key::MaxRetries => self.max_retries.is_some(),
            Key::Validate => self.validate.is_some(),
            Key::Prepare => self.prepare.is_some(),
            Key::Text => self.text.is_some(),
            Key::Crate => self.krate.is_some(),
        }
    }
}

/// Lists the keys for a hint.
fn known_keys() -> String {
    Key::ALL.map(|key| format!("`{key}`")).join(", ")
}
