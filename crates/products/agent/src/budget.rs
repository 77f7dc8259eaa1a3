//! What a run may cost. A request begins only if what was spent, and what the requests under way may cost, leave room for it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use eval::recording::Tokens;
use tokio::sync::Notify;

/// Prices in dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Of tokens that the model reads.
    pub input: f64,
    /// Of those of them that come from a cache.
    pub cached: f64,
    /// Of tokens that it writes.
    pub output: f64,
}

impl Price {
    /// What tokens cost, in dollars.
    pub fn of(self, tokens: Tokens) -> f64 {
        let fresh = tokens.input.saturating_sub(tokens.cached) as f64;
        let cached = tokens.cached.min(tokens.input) as f64;
        (fresh * self.input + cached * self.cached + tokens.output as f64 * self.output) / 1e6
    }
}

/// What a run may cost at most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// In dollars; needs prices.
    pub cost: Option<f64>,
    /// In tokens, read and written.
    pub tokens: Option<u64>,
}

/// What a run has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Answers that came.
    pub answers: usize,
    /// Their tokens.
    pub tokens: Tokens,
    /// Answers that did not say how many tokens they took.
    pub unknown: usize,
}

/// The budget of a run.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    price: Option<Price>,
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct State {
    spent: Spent,
    under_way: usize,
    /// What the dearest answer cost: in dollars, in tokens.
    dearest: (f64, u64),
}

/// A request that was let through.
pub(crate) struct Place<'b>(&'b Budget);

impl Budget {
    /// `spent` is what an earlier part of the run cost.
    pub(crate) fn new(limits: Limits, price: Option<Price>, spent: Spent) -> Self {
        let state = State { spent, ..State::default() };
        Self { limits, price, state: Mutex::new(state), freed: Notify::new() }
    }

    pub(crate) const fn is_limited(&self) -> bool {
        self.limits.cost.is_some() || self.limits.tokens.is_some()
    }

    pub(crate) fn spent(&self) -> Spent {
        self.state().spent
    }

    /// Waits until a request may begin; `None`: the budget is used up.
    pub(crate) async fn place(&self) -> Option<Place<'_>> {
        loop {
            let freed = self.freed.notified();
            tokio::pin!(freed);
            // From here on, a place that is given back is noticed.
            freed.as_mut().enable();
            {
                let mut state = self.state();
                if self.has_room(&state) {
                    state.under_way += 1;
                    return Some(Place(self));
                }
                if state.under_way == 0 {
                    return None;
                }
            }
            freed.await;
        }
    }

    /// Whether one more request fits. Until something is known of the cost of an answer, one is asked for alone.
    fn has_room(&self, state: &State) -> bool {
        if !self.is_limited() {
            return true;
        }
        if state.under_way > 0 && state.dearest.1 == 0 {
            return false;
        }
        let expected = state.under_way as f64;
        let cost = self.price.map_or(0.0, |price| price.of(state.spent.tokens)) + expected * state.dearest.0;
        let tokens = state.spent.tokens.total() as f64 + expected * state.dearest.1 as f64;
        self.limits.cost.is_none_or(|most| cost < most) && self.limits.tokens.is_none_or(|most| tokens < most as f64)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    /// An answer came.
    pub(crate) fn spend(&self, tokens: Option<Tokens>) {
        let mut state = self.0.state();
        state.spent.answers += 1;
        match tokens {
            Some(tokens) => {
                let cost = self.0.price.map_or(0.0, |price| price.of(tokens));
                state.spent.tokens = state.spent.tokens.plus(tokens);
                state.dearest = (state.dearest.0.max(cost), state.dearest.1.max(tokens.total()));
            }
            None => state.spent.unknown += 1,
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.state().under_way -= 1;
        self.0.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: Tokens = Tokens { input: 8, cached: 4, output: 2 };

    #[test]
    fn cached_tokens_have_their_price() {
        let price = Price { input: 2.0, cached: 0.5, output: 10.0 };
        assert!((price.of(TEN) - (4.0 * 2.0 + 4.0 * 0.5 + 2.0 * 10.0) / 1e6).abs() < 1e-12);
    }

    #[tokio::test]
    async fn no_request_begins_that_may_be_too_much() {
        let budget = Budget::new(Limits { cost: None, tokens: Some(25) }, None, Spent::default());
        let first = budget.place().await.expect("room");
        let wait = std::time::Duration::from_millis(30);
        assert!(tokio::time::timeout(wait, budget.place()).await.is_err(), "the first is asked for alone");
        first.spend(Some(TEN));
        drop(first);
        let (second, third) = (budget.place().await.expect("room"), budget.place().await.expect("10 + 10 < 25"));
        assert!(tokio::time::timeout(wait, budget.place()).await.is_err(), "10 + 20 are too much");
        second.spend(Some(TEN));
        third.spend(Some(TEN));
        drop((second, third));
        assert!(budget.place().await.is_none());
        assert_eq!(budget.spent().tokens.total(), 30);
    }
}
