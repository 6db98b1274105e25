//! Flags of the sandboxes that are containers.

use std::path::PathBuf;

use clap::Args;

use super::value::{BindMount, bind_mount, bytes, ids};

#[derive(Debug, Args)]
#[command(next_help_heading = "What a container is like")]
pub(crate) struct ContainerArgs {
    /// The image that it is made from.
    #[arg(long, value_name = "NAME")]
    pub(crate) image: Option<String>,
    /// The user inside [default: whom the work tree belongs to].
    #[arg(long, value_name = "UID:GID", value_parser = ids)]
    pub(crate) container_user: Option<(u32, u32)>,
    /// An empty home inside, in memory, for a user whom the image was not made for.
    #[arg(long, value_name = "DIR")]
    pub(crate) container_home: Option<PathBuf>,
    /// A network of the engine that it joins, such as `none` or `host` [default: the engine's own]. May be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) container_network: Vec<String>,
    /// A file or folder of this host that is seen inside; `~` is the home on either side. May be repeated.
    #[arg(long, value_name = "HOST[:INSIDE][:ro]", value_parser = bind_mount)]
    pub(crate) container_mount: Vec<BindMount>,
    /// How many processors it uses at most, such as 1.5.
    #[arg(long, value_name = "N")]
    pub(crate) container_cpus: Option<f64>,
    /// How much memory it has, such as 4g or 512m.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(crate) container_memory: Option<u64>,
    /// Let programs inside change the files of the image.
    #[arg(long)]
    pub(crate) container_writable_root: bool,
    /// Let programs inside gain rights, as `sudo` does.
    #[arg(long)]
    pub(crate) container_new_privileges: bool,
}

impl ContainerArgs {
    /// Names the first flag that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let flags = [
            ("--image", self.image.is_some()),
            ("--container-user", self.container_user.is_some()),
            ("--container-home", self.container_home.is_some()),
            ("--container-network", !self.container_network.is_empty()),
            ("--container-mount", !self.container_mount.is_empty()),
            ("--container-cpus", self.container_cpus.is_some()),
            ("--container-memory", self.container_memory.is_some()),
            ("--container-writable-root", self.container_writable_root),
            ("--container-new-privileges", self.container_new_privileges),
        ];
        flags.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
    }
}
