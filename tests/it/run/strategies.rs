//! Branch strategies: where an agent works, and what is left behind.

use std::future::IntoFuture;
use std::path::Path;
use std::time::Duration;

use sandcastle::testing::Turn;
use sandcastle::{BranchStrategy, ErrorKind, RunEvent};

use super::{Bench, N, say};

pub(super) fn work() -> Turn {
    Turn::new().write_file("made.txt", "by the agent").commit("Work")
}

impl Bench {
    pub(super) async fn git<const N: usize>(&self, args: [&str; N]) -> String {
        self.repository.git(args).await.unwrap()
    }

    /// The branches other than `main`, and the work trees other than the main one.
    pub(super) async fn left_over(&self) -> (Vec<String>, usize) {
        let branches = self.git(["for-each-ref", "--format=%(refname:short)", "refs/heads"]).await;
        let worktrees = self.git(["worktree", "list", "--porcelain"]).await;
        let branches = branches.lines().filter(|name| *name != "main").map(str::to_owned).collect();
        (branches, worktrees.lines().filter(|line| line.starts_with("worktree ")).count() - 1)
    }

    pub(super) async fn subjects(&self, rev: &str) -> Vec<String> {
        self.git(["log", "--format=%s", rev]).await.lines().map(str::to_owned).collect()
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.repository.path().join(path).exists()
    }
}

#[tokio::test]
async fn w_48_limits_can_be_as_good_as_none() {
    let bench = Bench::new().await;
    let ages = Duration::MAX;
    let timeouts = sandcastle::Timeouts::default()
        .worktree(ages)
        .copy_to_worktree(ages)
        .sandbox_start(ages)
        .hook(ages)
        .commit_collection(ages)
        .merge_to_host(ages)
        .sandbox_close(ages);
    let turn = Turn::new().write_file("x", "1").commit("Work").say("ok");
    let options = bench.options([turn]).branch_strategy(BranchStrategy::merge_to_head()).timeouts(timeouts);
    let options = options.hooks(sandcastle::Hooks::new().sandbox_ready("true"));
    let options = options.idle_timeout(ages).completion_timeout(ages).total_timeout(ages);
    assert_eq!(sandcastle::run(options).await.unwrap().branch, "main");
}

#[tokio::test]
async fn w_8_the_prompt_names_the_very_branches() {
    let bench = Bench::new().await;
    let file = bench.repository.write("prompt.md", "on {{SOURCE_BRANCH}} for {{ TARGET_BRANCH }}").unwrap();
    let turn =
        Turn::new().shell("git branch --show-current >branch; git add branch").commit("Work").say("ok");
    let agent = bench.agent([turn]);
    let options = sandcastle::RunOptions::new(agent, sandcastle::NoSandbox::new())
        .cwd(bench.repository.path())
        .prompt_file(file)
        .logging(sandcastle::Logging::file(bench.log()))
        .branch_strategy(BranchStrategy::merge_to_head());
    let result = sandcastle::run(options).await.unwrap();
    let branch = std::fs::read_to_string(bench.repository.path().join("branch")).unwrap();
    let prompts = bench.prompts(result.session_id().unwrap());
    assert_eq!(prompts, [format!("on {} for main", branch.trim_end())]);
}

#[tokio::test]
async fn case_132_a_named_branch_begins_at_its_base_and_stays() {
    let bench = Bench::new().await;
    bench.git(["checkout", "-qb", "release"]).await;
    bench.git(["commit", "-q", "--allow-empty", "-m", "Release"]).await;
    bench.git(["checkout", "-q", "main"]).await;
    let options = || {
        let strategy = BranchStrategy::branch("agent/fix-42").base("release");
        bench.options([work().say("ok")]).branch_strategy(strategy)
    };
    let result = sandcastle::run(options()).await.unwrap();
    assert_eq!((result.branch.as_str(), result.commits.len()), ("agent/fix-42", 1));
    assert_eq!(bench.subjects("agent/fix-42").await, ["Work", "Release", "begin"]);
    assert_eq!(bench.subjects("main").await, ["begin"], "nothing is merged");
    let (_, worktrees) = bench.left_over().await;
    assert_eq!(worktrees, 0, "a clean worktree is put away");
}

#[tokio::test]
async fn case_124_a_branch_that_is_checked_out_is_refused_before_anything() {
    let bench = Bench::new().await;
    let options = bench.options([say("ok")]).branch_strategy(BranchStrategy::branch("main"));
    let error = sandcastle::run(options).await.unwrap_err();
    let shown = format!("{error:#}");
    assert!(error.work().is_none(), "nothing was started");
    assert!(shown.contains(&bench.repository.path().display().to_string()), "{shown}");
    assert!(shown.contains("merge_to_head") && shown.contains("head"), "{shown}");
}

