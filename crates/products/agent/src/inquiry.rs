//! Single questions without tools, several at a time, within a budget: what judges are asked. The caller keeps the answers.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinSet;

use crate::answer::Answered;
use crate::asker::Asker;
use crate::budget::{Limits, Price, Spent};
use crate::dialect::Request;
use crate::endpoint::{Endpoint, EndpointError};
use crate::run::{Outcome, Progress, Stop, Watch};

/// A question: instructions, and the text that they are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inquiry {
    /// The instructions.
    pub system: String,
    /// The text.
    pub text: String,
}

/// Keeps an answer, by the number of its question, or why it is missing.
pub type Keep = Box<dyn Fn(usize, Result<&Answered, &EndpointError>) -> io::Result<()> + Send + Sync>;

/// How questions are asked.
pub struct Inquiries {
    /// What every request has; its instructions are those of the question.
    pub request: Request,
    /// How many are asked at a time.
    pub jobs: usize,
    /// What they may cost.
    pub limits: Limits,
    /// What tokens cost, where that is known.
    pub price: Option<Price>,
    /// What was spent before.
    pub before: Spent,
    /// Keeps the answers.
    pub keep: Keep,
}

impl fmt::Debug for Inquiries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inquiries").field("request", &self.request).finish_non_exhaustive()
    }
}

struct Shared {
    asker: Asker,
    keep: Keep,
    watch: Watch,
    queue: Mutex<VecDeque<(usize, Inquiry)>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    stop: Option<Stop>,
    failed: Option<EndpointError>,
    done: usize,
}

/// Asks all questions, until they are answered or something stops the run.
pub async fn inquire(
    inquiries: Inquiries,
    endpoint: Arc<Endpoint>,
    questions: Vec<Inquiry>,
    watch: impl Fn(Progress<'_>) + Send + Sync + 'static,
) -> Outcome {
    let Inquiries { request, jobs, limits, price, before, keep } = inquiries;
    let asker = Asker::new(request, endpoint, limits, price, before);
    let (total, jobs) = (questions.len(), jobs.max(1));
    let queue = Mutex::new(questions.into_iter().enumerate().collect());
    let shared = Shared { asker, keep, watch: Box::new(watch), queue, state: Mutex::default() };
    let shared = Arc::new(shared);
    (shared.watch)(Progress::Attempts { done: 0, total });
    let mut workers = JoinSet::new();
    for _ in 0..jobs {
        workers.spawn(Arc::clone(&shared).work(total));
    }
    while workers.join_next().await.is_some() {}
    let state = std::mem::take(&mut *shared.state.lock().unwrap_or_else(PoisonError::into_inner));
    Outcome { stop: state.stop, failed: state.failed, spent: shared.asker.spent(), ..Outcome::default() }
}

impl Shared {
    async fn work(self: Arc<Self>, total: usize) {
        while self.with(|state| state.stop.is_none()) {
            let next = self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some((number, inquiry)) = next else { return };
            let asked = self.ask(number, &inquiry).await;
            let done = self.with(|state| {
                match asked {
                    Ok(()) => state.done += 1,
                    // The first reason is the reason.
                    Err(stop) => drop(state.stop.get_or_insert(stop)),
                }
                state.done
            });
            (self.watch)(Progress::Attempts { done, total });
        }
    }

    async fn ask(&self, number: usize, inquiry: &Inquiry) -> Result<(), Stop> {
        let place = self.asker.place().await.ok_or(Stop::Budget)?;
        if let Some(stop) = self.with(|state| state.stop.clone()) {
            return Err(stop);
        }
        let told = |why: &str, wait| (self.watch)(Progress::Waits { why, wait });
        let asked = self.asker.ask_in(&place, inquiry, &told).await;
        if asked.is_ok() {
            (self.watch)(Progress::Answered);
        }
        match asked {
            Err(error) if error.is_final => Err(Stop::Endpoint(error)),
            Err(error) => {
                (self.keep)(number, Err(&error)).map_err(Stop::unwritable)?;
                self.with(|state| state.failed = Some(error));
                Ok(())
            }
            Ok(answer) => {
                (self.keep)(number, Ok(&answer)).map_err(Stop::unwritable)?;
                if self.asker.is_counted() { Ok(()) } else { Err(Stop::Uncounted) }
            }
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
