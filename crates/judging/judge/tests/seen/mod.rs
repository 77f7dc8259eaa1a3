//! The marks that live checks of servers wrote, against those that are declared: a mark that nothing writes any more, or
//! that a judge waits for in vain, fails here.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use judge::check::TraceSink;
use wire::trace::mark::{Declaration, Writer};
use wire::trace::{Content, Mark, MarkKind, StimulusKind, Trace};

/// Marks that take a server with a fault.
pub const IN_TROUBLE: [MarkKind; 2] = [MarkKind::Unanswered, MarkKind::Limit];

/// The names of all marks and stimuli that were seen.
#[derive(Clone, Default)]
pub struct Seen(Arc<Mutex<BTreeSet<&'static str>>>);

impl Seen {
    /// Looks at every trace of a check.
    pub fn keep(&self) -> TraceSink {
        let seen = self.clone();
        TraceSink::new(move |kept| seen.look(kept.trace))
    }

    fn names(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, trace: &Trace) {
        for frame in &trace.frames {
            let Content::Mark(mark) = &frame.content else { continue };
            let kind = mark.kind().map(MarkKind::as_str);
            let stimulus = if let Mark::Stimulus(what) = mark { what.kind().map(StimulusKind::as_str) } else { None };
            self.names().extend(kind.into_iter().chain(stimulus));
        }
    }

    /// What `check` is declared to write and did not: in trouble, or without any.
    pub fn missing(&self, in_trouble: bool) -> Vec<&'static str> {
        let due = |declared: Declaration| declared.written_by.contains(&Writer::Check);
        let marks = MarkKind::ALL.into_iter().filter(|kind| IN_TROUBLE.contains(kind) == in_trouble);
        let stimuli = StimulusKind::ALL.into_iter().filter(|_| !in_trouble).map(StimulusKind::declaration);
        let declared = marks.map(MarkKind::declaration).chain(stimuli).filter(|declared| due(*declared));
        declared.map(|declared| declared.name).filter(|name| !self.names().contains(name)).collect()
    }
}
