//! How a worktree is made, found again, refreshed and refused.

use super::*;
use crate::error::ErrorKind;

#[tokio::test]
async fn head_is_the_tree_of_the_caller() {
    let scene = Scene::new().await;
    let plan = scene.plan(BranchStrategy::head()).await.unwrap();
    assert_eq!((plan.source_branch(3).as_str(), plan.merges()), ("main", false));
    let place = plan.open(1, LIMIT).await.unwrap();
    assert_eq!(place.top(), scene.repo.path().canonicalize().unwrap());
    assert!(!place.is_fresh());
    assert_eq!(place.close(Fate::Worthless).await, crate::worktree::Closed::default());
    assert!(!scene.repo.path().join(".sandcastle").exists());
}

#[tokio::test]
async fn a_plan_only_reads() {
    let scene = Scene::new().await;
    scene.plan(BranchStrategy::branch("agent/x")).await.unwrap();
    scene.plan(BranchStrategy::merge_to_head()).await.unwrap();
    assert_eq!(scene.branches().await, ["main"]);
    assert!(!scene.repo.path().join(".sandcastle").exists());
}

#[tokio::test]
async fn w_8_the_branch_that_is_announced_is_the_one_that_is_made() {
    let scene = Scene::new().await;
    let run = RunId::generate();
    let strategy = BranchStrategy::merge_to_head();
    let plan = Plan::new(&scene.repository, &strategy, &run, Some("Nightly")).await.unwrap();
    assert_eq!(plan.source_branch(1), *format!("sandcastle/nightly/{run}"));
    assert_eq!((plan.target_branch().as_str(), plan.merges()), ("main", true));
    for iteration in 1..4 {
        let place = plan.open(iteration, LIMIT).await.unwrap();
        let announced = plan.source_branch(iteration);
        assert_eq!(*place.branch(), announced);
        assert_eq!(git_in(place.top(), ["branch", "--show-current"]).await, announced.as_str());
        assert!(finished(place).await.preserved.is_none());
    }
    assert_eq!(scene.branches().await, ["main"]);
}

#[tokio::test]
async fn case_131_a_worktree_starts_at_the_callers_head() {
    let scene = Scene::new().await;
    let _remote = remote(&scene).await;
    scene.git(["checkout", "--quiet", "-b", "feat"]).await;
    let tip = scene.commit("ahead").await;
    let place = scene.open("agent/x").await.unwrap();
    assert_eq!(place.base().unwrap(), tip.as_str());
    assert_eq!(git_in(place.top(), ["rev-parse", "HEAD"]).await, tip);
    assert!(place.top().join("ahead").exists());
}

#[tokio::test]
async fn case_132_w_37_a_base_is_where_a_branch_begins() {
    let scene = Scene::new().await;
    scene.git(["branch", "release"]).await;
    let release = scene.git(["rev-parse", "HEAD"]).await;
    scene.commit("later").await;
    let strategy = BranchStrategy::branch("agent/x").base("release");
    let plan = scene.plan(strategy.clone()).await.unwrap();
    let place = plan.open(1, LIMIT).await.unwrap();
    assert_eq!(place.base().unwrap(), release.as_str());
    drop((place, plan));

    let strategy = strategy.base("main");
    let mut place = scene.plan(strategy).await.unwrap().open(1, LIMIT).await.unwrap();
    assert_eq!(place.base().unwrap(), release.as_str(), "the branch is there");
    assert!(place.notes().iter().any(|note| note.contains("does not contain its base `main`")));
}

#[tokio::test]
async fn case_128_a_held_config_lock_is_in_nobodys_way() {
    let scene = Scene::new().await;
    let _remote = remote(&scene).await;
    fs::write(scene.repo.path().join(".git/config.lock"), "").unwrap();
    let config = fs::read(scene.repo.path().join(".git/config")).unwrap();
    let strategy = BranchStrategy::branch("b").base("origin/main");
    let place = scene.plan(strategy).await.unwrap().open(1, LIMIT).await.unwrap();
    assert!(place.is_fresh());
    assert_eq!(fs::read(scene.repo.path().join(".git/config")).unwrap(), config);
}

