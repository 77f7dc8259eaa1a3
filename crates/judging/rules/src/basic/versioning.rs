//! The page `basic/versioning`: versions named in each request, extensions, and servers that know only the modern era.

use std::collections::BTreeSet;

use serde_json::Value;
use wire::error_code::UNSUPPORTED_VERSION;
use wire::meta;
use wire::pointer;
use wire::revision::R2026_07_28;
use wire::{Revision, method};

use super::overview::meta::is_prefixed_key;
use crate::rule::{Anchor, Rule, at, server};
use crate::verdict::{Breach, Verdict};
use crate::view::{Call, View, declared};

pub(crate) mod clients;

const NEGOTIATION: Anchor = at("basic/versioning", "protocol-version-negotiation");
const EXTENSIONS: Anchor = at("basic/versioning", "extension-negotiation");
const BACKWARD: Anchor = at("basic/versioning", "backward-compatibility-with-initialization-based-versions");

/// The page's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    server("versioning.unsupported-refused")
        .says(R2026_07_28, NEGOTIATION, "A request of a version that the server does not implement MUST be refused with the code -32022.")
        .how("Makes a request under a version that the server does not list, or that never existed, and looks at the answer.")
        .fix("Compare `io.modelcontextprotocol/protocolVersion` of every request with what you serve; answer -32022 where it is not among them.")
        .judge(unsupported_refused),
    server("versioning.supported-listed")
        .says(R2026_07_28, NEGOTIATION, "An error -32022 MUST list the versions that the server supports.")
        .how("Looks at `data.supported` of every error -32022.")
        .fix("Put an array of your versions into `data.supported`.")
        .judge(supported_listed),
    server("versioning.requested-named")
        .says(R2026_07_28, NEGOTIATION, "An error -32022 MUST name in `data.requested` the version that was asked for.")
        .how("Compares `data.requested` of every error -32022 with the request: its `_meta` or, over HTTP, its header.")
        .fix("Copy the version of the request into `data.requested`.")
        .judge(requested_named),
    server("versioning.lists-agree")
        .says(R2026_07_28, NEGOTIATION, "The versions in an error -32022 MUST be those that the server supports.")
        .how("Compares the modern versions in every error -32022 with those in the result of `server/discover`.")
        .fix("Fill both lists from one place.")
        .judge(lists_agree),
    server("versioning.extension-ids")
        .says(R2026_07_28, EXTENSIONS, "The identifier of an extension MUST follow the rules for `_meta` keys and have a prefix.")
        .about(&["extensions"])
        .how("Looks at the keys of `capabilities.extensions`.")
        .fix("Name the extension `reverse.dns.name/extension`.")
        .judge(extension_ids),
    server("versioning.extension-fallback")
        .says(R2026_07_28, EXTENSIONS, "Where the client does not support an extension, the server MUST keep to the core protocol or refuse.")
        .about(&["extensions"])
        .how("Looks for results of an extension's type in answer to requests that declare no extension.")
        .fix("Look at `clientCapabilities.extensions` of the request before using what an extension defines.")
        .judge(extension_fallback),
    server("versioning.initialize-told-versions")
        .says(R2026_07_28, BACKWARD, "A server of modern versions only SHOULD name them in the error by which it refuses `initialize`.")
        .how("Sends `initialize` and looks for a supported version in the message or data of the error.")
        .fix("Name the versions you support in the error's message or in `data.supported`.")
        .judge(initialize_names_versions),
];

/// Versions are dates, so that text compares as time does.
pub(crate) fn is_modern(version: &str) -> bool {
    version >= R2026_07_28.as_str()
}

/// The version that a request names.
pub(crate) fn named<'v>(call: &Call<'v>) -> Option<&'v str> {
    call.request.message.params()?.get("_meta")?.get(meta::PROTOCOL_VERSION)?.as_str()
}

