//! `locked`: `proof lock --check`.

use serde_json::json;

use super::{Material, list, text};
use crate::gate::{Finding, Judged};
use crate::launch::{quoted, quoted_path};

pub(super) fn judge(material: &Material<'_>) -> Result<Judged, String> {
    let ended = material.only()?;
    let report = ended.report("proof.lock-drift/1")?;
    let is_in_sync = match report["status"].as_str() {
        Some("in-sync") => true,
        Some("drift") => false,
        _ => return Err("the report has no status".to_owned()),
    };
    ended.agrees(is_in_sync)?;
    if let Some(kind) = list(report, "notCompared").next() {
        return Err(format!("{kind} were not compared"));
    }
    let path = material.server.lock.clone().unwrap_or_default();
    let findings: Vec<Finding> = list(report, "changes")
        .map(|change| {
            let of = text(change, "of");
            let level = text(change, "severity");
            Finding {
                rule: text(change, "class"),
                fails: level != "info",
                level,
                message: text(change, "what"),
                fix: format!(
                    "review it, then: proof lock -o {} --approve {} --by YOU --reason WHY …",
                    quoted_path(&path),
                    quoted(&of)
                ),
                place: of,
            }
        })
        .collect();
    if !is_in_sync && findings.iter().all(|finding| !finding.fails) {
        return Err("the lock has drifted without a change".to_owned());
    }
    let mut judged = Judged::by_findings(findings, format!("in step with {path}"));
    judged.facts = json!({ "lock": path });
    Ok(judged)
}
