//! Where a client carries its tokens: the judges. A token is known by the answer that brought it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::form::Form;
use super::steps::{Registration, Request, Step, Steps, answered_at, requested_at};
use crate::basic::authorization::{bearer, query_token};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Exchange, View};

fn not_seen(why: &str) -> Verdict {
    Verdict::NotSeen(why.to_owned())
}

const NO_TOKEN: &str = "the client was given no token that it used";

/// What answers to token requests brought as `member`, with the requests. What an identity provider exchanges is not an access
/// token, whatever member it is in.
fn brought<'s, 'a, 'v>(steps: &'s Steps<'a, 'v>, member: &str) -> Vec<(&'s str, &'s Request<'a, 'v>)> {
    let plain = |grant: &&Request<'_, '_>| member != "access_token" || grant.given_text("issued_token_type").is_none();
    let all = steps.grants.iter().filter(plain);
    all.filter_map(|grant| Some((grant.given_text(member)?, grant))).collect()
}

/// The token that a request carries in its Authorization header, under a scheme that is for tokens.
fn carried<'v>(x: &Exchange<'v>) -> Option<&'v str> {
    let dpop = || {
        let (scheme, token) = x.request_header("authorization")?.trim().split_once(' ')?;
        scheme.eq_ignore_ascii_case("dpop").then(|| token.trim())
    };
    bearer(x).or_else(dpop)
}

pub(super) fn bearer_header(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let tokens = brought(&steps, "access_token");
    let judged = steps.endpoint.iter().filter_map(|x| -> Option<(usize, Kept)> {
        let event = requested_at(x);
        let is_own = |text: &str| tokens.iter().any(|(token, grant)| *token == text && grant.at() < event);
        if carried(x).is_some_and(is_own) {
            return Some((event, Ok(())));
        }
        let breach = |pointer: String, why: &str| Some((event, Err(Breach::at(event, pointer, why))));
        let (_, _, target, headers) = x.request?;
        for (name, value) in headers {
            if value.split([' ', ',', ';', '=']).any(is_own) {
                return breach(
                    format!("header:{name}"),
                    "the token stands here and not behind `Bearer` in Authorization",
                );
            }
        }
        let query = Form::of_target(target);
        let stray = tokens.iter().any(|(token, grant)| grant.at() < event && query.holds(token));
        if stray {
            breach(String::new(), "the token is in the query and not in the Authorization header")
        } else {
            None
        }
    });
    Verdict::of(judged.collect::<Vec<_>>(), NO_TOKEN)
}

pub(super) fn every_request(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    // The connections on which a request with a token was let in and no other was refused since, with the answer's event.
    let mut let_in: BTreeMap<u32, usize> = BTreeMap::new();
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for x in &steps.endpoint {
        let event = requested_at(x);
        if matches!(x.method(), Some("OPTIONS" | "HEAD")) {
            continue;
        }
        let known = let_in.get(&x.connection).is_some_and(|answered| *answered < event);
        let has = x.request_header("authorization").is_some();
        if known {
            let why = "requests before this one carried a token, and this one carries none";
            judged.push((event, if has { Ok(()) } else { Err(Breach::at(event, "header:Authorization", why)) }));
        }
        match (x.status(), answered_at(x)) {
            (Some(401 | 403), _) => _ = let_in.remove(&x.connection),
            (Some(200..=299), Some(answered)) if carried(x).is_some() => {
                _ = let_in.entry(x.connection).or_insert(answered);
            }
            _ => {}
        }
    }
    Verdict::of(judged, "no further request came after one with a token was let in")
}

pub(super) fn not_in_query(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let mut secrets: BTreeSet<&str> = BTreeSet::new();
    for member in ["access_token", "refresh_token"] {
        secrets.extend(brought(&steps, member).into_iter().map(|(token, _)| token));
    }
    let stray = view.exchanges().iter().find_map(|x| {
        let (event, _, target, _) = x.request?;
        let query = Form::of_target(target);
        let found = query_token(x).is_some() || secrets.iter().any(|token| query.holds(token));
        found.then(|| Breach::at(event, "", "a token is in the query of this request"))
    });
    let sent = steps.endpoint.iter().filter(|x| carried(x).is_some()).map(|x| requested_at(x));
    Verdict::never(stray, sent.collect::<Vec<_>>(), "the client sent no token")
}

