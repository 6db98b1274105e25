//! Runs and what is left of them, in the form for persons. Most of it was said by agents, so it is cleaned.

use std::time::Duration;

use sandcastle::TurnMode;
use sandcastle::journal::{
    Cleaned, CleanedItem, LandingState, Outcome, Recovery, Removal, RescuedWork, RunReport, RunState,
};

use super::human::one_line;
use super::lines::Lines;
use super::next::{self, Resume, quoted};

/// The most characters of a cell.
const CELL: usize = 48;

/// Words a list of runs.
pub(crate) fn table(runs: &[RunReport]) -> String {
    if runs.is_empty() {
        return "no runs".to_owned();
    }
    let heading = ["RUN", "STATE", "AGE", "AGENT", "BRANCH", "LEFT"].map(str::to_owned);
    let rows: Vec<[String; 6]> = std::iter::once(heading).chain(runs.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..5).map(width).collect();
    let line = |row: &[String; 6]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}  "));
        let line: String = cells.chain([row[5].clone()]).collect();
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn row(run: &RunReport) -> [String; 6] {
    let left = run.left().join(", ");
    [
        run.id.to_string(),
        state(run).to_owned(),
        run.age().map_or_else(|| "-".to_owned(), age),
        cell(worker(run).as_deref()),
        cell(run.branch.as_deref()),
        if left.is_empty() {
            run.error.as_deref().map_or_else(|| "-".to_owned(), short)
        } else {
            one_line(&left)
        },
    ]
}

/// Who did the work: an agent, or a workflow by its name.
fn worker(run: &RunReport) -> Option<String> {
    match &run.workflow {
        Some(_) => Some(format!("workflow {}", run.name.as_deref().unwrap_or_default())),
        None => run.agent.clone(),
    }
}

fn state(run: &RunReport) -> &'static str {
    match run.workflow.as_ref().map(|workflow| workflow.status.as_str()) {
        Some("awaiting-approval") => return "waiting",
        Some("rejected") => return "rejected",
        _ => {}
    }
    match (run.state, run.outcome) {
        (RunState::Finished, Some(Outcome::Done)) => "done",
        (RunState::Finished, Some(Outcome::Failed)) => "failed",
        (RunState::Finished, Some(Outcome::Cancelled)) => "cancelled",
        (RunState::Died, _) if run.recovered => "recovered",
        (state, _) => state.as_str(),
    }
}

fn cell(text: Option<&str>) -> String {
    text.map_or_else(|| "-".to_owned(), short)
}

fn short(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(CELL) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

fn age(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m", seconds / 60),
        seconds @ 3600..86400 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86400),
    }
}

/// Words one run and what is left of it.
pub(crate) fn run(run: &RunReport) -> String {
    let mut lines = Lines::default();
    describe(run, &mut lines);
    if run.workflow.as_ref().is_some_and(|workflow| workflow.can_be_resumed && workflow.file.is_none()) {
        lines.add("next", "resume it in the program that built its workflow: it was read from no file");
    } else if run.state == RunState::Died && !run.recovered {
        lines.add("next", format_args!("sandcastle runs recover {}", run.id));
    }
    lines.some("resume", resume(run));
    lines.behind("")
}

fn describe(run: &RunReport, lines: &mut Lines) {
    lines.add("run", &run.id);
    let ago = run.age().map_or_else(String::new, |since| format!(", began {} ago", age(since)));
    lines.add("state", format_args!("{}{ago}", state(run)));
    lines.some("error", run.error.as_ref());
    lines.some("name", run.name.as_ref());
    let model = run.model.as_ref().map_or_else(String::new, |model| format!(" ({model})"));
    lines.some("agent", run.agent.as_ref().map(|agent| format!("{agent}{model}")));
    for step in run.workflow.iter().flat_map(|workflow| &workflow.steps) {
        lines.add("step", format_args!("{} {}", step.step, step.status));
    }
    lines.some("pid", run.pid.filter(|_| run.state == RunState::Running));
    let target =
        run.target_branch.as_ref().map_or_else(String::new, |target| format!(", to land on {target}"));
    lines.some("branch", run.branch.as_ref().map(|branch| format!("{branch}{target}")));
    for worktree in &run.worktrees {
        lines.add("worktree", worktree.path.display());
        lines.some("in use by", worktree.used_by.as_ref());
        lines.all(
            "changed",
            worktree.changed.iter().flatten().map(|path| path.display()).collect::<Vec<_>>().into_iter(),
        );
        lines.all("unclear", worktree.unclear.iter());
    }
    for branch in &run.branches {
        let commits = branch.commits.iter();
        lines.all(
            "commit",
            commits.map(|commit| format!("{:.10} {} ({})", commit.sha, commit.subject, branch.name)),
        );
    }
    let unnamed = run.unreachable_commits.iter();
    lines
        .all("commit", unnamed.map(|commit| format!("{:.10} {} (on no branch)", commit.sha, commit.subject)));
    if let Some(landing) = &run.landing {
        let state = match landing.state {
            LandingState::Landed => "landed",
            LandingState::Refused => "was refused; `git merge` finishes it",
            LandingState::Interrupted => "was interrupted; nothing of it is on the target yet",
            _ => "is not known to have landed",
        };
        lines.add("landing", format_args!("{} on {} {state}", landing.source, landing.target));
    }
    lines.all("process", run.processes.iter().map(|process| format!("{} {}", process.pid, process.name)));
    lines.all(
        "sandbox",
        run.sandboxes.iter().map(|sandbox| format!("{} of {}", sandbox.id, sandbox.provider)),
    );
    lines.some("scratch", run.scratch.as_ref().map(|path| path.display()));
    if let Some(session) = &run.session {
        lines.add("session", &session.id);
        lines.some("file", session.file.as_ref().map(|file| file.display()));
    }
    if run.mode == TurnMode::SpeakOnly {
        lines.add("work", "done; the agent was asked for the output");
    }
    if let Some(answer) = &run.answer {
        match (&answer.value, &answer.problem) {
            (Some(value), _) => lines.add("answer", value),
            (None, problem) => {
                lines.add("answer", answer.block.as_deref().unwrap_or_default());
                lines.some("not valid", problem.as_ref());
            }
        }
    }
    lines.all("warning", run.warnings.iter());
}

