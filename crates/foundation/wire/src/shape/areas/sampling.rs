//! Sampling: a server asks the client's model.

use super::base::{SERVER_REQUEST, method};
use super::tasks::AS_TASK;
use crate::revision::{R2025_03_26, R2025_11_25};
use crate::shape::describe::{
    Definition, INTEGER, NUMBER, STRING, Shape, WEIGHT, alt, define, either, list, object, one, opt, refers, req, words,
};

/// What a model says or is told: one piece, or since 2025-11-25 several.
const SAID: Shape = either(&[
    one("TextContent"),
    one("ImageContent"),
    one("AudioContent").since(R2025_03_26),
    one("ToolUseContent").since(R2025_11_25),
    one("ToolResultContent").since(R2025_11_25),
    alt(list(&refers("SamplingMessageContentBlock"))).since(R2025_11_25),
]);

pub(super) const SHAPES: &[Definition] = &[
    define(
        "CreateMessageRequest",
        "Asks the client's model to go on with a conversation.",
        object(&[
            SERVER_REQUEST,
            &[method("sampling/createMessage"), req("params", refers("CreateMessageRequestParams"))],
        ]),
    ),
    define(
        "CreateMessageRequestParams",
        "The conversation so far, and how the model should go on.",
        object(&[
            AS_TASK,
            &[
                req("messages", list(&refers("SamplingMessage"))),
                req("maxTokens", INTEGER),
                opt("modelPreferences", refers("ModelPreferences")),
                opt("systemPrompt", STRING),
                opt("includeContext", words(&["none", "thisServer", "allServers"])),
                opt("temperature", NUMBER),
                opt("stopSequences", list(&STRING)),
                opt("metadata", refers("JSONObject")),
                opt("tools", list(&refers("Tool"))).since(R2025_11_25),
                opt("toolChoice", refers("ToolChoice")).since(R2025_11_25),
            ],
        ]),
    )
    .since(R2025_11_25),
    define(
        "CreateMessageResult",
        "What the model said, which model it was, and why it stopped.",
        object(&[&[
            // Older than `META`: a result had metadata from the first.
            opt("_meta", refers("MetaObject")),
            req("role", refers("Role")),
            req("content", SAID),
            req("model", STRING),
            opt("stopReason", STRING),
        ]]),
    ),
    define(
        "SamplingMessage",
        "One turn of a conversation with a model.",
        object(&[
            &[req("role", refers("Role")), req("content", SAID)],
            &[opt("_meta", refers("MetaObject")).since(R2025_11_25)],
        ]),
    ),
    define(
        "SamplingMessageContentBlock",
        "One piece of a turn.",
        either(&[
            one("TextContent"),
            one("ImageContent"),
            one("AudioContent"),
            one("ToolUseContent"),
            one("ToolResultContent"),
        ]),
    )
    .since(R2025_11_25),
    define(
        "ToolChoice",
        "Whether the model may, must or must not use tools.",
        object(&[&[opt("mode", words(&["auto", "required", "none"]))]]),
    )
    .since(R2025_11_25),
    define(
        "ModelPreferences",
        "What matters most in the choice of a model.",
        object(&[&[
            opt("hints", list(&refers("ModelHint"))),
            opt("costPriority", WEIGHT),
            opt("speedPriority", WEIGHT),
            opt("intelligencePriority", WEIGHT),
        ]]),
    ),
    define("ModelHint", "A part of the name of a model that would do.", object(&[&[opt("name", STRING)]])),
];
