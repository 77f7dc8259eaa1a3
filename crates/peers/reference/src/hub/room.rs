//! How many subscriptions may be open, and how long their filters may be together. Knows no filter.

use std::collections::HashMap;

use net::server::http::HeaderValue;

/// The most open subscriptions of all clients.
const MOST: usize = 65_536;
/// The most bytes of their filters.
const MOST_BYTES: usize = 64 << 20;

/// What is taken, and the subjects that took it.
pub(super) struct Room {
    most: Taken,
    all: Taken,
    by_subject: HashMap<HeaderValue, Taken>,
}

#[derive(Clone, Copy, Default)]
struct Taken {
    subscriptions: usize,
    bytes: usize,
}

impl Taken {
    const fn with(self, bytes: usize) -> Self {
        Self { subscriptions: self.subscriptions + 1, bytes: self.bytes + bytes }
    }

    const fn without(self, bytes: usize) -> Self {
        Self { subscriptions: self.subscriptions - 1, bytes: self.bytes - bytes }
    }

    const fn fits(self, most: Self) -> bool {
        self.subscriptions <= most.subscriptions && self.bytes <= most.bytes
    }

    /// What one subject may have.
    const fn share(self) -> Self {
        Self { subscriptions: self.subscriptions - self.subscriptions / 4, bytes: self.bytes - self.bytes / 4 }
    }
}

impl Default for Room {
    fn default() -> Self {
        Self::new(MOST, MOST_BYTES)
    }
}

impl Room {
    fn new(subscriptions: usize, bytes: usize) -> Self {
        Self { most: Taken { subscriptions, bytes }, all: Taken::default(), by_subject: HashMap::new() }
    }

    /// Takes a place for a filter of this length; `false` where none is left, or the subject of the token has its share.
    pub(super) fn take(&mut self, subject: Option<&HeaderValue>, bytes: usize) -> bool {
        let all = self.all.with(bytes);
        let own = subject.map(|subject| self.by_subject.get(subject).copied().unwrap_or_default().with(bytes));
        if !all.fits(self.most) || own.is_some_and(|own| !own.fits(self.most.share())) {
            return false;
        }
        self.all = all;
        if let (Some(subject), Some(own)) = (subject, own) {
            self.by_subject.insert(subject.clone(), own);
        }
        true
    }

    /// Gives back a place that was taken.
    pub(super) fn give_back(&mut self, subject: Option<&HeaderValue>, bytes: usize) {
        self.all = self.all.without(bytes);
        let Some(subject) = subject else { return };
        if let Some(own) = self.by_subject.get_mut(subject) {
            *own = own.without(bytes);
            if own.subscriptions == 0 {
                self.by_subject.remove(subject);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_subject_leaves_places_for_others() {
        let (ada, bob) = (HeaderValue::from_static("ada"), HeaderValue::from_static("bob"));
        let mut room = Room::new(4, 100);
        for _ in 0..3 {
            assert!(room.take(Some(&ada), 1));
        }
        assert!(!room.take(Some(&ada), 1), "its share");
        assert!(room.take(Some(&bob), 1) && !room.take(Some(&bob), 1) && !room.take(None, 1), "all places");
        room.give_back(Some(&ada), 1);
        assert!(!room.take(None, 98) && room.take(None, 97), "all bytes");
        room.give_back(None, 97);
        room.give_back(Some(&bob), 1);
        assert!(!room.take(Some(&ada), 74) && room.take(Some(&ada), 73), "its share of the bytes");
    }
}
