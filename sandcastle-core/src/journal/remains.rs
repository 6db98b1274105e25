//! What is left of a run, looked at now: a journal held against git, the processes and the files that are there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::ground::{Ground, is_half_made};
use super::note::{Format, Origin};
use super::reader::{History, Noted};
use super::report::{
    Answer, BranchLeft, LandingLeft, LandingState, ProcessLeft, RunReport, RunState, SandboxLeft,
    SessionLeft, WorktreeLeft,
};
use super::scratch;
use crate::error::Result;
use crate::git::Change;
use crate::id::{CommitId, RunId, SessionId};
use crate::output::OutputSpec;
use crate::process::Leftovers;
use crate::work::Commit;

/// The sandbox provider whose sandboxes are nothing but processes.
const WITHOUT_SANDBOX: &str = "none";

/// Which run that goes on uses which worktree.
pub(super) type InUse = HashMap<PathBuf, RunId>;

/// Names the run that goes on in a worktree.
pub(super) fn user_of<'a>(worktree: &Path, in_use: &'a InUse) -> Option<&'a RunId> {
    in_use.get(&resolved(worktree))
}

/// Resolves the links in a path, as far as it leads to something.
pub(super) fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// Tells what the journal alone says.
pub(super) fn told(history: &History) -> RunReport {
    let begun = &history.head.begun;
    let state = match (history.is_running(), &history.ended) {
        (true, _) => RunState::Running,
        (false, Some(_)) => RunState::Finished,
        (false, None) => RunState::Died,
    };
    let branch = history.worktrees.last().map(|worktree| worktree.branch.clone());
    RunReport {
        state,
        outcome: history.ended.as_ref().map(|(outcome, _)| *outcome),
        error: history.ended.as_ref().and_then(|(_, error)| error.clone()),
        recovered: history.recovered,
        started_at: Some(history.head.started_at.clone()),
        name: begun.name.clone(),
        agent: Some(begun.agent.clone()),
        model: begun.model.clone(),
        sandbox: Some(begun.sandbox.clone()),
        strategy: Some(begun.strategy.clone()),
        cwd: Some(begun.cwd.to_path_buf()),
        pid: Some(history.head.owner.pid),
        branch: branch.or_else(|| begun.source_branch.clone()),
        target_branch: begun.target_branch.clone(),
        mode: history.mode,
        answer: answer(history),
        unknown_notes: history.unknown.clone(),
        damaged_lines: history.damaged,
        ..RunReport::unreadable(history.id.clone(), String::new())
    }
}

/// Tells what the journal says and what is there now.
pub(super) async fn found(history: &History, ground: &Ground, in_use: &InUse) -> RunReport {
    let mut report = told(history);
    let processes = Leftovers::of(history.marks.iter().cloned()).list().into_iter();
    report.processes = processes.map(|left| ProcessLeft { pid: left.pid, name: left.name }).collect();
    session(history, &mut report);
    if report.state == RunState::Running {
        return report;
    }
    report.sandboxes = sandboxes(history);
    report.scratch = history.scratch.clone().filter(|path| scratch::is_there(path, &history.id));
    for noted in &history.worktrees {
        let left = worktree(&noted.path, ground, in_use, &mut report.warnings).await;
        let is_new = |left: &WorktreeLeft| report.worktrees.iter().all(|known| known.path != left.path);
        if let Some(left) = left.filter(is_new) {
            report.worktrees.push(left);
        }
    }
    let looked = branches(history, ground).await;
    report.branches = or_warn(looked, &mut report.warnings);
    if report.state == RunState::Died {
        let looked = in_place(history, ground).await;
        report.branches.extend(or_warn(looked, &mut report.warnings));
    }
    let looked = unreachable(history, ground).await;
    report.unreachable_commits = or_warn(looked, &mut report.warnings);
    report.landing = landing(history, ground).await;
    report
}

fn or_warn<T: Default>(looked: Result<T>, warnings: &mut Vec<String>) -> T {
    looked.unwrap_or_else(|error| {
        warnings.push(format!("it was not possible to {error}"));
        T::default()
    })
}

