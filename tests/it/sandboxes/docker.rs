//! What every container does, in those of Docker.

use super::containers::{self, Desk};

containers::tests!(Desk::docker);
