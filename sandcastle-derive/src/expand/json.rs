//! The items of the impl that differ for JSON outputs.

use proc_macro2::TokenStream;
use quote::quote;

pub(super) fn reading() -> TokenStream {
    quote! {
        const FORMAT: __sandcastle::OutputFormat = __sandcastle::OutputFormat::Json;
        fn schema() -> __sandcastle::Schema {
            __sandcastle::schema_for::<Self>()
        }
        fn extract(__text: &__sandcastle::str) -> __sandcastle::Result<Self, __sandcastle::ExtractError> {
            __sandcastle::extract_json::<Self>(__text)
        }
        fn read_block(
            __block: &__sandcastle::str,
            __spec: &__sandcastle::OutputSpec,
        ) -> __sandcastle::Result<Self, __sandcastle::ExtractError> {
            __sandcastle::read_json::<Self>(__block, __spec)
        }
    }
}
