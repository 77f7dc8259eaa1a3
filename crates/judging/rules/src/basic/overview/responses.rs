//! The page `basic`, section "Responses": ids, one outcome, one answer for each request, the error object.

use wire::error_code::{INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION};
use wire::message::Fault;
use wire::revision::{R2024_11_05, R2025_03_26, R2025_11_25};
use wire::trace::{Closed, Content, Frame};
use wire::{Era, Kind, Party, RequestId, Transport, method};

use super::ending;
use super::invalid_messages::{self, free_of};
use crate::rule::{Anchor, Rule, at, both, server};
use crate::verdict::{Breach, Located, Verdict};
use crate::view::{Call, Exchange, MessageAt, Timeout, View, has_unpaired_escape, twin_of};

const FIRST: Anchor = at("basic/messages", "responses");
const SINCE: Anchor = at("basic/index", "responses");
const RESULTS: Anchor = at("basic/index", "result-responses");
const ERRORS: Anchor = at("basic/index", "error-responses");

const UNSEEN: &str = "the judged party sent no response";

/// The section's rules.
pub(crate) const RULES: &[Rule] = &[
    both("jsonrpc.result-id")
        .says(R2024_11_05, FIRST, "A result MUST carry the id of the request it answers.")
        .says(R2025_03_26, SINCE, "A result MUST carry the id of the request it answers.")
        .says(R2025_11_25, RESULTS, "A result MUST carry the id of the request it answers.")
        .how("Compares the id of every result with the ids of the requests made, type and all.")
        .fix("Copy the id as it came: \"1\" and 1 are two ids.")
        .judge(result_id),
    both("jsonrpc.error-id")
        .says(R2024_11_05, FIRST, "An error MUST carry the id of the request it answers.")
        .says(R2025_03_26, SINCE, "An error MUST carry the id of the request it answers.")
        .says(R2025_11_25, ERRORS, "An error MUST carry the id of the request it answers, unless that could not be read.")
        .how("Compares the id of every error with the ids of the requests made, and looks for errors without id while a readable request stays open.")
        .fix("Copy the id of the request into the error; leave it out only where the request could not be read.")
        .judge(error_id),
    both("jsonrpc.result-xor-error")
        .says(R2024_11_05, FIRST, "A response MUST have a `result` or an `error`, and not both.")
        .says(R2025_03_26, SINCE, "A response MUST have a `result` or an `error`, and not both.")
        .says(R2025_11_25, RESULTS, "A response MUST have a `result` or an `error`, each alone.")
        .how("Looks for responses with both members or with neither.")
        .fix("Put `result` into the response on success and `error` on failure; leave the other out rather than null.")
        .judge(result_xor_error),
    both("jsonrpc.error-object")
        .says(R2024_11_05, at("basic/messages", ""), "An error MUST be an object with a `code` and a `message` that is a string.")
        .says(R2025_03_26, SINCE, "An error MUST be an object with a `code` and a `message` that is a string.")
        .says(R2025_11_25, ERRORS, "An error MUST be an object with a `code` and a `message` that is a string.")
        .how("Looks at the `error` member of every error response.")
        .fix("Send `{\"code\": <integer>, \"message\": \"…\"}` as the error.")
        .judge(error_object),
    both("jsonrpc.error-code-integer")
        .says(R2024_11_05, FIRST, "The code of an error MUST be an integer.")
        .says(R2025_03_26, SINCE, "The code of an error MUST be an integer.")
        .says(R2025_11_25, ERRORS, "The code of an error MUST be an integer.")
        .how("Looks at `error.code` of every error response.")
        .fix("Send a whole number as the code; names and strings belong into `message` or `data`.")
        .judge(error_code),
    both("jsonrpc.answered")
        .says(R2024_11_05, at("basic/messages", ""), "A request MUST be answered.")
        .says(R2025_03_26, at("basic/index", "messages"), "A request MUST be answered.")
        .timed()
        .how("Looks for requests that can be answered at once (lists, `initialize`, `server/discover`, unknown methods) and never were, and for tool calls that stay unanswered for three times as long as the same call took; `ping` has a rule of its own.")
        .fix("Answer every request, with an error where nothing else can be said.")
        .judge(answered),
    server("jsonrpc.answered-before-end")
        .says(R2024_11_05, at("basic/messages", ""), "A request MUST be answered, and not end the server.")
        .says(R2025_03_26, at("basic/index", "messages"), "A request MUST be answered, and not end the server.")
        .timed()
        .how("Looks for a request that is the last thing a process was told before it ended unprompted, and for one that was never answered before and whose connection broke off where no connection can be opened from then on. Requests of 64 KiB and more are left to safety rules.")
        .fix("Catch errors at the message loop and answer them as JSON-RPC errors.")
        .judge(ending::answered_before_end),
    both("jsonrpc.one-answer")
        .says(R2024_11_05, at("basic/messages", ""), "A request MUST be answered with one response.")
        .says(R2025_03_26, at("basic/index", "messages"), "A request MUST be answered with one response.")
        .how("Looks for a second response to the same request. What a resumed stream delivers again does not count.")
        .fix("Answer each request once; after an error send no result, after a result no error.")
        .judge(one_answer),
];

