//! Copies with real files, real links and a real repository.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;
use crate::git;

const MINUTE: Duration = Duration::from_secs(60);

/// Two roots, and a folder beside them.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for root in ["from", "to", "outside"] {
            fs::create_dir(folder.path().join(root)).unwrap();
        }
        Self { folder }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    async fn copy(&self, paths: &[&str]) -> Result<Vec<String>> {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        copy_into(&self.at("from"), &self.at("to"), &paths, MINUTE).await
    }

    async fn refused(&self, path: &str) -> String {
        let error = self.copy(&[path]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Copy, "{error}");
        format!("{error:#}")
    }

    /// Every path below `to`.
    fn copied(&self) -> Vec<String> {
        let root = self.at("to");
        let mut found = Vec::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                found.push(entry.path().strip_prefix(&root).unwrap().to_string_lossy().into_owned());
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        found.sort();
        found
    }
}

#[tokio::test]
async fn case_138_a_nested_ignored_file_is_copied_with_its_folders() {
    let bench = Bench::new();
    bench.write("from/cfg/local/x.json", "{}");
    bench.write("from/cfg/local/y.json", "{}");
    assert_eq!(bench.copy(&["./cfg/local/x.json"]).await.unwrap(), Vec::<String>::new());
    assert_eq!(bench.read("to/cfg/local/x.json"), "{}");
    assert_eq!(bench.copied(), ["cfg", "cfg/local", "cfg/local/x.json"]);
}

#[tokio::test]
async fn case_138_a_source_that_is_missing_is_a_typed_error() {
    let bench = Bench::new();
    bench.write("from/there", "1");
    let error = bench.copy(&["there", "not/there"]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Copy);
    assert!(error.to_string().starts_with("copy `not/there` into the worktree: it is not in `"), "{error}");
    // Nothing is copied when something is missing.
    assert_eq!(bench.copied(), Vec::<String>::new());
}

#[tokio::test]
async fn w_30_a_second_copy_is_merged_and_not_nested() {
    let bench = Bench::new();
    bench.write("from/dir/a/one", "1");
    bench.write("from/dir/two", "2");
    symlink("two", bench.at("from/dir/link")).unwrap();
    bench.copy(&["dir"]).await.unwrap();
    let first = bench.copied();
    assert_eq!(first, ["dir", "dir/a", "dir/a/one", "dir/link", "dir/two"]);
    bench.copy(&["dir"]).await.unwrap();
    assert_eq!(bench.copied(), first);
    bench.write("from/dir/two", "new");
    bench.write("to/dir/of-the-agent", "kept");
    bench.copy(&["dir", "dir/a"]).await.unwrap();
    assert_eq!((bench.read("to/dir/two"), bench.read("to/dir/of-the-agent")), ("new".into(), "kept".into()));
}

