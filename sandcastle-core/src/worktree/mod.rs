//! Worktrees: what is copied into them.

mod copy;

pub(crate) use self::copy::{check_paths, copy_into};
