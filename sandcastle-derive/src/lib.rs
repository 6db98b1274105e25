//! `#[derive(AgentOutput)]` for Sandcastle.
//!
//! Use it through the facade, which exports it beside the trait of the same name.
//!
//! A call passes through four phases: [`input`] sorts the item, [`attr`] reads `#[output(...)]`, [`check`] holds the two
//! against the rules, and [`expand`] writes the impl. Mistakes are worded in [`message`], collected by [`ctxt`] and shown
//! together; [`fallback`] then writes a stand-in. The crate depends on nothing of ours, and what it writes reaches only
//! the hidden `__private` module.

mod attr;
mod check;
mod ctxt;
mod expand;
mod fallback;
mod input;
mod message;
mod symbol;

use proc_macro2::TokenStream;
use syn::{DeriveInput, parse_macro_input};

use crate::attr::Attributes;
use crate::ctxt::Ctxt;
use crate::input::Input;

/// Implements `AgentOutput`.
#[proc_macro_derive(AgentOutput, attributes(output))]
pub fn agent_output(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    derive(&item).into()
}

fn derive(item: &DeriveInput) -> TokenStream {
    let mut ctxt = Ctxt::default();
    let input = Input::new(item);
    let attributes = Attributes::read(&input, &mut ctxt);
    match check::check(&input, &attributes, ctxt) {
        Ok(checked) => expand::expand(&checked),
        Err(mistakes) => {
            let mut output = mistakes.into_compile_error();
            output.extend(fallback::fallback(&input, &attributes));
            output
        }
    }
}
