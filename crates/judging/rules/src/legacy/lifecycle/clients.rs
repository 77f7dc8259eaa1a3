//! The page `basic/lifecycle`, sections "Initialization" and "Version Negotiation": what they demand of clients alone.

use std::collections::BTreeMap;

use serde_json::Value;
use wire::meta;
use wire::revision::{R2024_11_05, R2025_03_26, R2025_06_18, R2026_07_28};
use wire::{Kind, Party, Revision};

use super::versions::requested;
use crate::basic::transports::streamable_http::metadata::impossible;
use crate::rule::{Anchor, Rule, at, client};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, MessageAt, View};

const INITIALIZATION: Anchor = at("basic/lifecycle", "initialization");
const NEGOTIATION: Anchor = at("basic/lifecycle", "version-negotiation");

/// The rules, in the page's order.
pub(crate) const RULES: &[Rule] = &[
    client("lifecycle.client-greets-first")
        .says(R2024_11_05, INITIALIZATION, "A client MUST begin with `initialize`, and say in it what it is and speaks.")
        .gone(R2026_07_28)
        .how("Looks at the first message of each connection, pings and attempts of the modern era aside. Works with any server.")
        .fix("Send `initialize` first, with `protocolVersion`, `capabilities` and `clientInfo` (name and version).")
        .judge(greets_first),
    client("lifecycle.client-initialize-alone")
        .says(R2025_03_26, INITIALIZATION, "A client MUST NOT send `initialize` in a batch.")
        .gone(R2025_06_18)
        .how("Checks whether `initialize` is in an array. Works with any server.")
        .fix("Send `initialize` as a message of its own, and batches only when it is answered.")
        .judge(initialize_alone),
    client("lifecycle.client-initialized-sent")
        .says(R2024_11_05, INITIALIZATION, "Once `initialize` was answered well, the client MUST send `notifications/initialized`.")
        .gone(R2026_07_28)
        .how("Looks for the notification after every `initialize` that was answered with the version it asked for. It counts as missing only where the client continued with requests.")
        .fix("Send `notifications/initialized` when the answer has come, before anything else.")
        .judge(initialized_sent),
    client("lifecycle.client-waits-for-greeting")
        .says(R2024_11_05, INITIALIZATION, "Until `initialize` is answered, the client SHOULD NOT make requests other than pings.")
        .gone(R2026_07_28)
        .how("Looks for requests between an `initialize` and its answer. Shows best with a server that answers `initialize` slowly; the client's next request shows that it waited.")
        .fix("Wait for the answer before the first request.")
        .judge(waits),
    client("lifecycle.client-version-supported")
        .says(R2024_11_05, NEGOTIATION, "The version that a client asks for MUST be one that it supports.")
        .gone(R2026_07_28)
        .how("Checks whether the version that is asked for can exist at all, and whether the client continues where a server \
              agrees to it.")
        .fix("Ask for a published version of the protocol, as a date.")
        .judge(version_supported),
    client("lifecycle.client-version-latest")
        .says(R2024_11_05, NEGOTIATION, "The version that a client asks for SHOULD be the latest it supports.")
        .gone(R2026_07_28)
        .how("Compares the version that is asked for with the later ones under which the same client continues. Without such a version, only the last version with a handshake is known to be the latest. Shows more with a server that answers with a later version than requested.")
        .fix("Ask for the newest version that you implement.")
        .judge(version_latest),
    client("lifecycle.client-leaves-foreign-version")
        // The page says SHOULD; the schema, of the same answer, MUST.
        .says(R2024_11_05, NEGOTIATION, "A client that is answered with a version it does not support MUST disconnect.")
        .gone(R2026_07_28)
        .how("Needs a server that answers `initialize` with a version that cannot exist, and checks whether the client continues. The MUST stands in the schema, at `InitializeResult.protocolVersion`; the page itself says SHOULD.")
        .fix("Compare the answer's version with those you implement, and close the connection where you do not implement it.")
        .judge(leaves_foreign),
];

