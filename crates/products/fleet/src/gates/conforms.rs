//! `conforms`: `proof check`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Material, list, percent, text};
use crate::gate::{Finding, Judged};

pub(super) fn judge(material: &Material<'_>) -> Result<Judged, String> {
    let ended = material.only()?;
    let report = ended.report("proof.report/1")?;
    let verdict = &report["verdict"];
    let has_passed = ended.agrees(verdict["passed"].as_bool().ok_or("the report has no verdict")?)?;
    let must = &report["summary"]["must"];
    let count = |outcome: &str| must[outcome].as_u64().unwrap_or(0);
    let judged = count("pass") + count("fail") + count("warn");
    let exercised = percent(judged, judged + count("not_exercised")).filter(|_| judged > 0);
    let exercised = exercised.ok_or("no MUST rule was judged")?;
    let runs: BTreeSet<&str> = list(report, "runs").filter_map(|run| run["revision"].as_str()).collect();
    if runs.is_empty() {
        return Err("no revision was checked".to_owned());
    }
    if let Some(cut) = list(report, "runs").find_map(|run| run["cut_short"].as_str()) {
        return Err(format!("a run was cut short: {cut}"));
    }
    if let Some(missing) = material.server.revisions.iter().find(|claimed| !runs.contains(claimed.as_str())) {
        return Err(format!("revision {missing} was not checked"));
    }
    let mut findings: Vec<Finding> = list(report, "results").filter_map(finding).collect();
    let warnings = findings.iter().filter(|finding| !finding.fails).count() as u64;
    let known = list(report, "results").filter(|result| result.get("known").is_some()).count();
    // What fails a check may be a broken SHOULD or a stale baseline, which no result shows.
    if !has_passed && findings.iter().all(|finding| !finding.fails) {
        findings.push(own("check", text(verdict, "summary"), "run `proof check` and read its report"));
    }
    let thresholds = material.thresholds;
    if exercised < f64::from(thresholds.exercised) {
        let what =
            format!("only {exercised} % of the applicable MUST rules were judged, not {} %", thresholds.exercised);
        findings.push(own("exercised", what, "give `hints`: proof help hints"));
    }
    if let Some(most) = thresholds.warnings.filter(|most| warnings > *most) {
        let what = format!("{warnings} warnings, more than {most}");
        findings.push(own("warnings", what, "run `proof check` and read its warnings"));
    }
    let score = report["summary"]["score"].as_f64();
    let grade =
        if report["summary"]["grade"].is_object() { "100/100".to_owned() } else { score.unwrap_or(0.0).to_string() };
    let revisions = runs.into_iter().collect::<Vec<_>>().join(", ");
    let green = format!("{grade}: {judged} MUST rules judged at {revisions}, {warnings} warnings");
    let mut judged_gate = Judged::by_findings(findings, green);
    judged_gate.score = score;
    judged_gate.coverage = Some(exercised);
    judged_gate.facts = json!({
        "must_judged": judged, "must_failed": count("fail"), "warnings": warnings, "known": known,
        "perfect": report["summary"]["grade"].is_object(), "revisions": revisions,
    });
    Ok(judged_gate)
}

/// A finding of this gate's thresholds.
fn own(rule: &str, message: String, fix: &str) -> Finding {
    let (rule, fix) = (rule.to_owned(), fix.to_owned());
    Finding { rule, level: "threshold".to_owned(), place: String::new(), message, fix, fails: true }
}

/// A broken rule that no baseline knows.
fn finding(result: &Value) -> Option<Finding> {
    let fails = match result["outcome"].as_str() {
        Some("fail") => true,
        Some("warn") => false,
        _ => return None,
    };
    if result.get("known").is_some() {
        return None;
    }
    let rule = text(result, "rule");
    Some(Finding {
        level: text(result, "level"),
        place: format!("{} {}", text(result, "transport"), text(result, "revision")),
        message: text(result, "message"),
        fix: format!("proof explain {}", crate::launch::quoted(&rule)),
        fails,
        rule,
    })
}
