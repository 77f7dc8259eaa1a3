//! Rows 24–32: the envelope of requests, results and errors.

use super::{Row, absent, lossless};

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "24",
        "`_meta` of requests",
        lossless("Adds revision, client, capabilities and log level. Keeps the rest."),
        lossless("Removes these four. Keeps the rest."),
    ),
    Row::new(
        "25",
        "`resultType`",
        lossless("Removed. `input_required` asks the client (row 45); an unknown type becomes -32603."),
        lossless("Added: `complete`."),
    ),
    Row::new(
        "26",
        "`serverInfo` in results",
        lossless("Removed."),
        lossless("Added: the server's, or the gateway's where several servers answer."),
    ),
    Row::new(
        "27",
        "`ttlMs`, `cacheScope`",
        lossless("Removed."),
        lossless("Added: 0 and `private`. A result that asks for input gets none."),
    )
    .missing("Longer times where the gateway watches the server."),
    Row::new(
        "28",
        "`cursor`, `nextCursor`",
        lossless(
            "Unchanged with one server. Several servers make one list without pages; a cursor is refused with -32602.",
        ),
        lossless("The same."),
    ),
    Row::new(
        "29",
        "Resource not found",
        lossless("-32602 becomes -32002 for `resources/read`, where the error speaks of a missing resource."),
        lossless("-32002 becomes -32602."),
    ),
    Row::new(
        "30",
        "URL elicitation as an error, -32042 (2025-11-25)",
        absent("A server of 2026-07-28 does not send it."),
        lossless(
            "Becomes `input_required` with the URLs; the client's next request is a new call. A client without `elicitation.url` gets -32021.",
        ),
    ),
    Row::new(
        "31",
        "-32020 and -32022 of a server",
        lossless("They concern the gateway's own request and become -32603."),
        absent("Older servers do not send them."),
    ),
    Row::new(
        "32",
        "Other errors, `isError`",
        lossless("Unchanged. A protocol error does not become a tool error, nor the reverse."),
        lossless("The same."),
    ),
];
