//! How messages are carried over HTTP (basic/transports).

use wire::revision::R2025_06_18;

use super::{Fault, Kind, fault, is};

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "accepts-json-alone",
        "http.accepts-json-and-streams",
        "says that it understands no event streams",
        Kind::Carries(|_, outgoing| outgoing.header("accept", "application/json")),
    )
    .http(),
    fault(
        "version-header-missing",
        "http.version-header-sent",
        "leaves `MCP-Protocol-Version` out",
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
        "leaves `Mcp-Method` out of calls",
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
        "leaves `Mcp-Name` out",
        Kind::Carries(|_, outgoing| outgoing.without("mcp-name")),
    )
    .modern()
    .http(),
    fault(
        "parameters-unmirrored",
        "http.params-mirrored",
        "repeats no argument in a header",
        Kind::Carries(|_, outgoing| outgoing.without_all("mcp-param-")),
    )
    .modern()
    .http()
    .seen_in("http-custom-headers")
    .breaks_too(&["http.mismatch-relisted"]),
    fault(
        "session-forgotten",
        "http.session-id-sent",
        "makes calls without the id of its session",
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
        "opens streams without saying that it understands them",
        Kind::Opens(|outgoing| outgoing.header("accept", "application/json")),
    )
    .legacy()
    .http(),
    fault(
        "resumes-from-nowhere",
        "http.resumes-by-last-event-id",
        "comes back for a stream without saying where it stopped",
        Kind::Opens(|outgoing| outgoing.without("last-event-id")),
    )
    .legacy()
    .http()
    .seen_in("sse-retry"),
    fault(
        "comes-back-at-once",
        "http.retry-respected",
        "does not stay away from a stream for as long as it is told",
        Kind::ResumesAtOnce,
    )
    .legacy()
    .http()
    .seen_in("sse-retry"),
    fault(
        "never-comes-back",
        "http.polls-after-close",
        "gives a stream up that the server closes early",
        Kind::NeverResumes,
    )
    .legacy()
    .http()
    .seen_in("sse-retry"),
];