fn session(history: &History, report: &mut RunReport) {
    let Some((id, file)) = &history.session else { return };
    match SessionId::new(id.as_str()) {
        Ok(id) => {
            let file = file.clone().filter(|file| file.is_file());
            report.session = Some(SessionLeft { id: id.to_string(), file });
        }
        Err(_) => report.warnings.push("the journal names a session whose id is none".to_owned()),
    }
}

fn sandboxes(history: &History) -> Vec<SandboxLeft> {
    let outlives = |(provider, _): &&(String, String)| provider != WITHOUT_SANDBOX;
    let left = history.sandboxes.iter().filter(outlives).cloned();
    left.map(|(provider, id)| SandboxLeft { provider, id }).collect()
}

/// Reads the answer again, by the contract that was noted.
fn answer(history: &History) -> Option<Answer> {
    let accepted = history.accepted.as_ref();
    let block = history.block.clone();
    if block.is_none() && accepted.is_none() {
        return None;
    }
    let Some((tag, format, schema)) = &history.contract else {
        let problem = Some("the journal does not say what it was to be".to_owned());
        return Some(Answer { tag: String::new(), block, value: None, problem });
    };
    let spec = match format {
        Format::Json => OutputSpec::json(tag.as_str(), schema.clone()),
        Format::Text => OutputSpec::text(tag.as_str()),
    };
    // A block that was accepted in a correction is the last that was noted; only without one the value stands alone.
    let text = block.clone().or_else(|| match (format, accepted?) {
        (Format::Text, value) => value.as_str().map(str::to_owned),
        (Format::Json, value) => Some(value.to_string()),
    });
    let read = spec.map_err(|error| error.to_string()).and_then(|spec| {
        spec.read_block(text.as_deref().unwrap_or_default()).map_err(|error| error.to_string())
    });
    let (value, problem) = match read {
        Ok(value) => (Some(value), None),
        Err(problem) => (None, Some(problem)),
    };
    Some(Answer { tag: tag.clone(), block, value, problem })
}

async fn worktree(
    path: &Path,
    ground: &Ground,
    in_use: &InUse,
    warnings: &mut Vec<String>,
) -> Option<WorktreeLeft> {
    let Some(listed) = ground.find(path) else {
        if std::fs::symlink_metadata(path).is_ok() {
            warnings.push(format!("`{}` is no worktree of a run: it is not touched", path.display()));
        }
        return None;
    };
    let mut left = WorktreeLeft {
        path: listed.path.clone(),
        branch: listed.branch.as_ref().map(ToString::to_string),
        head: listed.head.as_ref().map(ToString::to_string),
        changed: None,
        unclear: Vec::new(),
        used_by: user_of(&listed.path, in_use).cloned(),
    };
    if left.used_by.is_none() {
        match ground.contents(listed).await {
            Some(look) => {
                let paths = |changes: Vec<Change>| changes.into_iter().map(|change| change.path).collect();
                left.changed = look.changes.map(paths);
                left.unclear = look.others;
            }
            None => left.unclear.push("the repository has no state of it".to_owned()),
        }
    }
    if is_half_made(listed) {
        left.unclear.push("its making was not finished".to_owned());
    } else if let Some(reason) = &listed.locked {
        left.unclear.push(format!("git has it locked: {reason}"));
    }
    Some(left)
}

/// Looks at the branches that were worked on, apart from the one that commits were to land on.
async fn branches(history: &History, ground: &Ground) -> Result<Vec<BranchLeft>> {
    let target = target(history);
    let noted = history.worktrees.iter().map(|worktree| (&worktree.branch, worktree.base.as_deref()));
    let landing = history.landing.iter().map(|landing| (&landing.source, None));
    let mut branches: Vec<BranchLeft> = Vec::new();
    for (name, base) in noted.chain(landing) {
        let is_known = branches.iter().any(|branch| branch.name == *name) || Some(name) == target.as_ref();
        if is_known {
            continue;
        }
        let Some(tip) = ground.tip(name) else { continue };
        let without = match (target.as_ref().and_then(|target| ground.tip(target)), base) {
            (Some(target), _) => Some(target.clone()),
            (None, Some(base)) => ground.commit(base).await?,
            (None, None) => None,
        };
        let commits = ground.commits(tip, without.as_ref()).await?;
        branches.push(BranchLeft { name: name.clone(), tip: tip.to_string(), commits });
    }
    Ok(branches)
}

