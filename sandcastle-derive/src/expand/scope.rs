//! The anonymous constant around everything the derive writes.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Path;

/// Puts `item` where `__sandcastle` names the hidden module of the facade, or of the crate that the user named.
///
/// One import rather than a path in every place: if the crate is missing, the user is told once.
pub(crate) fn scope(krate: Option<&Path>, item: &TokenStream) -> TokenStream {
    let krate = krate.map_or_else(|| quote!(::sandcastle), |path| quote!(#path));
    quote! {
        #[doc(hidden)]
        const _: () = {
            use #krate::__private as __sandcastle;
            #item
        };
    }
}
