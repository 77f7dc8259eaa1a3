//! A request that was let in: its place, what it costs, the breaker that it passed, and whether it is sent again.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use net::service::{Answer, Call};

use super::Traffic;
use super::breaker::{Era, Verdict};
use super::breakers::BreakerKey;
use super::costs::Charge;
use super::slots::Place;
use crate::audit::Trail;
use crate::budget::Kind;
use crate::upstream::{Client, Trouble, Upstream};

/// A request on its way. Dropped before it has ended, it says nothing of its upstream.
#[derive(Debug)]
pub(crate) struct Passage {
    traffic: Arc<Traffic>,
    name: String,
    upstream: usize,
    breaker: Option<BreakerKey>,
    /// The state of the breaker that let the present attempt in.
    entered: Mutex<Option<Era>>,
    charge: Mutex<Option<Charge>>,
    /// Free again when the request has ended.
    _place: Option<Place>,
    trail: Trail,
    attempts: AtomicU32,
    /// An attempt may have reached the server.
    was_sent: AtomicBool,
    /// The client has got something of the server's.
    crossed: AtomicBool,
    began: Instant,
}

impl Traffic {
    /// Lets a request in that goes to this upstream; `tool` is its tool's name there.
    pub(crate) async fn pass(
        self: &Arc<Self>,
        (call, tool): (&Call, Option<&str>),
        (client, trail): (&Client, &Trail),
        upstream: &Upstream,
    ) -> Result<Passage, Answer> {
        let breaker = self.breakers.as_ref().map(|breakers| breakers.key(upstream.index, tool));
        // Nobody waits for a place at a server that gets nothing.
        let closed_for =
            self.breakers.as_ref().zip(breaker.as_ref()).and_then(|(all, key)| all.closed_for(key, Instant::now()));
        if let Some(again) = closed_for {
            return Err(Answer::error(Some(call.id()), &self.is_broken(&upstream.name, again)));
        }
        let charge = self.charge(call, client).await?;
        let place = self.place(call, client, upstream).await?;
        if let Some(retries) = &self.retries {
            retries.save(upstream.index);
        }
        Ok(Passage {
            traffic: Arc::clone(self),
            name: upstream.name.clone(),
            upstream: upstream.index,
            breaker,
            entered: Mutex::default(),
            charge: Mutex::new(charge),
            _place: place,
            trail: trail.clone(),
            attempts: AtomicU32::new(0),
            was_sent: AtomicBool::new(false),
            crossed: AtomicBool::new(false),
            began: Instant::now(),
        })
    }
}

impl Passage {
    /// An attempt begins, unless the upstream is left alone.
    pub(crate) fn enter(&self) -> Result<(), Trouble> {
        if let (Some(breakers), Some(key)) = (&self.traffic.breakers, &self.breaker) {
            match breakers.enter(key, Instant::now()) {
                Ok(era) => *self.entered.lock().unwrap_or_else(PoisonError::into_inner) = Some(era),
                Err(again) => return Err(Trouble::Refused(self.traffic.is_broken(&self.name, again))),
            }
        }
        self.attempts.fetch_add(1, Ordering::Relaxed);
        // A client that leaves in its course has to pay for it.
        self.spend(true);
        Ok(())
    }

    /// An attempt has ended.
    pub(crate) fn leave(&self, trouble: Option<&Trouble>) {
        let verdict = trouble.map_or(Verdict::Good, verdict_of);
        self.say(verdict);
        let is_sent = !matches!(
            trouble,
            Some(Trouble::NotSent(_) | Trouble::Forbidden(_) | Trouble::OverLimit { is_sent: false, .. })
        );
        if is_sent {
            self.was_sent.store(true, Ordering::Relaxed);
        }
        // What the server never got costs nothing.
        self.spend(self.was_sent.load(Ordering::Relaxed));
    }

    fn spend(&self, is_spent: bool) {
        if let Some(charge) = &mut *self.charge.lock().unwrap_or_else(PoisonError::into_inner) {
            charge.is_spent = is_spent;
        }
    }

