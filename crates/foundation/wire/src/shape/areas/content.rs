//! Pieces of content: what tools return, prompts hold and models say.

use super::base::{META, NAMED, kind};
use crate::revision::{R2024_11_05, R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};
use crate::shape::describe::{
    ANY, BASE64, BOOLEAN, Definition, Field, OBJECT, STRING, define, either, list, object, one, opt, refers, req,
};

/// Hints that any piece of content may have.
pub(super) const ANNOTATED: &[Field] = &[opt("annotations", refers("Annotations"))];

/// Binary content in text.
const BINARY: &[Field] = &[req("data", BASE64), req("mimeType", STRING)];

/// What a tool returned besides content: an object, then any JSON.
pub(super) const STRUCTURED: &[Field] = &[
    opt("structuredContent", OBJECT).since(R2025_06_18).until(R2025_11_25),
    opt("structuredContent", ANY).since(R2026_07_28),
];

pub(super) const SHAPES: &[Definition] = &[
    define("Annotated", "Anything that may carry hints for its use.", object(&[ANNOTATED])).only(R2024_11_05),
    define(
        "ContentBlock",
        "One piece of content.",
        either(&[
            one("TextContent"),
            one("ImageContent"),
            one("AudioContent").since(R2025_03_26),
            one("ResourceLink").since(R2025_06_18),
            one("EmbeddedResource"),
        ]),
    )
    .since(R2025_06_18),
    define("TextContent", "Text.", object(&[&[kind("text"), req("text", STRING)], ANNOTATED, META])),
    define("ImageContent", "A picture.", object(&[&[kind("image")], BINARY, ANNOTATED, META])),
    define("AudioContent", "A sound.", object(&[&[kind("audio")], BINARY, ANNOTATED, META])).since(R2025_03_26),
    define(
        "EmbeddedResource",
        "A resource with its contents.",
        object(&[
            &[kind("resource"), req("resource", either(&[one("TextResourceContents"), one("BlobResourceContents")]))],
            ANNOTATED,
            META,
        ]),
    ),
    define(
        "ResourceLink",
        "A resource that can be read elsewhere.",
        object(&[&[kind("resource_link")], NAMED, super::resources::RESOURCE]),
    )
    .since(R2025_06_18),
    define(
        "ToolUseContent",
        "A model's wish to call a tool.",
        object(&[&[kind("tool_use"), req("id", STRING), req("name", STRING), req("input", OBJECT)], META]),
    )
    .since(R2025_11_25),
    define(
        "ToolResultContent",
        "What came of a tool call that a model wished for.",
        object(&[
            &[
                kind("tool_result"),
                req("toolUseId", STRING),
                req("content", list(&refers("ContentBlock"))),
                opt("isError", BOOLEAN),
            ],
            STRUCTURED,
            META,
        ]),
    )
    .since(R2025_11_25),
];