#[tokio::test]
async fn case_128_case_134_what_fails_leaves_neither_worktree_nor_branch() {
    let scene = Scene::new().await;
    fs::create_dir_all(scene.worktrees().join("x/y")).unwrap();
    let error = scene.open("x").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Worktree);
    assert!(scene.worktrees().join("x/y").exists(), "it is somebody's");

    let plan = scene.plan(BranchStrategy::branch("slow")).await.unwrap();
    for limit in [0, 1, 3, 6, 10, 15, 20, 25, 30] {
        match plan.open(1, Duration::from_millis(limit)).await {
            Ok(place) => drop(place.close(Fate::Worthless).await),
            Err(error) => assert_eq!(error.kind(), ErrorKind::StepTimeout, "{error:?}"),
        }
        assert_eq!(scene.branches().await, ["main"], "{limit} ms");
        assert_eq!(entries(&scene.worktrees()), [".gitignore", "x"], "{limit} ms");
        assert_eq!(scene.repository.worktrees().await.unwrap().len(), 1, "{limit} ms");
    }

    let blob = scene.git(["rev-parse", "HEAD:README.md"]).await;
    fs::remove_file(scene.repo.path().join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    assert_eq!(plan.open(1, LIMIT).await.unwrap_err().kind(), ErrorKind::Git);
    assert_eq!(scene.branches().await, ["main"]);
    assert_eq!(entries(&scene.worktrees()), [".gitignore", "x"]);
}

#[tokio::test]
async fn an_opening_that_was_dropped_is_begun_again() {
    let scene = Scene::new().await;
    let plan = scene.plan(BranchStrategy::branch("b")).await.unwrap();
    for limit in [1, 3, 6, 10, 15, 20, 25, 30, 40, 50] {
        let _ = tokio::time::timeout(Duration::from_millis(limit), plan.open(1, LIMIT)).await;
        let place = plan.open(1, LIMIT).await.unwrap();
        assert_eq!(place.repository().status().await.unwrap().changes, [], "{limit} ms");
        assert!(place.top().join("README.md").exists(), "{limit} ms");
        assert_eq!(finished(place).await, crate::worktree::Closed::default(), "{limit} ms");
    }
}

#[tokio::test]
async fn case_134_a_worthless_place_goes_and_one_that_was_there_stays() {
    let scene = Scene::new().await;
    let place = scene.open("agent/x").await.unwrap();
    fs::write(place.top().join("copied.env"), "A=b").unwrap();
    assert_eq!(place.close(Fate::Worthless).await, crate::worktree::Closed::default());
    assert_eq!(scene.branches().await, ["main"]);
    assert_eq!(entries(&scene.worktrees()), [".gitignore"]);

    let place = scene.open("agent/x").await.unwrap();
    fs::write(place.top().join("work"), "x").unwrap();
    let top = finished(place).await.preserved.unwrap();
    let place = scene.open("agent/x").await.unwrap();
    assert!(!place.is_fresh());
    place.close(Fate::Worthless).await;
    assert!(top.join("work").exists());
    assert_eq!(scene.branches().await, ["agent/x", "main"]);
}

#[tokio::test]
async fn case_124_a_branch_that_is_checked_out_elsewhere_is_refused() {
    let scene = Scene::new().await;
    let error = scene.open("main").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOptions);
    let top = scene.repo.path().canonicalize().unwrap();
    assert!(error.to_string().contains(top.to_str().unwrap()), "{error}");
    assert_eq!(error.hints().len(), 2, "two ways out");

    let foreign = tempfile::tempdir().unwrap();
    let path = foreign.path().join("wt");
    scene.git(["worktree", "add", "--quiet", "-b", "other", path.to_str().unwrap()]).await;
    assert_eq!(scene.open("other").await.unwrap_err().kind(), ErrorKind::InvalidOptions);
    let similar = scene.repo.path().join(".sandcastle/worktrees-old/third");
    scene.git(["worktree", "add", "--quiet", "-b", "third", similar.to_str().unwrap()]).await;
    assert_eq!(scene.open("third").await.unwrap_err().kind(), ErrorKind::InvalidOptions, "W-36");
    assert!(!scene.worktrees().exists());
}

