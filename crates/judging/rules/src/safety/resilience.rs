//! Resilience: a good server survives what it is sent, and still answers.

use wire::message::{Fault, Packet, parse};
use wire::revision::{R2024_11_05, R2026_07_28};
use wire::trace::{Closed, Content, Frame};
use wire::{Kind, Party, RequestId, Transport, method};

use super::lasting::told_at;
use super::{anywhere, over_stdio};
use crate::basic::overview::responses::is_quick;
use crate::rule::{Rule, at, safety};
use crate::verdict::{Breach, Verdict};
use crate::view::View;

/// From how many bytes on a message counts as large: more than one read of a pipe brings, and than line readers with a
/// default limit (Python's asyncio) take.
const LARGE: usize = 1 << 16;

const HTTP: &[Transport] = &[Transport::StreamableHttp, Transport::HttpSse];
const ASKS_HTTP: &str = "A good server still serves requests after broken HTTP.";

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    anywhere("safety.survives-garbage", "A good server still answers after bytes that are not a message.")
        .timed()
        .by_default()
        .how("Sends garbage and then a request. Over HTTP, a server that cuts the connection over several such bodies without any answer, and answers other requests, is at fault, too.")
        .fix("Answer what cannot be parsed with -32700 and read on.")
        .judge(survives_garbage),
    anywhere("safety.survives-deep-nesting", "A good server still answers after JSON that is nested absurdly deep.")
        .timed()
        .by_default()
        .how("Sends thousands of nested arrays and then a request.")
        .fix("Use a parser with a depth limit and answer what exceeds it with an error.")
        .judge(survives_deep_nesting),
    anywhere("safety.survives-large-message", "A good server takes a message of more than 64 KiB as one, and still answers after it.")
        .timed()
        .by_default()
        .how("Sends a large message and then a small request. Over stdio, two errors without an id in between are at fault, too: the line was read in pieces.")
        .fix("Read a line to its end, however long it is. Refuse what is too large with one error, and read on.")
        .judge(survives_large_message),
    anywhere("safety.survives-unknown-notification", "A good server passes over notifications that it does not know.")
        .timed()
        .how("Sends a notification that no revision has and then a request.")
        .fix("Ignore unknown notifications instead of failing on them.")
        .judge(survives_unknown_notification),
    over_stdio("safety.crlf-tolerated", "A good server takes a line that ends in CR LF.")
        .timed()
        .how("Sends a request on a line that ends in CR LF.")
        .fix("Treat a carriage return before the line feed as white space.")
        .judge(crlf_tolerated),
    safety("safety.survives-broken-http")
        .on(HTTP)
        .asks(R2024_11_05, at("basic/transports", ""), ASKS_HTTP)
        .asks(R2026_07_28, at("basic/transports/streamable-http", ""), ASKS_HTTP)
        .timed()
        .how("Writes half a request, or no HTTP at all, to a socket of its own, and then asks in order.")
        .fix("Bound the time and size of a request's head, and let an error end its own connection only.")
        .judge(survives_broken_http),
];

/// Whether requests of different exchanges reach the server side by side, so that one lost connection says nothing.
fn over_http(view: &View<'_>) -> bool {
    matches!(view.transport(), Transport::StreamableHttp | Transport::HttpSse)
}

