//! Phrases that several formats share.

use crate::baseline::Known;
use crate::{Report, Subject};

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
        Some(score) => {
            let judged = must.pass + must.fail;
            format!("Score {score:.1} %: {} of {judged} judged {unit} passed; {coverage}.", must.pass)
        }
        None => format!("No score: no MUST rule was judged; {coverage}."),
    }
}

/// A baseline entry by name.
pub(crate) fn entry(known: &Known) -> String {
    format!("{} at {} over {}", known.rule, known.revision, known.transport)
}

/// What a known finding says of itself.
pub(crate) fn known(reason: Option<&str>) -> String {
    format!("known: {}", reason.unwrap_or("no reason given"))
}