/// Whether the trace shows a connection from its beginning, so that every request on it is known.
fn is_whole(view: &View<'_>, connection: u32) -> bool {
    let opened = view.opened(connection).is_some_and(|event| view.frame(event).exchange == 0);
    let first = view.first_of(view.subject().peer(), connection);
    view.is_fully_seen(connection) && (opened || first.is_some_and(|s| s.is("initialize")))
}

/// Whether the other party used `id` on a connection before `event`, in a message that could be read or in one that
/// could not. A line that had begun by then counts, too: some readers see before it ends that its message is whole.
fn is_used(view: &View<'_>, id: &RequestId, connection: u32, event: usize) -> bool {
    let now = view.frame(event).at;
    let begun = |s: &MessageAt<'_>| s.event < event || view.frame(s.event).at < now;
    let sent = view.requests_under(id, view.subject().peer(), connection).any(|s| begun(&s));
    sent || view
        .invalid_by_peer()
        .any(|g| g.connection == connection && g.event < event && g.malformed.id.as_ref() == Some(id))
}

/// A response to one request that HTTP posted alone, under another id. Where the request of that id is still open, the
/// response is its own, on the wrong stream.
fn other_id(view: &View<'_>, sent: MessageAt<'_>, id: &RequestId) -> Option<Breach> {
    let posted =
        view.exchange(sent.exchange).filter(|x| view.transport() == Transport::StreamableHttp && x.is("POST"))?;
    let own = posted.question().filter(|own| own.from != sent.from)?.message.id().filter(|own| *own != id)?;
    let mut others = view.requests_under(id, view.subject().peer(), sent.connection);
    let answered = |request: MessageAt<'_>| view.answer(request).is_some_and(|answer| answer.event < sent.event);
    let why =
        || format!("the request of this exchange had the id {}, the response has {}", own.to_json(), id.to_json());
    others.all(answered).then(|| sent.breach("/id", why()))
}

/// Why the id of a response is not that of any request, if it is not.
fn stray_id(view: &View<'_>, sent: MessageAt<'_>) -> Option<Breach> {
    let id = sent.message.id()?;
    if let Some(breach) = other_id(view, sent, id) {
        return Some(breach);
    }
    if is_used(view, id, sent.connection, sent.event) {
        return None;
    }
    let twin = twin_of(id);
    let mut requested = view.requests_under(&twin, view.subject().peer(), sent.connection);
    let open = requested.any(|s| s.event < sent.event && view.answer(s).is_none());
    if open {
        return Some(
            sent.breach("/id", format!("the request had the id {}, the response has {}", twin.to_json(), id.to_json())),
        );
    }
    is_whole(view, sent.connection).then(|| sent.breach("/id", format!("no request had the id {}", id.to_json())))
}

/// Whether a response's id could be compared: its request is known, or its connection was seen from the beginning.
fn is_comparable(view: &View<'_>, sent: MessageAt<'_>) -> bool {
    view.question(sent).is_some() || is_whole(view, sent.connection)
}

