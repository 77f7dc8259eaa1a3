//! Faults of `_meta`, and of what a modern request must say of its client.

use serde_json::{Value, json};
use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS, MISSING_CLIENT_CAPABILITY};
use wire::meta::SERVER_INFO;
use wire::revision::R2025_06_18;

use super::jsonrpc::error;
use super::{Fault, IncomingMessage, Kind, drop_member, errors, fault};

const COMPLETE: &str = "completion/complete";

pub(super) const FAULTS: &[&Fault] = &[
    &fault(
        "meta-prefix",
        "meta.prefix-labels",
        "completions have a `_meta` key whose prefix has a label that begins with a digit",
        Kind::Results(COMPLETE, |answer| note(answer, "example.9lives/cat", json!(1))),
    )
    .modern(),
    &fault(
        "meta-name",
        "meta.key-names",
        "completions have a `_meta` key that ends with a dash",
        Kind::Results(COMPLETE, |answer| note(answer, "example/cat-", json!(1))),
    )
    .modern(),
    &fault(
        "meta-domain-forwards",
        "meta.reverse-dns",
        "completions have a `_meta` key whose prefix is a domain name written forwards",
        Kind::Results(COMPLETE, |answer| note(answer, "tools.example.com/cat", json!(1))),
    )
    .modern(),
    &fault(
        "traceparent-malformed",
        "meta.traceparent",
        "completions have an invalid `traceparent`",
        Kind::Results(COMPLETE, |answer| note(answer, "traceparent", json!("00-cafe-01"))),
    )
    .modern(),
    &fault(
        "tracestate-malformed",
        "meta.tracestate",
        "completions have an invalid `tracestate`",
        Kind::Results(COMPLETE, |answer| note(answer, "tracestate", json!("=nothing"))),
    )
    .modern(),
    &fault(
        "baggage-malformed",
        "meta.baggage",
        "completions have invalid `baggage`",
        Kind::Results(COMPLETE, |answer| note(answer, "baggage", json!("no baggage at all"))),
    )
    .modern(),
    &fault(
        "meta-not-required",
        "meta.required-enforced",
        "a request without the client's capabilities is served",
        Kind::Receives(|heard| {
            if heard.is_modern() && heard.meta("clientCapabilities").is_null() {
                heard.set_meta("clientCapabilities", json!({}));
            }
        }),
    )
    .breaks_too(&["http.malformed-meta-400"])
    .modern(),
    &fault(
        "asks-the-incapable",
        "meta.undeclared-not-used",
        "a client is asked for input that it did not declare",
        Kind::Receives(capable),
    )
    .breaks_too(&["errors.codes-mean-what-they-say"])
    .modern(),
    &fault(
        "missing-capability-code",
        "meta.missing-capability-refused",
        "a missing capability is answered with the code for invalid params",
        Kind::Errors("tools/call", |answer| errors::recode(answer, MISSING_CLIENT_CAPABILITY, INVALID_PARAMS)),
    )
    .breaks_too(&["task-extension.missing-refused"])
    .modern(),
    &fault(
        "missing-capability-in-result",
        "meta.missing-capability-refused",
        "a missing capability is reported in a result, as the failure of the call",
        Kind::Errors("tools/call", |answer| {
            if answer["error"]["code"] == MISSING_CLIENT_CAPABILITY {
                drop_member(answer, "error");
                let content = json!([{ "type": "text", "text": "This client cannot be asked" }]);
                answer["result"] = json!({ "resultType": "complete", "content": content, "isError": true });
            }
        }),
    )
    .breaks_too(&["meta.server-info"])
    .modern(),
    &fault(
        "missing-capability-not-named",
        "meta.missing-capability-listed",
        "the error for a missing capability does not say which",
        Kind::Errors("tools/call", |answer| drop_member(&mut answer["error"], "data")),
    )
    .breaks_too(&["shape.errors", "task-extension.missing-refused"])
    .modern(),
    &fault(
        "nameless-server",
        "meta.server-info",
        "results do not name the server",
        Kind::Answers(|asked, answer| {
            if asked.is_modern() && !asked.is("server/discover") && answer["result"].is_object() {
                drop_member(&mut answer["result"]["_meta"], SERVER_INFO);
            }
        }),
    )
    .modern(),
    &fault(
        "clients-by-name",
        "meta.client-info-ignored",
        "a client whose name has a dash is refused the list of tools",
        Kind::Answers(|asked, answer| {
            let dashed = asked.meta("clientInfo")["name"].as_str().is_some_and(|name| name.contains('-'));
            if asked.is("tools/list") && dashed {
                *answer = error(asked, INTERNAL_ERROR, "This client is not supported");
            }
        }),
    )
    .modern(),
    &fault(
        "reserved-keys-refused",
        "meta.reserved-keys-not-assumed",
        "a request with an unknown value under a reserved `_meta` key is refused",
        Kind::Answers(|asked, answer| {
            let meta = asked.param("_meta").as_object();
            if meta.is_some_and(|members| members.keys().any(|key| key.starts_with("api.mcp."))) {
                *answer = error(asked, INVALID_PARAMS, "Invalid params: a reserved key");
            }
        }),
    )
    .since(R2025_06_18),
];

fn note(answer: &mut Value, key: &str, value: Value) {
    answer["result"]["_meta"][key] = value;
}

/// Every client counts as one that can do everything.
fn capable(heard: &mut IncomingMessage<'_>) {
    if heard.is("tools/call") && heard.is_modern() {
        heard.set_meta("clientCapabilities", json!({ "elicitation": {}, "sampling": {}, "roots": {} }));
    }
}
