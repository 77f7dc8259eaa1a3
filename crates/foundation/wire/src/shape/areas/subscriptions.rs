//! `subscriptions/listen`: one long request in whose stream the server's notifications come, since 2026-07-28.

use super::base::{ANSWER, NOTIFICATION, NOTIFICATION_PARAMS, REQUEST, REQUEST_PARAMS, method};
use crate::meta;
use crate::revision::R2026_07_28;
use crate::shape::describe::{BOOLEAN, Definition, Field, STRING, define, list, object, opt, refers, req};

/// The notifications that are wanted, or granted.
const WANTED: &[Field] = &[req("notifications", refers("SubscriptionFilter"))];

pub(super) const SHAPES: &[Definition] = &[
    define(
        "SubscriptionFilter",
        "Which notifications are meant.",
        object(&[&[
            opt("toolsListChanged", BOOLEAN),
            opt("promptsListChanged", BOOLEAN),
            opt("resourcesListChanged", BOOLEAN),
            opt("resourceSubscriptions", list(&STRING)),
        ]]),
    )
    .since(R2026_07_28),
    define(
        "SubscriptionsListenRequest",
        "Asks for notifications until further notice.",
        object(&[
            REQUEST,
            &[method("subscriptions/listen"), req("params", refers("SubscriptionsListenRequestParams"))],
        ]),
    )
    .since(R2026_07_28),
    define("SubscriptionsListenRequestParams", "Which notifications are wanted.", object(&[REQUEST_PARAMS, WANTED]))
        .since(R2026_07_28),
    define(
        "SubscriptionsListenResult",
        "Says that the subscription has ended.",
        object(&[&[req("_meta", refers("SubscriptionsListenResultMetaObject")), req("resultType", STRING)]]),
    )
    .since(R2026_07_28),
    define(
        "SubscriptionsListenResultMetaObject",
        "Names the subscription that has ended.",
        object(&[&[req(meta::SUBSCRIPTION_ID, refers("RequestId")), opt(meta::SERVER_INFO, refers("Implementation"))]]),
    )
    .since(R2026_07_28),
    define(
        "SubscriptionsListenResultResponse",
        "The whole answer to subscriptions/listen.",
        object(&[ANSWER, &[req("result", refers("SubscriptionsListenResult"))]]),
    )
    .since(R2026_07_28),
    define(
        "SubscriptionsAcknowledgedNotification",
        "Opens a subscription's stream.",
        object(&[
            NOTIFICATION,
            &[
                method("notifications/subscriptions/acknowledged"),
                req("params", refers("SubscriptionsAcknowledgedNotificationParams")),
            ],
        ]),
    )
    .since(R2026_07_28),
    define(
        "SubscriptionsAcknowledgedNotificationParams",
        "Which of the wanted notifications will come.",
        object(&[NOTIFICATION_PARAMS, WANTED]),
    )
    .since(R2026_07_28),
];
