//! How messages are carried over HTTP (basic/transports).

use serde_json::Value;
use wire::revision::R2025_06_18;

use super::{Fault, Kind, fault, is};

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "accepts-json-alone",
        "http.accepts-json-and-streams",
        "does not accept event streams",
        Kind::Carries(|_, outgoing| outgoing.header("accept", "application/json")),
    )
    .http(),
    fault(
        "version-header-missing",
        "http.version-header-sent",
        "omits `MCP-Protocol-Version`",
        Kind::Carries(
            |message, outgoing| {
                if is(message, "initialize") { outgoing } else { outgoing.without("mcp-protocol-version") }
            },
        ),
    )
    .since(R2025_06_18)
    .http(),
    fault(
        "version-header-other",
        "http.version-header-agrees",
        "names another version in the header of calls than in `_meta`",
        Kind::Carries(|message, outgoing| {
            if is(message, "tools/call") { outgoing.header("mcp-protocol-version", "2025-11-25") } else { outgoing }
        }),
    )
    .modern()
    .http(),
    fault(
        "method-header-missing",
        "http.standard-headers-sent",
        "omits `Mcp-Method` from calls",
        Kind::Carries(
            |message, outgoing| {
                if is(message, "tools/call") { outgoing.without("mcp-method") } else { outgoing }
            },
        ),
    )
    .modern()
    .http(),
    fault(
        "name-header-missing",
        "http.standard-headers-sent",
        "omits `Mcp-Name`",
        Kind::Carries(|_, outgoing| outgoing.without("mcp-name")),
    )
    .modern()
    .http(),
    fault(
        "parameters-unmirrored",
        "http.params-mirrored",
        "mirrors no argument into a header",
        Kind::Carries(|_, outgoing| outgoing.without_all("mcp-param-")),
    )
    .modern()
    .http()
    .seen_in("http-custom-headers")
    .breaks_too(&["http.mismatch-relisted"]),
    fault(
        "session-forgotten",
        "http.session-id-sent",
        "makes calls without its session id",
        Kind::Carries(
            |message, outgoing| {
                if is(message, "tools/call") { outgoing.without_session() } else { outgoing }
            },
        ),
    )
    .legacy()
    .http()
    .breaks_too(&["lifecycle.client-greets-first"]),
    fault(
        "stream-accepts-json",
        "http.get-accepts-streams",
        "opens streams without accepting event streams",
        Kind::Opens(|outgoing| outgoing.header("accept", "application/json")),
    )
    .legacy()
    .http(),
    fault(
        "resumes-without-event-id",
        "http.resumes-by-last-event-id",
        "resumes a stream without `Last-Event-ID`",
        Kind::Opens(|outgoing| outgoing.without("last-event-id")),
    )
    .legacy()
    .http()
    .seen_in("sse-retry"),
    fault(
        "retry-time-ignored",
        "http.retry-respected",
        "resumes a stream before its `retry` time has passed",
        Kind::ResumesAtOnce,
    )
    .legacy()
    .http()
    .seen_in("sse-retry"),
    fault(
        "never-resumes",
        "http.polls-after-close",
        "does not resume a stream that the server closed early",
        Kind::NeverResumes,
    )
    .legacy()
    .http()
    .seen_in("sse-retry"),
    fault(
        "resumes-after-first-event",
        "http.resumes-by-last-event-id",
        "resumes a stream after its first event, not its last",
        Kind::ResumesAfter(|id| format!("{}-0", id.split('-').next().unwrap_or_default())),
    )
    .legacy()
    .http()
    .seen_in("stream-resumed"),
    fault(
        "session-lower-cased",
        "http.session-id-sent",
        "sends another session id with calls than it got",
        Kind::Carries(
            |message, outgoing| {
                if is(message, "tools/call") { outgoing.session("session.id") } else { outgoing }
            },
        ),
    )
    .legacy()
    .http()
    .seen_in("session-in-capitals")
    .breaks_too(&["http.session-ended-by-delete"]),
    fault(
        "names-percent-encoded",
        "http.values-encoded",
        "writes letters outside ASCII into `Mcp-Name` with percent signs",
        Kind::Carries(|message, outgoing| match message.pointer("/params/name").and_then(Value::as_str) {
            Some(name) if !name.is_ascii() => outgoing.header("mcp-name", percent_encoded(name)),
            _ => outgoing,
        }),
    )
    .modern()
    .http()
    .seen_in("odd-names")
    .breaks_too(&["http.standard-headers-sent"]),
    fault(
        "arguments-percent-encoded",
        "http.values-encoded",
        "writes letters outside ASCII into `Mcp-Param` headers with percent signs",
        Kind::Carries(|message, outgoing| {
            match message.pointer("/params/arguments/where/place").and_then(Value::as_str) {
                Some(place) => outgoing.header("mcp-param-inner-place", percent_encoded(place)),
                None => outgoing,
            }
        }),
    )
    .modern()
    .http()
    .seen_in("odd-names")
    .breaks_too(&["http.params-mirrored", "http.mismatch-relisted"]),
    fault(
        "lookalikes-sent-plain",
        "http.lookalikes-encoded",
        "sends names that look encoded as they are",
        Kind::Carries(|message, outgoing| match message.pointer("/params/name").and_then(Value::as_str) {
            Some(name) if name.starts_with("=?base64?") => outgoing.header("mcp-name", name),
            _ => outgoing,
        }),
    )
    .modern()
    .http()
    .seen_in("odd-names")
    .breaks_too(&["http.standard-headers-sent"]),
];

fn percent_encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_graphic() && *byte != b'%';
    text.bytes().map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
