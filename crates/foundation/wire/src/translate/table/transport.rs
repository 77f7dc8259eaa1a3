//! Rows 11–23: HTTP, streams and framing.

use super::{Row, degraded, flight, lossless, owner, store};

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "11",
        "JSON-RPC `id`",
        flight("Unchanged over HTTP. On a pipe it is replaced by a number, and put back in the response."),
        flight("Replaced by a number towards the server, and put back in the response."),
    ),
    Row::new(
        "12",
        "`Mcp-Session-Id`",
        store("The session is the gateway's own. The server has none."),
        store("The client has none. A session of the server that has ended (404) is opened again once, and the request repeated in it: the server did not run it. Idle sessions are deleted at the server."),
    )
    .missing("Sessions that survive a restart, several replicas, a session for each request."),
    Row::new(
        "13",
        "GET stream",
        flight("Carries what the subscriptions of the gateway at the server bring."),
        flight("The gateway opens it at the server and does not ask again after a refusal."),
    ),
    Row::new(
        "14",
        "Event ids and resumption",
        flight("Served at the client's hop; the server has none."),
        flight("The gateway resumes a broken stream of a server that sent event ids, up to three times."),
    )
    .missing("Resumption after a restart or at another replica."),
    Row::new(
        "15",
        "A response stream that breaks",
        degraded("The client gets an error with `outcome: unknown`. The request is not sent again."),
        degraded("Resumed where the server sent event ids; otherwise the same error."),
    )
    .instead("An error with `outcome: unknown` and `retryable: false`."),
    Row::new(
        "16",
        "JSON or a stream of events",
        lossless("Both are read from the server. The client gets a stream where something precedes the response."),
        lossless("The same."),
    ),
    Row::new(
        "17",
        "Responses of clients",
        flight("Go to the question of the gateway that they answer; others are dropped."),
        flight("A client of 2026-07-28 must not send any and gets 400. Answers of the gateway go to the server that asked."),
    ),
    Row::new(
        "18",
        "Batches (2025-03-26)",
        flight("Taken apart; each message goes its own way, and the answers come together."),
        flight("Batches on a stream of a server are taken apart."),
    ),
    Row::new(
        "19",
        "Transports",
        owner("Clients and servers use stdio, Streamable HTTP, HTTP+SSE or WebSocket. Revision and transport are independent."),
        owner("The same."),
    ),
    Row::new(
        "20",
        "`Mcp-Method`, `Mcp-Name`",
        lossless("Made from the body that the server gets."),
        lossless("Compared with the body before anything else; not sent to the server."),
    ),
    Row::new(
        "21",
        "`x-mcp-header`, `Mcp-Param-*`",
        lossless("Made from the arguments, by the schema of the tool."),
        lossless("Where the schema of the tool has annotations, compared with the body; not sent to the server."),
    )
    .missing("A new list of tools after -32020 of a server."),
    Row::new(
        "22",
        "`Authorization`",
        lossless("Never crosses. A server gets the credentials of the configuration."),
        lossless("The same."),
    )
    .missing("Challenges and grants for each user."),
    Row::new(
        "23",
        "HTTP status and error code",
        lossless("Errors come with the status that the client's revision prescribes. A status of a server without a message becomes -32603 with `status` and `retryAfter` in `data`."),
        lossless("The same; -32601 comes with 404, errors of the envelope with 400."),
    ),
];
