//! Rows 33–44: tools, prompts, resources, completion, and what servers ask of clients.

use super::{Row, degraded, flight, lossless};

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "33",
        "Members of `tools/list`",
        degraded("Members that the client's revision does not have are removed: `annotations`, `title`, `outputSchema`, `_meta`, `icons`. For 2025-11-25, a server with the tasks extension has tools that may become tasks (row 60a)."),
        degraded("`execution` is removed: only 2025-11-25 has it."),
    )
    .instead("The tool without these members."),
    Row::new(
        "34",
        "Schemas and structured results",
        degraded("An `outputSchema` that does not describe an object is removed. So is `structuredContent` that is not an object, or that the client's revision does not have; its JSON is added as text where no block has it. Members of schemas that 2025-11-25 and before do not allow are removed."),
        lossless("What older servers send is valid."),
    )
    .instead("The value as a text block; the tool without the schema."),
    Row::new(
        "35",
        "Kinds of content",
        degraded("Before 2025-03-26 audio, and before 2025-06-18 links, become text. Members that the revision does not have are removed."),
        lossless("Unchanged."),
    )
    .instead("Text that names the media type or the URI."),
    Row::new(
        "36",
        "Lists that differ by session",
        lossless("A server of 2026-07-28 has none."),
        lossless("The client sees the list of the session that its principal shares."),
    ),
    Row::new(
        "37",
        "Parameters of `tools/call`, `prompts/get`, `resources/read`",
        lossless("`task` is removed (row 60a)."),
        lossless("`inputResponses` and `requestState` are removed: the gateway acts on them (row 48)."),
    ),
    Row::new(
        "38",
        "Lists of resources, templates and prompts; `prompts/get`",
        degraded("Members that the client's revision does not have are removed."),
        lossless("Rows 25 to 27 add members."),
    )
    .instead("The item without these members."),
    Row::new(
        "39",
        "`resources/read`",
        degraded("`_meta` of contents is removed before 2025-06-18."),
        lossless("Row 27 adds members."),
    )
    .instead("The contents without `_meta`."),
    Row::new(
        "40",
        "`completion/complete`",
        lossless("Unchanged."),
        lossless("Unchanged, with `context`: older servers ignore it. A server of 2024-11-05 that does not know the method answers -32601."),
    ),
    Row::new(
        "41",
        "`roots/list`",
        flight("The server's `input_required` becomes a request to the client (row 45)."),
        flight("The server's request becomes `input_required` (row 48)."),
    ),
    Row::new(
        "42",
        "`sampling/createMessage`",
        degraded("Before 2025-11-25 a message has one block: further ones become messages, and blocks of tools become text. `tools` and `toolChoice` are removed."),
        lossless("`task` and `_meta` are removed."),
    )
    .instead("Text that holds the JSON of the block.")
    .missing("`includeContext` with several servers."),
    Row::new(
        "43",
        "Forms",
        degraded("For 2025-06-18 a field with several choices becomes one yes-or-no field for each choice, and titles of choices become `enumNames`. Presets are removed, except those of yes-or-no fields."),
        lossless("Unchanged."),
    )
    .instead("A simpler form. The gateway does not enforce how many choices are allowed.")
    .missing("The name of the asking server in the message, where there are several."),
    Row::new(
        "44",
        "URL elicitation",
        degraded("An `elicitationId` is added, for 2025-11-25 only. After the client has agreed, the server is called again at once."),
        degraded("`elicitationId` is removed. `notifications/elicitation/complete` is dropped: 2026-07-28 has no such notification."),
    )
    .instead("The client calls again when the user is done.")
    .missing("`notifications/elicitation/complete` for older clients of a server of 2026-07-28."),
];
