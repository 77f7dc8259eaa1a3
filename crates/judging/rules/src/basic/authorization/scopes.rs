//! Scopes: what a challenge says of them, and the refusal of a token that has too few.

use serde_json::Value;
use wire::http::Challenge;
use wire::revision::{R2025_03_26, R2025_11_25, R2026_07_28};

use super::metadata::content;
use super::{HTTP, asks, bearer, bearer_challenges, index, is_bare, page, refused};
use crate::rule::{Rule, server};
use crate::verdict::{Breach, Kept, Located, Verdict};
use crate::view::{Exchange, View};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    server("authorization.challenge-scoped")
        .on(HTTP)
        .says(
            R2025_11_25,
            page("protected-resource-metadata-discovery-requirements"),
            "The challenge of a 401 SHOULD name the scopes that are needed.",
        )
        .says(
            R2026_07_28,
            index("scope-selection-strategy"),
            "The challenge of a 401 SHOULD name the scopes that are needed.",
        )
        .how("Reads `scope` in the 401 to a request without a token, where the metadata says that there are scopes.")
        .fix("Add `scope=\"…\"` to WWW-Authenticate: what a client needs for its first requests.")
        .judge(challenge_scoped),
    server("authorization.scopes-consistent")
        .on(HTTP)
        .says(
            R2025_11_25,
            page("protected-resource-metadata-discovery-requirements"),
            "A server SHOULD be consistent in the scopes that it asks for.",
        )
        .says(
            R2026_07_28,
            index("scope-selection-strategy"),
            "A server SHOULD be consistent in the scopes that it asks for.",
        )
        .how("Compares the scopes in the challenges to two equal requests without a token.")
        .fix("Derive the scopes of a challenge from the request alone.")
        .judge(consistent),
    server("authorization.insufficient-scope-403")
        .on(HTTP)
        .says(
            R2025_03_26,
            page("error-handling"),
            "A token of too little scope MUST be answered with the status for it, 403.",
        )
        .says(
            R2025_11_25,
            page("runtime-insufficient-scope-errors"),
            "A token of too little scope SHOULD be answered with status 403 and a challenge that names the metadata.",
        )
        .says(
            R2026_07_28,
            index("runtime-insufficient-scope-errors"),
            "A token of too little scope SHOULD be answered with status 403 and a challenge that names the metadata.",
        )
        .how("Looks at every answer whose challenge says `insufficient_scope`: its status and, from 2025-11-25 on, `resource_metadata`.")
        .fix("Answer 403 with `WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=…, resource_metadata=…`.")
        .judge(insufficient_403),
    server("authorization.insufficient-scope-named")
        .on(HTTP)
        .says(
            R2025_11_25,
            page("runtime-insufficient-scope-errors"),
            "A challenge over too little scope SHOULD name the scopes that the request needs.",
        )
        .says(
            R2026_07_28,
            index("runtime-insufficient-scope-errors"),
            "A challenge over too little scope SHOULD name the scopes that the request needs.",
        )
        .how("Reads `scope` in every challenge that says `insufficient_scope`.")
        .fix("Add `scope=\"…\"` with all that the operation needs.")
        .judge(insufficient_named),
    server("authorization.no-offline-access")
        .on(HTTP)
        .says(
            R2026_07_28,
            index("refresh-tokens"),
            "A server SHOULD NOT ask for the scope `offline_access`, in its challenges or its metadata.",
        )
        .how("Reads `scope` of every challenge and `scopes_supported` of the metadata document.")
        .fix("Leave `offline_access` out: refresh tokens are between the client and the authorization server.")
        .judge(no_offline_access),
];

const CHALLENGE: &str = "WWW-Authenticate";

/// The scopes that a response asks for, in order, each once.
fn scopes(x: &Exchange<'_>) -> Vec<String> {
    let challenges = bearer_challenges(x);
    let mut all: Vec<String> = challenges.iter().filter_map(Challenge::scopes).flatten().map(str::to_owned).collect();
    all.sort();
    all.dedup();
    all
}

fn has_scopes(found: &Value) -> bool {
    found.get("scopes_supported").and_then(Value::as_array).is_some_and(|all| !all.is_empty())
}

