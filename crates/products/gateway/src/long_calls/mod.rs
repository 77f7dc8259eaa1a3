//! Calls that the gateway made tasks of: how each stands, whose it is, what came of it. Bounded in memory. Must not know how a
//! call runs.

mod times;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use net::server::http::HeaderValue;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use wire::timestamp::rfc3339;

pub(crate) use self::times::CallTimes;
use crate::ids::Ids;
use crate::settings::TaskSettings;
use crate::view::matches;

/// The most tasks, and the most bytes of their answers.
const MOST: usize = 4096;
const MOST_BYTES: usize = 64 << 20;
/// The most bytes of one principal's answers: nobody takes the room of all others.
const MOST_OF_ONE: usize = MOST_BYTES / 4;
/// An answer of so many bytes has always room.
const SMALL: usize = 4 << 10;
/// How long two looks at one task may be apart at most, as it is advised.
const LONGEST_POLL: Duration = Duration::from_secs(30);
/// How the ids of these tasks begin.
const OWN: &str = "proof-gateway-call.";

/// Whose task it is: the server that the client sees, and the subject of its token.
pub(crate) type Owner = (String, Option<HeaderValue>);

/// What came of a call.
#[derive(Clone, Debug)]
enum Outcome {
    Working,
    /// The whole response, and its error's code.
    Ended(Arc<str>, Option<i64>),
    Cancelled,
}

/// A call that runs by itself, or has run.
#[derive(Debug)]
struct LongCall {
    owner: Owner,
    created: String,
    updated: String,
    ttl: Duration,
    until: Instant,
    poll: Duration,
    /// When it was looked at last.
    looked: Option<Instant>,
    outcome: Outcome,
    over: watch::Sender<bool>,
    running: Option<AbortHandle>,
}

/// How a call stands.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    /// The members of the task, as the extension to 2026-07-28 names them, without its outcome.
    pub(crate) task: Map<String, Value>,
    /// The whole response, and its error's code; nothing while it runs, and of a cancelled one.
    pub(crate) answer: Option<(Arc<str>, Option<i64>)>,
}

/// What becomes of a request about a task.
#[derive(Debug)]
pub(crate) enum Found {
    /// It does not exist, or its time is over.
    Unknown,
    /// It belongs to another client.
    Foreign,
    /// It was polled a moment ago; when it may be polled again.
    TooEarly(Duration),
    Known(Standing),
}

/// What a server needs to make tasks of calls.
#[derive(Clone, Debug)]
pub(crate) struct Tasks {
    pub(crate) settings: Arc<TaskSettings>,
    pub(crate) calls: Arc<LongCalls>,
    pub(crate) times: Arc<CallTimes>,
}

impl Tasks {
    /// Whether a tool takes so long that its calls are offered as tasks.
    pub(crate) fn is_long(&self, server: &str, tool: &str) -> bool {
        let by_rule = self.settings.tools.iter().any(|pattern| matches(pattern, tool));
        by_rule || self.times.is_over(server, tool, self.settings.over)
    }
}

/// All of them, by id.
#[derive(Debug, Default)]
pub(crate) struct LongCalls(Mutex<HashMap<String, LongCall>>, Ids);

/// Whether an id is of this kind.
pub(crate) fn is_ours(id: &str) -> bool {
    id.starts_with(OWN)
}

/// How much the answers of one principal take.
fn bytes_of(all: &HashMap<String, LongCall>, principal: Option<&HeaderValue>) -> usize {
    all.values().filter(|call| call.owner.1.as_ref() == principal).map(LongCall::bytes).sum()
}

