//! Decisions that are used again for a short time. A decision counts from the moment when it was asked for. Pure.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use super::question::Key;

/// Decisions by what was asked.
#[derive(Debug)]
pub(super) struct KeptDecisions {
    time: Duration,
    most: usize,
    decisions: HashMap<Key, (bool, Instant)>,
    /// The same in the order of their ends.
    ends: VecDeque<(Instant, Key)>,
}

impl KeptDecisions {
    pub(super) fn new(time: Duration, most: usize) -> Self {
        Self { time, most, decisions: HashMap::new(), ends: VecDeque::new() }
    }

    /// A decision whose time is not over.
    pub(super) fn find(&self, key: &Key, now: Instant) -> Option<bool> {
        self.decisions.get(key).filter(|(_, until)| now < *until).map(|(may, _)| *may)
    }

    /// Keeps a decision that was asked for at `asked`. A newer one stays; the oldest ones make room.
    pub(super) fn keep(&mut self, key: Key, may: bool, asked: Instant, now: Instant) {
        let until = asked + self.time;
        if until <= now || self.decisions.get(&key).is_some_and(|(_, known)| *known > until) {
            return;
        }
        self.decisions.insert(key, (may, until));
        let at = self.ends.partition_point(|(end, _)| *end <= until);
        self.ends.insert(at, (until, key));
        while self.ends.len() > self.most || self.ends.front().is_some_and(|(end, _)| *end <= now) {
            let Some((end, key)) = self.ends.pop_front() else { return };
            if self.decisions.get(&key).is_some_and(|(_, until)| *until == end) {
                self.decisions.remove(&key);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.decisions.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::KeptDecisions;

    const TIME: Duration = Duration::from_secs(10);
    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_decision_counts_for_its_time_from_when_it_was_asked_for() {
        let (mut kept, asked) = (KeptDecisions::new(TIME, 10), Instant::now());
        kept.keep([1; 32], true, asked, asked + SECOND);
        kept.keep([2; 32], false, asked, asked + SECOND);
        let just_before = asked + Duration::from_nanos(9_999_999_999);
        assert_eq!((kept.find(&[1; 32], just_before), kept.find(&[2; 32], just_before)), (Some(true), Some(false)));
        assert_eq!((kept.find(&[1; 32], asked + TIME), kept.find(&[3; 32], asked)), (None, None));
        // An answer that took longer than its time is of no further use.
        kept.keep([3; 32], true, asked, asked + TIME);
        assert_eq!(kept.find(&[3; 32], asked + TIME), None);
    }

    #[test]
    fn the_newest_decision_stays() {
        let (mut kept, asked) = (KeptDecisions::new(TIME, 10), Instant::now());
        kept.keep([1; 32], false, asked + SECOND, asked + 2 * SECOND);
        // An older answer arrives later.
        kept.keep([1; 32], true, asked, asked + 3 * SECOND);
        assert_eq!(kept.find(&[1; 32], asked + 3 * SECOND), Some(false));
        kept.keep([1; 32], true, asked + 4 * SECOND, asked + 4 * SECOND);
        // The end of the first one does not end the one after it.
        kept.keep([2; 32], true, asked + TIME + SECOND, asked + TIME + SECOND);
        assert_eq!(kept.find(&[1; 32], asked + TIME + SECOND), Some(true));
    }

    #[test]
    fn decisions_are_bounded_and_the_oldest_make_room() {
        let (mut kept, asked) = (KeptDecisions::new(TIME, 3), Instant::now());
        for number in 0..100 {
            kept.keep([number; 32], true, asked + u32::from(number) * Duration::from_millis(1), asked);
            assert!(kept.len() <= 3 && kept.ends.len() <= 3);
        }
        let found = (0..100).filter(|number| kept.find(&[*number; 32], asked).is_some());
        assert_eq!(found.collect::<Vec<u8>>(), [97, 98, 99]);
        // The same one over and over takes the place of one.
        for number in 0..100 {
            kept.keep([97; 32], true, asked + SECOND + Duration::from_millis(number), asked);
        }
        assert!(kept.ends.len() <= 3 && kept.len() <= 3);
    }
}
