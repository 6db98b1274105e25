//! What is put back, and what is left to others.

use std::path::Path;
use std::time::Duration;

use crate::config::ConfigDir;
use crate::git::{Memory, Repository, Undone, Witness};
use crate::testing::ScratchRepo;

const LIMIT: Duration = Duration::from_secs(30);

async fn scratch() -> (ScratchRepo, Repository) {
    let scratch = ScratchRepo::new().await.unwrap();
    scratch.write("a.txt", "a\n").unwrap();
    scratch.git(["add", "."]).await.unwrap();
    scratch.git(["commit", "-qm", "A"]).await.unwrap();
    let repository = Repository::discover(scratch.path()).await.unwrap();
    (scratch, repository)
}

async fn memory_of(repository: &Repository) -> Memory {
    Memory::of(repository, ConfigDir::of(repository).path(), LIMIT).await.unwrap()
}

fn read(scratch: &ScratchRepo, path: &str) -> String {
    std::fs::read_to_string(scratch.path().join(path)).unwrap()
}

#[tokio::test]
async fn nothing_is_undone_where_nothing_was_changed() {
    let (scratch, repository) = scratch().await;
    scratch.write("loose", "x").unwrap();
    let mut memory = memory_of(&repository).await;
    // Git writes its index anew when it has looked, and a file may be written as it is.
    scratch.write("a.txt", "a\n").unwrap();
    scratch.git(["status"]).await.unwrap();
    let undone = memory.restore("rescue", &Witness::Nobody).await.unwrap();
    assert_eq!(undone, Undone::default());
    assert_eq!(scratch.git(["for-each-ref", "--format=%(refname)"]).await.unwrap(), "refs/heads/main");
}

#[tokio::test]
async fn what_was_restored_is_watched_on() {
    let (scratch, repository) = scratch().await;
    let mut memory = memory_of(&repository).await;
    for round in ["one", "two"] {
        scratch.write("a.txt", round).unwrap();
        scratch.git(["commit", "-qam", round]).await.unwrap();
        let undone = memory.restore("rescue", &Witness::Nobody).await.unwrap();
        assert_eq!(undone.paths, [Path::new("a.txt")]);
        assert_eq!((read(&scratch, "a.txt").as_str(), undone.left.len()), ("a\n", 0));
    }
    assert_eq!(scratch.git(["log", "-1", "--format=%s", "rescue^"]).await.unwrap(), "one");
    assert_eq!(scratch.git(["show", "rescue-2:a.txt"]).await.unwrap(), "two");
}

#[tokio::test]
async fn a_merge_that_was_begun_before_is_as_it_was() {
    let (scratch, repository) = scratch().await;
    scratch.git(["checkout", "-q", "-b", "side"]).await.unwrap();
    scratch.write("a.txt", "side\n").unwrap();
    scratch.git(["commit", "-qam", "Side"]).await.unwrap();
    scratch.git(["checkout", "-q", "main"]).await.unwrap();
    scratch.write("a.txt", "main\n").unwrap();
    scratch.git(["commit", "-qam", "Main"]).await.unwrap();
    assert!(scratch.git(["merge", "-q", "side"]).await.is_err());
    let (staged, file) = (scratch.git(["ls-files", "-u"]).await.unwrap(), read(&scratch, "a.txt"));

    let mut memory = memory_of(&repository).await;
    scratch.write("a.txt", "solved\n").unwrap();
    scratch.git(["commit", "-qam", "Merged"]).await.unwrap();
    let undone = memory.restore("rescue", &Witness::Nobody).await.unwrap();
    assert_eq!(undone.refs, ["refs/heads/main", "index"]);
    assert_eq!(scratch.git(["ls-files", "-u"]).await.unwrap(), staged);
    assert_eq!(read(&scratch, "a.txt"), file);
    assert_eq!(repository.operation(), Some(crate::git::Operation::Merge));
    assert_eq!(scratch.git(["show", "rescue:a.txt"]).await.unwrap(), "solved");
}

#[tokio::test]
async fn an_index_in_two_parts_is_one_like_any_other() {
    let (scratch, repository) = scratch().await;
    scratch.git(["update-index", "--split-index"]).await.unwrap();
    scratch.write("b.txt", "b").unwrap();
    scratch.git(["add", "b.txt"]).await.unwrap();
    let staged = scratch.git(["ls-files", "--stage"]).await.unwrap();
    let mut memory = memory_of(&repository).await;
    scratch.git(["rm", "-qf", "--cached", "a.txt", "b.txt"]).await.unwrap();
    let undone = memory.restore("rescue", &Witness::Nobody).await.unwrap();
    assert_eq!((undone.refs, undone.left), (vec!["index".to_owned()], Vec::new()));
    assert_eq!(scratch.git(["ls-files", "--stage"]).await.unwrap(), staged);
}

