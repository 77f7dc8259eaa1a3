//! Faults of event streams.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use net::server::http::{Bytes, HeaderValue, Method, Parts};
use serde_json::{Value, json};
use wire::revision::{R2025_03_26, R2025_11_25};

use super::sessions::SESSION_ID;
use super::state::State;
use super::stdio::replaced;
use super::{Fault, HTTP, Http, Kind, ServiceRequest, fault};

pub(super) const FAULTS: &[&Fault] = &[
    &stream(
        "stream-buffered",
        "http.stream-unbuffered",
        "streams lack `X-Accel-Buffering: no`",
        Http { response: |_, response| _ = response.headers.remove("x-accel-buffering"), ..HTTP },
    )
    .modern(),
    &stream(
        "stream-goes-on",
        "http.response-ends-stream",
        "a notification follows the response on its stream",
        Http {
            event: Some(|_, event, _| {
                let late = b"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"late\"}}\n\n";
                if is_response(&event) { [&event, late.as_slice()].concat().into() } else { event }
            }),
            ..HTTP
        },
    )
    .breaks_too(&["http.retry-before-disconnect", "logging.level-honoured", "logging.not-on-subscriptions", "logging.only-when-asked", "subscriptions.id-carried", "task-extension.no-progress-on-subscription"]),
    STREAM_WITHOUT_RESPONSE,
    &stream(
        "stream-events-named",
        "safety.streams-carry-messages",
        "events have the name `update`, not `message`",
        Http { event: Some(|_, event, _| replaced(&event, b"data: {", b"event: update\ndata: {").into()), ..HTTP },
    )
    .breaks_too(&[
        "http.stream-carries-response",
        "http.stream-open-until-response",
        "prompts.list-changed-sent",
        "resources.list-changed-sent",
        "subscriptions.acknowledged",
        "tools.list-changed-sent",
    ]),
    &stream(
        "stream-not-primed",
        "http.stream-primed",
        "streams begin without an event that has an id and no data",
        Http { event: Some(|_, event, _| if is_message(&event) { event } else { Bytes::from_static(b":\n\n") }), ..HTTP },
    )
    .since(R2025_11_25)
    .legacy(),
    &stream(
        "event-ids-repeated",
        "http.event-ids-unique",
        "every event has the same id",
        Http { event: Some(|_, event, _| identified(&event, "1-1")), ..HTTP },
    )
    .legacy(),
    &stream(
        "response-on-get",
        "http.get-stream-no-responses",
        "the stream that GET opens carries a response",
        Http {
            event: Some(|asked, event, _| {
                let answer = b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n";
                let listens = asked.method == Method::GET && !asked.headers.contains_key("last-event-id");
                if listens { [&event, answer.as_slice()].concat().into() } else { event }
            }),
            ..HTTP
        },
    )
    .breaks_too(&["jsonrpc.result-id", "http.not-broadcast"])
    .legacy(),
    &fault(
        "changes-on-call",
        "http.stream-messages-relate",
        "a changed list is announced on the stream of a tool call",
        Kind::Handles(|asked, link, reply| {
            if asked.is("tools/call") {
                let _ = link.notify("notifications/tools/list_changed", json!({}));
            }
            reply
        }),
    )
    .breaks_too(&["http.header-failure-answer", "http.missing-capability-400", "subscriptions.id-carried", "subscriptions.nothing-unasked"])
    .modern()
    .http(),
    &stream(
        "latin-1-in-events",
        "jsonrpc.utf8",
        "texts in events begin with a letter in Latin-1",
        Http { event: Some(|_, event, _| replaced(&event, b"\"text\":\"", b"\"text\":\"\xfc").into()), ..HTTP },
    ),
    &fault(
        "progress-on-all-streams",
        "http.not-broadcast",
        "progress is reported on the stream that GET opens as well",
        Kind::SideMessages(|asked, message| {
            also_listening(asked, &message);
            vec![message]
        }),
    )
    .breaks_too(&["http.get-stream-unrelated"])
    .legacy()
    .http(),
    &fault(
        "progress-on-get",
        "http.get-stream-unrelated",
        "progress is reported on the stream that GET opens, not on that of the call",
        Kind::SideMessages(|asked, message| if also_listening(asked, &message) { Vec::new() } else { vec![message] }),
    )
    .legacy()
    .http(),
    &stream(
        "stream-without-type",
        "http.request-answered-json-or-stream",
        "event streams are declared to be plain text",
        Http {
            response: |asked, response| {
                if asked.method == Method::POST
                    && response.text.is_none()
                    && response.headers.contains_key("cache-control")
                {
                    response.headers.insert("content-type", HeaderValue::from_static("text/plain"));
                }
            },
            ..HTTP
        },
    )
    .breaks_too(&["cancellation.own-requests-only"]),
    &stream(
        "replays-another-stream",
        "http.replay-same-stream",
        "a stream that is resumed brings the last answer of another one too",
        Http { event: Some(add_answer_of_another), ..HTTP },
    )
    .since(R2025_03_26)
    .legacy(),
];

/// The fault `stream-without-response`.
pub const STREAM_WITHOUT_RESPONSE: &Fault = &stream(
    "stream-without-response",
    "http.stream-carries-response",
    "a stream ends without the response it is for, and cannot be resumed: its events have no ids",
    Http {
        event: Some(|asked, event, _| {
            if asked.method != Method::POST {
                return event;
            }
            if is_response(&event) { Bytes::from_static(b":\n\n") } else { identified(&event, "") }
        }),
        ..HTTP
    },
)
.breaks_too(&["http.stream-open-until-response", "http.stream-primed"])
.legacy();

const fn stream(name: &'static str, rule: &'static str, about: &'static str, http: Http) -> Fault {
    fault(name, rule, about, Kind::Http(http)).http()
}

/// Reports progress on what a client listens on beside its calls; whether there was any to report.
fn also_listening(asked: &ServiceRequest, message: &Value) -> bool {
    let method = "notifications/progress";
    let session = asked.context.session.as_ref().filter(|_| message["method"] == method);
    session.is_some_and(|session| session.notify(method, Some(message["params"].clone())).is_ok())
}

fn is_message(event: &[u8]) -> bool {
    event.windows(7).any(|window| window == b"data: {")
}

fn is_response(event: &[u8]) -> bool {
    is_message(event) && [b"\"result\":".as_slice(), b"\"error\":"].iter().any(|part| has(event, part))
}

fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// An event with another id, or with none where that is empty.
fn identified(event: &[u8], id: &str) -> Bytes {
    let lines = event
        .split_inclusive(|b| *b == b'\n')
        .flat_map(|line| if line.starts_with(b"id: ") { format!("id: {id}\n").into_bytes() } else { line.to_vec() });
    lines.collect::<Vec<u8>>().into()
}

/// The last events that carried an answer, by session.
#[derive(Default)]
struct Answers(Mutex<BTreeMap<String, Bytes>>);

/// How many sessions' answers are remembered.
const MOST: usize = 1024;

fn add_answer_of_another(asked: &Parts, event: Bytes, state: &State) -> Bytes {
    let Some(session) = asked.headers.get(SESSION_ID).and_then(|id| id.to_str().ok()) else { return event };
    let answers = state.of::<Answers>();
    let mut answers = answers.0.lock().unwrap_or_else(PoisonError::into_inner);
    if asked.headers.contains_key("last-event-id") {
        return answers.remove(session).map_or(event.clone(), |answer| [event, answer].concat().into());
    }
    if asked.method == Method::POST && is_response(&event) && answers.len() < MOST {
        answers.insert(session.to_owned(), event.clone());
    }
    event
}
