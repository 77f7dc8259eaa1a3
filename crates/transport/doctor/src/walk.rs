//! The steps of one walk as they are taken: each within its time, and reported without secrets.

use std::time::{Duration, Instant};

use tokio::time::timeout;
use wire::escape::snippet;

use crate::{Options, Outcome, Report, Step, StepName};

/// How much of one line is shown.
const LINE: usize = 300;
/// How many lines of one step are shown.
const LINES: usize = 16;

/// What a step found.
pub(crate) struct Finding {
    outcome: Outcome,
    seen: Vec<String>,
    fix: Option<String>,
}

impl Finding {
    pub(crate) fn ok(seen: impl Into<String>) -> Self {
        Self { outcome: Outcome::Ok, seen: vec![seen.into()], fix: None }
    }

    pub(crate) fn skipped(seen: impl Into<String>) -> Self {
        Self { outcome: Outcome::Skipped, seen: vec![seen.into()], fix: None }
    }

    pub(crate) fn failed(seen: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { outcome: Outcome::Failed, seen: vec![seen.into()], fix: Some(fix.into()) }
    }

    /// The same with another line.
    pub(crate) fn and(mut self, seen: impl Into<String>) -> Self {
        self.seen.push(seen.into());
        self
    }

    /// The same with these lines alone.
    pub(crate) fn seeing(self, seen: Vec<String>) -> Self {
        Self { seen, ..self }
    }

    /// The same with these lines before.
    pub(crate) fn after(mut self, mut seen: Vec<String>) -> Self {
        seen.append(&mut self.seen);
        Self { seen, ..self }
    }
}

/// A walk.
pub(crate) struct Walk {
    pub(crate) options: Options,
    begun: Instant,
    limit: Duration,
    steps: Vec<Step>,
}

impl Walk {
    pub(crate) fn new(options: Options, limit: Duration) -> Self {
        Self { options, begun: Instant::now(), limit, steps: Vec::new() }
    }

    /// How long the next step may take.
    pub(crate) fn step_limit(&self) -> Duration {
        self.options.step.min(self.limit.saturating_sub(self.begun.elapsed()))
    }

    /// Takes a step: what it found is reported, what it brought is returned where the way goes on. A step that takes too
    /// long fails.
    pub(crate) async fn take<T>(
        &mut self,
        name: StepName,
        step: impl Future<Output = (Finding, Option<T>)>,
    ) -> Option<T> {
        let (begun, limit) = (Instant::now(), self.step_limit());
        let (finding, brought) = timeout(limit, step).await.unwrap_or_else(|_| {
            let seen = format!("nothing within {:.1} s", limit.as_secs_f64());
            let fix = (self.options.words.connecting)(&net::client::Advice::WaitLonger);
            (Finding::failed(seen, fix), None)
        });
        self.add(name, finding, begun.elapsed());
        brought
    }

    /// Reports a step that took no time.
    pub(crate) fn note(&mut self, name: StepName, finding: Finding) {
        self.add(name, finding, Duration::ZERO);
    }

    /// Reports a step that took this long.
    pub(crate) fn note_after(&mut self, name: StepName, finding: Finding, took: Duration) {
        self.add(name, finding, took);
    }

    /// Reports every step of `all` that was not taken.
    pub(crate) fn skip_rest(&mut self, all: &[StepName], why: &str) {
        for name in all {
            if !self.steps.iter().any(|step| step.name == *name) {
                self.note(*name, Finding::skipped(why));
            }
        }
    }

    pub(crate) fn report(self) -> Report {
        Report { steps: self.steps }
    }

    fn add(&mut self, name: StepName, finding: Finding, took: Duration) {
        let Finding { outcome, seen, fix } = finding;
        let shown = |text: &String| snippet(&self.options.redactor.redact_text(text), LINE);
        let took = if outcome == Outcome::Skipped { Duration::ZERO } else { took };
        let seen = seen.iter().take(LINES).map(shown).collect();
        let fix = fix.as_ref().map(|fix| snippet(&self.options.redactor.redact_known(fix), LINE));
        let step = Step { name, outcome, took, seen, fix };
        (self.options.observer)(&step);
        self.steps.push(step);
    }
}