#[tokio::test]
async fn modes_times_and_links_are_kept() {
    let bench = Bench::new();
    bench.write("from/bin/tool", "#!/bin/sh\n");
    let tool = bench.at("from/bin/tool");
    let then = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(&tool).unwrap().set_modified(then).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o4751)).unwrap();
    symlink("/no/such/place", bench.at("from/bin/dangling")).unwrap();
    symlink("../bin", bench.at("from/bin/loop")).unwrap();
    fs::set_permissions(bench.at("from/bin"), fs::Permissions::from_mode(0o555)).unwrap();
    for _ in 0..2 {
        bench.copy(&["bin"]).await.unwrap();
        let copy = fs::metadata(bench.at("to/bin/tool")).unwrap();
        assert_eq!((copy.mode() & 0o7777, copy.modified().unwrap()), (0o751, then));
        assert_eq!(fs::metadata(bench.at("to/bin")).unwrap().mode() & 0o7777, 0o555);
        assert_eq!(fs::read_link(bench.at("to/bin/dangling")).unwrap(), Path::new("/no/such/place"));
        assert_eq!(fs::read_link(bench.at("to/bin/loop")).unwrap(), Path::new("../bin"));
    }
    for folder in ["from/bin", "to/bin"] {
        fs::set_permissions(bench.at(folder), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[tokio::test]
async fn paths_that_leave_the_work_tree_are_refused() {
    let bench = Bench::new();
    for path in
        ["/etc/passwd", "../outside", "a/../../b", "", ".", "./", ".git", ".git/config", ".GIT/x", "a\0b"]
    {
        let error = bench.copy(&[path]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOptions, "{path:?}");
        assert_eq!(check_paths(&[path.into()]).unwrap_err().kind(), ErrorKind::InvalidOptions);
    }
    check_paths(&["a/b".into(), "./c".into(), ".github".into()]).unwrap();
}

#[tokio::test]
async fn no_link_leads_out_of_either_root() {
    let bench = Bench::new();
    bench.write("outside/secret", "s");
    symlink(bench.at("outside"), bench.at("from/out")).unwrap();
    symlink("../outside", bench.at("from/up")).unwrap();
    bench.refused("out/secret").await;
    bench.refused("up/secret").await;
    // The link itself can be copied; it stays a link.
    bench.copy(&["up"]).await.unwrap();
    assert!(fs::symlink_metadata(bench.at("to/up")).unwrap().is_symlink());
    // What an agent left in the worktree leads nowhere either.
    for link in ["to/cfg", "to/file"] {
        symlink(bench.at("outside/secret"), bench.at(link)).unwrap();
    }
    symlink(bench.at("outside"), bench.at("to/deep")).unwrap();
    bench.write("from/cfg/x", "x");
    bench.write("from/file", "mine");
    bench.write("from/deep/x", "x");
    bench.refused("deep/x").await;
    bench.copy(&["cfg", "file", "deep"]).await.unwrap();
    assert_eq!((bench.read("outside/secret"), bench.read("to/file")), ("s".into(), "mine".into()));
    assert_eq!(fs::read_dir(bench.at("outside")).unwrap().count(), 1);
    assert_eq!((bench.read("to/cfg/x"), bench.read("to/deep/x")), ("x".into(), "x".into()));
}

#[tokio::test]
async fn a_link_within_the_root_may_be_a_part_of_a_path() {
    let bench = Bench::new();
    bench.write("from/real/x", "x");
    symlink("real", bench.at("from/alias")).unwrap();
    bench.copy(&["alias/x"]).await.unwrap();
    assert_eq!(bench.copied(), ["alias", "alias/x"]);
}

#[tokio::test]
async fn what_is_neither_file_nor_folder_nor_link_is_left_out_and_told() {
    let bench = Bench::new();
    bench.write("from/run/pid", "1");
    let pipe = bench.at("from/run/pipe");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(bench.at("from/run/s")).unwrap();
    let notes = bench.copy(&["run"]).await.unwrap();
    assert!(notes[0].contains("`run/pipe`") && notes[0].contains("`run/s`"), "{notes:?}");
    assert_eq!(bench.copied(), ["run", "run/pid"]);
}

#[tokio::test]
async fn names_may_be_any_bytes() {
    let bench = Bench::new();
    let odd = OsStr::from_bytes(b"caf\xe9\n$(x) ");
    fs::create_dir(bench.at("from").join(odd)).unwrap();
    fs::write(bench.at("from").join(odd).join("-rf"), "1").unwrap();
    copy_into(&bench.at("from"), &bench.at("to"), &[odd.into()], MINUTE).await.unwrap();
    assert_eq!(fs::read(bench.at("to").join(odd).join("-rf")).unwrap(), b"1");
    let missing = OsStr::from_bytes(b"no\n\xff");
    let error = copy_into(&bench.at("from"), &bench.at("to"), &[missing.into()], MINUTE).await.unwrap_err();
    assert!(!error.to_string().contains('\n'));
}

#[tokio::test]
async fn a_folder_in_the_way_of_a_file_is_never_removed() {
    let bench = Bench::new();
    bench.write("from/x", "file");
    bench.write("to/x/y", "work");
    assert!(bench.refused("x").await.contains("a folder is in its way"));
    assert_eq!(bench.read("to/x/y"), "work");
    bench.write("from/z/y", "1");
    bench.write("to/z", "a file gives way to a folder");
    bench.copy(&["z"]).await.unwrap();
    assert_eq!(bench.read("to/z/y"), "1");
}

#[tokio::test]
async fn a_worktree_is_not_copied_into_itself() {
    let bench = Bench::new();
    bench.write("from/.sandcastle/prompt.md", "p");
    bench.write("from/.sandcastle/worktrees/w/README", "r");
    let to = bench.at("from/.sandcastle/worktrees/w");
    let notes = copy_into(&bench.at("from"), &to, &[".sandcastle".into()], MINUTE).await.unwrap();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(fs::read_to_string(to.join(".sandcastle/prompt.md")).unwrap(), "p");
    assert!(!to.join(".sandcastle/worktrees/w").exists());
}

#[tokio::test]
async fn a_large_file_is_copied_whole() {
    let bench = Bench::new();
    let content: Vec<u8> = (0..5_000_003_u32).map(|n| (n % 251) as u8).collect();
    fs::write(bench.at("from/large"), &content).unwrap();
    bench.write("from/empty", "");
    bench.copy(&["large", "empty"]).await.unwrap();
    assert!(fs::read(bench.at("to/large")).unwrap() == content);
    assert_eq!(bench.read("to/empty"), "");
}

#[tokio::test]
async fn a_copy_that_takes_too_long_is_stopped_and_names_its_paths() {
    let bench = Bench::new();
    // Its content is not there, and copying it takes longer than the limit all the same.
    fs::File::create(bench.at("from/huge")).unwrap().set_len(1 << 40).unwrap();
    let paths = [PathBuf::from("huge")];
    let begun = Instant::now();
    let limit = Duration::from_millis(300);
    let result = copy_into(&bench.at("from"), &bench.at("to"), &paths, limit).await;
    if let Err(error) = result {
        assert_eq!(error.kind(), ErrorKind::StepTimeout);
        assert_eq!(error.to_string(), "copy `huge` into the worktree within 300ms");
        assert_eq!(bench.copied(), Vec::<String>::new(), "half a file is left");
    } else {
        assert!(bench.at("to/huge").exists(), "the file system shares content");
    }
    assert!(begun.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn a_dropped_copy_stops_before_the_drop_returns() {
    let bench = Bench::new();
    for folder in 0..100 {
        for file in 0..100 {
            bench.write(&format!("from/many/{folder}/{file}"), "x");
        }
    }
    let paths = [PathBuf::from("many")];
    let (from, to) = (bench.at("from"), bench.at("to"));
    let copy = copy_into(&from, &to, &paths, MINUTE);
    assert!(tokio::time::timeout(Duration::from_millis(20), copy).await.is_err(), "copied in no time");
    let copied = bench.copied().len();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(bench.copied().len(), copied);
}

#[tokio::test]
async fn w_30_copies_that_git_does_not_ignore_are_told() {
    let bench = Bench::new();
    let to = bench.at("to");
    bench.write("to/.gitignore", "node_modules\n/cfg/local/\n");
    bench.write("to/README.md", "here before");
    git::print(&to, ["init", "--quiet"]).await.unwrap();
    git::print(&to, ["add", "."]).await.unwrap();
    for path in ["node_modules/a/b", "cfg/local/x", "notes/[a]", "README.md"] {
        bench.write(&format!("from/{path}"), "x");
    }
    assert_eq!(bench.copy(&["node_modules", "cfg"]).await.unwrap(), Vec::<String>::new());
    let notes = bench.copy(&["notes/[a]", "README.md", "cfg"]).await.unwrap();
    assert_eq!(
        notes,
        [
            "git does not ignore the copies `notes/[a]`: the worktree counts as changed",
            "git tracks the copies `README.md`: if they differ, the worktree counts as changed",
        ]
    );
}
