//! A run: all attempts at all cases, several at a time, within a budget.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use eval::recording::{End, Recording};
use tokio::task::JoinSet;

use crate::attempt::Attempt;
use crate::budget::{Budget, Limits, Price, Spent};
use crate::dialect::Request;
use crate::endpoint::{Endpoint, EndpointError};
use crate::recorder::Recorder;
use crate::tools::Tools;

/// A case, and what the model is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The name of the case.
    pub case: String,
    /// What is asked.
    pub prompt: String,
}

/// What a run does.
#[derive(Debug)]
pub struct Plan {
    /// What every request has.
    pub request: Request,
    /// The cases.
    pub questions: Vec<Question>,
    /// How often each is asked.
    pub samples: usize,
    /// How many attempts are under way at a time.
    pub jobs: usize,
    /// How many answers one attempt may have.
    pub turns: usize,
    /// What it may cost.
    pub limits: Limits,
    /// What tokens cost, where that is known.
    pub price: Option<Price>,
    /// What an earlier part of the run recorded.
    pub before: Recording,
}

/// What happens in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress<'p> {
    /// How many attempts there are, and how many of them are over.
    Attempts {
        /// That are over.
        done: usize,
        /// All.
        total: usize,
    },
    /// An answer came.
    Answered,
    /// The endpoint refused a request, which is sent again.
    Waits {
        /// What it said.
        why: &'p str,
        /// After how long.
        wait: Duration,
    },
}

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The budget is used up.
    Budget,
    /// The endpoint does not say how many tokens it took, so the budget cannot be kept.
    Uncounted,
    /// No request is answered.
    Endpoint(EndpointError),
    /// The recording cannot be written.
    Unwritable(String),
}

impl Stop {
    pub(crate) fn unwritable(error: io::Error) -> Self {
        Self::Unwritable(error.to_string())
    }
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Why it ended early.
    pub stop: Option<Stop>,
    /// What it cost, earlier parts included.
    pub spent: Spent,
    /// How often each tool was not called because the policy does not allow it.
    pub withheld: BTreeMap<String, usize>,
    /// How many answers did not keep `tool_choice`.
    pub breaches: usize,
    /// The last failure of the endpoint that ended an attempt alone.
    pub failed: Option<EndpointError>,
}

/// Hears what happens.
pub(crate) type Watch = Box<dyn Fn(Progress<'_>) + Send + Sync>;

/// What is counted on the way.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) withheld: BTreeMap<String, usize>,
    pub(crate) breaches: usize,
    pub(crate) failed: Option<EndpointError>,
    done: usize,
    stop: Option<Stop>,
}

/// What all attempts share.
pub(crate) struct Run {
    pub(crate) request: Request,
    pub(crate) endpoint: Endpoint,
    pub(crate) tools: Tools,
    pub(crate) recorder: Recorder,
    pub(crate) budget: Budget,
    pub(crate) turns: usize,
    questions: Vec<Question>,
    before: Recording,
    watch: Watch,
    counts: Mutex<Counts>,
}

/// What ends an attempt early.
pub(crate) enum Halt {
    /// This attempt alone.
    Attempt(String),
    /// The whole run.
    Run(Box<Stop>),
}

impl Halt {
    pub(crate) fn stop(stop: Stop) -> Self {
        Self::Run(Box::new(stop))
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl Run {
    pub(crate) fn tell(&self, progress: Progress<'_>) {
        (self.watch)(progress);
    }

    pub(crate) fn count(&self, count: impl FnOnce(&mut Counts)) {
        count(&mut self.counts());
    }

    /// Whether the run goes on.
    pub(crate) fn check(&self) -> Result<(), Halt> {
        self.counts().stop.clone().map_or(Ok(()), |stop| Err(Halt::stop(stop)))
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Plays attempts until none is left.
    async fn work(self: Arc<Self>, queue: Arc<Mutex<VecDeque<(usize, usize)>>>, total: usize) {
        while self.check().is_ok() {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some((question, number)) = next else { return };
            let Question { case, prompt } = &self.questions[question];
            let before = self.before.attempt(case, number);
            let attempt = Attempt { run: &self, case, number, prompt, before };
            let played = attempt.play().await;
            let done = {
                let mut counts = self.counts();
                match played {
                    Ok(()) => counts.done += 1,
                    // The first reason is the reason.
                    Err(stop) => drop(counts.stop.get_or_insert(stop)),
                }
                counts.done
            };
            self.tell(Progress::Attempts { done, total });
        }
    }
}

/// Asks until every attempt has ended. Attempts that ended before are left alone, but for those that ended with an error.
pub async fn run(
    plan: Plan,
    endpoint: Endpoint,
    tools: Tools,
    recorder: Recorder,
    watch: impl Fn(Progress<'_>) + Send + Sync + 'static,
) -> Outcome {
    let Plan { request, questions, samples, jobs, turns, limits, price, before } = plan;
    let is_over = |question: &Question, number| {
        let end = before.attempt(&question.case, number).and_then(|attempt| attempt.end.as_ref());
        end.is_some_and(|end| !matches!(end, End::Error(_)))
    };
    // One attempt at each case first: a run that stops early has asked all of them once.
    let all = (0..samples).flat_map(|number| (0..questions.len()).map(move |question| (question, number)));
    let total = samples * questions.len();
    let open: VecDeque<_> = all.filter(|(question, number)| !is_over(&questions[*question], *number)).collect();
    let earlier = Spent {
        answers: before.attempts.iter().map(|attempt| attempt.turns.len()).sum(),
        tokens: before.tokens(),
        unknown: 0,
    };
    let counts = Mutex::new(Counts { done: total - open.len(), ..Counts::default() });
    let budget = Budget::new(limits, price, earlier);
    let watch: Watch = Box::new(watch);
    let run = Arc::new(Run { request, endpoint, tools, recorder, budget, turns, questions, before, watch, counts });
    run.tell(Progress::Attempts { done: total - open.len(), total });
    let queue = Arc::new(Mutex::new(open));
    let mut workers = JoinSet::new();
    for _ in 0..jobs.max(1) {
        workers.spawn(Arc::clone(&run).work(Arc::clone(&queue), total));
    }
    while workers.join_next().await.is_some() {}
    let spent = run.budget.spent();
    let counts = run.counts();
    let (stop, withheld, failed) = (counts.stop.clone(), counts.withheld.clone(), counts.failed.clone());
    Outcome { stop, spent, withheld, breaches: counts.breaches, failed }
}
