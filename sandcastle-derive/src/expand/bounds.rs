//! The `where` clause of the impl.
//!
//! What the impl needs is that the type itself can be read and described, so that is what it says for a type with
//! parameters, instead of guessing on which of them that depends: serde and schemars have decided that already, by rules
//! of their own and by the user's `#[serde(bound)]`. The clause names their traits rather than ours, since then the
//! compiler goes on to say which parameter is at fault.
//!
//! A type without parameters needs no clause. It either can be read or not, and there a clause would only repeat the error
//! at each use of the type.

use proc_macro2::TokenStream;
use quote::quote;

use crate::check::{Checked, Format};

/// Joins the user's own predicates with ours.
pub(super) fn bounds(checked: &Checked<'_>) -> Option<TokenStream> {
    checked.generics.params.first()?;
    let user = checked.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let readable = match checked.format {
        Format::Json => quote!(Self: __sandcastle::DeserializeOwned + __sandcastle::JsonSchema),
        Format::Text { inner } => quote!(#inner: __sandcastle::From<__sandcastle::String>),
    };
    Some(quote!(where #(#user,)* Self: __sandcastle::Send + 'static, #readable,))
}