/// What happened to the server after a stimulus: an answer to a later request, or its end or silence.
fn after(view: &View<'_>, stimulus: usize) -> Option<Result<usize, Breach>> {
    let connection = view.frame(stimulus).connection;
    let here = |other: u32| other == connection || over_http(view);
    let later: Vec<_> =
        view.calls_by(Party::Client).filter(|c| c.request.event > stimulus && here(c.request.connection)).collect();
    if let Some(answer) = later.iter().find_map(|c| c.response) {
        return Some(Ok(answer.event));
    }
    let ended = view.frames().skip(stimulus).find(|&(event, f)| {
        here(f.connection)
            && !view.was_stopped(event, f.connection)
            && match &f.content {
                Content::Exit { .. } => true,
                // Written down where no connection came about: for the next request, before it could be put.
                Content::Closed(Closed::Failed) => over_http(view) && f.from == Party::Client && f.to == Party::Server,
                _ => false,
            }
    });
    if let Some((event, _)) = ended {
        return Some(Err(Breach::at(event, "", format!("the server ended after {}", told_at(view, stimulus)))));
    }
    // Other work may rightly take long.
    let quick: Vec<_> = later.iter().filter(|call| is_quick(call) || call.request.is("ping")).collect();
    // What is said under a wrong id, or none, is a sign of life all the same; its form is the business of other rules.
    let first = quick.iter().map(|call| call.request.event).min()?;
    let says = |f: &Frame| f.from == Party::Server && here(f.connection) && bytes(&f.content).is_some();
    if view.frames().skip(first).any(|(event, f)| event > first && says(f)) {
        return None;
    }
    let silent = quick.iter().filter_map(|call| view.timeout_of(call.request)).min_by_key(|timeout| timeout.event);
    let why = format!("no answer any more after {}", told_at(view, stimulus));
    silent.map(|timeout| Err(Breach::at(timeout.event, "", why)))
}

pub(super) fn survives(view: &View<'_>, stimuli: impl IntoIterator<Item = usize>, unseen: &str) -> Verdict {
    let mut witnesses = Vec::new();
    for stimulus in stimuli {
        match after(view, stimulus) {
            Some(Ok(answer)) => witnesses.push(answer),
            Some(Err(breach)) => return Verdict::Broken(breach),
            None => {}
        }
    }
    Verdict::witnessed(witnesses, unseen)
}

/// Events in which the client sent something that is not a message: lines, raw lines, bodies.
fn garbage<'v>(view: &'v View<'_>) -> impl Iterator<Item = usize> + 'v {
    let bodies = view.exchanges().iter().filter(|x| x.has_invalid_message && x.partner == Some(Party::Server));
    let raw = view.frames().filter(|(_, f)| f.from == Party::Client && !over_http(view));
    let raw = raw.filter(|(_, f)| match &f.content {
        Content::Raw(bytes) => bytes.ends_with(b"\n") && parse(bytes).is_err(),
        _ => false,
    });
    let lines = view.invalid_by_peer().map(|g| g.event);
    lines.chain(bodies.filter_map(|x| x.request_body.map(|(event, _)| event))).chain(raw.map(|(event, _)| event))
}

/// The bytes with which the client said something, or tried to.
fn bytes(content: &Content) -> Option<&[u8]> {
    match content {
        Content::Line { bytes, .. }
        | Content::Body { bytes, .. }
        | Content::WebSocket { bytes, .. }
        | Content::Raw(bytes) => Some(bytes),
        _ => None,
    }
}

fn too_deep(view: &View<'_>, event: usize) -> bool {
    bytes(&view.frame(event).content).is_some_and(|bytes| parse(bytes).is_err_and(|m| m.fault == Fault::TooDeep))
}

/// Invalid messages, and requests whose parameters have no names, over which the server cut the connection without an answer:
/// where it did so twice, the second.
fn cut_over_garbage(view: &View<'_>) -> Option<Breach> {
    let mut cut = view.exchanges().iter().filter(|x| {
        let by_server = matches!(x.closed, Some((_, Party::Server, Closed::Reset | Closed::End)));
        over_http(view)
            && (x.has_invalid_message || x.client_messages.iter().any(|sent| !sent.has_named_params()))
            && x.partner == Some(Party::Server)
            && x.status().is_none()
            && by_server
    });
    let (_, second) = (cut.next()?, cut.next()?);
    let (event, ..) = second.closed?;
    let goes_on = view.exchanges().iter().any(|x| x.served() && x.response.is_some_and(|(at, ..)| at > event));
    goes_on.then(|| Breach::at(event, "", "the connection is cut over an invalid message, without an answer"))
}

fn survives_garbage(view: &View<'_>) -> Verdict {
    if let Some(breach) = cut_over_garbage(view) {
        return Verdict::Broken(breach);
    }
    let plain = garbage(view).filter(|&event| !too_deep(view, event));
    survives(view, plain.collect::<Vec<_>>(), "no garbage was sent, or no request followed it")
}

