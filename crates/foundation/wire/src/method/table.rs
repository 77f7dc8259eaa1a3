//! The rows of the method table, in the order in which a reader of the specification meets them.

use super::{Capability, Direction, End, Form, Method};
use crate::revision::{R2024_11_05, R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28, Revision};

/// Every method and notification of every revision. The tasks extension of 2026-07-28 is not a part of the core protocol
/// and not in here.
pub const METHODS: &[Method] = &[
    // Beginning and base protocol.
    request("initialize", "InitializeRequest")
        .params("InitializeRequestParams")
        .result("InitializeResult")
        .gone(R2026_07_28),
    notification("notifications/initialized", "InitializedNotification").params("NotificationParams").gone(R2026_07_28),
    request("server/discover", "DiscoverRequest").params("RequestParams").result("DiscoverResult").since(R2026_07_28),
    request("ping", "PingRequest").params("RequestParams").result("EmptyResult").both().gone(R2026_07_28),
    notification("notifications/cancelled", "CancelledNotification").params("CancelledNotificationParams").both(),
    notification("notifications/progress", "ProgressNotification")
        .params("ProgressNotificationParams")
        .both()
        .gone(R2026_07_28),
    notification("notifications/progress", "ProgressNotification")
        .params("ProgressNotificationParams")
        .to_client()
        .since(R2026_07_28),
    request("subscriptions/listen", "SubscriptionsListenRequest")
        .params("SubscriptionsListenRequestParams")
        .result("SubscriptionsListenResult")
        .since(R2026_07_28),
    notification("notifications/subscriptions/acknowledged", "SubscriptionsAcknowledgedNotification")
        .params("SubscriptionsAcknowledgedNotificationParams")
        .to_client()
        .since(R2026_07_28),
    // Tasks: either party may ask, whoever executes the task declares.
    request("tasks/get", "GetTaskRequest")
        .result("GetTaskResult")
        .both()
        .since(R2025_11_25)
        .gone(R2026_07_28)
        .needs("tasks"),
    request("tasks/result", "GetTaskPayloadRequest")
        .result("GetTaskPayloadResult")
        .both()
        .since(R2025_11_25)
        .gone(R2026_07_28)
        .needs("tasks"),
    request("tasks/cancel", "CancelTaskRequest")
        .result("CancelTaskResult")
        .both()
        .since(R2025_11_25)
        .gone(R2026_07_28)
        .needs("tasks.cancel"),
    request("tasks/list", "ListTasksRequest")
        .params("PaginatedRequestParams")
        .result("ListTasksResult")
        .both()
        .since(R2025_11_25)
        .gone(R2026_07_28)
        .needs("tasks.list")
        .paginated(),
    notification("notifications/tasks/status", "TaskStatusNotification")
        .params("TaskStatusNotificationParams")
        .both()
        .since(R2025_11_25)
        .gone(R2026_07_28)
        .declares("tasks"),
    // Tools.
    request("tools/list", "ListToolsRequest")
        .params("PaginatedRequestParams")
        .result("ListToolsResult")
        .needs("tools")
        .paginated(),
    request("tools/call", "CallToolRequest")
        .params("CallToolRequestParams")
        .result("CallToolResult")
        .needs("tools")
        .instead(&[(R2025_11_25, "CreateTaskResult"), (R2026_07_28, "InputRequiredResult")]),
    notification("notifications/tools/list_changed", "ToolListChangedNotification")
        .params("NotificationParams")
        .to_client()
        .declares("tools.listChanged"),
    // Resources.
    request("resources/list", "ListResourcesRequest")
        .params("PaginatedRequestParams")
        .result("ListResourcesResult")
        .needs("resources")
        .paginated(),
    request("resources/templates/list", "ListResourceTemplatesRequest")
        .params("PaginatedRequestParams")
        .result("ListResourceTemplatesResult")
        .needs("resources")
        .paginated(),
    request("resources/read", "ReadResourceRequest")
        .params("ReadResourceRequestParams")
        .result("ReadResourceResult")
        .needs("resources")
        .instead(&[(R2026_07_28, "InputRequiredResult")]),
    request("resources/subscribe", "SubscribeRequest")
        .params("SubscribeRequestParams")
        .result("EmptyResult")
        .gone(R2026_07_28)
        .needs("resources.subscribe"),
    request("resources/unsubscribe", "UnsubscribeRequest")
        .params("UnsubscribeRequestParams")
        .result("EmptyResult")
        .gone(R2026_07_28)
        .needs("resources.subscribe"),
    notification("notifications/resources/updated", "ResourceUpdatedNotification")
        .params("ResourceUpdatedNotificationParams")
        .to_client()
        .declares("resources.subscribe"),
    notification("notifications/resources/list_changed", "ResourceListChangedNotification")
        .params("NotificationParams")
        .to_client()
        .declares("resources.listChanged"),
    // Prompts.
    request("prompts/list", "ListPromptsRequest")
        .params("PaginatedRequestParams")
        .result("ListPromptsResult")
        .needs("prompts")
        .paginated(),
    request("prompts/get", "GetPromptRequest")
        .params("GetPromptRequestParams")
        .result("GetPromptResult")
        .needs("prompts")
        .instead(&[(R2026_07_28, "InputRequiredResult")]),
    notification("notifications/prompts/list_changed", "PromptListChangedNotification")
        .params("NotificationParams")
        .to_client()
        .declares("prompts.listChanged"),
    // Completion and logging.
    request("completion/complete", "CompleteRequest")
        .params("CompleteRequestParams")
        .result("CompleteResult")
        .needs_since(R2025_03_26, "completions"),
    request("logging/setLevel", "SetLevelRequest")
        .params("SetLevelRequestParams")
        .result("EmptyResult")
        .gone(R2026_07_28)
        .needs("logging"),
    notification("notifications/message", "LoggingMessageNotification")
        .params("LoggingMessageNotificationParams")
        .to_client()
        .declares("logging"),
    // What servers ask of clients: requests in the legacy era, inputs in the modern one.
    request("roots/list", "ListRootsRequest")
        .params("RequestParams")
        .result("ListRootsResult")
        .to_client()
        .gone(R2026_07_28)
        .needs("roots"),
    input("roots/list", "ListRootsRequest").result("ListRootsResult").since(R2026_07_28).needs("roots"),
    request("sampling/createMessage", "CreateMessageRequest")
        .params("CreateMessageRequestParams")
        .result("CreateMessageResult")
        .to_client()
        .gone(R2026_07_28)
        .needs("sampling")
        .instead(&[(R2025_11_25, "CreateTaskResult")]),
    input("sampling/createMessage", "CreateMessageRequest")
        .params("CreateMessageRequestParams")
        .result("CreateMessageResult")
        .since(R2026_07_28)
        .needs("sampling"),
    request("elicitation/create", "ElicitRequest")
        .params("ElicitRequestParams")
        .result("ElicitResult")
        .to_client()
        .since(R2025_06_18)
        .gone(R2026_07_28)
        .needs("elicitation")
        .instead(&[(R2025_11_25, "CreateTaskResult")]),
    input("elicitation/create", "ElicitRequest")
        .params("ElicitRequestParams")
        .result("ElicitResult")
        .since(R2026_07_28)
        .needs("elicitation"),
    notification("notifications/roots/list_changed", "RootsListChangedNotification")
        .params("NotificationParams")
        .gone(R2026_07_28)
        .declares("roots.listChanged"),
    notification("notifications/elicitation/complete", "ElicitationCompleteNotification")
        .to_client()
        .since(R2025_11_25)
        .gone(R2026_07_28)
        .needs("elicitation.url"),
];

