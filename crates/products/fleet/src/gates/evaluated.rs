//! `evaluated`: `proof eval score`. `signed`: `proof verify`.

use serde_json::json;

use super::{Material, list, number, percent, text};
use crate::gate::{Finding, Judged};

pub(super) fn judge(material: &Material<'_>) -> Result<Judged, String> {
    let ended = material.only()?;
    let report = ended.report("proof.eval/1")?;
    let has_passed = ended.agrees(report["passed"].as_bool().ok_or("the report has no verdict")?)?;
    let (answers, correct) = (number(&report["summary"], "answers")?, number(&report["summary"], "correct")?);
    if answers == 0 {
        return Err("no answer was scored".to_owned());
    }
    let wrong = |case: String, message: String| Finding {
        rule: case,
        level: "wrong".to_owned(),
        place: String::new(),
        message,
        fix: "proof eval score shows what was expected".to_owned(),
        fails: !has_passed,
    };
    let answers_wrong = list(report, "answers").filter(|answer| answer["outcome"].as_str() != Some("correct"));
    let mut findings: Vec<Finding> =
        answers_wrong.map(|answer| wrong(text(answer, "case"), text(answer, "outcome"))).collect();
    let unanswered = list(report, "unanswered").filter_map(|case| case.as_str());
    findings.extend(unanswered.map(|case| wrong(case.to_owned(), "no answer".to_owned())));
    if !has_passed && findings.is_empty() {
        return Err("the evaluation failed without a wrong answer".to_owned());
    }
    let mut judged = Judged::by_findings(findings, format!("{correct} of {answers} answers are correct"));
    judged.score = percent(correct, answers);
    judged.facts = json!({ "answers": answers, "correct": correct });
    Ok(judged)
}

/// Whether the server is the one that was signed, by keys that the entry names.
pub(super) fn signed(material: &Material<'_>) -> Result<Judged, String> {
    let ended = material.only()?;
    let report = ended.report("proof.verification/1")?;
    let state = text(report, "state");
    let is_verified = state == "verified" && list(report, "refused").next().is_none();
    ended.agrees(is_verified)?;
    let refused: Vec<String> = list(report, "refused").filter_map(|one| one.as_str().map(str::to_owned)).collect();
    let reasons = if refused.is_empty() { vec![text(report, "reason")] } else { refused };
    let findings = reasons.into_iter().filter(|_| !is_verified).map(|message| Finding {
        rule: state.clone(),
        level: "fail".to_owned(),
        place: String::new(),
        message,
        fix: "sign what it is now: proof sign".to_owned(),
        fails: true,
    });
    let by = list(report, "signedBy").filter_map(|key| key.as_str()).collect::<Vec<_>>().join(", ");
    let mut judged = Judged::by_findings(findings.collect(), format!("signed by {by}"));
    judged.facts = json!({ "state": state });
    Ok(judged)
}
