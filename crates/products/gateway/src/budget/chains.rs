//! Chains of calls that belong together: when each began, and its plan. Bounded in memory. Knows no limit but what it is
//! given.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Owner;
use super::plan::Plan;

/// The most chains, and the most of one principal. Calls of further ones have the limit of their tool only.
const MOST: usize = 16_384;
const MOST_OF_ONE: usize = 4096;
/// How long a chain is kept after its last call, in addition to its time: a late call must not begin it again.
const KEPT: Duration = Duration::from_mins(5);

/// Calls that belong together.
#[derive(Debug, Default)]
pub(crate) struct Chain(Mutex<Option<State>>);

#[derive(Debug)]
struct State {
    begun: Instant,
    /// When a call began or ended last.
    used: Instant,
    open: usize,
    plan: Option<Plan>,
}

impl Chain {
    fn state(&self) -> MutexGuard<'_, Option<State>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long it has run at `now`. With a `gap`, it begins again after so long without a call.
    pub(crate) fn ran(&self, now: Instant, gap: Option<Duration>) -> Duration {
        let mut state = self.state();
        let is_over = |state: &State| {
            let idle = now.saturating_duration_since(state.used);
            state.open == 0 && gap.is_some_and(|gap| idle >= gap)
        };
        if state.as_ref().is_none_or(is_over) {
            *state = Some(State { begun: now, used: now, open: 0, plan: None });
        }
        state.as_ref().map(|state| now.saturating_duration_since(state.begun)).unwrap_or_default()
    }

    /// How long it is until it begins again, where nothing is called meanwhile.
    pub(crate) fn idle_in(&self, now: Instant, gap: Duration) -> Duration {
        let used = self.state().as_ref().map_or(now, |state| state.used);
        gap.saturating_sub(now.saturating_duration_since(used))
    }

    /// The plan, or the one that `make` gives.
    pub(crate) fn plan(&self, make: impl FnOnce(Option<Plan>) -> Option<Plan>) -> Option<Plan> {
        let mut state = self.state();
        let state = state.as_mut()?;
        state.plan = make(state.plan.take());
        state.plan.clone()
    }

    /// A call begins.
    pub(crate) fn enter(&self, now: Instant) {
        if let Some(state) = self.state().as_mut() {
            state.open += 1;
            state.used = now;
        }
    }

    /// A call ended; `done`: the tool, where it did what the plan wanted.
    pub(crate) fn leave(&self, now: Instant, done: Option<&str>) {
        if let Some(state) = self.state().as_mut() {
            state.open = state.open.saturating_sub(1);
            state.used = now;
            if let (Some(plan), Some(tool)) = (&mut state.plan, done) {
                plan.advance(tool);
            }
        }
    }

    fn is_used(&self, now: Instant, longest: Duration) -> bool {
        let state = self.state();
        state.as_ref().is_some_and(|s| s.open > 0 || now.saturating_duration_since(s.used) < longest + KEPT)
    }
}

/// The chains that clients name, by principal and name.
#[derive(Debug, Default)]
pub(crate) struct Chains(Mutex<HashMap<Owner, HashMap<String, Arc<Chain>>>>);

impl Chains {
    fn all(&self) -> MutexGuard<'_, HashMap<Owner, HashMap<String, Arc<Chain>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The chain of this name; `None` where there is no room for another one.
    pub(crate) fn find(&self, owner: &Owner, name: &str) -> Option<Arc<Chain>> {
        let mut all = self.all();
        let count: usize = all.values().map(HashMap::len).sum();
        let owned = all.entry(owner.clone()).or_default();
        if let Some(chain) = owned.get(name) {
            return Some(Arc::clone(chain));
        }
        let most = if owner.is_some() { MOST_OF_ONE } else { MOST };
        if count >= MOST || owned.len() >= most {
            return None;
        }
        Some(Arc::clone(owned.entry(name.to_owned()).or_default()))
    }

    /// Forgets those that are over. `longest`: how long a chain may take.
    pub(crate) fn sweep(&self, now: Instant, longest: Duration) {
        self.all().retain(|_, owned| {
            owned.retain(|_, chain| chain.is_used(now, longest));
            !owned.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use net::server::http::HeaderValue;

    use super::{Chain, Chains, KEPT, MOST_OF_ONE};
    use crate::budget::plan::Plan;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_session_begins_another_chain_after_a_gap_but_not_in_a_call() {
        let (chain, now, gap) = (Chain::default(), Instant::now(), Some(SECOND * 30));
        assert_eq!(chain.ran(now, gap), Duration::ZERO);
        chain.enter(now);
        assert_eq!(chain.ran(now + SECOND * 40, gap), SECOND * 40);
        chain.leave(now + SECOND * 41, None);
        assert_eq!(chain.ran(now + SECOND * 70, gap), SECOND * 70);
        assert_eq!(chain.idle_in(now + SECOND * 70, SECOND * 30), SECOND);
        assert_eq!(chain.ran(now + SECOND * 71, gap), Duration::ZERO);
        assert_eq!(chain.ran(now + SECOND * 171, None), SECOND * 100);
    }

    #[test]
    fn a_plan_goes_on_with_what_is_done() {
        let (chain, now) = (Chain::default(), Instant::now());
        chain.ran(now, None);
        let steps = ["a", "b"].map(str::to_owned);
        chain.plan(|_| Some(Plan::new(steps.clone().into())));
        chain.enter(now);
        chain.leave(now, None);
        assert_eq!(chain.plan(|plan| plan).expect("a plan").later("a"), ["b"]);
        chain.enter(now);
        chain.leave(now, Some("a"));
        assert_eq!(chain.plan(|plan| plan).expect("a plan").later("x"), ["b"]);
    }

    #[test]
    fn chains_are_their_principals_and_bounded() {
        let (chains, now) = (Chains::default(), Instant::now());
        let [one, other] = ["a", "b"].map(|name| Some(HeaderValue::from_static(name)));
        let chain = chains.find(&one, "x").expect("room");
        chain.ran(now, None);
        assert!(!std::sync::Arc::ptr_eq(&chain, &chains.find(&other, "x").expect("room")));
        assert!(std::sync::Arc::ptr_eq(&chain, &chains.find(&one, "x").expect("the same")));
        for number in 1..MOST_OF_ONE {
            assert!(chains.find(&one, &number.to_string()).is_some());
        }
        assert!(chains.find(&one, "more").is_none() && chains.find(&other, "more").is_some());
        chains.sweep(now + SECOND * 100, SECOND * 100);
        assert!(std::sync::Arc::ptr_eq(&chain, &chains.find(&one, "x").expect("kept")));
        chains.sweep(now + SECOND * 100 + KEPT, SECOND * 100);
        assert!(!std::sync::Arc::ptr_eq(&chain, &chains.find(&one, "x").expect("another one")));
    }
}
