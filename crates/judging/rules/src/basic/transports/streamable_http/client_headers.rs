//! What the Streamable HTTP transport demands of the headers that clients send and read.

use wire::Era::Modern;
use wire::error_code::HEADER_MISMATCH;
use wire::http::{self, Annotation, HeaderFault, annotations, check_headers, decode_value, is_safe_value};
use wire::meta;
use wire::revision::{R2025_06_18, R2026_07_28};
use wire::{Kind, Party, Transport};

use super::server_headers::{Schemas, is_param, name_of, names};
use crate::reading::liveness::client_continues;
use crate::rule::{Anchor, Rule, at, client};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Exchange, MessageAt, View};

const HTTP: &[Transport] = &[Transport::StreamableHttp];

const fn new(section: &'static str) -> Anchor {
    at("basic/transports/streamable-http", section)
}

/// The rules on headers, in the page's own order.
pub(crate) const RULES: &[Rule] = &[
    client("http.version-header-sent")
        .on(HTTP)
        .says(
            R2025_06_18,
            at("basic/transports", "protocol-version-header"),
            "After the handshake every request of a client MUST have the version header.",
        )
        .says(R2026_07_28, new("protocol-version-header"), "Every POST MUST have the version header.")
        .how("Looks for the header on every request of the client to the MCP endpoint, since 2026-07-28 on every POST. Works with any server.")
        .fix("Add `MCP-Protocol-Version` to every request: the version agreed on, or that in `_meta`.")
        .judge(version_sent),
    client("http.version-header-agrees")
        .on(HTTP)
        .says(
            R2025_06_18,
            at("basic/transports", "protocol-version-header"),
            "The version header SHOULD name the version on which the handshake agreed.",
        )
        .says(R2026_07_28, new("protocol-version-header"), "The version header MUST name the same version as `_meta`.")
        .how("Compares the header, where there is one, with the version on which the handshake agreed, or with `_meta`. Works with any server; one that agrees to another version than it was asked for shows more.")
        .fix("Fill the header from the answer to `initialize`, or from the very value in `_meta`.")
        .judge(version_agrees),
    client("http.standard-headers-sent")
        .on(HTTP)
        .says(
            R2026_07_28,
            new("standard-request-headers"),
            "A request MUST have its method in `Mcp-Method` and, where it names a tool, prompt or resource, that in `Mcp-Name`.",
        )
        .how("Compares `Mcp-Method` and `Mcp-Name` of every request with its body. Works with any server.")
        .fix("Copy method and name (or URI) of the body into the headers, the name in Base64 where it is unsafe.")
        .judge(standard_sent),
    client("http.params-mirrored")
        .on(HTTP)
        .says(
            R2026_07_28,
            new("custom-headers-from-tool-parameters"),
            "A client MUST repeat the value of every annotated argument in its `Mcp-Param` header.",
        )
        .how("Compares every call with the input schema that `tools/list` gave for the tool. Needs a tool with `x-mcp-header` on a parameter.")
        .fix("Walk the annotated properties of the schema and add an `Mcp-Param` header for each argument that is there.")
        .judge(params_mirrored),
    client("http.absent-params-not-mirrored")
        .on(HTTP)
        .says(
            R2026_07_28,
            new("server-behavior-for-custom-headers"),
            "A client MUST leave the header out where the argument is null or absent.",
        )
        .how("Needs a tool with `x-mcp-header` on a parameter that may be left out, and looks at calls without it, or with null.")
        .fix("Add the header only where the argument has a value.")
        .judge(absent_not_mirrored),
    client("http.values-encoded")
        .on(HTTP)
        .says(
            R2026_07_28,
            new("value-encoding"),
            "A client MUST write a value that is unsafe in a header as Base64 between `=?base64?` and `?=`.",
        )
        .how("Looks at `Mcp-Name` and `Mcp-Param` headers whose value in the body has characters beyond visible ASCII, or white space at an end. Needs a tool or parameter with such a value.")
        .fix("Write such a value as `=?base64?`, the Base64 of its UTF-8, and `?=`.")
        .judge(values_encoded),
    client("http.lookalikes-encoded")
        .on(HTTP)
        .says(R2026_07_28, new("value-encoding"), "A client MUST encode a value that looks encoded as it stands.")
        .how("Looks at headers whose value in the body begins with `=?base64?` and ends with `?=`. Needs a tool or argument of that look.")
        .fix("Encode every value of that look once more.")
        .judge(lookalikes_encoded),
    client("http.mismatch-relisted")
        .on(HTTP)
        .says(
            R2026_07_28,
            new("client-behavior"),
            "A client whose call is refused for its `Mcp-Param` headers SHOULD list the tools again and repeat the call.",
        )
        .how("Needs a server that refuses a call with -32020 although method and name are right, and looks for `tools/list` and the call again.")
        .fix("When a call is refused with -32020, list the tools, build the headers again and repeat the call once.")
        .judge(mismatch_relisted),
    client("http.reads-header-names-any-case")
        .on(HTTP)
        .says(R2026_07_28, new("case-sensitivity"), "A client MUST compare header names without regard to case.")
        .how("Needs a server that spells `Content-Type` in an unusual way, such as `CONTENT-TYPE`, and checks whether the client continues.")
        .fix("Look response headers up without regard to case.")
        .judge(any_case),
];

