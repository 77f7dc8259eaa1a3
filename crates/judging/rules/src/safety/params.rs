//! What stands around the parameters that a method knows: nothing at all, or more.

use std::collections::BTreeSet;

use serde_json::Value;
use wire::error_code::INTERNAL_ERROR;
use wire::{Era, Party};

use super::anywhere;
use crate::names::UNKNOWN_MEMBER;
use crate::rule::Rule;
use crate::verdict::Verdict;
use crate::view::{Call, View};

/// The rules.
pub(crate) const RULES: &[Rule] = &[anywhere(
    "safety.params-tolerated",
    "A good server serves a request whose optional `params` are left out, and passes over members of them that it does not know.",
)
.by_default()
.how(
    "Asks for a list and for what is harmless as usual, without `params` (before 2026-07-28), and with a member that no method \
     has. An error is at fault where the same succeeds as usual; over the unknown member, only an internal error is.",
)
.fix("Treat missing `params` as an empty object, and read the members you know by name.")
.judge(tolerated)];

/// The methods whose `params` are optional in the legacy era.
const OPTIONAL: [&str; 5] = ["ping", "tools/list", "prompts/list", "resources/list", "resources/templates/list"];

/// How a request differs from a usual one.
#[derive(PartialEq)]
enum Params {
    Usual,
    LeftOut,
    More,
}

fn params(call: &Call<'_>) -> Option<Params> {
    match call.request.message.params() {
        None => Some(Params::LeftOut),
        Some(Value::Object(members)) if members.contains_key(UNKNOWN_MEMBER) => Some(Params::More),
        Some(Value::Object(members)) => members.keys().all(|name| name == "_meta").then_some(Params::Usual),
        Some(_) => None,
    }
}

fn method<'v>(call: &Call<'v>) -> &'v str {
    call.request.message.method().unwrap_or_default()
}

fn tolerated(view: &View<'_>) -> Verdict {
    let in_order =
        |c: &Call<'_>| view.is_valid_request(c.request) && c.response.is_some_and(|r| !view.is_envelope_refusal(r));
    let calls: Vec<_> = view.calls_by(Party::Client).filter(in_order).collect();
    let usual = |c: &&Call<'_>| c.result().is_some() && params(c) == Some(Params::Usual);
    let granted: BTreeSet<_> = calls.iter().filter(usual).map(method).collect();
    let odd = calls.iter().filter(|call| match params(call) {
        Some(Params::LeftOut) => view.revision().era() == Era::Legacy && OPTIONAL.contains(&method(call)),
        Some(Params::More) => true,
        Some(Params::Usual) | None => false,
    });
    let judged = odd.filter(|call| granted.contains(method(call)));
    Verdict::every(judged, "no request without `params`, or with an unknown member of them, was answered", |call| {
        let Some(response) = call.response.filter(|_| call.error().is_some()) else { return Ok(()) };
        match params(call) {
            Some(Params::LeftOut) => {
                Err(response.breach("/error", "the request fails without `params`, which are optional"))
            }
            _ if call.error_code() == Some(INTERNAL_ERROR) => {
                Err(response.breach("/error/code", "an unknown member of `params` is an internal error"))
            }
            _ => Ok(()),
        }
    })
}
