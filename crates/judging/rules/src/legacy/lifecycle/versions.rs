//! The page `basic/lifecycle`, sections "Version Negotiation" and "Error Handling".

use std::collections::BTreeSet;

use serde_json::Value;
use wire::error_code::INVALID_PARAMS;
use wire::revision::{R2024_11_05, R2026_07_28};
use wire::{Era, Revision};

use crate::rule::{Anchor, Rule, at, server};
use crate::verdict::Verdict;
use crate::view::{Call, Exchange, View};

const NEGOTIATION: Anchor = at("basic/lifecycle", "version-negotiation");

/// The sections' rules.
pub(crate) const RULES: &[Rule] = &[
    server("lifecycle.version-echoed")
        .says(R2024_11_05, NEGOTIATION, "A version that the server supports MUST be answered with the same version.")
        .gone(R2026_07_28)
        .how("Compares requested and answered version of every `initialize`; a difference counts where the trace shows that the requested one is supported: the server agreed to it elsewhere, lists it in `server/discover`, or serves requests whose header names it and refuses those that name one that never existed.")
        .fix("Answer with the client's version if you serve it, and not always with your newest.")
        .judge(version_echoed),
    server("lifecycle.version-alternative")
        .says(R2024_11_05, NEGOTIATION, "A version that the server does not support MUST be answered with another one that it supports.")
        .gone(R2026_07_28)
        .how("Asks for a version that never existed and checks whether another one is offered. A refusal is left alone: the page shows one as an example.")
        .fix("Answer an unknown version with the newest one you serve.")
        .judge(version_alternative),
    server("lifecycle.version-latest")
        .says(R2024_11_05, NEGOTIATION, "The version offered instead SHOULD be the latest that the server supports.")
        .gone(R2026_07_28)
        .how("Compares the version offered for an unknown one with the versions the same server accepts when asked.")
        .fix("Offer your newest version where the client's is unknown.")
        .judge(version_latest),
    server("lifecycle.version-error")
        .says(R2024_11_05, at("basic/lifecycle", "error-handling"), "A refusal over the version SHOULD have the code -32602 and list the supported versions.")
        .gone(R2026_07_28)
        .how("Asks for a version that never existed; where that is refused, looks at the error.")
        .fix("Answer with another version; if you refuse, use -32602 with `data.supported` and `data.requested`.")
        .judge(version_error),
];

/// The version that an `initialize` asks for.
pub(super) fn requested<'v>(call: &Call<'v>) -> Option<&'v str> {
    call.request.message.params()?.get("protocolVersion")?.as_str()
}

fn answered<'v>(call: &Call<'v>) -> Option<&'v str> {
    call.result()?.get("protocolVersion")?.as_str()
}

/// The versions that the server agreed to anywhere in the trace, real ones only.
fn supported<'v>(view: &View<'v>) -> BTreeSet<&'v str> {
    view.calls("initialize").filter_map(|c| answered(&c)).filter(|v| v.parse::<Revision>().is_ok()).collect()
}

/// The versions of this era that the server says it supports.
fn listed<'v>(view: &View<'v>) -> BTreeSet<&'v str> {
    let lists = view.calls("server/discover").filter_map(|call| call.result()?.get("supportedVersions")?.as_array());
    let legacy = |v: &&str| v.parse::<Revision>().is_ok_and(|revision| revision.era() == Era::Legacy);
    lists.flatten().filter_map(Value::as_str).filter(legacy).collect()
}

