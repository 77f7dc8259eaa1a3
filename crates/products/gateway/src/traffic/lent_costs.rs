//! What the store lent this gateway of the account of each principal, so that most calls need not ask it. What is not spent is
//! returned; what was lent in one part of the period is spent in it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;
use sha2::{Digest as _, Sha256};

use super::costs::{Costs, MOST, PARTS, Principal, TooDear};
use super::lent_rates::PAUSE;
use crate::settings::CostSettings;
use crate::shared::{CostLent, SharedAccount, SharedStore};

/// How long what was lent can be spent.
const LEASE: Duration = Duration::from_secs(2);
/// How long a charge waits for the store.
const PATIENCE: Duration = Duration::from_millis(300);
/// At most this part of an account is lent at once, unless one call costs more.
const PART: u64 = 64;

/// Whose account it is; nothing for that of all principals beyond [`MOST`].
type Owner = Option<Principal>;

#[derive(Debug, Default)]
struct Purse {
    left: u64,
    part: u64,
    until: Option<Instant>,
    /// How much was lent last.
    batch: u64,
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl Purse {
    fn is_open(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| until > now)
    }

    fn spend(&mut self, cost: u64, now: Instant) -> bool {
        let fits = self.is_open(now) && self.left >= cost;
        if fits {
            self.left -= cost;
        }
        fits
    }
}

/// The accounts that all gateways share, and what was lent of them.
#[derive(Debug)]
pub(super) struct LentCosts {
    store: Arc<SharedStore>,
    allow: u64,
    part: Duration,
    purses: Mutex<HashMap<Owner, Purse>>,
    away_until: Mutex<Option<Instant>>,
    asked: Arc<AtomicU64>,
}

/// What one call costs, charged to the account that all gateways share. Given back when it is dropped, unless it is spent.
#[derive(Debug)]
pub(super) struct LentCharge {
    costs: Arc<LentCosts>,
    owner: Owner,
    part: u64,
    pub(super) cost: u64,
}

impl Drop for LentCharge {
    fn drop(&mut self) {
        if self.cost == 0 {
            return;
        }
        let mut purses = self.costs.purses();
        match purses.get_mut(&self.owner).filter(|purse| purse.part == self.part && purse.is_open(Instant::now())) {
            Some(purse) => purse.left += self.cost,
            None => self.costs.give_back(&self.owner, self.part, self.cost),
        }
    }
}

impl LentCosts {
    pub(super) fn new(settings: &CostSettings, store: &Arc<SharedStore>, asked: &Arc<AtomicU64>) -> Self {
        // The store counts in microseconds.
        let micros = Costs::part_length(settings).as_micros().max(1);
        Self {
            store: Arc::clone(store),
            allow: u64::from(settings.allow.count),
            part: Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX) + 1),
            purses: Mutex::default(),
            away_until: Mutex::default(),
            asked: Arc::clone(asked),
        }
    }

    fn purses(&self) -> MutexGuard<'_, HashMap<Owner, Purse>> {
        self.purses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn account(&self, owner: &Owner) -> SharedAccount {
        let mut name = Sha256::new();
        let owner = owner.as_ref().map(|principal| principal.as_ref().map(HeaderValue::as_bytes));
        name.update(format!("{} {:?} {owner:?}", self.allow, self.part));
        SharedAccount { name: name.finalize().into(), allow: self.allow, part: self.part, parts: PARTS }
    }

    fn is_away(&self, now: Instant) -> bool {
        let until = *self.away_until.lock().unwrap_or_else(PoisonError::into_inner);
        !self.store.is_heard() || until.is_some_and(|until| until > now)
    }

    /// Charges a principal. Nothing where the store is away: each gateway counts for itself then.
    pub(super) async fn charge(
        self: &Arc<Self>,
        principal: &Principal,
        cost: u64,
    ) -> Option<Result<LentCharge, TooDear>> {
        let owner = {
            let purses = self.purses();
            let owner = Some(principal.clone());
            if purses.len() < MOST || purses.contains_key(&owner) { owner } else { None }
        };
        if let Some(charge) = self.spend(&owner, cost, Instant::now()) {
            return Some(Ok(charge));
        }
        Box::pin(self.ask(owner, cost)).await
    }

    fn spend(self: &Arc<Self>, owner: &Owner, cost: u64, now: Instant) -> Option<LentCharge> {
        let mut purses = self.purses();
        let purse = purses.entry(owner.clone()).or_default();
        purse.spend(cost, now).then(|| LentCharge {
            costs: Arc::clone(self),
            owner: owner.clone(),
            part: purse.part,
            cost,
        })
    }

    async fn ask(self: &Arc<Self>, owner: Owner, cost: u64) -> Option<Result<LentCharge, TooDear>> {
        let turn = Arc::clone(&self.purses().entry(owner.clone()).or_default().turn);
        let _turn = turn.lock().await;
        let now = Instant::now();
        if self.is_away(now) {
            return None;
        }
        if let Some(charge) = self.spend(&owner, cost, now) {
            return Some(Ok(charge));
        }
        let most = {
            let mut purses = self.purses();
            let purse = purses.entry(owner.clone()).or_default();
            // What was not spent in time may be wanted elsewhere.
            if !purse.is_open(now) && purse.left > 0 {
                self.give_back(&owner, purse.part, std::mem::take(&mut purse.left));
            }
            let batch = if purse.is_open(now) { purse.batch.saturating_mul(2) } else { 0 };
            batch.min(self.allow / PART).max(cost)
        };
        self.asked.fetch_add(1, Ordering::Relaxed);
        let account = self.account(&owner);
        let asked = self.store.lend_cost(&account, cost, most);
        let Ok(Ok(lent)) = tokio::time::timeout(PATIENCE, asked).await else {
            *self.away_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + PAUSE);
            return None;
        };
        Some(match lent {
            CostLent::Lent { amount, part, lasts } => {
                Ok(self.lent(owner, (amount, part), now + lasts.min(LEASE), cost))
            }
            CostLent::TooLittle { left, again } => {
                Err(TooDear { cost, left, again: (cost <= self.allow).then_some(again) })
            }
        })
    }

    /// Keeps what was lent, but for what is spent at once.
    fn lent(self: &Arc<Self>, owner: Owner, (amount, part): (u64, u64), until: Instant, cost: u64) -> LentCharge {
        let mut purses = self.purses();
        let purse = purses.entry(owner.clone()).or_default();
        if purse.part != part && purse.left > 0 {
            self.give_back(&owner, purse.part, std::mem::take(&mut purse.left));
        }
        purse.left += amount.saturating_sub(cost);
        (purse.part, purse.until, purse.batch) = (part, Some(until), amount);
        LentCharge { costs: Arc::clone(self), owner, part, cost }
    }

    fn give_back(&self, owner: &Owner, part: u64, amount: u64) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (store, account) = (Arc::clone(&self.store), self.account(owner));
        runtime.spawn(async move { store.return_cost(&account, part, amount).await });
    }

    /// Returns what was not spent in time.
    pub(super) fn sweep(&self, now: Instant) {
        self.purses().retain(|owner, purse| {
            if purse.is_open(now) {
                return true;
            }
            if purse.left > 0 {
                self.give_back(owner, purse.part, std::mem::take(&mut purse.left));
            }
            Arc::strong_count(&purse.turn) > 1
        });
    }
}

impl Drop for LentCosts {
    fn drop(&mut self) {
        let purses = std::mem::take(&mut *self.purses());
        for (owner, purse) in purses.iter().filter(|(_, purse)| purse.left > 0) {
            self.give_back(owner, purse.part, purse.left);
        }
    }
}
