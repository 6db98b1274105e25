//! Each sentence of seed 003, by the number of its row in `docs/SEEDS.md`: what it decides, what it leaves undone, and the
//! limits that it knows of.

mod confidence;
mod limits;
mod reads;
mod retries;
mod subset;
mod validity;
mod wires;

use super::*;
