//! Which user the programs inside are, so that what they write belongs to whom the work tree belongs to.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::engine::Engine;
use super::image::Image;
use super::settings::Settings;
use crate::error::{Error, ErrorKind, Result};

/// The user that images are made with when nothing else is asked for.
const USUAL: u32 = 1000;

/// The user inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// How the users of this host are those inside, in the words of the engine; its default if absent.
    pub(super) userns: Option<String>,
}

/// Who asks an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    Root,
    Ordinary,
}

impl Caller {
    pub(super) fn own() -> Self {
        if rustix::process::geteuid().is_root() { Self::Root } else { Self::Ordinary }
    }
}

impl Account {
    /// Chooses the user.
    ///
    /// Users of this host are the same inside, unless Podman is used by an ordinary user: then the user of the image stands
    /// for whoever asks.
    pub(super) fn choose(settings: &Settings, image: &Image, owner: (u32, u32), caller: Caller) -> Self {
        let is_mapped = settings.client.engine() == Engine::Podman && caller == Caller::Ordinary;
        let (uid, gid) = settings.user.unwrap_or_else(|| match (is_mapped, &settings.userns) {
            (true, None) => (
                image.uid.filter(|uid| *uid != 0).unwrap_or(USUAL),
                image.gid.filter(|gid| *gid != 0).unwrap_or(USUAL),
            ),
            _ => owner,
        });
        let userns =
            settings.userns.clone().or_else(|| is_mapped.then(|| format!("keep-id:uid={uid},gid={gid}")));
        Self { uid, gid, userns }
    }

    /// Checks that the image was made for this user, as far as that can be seen.
    ///
    /// # Errors
    /// [`ErrorKind::Sandbox`], with both remedies.
    pub(super) fn check(&self, settings: &Settings, image: &Image) -> Result<()> {
        let is_settled = settings.user.is_some() || settings.home.is_some();
        let Some(uid) = image.uid.filter(|uid| *uid != self.uid && !is_settled) else { return Ok(()) };
        // An image whose user is root is made for whoever comes.
        if uid == 0 && image.user.is_empty() {
            return Ok(());
        }
        let name = &settings.image;
        let what = format!(
            "start a container from `{name}`: its user is {uid}, and the work tree belongs to {}, who is to work in it",
            self.uid
        );
        Err(self.with_remedies(Error::new(ErrorKind::Sandbox, what), settings, uid))
    }

    /// Adds what to do when the user does not fit the image or the work tree.
    pub(super) fn with_remedies(&self, error: Error, settings: &Settings, other: u32) -> Error {
        let engine = settings.client.engine();
        let error = error.with_hint(format!(
            "rebuild the image for this user: `sandcastle {engine} build-image`, or `{engine} build --build-arg \
             AGENT_UID={} --build-arg AGENT_GID={}`",
            self.uid, self.gid
        ));
        let error = match other == self.uid {
            true => error,
            false => error.with_hint(format!(
                "or name the user with `.user({other}, {other})` (`--container-user {other}:{other}`), if the work tree can be \
                 written by it"
            )),
        };
        error.with_hint(
            "or give it an empty home with `.home(\"/home/sandcastle\")` (`--container-home /home/sandcastle`)",
        )
    }
}

/// Returns who a work tree belongs to.
///
/// # Errors
/// [`ErrorKind::Sandbox`] when it cannot be looked at.
pub(super) fn owner_of(worktree: &Path) -> Result<(u32, u32)> {
    let metadata = fs::metadata(worktree).map_err(|error| {
        Error::new(ErrorKind::Sandbox, format!("look at the work tree `{}`", worktree.display()))
            .with_source(error)
    })?;
    Ok((metadata.uid(), metadata.gid()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(user: &str, uid: Option<u32>) -> Image {
        Image { user: user.to_owned(), uid, gid: uid, home: None }
    }

    fn account(uid: u32, gid: u32, userns: Option<&str>) -> Account {
        Account { uid, gid, userns: userns.map(str::to_owned) }
    }

    #[test]
    fn the_user_is_the_owner_of_the_work_tree_or_stands_for_it() {
        let docker = Settings::new(Engine::Docker, "a");
        let podman = Settings::new(Engine::Podman, "a");
        let agent = image("agent", Some(1001));
        let choose =
            |settings: &Settings, image: &Image, caller| Account::choose(settings, image, (7, 8), caller);
        assert_eq!(choose(&docker, &agent, Caller::Ordinary), account(7, 8, None));
        assert_eq!(choose(&podman, &agent, Caller::Root), account(7, 8, None));
        assert_eq!(
            choose(&podman, &agent, Caller::Ordinary),
            account(1001, 1001, Some("keep-id:uid=1001,gid=1001"))
        );
        let unknown = image("agent", None);
        assert_eq!(
            choose(&podman, &unknown, Caller::Ordinary),
            account(1000, 1000, Some("keep-id:uid=1000,gid=1000"))
        );
        let plain = Settings { userns: Some("keep-id".to_owned()), ..podman.clone() };
        assert_eq!(choose(&plain, &agent, Caller::Ordinary), account(7, 8, Some("keep-id")));
        let named = Settings { user: Some((5, 6)), ..podman };
        assert_eq!(choose(&named, &agent, Caller::Ordinary), account(5, 6, Some("keep-id:uid=5,gid=6")));
    }

    #[test]
    fn w_50_an_image_for_another_user_is_refused_with_both_remedies() {
        for engine in [Engine::Docker, Engine::Podman] {
            let settings = Settings::new(engine, "a:b");
            let error = account(1002, 1002, None).check(&settings, &image("1000", Some(1000))).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Sandbox);
            let hints = error.hints().join("\n");
            assert!(hints.contains("--build-arg AGENT_UID=1002"), "{hints}");
            assert!(hints.contains(".user(1000, 1000)"), "{hints}");
            account(1000, 1000, None).check(&settings, &image("1000", Some(1000))).unwrap();
            account(1002, 1002, None).check(&settings, &image("agent", None)).unwrap();
            account(1002, 1002, None).check(&settings, &image("", Some(0))).unwrap();
            let settled = Settings { home: Some("/h".into()), ..settings };
            account(0, 0, None).check(&settled, &image("1000", Some(1000))).unwrap();
        }
    }
}
