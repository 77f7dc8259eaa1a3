//! Seeded randomness: the same seed gives the same values. Seed 0 draws nothing: everything stays plain.

/// A source of values that depends on its seed and its purpose alone.
#[derive(Clone, Debug)]
pub struct Rng(Option<u64>);

/// The increment of the generator (SplitMix64).
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Rng {
    /// A generator for one purpose. Two purposes are independent: leaving one out changes no value of the other.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let fold = |state: u64, byte: u8| mixed(state.wrapping_add(STEP) ^ u64::from(byte));
        Self((seed != 0).then(|| purpose.bytes().fold(mixed(seed), fold)))
    }

    /// A generator that draws nothing.
    pub const fn plain() -> Self {
        Self(None)
    }

    /// Whether nothing is drawn.
    pub const fn is_plain(&self) -> bool {
        self.0.is_none()
    }

    /// A number below `end`; always 0 where nothing is drawn, or there is no other.
    pub fn below(&mut self, end: u64) -> u64 {
        let Some(state) = &mut self.0 else { return 0 };
        *state = state.wrapping_add(STEP);
        mixed(*state) % end.max(1)
    }

    /// An index into a list of `len` items; 0 where nothing is drawn.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// True half of the time; never where nothing is drawn.
    pub fn coin(&mut self) -> bool {
        self.below(2) == 1
    }

    /// The items in a drawn order; as they are where nothing is drawn.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        if self.is_plain() {
            return;
        }
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
    }
}

const fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::Rng;

    fn drawn(mut rng: Rng) -> Vec<u64> {
        (0..20).map(|_| rng.below(1000)).collect()
    }

    #[test]
    fn seed_and_purpose_decide() {
        assert_eq!(drawn(Rng::new(7, "echo")), drawn(Rng::new(7, "echo")));
        assert_ne!(drawn(Rng::new(7, "echo")), drawn(Rng::new(8, "echo")));
        assert_ne!(drawn(Rng::new(7, "echo")), drawn(Rng::new(7, "sum")));
        assert_eq!(drawn(Rng::new(0, "echo")), vec![0; 20]);
    }

    #[test]
    fn shuffled_is_the_same_items() {
        let mut items: Vec<u32> = (0..50).collect();
        Rng::plain().shuffle(&mut items);
        assert!(items.is_sorted());
        Rng::new(3, "order").shuffle(&mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
