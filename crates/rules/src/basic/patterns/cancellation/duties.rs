//! The page on cancellation: what it demands of clients.

use wire::revision::{R2024_11_05, R2026_07_28};

use super::{new, old};
use crate::rule::{Rule, client};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("cancellation.initialize-not-cancelled")
        .says(R2024_11_05, old("behavior-requirements"), "A client MUST NOT cancel `initialize`.")
        .gone(R2026_07_28)
        .declared(),
    client("cancellation.client-own-requests")
        .says(R2026_07_28, new("behavior-requirements"), "A client MUST NOT cancel what it has not asked for.")
        .declared(),
    client("cancellation.client-notifies")
        .says(
            R2026_07_28,
            new("transport-specific-cancellation"),
            "Over stdio a client that gives a request up MUST say so by `notifications/cancelled`.",
        )
        .declared(),
    client("cancellation.client-work-stopped")
        .says(
            R2024_11_05,
            old("behavior-requirements"),
            "A client SHOULD stop working on a request that was cancelled.",
        )
        .gone(R2026_07_28)
        .declared(),
    client("cancellation.client-not-answered")
        .says(R2024_11_05, old("behavior-requirements"), "A client SHOULD NOT answer a request that was cancelled.")
        .gone(R2026_07_28)
        .declared(),
    client("cancellation.client-late-answers-ignored")
        .says(
            R2024_11_05,
            old("behavior-requirements"),
            "A client SHOULD ignore an answer to a request that it has cancelled.",
        )
        .says(
            R2026_07_28,
            new("behavior-requirements"),
            "A client SHOULD ignore an answer to a request that it has cancelled.",
        )
        .declared(),
];
