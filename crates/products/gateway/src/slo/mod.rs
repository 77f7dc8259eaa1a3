//! Service level objectives: how many calls of each tool were good, how fast its error budget is used up, and whether
//! it has to be looked at. Bounded in memory. Must not know how a call is carried.

mod alerts;
mod pages;
mod windows;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use self::alerts::{Alert, LEAST, RULES, fires};
use self::windows::{Counts, H1, Window, Windows};
use crate::budget::quantiles::Histogram;
use crate::settings::{SloSettings, ToolClass, ToolObjective};
use crate::view::matches;

/// The most tools that have objectives. Calls of further ones are counted together.
const MOST: usize = 256;
/// Where there are that many, one that was not called for so long makes room.
const UNUSED: Duration = Duration::from_hours(6);
/// How long it is believed what a server says of its tool.
const BELIEVED: Duration = Duration::from_mins(5);
/// Times are forgotten after one to two of these.
const FORGET: Duration = Duration::from_mins(30);

/// How a call ended, as far as its objective is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With an answer of the tool.
    Answered,
    /// Without one, which is not the client's doing.
    Failed,
    /// By a refusal, or the client left: it says nothing of the tool unless it took too long.
    NotJudged,
}

/// What is known of the calls of one tool.
#[derive(Debug)]
struct Calls {
    class: ToolClass,
    /// When its class was learnt.
    learnt: Instant,
    used: Instant,
    total: Counts,
    windows: Windows,
    times: Histogram,
    /// In which piece of time `times` were noted last.
    noted: u64,
}

impl Calls {
    fn new(class: ToolClass, now: Instant) -> Self {
        let (total, windows, times) = (Counts::default(), Windows::default(), Histogram::default());
        Self { class, learnt: now, used: now, total, windows, times, noted: 0 }
    }

    /// Forgets times that are too long ago.
    fn forget(&mut self, at: Duration) {
        let piece = at.as_secs() / FORGET.as_secs();
        match piece.saturating_sub(std::mem::replace(&mut self.noted, piece)) {
            0 => {}
            1 => self.times.forget_older(),
            _ => self.times = Histogram::default(),
        }
    }

    fn record(&mut self, at: Duration, took: Duration, (is_bad, is_slow): (bool, bool)) {
        self.total.calls += 1;
        self.total.bad += u64::from(is_bad);
        self.total.slow += u64::from(is_slow);
        self.windows.record(at, is_bad, is_slow);
        self.forget(at);
        // A failure that comes at once says nothing of how fast the tool is.
        if is_slow || !is_bad {
            self.times.record(took);
        }
    }

    /// Whether the slowest of a hundred calls take longer than they have.
    fn p99_is_over(&mut self, within: Duration, at: Duration) -> bool {
        self.forget(at);
        let known = self.times.count() as u64 >= LEAST.calls && self.windows.counts(H1, at).slow >= LEAST.slow;
        known && self.times.quantile(0.99).is_some_and(|p99| p99 > within)
    }

    fn alerts(&mut self, within: Duration, objective: f64, at: Duration) -> Vec<Alert> {
        let mut counts = |window: Window| self.windows.counts(window, at);
        let mut burning: Vec<_> =
            RULES.iter().filter(|rule| fires(rule, objective, &mut counts)).map(|rule| rule.alert).collect();
        burning.dedup();
        burning.extend(Some(Alert::P99).filter(|_| self.p99_is_over(within, at)));
        burning
    }
}

#[derive(Debug, Default)]
struct Tools {
    /// By upstream and name.
    known: BTreeMap<(String, String), Calls>,
    /// Calls of tools without room.
    untracked: u64,
}

/// What was counted. It outlives a change of the settings.
#[derive(Debug)]
pub(crate) struct SloState {
    began: Instant,
    tools: Mutex<Tools>,
}

impl Default for SloState {
    fn default() -> Self {
        Self { began: Instant::now(), tools: Mutex::default() }
    }
}

impl SloState {
    fn tools(&self) -> MutexGuard<'_, Tools> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The objectives, and what was counted.
#[derive(Clone, Debug)]
pub(crate) struct Slo {
    settings: Arc<SloSettings>,
    state: Arc<SloState>,
}

/// What of a call is counted.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) upstream: String,
    /// The tool, as clients see it.
    pub(crate) tool: String,
    pub(crate) took: Duration,
    pub(crate) ending: Ending,
}

impl Slo {
    pub(crate) fn new(settings: &SloSettings, state: &Arc<SloState>) -> Self {
        Self { settings: Arc::new(settings.clone()), state: Arc::clone(state) }
    }

    /// The objective of a tool: its time and its class.
    fn objective(&self, tool: &str, class: ToolClass) -> (Duration, ToolClass) {
        let rule = self.settings.tools.iter().find(|(pattern, _)| matches(pattern, tool));
        let ToolObjective { within, class: given } = rule.map(|(_, rule)| *rule).unwrap_or_default();
        let class = given.unwrap_or(class);
        (within.unwrap_or_else(|| self.settings.of_class(class)), class)
    }

    /// Counts a call of a tool that is known. `false`: the tool, or its class, has to be looked up.
    pub(crate) fn record(&self, measured: &Measured, now: Instant) -> bool {
        let mut tools = self.state.tools();
        let key = (measured.upstream.clone(), measured.tool.clone());
        let Some(calls) = tools.known.get_mut(&key) else { return false };
        self.count(calls, measured, now);
        now.saturating_duration_since(calls.learnt) < BELIEVED
    }

    fn count(&self, calls: &mut Calls, measured: &Measured, now: Instant) {
        let (within, _) = self.objective(&measured.tool, calls.class);
        let is_slow = measured.took > within;
        if measured.ending == Ending::NotJudged && !is_slow {
            return;
        }
        calls.used = now;
        let at = now.saturating_duration_since(self.state.began);
        calls.record(at, measured.took, (is_slow || measured.ending == Ending::Failed, is_slow));
    }

    /// A server lists this tool. Its first call is counted, too.
    pub(crate) fn learn(&self, measured: &Measured, class: ToolClass, now: Instant) {
        let mut tools = self.state.tools();
        let key = (measured.upstream.clone(), measured.tool.clone());
        if let Some(calls) = tools.known.get_mut(&key) {
            (calls.class, calls.learnt) = (class, now);
            return;
        }
        if tools.known.len() >= MOST {
            let oldest = tools.known.iter().min_by_key(|(_, calls)| calls.used);
            let oldest = oldest.filter(|(_, calls)| now.saturating_duration_since(calls.used) > UNUSED);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
                tools.untracked += 1;
                return;
            };
            tools.known.remove(&oldest);
        }
        let mut calls = Calls::new(class, now);
        self.count(&mut calls, measured, now);
        tools.known.insert(key, calls);
    }
}

#[cfg(test)]
mod tests;
