//! Archives as `tar` writes them, and as nobody should.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;

use tar::{EntryType, Header};

use super::*;

/// Writes an archive whose names are taken as they are.
fn archive(entries: &[(&str, EntryType, &str, u32)]) -> File {
    let mut builder = tar::Builder::new(tempfile::tempfile().unwrap());
    for (name, kind, content, mode) in entries {
        let mut header = Header::new_gnu();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(*mode);
        let is_file = kind.is_file();
        header.set_size(if is_file { content.len() as u64 } else { 0 });
        if !is_file {
            header.as_mut_bytes()[157..157 + content.len()].copy_from_slice(content.as_bytes());
        }
        header.set_cksum();
        builder.append(&header, if is_file { content.as_bytes() } else { b"" }).unwrap();
    }
    let mut file = builder.into_inner().unwrap();
    file.rewind().unwrap();
    file
}

fn unpacked(
    entries: &[(&str, EntryType, &str, u32)],
    limits: CopyLimits,
) -> (tempfile::TempDir, io::Result<Copied>) {
    let folder = tempfile::tempdir().unwrap();
    let copied = unpack::unpack(archive(entries), OsStr::new("it"), &folder.path().join("out"), limits);
    (folder, copied)
}

#[test]
fn what_is_plain_comes_out_and_what_is_not_is_left_out() {
    let (folder, copied) = unpacked(
        &[
            ("it/", EntryType::Directory, "", 0o555),
            ("./it/file", EntryType::Regular, "text", 0o4755),
            ("it/same", EntryType::Link, "it/file", 0o644),
            ("it/link", EntryType::Symlink, "sub/../file", 0o777),
            ("it/away", EntryType::Symlink, "../away", 0o777),
            ("it/passwd", EntryType::Symlink, "/etc/passwd", 0o777),
            ("it/disk", EntryType::Block, "", 0o666),
            ("it/pipe", EntryType::Fifo, "", 0o666),
        ],
        CopyLimits::default(),
    );
    let copied = copied.unwrap();
    let out = folder.path().join("out");
    let names = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
    assert_eq!((copied.entries, copied.left_out), (4, names(&["away", "passwd", "disk", "pipe"])));
    let mode = |path: &str| fs::metadata(out.join(path)).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode("file"), mode("same"), mode("")), (0o755, 0o755, 0o755));
    assert_eq!(fs::read_link(out.join("link")).unwrap(), Path::new("sub/../file"));
    assert_eq!(fs::read_dir(&out).unwrap().count(), 3);
}

#[test]
fn what_leads_out_is_refused_and_leaves_nothing() {
    let (kind, mode) = (EntryType::Regular, 0o644);
    let root = ("it", EntryType::Directory, "", 0o755);
    for entries in [
        vec![("/etc/evil", kind, "x", mode)],
        vec![("../evil", kind, "x", mode)],
        vec![root, ("it/../../evil", kind, "x", mode)],
        vec![("other", kind, "x", mode)],
        vec![root, ("it/link", EntryType::Symlink, "sub", mode), ("it/link/evil", kind, "x", mode)],
        vec![root, ("it/hard", EntryType::Link, "/etc/passwd", mode)],
        vec![root, ("it/hard", EntryType::Link, "it/none", mode)],
        vec![
            root,
            ("it/link", EntryType::Symlink, "sub", mode),
            ("it/hard", EntryType::Link, "it/link", mode),
        ],
        vec![root, ("it/a/b", kind, "x", mode)],
        vec![root, ("it/a", kind, "x", mode), ("it/a", kind, "y", mode)],
        vec![],
    ] {
        let shown = format!("{entries:?}");
        let (folder, copied) = unpacked(&entries, CopyLimits::default());
        assert!(copied.is_err(), "{shown}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{shown}");
    }
}

#[test]
fn there_is_no_more_than_the_limits_allow() {
    let file = |name| (name, EntryType::Regular, "12345", 0o644);
    let root = ("it", EntryType::Directory, "", 0o755);
    let entries = [root, file("it/a"), file("it/b")];
    assert!(unpacked(&entries, CopyLimits { bytes: 10, entries: 3 }).1.is_ok());
    for limits in [CopyLimits { bytes: 9, entries: 3 }, CopyLimits { bytes: 10, entries: 2 }] {
        assert_eq!(unpacked(&entries, limits).1.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}

#[test]
fn what_is_packed_is_unpacked_again() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source");
    fs::create_dir_all(source.join("a").join("b".repeat(200))).unwrap();
    fs::write(source.join("a/ü\n"), [0, 255]).unwrap();
    std::os::unix::fs::symlink("a", source.join("link")).unwrap();
    let archive = packed(&source, &"it".into()).unwrap();
    let out = folder.path().join("out");
    unpack::unpack(archive, OsStr::new("it"), &out, CopyLimits::default()).unwrap();
    assert_eq!(fs::read(out.join("a/ü\n")).unwrap(), [0, 255]);
    assert!(out.join("a").join("b".repeat(200)).is_dir());
    assert_eq!(fs::read_link(out.join("link")).unwrap(), Path::new("a"));
}
