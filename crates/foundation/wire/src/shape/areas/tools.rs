//! Tools: their list, their calls, their hints.

use super::base::{ANSWER, CACHEABLE, ICONS, META, MORE, NAMED, NOTIFICATION, REQUEST, REQUEST_PARAMS, RESULT, method};
use super::content::STRUCTURED;
use super::rounds::RETRIED;
use crate::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};
use crate::shape::describe::{
    BOOLEAN, Definition, Field, OBJECT, STRING, define, either, exactly, list, map, object, one, opt, refers, req,
    words,
};

/// A JSON Schema for a tool's input or output. Until 2025-11-25 some of its keywords are described.
const SCHEMA: &[Field] = &[
    opt("$schema", STRING).since(R2025_11_25),
    opt("properties", map(&OBJECT)).until(R2025_11_25),
    opt("required", list(&STRING)).until(R2025_11_25),
];

/// A schema that admits objects only.
const OF_OBJECTS: Field = req("type", exactly("object"));

pub(super) const SHAPES: &[Definition] = &[
    define(
        "Tool",
        "Something the model may call.",
        object(&[
            NAMED,
            ICONS,
            &[
                opt("description", STRING),
                req("inputSchema", object(&[&[OF_OBJECTS], SCHEMA])),
                opt("outputSchema", object(&[&[OF_OBJECTS.until(R2025_11_25)], SCHEMA])).since(R2025_06_18),
                opt("annotations", refers("ToolAnnotations")).since(R2025_03_26),
                opt("execution", refers("ToolExecution")).only(R2025_11_25),
            ],
            META,
        ]),
    ),
    define(
        "ToolAnnotations",
        "Hints on what a tool does to the world; not to be trusted from strangers.",
        object(&[&[
            opt("title", STRING),
            opt("readOnlyHint", BOOLEAN),
            opt("destructiveHint", BOOLEAN),
            opt("idempotentHint", BOOLEAN),
            opt("openWorldHint", BOOLEAN),
        ]]),
    )
    .since(R2025_03_26),
    define(
        "ToolExecution",
        "Whether a tool may, must or must not run as a task.",
        object(&[&[opt("taskSupport", words(&["forbidden", "optional", "required"]))]]),
    )
    .only(R2025_11_25),
    define(
        "ListToolsRequest",
        "Asks for the tools.",
        object(&[
            REQUEST,
            &[method("tools/list"), opt("params", refers("PaginatedRequestParams")).required_since(R2026_07_28)],
        ]),
    ),
    define(
        "ListToolsResult",
        "One page of the tools.",
        object(&[RESULT, MORE, CACHEABLE, &[req("tools", list(&refers("Tool")))]]),
    ),
    define(
        "ListToolsResultResponse",
        "The whole answer to tools/list.",
        object(&[ANSWER, &[req("result", refers("ListToolsResult"))]]),
    )
    .since(R2026_07_28),
    define(
        "CallToolRequest",
        "Asks the server to run a tool.",
        object(&[REQUEST, &[method("tools/call"), req("params", refers("CallToolRequestParams"))]]),
    ),
    define(
        "CallToolRequestParams",
        "Which tool, with which arguments.",
        object(&[
            REQUEST_PARAMS,
            RETRIED,
            &[req("name", STRING), opt("arguments", OBJECT), opt("task", refers("TaskMetadata")).only(R2025_11_25)],
        ]),
    )
    .since(R2025_11_25),
    define(
        "CallToolResult",
        "What the tool returned, or that it failed.",
        object(&[RESULT, &[req("content", list(&refers("ContentBlock"))), opt("isError", BOOLEAN)], STRUCTURED]),
    ),
    define(
        "CallToolResultResponse",
        "The whole answer to tools/call.",
        object(&[ANSWER, &[req("result", either(&[one("InputRequiredResult"), one("CallToolResult")]))]]),
    )
    .since(R2026_07_28),
    define(
        "ToolListChangedNotification",
        "Says that the list of tools is out of date.",
        object(&[
            NOTIFICATION,
            &[method("notifications/tools/list_changed"), opt("params", refers("NotificationParams"))],
        ]),
    ),
];
