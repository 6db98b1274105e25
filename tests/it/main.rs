//! The integration tests, in one binary: one module for each subject.

mod streams;