/// What an `initialize` was answered with.
pub(super) fn offered<'v>(call: &Call<'v>) -> Option<&'v str> {
    call.result()?.get("protocolVersion")?.as_str()
}

/// Whether a message is one of the modern era, by which a client of both eras finds out what it has before it.
fn is_modern(view: &View<'_>, sent: MessageAt<'_>) -> bool {
    let headed = || view.exchange(sent.exchange)?.request_header("mcp-protocol-version");
    sent.message.meta().is_some_and(|meta| meta.get(meta::PROTOCOL_VERSION).is_some())
        || sent.is("server/discover")
        || headed().is_some_and(|version| version >= R2026_07_28.as_str())
}

/// The handshakes of the legacy era that were answered with a result.
pub(super) fn greetings<'v>(view: &View<'v>) -> Vec<Call<'v>> {
    view.legacy_handshakes().filter(|call| offered(call).is_some()).collect()
}

/// The client's own requests and notifications by connection, in order: answers and what is of the modern era aside.
pub(super) fn own<'v>(view: &View<'v>) -> BTreeMap<u32, Vec<MessageAt<'v>>> {
    let mut own: BTreeMap<u32, Vec<MessageAt<'v>>> = BTreeMap::new();
    let spoken = view.by(Party::Client).filter(|sent| !sent.message.kind().is_response());
    for sent in spoken.filter(|sent| !is_modern(view, *sent)) {
        own.entry(sent.connection).or_default().push(sent);
    }
    own
}

fn greets_first(view: &View<'_>) -> Verdict {
    // A session that the trace did not see begin has begun before.
    let known = |sent: &MessageAt<'_>| {
        let session = view.exchange(sent.exchange).and_then(|x| x.session());
        session.is_none() || sent.is("initialize")
    };
    let own = own(view);
    let firsts = own.values().filter_map(|all| all.iter().find(|sent| !sent.is("ping")).copied());
    Verdict::every(firsts.filter(known), "the client sent nothing of its own", |sent| greeted(*sent))
}

/// What a value must be.
type Demand = fn(&Value) -> bool;

fn greeted(sent: MessageAt<'_>) -> Kept {
    if !sent.is("initialize") {
        let name = sent.message.method().unwrap_or_default().escape_debug();
        return Err(sent.breach("/method", format!("the client begins with `{name}`, not with `initialize`")));
    }
    let has = |pointer: &str, is: fn(&Value) -> bool| sent.message.value().pointer(pointer).is_some_and(is);
    let demands: [(&str, Demand); 4] = [
        ("/params/protocolVersion", Value::is_string),
        ("/params/capabilities", Value::is_object),
        ("/params/clientInfo/name", Value::is_string),
        ("/params/clientInfo/version", Value::is_string),
    ];
    match demands.into_iter().find(|(pointer, is)| !has(pointer, *is)) {
        Some((pointer, _)) => Err(sent.breach("/params", format!("`initialize` lacks what belongs at `{pointer}`"))),
        None => Ok(()),
    }
}

fn initialize_alone(view: &View<'_>) -> Verdict {
    let all = view.legacy_handshakes().map(|call| call.request);
    Verdict::every(all, "the client sent no `initialize`", |sent| {
        if sent.batched { Err(sent.breach("", "`initialize` is in a batch")) } else { Ok(()) }
    })
}

