//! What the extensions of authorization demand of a client that has adopted them.

use wire::revision::R2025_11_25;

use crate::rule::{Anchor, Rule, at, client};

const AUTHENTICATION: Anchor = at("extensions/oauth-client-credentials", "client-authentication-methods");
const EXCHANGE: Anchor = at("extensions/enterprise-managed-authorization", "4-token-exchange");
const REQUEST: Anchor = at("extensions/enterprise-managed-authorization", "5-access-token-request");

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("oauth.client-credentials-authenticated")
        .says(
            R2025_11_25,
            AUTHENTICATION,
            "A client that acts for itself MUST authenticate by a signed assertion or by a secret in the request's content.",
        )
        .declared(),
    client("oauth.client-credentials-by-assertion")
        .says(R2025_11_25, AUTHENTICATION, "A client that acts for itself SHOULD authenticate by a signed assertion.")
        .declared(),
    client("oauth.assertion-exchanged")
        .says(
            R2025_11_25,
            EXCHANGE,
            "A client that wants an assertion MUST ask the identity provider by a token exchange, all its parameters given.",
        )
        .declared(),
    client("oauth.assertion-presented")
        .says(
            R2025_11_25,
            REQUEST,
            "A client MUST present the assertion under the grant type for JSON Web Tokens.",
        )
        .declared(),
];
