//! The integration tests of the facade, in one binary: real git, real processes, real agents.
#![cfg(test)]

mod command;
mod derive;
mod doors;
mod engines;
mod examples;
mod hostile;
mod interactive;
mod killed;
mod model_server;
mod models;
mod names;
mod process;
mod real_agents;
mod real_model;
mod review;
mod run;
mod sandboxes;
mod streams;
mod support;
mod ui;
mod workflow;