fn initialized_sent(view: &View<'_>) -> Verdict {
    let own = own(view);
    let judged = greetings(view).into_iter().filter_map(|call| {
        let answer = call.response?;
        let all = own.get(&call.request.connection)?;
        // Handshakes again on one connection (over HTTP without sessions there is but one) go by the first of each.
        let since = all.iter().filter(|sent| sent.index > call.request.index);
        let ready: Vec<_> = since.clone().filter(|sent| sent.is("notifications/initialized")).collect();
        if let Some(sent) = ready.iter().find(|sent| sent.event > answer.event) {
            return Some((sent.event, Ok(())));
        }
        if let Some(early) = ready.first() {
            return Some((early.event, Err(early.breach("", "this comes before `initialize` was answered"))));
        }
        if requested(&call) != offered(&call) {
            return None;
        }
        let mut later = since.filter(|sent| sent.event > answer.event && sent.message.kind() == Kind::Request);
        let went_on = later.find(|sent| !sent.is("ping") && !sent.is("initialize"))?;
        let why = "the client continues without having sent `notifications/initialized`";
        Some((went_on.event, Err(went_on.breach("", why))))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no `initialize` was answered and followed by anything")
}

fn waits(view: &View<'_>) -> Verdict {
    let own = own(view);
    let judged = greetings(view).into_iter().filter_map(|call| {
        let answer = call.response?;
        let requests = own.get(&call.request.connection)?.iter().filter(|sent| {
            sent.index > call.request.index
                && sent.message.kind() == Kind::Request
                && !["ping", "initialize"].into_iter().any(|method| sent.is(method))
        });
        let first = requests.min_by_key(|sent| sent.event)?;
        let early = first.event < answer.event;
        let breach = || first.breach("", "this request comes before `initialize` was answered");
        Some((first.event, if early { Err(breach()) } else { Ok(()) }))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no `initialize` was answered and followed by a request")
}

/// What the client said under the version that a handshake offered: that it is ready, or a request.
fn accepted<'v>(own: &BTreeMap<u32, Vec<MessageAt<'v>>>, call: &Call<'v>) -> Option<MessageAt<'v>> {
    let answer = call.response?;
    let mut later = own.get(&call.request.connection)?.iter().filter(|sent| sent.event > answer.event);
    let next = later.find(|sent| !sent.is("notifications/cancelled"))?;
    (!next.is("initialize")).then_some(*next)
}

fn version_supported(view: &View<'_>) -> Verdict {
    let own = own(view);
    let judged = view.legacy_handshakes().filter_map(|call| {
        let version = requested(&call)?;
        if impossible(version) {
            let why = format!("`{}` is not a version of the protocol", version.escape_debug());
            return Some((call.request.event, Err(call.request.breach("/params/protocolVersion", why))));
        }
        let next = accepted(&own, &call).filter(|_| offered(&call) == Some(version))?;
        Some((next.event, Ok(())))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no server agreed to the version that was asked for")
}

fn version_latest(view: &View<'_>) -> Verdict {
    let own = own(view);
    let later = greetings(view).into_iter().filter(|call| accepted(&own, call).is_some());
    let known = later.filter_map(|call| offered(&call)).filter(|version| version.parse::<Revision>().is_ok());
    let newest = known.max();
    let judged = view.legacy_handshakes().filter_map(|call| {
        let version = requested(&call).filter(|version| !impossible(version))?;
        if let Some(better) = newest.filter(|newest| version < *newest) {
            let why =
                format!("the client asks for `{}`, and continues under `{better}` anyway", version.escape_debug());
            return Some((call.request.event, Err(call.request.breach("/params/protocolVersion", why))));
        }
        (version == Revision::NEWEST_LEGACY.as_str()).then_some((call.request.event, Ok(())))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "which is the latest version that the client supports did not show")
}

fn leaves_foreign(view: &View<'_>) -> Verdict {
    let own = own(view);
    let foreign = greetings(view).into_iter().filter(|call| offered(call).is_some_and(impossible));
    let judged = foreign.filter_map(|call| {
        let answer = call.response?;
        if let Some(next) = accepted(&own, &call) {
            let version = offered(&call).unwrap_or_default().escape_debug().to_string();
            let why = format!("the client continues, though the server answered with version `{version}`");
            return Some((next.event, Err(next.breach("", why))));
        }
        view.watched_after(answer.event, call.request.connection).map(|event| (event, Ok(())))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no `initialize` was answered with a version that cannot exist")
}
