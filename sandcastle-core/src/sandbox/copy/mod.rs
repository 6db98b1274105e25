//! Files on their way into a sandbox and out of it, for any kind of sandbox: as an archive that a `tar` inside reads or writes.
//!
//! What goes in is this host's and is trusted. What comes out is whatever the agent would like us to believe: `unpack` takes
//! it apart.

mod unpack;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Output, Program, SandboxHandle};
use crate::error::{Error, ErrorKind, Result};

/// How long copying may take.
const LIMIT: Duration = Duration::from_secs(600);
/// What an archive may have on top of the files in it.
const FRAME: u64 = 2048;

/// Says how much may come out of a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyLimits {
    /// How many bytes: 1 GiB by default.
    pub bytes: u64,
    /// How many files, folders and links: 100,000 by default.
    pub entries: u64,
}

/// What came out of a sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Copied {
    /// How many files, folders and links.
    pub entries: u64,
    /// What stayed behind, relative to what was copied: devices, pipes, and links that lead out of it.
    pub left_out: Vec<PathBuf>,
}

impl Default for CopyLimits {
    fn default() -> Self {
        Self { bytes: 1 << 30, entries: 100_000 }
    }
}

/// Copies a file or folder of this host into a sandbox, where it belongs to the user of the programs there.
///
/// `inside` is the name that it gets, an absolute path; folders above it are made. A folder that is there already is filled
/// up, and files in it are written over. Modes are kept but for the bits that let a program run as another user; links stay
/// links; devices and the like are passed over.
///
/// # Errors
/// [`ErrorKind::Copy`] when something cannot be read here, [`ErrorKind::Sandbox`] when it cannot be written there, or there is
/// no `tar`.
///
/// # Cancel safety
/// Dropping the future ends the copying; what was written by then stays.
pub async fn copy_in(sandbox: &dyn SandboxHandle, host: &Path, inside: &Path) -> Result<()> {
    let what = format!("copy `{}` to `{}` in the sandbox", host.display(), inside.display());
    let (Some(folder), Some(name)) = (inside.parent(), inside.file_name()) else {
        return Err(Error::new(ErrorKind::Copy, format!("{what}: that is no place for it")));
    };
    let (source, name) = (host.to_path_buf(), name.to_os_string());
    let packed = tokio::task::spawn_blocking(move || packed(&source, &name)).await;
    let archive = packed
        .map_err(io::Error::other)
        .flatten()
        .map_err(|error| Error::new(ErrorKind::Copy, what.clone()).with_source(error))?;
    // As root, `tar` would look for the users of this host.
    let script = "mkdir -p -- \"$1\" && cd -- \"$1\" && exec tar -xopf -";
    let program = shell(script, [folder.as_os_str().to_os_string()]).stdin_file(archive);
    play(sandbox, program, &what, |_| Ok(())).await
}

/// Copies a file or folder out of a sandbox to a path on this host, which must be new.
///
/// Nothing of what comes is trusted: no link is followed while it is written, nothing is written outside of `host`, and there are
/// no devices, no pipes, no links that lead out of it and no programs that run as another user. What is left out for that is
/// named.
///
/// # Errors
/// [`ErrorKind::Copy`] when `host` is there already or cannot be written, [`ErrorKind::Sandbox`] when there is no such file, no
/// `tar`, more than the limits allow, or what comes is not what `tar` writes. What was written by then is removed.
///
/// # Cancel safety
/// Dropping the future ends the copying, though what has arrived may still be written.
pub async fn copy_out(
    sandbox: &dyn SandboxHandle,
    inside: &Path,
    host: &Path,
    limits: CopyLimits,
) -> Result<Copied> {
    let what = format!("copy `{}` in the sandbox to `{}`", inside.display(), host.display());
    let failed = |error: io::Error| Error::new(ErrorKind::Copy, what.clone()).with_source(error);
    if fs::symlink_metadata(host).is_ok() {
        return Err(Error::new(ErrorKind::Copy, format!("{what}: it is there already")));
    }
    let (Some(folder), Some(name)) = (inside.parent(), inside.file_name()) else {
        return Err(Error::new(ErrorKind::Copy, format!("{what}: it has no name")));
    };
    let mut archive = tempfile::tempfile().map_err(failed)?;
    let most = limits.bytes.saturating_add(limits.entries.saturating_mul(FRAME));
    let mut taken = 0_u64;
    let script = "cd -- \"$1\" && exec tar -cf - -- \"$2\"";
    let program = shell(script, [folder.as_os_str().to_os_string(), name.to_os_string()]);
    let took = |bytes: &[u8]| {
        taken += bytes.len() as u64;
        match taken > most {
            true => Err(io::Error::other(format!("it is more than {} bytes", limits.bytes))),
            false => archive.write_all(bytes),
        }
    };
    play(sandbox, program, &what, took).await?;
    archive.rewind().map_err(failed)?;
    let (name, target) = (name.to_os_string(), host.to_path_buf());
    let unpacked = tokio::task::spawn_blocking(move || unpack::unpack(archive, &name, &target, limits)).await;
    unpacked.map_err(io::Error::other).flatten().map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Error::new(ErrorKind::Sandbox, format!("{what}: {error}")),
        _ => failed(error),
    })
}