/// Whether the server cannot implement a version: it does not list it, or no revision is that old.
fn is_unsupported(view: &View<'_>, version: &str) -> bool {
    let is_date = version.len() == 10
        && version.bytes().enumerate().all(|(i, b)| if i == 4 || i == 7 { b == b'-' } else { b.is_ascii_digit() });
    let before_all = is_date && version < Revision::R2024_11_05.as_str();
    before_all || view.discovered().is_some_and(|listed| !listed.contains(version))
}

/// Whether the HTTP headers, where there are any, tell the version that the body does.
pub(crate) fn headers_agree(view: &View<'_>, call: &Call<'_>) -> bool {
    let exchange = view.exchange(call.request.exchange);
    exchange.is_none_or(|x| x.request_header("mcp-protocol-version") == named(call))
}

fn unsupported_refused(view: &View<'_>) -> Verdict {
    let calls = view.all_calls().filter(|call| {
        let known = call.request.message.method().is_some_and(|m| method::find(m, R2026_07_28).is_some());
        let by_envelope = call.response.is_none_or(|r| view.is_envelope_refusal(r));
        let unsupported = named(call).is_some_and(|version| is_unsupported(view, version));
        // A version under which `server/discover` is served and which it does not list: `discover.own-version-listed`.
        let contradicts = call.request.is("server/discover") && call.result().is_some();
        known
            && unsupported
            && !contradicts
            && !by_envelope
            && call.request.has_required_meta()
            && headers_agree(view, call)
    });
    Verdict::every(calls, "no request of a version that the server does not implement was answered", |call| {
        let version = named(call).unwrap_or_default().escape_debug().to_string();
        match (call.response, call.error_code()) {
            (None, _) | (_, Some(UNSUPPORTED_VERSION)) => Ok(()),
            (Some(r), Some(code)) => {
                Err(r.breach("/error/code", format!("version `{version}` is refused with {code}, not with -32022")))
            }
            (Some(r), None) => Err(r.breach(
                "/result",
                format!("a request of version `{version}`, which the server does not support, was served"),
            )),
        }
    })
}

/// Refusals of a version.
fn refusals<'a, 'v>(view: &'a View<'v>) -> impl Iterator<Item = Call<'v>> + use<'a, 'v> {
    view.all_calls().filter(|c| c.error_code() == Some(UNSUPPORTED_VERSION))
}

const NO_REFUSAL: &str = "no error -32022 was seen";

fn supported_listed(view: &View<'_>) -> Verdict {
    Verdict::every(refusals(view), NO_REFUSAL, |call| {
        let Some(response) = call.response else { return Ok(()) };
        match call.error().and_then(|e| e.pointer("/data/supported")) {
            Some(Value::Array(list))
                if !list.is_empty() && list.iter().all(|v| v.as_str().is_some_and(|v| !v.is_empty())) =>
            {
                Ok(())
            }
            Some(_) => {
                Err(response
                    .breach("/error/data/supported", "`supported` is not an array of versions with at least one"))
            }
            None => Err(response.breach("/error", "the error does not list the supported versions")),
        }
    })
}

/// The version in the header of a request.
fn headed<'v>(view: &View<'v>, call: &Call<'v>) -> Option<&'v str> {
    view.exchange(call.request.exchange)?.request_header("mcp-protocol-version")
}

fn requested_named(view: &View<'_>) -> Verdict {
    let named_ones = refusals(view).filter(|c| named(c).is_some());
    Verdict::every(named_ones, NO_REFUSAL, |call| {
        let Some(response) = call.response else { return Ok(()) };
        let requested = call.error().and_then(|e| e.pointer("/data/requested"));
        match (named(call), requested) {
            (Some(version), Some(Value::String(requested))) if version == requested => Ok(()),
            // The header names a version too, and a server may look at that first.
            (_, Some(Value::String(requested))) if headed(view, call) == Some(requested.as_str()) => Ok(()),
            (_, Some(requested)) => {
                Err(response
                    .breach("/error/data/requested", format!("the request named another version than {requested}")))
            }
            (_, None) => Err(response.breach("/error", "the error does not name the requested version")),
        }
    })
}