#[tokio::test]
async fn w_2_branch_names_that_a_shell_would_run_are_refused() {
    let bench = Bench::new().await;
    for name in
        ["x$(touch pwned)", "a`b`", "-x", "a..b", "a.lock", "a b", "a\nb", "", "a;b", "HEAD", "a\\b", "x~1"]
    {
        let options = bench.options([say("ok")]).branch_strategy(BranchStrategy::branch(name));
        let error = sandcastle::run(options).await.unwrap_err();
        assert!(error.is_entry_check() || error.kind() == ErrorKind::Git, "{name:?}: {error:#}");
        assert!(error.work().is_none(), "{name:?}");
    }
    assert_eq!(bench.left_over().await, (vec![], 0));
}

#[tokio::test]
async fn case_117_w_22_a_session_goes_on_in_another_worktree() {
    let bench = Bench::new().await;
    let again = Turn::new().say("and on");
    let options = bench.options([work().say("ok"), again]).branch_strategy(BranchStrategy::merge_to_head());
    let first = sandcastle::run(options).await.unwrap();
    let second = first.resume("go on").await.unwrap();
    assert_eq!((second.text.as_str(), second.session_id()), ("and on", first.session_id()));
}

#[tokio::test]
async fn case_117_a_typed_run_in_a_worktree_is_resumed_there_and_gives_a_value_again() {
    let bench = Bench::new().await;
    let other = bench.state.path().join("linked");
    bench.git(["worktree", "add", "-q", "-b", "feature", other.to_str().unwrap()]).await;
    let seen = bench.state.path().join("seen");
    for (cwd, strategy, places) in [
        (bench.repository.path(), BranchStrategy::branch("topic"), 1),
        // Its own place is gone by then; the session comes along to a new one.
        (bench.repository.path(), BranchStrategy::merge_to_head(), 2),
        (other.as_path(), BranchStrategy::head(), 1),
    ] {
        let place = || Turn::new().shell(format!("pwd >>'{}'", seen.display()));
        let turns = [place().say(r#"<result>{"n":1}</result>"#), place().say(r#"<result>{"n":2}</result>"#)];
        let options = bench.options(turns).cwd(cwd).branch_strategy(strategy);
        let first = sandcastle::run_with::<N>(options).await.unwrap();
        let second = sandcastle::run_with::<N>(first.resume("Once more, as <result>.")).await.unwrap();
        assert_eq!((first.output.n, second.output.n), (1, 2));
        assert_eq!(first.session_id(), second.session_id());
        let worked_in = std::fs::read_to_string(&seen).unwrap();
        let distinct: std::collections::BTreeSet<_> = worked_in.lines().collect();
        assert_eq!((worked_in.lines().count(), distinct.len()), (2, places), "{worked_in}");
        std::fs::remove_file(&seen).unwrap();
    }
}

#[tokio::test]
async fn case_131_a_linked_worktree_is_a_starting_point() {
    let bench = Bench::new().await;
    let other = bench.state.path().join("linked");
    bench.git(["worktree", "add", "-q", "-b", "feature", other.to_str().unwrap()]).await;
    let commit = ["-C", other.to_str().unwrap(), "commit", "-q", "--allow-empty", "-m", "Ahead"];
    bench.git(commit).await;
    let options =
        bench.options([work().say("ok")]).cwd(&other).branch_strategy(BranchStrategy::merge_to_head());
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!(result.branch, "feature");
    assert_eq!(bench.subjects("feature").await, ["Work", "Ahead", "begin"]);
    assert!(other.join("made.txt").exists());
    assert!(!other.join(".sandcastle").exists(), "worktrees are kept with the main tree");
}

#[tokio::test]
async fn w_51_a_folder_below_the_root_is_found_again_in_the_worktree() {
    let bench = Bench::new().await;
    bench.repository.write("deep/er/x.txt", "x").unwrap();
    bench.git(["add", "--all"]).await;
    bench.git(["commit", "-qm", "Deep"]).await;
    let turn = Turn::new().shell("pwd >here; git add here").commit("Work").say("ok");
    let options = bench.options([turn]).branch_strategy(BranchStrategy::merge_to_head());
    sandcastle::run(options.cwd(bench.repository.path().join("deep/er"))).await.unwrap();
    let here = std::fs::read_to_string(bench.repository.path().join("deep/er/here")).unwrap();
    assert!(here.contains("/.sandcastle/worktrees/") && here.trim_end().ends_with("/deep/er"), "{here}");
}

#[tokio::test]
async fn w_51_a_bare_repository_has_worktrees_too() {
    let bench = Bench::new().await;
    let bare = bench.state.path().join("bare.git");
    bench.git(["clone", "-q", "--bare", ".", bare.to_str().unwrap()]).await;
    let turn = Turn::new().write_file("x", "1").commit("Work").say("ok");
    let options = bench.options([turn]).cwd(&bare).branch_strategy(BranchStrategy::branch("agent/bare"));
    let identity = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
    let options = identity.into_iter().fold(options, |options, key| options.env(key, "a@example.invalid"));
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!((result.branch.as_str(), result.commits.len()), ("agent/bare", 1));
    assert!(bare.join(".sandcastle/worktrees").is_dir(), "it is kept with the repository");
    let head = bench.options([say("ok")]).cwd(&bare);
    let error = sandcastle::run(head).await.unwrap_err();
    assert!(error.to_string().contains("not in a work tree"), "{error}");
}

#[tokio::test]
async fn w_27_two_runs_on_one_branch_do_not_share_a_worktree() {
    let bench = Bench::new().await;
    let strategy = || BranchStrategy::branch("agent/one");
    let slow = bench.options([Turn::new().shell("sleep 1").say("ok")]).branch_strategy(strategy());
    let begun = tokio::sync::Notify::new();
    let begun = std::sync::Arc::new(begun);
    let tell = std::sync::Arc::clone(&begun);
    let slow = slow.on_event(move |event| {
        if matches!(event, RunEvent::IterationStarted { .. }) {
            tell.notify_one();
        }
    });
    let first = tokio::spawn(sandcastle::run(slow));
    begun.notified().await;
    let second = bench.options([say("ok")]).branch_strategy(strategy());
    let error = sandcastle::run(second).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BranchBusy, "{error:#}");
    assert!(error.to_string().contains("agent/one"), "{error}");
    let runs = sandcastle::journal::Runs::of(bench.repository.path()).await.unwrap();
    let refused = runs.show(error.work().unwrap().run_id.as_ref().unwrap()).await.unwrap();
    assert!(refused.worktrees.is_empty() && refused.left().is_empty(), "it owned nothing: {refused:?}");
    first.await.unwrap().unwrap();
    let third = bench.options([say("ok")]).branch_strategy(strategy());
    sandcastle::run(third).await.unwrap();
}

#[tokio::test]
async fn w_9_branches_that_look_alike_have_folders_of_their_own() {
    let bench = Bench::new().await;
    for (name, file) in [("a/b", "one"), ("a-b", "two")] {
        let turn = Turn::new().write_file(file, "1").say("ok");
        let options = bench.options([turn]).branch_strategy(BranchStrategy::branch(name));
        let result = sandcastle::run(options).await.unwrap();
        let kept = result.preserved_worktree.expect("uncommitted work");
        assert!(kept.join(file).exists());
        assert_eq!(
            std::fs::read_dir(&kept).unwrap().count(),
            3,
            "{}: .git, README.md, {file}",
            kept.display()
        );
    }
}

#[tokio::test]
async fn a_rebased_branch_tells_the_agents_own_commits() {
    let bench = Bench::new().await;
    let root = bench.repository.path().display();
    let host = format!("(cd '{root}' && echo 1 >hosts && git add hosts && git commit -qm Host)");
    let turn = work().shell(format!("{host} && git rebase -q main")).say("ok");
    let result =
        sandcastle::run(bench.options([turn]).branch_strategy(BranchStrategy::branch("agent/rebased")))
            .await
            .unwrap();
    let subjects: Vec<_> = result.commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert_eq!(subjects, ["Work"]);
}

#[tokio::test]
async fn a_detached_head_is_brought_home() {
    let bench = Bench::new().await;
    let turn = Turn::new().shell("git checkout -q --detach").write_file("x", "1").commit("Work").say("ok");
    let options = bench.options([turn]).branch_strategy(BranchStrategy::merge_to_head());
    let result = sandcastle::run(options).await.unwrap();
    assert_eq!(result.commits.len(), 1);
    assert_eq!(bench.subjects("main").await, ["Work", "begin"]);
}

#[tokio::test]
async fn a_dropped_run_keeps_its_worktree_and_lets_the_branch_go() {
    let bench = Bench::new().await;
    let strategy = BranchStrategy::branch("agent/dropped");
    let turn = Turn::new().write_file("half", "1").say("x").hang();
    let options = bench.options([turn]).branch_strategy(strategy.clone());
    let said = std::sync::Arc::new(tokio::sync::Notify::new());
    let tell = std::sync::Arc::clone(&said);
    let options = options.on_event(move |event| {
        if matches!(event, RunEvent::Agent { event: sandcastle::AgentEvent::Text { .. } }) {
            tell.notify_one();
        }
    });
    let mut run = Box::pin(sandcastle::run(options));
    tokio::select! {
        _ = &mut run => unreachable!("it hangs"),
        () = said.notified() => {}
    }
    drop(run);
    let again = bench.options([Turn::new().shell("cat half").say("ok")]).branch_strategy(strategy);
    let result = sandcastle::run(again.idle_timeout(Duration::from_secs(20))).await.unwrap();
    let kept = result.preserved_worktree.expect("the half-done work");
    assert!(Path::new(&kept).join("half").exists());
    assert!(result.warnings.iter().any(|warning| warning.contains("half")), "{:?}", result.warnings);
}

#[tokio::test]
async fn many_runs_at_once_each_on_its_own_branch() {
    let bench = Bench::new().await;
    let runs = (0..8).map(|number| {
        let turn =
            Turn::new().write_file(format!("f{number}"), "1").commit(format!("Work {number}")).say("ok");
        let options = bench.options([turn]).branch_strategy(BranchStrategy::merge_to_head());
        tokio::spawn(sandcastle::run(options.logging(sandcastle::Logging::off())))
    });
    for run in runs.collect::<Vec<_>>() {
        let result = run.await.unwrap().unwrap();
        assert_eq!(result.commits.len(), 1, "only its own");
    }
    assert_eq!(bench.git(["rev-list", "--count", "--no-merges", "main"]).await, "9");
    assert_eq!(bench.git(["status", "--porcelain"]).await, "");
    assert_eq!(bench.left_over().await, (vec![], 0));
}

#[tokio::test]
async fn case_122_forks_at_once_have_branches_of_their_own() {
    let bench = Bench::new().await;
    let turns = [
        work().say("one"),
        Turn::new().shell("test -f made.txt").write_file("more", "1").commit("More").say("two"),
    ];
    let options = bench.options(turns).branch_strategy(BranchStrategy::merge_to_head());
    let first = sandcastle::run(options.logging(sandcastle::Logging::off())).await.unwrap();
    let fork = |name: &str| first.fork("go on").branch_strategy(BranchStrategy::branch(name)).into_future();
    let (left, right) = tokio::join!(fork("agent/left"), fork("agent/right"));
    let (left, right) = (left.unwrap(), right.unwrap());
    assert_ne!(left.session_id(), right.session_id());
    assert_ne!(left.session_id(), first.session_id());
    assert_eq!((left.branch.as_str(), right.branch.as_str()), ("agent/left", "agent/right"));
    assert_eq!((left.commits.len(), right.commits.len()), (1, 1));
}

#[tokio::test]
async fn w_4_files_that_the_agent_has_git_ignore_are_kept() {
    let bench = Bench::new().await;
    let exclude = r#"echo '*' >>"$(git rev-parse --git-common-dir)/info/exclude""#;
    let turn = Turn::new().write_file("unfinished", "half").shell(exclude).say("ok");
    let options = bench.options([turn]).branch_strategy(BranchStrategy::merge_to_head());
    let kept = sandcastle::run(options).await.unwrap().preserved_worktree.expect("a worktree that is kept");
    assert_eq!(std::fs::read_to_string(kept.join("unfinished")).unwrap(), "half");
}

#[tokio::test]
async fn two_live_runs_in_the_users_own_work_tree_go_on_side_by_side_and_are_told_the_commits_of_both() {
    let bench = Bench::new().await;
    let (there, both) = (bench.state.path().join("there"), bench.state.path().join("both"));
    let wait = |file: &Path| format!("until [ -e '{}' ]; do sleep 0.01; done", file.display());
    let first =
        Turn::new().write_file("one", "1").commit("One").shell(format!("touch '{}'", there.display()));
    let first = first.shell(wait(&both)).say("ok");
    let second = Turn::new().shell(wait(&there)).write_file("two", "2").commit("Two");
    let second = second.shell(format!("touch '{}'", both.display())).say("ok");
    let (first, second) =
        tokio::join!(sandcastle::run(bench.options([first])), sandcastle::run(bench.options([second])));
    for result in [first.unwrap(), second.unwrap()] {
        let told: Vec<&str> = result.commits.iter().map(|commit| commit.subject.as_str()).collect();
        assert_eq!(told, ["One", "Two"]);
    }
}
