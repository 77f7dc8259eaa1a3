//! What each side declares that it can do.

use crate::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};
use crate::shape::describe::{BOOLEAN, Definition, Field, Shape, define, map, object, opt, refers};

/// Settings of one capability, about which nothing is said.
const SETTINGS: Shape = refers("JSONObject");

/// Experiments and, later, extensions: settings by name.
const OPEN_ENDED: &[Field] =
    &[opt("experimental", map(&SETTINGS)), opt("extensions", map(&SETTINGS)).since(R2026_07_28)];

const LIST_CHANGED: &[Field] = &[opt("listChanged", BOOLEAN)];

/// Tasks that may be listed and cancelled.
const TASKS: &[Field] = &[opt("list", SETTINGS), opt("cancel", SETTINGS)];

pub(super) const SHAPES: &[Definition] = &[
    define(
        "ClientCapabilities",
        "What a client can do for a server.",
        object(&[
            OPEN_ENDED,
            &[
                opt("roots", object(&[&[opt("listChanged", BOOLEAN).until(R2025_11_25)]])),
                opt(
                    "sampling",
                    object(&[&[
                        opt("context", SETTINGS).since(R2025_11_25),
                        opt("tools", SETTINGS).since(R2025_11_25),
                    ]]),
                ),
                opt(
                    "elicitation",
                    object(&[&[opt("form", SETTINGS).since(R2025_11_25), opt("url", SETTINGS).since(R2025_11_25)]]),
                )
                .since(R2025_06_18),
                opt("tasks", object(&[TASKS, &[opt("requests", CLIENT_TASK_REQUESTS)]])).only(R2025_11_25),
            ],
        ]),
    ),
    define(
        "ServerCapabilities",
        "What a server can do for a client.",
        object(&[
            OPEN_ENDED,
            &[
                opt("logging", SETTINGS),
                opt("completions", SETTINGS).since(R2025_03_26),
                opt("prompts", object(&[LIST_CHANGED])),
                opt("resources", object(&[LIST_CHANGED, &[opt("subscribe", BOOLEAN)]])),
                opt("tools", object(&[LIST_CHANGED])),
                opt("tasks", object(&[TASKS, &[opt("requests", SERVER_TASK_REQUESTS)]])).only(R2025_11_25),
            ],
        ]),
    ),
];

/// The requests that a client can run as tasks.
const CLIENT_TASK_REQUESTS: Shape = object(&[&[
    opt("sampling", object(&[&[opt("createMessage", SETTINGS)]])),
    opt("elicitation", object(&[&[opt("create", SETTINGS)]])),
]]);

/// The requests that a server can run as tasks.
const SERVER_TASK_REQUESTS: Shape = object(&[&[opt("tools", object(&[&[opt("call", SETTINGS)]]))]]);