pub(super) fn own_issuer(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let access = brought(&steps, "access_token");
    let foreign: Vec<&str> =
        ["id_token", "refresh_token"].into_iter().flat_map(|m| brought(&steps, m)).map(|(t, _)| t).collect();
    let assertions = steps.grants.iter().filter(|grant| grant.given_text("issued_token_type").is_some());
    let assertions: Vec<&str> = assertions.filter_map(|grant| grant.given_text("access_token")).collect();
    let judged = steps.endpoint.iter().filter_map(|x| -> Option<(usize, Kept)> {
        let (event, token) = (requested_at(x), carried(x)?);
        let breach = |why: String| Some((event, Err(Breach::at(event, "header:Authorization", why))));
        let Some((_, grant)) = access.iter().rfind(|(own, grant)| *own == token && grant.at() < event) else {
            let other = foreign.contains(&token) || assertions.contains(&token);
            return if other {
                breach("this is not an access token, but another one that the client was given".to_owned())
            } else {
                None
            };
        };
        let owner = steps.owner(grant, "token_endpoint")?;
        let listed = steps.listed(event);
        let (_, newest) = listed.last()?;
        if newest.contains(&owner) {
            return Some((event, Ok(())));
        }
        // A document that came before the token may be about another resource; a later one is what the client goes by.
        let newer = listed.last().is_some_and(|(answered, _)| *answered > grant.at());
        let why = format!("the token is from {owner}, and the server's metadata lists {}", newest.join(", "));
        if newer { breach(why) } else { None }
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no token was sent whose issuer the trace shows")
}

pub(super) fn confidential(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let tokens = brought(&steps, "refresh_token");
    if tokens.is_empty() {
        return not_seen("the client was given no refresh token");
    }
    let judged = view.exchanges().iter().filter_map(|x| -> Option<(usize, Kept)> {
        let (event, _, target, headers) = x.request?;
        let text = x.request_body.and_then(|(_, bytes)| core::str::from_utf8(bytes).ok()).unwrap_or_default();
        let (query, form) = (Form::of_target(target), Form::read(text));
        let holds = |token: &str| {
            let header = headers.iter().any(|(_, value)| value.split([' ', ',', ';', '=']).any(|word| word == token));
            header || query.holds(token) || form.holds(token)
        };
        let mut givers =
            tokens.iter().filter(|(token, grant)| grant.at() < event && holds(token)).map(|(_, grant)| grant);
        let giver = givers.next()?;
        let home = |grant: &Request<'_, '_>| {
            let host = grant.x.request_header("host") == x.request_header("host");
            host && grant.x.partner == x.partner && same_owner(&steps, grant, event, x)
        };
        let kept = home(giver) || givers.any(|grant| home(grant));
        let why = format!(
            "a refresh token that came with event {} is sent elsewhere",
            giver.answered_at().unwrap_or_default()
        );
        Some((event, if kept { Ok(()) } else { Err(Breach::at(event, "", why)) }))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "the client used no refresh token that it was seen to be given")
}

/// Whether a request at the same host goes to no other issuer's token endpoint than the one that gave the token.
fn same_owner(steps: &Steps<'_, '_>, grant: &Request<'_, '_>, event: usize, x: &Exchange<'_>) -> bool {
    let other = steps.grants.iter().find(|step| step.at() == event && step.x.number == x.number);
    let owners = other.and_then(|step| steps.owner(step, "token_endpoint")).zip(steps.owner(grant, "token_endpoint"));
    owners.is_none_or(|(one, two)| one == two)
}

pub(super) fn grant_declared(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let lists = |step: &Registration<'_, '_>| {
        let types = step.asks.get("grant_types").and_then(Value::as_array);
        types.is_some_and(|types| types.iter().any(|kind| kind == "refresh_token"))
    };
    let judged = steps.registrations.iter().filter_map(|step| -> Option<(usize, Kept)> {
        if lists(step) {
            return Some((step.at(), Ok(())));
        }
        let id = step.given_text("client_id")?;
        let mine = |request: &&Request<'_, '_>| request.at() > step.at() && request.text("client_id") == Some(id);
        let renews = steps.grants.iter().filter(mine).any(|grant| grant.is_grant("refresh_token"));
        let offline =
            |request: &Request<'_, '_>| request.asks.words("scope").is_some_and(|s| s.contains(&"offline_access"));
        let wants = renews || steps.authorizations.iter().filter(mine).any(offline);
        let why = "the client wants refresh tokens, and does not list `refresh_token` in `grant_types`";
        wants.then(|| (step.at(), Err(step.breach("/grant_types", why))))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no client that registered showed that it wants refresh tokens")
}

pub(super) fn not_assumed(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let without = |grant: &&Request<'_, '_>| {
        grant.is_grant("authorization_code")
            && grant.given_text("access_token").is_some()
            && grant.given_text("refresh_token").is_none()
    };
    let Some(grant) = steps.grants.iter().find(without) else {
        return not_seen("no code was redeemed for an access token alone");
    };
    let answered = grant.answered_at().unwrap_or_default();
    let nothing = |step: &&Request<'_, '_>| {
        let token = step.text("refresh_token").unwrap_or("undefined");
        step.at() > answered && step.is_grant("refresh_token") && matches!(token, "undefined" | "null" | "None")
    };
    if let Some(step) = steps.grants.iter().find(nothing) {
        return Verdict::Broken(
            step.breach("", "the client was given no refresh token, and tries to renew with nothing"),
        );
    }
    let token = grant.given_text("access_token");
    let used =
        steps.endpoint.iter().find(|x| requested_at(x) > answered && carried(x) == token).map(|x| requested_at(x));
    let again = steps.authorizations.iter().map(Step::at).find(|at| *at > answered);
    Verdict::witnessed(
        used.or(again).into_iter().collect(),
        "the client was not seen to continue without a refresh token",
    )
}
