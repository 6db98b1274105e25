//! The integration tests, in one binary: one module for each subject.
#![cfg(test)]

mod streams;
