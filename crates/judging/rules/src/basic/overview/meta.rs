//! The page `basic`, section "_meta": required fields, capabilities declared with them, and the names of keys.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use wire::error_code::{INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION};
use wire::meta;
use wire::pointer;
use wire::revision::{R2025_06_18, R2025_11_25, R2026_07_28};
use wire::{Kind, Transport, method};

use crate::reading::content::canonical;
use crate::reading::questions;
use crate::rule::{Anchor, Rule, at, both, client, server};
use crate::verdict::{Breach, Verdict};
use crate::view::{Call, MessageAt, View};

const META: Anchor = at("basic/index", "_meta");

/// The section's rules.
pub(crate) const RULES: &[Rule] = &[
    both("meta.prefix-labels")
        .says(R2025_06_18, META, "The prefix of a `_meta` key MUST be labels joined by dots, each beginning with a letter and ending with a letter or digit.")
        .how("Looks at the part before the slash of every `_meta` key.")
        .fix("Name the key `reverse.dns.name/key`, with letters, digits and hyphens in the labels.")
        .judge(prefix_labels),
    both("meta.key-names")
        .says(R2025_06_18, META, "The name of a `_meta` key MUST be empty or begin and end with a letter or digit of ASCII, with only those, `-`, `_` and `.` between.")
        .how("Looks at the part after the slash of every `_meta` key, or the whole where there is none.")
        .fix("Name the key with ASCII letters, digits, `-`, `_` and `.`, and not with a sign at either end.")
        .judge(key_names),
    both("meta.reverse-dns")
        .says(R2025_11_25, META, "The prefix of a `_meta` key SHOULD be written in reverse DNS notation.")
        .how("Looks for prefixes that end, but do not begin, with a well-known top-level domain.")
        .fix("Turn the prefix around: `com.example/`, not `example.com/`.")
        .judge(reverse_dns),
    server("meta.required-enforced")
        .says(R2026_07_28, META, "A request that lacks a required `_meta` field MUST be refused with the code -32602.")
        .how("Leaves `protocolVersion`, `clientCapabilities` or all of `_meta` out of a request and looks at the answer. Where a server of both eras could take it for a legacy request, nothing is judged.")
        .fix("Check both fields on every request before anything else; answer with -32602 where one is missing.")
        .judge(required_enforced),
    server("meta.undeclared-not-used")
        .says(R2026_07_28, META, "A server MUST NOT rely on capabilities that the request does not declare.")
        .how("Compares what every `input_required` result asks for with the capabilities its request declares.")
        .fix("Look at `clientCapabilities` of the request at hand before asking for sampling, elicitation or roots.")
        .judge(undeclared_not_used),
    server("meta.missing-capability-refused")
        .says(R2026_07_28, META, "A request that cannot be served without an undeclared capability MUST be refused with the code -32021.")
        .how("Makes a request that asks for input once with the capability and once without, and looks at how the second one fails.")
        .fix("Answer with -32021 and list what is missing in `data.requiredCapabilities`.")
        .judge(missing_capability_refused),
    server("meta.missing-capability-listed")
        .says(R2026_07_28, META, "An error -32021 MUST list the missing capabilities in `data.requiredCapabilities`.")
        .how("Looks at the data of every error with the code -32021.")
        .fix("Put an object of the missing capabilities into `data.requiredCapabilities`, formed like `clientCapabilities`.")
        .judge(missing_capability_listed),
    server("meta.server-info")
        .says(R2026_07_28, META, "Every result SHOULD name the server in `_meta`, under `io.modelcontextprotocol/serverInfo`.")
        .how("Looks at the `_meta` of every result; that of `server/discover` has a rule of its own.")
        .fix("Add `_meta[\"io.modelcontextprotocol/serverInfo\"]` with name and version to every result.")
        .judge(server_info),
    server("meta.client-info-ignored")
        .says(R2026_07_28, META, "A server SHOULD NOT behave differently for another `clientInfo`.")
        .how("Makes the same request under different names of the client and checks whether one fails where another succeeds.")
        .fix("Use `clientInfo` for display and logs only; decide by version, capabilities and authorization.")
        .judge(client_info_ignored),
    client("meta.required-sent")
        .says(R2026_07_28, META, "Every request of a client MUST carry the version and the client's capabilities in `_meta`.")
        .how("Looks at `_meta` of every request on connections without a handshake. Works with any server.")
        .fix("Put `io.modelcontextprotocol/protocolVersion` and `io.modelcontextprotocol/clientCapabilities` into `_meta` of every request.")
        .judge(required_sent),
    client("meta.client-info-sent")
        .says(R2026_07_28, META, "Every request of a client SHOULD name the client in `_meta`, under `io.modelcontextprotocol/clientInfo`.")
        .how("Looks for name and version in `_meta` of every request on connections without a handshake. Works with any server.")
        .fix("Put `io.modelcontextprotocol/clientInfo` with `name` and `version` into `_meta` of every request.")
        .judge(client_info_sent),
    client("meta.server-info-ignored")
        .says(R2026_07_28, META, "A client SHOULD NOT behave differently for another `serverInfo`.")
        .unobservable("a trace shows one server under one name, not the client's behaviour under another name"),
];

