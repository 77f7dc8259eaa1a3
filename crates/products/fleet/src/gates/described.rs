//! `described`: `proof eval lint`.

use serde_json::json;

use super::{Material, list, number, text};
use crate::gate::{Finding, Judged};
use crate::words::counted;

pub(super) fn judge(material: &Material<'_>) -> Result<Judged, String> {
    let ended = material.only()?;
    let report = ended.report("proof.eval-lint/1")?;
    let tools = number(report, "tools")?;
    if tools != material.surface.tools {
        return Err(format!("the lint saw {tools} tools, the listing {}", material.surface.tools));
    }
    if report["compared"].as_bool() != Some(true) {
        return Err("too many tools to be compared with each other".to_owned());
    }
    let thresholds = material.thresholds;
    let mut findings: Vec<Finding> = list(report, "findings")
        .map(|finding| {
            let check = text(finding, "check");
            let fails = finding["severity"].as_str() != Some("note") && thresholds.lint.contains(&check);
            Finding {
                level: text(finding, "severity"),
                place: format!("{}{}", text(finding, "subject"), text(finding, "pointer")),
                message: format!("{}: {}", text(finding, "subject"), text(finding, "message")),
                fix: text(finding, "remedy"),
                fails,
                rule: check,
            }
        })
        .collect();
    let tokens = list(report, "estimatedTokens").filter_map(|cost| cost["tokens"].as_u64()).max().unwrap_or(0);
    if let Some(most) = thresholds.tokens.filter(|most| tokens > *most) {
        findings.push(Finding {
            rule: "tokens".to_owned(),
            level: "fail".to_owned(),
            place: "tools".to_owned(),
            message: format!("the list of tools costs about {tokens} tokens, more than {most}"),
            fix: "fewer tools, shorter descriptions, or another threshold `tokens`".to_owned(),
            fails: true,
        });
    }
    let remarks = findings.len();
    let mut judged = Judged::by_findings(
        findings,
        format!("{}, {}, about {tokens} tokens", counted(tools, "tool"), counted(remarks, "remark")),
    );
    judged.facts = json!({ "tools": tools, "remarks": remarks, "tokens": tokens });
    Ok(judged)
}
