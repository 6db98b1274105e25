//! The first phase: a borrowed model of the item under the derive.
//!
//! It only sorts what `syn` parsed into what the later phases ask about, and keeps the user's own tokens for messages.
//! It rejects nothing.

use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Field, Fields, Generics, Ident, Token, Variant};

use crate::symbol::OUTPUT;

/// The item under the derive.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) generics: &'a Generics,
    pub(crate) shape: Shape<'a>,
    attributes: &'a [Attribute],
}

/// What kind of item it is, with what it holds.
#[derive(Clone, Copy)]
pub(crate) enum Shape<'a> {
    Struct(&'a Fields),
    Enum(&'a Punctuated<Variant, Token![,]>),
    Union(&'a Token![union]),
}

/// An attribute of ours where none belongs, and what it stands on.
pub(crate) struct Misplaced<'a> {
    pub(crate) attribute: &'a Attribute,
    pub(crate) place: &'static str,
}

impl<'a> Input<'a> {
    pub(crate) fn new(item: &'a DeriveInput) -> Self {
        let shape = match &item.data {
            Data::Struct(data) => Shape::Struct(&data.fields),
            Data::Enum(data) => Shape::Enum(&data.variants),
            Data::Union(data) => Shape::Union(&data.union_token),
        };
        Self { name: &item.ident, generics: &item.generics, shape, attributes: &item.attrs }
    }

    /// The attributes of ours on the item itself.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = &'a Attribute> + use<'a> {
        ours(self.attributes)
    }

    /// The attributes of ours on fields and variants, where they mean nothing.
    pub(crate) fn misplaced(&self) -> Vec<Misplaced<'a>> {
        match self.shape {
            Shape::Struct(fields) => on_fields(fields).collect(),
            Shape::Enum(variants) => variants.iter().flat_map(on_variant).collect(),
            Shape::Union(_) => Vec::new(),
        }
    }
}

fn ours(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident(OUTPUT))
}

fn on_variant(variant: &Variant) -> impl Iterator<Item = Misplaced<'_>> {
    ours(&variant.attrs)
        .map(|attribute| Misplaced { attribute, place: "variant" })
        .chain(on_fields(&variant.fields))
}

fn on_fields(fields: &Fields) -> impl Iterator<Item = Misplaced<'_>> {
    fields
        .iter()
        .flat_map(|Field { attrs, .. }| ours(attrs))
        .map(|attribute| Misplaced { attribute, place: "field" })
}
