//! What the extensions of authorization demand of a client that has adopted them.

use wire::revision::R2025_11_25;

use super::grants::{authenticated, by_assertion, exchanged, presented};
use crate::basic::authorization::HTTP;
use crate::rule::{Anchor, Rule, at, client};

const AUTHENTICATION: Anchor = at("extensions/oauth-client-credentials", "client-authentication-methods");
const EXCHANGE: Anchor = at("extensions/enterprise-managed-authorization", "4-token-exchange");
const REQUEST: Anchor = at("extensions/enterprise-managed-authorization", "5-access-token-request");

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("oauth.client-credentials-authenticated")
        .on(HTTP)
        .says(
            R2025_11_25,
            AUTHENTICATION,
            "A client that acts for itself MUST authenticate by a signed assertion or by a secret in the request's content.",
        )
        .how("Reads how requests for tokens by client credentials are authenticated. A secret in the Authorization header is left alone: the page names it elsewhere.")
        .fix("Send `client_assertion` with its type, or `client_id` and `client_secret` in the form.")
        .judge(authenticated),
    client("oauth.client-credentials-by-assertion")
        .on(HTTP)
        .says(R2025_11_25, AUTHENTICATION, "A client that acts for itself SHOULD authenticate by a signed assertion.")
        .how("Checks whether a client sends a secret where the metadata lists `private_key_jwt`.")
        .fix("Register a key and sign an assertion instead of sending a secret.")
        .judge(by_assertion),
    client("oauth.assertion-exchanged")
        .on(HTTP)
        .says(
            R2025_11_25,
            EXCHANGE,
            "A client that wants an assertion MUST ask the identity provider by a token exchange, all its parameters given.",
        )
        .how("Reads the parameters of every token exchange that asks for an assertion, or whose answer is presented as one.")
        .fix("Send requested_token_type, audience, resource, subject_token and subject_token_type.")
        .judge(exchanged),
    client("oauth.assertion-presented")
        .on(HTTP)
        .says(
            R2025_11_25,
            REQUEST,
            "A client MUST present the assertion under the grant type for JSON Web Tokens.",
        )
        .how("Looks where the assertion goes that a token exchange brought.")
        .fix("Send it as `assertion` with the grant type `urn:ietf:params:oauth:grant-type:jwt-bearer`.")
        .judge(presented),
];
