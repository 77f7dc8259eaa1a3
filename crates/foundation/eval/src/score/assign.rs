//! Which call of an answer is which of the expected ones: the assignment of the greatest weight, never the first that fits.

/// How well an expected call and a call fit: by expected, then by call. 0 where they cannot be the same.
pub(super) type Weights = Vec<Vec<i64>>;

/// Pairs of expected calls and calls in any order, of the greatest weight in all; no pair of weight 0.
pub(super) fn unordered(weights: &Weights, calls: usize) -> Vec<(usize, usize)> {
    let expected = weights.len();
    let weight = |row: usize, column: usize| weights[row][column];
    let pairs = if expected <= calls {
        hungarian(expected, calls, |row, column| -weight(row, column))
    } else {
        let turned = hungarian(calls, expected, |row, column| -weight(column, row));
        turned.into_iter().map(|(call, expected)| (expected, call)).collect()
    };
    let mut pairs: Vec<_> = pairs.into_iter().filter(|(row, column)| weight(*row, *column) > 0).collect();
    pairs.sort_unstable();
    pairs
}

/// The assignment of least cost for `rows` ≤ `columns`, by shortest augmenting paths with potentials: rows² × columns steps.
fn hungarian(rows: usize, columns: usize, cost: impl Fn(usize, usize) -> i64) -> Vec<(usize, usize)> {
    // Row 0 and column 0 stand for nothing.
    let (mut of_row, mut of_column) = (vec![0i64; rows + 1], vec![0i64; columns + 1]);
    let mut row_at = vec![0usize; columns + 1];
    for row in 1..=rows {
        row_at[0] = row;
        let mut column = 0;
        let (mut least, mut before) = (vec![i64::MAX; columns + 1], vec![0usize; columns + 1]);
        let mut is_used = vec![false; columns + 1];
        while row_at[column] != 0 {
            is_used[column] = true;
            let current = row_at[column];
            let (mut delta, mut next) = (i64::MAX, 0);
            for to in (1..=columns).filter(|to| !is_used[*to]) {
                let reduced = cost(current - 1, to - 1) - of_row[current] - of_column[to];
                if reduced < least[to] {
                    (least[to], before[to]) = (reduced, column);
                }
                if least[to] < delta {
                    (delta, next) = (least[to], to);
                }
            }
            for to in 0..=columns {
                if is_used[to] {
                    of_row[row_at[to]] += delta;
                    of_column[to] -= delta;
                } else if least[to] < i64::MAX {
                    least[to] -= delta;
                }
            }
            column = next;
        }
        while column != 0 {
            row_at[column] = row_at[before[column]];
            column = before[column];
        }
    }
    (1..=columns).filter(|column| row_at[*column] != 0).map(|column| (row_at[column] - 1, column - 1)).collect()
}

/// Pairs that keep the order of both, of the greatest weight in all; no pair of weight 0.
pub(super) fn in_order(weights: &Weights, calls: usize) -> Vec<(usize, usize)> {
    let expected = weights.len();
    let mut best = vec![vec![0i64; calls + 1]; expected + 1];
    for row in (0..expected).rev() {
        for column in (0..calls).rev() {
            let apart = best[row + 1][column].max(best[row][column + 1]);
            best[row][column] = apart.max(best[row + 1][column + 1] + weights[row][column]);
        }
    }
    let (mut row, mut column, mut pairs) = (0, 0, Vec::new());
    while row < expected && column < calls {
        let weight = weights[row][column];
        if weight > 0 && best[row][column] == best[row + 1][column + 1] + weight {
            pairs.push((row, column));
            (row, column) = (row + 1, column + 1);
        } else if best[row][column] == best[row + 1][column] {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn total(weights: &Weights, pairs: &[(usize, usize)]) -> i64 {
        pairs.iter().map(|(row, column)| weights[*row][*column]).sum()
    }

    /// Every way to pair, tried.
    fn best(weights: &Weights, row: usize, used: &mut Vec<bool>) -> i64 {
        if row == weights.len() {
            return 0;
        }
        let mut most = best(weights, row + 1, used);
        for column in 0..used.len() {
            if !used[column] {
                used[column] = true;
                most = most.max(weights[row][column] + best(weights, row + 1, used));
                used[column] = false;
            }
        }
        most
    }

    fn best_in_order(weights: &Weights, row: usize, column: usize, calls: usize) -> i64 {
        if row == weights.len() || column == calls {
            return 0;
        }
        let apart = best_in_order(weights, row + 1, column, calls).max(best_in_order(weights, row, column + 1, calls));
        apart.max(weights[row][column] + best_in_order(weights, row + 1, column + 1, calls))
    }

    fn weights() -> impl Strategy<Value = (usize, Weights)> {
        (0..6usize, 0..6usize).prop_flat_map(|(rows, columns)| {
            let row = prop::collection::vec(prop_oneof![Just(0i64), 0..9i64], columns);
            (Just(columns), prop::collection::vec(row, rows))
        })
    }

    proptest! {
        #[test]
        fn no_pairing_is_better((calls, weights) in weights()) {
            let pairs = unordered(&weights, calls);
            prop_assert_eq!(total(&weights, &pairs), best(&weights, 0, &mut vec![false; calls]));
            let mut columns: Vec<_> = pairs.iter().map(|(_, column)| *column).collect();
            columns.sort_unstable();
            columns.dedup();
            prop_assert_eq!(columns.len(), pairs.len());
        }

        #[test]
        fn no_pairing_in_order_is_better((calls, weights) in weights()) {
            let pairs = in_order(&weights, calls);
            prop_assert_eq!(total(&weights, &pairs), best_in_order(&weights, 0, 0, calls));
            prop_assert!(pairs.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1));
        }
    }

    /// The first call fits both expectations, the second only the first: taking what fits first would leave one over.
    #[test]
    fn the_first_that_fits_need_not_be_the_one() {
        assert_eq!(unordered(&vec![vec![1, 1], vec![1, 0]], 2), [(0, 1), (1, 0)]);
    }
}
