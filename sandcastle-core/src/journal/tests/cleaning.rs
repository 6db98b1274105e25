//! What `clean` removes, and above all what it keeps.

use super::super::report::{Cleaned, Outcome};
use super::super::{Removal, scratch};
use super::*;
use crate::id::BranchName;
use crate::worktree::Lock;

fn named<'a>(cleaned: &'a Cleaned, id: &RunId) -> (Vec<&'a str>, Vec<&'a str>) {
    let of = |items: &'a [super::super::CleanedItem]| {
        let items = items.iter().filter(|item| item.run.as_ref() == Some(id));
        items.map(|item| item.what.split(' ').nth(1).unwrap()).collect()
    };
    (of(&cleaned.removed), of(&cleaned.kept))
}

#[tokio::test]
async fn case_133_only_what_is_clean_and_merged_and_dead_is_removed() {
    let scene = Scene::new().await;
    let merged = scene.begin_with_worktree().await;
    scene.commit(&merged.worktree, "merged.txt").await;
    scene.git(["merge", "-q", "--no-edit", &merged.branch]).await;
    let dirty = scene.begin_with_worktree().await;
    fs::write(dirty.worktree.join("new.txt"), "new").unwrap();
    let unmerged = scene.begin_with_worktree().await;
    scene.commit(&unmerged.worktree, "unmerged.txt").await;
    let live = scene.begin_with_worktree().await;
    for run in [&merged, &dirty, &unmerged] {
        assert!(run.worktree.exists());
    }
    let (merged_id, dirty_id, unmerged_id) = (merged.id.clone(), dirty.id.clone(), unmerged.id.clone());
    scene.kill(&merged.id, merged.journal);
    scene.kill(&dirty.id, dirty.journal);
    scene.kill(&unmerged.id, unmerged.journal);

    let runs = scene.runs().await;
    let foreseen = runs.clean(Removal::DryRun).await.unwrap();
    assert!(merged.worktree.exists() && scene.journal_of(&merged_id).exists());
    let cleaned = runs.clean(Removal::Real).await.unwrap();
    assert_eq!(foreseen.removed, cleaned.removed);
    assert_eq!(foreseen.kept, cleaned.kept);

    assert_eq!(named(&cleaned, &merged_id), (vec!["worktree", "branch", "journal"], vec![]));
    assert!(!merged.worktree.exists() && !scene.folder_of(&merged_id).exists());
    for (id, worktree) in [(&dirty_id, &dirty.worktree), (&unmerged_id, &unmerged.worktree)] {
        assert_eq!(named(&cleaned, id), (vec![], vec!["worktree", "branch"]));
        assert!(worktree.exists() && scene.journal_of(id).exists());
    }
    assert_eq!(named(&cleaned, &live.id), (vec![], vec!["run"]));
    assert!(live.worktree.exists());
    let left = [&dirty.branch, &live.branch, &unmerged.branch];
    assert!(left.iter().all(|branch| cleaned_branches(&scene, branch)), "{left:?}");
}

fn cleaned_branches(scene: &Scene, branch: &str) -> bool {
    scene.repository.path().join(".git/refs/heads").join(branch).exists()
}

#[tokio::test]
async fn a_branch_that_a_person_named_is_never_removed() {
    let scene = Scene::new().await;
    let (id, journal) = scene.begin();
    let worktree = scene.config.make(Kept::Worktrees).unwrap().join("fix");
    let note = Note::Worktree {
        path: worktree.as_path().into(),
        branch: "fix".into(),
        base: None,
        origin: Origin::Fresh,
    };
    let _ = journal.note(&note);
    scene.git(["worktree", "add", "-q", "-b", "fix", worktree.to_str().unwrap()]).await;
    scene.commit(&worktree, "fix.txt").await;
    scene.kill(&id, journal);
    let cleaned = scene.runs().await.clean(Removal::Real).await.unwrap();
    assert_eq!(named(&cleaned, &id), (vec!["worktree", "journal"], vec![]));
    assert!(!worktree.exists());
    assert_eq!(scene.branches().await, ["fix", "main"]);
}