/// Every result of the judged party.
pub(super) fn results<'v>(view: &View<'v>) -> Vec<(MessageAt<'v>, &'v Value)> {
    view.by_subject().filter_map(|s| Some((s, s.message.result()?))).collect()
}

/// Every `_meta` object in the messages of the judged party, where the schema has one: event, pointer, members.
pub(super) fn metas<'v>(view: &View<'v>) -> Vec<(usize, String, &'v Map<String, Value>)> {
    let mut found = Vec::new();
    for sent in view.by_subject() {
        let value = sent.message.value();
        let mut owners = vec!["/result".to_owned(), "/params".to_owned()];
        for list in ["tools", "resources", "resourceTemplates", "prompts", "contents", "content"] {
            let count = value.pointer(&format!("/result/{list}")).and_then(Value::as_array).map_or(0, Vec::len);
            owners.extend((0..count).map(|index| format!("/result/{list}/{index}")));
        }
        for owner in owners {
            let pointer = format!("{owner}/_meta");
            if let Some(Value::Object(members)) = value.pointer(&pointer) {
                found.push((sent.event, pointer, members));
            }
        }
    }
    found
}

/// Every key of every `_meta`, with the pointer to it.
fn keys<'v>(view: &View<'v>) -> Vec<(usize, (String, &'v str))> {
    let in_meta = |(event, pointer, members): (usize, String, &'v Map<String, Value>)| {
        let pointer_to = move |key: &str| pointer::member(&pointer, key);
        members.keys().map(move |key| (event, (pointer_to(key), key.as_str()))).collect::<Vec<_>>()
    };
    metas(view).into_iter().flat_map(in_meta).collect()
}

fn prefix(key: &str) -> Option<&str> {
    key.rsplit_once('/').map(|(prefix, _)| prefix)
}

fn is_label(label: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || c == '-';
    label.starts_with(char::is_alphabetic) && label.ends_with(char::is_alphanumeric) && label.chars().all(inner)
}

/// Whether the part of a key after its prefix is a name.
fn is_name(name: &str) -> bool {
    let edge = |c: char| c.is_ascii_alphanumeric();
    let inner = |c: char| edge(c) || matches!(c, '-' | '_' | '.');
    name.is_empty() || (name.starts_with(edge) && name.ends_with(edge) && name.chars().all(inner))
}

/// Whether `key` follows the rules for keys and has a prefix, as an extension's identifier must.
pub(crate) fn is_prefixed_key(key: &str) -> bool {
    key.rsplit_once('/').is_some_and(|(prefix, name)| prefix.split('.').all(is_label) && is_name(name))
}

const NO_KEY: &str = "the judged party sent no `_meta` key";

fn prefix_labels(view: &View<'_>) -> Verdict {
    let prefixed = keys(view).into_iter().filter(|(_, (_, key))| prefix(key).is_some());
    Verdict::every(prefixed, "the judged party sent no `_meta` key with a prefix", |(event, (pointer, key))| {
        match prefix(key).unwrap_or_default().split('.').find(|label| !is_label(label)) {
            None => Ok(()),
            Some(label) => {
                let why = format!("`{}` is not a label for the prefix of a `_meta` key", label.escape_debug());
                Err(Breach::at(*event, pointer, why))
            }
        }
    })
}

fn key_names(view: &View<'_>) -> Verdict {
    Verdict::every(keys(view), NO_KEY, |(event, (pointer, key))| {
        let name = key.rsplit_once('/').map_or(*key, |(_, name)| name);
        if is_name(name) {
            return Ok(());
        }
        Err(Breach::at(*event, pointer, format!("`{}` is not a name for a `_meta` key", name.escape_debug())))
    })
}

/// Top-level domains that no reverse DNS name ends with by accident.
const DOMAINS: [&str; 8] = ["com", "org", "net", "io", "dev", "ai", "app", "edu"];

fn reverse_dns(view: &View<'_>) -> Verdict {
    let dotted = keys(view)
        .into_iter()
        .filter(|(_, (_, key))| prefix(key).is_some_and(|p| p.contains('.') && p.split('.').all(is_label)));
    Verdict::every(dotted, "the judged party sent no `_meta` key with a dotted prefix", |(event, (pointer, key))| {
        let prefix = prefix(key).unwrap_or_default();
        let first = prefix.split('.').next().unwrap_or_default();
        let last = prefix.rsplit('.').next().unwrap_or_default();
        let begins_well = DOMAINS.contains(&first) || first.len() == 2;
        if begins_well || !DOMAINS.contains(&last) {
            return Ok(());
        }
        Err(Breach::at(*event, pointer, format!("`{}` is a domain name written forwards", prefix.escape_debug())))
    })
}

fn required_enforced(view: &View<'_>) -> Verdict {
    // A server that refuses this revision in whole requests too says so first.
    let whole = |c: &Call<'_>| c.request.has_required_meta() && view.revision_of(c.request) == Some(view.revision());
    let refuses = view.all_calls().any(|c| c.error_code() == Some(UNSUPPORTED_VERSION) && whole(&c));
    let is_about_version = |c: &Call<'_>| refuses && c.error_code() == Some(UNSUPPORTED_VERSION);
    let calls = view.all_calls().filter(|c| must_refuse(view, c) && !is_about_version(c));
    Verdict::every(
        calls,
        "no request that lacks a required field, and can only be modern, was answered",
        |call| match (call.response, call.error_code()) {
            (None, _) | (_, Some(INVALID_PARAMS)) => Ok(()),
            (Some(r), Some(code)) => Err(r.breach(
                "/error/code",
                format!("the request lacks a required `_meta` field; refused with {code}, not with -32602"),
            )),
            (Some(r), None) => Err(r.breach("/result", "the request lacks a required `_meta` field and was served")),
        },
    )
}

/// A request of this revision that lacks a required field and gives no other ground for an answer of another kind.
fn must_refuse(view: &View<'_>, call: &Call<'_>) -> bool {
    let request = call.request;
    let Some(response) = call.response else { return false };
    let known = request.message.method().is_some_and(|m| method::find(m, view.revision()).is_some());
    let version = request.message.meta().and_then(|m| m.get(meta::PROTOCOL_VERSION));
    let served = version.is_none_or(|v| v == view.revision().as_str());
    // A server of both eras may tell them by the version, and does not know `server/discover` in the older one.
    let two_eras = version.is_none() && view.modern_only() != Some(true);
    // A legacy result of such a server has no `resultType`.
    let served_as_legacy = two_eras && call.result().is_some_and(|result| result.get("resultType").is_none());
    let other_ground = view.is_envelope_refusal(response)
        || !request.has_named_params()
        || served_as_legacy
        || (call.error_code() == Some(METHOD_NOT_FOUND) && (!request.is("server/discover") || two_eras));
    let legacy = view.handshake(request.connection).is_some() || request.batched;
    known && !request.has_required_meta() && served && !other_ground && !legacy && is_surely_modern(view, request)
}

/// A request without any modern field may be a legacy one to a server of both eras, unless a header or the server's own
/// list of versions rules that out.
fn is_surely_modern(view: &View<'_>, request: MessageAt<'_>) -> bool {
    let some_field = request.message.meta().is_some_and(|m| {
        [meta::PROTOCOL_VERSION, meta::CLIENT_CAPABILITIES].into_iter().any(|field| m.get(field).is_some())
    });
    let header = || {
        let exchange = view.exchange(request.exchange);
        exchange.is_some_and(|x| x.request_header("mcp-protocol-version") == Some(view.revision().as_str()))
    };
    some_field || view.modern_only() == Some(true) || (view.transport() == Transport::StreamableHttp && header())
}

/// A key, a method and the params under it.
type Input<'v> = (&'v str, &'v str, Option<&'v Value>);

