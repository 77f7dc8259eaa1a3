//! The page `basic/lifecycle`: what it demands of clients alone. Nothing judges clients yet.

use wire::revision::{R2024_11_05, R2025_03_26, R2025_06_18, R2026_07_28};

use crate::rule::{Anchor, Rule, at, client};

const INITIALIZATION: Anchor = at("basic/lifecycle", "initialization");
const NEGOTIATION: Anchor = at("basic/lifecycle", "version-negotiation");
const OPERATION: Anchor = at("basic/lifecycle", "operation");

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    client("lifecycle.client-greets-first")
        .says(R2024_11_05, INITIALIZATION, "A client MUST begin with `initialize`, and say in it what it is and speaks.")
        .gone(R2026_07_28)
        .declared(),
    client("lifecycle.client-initialize-alone")
        .says(R2025_03_26, INITIALIZATION, "A client MUST NOT send `initialize` in a batch.")
        .gone(R2025_06_18)
        .declared(),
    client("lifecycle.client-initialized-sent")
        .says(R2024_11_05, INITIALIZATION, "Once `initialize` was answered well, the client MUST send `notifications/initialized`.")
        .gone(R2026_07_28)
        .declared(),
    client("lifecycle.client-waits-for-greeting")
        .says(R2024_11_05, INITIALIZATION, "Until `initialize` is answered, the client SHOULD NOT make requests other than pings.")
        .gone(R2026_07_28)
        .declared(),
    client("lifecycle.client-version-supported")
        .says(R2024_11_05, NEGOTIATION, "The version that a client asks for MUST be one that it supports.")
        .gone(R2026_07_28)
        .declared(),
    client("lifecycle.client-version-latest")
        .says(R2024_11_05, NEGOTIATION, "The version that a client asks for SHOULD be the latest it supports.")
        .gone(R2026_07_28)
        .declared(),
    client("lifecycle.client-leaves-foreign-version")
        // The page says SHOULD; the schema, of the same answer, MUST.
        .says(R2024_11_05, NEGOTIATION, "A client that is answered with a version it does not support MUST disconnect.")
        .gone(R2026_07_28)
        .declared(),
    client("lifecycle.client-version-respected")
        .says(R2024_11_05, OPERATION, "The client SHOULD respect the agreed version: it uses nothing of another one.")
        .says(R2025_06_18, OPERATION, "The client MUST respect the agreed version: it uses nothing of another one.")
        .gone(R2026_07_28)
        .declared(),
    client("lifecycle.client-negotiated-only")
        .says(R2024_11_05, OPERATION, "The client SHOULD use only what the server declared, and what it declared itself.")
        .says(R2025_06_18, OPERATION, "The client MUST use only what the server declared, and what it declared itself.")
        .gone(R2026_07_28)
        .declared(),
    client("lifecycle.client-shutdown-in-order")
        .says(
            R2024_11_05,
            at("basic/lifecycle", "stdio"),
            "A client SHOULD end a server by closing its input, then by SIGTERM, then by SIGKILL, giving it time in between.",
        )
        .on(&[wire::Transport::Stdio])
        .gone(R2026_07_28)
        .declared(),
    client("lifecycle.client-timeouts-cancelled")
        .says(R2025_03_26, at("basic/lifecycle", "timeouts"), "A client that gives up waiting for an answer SHOULD cancel the request.")
        .gone(R2026_07_28)
        .declared(),
];
