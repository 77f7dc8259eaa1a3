//! Which requests are accepted: without a token, with an invalid one, and with one for another audience.

use wire::revision::{R2025_03_26, R2025_06_18, R2026_07_28};
use wire::trace::StimulusKind;

use super::{
    HTTP, asks, bearer, bearer_challenges, index, is_bare, is_demanded, is_greeting, is_unrelated_to_tokens, page,
    query_token, refused, security, with_token_of,
};
use crate::rule::{Rule, at, safety, server};
use crate::verdict::{Breach, Kept, Located, Verdict};
use crate::view::{Exchange, View};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    server("authorization.missing-token-401")
        .on(HTTP)
        .says(
            R2025_03_26,
            page("example-authorization-code-grant"),
            "Where authorization is required, a request that proves none MUST be answered with status 401.",
        )
        .says(
            R2025_06_18,
            page("error-handling"),
            "A request that lacks a required token MUST be answered with the status for it, 401.",
        )
        .says(
            R2026_07_28,
            index("error-handling"),
            "A request that lacks a required token MUST be answered with the status for it, 401.",
        )
        .how("Repeats the first request without its Authorization header, where the same request with a token is served.")
        .fix("Answer 401 to what comes without a token, not 400 or 403, nor 200 with an error in the body.")
        .judge(missing_token_401),
    server("authorization.invalid-token-401")
        .on(HTTP)
        .says(R2025_03_26, page("token-handling"), "An invalid or expired token MUST be answered with status 401.")
        .says(R2026_07_28, index("token-handling"), "An invalid or expired token MUST be answered with status 401.")
        .how("Sends a made-up bearer token where the same request without any is answered 401.")
        .fix("Verify every token, and answer 401 where that fails for whatever reason, malformed tokens included.")
        .judge(invalid_token_401),
    server("authorization.invalid-token-challenged")
        .on(HTTP)
        .says(
            R2025_03_26,
            page("token-handling"),
            "A server that rejects a token MUST answer as OAuth 2.1 has it: with a WWW-Authenticate header of the scheme Bearer.",
        )
        .says(
            R2026_07_28,
            index("token-handling"),
            "A server that rejects a token MUST answer as OAuth 2.1 has it: with a WWW-Authenticate header of the scheme Bearer.",
        )
        .how("Looks at WWW-Authenticate of each 401 to a request that carried a bearer token.")
        .fix("Send `WWW-Authenticate: Bearer error=\"invalid_token\"` (with `resource_metadata`) with the 401.")
        .judge(invalid_token_challenged),
    server("authorization.foreign-token-refused")
        .on(HTTP)
        .says(
            R2025_06_18,
            page("token-handling"),
            "A server MUST NOT accept a token that was not issued for it as the intended audience.",
        )
        .says(
            R2026_07_28,
            index("token-handling"),
            "A server MUST NOT accept a token that was not issued for it as the intended audience.",
        )
        .how("Sends a JSON Web Token of no issuer whose audience is another server, where a token is demanded.")
        .fix("Verify signature, issuer and expiry of every token, and that its audience is this server.")
        .judge(foreign_token_refused),
    server("authorization.nothing-without-token")
        .on(HTTP)
        .says(
            R2025_06_18,
            page("access-token-privilege-restriction"),
            "A server MUST validate the token before it processes a request, and answer nothing without one.",
        )
        .says(
            R2026_07_28,
            security("access-token-privilege-restriction"),
            "A server MUST validate the token before it processes a request, and answer nothing without one.",
        )
        .how("Looks for a result in every 401, and asks without the token in a session that was opened with one.")
        .fix("Check the token of every request, first of all; a session id proves nothing about who sends it.")
        .judge(nothing_without_token),
    safety("safety.query-token-refused")
        .on(HTTP)
        .asks(R2025_03_26, page("token-requirements"), "A good server takes no access token from the URI.")
        .asks(
            R2026_07_28,
            at("basic/authorization/index", "token-requirements"),
            "A good server takes no access token from the URI.",
        )
        .how("Sends the valid token as `access_token` in the query instead of the header, where one is demanded.")
        .fix("Read tokens from the Authorization header alone: addresses end up in logs.")
        .judge(query_token_refused),
];

const NONE_DEMANDED: &str = "no request was refused for lack of a token";

/// Whether the same request was served with a bearer token afterwards. Before is not enough: a server with room for one session
/// refuses the second greeting from any client.
fn has_served_twin(view: &View<'_>, x: &Exchange<'_>) -> bool {
    let served = |y: &&Exchange<'_>| {
        y.event() > x.event() && bearer(y).is_some() && y.served() && asks(y).is_some() && asks(y) == asks(x)
    };
    view.endpoint_exchanges().iter().any(served)
}

