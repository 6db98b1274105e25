//! Repositories of every shape, and git in another language.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::process::{Program, capture};

/// Works once through everything that a run does in the repository that `cwd` is in.
async fn works(cwd: &Path) -> PathBuf {
    let repository = Repository::discover(cwd).await.unwrap();
    let mut top = PathBuf::new();
    for strategy in [BranchStrategy::merge_to_head(), BranchStrategy::branch("agent/x")] {
        let plan = Plan::new(&repository, &strategy, &RunId::generate(), None).await.unwrap();
        let place = plan.open(1, LIMIT).await.unwrap();
        assert_eq!(fs::read_to_string(place.top().join("README.md")).unwrap(), "# A scratch repository\n");
        assert_eq!(place.repository().status().await.unwrap().changes, []);
        commit(place.top(), "work").await;
        assert_eq!(place.gather(place.origin(), LIMIT).await.unwrap().commits.len(), 1);
        fs::write(place.top().join("wip"), "").unwrap();
        top = place.top().to_path_buf();
        assert_eq!(place.close(Fate::Finished { landed: false }).await.preserved, Some(top.clone()));
        if plan.merges() {
            continue;
        }
        fs::remove_file(top.join("wip")).unwrap();
        let again = plan.open(2, LIMIT).await.unwrap();
        assert_eq!((again.top(), again.is_fresh()), (top.as_path(), false));
        assert_eq!(finished(again).await.preserved, None);
        assert!(!top.exists());
    }
    top
}

async fn moved_to(scene: &Scene, target: &Path) {
    let clone =
        Program::new("cp").args([OsStr::new("-a"), scene.repo.path().as_os_str(), target.as_os_str()]);
    assert!(capture(&clone, 1000, LIMIT).await.unwrap().status.success());
}

#[tokio::test]
async fn w_36_a_symlinked_repository_and_a_symlinked_folder() {
    let scene = Scene::new().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(scene.repo.path(), &link).unwrap();
    works(&link).await;
    let scene = Scene::new().await;
    let real = elsewhere.path().join("real");
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, scene.repo.path().join(".sandcastle")).unwrap();
    let top = works(scene.repo.path()).await;
    assert!(top.starts_with(real.canonicalize().unwrap()));
}

#[tokio::test]
async fn w_51_a_folder_below_the_root() {
    let scene = Scene::new().await;
    fs::create_dir_all(scene.repo.path().join("deep/er")).unwrap();
    let top = works(&scene.repo.path().join("deep/er")).await;
    assert!(top.starts_with(scene.worktrees().canonicalize().unwrap()));
}

#[tokio::test]
async fn w_51_a_bare_repository() {
    let scene = Scene::new().await;
    let folder = tempfile::tempdir().unwrap();
    let bare = folder.path().join("bare.git");
    let source = scene.repo.path().to_str().unwrap();
    git_in(folder.path(), ["clone", "--quiet", "--bare", source, bare.to_str().unwrap()]).await;
    git_in(&bare, ["config", "user.name", "a"]).await;
    git_in(&bare, ["config", "user.email", "a@b"]).await;
    works(&bare).await;
    let repository = Repository::discover(&bare).await.unwrap();
    let head = Plan::new(&repository, &BranchStrategy::head(), &RunId::generate(), None).await;
    assert_eq!(head.unwrap_err().kind(), crate::error::ErrorKind::Git);
}

#[tokio::test]
async fn w_51_a_separate_git_directory() {
    let scene = Scene::new().await;
    let folder = tempfile::tempdir().unwrap();
    let git_dir = folder.path().join("elsewhere");
    scene.git(["init", "--quiet", &format!("--separate-git-dir={}", git_dir.display())]).await;
    assert!(scene.repo.path().join(".git").is_file());
    let top = works(scene.repo.path()).await;
    assert!(top.starts_with(scene.repo.path().canonicalize().unwrap()));
}

#[tokio::test]
async fn w_51_a_linked_worktree_as_the_starting_point() {
    let scene = Scene::new().await;
    let folder = tempfile::tempdir().unwrap();
    let linked = folder.path().join("linked");
    scene.git(["worktree", "add", "--quiet", "-b", "linked", linked.to_str().unwrap()]).await;
    let top = works(&linked).await;
    assert!(top.starts_with(scene.worktrees().canonicalize().unwrap()), "one folder for all work trees");
    let tip = commit(&linked, "ahead").await;
    let repository = Repository::discover(&linked).await.unwrap();
    let strategy = BranchStrategy::branch("from/linked");
    let plan = Plan::new(&repository, &strategy, &RunId::generate(), None).await.unwrap();
    assert_eq!(plan.open(1, LIMIT).await.unwrap().base().unwrap(), tip.as_str());
}

#[tokio::test]
async fn paths_with_spaces_line_feeds_and_bytes_that_are_no_text() {
    for name in [&b"with space"[..], b"line\nfeed", b"quote'\"$(x)", b"not\xffutf8"] {
        let scene = Scene::new().await;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(OsStr::from_bytes(name));
        moved_to(&scene, &path).await;
        works(&path).await;
    }
}

#[tokio::test]
async fn a_repository_that_was_moved_finds_its_worktrees_again() {
    let scene = Scene::new().await;
    let place = scene.open("agent/x").await.unwrap();
    fs::write(place.top().join("wip"), "").unwrap();
    let name = place.top().file_name().unwrap().to_owned();
    drop(place);
    let folder = tempfile::tempdir().unwrap();
    let moved = folder.path().join("moved");
    fs::rename(scene.repo.path(), &moved).unwrap();
    let repository = Repository::discover(&moved).await.unwrap();
    let strategy = BranchStrategy::branch("agent/x");
    let plan = Plan::new(&repository, &strategy, &RunId::generate(), None).await.unwrap();
    let place = plan.open(1, LIMIT).await.unwrap();
    assert!(!place.is_fresh() && place.top().join("wip").exists());
    assert_eq!(place.top().file_name().unwrap(), name);
    fs::create_dir(scene.repo.path()).unwrap();
}

