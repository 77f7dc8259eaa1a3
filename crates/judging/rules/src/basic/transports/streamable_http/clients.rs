//! What the Streamable HTTP transport demands of clients that send and receive, in the newest revision and those before.
//! What only the earlier revisions demand is in `legacy/transports/clients`; headers have a file of their own.

use serde_json::Value;
use wire::Era::Modern;
use wire::error_code::MODERN_ONLY;
use wire::http::{self, combined, lists};
use wire::message::{Packet, parse};
use wire::revision::{R2025_03_26, R2025_06_18, R2026_07_28};
use wire::trace::Content;
use wire::{Kind, Party, Revision, Transport};

use super::{LEGACY_SENDING, SENDING};
use crate::basic::overview::shapes::fits_whole;
use crate::basic::versioning::is_modern;
use crate::reading::liveness::client_continues;
use crate::rule::{Anchor, Rule, at, client};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Exchange, MessageAt, View};

const HTTP: &[Transport] = &[Transport::StreamableHttp];

const fn new(section: &'static str) -> Anchor {
    at("basic/transports/streamable-http", section)
}

/// The rules on messages and answers, in the page's own order.
pub(crate) const RULES: &[Rule] = &[
    client("http.posts-each-message")
        .on(HTTP)
        .says(R2025_03_26, LEGACY_SENDING, "A client MUST post each of its messages to the MCP endpoint by itself.")
        .says(R2026_07_28, SENDING, "A client MUST post each of its messages to the MCP endpoint by itself.")
        .how("Looks at the HTTP request that carries each message. Works with any server.")
        .fix("Send each message as the body of a POST of its own.")
        .judge(posts_each),
    client("http.accepts-json-and-streams")
        .on(HTTP)
        .says(R2025_03_26, LEGACY_SENDING, "A POST MUST name JSON and event streams in its `Accept` header.")
        .says(R2026_07_28, SENDING, "A POST MUST name JSON and event streams in its `Accept` header.")
        .how("Reads the `Accept` header of every POST with a message; a wildcard names neither. Works with any server.")
        .fix("Send `Accept: application/json, text/event-stream`.")
        .judge(accepts_both),
    client("http.post-holds-message")
        .on(HTTP)
        .says(
            R2025_03_26,
            LEGACY_SENDING,
            "A POST MUST hold one message, or a batch: of responses, or of requests and notifications.",
        )
        .says(R2025_06_18, LEGACY_SENDING, "A POST MUST hold one message.")
        .says(R2026_07_28, SENDING, "A POST MUST hold one request or notification.")
        .how("Reads the body of every POST to the MCP endpoint. Works with any server.")
        .fix("Post one message at a time, serialized as JSON.")
        .judge(holds_message),
    client("http.reads-json-and-streams")
        .on(HTTP)
        .says(R2025_03_26, LEGACY_SENDING, "A client MUST understand answers as JSON and as event streams.")
        .says(R2026_07_28, SENDING, "A client MUST understand answers as JSON and as event streams.")
        .how("Needs a server that answers some requests as JSON and others as streams, and checks whether the client continues after both.")
        .fix("Look at the `Content-Type` of every answer, and read JSON as well as event streams.")
        .judge(reads_both),
    client("jsonrpc.messages-before-response")
        .says(
            R2025_03_26,
            LEGACY_SENDING,
            "A server MAY send requests and notifications ahead of a response; its client takes them.",
        )
        .says(
            R2026_07_28,
            at("basic/patterns/index", "request-and-response"),
            "A server MAY send notifications ahead of a response; its client takes them.",
        )
        .how("Needs a server that sends notifications before it answers (over Streamable HTTP on the same stream), and checks whether the client continues after the answer.")
        .fix("Handle or drop what comes ahead of the answer, and keep waiting for it.")
        .judge(takes_messages_first),
    client("http.fallback-reads-body")
        .on(HTTP)
        .says(
            R2026_07_28,
            new("backward-compatibility"),
            "A client that is answered 400 SHOULD read the body before it falls back to `initialize`.",
        )
        .how("Needs a server that refuses a request with 400 and one of the errors -32020, -32021 and -32022, and checks whether the client stays in the modern era.")
        .fix("Parse the body of a 400: where it holds one of the modern errors, correct the request instead of falling back.")
        .judge(fallback_reads_body),
    client("http.broken-streams-reissued")
        .on(HTTP)
        .says(
            R2026_07_28,
            at("changelog", "major-changes"),
            "A client whose response stream breaks MUST send the request again as a new one with a new id; streams are not resumed.",
        )
        .how("Needs a server whose stream ends without a response, and looks at what follows: a GET with `Last-Event-ID`, or the same request under its old or a new id. A client that gives up is not judged.")
        .fix("Send the request again with a new id, or report the failure. Do not resume streams.")
        .judge(broken_reissued),
    client("http.lost-reads-repeated")
        .on(HTTP)
        .says(
            R2026_07_28,
            at("changelog", "major-changes"),
            "A stream MAY break before it brings a list, a resource or a prompt: its client asks for that again, which does no harm.",
        )
        .how("Needs a server whose stream ends without the response to a list, `resources/read` or `prompts/get`, and looks for the same request before the client leaves. Judged where the client goes on with other requests and ends well; one that reports the loss and stops is not.")
        .fix("Where a stream ends without its response, send the request again as a new one with a new id, unless it may change something.")
        .judge(lost_repeated),
];