fn result_id(view: &View<'_>) -> Verdict {
    let about_id = |f: &invalid_messages::InvalidText<'_>| {
        let id = matches!(f.fault(), Fault::ResultWithoutId | Fault::IdNull | Fault::IdType | Fault::IdFraction);
        id && f.has("result") && !f.has("method")
    };
    if let broken @ Verdict::Broken(_) = free_of(view, about_id, |_| false, UNSEEN) {
        return broken;
    }
    let results = view.by_subject().filter(|s| s.message.kind() == Kind::Result);
    let seen: Vec<_> = results.filter(|s| stray_id(view, *s).is_some() || is_comparable(view, *s)).collect();
    Verdict::every(seen, UNSEEN, |s| stray_id(view, *s).map_or(Ok(()), Err))
}

fn error_id(view: &View<'_>) -> Verdict {
    let errors: Vec<_> = view.by_subject().filter(|s| s.message.kind() == Kind::Error).collect();
    let missing = errors.iter().find_map(|s| missing_id(view, *s));
    let stray = errors.iter().find_map(|s| stray_id(view, *s));
    let compared = errors.iter().filter(|s| s.message.id().is_some() && is_comparable(view, **s)).map(|s| s.event);
    Verdict::never(missing.into_iter().chain(stray), compared, "no error response to a readable request was seen")
}

/// An error without id that can only be meant for a request that could be read.
fn missing_id(view: &View<'_>, error: MessageAt<'_>) -> Option<Breach> {
    if error.message.id().is_some() || error.batched || !view.is_fully_seen(error.connection) {
        return None;
    }
    let on_stream =
        view.transport() == Transport::HttpSse && view.exchange(error.exchange).is_some_and(Exchange::is_stream);
    let request = match error.exchange {
        0 => open_request(view, error)?,
        _ if on_stream && all_accepted(view, error) => open_request(view, error)?,
        _ => posted_request(view, error)?,
    };
    // Some parsers take an unpaired surrogate for a syntax error, and then nothing of the request was read.
    if has_unpaired_escape(request.message.text()) {
        return None;
    }
    let id = request.message.id()?.to_json();
    Some(error.breach("/id", format!("the error has no id; the request it answers was readable and had the id {id}")))
}

/// On one stream: a request before the error that is never answered, with nothing else open to which the error could be
/// a reply.
fn open_request<'v>(view: &View<'v>, error: MessageAt<'_>) -> Option<MessageAt<'v>> {
    let mine = |s: &MessageAt<'v>| s.connection == error.connection && s.event < error.event;
    let invalid = view.invalid_by_peer().any(|g| g.connection == error.connection && g.event < error.event);
    let requested: Vec<_> = view.by(view.subject().peer()).filter(mine).collect();
    let open = requested.iter().position(|s| s.message.kind() == Kind::Request && view.answer(*s).is_none())?;
    let only_requests = requested[open..].iter().all(|s| s.message.kind() == Kind::Request && !s.batched);
    (!invalid && only_requests).then(|| requested[open])
}

/// Over HTTP+SSE: whether HTTP took every message that was posted before. What it refused stays open for good, and whether
/// an error on the stream is about it is unknown.
fn all_accepted(view: &View<'_>, error: MessageAt<'_>) -> bool {
    let before = |x: &&Exchange<'_>| x.connection == error.connection && x.is("POST") && x.event() < error.event;
    view.exchanges().iter().filter(before).all(Exchange::succeeded)
}

/// Over HTTP: the one request of the error's own exchange, where the error is not merely the body of a refusal by HTTP.
fn posted_request<'v>(view: &View<'v>, error: MessageAt<'_>) -> Option<MessageAt<'v>> {
    let exchange = view.exchange(error.exchange)?;
    let [request] = exchange.client_messages[..] else { return None };
    let code = error.message.error_code();
    let was_read = exchange.status() == Some(200)
        || (view.era() == Era::Modern
            && matches!(
                code,
                Some(METHOD_NOT_FOUND | INVALID_PARAMS | MISSING_CLIENT_CAPABILITY | UNSUPPORTED_VERSION)
            ));
    (was_read && request.message.kind() == Kind::Request && !request.batched).then_some(request)
}

fn result_xor_error(view: &View<'_>) -> Verdict {
    let neither = |f: &invalid_messages::InvalidText<'_>| *f.fault() == Fault::Nothing && f.has("id");
    free_of(view, |f| *f.fault() == Fault::ResultAndError || neither(f), |s| s.message.kind().is_response(), UNSEEN)
}

