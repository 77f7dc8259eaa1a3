//! What `server/tools` demands of clients.

use std::collections::BTreeSet;

use serde_json::Value;
use wire::Party;
use wire::http::{PARAM_PREFIX, annotations};
use wire::revision::{R2024_11_05, R2025_06_18, R2025_11_25, R2026_07_28};

use crate::basic::transports::streamable_http::client_headers::argument;
use crate::basic::transports::streamable_http::server_headers::Schemas;
use crate::reading::liveness::client_continues;
use crate::rule::{Rule, at, client};
use crate::verdict::{Kept, Verdict};
use crate::view::View;

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    client("tools.links-taken")
        .says(
            R2025_06_18,
            at("server/tools", "resource-links"),
            "A tool MAY return links to resources: the client takes them and continues.",
        )
        .how("Needs a tool that returns a `resource_link`, and checks whether the client continues.")
        .fix("Show the link, or pass it to the model; at least skip content of kinds that you do not handle.")
        .judge(|view| taken(view, "resource_link", "links to resources")),
    client("tools.embedded-taken")
        .says(
            R2024_11_05,
            at("server/tools", "embedded-resources"),
            "A tool MAY return embedded resources: the client takes them and continues.",
        )
        .how("Needs a tool that returns an embedded resource, and checks whether the client continues.")
        .fix("Show the resource, or pass it to the model; at least skip content of kinds that you do not handle.")
        .judge(|view| taken(view, "resource", "embedded resources")),
    client("tools.client-names-case-sensitive")
        .says(
            R2025_11_25,
            at("server/tools", "tool-names"),
            "A client SHOULD take tool names as case-sensitive: it calls a tool by its name as listed.",
        )
        .how("Needs a server that lists a tool with capital letters, and compares the names in calls with all that were listed.")
        .fix("Keep the name as `tools/list` gave it.")
        .judge(names_kept),
    client("tools.header-integers-sent-safe")
        .says(
            R2026_07_28,
            at("server/tools", "x-mcp-header"),
            "A client MUST NOT send an integer beyond 2^53 - 1, either way, as an argument that is mirrored into a header.",
        )
        .how("Needs a tool with `x-mcp-header` on an integer, and looks at the arguments of calls.")
        .fix("Refuse such an argument before you send the call.")
        .judge(safe_integers),
    client("tools.invalid-headers-rejected")
        .says(
            R2026_07_28,
            at("server/tools", "x-mcp-header"),
            "Over HTTP a client MUST leave out, and so never call, a tool with an invalid `x-mcp-header`, and keep the others.",
        )
        .on(&[wire::Transport::StreamableHttp])
        .how("Needs a server that lists tools with and without invalid `x-mcp-header` annotations, and looks which of them are called.")
        .fix("Check the annotations of each listed tool, drop those with a fault, and keep the rest.")
        .judge(invalid_rejected),
];

/// Judges that the client continues after results of tools with content of such a type.
fn taken(view: &View<'_>, kind: &str, what: &str) -> Verdict {
    let is = |block: &Value| block.get("type").is_some_and(|found| found == kind);
    let calls = view.client_calls("tools/call").filter(|call| {
        let content = call.result().and_then(|result| result.get("content")?.as_array());
        view.is_current(call.request) && content.is_some_and(|blocks| blocks.iter().any(is))
    });
    let events: Vec<_> = calls.filter_map(|call| call.response.map(|sent| sent.event)).collect();
    client_continues(view, events, what, "no tool returned any, or the client sent nothing afterwards")
}

/// Calls of listed tools whose name has capital letters, and calls of unlisted ones that differ from a listed one by letter
/// case alone.
fn names_kept(view: &View<'_>) -> Verdict {
    let lists = view.client_calls("tools/list").filter_map(|call| call.result()?.get("tools")?.as_array());
    let names: BTreeSet<&str> = lists.flatten().filter_map(|tool| tool.get("name")?.as_str()).collect();
    let lower: BTreeSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let judged = view.client_calls("tools/call").filter_map(|call| {
        let name = call.request.message.params()?.get("name")?.as_str()?;
        let small = name.to_lowercase();
        if names.contains(name) {
            return (small != name).then_some((call.request.event, Ok(())));
        }
        let why = || format!("`{}` is listed only with other letter case", name.escape_debug());
        lower.contains(&small).then(|| (call.request.event, Err(call.request.breach("/params/name", why()))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no tool with capital letters in its name was called")
}

/// The greatest integer, either way, that every reader of JSON keeps exactly.
const SAFE: f64 = 9_007_199_254_740_991.0;

fn safe_integers(view: &View<'_>) -> Verdict {
    let schemas = Schemas::of(view);
    let calls = view.client_calls("tools/call").filter(|call| view.is_current(call.request));
    let judged = calls.flat_map(|call| {
        let valid = schemas.at(call.request).map(|schema| annotations(schema).valid).unwrap_or_default();
        let judge = |annotation: &wire::http::Annotation| {
            let number = argument(call.request, annotation)?.as_f64().filter(|number| number.fract() == 0.0)?;
            let why = || {
                format!(
                    "{number} is beyond 2^53 - 1, and is to go into `{PARAM_PREFIX}{}`",
                    annotation.name.escape_debug()
                )
            };
            let breach = || call.request.breach("/params/arguments", why());
            Some((call.request.event, if number.abs() <= SAFE { Ok(()) } else { Err(breach()) }))
        };
        valid.iter().filter_map(judge).collect::<Vec<(usize, Kept)>>()
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no tool was called with an integer that is mirrored")
}

fn invalid_rejected(view: &View<'_>) -> Verdict {
    let schemas = Schemas::of(view);
    let is_bad = |tool: &Value| tool.get("inputSchema").is_some_and(|schema| !annotations(schema).faults.is_empty());
    let tempting = view.by(Party::Server).find(|sent| {
        let tools = sent.message.result().and_then(|result| result.get("tools")?.as_array());
        tools.is_some_and(|tools| tools.iter().any(is_bad))
    });
    let Some(tempting) = tempting else {
        return Verdict::NotSeen("no tool with an invalid annotation was listed".to_owned());
    };
    let later = view
        .client_calls("tools/call")
        .filter(|call| call.request.event > tempting.event && view.is_current(call.request));
    let judged = later.filter_map(|call| {
        let faults = annotations(schemas.at(call.request)?).faults;
        let breach = |fault: &wire::http::AnnotationFault| {
            call.request.breach("/params/name", format!("this tool has an invalid `x-mcp-header`: {fault}"))
        };
        Some((call.request.event, faults.first().map_or(Ok(()), |(_, fault)| Err(breach(fault)))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no listed tool was called afterwards")
}