fn shell<const N: usize>(script: &str, args: [OsString; N]) -> Program {
    Program::new("sh").args(["-c", script, "sh"]).args(args).cwd("/")
}

/// Writes a file or folder into an archive, under this name.
fn packed(source: &Path, name: &OsString) -> io::Result<File> {
    let mut builder = tar::Builder::new(tempfile::tempfile()?);
    builder.follow_symlinks(false);
    let mut waiting = vec![(source.to_path_buf(), PathBuf::from(name))];
    while let Some((path, name)) = waiting.pop() {
        let metadata = fs::symlink_metadata(&path)?;
        let mut header = tar::Header::new_gnu();
        header.set_metadata_in_mode(&metadata, tar::HeaderMode::Deterministic);
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
        header.set_mode(mode & 0o777);
        if metadata.is_dir() {
            header.set_size(0);
            builder.append_data(&mut header, &name, io::empty())?;
            for entry in fs::read_dir(&path)? {
                let entry = entry?.file_name();
                waiting.push((path.join(&entry), name.join(&entry)));
            }
        } else if metadata.is_symlink() {
            header.set_size(0);
            builder.append_link(&mut header, &name, fs::read_link(&path)?)?;
        } else if metadata.is_file() {
            let file = File::open(&path)?;
            header.set_size(metadata.len());
            // One that grows or shrinks meanwhile would put everything behind it out of place.
            let filled = io::Read::chain(io::Read::take(file, metadata.len()), io::repeat(0));
            builder.append_data(&mut header, &name, io::Read::take(filled, metadata.len()))?;
        }
    }
    let mut archive = builder.into_inner()?;
    archive.flush()?;
    archive.rewind()?;
    Ok(archive)
}

/// Runs a program to its end; `take` gets what it prints.
async fn play(
    sandbox: &dyn SandboxHandle,
    program: Program,
    what: &str,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<()> {
    let failed = |error: io::Error| Error::new(ErrorKind::Sandbox, format!("{what}: {error}"));
    let playing = async {
        let mut running = sandbox.start(program).await.map_err(failed)?;
        loop {
            match running.next().await.map_err(failed)? {
                Output::Stdout(bytes) => take(bytes).map_err(failed)?,
                Output::Exited(status) if status.success() => {
                    running.sweep().await;
                    return Ok(());
                }
                Output::Exited(status) => {
                    let said = running.stderr().text();
                    let said = said.lines().last().map_or_else(|| status.to_string(), str::to_owned);
                    return Err(Error::new(ErrorKind::Sandbox, format!("{what}: {said}")).with_hint(
                        "the sandbox needs a `tar`, and its user has to have access to the path",
                    ));
                }
            }
        }
    };
    tokio::time::timeout(LIMIT, playing).await.unwrap_or_else(|_| {
        Err(Error::new(ErrorKind::StepTimeout, format!("{what} within {} s", LIMIT.as_secs())))
    })
}

#[cfg(test)]
mod tests;
