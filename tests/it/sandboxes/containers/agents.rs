//! Agents in containers that do their work, and agents that mean ill.

use sandcastle::sandbox::Network;
use sandcastle::testing::{Script, Scripted, Turn};
use sandcastle::{BranchStrategy, ClaudeCode, Logging, RunOptions};

use super::desk::Desk;
use crate::run::N;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::real_agent::RealAgent;
use crate::support::repository::Repository;

/// What belongs to the sandbox, whatever the home of a test says.
const OF_THE_SANDBOX: [&str; 4] = ["HOME", "PATH", "TMPDIR", "CLAUDE_CODE_TMPDIR"];

pub(in crate::sandboxes) async fn claude_code_answers_with_a_value_and_a_commit_from_inside(desk: &Desk) {
    if desk.is_of_another_user() {
        return;
    }
    let (Some(program), Some(image)) = (RealAgent::claude_code(), desk.agent_image()) else { return };
    let (other, repository) = (Repository::new(), Repository::new());
    let secret = other.path().join("README.md").display().to_string();
    let work = format!("cat '{secret}' >seen; echo made >made && git add made && git commit -qm Inside");
    let server = ModelServer::start([
        Reply::shell(work),
        Reply::text(r#"<result>{"n":5}</result>"#),
        Reply::text("and again"),
    ]);
    // It reaches its model on this host, and nothing else.
    let model = server.url().trim_start_matches("http://").to_owned();
    let home = program.home(&server);
    let own = home.environment().into_iter().filter(|(key, _)| !OF_THE_SANDBOX.contains(&key.as_str()));
    let provider = own
        .fold(desk.provider_from(&image, Network::limited([model])), |provider, (key, value)| {
            provider.env(&key, &value)
        });
    let options = RunOptions::new(ClaudeCode::new("sonnet"), provider)
        .cwd(repository.path())
        .branch_strategy(BranchStrategy::merge_to_head())
        .logging(Logging::off())
        .prompt("Answer as <result>JSON</result>.");
    let result = sandcastle::run_with::<N>(options).await.unwrap();
    assert_eq!(result.output, N { n: 5 });
    assert_eq!(repository.subjects(), ["Inside", "first"]);
    assert_eq!(repository.read("made").unwrap(), "made\n");
    assert_eq!(desk.containers(), Vec::<String>::new());
    // The container is gone with its home, and the conversation goes on in another one.
    let kept = result.iterations.last().unwrap().session_file.clone().expect("a session");
    assert!(kept.starts_with(repository.path().join(".sandcastle/sessions")), "{}", kept.display());
    let again = result.resume("Go on.").await.unwrap();
    assert_eq!((again.text.as_str(), again.session_id()), ("and again", result.session_id()));
    assert!(server.turns()[2].user_texts().join(" ").contains("Answer as"), "the history came along");
}

pub(in crate::sandboxes) async fn an_agent_that_wrecks_what_it_sees_of_git_harms_nobody_else(desk: &Desk) {
    if desk.is_of_another_user() {
        return;
    }
    let repository = Repository::new();
    let trees = tempfile::tempdir_in("/var/tmp").unwrap();
    let task = trees.path().join("task");
    repository.git(["worktree", "add", "--quiet", "-b", "task", task.to_str().unwrap()]);
    let steering = || {
        let config = std::fs::read(repository.path().join(".git/config")).unwrap();
        let hooks = std::fs::read_dir(repository.path().join(".git/hooks"));
        let hooks: Vec<_> = hooks.into_iter().flatten().flatten().map(|entry| entry.file_name()).collect();
        (config, hooks.len(), repository.git(["rev-parse", "main", "task"]))
    };
    let before = steering();
    let common = "$(git rev-parse --path-format=absolute --git-common-dir)";
    let wreck = format!(
        "common={common}; echo x >kept; git add kept; git commit -qm Kept; \
         git worktree prune; git gc -q --prune=now; git reflog expire --expire=now --all; \
         git config core.hooksPath /tmp/evil; git config core.fsmonitor /tmp/evil; \
         mkdir -p $common/hooks; echo 'touch /tmp/owned' >$common/hooks/post-commit; chmod 755 $common/hooks/post-commit; \
         git branch -D task; git update-ref -d refs/heads/main; rm -rf $common/worktrees; \
         for path in '{0}' '{1}'; do rm -rf \"$path\"; echo x >\"$path/owned\"; done; true",
        task.display(),
        repository.path().join(".git").display(),
    );
    let script = Script::new().turn(Turn::new().shell(wreck).say("done"));
    let options = RunOptions::new(Scripted::new(script), desk.provider())
        .cwd(repository.path())
        .branch_strategy(BranchStrategy::branch("agent/work"))
        .logging(Logging::off())
        .prompt("go");
    // Whether such a run is a success or an error is its own affair.
    let ended = sandcastle::run(options).await;
    assert_eq!(steering(), before, "{ended:?}");
    repository.git(["fsck", "--strict", "--no-dangling"]);
    assert!(repository.git(["worktree", "list"]).contains(task.to_str().unwrap()));
    assert!(task.join("README.md").exists() && !task.join("owned").exists());
    assert_eq!(desk.containers(), Vec::<String>::new());
}
