//! Rows 1–10: opening and negotiation.

use super::{Row, degraded, lossless, store};

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "1",
        "`initialize`",
        store("The gateway answers from what the server says of itself. It agrees to the client's revision, or offers 2025-11-25."),
        store("The gateway sends it when a session with the server begins, at the configured revision or at 2025-11-25."),
    ),
    Row::new(
        "2",
        "`notifications/initialized`",
        lossless("Ends at the gateway."),
        lossless("The gateway sends it after `initialize` and before the first request."),
    ),
    Row::new(
        "3",
        "`server/discover`",
        lossless("Older clients do not send it. A client that probes with it gets the answer for 2026-07-28."),
        lossless("The gateway answers it with all revisions, the translated capabilities and the instructions of the server."),
    ),
    Row::new(
        "4",
        "Revisions that do not match",
        lossless("A client that asks for an unknown revision is offered 2025-11-25. A server that refuses 2026-07-28 gets `initialize`."),
        lossless("A request of an unknown revision gets -32022 with the list of revisions. A server that offers an unknown revision is not used, and the error names it."),
    ),
    Row::new(
        "5",
        "`MCP-Protocol-Version`",
        lossless("Made for each hop. The server gets 2026-07-28, as in the body."),
        lossless("The client's must equal the body. The server gets the negotiated revision from 2025-06-18 on, and none before."),
    ),
    Row::new(
        "6",
        "Capabilities of the client",
        store("Kept with the session and sent with each request, without `tasks` and `roots.listChanged`."),
        store("Sessions with the server differ by principal and capabilities, so that a server asks only what this client can answer. `tasks`, `extensions` and `roots.listChanged` are not declared."),
    ),
    Row::new(
        "7",
        "Capabilities of the server",
        degraded("Passed, except `tasks` and `extensions`, and before 2025-03-26 `completions`. The tasks extension becomes `tasks` for 2025-11-25 (row 60a). With several servers: their union."),
        degraded("Passed, except `tasks`. With several servers: their union."),
    )
    .instead("The capability is not declared, and methods of it are not found."),
    Row::new(
        "8",
        "`clientInfo`, `serverInfo`, `instructions`",
        lossless("Name and version of the client go with each request. The client sees the name of a single server, and of the gateway where there are several."),
        degraded("The server gets the name of the client that began the session. Members that a revision does not know are removed."),
    )
    .instead("Where several programs of one principal share a session, the server sees the name of the first one."),
    Row::new(
        "9",
        "`ping`",
        lossless("The gateway answers it."),
        lossless("The gateway answers a server. Clients of 2026-07-28 have no such method and get -32601."),
    ),
    Row::new(
        "10",
        "Unknown methods and notifications",
        lossless("Requests and results pass with the envelope of the other era. Notifications of a server pass within a request."),
        lossless("The same."),
    )
    .missing("Notifications of a client end at the gateway. With several servers an unknown method is not found. Unknown notifications outside a request are dropped."),
];