#[tokio::test]
async fn what_hides_changes_is_not_clean() {
    let scene = Scene::new().await;
    let hidden = scene.begin_with_worktree().await;
    fs::write(hidden.worktree.join("README.md"), "precious").unwrap();
    scene.git_in(&hidden.worktree, &["update-index", "--assume-unchanged", "README.md"]).await;
    scene.kill(&hidden.id, hidden.journal);
    let locked = scene.begin_with_worktree().await;
    scene.git(["worktree", "lock", "--reason", "mine", locked.worktree.to_str().unwrap()]).await;
    scene.kill(&locked.id, locked.journal);
    let cleaned = scene.runs().await.clean(Removal::Real).await.unwrap();
    assert_eq!(cleaned.removed, []);
    let why: Vec<&str> = cleaned.kept.iter().map(|item| item.why.as_str()).collect();
    let hides = "git was told not to look at some files: `README.md`";
    assert!(why.iter().any(|why| why.ends_with(hides)), "{why:?}");
    assert!(why.contains(&"git has it locked: mine"), "{why:?}");
}

#[tokio::test]
async fn an_answer_is_kept_until_somebody_has_seen_it() {
    let scene = Scene::new().await;
    let (id, journal) = scene.begin();
    let _ = journal.note(&Note::Answered { block: "1".into() });
    scene.kill(&id, journal);
    let runs = scene.runs().await;
    assert_eq!(named(&runs.clean(Removal::Real).await.unwrap(), &id), (vec![], vec!["journal"]));
    runs.recover(&id).await.unwrap();
    assert_eq!(named(&runs.clean(Removal::Real).await.unwrap(), &id), (vec!["journal"], vec![]));
    assert!(runs.list().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_worktree_with_living_processes_is_kept() {
    let scene = Scene::new().await;
    let run = scene.begin_with_worktree().await;
    leave_running(run.journal.mark()).await;
    let mark = run.journal.mark().clone();
    scene.kill(&run.id, run.journal);
    let runs = scene.runs().await;
    let cleaned = runs.clean(Removal::Real).await.unwrap();
    assert_eq!(cleaned.removed, []);
    assert!(run.worktree.exists());
    runs.recover(&run.id).await.unwrap();
    assert_eq!(Leftovers::of([mark]).list(), []);
    runs.clean(Removal::Real).await.unwrap();
    assert!(!run.worktree.exists());
}

#[tokio::test]
async fn what_is_named_goes_and_what_is_lost_is_said() {
    let scene = Scene::new().await;
    let run = scene.begin_with_worktree().await;
    scene.commit(&run.worktree, "one.txt").await;
    fs::write(run.worktree.join("new.txt"), "new").unwrap();
    scene.kill(&run.id, run.journal);
    let runs = scene.runs().await;
    let kept = runs.clean_one(&run.id, Removal::Real).await.unwrap();
    assert_eq!(named(&kept, &run.id), (vec![], vec!["worktree", "branch"]));
    let removed = runs.remove(&run.id, Removal::Real).await.unwrap();
    assert_eq!(named(&removed, &run.id), (vec!["worktree", "branch", "journal"], vec![]));
    assert!(removed.removed[0].why.contains("new.txt"), "{removed:?}");
    assert!(!run.worktree.exists());
    assert_eq!(scene.branches().await, ["main"]);
}

#[tokio::test]
async fn a_run_that_goes_on_cannot_be_named() {
    let scene = Scene::new().await;
    let run = scene.begin_with_worktree().await;
    assert!(scene.runs().await.remove(&run.id, Removal::Real).await.is_err());
    assert!(run.worktree.exists());
    assert_eq!(run.journal.end(Outcome::Failed, None), None);
    let cleaned = scene.runs().await.clean(Removal::Real).await.unwrap();
    assert_eq!(named(&cleaned, &run.id), (vec!["worktree", "branch", "journal"], vec![]));
}

#[tokio::test]
async fn w_57_a_worktree_that_was_noted_and_never_made_is_nothing() {
    let scene = Scene::new().await;
    let (id, journal) = scene.begin();
    let path = scene.config.place_of(Kept::Worktrees).join("never").into();
    let branch = format!("sandcastle/{id}");
    let _ = journal.note(&Note::Worktree { path, branch, base: None, origin: Origin::Fresh });
    let _ = journal.note(&Note::WorktreeClosed { path: "/x".into(), fate: Fate::Removed });
    scene.kill(&id, journal);
    let cleaned = scene.runs().await.clean(Removal::Real).await.unwrap();
    assert_eq!(named(&cleaned, &id), (vec!["journal"], vec![]));
}

#[tokio::test]
async fn worktrees_that_no_journal_names_are_taken_in() {
    let scene = Scene::new().await;
    let folder = scene.config.make(Kept::Worktrees).unwrap();
    for branch in ["clean", "dirty", "held"] {
        scene.git(["worktree", "add", "-q", "-b", branch, folder.join(branch).to_str().unwrap()]).await;
    }
    fs::write(folder.join("dirty/new.txt"), "new").unwrap();
    let repository = crate::git::Repository::discover(scene.repository.path()).await.unwrap();
    let held = BranchName::from_git("held");
    let lock = Lock::of_branch(&repository, &held, "a handle").await.unwrap();
    let runs = scene.runs().await;
    let foreseen = runs.clean(Removal::DryRun).await.unwrap();
    assert!(folder.join("clean").exists());
    let cleaned = runs.clean(Removal::Real).await.unwrap();
    assert_eq!((&foreseen.removed, &foreseen.kept), (&cleaned.removed, &cleaned.kept));
    assert!(cleaned.removed[0].what.ends_with("clean`") && !folder.join("clean").exists(), "{cleaned:?}");
    let why: Vec<&str> = cleaned.kept.iter().map(|item| item.why.as_str()).collect();
    assert!(why.iter().any(|why| why.contains("new.txt")), "{why:?}");
    assert!(why.iter().any(|why| why.contains("a handle")), "{why:?}");
    drop(lock);
    // Whose journal cannot be read may have more to say than git.
    let unread = RunId::generate();
    fs::create_dir_all(scene.folder_of(&unread)).unwrap();
    fs::write(scene.journal_of(&unread), "{}\n").unwrap();
    runs.clean(Removal::Real).await.unwrap();
    assert!(folder.join("held").exists());
    fs::remove_file(scene.journal_of(&unread)).unwrap();
    fs::remove_dir(scene.folder_of(&unread)).unwrap();
    runs.clean(Removal::Real).await.unwrap();
    assert!(!folder.join("held").exists() && folder.join("dirty").exists());
    assert_eq!(scene.branches().await, ["clean", "dirty", "held", "main"]);
}

#[tokio::test]
async fn w_27_a_worktree_whose_branch_is_in_use_is_kept() {
    let scene = Scene::new().await;
    let run = scene.begin_with_worktree().await;
    scene.kill(&run.id, run.journal);
    let repository = crate::git::Repository::discover(scene.repository.path()).await.unwrap();
    let branch = BranchName::from_git(run.branch.as_str());
    let lock = Lock::of_branch(&repository, &branch, "another").await.unwrap();
    let runs = scene.runs().await;
    let cleaned = runs.clean(Removal::Real).await.unwrap();
    assert_eq!(named(&cleaned, &run.id), (vec![], vec!["worktree", "branch"]));
    assert!(cleaned.kept.iter().all(|item| item.why.contains("another")), "{cleaned:?}");
    drop(lock);
    runs.clean(Removal::Real).await.unwrap();
    assert!(!run.worktree.exists());
}

#[tokio::test]
async fn the_scratch_folder_of_a_killed_run_goes_and_nothing_else_that_is_said_to_be_one() {
    let scene = Scene::new().await;
    let temporary = tempfile::tempdir().unwrap();
    let other = temporary.path().join("precious");
    let with_file = |folder: PathBuf| {
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(scratch::FILE), "{}").unwrap();
        folder
    };
    let killed = |folder: &dyn Fn(&RunId) -> PathBuf| {
        let (id, journal) = scene.begin();
        let folder = folder(&id);
        assert_eq!(journal.note(&Note::Scratch { path: folder.as_path().into() }), None);
        scene.kill(&id, journal);
        (id, folder)
    };
    let own = |id: &RunId| with_file(temporary.path().join(scratch::name(id)));
    let (ours, folder) = killed(&own);
    let (full, with_more) = killed(&|id| {
        let folder = own(id);
        fs::write(folder.join("more"), "1").unwrap();
        folder
    });
    let (liar, precious) = killed(&|_| with_file(other.clone()));
    let (linked, link) = killed(&|id| {
        let link = temporary.path().join(scratch::name(id));
        std::os::unix::fs::symlink(&other, &link).unwrap();
        link
    });

    let runs = scene.runs().await;
    assert_eq!(runs.show(&ours).await.unwrap().scratch.as_ref(), Some(&folder));
    let foreseen = runs.clean(Removal::DryRun).await.unwrap();
    assert!(named(&foreseen, &ours).0.contains(&"scratch") && folder.exists());
    let cleaned = runs.clean(Removal::Real).await.unwrap();
    assert_eq!((named(&cleaned, &ours), folder.exists()), ((vec!["scratch", "journal"], vec![]), false));
    assert_eq!(named(&cleaned, &full), (vec![], vec!["scratch"]));
    assert!(with_more.join("more").exists());
    for (id, path) in [(&liar, &precious), (&linked, &link)] {
        assert_eq!(named(&cleaned, id), (vec!["journal"], vec![]));
        assert!(path.join(scratch::FILE).exists());
    }
}
