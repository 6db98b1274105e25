//! The items of the impl that differ for text outputs.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

/// Makes the only field from the text, by the trait that stands for `From<String>`; it is named with the span of the
/// field's type. The schema is that of a string.
pub(super) fn reading(inner: &Type) -> TokenStream {
    let from_text = quote_spanned!(inner.span()=> <#inner as __sandcastle::FromText>::from_text);
    let make = quote!(|__text| Self(#from_text(__text)));
    quote! {
        const FORMAT: __sandcastle::OutputFormat = __sandcastle::OutputFormat::Text;
        fn schema() -> __sandcastle::Schema {
            __sandcastle::schema_for::<__sandcastle::String>()
        }
        fn extract(__text: &__sandcastle::str) -> __sandcastle::Result<Self, __sandcastle::ExtractError> {
            __sandcastle::extract_text::<Self>(__text, #make)
        }
        fn read_block(
            __block: &__sandcastle::str,
            __spec: &__sandcastle::OutputSpec,
        ) -> __sandcastle::Result<Self, __sandcastle::ExtractError> {
            __sandcastle::read_text::<Self>(__block, __spec, #make)
        }
    }
}