/// Looks at what a run that was killed has committed in the user's own work tree.
///
/// As for a run that ends, those count that no other branch has, and those that were made in there; up to the moment in which it
/// was recovered, since it is the user who goes on in there.
async fn in_place(history: &History, ground: &Ground) -> Result<Option<BranchLeft>> {
    let Some(noted) = &history.in_place else { return Ok(None) };
    let Some(tip) = in_place_tip(history, ground) else { return Ok(None) };
    let tip = match &history.recovered_at {
        Some(recovered) => ground.commit(recovered).await?.unwrap_or(tip),
        None => tip,
    };
    let base = match &noted.base {
        Some(base) => ground.commit(base).await?,
        None => None,
    };
    // Where the base is gone, nothing can be told of what came after it.
    let is_countable = base.is_some() == noted.base.is_some();
    let commits = if is_countable { ground.made_in(noted, &tip, base.as_ref()).await? } else { Vec::new() };
    Ok(Some(BranchLeft { name: noted.branch.clone(), tip: tip.to_string(), commits }))
}

/// Returns where the branch stands that a run works on in the user's own work tree.
pub(super) fn in_place_tip(history: &History, ground: &Ground) -> Option<CommitId> {
    let noted = history.in_place.as_ref()?;
    if noted.branch == "HEAD" {
        return ground.own_tree(&noted.path)?.head.clone();
    }
    ground.tip(&noted.branch).cloned()
}

fn target(history: &History) -> Option<String> {
    let landing = history.landing.as_ref().map(|landing| landing.target.clone());
    landing.or_else(|| history.head.begun.target_branch.clone())
}

async fn unreachable(history: &History, ground: &Ground) -> Result<Vec<Commit>> {
    match tip_without_branch(history, ground).await? {
        Some(tip) => ground.unreachable(&tip).await,
        None => Ok(Vec::new()),
    }
}

/// Returns the last commit that was noted, if it is there and no branch or tag leads to it.
pub(super) async fn tip_without_branch(history: &History, ground: &Ground) -> Result<Option<CommitId>> {
    let noted = history.commits.last().map(|commit| commit.sha.clone());
    let Some(tip) = noted.or_else(|| history.landing.as_ref().map(|landing| landing.tip.clone())) else {
        return Ok(None);
    };
    let Some(tip) = ground.commit(&tip).await? else { return Ok(None) };
    // The worktree that has it checked out is looked at by itself.
    Ok(if ground.holder(&tip, None).await?.is_some() { None } else { Some(tip) })
}

async fn landing(history: &History, ground: &Ground) -> Option<LandingLeft> {
    let landing = history.landing.as_ref()?;
    let commit = landing.landed.as_ref().unwrap_or(&landing.tip);
    let looked = async {
        let target = ground.tip(&landing.target)?;
        let commit = ground.commit(commit).await.ok()??;
        ground.repository.is_ancestor(&commit, target).await.ok()
    };
    let state = match (looked.await, &landing.landed) {
        (Some(true), _) | (_, Some(_)) => LandingState::Landed,
        (Some(false), None) if history.ended.is_some() => LandingState::Refused,
        (Some(false), None) => LandingState::Interrupted,
        (None, None) => LandingState::Unknown,
    };
    Some(LandingLeft {
        source: landing.source.clone(),
        tip: landing.tip.clone(),
        target: landing.target.clone(),
        state,
    })
}

/// Tells whether a branch was made by the run for itself, so that nobody else can miss it.
pub(super) fn is_own_branch(history: &History, name: &str) -> bool {
    let is_fresh = |noted: &Noted| noted.branch == name && noted.origin == Origin::Fresh;
    name.starts_with("sandcastle/")
        && name.contains(history.id.as_str())
        && history.worktrees.iter().any(is_fresh)
}
