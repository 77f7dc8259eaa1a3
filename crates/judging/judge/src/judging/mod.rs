//! What every verb that judges has in common: the selected rules, their verdicts on each case, findings, and where traces go.
//! Must not make traffic.

mod alone;
mod causes;
mod curl;
mod defects;
mod dialogue;
mod findings;
mod identity;
mod judged;
mod progress;
mod reproduction;
mod rule_index;
#[cfg(test)]
pub mod sample;
mod selection;
mod spoken;
mod trace_judge;
mod trace_sink;

use wire::redact::Redactor;
use wire::{Revision, Transport};

pub use self::causes::is_told_by_another;
pub use self::defects::{Defect, Defects, is_unreached};
pub use self::dialogue::dialogue;
pub use self::findings::Sources;
pub use self::identity::identity;
pub use self::judged::{Judged, Suspicion};
pub use self::progress::{Progress, Watch};
pub use self::reproduction::{Reproduce, Reproduction};
pub use self::rule_index::rule_index;
pub use self::selection::Selection;
pub use self::spoken::{part, spoken};
pub use self::trace_judge::{CaseParts, HeavyLimit, TraceJudge};
pub use self::trace_sink::{EndedCase, TraceSink};
use report::Report;
pub use report::glob::matches;

/// What tells one run of a check from another: a transport and a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunId {
    /// The transport.
    pub transport: Transport,
    /// The revision.
    pub revision: Revision,
}

/// What a check comes to.
pub struct Checked {
    /// The report.
    pub report: Report,
}

/// Where traces go, and what removes their secrets.
#[derive(Clone)]
pub struct RedactedSink {
    /// What receives them.
    pub keep: TraceSink,
    /// What replaces secrets.
    pub redactor: Redactor,
}
