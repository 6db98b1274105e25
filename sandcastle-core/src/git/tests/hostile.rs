//! Every call of git on the host, in a repository that is full of traps.

use std::path::Path;
use std::time::Duration;

use super::{TRAPS, Trapped};
use crate::error::ErrorKind;
use crate::git::{Fetch, Memory, Repository, Wall, Witness};
use crate::id::BranchName;
use crate::testing::ScratchRepo;

/// What the host does with a repository, landing excepted, which has its own test. Calls may fail; they may not execute.
async fn all_calls(place: &Trapped) {
    let Ok(host) = Repository::discover(place.scratch.path()).await else { return };
    let name = format!("{}/worktrees/agent", host.common_dir().display());
    let aimed = host.aimed_at(&place.agent(), name.as_ref());
    for repository in [&host, &aimed] {
        let Ok(head) = repository.head().await else { continue };
        let _ = repository.commits_between(&head.commit.iter().collect::<Vec<_>>(), &[]).await;
        let _ = repository.identity().await;
        if let (Ok(Some(old)), Some(new)) =
            (repository.tip(&BranchName::from_git("clash")).await, &head.commit)
        {
            let _ = repository.filtered_between(&old, new).await;
        }
        let branch = BranchName::from_git("side");
        let _ = Fetch { remote: "origin", branch: &branch, limit: Duration::from_secs(20) }
            .into(repository)
            .await;
        let readme = repository.top().unwrap().join("README.md");
        if let Ok(mut memory) = Memory::of(repository, Path::new("/nowhere"), Duration::from_secs(20)).await {
            std::fs::write(&readme, "said\n").unwrap();
            let _ = memory.restore("rescue", &Witness::Nobody).await;
        }
        std::fs::write(readme, "edited\n").unwrap();
        let calls: [&[&str]; 13] = [
            &["status", "--porcelain", "-z"],
            &["status", "--porcelain", "-z", "--untracked-files=all"],
            &["diff", "--name-only", "HEAD"],
            &["ls-files", "--modified"],
            &["log", "-1", "-p", "--format=%H"],
            &["stash", "--quiet"],
            &["checkout", "--quiet", "HEAD", "--", "."],
            &["merge", "--ff-only", "--no-stat", "side"],
            &["merge", "--no-edit", "clash"],
            &["reset", "--hard", "--quiet"],
            &["commit", "--allow-empty", "--quiet", "-m", "x"],
            &["update-ref", "refs/heads/moved", "HEAD"],
            &["gc", "--auto"],
        ];
        for call in calls {
            let _ = repository.git().ask(call).await;
        }
    }
    let tree = place.out().join("new tree");
    let _ =
        host.git().ask(["worktree", "add", "--no-track", "-b", "new", tree.to_str().unwrap(), "side"]).await;
    let _ = host.git().ask(["worktree", "remove", "--force", tree.to_str().unwrap()]).await;
    let _ = host.git().ask(["branch", "-D", "new"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn w_1_no_call_of_the_host_springs_a_trap() {
    let mut sprung = Vec::new();
    for trap in TRAPS {
        let place = Trapped::repository().await;
        place.plant(trap).await;
        all_calls(&place).await;
        if place.is_sprung() {
            sprung.push(trap.name);
        }
    }
    assert!(sprung.is_empty(), "{sprung:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn w_1_the_traps_are_real_and_the_wall_names_each() {
    let mut wrong = Vec::new();
    for trap in TRAPS {
        let place = Trapped::repository().await;
        let repository = Repository::discover(place.scratch.path()).await.unwrap();
        let admin = repository.common_dir().join("worktrees/agent");
        let wall = Wall::before(&repository.aimed_at(&place.agent(), &admin)).await.unwrap();
        assert_eq!(wall.check().await.unwrap(), Vec::<String>::new(), "{}", trap.name);
        place.plant(trap).await;
        let verdict = wall.check().await.map_err(|error| error.kind());
        // A repository inside of a work tree is content, like everything in a work tree.
        if verdict != Err(ErrorKind::RepositoryChanged) && trap.name != "submodule with a monitor" {
            wrong.push(format!("{} is not seen", trap.name));
        }
        if place.is_sprung() {
            wrong.push(format!("{} was sprung by looking at it", trap.name));
        }
        let said = place.spring(trap).await;
        if !place.is_sprung() {
            wrong.push(format!("{} springs nothing: {said}", trap.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn what_git_says_begins_with_what_is_wrong() {
    let scratch = ScratchRepo::new().await.unwrap();
    scratch.git(["config", "color.ui", "always"]).await.unwrap();
    let repository = Repository::discover(scratch.path()).await.unwrap();
    let answer = repository.git().ask(["merge", "--ff-only", "nothing"]).await.unwrap();
    assert_eq!(answer.stderr, "merge: nothing - not something we can merge\n");
}
