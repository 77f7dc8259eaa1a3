//! What counts of passes allow to say: intervals, the chance of k attempts, and whether two runs differ.

/// The normal quantile of a two-sided interval of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// Wilson's interval of 95 % for a share of `passed` in `total`; everything where nothing was counted.
pub fn wilson(passed: usize, total: usize) -> (f64, f64) {
    wilson_of(if total == 0 { 0.0 } else { passed as f64 / total as f64 }, total)
}

/// The same for a mean of `total` numbers from 0 to 1, such as points of one half. These vary less than passes and failures with
/// the same mean, so the interval is not too narrow.
pub fn wilson_of(share: f64, total: usize) -> (f64, f64) {
    if total == 0 {
        return (0.0, 1.0);
    }
    let n = total as f64;
    let (z2, room) = (Z * Z, Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt());
    let (middle, scale) = (share + z2 / (2.0 * n), 1.0 + z2 / n);
    let low = if share <= 0.0 { 0.0 } else { (middle - room) / scale };
    let high = if share >= 1.0 { 1.0 } else { (middle + room) / scale };
    (low.clamp(0.0, 1.0), high.clamp(0.0, 1.0))
}

/// The chance that at least one of `k` attempts passes, estimated without bias from `passed` of `total`; `None` where there
/// are fewer than `k`.
pub fn pass_at(k: usize, passed: usize, total: usize) -> Option<f64> {
    if k == 0 || total < k || passed > total {
        return None;
    }
    let failed = total - passed;
    if failed < k {
        return Some(1.0);
    }
    // C(failed, k) / C(total, k), factor by factor.
    Some(1.0 - (0..k).map(|i| (failed - i) as f64 / (total - i) as f64).product::<f64>())
}

/// The chance that all of `k` attempts pass.
pub fn pass_all(k: usize, passed: usize, total: usize) -> Option<f64> {
    if k == 0 || total < k || passed > total {
        return None;
    }
    if passed < k {
        return Some(0.0);
    }
    Some((0..k).map(|i| (passed - i) as f64 / (total - i) as f64).product())
}

/// McNemar's exact test: the chance that two runs of equal quality differ at least as much, where `gained` cases passed only
/// in the second and `lost` only in the first.
pub fn mcnemar(gained: usize, lost: usize) -> f64 {
    let moved = gained + lost;
    let fewer = gained.min(lost);
    if moved == 0 {
        return 1.0;
    }
    // The lower tail of a binomial with one half, from logarithms: 2^-n itself would vanish.
    let mut log_term = -(moved as f64) * std::f64::consts::LN_2;
    let mut tail = log_term.exp();
    for i in 0..fewer {
        log_term += ((moved - i) as f64).ln() - ((i + 1) as f64).ln();
        tail += log_term.exp();
    }
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 5e-4
    }

    /// Newcombe (1998), table I: the score method without continuity correction.
    #[test]
    fn wilson_gives_published_intervals() {
        for (passed, total, low, high) in
            [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]
        {
            let (l, h) = wilson(passed, total);
            assert!(near(l, low) && near(h, high), "{passed}/{total}: {l} {h}");
        }
        assert_eq!(wilson(0, 0), (0.0, 1.0));
        assert!(near(wilson(20, 20).0, 1.0 - 0.1611) && wilson(20, 20).1 >= 1.0);
    }

    #[test]
    fn attempts_are_estimated_without_bias() {
        assert!(near(pass_at(1, 3, 10).unwrap(), 0.3) && near(pass_all(1, 3, 10).unwrap(), 0.3));
        // 1 - C(7,2)/C(10,2), and C(3,2)/C(10,2).
        assert!(near(pass_at(2, 3, 10).unwrap(), 1.0 - 21.0 / 45.0) && near(pass_all(2, 3, 10).unwrap(), 3.0 / 45.0));
        assert_eq!((pass_at(5, 6, 10), pass_all(5, 4, 10)), (Some(1.0), Some(0.0)));
        assert_eq!((pass_at(11, 3, 10), pass_at(0, 3, 10), pass_all(11, 3, 10)), (None, None, None));
    }

    #[test]
    fn mcnemar_is_the_exact_binomial() {
        assert!(near(mcnemar(1, 8), 0.0391) && near(mcnemar(8, 1), 0.0391));
        assert_eq!((mcnemar(0, 0), mcnemar(3, 3)), (1.0, 1.0));
        assert!(near(mcnemar(0, 5), 0.0625));
        assert!(mcnemar(40_000, 60_000) < 1e-9);
    }
}
