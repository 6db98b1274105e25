//! The impl that is written when the item is wrong.
//!
//! With it every use of the type still compiles, and the user sees the mistakes instead of one error for each use. It
//! promises nothing: the compilation has failed, so none of it ever runs.

use proc_macro2::TokenStream;
use quote::quote;

use crate::attr::Attributes;
use crate::expand::scope;
use crate::input::Input;

/// Writes a stand-in for the impl, unless the user named the crate it would need in a way that cannot be read.
pub(crate) fn fallback(input: &Input<'_>, attributes: &Attributes) -> TokenStream {
    let krate = match &attributes.krate {
        None => None,
        Some(Ok(given)) => Some(&given.value),
        Some(Err(_)) => return TokenStream::new(),
    };
    scope::scope(krate, &stand_in(input))
}

fn stand_in(input: &Input<'_>) -> TokenStream {
    let name = input.name;
    let (impl_generics, type_generics, _) = input.generics.split_for_impl();
    let user = input.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    // The trait asks for both; a type without parameters has them or deserves the compiler's own error.
    let owned = input.generics.params.first().map(|_| quote!(Self: __sandcastle::Send + 'static,));
    quote! {
        #[automatically_derived]
        impl #impl_generics __sandcastle::AgentOutput for #name #type_generics where #(#user,)* #owned {
            const TAG: &'static __sandcastle::str = "invalid";
            const FORMAT: __sandcastle::OutputFormat = __sandcastle::OutputFormat::Json;
            const MAX_RETRIES: __sandcastle::u32 = 0;
            fn schema() -> __sandcastle::Schema {
                __sandcastle::unreachable!()
            }
            fn extract(_: &__sandcastle::str) -> __sandcastle::Result<Self, __sandcastle::ExtractError> {
                __sandcastle::unreachable!()
            }
            fn prompt_snippet() -> __sandcastle::String {
                __sandcastle::unreachable!()
            }
        }
    }
}
