//! Which repository of a code host a remote is, by its address.

use std::path::Path;

use crate::error::Result;
use crate::git::Repository;

/// Names the repository of a code host that a remote of a local repository is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteRepository {
    /// The host, in lower case, without a port.
    pub host: String,
    /// The owner and the name, such as `owner/name`.
    pub name: String,
}

impl RemoteRepository {
    /// Reads the address of a remote; `None` when it is not one of the form that code hosts have, such as a path.
    ///
    /// What it says is the repository's own word: a token is for whoever is known by another way.
    ///
    /// # Errors
    /// [`ErrorKind::Git`](crate::ErrorKind::Git) when the folder is in no repository, or there is no such remote.
    pub async fn of(folder: &Path, remote: &str) -> Result<Option<Self>> {
        let remote = Repository::discover(folder).await?.remote(remote).await?;
        Ok(Self::read(remote.address()))
    }

    /// Reads `https://host/owner/name.git`, `ssh://git@host/owner/name` or `git@host:owner/name.git`.
    fn read(address: &str) -> Option<Self> {
        let (authority, path) = match address.split_once("://") {
            Some(("https" | "http" | "ssh" | "git", rest)) => rest.split_once('/')?,
            Some(_) => return None,
            None => address.split_once(':').filter(|(host, _)| !host.contains('/'))?,
        };
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let host = host.split_once(':').map_or(host, |(host, _)| host);
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let is_word = |word: &str| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        };
        let (owner, name) = path.split_once('/')?;
        let is_whole = [host, owner, name].into_iter().all(is_word);
        is_whole.then(|| Self { host: host.to_ascii_lowercase(), name: format!("{owner}/{name}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_repository_of_a_host() {
        for address in [
            "https://github.com/owner/name",
            "https://github.com/owner/name.git",
            "https://user:s3cret@GitHub.com:443/owner/name.git/",
            "ssh://git@github.com:22/owner/name.git",
            "git@github.com:owner/name.git",
            "github.com:/owner/name",
        ] {
            let read = RemoteRepository::read(address);
            let read = read.unwrap_or_else(|| panic!("{address}"));
            assert_eq!((read.host.as_str(), read.name.as_str()), ("github.com", "owner/name"), "{address}");
        }
    }

    #[test]
    fn another_address_names_none() {
        for address in [
            "",
            "/srv/git/name.git",
            "../name",
            "file:///srv/owner/name",
            "https://github.com/name",
            "https://github.com/a/b/c",
            "https://github.com/owner/na me",
            "ext::sh -c id",
            "git@github.com:name",
            "C:\\owner\\name",
        ] {
            assert_eq!(RemoteRepository::read(address), None, "{address}");
        }
    }
}
