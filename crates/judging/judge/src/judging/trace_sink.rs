//! Hands each trace out when its case ends, so that not all of them are in memory. Must not know where they go.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wire::redact::Redactor;
use wire::trace::Trace;

use super::{Judged, RunId};

/// A case that has ended.
pub struct EndedCase<'k> {
    /// Where it was played.
    pub place: RunId,
    /// Its number within the check, from 0. A case that is played again, and whose second result counts, comes a
    /// second time under its number.
    pub number: usize,
    /// Its name.
    pub case: &'static str,
    /// What crossed, as it crossed: redact before it goes anywhere.
    pub trace: &'k Trace,
    /// What replaces the secrets in the report; the same pseudonyms belong into the trace.
    pub redactor: &'k Redactor,
}

/// What a trace's file is called: `stdio-2025-11-25-003-shared-session.jsonl`.
pub fn file_name(place: RunId, number: usize, case: &str) -> String {
    // Names of scenarios may contain a slash.
    let case = case.replace('/', "-");
    format!("{}-{}-{number:03}-{case}.jsonl", place.transport, place.revision)
}

impl EndedCase<'_> {
    /// What its file is called; evidence in reports names it.
    pub fn file_name(&self) -> String {
        file_name(self.place, self.number, self.case)
    }
}

/// Receives the traces of cases that have ended, if anything does.
#[derive(Clone, Default)]
pub struct TraceSink(Option<Arc<Receiver>>);

struct Receiver {
    tell: Box<dyn Fn(EndedCase<'_>) + Send + Sync>,
    next: AtomicUsize,
    /// Whether only cases are received in which a MUST or a safety rule is broken.
    only_failing: bool,
}

impl std::fmt::Debug for TraceSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "TraceSink" } else { "TraceSink (none)" })
    }
}

impl TraceSink {
    /// A sink that is called from any thread, for different cases at the same time.
    pub fn new(tell: impl Fn(EndedCase<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(Receiver { tell: Box::new(tell), next: AtomicUsize::new(0), only_failing: false })))
    }

    /// The same for the cases alone in which a MUST or a safety rule is broken.
    pub fn of_failing(tell: impl Fn(EndedCase<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(Receiver { tell: Box::new(tell), next: AtomicUsize::new(0), only_failing: true })))
    }

    /// Hands a trace out, under `number` or the next one; the number.
    pub(crate) fn hand(
        &self,
        number: Option<usize>,
        place: RunId,
        case: &'static str,
        trace: &Trace,
        redactor: &Redactor,
    ) -> usize {
        let Some(keeper) = &self.0 else { return 0 };
        let number = number.unwrap_or_else(|| keeper.next.fetch_add(1, Ordering::Relaxed));
        (keeper.tell)(EndedCase { place, number, case, trace, redactor });
        number
    }

    /// Whether there is a receiver for a case.
    pub(crate) fn wants(&self, judged: &Judged) -> bool {
        self.0.as_ref().is_some_and(|receiver| !receiver.only_failing || judged.fails())
    }
}
