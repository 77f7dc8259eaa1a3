//! Requests that were never answered because the server ended over them.

use wire::Party;
use wire::trace::{Closed, Content, Frame};

use crate::verdict::{Breach, Verdict};
use crate::view::{Call, Exchange, View, has_unpaired_escape};

/// From how many bytes on a request may be more than a server takes: what becomes of it then is a matter of safety.
const LARGE: usize = 64 << 10;

pub(super) fn answered_before_end(view: &View<'_>) -> Verdict {
    let exits = view.frames().filter(|(_, frame)| matches!(frame.content, Content::Exit { .. }));
    let over_pipes = exits.filter_map(|(event, frame)| over_a_process(view, event, frame));
    let breaches: Vec<_> = over_pipes.chain(over_network(view)).collect();
    let answers = view.calls_by(Party::Client).filter_map(|call| call.response).map(|response| response.event);
    Verdict::never(breaches, answers, "no request was answered")
}

/// The request that a process which had answered before left unanswered when it ended unprompted: the first thing that it was
/// told after its own last message, but for the end of the handshake.
fn over_a_process(view: &View<'_>, end: usize, exit: &Frame) -> Option<Breach> {
    let here = |connection: u32| connection == exit.connection;
    if exit.from != Party::Server || view.was_stopped(end, exit.connection) {
        return None;
    }
    let spoke =
        view.by(Party::Server).take_while(|sent| sent.event < end).filter(|sent| here(sent.connection)).last()?;
    let greeted: Vec<usize> =
        view.by(Party::Client).filter(|sent| sent.is("notifications/initialized")).map(|sent| sent.event).collect();
    let told = |content: &Content| matches!(content, Content::Line { .. } | Content::Raw(_));
    let (first, _) = view.frames().take(end).skip(spoke.event).find(|(event, frame)| {
        let is_sent = here(frame.connection) && frame.from == Party::Client && told(&frame.content);
        *event > spoke.event && is_sent && !greeted.contains(event)
    })?;
    let call = view.calls_by(Party::Client).find(|call| call.request.event == first && is_owed(view, call))?;
    Some(breach(&call, "the server ended"))
}

/// The same where connections are refused from then on: the first request whose exchange broke off, unless the same one was
/// answered before. Requests of others are under way at the same time, and break off with the one that is at fault.
fn over_network(view: &View<'_>) -> Option<Breach> {
    let last = view.by(Party::Server).last()?.event;
    let (gone, _) = view.frames().find(|(event, frame)| {
        let failed = matches!(frame.content, Content::Closed(Closed::Failed));
        failed && *event > last && frame.from == Party::Client && frame.exchange != 0
    })?;
    let broke_off = |x: &Exchange<'_>| {
        let by_server = |(event, from, how): (usize, Party, &Closed)| {
            (last..gone).contains(&event) && from == Party::Server && matches!(how, Closed::Reset | Closed::End)
        };
        !x.has_invalid_message && x.response.is_none() && x.closed.is_some_and(by_server)
    };
    let asked = |call: &Call<'_>| call.request.message.content_key(&["_meta"]);
    let answered = |call: &Call<'_>| {
        let key = asked(call);
        view.calls_by(Party::Client).any(|other| other.response.is_some() && asked(&other) == key)
    };
    let mut broken = view
        .calls_by(Party::Client)
        .filter(|call| is_owed(view, call) && view.exchange(call.request.exchange).is_some_and(broke_off));
    let call = broken.find(|call| !answered(call))?;
    Some(breach(&call, "the server can no longer be reached, since the connection broke off"))
}

fn is_owed(view: &View<'_>, call: &Call<'_>) -> bool {
    let request = call.request;
    call.response.is_none()
        && !request.batched
        && view.cancellation_of(request).is_none()
        // Some parsers take an unpaired surrogate for a syntax error, and then no request was read.
        && !has_unpaired_escape(request.message.text())
        && view.frame(request.event).content.weight() < LARGE
}

fn breach(call: &Call<'_>, what: &str) -> Breach {
    let method = call.request.message.method().unwrap_or_default();
    call.request.breach("", format!("{what} with `{}` unanswered", method.escape_debug()))
}
