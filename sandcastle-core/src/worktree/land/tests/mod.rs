//! Tests of landings, with real repositories.

mod checkout;
mod hostile;
mod many;
mod place;
mod shapes;
