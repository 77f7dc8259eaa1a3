//! Status codes of the modern era: versions, methods, `_meta` and capabilities that a server refuses.

use serde_json::Value;
use wire::error_code::{HEADER_MISMATCH, METHOD_NOT_FOUND, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION};
use wire::http;
use wire::meta;
use wire::revision::R2026_07_28;
use wire::{Revision, Transport};

use super::foreign_origin;
use super::server_headers::{Posted, posted};
use crate::basic::overview::errors::is_made_up_name;
use crate::rule::{Anchor, Rule, at, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{Exchange, View};

const HTTP: &[Transport] = &[Transport::StreamableHttp];
const VERSION: Anchor = at("basic/transports/streamable-http", "protocol-version-header");
const META: Anchor = at("basic/index", "_meta");

/// The rules, in the pages' own order.
pub(crate) const RULES: &[Rule] = &[
    server("http.unsupported-version-400")
        .on(HTTP)
        .says(
            R2026_07_28,
            VERSION,
            "A version that is not supported MUST be answered with 400 and an error -32022 that lists those that are.",
        )
        .how("Names an impossible version in header and `_meta` alike, in a request that is otherwise served.")
        .fix("Answer 400 with code -32022 and `data: {\"supported\": […], \"requested\": …}`.")
        .judge(unsupported_version_400),
    server("http.unknown-method-404")
        .on(HTTP)
        .says(R2026_07_28, VERSION, "A method that is not implemented MUST be answered with 404 and the error -32601.")
        .how(
            "Asks for methods that the server does not have and looks at the status of the error; and at the error itself where no server has the method.",
        )
        .fix("Answer methods you do not have with status 404 and an error, code -32601.")
        .judge(unknown_method_404),
    server("http.malformed-meta-400")
        .on(HTTP)
        .says(R2026_07_28, META, "Over HTTP, a request without a required `_meta` field MUST be answered with 400.")
        .how("Leaves the protocol version or the client's capabilities out of `_meta`.")
        .fix("Check `_meta` before dispatching; answer 400 with code -32602.")
        .judge(malformed_meta_400),
    server("http.missing-capability-400")
        .on(HTTP)
        .says(
            R2026_07_28,
            META,
            "Over HTTP, the error for a capability that the client lacks MUST come with status 400.",
        )
        .how("Looks at the status wherever the error -32021 comes back.")
        .fix("Set status 400 where the body carries -32021.")
        .judge(missing_capability_400),
];

/// Whether a version is one that no revision ever had, nor a later one may have: no date, or one before the first.
pub(crate) fn impossible(version: &str) -> bool {
    let dash = |i: usize| i == 4 || i == 7;
    let date = version.len() == 10
        && version.bytes().enumerate().all(|(i, b)| if dash(i) { b == b'-' } else { b.is_ascii_digit() });
    !date || version < Revision::ALL[0].as_str()
}

fn unsupported_version_400(view: &View<'_>) -> Verdict {
    let posted = posted(view);
    let odd = posted.iter().filter(|p| {
        let refused = p.exchange.error_code() == Some(UNSUPPORTED_VERSION);
        p.faults.is_empty() && (refused || impossible(p.version) && (p.exchange.served() || p.twin.is_some()))
    });
    Verdict::every(odd.cloned(), "no request named a version that cannot be supported", |p| {
        let x = &p.exchange;
        let version = p.version.escape_debug();
        match (x.error_code(), x.status()) {
            (Some(UNSUPPORTED_VERSION), Some(400)) => lists_versions(p),
            (Some(UNSUPPORTED_VERSION), other) => {
                Err(x.status_breach(format!("-32022 with status {}, not 400", other.unwrap_or_default())))
            }
            (None, _) if x.served() => Err(x.status_breach(format!("version `{version}` was served"))),
            (code, status) => {
                let (code, status) = (code.map_or("no".to_owned(), |c| c.to_string()), status.unwrap_or_default());
                Err(x.status_breach(format!(
                    "version `{version}`: status {status}, code {code}; expected 400 and -32022"
                )))
            }
        }
    })
}

fn lists_versions(p: &Posted<'_, '_>) -> Kept {
    let Some(answer) = p.exchange.responses().next() else { return Ok(()) };
    let supported = answer.message.error().and_then(|e| e.get("data")?.get("supported")?.as_array());
    match supported {
        Some(list) if !list.is_empty() && list.iter().all(Value::is_string) => Ok(()),
        _ => Err(answer.breach("/error/data/supported", "no list of the supported versions")),
    }
}

/// Modern requests, or at least such as claim to be: answers that nothing before the endpoint gave.
fn modern<'a, 'v>(view: &'a View<'v>) -> Vec<&'a Exchange<'v>> {
    let mut all = view.endpoint_exchanges();
    all.retain(|x| {
        let claims = x.request_header("mcp-protocol-version").is_some_and(|v| v >= R2026_07_28.as_str());
        let opens = x.question().is_none_or(|s| s.is("initialize") && view.initialized().is_some());
        x.is("POST") && claims && !opens && x.status().is_some() && !foreign_origin(x) && !x.turned_away()
    });
    all
}

fn unknown_method_404(view: &View<'_>) -> Verdict {
    let all = modern(view);
    let alive = |x: &Exchange<'_>| all.iter().any(|y| y.path() == x.path() && y.served());
    let unknown =
        all.iter().filter(|x| x.error_code() == Some(METHOD_NOT_FOUND) || has_made_up_method(view, x) && alive(x));
    Verdict::every(unknown.copied(), "no method that the server does not have was asked for", |x| {
        match (x.status().unwrap_or_default(), x.error_code()) {
            (404, Some(METHOD_NOT_FOUND)) => Ok(()),
            (status, Some(METHOD_NOT_FOUND)) => {
                Err(x.status_breach(format!("-32601 came with status {status}, not 404")))
            }
            (status, _) if x.served() => {
                Err(x.status_breach(format!("a method that does not exist was served, with status {status}")))
            }
            (status, code) => {
                let code = code.map_or("no".to_owned(), |c| c.to_string());
                Err(x.status_breach(format!(
                    "a method that does not exist: status {status}, code {code}; expected 404 and -32601"
                )))
            }
        }
    })
}

/// Whether a request is valid except for its method, which does not exist, and was refused for nothing else.
fn has_made_up_method(view: &View<'_>, x: &Exchange<'_>) -> bool {
    let Some(request) = x.question() else { return false };
    let named = x.request_header(http::METHOD).map(str::trim);
    let method = request.message.method().unwrap_or_default();
    let other = x.refused_by_http() || matches!(x.error_code(), Some(UNSUPPORTED_VERSION..=HEADER_MISMATCH));
    let over = x.response_to(request).is_some() || !x.succeeded() && x.is_whole(view);
    is_made_up_name(method) && view.is_valid_request(request) && named == Some(method) && over && !other
}

fn malformed_meta_400(view: &View<'_>) -> Verdict {
    let only_modern = view.modern_only() == Some(true);
    let lacking = modern(view).into_iter().filter(|x| {
        let Some(sent) = x.question() else { return false };
        let has = |key: &str| sent.message.meta().is_some_and(|m| m.get(key).is_some());
        let versioned = has(meta::PROTOCOL_VERSION);
        // Without a version in `_meta`, a server of both eras may take the request for a legacy one.
        let lacks = if versioned { !has(meta::CLIENT_CAPABILITIES) } else { only_modern };
        lacks && x.error_code() != Some(METHOD_NOT_FOUND)
    });
    Verdict::every(lacking, "no request lacked a required `_meta` field", |x| match x.status() {
        Some(400) => Ok(()),
        other => Err(x.status_breach(format!("answered {}, not 400", other.unwrap_or_default()))),
    })
}

fn missing_capability_400(view: &View<'_>) -> Verdict {
    let refused = modern(view).into_iter().filter(|x| x.error_code() == Some(MISSING_CLIENT_CAPABILITY));
    Verdict::every(refused, "no request was refused for lack of a capability", |x| match x.status() {
        Some(400) => Ok(()),
        other => Err(x.status_breach(format!("-32021 came with status {}, not 400", other.unwrap_or_default()))),
    })
}
