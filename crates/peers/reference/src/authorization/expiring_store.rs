//! What is remembered for a while: at most so many, each for so long. What is oldest goes first.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use oauth::now;

/// Things by name. Shows none of them: names are codes and tokens.
pub(super) struct ExpiringStore<T> {
    things: HashMap<String, (u64, T)>,
    order: VecDeque<String>,
    most: usize,
    lasts: u64,
}

impl<T> fmt::Debug for ExpiringStore<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExpiringStore({})", self.things.len())
    }
}

impl<T: Clone> ExpiringStore<T> {
    /// Room for `most` things, for `lasts` seconds each.
    pub(super) fn new(most: usize, lasts: u64) -> Self {
        Self { things: HashMap::new(), order: VecDeque::new(), most, lasts }
    }

    pub(super) fn put(&mut self, name: String, thing: T) {
        while self.order.len() >= self.most {
            let Some(oldest) = self.order.pop_front() else { break };
            self.things.remove(&oldest);
        }
        if self.things.insert(name.clone(), (now() + self.lasts, thing)).is_none() {
            self.order.push_back(name);
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<T> {
        self.things.get(name).filter(|(until, _)| *until > now()).map(|(_, thing)| thing.clone())
    }

    pub(super) fn take(&mut self, name: &str) -> Option<T> {
        let (until, thing) = self.things.remove(name)?;
        self.order.retain(|other| other != name);
        (until > now()).then_some(thing)
    }

    /// Forgets what is `unwanted`.
    pub(super) fn drop_where(&mut self, unwanted: impl Fn(&T) -> bool) {
        self.things.retain(|_, (_, thing)| !unwanted(thing));
        self.order.retain(|name| self.things.contains_key(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_first_and_nothing_outlives_its_time() {
        let mut shelf = ExpiringStore::new(2, 60);
        for name in ["a", "b", "b", "c"] {
            shelf.put(name.to_owned(), 1);
        }
        assert_eq!(
            (shelf.find("a"), shelf.find("b"), shelf.take("c"), shelf.find("c")),
            (None, Some(1), Some(1), None)
        );
        shelf.drop_where(|_| true);
        assert_eq!(shelf.find("b"), None);
        let mut brief = ExpiringStore::new(2, 0);
        brief.put("a".to_owned(), 1);
        assert_eq!(brief.take("a"), None);
    }
}
