//! Flags of the sandboxes that are containers.

use std::path::PathBuf;

use clap::Args;

use super::value::{BindMount, bind_mount, bytes, ids};

/// Said of each flag, since a heading of all would be that of those behind them, too.
const HEADING: &str = "What a container is like";

#[derive(Debug, Args)]
pub(crate) struct ContainerArgs {
    /// The image that it is made from [default: the one that `build-image` makes, sandcastle:<folder of the repository>].
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    pub(crate) image: Option<String>,
    /// The user inside [default: whom the work tree belongs to].
    #[arg(long, value_name = "UID:GID", value_parser = ids, help_heading = HEADING)]
    pub(crate) container_user: Option<(u32, u32)>,
    /// An empty home inside, in memory, for a user whom the image was not made for.
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    pub(crate) container_home: Option<PathBuf>,
    /// A network of the engine that it joins, such as `none` or `host` [default: the engine's own]. May be repeated.
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    pub(crate) container_network: Vec<String>,
    /// A file or folder of this host that is seen inside; `~` is the home on either side. May be repeated.
    #[arg(long, value_name = "HOST[:INSIDE][:ro]", value_parser = bind_mount, help_heading = HEADING)]
    pub(crate) container_mount: Vec<BindMount>,
    /// How many processors it uses at most, such as 1.5.
    #[arg(long, value_name = "N", help_heading = HEADING)]
    pub(crate) container_cpus: Option<f64>,
    /// How much memory it has, such as 4g or 512m.
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = HEADING)]
    pub(crate) container_memory: Option<u64>,
    /// Let programs inside change the files of the image.
    #[arg(long, help_heading = HEADING)]
    pub(crate) container_writable_root: bool,
    /// Let programs inside gain rights, as `sudo` does.
    #[arg(long, help_heading = HEADING)]
    pub(crate) container_new_privileges: bool,
}

impl ContainerArgs {
    /// Returns the flags that were given, with their values, as they can be given again.
    pub(crate) fn given(&self) -> Vec<(&'static str, Option<String>)> {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        let mut given = Vec::new();
        let mut one = |flag, value: Option<String>| given.extend(value.map(|value| (flag, Some(value))));
        one("--image", self.image.clone());
        one("--container-user", self.container_user.map(|(uid, gid)| format!("{uid}:{gid}")));
        one("--container-home", self.container_home.as_ref().map(text));
        self.container_network.iter().for_each(|network| one("--container-network", Some(network.clone())));
        self.container_mount.iter().for_each(|mount| one("--container-mount", Some(mount.to_string())));
        one("--container-cpus", self.container_cpus.map(|cpus| cpus.to_string()));
        one("--container-memory", self.container_memory.map(|bytes| bytes.to_string()));
        given.extend(self.container_writable_root.then_some(("--container-writable-root", None)));
        given.extend(self.container_new_privileges.then_some(("--container-new-privileges", None)));
        given
    }
}
