//! Progress tokens.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

/// Makes progress tokens that no other request of a check has: a server may keep the tokens of all its clients in one place,
/// and a probe may be played again. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct ProgressTokens(Arc<AtomicU64>);

impl ProgressTokens {
    /// A text that begins with `purpose`.
    pub fn text(&self, purpose: &str) -> Value {
        json!(format!("{purpose}-{}", self.next()))
    }

    /// A number.
    pub fn number(&self) -> Value {
        json!(self.next())
    }

    fn next(&self) -> u64 {
        /// Far from the ids of requests: a server that confuses the two is found.
        const FIRST: u64 = 7001;
        FIRST + self.0.fetch_add(1, Ordering::Relaxed)
    }
}
