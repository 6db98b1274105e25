//! Code hosts, one folder per kind.
//!
//! A host's wire is private to its folder; what leaves it are the types of [`sandcastle_core::forge`].

mod github;

pub use self::github::GitHub;
