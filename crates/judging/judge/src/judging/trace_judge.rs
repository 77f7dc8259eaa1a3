//! Judging traces away from the threads on which traffic waits: judging is all work, and done there it would make quick peers
//! look slow. Must not know what was played.

use std::sync::Arc;

use rules::Stop;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use wire::trace::Trace;

use super::{Judged, RedactedSink, RunId, Selection};

/// From how many bytes on a trace is judged with no other as heavy beside it: parsed, it takes many times its size.
const HEAVY: usize = 1 << 20;

/// Lets one heavy trace be judged at a time, in all runs that share it. Clones are the same limit.
#[derive(Clone, Debug)]
pub struct HeavyLimit(Arc<Semaphore>);

impl Default for HeavyLimit {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

/// What was played in a case.
#[derive(Clone, Debug)]
pub struct CaseParts {
    /// The name of the case.
    pub name: &'static str,
    /// What took part in it, by name: probes, or a scenario.
    pub parts: Vec<&'static str>,
    /// How many of them came to their end.
    pub completed: usize,
    /// When each began, in microseconds of the trace; empty where that does not matter.
    pub begins: Vec<u64>,
}

/// Judges the traces of one run and hands them on.
#[derive(Clone)]
pub struct TraceJudge {
    selection: Arc<Selection>,
    sink: RedactedSink,
    heavy: HeavyLimit,
    stop: Stop,
}

impl TraceJudge {
    /// Judges by the selected rules; traces go to `sink`.
    pub fn new(selection: Arc<Selection>, sink: RedactedSink, heavy: HeavyLimit) -> Self {
        Self { selection, sink, heavy, stop: Stop::default() }
    }

    /// Gives no verdicts any more once `stop` says so.
    #[must_use]
    pub fn until(self, stop: Stop) -> Self {
        Self { stop, ..self }
    }

    /// The rules that are judged.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// A text as it may be shown.
    pub fn redact(&self, text: &str) -> String {
        self.sink.redactor.redact_text(text).into_owned()
    }

    /// What the selected rules make of a trace, and the trace.
    pub async fn judge(&self, case: CaseParts, place: RunId, trace: Trace) -> (Judged, Trace) {
        let _alone = if trace.weight() >= HEAVY { self.heavy.0.acquire().await.ok() } else { None };
        let (selection, stop) = (self.selection.clone(), self.stop.clone());
        off_thread(move || {
            let CaseParts { name, parts, completed, begins } = case;
            let judged = Judged::until(&stop, name, parts, &trace, place.revision, &selection);
            (Judged { completed, begins, ..judged }, trace)
        })
        .await
    }

    /// Hands the trace of a case on, where such traces are kept; the number that it was given.
    pub async fn keep(&self, judged: &Judged, place: RunId, trace: Trace) -> Option<usize> {
        // The trace of an earlier play, if one was kept, is not the one that the verdicts speak of.
        if !self.sink.keep.wants(judged) {
            return None;
        }
        let (sink, name, number) = (self.sink.clone(), judged.name, judged.number);
        off_thread(move || Some(sink.keep.hand(number, place, name, &trace, &sink.redactor))).await
    }

    /// Both: what the rules make of a trace, which is handed on.
    pub async fn judge_and_keep(&self, case: CaseParts, place: RunId, trace: Trace) -> Judged {
        let (mut judged, trace) = self.judge(case, place, trace).await;
        judged.number = self.keep(&judged, place, trace).await;
        judged
    }
}

/// Runs `work` on a thread for blocking work; its panic is ours.
async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    spawn_blocking(work).await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}
