//! The page `basic`, section "_meta": keys that are reserved and have no meaning yet.

use std::collections::BTreeSet;

use serde_json::Value;
use wire::Kind;
use wire::revision::R2025_06_18;

use crate::reading::content::canonical;
use crate::rule::{Rule, at, both};
use crate::verdict::Verdict;
use crate::view::{Call, View};

/// The rule on reserved keys.
pub(crate) const RULES: &[Rule] = &[both("meta.reserved-keys-not-assumed")
    .says(R2025_06_18, at("basic/index", "_meta"), "Implementations MUST NOT make assumptions about values under reserved keys.")
    .how("Makes the same request with and without values of odd types under reserved keys that have no meaning: one must not fail where the other succeeds.")
    .fix("Read the keys you know and pass over all others, whatever stands under them.")
    .judge(not_assumed)];

/// Whether a key is reserved by every revision's reading, and is not one that the specification or its extensions, which use
/// `io.modelcontextprotocol/`, give a meaning.
fn is_reserved(key: &str) -> bool {
    let mut labels = key.rsplit_once('/').map_or("", |(prefix, _)| prefix).split('.').skip(1);
    matches!(labels.next(), Some("mcp" | "modelcontextprotocol")) && labels.next().is_some()
}

fn has_reserved(call: &Call<'_>) -> bool {
    let meta = call.request.message.meta().and_then(Value::as_object);
    meta.is_some_and(|m| m.keys().any(|key| is_reserved(key)))
}

/// What a request asks, reserved keys aside: the same for requests that ask the same.
fn rest<'v>(call: &Call<'v>) -> (&'v str, String) {
    let mut params = call.request.message.params().cloned().unwrap_or_default();
    if let Some(Value::Object(meta)) = params.get_mut("_meta") {
        meta.retain(|key, _| !is_reserved(key));
        if meta.is_empty() {
            params.as_object_mut().map(|members| members.remove("_meta"));
        }
    }
    let bare = params.as_object().is_none_or(serde_json::Map::is_empty);
    (call.request.message.method().unwrap_or_default(), if bare { String::new() } else { canonical(&params) })
}

fn not_assumed(view: &View<'_>) -> Verdict {
    let in_order =
        |c: &Call<'_>| view.is_valid_request(c.request) && c.response.is_some_and(|r| !view.is_envelope_refusal(r));
    let (odd, plain): (Vec<_>, Vec<_>) = view.all_calls().filter(in_order).partition(has_reserved);
    let granted: BTreeSet<_> = plain.iter().filter(|c| c.result().is_some()).map(rest).collect();
    let pairs = odd.into_iter().filter(|call| granted.contains(&rest(call)));
    Verdict::every(pairs, "no request succeeded that was also made with reserved keys", |call| match call.response {
        Some(r) if r.message.kind() == Kind::Error => Err(r.breach(
            "/error",
            "the request fails with unknown values under reserved `_meta` keys; without them it succeeds",
        )),
        _ => Ok(()),
    })
}
