//! The `where` clause of the impl.
//!
//! What the impl needs is that the type itself can be read and described, so that is what it says, instead of guessing
//! which parameters that depends on: serde and schemars have decided that already, by rules of their own and by the
//! user's `#[serde(bound)]`. On a type without parameters the same clause gives one error for each missing derive, on the
//! type's name, however often the trait would be needed inside.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::check::{Checked, Format};

/// Joins the user's own predicates with ours.
pub(super) fn bounds(checked: &Checked<'_>) -> TokenStream {
    let user = checked.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let place = checked.name.span();
    let readable = match checked.format {
        Format::Json => {
            quote_spanned!(place=> Self: __sandcastle::DeserializeOwned + __sandcastle::JsonSchema,)
        }
        Format::Text { inner } => {
            quote_spanned!(inner.span()=> #inner: __sandcastle::From<__sandcastle::String>,)
        }
    };
    // A type without parameters is held to these by the trait itself.
    let owned = checked.generics.type_params().next().map(|_| quote!(Self: __sandcastle::Send + 'static,));
    quote!(where #(#user,)* #readable #owned)
}
