//! What each principal has spent within a time. Bounded in memory. Knows no call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;

use super::lent_costs::LentCharge;
use crate::settings::CostSettings;
use crate::view::matches;

/// The parts of the period. What was spent in one is forgotten when the whole of it is older than the period.
pub(super) const PARTS: u64 = 24;
/// The most principals that are counted apart. Further ones share one account.
pub(super) const MOST: usize = 16_384;

pub(super) type Principal = Option<HeaderValue>;

/// What was spent, by part; parts are numbered since the start.
#[derive(Debug, Default)]
struct Account(Vec<(u64, u64)>);

impl Account {
    /// All that counts in this part.
    fn spent(&mut self, part: u64) -> u64 {
        self.0.retain(|(old, _)| old + PARTS >= part);
        self.0.iter().map(|(_, cost)| cost).sum()
    }

    fn spend(&mut self, part: u64, cost: u64) {
        match self.0.last_mut().filter(|(last, _)| *last == part) {
            Some((_, spent)) => *spent += cost,
            None => self.0.push((part, cost)),
        }
    }

    /// The first part in which `free` of it is forgotten.
    fn forgets(&self, free: u64) -> Option<u64> {
        let mut sum = 0;
        let is_enough = |(_, cost): &&(u64, u64)| {
            sum += cost;
            sum >= free
        };
        self.0.iter().find(is_enough).map(|(part, _)| part + PARTS + 1)
    }
}

#[derive(Debug, Default)]
struct Accounts {
    by_principal: HashMap<Principal, Account>,
    shared: Account,
}

impl Accounts {
    fn of(&mut self, principal: &Principal) -> &mut Account {
        if self.by_principal.len() >= MOST && !self.by_principal.contains_key(principal) {
            return &mut self.shared;
        }
        self.by_principal.entry(principal.clone()).or_default()
    }
}

/// What all principals have spent.
#[derive(Debug)]
pub(super) struct Costs {
    pub(super) settings: CostSettings,
    start: Instant,
    accounts: Mutex<Accounts>,
}

/// Why a call is too dear, in numbers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooDear {
    pub(super) cost: u64,
    pub(super) left: u64,
    /// When it is not any more; nothing where it never fits.
    pub(super) again: Option<Duration>,
}

/// What one call costs. Given back when it is dropped, unless the call was sent.
#[derive(Debug)]
pub(super) struct Charge {
    costs: Arc<Costs>,
    principal: Principal,
    part: u64,
    pub(super) cost: u64,
    /// The call was sent.
    pub(super) is_spent: bool,
    /// The same at the account that all gateways share.
    pub(super) lent: Option<LentCharge>,
}

impl Costs {
    pub(super) fn new(settings: &CostSettings, start: Instant) -> Self {
        Self { settings: settings.clone(), start, accounts: Mutex::default() }
    }

