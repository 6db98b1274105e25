//! What is checked before an agent is asked to work on a pull request: what was said, and then what was read.
//!
//! Nothing is touched here. The checks of the run itself come after these, in the run.

use crate::forge::{Head, HeadOrigin, PullRequestState};
use crate::review::PullRequest;
use crate::sandbox::Sharing;
use crate::{BranchName, Error, ErrorKind, Given, Result, RunOptions};

use super::arguments;
use super::{PullRequestRun, Purpose, Strangers, Task};

/// Checks what was said.
///
/// # Errors
/// [`ErrorKind::InvalidOptions`] and [`ErrorKind::Prompt`], by the names of options.
pub(super) fn check(run: &PullRequestRun, options: &RunOptions) -> Result<Option<BranchName>> {
    let given = run.options.given();
    check_settled(&given)?;
    check_agent(&given)?;
    check_arguments(&given, options)?;
    run.branch.as_ref().map(|name| BranchName::new(name.as_str())).transpose()
}

fn check_settled(given: &Given<'_>) -> Result<()> {
    if given.settled.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = given.settled.iter().map(|name| format!("`{name}`")).collect();
    let what = format!("work on a pull request with {}, which it sets itself", names.join(", "));
    let hint = "the prompt is set with `PullRequestRun::prompt` or `prompt_file`, the branch with `PullRequestRun::branch`";
    Err(Error::new(ErrorKind::InvalidOptions, what).with_hint(hint))
}

/// The report is asked for in the session of the work.
fn check_agent(given: &Given<'_>) -> Result<()> {
    if given.agent.capabilities().resume {
        return Ok(());
    }
    let name = given.agent.name();
    let what = format!("work on a pull request with `{name}`, which cannot resume a session");
    Err(Error::new(ErrorKind::InvalidOptions, what)
        .with_hint("its report is asked for in the session of its work; choose another agent"))
}

fn check_arguments(given: &Given<'_>, options: &RunOptions) -> Result<()> {
    if let Some(name) = given.prompt_args.iter().find(|name| arguments::NAMES.contains(name)) {
        let what = format!("use `{name}` as the name of a prompt argument: it is that of the pull request");
        return Err(Error::new(ErrorKind::Prompt, what));
    }
    let missing = options.missing_prompt_args()?;
    let missing = missing.iter().filter(|name| !arguments::NAMES.contains(&name.as_str()));
    let missing: Vec<String> = missing.map(|name| format!("`{{{{{name}}}}}`")).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let known =
        format!("a pull request brings {}", arguments::NAMES.map(|name| format!("`{name}`")).join(", "));
    Err(Error::new(ErrorKind::Prompt, format!("fill in the prompt: no argument for {}", missing.join(", ")))
        .with_hint("give it with `prompt_arg`, or write `\\{{` for braces that are meant as text")
        .with_hint(known))
}

/// Checks what was read.
///
/// # Errors
/// [`ErrorKind::InvalidOptions`] when the pull request is not one to be worked on in this way.
pub(super) fn check_read(run: &PullRequestRun, task: Task, pull_request: &PullRequest) -> Result<()> {
    check_state(task, pull_request)?;
    let Some(whose) = stranger(&pull_request.head) else { return Ok(()) };
    let number = pull_request.number;
    let is_open = run.options.given().sandbox.sharing() == Sharing::Host;
    if is_open && run.strangers == Strangers::Refused {
        let what = format!("work on #{number} without a sandbox: its code is from {whose}");
        return Err(Error::new(ErrorKind::InvalidOptions, what)
            .with_hint("whoever wrote it would have your rights, your files and your keys: use a sandbox")
            .with_hint("`allow_untrusted` lets it run all the same"));
    }
    if run.purpose == Purpose::Push && run.push_remote.is_none() {
        let what = format!("push to the branch of #{number}: it is in {whose}");
        return Err(Error::new(ErrorKind::InvalidOptions, what)
            .with_hint("leave out the push, which keeps the commits on the local branch, or name a remote that is the fork with `push_remote`"));
    }
    Ok(())
}

fn check_state(task: Task, pull_request: &PullRequest) -> Result<()> {
    let state = match pull_request.state {
        PullRequestState::Closed => "closed",
        PullRequestState::Merged => "merged",
        _ => return Ok(()),
    };
    if task == Task::Explore {
        return Ok(());
    }
    let what = format!("{} #{}: it is {state}", task.verb(), pull_request.number);
    Err(Error::new(ErrorKind::InvalidOptions, what).with_hint("`explore` looks at those, too"))
}

/// Names the repository of strangers that a head is in.
fn stranger(head: &Head) -> Option<String> {
    match &head.origin {
        HeadOrigin::Same => None,
        HeadOrigin::Fork(name) => Some(format!("the fork `{name}`")),
        HeadOrigin::Gone => Some("a fork that is gone".to_owned()),
        // What is not known is nobody's of ours.
        _ => Some("another repository".to_owned()),
    }
}
