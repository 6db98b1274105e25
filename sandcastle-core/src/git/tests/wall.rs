//! What the wall sees, what it lets pass, and that it cannot be made to wait or to follow.

use std::time::{Duration, Instant};

use super::Trapped;
use crate::error::{Error, ErrorKind};
use crate::git::{Repository, Wall};

async fn walled() -> (Trapped, Wall) {
    let place = Trapped::repository().await;
    let repository = Repository::discover(&place.agent()).await.unwrap();
    let wall = Wall::before(&repository).await.unwrap();
    (place, wall)
}

async fn after(script: &str) -> Result<Vec<String>, Error> {
    let (place, wall) = walled().await;
    let (is_success, said) = place.script(script).await;
    assert!(is_success, "{script}: {said}");
    let begun = Instant::now();
    let verdict = wall.check().await;
    assert!(begun.elapsed() < Duration::from_secs(30), "{script} made it wait");
    verdict
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_agents_do_in_good_faith_passes() {
    let scripts: [(&str, &[&str]); 8] = [
        (
            "cd $AGENT; echo x >x; git add x; git commit -qm x; git switch -qc other; git tag t; git gc -q",
            &[],
        ),
        ("cd $AGENT; git push -qu origin agent", &["branch.agent.merge", "branch.agent.remote"]),
        ("cd $AGENT; git config user.email a@example.invalid", &["`user.email` changed in `.git/config`"]),
        ("echo x >>$GIT_FOLDER/info/exclude", &["`.git/info/exclude` changed"]),
        ("git worktree add -q $OUT/w -b w; git worktree remove $OUT/w; git worktree add -q $OUT/v -b v", &[]),
        ("echo '[core]' >>$GIT_FOLDER/config; echo '# nothing' >>$GIT_FOLDER/config", &[]),
        ("git -C $AGENT stash -q; git -C $AGENT rebase -q side", &[]),
        ("cd $AGENT; git init -q; git fetch -q origin; git remote prune origin", &[]),
    ];
    for (script, notes) in scripts {
        let said = after(script).await.unwrap_or_else(|error| panic!("{script}: {error:?}"));
        // A template may bring examples of hooks along.
        let said: Vec<String> = said.into_iter().filter(|note| !note.contains(".sample")).collect();
        assert_eq!(said.len(), notes.len(), "{script}: {said:?}");
        for note in notes {
            assert!(said.iter().any(|said| said.contains(note)), "{script}: {said:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn w_1_what_steers_git_is_named() {
    let scripts = [
        ("git config alias.st '!date'", "`alias.st` added in `.git/config`"),
        ("git config remote.origin.url /elsewhere", "`remote.origin.url` changed"),
        ("git config --unset-all remote.origin.fetch", "`remote.origin.fetch` removed"),
        ("git config core.worktree $OUT", "`core.worktree` added"),
        ("mkdir -p $GIT_FOLDER/hooks; echo >$GIT_FOLDER/hooks/pre-push", "`.git/hooks/pre-push` added"),
        ("echo $OUT >$GIT_FOLDER/objects/info/alternates", "`.git/objects/info/alternates` added"),
        ("echo '* -text' >$GIT_FOLDER/info/attributes", "`.git/info/attributes` added"),
        ("git replace HEAD HEAD~1", "`refs/replace/"),
        ("echo gitdir: /elsewhere >$AGENT/.git", "/agent/.git` changed"),
        ("rm $AGENT/.git; mkdir $AGENT/.git", "/agent/.git` removed"),
        ("echo $OUT/x/.git >$GIT_FOLDER/worktrees/agent/gitdir", "worktrees/agent/gitdir` changed"),
        ("echo /elsewhere >$GIT_FOLDER/worktrees/agent/commondir", "worktrees/agent/commondir` changed"),
        ("rm -r $GIT_FOLDER/worktrees/agent", "worktrees/agent/gitdir` removed"),
        ("rm -r $GIT_FOLDER/hooks; ln -s $OUT $GIT_FOLDER/hooks", "`.git/hooks` added"),
        ("cp $GIT_FOLDER/config $OUT/c; ln -sf $OUT/c $GIT_FOLDER/config", "`.git/config` added"),
        ("rm $GIT_FOLDER/config; mkfifo $GIT_FOLDER/config", "`.git/config` added"),
        (
            "rm -r $GIT_FOLDER/info; mkdir $GIT_FOLDER/info; mkfifo $GIT_FOLDER/info/attributes",
            "attributes` added",
        ),
        ("mkfifo $GIT_FOLDER/config.worktree", "`.git/config.worktree` added"),
        ("echo '[' >>$GIT_FOLDER/config", "cannot be read any more"),
        ("mkfifo $OUT/f; git config include.path $OUT/f", "cannot be read any more"),
        (
            "mkdir -p $GIT_FOLDER/modules/a/b; git init -q --bare $GIT_FOLDER/modules/a/b; git -C $GIT_FOLDER/modules/a/b config core.fsmonitor x",
            "`core.fsmonitor` added in `.git/modules/a/b/config`",
        ),
    ];
    for (script, name) in scripts {
        let error = after(script).await.expect_err(script);
        assert_eq!(error.kind(), ErrorKind::RepositoryChanged, "{script}");
        assert!(error.to_string().contains(name), "{script}: {error}");
        assert!(error.hints()[0].contains(".git/hooks"), "{error:#}");
    }
}

#[tokio::test]
async fn a_submodule_that_was_populated_is_no_alarm() {
    let script = "git init -q $OUT/s; git -C $OUT/s commit -q --allow-empty -m s; \
                  git -c protocol.file.allow=always submodule --quiet add $OUT/s lib/s";
    let notes = after(script).await.unwrap();
    assert!(notes.iter().any(|note| note.contains("submodule.lib/s.url")), "{notes:?}");
}

#[tokio::test]
async fn values_are_never_shown_and_names_are_cleaned_and_bounded() {
    let secret = "git config http.extraHeader 'AUTHORIZATION: s3cret'; \
                  git config \"filter.$(printf '\\033[2J')x.clean\" s3cret; \
                  for i in $(seq 40); do printf '[alias \"%s\"]\\nx = y\\n' $i >>$GIT_FOLDER/config; done";
    let error = after(secret).await.unwrap_err();
    let said = format!("{error:#} {error:#?}");
    assert!(!said.contains("s3cret") && !said.contains('\u{1b}'), "{said}");
    assert!(said.contains("22 more"), "{said}");
}

#[tokio::test]
async fn large_files_and_many_of_them_cost_little() {
    let script = "yes '# a line of comment' | head -c 20000000 >>$GIT_FOLDER/config; \
                  head -c 50000000 /dev/zero >$GIT_FOLDER/hooks/pre-push; \
                  cd $GIT_FOLDER/hooks; seq 3000 | xargs touch";
    let error = after(script).await.unwrap_err();
    assert!(error.to_string().contains("more"), "{error}");
}
