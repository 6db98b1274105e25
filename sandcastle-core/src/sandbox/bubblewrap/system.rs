//! What of the operating system is seen inside: programs, libraries and settings, and no secrets.
//!
//! Only reads.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::view::{Blank, Entry, View};

/// Folders that hold programs and what these read. A link among them is a link inside, too.
const FOLDERS: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    // Systems whose packages are elsewhere. The sockets of their services are not here.
    "/nix/store",
    "/gnu/store",
    "/run/current-system",
    // Certificates of SUSE, to which a link in `/etc` leads.
    "/var/lib/ca-certificates",
];

/// Files to which a link in `/etc` may lead out of it.
const LINKED_SETTINGS: &[&str] = &[
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/localtime",
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/nsswitch.conf",
];

/// How deep settings are looked into.
const DEEPEST: usize = 16;

/// Lists the system's folders as they are now.
pub(super) fn entries(blank: &Blank) -> Vec<Entry> {
    let mut view = View::default();
    let mut entries = Vec::new();
    for folder in FOLDERS.iter().map(PathBuf::from) {
        entries.extend(entry(folder));
    }
    view.extend(entries.iter().cloned());
    for setting in LINKED_SETTINGS.iter().map(Path::new) {
        if view.resolve(setting).is_none()
            && let Ok(real) = fs::canonicalize(setting)
        {
            entries.push(Entry::read_only(real));
        }
    }
    mask_below(Path::new("/etc"), blank, DEEPEST, &mut entries);
    entries
}

fn entry(folder: PathBuf) -> Option<Entry> {
    let metadata = fs::symlink_metadata(&folder).ok()?;
    if metadata.is_symlink() {
        return Some(Entry::Link { target: fs::read_link(&folder).ok()?, inside: folder });
    }
    metadata.is_dir().then(|| Entry::read_only(folder))
}

/// Puts something empty over what is not for everybody's eyes and yet could be read: root inside is root outside to the files
/// of root.
fn mask_below(folder: &Path, blank: &Blank, depth: usize, entries: &mut Vec<Entry>) {
    let Ok(found) = fs::read_dir(folder) else { return };
    for found in found.flatten() {
        let (inside, Ok(metadata)) = (found.path(), found.metadata()) else { continue };
        let for_all = if metadata.is_dir() { 0o005 } else { 0o004 };
        let is_open = metadata.permissions().mode() & for_all == for_all && depth > 0;
        if is_open && metadata.is_dir() {
            mask_below(&inside, blank, depth - 1, entries);
        } else if !is_open && !metadata.is_symlink() && is_ours_to_read(&inside) {
            entries.push(blank.over(inside, &metadata));
        }
    }
}

/// Tells whether this user reaches what is in a file or folder.
fn is_ours_to_read(path: &Path) -> bool {
    let may = |what| rustix::fs::access(path, what).is_ok();
    may(rustix::fs::Access::READ_OK) || may(rustix::fs::Access::EXEC_OK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blank() -> Blank {
        Blank { file: "/dev/null".into(), folder: "/nonexistent".into() }
    }

    #[test]
    fn settings_that_are_not_for_everybody_are_masked_however_deep_they_are() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = |name: &str, mode| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "x").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        file("open", 0o644);
        let shadow = file("shadow", 0o640);
        let key = file("ssl/deep/key", 0o600);
        let private = file("private/key", 0o644).parent().unwrap().to_path_buf();
        fs::set_permissions(&private, fs::Permissions::from_mode(0o710)).unwrap();
        std::os::unix::fs::symlink("/root", folder.path().join("link")).unwrap();
        let mut entries = Vec::new();
        mask_below(folder.path(), &blank(), DEEPEST, &mut entries);
        let mut masked: Vec<_> = entries.iter().map(Entry::inside).collect();
        masked.sort_unstable();
        assert_eq!(masked, [private.as_path(), &shadow, &key]);
    }

    #[test]
    fn programs_are_found_in_what_is_shown_of_this_system() {
        let mut view = View::default();
        view.extend(entries(&blank()));
        let shell = view.program(
            "sh".as_ref(),
            "/nowhere:/run/current-system/sw/bin:/usr/bin:/bin".as_ref(),
            Path::new("/"),
        );
        assert!(shell.is_ok(), "{shell:?}");
        for hidden in ["/root", "/home", "/proc/1", "/var/log", "/etc/shadow/x"] {
            assert_eq!(view.resolve(Path::new(hidden)), None, "{hidden}");
        }
    }
}
