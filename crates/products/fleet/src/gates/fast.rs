//! `fast`: how long a listing takes with the start, and how long test cases take. Needs a listing and two runs of the tests.

use serde_json::json;

use super::{Material, tested};
use crate::gate::{Finding, Judged};

pub(super) fn judge(material: &Material<'_>) -> Result<Judged, String> {
    let [start, first, second] = material.ended else { return Err("not all of it was measured".to_owned()) };
    start.report("proof.snapshot/1")?;
    let reports = [first.report("proof.test/1")?, second.report("proof.test/1")?];
    let p95 = tested::p95(reports);
    if p95 <= 0.0 {
        return Err("no case was measured".to_owned());
    }
    let thresholds = material.thresholds;
    let mut findings = Vec::new();
    let mut slow = |rule: &str, what: String, most: u64| {
        findings.push(Finding {
            rule: rule.to_owned(),
            level: "threshold".to_owned(),
            place: String::new(),
            message: format!("{what}, more than {most} ms"),
            fix: format!("make it faster, or set the threshold `{rule}`"),
            fails: true,
        });
    };
    if start.ms > thresholds.start_ms {
        slow("start_ms", format!("start and listing take {} ms", start.ms), thresholds.start_ms);
    }
    if p95 > thresholds.call_ms as f64 {
        slow("call_ms", format!("95 % of the cases end within {p95:.0} ms"), thresholds.call_ms);
    }
    let mut judged = Judged::by_findings(
        findings,
        format!("start and listing {} ms, 95 % of the cases within {p95:.1} ms", start.ms),
    );
    judged.facts = json!({ "start_ms": start.ms, "p95_ms": p95 });
    Ok(judged)
}
