//! What a client asks to be allowed.

use wire::revision::{R2025_11_25, R2026_07_28};

use super::scope_requests::{authoritative, fallback, from_challenge, retry_limited, step_up, union};
use crate::basic::authorization::{HTTP, index, page};
use crate::rule::{Anchor, Rule, client};

const STRATEGY: Anchor = page("scope-selection-strategy");
const STRATEGY_NOW: Anchor = index("scope-selection-strategy");
const STEP_UP: Anchor = page("step-up-authorization-flow");
const STEP_UP_NOW: Anchor = index("step-up-authorization-flow");

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("oauth.challenge-authoritative")
        .on(HTTP)
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
        .how("Compares the scopes of a challenge with those that the client asks for next, where the metadata lists other ones.")
        .fix("Ask for every scope that the challenge names, also for those that the metadata does not list.")
        .judge(authoritative),
    client("oauth.scope-from-challenge")
        .on(HTTP)
        .says(R2025_11_25, STRATEGY, "A client SHOULD first ask for the scopes that the challenge names, and no more.")
        .says(
            R2026_07_28,
            STRATEGY_NOW,
            "A client SHOULD first ask for the scopes that the challenge names, and no more.",
        )
        .how("Compares the scopes of a 401 with those of the first request for authorization. `offline_access` may be added where the authorization server lists it.")
        .fix("Take `scope` of the challenge as it is.")
        .judge(from_challenge),
    client("oauth.scope-fallback")
        .on(HTTP)
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
        .how("Compares the scopes of the first request for authorization with `scopes_supported` of the resource's metadata, after a 401 that names none. `offline_access` may be added where the authorization server lists it.")
        .fix("Ask for all of `scopes_supported`; send no `scope` where the metadata has none.")
        .judge(fallback),
    client("oauth.scope-union")
        .on(HTTP)
        .says(R2026_07_28, STRATEGY_NOW, "A client that authorizes again SHOULD ask for its earlier scopes as well.")
        .how("Reads the scopes of a request for authorization that follows a challenge for scopes that the granted ones do not have: those granted must be asked for again.")
        .fix("Join the challenge's scopes with those asked for before.")
        .judge(union),
    client("oauth.step-up")
        .on(HTTP)
        .says(R2025_11_25, STEP_UP, "A client SHOULD meet insufficient_scope with a request for a token of more scope.")
        .says(
            R2026_07_28,
            STEP_UP_NOW,
            "A client SHOULD meet insufficient_scope with a request for a token of more scope.",
        )
        .how("Checks whether a client whose user had agreed asks again, with the scopes that a 403 with insufficient_scope names.")
        .fix("Start the authorization again with the scopes of the challenge.")
        .judge(step_up),
    client("oauth.retry-limited")
        .on(HTTP)
        .says(R2025_11_25, STEP_UP, "A client SHOULD limit how often it asks for more scope for one operation.")
        .says(R2026_07_28, STEP_UP_NOW, "A client SHOULD limit how often it asks for more scope for one operation.")
        .how("Counts how often a client asks for more scope for one and the same operation that is refused each time. More than four breaks it.")
        .fix("Count the attempts for each operation, and fail after a few.")
        .judge(retry_limited),
];
