//! What `server/tools` demands of clients. Nothing judges clients yet.

use wire::revision::{R2024_11_05, R2025_06_18, R2026_07_28};

use crate::rule::{Rule, at, client};

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    client("tools.links-taken")
        .says(
            R2025_06_18,
            at("server/tools", "resource-links"),
            "A tool MAY return links to resources: the client goes on with them.",
        )
        .declared(),
    client("tools.embedded-taken")
        .says(
            R2024_11_05,
            at("server/tools", "embedded-resources"),
            "A tool MAY return embedded resources: the client goes on with them.",
        )
        .declared(),
    client("tools.header-integers-sent-safe")
        .says(
            R2026_07_28,
            at("server/tools", "x-mcp-header"),
            "A client MUST NOT send an integer beyond 2^53 - 1, either way, as an argument that is mirrored into a header.",
        )
        .declared(),
    client("tools.invalid-headers-rejected")
        .says(
            R2026_07_28,
            at("server/tools", "x-mcp-header"),
            "Over HTTP a client MUST leave out, and so never call, a tool with an invalid `x-mcp-header`, and keep the others.",
        )
        .declared(),
];
