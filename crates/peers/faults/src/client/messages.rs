//! Messages that are none, or not as they ought to be (basic).

use serde_json::{Value, json};
use wire::Transport;
use wire::meta::{self, PREFIX};
use wire::revision::{R2025_06_18, R2025_11_25};

use super::{Fault, Kind, fault, is};

/// An id that the client itself never comes to.
const ODD: i64 = 900_001;

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "names-lowered",
        "tools.client-names-case-sensitive",
        "calls tools by their names in lower case",
        Kind::Sends(|message| {
            let Some(name) = message["params"]["name"].as_str().filter(|_| is(message, "tools/call")) else {
                return false;
            };
            let lower = name.to_lowercase();
            let found = lower != name;
            message["params"]["name"] = json!(lower);
            found
        }),
    )
    .since(R2025_11_25)
    .seen_in("odd-names"),
    fault("no-json", "jsonrpc.json", "sends invalid JSON", Kind::AlsoSends(|| one("{\"jsonrpc\":\"2.0\",")))
        .breaks_too(&["http.post-holds-message"]),
    fault("bare-number", "jsonrpc.object", "sends a number instead of a message", Kind::AlsoSends(|| one("42")))
        .breaks_too(&["http.post-holds-message"]),
    fault(
        "version-member-missing",
        "jsonrpc.version-member",
        "sends a request without `jsonrpc`",
        Kind::AlsoSends(|| vec![json!({ "id": ODD, "method": "tools/list" }).to_string()]),
    )
    .breaks_too(&["http.post-holds-message"]),
    fault(
        "two-kinds",
        "jsonrpc.one-kind",
        "sends a message that is a request and a result",
        Kind::AlsoSends(|| {
            vec![json!({ "jsonrpc": "2.0", "id": ODD, "method": "tools/list", "result": {} }).to_string()]
        }),
    )
    .breaks_too(&["http.post-holds-message"]),
    fault(
        "batches",
        "jsonrpc.one-message",
        "sends two messages as a batch",
        Kind::AlsoSends(|| {
            let ask = |id| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" });
            vec![json!([ask(ODD), ask(ODD + 1)]).to_string()]
        }),
    )
    .since(R2025_06_18)
    .breaks_too(&["http.post-holds-message", "meta.required-sent", "meta.client-info-sent"]),
    fault(
        "id-null",
        "jsonrpc.request-id-not-null",
        "sends a request whose id is null",
        Kind::AlsoSends(|| vec![json!({ "jsonrpc": "2.0", "id": null, "method": "tools/list" }).to_string()]),
    )
    .breaks_too(&["http.post-holds-message"]),
    fault(
        "id-fraction",
        "jsonrpc.request-id-type",
        "sends a request whose id is a fraction",
        Kind::AlsoSends(|| vec![json!({ "jsonrpc": "2.0", "id": 1.5, "method": "tools/list" }).to_string()]),
    )
    .breaks_too(&["http.post-holds-message"]),
    fault(
        "id-of-before",
        "jsonrpc.request-ids-unique",
        "lists the tools under the id of its first request",
        Kind::AlsoSends(|| vec![json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string()]),
    )
    .legacy(),
    fault(
        "notification-with-id",
        "jsonrpc.notification-no-id",
        "sends a notification with an id",
        Kind::AlsoSends(|| {
            vec![json!({ "jsonrpc": "2.0", "id": ODD, "method": "notifications/roots/list_changed" }).to_string()]
        }),
    )
    .legacy()
    .breaks_too(&["lifecycle.client-negotiated-only"]),
    fault(
        "arguments-as-text",
        "shape.requests",
        "sends the arguments of a call as a string",
        Kind::Sends(|message| {
            let found = is(message, "tools/call");
            if found {
                message["params"]["arguments"] = json!(message["params"]["arguments"].to_string());
            }
            found
        }),
    ),
    fault(
        "meta-name-odd",
        "meta.key-names",
        "puts a key into `_meta` whose name ends with a hyphen",
        Kind::Sends(|message| meta(message, "com.example/odd-", json!(1))),
    )
    .since(R2025_06_18),
    fault(
        "meta-prefix-odd",
        "meta.prefix-labels",
        "puts a key into `_meta` whose prefix begins with a digit",
        Kind::Sends(|message| meta(message, "1com.example/odd", json!(1))),
    )
    .since(R2025_06_18),
    fault(
        "meta-required-missing",
        "meta.required-sent",
        "omits its capabilities from the `_meta` of calls",
        Kind::Sends(|message| is(message, "tools/call") && unmeta(message, "clientCapabilities")),
    )
    .modern()
    .breaks_too(&["shape.requests"]),
    fault(
        "client-info-missing",
        "meta.client-info-sent",
        "omits its name and version from `_meta`",
        Kind::Sends(|message| unmeta(message, "clientInfo")),
    )
    .modern(),
    fault(
        "traceparent-odd",
        "meta.traceparent",
        "sends an invalid `traceparent`",
        Kind::Sends(|message| meta(message, "traceparent", json!("00-1-2-3"))),
    )
    .modern()
    .seen_in("echo"),
    fault(
        "token-fraction",
        "progress.client-tokens-plain",
        "uses a fraction as a progress token",
        Kind::Sends(|message| is(message, "tools/call") && meta(message, "progressToken", json!(0.5))),
    )
    .seen_in("progress")
    // Calls at the same time have the same token.
    .breaks_too(&["progress.client-tokens-unique", "shape.requests"]),
    fault(
        "log-on-stdin",
        "stdio.only-messages-on-stdin",
        "writes a log line to the server's stdin",
        Kind::AlsoSends(|| one("proofhouse: hello")),
    )
    .stdio(),
    fault(
        "newlines-inside",
        "stdio.stdin-no-embedded-newlines",
        "writes a message over several lines",
        Kind::AlsoSends(|| {
            let ask = json!({ "jsonrpc": "2.0", "id": ODD, "method": "tools/list" });
            vec![serde_json::to_string_pretty(&ask).unwrap_or_default()]
        }),
    )
    .stdio()
    .breaks_too(&["jsonrpc.json"]),
    fault(
        "cancels-the-unasked",
        "cancellation.own-requests-only",
        "cancels a request that it never sent",
        Kind::AlsoSends(|| vec![cancelled(ODD)]),
    )
    .legacy()
    .seen_in("cancellation"),
    fault(
        "cancels-for-others",
        "cancellation.client-own-requests",
        "cancels a request that it never sent, at 2026-07-28",
        Kind::AlsoSends(|| vec![cancelled(ODD)]),
    )
    .modern()
    .seen_in("cancellation")
    .seen_over(Transport::Stdio),
    fault(
        "cancels-initialize",
        "cancellation.initialize-not-cancelled",
        "cancels `initialize`",
        Kind::Instead(|message| {
            let id = message["id"].as_i64().filter(|_| is(message, "initialize"))?;
            Some(vec![message.to_string(), cancelled(id)])
        }),
    )
    .legacy()
    .seen_in("slow-greeting")
    .seen_over(Transport::Stdio),
    fault(
        "ping-flood",
        "ping.sparing",
        "pings the server a hundred times at once",
        Kind::AlsoSends(|| {
            (0..100).map(|n| json!({ "jsonrpc": "2.0", "id": ODD + n, "method": "ping" }).to_string()).collect()
        }),
    )
    .legacy()
    .seen_in("request-cancelled"),
    fault(
        "asks-for-prompts",
        "prompts.only-where-declared",
        "lists prompts, whatever the server declares",
        Kind::AlsoSends(|| vec![json!({ "jsonrpc": "2.0", "id": ODD, "method": "prompts/list" }).to_string()]),
    )
    .legacy()
    .seen_in("tools-alone")
    .breaks_too(&["lifecycle.client-negotiated-only"]),
    fault(
        "completes-every-keystroke",
        "completion.requests-debounced",
        "requests a completion at every keystroke",
        Kind::Instead(|message| {
            let typed = message.pointer("/params/argument/value").and_then(Value::as_str)?;
            let step = |length: usize| {
                let mut earlier = message.clone();
                earlier["id"] = json!(format!("key-{length}-{}", message["id"]));
                earlier["params"]["argument"]["value"] = json!(typed[..length]);
                earlier.to_string()
            };
            (typed.len() > 1).then(|| (2..typed.len()).map(step).chain([message.to_string()]).collect())
        }),
    )
    .seen_in("completion"),
    fault(
        "answers-unasked",
        "jsonrpc.no-client-responses",
        "sends a result that answers no request",
        Kind::AlsoSends(|| vec![json!({ "jsonrpc": "2.0", "id": ODD, "result": {} }).to_string()]),
    )
    .modern()
    .seen_in("hostile.requests")
    .breaks_too(&["jsonrpc.result-id", "http.post-holds-message"]),
    fault(
        "method-of-before",
        "shape.requests",
        "pings a server of the modern era",
        Kind::AlsoSends(|| {
            let declared = json!({
                meta::PROTOCOL_VERSION: "2026-07-28",
                meta::CLIENT_INFO: { "name": "proofhouse", "version": "1" },
                meta::CLIENT_CAPABILITIES: {},
            });
            vec![json!({ "jsonrpc": "2.0", "id": ODD, "method": "ping", "params": { "_meta": declared } }).to_string()]
        }),
    )
    .modern(),
    fault(
        "subscribes-undeclared",
        "lifecycle.client-negotiated-only",
        "subscribes to a resource though the server offers no subscriptions",
        Kind::AlsoSends(|| {
            let params = json!({ "uri": "proof://counter" });
            vec![json!({ "jsonrpc": "2.0", "id": ODD, "method": "resources/subscribe", "params": params }).to_string()]
        }),
    )
    .legacy()
    .seen_in("little-declared"),
];

fn one(text: &str) -> Vec<String> {
    vec![text.to_owned()]
}

fn cancelled(id: i64) -> String {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }).to_string()
}

/// Sets a member of a request's `_meta`.
fn meta(message: &mut Value, name: &str, value: Value) -> bool {
    let is_request = message.get("method").is_some() && message.get("id").is_some();
    if is_request && !is(message, "initialize") {
        message["params"]["_meta"][name] = value;
    }
    is_request
}

/// Takes a reserved member out of it.
fn unmeta(message: &mut Value, name: &str) -> bool {
    let name = format!("{PREFIX}{name}");
    message.pointer_mut("/params/_meta").is_some_and(|meta| super::drop_member(meta, &name))
}
