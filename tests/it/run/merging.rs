//! `merge-to-head`: how commits land on the branch that is checked out, and what happens when they cannot.

use sandcastle::testing::{Script, Sequence, Turn};
use sandcastle::{BranchStrategy, ErrorKind};

use super::strategies::work;
use super::{Bench, N, Retried};

const GOOD: &str = r#"<result>{"n":5}</result>"#;

#[tokio::test]
async fn merge_to_head_lands_on_the_branch_that_is_checked_out() {
    let bench = Bench::new().await;
    let turn = Turn::new()
        .shell("pwd >seen; git branch --show-current >>seen; git add seen")
        .commit("Work")
        .say("ok");
    let options = bench.options([turn]).branch_strategy(BranchStrategy::merge_to_head()).name("My Fix");
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!((result.branch.as_str(), result.commits.len()), ("main", 1));
    assert_eq!(result.preserved_worktree, None);
    assert_eq!(bench.subjects("main").await, ["Work", "begin"]);
    let seen = std::fs::read_to_string(bench.repository.path().join("seen")).unwrap();
    assert!(seen.contains("/.sandcastle/worktrees/") && seen.contains("sandcastle/my-fix/20"), "{seen}");
    assert_eq!(bench.left_over().await, (vec![], 0));
    assert_eq!(bench.git(["status", "--porcelain"]).await, "");
}

#[tokio::test]
async fn case_142_w_11_a_host_that_moved_ahead_gets_a_merge() {
    let bench = Bench::new().await;
    let root = bench.repository.path().display();
    let host = format!("cd '{root}' && echo 1 >hosts && git add hosts && git commit -qm Host");
    let turn = work().shell(host).say("ok");
    let options = bench.options([turn]).branch_strategy(BranchStrategy::merge_to_head());
    let result = sandcastle::run(options).await.unwrap();
    let subjects: Vec<_> = result.commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert_eq!(subjects, ["Work"], "the host's commit is not the agent's");
    assert!(bench.exists("made.txt") && bench.exists("hosts"));
    assert_eq!(bench.git(["rev-list", "--count", "--merges", "HEAD"]).await, "1");
    assert_eq!(bench.git(["status", "--porcelain"]).await, "");
}

#[tokio::test]
async fn case_144_w_11_edits_of_the_user_stay() {
    let bench = Bench::new().await;
    bench.repository.write("README.md", "edited\n").unwrap();
    let options = bench.options([work().say("ok")]).branch_strategy(BranchStrategy::merge_to_head());
    sandcastle::run(options).await.unwrap();
    assert!(bench.exists("made.txt"));
    assert_eq!(bench.git(["diff", "--name-only"]).await, "README.md");
}

