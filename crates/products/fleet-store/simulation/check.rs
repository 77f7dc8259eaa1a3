//! What the store says at the end: every result is there, once, with all that belongs to it.

use std::collections::HashSet;

use fleet_store::{GateResult, LISTED, State, Store};

use super::Failed;
use super::roles::{GATES, artefact, finding_count, name, summary};

/// Fails unless everything is there exactly once.
pub(crate) async fn everything_is_there_once(store: &Store, servers: u64) -> Result<(), Failed> {
    let expected = servers * GATES.len() as u64;
    let counts = store.counts(None).await?;
    if !counts.is_empty() || counts.failed != 0 || counts.cancelled != 0 || counts.done != expected {
        return Err(format!("{expected} jobs should be done, and no other be there: {counts:?}").into());
    }
    if expected <= u64::from(LISTED) {
        let done = store.jobs(None, Some(State::Done), LISTED).await?;
        let keys: HashSet<_> = done.iter().map(|job| &job.result.key).collect();
        if keys.len() as u64 != expected {
            return Err(format!("{expected} keys should be done: {}", keys.len()).into());
        }
    }
    for number in 0..servers {
        server_is_whole(store, number).await?;
    }
    Ok(())
}

async fn server_is_whole(store: &Store, number: u64) -> Result<(), Failed> {
    let name = name(number);
    let server = store.server(&name).await?.ok_or_else(|| format!("{name} is missing"))?;
    let versions = store.versions(server.id).await?;
    if versions.len() != 1 {
        return Err(format!("{name} has {} versions", versions.len()).into());
    }
    let results = store.history(server.id, None, LISTED).await?;
    let gates: HashSet<_> = results.iter().map(|result| result.of.gate.as_str()).collect();
    if results.len() != GATES.len() || gates != HashSet::from(GATES) {
        return Err(format!("{name} has {} results of {} gates", results.len(), gates.len()).into());
    }
    for result in &results {
        result_is_whole(store, number, result).await.map_err(|error| format!("{name}, {}: {error}", result.of.gate))?;
    }
    Ok(())
}

async fn result_is_whole(store: &Store, number: u64, result: &GateResult) -> Result<(), Failed> {
    let gate = &result.of.gate;
    if result.is.summary != summary(number, gate) {
        return Err("its summary is another's".into());
    }
    let findings = store.findings(result.id).await?.len() as u64;
    if findings != finding_count(number) || findings != result.finding_count.unsigned_abs() {
        return Err(format!("it has {findings} findings").into());
    }
    let hash = result.is.report.as_ref().ok_or("it has no report")?;
    let bytes = store.artefact(hash).await?.ok_or("its report is lost")?;
    if bytes != artefact(number, gate).as_bytes() {
        return Err("its report is another's".into());
    }
    Ok(())
}
