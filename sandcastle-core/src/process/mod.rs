//! The only code that starts programs.
//!
//! A [`Program`] says what to start, [`Running`] is one that runs, [`capture_gently`] runs one to its end and keeps what it
//! printed. Each gets a process group of its own, both its output pipes are read as they fill, and it is really ended,
//! with everything it started, when it is told to stop and when its handle is dropped (see `tree`). Where no
//! handle is left because its owner was killed, [`Leftovers`] finds and ends what it had started. What a program means to
//! anybody is not known here.

mod capture;
mod identity;
mod leftovers;
#[cfg(target_os = "linux")]
mod proc_fs;
mod program;
mod remote;
mod running;
mod tail;
mod tree;

#[cfg(test)]
pub(crate) use self::capture::capture;
pub(crate) use self::capture::{Captured, capture_blocking, capture_gently};
pub(crate) use self::identity::ProcessIdentity;
pub(crate) use self::leftovers::{Leftovers, are_own};
pub(crate) use self::program::Told;
pub use self::program::{Inherit, Program, Streams};
pub(crate) use self::remote::quoted;
pub use self::remote::{Afterwards, Line, RemoteShell};
pub use self::running::{Output, Running};
pub use self::tail::Tail;
pub(crate) use self::tree::Mark;
