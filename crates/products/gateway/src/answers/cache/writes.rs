//! Calls that change what rules keep. Until such a call has its answer, or too much time is over, its server may still change
//! it: nothing is kept by those rules, and nothing kept is used.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{AnswerCache, Cause, State};

/// How many calls without an answer each rule knows one by one.
const KNOWN: usize = 64;

/// A call under way whose end ends what some rules keep.
pub(crate) struct OpenWrite {
    cache: Arc<AnswerCache>,
    rules: Vec<usize>,
    /// The settings that number the rules.
    generation: u64,
    number: u64,
    /// How long a server may go on with it where no answer comes.
    patience: Duration,
    course: Mutex<Course>,
}

impl std::fmt::Debug for OpenWrite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenWrite").field("number", &self.number).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Course {
    /// The server may have it, and has not answered.
    is_open: bool,
    /// Nobody waits for the answer any more.
    is_left: bool,
}

impl OpenWrite {
    fn course(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server may get it now.
    pub(crate) fn sent(&self) {
        self.course().is_open = true;
    }

    /// The server has answered it, or did not get it.
    pub(crate) fn answered(&self) {
        let mut course = self.course();
        if std::mem::take(&mut course.is_open) && course.is_left {
            self.cache.state().settle(self);
        }
    }

    fn leave(&self) {
        let mut course = self.course();
        course.is_left = true;
        let mut state = self.cache.state();
        if course.is_open { state.unsettle(self, Instant::now() + self.patience) } else { state.settle(self) }
    }

    /// What it ends. By other settings, its rules have other numbers.
    fn causes(&self, state: &State) -> Vec<Cause> {
        if self.generation == state.generation {
            self.rules.iter().map(|rule| Cause::Rule(*rule)).collect()
        } else {
            vec![Cause::Rules]
        }
    }
}

/// Who waits for the answer to a write. Dropped, nobody does.
pub(crate) struct Writing(Arc<OpenWrite>);

impl Writing {
    pub(crate) const fn write(&self) -> &Arc<OpenWrite> {
        &self.0
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Calls of which nobody knows whether their server is still at them.
pub(super) struct Unsettled {
    open: HashSet<u64>,
    /// There are more than are known one by one.
    has_more: bool,
    until: Instant,
}

impl AnswerCache {
    /// A call begins that ends what these rules keep.
    pub(crate) fn begin_write(self: &Arc<Self>, rules: Vec<usize>, generation: u64, patience: Duration) -> Writing {
        let mut state = self.state();
        state.clock += 1;
        let number = state.clock;
        drop(state);
        let course = Mutex::default();
        Writing(Arc::new(OpenWrite { cache: Arc::clone(self), rules, generation, number, patience, course }))
    }
}

impl State {
    fn unsettle(&mut self, write: &OpenWrite, until: Instant) {
        for cause in write.causes(self) {
            self.end_cause(cause);
            let unsettled = self.unsettled.entry(cause).or_insert_with(|| Unsettled::new(until));
            unsettled.add([write.number], until);
        }
    }

    fn settle(&mut self, write: &OpenWrite) {
        for cause in write.causes(self) {
            self.end_cause(cause);
        }
        self.unsettled.retain(|_, unsettled| {
            unsettled.open.remove(&write.number);
            unsettled.has_more || !unsettled.open.is_empty()
        });
    }

    /// Whether a server may be changing what a rule keeps.
    pub(super) fn is_unsettled(&mut self, rule: Option<usize>, now: Instant) -> bool {
        if rule.is_none() || self.unsettled.is_empty() {
            return false;
        }
        self.give_up_writes(now);
        rule.is_some_and(|rule| {
            [Cause::Rule(rule), Cause::Rules].iter().any(|cause| self.unsettled.contains_key(cause))
        })
    }

    /// What has taken too long counts as ended.
    pub(super) fn give_up_writes(&mut self, now: Instant) {
        let over: Vec<_> =
            self.unsettled.iter().filter(|(_, unsettled)| unsettled.until <= now).map(|(cause, _)| *cause).collect();
        for cause in over {
            self.unsettled.remove(&cause);
            self.end_cause(cause);
        }
    }

    /// Other settings number the rules: what was unsettled may concern each of them.
    pub(super) fn unsettle_all(&mut self) {
        let mut all: Option<Unsettled> = None;
        for (_, one) in self.unsettled.drain() {
            match &mut all {
                None => all = Some(one),
                Some(all) => {
                    all.has_more |= one.has_more;
                    all.add(one.open, one.until);
                }
            }
        }
        self.unsettled.extend(all.map(|all| (Cause::Rules, all)));
    }
}

impl Unsettled {
    fn new(until: Instant) -> Self {
        Self { open: HashSet::new(), has_more: false, until }
    }

    fn add(&mut self, numbers: impl IntoIterator<Item = u64>, until: Instant) {
        self.until = self.until.max(until);
        for number in numbers {
            if self.open.len() < KNOWN {
                self.open.insert(number);
            } else {
                self.has_more |= !self.open.contains(&number);
            }
        }
    }
}
