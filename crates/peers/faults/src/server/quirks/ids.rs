//! Quirks of a server's own requests: ids of every form that JSON-RPC allows, and requests on the stream that a client opened
//! by GET.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use net::server::http::Method;
use net::service::{Link, Reply};
use serde_json::{Value, json};
use wire::RequestId;

use super::calls::settled;
use super::quirk;
use crate::server::{Fault, HTTP, Http, Kind, ServiceRequest};

/// How long a result waits for the client's answers: a little longer than the time after which a ping counts as unanswered.
const HELD: Duration = Duration::from_millis(3300);
/// How long an event takes to reach a client.
const DELIVERY: Duration = Duration::from_millis(100);
/// The length of a long id.
const LONG: usize = 1000;

pub(super) const IDS: &[&Fault] = &[ODD_IDS, ASKS_LISTENERS];

/// The quirk `odd-ids`.
pub const ODD_IDS: &Fault = &quirk("odd-ids", Kind::Handles(ask_under_odd_ids)).legacy();

/// The quirk `asks-listeners`.
pub const ASKS_LISTENERS: &Fault = &quirk(
    "asks-listeners",
    Kind::Several(&[
        Kind::Http(Http {
            head: |head, state| {
                if head.method == Method::GET && !head.headers.contains_key("last-event-id") {
                    state.of::<Listened>().0.store(true, Ordering::Relaxed);
                }
            },
            ..HTTP
        }),
        Kind::Handles(ask_listener),
    ]),
)
.legacy()
.http();

/// Whether the client ever opened a stream by GET.
#[derive(Default)]
struct Listened(AtomicBool);

/// Zero and the empty string, which are falsy in many languages; a number and a string that look alike; the largest integer
/// of a double; characters that must be escaped.
fn odd_ids() -> Vec<RequestId> {
    let texts = ["", "7", "0", "Grüße, 世界 \"quoted\" \\ \u{1f600}"].map(RequestId::from);
    let numbers = [0, 7, -1, 9_007_199_254_740_991].map(RequestId::from);
    let long = RequestId::String(format!("scenario-long-{}", "x".repeat(LONG)));
    texts.into_iter().chain(numbers).chain([long]).collect()
}

/// The first call's result is held until the client has answered pings under every id, and an unknown method.
fn ask_under_odd_ids(asked: &ServiceRequest, link: &Link, reply: Reply) -> Reply {
    if !asked.is("tools/call") || asked.calls > 0 {
        return reply;
    }
    let mut questions: Vec<_> = odd_ids().into_iter().map(|id| (id, "ping")).collect();
    questions.push((RequestId::from("scenario-unknown-0"), "no-such/method"));
    questions.push((RequestId::from(-7), "no-such/method"));
    let asking = questions.into_iter().map(|(id, method)| ask(link, id, method)).collect();
    held(reply, asking)
}

/// A request in a task of its own: given up, it would be cancelled, and a client owes no answer to a cancelled request.
fn ask(link: &Link, id: RequestId, method: &'static str) -> tokio::task::JoinHandle<()> {
    let link = link.clone();
    tokio::spawn(async move {
        let _ = link.request_as(id, method, None::<Value>).await;
    })
}

fn held(reply: Reply, asking: Vec<tokio::task::JoinHandle<()>>) -> Reply {
    Reply::later(async move {
        let answered = async {
            for one in asking {
                let _ = one.await;
            }
        };
        let _ = tokio::time::timeout(HELD, answered).await;
        settled(reply).await
    })
}

/// Asks a client that listens: at its first call by two pings, at its second after several notifications and the end of the
/// stream, so that a resumed stream delivers the ping.
fn ask_listener(asked: &ServiceRequest, link: &Link, reply: Reply) -> Reply {
    let listens = asked.state.of::<Listened>().0.load(Ordering::Relaxed);
    if !asked.is("tools/call") || !listens || asked.calls > 1 {
        return reply;
    }
    let stream = link.of_session();
    if asked.calls == 0 {
        let ids = [RequestId::from("scenario-on-get"), RequestId::from(0)];
        let asking = ids.into_iter().map(|id| ask(&stream, id, "ping")).collect();
        return held(reply, asking);
    }
    Reply::later(async move {
        for _ in 0..3 {
            let _ = stream.notify("notifications/tools/list_changed", json!({}));
            tokio::time::sleep(DELIVERY).await;
        }
        stream.break_stream();
        tokio::time::sleep(DELIVERY).await;
        settled(reply).await
    })
}