/// Whether no server can support a version: it is not a date, or one before the first revision or far ahead.
pub(super) fn never_existed(version: &str) -> bool {
    let digits = |part: Option<&str>, length: usize| {
        part.is_some_and(|p| p.len() == length && p.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut parts = version.split('-');
    let is_date =
        digits(parts.next(), 4) && digits(parts.next(), 2) && digits(parts.next(), 2) && parts.next().is_none();
    is_date && (version < R2024_11_05.as_str() || version > "2090")
}

/// The versions with which requests were served over HTTP, where one that never existed was refused: a server must refuse
/// those that it does not support.
fn served_by_header<'v>(view: &View<'v>) -> BTreeSet<&'v str> {
    let named = |x: &&Exchange<'v>| x.request_header("mcp-protocol-version");
    let refused = view.exchanges().iter().any(|x| x.status() == Some(400) && named(&x).is_some_and(never_existed));
    let served = view.exchanges().iter().filter(|x| refused && x.served());
    let greets = |x: &Exchange<'v>| x.client_messages.iter().any(|sent| sent.is("initialize"));
    let legacy = |v: &&str| v.parse::<Revision>().is_ok_and(|revision| revision.era() == Era::Legacy);
    served.filter(|x| !greets(x)).filter_map(|x| named(&x)).filter(legacy).collect()
}

fn version_echoed(view: &View<'_>) -> Verdict {
    let mut supported = supported(view);
    supported.extend(served_by_header(view));
    supported.extend(listed(view));
    let marked = view.calls("initialize").filter(|c| match (requested(c), answered(c)) {
        (Some(version), Some(offered)) => {
            !never_existed(version) && (version == offered || supported.contains(version))
        }
        _ => false,
    });
    Verdict::every(marked, "no version that the server supports was asked for", |call| {
        match (call.response, requested(call), answered(call)) {
            (Some(response), Some(version), Some(offered)) if version != offered => {
                let why = format!(
                    "asked for `{version}`, which the server supports, and answered with `{}`",
                    offered.escape_debug()
                );
                Err(response.breach("/result/protocolVersion", why))
            }
            _ => Ok(()),
        }
    })
}

/// `initialize` requests for versions that never existed.
fn unknown<'a, 'v>(view: &'a View<'v>) -> impl Iterator<Item = Call<'v>> + use<'a, 'v> {
    view.calls("initialize").filter(|c| c.response.is_some() && requested(c).is_some_and(never_existed))
}

const UNSEEN: &str = "no version that never existed was asked for and answered with a result";

fn version_alternative(view: &View<'_>) -> Verdict {
    let results = unknown(view).filter(|c| answered(c).is_some());
    Verdict::every(results, UNSEEN, |call| match (call.response, answered(call)) {
        (Some(response), Some(offered)) if never_existed(offered) => {
            let why = format!("agreed to `{}`, a version that never existed", offered.escape_debug());
            Err(response.breach("/result/protocolVersion", why))
        }
        _ => Ok(()),
    })
}

fn version_latest(view: &View<'_>) -> Verdict {
    let newest = supported(view).into_iter().next_back();
    let offered = unknown(view).filter(|c| {
        let other = |offered: &str| {
            view.calls("initialize")
                .any(|o| o.request.index != c.request.index && answered(&o).is_some_and(|v| v != offered))
        };
        answered(c).is_some_and(|offered| {
            !never_existed(offered) && (offered == Revision::NEWEST_LEGACY.as_str() || other(offered))
        })
    });
    Verdict::every(offered, UNSEEN, |call| match (call.response, answered(call), newest) {
        (Some(response), Some(offered), Some(newest)) if offered < newest => {
            let why = format!("offered `{}`; the server also supports `{newest}`", offered.escape_debug());
            Err(response.breach("/result/protocolVersion", why))
        }
        _ => Ok(()),
    })
}

fn version_error(view: &View<'_>) -> Verdict {
    let refused =
        unknown(view).filter(|c| c.error().is_some() && c.response.is_some_and(|r| !view.is_envelope_refusal(r)));
    Verdict::every(refused, "no version that never existed was refused", |call| {
        let (Some(response), Some(error)) = (call.response, call.error()) else { return Ok(()) };
        if call.error_code() != Some(INVALID_PARAMS) {
            return Err(response.breach("/error/code", "the version is refused with another code than -32602"));
        }
        match error.pointer("/data/supported") {
            Some(Value::Array(list)) if !list.is_empty() && list.iter().all(Value::is_string) => Ok(()),
            _ => Err(response.breach("/error", "the refusal does not list the supported versions in `data.supported`")),
        }
    })
}
