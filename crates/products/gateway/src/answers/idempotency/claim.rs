//! Whether a call may run, as the store says: it waits until it is written that the call runs, or takes its key from the
//! gateways that share the store.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::sharing::Sharing;
use super::{Asked, Backing, Decision, Entry, KeptAnswer, Progress, RunningCall, Status, record};
use crate::failure::{self, Failure};
use crate::settings::StoreLoss;
use crate::shared::{Held, RUNNING, Taken, Written};

/// The first and the longest pause before another gateway's call is looked at again.
const PAUSE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// What the store says of a call.
#[derive(Debug)]
pub(crate) enum Claimed {
    /// It runs.
    Run,
    /// It has run, at another gateway.
    Answered(Arc<KeptAnswer>),
    /// It must not run; perhaps it may later.
    Refused(Failure, Option<Duration>),
}

/// What one look at the shared store came to.
enum Look {
    Over(Claimed),
    /// Another gateway runs the call.
    Wait,
    Again,
}

impl RunningCall {
    /// Waits until it outlives a crash that the call runs, or for the gateway that runs it. Otherwise it must not run.
    pub(crate) async fn claim(&mut self, patience: Duration) -> Claimed {
        let calls = Arc::clone(&self.calls);
        let Backing::Shared(sharing) = &calls.backing else {
            if std::mem::take(&mut self.begun).outlives_crash().await {
                return Claimed::Run;
            }
            return Claimed::Refused(failure::IDEMPOTENCY_NOT_WRITTEN, None);
        };
        let (begun, mut pause) = (Instant::now(), PAUSE.0);
        loop {
            match self.look(sharing).await {
                Look::Over(claimed) => return claimed,
                Look::Again => {}
                Look::Wait if begun.elapsed() > patience => {
                    self.leave();
                    return Claimed::Refused(failure::IDEMPOTENCY_UNKNOWN, None);
                }
                Look::Wait => {
                    sleep(pause).await;
                    pause = (pause * 2).min(PAUSE.1);
                }
            }
        }
    }

    /// Asks the shared store once.
    async fn look(&mut self, sharing: &Sharing) -> Look {
        let name = record::name(&self.key);
        // What this gateway still has to write of the key comes first.
        if !sharing.flush(&self.calls, &name).await {
            return Look::Over(self.without_store(failure::STORE_AWAY, None));
        }
        let Some(epoch) = sharing.written_to() else {
            return Look::Over(self.without_store(failure::STORE_AWAY, None));
        };
        let record = self.running_record();
        let written = Written { token: &self.token, record: &record, is_leased: true, keep: RUNNING, step: 1 };
        match sharing.store.take(&name, &epoch, written).await {
            Ok(Taken::Free) => Look::Over(self.start(None, 1)),
            Ok(Taken::Held(held)) => self.held(sharing, &name, &held).await,
            Ok(Taken::Recovering(left)) => Look::Over(self.without_store(failure::STORE_RECOVERING, Some(left))),
            Err(_) => {
                // It may have been taken.
                sharing.forget_later(&self.calls, name, self.token);
                Look::Over(self.without_store(failure::STORE_AWAY, None))
            }
        }
    }

    /// The key is there already.
    async fn held(&mut self, sharing: &Sharing, name: &[u8], held: &Held) -> Look {
        let unreadable = Claimed::Refused(failure::IDEMPOTENCY_UNKNOWN, None);
        let Ok((key, mut entry)) = record::shared(&held.record) else { return self.over(unreadable) };
        if key != self.key {
            return self.over(unreadable);
        }
        let (digest, round) = &self.asked_for;
        match entry.decide(digest, *round) {
            Decision::Wait(_) | Decision::Claiming(_) if held.is_leased => Look::Wait,
            Decision::Wait(_) | Decision::Claiming(_) => {
                // Its owner is gone: the call may have run to its end, or not.
                entry.status = Status::Unknown;
                let record = record::written(&self.key, &entry, (self.settings.ttl, Instant::now()));
                match sharing.store.bury(name, held, &record, self.settings.ttl).await {
                    Ok(()) => Look::Again,
                    Err(_) => self.over(Claimed::Refused(failure::IDEMPOTENCY_UNKNOWN, None)),
                }
            }
            Decision::GoOn(asked) => {
                let record = self.running_record();
                let written = Written {
                    token: &self.token,
                    record: &record,
                    is_leased: true,
                    keep: RUNNING,
                    step: held.step + 1,
                };
                match sharing.store.go_on(name, held, written).await {
                    Ok(true) => Look::Over(self.start(Some(asked), held.step + 1)),
                    Ok(false) => Look::Again,
                    Err(_) => Look::Over(self.without_store(failure::STORE_AWAY, None)),
                }
            }
            Decision::Answered(answer) => self.over(Claimed::Answered(answer)),
            Decision::Refused(failure) => self.over(Claimed::Refused(failure, None)),
        }
    }