#[tokio::test]
async fn strategies_that_contradict_the_repository_are_refused() {
    let scene = Scene::new().await;
    scene.git(["branch", "feat"]).await;
    let refused = [
        BranchStrategy::head().base("main"),
        BranchStrategy::merge_to_head().base("main"),
        BranchStrategy::branch("x$(touch pwned)"),
        BranchStrategy::branch("feat/x"),
        BranchStrategy::branch("x").base("nothing"),
        BranchStrategy::branch("x").base(""),
        BranchStrategy::branch("x").base("--all"),
        BranchStrategy::branch("x").base("a\nb"),
    ];
    for strategy in refused {
        let error = scene.plan(strategy.clone()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOptions, "{strategy:?}: {error:?}");
        assert!(!error.hints().is_empty());
    }
    scene.git(["checkout", "--quiet", "--detach"]).await;
    let error = scene.plan(BranchStrategy::merge_to_head()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOptions);
    assert_eq!(scene.plan(BranchStrategy::head()).await.unwrap().target_branch(), "HEAD");
    scene.git(["checkout", "--quiet", "--orphan", "empty"]).await;
    let error = scene.plan(BranchStrategy::merge_to_head()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOptions);
    assert_eq!(scene.plan(BranchStrategy::branch("x")).await.unwrap_err().kind(), ErrorKind::InvalidOptions);
    scene.plan(BranchStrategy::branch("x").base("main")).await.unwrap().open(1, LIMIT).await.unwrap();
}

#[tokio::test]
async fn w_9_names_that_look_alike_have_worktrees_of_their_own() {
    let scene = Scene::new().await;
    let mut tops = std::collections::HashSet::new();
    for branch in ["a/b", "a-b", "x", "X"] {
        let place = scene.open(branch).await.unwrap();
        assert_eq!(git_in(place.top(), ["branch", "--show-current"]).await, branch);
        assert!(tops.insert(place.top().to_string_lossy().to_lowercase()));
        fs::write(place.top().join("keep"), branch).unwrap();
        finished(place).await;
    }
    for branch in ["a/b", "a-b", "x", "X"] {
        let place = scene.open(branch).await.unwrap();
        assert_eq!(fs::read_to_string(place.top().join("keep")).unwrap(), branch);
    }
}

#[tokio::test]
async fn w_27_a_live_run_keeps_its_branch_between_iterations() {
    let scene = Scene::new().await;
    let plan = scene.plan(BranchStrategy::branch("b")).await.unwrap();
    finished(plan.open(1, LIMIT).await.unwrap()).await;
    let error = scene.open("b").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BranchBusy);
    assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
    finished(plan.open(2, LIMIT).await.unwrap()).await;
    drop(plan);
    scene.open("b").await.unwrap();
    assert_eq!(entries(&scene.repo.path().join(".sandcastle/locks")), [".gitignore"]);
}

#[tokio::test]
async fn case_123_a_worktree_in_the_middle_of_a_rebase_is_used_again() {
    let scene = Scene::new().await;
    let place = scene.open("feat/x").await.unwrap();
    fs::write(place.top().join("README.md"), "theirs").unwrap();
    git_in(place.top(), ["commit", "--quiet", "--all", "--message", "theirs"]).await;
    scene.repo.write("README.md", "ours").unwrap();
    scene.git(["commit", "--quiet", "--all", "--message", "ours"]).await;
    assert!(git::print(place.top(), ["rebase", "main"]).await.is_err());
    let gathered = place.gather(place.origin()).await.unwrap();
    assert_eq!(gathered.commits.len(), 1);
    assert!(gathered.notes[0].contains("rebase"), "{gathered:?}");
    let closed = finished(place).await;
    let top = closed.preserved.unwrap();
    assert!(closed.notes[0].contains("a rebase was begun"), "{:?}", closed.notes);

    let mut place = scene.open("feat/x").await.unwrap();
    assert_eq!(place.top(), top);
    assert!(place.notes()[0].contains("rebase"));
    assert!(place.repository().operation().is_some(), "it is left where it was");
}

