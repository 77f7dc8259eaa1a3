//! `server/resources`: the capability, the list of resources and its changes.

use wire::revision::{R2024_11_05, R2026_07_28};

use crate::rule::{Rule, at, safety, server};
use crate::server::listing::{self, RESOURCES, TEMPLATES, items};
use crate::verdict::Verdict;
use crate::view::View;

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    server("resources.capability-declared")
        .says(
            R2024_11_05,
            at("server/resources", "capabilities"),
            "A server with resources MUST declare the `resources` capability.",
        )
        .how("Looks for a list with resources in it, and for `resources` among the capabilities the server declared.")
        .fix("Declare `resources: {}` in the capabilities of the `initialize` or `server/discover` result.")
        .judge(|view| listing::declared(view, &RESOURCES)),
    server("resources.list-answered")
        .says(
            R2026_07_28,
            at("server/resources", "capabilities"),
            "A server that declares `resources` MUST answer `resources/list` with the resources it offers this client, even if there are none.",
        )
        .needs("resources")
        .how("Looks at the answers to well-formed `resources/list` requests without a cursor.")
        .fix("Answer `resources/list` with a result that holds an array `resources`, empty if need be.")
        .judge(|view| listing::answered(view, &RESOURCES)),
    server("resources.list-same-everywhere")
        .says(
            R2026_07_28,
            at("server/resources", "capabilities"),
            "The list of resources MUST NOT depend on the connection that asks, nor on what was asked on it before.",
        )
        .needs("resources")
        .how("Compares whole lists read on different connections with the same credentials; only lists that differ repeatedly by connection count, since a list may change with time. Where `listChanged` is not declared, a call counts that changes the list in the same way on two connections, with the list read twice before and twice after it.")
        .fix("Make the list from configuration and the caller's authorization, never from state kept per connection.")
        .timed()
        .judge(|view| listing::same_everywhere(view, &RESOURCES)),
    server("resources.list-changed-sent")
        .says(
            R2024_11_05,
            at("server/resources", "list-changed-notification"),
            "A server that declared `resources.listChanged` SHOULD announce that its list of resources changed.",
        )
        .needs("resources.listChanged")
        .timed()
        .how("Compares the lists read on one connection; where they differ, looks for the notification until a quiet window \
              after the second list has closed.")
        .fix("Send `notifications/resources/list_changed` whenever a resource is added or removed.")
        .judge(|view| listing::change_announced(view, &RESOURCES)),
    safety("resources.templates-well-formed")
        .asks(
            R2024_11_05,
            at("server/resources", "resource-templates"),
            "A URI template closes every brace it opens, with a name in between (RFC 6570).",
        )
        .about(&["resources"])
        .by_default()
        .how("Reads every listed `uriTemplate`.")
        .fix("Write `{name}` for each variable, and percent-encode braces that are meant as such.")
        .judge(templates),
];

fn templates(view: &View<'_>) -> Verdict {
    let templates = items(view, &TEMPLATES).into_iter().filter(|item| item.text("uriTemplate").is_some());
    Verdict::every(templates, "no resource template was listed", |item| {
        let fault = template_fault(item.text("uriTemplate").unwrap_or_default());
        fault.map_or(Ok(()), |why| Err(item.breach("/uriTemplate", why)))
    })
}

fn template_fault(template: &str) -> Option<&'static str> {
    let mut rest = template;
    loop {
        let brace = rest.find(['{', '}'])?;
        let inner = rest[brace..].strip_prefix('{');
        let Some((expression, after)) = inner.and_then(|inner| inner.split_once('}')) else {
            return Some("a brace has no fellow");
        };
        if expression.contains('{') {
            return Some("a brace has no fellow");
        }
        if expression.is_empty() {
            return Some("an expression has no variable");
        }
        rest = after;
    }
}
