//! How a conversation begins: the `initialize` handshake, and `server/discover` in its stead.

use super::base::{ANSWER, CACHEABLE, NOTIFICATION, REQUEST, REQUEST_PARAMS, RESULT, method};
use crate::revision::{R2025_11_25, R2026_07_28};
use crate::shape::describe::{Definition, STRING, define, list, object, opt, refers, req};

pub(super) const SHAPES: &[Definition] = &[
    define(
        "InitializeRequest",
        "Opens a session: who the client is, what it can do, which revision it would speak.",
        object(&[REQUEST, &[method("initialize"), req("params", refers("InitializeRequestParams"))]]),
    )
    .until(R2025_11_25),
    define(
        "InitializeRequestParams",
        "The client's name, capabilities and wished revision.",
        object(&[
            REQUEST_PARAMS,
            &[
                req("protocolVersion", STRING),
                req("capabilities", refers("ClientCapabilities")),
                req("clientInfo", refers("Implementation")),
            ],
        ]),
    )
    .only(R2025_11_25),
    define(
        "InitializeResult",
        "The server's name, capabilities and the revision it will speak.",
        object(&[
            RESULT,
            &[
                req("protocolVersion", STRING),
                req("capabilities", refers("ServerCapabilities")),
                req("serverInfo", refers("Implementation")),
                opt("instructions", STRING),
            ],
        ]),
    )
    .until(R2025_11_25),
    define(
        "InitializedNotification",
        "Says that the client is ready.",
        object(&[NOTIFICATION, &[method("notifications/initialized"), opt("params", refers("NotificationParams"))]]),
    )
    .until(R2025_11_25),
    define(
        "DiscoverRequest",
        "Asks a server what it is and can do.",
        object(&[REQUEST, &[method("server/discover"), req("params", refers("RequestParams"))]]),
    )
    .since(R2026_07_28),
    define(
        "DiscoverResult",
        "What the server can do, and the revisions it speaks.",
        object(&[
            RESULT,
            CACHEABLE,
            &[
                req("supportedVersions", list(&STRING)),
                req("capabilities", refers("ServerCapabilities")),
                opt("instructions", STRING),
            ],
        ]),
    )
    .since(R2026_07_28),
    define(
        "DiscoverResultResponse",
        "The whole answer to server/discover.",
        object(&[ANSWER, &[req("result", refers("DiscoverResult"))]]),
    )
    .since(R2026_07_28),
];