fn error_object(view: &View<'_>) -> Verdict {
    let no_code = |f: &invalid_messages::InvalidText<'_>| *f.fault() == Fault::ErrorCode && code_of(f).is_none();
    free_of(
        view,
        |f| matches!(f.fault(), Fault::ErrorType | Fault::ErrorMessage) || no_code(f),
        |s| s.message.kind() == Kind::Error,
        "the judged party sent no error response",
    )
}

fn error_code(view: &View<'_>) -> Verdict {
    free_of(
        view,
        |f| *f.fault() == Fault::ErrorCode && code_of(f).is_some(),
        |s| s.message.kind() == Kind::Error,
        "the judged party sent no error response",
    )
}

fn code_of<'f>(invalid_text: &'f invalid_messages::InvalidText<'_>) -> Option<&'f serde_json::Value> {
    invalid_text.value.as_ref()?.get("error")?.get("code")
}

/// What can be answered without work that may rightly take long.
pub(crate) fn is_quick(call: &Call<'_>) -> bool {
    let method = call.request.message.method().unwrap_or_default();
    !method::known_ever(method)
        || matches!(
            method,
            "initialize"
                | "server/discover"
                | "tools/list"
                | "prompts/list"
                | "resources/list"
                | "resources/templates/list"
                | "logging/setLevel"
        )
}

/// How many times as long as for the same call an answer is waited for until it is missing.
const TIMES_AS_LONG: u64 = 3;

/// Whether a call that is not cancelled, and for which the server asks nothing, stays unanswered for much longer than the
/// same call took, before or after. Servers that take 5 and "5" for one id are left to `safety.ids-told-apart`.
fn is_owed_again(view: &View<'_>, call: &Call<'_>, others: &[Call<'_>]) -> bool {
    let Some(waited) = view.timeout_of(call.request).filter(|_| call.response.is_none()) else { return false };
    let key = call.request.message.content_key(&["_meta"]);
    let connection = call.request.connection;
    let same = |other: &&Call<'_>| {
        other.request.connection == connection
            && other.result().is_some()
            && other.request.message.content_key(&["_meta"]) == key
    };
    let spans =
        others.iter().filter(same).filter_map(|other| Some(other.response?.done.saturating_sub(other.request.done)));
    let much_longer = spans.max().is_some_and(|span| span.saturating_mul(TIMES_AS_LONG) < waited.after_ms * 1000);
    let is_asked = || {
        let after = |sent: &MessageAt<'_>| sent.connection == connection && sent.event > call.request.event;
        view.by_subject().any(|sent| after(&sent) && sent.message.kind() == Kind::Request)
    };
    let cancelled = view.cancellation_of(call.request).is_some() || view.is_twin_cancelled(call.request);
    much_longer && !cancelled && !is_asked()
}

fn answered(view: &View<'_>) -> Verdict {
    let peer = view.subject().peer();
    let (quick, others): (Vec<_>, Vec<_>) = view.calls_by(peer).partition(is_quick);
    let repeated = others.iter().filter(|call| call.request.is("tools/call") && is_owed_again(view, call, &others));
    let waited = quick.iter().chain(repeated).filter(|call| call.response.is_none()).filter_map(|call| {
        let Timeout { event, after_ms } = view.timeout_of(call.request)?;
        (!is_excused(view, call, event)).then(|| {
            let method = call.request.message.method().unwrap_or_default().escape_debug().to_string();
            call.request.breach("", format!("`{method}` was never answered (waited {after_ms} ms)"))
        })
    });
    let answers = quick.iter().filter_map(|c| c.response).map(|r| r.event);
    Verdict::never(waited, answers, "no request that can be answered at once was made")
}

/// A request that was cancelled, or made where the handshake was still due, may stay without a response; so may one whose
/// connection or exchange broke, or that was answered in a way that only HTTP knows, before it was given up: every
/// connection ends some time. That we cut the exchange ourselves for waiting in vain is not an excuse, nor is a stream on
/// which the answer was to come. Whether who lost the thread over bytes that are not JSON finds it again is a matter of
/// safety (`safety.survives-garbage`).
fn is_excused(view: &View<'_>, call: &Call<'_>, given_up: usize) -> bool {
    let request = call.request;
    let cancelled = view.cancellation_of(request).is_some();
    let stream = || view.exchange(request.exchange).is_some_and(Exchange::is_stream);
    let ended = view.frames().take(given_up).any(|(event, f)| {
        carries_answer(view, request, f)
            && match &f.content {
                Content::Closed(how) => *how != Closed::TimedOut && (event > request.event || f.exchange == 0),
                Content::Response { .. } => event > request.event && !stream(),
                content => matches!(content, Content::Exit { .. }),
            }
    });
    let early = view.era() == Era::Legacy && !request.is("initialize") && view.handshake(request.connection).is_none();
    cancelled
        || ended
        || early
        || request.batched
        || view.follows_unreadable_bytes(request)
        || is_refused_unread(view, request, given_up)
}

