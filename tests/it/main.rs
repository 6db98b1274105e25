//! The integration tests of the facade, in one binary: real git, real processes, real agents.
#![cfg(test)]

mod model_server;
mod real_agents;
mod support;
