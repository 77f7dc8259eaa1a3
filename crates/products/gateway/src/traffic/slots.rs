//! How many requests one upstream has at a time, and who waits for a place. Places go round the principals. Bounded in memory.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use net::server::http::HeaderValue;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::settings::ConcurrencyRule;

type Principal = Option<HeaderValue>;

/// The requests of one principal.
#[derive(Debug, Default)]
struct Party {
    running: usize,
    waiting: VecDeque<oneshot::Sender<Place>>,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    waiting: usize,
    parties: HashMap<Principal, Party>,
    /// Whose turn is next, of those who wait.
    turns: VecDeque<Principal>,
}

/// The places of one upstream.
#[derive(Debug)]
pub(super) struct Slots {
    rule: ConcurrencyRule,
    state: Mutex<State>,
}

/// A place; free again when it is dropped.
#[derive(Debug)]
pub(super) struct Place(Option<(Arc<Slots>, Principal)>);

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoPlace {
    /// As many wait as may.
    Full,
    /// None was free in time.
    Late,
}

impl Slots {
    pub(super) fn new(rule: &ConcurrencyRule) -> Arc<Self> {
        Arc::new(Self { rule: rule.clone(), state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many run, and how many wait.
    pub(super) fn counts(&self) -> (usize, usize) {
        let state = self.state();
        (state.running, state.waiting)
    }

    /// A place for a request of this principal, now or after a while.
    pub(super) async fn place(self: &Arc<Self>, principal: &Principal) -> Result<Place, NoPlace> {
        let (sender, receiver) = oneshot::channel();
        {
            let mut state = self.state();
            if self.may_run(&state, principal) {
                state.running += 1;
                state.parties.entry(principal.clone()).or_default().running += 1;
                return Ok(Place(Some((Arc::clone(self), principal.clone()))));
            }
            if !self.makes_room(&mut state, principal) {
                return Err(NoPlace::Full);
            }
            state.waiting += 1;
            let party = state.parties.entry(principal.clone()).or_default();
            party.waiting.push_back(sender);
            if party.waiting.len() == 1 {
                state.turns.push_back(principal.clone());
            }
        }
        let mut turn = Turn { slots: self, principal, receiver };
        match timeout(self.rule.wait, &mut turn.receiver).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) => Err(NoPlace::Full),
            Err(_) => {
                // It may have come at this moment.
                turn.receiver.close();
                turn.receiver.try_recv().map_err(|_| NoPlace::Late)
            }
        }
    }

    fn may_run(&self, state: &State, principal: &Principal) -> bool {
        let own = state.parties.get(principal).map_or(0, |party| party.running);
        state.running < self.rule.at_once && self.rule.per_principal.is_none_or(|most| own < most)
    }

    /// Whether one more may wait. In a full queue, the last one of the principal with the most goes, if this one has fewer.
    fn makes_room(&self, state: &mut State, principal: &Principal) -> bool {
        if state.waiting < self.rule.queue {
            return true;
        }
        let own = state.parties.get(principal).map_or(0, |party| party.waiting.len());
        let longest = state.parties.iter_mut().max_by_key(|(_, party)| party.waiting.len());
        let Some((_, party)) = longest.filter(|(_, party)| party.waiting.len() > own + 1) else { return false };
        // Its receiver learns of it; the turn of its principal stays.
        party.waiting.pop_back();
        state.waiting -= 1;
        true
    }

    /// Gives free places to those who wait, one for each principal in turn.
    fn hand_out(self: &Arc<Self>, state: &mut State) {
        let mut passed = 0;
        while state.running < self.rule.at_once && passed < state.turns.len() {
            let Some(principal) = state.turns.pop_front() else { return };
            if !self.may_run(state, &principal) {
                state.turns.push_back(principal);
                passed += 1;
                continue;
            }
            let Some(party) = state.parties.get_mut(&principal) else { continue };
            let next = party.waiting.pop_front();
            if !party.waiting.is_empty() {
                state.turns.push_back(principal.clone());
            }
            let Some(sender) = next else { continue };
            state.waiting -= 1;
            passed = 0;
            match sender.send(Place(Some((Arc::clone(self), principal)))) {
                Ok(()) => {
                    party.running += 1;
                    state.running += 1;
                }
                // It would give itself back while the state is locked.
                Err(mut place) => drop(place.0.take()),
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some((slots, principal)) = self.0.take() else { return };
        let mut state = slots.state();
        state.running -= 1;
        if let Some(party) = state.parties.get_mut(&principal) {
            party.running -= 1;
            if party.running == 0 && party.waiting.is_empty() {
                state.parties.remove(&principal);
            }
        }
        slots.hand_out(&mut state);
    }
}

/// One who waits; out of the queue when it is dropped.
struct Turn<'s> {
    slots: &'s Arc<Slots>,
    principal: &'s Principal,
    /// Dropped after the state is unlocked: a place in it gives itself back.
    receiver: oneshot::Receiver<Place>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.receiver.close();
        let mut state = self.slots.state();
        let Some(party) = state.parties.get_mut(self.principal) else { return };
        let before = party.waiting.len();
        party.waiting.retain(|sender| !sender.is_closed());
        let gone = before - party.waiting.len();
        let (waits, is_over) = (!party.waiting.is_empty(), party.running == 0 && party.waiting.is_empty());
        state.waiting -= gone;
        if !waits {
            state.turns.retain(|turn| turn != self.principal);
        }
        if is_over {
            state.parties.remove(self.principal);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use net::server::http::HeaderValue;
    use tokio::sync::mpsc;
    use tokio::task::JoinHandle;
    use tokio::time::timeout;

    use super::{NoPlace, Place, Principal, Slots};
    use crate::settings::ConcurrencyRule;

    const LONG: Duration = Duration::from_secs(30);

    fn slots(at_once: usize, per_principal: Option<usize>, queue: usize, wait: Duration) -> Arc<Slots> {
        Slots::new(&ConcurrencyRule { upstream: None, at_once, per_principal, queue, wait })
    }

    fn named(name: &'static str) -> Principal {
        (!name.is_empty()).then(|| HeaderValue::from_static(name))
    }

    /// Waits for a place in a task, and until the queue is as long as it is then.
    async fn waits(
        slots: &Arc<Slots>,
        name: &'static str,
        got: &mpsc::UnboundedSender<(&'static str, Place)>,
    ) -> JoinHandle<Result<(), NoPlace>> {
        let (before, got, own) = (slots.counts().1, got.clone(), Arc::clone(slots));
        let waiting = tokio::spawn(async move {
            let place = own.place(&named(name)).await?;
            let _ = got.send((name, place));
            Ok(())
        });
        while slots.counts().1 == before && !waiting.is_finished() {
            tokio::task::yield_now().await;
        }
        waiting
    }

    /// Who has three requests in the queue first is still only every other one, and nothing is left over in the end.
    #[tokio::test]
    async fn places_go_round_the_principals() {
        let slots = slots(1, None, 8, LONG);
        let held = slots.place(&named("a")).await.expect("it is free");
        let (got, mut places) = mpsc::unbounded_channel();
        let mut all = Vec::new();
        for name in ["a", "a", "a", "b", "b", "c"] {
            all.push(waits(&slots, name, &got).await);
        }
        assert_eq!(slots.counts(), (1, 6));
        drop(held);
        let mut order = Vec::new();
        for _ in 0..6 {
            let (name, place) = timeout(LONG, places.recv()).await.expect("in time").expect("a place");
            assert_eq!(slots.counts().0, 1, "never two at once");
            order.push(name);
            drop(place);
        }
        assert_eq!(order, ["a", "b", "c", "a", "b", "a"]);
        assert_eq!(slots.counts(), (0, 0));
        let state = slots.state();
        assert!(state.parties.is_empty() && state.turns.is_empty());
    }

    #[tokio::test]
    async fn a_principal_has_its_share_and_no_more() {
        let slots = slots(3, Some(2), 8, LONG);
        let (one, _two) =
            (slots.place(&named("a")).await.expect("free"), slots.place(&named("a")).await.expect("free"));
        let (got, mut places) = mpsc::unbounded_channel();
        let third = waits(&slots, "a", &got).await;
        assert_eq!(slots.counts(), (2, 1));
        let other = slots.place(&named("b")).await.expect("the third place");
        drop(other);
        assert_eq!(slots.counts(), (2, 1), "it is none for the first principal");
        drop(one);
        assert_eq!(timeout(LONG, places.recv()).await.expect("in time").map(|(name, _)| name), Some("a"));
        third.await.expect("no panic").expect("a place");
    }

    #[tokio::test]
    async fn a_full_queue_takes_from_who_has_the_most() {
        let slots = slots(1, None, 3, LONG);
        let held = slots.place(&named("a")).await.expect("it is free");
        let (got, mut places) = mpsc::unbounded_channel();
        let mut flood = Vec::new();
        for _ in 0..3 {
            flood.push(waits(&slots, "a", &got).await);
        }
        assert_eq!(slots.place(&named("a")).await.err(), Some(NoPlace::Full));
        let own = Arc::clone(&slots);
        let sent = got.clone();
        tokio::spawn(async move {
            let place = own.place(&named("b")).await;
            let _ = sent.send(("b", place.expect("a place")));
        });
        let displaced = timeout(LONG, flood.pop().expect("three")).await.expect("in time").expect("no panic");
        assert_eq!(displaced, Err(NoPlace::Full));
        assert_eq!(slots.counts(), (1, 3));
        drop(held);
        let mut order = Vec::new();
        for _ in 0..3 {
            order.push(timeout(LONG, places.recv()).await.expect("in time").expect("a place").0);
        }
        assert_eq!(order, ["a", "b", "a"]);
    }

    #[tokio::test]
    async fn who_leaves_or_waits_too_long_is_out_of_the_queue() {
        let slots = slots(1, None, 1, Duration::from_millis(20));
        let held = slots.place(&None).await.expect("it is free");
        assert_eq!(slots.place(&None).await.err(), Some(NoPlace::Late));
        assert_eq!(slots.counts(), (1, 0));
        let (got, _places) = mpsc::unbounded_channel();
        let waiting = waits(&slots, "a", &got).await;
        waiting.abort();
        assert!(waiting.await.is_err());
        assert_eq!(slots.counts(), (1, 0));
        drop(held);
        assert_eq!(slots.counts(), (0, 0));
        assert!(slots.state().parties.is_empty() && slots.state().turns.is_empty());
        slots.place(&None).await.expect("it is free");
    }
}
