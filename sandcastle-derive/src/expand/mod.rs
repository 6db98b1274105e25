//! The last phase: writes the impl.
//!
//! It takes only what [`check`](crate::check) has built, and cannot fail. Everything stands in an anonymous constant and
//! reaches the outside through one module, `__private` of the facade or of the crate that the user named, so that no
//! name of the user's can get in between.

mod bounds;
mod json;
pub(crate) mod scope;
mod text;

use proc_macro2::TokenStream;
use quote::quote;
use syn::ExprPath;

use crate::check::{Checked, Format};

/// Writes `impl AgentOutput` for a checked item.
pub(crate) fn expand(checked: &Checked<'_>) -> TokenStream {
    let Checked { name, generics, tag, max_retries, .. } = *checked;
    let (impl_generics, type_generics, _) = generics.split_for_impl();
    let bounds = bounds::bounds(checked);
    let reading = match checked.format {
        Format::Json => json::reading(name),
        Format::Text { inner } => text::reading(inner),
    };
    let preparation = checked.prepare.map(preparation);
    let validation = checked.validate.map(validation);
    let advice = advice(checked);
    let imp = quote! {
        #[automatically_derived]
        #advice
        impl #impl_generics __sandcastle::AgentOutput for #name #type_generics #bounds {
            const TAG: &'static __sandcastle::str = #tag;
            const MAX_RETRIES: __sandcastle::u32 = #max_retries;
            #preparation
            #reading
            #validation
            fn prompt_snippet() -> __sandcastle::String {
                __sandcastle::snippet::<Self>()
            }
        }
    };
    scope::scope(checked.krate, &imp)
}

/// Keeps a type from being shown to whoever uses another one that is no output: that one lacks the derive, and what else has it
/// is of no help. A type with parameters may lack a bound, of which the compiler says more by way of the impl.
fn advice(checked: &Checked<'_>) -> Option<TokenStream> {
    checked.generics.params.is_empty().then(|| quote!(#[diagnostic::do_not_recommend]))
}

/// Calls the user's function. It is first brought to the type it must have, so that a function of another type is the
/// compiler's error about the user's string, where the path still has its place.
fn validation(path: &ExprPath) -> TokenStream {
    let outcome = quote!(__sandcastle::Result<(), __sandcastle::Vec<__sandcastle::Problem>>);
    quote! {
        fn validate(&self) -> #outcome {
            let __validate: fn(&Self) -> #outcome = #path;
            __validate(self)
        }
    }
}

/// Names the user's function, brought to the type it must have for the same reason.
fn preparation(path: &ExprPath) -> TokenStream {
    let function = quote!(fn(&mut __sandcastle::Value));
    quote! {
        const PREPARE: __sandcastle::Option<#function> = {
            let __prepare: #function = #path;
            __sandcastle::Some(__prepare)
        };
    }
}
