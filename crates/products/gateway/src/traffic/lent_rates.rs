//! The share of rates that the store lent to this gateway, so that most requests need not ask it. What is not used within
//! [`LEASE`] is void: all gateways together let in no more than the rule allows in a time that much longer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use tokio::sync::OwnedMutexGuard;

use super::rates::{Counted, MOST, Pace, Taken};
use crate::settings::RateRule;
use crate::shared::{CountName, RateWanted, RatesLent, SharedStore};

/// How long what was lent can be used.
const LEASE: Duration = Duration::from_secs(1);
/// How long a rate waits for the store.
const PATIENCE: Duration = Duration::from_millis(300);
/// How long it is not asked again after it did not answer.
pub(super) const PAUSE: Duration = Duration::from_millis(500);
/// How long a refusal holds without asking again, at most.
const REFUSED: Duration = Duration::from_millis(500);
/// At most this part of a burst, and of what the rate adds in [`LEASE`], is lent at once.
const PART: u32 = 8;

/// A key; nothing for all keys beyond [`MOST`] together.
type Key = Option<u64>;

#[derive(Debug, Default)]
struct Share {
    left: u32,
    until: Option<Instant>,
    /// How much was lent last.
    batch: u32,
    refusal: Option<Refusal>,
    turn: Arc<Turn>,
}

/// What the store refused.
#[derive(Clone, Copy, Debug)]
struct Refusal {
    /// Until then it is not asked again.
    until: Instant,
    /// From then on a request fits.
    fits: Instant,
}

/// One request at a time asks the store for a key.
#[derive(Debug, Default)]
struct Turn {
    lock: Arc<tokio::sync::Mutex<()>>,
    waiting: AtomicUsize,
}