fn lists_agree(view: &View<'_>) -> Verdict {
    let Some(discovered) = view.discovered() else {
        return Verdict::NotSeen("`server/discover` listed no versions here".to_owned());
    };
    let discovered: BTreeSet<_> = discovered.iter().copied().filter(|v| is_modern(v)).collect();
    let lists = refusals(view).filter_map(|c| {
        let list = c.error()?.pointer("/data/supported")?.as_array()?;
        let modern: BTreeSet<_> = list.iter().filter_map(Value::as_str).filter(|v| is_modern(v)).collect();
        Some((c.response?.event, modern))
    });
    Verdict::every(lists.collect::<Vec<_>>(), NO_REFUSAL, |(event, modern)| {
        if *modern == discovered {
            return Ok(());
        }
        let join = |set: &BTreeSet<&str>| set.iter().copied().collect::<Vec<_>>().join(", ").escape_debug().to_string();
        let why = format!("lists [{}]; `server/discover` lists [{}]", join(modern), join(&discovered));
        Err(Breach::at(*event, "/error/data/supported", why))
    })
}

fn extension_ids(view: &View<'_>) -> Verdict {
    let maps = view.results("server/discover").filter_map(|(sent, result)| {
        let extensions = result.pointer("/capabilities/extensions")?.as_object()?;
        Some(extensions.keys().map(move |key| (sent.event, key.as_str())).collect::<Vec<_>>())
    });
    Verdict::every(maps.flatten().collect::<Vec<_>>(), "the server advertises no extension", |(event, key)| {
        if is_prefixed_key(key) {
            return Ok(());
        }
        let pointer = format!("/result/capabilities/extensions/{}", pointer::escape(key));
        Err(Breach::at(
            *event,
            pointer,
            format!("`{}` is not an identifier of the form prefix/name", key.escape_debug()),
        ))
    })
}

/// Results to requests that declare no extension, of a server that advertises some; those of methods that only have
/// one type of result in the core count only where they break it.
fn extension_fallback(view: &View<'_>) -> Verdict {
    let advertises = view.capability("extensions").and_then(Value::as_object).is_some_and(|e| !e.is_empty());
    let bare = view.all_calls().filter(|call| {
        let capabilities = call.request.message.meta().and_then(|m| m.get(meta::CLIENT_CAPABILITIES));
        let none = capabilities
            .is_some_and(|c| declared(c, "extensions").is_none_or(|e| e.as_object().is_some_and(|e| e.is_empty())));
        let kind = call.result().and_then(|r| r.get("resultType")?.as_str());
        let own = kind.is_some_and(|k| !matches!(k, "complete" | "input_required"));
        let method = call.request.message.method().unwrap_or_default();
        let marked = own || matches!(method, "tools/call" | "resources/read" | "prompts/get");
        advertises && none && marked && call.result().is_some()
    });
    Verdict::every(bare, "no server that advertises extensions answered a request that declares none", |call| {
        let kind = call.result().and_then(|r| r.get("resultType")).and_then(Value::as_str);
        match (call.response, kind) {
            (Some(response), Some(kind)) if !matches!(kind, "complete" | "input_required") => {
                let why = format!("a result of type `{}`; the request declares no extension", kind.escape_debug());
                Err(response.breach("/result/resultType", why))
            }
            _ => Ok(()),
        }
    })
}

fn initialize_names_versions(view: &View<'_>) -> Verdict {
    if view.modern_only() != Some(true) {
        return Verdict::NotSeen("that the server serves modern versions only is not known here".to_owned());
    }
    let Some(versions) = view.discovered() else {
        return Verdict::NotSeen("the versions that the server serves are not known here".to_owned());
    };
    let refused = view.legacy_handshakes().filter(|c| c.error().is_some());
    Verdict::every(refused, "no `initialize` was refused", |call| {
        let text = call.error().map(Value::to_string).unwrap_or_default();
        match call.response {
            Some(response) if !versions.iter().any(|v| text.contains(v)) => {
                Err(response.breach("/error", "the error does not name a version that the server supports"))
            }
            _ => Ok(()),
        }
    })
}
