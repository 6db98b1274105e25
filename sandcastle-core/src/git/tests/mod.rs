//! Tests of the room, with real repositories.

mod fetch;
mod hostile;
mod memory;
mod trap;
mod wall;

#[cfg(feature = "review")]
pub(crate) use self::trap::Trap;
pub(crate) use self::trap::{TRAPS, Trapped};
