//! The time that one call has: which limit it comes from, how much is left, and what becomes of an answer that comes later.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::time::timeout;
use wire::Message;

use super::{BudgetState, Chain, Owner};
use crate::gateway::unasked;
use crate::upstream::{Event, Flight};

/// Which limit a time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Plan,
    Chain,
    Session,
    Deadline,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [Self::Tool, Self::Plan, Self::Chain, Self::Session, Self::Deadline];

    /// Its name in errors and counters.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Plan => "plan",
            Self::Chain => "chain",
            Self::Session => "session",
            Self::Deadline => "deadline",
        }
    }

    /// What it limits.
    pub(crate) const fn in_words(self) -> &'static str {
        match self {
            Self::Tool => "the time of the tool",
            Self::Plan => "its share of the chain's time",
            Self::Chain => "the chain's time",
            Self::Session => "the session's time",
            Self::Deadline => "the time until the client's deadline",
        }
    }
}

/// Time that does not count: the client is asked something meanwhile.
#[derive(Debug, Default)]
struct Pauses {
    over: Duration,
    /// Since when, and how many questions are open.
    open: Option<(Instant, usize)>,
}

/// The time of one call.
#[derive(Debug)]
pub(crate) struct Allowance {
    state: Arc<BudgetState>,
    server: Arc<str>,
    /// Whose call it is.
    owner: Owner,
    tool: String,
    chain: Option<Arc<Chain>>,
    begun: Instant,
    limit: Duration,
    kind: Kind,
    /// What such calls typically take, where that was asked.
    typical: Duration,
    pauses: Mutex<Pauses>,
    /// Its time says nothing of the tool: it is one part of a call, or the beginning of a task.
    is_partial: AtomicBool,
    is_done: AtomicBool,
}

impl Allowance {
    pub(super) fn new(
        (state, server, owner): (Arc<BudgetState>, Arc<str>, Owner),
        tool: String,
        chain: Option<Arc<Chain>>,
        (begun, limit, kind): (Instant, Duration, Kind),
        typical: Duration,
    ) -> Self {
        let (is_partial, is_done) = (AtomicBool::new(false), AtomicBool::new(false));
        Self {
            state,
            server,
            owner,
            tool,
            chain,
            begun,
            limit,
            kind,
            typical,
            pauses: Mutex::default(),
            is_partial,
            is_done,
        }
    }

    fn pauses(&self) -> MutexGuard<'_, Pauses> {
        self.pauses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The limit, and where it comes from.
    pub(crate) const fn limit(&self) -> (Duration, Kind) {
        (self.limit, self.kind)
    }

    /// How long the call has worked at `now`.
    fn worked(&self, now: Instant) -> Duration {
        let pauses = self.pauses();
        let open = pauses.open.map(|(since, _)| now.saturating_duration_since(since)).unwrap_or_default();
        now.saturating_duration_since(self.begun).saturating_sub(pauses.over + open)
    }

    /// How much of the limit is left.
    pub(crate) fn left(&self) -> Duration {
        self.limit.saturating_sub(self.worked(Instant::now()))
    }

    /// Until the returned value is dropped, the client is asked something: the time does not count.
    pub(crate) fn pause(self: &Arc<Self>) -> Pause {
        let mut pauses = self.pauses();
        pauses.open = match pauses.open {
            Some((since, count)) => Some((since, count + 1)),
            None => Some((Instant::now(), 1)),
        };
        drop(pauses);
        Pause(Arc::clone(self))
    }

    /// Its time says nothing of the tool.
    pub(crate) fn learn_nothing(&self) {
        self.is_partial.store(true, Ordering::Relaxed);
    }

    fn learn(&self, took: Duration, now: Instant) {
        self.state.latencies.record((&self.server, &self.owner), &self.tool, took, now);
    }

    /// The tool gave a result.
    pub(crate) fn succeeded(&self) {
        if !self.is_partial.load(Ordering::Relaxed) {
            self.is_done.store(true, Ordering::Relaxed);
            let now = Instant::now();
            self.learn(self.worked(now), now);
        }
    }

    /// The limit is over. Goes on listening for the answer for `patience`, where it can still come: it is counted, and its
    /// time is learnt.
    pub(crate) fn exceeded(self: &Arc<Self>, request: u64, flight: Option<Flight>, patience: Duration, bytes: usize) {
        let place = Kind::ALL.iter().position(|kind| *kind == self.kind).unwrap_or_default();
        self.state.exceeded[place].fetch_add(1, Ordering::Relaxed);
        let permit = Arc::clone(&self.state.late).try_acquire_owned();
        let (Some(mut flight), Ok(permit)) = (flight.and_then(Flight::give_up), permit) else { return self.cut_off() };
        let allowance = Arc::clone(self);
        tokio::spawn(async move {
            let answer = async {
                loop {
                    match flight.next(bytes).await {
                        Ok(Event::Response(message)) => return Some(message),
                        Ok(Event::Question(message)) => flight.answer_lightly(&unasked(&message)).await,
                        Ok(_) => {}
                        Err(_) => return None,
                    }
                }
            };
            match timeout(patience, answer).await {
                Ok(Some(message)) => allowance.orphaned(request, is_success(&message)),
                _ => allowance.cut_off(),
            }
            drop(permit);
        });
    }

    fn orphaned(&self, request: u64, is_result: bool) {
        self.state.orphaned.fetch_add(1, Ordering::Relaxed);
        let now = Instant::now();
        let worked = self.worked(now);
        let late_ms = worked.saturating_sub(self.limit).as_millis() as u64;
        let tool = wire::escape::line(&self.tool);
        tracing::warn!(request, tool = &*tool, late_ms, "an answer came after the time limit of its call");
        if is_result && !self.is_partial.load(Ordering::Relaxed) {
            self.learn(worked, now);
        }
    }

    /// Nobody will know how long the call would have taken: half as long again as it had. Otherwise a tool that has become
    /// slower would never be given more. A time that is shorter than usual says nothing.
    fn cut_off(&self) {
        let guess = self.limit + self.limit / 2;
        if guess >= self.typical && !self.is_partial.load(Ordering::Relaxed) {
            self.learn(guess, Instant::now());
        }
    }

    /// The call has ended: what comes of it later is no longer a part of its chain.
    fn end(&self) {
        if let Some(chain) = &self.chain {
            let done = self.is_done.load(Ordering::Relaxed).then_some(self.tool.as_str());
            chain.leave(Instant::now(), done);
        }
    }
}

/// Whether a tool did what it was asked for. How long it takes to fail says nothing of how long it takes.
pub(crate) fn is_success(message: &Message) -> bool {
    message.kind() == wire::Kind::Result && message.body_member("isError").is_none_or(|is_error| is_error == "false")
}

/// A call that goes on. Dropped, it has ended, also where its client does not wait for the answer.
pub(crate) struct Begun(pub(crate) Arc<Allowance>);

impl Drop for Begun {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Time that does not count.
pub(crate) struct Pause(Arc<Allowance>);

impl Drop for Pause {
    fn drop(&mut self) {
        let mut pauses = self.0.pauses();
        match pauses.open {
            Some((since, 1)) => {
                pauses.over += since.elapsed();
                pauses.open = None;
            }
            Some((since, count)) => pauses.open = Some((since, count - 1)),
            None => {}
        }
    }
}