    fn say(&self, verdict: Verdict) {
        let era = self.entered.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(breakers), Some(key), Some(era)) = (&self.traffic.breakers, &self.breaker, era) else { return };
        if breakers.leave(key, &self.name, era, verdict, Instant::now()) {
            self.traffic.counters.opened.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The client has got something of the server's: from now on, only what was never sent may be sent again.
    pub(crate) fn note_crossed(&self) {
        self.crossed.store(true, Ordering::Relaxed);
    }

    /// Whether the client has got nothing of the server's yet.
    pub(crate) fn is_silent(&self) -> bool {
        !self.crossed.load(Ordering::Relaxed)
    }

    /// The pause before the request is sent again, at least `least` and within `left`; nothing where it is not sent again.
    pub(crate) fn again(&self, least: Duration, left: Duration) -> Option<Duration> {
        let retries = self.traffic.retries.as_ref()?;
        let attempts = self.attempts.load(Ordering::Relaxed);
        if attempts > retries.settings.most {
            return None;
        }
        let pause = retries.pause(attempts).max(least);
        if pause > retries.settings.longest_backoff.max(retries.settings.backoff) || pause >= left {
            return None;
        }
        if !retries.spend(self.upstream) {
            self.traffic.counters.retries_refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        Some(pause)
    }

    /// The request is sent again.
    pub(crate) fn note_again(&self, request: u64, trouble: &Trouble) {
        let attempt = self.attempts.load(Ordering::Relaxed);
        self.traffic.counters.retries.fetch_add(1, Ordering::Relaxed);
        self.trail.attempted(attempt);
        tracing::info!(request, upstream = self.name, attempt, "sent again: {trouble:?}");
    }

    /// Whether requests are sent again at all.
    pub(crate) fn has_retries(&self) -> bool {
        self.traffic.retries.is_some()
    }

    /// How long the request is under way.
    pub(crate) fn age(&self) -> Duration {
        self.began.elapsed()
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.say(Verdict::Nothing);
    }
}

/// What a failed request says of its upstream.
fn verdict_of(trouble: &Trouble) -> Verdict {
    match trouble {
        // It answers, and says what it does not like.
        Trouble::Status { status: 400..500, .. } => Verdict::Good,
        Trouble::NotSent(_)
        | Trouble::Unknown(_)
        | Trouble::Timeout(_)
        | Trouble::Status { .. }
        | Trouble::OverLimit { limit: Kind::Tool, is_sent: true, .. } => Verdict::Bad,
        // A client that gives its calls too little time says nothing of the server.
        Trouble::OverLimit { .. } | Trouble::SessionGone | Trouble::Refused(_) | Trouble::Forbidden(_) => {
            Verdict::Nothing
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Kind, Trouble, Verdict, verdict_of};
    use crate::failure;

    #[test]
    fn clients_cannot_break_a_server() {
        let after = Duration::from_secs(1);
        let over = |limit, is_sent| Trouble::OverLimit { after, limit, is_sent };
        let status = |status| Trouble::Status { status, retry_after: None };
        for (trouble, verdict) in [
            (Trouble::NotSent(String::new()), Verdict::Bad),
            (Trouble::Unknown(String::new()), Verdict::Bad),
            (Trouble::Timeout(after), Verdict::Bad),
            (over(Kind::Tool, true), Verdict::Bad),
            (over(Kind::Tool, false), Verdict::Nothing),
            (over(Kind::Deadline, true), Verdict::Nothing),
            (over(Kind::Chain, true), Verdict::Nothing),
            (over(Kind::Session, true), Verdict::Nothing),
            (over(Kind::Plan, true), Verdict::Nothing),
            (Trouble::SessionGone, Verdict::Nothing),
            (Trouble::Refused(failure::PARAMS_INVALID.error("no")), Verdict::Nothing),
            (status(429), Verdict::Good),
            (status(404), Verdict::Good),
            (status(500), Verdict::Bad),
            (status(200), Verdict::Bad),
        ] {
            assert_eq!(verdict_of(&trouble), verdict, "{trouble:?}");
        }
    }
}
