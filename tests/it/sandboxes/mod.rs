//! Runs in sandboxes: those that are built in, and providers of a user's own.

mod isolated;
mod ssh;