const fn method(form: Form, direction: Direction, name: &'static str, definition: &'static str) -> Method {
    Method {
        name,
        form,
        direction,
        definition,
        params: None,
        result: None,
        instead: &[],
        since: R2024_11_05,
        gone: None,
        capability: None,
        paginated: false,
    }
}

/// A request of the client's, unless said otherwise.
const fn request(name: &'static str, definition: &'static str) -> Method {
    method(Form::Request, Direction::ToServer, name, definition)
}

/// A notification of the client's, unless said otherwise.
const fn notification(name: &'static str, definition: &'static str) -> Method {
    method(Form::Notification, Direction::ToServer, name, definition)
}

const fn input(name: &'static str, definition: &'static str) -> Method {
    method(Form::Input, Direction::ToClient, name, definition)
}

impl Method {
    const fn to_client(self) -> Self {
        Self { direction: Direction::ToClient, ..self }
    }

    const fn both(self) -> Self {
        Self { direction: Direction::Both, ..self }
    }

    const fn params(self, definition: &'static str) -> Self {
        Self { params: Some(definition), ..self }
    }

    const fn result(self, definition: &'static str) -> Self {
        Self { result: Some(definition), ..self }
    }

    const fn instead(self, instead: &'static [(Revision, &'static str)]) -> Self {
        Self { instead, ..self }
    }

    const fn since(self, since: Revision) -> Self {
        Self { since, ..self }
    }

    const fn gone(self, gone: Revision) -> Self {
        Self { gone: Some(gone), ..self }
    }

    /// The receiver must have declared `path`.
    const fn needs(self, path: &'static str) -> Self {
        self.needs_since(R2024_11_05, path)
    }

    const fn needs_since(self, since: Revision, path: &'static str) -> Self {
        Self { capability: Some(Capability { of: End::Receiver, path, since }), ..self }
    }

    /// The sender must have declared `path`.
    const fn declares(self, path: &'static str) -> Self {
        Self { capability: Some(Capability { of: End::Sender, path, since: R2024_11_05 }), ..self }
    }

    const fn paginated(self) -> Self {
        Self { paginated: true, ..self }
    }
}
