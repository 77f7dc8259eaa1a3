//! Tokens without a user's consent: by a client's own credentials, and by an assertion of an identity provider. The judges.

use super::form::Form;
use super::steps::{Document, Request, Steps};
use crate::basic::authorization::bearer;
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::View;

const BY_ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ASSERTION: &str = "urn:ietf:params:oauth:token-type:id-jag";
const SUBJECTS: [&str; 2] = ["urn:ietf:params:oauth:token-type:id_token", "urn:ietf:params:oauth:token-type:saml2"];

/// Token requests of one grant type.
fn of_type<'s, 'a, 'v>(steps: &'s Steps<'a, 'v>, kind: &'static str) -> impl Iterator<Item = &'s Request<'a, 'v>> {
    steps.grants.iter().filter(move |grant| grant.is_grant(kind))
}

fn is_signed(step: &Request<'_, '_>) -> bool {
    step.text("client_assertion").is_some() && step.text("client_assertion_type") == Some(BY_ASSERTION)
}

fn has_secret(step: &Request<'_, '_>) -> bool {
    step.text("client_id").is_some() && step.text("client_secret").is_some()
}

pub(super) fn authenticated(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let judged = of_type(&steps, "client_credentials").filter_map(|step| -> Option<(usize, Kept)> {
        if is_signed(step) || has_secret(step) {
            return Some((step.at(), Ok(())));
        }
        let why = "this request has neither a signed assertion with its type nor a client_id and client_secret";
        let elsewhere = step.x.request_header("authorization").is_some();
        (!elsewhere).then(|| (step.at(), Err(step.breach("", why))))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no token was asked for by client credentials in the request's content")
}

pub(super) fn by_assertion(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let takes_keys = |d: &&Document<'_, '_>| {
        d.list("token_endpoint_auth_methods_supported").is_some_and(|methods| methods.contains(&"private_key_jwt"))
    };
    let judged = of_type(&steps, "client_credentials").filter_map(|step| -> Option<(usize, Kept)> {
        if is_signed(step) {
            return Some((step.at(), Ok(())));
        }
        let can = steps.documents_of(step, "token_endpoint").iter().any(takes_keys);
        let by_secret = has_secret(step) || step.x.request_header("authorization").is_some();
        let why = "the server takes signed assertions (`private_key_jwt`), and the client sends a secret";
        (can && by_secret).then(|| (step.at(), Err(step.breach("", why))))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no token was asked for by client credentials where assertions are taken")
}

/// Token exchanges that are for an assertion: as they say, or as the answer is used.
fn exchanges<'s, 'a, 'v>(steps: &'s Steps<'a, 'v>) -> impl Iterator<Item = &'s Request<'a, 'v>> {
    of_type(steps, EXCHANGE).filter(move |step| {
        let presented = |token: &str| of_type(steps, JWT_BEARER).any(|grant| grant.text("assertion") == Some(token));
        step.text("requested_token_type") == Some(ASSERTION) || step.given_text("access_token").is_some_and(presented)
    })
}

pub(super) fn exchanged(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    Verdict::every(exchanges(&steps), "no assertion was asked for by a token exchange", |step| {
        let due = ["requested_token_type", "audience", "resource", "subject_token", "subject_token_type"];
        if let Some(name) = due.into_iter().find(|name| step.text(name).is_none()) {
            return Err(step.breach("", format!("this token exchange has no `{name}`")));
        }
        if step.text("requested_token_type") != Some(ASSERTION) {
            return Err(step.breach("", format!("the requested_token_type is not {ASSERTION}")));
        }
        let subject = step.text("subject_token_type").unwrap_or_default();
        if SUBJECTS.contains(&subject) {
            return Ok(());
        }
        Err(step.breach("", format!("the subject_token_type is {subject}: neither an ID token nor a SAML assertion")))
    })
}

pub(super) fn presented(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let brought = of_type(&steps, EXCHANGE).filter(|step| step.given_text("issued_token_type") == Some(ASSERTION));
    let brought: Vec<(usize, &str)> =
        brought.filter_map(|s| Some((s.answered_at()?, s.given_text("access_token")?))).collect();
    let is_assertion =
        |event: usize, text: &str| brought.iter().any(|(answered, own)| *answered < event && *own == text);
    let grants = steps.grants.iter().filter_map(|step| -> Option<(usize, Kept)> {
        let holds = |form: &Form| brought.iter().any(|(answered, own)| *answered < step.at() && form.holds(own));
        if !holds(&step.asks) {
            return None;
        }
        let due = step.is_grant(JWT_BEARER) && step.text("assertion").is_some_and(|text| is_assertion(step.at(), text));
        let kind = step.text("grant_type").unwrap_or_default();
        let why = format!("the assertion is due as `assertion` of grant type {JWT_BEARER}; this one is of {kind}");
        Some((step.at(), if due { Ok(()) } else { Err(step.breach("", why)) }))
    });
    let bare = steps.endpoint.iter().filter_map(|x| -> Option<(usize, Kept)> {
        let event = super::steps::requested_at(x);
        let token = bearer(x).filter(|token| is_assertion(event, token))?;
        let why = format!(
            "the assertion ({} characters) is sent to the MCP server as if it were a token",
            token.chars().count()
        );
        Some((event, Err(Breach::at(event, "header:Authorization", why))))
    });
    Verdict::of(grants.chain(bare).collect::<Vec<_>>(), "no assertion that a token exchange brought was presented")
}
