//! What a client asks to be allowed.

use wire::revision::{R2025_11_25, R2026_07_28};

use crate::basic::authorization::{index, page};
use crate::rule::{Anchor, Rule, client};

const STRATEGY: Anchor = page("scope-selection-strategy");
const STRATEGY_NOW: Anchor = index("scope-selection-strategy");
const STEP_UP: Anchor = page("step-up-authorization-flow");
const STEP_UP_NOW: Anchor = index("step-up-authorization-flow");

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("oauth.challenge-authoritative")
        .says(
            R2025_11_25,
            page("protected-resource-metadata-discovery-requirements"),
            "A client MUST take the challenged scopes for what is needed, whatever the metadata lists.",
        )
        .says(
            R2026_07_28,
            STRATEGY_NOW,
            "A client MUST take the challenged scopes for what is needed, whatever the metadata lists.",
        )
        .declared(),
    client("oauth.scope-from-challenge")
        .says(R2025_11_25, STRATEGY, "A client SHOULD first ask for the scopes that the challenge names, and no more.")
        .says(
            R2026_07_28,
            STRATEGY_NOW,
            "A client SHOULD first ask for the scopes that the challenge names, and no more.",
        )
        .declared(),
    client("oauth.scope-fallback")
        .says(
            R2025_11_25,
            STRATEGY,
            "Where no scope is challenged, a client SHOULD ask for those in the metadata, else for none.",
        )
        .says(
            R2026_07_28,
            STRATEGY_NOW,
            "Where no scope is challenged, a client SHOULD ask for those in the metadata, else for none.",
        )
        .declared(),
    client("oauth.scope-union")
        .says(R2026_07_28, STRATEGY_NOW, "A client that authorizes anew SHOULD ask for its earlier scopes as well.")
        .declared(),
    client("oauth.step-up")
        .says(R2025_11_25, STEP_UP, "A client SHOULD meet insufficient_scope with a request for a token of more scope.")
        .says(
            R2026_07_28,
            STEP_UP_NOW,
            "A client SHOULD meet insufficient_scope with a request for a token of more scope.",
        )
        .declared(),
    client("oauth.retry-limited")
        .says(R2025_11_25, STEP_UP, "A client SHOULD limit how often it asks for more scope for one operation.")
        .says(R2026_07_28, STEP_UP_NOW, "A client SHOULD limit how often it asks for more scope for one operation.")
        .declared(),
];