#[tokio::test]
async fn a_repository_without_a_commit_has_nothing_less_to_lose() {
    let folder = tempfile::tempdir().unwrap();
    crate::git::print(folder.path(), ["init", "-q", "-b", "main"]).await.unwrap();
    std::fs::write(folder.path().join("loose"), "x").unwrap();
    let repository = Repository::discover(folder.path()).await.unwrap();
    let mut memory = memory_of(&repository).await;
    std::fs::remove_file(folder.path().join("loose")).unwrap();
    let git = repository.git().clone().env("GIT_AUTHOR_NAME", "x").env("GIT_AUTHOR_EMAIL", "x");
    let git = git.env("GIT_COMMITTER_NAME", "x").env("GIT_COMMITTER_EMAIL", "x");
    git.does("commit", ["commit", "-q", "--allow-empty", "-m", "First"]).await.unwrap();
    let undone = memory.restore("rescue", &Witness::Nobody).await.unwrap();
    assert_eq!((undone.refs, undone.left), (vec!["refs/heads/main".to_owned()], Vec::new()));
    assert_eq!(std::fs::read_to_string(folder.path().join("loose")).unwrap(), "x");
    assert_eq!(repository.head().await.unwrap().commit, None);
}

#[tokio::test]
async fn an_index_that_somebody_is_at_is_left_and_said() {
    let (scratch, repository) = scratch().await;
    let mut memory = memory_of(&repository).await;
    scratch.write("a.txt", "changed").unwrap();
    scratch.git(["add", "a.txt"]).await.unwrap();
    std::fs::write(repository.git_dir().join("index.lock"), "").unwrap();
    let undone = memory.restore("rescue", &Witness::Nobody).await.unwrap();
    assert!(undone.left.len() == 1 && undone.left[0].contains("index.lock"), "{undone:?}");
    assert_eq!(read(&scratch, "a.txt"), "a\n", "the files are as they were all the same");
}

#[tokio::test]
async fn what_the_witness_has_seen_before_is_nobodys_doing_here() {
    let (scratch, repository) = scratch().await;
    let mut memory = memory_of(&repository).await;
    scratch.git(["branch", "theirs"]).await.unwrap();
    let earlier = repository.refs().await.unwrap();
    scratch.git(["branch", "ours"]).await.unwrap();
    let undone = memory.restore("rescue", &Witness::Outside(earlier)).await.unwrap();
    assert_eq!((undone.refs, undone.rescue), (vec!["refs/heads/ours".to_owned()], None));
    let refs = scratch.git(["for-each-ref", "--format=%(refname)"]).await.unwrap();
    assert_eq!(refs, "refs/heads/main\nrefs/heads/theirs");
}

#[tokio::test]
async fn a_branch_that_leads_to_commits_of_others_is_theirs() {
    let (scratch, repository) = scratch().await;
    let mut memory = memory_of(&repository).await;
    let tree = scratch.git(["rev-parse", "HEAD^{tree}"]).await.unwrap();
    let commit = scratch.git(["commit-tree", "-m", "Theirs", &tree]).await.unwrap();
    scratch.git(["branch", "theirs", &commit]).await.unwrap();
    scratch.git(["update-ref", "refs/remotes/origin/main", "HEAD"]).await.unwrap();
    scratch.git(["branch", "sandcastle/another-run"]).await.unwrap();
    let undone = memory.restore("rescue", &Witness::Nobody).await.unwrap();
    assert_eq!(undone, Undone::default());
}

