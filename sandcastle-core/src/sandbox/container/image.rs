//! What is to be known of an image before a container is made from it: its user, and where that one is at home.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use super::client::Client;
use crate::error::{Error, ErrorKind, Result};

/// How long looking at an image may take.
const LIMIT: Duration = Duration::from_secs(60);
/// How many images are remembered.
const REMEMBERED: usize = 64;

/// What is known of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Image {
    /// Its user as it names it; empty for root.
    pub(super) user: String,
    /// The number of that user, where it is known.
    pub(super) uid: Option<u32>,
    /// The number of its group, where it is known.
    pub(super) gid: Option<u32>,
    /// The home folder of that user.
    pub(super) home: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Config {
    #[serde(rename = "User", default)]
    user: Option<String>,
    #[serde(rename = "Env", default)]
    env: Option<Vec<String>>,
}

/// Images that were looked at, each by way of a client.
static KNOWN: Mutex<Vec<(Client, String, Image)>> = Mutex::new(Vec::new());

impl Image {
    /// Looks at an image. In one process that is done once for each, since it takes about as long as a tenth of a start.
    ///
    /// # Errors
    /// [`ErrorKind::Sandbox`] when the image is not there, the engine does not answer or may not be used, or its client is
    /// missing: each with what to do about it.
    pub(super) async fn of(client: &Client, name: &str) -> Result<Self> {
        check_name(name)?;
        if let Some(image) = Self::known(client, name) {
            return Ok(image);
        }
        let what = format!("look at the image `{name}`");
        let args = ["image", "inspect", "--format", "{{json .Config}}", name];
        let said = client.told(&what, args, LIMIT).await?;
        let mut image = Self::read(&said).map_err(|error| {
            Error::new(ErrorKind::Sandbox, format!("{what}: {} answers what it never did", client.engine()))
                .with_source(error)
        })?;
        if image.home.is_none() {
            image.look_at_accounts(client, name).await;
        }
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.truncate(REMEMBERED - 1);
        known.insert(0, (client.clone(), name.to_owned(), image.clone()));
        Ok(image)
    }

    fn known(client: &Client, name: &str) -> Option<Self> {
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().find(|(other, image, _)| other == client && image == name);
        found.map(|(_, _, image)| image.clone())
    }

    /// Forgets an image that is not what it was.
    pub(super) fn forget(client: &Client, name: &str) {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(other, image, _)| other != client || image != name);
    }

    fn read(said: &str) -> serde_json::Result<Self> {
        let config: Option<Config> = serde_json::from_str(said)?;
        let (user, env) = config.map(|config| (config.user, config.env)).unwrap_or_default();
        let user = user.unwrap_or_default();
        let (name, group) =
            user.split_once(':').map_or((user.as_str(), None), |(name, group)| (name, Some(group)));
        let is_root = matches!(name, "" | "0" | "root");
        let uid = if is_root { Some(0) } else { name.parse().ok() };
        let gid = group.map_or(is_root.then_some(0), |group| group.parse().ok());
        let home = env.iter().flatten().find_map(|entry| entry.strip_prefix("HOME=")).map(PathBuf::from);
        let home = home.filter(|home| home.is_absolute());
        let home = home.or_else(|| is_root.then(|| PathBuf::from("/root")));
        Ok(Self { uid, gid, home, user })
    }

    /// Looks into the image's list of users, with a container that lives for a moment. What is not found stays unknown.
    async fn look_at_accounts(&mut self, client: &Client, name: &str) {
        let args = [
            "run",
            "--rm",
            "--pull=never",
            "--network=none",
            "--cap-drop=ALL",
            "--entrypoint=cat",
            name,
            "/etc/passwd",
        ];
        let Ok(list) = client.told("read the users of an image", args, LIMIT).await else { return };
        let user = self.user.split(':').next().unwrap_or_default();
        let of_user = list
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>())
            .find(|fields| fields.len() >= 6 && (fields[0] == user || fields[2] == user));
        if let Some(fields) = of_user {
            self.uid = self.uid.or_else(|| fields[2].parse().ok());
            self.gid = self.gid.or_else(|| fields[3].parse().ok());
            self.home = Some(PathBuf::from(fields[5])).filter(|home| home.is_absolute());
        }
    }
}

/// Checks that a name cannot be taken for a flag.
fn check_name(name: &str) -> Result<()> {
    if name.is_empty()
        || name.starts_with('-')
        || name.contains(|c: char| c.is_whitespace() || c.is_control())
    {
        let what = format!("look at the image {name:?}: that is no name of an image");
        return Err(
            Error::new(ErrorKind::InvalidOptions, what).with_hint("a name is like `sandcastle:my-project`")
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_says_who_its_user_is() {
        let read = |json: &str| {
            let image = Image::read(json).unwrap();
            (image.uid, image.gid, image.home.map(|home| home.display().to_string()))
        };
        let home = |home: &str| Some(home.to_owned());
        let config = r#"{"User":"1000:1001","Env":["PATH=/bin","HOME=/home/agent"]}"#;
        assert_eq!(read(config), (Some(1000), Some(1001), home("/home/agent")));
        assert_eq!(read(r#"{"User":"agent","Env":null}"#), (None, None, None));
        assert_eq!(read(r#"{"User":"1000"}"#), (Some(1000), None, None));
        assert_eq!(read("null"), (Some(0), Some(0), home("/root")));
        assert_eq!(read(r#"{"User":"root","Env":["HOME=nowhere"]}"#), (Some(0), Some(0), home("/root")));
        assert!(Image::read("no").is_err());
    }

    #[test]
    fn a_name_is_no_flag() {
        for name in ["", "-v", "--privileged", "a b", "a\n"] {
            assert_eq!(check_name(name).unwrap_err().kind(), ErrorKind::InvalidOptions, "{name}");
        }
        check_name("ghcr.io/a/b@sha256:00").unwrap();
    }
}