/// Now, as tasks say it.
pub(crate) fn moment() -> String {
    rfc3339(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl LongCall {
    fn is_over(&self) -> bool {
        !matches!(self.outcome, Outcome::Working)
    }

    fn bytes(&self) -> usize {
        if let Outcome::Ended(text, _) = &self.outcome { text.len() } else { 0 }
    }

    fn standing(&self, id: &str) -> Standing {
        let (status, answer) = match &self.outcome {
            Outcome::Working => ("working", None),
            Outcome::Ended(text, code) => {
                (if code.is_some() { "failed" } else { "completed" }, Some((Arc::clone(text), *code)))
            }
            Outcome::Cancelled => ("cancelled", None),
        };
        let task = json!({ "taskId": id, "status": status, "createdAt": self.created, "lastUpdatedAt": self.updated,
            "ttlMs": millis(self.ttl), "pollIntervalMs": millis(self.poll) });
        Standing { task: task.as_object().cloned().unwrap_or_default(), answer }
    }

    fn end(&mut self, outcome: Outcome) {
        self.outcome = outcome;
        self.updated = moment();
        self.running = None;
        self.over.send_replace(true);
    }
}

impl Drop for LongCall {
    fn drop(&mut self) {
        // Its result cannot be asked for any more.
        if let Some(running) = &self.running {
            running.abort();
        }
    }
}

impl LongCalls {
    pub(crate) fn new(ids: Ids) -> Self {
        Self(Mutex::default(), ids)
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, LongCall>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a task. `None` where there is no room, for its owner or at all.
    pub(crate) fn begin(
        &self,
        owner: &Owner,
        settings: &TaskSettings,
        ttl: Option<u64>,
        now: Instant,
    ) -> Option<(String, Standing)> {
        let id = self.1.unguessable(OWN)?;
        let ttl = ttl.map_or(settings.ttl, Duration::from_millis).min(settings.ttl);
        let (created, until) = (moment(), now + ttl);
        let mut all = self.all();
        all.retain(|_, call| call.until > now);
        let of_owner = all.values().filter(|call| call.owner.1 == owner.1).count();
        if all.len() >= MOST || of_owner >= settings.per_principal || bytes_of(&all, owner.1.as_ref()) >= MOST_OF_ONE {
            return None;
        }
        let call = LongCall {
            owner: owner.clone(),
            updated: created.clone(),
            created,
            ttl,
            until,
            poll: settings.poll,
            looked: None,
            outcome: Outcome::Working,
            over: watch::Sender::new(false),
            running: None,
        };
        let standing = call.standing(&id);
        all.insert(id.clone(), call);
        Some((id, standing))
    }

    /// The call runs, and ends where this handle is used. One whose time is over meanwhile is ended at once.
    pub(crate) fn runs(&self, id: &str, running: AbortHandle) {
        match self.all().get_mut(id) {
            Some(call) if !call.is_over() => call.running = Some(running),
            Some(_) => {}
            None => running.abort(),
        }
    }

    /// The call has ended with this answer. `false` where there is no room for it: the caller gives a shorter one.
    pub(crate) fn end(&self, id: &str, text: Arc<str>, code: Option<i64>) -> bool {
        let mut all = self.all();
        let bytes: usize = all.values().map(LongCall::bytes).sum();
        let own = all.get(id).map_or(0, |call| bytes_of(&all, call.owner.1.as_ref()));
        let Some(call) = all.get_mut(id).filter(|call| !call.is_over()) else { return true };
        if text.len() > SMALL && (bytes + text.len() > MOST_BYTES || own + text.len() > MOST_OF_ONE) {
            return false;
        }
        call.end(Outcome::Ended(text, code));
        true
    }

    fn find<T>(
        &self,
        (owner, id): (&Owner, &str),
        now: Instant,
        found: impl FnOnce(&mut LongCall) -> Result<T, Found>,
    ) -> Result<T, Found> {
        let mut all = self.all();
        match all.get_mut(id).filter(|call| call.until > now) {
            None => Err(Found::Unknown),
            Some(call) if call.owner != *owner => Err(Found::Foreign),
            Some(call) => found(call),
        }
    }

    /// Looks at a task. Each time, a longer wait is advised.
    pub(crate) fn look(&self, owner: &Owner, id: &str, least: Duration, now: Instant) -> Found {
        let looked = self.find((owner, id), now, |call| {
            let early = call.looked.map(|last| least.saturating_sub(now.saturating_duration_since(last)));
            // Networks are no clocks.
            if let Some(early) = early.filter(|early| *early > least / 20) {
                return Err(Found::TooEarly(early));
            }
            let first = call.looked.replace(now).is_none();
            if !first {
                call.poll = (call.poll * 2).min(LONGEST_POLL.max(least));
            }
            Ok(call.standing(id))
        });
        looked.map_or_else(|other| other, Found::Known)
    }

    /// Cancels a task that is not over. The second value: whether it was over before.
    pub(crate) fn cancel(&self, owner: &Owner, id: &str) -> Result<(Standing, bool), Found> {
        self.find((owner, id), Instant::now(), |call| {
            let was_over = call.is_over();
            if !was_over {
                let running = call.running.take();
                call.end(Outcome::Cancelled);
                running.iter().for_each(AbortHandle::abort);
            }
            Ok((call.standing(id), was_over))
        })
    }

    /// Waits for the end of a task.
    pub(crate) async fn ended(&self, owner: &Owner, id: &str) -> Found {
        let over = self.find((owner, id), Instant::now(), |call| Ok((call.over.subscribe(), call.until)));
        let (mut over, until) = match over {
            Ok(over) => over,
            Err(other) => return other,
        };
        let ended = over.wait_for(|over| *over);
        let _ = tokio::time::timeout_at(until.into(), ended).await;
        self.find((owner, id), Instant::now(), |call| Ok(call.standing(id))).map_or_else(|other| other, Found::Known)
    }

    /// Forgets those whose time is over. What of them runs ends.
    pub(crate) fn sweep(&self) {
        self.all().retain(|_, call| call.until > Instant::now());
    }
}

#[cfg(test)]
mod tests;
