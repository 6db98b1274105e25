//! Images that agents work in: what they are called, and how an engine builds and removes them.
//!
//! An engine is reached by its own program, which finds its daemon as it always does.

mod engine;
mod name;
mod recipe;

pub(crate) use self::engine::Engine;
pub(crate) use self::name::Image;
pub(crate) use self::recipe::Recipe;