fn begun(x: &Exchange<'_>) -> usize {
    x.request.map_or(0, |(event, ..)| event)
}

fn breach(x: &Exchange<'_>, name: &str, why: impl Into<String>) -> Breach {
    Breach::at(begun(x), format!("header:{name}"), why)
}

/// The version in a message's `_meta`.
fn in_meta(sent: MessageAt<'_>) -> Option<&str> {
    sent.message.meta()?.get(meta::PROTOCOL_VERSION)?.as_str()
}

/// Exchanges whose requests should have a version header, with the version that it should name, where that is known.
fn versioned<'a, 'v>(view: &'a View<'v>) -> Vec<(&'a Exchange<'v>, Option<&'v str>)> {
    let all = view.endpoint_exchanges().into_iter();
    if view.revision().era() == Modern {
        let modern = |x: &&Exchange<'v>| {
            let legacy = x.client_messages.iter().any(|s| s.is("initialize")) || view.handshake(x.connection).is_some();
            x.is("POST") && !x.client_messages.is_empty() && !legacy
        };
        return all.filter(modern).map(|x| (x, x.client_messages.first().and_then(|sent| in_meta(*sent)))).collect();
    }
    let due = |x: &'a Exchange<'v>| {
        let handshake = view.handshake(x.connection)?;
        let agreed = handshake.result()?.get("protocolVersion")?.as_str()?;
        let later = handshake.response.is_some_and(|response| response.event < begun(x));
        let other = x.client_messages.iter().any(|sent| sent.is("initialize") || in_meta(*sent).is_some());
        (later && !other && agreed == view.revision().as_str()).then_some((x, Some(agreed)))
    };
    all.filter_map(due).collect()
}

