//! What the integration tests stand on: a scripted model server, the real agent programs, scratch folders.
//!
//! Everything here is owned by the test that made it and is gone when the test ends, however it ends. Nothing
//! here reads the user's own folders, keys or configuration.

pub(crate) mod desk;
pub(crate) mod engines;
pub(crate) mod github;
pub(crate) mod loopback;
pub(crate) mod model_server;
pub(crate) mod process;
pub(crate) mod processes;
pub(crate) mod real_agent;
pub(crate) mod real_model;
pub(crate) mod repository;
pub(crate) mod requirement;
pub(crate) mod terminal;
pub(crate) mod tower;
pub(crate) mod yaml;
