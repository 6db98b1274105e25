//! What the folder of a stand-in says is where: what is checked out, and every ref.
//!
//! It is read as files, by nothing that anybody inside could steer: links and oddities are refused, all is bounded, and a name
//! or an id that is none is passed over.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::folder::{Folder, Kind};
use crate::git::takeover::{Checkout, State, is_id, is_name};

/// The longest file of refs that is read.
const MAX_PACKED: u64 = 256 * 1024 * 1024;
/// The longest file of one ref.
const MAX_REF: u64 = 4096;
/// How many folders and files of refs are looked at.
const MAX_FILES: usize = 100_000;
/// How deep they may lie in one another.
const MAX_DEPTH: usize = 32;

impl State {
    /// Reads the git folder `git`; `own` is the folder of the work tree's own state in it.
    pub(super) fn read(git: &Folder, own: &Path) -> io::Result<Self> {
        let head = git.read(own.join("HEAD"), MAX_REF)?.unwrap_or_default();
        let head = String::from_utf8_lossy(&head).trim_end().to_owned();
        let head = match head.strip_prefix("ref:").map(str::trim_start) {
            Some(name) if is_name(name) && name.starts_with("refs/heads/") => {
                Checkout::Branch(name.to_owned())
            }
            None if is_id(&head) => Checkout::Commit(head),
            _ => return Err(io::Error::other("its `HEAD` names neither a branch nor a commit")),
        };
        let mut refs = BTreeMap::new();
        let packed = git.read("packed-refs", MAX_PACKED)?.unwrap_or_default();
        for line in String::from_utf8_lossy(&packed).lines() {
            if let Some((id, name)) = line.split_once(' ') {
                note(&mut refs, name, id);
            }
        }
        let mut left = MAX_FILES;
        read_loose(git, "refs", MAX_DEPTH, &mut left, &mut refs)?;
        Ok(Self { head, refs })
    }

    /// Writes it as a git folder holds it, in the place of all that was there.
    pub(super) fn write(&self, git: &Folder, own: &Path) -> io::Result<()> {
        let mut packed = String::from("# pack-refs with: sorted \n");
        for (name, id) in &self.refs {
            packed.extend([id, " ", name, "\n"]);
        }
        let head = match &self.head {
            Checkout::Branch(name) => format!("ref: {name}\n"),
            Checkout::Commit(id) => format!("{id}\n"),
        };
        git.replace("packed-refs", packed.as_bytes())?;
        git.empty("refs")?;
        git.make("refs/heads")?;
        git.make("refs/tags")?;
        git.replace(own.join("HEAD"), head.as_bytes())
    }
}

fn read_loose(
    git: &Folder,
    folder: &str,
    depth: usize,
    left: &mut usize,
    refs: &mut BTreeMap<String, String>,
) -> io::Result<()> {
    for entry in git.entries(folder)? {
        *left = left.checked_sub(1).ok_or_else(|| io::Error::other("it has too many refs"))?;
        let (name, kind) = entry?;
        let Ok(name) = name.into_string() else { continue };
        let name = format!("{folder}/{name}");
        match kind {
            Kind::Folder if depth > 0 => read_loose(git, &name, depth - 1, left, refs)?,
            Kind::File => {
                let id = git.read(&name, MAX_REF)?.unwrap_or_default();
                note(refs, &name, String::from_utf8_lossy(&id).trim_end());
            }
            _ => {}
        }
    }
    Ok(())
}

fn note(refs: &mut BTreeMap<String, String>, name: &str, id: &str) {
    if is_name(name) && is_id(id) {
        refs.insert(name.to_owned(), id.to_owned());
    }
}
