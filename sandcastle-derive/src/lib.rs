//! `#[derive(AgentOutput)]` for Sandcastle.
//!
//! Use it through the facade, which exports it beside the trait of the same name.
//!
//! A call passes through four phases: `input` sorts the item, `attr` reads `#[output(...)]`, `check` holds the two
//! against the rules, and `expand` writes the impl. Mistakes are worded in `message`, collected by `ctxt` and shown
//! together; `fallback` then writes a stand-in. The crate depends on nothing of ours, and what it writes reaches only
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

/// Implements the trait `AgentOutput`: the type is one that an agent can answer with.
///
/// The answer stands in a tag, and is JSON that serde reads and that the schema of schemars describes; so the type also
/// derives `Deserialize` and `JsonSchema`, and all their attributes count. Doc comments tell the agent what is meant.
///
/// ```
/// # extern crate sandcastle_core as sandcastle;
/// use sandcastle::output::{AgentOutput, Problem};
/// # use sandcastle_derive::AgentOutput;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// /// A review of one change.
/// #[derive(Deserialize, JsonSchema, AgentOutput)]
/// #[output(tag = "review", max_retries = 2, validate = "Review::check")]
/// struct Review {
///     /// What is wrong, worst first.
///     findings: Vec<String>,
///     verdict: Verdict,
/// }
///
/// #[derive(Deserialize, JsonSchema, PartialEq)]
/// #[serde(rename_all = "lowercase")]
/// enum Verdict {
///     Accept,
///     Reject,
/// }
///
/// impl Review {
///     fn check(&self) -> Result<(), Vec<Problem>> {
///         if self.verdict == Verdict::Reject && self.findings.is_empty() {
///             return Err(vec![Problem::new("/findings", "must say why the change is rejected")]);
///         }
///         Ok(())
///     }
/// }
///
/// # fn main() -> Result<(), sandcastle::output::ExtractError> {
/// let review = Review::extract(r#"Done. <review>{"findings": [], "verdict": "accept"}</review>"#)?;
/// assert!(review.verdict == Verdict::Accept);
/// # Ok(())
/// # }
/// ```
///
/// # Keys of `#[output(...)]`
///
/// - **`tag = "result"`**, required: the name of the tag. It begins with an ASCII letter or `_` and goes on with letters,
///   digits, `-`, `_` and `.`. Reserved are `promise`, `think`, `thinking`, and whatever begins with `xml`.
/// - **`max_retries = 2`**: how often a run may ask again after an invalid answer, from 0 to 10; without the key, 0.
/// - **`validate = "path::to::function"`**: what a schema cannot say. The function is a
///   `fn(&Self) -> Result<(), Vec<Problem>>`, and the path may begin with `Self::`.
/// - **`prepare = "path::to::function"`**: what to take for what, where an alias of serde's is not enough: another form of a
///   field, or one field in the place of another. The function is a `fn(&mut serde_json::Value)`; it gets the whole answer, of
///   whatever kind, before the schema is asked, and puts into the schema's form what it knows and leaves the rest alone. It is
///   not called for a field of another output that has this type, and the words and the schema for the agent know nothing of it.
/// - **`text`**: the answer is text, trimmed and never parsed. The type is a tuple struct with one field that is
///   `From<String>`; it needs neither `Deserialize` nor `JsonSchema`.
/// - **`crate = "sandcastle_core"`**: where the engine is found, for a crate that does not depend on `sandcastle` under
///   that name. Any path will do, such as `crate::engine`.
///
/// The keys may stand in several attributes; each may be given once.
///
/// # Shapes
///
/// Structs, tuple structs, unit structs and enums of every representation. A tuple struct over a `Vec` is an array:
///
/// ```
/// # extern crate sandcastle_core as sandcastle;
/// # use sandcastle::output::AgentOutput;
/// # use sandcastle_derive::AgentOutput;
/// # use schemars::JsonSchema;
/// # use serde::Deserialize;
/// #[derive(Deserialize, JsonSchema, AgentOutput)]
/// #[output(tag = "files")]
/// struct Files(Vec<String>);
///
/// #[derive(AgentOutput)]
/// #[output(tag = "summary", text)]
/// struct Summary(String);
///
/// # fn main() -> Result<(), sandcastle::output::ExtractError> {
/// assert_eq!(Files::extract(r#"<files>["a.rs", "b.rs"]</files>"#)?.0, ["a.rs", "b.rs"]);
/// assert_eq!(Summary::extract("<summary> two files changed </summary>")?.0, "two files changed");
/// # Ok(())
/// # }
/// ```
///
/// A generic type is an output wherever it can be read and described, as serde, schemars and their `bound` attributes
/// decide; each instance has a schema of its own.
///
/// # Compile errors
///
/// Each points at the token to change, with a hint, and all are shown at once: a missing, malformed or reserved `tag`; an
/// unknown key, with the known one it resembles; a key given twice; a value that is missing or of the wrong kind;
/// `max_retries` that is no whole number or above 10; `text` on anything but a tuple struct with one field, or beside
/// `prepare`; `#[output]` on a field or a variant; a union, an enum without variants, and a lifetime parameter, since an answer outlives the text it
/// is read from. A `validate` or `prepare` function of another type, a missing `Deserialize` and a missing `JsonSchema` are the
/// compiler's own errors, on the path and on the name of the type.
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
