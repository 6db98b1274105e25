//! From flags to a sandbox that is a container.

use std::path::Path;
use std::sync::Arc;

use sandcastle::sandbox::{Access, Docker, Mount, Network, Podman, SandboxProvider};

use super::images;
use crate::cli::{ContainerArgs, Sandbox};
use crate::failure::Failure;

/// Applies the flags to a provider of either engine: they have the same setters.
macro_rules! told {
    ($provider:expr, $args:expr, $network:expr) => {{
        let (mut provider, args): (_, &ContainerArgs) = ($provider, $args);
        if let Some(network) = $network {
            provider = provider.network(network);
        }
        if let Some((uid, gid)) = args.container_user {
            provider = provider.user(uid, gid);
        }
        if let Some(home) = &args.container_home {
            provider = provider.home(home);
        }
        for network in &args.container_network {
            provider = provider.join_network(network);
        }
        for mount in &args.container_mount {
            let access = if mount.is_read_only { Access::ReadOnly } else { Access::ReadWrite };
            let shown = Mount::new(&mount.host, access);
            provider = provider.mount(mount.inside.iter().fold(shown, Mount::at));
        }
        if let Some(cpus) = args.container_cpus {
            provider = provider.cpus(cpus);
        }
        if let Some(bytes) = args.container_memory {
            provider = provider.memory(bytes);
        }
        if args.container_writable_root {
            provider = provider.writable_root();
        }
        if args.container_new_privileges {
            provider = provider.new_privileges();
        }
        Arc::new(provider)
    }};
}

/// Builds the provider, if the sandbox is a container. One whose image is not named is made from that of the repository.
///
/// # Errors
/// When there is no repository in `cwd` whose image it could be, or flags of containers are given without one.
pub(super) async fn provider(
    sandbox: Sandbox,
    args: &ContainerArgs,
    network: Option<Network>,
    cwd: Option<&Path>,
) -> Result<Option<Arc<dyn SandboxProvider>>, Failure> {
    let image = async || match &args.image {
        Some(image) => Ok(image.clone()),
        None => images::of_repository(cwd.unwrap_or(Path::new("."))).await.map(|image| image.to_string()),
    };
    Ok(match (sandbox, args.given().first()) {
        (Sandbox::Docker, _) => Some(told!(Docker::new(image().await?), args, network)),
        (Sandbox::Podman, _) => Some(told!(Podman::new(image().await?), args, network)),
        (_, None) => None,
        (_, Some((flag, _))) => {
            return Err(Failure::usage(format!(
                "failed to use `{flag}`: it is for `--sandbox docker` and `--sandbox podman`"
            )));
        }
    })
}
