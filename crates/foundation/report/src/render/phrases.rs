//! Phrases that several formats share.

use crate::baseline::Known;
use crate::{Subject, Summary};

/// What a report calls its subject: by its own name, where it has one.
pub(crate) fn name(subject: &Subject) -> String {
    subject.name.clone().unwrap_or_else(|| format!("{} (unnamed)", subject.kind))
}

/// The score, never without its coverage.
pub(crate) fn score(summary: &Summary) -> String {
    let must = summary.must;
    let coverage = format!("coverage {} of {} applicable", must.judged(), must.binding());
    match summary.score {
        Some(score) => {
            let judged = must.pass + must.fail;
            format!("Score {score:.1} %: {} of {judged} judged MUST rules passed; {coverage}.", must.pass)
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
