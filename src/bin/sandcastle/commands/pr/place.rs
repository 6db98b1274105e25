//! Where a pull request is on GitHub, and where the results of work on it go.

use std::path::Path;

use sandcastle::review::{RemoteRepository, ResultFolder};

use crate::cli::PrArgs;
use crate::failure::Failure;

/// The address of the API of GitHub itself.
const OFFICIAL: &str = "https://api.github.com";
/// The hosts of its repositories.
const OF_GITHUB: [&str; 2] = ["github.com", "ssh.github.com"];

/// A repository on GitHub, or on a server of its kind.
#[derive(Debug)]
pub(super) struct Repository {
    pub(super) name: String,
    pub(super) api: String,
}

/// The folder with the results.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) folder: ResultFolder,
}

impl Results {
    /// Opens the folder that was named, or makes one; it stays.
    pub(super) fn open(args: &PrArgs) -> Result<Self, Failure> {
        let path = match &args.output_dir {
            Some(path) => path.clone(),
            None => {
                let made = tempfile::Builder::new().prefix("sandcastle-pr-").tempdir();
                made.map_err(|error| Failure::io("make a folder for the results", error))?.keep()
            }
        };
        Ok(Self { folder: ResultFolder::open(path)? })
    }
}

/// Finds out which repository it is, as far as flags do not say it.
pub(super) async fn repository(args: &PrArgs) -> Result<Repository, Failure> {
    let cwd = args.site.cwd.as_deref().unwrap_or(Path::new("."));
    let found = match &args.repo {
        Some(_) => None,
        None => RemoteRepository::of(cwd, &args.remote).await.map_err(|error| Failure::at_entry(&error))?,
    };
    let name = match (&args.repo, &found) {
        (Some(name), _) => name.clone(),
        (None, Some(found)) => found.name.clone(),
        (None, None) => {
            let what =
                format!("failed to tell the repository of the remote `{}` from its address", args.remote);
            return Err(Failure::usage(what).with_hint("name it with `--repo OWNER/NAME`"));
        }
    };
    let api = match (&args.api_url, args.repo.is_some(), found) {
        (Some(api), ..) => api.clone(),
        (None, false, Some(found)) if !OF_GITHUB.contains(&found.host.as_str()) => {
            // A repository's own word is not enough to send a token there.
            let what = format!("failed to ask `{}` for pull requests, which is not GitHub", found.host);
            let hint = format!(
                "if it is a GitHub Enterprise Server, say so with `--api-url https://{}/api/v3`",
                found.host
            );
            return Err(Failure::usage(what).with_hint(&hint));
        }
        _ => OFFICIAL.to_owned(),
    };
    Ok(Repository { name, api })
}
