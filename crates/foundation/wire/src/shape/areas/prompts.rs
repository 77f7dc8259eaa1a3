//! Prompts: their list, and the messages that one of them becomes.

use super::base::{ANSWER, CACHEABLE, ICONS, META, MORE, NAMED, NOTIFICATION, REQUEST, REQUEST_PARAMS, RESULT, method};
use super::rounds::RETRIED;
use crate::revision::{R2025_11_25, R2026_07_28};
use crate::shape::describe::{BOOLEAN, Definition, STRING, define, either, list, map, object, one, opt, refers, req};

pub(super) const SHAPES: &[Definition] = &[
    define(
        "Prompt",
        "A template for messages that a user may choose.",
        object(&[NAMED, ICONS, &[opt("description", STRING), opt("arguments", list(&refers("PromptArgument")))], META]),
    ),
    define(
        "PromptArgument",
        "A blank that a prompt has filled in.",
        object(&[NAMED, &[opt("description", STRING), opt("required", BOOLEAN)]]),
    ),
    define(
        "PromptMessage",
        "One message of a prompt.",
        object(&[&[req("role", refers("Role")), req("content", refers("ContentBlock"))]]),
    ),
    define(
        "ListPromptsRequest",
        "Asks for the prompts.",
        object(&[
            REQUEST,
            &[method("prompts/list"), opt("params", refers("PaginatedRequestParams")).required_since(R2026_07_28)],
        ]),
    ),
    define(
        "ListPromptsResult",
        "One page of the prompts.",
        object(&[RESULT, MORE, CACHEABLE, &[req("prompts", list(&refers("Prompt")))]]),
    ),
    define(
        "ListPromptsResultResponse",
        "The whole answer to prompts/list.",
        object(&[ANSWER, &[req("result", refers("ListPromptsResult"))]]),
    )
    .since(R2026_07_28),
    define(
        "GetPromptRequest",
        "Asks for a prompt with its blanks filled in.",
        object(&[REQUEST, &[method("prompts/get"), req("params", refers("GetPromptRequestParams"))]]),
    ),
    define(
        "GetPromptRequestParams",
        "Which prompt, and what goes into its blanks.",
        object(&[REQUEST_PARAMS, RETRIED, &[req("name", STRING), opt("arguments", map(&STRING))]]),
    )
    .since(R2025_11_25),
    define(
        "GetPromptResult",
        "The messages that the prompt became.",
        object(&[RESULT, &[opt("description", STRING), req("messages", list(&refers("PromptMessage")))]]),
    ),
    define(
        "GetPromptResultResponse",
        "The whole answer to prompts/get.",
        object(&[ANSWER, &[req("result", either(&[one("InputRequiredResult"), one("GetPromptResult")]))]]),
    )
    .since(R2026_07_28),
    define(
        "PromptListChangedNotification",
        "Says that the list of prompts is out of date.",
        object(&[
            NOTIFICATION,
            &[method("notifications/prompts/list_changed"), opt("params", refers("NotificationParams"))],
        ]),
    ),
];
