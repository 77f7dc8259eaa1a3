//! Faults of progress, cancellation, logging and subscriptions.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use net::service::{Link, Reply};
use serde_json::{Value, json};
use wire::meta::SUBSCRIPTION_ID;

use super::{Fault, Kind, ServiceRequest, drop_member, fault};

const PROGRESS: &str = "notifications/progress";
const UPDATED: &str = "notifications/resources/updated";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

pub(super) const FAULTS: &[&Fault] = &[
    &fault(
        "cut-call-goes-on",
        "http.closed-stream-cancels",
        "progress of calls whose streams were closed is reported to those that come after",
        Kind::Handles(report_on_cut),
    )
    .breaks_too(&["http.stream-messages-relate", "progress.known-tokens"])
    .modern()
    .http(),
    &fault(
        "cancels-call",
        "cancellation.only-for-subscriptions",
        "completions are preceded by a cancellation of the very request",
        Kind::Handles(|asked, link, reply| {
            if asked.is("completion/complete") {
                let _ = link.notify("notifications/cancelled", json!({ "requestId": asked.message["id"] }));
            }
            reply
        }),
    )
    .modern(),
    &fault(
        "cancels-the-unasked",
        "cancellation.own-requests-only",
        "each tool call brings the cancellation of a request that was never made",
        Kind::Handles(|asked, link, reply| {
            if asked.is("tools/call") && asked.context.session.as_ref().is_some_and(|session| session.is_ready()) {
                let _ = link.notify("notifications/cancelled", json!({ "requestId": "nobodys" }));
            }
            reply
        }),
    )
    .legacy(),
    &fault(
        "progress-stands-still",
        "progress.increases",
        "every report of progress tells the same",
        Kind::SideMessage(PROGRESS, |message| message["params"]["progress"] = json!(1)),
    ),
    &fault(
        "progress-token-unknown",
        "progress.known-tokens",
        "progress is reported for an unknown token",
        Kind::SideMessage(PROGRESS, |message| message["params"]["progressToken"] = json!("nobodys")),
    )
    .breaks_too(&["http.not-broadcast"]),
    &fault(
        "progress-after-answer",
        "progress.stops",
        "progress is reported once more after the answer",
        Kind::Handles(progress_later),
    )
    .stdio(),
    CANCELLATION_IGNORED,
    &fault(
        "log-level-ignored",
        "logging.level-honoured",
        "log messages are sent at every level, whatever was requested",
        Kind::Several(&[
            Kind::Receives(|heard| {
                if heard.is("logging/setLevel") && is_level(&heard.message["params"]["level"]) {
                    heard.message["params"]["level"] = json!("debug");
                }
            }),
            Kind::SideMessage("notifications/message", |message| message["params"]["level"] = json!("debug")),
        ]),
    ),
    &fault(
        "log-unasked",
        "logging.only-when-asked",
        "a log message is sent for each tool call, asked for or not",
        Kind::Handles(|asked, link, reply| {
            if asked.is("tools/call") {
                let _ = link.notify("notifications/message", json!({ "level": "info", "data": "A tool is called" }));
            }
            reply
        }),
    )
    .breaks_too(&["http.header-failure-answer", "http.missing-capability-400", "logging.level-honoured"])
    .modern(),
    &fault(
        "log-level-any",
        "logging.invalid-level-refused",
        "a log level that does not exist is taken for `debug`",
        Kind::Receives(|heard| {
            if heard.is("logging/setLevel") && !is_level(&heard.message["params"]["level"]) {
                heard.message["params"]["level"] = json!("debug");
            }
            if heard.is_modern() && !heard.meta("logLevel").is_null() && !is_level(heard.meta("logLevel")) {
                heard.set_meta("logLevel", json!("debug"));
            }
        }),
    ),
    &fault(
        "log-on-subscription",
        "logging.not-on-subscriptions",
        "a log message is sent on each subscription",
        Kind::SideMessages(|_, message| {
            if message["method"] != ACKNOWLEDGED {
                return vec![message];
            }
            let params = json!({ "_meta": message["params"]["_meta"], "level": "info", "data": "Subscribed" });
            vec![message, json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params })]
        }),
    )
    .breaks_too(&["logging.only-when-asked", "task-extension.no-progress-on-subscription"])
    .modern(),
    &fault(
        "subscription-not-acknowledged",
        "subscriptions.acknowledged",
        "subscriptions are not acknowledged",
        Kind::SideMessages(|_, message| if message["method"] == ACKNOWLEDGED { Vec::new() } else { vec![message] }),
    )
    .breaks_too(&["subscriptions.acknowledged-first"])
    .modern(),
    &fault(
        "subscription-acknowledged-late",
        "subscriptions.acknowledged-first",
        "a change is announced before the subscription is acknowledged",
        Kind::SideMessages(|_, message| {
            if message["method"] == ACKNOWLEDGED { vec![change(&message, "tools"), message] } else { vec![message] }
        }),
    )
    .breaks_too(&["subscriptions.nothing-unasked"])
    .modern(),
    &fault(
        "subscription-id-missing",
        "subscriptions.id-carried",
        "changes are announced without the subscription's id",
        Kind::SideMessage("notifications/tools/list_changed", |message| {
            drop_member(&mut message["params"]["_meta"], SUBSCRIPTION_ID);
        }),
    )
    .modern(),
    &fault(
        "changes-unasked",
        "subscriptions.nothing-unasked",
        "changed tools are announced on subscriptions to something else, too",
        Kind::SideMessages(|_, message| {
            if message["method"] == ACKNOWLEDGED {
                vec![message.clone(), change(&message, "tools")]
            } else {
                vec![message]
            }
        }),
    )
    .modern(),
    &fault(
        "one-subscription-told",
        "resources.updates-delivered",
        "an updated resource is announced on the latest subscription alone",
        Kind::SideMessages(on_the_latest),
    )
    .modern()
    .stdio(),
    &fault(
        "cancellation-ends-subscriptions",
        "resources.updates-delivered",
        "after a cancellation, older subscriptions get no updates",
        Kind::Several(&[
            Kind::Receives(|heard| {
                if heard.is("notifications/cancelled") {
                    let subscriptions = heard.state.of::<Subscriptions>();
                    let all = subscriptions.acknowledged().clone();
                    *subscriptions.ended() = all;
                }
            }),
            Kind::SideMessages(unless_ended),
        ]),
    )
    .modern()
    .stdio(),
    &fault(
        "updates-unwatched",
        "resources.updates-subscribed",
        "each tool call announces an update of a resource that nobody watches",
        Kind::Handles(|asked, link, reply| {
            if asked.is("tools/call") && asked.context.session.as_ref().is_some_and(|session| session.is_ready()) {
                let _ = link.notify(UPDATED, json!({ "uri": "proof://unwatched" }));
            }
            reply
        }),
    )
    .legacy(),
];

