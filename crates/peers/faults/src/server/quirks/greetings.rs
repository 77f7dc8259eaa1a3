//! Quirks of the first exchange, of sessions, and of whatever any request meets.

use std::time::Duration;

use net::server::http::{HeaderValue, Method};
use net::service::{Link, Reply};
use serde_json::{Value, json};
use wire::error_code::UNSUPPORTED_VERSION;
use wire::revision::R2026_07_28;

use super::calls::{answer, settled};
use super::quirk;
use crate::server::jsonrpc::error;
use crate::server::sessions::SessionIds;
use crate::server::{Fault, HTTP, Http, Kind, ServiceRequest, drop_member};

/// How late a greeting is answered.
const LATE: Duration = Duration::from_millis(700);
/// What the endpoint must be offered.
const EVENT_STREAM: &str = "text/event-stream";
const EITHER: &str = "application/json, text/event-stream";

pub(super) const GREETINGS: &[&Fault] = &[
    FIRST_REQUEST_REFUSED_FOR_VERSION,
    UNKNOWN_VERSION,
    GREETS_LATE,
    UNKNOWN_MEMBERS,
    ACCEPTS_ANYTHING,
    SESSION_FORGOTTEN,
    SESSION_IN_CAPITALS,
    GREETING_UNANSWERED,
    DECLARES_LITTLE,
    LISTS_LATER_VERSIONS,
    REFUSES_ALL_VERSIONS,
];

/// The quirk `first-request-refused-for-version`.
pub const FIRST_REQUEST_REFUSED_FOR_VERSION: &Fault =
    &quirk("first-request-refused-for-version", Kind::Handles(refuse_first)).modern();

/// The quirk `unknown-version`.
pub const UNKNOWN_VERSION: &Fault = &quirk(
    "unknown-version",
    Kind::Results("initialize", |answer| {
        answer["result"]["protocolVersion"] = json!("1999-12-31");
    }),
)
.legacy();

/// The quirk `greets-late`.
pub const GREETS_LATE: &Fault = &quirk(
    "greets-late",
    Kind::Handles(|asked, _, reply| {
        if !asked.is("initialize") {
            return reply;
        }
        Reply::later(async {
            tokio::time::sleep(LATE).await;
            settled(reply).await
        })
    }),
)
.legacy();

/// The quirk `unknown-members`.
pub const UNKNOWN_MEMBERS: &Fault = &quirk(
    "unknown-members",
    Kind::Answers(|_, answer| {
        if let Some(result) = answer.get_mut("result").and_then(Value::as_object_mut) {
            result.insert("nobodyKnows".to_owned(), json!({ "odd": [null] }));
            result.entry("_meta").or_insert_with(|| json!({}))["scenario.example/odd"] = json!(1);
        }
    }),
);

/// The quirk `accepts-anything`.
pub const ACCEPTS_ANYTHING: &Fault = &quirk(
    "accepts-anything",
    Kind::Http(Http {
        head: |head, _| {
            let wanted = if head.method == Method::GET { EVENT_STREAM } else { EITHER };
            head.headers.insert("accept", HeaderValue::from_static(wanted));
        },
        ..HTTP
    }),
)
.http();

/// The quirk `session-forgotten`.
pub const SESSION_FORGOTTEN: &Fault = &quirk("session-forgotten", Kind::Sessions(SessionIds::Forgets)).legacy().http();

/// The quirk `session-in-capitals`.
pub const SESSION_IN_CAPITALS: &Fault =
    &quirk("session-in-capitals", Kind::Sessions(SessionIds::Capitals)).legacy().http();

/// The quirk `greeting-unanswered`.
pub const GREETING_UNANSWERED: &Fault = &quirk(
    "greeting-unanswered",
    Kind::Handles(|asked, _, reply| if asked.is("initialize") { Reply::later(std::future::pending()) } else { reply }),
)
.legacy();

/// The quirk `declares-little`.
pub const DECLARES_LITTLE: &Fault = &quirk(
    "declares-little",
    Kind::Results("initialize", |answer| {
        let capabilities = &mut answer["result"]["capabilities"];
        for name in ["logging", "completions", "tasks"] {
            drop_member(capabilities, name);
        }
        for name in ["tools", "prompts", "resources"] {
            capabilities[name] = json!({});
        }
    }),
)
.legacy();

/// The quirk `lists-later-versions`.
pub const LISTS_LATER_VERSIONS: &Fault = &quirk(
    "lists-later-versions",
    Kind::Results("server/discover", |answer| {
        answer["result"]["supportedVersions"] = json!(["2099-12-31"]);
    }),
)
.modern();

/// The quirk `refuses-all-versions`.
pub const REFUSES_ALL_VERSIONS: &Fault =
    &quirk("refuses-all-versions", Kind::Handles(|asked, _, _| refused(asked, "2099-12-31"))).modern();

/// The first request of all is refused for its version, which is then said to be the one that is served.
fn refuse_first(asked: &ServiceRequest, _: &Link, reply: Reply) -> Reply {
    if asked.before > 0 {
        return reply;
    }
    refused(asked, R2026_07_28.as_str())
}

/// A refusal that lists one version.
fn refused(asked: &ServiceRequest, supported: &str) -> Reply {
    let mut refusal = error(asked, UNSUPPORTED_VERSION, "Unsupported protocol version");
    refusal["error"]["data"] = json!({ "supported": [supported], "requested": asked.meta("protocolVersion") });
    answer(&refusal).into()
}
