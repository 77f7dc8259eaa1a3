//! Progress of a check, for an observer. Must not know whether anything shows it.

use std::sync::Arc;
use std::time::Duration;

use wire::{Level, Revision, Transport};

use super::RunId;

/// Something that an observer may want to show.
#[derive(Clone, Debug)]
pub enum Progress {
    /// A target was found to serve these revisions.
    Found {
        /// The transport it serves them over.
        transport: Transport,
        /// The revisions that will be judged.
        revisions: Vec<Revision>,
    },
    /// So many probes are due in a run.
    Planned {
        /// Where.
        run: RunId,
        /// How many.
        probes: usize,
    },
    /// A probe or a scenario begins.
    Probe {
        /// Where.
        run: RunId,
        /// Its name.
        probe: &'static str,
    },
    /// A rule was found broken twice.
    Confirmed {
        /// Where.
        run: RunId,
        /// The rule.
        rule: &'static str,
        /// Its level.
        level: Level,
        /// Why it is broken, secrets redacted.
        message: String,
        /// The method and the pointer of each different defect, secrets redacted.
        defects: Vec<(Option<String>, String)>,
        /// Whether there may be more defects.
        more_defects: bool,
    },
    /// A run is over.
    Done(RunId),
    /// How often a client will be run, one way or another.
    Estimate {
        /// By all scenarios.
        runs: usize,
        /// By a quick check.
        quick_runs: usize,
        /// How long one run takes in which the client ends at once.
        run: Duration,
        /// How long one may take in which the client waits.
        longest: Duration,
        /// How many run at a time.
        jobs: usize,
    },
}

/// The observer of a check.
#[derive(Clone)]
pub struct Watch(Arc<dyn Fn(Progress) + Send + Sync>);

impl Watch {
    /// An observer that is called from any thread.
    pub fn new(tell: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// No observer.
    pub fn nobody() -> Self {
        Self::new(|_| ())
    }

    pub(crate) fn tell(&self, progress: Progress) {
        (self.0)(progress);
    }
}