    /// What stands in the store while it runs.
    fn running_record(&self) -> Vec<u8> {
        let (sender, running) = tokio::sync::watch::channel(Progress::Running);
        drop(sender);
        let entry = Entry {
            digest: self.asked_for.0,
            status: Status::Running(running),
            asked: None,
            until: None,
            token: self.token,
            step: 0,
        };
        record::written(&self.key, &entry, (RUNNING, Instant::now()))
    }

    /// It runs here; it answers what was `asked`.
    fn start(&mut self, asked: Option<Asked>, step: u64) -> Claimed {
        let mut state = self.calls.state();
        if let Some(entry) = state.entries.get_mut(&self.key) {
            (entry.digest, entry.asked) = (self.asked_for.0, asked);
            (entry.token, entry.step) = (self.token, step);
            entry.status = Status::Running(self.sender.subscribe());
        }
        self.sender.send_replace(Progress::Running);
        Claimed::Run
    }

    /// What becomes of it while the store cannot be asked.
    fn without_store(&mut self, why: Failure, left: Option<Duration>) -> Claimed {
        let Backing::Shared(sharing) = &self.calls.backing else { return Claimed::Run };
        let again = left.or(why.retry_after_ms.map(Duration::from_millis));
        if sharing.on_loss == StoreLoss::Refuse {
            self.give_up();
            return Claimed::Refused(why, again);
        }
        let known = {
            let state = self.calls.state();
            let entry = state.entries.get(&self.key);
            entry.and_then(|entry| Some((entry.digest, Status::Asked(entry.asked.clone()?), entry.step)))
        };
        let Some((digest, status, step)) = known else { return self.start(None, 1) };
        let (until, token) = (None, self.token);
        let decision =
            Entry { digest, status, asked: None, until, token, step }.decide(&self.asked_for.0, self.asked_for.1);
        match decision {
            Decision::GoOn(asked) => self.start(Some(asked), step + 1),
            Decision::Answered(answer) => {
                self.give_up();
                Claimed::Answered(answer)
            }
            Decision::Wait(_) | Decision::Claiming(_) => self.start(None, 1),
            Decision::Refused(failure) => {
                self.give_up();
                Claimed::Refused(failure, None)
            }
        }
    }

    /// It does not run here: the store says what came of it.
    fn over(&mut self, claimed: Claimed) -> Look {
        self.leave();
        Look::Over(claimed)
    }

    /// It does not run here, and the store knows more of its key than this gateway.
    fn leave(&mut self) {
        self.over = true;
        let mut state = self.calls.state();
        state.running -= 1;
        state.remove(&self.key);
    }

    /// Nobody waits for the shared store any more, which may have given it the key.
    pub(super) fn abandon(&mut self) {
        self.give_up();
        if let Backing::Shared(sharing) = &self.calls.backing {
            sharing.forget_later(&self.calls, record::name(&self.key), self.token);
        }
    }

    /// It does not run; its key stands as it stood before.
    pub(super) fn give_up(&mut self) {
        self.over = true;
        let mut state = self.calls.state();
        state.running -= 1;
        let until = Instant::now() + self.settings.ttl;
        let before = state.entries.get_mut(&self.key).and_then(|entry| Some((entry.asked.take()?, entry)));
        let Some((asked, entry)) = before else { return state.remove(&self.key) };
        (entry.status, entry.until) = (Status::Asked(asked), Some(until));
        let bytes = entry.kept_bytes();
        state.bytes += bytes;
    }
}
