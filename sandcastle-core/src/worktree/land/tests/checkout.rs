//! The state of the host in which commits land, and in which they are refused with nothing changed.

use std::time::Duration;

use super::place::Place;
use crate::error::{Error, ErrorKind};
use crate::worktree::Landed;

/// Lands, and checks that it is refused for a reason that is named, with the host as it was and a way to finish.
async fn refused(place: &Place, reason: &str) -> Error {
    let before = (place.tip("agent").await, place.status().await, place.git(&["rev-parse", "HEAD"]).await);
    let main = place.repository.tip(&crate::id::BranchName::from_git("main")).await.unwrap();
    let error = place.land().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Merge, "{error:?}");
    assert!(error.to_string().contains(reason), "{error} does not say `{reason}`");
    let hints = error.hints().concat();
    assert!(hints.contains("git switch main && git merge agent"), "{hints}");
    let after = (place.tip("agent").await, place.status().await, place.git(&["rev-parse", "HEAD"]).await);
    assert_eq!(before, after);
    assert_eq!(main, place.repository.tip(&crate::id::BranchName::from_git("main")).await.unwrap());
    error
}

#[tokio::test]
async fn case_144_an_unrelated_edit_stays() {
    let place = Place::new().await;
    place.host_commits("other.txt", "1\n").await;
    place.agent_commits("a.txt", "a\n").await;
    place.scratch.write("other.txt", "edited\n").unwrap();
    place.scratch.write("untracked.txt", "mine\n").unwrap();
    place.scratch.write("staged.txt", "staged\n").unwrap();
    place.git(&["add", "staged.txt"]).await;
    place.land().await.unwrap();
    assert_eq!(place.read("other.txt").as_deref(), Some("edited\n"));
    assert_eq!(place.read("a.txt").as_deref(), Some("a\n"));
    assert_eq!(place.status().await, " M other.txt\nA  staged.txt\n?? untracked.txt");
    assert_eq!(place.git(&["stash", "list"]).await, "");
}

#[tokio::test]
async fn w_11_edits_in_the_way_are_named_and_untouched() {
    let place = Place::new().await;
    place.agent_commits("README.md", "agent\n").await;
    place.agent_commits("new.txt", "agent\n").await;
    place.scratch.write("README.md", "mine\n").unwrap();
    let error = refused(&place, "local edits").await;
    assert!(error.to_string().contains("`README.md`"), "{error}");
    place.git(&["checkout", "--quiet", "README.md"]).await;
    place.scratch.write("new.txt", "mine\n").unwrap();
    let error = refused(&place, "local edits").await;
    assert!(error.to_string().contains("`new.txt`"), "{error}");
    // A file that git ignores is the user's all the more: nothing else has it.
    place
        .git(&[
            "config",
            "core.excludesFile",
            &place.scratch.write("ignored", "new.txt\n").unwrap().to_string_lossy(),
        ])
        .await;
    refused(&place, "local edits").await;
    assert_eq!(place.read("new.txt").as_deref(), Some("mine\n"));
}

#[tokio::test]
async fn w_11_a_conflict_leaves_the_checkout_alone() {
    let place = Place::new().await;
    place.agent_commits("README.md", "agent\n").await;
    place.agent_commits("d/ä\nb.txt", "agent\n").await;
    place.host_commits("README.md", "host\n").await;
    place.host_commits("d/ä\nb.txt", "host\n").await;
    let error = refused(&place, "conflicts in `README.md`, `d/ä\\nb.txt`").await;
    assert!(!place.host().join(".git/MERGE_HEAD").exists(), "{error}");
    assert_eq!(place.read("README.md").as_deref(), Some("host\n"));
}

#[tokio::test]
async fn w_11_it_lands_on_the_branch_of_the_start_whatever_is_checked_out() {
    for checkout in [["switch", "--quiet", "-c", "elsewhere"], ["switch", "--quiet", "--detach", "HEAD"]] {
        let place = Place::new().await;
        place.agent_commits("a.txt", "a\n").await;
        place.git(&checkout).await;
        place.host_commits("b.txt", "b\n").await;
        let head = place.git(&["rev-parse", "HEAD"]).await;
        assert!(matches!(place.land().await.unwrap(), Landed::FastForward { .. }));
        assert_eq!(place.git(&["rev-parse", "HEAD"]).await, head);
        assert_eq!(place.tip("main").await, place.tip("agent").await);
        assert_eq!((place.read("a.txt"), place.status().await.as_str()), (None, ""));
    }
}

#[tokio::test]
async fn a_target_in_a_linked_work_tree_is_moved_there() {
    let place = Place::new().await;
    place.git(&["switch", "--quiet", "--detach"]).await;
    let linked = tempfile::tempdir().unwrap();
    let tree = linked.path().join("main tree");
    place.git(&["worktree", "add", "--quiet", tree.to_str().unwrap(), "main"]).await;
    place.agent_commits("a.txt", "a\n").await;
    place.land().await.unwrap();
    assert!(tree.join("a.txt").exists());
    assert!(!place.host().join("a.txt").exists());
    place.agent_commits("b.txt", "b\n").await;
    std::fs::remove_dir_all(&tree).unwrap();
    refused(&place, "not a work tree of the repository").await;
}

