//! What the Streamable HTTP transport demands of clients, in the newest revision and those before. Nothing judges clients
//! yet. What only the earlier revisions demand stands in `legacy/transports/clients`.

use wire::Transport;
use wire::revision::{R2025_03_26, R2025_06_18, R2026_07_28};

use super::{LEGACY_SENDING, SENDING};
use crate::rule::{Anchor, Rule, at, client};

const HTTP: &[Transport] = &[Transport::StreamableHttp];

const fn new(section: &'static str) -> Anchor {
    at("basic/transports/streamable-http", section)
}

/// The rules on messages and answers, in the page's own order.
pub(crate) const RULES: &[Rule] = &[
    client("http.posts-each-message")
        .on(HTTP)
        .says(R2025_03_26, LEGACY_SENDING, "A client MUST post each of its messages to the MCP endpoint by itself.")
        .says(R2026_07_28, SENDING, "A client MUST post each of its messages to the MCP endpoint by itself.")
        .declared(),
    client("http.accepts-json-and-streams")
        .on(HTTP)
        .says(R2025_03_26, LEGACY_SENDING, "A POST MUST name JSON and event streams in its `Accept` header.")
        .says(R2026_07_28, SENDING, "A POST MUST name JSON and event streams in its `Accept` header.")
        .declared(),
    client("http.post-holds-message")
        .on(HTTP)
        .says(
            R2025_03_26,
            LEGACY_SENDING,
            "A POST MUST hold one message, or a batch: of responses, or of requests and notifications.",
        )
        .says(R2025_06_18, LEGACY_SENDING, "A POST MUST hold one message.")
        .says(R2026_07_28, SENDING, "A POST MUST hold one request or notification.")
        .declared(),
    client("http.reads-json-and-streams")
        .on(HTTP)
        .says(R2025_03_26, LEGACY_SENDING, "A client MUST understand answers as JSON and as event streams.")
        .says(R2026_07_28, SENDING, "A client MUST understand answers as JSON and as event streams.")
        .declared(),
    client("jsonrpc.messages-before-response")
        .says(
            R2025_03_26,
            LEGACY_SENDING,
            "A server MAY send requests and notifications ahead of a response; its client takes them.",
        )
        .says(
            R2026_07_28,
            at("basic/patterns/index", "request-and-response"),
            "A server MAY send notifications ahead of a response; its client takes them.",
        )
        .declared(),
    client("http.fallback-reads-body")
        .on(HTTP)
        .says(
            R2026_07_28,
            new("backward-compatibility"),
            "A client that is answered 400 SHOULD read the body before it falls back to `initialize`.",
        )
        .declared(),
];

/// The rules on headers, in the page's own order.
pub(crate) const HEADERS: &[Rule] = &[
    client("http.version-header-sent")
        .on(HTTP)
        .says(
            R2025_06_18,
            at("basic/transports", "protocol-version-header"),
            "After the handshake every request of a client MUST have the version header.",
        )
        .says(R2026_07_28, new("protocol-version-header"), "Every POST MUST have the version header.")
        .declared(),
    client("http.version-header-agrees")
        .on(HTTP)
        .says(
            R2025_06_18,
            at("basic/transports", "protocol-version-header"),
            "The version header SHOULD name the version on which the handshake agreed.",
        )
        .says(R2026_07_28, new("protocol-version-header"), "The version header MUST name the same version as `_meta`.")
        .declared(),
    client("http.standard-headers-sent")
        .on(HTTP)
        .says(
            R2026_07_28,
            new("standard-request-headers"),
            "A request MUST have its method in `Mcp-Method` and, where it names a tool, prompt or resource, that in `Mcp-Name`.",
        )
        .declared(),
    client("http.params-mirrored")
        .on(HTTP)
        .says(
            R2026_07_28,
            new("custom-headers-from-tool-parameters"),
            "A client MUST repeat the value of every annotated argument in its `Mcp-Param` header.",
        )
        .declared(),
    client("http.absent-params-not-mirrored")
        .on(HTTP)
        .says(
            R2026_07_28,
            new("server-behavior-for-custom-headers"),
            "A client MUST leave the header out where the argument is null or absent.",
        )
        .declared(),
    client("http.values-encoded")
        .on(HTTP)
        .says(
            R2026_07_28,
            new("value-encoding"),
            "A client MUST write a value that is unsafe in a header as Base64 between `=?base64?` and `?=`, in just that case.",
        )
        .declared(),
    client("http.lookalikes-encoded")
        .on(HTTP)
        .says(R2026_07_28, new("value-encoding"), "A client MUST encode a value that looks encoded as it stands.")
        .declared(),
    client("http.mismatch-relisted")
        .on(HTTP)
        .says(
            R2026_07_28,
            new("client-behavior"),
            "A client whose call is refused for its `Mcp-Param` headers SHOULD list the tools again and repeat the call.",
        )
        .declared(),
    client("http.reads-header-names-any-case")
        .on(HTTP)
        .says(R2026_07_28, new("case-sensitivity"), "A client MUST compare header names without regard to case.")
        .declared(),
];
