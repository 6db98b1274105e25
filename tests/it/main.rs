//! The integration tests of the facade, in one binary: real git, real processes, real agents.
#![cfg(test)]
#![allow(dead_code)]

mod models;
mod support;
mod workflow;
