//! Simulated failures (`--error-rate`, `--drop-rate`). They depend only on the seed, the request and its number of repetitions:
//! a run is repeatable, in whatever order its requests arrive.

use sha2::{Digest, Sha256};

use super::Options;
use super::request_key::Key;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is answered.
    Answer,
    /// It gets an error.
    Fail,
    /// It is never answered.
    Drop,
}

/// What happens to the request with this key when it was sent `repetition` times before.
pub(super) fn outcome(options: &Options, key: &Key, repetition: u64) -> Outcome {
    if options.errors <= 0.0 && options.drops <= 0.0 {
        return Outcome::Answer;
    }
    let drawn = draw(options.seed, key, repetition);
    if drawn < options.drops {
        Outcome::Drop
    } else if drawn < options.drops + options.errors {
        Outcome::Fail
    } else {
        Outcome::Answer
    }
}

/// A pseudo-random number from 0 to below 100.
fn draw(seed: u64, key: &Key, repetition: u64) -> f64 {
    let number = number(seed, key, repetition);
    (number >> 11) as f64 / (1_u64 << 53) as f64 * 100.0
}

/// A pseudo-random number from these values.
pub(super) fn number(seed: u64, key: &Key, repetition: u64) -> u64 {
    let digest =
        Sha256::new().chain_update(seed.to_be_bytes()).chain_update(key).chain_update(repetition.to_be_bytes());
    let digest: [u8; 32] = digest.finalize().into();
    digest.first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_follow_the_rates_and_are_repeatable() {
        let options = Options { errors: 20.0, drops: 10.0, seed: 7, ..Options::default() };
        let outcomes: Vec<_> = (0..2000).map(|repetition| outcome(&options, &[3; 32], repetition)).collect();
        let count = |of| outcomes.iter().filter(|outcome| **outcome == of).count();
        assert!((300..500).contains(&count(Outcome::Fail)), "{}", count(Outcome::Fail));
        assert!((140..260).contains(&count(Outcome::Drop)), "{}", count(Outcome::Drop));
        assert!((0..2000).all(|repetition| outcome(&options, &[3; 32], repetition) == outcomes[repetition as usize]));
        let other = Options { seed: 8, ..options };
        assert!((0..2000).any(|repetition| outcome(&other, &[3; 32], repetition) != outcomes[repetition as usize]));
    }

    #[test]
    fn rates_of_zero_and_one_hundred_are_exact() {
        let all = Options { errors: 100.0, ..Options::default() };
        assert!((0..500).all(|repetition| outcome(&all, &[1; 32], repetition) == Outcome::Fail));
        assert!((0..500).all(|repetition| outcome(&Options::default(), &[1; 32], repetition) == Outcome::Answer));
    }
}
