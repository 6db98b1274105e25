//! The integration tests: one binary, a module for each subject.

#[cfg(feature = "derive")]
mod derive;
#[cfg(feature = "derive")]
mod ui;