/// What an `input_required` result asks for: the key, the method and the params of each request in it.
fn inputs(result: &Value) -> Vec<Input<'_>> {
    let requests = result.get("inputRequests").and_then(Value::as_object);
    let each = requests.into_iter().flatten();
    each.filter_map(|(key, r)| Some((key.as_str(), r.get("method")?.as_str()?, r.get("params")))).collect()
}

fn undeclared_not_used(view: &View<'_>) -> Verdict {
    let asking = view.all_calls().filter_map(|call| {
        let declared = call.request.message.meta()?.get(meta::CLIENT_CAPABILITIES)?;
        let inputs = inputs(call.result()?);
        (!inputs.is_empty()).then_some((call.response?.event, (call, declared, inputs)))
    });
    Verdict::every(asking, "no result asked the client for input", |(event, (_, declared, inputs))| {
        let lacking = inputs
            .iter()
            .find_map(|(key, method, params)| Some((key, method, questions::lacking(declared, method, *params)?)));
        match lacking {
            None => Ok(()),
            Some((key, method, capability)) => {
                let why = format!("asks for `{}`; the request does not declare `{capability}`", method.escape_debug());
                Err(Breach::at(*event, format!("/result/inputRequests/{}/method", pointer::escape(key)), why))
            }
        }
    })
}

