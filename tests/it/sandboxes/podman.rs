//! What every container does, in those of Podman: root's, and an ordinary user's.

mod of_root {
    use super::super::containers::{self, Desk};

    containers::tests!(Desk::podman);
}

mod rootless {
    use super::super::containers::{self, Desk};

    containers::tests!(Desk::podman_rootless);
}
