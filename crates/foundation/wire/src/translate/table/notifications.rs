//! Rows 53–59: notifications.

use super::{Row, absent, degraded, flight, lossless, store};

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "53",
        "Changes of lists",
        flight("The gateway subscribes once at each server and passes changes on without `subscriptionId`."),
        flight("Passed to every subscription that asked, with its `subscriptionId`. Only what a server declares is acknowledged."),
    )
    .missing("A change announced by the gateway after a broken subscription."),
    Row::new(
        "54",
        "Subscriptions to resources",
        store("Each becomes a subscription at the server, which ends with it or with the session."),
        store("Each URI becomes `resources/subscribe`; a refused one is missing in the acknowledgement."),
    )
    .missing("The acknowledgement of a server of 2026-07-28 is not awaited. `resources/unsubscribe` is not sent to older servers."),
    Row::new(
        "55",
        "`subscriptions/listen`",
        absent("Older clients have no such method."),
        flight("The acknowledgement comes first. When the gateway ends, the result comes last. One client may have several."),
    ),
    Row::new(
        "56",
        "`notifications/progress`",
        degraded("Passed under the client's token. `message` is removed for 2024-11-05. Progress that a client sends ends at the gateway."),
        degraded("The same. While a request waits for answers of its client, progress has no way."),
    )
    .instead("Progress without text, or none until the request goes on."),
    Row::new(
        "57",
        "Log messages",
        store("The level of the session goes with each request; before a level is set, none does."),
        degraded("The server's level is raised to what a request asks for. A message goes to the only request that can have caused it, at the level that it asked for."),
    )
    .instead("Messages that belong to no request are dropped and counted.")
    .missing("The level of a server is not lowered again."),
    Row::new(
        "58",
        "Cancellation",
        lossless("Over HTTP the gateway closes the request at the server; over stdio it sends `notifications/cancelled`."),
        degraded("A closed request becomes `notifications/cancelled` with the server's id. The client's reason is not passed on."),
    )
    .instead("The server reads a reason of the gateway."),
    Row::new(
        "59",
        "`notifications/roots/list_changed`",
        lossless("Ends at the gateway: the server asks for the roots in each request."),
        lossless("Clients of 2026-07-28 do not send it, and the gateway does not declare it to servers."),
    ),
];