/// Refusals of requests that, with more declared, ask the client for something undeclared here.
fn missing_capability_refused(view: &View<'_>) -> Verdict {
    let calls: Vec<_> = view.all_calls().collect();
    let mut asking: BTreeMap<String, Vec<Vec<Input<'_>>>> = BTreeMap::new();
    for call in &calls {
        let requested = call.result().map(inputs).unwrap_or_default();
        if !requested.is_empty() {
            asking.entry(call.request.message.content_key(&["_meta"])).or_default().push(requested);
        }
    }
    let refused = calls.iter().copied().filter(|call| {
        let Some(declared) = call.request.message.meta().and_then(|m| m.get(meta::CLIENT_CAPABILITIES)) else {
            return false;
        };
        let first = call.request.message.params().is_some_and(|p| p.get("inputResponses").is_none());
        let by_envelope = call.response.is_none_or(|r| view.is_envelope_refusal(r));
        (call.error().is_some() || is_failure(call))
            && first
            && !by_envelope
            && asking
                .get(&call.request.message.content_key(&["_meta"]))
                .into_iter()
                .flatten()
                .flatten()
                .any(|(_, method, params)| questions::lacking(declared, method, *params).is_some())
    });
    Verdict::every(refused, "no request was refused that asks for input once a capability is declared", |call| {
        match (call.response, call.error_code()) {
            (Some(r), Some(code)) if code != MISSING_CLIENT_CAPABILITY => {
                Err(r.breach("/error/code", format!("a capability is missing; refused with {code}, not with -32021")))
            }
            (Some(r), None) => {
                Err(r.breach("/result/isError", "a capability is missing; the call fails in a result, not with -32021"))
            }
            _ => Ok(()),
        }
    })
}

/// Whether a call's result says that it failed.
fn is_failure(call: &Call<'_>) -> bool {
    call.result().is_some_and(|result| result.get("isError") == Some(&Value::Bool(true)))
}

