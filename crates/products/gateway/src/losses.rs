//! What was lost between revisions, counted by row of the translation table. A page of metrics may read it; it knows nothing of
//! how it is shown.

use std::sync::atomic::{AtomicU64, Ordering};

use wire::translate::table::{Loss, position, rows};

/// `translation_loss_total`, by row.
#[derive(Debug)]
pub struct Losses(Vec<AtomicU64>);

impl Default for Losses {
    fn default() -> Self {
        Self(rows().map(|_| AtomicU64::new(0)).collect())
    }
}

impl Losses {
    /// Counts a loss, and says it in the log.
    pub(crate) fn count(&self, loss: Loss, upstream: &str, method: &str) {
        if let Some(counter) = position(loss.row).and_then(|at| self.0.get(at)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        tracing::info!(row = loss.row, upstream, method, "{}", loss.what);
    }

    /// Every row that lost something, with how often.
    pub fn by_row(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counted = rows().zip(&self.0).map(|(row, counter)| (row.number, counter.load(Ordering::Relaxed)));
        counted.filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use wire::translate::table::losses;

    use super::Losses;

    #[test]
    fn losses_are_counted_by_row() {
        let all = Losses::default();
        all.count(losses::FORM, "a", "tools/call");
        all.count(losses::TASK, "a", "tools/call");
        all.count(losses::FORM, "b", "tools/call");
        assert_eq!(all.by_row().collect::<Vec<_>>(), [("43", 2), ("60a", 1)]);
    }
}
