//! The items of the impl that differ for JSON outputs.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Ident;

/// Leaves all work to the two traits that stand for `Deserialize` and `JsonSchema`. They are named with the span of the
/// type's name, always in the same words, so that the compiler shows one error for each that is missing.
pub(super) fn reading(name: &Ident) -> TokenStream {
    let place = name.span();
    let schema = quote_spanned!(place=> <Self as __sandcastle::Described>::schema);
    let extract = quote_spanned!(place=> <Self as __sandcastle::Readable>::extract);
    let read_block = quote_spanned!(place=> <Self as __sandcastle::Readable>::read_block);
    quote! {
        const FORMAT: __sandcastle::OutputFormat = __sandcastle::OutputFormat::Json;
        fn schema() -> __sandcastle::Schema {
            #schema()
        }
        fn extract(__text: &__sandcastle::str) -> __sandcastle::Result<Self, __sandcastle::ExtractError> {
            #extract(__text)
        }
        fn read_block(
            __block: &__sandcastle::str,
            __spec: &__sandcastle::OutputSpec,
        ) -> __sandcastle::Result<Self, __sandcastle::ExtractError> {
            #read_block(__block, __spec)
        }
    }
}