#[tokio::test]
async fn case_130_a_clean_worktree_follows_its_remote_and_any_other_is_left() {
    let scene = Scene::new().await;
    let _remote = remote(&scene).await;
    scene.git(["branch", "b"]).await;
    scene.git(["push", "--quiet", "origin", "b"]).await;
    let place = scene.open("b").await.unwrap();
    let top = place.top().to_path_buf();
    let old = place.base().unwrap().to_string();
    let ahead = commit(&top, "pushed").await;
    git_in(&top, ["push", "--quiet", "origin", "b"]).await;
    git_in(&top, ["reset", "--quiet", "--hard", &old]).await;
    drop(place);

    fs::write(top.join("untracked"), "").unwrap();
    let mut dirty = scene.open("b").await.unwrap();
    assert_eq!(dirty.base().unwrap(), old.as_str());
    assert!(dirty.notes()[0].contains("untracked"));
    drop(dirty);

    fs::remove_file(top.join("untracked")).unwrap();
    let mut clean = scene.open("b").await.unwrap();
    assert_eq!(clean.base().unwrap(), ahead.as_str());
    assert!(clean.notes()[0].contains("fast-forwarded"));
    assert!(clean.gather(clean.origin()).await.unwrap().commits.is_empty(), "none of it is the agent's");
    git_in(&top, ["reset", "--quiet", "--hard", &old]).await;
    let own = commit(&top, "own").await;
    drop(clean);

    let mut diverged = scene.open("b").await.unwrap();
    assert_eq!(diverged.base().unwrap(), own.as_str());
    assert!(diverged.notes()[0].contains("both moved on"));
    drop(diverged);

    scene.git(["remote", "set-url", "origin", "/nowhere"]).await;
    let mut offline = scene.open("b").await.unwrap();
    assert!(offline.notes()[0].contains("fetch"), "a note and no failure");
}

#[tokio::test]
async fn a_remote_that_is_a_program_is_not_run() {
    let scene = Scene::new().await;
    let place = scene.open("b").await.unwrap();
    drop(place);
    let pwned = scene.repo.path().join("pwned");
    scene.git(["config", "remote.origin.url", &format!("ext::touch {}", pwned.display())]).await;
    scene.open("b").await.unwrap();
    assert!(!pwned.exists());
}

#[tokio::test]
async fn a_worktree_whose_folder_has_gone_is_made_anew_and_no_other_is_touched() {
    let scene = Scene::new().await;
    let other = tempfile::tempdir().unwrap();
    let away = other.path().join("away");
    scene.git(["worktree", "add", "--quiet", "-b", "away", away.to_str().unwrap()]).await;
    fs::rename(&away, other.path().join("hidden")).unwrap();
    let place = scene.open("b").await.unwrap();
    let tip = commit(place.top(), "work").await;
    fs::remove_dir_all(place.top()).unwrap();
    drop(place);
    let mut place = scene.open("b").await.unwrap();
    assert_eq!(place.base().unwrap(), tip.as_str());
    assert!(place.notes()[0].contains("made anew"));
    assert!(scene.git(["worktree", "list"]).await.contains("away"));
}

#[tokio::test]
async fn a_worktree_that_was_left_on_another_branch_comes_back_only_if_nothing_is_lost() {
    let scene = Scene::new().await;
    scene.git(["branch", "other"]).await;
    let place = scene.open("b").await.unwrap();
    let top = place.top().to_path_buf();
    drop(place);
    git_in(&top, ["checkout", "--quiet", "other"]).await;
    fs::write(top.join("wip"), "").unwrap();
    let error = scene.open("b").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Worktree);
    assert!(error.to_string().contains("`other`"), "{error}");
    fs::remove_file(top.join("wip")).unwrap();
    let place = scene.open("b").await.unwrap();
    assert_eq!(git_in(place.top(), ["branch", "--show-current"]).await, "b");
}
