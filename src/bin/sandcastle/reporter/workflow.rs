//! The words for what a workflow does and how it ended. What models, agents and documents said is cleaned by whoever prints it.

use std::time::Duration;

use sandcastle::workflow::{
    ApprovalReason, ApprovalRequest, StepRecord, StepStatus, WorkflowEvent, WorkflowResult, WorkflowStatus,
};
use sandcastle::{AgentEvent, ModelRunEvent, RunEvent, Usage};
use serde_json::Value;

use super::human::{self, clean};
use super::{Lines, Verbosity};

/// Words an event, if it is worth a line; some are not where a line moves that says the same.
pub(super) fn event(event: &WorkflowEvent, verbosity: Verbosity, moves: bool) -> Option<String> {
    Some(match event {
        WorkflowEvent::Started { run, resumed: 0, .. } => format!("run {run}"),
        WorkflowEvent::Started { run, resumed, .. } => {
            format!("run {run} goes on: {} done before", counted(*resumed, "step"))
        }
        WorkflowEvent::StepStarted { step, again: true, .. } => {
            format!("{step}: is done again, since it had begun and not ended")
        }
        WorkflowEvent::StepStarted { step, kind, .. } if !moves => format!("{step}: {kind}"),
        WorkflowEvent::StepRetried { step, problems } => {
            format!("{step}: is asked once more: {}", problems.join("; "))
        }
        WorkflowEvent::Model { step, event } => format!("{step}: {}", model(event)?),
        WorkflowEvent::Agent { step, event } => {
            if moves && is_shown_by_a_row(event) && verbosity != Verbosity::Verbose {
                return None;
            }
            format!("{step}: {}", human::event(event, verbosity)?.trim_start())
        }
        WorkflowEvent::ApprovalAsked { request } => format!("{} asks: {}", request.step, request.message),
        WorkflowEvent::StepEnded { record } => ended(record),
        WorkflowEvent::Warning { message } => format!("warning: {message}"),
        _ => return None,
    })
}

fn is_shown_by_a_row(event: &RunEvent) -> bool {
    matches!(event, RunEvent::Agent { event: AgentEvent::ToolCall { .. } | AgentEvent::Waiting { .. } })
}

fn model(event: &ModelRunEvent) -> Option<String> {
    match event {
        ModelRunEvent::StrategyChosen { choice, .. } => {
            Some(format!("output by `{}`: {}", choice.strategy, choice.reason))
        }
        ModelRunEvent::CallFailed { number, message, .. } => Some(format!("call {number} failed: {message}")),
        _ => None,
    }
}

/// Words how a step ended.
fn ended(record: &StepRecord) -> String {
    let step = &record.step;
    let how = match record.status {
        StepStatus::Completed => "done",
        StepStatus::Resumed => return format!("{step}: was done before"),
        StepStatus::Failed => record.error.as_deref().unwrap_or("failed"),
        StepStatus::AwaitingApproval => return format!("{step}: waits for an approval"),
        StepStatus::Rejected => return format!("{step}: was rejected"),
        StepStatus::Cancelled => "was ended",
        _ => "ended",
    };
    let mut facts = vec![format!("{:.1} s", record.time.as_secs_f64())];
    facts.extend(exit_code(record).map(|code| format!("exit code {code}")));
    if record.attempts > 1 {
        facts.push(counted(record.attempts as usize, "attempt"));
    }
    facts.extend(usage(&record.usage));
    if !record.commits.is_empty() {
        facts.push(counted(record.commits.len(), "commit"));
    }
    format!("{step}: {how} ({})", facts.join(", "))
}

/// The exit code of a command that failed, where the workflow goes on all the same.
fn exit_code(record: &StepRecord) -> Option<i64> {
    let code = record.output.as_ref().filter(|_| record.kind == "tool")?.get("exit_code")?.as_i64()?;
    (code != 0).then_some(code)
}

/// Words what a workflow gave within `time`; `next` is the command line to go on with.
pub(crate) fn result(result: &WorkflowResult, time: Duration, next: Option<&str>) -> String {
    let mut lines = Lines::default();
    match &result.status {
        WorkflowStatus::AwaitingApproval { approvals } => {
            lines.add("status", "awaiting approval");
            lines.all("asks", approvals.iter().map(|it| format!("{}: {}", it.step, it.message)));
        }
        WorkflowStatus::Rejected { step, note } if note.is_empty() => lines.add("rejected", step),
        WorkflowStatus::Rejected { step, note } => lines.add("rejected", format_args!("{step}: {note}")),
        _ => {}
    }
    lines.add("steps", format_args!("{} in {:.1} s", result.trace.len(), time.as_secs_f64()));
    lines.some("used", Some(usage(&result.usage).join(", ")).filter(|used| !used.is_empty()));
    for record in result.trace.iter().filter(|record| !record.commits.is_empty()) {
        lines.some("branch", record.branch.as_ref());
        lines.commits(&record.commits);
    }
    lines.add("run", &result.run_id);
    let facts = result.secrets().mask(&lines.behind("")).into_owned();
    match (&result.status, next) {
        (WorkflowStatus::Completed, _) => format!("{}\n\n{facts}", clean(output(result).trim())),
        (_, None) => facts,
        // A line that somebody is to paste is what it is.
        (_, Some(next)) => {
            let mut lines = Lines::default();
            lines.add("go on", next);
            format!("{facts}\n{}", lines.behind(""))
        }
    }
}

/// Words what a workflow gave, with masks over what looks secret.
fn output(result: &WorkflowResult) -> String {
    let mut output = result.output.clone();
    result.secrets().mask_value(&mut output);
    match output {
        Value::String(text) => text,
        value => format!("{value:#}"),
    }
}

/// Words why somebody is asked, for whoever decides.
pub(crate) fn asked(request: &ApprovalRequest) -> String {
    let mut lines = vec![format!("{} asks: {}", request.step, request.message)];
    if let ApprovalReason::Guardrail { confidence, threshold, output } = &request.reason {
        lines.push(format!("  confidence {confidence}, and {threshold} is asked for:"));
        lines.extend(format!("{output:#}").lines().take(40).map(|line| format!("  {line}")));
    }
    clean(&lines.join("\n"))
}

fn usage(usage: &Usage) -> Vec<String> {
    let tokens = Some(usage.total_tokens()).filter(|tokens| *tokens > 0);
    let tokens = tokens.map(|tokens| format!("{} tokens", thousands(tokens)));
    let cost = usage.cost_usd.map(|cost| format!("${cost:.4}"));
    tokens.into_iter().chain(cost).collect()
}

fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// Writes a number with commas.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut written = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            written.push(',');
        }
        written.push(digit);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_people_read_them() {
        for (number, written) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(number), written);
        }
    }
}
