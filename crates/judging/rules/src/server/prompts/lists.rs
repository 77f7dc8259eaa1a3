//! `server/prompts`: the capability, the list of prompts and its changes.

use wire::revision::{R2024_11_05, R2026_07_28};

use crate::rule::{Rule, at, server};
use crate::server::listing::{self, PROMPTS};

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    server("prompts.capability-declared")
        .says(
            R2024_11_05,
            at("server/prompts", "capabilities"),
            "A server with prompts MUST declare the `prompts` capability.",
        )
        .how("Looks for a list with prompts in it, and for `prompts` among the capabilities the server declared.")
        .fix("Declare `prompts: {}` in the capabilities of the `initialize` or `server/discover` result.")
        .judge(|view| listing::declared(view, &PROMPTS)),
    server("prompts.list-answered")
        .says(
            R2026_07_28,
            at("server/prompts", "capabilities"),
            "A server that declares `prompts` MUST answer `prompts/list` with the prompts it offers this client, even if there are none.",
        )
        .needs("prompts")
        .how("Looks at the answers to well-formed `prompts/list` requests without a cursor.")
        .fix("Answer `prompts/list` with a result that holds an array `prompts`, empty if need be.")
        .judge(|view| listing::answered(view, &PROMPTS)),
    server("prompts.list-same-everywhere")
        .says(
            R2026_07_28,
            at("server/prompts", "capabilities"),
            "The list of prompts MUST NOT depend on the connection that asks, nor on what was asked on it before.",
        )
        .needs("prompts")
        .how("Compares whole lists read on different connections with the same credentials; only lists that differ repeatedly by connection count, since a list may change with time. Where `listChanged` is not declared, a call counts that changes the list in the same way on two connections, with the list read twice before and twice after it.")
        .fix("Make the list from configuration and the caller's authorization, never from state kept per connection.")
        .timed()
        .judge(|view| listing::same_everywhere(view, &PROMPTS)),
    server("prompts.list-changed-sent")
        .says(
            R2024_11_05,
            at("server/prompts", "list-changed-notification"),
            "A server that declared `prompts.listChanged` SHOULD announce that its list of prompts changed.",
        )
        .says(
            R2026_07_28,
            at("server/prompts", "list-changed-notification"),
            "A server that declared `prompts.listChanged` SHOULD announce a changed list of prompts to subscribers who asked \
             for `promptsListChanged`.",
        )
        .needs("prompts.listChanged")
        .timed()
        .how("Compares the lists read on one connection; where they differ, looks for the notification until a quiet window \
              after the second list has closed.")
        .fix("Send `notifications/prompts/list_changed` whenever a prompt is added or removed.")
        .judge(|view| listing::change_announced(view, &PROMPTS)),
];
