//! The page `server/discover`.

use serde_json::Value;
use wire::error_code::{METHOD_NOT_FOUND, UNSUPPORTED_VERSION};
use wire::revision::R2026_07_28;

use crate::basic::versioning::{headers_agree, is_modern, named};
use crate::rule::{Anchor, Rule, at, server};
use crate::verdict::Verdict;
use crate::view::{Call, View};

const RESULT: Anchor = at("server/discover", "discoverresult");

/// The page's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    server("discover.implemented")
        .says(R2026_07_28, at("server/discover", ""), "A server MUST implement `server/discover`.")
        .how("Asks for `server/discover` and checks whether the method is known.")
        .fix("Answer `server/discover` with versions and capabilities.")
        .judge(implemented),
    server("discover.versions-listed")
        .says(R2026_07_28, RESULT, "The result MUST list the supported versions, at least one.")
        .how("Looks at `supportedVersions` of every result of `server/discover`.")
        .fix("Put an array of your versions, each a non-empty string, into `supportedVersions`.")
        .judge(versions_listed),
    server("discover.own-version-listed")
        .says(
            R2026_07_28,
            at("basic/versioning", "protocol-version-negotiation"),
            "A version that `server/discover` is served under MUST be among those it lists.",
        )
        .how("Compares the version that the request names with `supportedVersions` of its result.")
        .fix("List every version you serve, or refuse the others with -32022.")
        .judge(own_version_listed),
    server("discover.versions-served")
        .says(R2026_07_28, RESULT, "A version that is listed MUST be served.")
        .how("Makes requests under the listed modern versions and looks for refusals with -32022.")
        .fix("List only versions you serve.")
        .judge(versions_served),
    server("discover.capabilities-listed")
        .says(R2026_07_28, RESULT, "The result MUST have the server's capabilities, an object.")
        .how("Looks at `capabilities` of every result of `server/discover`.")
        .fix("Put your capabilities into `capabilities`; an empty object if there are none.")
        .judge(capabilities_listed),
    server("discover.server-info")
        .says(R2026_07_28, RESULT, "The result SHOULD name the server in `_meta`, with name and version.")
        .how("Looks for `io.modelcontextprotocol/serverInfo` in `_meta` of every result of `server/discover`.")
        .fix("Add `_meta[\"io.modelcontextprotocol/serverInfo\"]` with name and version.")
        .judge(server_info),
];

const UNSEEN: &str = "`server/discover` was not answered with a result";

/// Answered requests that give no reason for a refusal.
fn discoveries<'a, 'v>(view: &'a View<'v>) -> impl Iterator<Item = Call<'v>> + use<'a, 'v> {
    view.calls("server/discover").filter(|c| c.response.is_some() && view.is_valid_request(c.request))
}

/// A server that answered it once knows it, whatever it says later: one of both eras may take what came in between for
/// the word of a legacy client.
fn implemented(view: &View<'_>) -> Verdict {
    let answered: Vec<_> = view.results("server/discover").map(|(sent, _)| sent.event).collect();
    if !answered.is_empty() {
        return Verdict::Holds(answered);
    }
    let known = discoveries(view).filter(|c| c.result().is_some() || c.error_code() == Some(METHOD_NOT_FOUND));
    Verdict::every(known, "`server/discover` was not asked for, or refused for another reason", |call| {
        match (call.response, call.error_code()) {
            (Some(r), Some(METHOD_NOT_FOUND)) => {
                Err(r.breach("/error/code", "the server does not know `server/discover`"))
            }
            _ => Ok(()),
        }
    })
}

fn versions_listed(view: &View<'_>) -> Verdict {
    let text = |v: &Value| v.as_str().is_some_and(|v| !v.is_empty());
    Verdict::every(view.results("server/discover"), UNSEEN, |(sent, result)| match result.get("supportedVersions") {
        Some(Value::Array(list)) if !list.is_empty() && list.iter().all(text) => Ok(()),
        Some(_) => Err(sent
            .breach("/result/supportedVersions", "`supportedVersions` is not an array of versions with at least one")),
        None => Err(sent.breach("/result", "the result does not list the supported versions")),
    })
}

fn own_version_listed(view: &View<'_>) -> Verdict {
    let served = view.calls("server/discover").filter(|c| {
        let list = c.result().and_then(|r| r.get("supportedVersions")?.as_array());
        named(c).is_some() && list.is_some_and(|list| !list.is_empty())
    });
    Verdict::every(served, UNSEEN, |call| {
        let version = named(call).unwrap_or_default();
        let list = call.result().and_then(|r| r.get("supportedVersions")).and_then(Value::as_array);
        let listed = list.is_some_and(|list| list.iter().any(|v| v == version));
        match call.response {
            Some(response) if !listed => {
                let why = format!("served under `{}`, which is not listed", version.escape_debug());
                Err(response.breach("/result/supportedVersions", why))
            }
            _ => Ok(()),
        }
    })
}

fn versions_served(view: &View<'_>) -> Verdict {
    let Some(listed) = view.discovered() else { return Verdict::NotSeen(UNSEEN.to_owned()) };
    let calls = view
        .all_calls()
        .filter(|c| c.response.is_some() && named(c).is_some_and(|v| is_modern(v) && listed.contains(v)))
        // Where the header names another version, that may be the one that is refused.
        .filter(|c| headers_agree(view, c));
    Verdict::every(calls, "no request of a listed version was answered", |call| {
        match (call.response, call.error_code()) {
            (Some(r), Some(UNSUPPORTED_VERSION)) => {
                let version = named(call).unwrap_or_default().escape_debug();
                Err(r.breach("/error/code", format!("`{version}` is listed by `server/discover` and refused here")))
            }
            _ => Ok(()),
        }
    })
}

fn capabilities_listed(view: &View<'_>) -> Verdict {
    Verdict::every(view.results("server/discover"), UNSEEN, |(sent, result)| match result.get("capabilities") {
        Some(Value::Object(_)) => Ok(()),
        Some(_) => Err(sent.breach("/result/capabilities", "`capabilities` is not an object")),
        None => Err(sent.breach("/result", "the result has no `capabilities`")),
    })
}

fn server_info(view: &View<'_>) -> Verdict {
    Verdict::every(view.results("server/discover"), UNSEEN, |(sent, result)| {
        let info = result.pointer("/_meta/io.modelcontextprotocol~1serverInfo");
        let text = |name: &str| info.and_then(|i| i.get(name)).is_some_and(Value::is_string);
        if text("name") && text("version") {
            return Ok(());
        }
        Err(sent.breach("/result", "the result does not name the server and its version in `_meta`"))
    })
}
