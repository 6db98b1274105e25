//! Collects mistakes, so that one compilation shows all of them.
//!
//! A phase that finds a mistake reports it and goes on. What it could not read it replaces by a [`Reported`], which only
//! [`Ctxt::report`] can make: a value may be absent only if the user has been told why. [`Ctxt::finish`] consumes the
//! context, and is the only way from the checks to a model that the expansion accepts.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

use crate::message::Mistake;

/// The mistakes found so far.
#[derive(Debug, Default)]
#[must_use = "mistakes that were collected must be shown"]
pub(crate) struct Ctxt {
    error: Option<syn::Error>,
}

/// The proof that a mistake was reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported {
    place: Span,
}

impl Ctxt {
    /// Reports a mistake at the tokens that the user would change.
    pub(crate) fn report(&mut self, place: impl ToTokens, mistake: &Mistake) -> Reported {
        let place: TokenStream = place.into_token_stream();
        let span = place.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
        let error = syn::Error::new_spanned(place, mistake.text());
        match &mut self.error {
            Some(earlier) => earlier.combine(error),
            None => self.error = Some(error),
        }
        Reported { place: span }
    }

    /// Ends the collecting: the outcome if no mistake was made, else all mistakes.
    pub(crate) fn finish<T>(self, outcome: Result<T, Reported>) -> syn::Result<T> {
        match (self.error, outcome) {
            (None, Ok(value)) => Ok(value),
            (Some(error), _) => Err(error),
            // Only if the mistake was reported to another context than this one.
            (None, Err(reported)) => Err(syn::Error::new(reported.place, "invalid use of `AgentOutput`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_every_mistake_in_the_order_of_their_reports() {
        let mut ctxt = Ctxt::default();
        ctxt.report(quote::quote!(a), &Mistake::NoTag);
        let last = ctxt.report(quote::quote!(b), &Mistake::EmptyTag);
        let Err(error) = ctxt.finish::<()>(Err(last)) else { panic!("two mistakes were lost") };
        let shown: Vec<_> = error.into_iter().map(|error| error.to_string()).collect();
        assert_eq!(shown, [Mistake::NoTag.text(), Mistake::EmptyTag.text()]);
    }

    #[test]
    fn a_reported_mistake_outweighs_a_good_outcome() {
        let mut ctxt = Ctxt::default();
        ctxt.report(quote::quote!(a), &Mistake::NoTag);
        assert!(ctxt.finish(Ok(())).is_err());
        assert!(Ctxt::default().finish(Ok(())).is_ok());
    }
}
