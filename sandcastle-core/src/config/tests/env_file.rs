//! How `.sandcastle/.env` is read, and what is refused.

use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

fn folder(content: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".sandcastle")).unwrap();
    fs::write(folder.path().join(".sandcastle/.env"), content).unwrap();
    folder
}

fn read_in(folder: &TempDir) -> Result<EnvFile> {
    ConfigDir::in_folder(folder.path()).env_file()
}

fn value(line: &str) -> String {
    let file = EnvFile::parse(line).unwrap();
    file.variables.get("A").unwrap_or_default().to_str().unwrap().to_owned()
}

fn refused(content: &[u8]) -> String {
    format!("{:#}", read_in(&folder(content)).unwrap_err())
}

#[test]
fn case_183_the_env_file_of_the_repository_root_is_not_read() {
    let folder = folder(b"TOKEN=y\n");
    fs::write(folder.path().join(".env"), "AWS_KEY=x\n").unwrap();
    let variables = read_in(&folder).unwrap().resolve(|_| None);
    assert_eq!(&variables[..], [("TOKEN".into(), "y".into())]);
    fs::remove_dir_all(folder.path().join(".sandcastle")).unwrap();
    assert!(read_in(&folder).unwrap().resolve(|_| None).is_empty());
}

#[test]
fn case_184_quotes_are_not_part_of_values() {
    assert_eq!(value(r#"A="v""#), "v");
    assert_eq!(value("A='v'"), "v");
}

#[test]
fn values_are_what_is_there() {
    for (line, read) in [
        ("A = v ", "v"),
        ("export A=v", "v"),
        ("export\tA='v'", "v"),
        ("A=hello big world", "hello big world"),
        ("A=it's", "it's"),
        ("A=a#b #c", "a#b #c"),
        ("A=a=b", "a=b"),
        ("A=C:\\Users", "C:\\Users"),
        ("A=$HOME ${HOME}", "$HOME ${HOME}"),
        ("A='$HOME\\n'", "$HOME\\n"),
        (r#"A="$HOME""#, "$HOME"),
        (r#"A="a\nb\tc\rd\\e\"f\$g\h""#, "a\nb\tc\rd\\e\"f$g\\h"),
        (r#"A="v" # a "note""#, "v"),
        ("A='v' # it's", "v"),
        (r#"A="a" b "c""#, r#""a" b "c""#),
        ("A=\"a\"#b", "\"a\"#b"),
        ("A= # b", "# b"),
        ("A=pa$$word", "pa$$word"),
        ("A=`id` $(id)", "`id` $(id)"),
        (r#"A={"a": "b c"}"#, r#"{"a": "b c"}"#),
        (r"A=a\ b\n", r"a\ b\n"),
        (
            "A=\"-----BEGIN KEY-----\nMII/+a==\n-----END KEY-----\"\nB=1",
            "-----BEGIN KEY-----\nMII/+a==\n-----END KEY-----",
        ),
        ("A='two\n# lines'", "two\n# lines"),
        ("A=\"open\nB=\"x\"", "\"open"),
        (r#"A="open"#, r#""open"#),
        (r#"A='mixed""#, r#"'mixed""#),
        (r#"A=in"side""#, r#"in"side""#),
        (r#"A="""#, ""),
        ("A=\"", "\""),
        ("\u{feff}A=bom\r\nB=x\r\n", "bom"),
        ("A=1\nA=2", "2"),
        ("# A=1\n\n  # B\nA=ä", "ä"),
    ] {
        assert_eq!(value(line), read, "{line:?}");
    }
}

#[test]
fn a_key_without_a_value_is_that_of_the_host_and_no_other_is_asked_for() {
    let file = EnvFile::parse("SET=file\nEMPTY=\nMISSING=''\nBLANK=\nALONE # of the host\n").unwrap();
    let host = |key: &OsStr| match key.to_str().unwrap() {
        "EMPTY" | "ALONE" => Some("host".into()),
        "MISSING" => None,
        "BLANK" => Some(OsString::new()),
        other => panic!("`{other}` is not asked for"),
    };
    let variables = file.resolve(host);
    let of_host = ["ALONE", "EMPTY"].map(|key| (key.into(), "host".into()));
    assert_eq!(variables[..2], of_host);
    assert_eq!(variables[2..], [("SET".into(), "file".into())]);
}

#[test]
fn everything_wrong_is_said_at_once_and_no_value_of_it() {
    let error = refused(b"A=1\na s3cret\nA/B=s3cret\nA B=s3cret\n=s3cret\nC=s3c\0ret\nexport=fine\n1=fine\n");
    assert!(!error.contains("s3c"), "{error}");
    for what in ["line 2 has a name", "line 3 has a name", "line 4", "line 5", "line 6 has a NUL byte"] {
        assert!(error.contains(what), "{error}");
    }
    assert!(!error.contains("line 7") && !error.contains("line 8"), "{error}");
    assert!(refused(b"A=1\nB=s3cret\xff\n").contains("line 2 is not UTF-8"));
    assert!(refused(&vec![b'#'; MAX_BYTES + 1]).contains("longer than"));
    let many = refused(&b"=\n".repeat(MAX_BYTES / 2));
    assert!(many.contains("; and 524268 more") && many.len() < 4096, "{many}");
}

#[test]
fn only_a_plain_file_is_read() {
    let folder = folder(b"");
    let path = folder.path().join(".sandcastle/.env");
    let try_with = |make: &dyn Fn(&Path), what: &str| {
        fs::remove_file(&path).unwrap();
        make(&path);
        let error = read_in(&folder).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOptions);
        assert!(error.to_string().contains(what), "{error}");
    };
    try_with(&|path| std::os::unix::fs::symlink("/etc/hostname", path).unwrap(), "symbolic link");
    // A reader of a pipe waits for a writer, which here would never come.
    try_with(
        &|path| {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).unwrap();
        },
        "not a file",
    );
    try_with(&|path| fs::create_dir(path).unwrap(), "not a file");
}

#[test]
fn debug_shows_names_only() {
    let file = EnvFile::parse("TOKEN=s3cret").unwrap();
    assert_eq!(format!("{file:?}"), r#"EnvFile { variables: ["TOKEN"] }"#);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "([AB]?[ =\"'\\\\#$n\n]?){0,30}") {
        let _ = EnvFile::parse(&text);
    }

    #[test]
    fn any_value_can_be_written(value in "[^\0\n\r]{0,30}") {
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
        let file = EnvFile::parse(&format!("A=\"{escaped}\"")).unwrap();
        prop_assert_eq!(file.variables.get("A").unwrap_or_default().to_str().unwrap(), value);
    }
}
