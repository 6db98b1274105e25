//! `sandcastle doctor`: what works on this machine, and how to get the rest.

use serde_json::{Value, json};

use crate::doctor::{Finding, State, Subject, examine};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::reporter::{Reporter, clean};

pub(super) async fn doctor(reporter: &Reporter) -> Result<Exit, Failure> {
    let findings = examine().await;
    let can_work = findings.iter().all(|found| found.subject != Subject::Git || found.state == State::Works);
    let described: Vec<Value> = findings.iter().map(described).collect();
    reporter.result(&json!({ "ok": can_work, "findings": described }), &table(&findings))?;
    Ok(if can_work { Exit::Done } else { Exit::Failed })
}

fn described(found: &Finding) -> Value {
    json!({
        "subject": found.subject.name(),
        "name": found.name,
        "state": found.state.name(),
        "version": found.version,
        "detail": found.detail,
        "hint": found.hint,
    })
}

fn table(findings: &[Finding]) -> String {
    findings.iter().map(row).collect::<Vec<_>>().join("\n")
}

/// Words one finding. Versions and complaints are said by programs.
fn row(found: &Finding) -> String {
    let said = [found.version.as_deref(), found.detail.as_deref()];
    let said = said.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let line = format!("{:<8} {:<8} {:<12} {said}", found.state.name(), found.subject.name(), found.name);
    let line = clean(&line.replace(['\n', '\t'], " ")).trim_end().to_owned();
    match found.hint {
        Some(hint) => format!("{line}\n{:18}-> {hint}", ""),
        None => line,
    }
}