fn missing_token_401(view: &View<'_>) -> Verdict {
    // Only first requests are compared: what is refused in a session may be refused for the session's sake.
    let greets = |x: &Exchange<'_>| asks(x).is_some_and(is_greeting);
    let bare = view.endpoint_exchanges().into_iter().filter(|x| is_bare(x) && !x.served());
    let judged = bare.filter_map(|x| match x.status()? {
        401 => Some((x.event(), Ok(()))),
        status if is_unrelated_to_tokens(status) || status >= 500 || !greets(x) || !has_served_twin(view, x) => None,
        status => {
            let why = format!("what is served with a token is answered {status} without one, not 401");
            Some((x.event(), Err(x.status_breach(why))))
        }
    });
    Verdict::of(judged.collect::<Vec<_>>(), NONE_DEMANDED)
}

fn invalid_token_401(view: &View<'_>) -> Verdict {
    let tried = [StimulusKind::MadeUpToken, StimulusKind::ForeignToken]
        .into_iter()
        .flat_map(|stimulus| with_token_of(view, stimulus));
    let judged = tried.filter_map(|x| {
        let status = x.status().filter(|status| !is_unrelated_to_tokens(*status))?;
        Some((x.event(), answered_401(x, status)))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no token was made up where one is demanded")
}

fn answered_401(x: &Exchange<'_>, status: u16) -> Kept {
    match status {
        401 => Ok(()),
        _ if x.served() => Err(x.status_breach("a token that no issuer issued is accepted")),
        _ => Err(x.status_breach(format!("a token that no issuer issued is answered {status}, not 401"))),
    }
}

fn invalid_token_challenged(view: &View<'_>) -> Verdict {
    let rejected = refused(view).into_iter().filter(|x| bearer(x).is_some());
    Verdict::every(rejected, "no token was rejected", |x| {
        if bearer_challenges(x).is_empty() {
            return Err(x.header_breach("WWW-Authenticate", "a token is rejected without a Bearer challenge"));
        }
        Ok(())
    })
}

fn foreign_token_refused(view: &View<'_>) -> Verdict {
    let tried = with_token_of(view, StimulusKind::ForeignToken).into_iter();
    let judged = tried.filter_map(|x| match x.status()? {
        _ if x.served() => {
            Some((x.event(), Err(x.status_breach("a token is accepted whose audience is another server"))))
        }
        400..=403 => Some((x.event(), Ok(()))),
        _ => None,
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no token for another audience was tried where one is demanded")
}

fn nothing_without_token(view: &View<'_>) -> Verdict {
    let turned_away = refused(view).into_iter().map(|x| {
        let leaked = x.server_messages.iter().find(|sent| sent.message.result().is_some());
        let kept = leaked.map_or(Ok(()), |sent| Err(sent.breach("/result", "a request that is refused has a result")));
        (x.event(), kept)
    });
    let borrowed = borrowers(view).into_iter().filter_map(|x| match x.status()? {
        _ if x.served() => Some((
            x.event(),
            Err(x.status_breach("a session that was opened with a token serves a request without it")),
        )),
        400..=499 => Some((x.event(), Ok(()))),
        _ => None,
    });
    let judged: Vec<(usize, Result<(), Breach>)> = turned_away.chain(borrowed).collect();
    Verdict::of(judged, NONE_DEMANDED)
}

/// Requests without a token in a session that was opened with one and could not be opened without.
fn borrowers<'a, 'v>(view: &'a View<'v>) -> Vec<&'a Exchange<'v>> {
    if !is_demanded(view, "initialize") {
        return Vec::new();
    }
    let all = view.endpoint_exchanges();
    let opened = |x: &Exchange<'_>| asks(x) == Some("initialize") && bearer(x).is_some() && x.succeeded();
    let sessions: Vec<&str> =
        all.iter().filter(|x| opened(x)).filter_map(|x| x.response_header("mcp-session-id")).collect();
    let borrows = |x: &&Exchange<'_>| is_bare(x) && x.session().is_some_and(|id| sessions.contains(&id));
    all.into_iter().filter(|x| borrows(x) && asks(x).is_some()).collect()
}

fn query_token_refused(view: &View<'_>) -> Verdict {
    let all = view.endpoint_exchanges();
    let valid = |token: &str| all.iter().any(|y| bearer(y) == Some(token) && y.served());
    let tried = all.iter().copied().filter(|x| {
        let token = query_token(x).filter(|_| x.request_header("authorization").is_none());
        token.is_some_and(valid) && asks(x).is_some_and(|method| is_demanded(view, method))
    });
    let judged = tried.filter_map(|x| match x.status()? {
        _ if x.served() => Some((x.event(), Err(x.status_breach("a token in the query of the address is accepted")))),
        400..=403 => Some((x.event(), Ok(()))),
        _ => None,
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no token was sent in the query where one is demanded")
}
