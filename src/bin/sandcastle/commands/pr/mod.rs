//! `sandcastle pr`: has an agent work on a pull request, writes down what came of it, and pushes and posts it if that is asked
//! for.

mod place;
mod token;

use sandcastle::forges::GitHub;
use sandcastle::review::{
    Posting, PostingState, PullRequestOutput, PullRequestResult, PullRequestRun, ResultFiles,
};
use sandcastle::{CancellationToken, Error, ErrorKind, Result as LibraryResult};
use serde::Serialize;

use self::place::Results;
use self::token::GitHubToken;
use super::options::{in_site, of_agent, within};
use super::signals::{Keyboard, cancelled_by_signals};
use crate::cli::{CommittingArgs, PrArgs, PrCommand};
use crate::exit::Exit;
use crate::failure::{Failure, Next};
use crate::reporter::{Reporter, next, pr as words};

/// Where the commits go.
#[derive(Clone, Copy, Debug)]
struct Commits<'a> {
    way: Way,
    /// The remote that is the fork which the pull request comes from.
    fork: Option<&'a str>,
}

/// Whether the commits are pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Stay,
    Pushed,
}

impl Commits<'_> {
    /// They stay here.
    const HERE: Self = Self { way: Way::Stay, fork: None };
}

impl<'a> From<&'a CommittingArgs> for Commits<'a> {
    fn from(args: &'a CommittingArgs) -> Self {
        let way = if args.push { Way::Pushed } else { Way::Stay };
        Self { way, fork: args.push_remote.as_deref() }
    }
}

pub(super) async fn pr(command: PrCommand, reporter: &Reporter) -> Result<Exit, Failure> {
    match command {
        PrCommand::Explore(args) => work(&args, Commits::HERE, PullRequestRun::explore, reporter).await,
        PrCommand::Review(args) => work(&args.pr, (&*args).into(), PullRequestRun::review, reporter).await,
        PrCommand::Implement(args) => {
            work(&args.pr, (&*args).into(), PullRequestRun::implement, reporter).await
        }
        PrCommand::UpdateBranch(args) => {
            work(&args.pr, (&*args).into(), PullRequestRun::update_branch, reporter).await
        }
    }
}

/// Does one kind of work. Whatever fails after the arguments were right is written down beside the results.
async fn work<T: PullRequestOutput + Serialize>(
    args: &PrArgs,
    commits: Commits<'_>,
    kind: impl AsyncFnOnce(PullRequestRun) -> LibraryResult<PullRequestResult<T>>,
    reporter: &Reporter,
) -> Result<Exit, Failure> {
    let stop = cancelled_by_signals(Keyboard::default());
    let run = configured(args, commits, reporter, &stop).await?;
    let results = Results::open(args)?;
    reporter.begin();
    let done = async {
        let mut done = kind(run).await.map_err(|error| failed(&error, args))?;
        let written = done.files().and_then(|files| results.folder.write(&files));
        written.map_err(|error| failed(&done.carrying(error), args))?;
        match stop.run_until_cancelled(deliver(&mut done, args, commits)).await {
            Some(delivered) => delivered.map(|()| done),
            None => Err(failed(&interrupted(&done), args)),
        }
    };
    match done.await {
        Ok(done) => {
            let shown = words::Shown { done: &done, folder: results.folder.path(), remote: &args.remote };
            reporter.result(&shown.described(), &shown.summary())?;
            Ok(Exit::Done)
        }
        Err(failure) => Err(written(failure, &results)),
    }
}

/// Pushes and posts what is asked for.
async fn deliver<T: PullRequestOutput>(
    done: &mut PullRequestResult<T>,
    args: &PrArgs,
    commits: Commits<'_>,
) -> Result<(), Failure> {
    let failed = |error: Error| failed(&error, args);
    if commits.way == Way::Pushed {
        done.push().await.map_err(failed)?;
    }
    if args.post {
        done.post().await.map_err(failed)?;
    }
    Ok(())
}

/// Says what was on its way when somebody thought better of it.
fn interrupted<T: PullRequestOutput>(done: &PullRequestResult<T>) -> Error {
    let what = "deliver the results: it was interrupted, and what was being sent may have arrived";
    let hint = |posting: &Posting| match &posting.state {
        PostingState::Posted(address) => format!("posted before: {}, {address}", posting.what),
        PostingState::Waiting => format!("not posted: {}", posting.what),
        _ => format!("see whether it arrived before you post it by hand: {}", posting.what),
    };
    let error = Error::new(ErrorKind::Cancelled, what);
    done.carrying(done.postings().iter().map(hint).fold(error, Error::with_hint))
}

async fn configured(
    args: &PrArgs,
    commits: Commits<'_>,
    reporter: &Reporter,
    stop: &CancellationToken,
) -> Result<PullRequestRun, Failure> {
    let token = GitHubToken::find(args.token_env.as_deref())?;
    token.check_variables(&args.agent.env)?;
    let cwd = args.site.cwd.as_deref();
    let repository = place::repository(args).await?;
    let github =
        GitHub::new(&repository.name).base_url(&repository.api).system_proxies().token(token.value());
    let mut options =
        token.hidden(within(in_site(of_agent(&args.agent, cwd).await?, &args.site), &args.limits));
    for (key, value) in &args.args {
        options = options.prompt_arg(key, value);
    }
    if let Some(strategy) = args.strategy {
        options = options.output_strategy(strategy.into());
    }
    let told = reporter.clone();
    let options = options.on_event(move |event| told.event(event)).cancel(stop.clone());
    reporter.progress(&format!("reads #{} of {}", args.number, repository.name));
    Ok(with_flags(PullRequestRun::new(github, args.number, options), args, commits, &token))
}

/// Adds what flags say of the pull request.
fn with_flags(
    mut run: PullRequestRun,
    args: &PrArgs,
    commits: Commits<'_>,
    token: &GitHubToken,
) -> PullRequestRun {
    run = run.remote(&args.remote).git_token(token.value());
    if let Some(file) = &args.prompt_file {
        run = run.prompt_file(file);
    }
    if let Some(remote) = commits.fork {
        run = run.push_remote(remote);
    }
    if let Some(branch) = &args.branch {
        run = run.branch(branch);
    }
    if args.allow_untrusted {
        run = run.allow_untrusted();
    }
    if commits.way == Way::Pushed {
        run = run.for_push();
    }
    run
}

/// Adds to a failure what there is to look at.
fn failed(error: &Error, args: &PrArgs) -> Failure {
    let run = error.work().and_then(|work| work.run_id.as_ref());
    let show = run.map(|run| next::show(run.as_str(), args.site.cwd.as_deref()));
    let failure = Failure::of_run(error, &Next { show, resume: None });
    match error.kind() {
        // A remote was asked by then.
        ErrorKind::Git => Failure { exit: Exit::Failed, ..failure },
        _ => failure,
    }
}

/// Writes a failure down beside the results.
fn written(failure: Failure, results: &Results) -> Failure {
    let path = results.folder.path().to_string_lossy();
    let note = match results.folder.write(&ResultFiles::of_failure(&failure.text)) {
        Ok(()) => format!("  results   {path}"),
        Err(error) => format!("  failed to {error}"),
    };
    let text = format!("{}\n{note}", failure.text);
    let mut beside = failure.beside;
    beside.insert("output_dir".into(), path.into());
    Failure { text, beside, ..failure }
}
