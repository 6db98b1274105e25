//! Links, pipes, odd names and sizes, on both sides.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode};

use super::*;

/// A folder of somebody else, with a session in it.
fn outside() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let secret = write(&folder.path().join(format!("{ID}.jsonl")), "secret\n");
    (folder, secret)
}

fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

#[test]
fn w_19_links_at_the_source_are_not_followed() {
    let to = Place::new("/host");
    let (folder, secret) = outside();
    let link_at = |below: &str, target: &Path| {
        let from = Place::new("/sandbox");
        let path = from.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
        bring(&from, &to)
    };
    // Not found, because no file and no folder is there that is one.
    assert_eq!(link_at(&format!(".claude/projects/-sandbox/{ID}.jsonl"), &secret).unwrap(), None);
    assert_eq!(link_at(".claude/projects/-sandbox", folder.path()).unwrap(), None);
    assert_eq!(link_at(".claude/projects", folder.path()).unwrap(), None);
    // The program's own folder may be a link, and not out of the home folder.
    let config = tempfile::tempdir().unwrap();
    write(&config.path().join(format!("projects/-sandbox/{ID}.jsonl")), "secret\n");
    assert!(refused(link_at(".claude", config.path())).contains("leads out of the home folder"));
    assert_eq!(tree(&to.home()), [] as [PathBuf; 0]);
}

#[test]
fn w_19_links_at_the_target_are_not_followed() {
    let from = Place::new("/sandbox");
    from.write(line(1, "/sandbox"));
    let (folder, secret) = outside();
    for (below, target) in [
        (format!(".claude/projects/-host/{ID}.jsonl"), secret.as_path()),
        (format!(".claude/projects/-host/{ID}.jsonl"), Path::new("/nowhere/at/all")),
        (".claude/projects/-host".to_owned(), folder.path()),
        (".claude/projects".to_owned(), folder.path()),
        (".claude".to_owned(), folder.path()),
        (".claude".to_owned(), Path::new("/nowhere/at/all")),
    ] {
        let to = Place::new("/host");
        let path = to.path(&below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, &path).unwrap();
        let said = refused(bring(&from, &to));
        assert!(said.contains("symbolic link") || said.contains("leads out"), "{below}: {said}");
        assert_eq!(fs::read_link(&path).unwrap(), target);
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret\n");
    assert_eq!(tree(folder.path()), [secret]);
}

#[test]
fn a_link_within_the_home_folder_is_the_users_own() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    from.write(line(1, "/sandbox"));
    fs::create_dir_all(to.path("dotfiles/claude")).unwrap();
    symlink("dotfiles/claude", to.path(".claude")).unwrap();
    let transfer = bring(&from, &to).unwrap().unwrap();
    assert_eq!(transfer.file, to.path(&format!("dotfiles/claude/projects/-host/{ID}.jsonl")));
    // And one that leads out of it is no matter as long as nothing leaves it.
    let elsewhere = tempfile::tempdir().unwrap();
    fs::rename(to.path("dotfiles/claude"), elsewhere.path().join("claude")).unwrap();
    fs::remove_file(to.path(".claude")).unwrap();
    symlink(elsewhere.path().join("claude"), to.path(".claude")).unwrap();
    let moved = Place { folder: to.folder, cwd: "/moved", env: Vec::new() };
    assert_eq!(outcome(bring(&moved, &moved)), TransferOutcome::Written);
}

#[test]
fn a_link_among_the_folders_of_sub_agents_is_not_followed() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    from.write(line(1, "/sandbox"));
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("subagents/agent-secret.jsonl"), "secret");
    let own = from.session().with_extension("");
    symlink(folder.path(), &own).unwrap();
    assert_eq!(bring(&from, &to).unwrap().unwrap().sub_agents, 0);
    fs::remove_file(&own).unwrap();
    fs::create_dir(&own).unwrap();
    symlink(folder.path().join("subagents"), own.join("subagents")).unwrap();
    assert_eq!(bring(&from, &to).unwrap().unwrap().sub_agents, 0);
    assert_eq!(tree(&to.home()), [to.session()]);

    // At the target: a note, and the session is there.
    fs::remove_file(own.join("subagents")).unwrap();
    write(&own.join("subagents/agent-a.jsonl"), "{}\n");
    let to = Place::new("/host");
    fs::create_dir_all(to.session().with_extension("")).unwrap();
    let victim = tempfile::tempdir().unwrap();
    symlink(victim.path(), to.session().with_extension("").join("subagents")).unwrap();
    let transfer = bring(&from, &to).unwrap().unwrap();
    assert_eq!((transfer.outcome, transfer.sub_agents), (TransferOutcome::Written, 0));
    assert!(transfer.notes[0].contains("symbolic link"), "{:?}", transfer.notes);
    assert_eq!(tree(victim.path()), [] as [PathBuf; 0]);
}