#[tokio::test]
async fn case_144_w_11_edits_in_the_way_are_refused_and_the_branch_is_kept() {
    let bench = Bench::new().await;
    bench.repository.write("README.md", "edited\n").unwrap();
    let turn = Turn::new().write_file("README.md", "the agent's").commit("Work").say(GOOD);
    let options = bench.options([turn]).branch_strategy(BranchStrategy::merge_to_head());
    let error = sandcastle::run_with::<N>(options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Merge, "{error:#}");
    assert!(format!("{error:#}").contains("README.md"), "{error:#}");
    let branch = error.work().unwrap().branch.clone().unwrap();
    assert!(branch.starts_with("sandcastle/"), "{branch}");
    assert!(format!("{error:#}").contains(branch.as_str()), "{error:#}");
    assert_eq!(bench.subjects(&branch).await, ["Work", "begin"]);
    assert_eq!(error.work().unwrap().commits.len(), 1);
    assert_eq!(error.work().unwrap().answer.as_deref(), Some(r#"{"n":5}"#), "an accepted answer is not lost");
    let readme = std::fs::read_to_string(bench.repository.path().join("README.md")).unwrap();
    assert_eq!((readme.as_str(), bench.subjects("main").await.len()), ("edited\n", 1));
}

#[tokio::test]
async fn w_11_a_conflict_leaves_the_host_alone_and_says_how_to_finish() {
    let bench = Bench::new().await;
    let root = bench.repository.path().display();
    let host = format!("cd '{root}' && echo host >README.md && git commit -qam Host");
    let turn = Turn::new().write_file("README.md", "agent").commit("Work").shell(host).say("ok");
    let options = bench.options([turn]).branch_strategy(BranchStrategy::merge_to_head());
    let error = sandcastle::run(options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Merge);
    let shown = format!("{error:#}");
    let branch = error.work().unwrap().branch.clone().unwrap();
    assert!(shown.contains("README.md") && shown.contains(&format!("git merge {branch}")), "{shown}");
    assert_eq!(bench.git(["status", "--porcelain"]).await, "");
    assert!(!bench.exists(".git/MERGE_HEAD"));
    assert_eq!(bench.subjects(&branch).await, ["Work", "begin"]);
}

#[tokio::test]
async fn a_user_who_changed_branches_meanwhile_keeps_their_checkout() {
    let bench = Bench::new().await;
    let root = bench.repository.path().display();
    let turn = work().shell(format!("cd '{root}' && git checkout -qb elsewhere")).say("ok");
    let options = bench.options([turn]).branch_strategy(BranchStrategy::merge_to_head());
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!(result.branch, "main");
    assert_eq!(bench.subjects("main").await, ["Work", "begin"]);
    assert_eq!(bench.git(["branch", "--show-current"]).await, "elsewhere");
    assert!(!bench.exists("made.txt"));
    assert_eq!(bench.git(["status", "--porcelain"]).await, "");
}

#[tokio::test]
async fn case_147_uncommitted_work_is_kept_and_named() {
    let bench = Bench::new().await;
    let turn = work().write_file("unfinished.txt", "half").say("ok");
    let options = bench.options([turn]).branch_strategy(BranchStrategy::merge_to_head());
    let result = sandcastle::run(options).await.unwrap();
    let kept = result.preserved_worktree.expect("a worktree that is kept");
    assert_eq!(std::fs::read_to_string(kept.join("unfinished.txt")).unwrap(), "half");
    assert_eq!(bench.subjects("main").await, ["Work", "begin"], "what was committed has landed");
    assert!(result.warnings.iter().any(|warning| warning.contains(&kept.display().to_string())));
}

#[tokio::test]
async fn each_iteration_lands_before_the_next_begins() {
    let bench = Bench::new().await;
    let script =
        Script::new().turn(Turn::new().shell("echo 1 >>log; git add log").commit("One").say("more")).turn(
            Turn::new().shell("echo 2 >>log; git add log").commit("Two").say("<promise>COMPLETE</promise>"),
        );
    let agent =
        sandcastle::Scripted::new(script.sequence(Sequence::AcrossSessions)).state_dir(bench.state.path());
    let options = bench.options_of(agent).branch_strategy(BranchStrategy::merge_to_head()).max_iterations(5);
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!(bench.subjects("main").await, ["Two", "One", "begin"]);
    let subjects: Vec<_> = result.commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert_eq!((subjects, result.iterations.len()), (vec!["One", "Two"], 2));
    assert_eq!(bench.left_over().await, (vec![], 0));
}

#[tokio::test]
async fn an_earlier_iteration_survives_a_later_failure() {
    let bench = Bench::new().await;
    let script = Script::new().turn(work().say("more")).turn(Turn::new().exit(3));
    let agent =
        sandcastle::Scripted::new(script.sequence(Sequence::AcrossSessions)).state_dir(bench.state.path());
    let options = bench.options_of(agent).branch_strategy(BranchStrategy::merge_to_head()).max_iterations(2);
    let error = sandcastle::run(options).await.unwrap_err();
    assert_eq!(error.work().unwrap().commits.len(), 1);
    assert_eq!(bench.subjects("main").await, ["Work", "begin"]);
    assert_eq!(bench.left_over().await, (vec![], 0));
}

#[tokio::test]
async fn case_51_an_output_that_failed_keeps_everything() {
    let bench = Bench::new().await;
    let options = bench.options([work().say("no block")]).branch_strategy(BranchStrategy::merge_to_head());
    let error = sandcastle::run_with::<N>(options).await.unwrap_err();
    let failed = error.structured_output().unwrap();
    let branch = failed.branch.clone().unwrap();
    assert!(branch.starts_with("sandcastle/"), "{branch}");
    assert_eq!(bench.subjects(&branch).await, ["Work", "begin"]);
    assert_eq!(bench.subjects("main").await, ["begin"], "what did not come to an end is not merged");
    let kept = failed.preserved_worktree.clone().expect("the worktree");
    assert!(kept.join("made.txt").exists());
    assert!(failed.session_id.is_some());
}

#[tokio::test]
async fn retries_work_in_one_worktree_and_land_once() {
    let bench = Bench::new().await;
    let again =
        Turn::new().shell("test -f made.txt || exit 9").write_file("more", "1").commit("More").say(GOOD);
    let options =
        bench.options([work().say("no block"), again]).branch_strategy(BranchStrategy::merge_to_head());
    let result = sandcastle::run_with::<Retried>(options).await.unwrap();
    assert_eq!((result.output.n, result.commits.len(), result.attempts.len()), (5, 2, 2));
    assert_eq!(bench.subjects("main").await, ["More", "Work", "begin"]);
}
