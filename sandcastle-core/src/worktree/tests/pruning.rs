//! What cleaning up removes, and what it only lists.

use std::collections::HashSet;

use super::*;
use crate::worktree::{Cleaning, Leftover, prune};

fn reason<'a>(leftovers: &'a [Leftover], name: &str) -> Option<&'a str> {
    leftovers.iter().find(|left| left.path.ends_with(name)).unwrap().reason.as_deref()
}

#[tokio::test]
async fn case_133_only_what_is_clean_merged_and_free_is_removed() {
    let scene = Scene::new().await;
    for branch in ["a", "b", "c", "u"] {
        drop(scene.open(branch).await.unwrap());
    }
    let held = scene.open("d").await.unwrap();
    let folder = scene.worktrees();
    fs::write(folder.join("b/dirty"), "").unwrap();
    commit(&folder.join("c"), "unmerged").await;
    fs::write(folder.join("u/.git"), "gitdir: /nowhere").unwrap();
    fs::create_dir(folder.join("empty")).unwrap();
    fs::create_dir_all(folder.join("unknown/file")).unwrap();

    let seen = prune(&scene.repository, Cleaning::LookOnly, &HashSet::new()).await.unwrap();
    assert_eq!(reason(&seen, "a"), None);
    assert!(folder.join("a").exists() && folder.join("empty").exists(), "it only looked");

    let done = prune(&scene.repository, Cleaning::Remove, &HashSet::new()).await.unwrap();
    assert_eq!((reason(&done, "a"), reason(&done, "empty")), (None, None));
    assert!(reason(&done, "b").unwrap().contains("dirty"));
    assert!(reason(&done, "c").unwrap().contains("no other branch"));
    assert!(reason(&done, "d").unwrap().contains(&std::process::id().to_string()));
    assert!(reason(&done, "unknown").unwrap().contains("git does not know it"));
    assert!(reason(&done, "u").is_some(), "git refuses to remove it");
    assert_eq!(entries(&folder), [".gitignore", "b", "c", "d", "u", "unknown"]);
    assert_eq!(scene.branches().await, ["a", "b", "c", "d", "main", "u"]);
    assert_eq!(finished(held).await.preserved, None);
}

#[tokio::test]
async fn a_temporary_branch_that_was_merged_goes_with_its_worktree() {
    let scene = Scene::new().await;
    let plan = scene.plan(BranchStrategy::merge_to_head()).await.unwrap();
    drop(plan.open(1, LIMIT).await.unwrap());
    let done = prune(&scene.repository, Cleaning::Remove, &HashSet::new()).await.unwrap();
    assert_eq!((done.len(), done[0].reason.as_deref()), (1, None));
    assert_eq!(scene.branches().await, ["main"]);
}

#[tokio::test]
async fn w_27_cleaning_up_never_takes_what_is_being_made() {
    let scene = Scene::new().await;
    let cleaning = async {
        for _ in 0..10 {
            prune(&scene.repository, Cleaning::Remove, &HashSet::new()).await.unwrap();
        }
    };
    let making = async {
        for number in 0..10 {
            let place = scene.open(&format!("b{number}")).await.unwrap();
            assert!(place.top().join("README.md").exists());
            assert_eq!(finished(place).await.preserved, None);
        }
    };
    tokio::join!(cleaning, making);
}
