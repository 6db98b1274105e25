//! Where a pull request is on GitHub, and where the results of work on it go.

use std::path::Path;

use sandcastle::review::{RemoteRepository, ResultFolder};

use crate::cli::PrArgs;
use crate::failure::Failure;

/// The address of the API of GitHub itself.
const OFFICIAL: &str = "https://api.github.com";

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
    if let (Some(name), Some(api)) = (&args.repo, &args.api_url) {
        return Ok(Repository { name: name.clone(), api: api.clone() });
    }
    let cwd = args.site.cwd.as_deref().unwrap_or(Path::new("."));
    let found = RemoteRepository::of(cwd, &args.remote).await.map_err(|error| Failure::at_entry(&error))?;
    let name = match (&args.repo, &found) {
        (Some(name), _) => name.clone(),
        (None, Some(found)) => found.name.clone(),
        (None, None) => {
            let what = format!("failed to tell the repository of the remote `{}` from its address", args.remote);
            return Err(Failure::usage(what).with_hint("name it with `--repo OWNER/NAME`"));
        }
    };
    let api = args.api_url.clone().unwrap_or_else(|| match found.as_ref().map(|found| found.host.as_str()) {
        None | Some("github.com" | "ssh.github.com") => OFFICIAL.to_owned(),
        Some(host) => format!("https://{host}/api/v3"),
    });
    Ok(Repository { name, api })
}
