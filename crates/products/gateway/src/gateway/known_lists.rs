//! Lists of all upstreams together that are used again. Must not know how they are fetched.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;

use crate::catalogue::{List, Merged};
use crate::context::Injected;

/// How long an old list still serves a call that needs to know something of its tool.
const STALE: Duration = Duration::from_secs(10);
/// The most lists that are kept.
const MOST: usize = 4096;

/// A list, by whose view of it, and by what servers learn of them.
pub(super) type ListKey = (List, Option<HeaderValue>, Option<Arc<Injected>>);

/// A list that is used again.
pub(super) struct Cached {
    pub(super) merged: Arc<Merged>,
    pub(super) until: Instant,
    /// It is known to be another one by now.
    is_outdated: bool,
    /// Somebody is looking whether it has changed.
    pub(super) renewing: bool,
}

impl Cached {
    pub(super) fn new(merged: &Arc<Merged>, until: Instant) -> Self {
        Self { merged: Arc::clone(merged), until, is_outdated: false, renewing: false }
    }

    /// The next who asks for the list gets another one.
    fn outdate(&mut self) {
        self.until = Instant::now();
        self.is_outdated = true;
    }

    /// Since when it is known to be another one.
    pub(super) fn outdated(&self) -> Option<Instant> {
        self.is_outdated.then_some(self.until)
    }

    /// Whether a call may still rely on what it says of a tool.
    pub(super) fn serves_calls(&self, now: Instant) -> bool {
        let is_usable = !self.is_outdated && self.merged.missing.is_empty();
        self.until > now || (is_usable && self.until + STALE > now)
    }
}

/// The lists of one server.
#[derive(Default)]
pub(super) struct Lists {
    kept: HashMap<ListKey, Cached>,
    /// How often each list changed.
    changes: HashMap<List, u64>,
}

impl Lists {
    pub(super) fn get(&self, key: &ListKey) -> Option<&Cached> {
        self.kept.get(key)
    }

    pub(super) fn get_mut(&mut self, key: &ListKey) -> Option<&mut Cached> {
        self.kept.get_mut(key)
    }

    /// What keeps apart a list that is asked for before a change, and one that is asked for after it.
    pub(super) fn mark(&self, list: List) -> u64 {
        self.changes.get(&list).copied().unwrap_or_default()
    }

    /// Keeps a list that was asked for at `mark`. What has changed since then counts as old at once, and replaces nothing newer.
    pub(super) fn insert(&mut self, key: ListKey, mut cached: Cached, mark: u64) {
        if self.mark(key.0) != mark {
            cached.outdate();
            if self.kept.get(&key).is_some_and(|kept| !kept.is_outdated) {
                return;
            }
        }
        if self.kept.len() >= MOST {
            self.kept.retain(|_, cached| cached.until > Instant::now());
        }
        if self.kept.len() < MOST {
            self.kept.insert(key, cached);
        }
    }

    /// These lists have changed: they are fetched again. Until then they say what a name meant.
    pub(super) fn make_stale(&mut self, which: impl Fn(List) -> bool) {
        for list in List::ALL.into_iter().filter(|list| which(*list)) {
            *self.changes.entry(list).or_default() += 1;
        }
        self.kept.iter_mut().filter(|((list, ..), _)| which(*list)).for_each(|(_, cached)| cached.outdate());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use super::{Cached, Lists, STALE};
    use crate::catalogue::List;

    #[test]
    fn a_call_relies_on_an_old_list_but_not_on_one_that_changed() {
        let until = Instant::now() + Duration::from_secs(2);
        let mut list = Cached::new(&Arc::default(), until);
        assert!(list.serves_calls(until));
        assert!(!list.serves_calls(until + STALE));
        list.outdate();
        assert!(!list.serves_calls(Instant::now()));
    }

    #[test]
    fn a_list_from_before_a_change_is_old_at_once() {
        let (mut lists, key) = (Lists::default(), (List::Tools, None, None));
        let fetched = || Cached::new(&Arc::default(), Instant::now() + Duration::from_mins(5));
        let before = lists.mark(List::Tools);
        lists.make_stale(|list| list == List::Prompts);
        lists.insert(key.clone(), fetched(), before);
        assert!(lists.get(&key).is_some_and(|list| list.serves_calls(Instant::now())), "another list has changed");
        lists.make_stale(|list| list == List::Tools);
        lists.insert(key.clone(), fetched(), before);
        assert!(lists.get(&key).is_some_and(|list| !list.serves_calls(Instant::now())));
        lists.insert(key.clone(), fetched(), lists.mark(List::Tools));
        lists.insert(key.clone(), fetched(), before);
        assert!(lists.get(&key).is_some_and(|list| list.serves_calls(Instant::now())), "the newer one stays");
    }
}