fn version_sent(view: &View<'_>) -> Verdict {
    let judged = versioned(view).into_iter().map(|(x, _)| {
        let sent = x.request_header(http::PROTOCOL_VERSION).is_some();
        let why = "the request has no `MCP-Protocol-Version`";
        (begun(x), if sent { Ok(()) } else { Err(breach(x, http::PROTOCOL_VERSION, why)) })
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the client made no request that needs the header")
}

fn version_agrees(view: &View<'_>) -> Verdict {
    let judged = versioned(view).into_iter().filter_map(|(x, version)| {
        let (version, sent) = (version?, x.request_header(http::PROTOCOL_VERSION)?);
        let why = || format!("the header names `{}`, expected `{}`", sent.escape_debug(), version.escape_debug());
        Some((begun(x), if sent.trim() == version { Ok(()) } else { Err(breach(x, http::PROTOCOL_VERSION, why())) }))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no request had the header and a version to compare it with")
}

/// Requests of the modern era, alone in their exchange.
fn modern<'a, 'v>(view: &'a View<'v>) -> Vec<(&'a Exchange<'v>, MessageAt<'v>)> {
    let posts = versioned(view).into_iter().filter(|_| view.revision().era() == Modern);
    posts.filter_map(|(x, _)| Some((x, x.question()?))).collect()
}

fn faults(x: &Exchange<'_>, sent: MessageAt<'_>, schema: Option<&serde_json::Value>) -> Vec<HeaderFault> {
    x.request.map(|(.., headers)| check_headers(headers, sent.message, schema)).unwrap_or_default()
}

fn standard_sent(view: &View<'_>) -> Verdict {
    let judged = modern(view).into_iter().map(|(x, sent)| {
        let mut faults = faults(x, sent, None);
        faults.retain(|fault| {
            let name = name_of(fault);
            // A header that is there but badly written is for the rules on encoding.
            let unsafe_value = matches!(fault, HeaderFault::Unsafe { .. });
            name == http::METHOD || (name == http::NAME && names(sent).is_some() && !unsafe_value)
        });
        (begun(x), faults.first().map_or(Ok(()), |fault| Err(breach(x, name_of(fault), fault.to_string()))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the client made no request of this revision")
}

/// Calls of tools whose input schema was listed and may be used, with that schema.
fn calls<'a, 'v>(view: &'a View<'v>) -> Vec<(&'a Exchange<'v>, MessageAt<'v>, &'v serde_json::Value)> {
    let schemas = Schemas::of(view);
    let known = modern(view).into_iter().filter_map(|(x, sent)| Some((x, sent, schemas.at(sent)?)));
    known.filter(|(.., schema)| annotations(schema).faults.is_empty() && !is_doubtful(schema)).collect()
}

/// Whether an annotated parameter may have one of several types. That may count as primitive or not: a client that takes
/// such a tool for invalid does as the page says, and so does one that does not.
fn is_doubtful(schema: &serde_json::Value) -> bool {
    let kind = |annotation: &Annotation| {
        let (property, _) = annotation.pointer.rsplit_once('/')?;
        schema.pointer(property)?.get("type")
    };
    annotations(schema).valid.iter().filter_map(kind).any(serde_json::Value::is_array)
}

/// The argument at an annotation's path, null taken for none.
pub(crate) fn argument<'v>(sent: MessageAt<'v>, annotation: &Annotation) -> Option<&'v serde_json::Value> {
    let arguments = sent.message.params()?.get("arguments")?;
    annotation.path.iter().try_fold(arguments, |value, name| value.get(name)).filter(|value| !value.is_null())
}

fn params_mirrored(view: &View<'_>) -> Verdict {
    let judged = calls(view).into_iter().filter_map(|(x, sent, schema)| {
        let given = annotations(schema).valid.iter().any(|annotation| argument(sent, annotation).is_some());
        let wrong = |fault: &&HeaderFault| is_param(name_of(fault)) && !matches!(fault, HeaderFault::Unsafe { .. });
        let faults = faults(x, sent, Some(schema));
        let kept = faults.iter().find(wrong).map_or(Ok(()), |fault| Err(breach(x, name_of(fault), fault.to_string())));
        given.then_some((begun(x), kept))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no tool was called with an argument that is mirrored")
}

fn absent_not_mirrored(view: &View<'_>) -> Verdict {
    let judged = calls(view).into_iter().flat_map(|(x, sent, schema)| {
        let absent = annotations(schema).valid.into_iter().filter(|annotation| argument(sent, annotation).is_none());
        let judge = |annotation: Annotation| {
            let name = format!("{}{}", http::PARAM_PREFIX, annotation.name);
            let sent = x.request_header(&name).is_some();
            (begun(x), if sent { Err(breach(x, &name, "the header of an argument that is not there")) } else { Ok(()) })
        };
        absent.map(judge).collect::<Vec<(usize, Kept)>>()
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no tool was called without an argument that would be mirrored")
}

/// Texts of the body that headers carry, encoded where they need it: with the header's name and value, if it is there.
fn carried<'a, 'v>(view: &'a View<'v>) -> Vec<(&'a Exchange<'v>, String, Option<&'v str>, &'v str)> {
    let schemas = Schemas::of(view);
    let mut found = Vec::new();
    for (x, sent) in modern(view) {
        let mut take = |name: String, value: Option<&'v serde_json::Value>| {
            let Some(text) = value.and_then(|value| value.as_str()) else { return };
            let sent = x.request_header(&name);
            found.push((x, name, sent, text));
        };
        take(http::NAME.to_owned(), names(sent));
        for annotation in schemas.at(sent).map(|schema| annotations(schema).valid).unwrap_or_default() {
            take(format!("{}{}", http::PARAM_PREFIX, annotation.name), argument(sent, &annotation));
        }
    }
    found
}

/// Judges that texts of some kind are in their headers in Base64, between the markers. Where there is no header at all
/// other rules speak.
fn encoded(view: &View<'_>, such: fn(&str) -> bool, unseen: &str) -> Verdict {
    let judged = carried(view).into_iter().filter(|(.., text)| such(text)).filter_map(|(x, name, sent, text)| {
        let sent = sent?.trim();
        let right = looks_encoded(sent) && decode_value(sent).is_ok_and(|sent| sent == text);
        let why = || format!("`{}` must stand there in Base64, between the markers", text.escape_debug());
        Some((begun(x), if right { Ok(()) } else { Err(breach(x, &name, why())) }))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), unseen)
}

fn looks_encoded(text: &str) -> bool {
    text.starts_with("=?base64?") && text.ends_with("?=")
}

fn values_encoded(view: &View<'_>) -> Verdict {
    let unsafe_value = |text: &str| !is_safe_value(text) && !looks_encoded(text);
    encoded(view, unsafe_value, "no header had to carry a value that is unsafe in it")
}

fn lookalikes_encoded(view: &View<'_>) -> Verdict {
    encoded(view, looks_encoded, "no header had to carry a value that looks encoded")
}

fn mismatch_relisted(view: &View<'_>) -> Verdict {
    let standard = |fault: &HeaderFault| !is_param(name_of(fault));
    let refused = modern(view).into_iter().filter(|(x, sent)| {
        sent.is("tools/call") && x.error_code() == Some(HEADER_MISMATCH) && !faults(x, *sent, None).iter().any(standard)
    });
    let judged = refused.filter_map(|(x, sent)| {
        let answer = x.responses().next()?.event;
        let later = || {
            view.by(Party::Client).filter(move |other| other.event > answer && other.message.kind() == Kind::Request)
        };
        let again = |other: &MessageAt<'_>| other.is("tools/call") && names(*other) == names(sent);
        let listed = later().find(|other| other.is("tools/list"));
        let repeated = later().find(again);
        let informed = listed.and_then(|list| later().find(|other| other.event > list.event && again(other)));
        match (informed, repeated) {
            (Some(call), _) => Some((call.event, Ok(()))),
            (None, Some(call)) => Some((
                call.event,
                Err(call.breach("", "the call is repeated without the tools having been listed again")),
            )),
            (None, None) => {
                let left = view.left_after(answer, x.connection)?;
                let why =
                    if listed.is_some() { "the call was not repeated" } else { "the tools were not listed again" };
                Some((left, Err(Breach::at(answer, "/error/code", why))))
            }
        }
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no call was refused for the headers of its arguments alone")
}

fn any_case(view: &View<'_>) -> Verdict {
    let odd = |x: &&Exchange<'_>| {
        let headers = x.response.map_or(&[][..], |(.., headers)| headers.as_slice());
        let name =
            headers.iter().map(|(name, _)| name.as_str()).find(|name| name.eq_ignore_ascii_case(http::CONTENT_TYPE));
        name.is_some_and(|name| !["content-type", "Content-Type"].contains(&name))
    };
    let all = view.endpoint_exchanges().into_iter().filter(|x| x.succeeded()).filter(odd);
    let events: Vec<_> = all.filter_map(|x| x.responses().last().map(|sent| sent.event)).collect();
    client_continues(
        view,
        events,
        "a header name in an unusual spelling",
        "no answer spelt `Content-Type` in an unusual way",
    )
}