#[tokio::test]
async fn planted_hooks_do_not_run() {
    let scene = Scene::new().await;
    let pwned = scene.repo.path().join("pwned");
    let hook = format!("#!/bin/sh\ntouch '{}'\n", pwned.display());
    for name in ["post-checkout", "post-merge", "reference-transaction", "post-index-change", "post-commit"] {
        let path = scene.repo.path().join(".git/hooks").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &hook).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    works(scene.repo.path()).await;
    assert!(!pwned.exists());
}

#[tokio::test]
async fn case_137_a_submodule_that_is_here_is_populated_and_any_other_is_named() {
    let scene = Scene::new().await;
    let library = Scene::new().await;
    let url = library.repo.path().to_str().unwrap();
    for path in ["lib", "gone"] {
        scene.git(["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, path]).await;
    }
    scene.git(["commit", "--quiet", "-m", "submodules"]).await;
    let pwned = scene.repo.path().join("pwned");
    scene.git(["config", "submodule.lib.update", &format!("!touch {}", pwned.display())]).await;
    fs::remove_dir_all(scene.repo.path().join(".git/modules/gone")).unwrap();
    let config = fs::read(scene.repo.path().join(".git/config")).unwrap();

    let mut place = scene.open("b").await.unwrap();
    assert!(place.top().join("lib/README.md").exists());
    assert_eq!(git_in(place.top(), ["status", "--porcelain"]).await, "");
    assert_eq!(git_in(&place.top().join("lib"), ["remote", "get-url", "origin"]).await, url);
    let notes = place.notes();
    assert!(notes.len() == 1 && notes[0].contains("`gone`"), "{notes:?}");
    assert_eq!(fs::read(scene.repo.path().join(".git/config")).unwrap(), config);
    let top = place.top().to_path_buf();
    assert_eq!(finished(place).await, crate::worktree::Closed::default());
    assert!(!top.exists());

    let changes: [fn(&Path); 2] = [
        |lib| fs::write(lib.join("README.md"), "changed").unwrap(),
        |lib| fs::write(lib.join("new"), "changed").unwrap(),
    ];
    for change in changes {
        let place = scene.open("b").await.unwrap();
        change(&place.top().join("lib"));
        let top = finished(place).await.preserved.unwrap();
        git_in(&top, ["worktree", "remove", "--force", top.to_str().unwrap()]).await;
    }

    let place = scene.open("b").await.unwrap();
    let lib = place.top().join("lib");
    git_in(&lib, ["config", "core.fsmonitor", &format!("touch {}", pwned.display())]).await;
    git_in(&lib, ["config", "filter.x.clean", &format!("touch {}", pwned.display())]).await;
    let closed = finished(place).await;
    assert!(closed.notes[0].contains("configuration of the submodule"), "{:?}", closed.notes);
    assert!(!pwned.exists());
}

#[tokio::test]
async fn case_137_commits_within_a_submodule_keep_the_worktree_that_alone_has_them() {
    let (scene, library) = (Scene::new().await, Scene::new().await);
    let url = library.repo.path().to_str().unwrap();
    scene.git(["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "lib"]).await;
    scene.git(["commit", "--quiet", "-m", "submodule"]).await;
    for branch in ["loose", "recorded"] {
        let place = scene.open(branch).await.unwrap();
        let made = commit(&place.top().join("lib"), "made").await;
        if branch == "recorded" {
            git_in(place.top(), ["commit", "--quiet", "--all", "--message", "Bump"]).await;
        }
        let top = finished(place).await.preserved.expect(branch);
        assert_eq!(git_in(&top.join("lib"), ["rev-parse", "HEAD"]).await, made);
    }
    // Once the main work tree has it, nothing is lost with the other one.
    let place = scene.open("recorded").await.unwrap();
    let lib = place.top().join("lib");
    git_in(
        &scene.repo.path().join("lib"),
        ["fetch", "--quiet", lib.to_str().unwrap(), "HEAD:refs/heads/made"],
    )
    .await;
    assert_eq!(finished(place).await.preserved, None);
}

#[tokio::test]
async fn case_126_a_git_that_speaks_german() {
    let folder = tempfile::tempdir().unwrap();
    let stub = folder.path().join("git");
    let german = "#!/bin/sh\n[ \"$LC_ALL\" = C ] || { echo 'Schwerwiegend: kein Git-Repository' >&2; exit 128; }\n\
                  PATH=${PATH#*:} exec git \"$@\"\n";
    fs::write(&stub, german).unwrap();
    fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
    let script = "PATH=\"$1:$PATH\" LC_ALL=de_DE.UTF-8 exec \"$2\" --ignored --exact \"$3\"";
    let name = "worktree::tests::shapes::everything_works_under_the_git_of_case_126";
    let this = std::env::current_exe().unwrap();
    let child = Program::new("sh")
        .args([OsStr::new("-c"), script.as_ref(), "sh".as_ref(), folder.path().as_os_str(), this.as_os_str()])
        .args([name]);
    let captured = capture(&child, 100_000, LIMIT).await.unwrap();
    let said = String::from_utf8_lossy(&captured.stdout);
    assert!(captured.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
#[ignore = "run by `case_126_a_git_that_speaks_german`, with that git"]
async fn everything_works_under_the_git_of_case_126() {
    let scene = Scene::new().await;
    works(scene.repo.path()).await;
    let error = scene.open("main").await.unwrap_err();
    assert!(error.to_string().contains("checked out"));
}