/// The subscription that was acknowledged last.
#[derive(Default)]
struct Latest(Mutex<Value>);

fn on_the_latest(asked: &ServiceRequest, message: Value) -> Vec<Value> {
    let latest = asked.state.of::<Latest>();
    let mut latest = latest.0.lock().unwrap_or_else(PoisonError::into_inner);
    let id = &message["params"]["_meta"][SUBSCRIPTION_ID];
    if message["method"] == ACKNOWLEDGED {
        *latest = id.clone();
    }
    if message["method"] == UPDATED && *latest != *id { Vec::new() } else { vec![message] }
}

/// The subscriptions that were acknowledged, and those that a cancellation ended, by their ids.
#[derive(Default)]
struct Subscriptions {
    acknowledged: Mutex<Vec<Value>>,
    ended: Mutex<Vec<Value>>,
}

impl Subscriptions {
    fn acknowledged(&self) -> MutexGuard<'_, Vec<Value>> {
        self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ended(&self) -> MutexGuard<'_, Vec<Value>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unless_ended(asked: &ServiceRequest, message: Value) -> Vec<Value> {
    let subscriptions = asked.state.of::<Subscriptions>();
    let id = &message["params"]["_meta"][SUBSCRIPTION_ID];
    if message["method"] == ACKNOWLEDGED {
        subscriptions.acknowledged().push(id.clone());
    }
    if message["method"] == UPDATED && subscriptions.ended().contains(id) { Vec::new() } else { vec![message] }
}

/// The fault `cancellation-ignored`.
pub const CANCELLATION_IGNORED: &Fault = &fault(
    "cancellation-ignored",
    "cancellation.not-answered",
    "a cancelled request is worked on and answered",
    Kind::Receives(|heard| {
        if heard.is("notifications/cancelled") {
            heard.message["method"] = json!("notifications/ignored");
        }
        // An answer that comes soon may have crossed the cancellation.
        if heard.is("tools/call") && heard.message["params"]["arguments"]["delay_ms"] == json!(50) {
            heard.message["params"]["arguments"]["delay_ms"] = json!(150);
        }
    }),
)
.legacy();

/// The levels of log messages.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

fn is_level(value: &Value) -> bool {
    value.as_str().is_some_and(|level| LEVELS.contains(&level))
}

/// A changed list, announced on the subscription that `acknowledged` opens.
fn change(acknowledged: &Value, list: &str) -> Value {
    let params = json!({ "_meta": acknowledged["params"]["_meta"] });
    json!({ "jsonrpc": "2.0", "method": format!("notifications/{list}/list_changed"), "params": params })
}

/// The progress tokens of calls whose streams were closed before they were answered.
#[derive(Default)]
struct Cut(Mutex<Vec<Value>>);

impl Cut {
    fn tokens(&self) -> MutexGuard<'_, Vec<Value>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The token of a call that is under way: dropped with it, it is one that was cut.
struct UnderWay {
    token: Option<Value>,
    cut: Arc<Cut>,
}

impl UnderWay {
    fn answered(mut self) {
        self.token = None;
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.cut.tokens().extend(self.token.take());
    }
}

fn report_on_cut(asked: &ServiceRequest, link: &Link, reply: Reply) -> Reply {
    let token = asked.param("_meta")["progressToken"].clone();
    let Reply::Later(pending) = reply else { return reply };
    if !asked.is("tools/call") || token.is_null() {
        return Reply::Later(pending);
    }
    let (link, cut) = (link.clone(), asked.state.of::<Cut>());
    let under_way = UnderWay { token: Some(token.clone()), cut: Arc::clone(&cut) };
    Reply::later(async move {
        let answer = pending.await;
        for other in cut.tokens().iter().filter(|other| **other != token) {
            let _ = link.notify(PROGRESS, json!({ "progressToken": other, "progress": 1000 }));
        }
        under_way.answered();
        answer
    })
}

fn progress_later(asked: &ServiceRequest, link: &Link, reply: Reply) -> Reply {
    let token = asked.message["params"]["_meta"]["progressToken"].clone();
    let Reply::Later(pending) = reply else { return reply };
    let link = link.clone();
    Reply::later(async move {
        let answer = pending.await;
        if !token.is_null() {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(50)).await;
                let _ = link.notify(PROGRESS, json!({ "progressToken": token, "progress": 1000 }));
            });
        }
        answer
    })
}
