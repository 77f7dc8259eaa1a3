//! The page `basic`, section "Requests".

use std::collections::BTreeMap;

use wire::message::Fault;
use wire::method::{self, Form};
use wire::revision::{R2024_11_05, R2025_03_26, R2026_07_28};
use wire::{Kind, Party};

use super::invalid_messages::free_of;
use crate::rule::{Anchor, Rule, at, both, client, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{MessageAt, View};

const FIRST: Anchor = at("basic/messages", "requests");
const SINCE: Anchor = at("basic/index", "requests");

const UNSEEN: &str = "the judged party sent no request";

/// The section's rules.
pub(crate) const RULES: &[Rule] = &[
    both("jsonrpc.request-id-type")
        .says(R2024_11_05, FIRST, "A request MUST have an id that is a string or an integer.")
        .says(R2025_03_26, SINCE, "A request MUST have an id that is a string or an integer.")
        .how("Looks at the type of the id of every request the judged party makes, and for methods of requests that are sent without one.")
        .fix("Use a string or a whole number as the id, and give one to every request.")
        .judge(id_type),
    both("jsonrpc.request-id-not-null")
        .says(R2024_11_05, FIRST, "The id of a request MUST NOT be null.")
        .says(R2025_03_26, SINCE, "The id of a request MUST NOT be null.")
        .how("Looks at the id of every request the judged party makes.")
        .fix("Give every request an id; to send a notification leave the member out altogether.")
        .judge(id_not_null),
    client("jsonrpc.open-ids-unique")
        .says(R2026_07_28, SINCE, "The id of a request MUST NOT be that of another one that its sender has not seen answered.")
        .how("Compares the ids of requests that the client has under way at a time on one connection. Needs a client with several concurrent requests, best with a server that answers slowly.")
        .fix("Count ids up, or make them at random; reuse one only once it was answered.")
        .judge(open_ids),
    server("jsonrpc.no-server-requests")
        .says(R2026_07_28, at("basic/patterns/index", ""), "A server MUST NOT make JSON-RPC requests of its own.")
        .how("Looks for requests by the server.")
        .fix("Ask for input with an `input_required` result; watch over the connection with transport means instead of `ping`.")
        .judge(no_server_requests),
];

fn id_type(view: &View<'_>) -> Verdict {
    let mut notifications = view.by_subject().filter(|s| s.message.kind() == Kind::Notification);
    if let Some(sent) = notifications.find(|s| is_request_by_name(view, *s)) {
        let method = sent.message.method().unwrap_or_default().escape_debug().to_string();
        return Verdict::Broken(
            sent.breach("", format!("`{method}` is a request; without an id it is never answered")),
        );
    }
    free_of(
        view,
        |f| matches!(f.fault(), Fault::IdType | Fault::IdFraction) && f.has("method"),
        |s| s.message.kind() == Kind::Request,
        UNSEEN,
    )
}

/// Whether the revision spoken has the method as a request of this sender.
fn is_request_by_name(view: &View<'_>, sent: MessageAt<'_>) -> bool {
    let method = sent.message.method().and_then(|name| method::find(name, view.revision()));
    view.is_current(sent) && method.is_some_and(|m| m.form == Form::Request && m.direction.allows(sent.from))
}

fn id_not_null(view: &View<'_>) -> Verdict {
    let is_notification =
        |f: &super::invalid_messages::InvalidText<'_>| f.method().is_some_and(|m| m.starts_with("notifications/"));
    free_of(
        view,
        |f| *f.fault() == Fault::IdNull && f.has("method") && !is_notification(f),
        |s| s.message.kind() == Kind::Request,
        UNSEEN,
    )
}

fn no_server_requests(view: &View<'_>) -> Verdict {
    // A server of both eras may ask on a connection that a handshake opened.
    let modern = |connection: u32| view.handshake(connection).is_none();
    let requests = view.by(Party::Server).filter(|s| s.message.kind() == Kind::Request && modern(s.connection));
    let breaches = requests.map(|s| {
        let method = s.message.method().unwrap_or_default().escape_debug().to_string();
        s.breach("/method", format!("the server makes a request, `{method}`; in this revision only clients do"))
    });
    let answers = view.all_calls().filter_map(|c| c.response).filter(|r| modern(r.connection)).map(|r| r.event);
    Verdict::never(breaches, answers, "no request was answered")
}

/// That a request was recorded before anything answered another one says surely that its sender had not seen an answer.
fn open_ids(view: &View<'_>) -> Verdict {
    let mut open: BTreeMap<u32, Vec<(MessageAt<'_>, usize)>> = BTreeMap::new();
    let judged = view.calls_by(Party::Client).filter_map(|call| {
        let request = call.request;
        let end = view.over_at(&call).unwrap_or(usize::MAX);
        let others = open.entry(request.connection).or_default();
        others.retain(|(_, until)| *until > request.event);
        let same = others.iter().find(|(other, _)| other.message.id() == request.message.id());
        let breach = |other: &MessageAt<'_>| {
            request.breach("/id", format!("the request in event {} has this id too, and is not answered", other.event))
        };
        let kept = same.map_or(Ok(()), |(other, _)| Err(breach(other)));
        let alone = others.is_empty();
        others.push((request, end));
        (!alone).then_some((request.event, kept))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the client had no two requests under way at a time")
}
