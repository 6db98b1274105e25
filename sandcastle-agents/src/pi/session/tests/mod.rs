//! Sessions in scratch homes: found, copied, and not copied where that would do harm.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use sandcastle_core::ErrorKind;

use super::*;

use TransferOutcome::{Parted, UpToDate, Written};

const ID: &str = "01a22a7d-59d5-71ef-8871-7cdf34422587";
const FILE: &str = "2026-11-30T03-26-27-798Z_01a22a7d-59d5-71ef-8871-7cdf34422587.jsonl";

/// Lines of which a copy changes nothing but the working folder in the first: odd white space, a torn end.
fn lines(cwd: &str) -> String {
    let header = format!(r#"{{"type":"session", "version":3,"id":"{ID}","cwd":"{cwd}","x":1e2}}"#);
    let message = r#"{"type":"message",  "message":{"role":"user","content":"cwd: /from"},"cwd":"/from"}"#;
    [&header, message, r#"{"type":"mess"#].join("\n")
}

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).unwrap()
    }

    fn sessions(&self) -> PathBuf {
        self.path().join(".pi/agent/sessions")
    }

    fn write(&self, folder: &str, contents: &str) -> PathBuf {
        let folder = self.sessions().join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(FILE), contents).unwrap();
        folder.join(FILE)
    }

    fn find(&self, cwd: &str) -> Option<PathBuf> {
        find(&id(), &SessionPlace::new(self.0.path(), Path::new(cwd), &[]))
    }

    fn transfer(&self, from: &str, other: &Self, to: &str) -> Result<Option<SessionTransfer>> {
        let from = SessionPlace::new(self.0.path(), Path::new(from), &[]);
        transfer(&id(), &from, &SessionPlace::new(other.0.path(), Path::new(to), &[]))
    }
}

fn done(file: &Path, outcome: TransferOutcome) -> Option<SessionTransfer> {
    Some(SessionTransfer::new(file, outcome))
}

fn id() -> SessionId {
    SessionId::new(ID).unwrap()
}

#[test]
fn w_34_a_folder_is_named_as_the_program_names_it() {
    assert_eq!(folder_name(Path::new("/nowhere/w.e_i rd é@x")), "--nowhere-w.e_i rd é@x--");
    assert_eq!(folder_name(Path::new(r"/C:\repos\my-app")), "--C--repos-my-app--");
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    symlink(folder.path(), &link).unwrap();
    assert_eq!(folder_name(&link), folder_name(folder.path()));
}

#[test]
fn the_file_is_in_the_folder_of_the_working_folder_or_in_another() {
    let home = Home::new();
    assert_eq!(home.find("/nowhere"), None);
    let other = home.write("--zzz--", "");
    assert_eq!(home.find("/nowhere"), Some(other));
    let own = home.write("--nowhere--", "");
    assert_eq!(home.find("/nowhere"), Some(own));
}

#[test]
fn the_folders_can_be_moved_by_variables() {
    let (home, own, flat) = (Home::new(), Home::new(), Home::new());
    let file = own.path().join("sessions/--nowhere--").join(FILE);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "").unwrap();
    let mut env = vec![("PI_CODING_AGENT_DIR".into(), own.path().into())];
    assert_eq!(find(&id(), &SessionPlace::new(home.0.path(), Path::new("/nowhere"), &env)), Some(file));

    env.push((SESSION_FOLDER.into(), flat.path().into()));
    let place = SessionPlace::new(home.0.path(), Path::new("/nowhere"), &env);
    assert_eq!(find(&id(), &place), None);
    let file = flat.path().join(FILE);
    home.write("--from--", &lines("/from"));
    let from = SessionPlace::new(home.0.path(), Path::new("/from"), &[]);
    assert_eq!(transfer(&id(), &from, &place).unwrap(), done(&file, Written));
    assert_eq!(find(&id(), &place), Some(file.clone()));
    assert_eq!(fs::read_to_string(&file).unwrap(), lines("/nowhere"));
    fs::remove_dir_all(home.sessions()).unwrap();
    // And back, from one folder for all to one for each.
    let back = home.sessions().join("--from--").join(FILE);
    assert_eq!(transfer(&id(), &place, &from).unwrap(), done(&back, Written));
    assert_eq!(fs::read_to_string(&back).unwrap(), lines("/from"));
    assert_eq!((folder(&from), folder(&place)), (home.0.path().join(".pi/agent/sessions"), flat.path()));
}

#[test]
fn links_are_not_followed() {
    let (home, outside) = (Home::new(), Home::new());
    let secret = outside.write("--nowhere--", "");
    fs::create_dir_all(home.sessions().join("--a--")).unwrap();
    symlink(&secret, home.sessions().join("--a--").join(FILE)).unwrap();
    symlink(secret.parent().unwrap(), home.sessions().join("--nowhere--")).unwrap();
    assert_eq!(home.find("/nowhere"), None);
}