    /// Rounded up: rather less than allowed than more.
    pub(super) fn part_length(settings: &CostSettings) -> Duration {
        let nanos = settings.allow.period.as_nanos().div_ceil(u128::from(PARTS)).max(1);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    fn part_of(&self, since: Duration) -> u64 {
        u64::try_from(since.as_nanos() / Self::part_length(&self.settings).as_nanos()).unwrap_or(u64::MAX)
    }

    /// What a call of this tool costs.
    pub(super) fn of_tool(&self, tool: &str) -> u32 {
        let special = self.settings.tools.iter().find(|(pattern, _)| matches(pattern, tool));
        special.map_or(self.settings.default, |(_, cost)| *cost)
    }

    /// Charges a principal.
    pub(super) fn charge(self: &Arc<Self>, principal: &Principal, cost: u32, now: Instant) -> Result<Charge, TooDear> {
        let since = now.saturating_duration_since(self.start);
        let part = self.part_of(since);
        let (cost, allow) = (u64::from(cost), u64::from(self.settings.allow.count));
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let account = accounts.of(principal);
        let spent = account.spent(part);
        let left = allow.saturating_sub(spent);
        if cost > left {
            let forgets = (cost <= allow).then(|| account.forgets(cost - left)).flatten();
            let at =
                |part: u64| Self::part_length(&self.settings).saturating_mul(u32::try_from(part).unwrap_or(u32::MAX));
            return Err(TooDear { cost, left, again: forgets.map(|part| at(part).saturating_sub(since)) });
        }
        if cost > 0 {
            account.spend(part, cost);
        }
        Ok(Charge { costs: Arc::clone(self), principal: principal.clone(), part, cost, is_spent: false, lent: None })
    }

    pub(super) fn sweep(&self, now: Instant) {
        let since = now.saturating_duration_since(self.start);
        let part = self.part_of(since);
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.by_principal.retain(|_, account| account.spent(part) > 0);
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if self.is_spent || self.cost == 0 {
            // Spent for all gateways, too.
            self.lent.iter_mut().for_each(|lent| lent.cost = 0);
            return;
        }
        let mut accounts = self.costs.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let Accounts { by_principal, shared } = &mut *accounts;
        let account = by_principal.get_mut(&self.principal).unwrap_or(shared);
        if let Some((_, spent)) = account.0.iter_mut().find(|(part, _)| *part == self.part) {
            *spent = spent.saturating_sub(self.cost);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use net::server::http::HeaderValue;
    use proptest::prelude::*;

    use super::{Charge, Costs, MOST, TooDear};
    use crate::settings::{Amount, CostSettings};

    const DAY: Duration = Duration::from_hours(24);
    const HOUR: Duration = Duration::from_hours(1);

    fn costs(count: u32) -> (Arc<Costs>, Instant) {
        let start = Instant::now();
        let settings = CostSettings { allow: Amount { count, period: DAY }, default: 1, tools: Vec::new() };
        (Arc::new(Costs::new(&settings, start)), start)
    }

    fn spend(charged: Result<Charge, TooDear>) -> Result<(), TooDear> {
        charged.map(|mut charge| charge.is_spent = true)
    }

    proptest! {
        #[test]
        fn no_day_has_more_than_allowed(
            calls in proptest::collection::vec((0_u64..20_000, 0_u32..40), 1..150),
        ) {
            let (costs, start) = costs(100);
            let mut at = Duration::ZERO;
            let mut spent: Vec<(Duration, u32)> = Vec::new();
            for (pause, cost) in calls {
                at += Duration::from_secs(pause);
                match spend(costs.charge(&None, cost, start + at)) {
                    Ok(()) => spent.push((at, cost)),
                    Err(TooDear { again, .. }) => {
                        let again = again.expect("it fits once");
                        prop_assert!(again <= DAY + HOUR);
                        at += again;
                        prop_assert_eq!(spend(costs.charge(&None, cost, start + at)), Ok(()));
                        spent.push((at, cost));
                    }
                }
                let sum: u32 = spent.iter().filter(|(then, _)| *then + DAY > at).map(|(_, cost)| cost).sum();
                prop_assert!(sum <= 100, "{} within a day", sum);
            }
        }
    }

    #[test]
    fn what_was_not_sent_is_given_back() {
        let (costs, now) = costs(10);
        drop(costs.charge(&None, 10, now).expect("it is free"));
        assert_eq!(spend(costs.charge(&None, 7, now)), Ok(()));
        let too_dear = costs.charge(&None, 4, now).expect_err("3 are left");
        assert_eq!(too_dear, TooDear { cost: 4, left: 3, again: Some(DAY + HOUR) });
        assert_eq!(costs.charge(&None, 11, now).expect_err("never").again, None);
    }

    #[test]
    fn principals_that_are_made_up_reset_no_account() {
        let (costs, now) = costs(2);
        let named = |number: usize| Some(HeaderValue::from(number));
        for number in 0..MOST {
            assert_eq!(spend(costs.charge(&named(number), 2, now)), Ok(()));
        }
        let further = (MOST..MOST + 100).filter(|number| spend(costs.charge(&named(*number), 1, now)).is_ok());
        assert_eq!(further.count(), 2);
        assert!(costs.charge(&named(0), 1, now).is_err());
        costs.sweep(now + DAY * 2);
        assert!(costs.accounts.lock().expect("no panic").by_principal.is_empty());
    }
}