/// The client's exchanges with the MCP server that carry a message.
fn carrying<'a, 'v>(view: &'a View<'v>) -> impl Iterator<Item = &'a Exchange<'v>> {
    view.exchanges().iter().filter(|x| x.partner == Some(Party::Server) && !x.client_messages.is_empty())
}

fn begun(x: &Exchange<'_>) -> usize {
    x.request.map_or(0, |(event, ..)| event)
}

fn posts_each(view: &View<'_>) -> Verdict {
    let judged = carrying(view).map(|x| {
        let method = x.method().unwrap_or_default();
        let why = || format!("a message was sent with {}", method.escape_debug());
        (begun(x), if x.is("POST") { Ok(()) } else { Err(Breach::at(begun(x), "", why())) })
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the client sent no message")
}

/// Requests whose response stream ended without a response, by no doing of the client, and where.
fn broken_streams<'a, 'v>(view: &'a View<'v>) -> impl Iterator<Item = (MessageAt<'v>, usize)> + use<'a, 'v> {
    carrying(view).filter_map(|x| {
        let (asked, (end, ..)) = (x.question()?, x.closed?);
        let broken = x.succeeded() && x.is_stream() && x.responses().next().is_none() && !x.aborted();
        (broken && view.is_current(asked) && view.cancellation_of(asked).is_none()).then_some((asked, end))
    })
}

/// What a request is about: its method, and which tool, prompt or resource it names.
fn subject<'v>(sent: &MessageAt<'v>) -> (Option<&'v str>, Option<&'v Value>) {
    let params = sent.message.params();
    (sent.message.method(), params.and_then(|params| params.get("name").or_else(|| params.get("uri"))))
}

fn broken_reissued(view: &View<'_>) -> Verdict {
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for (asked, end) in broken_streams(view) {
        // Who starts from the beginning may count from the beginning.
        let restart = view.client_calls("server/discover").map(|call| call.request.event).find(|event| *event > end);
        let until = restart.unwrap_or(usize::MAX);
        let later = view.endpoint_exchanges().into_iter().filter(|x| (end..until).contains(&begun(x)));
        let modern = |x: &Exchange<'_>| x.request_header("mcp-protocol-version").is_none_or(is_modern);
        for x in later {
            if x.resumes().is_some() && modern(x) {
                let why = "the client resumes a stream, which this revision does not know";
                judged.push((begun(x), Err(Breach::at(begun(x), "header:Last-Event-ID", why))));
            }
            for sent in x.requests().filter(|sent| subject(sent) == subject(&asked)) {
                let again = sent.message.id() == asked.message.id();
                let why = "the request whose stream broke is sent again under its old id";
                judged.push((sent.event, if again { Err(sent.breach("/id", why)) } else { Ok(()) }));
            }
        }
    }
    Verdict::of(judged, "no response stream broke off before the client went on")
}

/// Requests that may be repeated whatever became of the first.
const READS: [&str; 6] =
    ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read", "prompts/get"];

fn lost_repeated(view: &View<'_>) -> Verdict {
    let ended_well = view.departure().filter(|(_, well)| *well).map(|(event, _)| event);
    let judged = broken_streams(view).filter_map(|(asked, end)| {
        let method = asked.message.method().filter(|method| READS.contains(method))?;
        let later = view.by(Party::Client).filter(|sent| sent.event > end && sent.message.kind() == Kind::Request);
        let later: Vec<_> = later.collect();
        if let Some(again) = later.iter().find(|sent| subject(sent) == subject(&asked)) {
            return Some((again.event, Ok(())));
        }
        let left = ended_well.filter(|_| !later.is_empty())?;
        let why = format!("the stream broke (event {end}), and `{method}` was not sent again");
        Some((left, Err(asked.breach("/method", why))))
    });
    Verdict::of(
        judged.collect::<Vec<(usize, Kept)>>(),
        "no stream broke before it brought a list, a resource or a prompt, or the client stopped then",
    )
}

fn accepts_both(view: &View<'_>) -> Verdict {
    let judged = carrying(view).filter(|x| x.is("POST")).map(|x| {
        let accept = x.request.and_then(|(.., headers)| combined(headers, http::ACCEPT)).unwrap_or_default();
        let missing = [http::JSON, http::EVENT_STREAM].into_iter().find(|kind| !lists(&accept, kind));
        let breach = |kind| Err(Breach::at(begun(x), "header:Accept", format!("`Accept` does not name {kind}")));
        (begun(x), missing.map_or(Ok(()), breach))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the client posted no message")
}

fn holds_message(view: &View<'_>) -> Verdict {
    let posts = view.endpoint_exchanges().into_iter().filter(|x| x.is("POST"));
    let judged = posts.filter_map(|x| {
        let (event, bytes) = x.request_body?;
        let whole = matches!(view.frame(event).content, Content::Body { complete: true, .. });
        // Another era's client speaks by its own rules on the same endpoint.
        let foreign =
            x.client_messages.first().is_some_and(|sent| !view.is_current(*sent) && view.revision_of(*sent).is_some());
        let wrong = || wrong_with(bytes, view.revision());
        (whole && !foreign).then(|| (event, wrong().map_or(Ok(()), |why| Err(Breach::at(event, "", why)))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the client posted nothing whole")
}

/// Why the body of a POST is not what `revision` demands.
fn wrong_with(body: &[u8], revision: Revision) -> Option<String> {
    match parse(body) {
        Err(malformed) => Some(format!("the body is not a message: {}", malformed.fault)),
        Ok(Packet::Message(message)) => {
            let response = revision.era() == Modern && message.kind().is_response();
            response.then(|| "the body is a response".to_owned())
        }
        Ok(Packet::Batch(_)) if revision.at_least(R2025_06_18) => Some("the body is a batch".to_owned()),
        Ok(Packet::Batch(parts)) => {
            let answers = parts.iter().flatten().filter(|m| m.kind().is_response()).count();
            if let Some(Err(malformed)) = parts.iter().find(|part| part.is_err()) {
                return Some(format!("a part of the batch is not a message: {}", malformed.fault));
            }
            let mixed = answers != 0 && answers != parts.len();
            mixed.then(|| "the batch has responses and something else".to_owned())
        }
    }
}

fn reads_both(view: &View<'_>) -> Verdict {
    let answers = |stream: bool| {
        let all = view.endpoint_exchanges().into_iter();
        let of = all.filter(move |x| x.is("POST") && x.succeeded() && x.is_stream() == stream);
        of.filter_map(|x| x.responses().last().map(|sent| (x, sent))).collect::<Vec<_>>()
    };
    let unseen = "the client was not answered in both ways, or sent nothing afterwards";
    let by = |stream: bool, what: &str| {
        let answers = answers(stream);
        // Who has continued after one of a kind can read the kind: what it stumbles over later is what the answer says.
        let can_read = answers.iter().any(|(_, sent)| view.next_message_after(sent.event).is_some());
        let marked = answers.iter().filter(|(x, sent)| {
            view.next_message_after(sent.event).is_some() || (!can_read && is_plain(view, x, *sent))
        });
        client_continues(view, marked.map(|(_, sent)| sent.event), what, unseen)
    };
    match (by(false, "an answer as JSON"), by(true, "an answer as a stream")) {
        (Verdict::Holds(mut json), Verdict::Holds(streams)) => {
            json.extend(streams);
            Verdict::Holds(json)
        }
        (Verdict::Broken(breach), _) | (_, Verdict::Broken(breach)) => Verdict::Broken(breach),
        _ => Verdict::NotSeen(unseen.to_owned()),
    }
}

/// Whether an answer says nothing that may make a client leave: it comes alone, has the shape that is due, and a handshake
/// agrees on the revision, or a discovery lists it.
fn is_plain(view: &View<'_>, x: &Exchange<'_>, sent: MessageAt<'_>) -> bool {
    let result = sent.message.result();
    let agreed = result.and_then(|result| result.get("protocolVersion"));
    let fits = x.question().zip(result).is_some_and(|(requested, result)| fits_whole(view, requested, result));
    let listed = result.and_then(|result| result.get("supportedVersions")?.as_array());
    let here = |version: &Value| version == view.revision().as_str();
    x.server_messages.len() == 1 && fits && agreed.is_none_or(here) && listed.is_none_or(|all| all.iter().any(here))
}

fn takes_messages_first(view: &View<'_>) -> Verdict {
    let ahead: Vec<_> = view.by(Party::Server).filter(|sent| !sent.message.kind().is_response()).collect();
    let first = |request: MessageAt<'_>, response: MessageAt<'_>| {
        let from = ahead.partition_point(|sent| sent.event < request.event);
        let mut between = ahead[from..].iter().take_while(|sent| sent.event < response.event);
        between.any(|sent| sent.connection == response.connection && sent.exchange == response.exchange)
    };
    let calls = view.calls_by(Party::Client).filter(|call| view.is_current(call.request));
    let answers = calls.filter_map(|call| call.response.filter(|response| first(call.request, *response)));
    let events: Vec<_> = answers.map(|sent| sent.event).collect();
    client_continues(
        view,
        events,
        "messages that came ahead of an answer",
        "nothing came ahead of an answer to the client",
    )
}

fn fallback_reads_body(view: &View<'_>) -> Verdict {
    let refused = view.endpoint_exchanges().into_iter().filter(|x| {
        x.status() == Some(400)
            && x.error_code().is_some_and(|code| MODERN_ONLY.contains(&code))
            && !x.client_messages.iter().any(|s| s.is("initialize"))
    });
    let judged = refused.filter_map(|x| {
        let answer = x.responses().next()?.event;
        let mut next =
            view.by(Party::Client).filter(|sent| sent.event > answer && sent.message.kind() == Kind::Request);
        let next = next.next()?;
        let code = x.error_code().unwrap_or_default();
        let breach =
            || next.breach("/method", format!("`initialize` after a refusal with {code}, which a modern server gives"));
        Some((next.event, if next.is("initialize") { Err(breach()) } else { Ok(()) }))
    });
    Verdict::of(
        judged.collect::<Vec<(usize, Kept)>>(),
        "no request was refused with 400 and a modern error, and followed by another",
    )
}
