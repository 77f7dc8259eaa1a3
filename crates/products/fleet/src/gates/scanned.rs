//! `scanned`: `proof scan` of what the server lists, and of its launch.

use serde_json::{Value, json};

use super::{Material, list, text};
use crate::gate::{Finding, Judged};

/// A launch that starts whatever is newest makes the gate red whatever its severity: no other result would hold tomorrow.
const UNPINNED: &str = "scan.unpinned-launch";

pub(super) fn judge(material: &Material<'_>) -> Result<Judged, String> {
    let ended = material.only()?;
    let report = ended.report("proof.report/1")?;
    if report["subject"]["kind"].as_str() != Some("scan") {
        return Err("the report is of no scan".to_owned());
    }
    let verdict = &report["verdict"];
    let has_passed = ended.agrees(verdict["passed"].as_bool().ok_or("the report has no verdict")?)?;
    if let Some(why) = list(report, "incomplete").next() {
        let why = why.as_str().map_or_else(|| why.to_string(), str::to_owned);
        return Err(format!("the scan is incomplete: {why}"));
    }
    let tools = report["summary"]["items"]["tool"].as_u64().unwrap_or(0);
    if tools != material.surface.tools {
        return Err(format!("the scan read {tools} tools, the listing has {}", material.surface.tools));
    }
    let least = rank(&material.thresholds.severity);
    let findings: Vec<Finding> = list(report, "results")
        .filter(|result| result.get("suppressed").is_none())
        .map(|result| finding(result, least))
        .collect();
    if !has_passed && findings.iter().all(|finding| !finding.fails) {
        return Err(format!("the scan failed without a finding: {}", text(verdict, "summary")));
    }
    let strings = report["summary"]["strings"].as_u64().unwrap_or(0);
    let below = findings.iter().filter(|finding| !finding.fails).count();
    let mut judged =
        Judged::by_findings(findings, format!("{strings} texts read, {below} findings below the threshold"));
    judged.facts = json!({ "strings": strings, "findings": report["summary"]["findings"], "suppressed": report["summary"]["suppressed"] });
    Ok(judged)
}

fn finding(result: &Value, least: usize) -> Finding {
    let severity = text(result, "severity");
    let rule = text(result, "rule");
    let place = &result["place"];
    Finding {
        fails: rank(&severity) >= least || rule == UNPINNED,
        level: severity,
        place: format!("{} {} {}", text(place, "kind"), text(place, "item"), text(place, "pointer")).trim().to_owned(),
        message: text(result, "message"),
        fix: text(result, "fix"),
        rule,
    }
}

/// Higher is worse; an unknown word counts as the worst.
fn rank(severity: &str) -> usize {
    ["info", "low", "medium", "high"].iter().position(|known| *known == severity).unwrap_or(3)
}