fn survives_deep_nesting(view: &View<'_>) -> Verdict {
    let deep = garbage(view).filter(|&event| too_deep(view, event));
    survives(view, deep.collect::<Vec<_>>(), "no deep nesting was sent, or no request followed it")
}

fn survives_large_message(view: &View<'_>) -> Verdict {
    let sent = view.frames().filter(|(_, f)| f.from == Party::Client);
    let large = sent.filter(|(_, f)| bytes(&f.content).is_some_and(|bytes| bytes.len() >= LARGE));
    let large: Vec<_> = large.map(|(event, _)| event).collect();
    if let Some(breach) = large.iter().find_map(|&event| read_in_pieces(view, event)) {
        return Verdict::Broken(breach);
    }
    survives(view, large, "no large message was sent, or no request followed it")
}

/// The second error without an id that came over one line, before anything else was sent.
fn read_in_pieces(view: &View<'_>, large: usize) -> Option<Breach> {
    let frame = view.frame(large);
    let (connection, Content::Line { bytes, .. }) = (frame.connection, &frame.content) else { return None };
    parse(bytes).ok()?;
    let later = view.frames().skip(large + 1).filter(|(_, f)| f.connection == connection);
    let next = later.filter(|(_, f)| f.from == Party::Client && self::bytes(&f.content).is_some());
    let until = next.map(|(event, _)| event).next().unwrap_or(usize::MAX);
    let mut errors = view.by(Party::Server).filter(|s| {
        s.connection == connection
            && (large..until).contains(&s.event)
            && s.message.kind() == Kind::Error
            && s.message.id().is_none()
    });
    let (_, second) = (errors.next()?, errors.next()?);
    Some(second.breach("", format!("two errors answer one line of {} bytes: it is read in pieces", bytes.len())))
}

fn survives_unknown_notification(view: &View<'_>) -> Verdict {
    // What happens to a batch may be due to its being one.
    let unknown = view.by(Party::Client).filter(|s| {
        s.message.kind() == Kind::Notification
            && !s.batched
            && s.message.method().is_some_and(|m| !method::known_ever(m))
    });
    survives(view, unknown.map(|s| s.event), "no unknown notification was sent, or no request followed it")
}

/// The id of a request that the client sent on a line that ends in CR LF.
fn request_with_cr(content: &Content) -> Option<RequestId> {
    let line = match content {
        Content::Line { bytes, .. } => bytes.strip_suffix(b"\r")?,
        Content::Raw(bytes) => bytes.strip_suffix(b"\r\n")?,
        _ => return None,
    };
    match parse(line) {
        Ok(Packet::Message(message)) if message.kind() == Kind::Request => message.id().cloned(),
        _ => None,
    }
}

fn crlf_tolerated(view: &View<'_>) -> Verdict {
    let mut witnesses = Vec::new();
    for (event, frame) in view.frames().filter(|(_, f)| f.from == Party::Client) {
        let Some(id) = request_with_cr(&frame.content) else { continue };
        let answer = view.by(Party::Server).find(|s| {
            s.event > event
                && s.connection == frame.connection
                && s.message.kind().is_response()
                && s.message.id() == Some(&id)
        });
        let silent = view.timeout_after(event, &id, frame.connection);
        match (answer, silent) {
            (Some(answer), _) => witnesses.push(answer.event),
            (None, Some(timeout)) => {
                return Verdict::Broken(Breach::at(timeout.event, "", "a line that ends in CR LF was not answered"));
            }
            (None, None) => {}
        }
    }
    Verdict::witnessed(witnesses, "no line with CR LF was sent")
}

fn survives_broken_http(view: &View<'_>) -> Verdict {
    let raw = view.frames().filter(|(_, f)| f.from == Party::Client && matches!(f.content, Content::Raw(_)));
    survives(view, raw.map(|(event, _)| event), "no broken HTTP was sent, or no request followed it")
}