fn challenge_scoped(view: &View<'_>) -> Verdict {
    let supported = content(view).is_some_and(|(_, found)| has_scopes(&found));
    let bare = refused(view).into_iter().filter(|x| is_bare(x) && !bearer_challenges(x).is_empty());
    let judged = bare.filter_map(|x| match scopes(x).is_empty() {
        false => Some((x.event(), Ok(()))),
        true if supported => {
            let why = "the challenge names no scope, though the metadata lists some";
            Some((x.event(), Err(x.header_breach(CHALLENGE, why))))
        }
        true => None,
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no challenge named a scope, and no metadata says that there are any")
}

fn consistent(view: &View<'_>) -> Verdict {
    let refused: Vec<_> = refused(view).into_iter().filter(|x| is_bare(x) && asks(x).is_some()).collect();
    let judged = refused.iter().enumerate().filter_map(|(at, x)| {
        let earlier = refused[..at].iter().find(|y| is_same(y, x))?;
        let (first, second) = (scopes(earlier), scopes(x));
        if first.is_empty() && second.is_empty() {
            return None;
        }
        let why = || format!("the same request is asked for `{}` and then for `{}`", first.join(" "), second.join(" "));
        Some((
            x.event(),
            if first == second { Ok(()) } else { Err(x.header_breach(CHALLENGE, why().escape_debug().to_string())) },
        ))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no request was challenged twice for a scope")
}

/// Whether two requests ask the same of the server.
fn is_same(one: &Exchange<'_>, other: &Exchange<'_>) -> bool {
    match (one.question(), other.question()) {
        (Some(one), Some(other)) => {
            one.message.method() == other.message.method() && one.message.params() == other.message.params()
        }
        _ => false,
    }
}

/// Answers that say of a token that its scope is too little.
fn insufficient<'a, 'v>(view: &'a View<'v>) -> Vec<&'a Exchange<'v>> {
    let says = |challenge: &Challenge| challenge.parameter("error") == Some("insufficient_scope");
    let all = view.endpoint_exchanges().into_iter();
    all.filter(|x| bearer(x).is_some() && bearer_challenges(x).iter().any(says)).collect()
}

const ENOUGH: &str = "no token was refused for its scope";

fn insufficient_403(view: &View<'_>) -> Verdict {
    let names_metadata = view.revision().at_least(R2025_11_25);
    Verdict::every(insufficient(view), ENOUGH, |x| -> Kept {
        match x.status() {
            Some(403) if names_metadata && super::challenged(x, "resource_metadata").is_none() => {
                Err(x.header_breach(CHALLENGE, "the challenge does not say where the metadata is"))
            }
            Some(403) => Ok(()),
            other => {
                let why = format!("insufficient_scope comes with status {}, not 403", other.unwrap_or_default());
                Err(x.status_breach(why))
            }
        }
    })
}

fn insufficient_named(view: &View<'_>) -> Verdict {
    Verdict::every(insufficient(view), ENOUGH, |x| {
        if scopes(x).is_empty() {
            return Err(x.header_breach(CHALLENGE, "the challenge does not name the scopes that are needed"));
        }
        Ok(())
    })
}

fn no_offline_access(view: &View<'_>) -> Verdict {
    const OFFLINE: &str = "offline_access";
    let challenged = view.endpoint_exchanges().into_iter().filter(|x| !scopes(x).is_empty()).map(|x| {
        let asks = scopes(x).iter().any(|scope| scope == OFFLINE);
        (
            x.event(),
            if asks { Err(x.header_breach(CHALLENGE, "the challenge asks for `offline_access`")) } else { Ok(()) },
        )
    });
    let listed = content(view).filter(|(_, found)| has_scopes(found)).map(|(x, found)| {
        let all = found.get("scopes_supported").and_then(Value::as_array);
        let place = all.and_then(|all| all.iter().position(|scope| scope == OFFLINE));
        let event = x.response_body.map_or_else(|| x.event(), |(event, _)| event);
        let why = "the metadata lists `offline_access`";
        (event, place.map_or(Ok(()), |at| Err(Breach::at(event, format!("/scopes_supported/{at}"), why))))
    });
    Verdict::of(challenged.chain(listed).collect::<Vec<_>>(), "no scope was named")
}