/// A request that waits for its turn, or has it.
struct Waiting(Arc<Turn>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Share {
    fn is_lent(&self, now: Instant) -> bool {
        self.left > 0 && self.until.is_some_and(|until| until > now)
    }

    fn refused(&self, now: Instant) -> Option<Duration> {
        let refusal = self.refusal.filter(|refusal| refusal.until > now)?;
        Some(refusal.fits.saturating_duration_since(now))
    }

    /// How much is asked for: more, the faster it was used up.
    fn wanted(&self, most: u32, now: Instant) -> u32 {
        let in_time = self.until.is_some_and(|until| until > now);
        let batch = if in_time { self.batch.saturating_mul(2) } else { 1 };
        batch.clamp(1, most)
    }
}

/// One rule, as all gateways know it.
#[derive(Debug)]
struct LentRule {
    /// Equal rules of all gateways have the same.
    name: CountName,
    pace: Pace,
    burst: u32,
    /// The most that is lent for later.
    batch: u32,
}

impl LentRule {
    fn new(rule: &RateRule) -> Self {
        let mut name = Sha256::new();
        name.update(format!("{:?} {:?} {:?} {}", rule.per, rule.tools, rule.allow, rule.burst));
        let in_lease = f64::from(rule.allow.count) * LEASE.as_secs_f64() / rule.allow.period.as_secs_f64().max(1e-9);
        let batch = (rule.burst / PART).min((in_lease / f64::from(PART)) as u32).max(1);
        Self { name: name.finalize().into(), pace: Pace::new(rule), burst: rule.burst.max(1), batch }
    }
}

/// What was lent of all rules.
#[derive(Debug)]
pub(super) struct LentRates {
    store: Arc<SharedStore>,
    rules: Vec<LentRule>,
    shares: Mutex<Vec<HashMap<Key, Share>>>,
    away_until: Mutex<Option<Instant>>,
    asked: Arc<AtomicU64>,
}

/// Why a request is not let in: the rule, and for how long.
type Refused = (usize, Duration);

/// What was decided about a request.
enum Decided {
    Now(Result<(), Refused>),
    /// The store has to be asked.
    Asks,
}

impl LentRates {
    pub(super) fn new(rules: &[RateRule], store: &Arc<SharedStore>, asked: &Arc<AtomicU64>) -> Self {
        Self {
            store: Arc::clone(store),
            rules: rules.iter().map(LentRule::new).collect(),
            shares: Mutex::new(rules.iter().map(|_| HashMap::new()).collect()),
            away_until: Mutex::default(),
            asked: Arc::clone(asked),
        }
    }

    fn shares(&self) -> MutexGuard<'_, Vec<HashMap<Key, Share>>> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_away(&self, now: Instant) -> bool {
        let until = *self.away_until.lock().unwrap_or_else(PoisonError::into_inner);
        !self.store.is_heard() || until.is_some_and(|until| until > now)
    }

    /// Takes one from each, or from none. Nothing where the store is away: each gateway counts for itself then.
    pub(super) async fn take(&self, from: &[Taken<'_>]) -> Option<Result<(), Refused>> {
        match self.take_lent(from, Instant::now()) {
            Decided::Now(decided) => Some(decided),
            Decided::Asks => Box::pin(self.ask(from)).await,
        }
    }

    /// Takes what was lent, if all of it was.
    fn take_lent(&self, from: &[Taken<'_>], now: Instant) -> Decided {
        let mut all = self.shares();
        let mut lacks = false;
        for one in from {
            let share = all.get(one.rule).and_then(|shares| shares.get(&key_in(shares, one.key)));
            if let Some(left) = share.and_then(|share| share.refused(now)) {
                return Decided::Now(Err((one.rule, left)));
            }
            lacks |= !share.is_some_and(|share| share.is_lent(now));
        }
        if lacks {
            return Decided::Asks;
        }
        for one in from {
            change(&mut all, one, |share| share.left = share.left.saturating_sub(1));
        }
        Decided::Now(Ok(()))
    }

    /// Asks the store, after those that asked for the same before.
    async fn ask(&self, from: &[Taken<'_>]) -> Option<Result<(), Refused>> {
        let turns: Vec<Arc<Turn>> = {
            let (mut all, now) = (self.shares(), Instant::now());
            let lacking = from.iter().filter_map(|one| {
                change(&mut all, one, |share| (!share.is_lent(now)).then(|| Arc::clone(&share.turn))).flatten()
            });
            lacking.collect()
        };
        let waiting = turns.iter().map(|turn| {
            turn.waiting.fetch_add(1, Ordering::Relaxed);
            Waiting(Arc::clone(turn))
        });
        let _waiting: Vec<Waiting> = waiting.collect();
        // In the order of the rules, as everywhere.
        let mut locked: Vec<OwnedMutexGuard<()>> = Vec::with_capacity(turns.len());
        for turn in &turns {
            locked.push(Arc::clone(&turn.lock).lock_owned().await);
        }
        let now = Instant::now();
        if self.is_away(now) {
            return None;
        }
        if let Decided::Now(decided) = self.take_lent(from, now) {
            return Some(decided);
        }
        let mut reserved = Reserved { rates: self, from, held: Vec::new() };
        let (lacking, wanted) = self.reserve(from, &mut reserved.held, now);
        self.asked.fetch_add(1, Ordering::Relaxed);
        match tokio::time::timeout(PATIENCE, self.store.lend_rates(&wanted)).await {
            Ok(Ok(RatesLent::Lent(counts))) => {
                self.lent(from, &lacking, &counts, now);
                reserved.held.clear();
                Some(Ok(()))
            }
            Ok(Ok(RatesLent::Refused { which, again })) => {
                let one = from.get(*lacking.get(which)?)?;
                let now = Instant::now();
                let fits = now.checked_add(again).unwrap_or(now + REFUSED);
                let refusal = Refusal { until: fits.min(now + REFUSED), fits };
                change(&mut self.shares(), one, |share| share.refusal = Some(refusal));
                Some(Err((one.rule, again)))
            }
            Ok(Err(_)) | Err(_) => {
                let until = Some(Instant::now() + PAUSE);
                *self.away_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
                None
            }
        }
    }

    /// Takes what was lent; which of the others must be asked for, and how.
    fn reserve(&self, from: &[Taken<'_>], held: &mut Vec<Held>, now: Instant) -> (Vec<usize>, Vec<RateWanted>) {
        let (mut all, mut lacking, mut wanted) = (self.shares(), Vec::new(), Vec::new());
        for (index, one) in from.iter().enumerate() {
            let Some(rule) = self.rules.get(one.rule) else { continue };
            let is_further = all.get(one.rule).is_some_and(|shares| key_in(shares, one.key).is_none());
            let wants = change(&mut all, one, |share| {
                if share.is_lent(now) {
                    share.left -= 1;
                    held.push((index, share.until));
                    return None;
                }
                let waiting = u32::try_from(share.turn.waiting.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
                Some(share.wanted(rule.batch, now).max(waiting.min(rule.burst)))
            });
            if let Some(most) = wants.flatten() {
                let name = rule.count_name((!is_further).then_some(&one.of));
                lacking.push(index);
                wanted.push(RateWanted { name, each: rule.pace.each, burst: rule.burst, most });
            }
        }
        (lacking, wanted)
    }

    /// Keeps what was lent at `now` or later, but for the one that is used at once.
    fn lent(&self, from: &[Taken<'_>], lacking: &[usize], counts: &[u32], now: Instant) {
        let mut all = self.shares();
        for (index, count) in lacking.iter().zip(counts) {
            let Some(one) = from.get(*index) else { continue };
            change(&mut all, one, |share| {
                let (before, until) = if share.is_lent(now) { (share.left, share.until) } else { (0, None) };
                share.left = before + count.saturating_sub(1);
                share.until = until.or(Some(now + LEASE));
                (share.batch, share.refusal) = (*count, None);
            });
        }
    }

    /// Forgets what is over.
    pub(super) fn sweep(&self, now: Instant) {
        for shares in &mut *self.shares() {
            shares.retain(|_, share| {
                let is_void = share.until.is_none_or(|until| until <= now) && share.refused(now).is_none();
                !is_void || share.turn.waiting.load(Ordering::Relaxed) > 0
            });
        }
    }
}

impl LentRule {
    /// The name of a count; nothing for that of all further keys.
    fn count_name(&self, of: Option<&Counted<'_>>) -> CountName {
        let mut name = Sha256::new_with_prefix(self.name);
        if let Some(Counted { principal, client, server, tool, upstream }) = of {
            let principal = principal.map(|one| one.as_ref().map(|one| one.as_bytes()));
            let (tool, texts) = (tool.as_deref(), [*server, *upstream]);
            let text = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
            // Debug forms of lists and options are unambiguous.
            name.update(format!("{principal:?} {client:?} {:?} {:?}", text(tool), texts.map(text)));
        }
        name.finalize().into()
    }
}

/// One that was taken of what was lent, and until when it holds.
type Held = (usize, Option<Instant>);

/// What a request takes of what was lent: returned when the store refuses, or the request is given up.
struct Reserved<'r> {
    rates: &'r LentRates,
    from: &'r [Taken<'r>],
    held: Vec<Held>,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let mut all = self.rates.shares();
        for (index, until) in &self.held {
            let Some(one) = self.from.get(*index) else { continue };
            // What was lent since holds for longer.
            change(&mut all, one, |share| share.left += u32::from(share.until == *until));
        }
    }
}

fn key_in(shares: &HashMap<Key, Share>, key: u64) -> Key {
    (shares.len() < MOST || shares.contains_key(&Some(key))).then_some(key)
}

/// Changes one share, which is there from now on.
fn change<T>(all: &mut [HashMap<Key, Share>], one: &Taken<'_>, with: impl FnOnce(&mut Share) -> T) -> Option<T> {
    let shares = all.get_mut(one.rule)?;
    let key = key_in(shares, one.key);
    Some(with(shares.entry(key).or_default()))
}
