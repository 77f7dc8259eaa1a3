//! What everything else is made of: identifiers, metadata objects, and the members that all requests, notifications
//! and results share.

use crate::meta;
use crate::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};
use crate::shape::describe::{
    ANY, Definition, Field, INTEGER, NATURAL, OBJECT, STRING, URI, WEIGHT, alt, define, either, exactly, list, object,
    opt, refers, req, words,
};

/// The envelope of a request. Until 2025-06-18 the schemas describe requests without it.
pub(super) const REQUEST: &[Field] =
    &[req("jsonrpc", exactly("2.0")).since(R2025_11_25), req("id", refers("RequestId")).since(R2025_11_25)];

/// The envelope of a request from the server, which at 2026-07-28 travels inside a result and has none.
pub(super) const SERVER_REQUEST: &[Field] =
    &[req("jsonrpc", exactly("2.0")).only(R2025_11_25), req("id", refers("RequestId")).only(R2025_11_25)];

/// The envelope of a notification. Until 2025-06-18 the schemas describe notifications without it.
pub(super) const NOTIFICATION: &[Field] = &[req("jsonrpc", exactly("2.0")).since(R2025_11_25)];

/// The envelope of an answer, for definitions that are nothing but answers.
pub(super) const ANSWER: &[Field] = &[req("jsonrpc", exactly("2.0")), req("id", refers("RequestId"))];

/// Parameters of a client's request. Until 2025-06-18 only the general request shape mentions `_meta`.
pub(super) const REQUEST_PARAMS: &[Field] =
    &[opt("_meta", refers("RequestMetaObject")).since(R2025_11_25).required_since(R2026_07_28)];

/// Parameters of a notification.
pub(super) const NOTIFICATION_PARAMS: &[Field] = &[opt("_meta", refers("NotificationMetaObject")).since(R2025_11_25)];

/// Parameters of a request that takes a cursor.
pub(super) const PAGED: &[Field] = &[opt("cursor", STRING)];

/// What every result has.
pub(super) const RESULT: &[Field] =
    &[opt("_meta", refers("ResultMetaObject")), req("resultType", STRING).since(R2026_07_28)];

/// A result that may have more pages.
pub(super) const MORE: &[Field] = &[opt("nextCursor", STRING)];

/// A result that may be kept for a while.
pub(super) const CACHEABLE: &[Field] =
    &[req("ttlMs", NATURAL).since(R2026_07_28), req("cacheScope", words(&["public", "private"])).since(R2026_07_28)];

/// Metadata of a thing that is not a message.
pub(super) const META: &[Field] = &[opt("_meta", refers("MetaObject")).since(R2025_06_18)];

/// A name for programs and, later, a title for people.
pub(super) const NAMED: &[Field] = &[req("name", STRING), opt("title", STRING).since(R2025_06_18)];

/// Pictures that stand for a thing.
pub(super) const ICONS: &[Field] = &[opt("icons", list(&refers("Icon"))).since(R2025_11_25)];

/// The constant member that tells methods apart.
pub(super) const fn method(name: &'static str) -> Field {
    req("method", exactly(name))
}

/// The constant member that tells kinds of object apart.
pub(super) const fn kind(name: &'static str) -> Field {
    req("type", exactly(name))
}

pub(super) const SHAPES: &[Definition] = &[
    define("RequestId", "Ties an answer to its request.", either(&[alt(STRING), alt(INTEGER)])),
    define(
        "ProgressToken",
        "Ties progress notices to the request they report on.",
        either(&[alt(STRING), alt(INTEGER)]),
    ),
    define("Cursor", "An opaque place in a paged list.", STRING),
    define("Role", "Who speaks in a conversation.", words(&["user", "assistant"])),
    define("JSONValue", "Any JSON value.", ANY).since(R2026_07_28),
    define("JSONObject", "Any JSON object.", OBJECT).since(R2026_07_28),
    define("JSONArray", "Any JSON array.", list(&refers("JSONValue"))).since(R2026_07_28),
    define("MetaObject", "Metadata, keyed by prefixed names.", OBJECT).since(R2026_07_28),
    define(
        "RequestMetaObject",
        "Metadata of a request; since 2026-07-28 it says who asks and in which revision.",
        object(&[&[
            opt("progressToken", refers("ProgressToken")),
            req(meta::PROTOCOL_VERSION, STRING).since(R2026_07_28),
            req(meta::CLIENT_CAPABILITIES, refers("ClientCapabilities")).since(R2026_07_28),
            opt(meta::CLIENT_INFO, refers("Implementation")).since(R2026_07_28),
            opt(meta::LOG_LEVEL, refers("LoggingLevel")).since(R2026_07_28),
        ]]),
    )
    .since(R2026_07_28),
    define(
        "NotificationMetaObject",
        "Metadata of a notification; names the subscription it belongs to.",
        object(&[&[opt(meta::SUBSCRIPTION_ID, refers("RequestId")).since(R2026_07_28)]]),
    )
    .since(R2026_07_28),
    define(
        "ResultMetaObject",
        "Metadata of a result; may name the server that made it.",
        object(&[&[opt(meta::SERVER_INFO, refers("Implementation")).since(R2026_07_28)]]),
    )
    .since(R2026_07_28),
    define(
        "RequestParams",
        "Parameters that any request may have.",
        object(&[&[opt("_meta", refers("RequestMetaObject")).required_since(R2026_07_28)]]),
    )
    .since(R2025_11_25),
    define(
        "NotificationParams",
        "Parameters that any notification may have.",
        object(&[&[opt("_meta", refers("NotificationMetaObject"))]]),
    )
    .since(R2025_11_25),
    define("PaginatedRequestParams", "Parameters of a request for one page.", object(&[REQUEST_PARAMS, PAGED]))
        .since(R2025_11_25),
    define("Result", "What any successful answer carries.", object(&[RESULT])),
    define("EmptyResult", "A result that says no more than: done.", refers("Result")),
    define("PaginatedResult", "A result that is one page of several.", object(&[RESULT, MORE])),
    define("CacheableResult", "A result with leave to keep it for a time.", object(&[RESULT, CACHEABLE]))
        .since(R2026_07_28),
    define("ResultType", "Whether a result is final or asks for more input.", STRING).since(R2026_07_28),
    define("BaseMetadata", "A name for programs and a title for people.", object(&[NAMED])).since(R2025_06_18),
    define(
        "Annotations",
        "Hints on whom a piece of content is for and how much it matters.",
        object(&[&[
            opt("audience", list(&refers("Role"))),
            opt("priority", WEIGHT),
            opt("lastModified", STRING).since(R2025_06_18),
        ]]),
    )
    .since(R2025_03_26),
    define(
        "Icon",
        "One picture, with its type, sizes and the background it suits.",
        object(&[&[
            req("src", URI),
            opt("mimeType", STRING),
            opt("sizes", list(&STRING)),
            opt("theme", words(&["light", "dark"])),
        ]]),
    )
    .since(R2025_11_25),
    define("Icons", "The pictures that stand for a thing.", object(&[ICONS])).since(R2025_11_25),
    define(
        "Implementation",
        "The name and version of a program that speaks the protocol.",
        object(&[
            NAMED,
            ICONS,
            &[
                req("version", STRING),
                opt("description", STRING).since(R2025_11_25),
                opt("websiteUrl", URI).since(R2025_11_25),
            ],
        ]),
    ),
];
