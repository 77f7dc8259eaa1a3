//! The page `basic/versioning`: what it demands of clients.

use std::collections::BTreeMap;

use serde_json::Value;
use wire::error_code::UNSUPPORTED_VERSION;
use wire::meta;
use wire::pointer;
use wire::revision::R2026_07_28;
use wire::{Party, method};

use super::{BACKWARD, EXTENSIONS, NEGOTIATION, named};
use crate::basic::overview::meta::{is_prefixed_key, modern_requests};
use crate::rule::{Rule, at, client};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, MessageAt, View, declared};

/// The rules, in the page's own order.
pub(crate) const RULES: &[Rule] = &[
    client("versioning.client-retries")
        .says(R2026_07_28, NEGOTIATION, "A client whose version is refused SHOULD ask again under one that the error lists, or give up with an error.")
        .how("Needs a server that refuses the version of a request with -32022 and lists others, and looks at the next request: whether it names a listed version. Where the list holds the refused version itself, another version is not judged.")
        .fix("On -32022, choose a version that you implement from `data.supported`, or give up.")
        .judge(retries),
    client("versioning.listed-version-retried")
        .says(R2026_07_28, NEGOTIATION, "A client MAY be refused for a version that the refusal lists, as behind one address where some servers are newer than others: it asks again.")
        .how("Needs a server that refuses the version of a request with -32022 and lists that very version, and looks for the request again, or another one, before the client leaves.")
        .fix("On -32022, look for a version that you implement in `data.supported`, and repeat the request under it before you give up.")
        .judge(listed_retried),
    client("discover.client-version-listed")
        .says(R2026_07_28, at("server/discover", "discoverresult"), "A client SHOULD go on under one of the versions that `server/discover` lists, or give up.")
        .how("Needs a client that asks for `server/discover`, and compares the version of each later request with the list. One that lacks the client's own version shows more.")
        .fix("Choose a version that you implement from `supportedVersions`, or give up.")
        .judge(version_listed),
    client("versioning.client-extension-ids")
        .says(R2026_07_28, EXTENSIONS, "The identifier of an extension that a client declares MUST follow the rules for `_meta` keys and have a prefix.")
        .how("Reads the keys of `extensions` in the capabilities that the client declares. Works with any server.")
        .fix("Name the extension `reverse.dns.name/extension`.")
        .judge(extension_ids),
    client("versioning.client-extension-fallback")
        .says(R2026_07_28, EXTENSIONS, "Where the server does not support an extension, the client MUST keep to the core protocol or give up.")
        .how("Needs a server that declares none of the extensions that the client does, and looks for methods that are not the core protocol's.")
        .fix("Look at `extensions` in the answer to `server/discover` before you use what an extension defines.")
        .judge(extension_fallback),
    client("versioning.client-era-cached")
        .says(R2026_07_28, BACKWARD, "A client SHOULD find out the era of a process or origin once, and remember it.")
        .how("Needs a server of the legacy era alone, and looks for requests of the modern era once the client has fallen back to `initialize` and was answered.")
        .fix("Remember for each process or origin how you found it, and speak to it so.")
        .judge(era_cached),
];