#[test]
fn case_117_a_copy_differs_in_its_working_folder_alone() {
    let (home, other) = (Home::new(), Home::new());
    let origin = home.write("--from--", &lines("/from"));
    let copy = other.sessions().join("--to-\"here\"--").join(FILE);
    assert_eq!(home.transfer("/from", &other, "/to/\"here\"").unwrap(), done(&copy, Written));
    assert_eq!(fs::read_to_string(&copy).unwrap(), lines(r#"/to/\"here\""#));
    assert_eq!(fs::read_to_string(&origin).unwrap(), lines("/from"));
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(other.find("/to/\"here\""), Some(copy));
    // Nothing is left of the copying.
    assert_eq!(fs::read_dir(other.sessions().join("--to-\"here\"--")).unwrap().count(), 1);
}

#[test]
fn what_has_gone_on_is_not_replaced_and_what_has_not_is() {
    let (home, other) = (Home::new(), Home::new());
    home.write("--from--", &lines("/from"));
    let there = other.write("--to--", &(lines("/to") + "age\"}\nmore"));
    assert_eq!(home.transfer("/from", &other, "/to").unwrap(), done(&there, UpToDate));
    assert_eq!(fs::read_to_string(&there).unwrap(), lines("/to") + "age\"}\nmore");
    fs::write(&there, "short").unwrap();
    assert_eq!(home.transfer("/from", &other, "/to").unwrap(), done(&there, Written));
    assert_eq!(fs::read_to_string(&there).unwrap(), lines("/to"));
}

#[test]
fn what_went_on_in_both_places_is_left_as_it_is() {
    let (home, other) = (Home::new(), Home::new());
    home.write("--from--", &(lines("/from") + "age\"}\n"));
    let parted = lines("/to") + "age\",\"said\":\"elsewhere\"}\n";
    let there = other.write("--to--", &parted);
    assert_eq!(home.transfer("/from", &other, "/to").unwrap(), done(&there, Parted));
    assert_eq!(fs::read_to_string(&there).unwrap(), parted);
}

#[test]
fn a_session_goes_on_in_the_file_that_is_there() {
    let (home, other) = (Home::new(), Home::new());
    home.write("--from--", &(lines("/from") + "age\"}\n"));
    let there = other.write("--to--", &lines("/to"));
    let older = there.with_file_name(FILE.replace("2026", "2025"));
    fs::rename(there, &older).unwrap();
    assert_eq!(home.transfer("/from", &other, "/to").unwrap(), done(&older, Written));
    assert_eq!(fs::read_to_string(&older).unwrap(), lines("/to") + "age\"}\n");
}

#[test]
fn w_22_the_copy_that_went_on_furthest_is_brought_within_its_home() {
    let home = Home::new();
    let further = home.write("--gone--", &(lines("/gone") + "age\"}\n"));
    home.write("--a-folder-with-a-longer-name--", &lines("/a/folder/with/a/longer/name"));
    let here = home.sessions().join("--here--").join(FILE);
    assert_eq!(home.transfer("/here", &home, "/here").unwrap(), done(&here, Written));
    assert_eq!(home.transfer("/here", &home, "/here").unwrap(), done(&here, UpToDate));
    assert_eq!(fs::read_to_string(&here).unwrap(), lines("/here") + "age\"}\n");
    fs::write(&further, lines("/gone") + "age\"}\nmore\n").unwrap();
    assert_eq!(home.transfer("/here", &home, "/here").unwrap(), done(&here, Written));
    assert_eq!(fs::read_to_string(&here).unwrap(), lines("/here") + "age\"}\nmore\n");
}

#[test]
fn a_session_that_is_there_already_stays() {
    let home = Home::new();
    let file = home.write("--from--", "not even a header");
    assert_eq!(home.transfer("/from", &home, "/from").unwrap(), done(&file, UpToDate));
    assert_eq!(Home::new().transfer("/from", &home, "/to").unwrap(), None);
}

#[test]
fn a_copy_goes_through_no_link() {
    let (home, other, outside) = (Home::new(), Home::new(), Home::new());
    home.write("--from--", &lines("/from"));
    fs::create_dir_all(other.sessions().join("--to--")).unwrap();
    // In the place of the file.
    let secret = outside.write("--x--", "secret");
    let link = other.sessions().join("--to--").join(FILE);
    symlink(&secret, &link).unwrap();
    let error = home.transfer("/from", &other, "/to").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    // In the place of its folder.
    symlink(outside.path(), other.sessions().join("--linked--")).unwrap();
    let error = home.transfer("/from", &other, "/linked").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(!outside.path().join(FILE).exists());
}

#[test]
fn what_is_no_session_is_not_copied() {
    let (home, other) = (Home::new(), Home::new());
    let long = format!(r#"{{"type":"session","id":"{ID}","cwd":"/from","x":"{}"}}"#, "x".repeat(5_000_000));
    for contents in ["", "null\n", "\u{0}", &lines("/from").replace(ID, "another"), &long] {
        home.write("--from--", contents);
        let error = home.transfer("/from", &other, "/to").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{contents:.80}");
        assert_eq!(other.find("/to"), None, "{contents:.80}");
    }
}
