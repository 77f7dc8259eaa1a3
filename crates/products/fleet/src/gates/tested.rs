//! `tested`: `proof test --coverage`, run twice. A case that passes once and fails once makes the gate red.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Material, list, number, percent, text};
use crate::gate::{Finding, Judged};
use crate::launch::{quoted, quoted_path};

pub(super) fn judge(material: &Material<'_>) -> Result<Judged, String> {
    let [first, second] = material.ended else { return Err("the tests did not run twice".to_owned()) };
    let reports = [first.report("proof.test/1")?, second.report("proof.test/1")?];
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for (ended, report) in [first, second].into_iter().zip(reports) {
        let failed = number(&report["summary"], "failed")?;
        ended.agrees(failed == 0 && is_run(report)?)?;
        for failure in failures(report) {
            if seen.insert((failure.rule.clone(), failure.place.clone())) {
                findings.push(failure);
            }
        }
    }
    let [report, again] = reports;
    let passed = number(&report["summary"], "passed")?;
    if passed == 0 && findings.is_empty() {
        return Err("no case passed".to_owned());
    }
    let coverage = coverage_of(report, material)?;
    let thresholds = material.thresholds;
    if let Some(touched) = coverage.percent.filter(|touched| *touched < f64::from(thresholds.touched)) {
        let missing = wire::escape::snippet(&coverage.untouched.join(", "), 200);
        let what = format!("cases use {touched} % of tools and arguments, not {} %: {missing}", thresholds.touched);
        findings.push(own("touched", what, "`proof generate` makes cases; write what it leaves out"));
    }
    let negatives = passed_negatives(report, material.negatives);
    let share = percent(negatives, passed).unwrap_or(0.0);
    if share < f64::from(thresholds.negatives) {
        let what = format!("{share} % of the cases expect a refusal, not {} %", thresholds.negatives);
        findings.push(own("negatives", what, "add cases with `outcome: refused`"));
    }
    let files = list(report, "files").count();
    let all = passed + number(&report["summary"], "failed")? + number(&report["summary"], "skipped")?;
    let p95 = p95([report, again]);
    let mut judged = Judged::by_findings(findings, format!("{passed} cases in {files} files pass twice"));
    judged.coverage = coverage.percent;
    judged.score = percent(passed, all);
    judged.facts = json!({
        "cases": all, "passed": passed, "skipped": report["summary"]["skipped"], "files": files,
        "negatives": negatives, "p95_ms": p95,
    });
    Ok(judged)
}

/// Whether every file ran at every place.
fn is_run(report: &Value) -> Result<bool, String> {
    let places = || list(report, "files").flat_map(|file| list(file, "places"));
    if let Some(why) = places().find_map(|place| place["hindered"].as_str()) {
        return Err(format!("a test file did not run: {why}"));
    }
    if list(report, "files").any(|file| list(file, "places").next().is_none()) {
        return Err("a test file did not run".to_owned());
    }
    Ok(places().next().is_some())
}

fn failures(report: &Value) -> Vec<Finding> {
    let mut out = Vec::new();
    for file in list(report, "files") {
        let path = text(file, "file");
        let cases = list(file, "places").flat_map(|place| list(place, "cases").map(move |case| (place, case)));
        for (place, case) in cases.filter(|(_, case)| case["verdict"].as_str() == Some("failed")) {
            let failure = list(case, "failures").next().cloned().unwrap_or_default();
            let at = text(&failure, "path");
            let message = format!("{at} expected {}, found {}", text(&failure, "expected"), text(&failure, "found"));
            out.push(Finding {
                rule: text(case, "name"),
                level: "failed".to_owned(),
                place: format!("{path}:{} {}", case["line"], text(place, "revision")),
                message: message.trim().to_owned(),
                fix: format!("proof test {} --filter {}", quoted_path(&path), quoted(&text(case, "name"))),
                fails: true,
            });
        }
    }
    out
}

struct Coverage {
    percent: Option<f64>,
    untouched: Vec<String>,
}

/// How much of the server's tools and arguments the cases use; an error where the files ran another server.
fn coverage_of(report: &Value, material: &Material<'_>) -> Result<Coverage, String> {
    let surface = material.surface;
    let named = format!("{} {}", surface.name, surface.version);
    let servers: Vec<&Value> = list(report, "coverage").collect();
    let names = || servers.iter().map(|server| text(server, "server")).collect::<Vec<_>>().join(", ");
    let of_server = |server: &&&Value| text(server, "server").trim() == named.trim();
    let Some(own) = servers.iter().find(of_server) else {
        return Err(format!("the test files ran {}, and the entry starts {}", names(), named.trim()));
    };
    let tools = number(&own["tools"], "all")?;
    if tools != surface.tools || list(own, "unlisted").next().is_some() {
        return Err(format!("the test files saw {tools} tools, the listing {}", surface.tools));
    }
    let kinds = ["tools", "arguments"];
    let sum = |member: &str| kinds.iter().map(|kind| own[kind][member].as_u64().unwrap_or(0)).sum::<u64>();
    let untouched = kinds.iter().flat_map(|kind| list(&own[kind], "untouched")).filter_map(Value::as_str);
    Ok(Coverage { percent: percent(sum("touched"), sum("all")), untouched: untouched.map(str::to_owned).collect() })
}

/// How many of the cases that passed expect a refusal.
fn passed_negatives(report: &Value, negatives: &[String]) -> u64 {
    let names: BTreeSet<&str> = negatives.iter().map(String::as_str).collect();
    cases(report)
        .filter(|case| case["verdict"].as_str() == Some("passed"))
        .filter(|case| case["name"].as_str().is_some_and(|name| names.contains(name)))
        .count() as u64
}

fn cases(report: &Value) -> impl Iterator<Item = &Value> {
    list(report, "files").flat_map(|file| list(file, "places")).flat_map(|place| list(place, "cases"))
}

/// The milliseconds within which 95 % of the cases that ran ended; 0 where none ran.
pub(super) fn p95(reports: [&Value; 2]) -> f64 {
    let ran = |case: &&Value| case["verdict"].as_str() != Some("skipped");
    let mut times: Vec<f64> =
        reports.into_iter().flat_map(cases).filter(ran).filter_map(|case| case["elapsed_ms"].as_f64()).collect();
    times.sort_by(f64::total_cmp);
    let at = (times.len() * 95).div_ceil(100).saturating_sub(1);
    times.get(at).copied().unwrap_or(0.0)
}

fn own(rule: &str, message: String, fix: &str) -> Finding {
    let (rule, fix) = (rule.to_owned(), fix.to_owned());
    Finding { rule, level: "threshold".to_owned(), place: String::new(), message, fix, fails: true }
}