fn retries(view: &View<'_>) -> Verdict {
    let calls: Vec<_> = view.calls_by(Party::Client).collect();
    let judged = calls.iter().filter(|call| call.error_code() == Some(UNSUPPORTED_VERSION)).filter_map(|call| {
        let (refused, answer) = (named(call)?, call.response?);
        let list = call.error()?.pointer("/data/supported")?.as_array()?;
        let listed = |version: &str| list.iter().any(|one| one == version);
        if list.is_empty() {
            return None;
        }
        // A refusal that lists the refused version contradicts itself: only a retry under a listed version says anything.
        let contradictory = listed(refused);
        // What was under way when the refusal came proves nothing.
        let retry =
            |sent: &MessageAt<'_>| sent.is("initialize") || sent.message.method() == call.request.message.method();
        let settled = |sent: &MessageAt<'_>| retry(sent) || sent.done > answer.done.saturating_add(CROSSING);
        let next = calls.iter().find(|next| next.request.event > answer.event && settled(&next.request))?;
        let version = if next.request.is("initialize") {
            next.request.message.params().and_then(|p| p.get("protocolVersion")?.as_str())
        } else {
            named(next)
        };
        let kept = match version {
            Some(version) if listed(version) => Ok(()),
            _ if contradictory => return None,
            Some(version) if version == refused => Err(next
                .request
                .breach("", format!("version `{}` again, which was refused before", version.escape_debug()))),
            Some(version) => Err(next
                .request
                .breach("", format!("version `{}`, which the refusal does not list", version.escape_debug()))),
            None => return None,
        };
        Some((next.request.event, kept))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no version was refused and followed by another request")
}

fn listed_retried(view: &View<'_>) -> Verdict {
    let calls: Vec<_> = view.calls_by(Party::Client).collect();
    let judged = calls.iter().filter(|call| call.error_code() == Some(UNSUPPORTED_VERSION)).filter_map(|call| {
        let (refused, answer) = (named(call)?, call.response?);
        let list = call.error()?.pointer("/data/supported")?.as_array()?;
        if !list.iter().any(|one| one == refused) {
            return None;
        }
        // What was under way when the refusal came is no second attempt.
        let method = call.request.message.method();
        let settled = |sent: &MessageAt<'_>| {
            let retry = sent.is("initialize") || sent.message.method() == method;
            retry || sent.done > answer.done.saturating_add(CROSSING)
        };
        if let Some(next) = calls.iter().find(|next| next.request.event > answer.event && settled(&next.request)) {
            return Some((next.request.event, Ok(())));
        }
        let left = view.watched_after(answer.event, answer.connection)?;
        let why = format!("the refusal lists `{}`, and the client gave up", refused.escape_debug());
        Some((left, Err(answer.breach("/error/data/supported", why))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no version was refused by an error that lists it")
}

/// How long (microseconds) a message may be on its way.
const CROSSING: u64 = 100_000;

/// Judged by the list that was answered last, once it had time to arrive.
fn version_listed(view: &View<'_>) -> Verdict {
    let lists: Vec<_> = view
        .client_calls("server/discover")
        .filter_map(|call| {
            let list = call.result()?.get("supportedVersions")?.as_array().filter(|list| !list.is_empty())?;
            Some((call.response?, list))
        })
        .collect();
    let judged = modern_requests(view).into_iter().filter(|sent| !sent.is("server/discover")).filter_map(|sent| {
        let known = |answer: &MessageAt<'_>| {
            answer.connection == sent.connection && sent.done > answer.done.saturating_add(CROSSING)
        };
        let (_, list) = lists.iter().rfind(|(answer, _)| known(answer))?;
        let version = sent.message.meta()?.get(meta::PROTOCOL_VERSION)?.as_str()?;
        let why = || format!("version `{}`, which the server does not list", version.escape_debug());
        let kept = if list.iter().any(|one| one == version) { Ok(()) } else { Err(sent.breach("", why())) };
        Some((sent.event, kept))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "`server/discover` was not answered and followed by a request")
}

/// The extensions that the client declares in a request.
fn extensions(sent: MessageAt<'_>) -> Option<&serde_json::Map<String, Value>> {
    sent.message.meta()?.get(meta::CLIENT_CAPABILITIES)?.get("extensions")?.as_object()
}

fn extension_ids(view: &View<'_>) -> Verdict {
    let judged = modern_requests(view).into_iter().flat_map(|sent| {
        let judge = move |key: &String| {
            let pointer = format!(
                "/params/_meta/{}/extensions/{}",
                pointer::escape(meta::CLIENT_CAPABILITIES),
                pointer::escape(key)
            );
            let why = || format!("`{}` is not an identifier of the form prefix/name", key.escape_debug());
            (sent.event, if is_prefixed_key(key) { Ok(()) } else { Err(sent.breach(pointer, why())) })
        };
        extensions(sent).into_iter().flat_map(serde_json::Map::keys).map(judge).collect::<Vec<(usize, Kept)>>()
    });
    Verdict::of(judged.collect::<Vec<_>>(), "the client declares no extension")
}

fn extension_fallback(view: &View<'_>) -> Verdict {
    let Some(servers) = view.server_capabilities() else {
        return Verdict::NotSeen("what the server declares is not known here".to_owned());
    };
    let theirs = declared(servers, "extensions").and_then(Value::as_object);
    let lacking = |sent: &MessageAt<'_>| {
        extensions(*sent).is_some_and(|own| own.keys().any(|key| theirs.is_none_or(|all| !all.contains_key(key))))
    };
    let none = theirs.is_none_or(serde_json::Map::is_empty);
    let requests =
        modern_requests(view).into_iter().filter(|sent| none && lacking(sent) && !sent.is("server/discover"));
    Verdict::every(requests, "no client with an extension spoke to a server that has none", |sent| {
        let name = sent.message.method().unwrap_or_default();
        let core = method::find(name, R2026_07_28).is_some();
        let why = || {
            format!("`{}` is not a method of the core protocol, and the server has no extension", name.escape_debug())
        };
        if core { Ok(()) } else { Err(sent.breach("/method", why())) }
    })
}

/// Over HTTP a server is known by its origin, elsewhere by its process.
fn era_cached(view: &View<'_>) -> Verdict {
    let over_http = !view.exchanges().is_empty();
    let server = |sent: MessageAt<'_>| if over_http { 0 } else { sent.connection };
    let mut probed: BTreeMap<u32, usize> = BTreeMap::new();
    let mut fell_back: BTreeMap<u32, usize> = BTreeMap::new();
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    let is_modern = |call: &Call<'_>| named(call).is_some() || call.request.is("server/discover");
    for call in view.calls_by(Party::Client) {
        let (sent, server) = (call.request, server(call.request));
        let known = fell_back.get(&server).is_some_and(|since| *since < sent.event);
        match (is_modern(&call), known) {
            (true, true) => {
                let why = "the client tries the modern era again, having found the server to be of the legacy one";
                judged.push((sent.event, Err(sent.breach("", why))));
            }
            (true, false) => _ = probed.entry(server).or_insert(sent.event),
            (false, true) if !sent.is("initialize") => judged.push((sent.event, Ok(()))),
            (false, _) if sent.is("initialize") && probed.contains_key(&server) => {
                let answer = call.response.filter(|_| call.result().is_some());
                if let Some(answer) = answer {
                    fell_back.entry(server).or_insert(answer.event);
                }
            }
            (false, _) => {}
        }
    }
    Verdict::of(judged, "the client did not fall back to the legacy era and continue")
}
