//! Tests of the room, with real repositories.

mod fetch;
mod hostile;
mod memory;
mod trap;
mod wall;

pub(crate) use self::trap::{TRAPS, Trapped};
