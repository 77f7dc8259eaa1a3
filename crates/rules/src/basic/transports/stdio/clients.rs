//! What the stdio transport demands of clients. Nothing judges clients yet.

use wire::Transport;
use wire::revision::{R2024_11_05, R2025_11_25, R2026_07_28};

use crate::rule::{Anchor, Rule, at, client};

const STDIO: &[Transport] = &[Transport::Stdio];
const OLD: Anchor = at("basic/transports", "stdio");

const fn new(section: &'static str) -> Anchor {
    at("basic/transports/stdio", section)
}

/// The rules, in the page's own order.
pub(crate) const RULES: &[Rule] = &[
    client("stdio.stdin-no-embedded-newlines")
        .on(STDIO)
        .says(R2024_11_05, OLD, "A message on stdin MUST NOT contain a newline.")
        .says(R2026_07_28, new(""), "A message on stdin MUST NOT contain a newline.")
        .declared(),
    client("stdio.stderr-is-no-error")
        .on(STDIO)
        .says(R2024_11_05, OLD, "A server MAY write to stderr; its client goes on all the same.")
        .says(R2025_11_25, OLD, "What a server writes to stderr SHOULD NOT pass for an error by itself.")
        .says(R2026_07_28, new(""), "What a server writes to stderr SHOULD NOT pass for an error by itself.")
        .declared(),
    client("stdio.only-messages-on-stdin")
        .on(STDIO)
        .says(R2024_11_05, OLD, "A client MUST NOT write anything but MCP messages to stdin.")
        .says(R2026_07_28, new(""), "A client MUST NOT write anything but MCP messages to stdin.")
        .declared(),
    client("jsonrpc.no-client-responses")
        .says(R2026_07_28, new("sending-messages"), "A client MUST NOT send JSON-RPC responses.")
        .declared(),
    client("stdio.notifications-correlated")
        .on(STDIO)
        .says(
            R2026_07_28,
            new("receiving-messages"),
            "A client MUST tell by the subscription id in `_meta` which of its subscriptions a notification is for.",
        )
        .declared(),
    client("stdio.cancels-by-notification")
        .on(STDIO)
        .says(
            R2026_07_28,
            new("cancellation"),
            "A client that gives a request up MUST say so in `notifications/cancelled`, with the request's id.",
        )
        .declared(),
    client("stdio.shutdown-in-order")
        .on(STDIO)
        .says(
            R2026_07_28,
            new("shutdown"),
            "A client SHOULD end its server by closing stdin, wait for it to exit, and use force only if it does not.",
        )
        .declared(),
    client("stdio.server-restarted")
        .on(STDIO)
        .says(
            R2026_07_28,
            new("unexpected-termination"),
            "A client SHOULD start a server anew that ended unexpectedly.",
        )
        .declared(),
    client("stdio.probes-first")
        .on(STDIO)
        .says(
            R2026_07_28,
            new("backward-compatibility"),
            "A client SHOULD begin with `server/discover`, in the version that it likes best.",
        )
        .declared(),
    client("stdio.falls-back-on-any-error")
        .on(STDIO)
        .says(
            R2026_07_28,
            new("backward-compatibility"),
            "Whether a client falls back to `initialize` MUST NOT hang on one error code.",
        )
        .declared(),
];
