//! Log messages, and the level from which they are wanted.

use super::base::{NOTIFICATION, NOTIFICATION_PARAMS, REQUEST, REQUEST_PARAMS, method};
use crate::revision::R2025_11_25;
use crate::shape::describe::{ANY, Definition, STRING, define, object, opt, refers, req, words};

pub(super) const SHAPES: &[Definition] = &[
    define(
        "LoggingLevel",
        "How grave a log message is, as in syslog.",
        words(&["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]),
    ),
    define(
        "SetLevelRequest",
        "Asks for log messages of this gravity and above.",
        object(&[REQUEST, &[method("logging/setLevel"), req("params", refers("SetLevelRequestParams"))]]),
    )
    .until(R2025_11_25),
    define(
        "SetLevelRequestParams",
        "The least gravity that is wanted.",
        object(&[REQUEST_PARAMS, &[req("level", refers("LoggingLevel"))]]),
    )
    .only(R2025_11_25),
    define(
        "LoggingMessageNotification",
        "One log message.",
        object(&[
            NOTIFICATION,
            &[method("notifications/message"), req("params", refers("LoggingMessageNotificationParams"))],
        ]),
    ),
    define(
        "LoggingMessageNotificationParams",
        "How grave it is, who says it, and what.",
        object(&[
            NOTIFICATION_PARAMS,
            &[req("level", refers("LoggingLevel")), opt("logger", STRING), req("data", ANY)],
        ]),
    )
    .since(R2025_11_25),
];
