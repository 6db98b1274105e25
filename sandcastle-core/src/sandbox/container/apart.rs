//! A container of an engine that may be on another machine: nothing of this host is mounted, and the work tree travels.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::account::Account;
use super::handle::Handle;
use super::image::Image;
use super::settings::{Root, Settings};
use super::start::{self, Site};
use crate::error::{Error, ErrorKind, Result};
use crate::process::{Program, Running};
use crate::sandbox::{BoxFuture, IsolatedHandle, Network, Owner, SandboxHandle, SandboxRequest};

/// Where the work tree is, in the home of the user inside.
const WORKSPACE: &str = "workspace";

/// A container that shares no files with this host.
#[derive(Debug)]
struct Apart {
    handle: Handle,
    workspace: PathBuf,
}

/// Makes a container without anything of this host.
pub(super) async fn start(settings: &Settings, owner: Owner) -> Result<Arc<dyn IsolatedHandle>> {
    check(settings)?;
    // The work tree lies in the container's own layer, and goes with it.
    let settings = Settings { root: Root::Writable, ..settings.clone() };
    let image = Image::of(&settings.client, &settings.image).await?;
    let (account, home) = (account(&settings, &image)?, home(&settings, &image)?);
    let mut request = SandboxRequest::new(&home);
    request.mounts.clear();
    request.owner = owner;
    let site = Site { account, worktree: home.clone(), home: Some(home), binds: Vec::new(), gate: None };
    let handle = start::make(&settings, &request, site).await?;
    let workspace = handle.worktree().join(WORKSPACE);
    Ok(Arc::new(Apart { handle, workspace }))
}

/// Checks that nothing is asked for that only an engine of this host has.
fn check(settings: &Settings) -> Result<()> {
    let refused = |what: &str, hint: &str| {
        let message = format!("share nothing with a container of `{}`: {what}", settings.image);
        Err(Error::new(ErrorKind::InvalidOptions, message).with_hint(hint))
    };
    if let Some(mount) = settings.mounts.first() {
        let host = mount.host.display();
        return refused(
            &format!("`{host}` is to be mounted"),
            "copy it in with `copy_to_worktree`, or put it into the image",
        );
    }
    if let Some(Network::Limited(_)) = settings.network {
        return refused(
            "its network is to be limited by a proxy of this host",
            "limit it on the machine of the engine, and name that network with `join_network`",
        );
    }
    Ok(())
}

/// Chooses the user of the image: no file of this host has to belong to it.
fn account(settings: &Settings, image: &Image) -> Result<Account> {
    let of_image =
        || if image.user.is_empty() { Some((0, 0)) } else { image.uid.zip(image.gid.or(image.uid)) };
    let Some((uid, gid)) = settings.user.or_else(of_image) else {
        let message = format!(
            "start a container from `{}`: which number its user `{}` has is not known",
            settings.image, image.user
        );
        return Err(Error::new(ErrorKind::Sandbox, message).with_hint("name it with `.user(uid, gid)`"));
    };
    Ok(Account { uid, gid, userns: settings.userns.clone() })
}

fn home(settings: &Settings, image: &Image) -> Result<PathBuf> {
    settings.home.clone().or_else(|| image.home.clone()).ok_or_else(|| {
        let message =
            format!("start a container from `{}`: where its user is at home is not known", settings.image);
        Error::new(ErrorKind::Sandbox, message).with_hint("name it with `.home(path)`")
    })
}

impl IsolatedHandle for Apart {
    fn workspace(&self) -> &Path {
        &self.workspace
    }

    fn home(&self) -> Option<PathBuf> {
        self.handle.home_inside()
    }

    fn id(&self) -> Option<String> {
        self.handle.id()
    }

    fn start(&self, program: Program) -> BoxFuture<'_, io::Result<Running>> {
        self.handle.start(program)
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        self.handle.close()
    }
}