/// From how many bytes on a request may be refused before it is read.
const LONG: usize = 64 << 10;

/// Whether a long request was refused by an error that does not name it, until it was given up: who does not read it does not
/// know its id. Such an error may be no message by any revision.
pub(crate) fn is_refused_unread(view: &View<'_>, request: MessageAt<'_>, given_up: usize) -> bool {
    let is_error = |content: &Content| match content {
        Content::Line { bytes, .. } | Content::WebSocket { bytes, .. } => {
            bytes.windows(7).any(|part| part == b"\"error\"")
        }
        _ => false,
    };
    let here = |frame: &Frame| frame.from != request.from && frame.connection == request.connection;
    let mut meanwhile = view.frames().take(given_up).skip(request.event);
    view.frame(request.event).content.weight() >= LONG && meanwhile.any(|(_, f)| here(f) && is_error(&f.content))
}

/// Whether a frame belongs to the way by which the answer to a request comes: its connection where there is nothing else,
/// else its own exchange. What HTTP+SSE accepted is answered on the stream, whatever becomes of the exchange it came in.
pub(crate) fn carries_answer(view: &View<'_>, request: MessageAt<'_>, frame: &Frame) -> bool {
    let accepted =
        view.transport() == Transport::HttpSse && view.exchange(request.exchange).is_some_and(Exchange::succeeded);
    frame.connection == request.connection
        && match frame.exchange {
            0 => true,
            number if accepted => view.exchange(number).is_some_and(Exchange::is_stream),
            number => number == request.exchange,
        }
}

fn one_answer(view: &View<'_>) -> Verdict {
    let answers: Vec<_> = view.calls_by(view.subject().peer()).filter_map(|c| c.response).collect();
    let again =
        view.by_subject().filter(|s| s.message.kind().is_response()).find_map(|s| second_answer(view, &answers, s));
    // What a client posts is alone: a second answer would come in another exchange.
    let apart = |a: &MessageAt<'_>| view.subject() == Party::Client && a.exchange != 0;
    let later = |a: &MessageAt<'_>| {
        view.watched_after(a.event, a.connection).or_else(|| view.answered_after(a.event, a.connection))
    };
    let witnesses = answers.iter().filter_map(|a| if apart(a) { later(a) } else { view.settled(a.event) });
    Verdict::never(again, witnesses, "no answer was seen after which a second one would have shown")
}

/// A response on the same stream as an earlier one to the only request of that id, or posted though the earlier one was
/// known to be taken.
fn second_answer(view: &View<'_>, answers: &[MessageAt<'_>], sent: MessageAt<'_>) -> Option<Breach> {
    let id = sent.message.id()?;
    if view.question(sent).is_some() {
        return None;
    }
    let first = answers.iter().find(|a| {
        let here = a.exchange == sent.exchange || is_taken(view, a, sent.event);
        a.message.id() == Some(id) && a.connection == sent.connection && here && a.event < sent.event
    })?;
    let invalid =
        view.invalid_by_peer().any(|g| g.connection == sent.connection && g.malformed.id.as_ref() == Some(id));
    (!invalid && view.is_fully_seen(sent.connection)).then(|| {
        sent.breach(
            "/id",
            format!("a second response to the request {} (the first is event {})", id.to_json(), first.event),
        )
    })
}

/// Whether what a client posted was accepted before `event`: who posts it again does not do so for lack of an answer.
fn is_taken(view: &View<'_>, posted: &MessageAt<'_>, event: usize) -> bool {
    let head = view.exchange(posted.exchange).and_then(|x| x.response);
    let accepted = |(at, status, _): (usize, u16, _)| at < event && (200..300).contains(&status);
    view.subject() == Party::Client && head.is_some_and(accepted)
}