#[tokio::test]
async fn a_pipe_in_the_place_of_a_file_is_no_reason_to_wait() {
    let (scratch, repository) = scratch().await;
    let mut memory = memory_of(&repository).await;
    std::fs::remove_file(scratch.path().join("a.txt")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        scratch.path().join("a.txt"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let undone = memory.restore("rescue", &Witness::Nobody).await.unwrap();
    assert_eq!(undone.paths, [Path::new("a.txt")]);
    let found = scratch.path().join("a.txt").symlink_metadata().unwrap();
    assert!(found.is_file() && undone.left.is_empty(), "{undone:?}");
}

#[tokio::test]
async fn what_is_too_large_to_be_kept_is_left_and_said() {
    let (scratch, repository) = scratch().await;
    let grow = |name: &str, megabytes: u64| {
        let file =
            std::fs::File::options().create(true).append(true).open(scratch.path().join(name)).unwrap();
        file.set_len(megabytes << 20).unwrap();
    };
    for name in ["same", "grown", "gone"] {
        grow(name, 130);
    }
    let mut memory = memory_of(&repository).await;
    grow("grown", 140);
    grow("new", 130);
    std::fs::remove_file(scratch.path().join("gone")).unwrap();
    scratch.write("late", "x").unwrap();
    let undone = memory.restore("rescue", &Witness::Nobody).await.unwrap();
    assert_eq!(undone.paths, [Path::new("late")]);
    let named: Vec<&str> = undone.left.iter().map(|what| what.split('`').nth(1).unwrap()).collect();
    assert_eq!(named, ["gone", "grown", "new"]);
}

#[tokio::test]
async fn a_file_that_only_its_owner_may_read_stays_one() {
    use std::os::unix::fs::PermissionsExt as _;
    let (scratch, repository) = scratch().await;
    let secret = scratch.write("secret", "s3cret").unwrap();
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    let mut memory = memory_of(&repository).await;
    std::fs::remove_file(&secret).unwrap();
    memory.restore("rescue", &Witness::Nobody).await.unwrap();
    assert_eq!(read(&scratch, "secret"), "s3cret");
    assert_eq!(secret.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_file_that_git_was_told_not_to_look_at_is_looked_at() {
    let (scratch, repository) = scratch().await;
    scratch.git(["update-index", "--assume-unchanged", "a.txt"]).await.unwrap();
    scratch.write("a.txt", "hidden work\n").unwrap();
    let mut memory = memory_of(&repository).await;
    scratch.write("a.txt", "more\n").unwrap();
    let undone = memory.restore("rescue", &Witness::Nobody).await.unwrap();
    assert_eq!(undone.paths, [Path::new("a.txt")]);
    assert_eq!(read(&scratch, "a.txt"), "hidden work\n");
}

#[tokio::test]
async fn what_git_does_not_keep_is_left_and_said() {
    let (scratch, repository) = scratch().await;
    scratch.write(".gitignore", "*.o\n/target\n.env\n.sandcastle\n").unwrap();
    for file in ["one.o", "same.o", "gone.o", "target/deep/two", ".env", ".sandcastle/log"] {
        scratch.write(file, "x").unwrap();
    }
    for folder in ["nested", "idle", "part"] {
        scratch.git(["init", "-q", folder]).await.unwrap();
        scratch.write(format!("{folder}/file"), "x").unwrap();
        scratch.git(["-C", folder, "add", "."]).await.unwrap();
        scratch.git(["-C", folder, "commit", "-qm", "Its own"]).await.unwrap();
    }
    scratch.git(["add", "part"]).await.unwrap();
    let mut memory = memory_of(&repository).await;
    for file in ["target/deep/three", "new.o", ".env", ".sandcastle/log"] {
        scratch.write(file, "longer").unwrap();
    }
    // One of the same size, and with the time that it had.
    let one = scratch.path().join("one.o");
    let time = one.metadata().unwrap().modified().unwrap();
    std::fs::write(&one, "y").unwrap();
    std::fs::File::options().append(true).open(&one).unwrap().set_modified(time).unwrap();
    std::fs::remove_file(scratch.path().join("gone.o")).unwrap();
    scratch.git(["-C", "part", "commit", "-q", "--allow-empty", "-m", "Another"]).await.unwrap();
    scratch.write("nested/file", "longer").unwrap();
    scratch.git(["-C", "idle", "status"]).await.unwrap();
    let undone = memory.restore("rescue", &Witness::Nobody).await.unwrap();
    assert_eq!((undone.paths.len(), undone.refs.len(), undone.rescue), (0, 0, None));
    let named: Vec<&str> = undone.left.iter().map(|what| what.split('`').nth(1).unwrap()).collect();
    assert_eq!(named, [".env", "gone.o", "nested", "new.o", "one.o", "part", "target"]);
    let undone = memory.restore("rescue", &Witness::Nobody).await.unwrap();
    assert_eq!(undone, Undone::default());
}