/// Words what was saved, and what to do with it.
pub(crate) fn recovery(recovery: &Recovery) -> String {
    let run = &recovery.run;
    let mut lines = Lines::default();
    describe(run, &mut lines);
    if recovery.ended_processes > 0 {
        lines.add("ended", format_args!("{} processes", recovery.ended_processes));
    }
    for rescued in &recovery.rescued {
        let what = match rescued.what {
            RescuedWork::Uncommitted => "the uncommitted work",
            _ => "commits that were on no branch",
        };
        lines.add("rescued", format_args!("{what}: {}", rescued.branch));
    }
    lines.all("in place", recovery.left_in_place.iter());
    for branch in branches(recovery) {
        lines.add("next", format_args!("git merge {}", quoted(branch)));
    }
    lines.some("resume", resume(run));
    if run.left().is_empty() {
        lines.add("left", "nothing");
    } else {
        lines.add("clean", format_args!("sandcastle runs clean {} [--force]", run.id));
    }
    lines.behind("")
}

/// The branches to look at. A rescue branch of a worktree's files has the commits of its branch, too; what was committed in the
/// user's own work tree is there already.
fn branches(recovery: &Recovery) -> Vec<&str> {
    let rescued = recovery.rescued.iter().map(|rescued| rescued.branch.as_str());
    let is_apart = recovery.run.strategy.as_deref() != Some("head");
    let own = recovery.run.branches.iter().filter(|branch| is_apart && !branch.commits.is_empty());
    own.map(|branch| branch.name.as_str()).chain(rescued).collect()
}

/// Words the command line that goes on with a run: with the steps of a workflow, or with the conversation where its work is.
pub(crate) fn resume(run: &RunReport) -> Option<String> {
    if let Some(workflow) = &run.workflow {
        let file = workflow.file.as_deref().filter(|_| workflow.can_be_resumed)?;
        return Some(next::workflow(&run.id, file, run.cwd.as_deref()));
    }
    if run.state == RunState::Running {
        return None;
    }
    let (session, agent) = (run.session.as_ref()?, run.agent.as_ref()?);
    let kept = run.worktrees.first().map(|worktree| worktree.path.as_path());
    let has_commits = run.branches.iter().any(|branch| !branch.commits.is_empty());
    let strategy = match (kept, run.strategy.as_deref(), run.branch.as_ref()) {
        (None, Some("branch"), Some(branch)) => Some(format!("branch:{branch}")),
        (None, Some("merge-to-head"), Some(branch)) if has_commits => Some(format!("branch:{branch}")),
        (None, Some("merge-to-head"), _) => Some("merge-to-head".to_owned()),
        _ => None,
    };
    let resume = Resume {
        agent,
        model: run.model.as_deref(),
        sandbox: whereabouts(run.sandbox.as_deref())?,
        folder: Some(kept.or(run.cwd.as_deref())?),
        strategy,
        session: &session.id,
    };
    Some(resume.to_string())
}

/// Returns the flags of a sandbox, as far as a run has written it down; `None` for one that the command does not have.
fn whereabouts(sandbox: Option<&str>) -> Option<Vec<(&'static str, Option<String>)>> {
    match sandbox {
        None | Some("none") => Some(Vec::new()),
        Some("bubblewrap") => Some(vec![("--sandbox", Some("bubblewrap".to_owned()))]),
        // Which image it was is for whoever knows to say.
        Some(name @ ("docker" | "podman")) => {
            Some(vec![("--sandbox", Some(name.to_owned())), ("--image", Some("...".to_owned()))])
        }
        Some(_) => None,
    }
}

/// Words what was removed and what was kept.
pub(crate) fn cleaned(cleaned: &Cleaned, removal: Removal) -> String {
    let removed = if removal == Removal::DryRun { "would remove" } else { "removed" };
    let line = |verb: &str, item: &CleanedItem| {
        let of = item.run.as_ref().map_or_else(String::new, |run| format!(" of {run}"));
        one_line(&format!("{verb} {}{of}: {}", item.what, item.why))
    };
    let mut lines: Vec<String> = cleaned.removed.iter().map(|item| line(removed, item)).collect();
    lines.extend(cleaned.kept.iter().map(|item| line("kept", item)));
    if lines.is_empty() { "nothing to clean".to_owned() } else { lines.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_told_in_its_largest_unit() {
        for (seconds, told) in [(0, "0s"), (59, "59s"), (60, "1m"), (7199, "1h"), (200_000, "2d")] {
            assert_eq!(age(Duration::from_secs(seconds)), told);
        }
    }

    #[test]
    fn a_cell_is_one_short_line_that_moves_no_cursor() {
        assert_eq!(short("a\nb\x1b[2J"), "a b\u{fffd}[2J");
        assert_eq!(short(&"x".repeat(60)), format!("{}...", "x".repeat(CELL)));
    }
}
