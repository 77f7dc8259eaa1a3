//! JSON-RPC as the schemas describe it, and the unions of everything that either side may send.

use super::base::{ANSWER, NOTIFICATION, NOTIFICATION_PARAMS, REQUEST, method};
use crate::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};
use crate::shape::describe::{
    Definition, Field, NUMBER, OBJECT, STRING, define, either, exactly, list, object, one, opt, refers, req,
};

/// The parameters of a request whose method is not known. Until 2025-06-18 a progress token in them is described.
const LOOSE_REQUEST: &[Field] = &[
    req("method", STRING),
    opt("params", refers("RequestParams")).until(R2025_06_18),
    opt("params", OBJECT).since(R2025_11_25),
];

/// The parameters of a notification whose method is not known.
const LOOSE_NOTIFICATION: &[Field] = &[
    req("method", STRING),
    opt("params", refers("NotificationParams")).until(R2025_06_18),
    opt("params", OBJECT).since(R2025_11_25),
];

pub(super) const SHAPES: &[Definition] = &[
    define("Request", "A request of any method.", object(&[LOOSE_REQUEST])),
    define("Notification", "A notification of any method.", object(&[LOOSE_NOTIFICATION])),
    define(
        "PaginatedRequest",
        "A request for one page of a list.",
        object(&[
            REQUEST,
            &[req("method", STRING), opt("params", refers("PaginatedRequestParams")).required_since(R2026_07_28)],
        ]),
    ),
    define("JSONRPCRequest", "A request in its JSON-RPC envelope.", object(&[ANSWER, LOOSE_REQUEST])),
    define(
        "JSONRPCNotification",
        "A notification in its JSON-RPC envelope.",
        object(&[&[req("jsonrpc", exactly("2.0"))], LOOSE_NOTIFICATION]),
    ),
    define(
        "JSONRPCResultResponse",
        "The answer to a request that succeeded.",
        object(&[ANSWER, &[req("result", refers("Result"))]]),
    )
    .since(R2025_11_25),
    define(
        "JSONRPCErrorResponse",
        "The answer to a request that failed; the id may be missing where it could not be read.",
        object(&[&[
            req("jsonrpc", exactly("2.0")),
            opt("id", refers("RequestId")).required_until(R2025_06_18),
            req("error", refers("Error")),
        ]]),
    )
    .since(R2025_11_25),
    define("JSONRPCError", "The answer to a request that failed.", refers("JSONRPCErrorResponse")).until(R2025_06_18),
    define(
        "JSONRPCResponse",
        "The answer to a request.",
        either(&[one("JSONRPCResultResponse"), one("JSONRPCErrorResponse").since(R2025_11_25)]),
    ),
    define(
        "JSONRPCBatchRequest",
        "Several requests and notifications in one message.",
        list(&either(&[one("JSONRPCRequest"), one("JSONRPCNotification")])),
    )
    .only(R2025_03_26),
    define(
        "JSONRPCBatchResponse",
        "Several answers in one message.",
        list(&either(&[one("JSONRPCResponse"), one("JSONRPCError")])),
    )
    .only(R2025_03_26),
    define(
        "JSONRPCMessage",
        "Anything that may cross the wire.",
        either(&[
            one("JSONRPCRequest"),
            one("JSONRPCNotification"),
            one("JSONRPCResultResponse"),
            one("JSONRPCErrorResponse"),
            one("JSONRPCBatchRequest").only(R2025_03_26),
            one("JSONRPCBatchResponse").only(R2025_03_26),
        ]),
    ),
    define(
        "PingRequest",
        "Asks whether the other side still answers.",
        object(&[REQUEST, &[method("ping"), opt("params", refers("RequestParams"))]]),
    )
    .until(R2025_11_25),
    define(
        "CancelledNotification",
        "Says that the sender no longer wants the answer to a request.",
        object(&[
            NOTIFICATION,
            &[method("notifications/cancelled"), req("params", refers("CancelledNotificationParams"))],
        ]),
    ),
    define(
        "CancelledNotificationParams",
        "Which request is given up, and why; at 2025-11-25 the request may go unnamed, for tasks.",
        object(&[NOTIFICATION_PARAMS, REQUEST_GIVEN_UP, &[opt("reason", STRING)]]),
    )
    .since(R2025_11_25),
    define(
        "ProgressNotification",
        "Says how far a long request has come.",
        object(&[
            NOTIFICATION,
            &[method("notifications/progress"), req("params", refers("ProgressNotificationParams"))],
        ]),
    ),
    define(
        "ProgressNotificationParams",
        "Which request, how far it has come, and of how much.",
        object(&[
            NOTIFICATION_PARAMS,
            &[
                req("progressToken", refers("ProgressToken")),
                req("progress", NUMBER),
                opt("total", NUMBER),
                opt("message", STRING).since(R2025_03_26),
            ],
        ]),
    )
    .since(R2025_11_25),
    define(
        "ClientRequest",
        "Any request that a client sends.",
        either(&[
            one("InitializeRequest").until(R2025_11_25),
            one("PingRequest").until(R2025_11_25),
            one("DiscoverRequest").since(R2026_07_28),
            one("ListResourcesRequest"),
            one("ListResourceTemplatesRequest"),
            one("ReadResourceRequest"),
            one("SubscribeRequest").until(R2025_11_25),
            one("UnsubscribeRequest").until(R2025_11_25),
            one("SubscriptionsListenRequest").since(R2026_07_28),
            one("ListPromptsRequest"),
            one("GetPromptRequest"),
            one("ListToolsRequest"),
            one("CallToolRequest"),
            one("GetTaskRequest").only(R2025_11_25),
            one("GetTaskPayloadRequest").only(R2025_11_25),
            one("CancelTaskRequest").only(R2025_11_25),
            one("ListTasksRequest").only(R2025_11_25),
            one("SetLevelRequest").until(R2025_11_25),
            one("CompleteRequest"),
        ]),
    ),
    define(
        "ClientNotification",
        "Any notification that a client sends.",
        either(&[
            one("CancelledNotification"),
            one("InitializedNotification").until(R2025_11_25),
            one("ProgressNotification").until(R2025_11_25),
            one("TaskStatusNotification").only(R2025_11_25),
            one("RootsListChangedNotification").until(R2025_11_25),
        ]),
    ),
    define(
        "ClientResult",
        "Any result that a client answers with.",
        either(&[
            one("Result"),
            one("GetTaskResult").only(R2025_11_25),
            one("GetTaskPayloadResult").only(R2025_11_25),
            one("CancelTaskResult").only(R2025_11_25),
            one("ListTasksResult").only(R2025_11_25),
            one("CreateMessageResult").until(R2025_11_25),
            one("ListRootsResult").until(R2025_11_25),
            one("ElicitResult").since(R2025_06_18).until(R2025_11_25),
        ]),
    ),
    define(
        "ServerRequest",
        "Any request that a server sends.",
        either(&[
            one("PingRequest"),
            one("GetTaskRequest").only(R2025_11_25),
            one("GetTaskPayloadRequest").only(R2025_11_25),
            one("CancelTaskRequest").only(R2025_11_25),
            one("ListTasksRequest").only(R2025_11_25),
            one("CreateMessageRequest"),
            one("ListRootsRequest"),
            one("ElicitRequest").since(R2025_06_18),
        ]),
    )
    .until(R2025_11_25),
    define(
        "ServerNotification",
        "Any notification that a server sends.",
        either(&[
            one("CancelledNotification"),
            one("ProgressNotification"),
            one("ResourceListChangedNotification"),
            one("ResourceUpdatedNotification"),
            one("PromptListChangedNotification"),
            one("ToolListChangedNotification"),
            one("LoggingMessageNotification"),
            one("TaskStatusNotification").only(R2025_11_25),
            one("ElicitationCompleteNotification").only(R2025_11_25),
            one("SubscriptionsAcknowledgedNotification").since(R2026_07_28),
        ]),
    ),
    define(
        "ServerResult",
        "Any result that a server answers with.",
        either(&[
            one("Result"),
            one("InitializeResult").until(R2025_11_25),
            one("InputRequiredResult").since(R2026_07_28),
            one("DiscoverResult").since(R2026_07_28),
            one("ListResourcesResult"),
            one("ListResourceTemplatesResult"),
            one("ReadResourceResult"),
            one("SubscriptionsListenResult").since(R2026_07_28),
            one("ListPromptsResult"),
            one("GetPromptResult"),
            one("ListToolsResult"),
            one("CallToolResult"),
            one("GetTaskResult").only(R2025_11_25),
            one("GetTaskPayloadResult").only(R2025_11_25),
            one("CancelTaskResult").only(R2025_11_25),
            one("ListTasksResult").only(R2025_11_25),
            one("CompleteResult"),
        ]),
    ),
];

/// The request that a cancellation is about: required, but for the one revision that also cancels tasks.
const REQUEST_GIVEN_UP: &[Field] = &[
    req("requestId", refers("RequestId")).until(R2025_06_18),
    opt("requestId", refers("RequestId")).only(R2025_11_25),
    req("requestId", refers("RequestId")).since(R2026_07_28),
];
