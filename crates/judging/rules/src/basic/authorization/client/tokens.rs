//! What a client does with its tokens.

use wire::revision::{R2025_03_26, R2025_06_18, R2026_07_28};

use super::token_use::{
    bearer_header, confidential, every_request, grant_declared, not_assumed, not_in_query, own_issuer,
};
use crate::basic::authorization::{HTTP, index, page};
use crate::rule::{Anchor, Rule, client};

const REQUIREMENTS: Anchor = page("token-requirements");
const REQUIREMENTS_NOW: Anchor = index("token-requirements");
const REFRESH: Anchor = index("refresh-tokens");

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("oauth.bearer-header")
        .on(HTTP)
        .says(R2025_03_26, REQUIREMENTS, "A client MUST send its token in the Authorization header.")
        .says(R2026_07_28, REQUIREMENTS_NOW, "A client MUST send its token in the Authorization header.")
        .how("Looks where the client puts a token that the trace shows it was given.")
        .fix("Send `Authorization: Bearer TOKEN`, and the token nowhere else.")
        .judge(bearer_header),
    client("oauth.token-every-request")
        .on(HTTP)
        .says(R2025_03_26, REQUIREMENTS, "A client MUST send its token with every HTTP request, sessions or not.")
        .says(R2026_07_28, REQUIREMENTS_NOW, "A client MUST send its token with every HTTP request.")
        .how("Reads every request to the endpoint after one with a token was let in, on the same connection; a refusal starts over.")
        .fix("Attach the token to every request of every kind: POST, GET and DELETE.")
        .judge(every_request),
    client("oauth.token-not-in-query")
        .on(HTTP)
        .says(R2025_03_26, REQUIREMENTS, "A client MUST NOT put a token into the query of a URI.")
        .says(R2026_07_28, REQUIREMENTS_NOW, "A client MUST NOT put a token into the query of a URI.")
        .how("Looks for `access_token` and for tokens that were given in the queries of all requests of a client that sends tokens.")
        .fix("Send the token in the Authorization header.")
        .judge(not_in_query),
    client("oauth.token-of-own-issuer")
        .on(HTTP)
        .says(
            R2025_06_18,
            page("token-handling"),
            "A client MUST NOT send a server tokens that its authorization server did not issue.",
        )
        .says(
            R2026_07_28,
            index("token-handling"),
            "A client MUST NOT send a server tokens that its authorization server did not issue.",
        )
        .how("Finds out which authorization server gave the token that the client sends, and compares it with those that the resource's metadata lists. ID tokens, refresh tokens and assertions are not access tokens.")
        .fix("Store tokens by resource and issuer, and drop those of an issuer that is no longer listed.")
        .judge(own_issuer),
    client("oauth.refresh-token-confidential")
        .on(HTTP)
        .says(R2026_07_28, REFRESH, "A client MUST send a refresh token only to its issuer, over TLS.")
        .how("Looks where a refresh token goes that the trace shows was given: to the token endpoint that gave it, or others of its host, and nowhere else. TLS does not show in a trace.")
        .fix("Send refresh tokens to their issuer's own endpoints alone.")
        .judge(confidential),
    client("oauth.refresh-grant-declared")
        .on(HTTP)
        .says(R2026_07_28, REFRESH, "A client that wants refresh tokens SHOULD list the grant in its metadata.")
        .how("Looks for `refresh_token` in `grant_types` of the registration of a client that renews tokens or asks for offline_access.")
        .fix("List `refresh_token` in `grant_types` in addition to `authorization_code`.")
        .judge(grant_declared),
    client("oauth.refresh-not-assumed")
        .on(HTTP)
        .says(R2026_07_28, REFRESH, "A client MUST NOT rely on being given a refresh token.")
        .how("Looks at a client whose grant brought no refresh token: it must use the access token or authorize again, and not try to renew without one.")
        .fix("Treat `refresh_token` of a token response as optional.")
        .judge(not_assumed),
];
