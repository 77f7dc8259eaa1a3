//! Resources: their lists, their contents, subscriptions to them (until 2025-11-25).

use super::base::{
    ANSWER, CACHEABLE, ICONS, META, MORE, NAMED, NOTIFICATION, NOTIFICATION_PARAMS, REQUEST, REQUEST_PARAMS, RESULT,
    method,
};
use super::content::ANNOTATED;
use super::rounds::RETRIED;
use crate::revision::{R2025_06_18, R2025_11_25, R2026_07_28};
use crate::shape::describe::{
    BASE64, Definition, Field, INTEGER, STRING, URI, URI_TEMPLATE, define, either, list, object, one, opt, refers, req,
};

/// What is said of a resource without reading it, its name aside.
pub(super) const RESOURCE: &[Field] = &[
    req("uri", URI),
    opt("description", STRING),
    opt("mimeType", STRING),
    opt("size", INTEGER),
    opt("icons", list(&refers("Icon"))).since(R2025_11_25),
    opt("annotations", refers("Annotations")),
    opt("_meta", refers("MetaObject")).since(R2025_06_18),
];

/// Which resource contents belong to, and of what type they are.
const CONTENTS: &[Field] = &[req("uri", URI), opt("mimeType", STRING)];

/// The resource that a request is about.
const WHICH: &[Field] = &[req("uri", URI)];

pub(super) const SHAPES: &[Definition] = &[
    define("Resource", "Something that can be read.", object(&[NAMED, RESOURCE])),
    define(
        "ResourceTemplate",
        "A family of resources, addressed by a pattern.",
        object(&[
            NAMED,
            ICONS,
            &[req("uriTemplate", URI_TEMPLATE), opt("description", STRING), opt("mimeType", STRING)],
            ANNOTATED,
            META,
        ]),
    ),
    define("ResourceContents", "What contents of any kind have in common.", object(&[CONTENTS, META])),
    define("TextResourceContents", "Contents that are text.", object(&[CONTENTS, &[req("text", STRING)], META])),
    define("BlobResourceContents", "Contents that are bytes.", object(&[CONTENTS, &[req("blob", BASE64)], META])),
    define(
        "ListResourcesRequest",
        "Asks for the resources.",
        object(&[
            REQUEST,
            &[method("resources/list"), opt("params", refers("PaginatedRequestParams")).required_since(R2026_07_28)],
        ]),
    ),
    define(
        "ListResourcesResult",
        "One page of the resources.",
        object(&[RESULT, MORE, CACHEABLE, &[req("resources", list(&refers("Resource")))]]),
    ),
    define(
        "ListResourcesResultResponse",
        "The whole answer to resources/list.",
        object(&[ANSWER, &[req("result", refers("ListResourcesResult"))]]),
    )
    .since(R2026_07_28),
    define(
        "ListResourceTemplatesRequest",
        "Asks for the resource templates.",
        object(&[
            REQUEST,
            &[
                method("resources/templates/list"),
                opt("params", refers("PaginatedRequestParams")).required_since(R2026_07_28),
            ],
        ]),
    ),
    define(
        "ListResourceTemplatesResult",
        "One page of the resource templates.",
        object(&[RESULT, MORE, CACHEABLE, &[req("resourceTemplates", list(&refers("ResourceTemplate")))]]),
    ),
    define(
        "ListResourceTemplatesResultResponse",
        "The whole answer to resources/templates/list.",
        object(&[ANSWER, &[req("result", refers("ListResourceTemplatesResult"))]]),
    )
    .since(R2026_07_28),
    define("ResourceRequestParams", "Parameters of a request about one resource.", object(&[REQUEST_PARAMS, WHICH]))
        .since(R2025_11_25),
    define(
        "ReadResourceRequest",
        "Asks for the contents of a resource.",
        object(&[REQUEST, &[method("resources/read"), req("params", refers("ReadResourceRequestParams"))]]),
    ),
    define("ReadResourceRequestParams", "Which resource to read.", object(&[REQUEST_PARAMS, RETRIED, WHICH]))
        .since(R2025_11_25),
    define(
        "ReadResourceResult",
        "The contents of a resource.",
        object(&[
            RESULT,
            CACHEABLE,
            &[req("contents", list(&either(&[one("TextResourceContents"), one("BlobResourceContents")])))],
        ]),
    ),
    define(
        "ReadResourceResultResponse",
        "The whole answer to resources/read.",
        object(&[ANSWER, &[req("result", either(&[one("InputRequiredResult"), one("ReadResourceResult")]))]]),
    )
    .since(R2026_07_28),
    define(
        "SubscribeRequest",
        "Asks to be told when a resource changes.",
        object(&[REQUEST, &[method("resources/subscribe"), req("params", refers("SubscribeRequestParams"))]]),
    )
    .until(R2025_11_25),
    define("SubscribeRequestParams", "Which resource to watch.", object(&[REQUEST_PARAMS, WHICH])).only(R2025_11_25),
    define(
        "UnsubscribeRequest",
        "Asks not to be told any more.",
        object(&[REQUEST, &[method("resources/unsubscribe"), req("params", refers("UnsubscribeRequestParams"))]]),
    )
    .until(R2025_11_25),
    define("UnsubscribeRequestParams", "Which resource to watch no more.", object(&[REQUEST_PARAMS, WHICH]))
        .only(R2025_11_25),
    define(
        "ResourceListChangedNotification",
        "Says that the list of resources is out of date.",
        object(&[
            NOTIFICATION,
            &[method("notifications/resources/list_changed"), opt("params", refers("NotificationParams"))],
        ]),
    ),
    define(
        "ResourceUpdatedNotification",
        "Says that a watched resource has changed.",
        object(&[
            NOTIFICATION,
            &[method("notifications/resources/updated"), req("params", refers("ResourceUpdatedNotificationParams"))],
        ]),
    ),
    define("ResourceUpdatedNotificationParams", "Which resource has changed.", object(&[NOTIFICATION_PARAMS, WHICH]))
        .since(R2025_11_25),
];
