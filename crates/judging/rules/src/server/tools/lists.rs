//! `server/tools`: the capability, the list of tools and its changes.

use wire::revision::{R2024_11_05, R2026_07_28};

use crate::rule::{Rule, at, server};
use crate::server::listing::{self, TOOLS};

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    server("tools.capability-declared")
        .says(R2024_11_05, at("server/tools", "capabilities"), "A server with tools MUST declare the `tools` capability.")
        .how("Looks for a list with tools in it, and for `tools` among the capabilities the server declared.")
        .fix("Declare `tools: {}` in the capabilities of the `initialize` or `server/discover` result.")
        .judge(|view| listing::declared(view, &TOOLS)),
    server("tools.list-answered")
        .says(
            R2026_07_28,
            at("server/tools", "capabilities"),
            "A server that declares `tools` MUST answer `tools/list` with the tools it offers this client, even if there are none.",
        )
        .needs("tools")
        .how("Looks at the answers to well-formed `tools/list` requests without a cursor.")
        .fix("Answer `tools/list` with a result that holds an array `tools`, empty if need be.")
        .judge(|view| listing::answered(view, &TOOLS)),
    server("tools.list-same-everywhere")
        .says(
            R2026_07_28,
            at("server/tools", "capabilities"),
            "The list of tools MUST NOT depend on the connection that asks, nor on what was asked on it before.",
        )
        .needs("tools")
        .how("Compares whole lists read on different connections with the same credentials; only lists that differ repeatedly by connection count, since a list may change with time. Where `listChanged` is not declared, a call counts that changes the list in the same way on two connections, with the list read twice before and twice after it.")
        .fix("Make the list from configuration and the caller's authorization, never from state kept per connection.")
        .timed()
        .judge(|view| listing::same_everywhere(view, &TOOLS)),
    server("tools.order-deterministic")
        .says(
            R2026_07_28,
            at("server/tools", "capabilities"),
            "The same tools SHOULD come in the same order every time.",
        )
        .needs("tools")
        .how("Compares pages of `tools/list` that were read more than once and hold the same names.")
        .fix("Sort the tools, or keep them in a container that preserves their order.")
        .judge(|view| listing::ordered(view, &TOOLS)),
    server("tools.list-changed-sent")
        .says(
            R2024_11_05,
            at("server/tools", "list-changed-notification"),
            "A server that declared `tools.listChanged` SHOULD announce that its list of tools changed.",
        )
        .says(
            R2026_07_28,
            at("server/tools", "list-changed-notification"),
            "A server that declared `tools.listChanged` SHOULD announce a changed list of tools to subscribers who asked \
             for `toolsListChanged`.",
        )
        .needs("tools.listChanged")
        .timed()
        .how("Compares the lists read on one connection; where they differ, looks for the notification until a quiet window \
              after the second list has closed.")
        .fix("Send `notifications/tools/list_changed` whenever a tool is added or removed.")
        .judge(|view| listing::change_announced(view, &TOOLS)),
];
