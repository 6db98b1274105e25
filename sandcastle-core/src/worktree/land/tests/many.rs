//! Many landings at once, and a user who commits meanwhile.

use std::time::Duration;

use super::place::{Place, commit, land};
use crate::git::Repository;
use crate::id::CommitId;
use crate::worktree::Landed;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn w_11_twenty_landings_at_once_all_land() {
    let place = Place::new().await;
    let mut tips = Vec::new();
    for number in 0..20 {
        let branch = format!("agent-{number}");
        place.agent_git(&["switch", "--quiet", "-c", &branch, "agent"]).await;
        place.agent_commits(&format!("{number}.txt"), "x\n").await;
        tips.push((branch.clone(), place.tip(&branch).await));
    }
    let mut landings = tokio::task::JoinSet::new();
    for (branch, tip) in tips {
        let repository = place.repository.clone();
        landings.spawn(async move {
            land(&repository, &branch, &tip, "main", Duration::from_secs(120)).await.unwrap()
        });
    }
    let landed = landings.join_all().await;
    assert_eq!(landed.iter().filter(|landed| matches!(landed, Landed::FastForward { .. })).count(), 1);
    assert!((0..20).all(|number| place.read(&format!("{number}.txt")).is_some()));
    assert_eq!(place.status().await, "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_landings_at_once_wait_for_their_turn_and_not_for_their_limit() {
    let place = Place::new().await;
    let mut landings = tokio::task::JoinSet::new();
    for number in 0..200 {
        let tip = place.git(&["commit-tree", "main^{tree}", "-p", "main", "-m", &number.to_string()]).await;
        let (repository, tip) = (place.repository.clone(), CommitId::from_git(tip));
        // Far less than all of them take together.
        let limit = Duration::from_secs(5);
        landings.spawn(async move {
            land(&repository, &format!("agent-{number}"), &tip, "main", limit).await.unwrap();
        });
    }
    landings.join_all().await;
    assert_eq!(place.git(&["rev-list", "--count", "--no-merges", "main"]).await, "201");
    assert_eq!(place.status().await, "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_who_commits_meanwhile_loses_nothing() {
    let place = Place::new().await;
    let host = place.host().to_path_buf();
    let committer = tokio::spawn(async move {
        let mut made = Vec::new();
        for number in 0..15 {
            let file = format!("user-{number}.txt");
            std::fs::write(host.join(&file), "u\n").unwrap();
            // The lock of the index may be held, as for any two gits of a user.
            let add = crate::git::print(&host, ["add", &file]).await;
            let done = crate::git::print(&host, ["commit", "--quiet", "-m", &file, "--", &file]).await;
            if add.is_ok() && done.is_ok() {
                made.push(file);
            }
        }
        made
    });
    for number in 0..10 {
        place.agent_commits(&format!("agent-{number}.txt"), "a\n").await;
        place.land().await.unwrap();
    }
    let made = committer.await.unwrap();
    assert!(!made.is_empty());
    let tree = place.git(&["ls-tree", "--name-only", "main"]).await;
    let files: Vec<&str> = tree.lines().collect();
    for file in made.iter().cloned().chain((0..10).map(|number| format!("agent-{number}.txt"))) {
        assert!(files.contains(&file.as_str()), "{file} is not in {tree}");
    }
    // What the user could not commit is still there, and nothing else differs.
    assert!(
        place.status().await.lines().all(|line| line[3..].starts_with("user-")),
        "{}",
        place.status().await
    );
}

#[tokio::test]
async fn a_target_that_moves_after_the_merge_was_prepared_is_merged_again() {
    let place = Place::new().await;
    place.git(&["switch", "--quiet", "--detach"]).await;
    place.agent_commits("a.txt", "a\n").await;
    place.host_commits("first.txt", "1\n").await;
    place.git(&["update-ref", "refs/heads/main", "HEAD"]).await;
    // Held while the landing prepares; when it is let go of, the branch is another one.
    let held = place.host().join(".git/refs/heads/main.lock");
    std::fs::write(&held, "").unwrap();
    let host = place.host().to_path_buf();
    let interfere = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        commit(&host, "second.txt", "2\n").await;
        // In one step, as git does it: nobody can take the lock while the branch is still the old one.
        let moved = crate::git::print(&host, ["rev-parse", "HEAD"]).await.unwrap();
        std::fs::write(&held, moved + "\n").unwrap();
        std::fs::rename(&held, host.join(".git/refs/heads/main")).unwrap();
    };
    let (landed, ()) = tokio::join!(place.land(), interfere);
    let Landed::Merged { commit } = landed.unwrap() else { panic!("no merge") };
    assert_eq!(place.tip("main").await, commit);
    let tree = place.git(&["ls-tree", "--name-only", "main"]).await;
    assert_eq!(tree, "README.md\na.txt\nfirst.txt\nsecond.txt");
}

#[tokio::test]
async fn a_dropped_landing_lets_the_next_one_in() {
    let place = Place::new().await;
    place.agent_commits("a.txt", "a\n").await;
    place.host_commits("h.txt", "h\n").await;
    for wait in [1, 5, 10, 20, 40] {
        let _ = tokio::time::timeout(Duration::from_millis(wait), place.land()).await;
        // Either nothing has happened or all of it, and never a part.
        let landed = place.land_within(Duration::from_secs(60)).await.unwrap();
        assert_eq!(place.status().await, "");
        assert!(place.read("a.txt").is_some(), "{landed:?}");
        place.git(&["reset", "--quiet", "--hard", "HEAD^1"]).await;
    }
}

#[tokio::test]
async fn a_repository_in_a_linked_work_tree_or_bare_lands_too() {
    let place = Place::new().await;
    place.agent_commits("a.txt", "a\n").await;
    let tip = place.tip("agent").await;
    let linked = Repository::discover(&place.agent).await.unwrap();
    let limit = Duration::from_secs(60);
    land(&linked, "agent", &tip, "main", limit).await.unwrap();
    assert!(place.read("a.txt").is_some());
    let bare = tempfile::tempdir().unwrap();
    let to = bare.path().to_str().unwrap();
    place.git(&["clone", "--quiet", "--bare", ".", to]).await;
    commit(&place.agent, "b.txt", "b\n").await;
    place.agent_git(&["push", "--quiet", to, "agent"]).await;
    let repository = Repository::discover(bare.path()).await.unwrap();
    let landed = land(&repository, "agent", &place.tip("agent").await, "main", limit).await.unwrap();
    assert_eq!(landed, Landed::FastForward { to: place.tip("agent").await });
}
