//! How many cases a property test tries.

/// `usual`, or as many as `PROPTEST_CASES` says if that is more: what `cargo xtask nightly` sets.
pub(crate) fn at_least(usual: u32) -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|number| number.parse().ok());
    asked.unwrap_or(0).max(usual)
}
