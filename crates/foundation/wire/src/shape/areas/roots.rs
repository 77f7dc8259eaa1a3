//! Roots: the places in the file system that a client lets a server see.

use super::base::{META, NOTIFICATION, SERVER_REQUEST, method};
use crate::revision::{R2025_11_25, R2026_07_28};
use crate::shape::describe::{Definition, STRING, URI, define, list, object, opt, refers, req};

pub(super) const SHAPES: &[Definition] = &[
    define("Root", "One place that the server may work in.", object(&[&[req("uri", URI), opt("name", STRING)], META])),
    define(
        "ListRootsRequest",
        "Asks for the roots.",
        object(&[
            SERVER_REQUEST,
            &[
                method("roots/list"),
                opt("params", refers("RequestParams")).until(R2025_11_25),
                opt("params", object(&[META])).since(R2026_07_28),
            ],
        ]),
    ),
    define(
        "ListRootsResult",
        "The roots.",
        object(&[&[opt("_meta", refers("MetaObject")).until(R2025_11_25), req("roots", list(&refers("Root")))]]),
    ),
    define(
        "RootsListChangedNotification",
        "Says that the list of roots is out of date.",
        object(&[
            NOTIFICATION,
            &[method("notifications/roots/list_changed"), opt("params", refers("NotificationParams"))],
        ]),
    )
    .until(R2025_11_25),
];
