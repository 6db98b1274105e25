//! Work trees of runs: how their commits land.

mod land;

pub(crate) use self::land::{Landed, Landing};