#[test]
fn pipes_are_not_waited_for() {
    let begun = Instant::now();
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    pipe(&from.session());
    assert_eq!(bring(&from, &to).unwrap(), None);
    fs::remove_file(from.session()).unwrap();
    from.write(line(1, "/sandbox"));
    pipe(&to.session());
    assert!(refused(bring(&from, &to)).contains("no regular file"));
    pipe(&from.session().with_extension("").join("subagents/agent-a.jsonl"));
    fs::remove_file(to.session()).unwrap();
    let transfer = bring(&from, &to).unwrap().unwrap();
    assert!(transfer.notes[0].contains("no regular file"), "{:?}", transfer.notes);
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn folders_in_the_place_of_files_are_said() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    from.write(line(1, "/sandbox"));
    fs::create_dir_all(to.session()).unwrap();
    assert!(refused(bring(&from, &to)).contains("no regular file"));
    let to = Place::new("/host");
    write(&to.path(".claude/projects"), "a file");
    refused(bring(&from, &to));
    assert_eq!(fs::read_to_string(to.path(".claude/projects")).unwrap(), "a file");
}

#[test]
fn a_target_that_cannot_be_written_is_said_and_left() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    from.write(lines(1..3, "/sandbox"));
    to.write(line(1, "/host"));
    let folder = to.session().parent().unwrap().to_owned();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
    // `root` may write everywhere.
    let refuses = fs::write(folder.join("probe"), "").is_err();
    let result = bring(&from, &to);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    if refuses {
        assert!(refused(result).contains("Permission denied"));
        assert_eq!(to.read(), line(1, "/host"));
    }
    // A home that is not there is never made.
    let gone = Place::new("/host");
    fs::remove_dir(gone.folder.path()).unwrap();
    assert!(refused(bring(&from, &gone)).contains("No such file"));
    assert!(!gone.folder.path().exists());
}

#[test]
fn bytes_that_are_no_text_stay_as_they_are() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    let odd = b"\xff\xfe\x00\n{\"cwd\":\"/sandbox\xc3\"}\n\r\n{\"cwd\":\"\\ud800\"}\n\"";
    from.write(odd);
    bring(&from, &to).unwrap();
    assert_eq!(fs::read(to.session()).unwrap(), odd);
}

#[test]
fn names_that_are_no_text_are_walked_past() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    let odd = OsStr::from_bytes(b"-odd-\xff");
    let projects = from.path(".claude/projects");
    write(&projects.join(odd).join(format!("{ID}.jsonl")), line(1, "/elsewhere"));
    let subagents = projects.join(odd).join(ID).join("subagents");
    write(&subagents.join(OsStr::from_bytes(b"agent-\xff.jsonl")), "{}");
    write(&subagents.join(odd).join("agent-a.jsonl"), "{}");
    let transfer = bring(&from, &to).unwrap().unwrap();
    assert_eq!((transfer.sub_agents, to.read()), (1, line(1, "/host")));

    let place = SessionPlace::new(to.folder.path(), Path::new(odd), &[]);
    let session = SessionId::new(ID).unwrap();
    let transfer = ClaudeCode::new("").transfer_session(&session, &from.place(), &place).unwrap().unwrap();
    assert!(transfer.file.ends_with(format!("projects/-odd--/{ID}.jsonl")), "{transfer:?}");
    assert_eq!(fs::read_to_string(transfer.file).unwrap(), line(1, "/elsewhere"));
}

#[test]
fn lines_of_megabytes_and_files_without_an_end_are_held_in_pieces() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    let long = format!("{{\"x\":\"{}\",\"cwd\":\"/sandbox\"}}\n", "x".repeat(3_000_000));
    from.write(format!("{long}{}", line(2, "/sandbox")));
    bring(&from, &to).unwrap();
    assert!(to.read().ends_with(&format!("xx\",\"cwd\":\"/host\"}}\n{}", line(2, "/host"))));

    // A file of a terabyte that takes no room.
    let huge = Place::new("/sandbox");
    let file = fs::File::create(huge.write("")).unwrap();
    file.set_len(1 << 40).unwrap();
    let begun = Instant::now();
    assert!(refused(bring(&huge, &Place::new("/host"))).contains("more than the"));
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn trees_without_an_end_are_left_at_their_limits() {
    let (from, to) = (Place::new("/sandbox"), Place::new("/host"));
    from.write(line(1, "/sandbox"));
    let mut folder = from.session().with_extension("").join("subagents");
    for depth in 0..40 {
        write(&folder.join(format!("agent-{depth}.jsonl")), "{}\n");
        folder.push("d");
    }
    assert_eq!(bring(&from, &to).unwrap().unwrap().sub_agents, 9);
}