/// Requests that differ from a successful one in `clientInfo` and in nothing else.
fn client_info_ignored(view: &View<'_>) -> Verdict {
    let in_order =
        |c: &Call<'_>| c.response.is_some_and(|r| !view.is_envelope_refusal(r)) && c.request.has_required_meta();
    let calls: Vec<_> = view.all_calls().filter(in_order).collect();
    let info = |c: &Call<'_>| c.request.message.meta().and_then(|m| m.get(meta::CLIENT_INFO)).map(canonical);
    let rest = |c: &Call<'_>| {
        let mut meta = c.request.message.meta().cloned().unwrap_or_default();
        if let Value::Object(members) = &mut meta {
            members.remove(meta::CLIENT_INFO);
        }
        canonical(&meta)
    };
    // Under which names a request succeeded; two are enough to find one that is another.
    let mut granted: BTreeMap<_, BTreeSet<Option<String>>> = BTreeMap::new();
    for call in calls.iter().filter(|c| c.result().is_some()) {
        let names = granted.entry((call.request.message.content_key(&["_meta"]), rest(call))).or_default();
        if names.len() < 2 {
            names.insert(info(call));
        }
    }
    let compared = calls.iter().copied().filter(|call| {
        let names = granted.get(&(call.request.message.content_key(&["_meta"]), rest(call)));
        names.is_some_and(|names| names.iter().any(|name| *name != info(call)))
    });
    Verdict::every(compared, "no request succeeded that was also made under another `clientInfo`", |call| {
        match call.response {
            Some(r) if r.message.kind() == Kind::Error => {
                Err(r.breach("/error", "the request fails; under another `clientInfo` the same one succeeds"))
            }
            _ => Ok(()),
        }
    })
}

fn missing_capability_listed(view: &View<'_>) -> Verdict {
    let errors = view
        .by_subject()
        .filter(|s| s.message.kind() == Kind::Error && s.message.error_code() == Some(MISSING_CLIENT_CAPABILITY));
    Verdict::every(errors, "no error -32021 was seen", |sent| {
        match sent.message.error().and_then(|e| e.pointer("/data/requiredCapabilities")) {
            Some(Value::Object(listed)) if !listed.is_empty() => Ok(()),
            Some(_) => Err(sent.breach(
                "/error/data/requiredCapabilities",
                "the list of missing capabilities is not an object with members",
            )),
            None => Err(sent.breach("/error", "the error does not say which capabilities are missing")),
        }
    })
}

fn server_info(view: &View<'_>) -> Verdict {
    let calls = view.all_calls().filter(|c| {
        c.result().is_some()
            && c.request.has_required_meta()
            && !c.request.is("server/discover")
            && !c.request.is("initialize")
    });
    Verdict::every(calls, "no request of this revision was answered with a result", |call| match call.response {
        Some(r) if r.message.meta().and_then(|m| m.get(meta::SERVER_INFO)).is_none() => {
            Err(r.breach("/result", "the result does not name the server in `_meta`"))
        }
        _ => Ok(()),
    })
}

/// Requests of the client in the manner of the modern era: on connections where it has tried no handshake.
pub(crate) fn modern_requests<'v>(view: &View<'v>) -> Vec<MessageAt<'v>> {
    let mut greeted = BTreeSet::new();
    let mut found = Vec::new();
    for sent in view.calls_by(wire::Party::Client).map(|call| call.request) {
        let legacy = || view.exchange(sent.exchange)?.request_header("mcp-protocol-version");
        if sent.is("initialize") {
            greeted.insert(sent.connection);
        } else if !greeted.contains(&sent.connection) && legacy().is_none_or(|version| version >= R2026_07_28.as_str())
        {
            found.push(sent);
        }
    }
    found
}

fn required_sent(view: &View<'_>) -> Verdict {
    Verdict::every(modern_requests(view), "the client made no request of this revision", |sent| {
        let meta = sent.message.meta();
        let member = |key: &str| meta.and_then(|meta| meta.get(key));
        if !member(meta::PROTOCOL_VERSION).is_some_and(Value::is_string) {
            return Err(sent.breach("/params/_meta", "the request does not name its version in `_meta`"));
        }
        if !member(meta::CLIENT_CAPABILITIES).is_some_and(Value::is_object) {
            return Err(
                sent.breach("/params/_meta", "the request does not declare the client's capabilities in `_meta`")
            );
        }
        Ok(())
    })
}

fn client_info_sent(view: &View<'_>) -> Verdict {
    Verdict::every(modern_requests(view), "the client made no request of this revision", |sent| {
        let info = sent.message.meta().and_then(|meta| meta.get(meta::CLIENT_INFO));
        let has = |name: &str| info.and_then(|info| info.get(name)).is_some_and(Value::is_string);
        let named = has("name") && has("version");
        if named { Ok(()) } else { Err(sent.breach("/params/_meta", "the request does not say which client makes it")) }
    })
}
