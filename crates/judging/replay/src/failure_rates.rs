//! What goes wrong on purpose. It depends on the seed, the request and how often that was asked, and on nothing else: the
//! same run goes wrong in the same places, however its requests cross.

use sha2::{Digest, Sha256};

use super::Options;
use super::key::Key;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is answered.
    Answered,
    /// It fails.
    Fails,
    /// It is never answered.
    Dropped,
}

/// What happens to the request of this key when it is asked for the `turn`th time.
pub(super) fn fate(options: &Options, key: &Key, turn: u64) -> Fate {
    if options.errors <= 0.0 && options.drops <= 0.0 {
        return Fate::Answered;
    }
    let drawn = draw(options.seed, key, turn);
    if drawn < options.drops {
        Fate::Dropped
    } else if drawn < options.drops + options.errors {
        Fate::Fails
    } else {
        Fate::Answered
    }
}

/// A number from 0 to below 100.
fn draw(seed: u64, key: &Key, turn: u64) -> f64 {
    let number = number(seed, key, turn);
    (number >> 11) as f64 / (1_u64 << 53) as f64 * 100.0
}

/// A number that depends on all of these.
pub(super) fn number(seed: u64, key: &Key, turn: u64) -> u64 {
    let digest = Sha256::new().chain_update(seed.to_be_bytes()).chain_update(key).chain_update(turn.to_be_bytes());
    let digest: [u8; 32] = digest.finalize().into();
    digest.first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_as_many_go_wrong_as_are_to_and_always_the_same() {
        let options = Options { errors: 20.0, drops: 10.0, seed: 7, ..Options::default() };
        let fates: Vec<_> = (0..2000).map(|turn| fate(&options, &[3; 32], turn)).collect();
        let count = |of| fates.iter().filter(|fate| **fate == of).count();
        assert!((300..500).contains(&count(Fate::Fails)), "{}", count(Fate::Fails));
        assert!((140..260).contains(&count(Fate::Dropped)), "{}", count(Fate::Dropped));
        assert!((0..2000).all(|turn| fate(&options, &[3; 32], turn) == fates[turn as usize]));
        let other = Options { seed: 8, ..options };
        assert!((0..2000).any(|turn| fate(&other, &[3; 32], turn) != fates[turn as usize]));
    }

    #[test]
    fn all_and_none_are_all_and_none() {
        let all = Options { errors: 100.0, ..Options::default() };
        assert!((0..500).all(|turn| fate(&all, &[1; 32], turn) == Fate::Fails));
        assert!((0..500).all(|turn| fate(&Options::default(), &[1; 32], turn) == Fate::Answered));
    }
}
