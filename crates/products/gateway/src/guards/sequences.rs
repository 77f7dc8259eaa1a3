//! Which tools were called a while ago, for rules that deny others after them. Bounded in memory; what it has no room for is
//! refused, not forgotten.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;
use net::service::Session;
use sha2::{Digest as _, Sha256};

use crate::settings::{SequenceRule, SequenceScope};
use crate::view::matches;

/// The most rules and callers that are remembered, and the most of one principal.
const MOST: usize = 65_536;
const MOST_OF_ONE: usize = 4096;

/// Whose call it is.
#[derive(Clone, Default)]
pub(crate) struct Caller {
    pub(crate) principal: Option<HeaderValue>,
    pub(crate) session: Option<Arc<Session>>,
    pub(crate) chain: Option<String>,
}

/// Why a call is not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// A tool was called before that this one must not follow.
    Denied {
        /// How long that holds.
        left: Duration,
    },
    /// No more calls can be remembered.
    Full,
}

struct Called {
    until: Instant,
    principal: Option<HeaderValue>,
    /// Keeps the address of a session its own.
    _session: Option<Weak<Session>>,
}

/// What was called.
#[derive(Default)]
pub(crate) struct Sequences(Mutex<HashMap<[u8; 32], Called>>);

impl Sequences {
    fn all(&self) -> MutexGuard<'_, HashMap<[u8; 32], Called>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a tool may be called now.
    pub(crate) fn look(
        &self,
        rules: &[SequenceRule],
        (tool, caller): (&str, &Caller),
        now: Instant,
    ) -> Result<(), Stopped> {
        denied(&self.all(), rules, (tool, caller), now)
    }

    /// The same, and if it may, later calls come after it.
    pub(crate) fn enter(
        &self,
        rules: &[SequenceRule],
        (tool, caller): (&str, &Caller),
        now: Instant,
    ) -> Result<(), Stopped> {
        let mut all = self.all();
        denied(&all, rules, (tool, caller), now)?;
        let begun: Vec<_> = rules.iter().filter(|rule| fits(&rule.after, tool)).collect();
        if all.len() + begun.len() > MOST {
            all.retain(|_, called| called.until > now);
        }
        let keys: Vec<_> = begun.iter().map(|rule| key(rule, caller)).collect();
        let more = keys.iter().filter(|key| !all.contains_key(*key)).count();
        // A caller that names chain after chain takes no room of others.
        let of_one = || all.values().filter(|called| called.principal == caller.principal).count();
        let is_one = caller.principal.is_some() && more > 0 && all.len() >= MOST_OF_ONE;
        if all.len() + more > MOST || is_one && of_one() + more > MOST_OF_ONE {
            return Err(Stopped::Full);
        }
        for (rule, key) in begun.into_iter().zip(keys) {
            let session = caller.session.as_ref().filter(|_| rule.per == SequenceScope::Session).map(Arc::downgrade);
            let principal = caller.principal.clone();
            all.insert(key, Called { until: now + rule.ttl, principal, _session: session });
        }
        Ok(())
    }

    pub(super) fn sweep(&self, now: Instant) {
        self.all().retain(|_, called| called.until > now);
    }
}

fn denied(
    all: &HashMap<[u8; 32], Called>,
    rules: &[SequenceRule],
    (tool, caller): (&str, &Caller),
    now: Instant,
) -> Result<(), Stopped> {
    let left = |rule: &SequenceRule| {
        let called = all.get(&key(rule, caller)).filter(|_| fits(&rule.deny, tool))?;
        called.until.checked_duration_since(now).filter(|left| !left.is_zero())
    };
    match rules.iter().filter_map(left).max() {
        Some(left) => Err(Stopped::Denied { left }),
        None => Ok(()),
    }
}

fn fits(patterns: &[String], tool: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, tool))
}

/// Under what the calls of a caller are remembered for a rule: by what the rule says, so that it outlives a change of others.
fn key(rule: &SequenceRule, caller: &Caller) -> [u8; 32] {
    let mut digest = Sha256::new();
    let mut part = |bytes: &[u8]| {
        digest.update((bytes.len() as u64).to_be_bytes());
        digest.update(bytes);
    };
    for names in [&rule.after, &rule.deny] {
        part(&(names.len() as u64).to_be_bytes());
        for name in names {
            part(name.as_bytes());
        }
    }
    part(&[u8::from(caller.principal.is_some())]);
    part(caller.principal.as_ref().map_or(&[][..], HeaderValue::as_bytes));
    match (rule.per, &caller.session, &caller.chain) {
        (SequenceScope::Session, Some(session), _) => {
            part(b"session");
            part(&(Arc::as_ptr(session) as usize).to_be_bytes());
        }
        (SequenceScope::Chain, _, Some(chain)) => {
            part(b"chain");
            part(chain.as_bytes());
        }
        _ => part(b"principal"),
    }
    digest.finalize().into()
}

#[cfg(test)]
mod tests;
