//! Phrases that several formats share.

use crate::baseline::Known;
use crate::{Finding, Made, Report, ReportView, Subject, Tally};

/// What a report calls its subject: by its own name, where it has one.
pub(crate) fn name(subject: &Subject) -> String {
    subject.name.clone().unwrap_or_else(|| format!("{} (unnamed)", subject.kind))
}

/// The score, never without its coverage. Where there are several runs, each rule counts in each of them.
pub(crate) fn score(report: &Report) -> String {
    let must = report.summary.must;
    let unit = if report.runs.len() > 1 { "MUST rules (rule × run)" } else { "MUST rules" };
    let coverage = format!("coverage {} of {} applicable", must.judged(), must.binding());
    match report.summary.score {
        Some(_) if report.is_perfect() => {
            let passed = if must.pass == 1 {
                format!("the one judged {}", unit.replacen("rules", "rule", 1))
            } else {
                format!("all {} judged {unit}", must.pass)
            };
            format!("Score {GRADE}: {passed} passed; {}.", unexercised(must))
        }
        Some(score) => {
            let judged = must.pass + must.fail;
            format!("Score {score:.1} %: {} of {judged} judged {unit} passed; {coverage}.", must.pass)
        }
        None => format!("No score: no MUST rule was judged; {coverage}."),
    }
}

/// What is earned where all judged MUST rules passed.
pub(crate) const GRADE: &str = "100/100";

/// What the grade says nothing about.
pub(crate) fn unexercised(must: Tally) -> String {
    match must.not_exercised {
        0 => "all applicable were exercised".to_owned(),
        missing => format!("{missing} of {} applicable not exercised", must.binding()),
    }
}

/// When, by which version and with which options it was made, in one line; nothing where that is not known.
pub(crate) fn made(report: &Report) -> Option<String> {
    let Made { at, command } = report.made.as_ref()?;
    Some(format!("Made {at} by proof {}: {command}", report.proof))
}

/// A baseline entry by name.
pub(crate) fn entry(known: &Known) -> String {
    format!("{} at {} over {}", known.rule, known.revision, known.transport)
}

/// What is said where an entry of the baseline names no defect.
pub(crate) const WHOLE: &str = "also covers later defects of this rule";

/// What a known finding says of itself.
pub(crate) fn known(view: &ReportView<'_>, finding: &Finding, reason: Option<&str>) -> String {
    let whole = if view.is_known_whole(finding) { format!(" ({WHOLE})") } else { String::new() };
    format!("known: {}{whole}", reason.unwrap_or("no reason given"))
}