#[tokio::test]
async fn an_unfinished_operation_of_the_user_is_named() {
    let operations: [(&[&str], &str); 4] = [
        (&["merge", "--no-commit", "--no-ff", "side"], "a merge is unfinished"),
        (&["cherry-pick", "clash"], "a cherry-pick is unfinished"),
        (&["rebase", "clash"], "a rebase of it is unfinished"),
        (&["bisect", "start"], "a bisection that began on it is unfinished"),
    ];
    for (operation, reason) in operations {
        let place = Place::new().await;
        place.agent_commits("a.txt", "a\n").await;
        for (branch, file) in [("side", "side.txt"), ("clash", "README.md")] {
            place.git(&["switch", "--quiet", "-c", branch, "main"]).await;
            place.host_commits(file, branch).await;
        }
        place.git(&["switch", "--quiet", "main"]).await;
        place.host_commits("README.md", "main").await;
        // Some of them end in a conflict, which is what is wanted here.
        let _ = place.scratch.git(operation).await;
        refused(&place, reason).await;
    }
}

#[tokio::test]
async fn conflicts_left_in_the_index_are_named() {
    let place = Place::new().await;
    place.agent_commits("a.txt", "a\n").await;
    place.scratch.write("README.md", "stashed\n").unwrap();
    place.git(&["stash", "--quiet"]).await;
    place.host_commits("README.md", "main\n").await;
    assert!(place.scratch.git(["stash", "pop"]).await.is_err());
    refused(&place, "unresolved").await;
}

#[tokio::test]
async fn a_target_that_is_gone_or_unrelated_or_no_branch_is_named() {
    let place = Place::new().await;
    place.agent_commits("a.txt", "a\n").await;
    place.git(&["switch", "--quiet", "--detach"]).await;
    place.git(&["branch", "--quiet", "-D", "main"]).await;
    refused(&place, "there is no branch `main`").await;
    place.git(&["switch", "--quiet", "--orphan", "main"]).await;
    place.host_commits("orphan.txt", "o\n").await;
    refused(&place, "no commit in common").await;
    place.git(&["switch", "--quiet", "-c", "real"]).await;
    place.git(&["symbolic-ref", "refs/heads/main", "refs/heads/real"]).await;
    refused(&place, "another name").await;
}

#[tokio::test]
async fn a_target_that_is_checked_out_twice_is_named() {
    let place = Place::new().await;
    place.agent_commits("a.txt", "a\n").await;
    let tip = place.tip("agent").await;
    place.agent_git(&["checkout", "--quiet", "--ignore-other-worktrees", "main"]).await;
    let error = refused(&place, "checked out more than once").await;
    assert_eq!(place.tip("agent").await, tip, "{error}");
}

#[tokio::test]
async fn a_held_index_is_waited_for_within_the_limit() {
    let place = Place::new().await;
    place.agent_commits("a.txt", "a\n").await;
    let held = place.host().join(".git/index.lock");
    std::fs::write(&held, "").unwrap();
    let error = place.land_within(Duration::from_millis(400)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StepTimeout, "{error:?}");
    assert!(error.hints().concat().contains("git merge agent"), "{error:#}");
    assert!(format!("{error:#}").contains("index.lock"), "{error:#}");
    assert_eq!((place.read("a.txt"), place.status().await.as_str()), (None, ""));
    let release = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        std::fs::remove_file(&held).unwrap();
    };
    let (landed, ()) = tokio::join!(place.land(), release);
    assert!(matches!(landed.unwrap(), Landed::FastForward { .. }));
}

#[tokio::test]
async fn a_submodule_that_moved_on_both_sides_is_named_as_one() {
    let place = Place::new().await;
    let gitlink = |id: char| format!("160000,{},sub", String::from(id).repeat(40));
    place.agent_git(&["update-index", "--add", "--cacheinfo", &gitlink('a')]).await;
    place.agent_git(&["commit", "--quiet", "-m", "sub"]).await;
    place.git(&["update-index", "--add", "--cacheinfo", &gitlink('b')]).await;
    place.git(&["commit", "--quiet", "-m", "sub"]).await;
    std::fs::create_dir(place.host().join("sub")).unwrap();
    refused(&place, "`sub` (submodule)").await;
}

#[tokio::test]
async fn a_limit_ends_in_all_or_nothing() {
    let place = Place::new().await;
    place.agent_commits("a.txt", "a\n").await;
    place.host_commits("h.txt", "h\n").await;
    let before = place.tip("main").await;
    let mut late = 0;
    for limit in [0, 1, 3, 9, 27] {
        match place.land_within(Duration::from_millis(limit)).await {
            Ok(landed) => assert!(matches!(landed, Landed::Merged { .. } | Landed::Nothing)),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::StepTimeout, "{error:?}");
                assert_eq!((place.tip("main").await, place.read("a.txt")), (before.clone(), None));
                late += 1;
            }
        }
        assert_eq!(place.status().await, "");
    }
    assert!(late > 0);
}
