//! Many at once.

use super::*;
use crate::error::ErrorKind;

async fn crowd(scene: &Scene, size: usize) {
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..size {
        let repository = scene.repository.clone();
        tasks.spawn(async move {
            let strategy = BranchStrategy::branch(format!("agent/n{number}"));
            let plan = Plan::new(&repository, &strategy, &RunId::generate(), None).await?;
            let place = plan.open(1, LIMIT).await?;
            // The same commit as all the others: whose it is does not depend on its id.
            commit(place.top(), "work").await;
            let gathered = place.gather(place.origin(), LIMIT).await?;
            assert_eq!(gathered.commits.len(), 1);
            let closed = finished(place).await;
            assert_eq!(closed, crate::worktree::Closed::default());
            Ok::<(), crate::Error>(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap().unwrap();
    }
    assert_eq!(scene.branches().await.len(), size + 1);
    assert_eq!(entries(&scene.worktrees()), [".gitignore"]);
    assert_eq!(scene.repository.worktrees().await.unwrap().len(), 1);
    assert_eq!(entries(&scene.repo.path().join(".sandcastle/locks")), [".gitignore"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn case_128_eight_at_once() {
    crowd(&Scene::new().await, 8).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_at_once() {
    crowd(&Scene::new().await, 50).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_at_once() {
    crowd(&Scene::new().await, 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn case_139_temporary_branches_of_one_second_are_distinct() {
    let scene = Scene::new().await;
    let mut places = Vec::new();
    for _ in 0..20 {
        let plan = scene.plan(BranchStrategy::merge_to_head()).await.unwrap();
        places.push(plan.open(1, LIMIT).await.unwrap());
    }
    assert_eq!(scene.branches().await.len(), 21);
}

#[tokio::test(flavor = "multi_thread")]
async fn w_27_one_of_eight_gets_the_branch() {
    let scene = Scene::new().await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let repository = scene.repository.clone();
        tasks.spawn(async move {
            let strategy = BranchStrategy::branch("b");
            Plan::new(&repository, &strategy, &RunId::generate(), None).await.unwrap().open(1, LIMIT).await
        });
    }
    let results = tasks.join_all().await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for error in results.iter().filter_map(|result| result.as_ref().err()) {
        assert_eq!(error.kind(), ErrorKind::BranchBusy, "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_that_are_dropped_leave_no_lock_of_git() {
    let scene = Scene::new().await;
    scene.git(["pack-refs", "--all"]).await;
    let git_dir = scene.repository.common_dir().to_path_buf();
    for number in 0..200 {
        let work = async {
            let place = scene.open(&format!("b{}", number % 5)).await.unwrap();
            // Given up in the middle of the closing, too.
            place.close(Fate::Worthless).await
        };
        let _ = tokio::time::timeout(Duration::from_micros(fastrand::u64(..40_000)), work).await;
        let mut locks = locks_in(&git_dir);
        // That of a worktree that was being filled is cleared with it.
        locks.retain(|path| !path.ends_with("index.lock") || path.parent() == Some(&git_dir));
        assert!(locks.is_empty(), "{number}: {locks:?}");
    }
}

fn locks_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => locks_in(&path),
            false => Some(path)
                .filter(|path| path.extension().is_some_and(|end| end == "lock"))
                .into_iter()
                .collect(),
        })
        .collect()
}
