//! How a client asks for authorization and takes the answer.

use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};

use crate::basic::authorization::{index, page, security};
use crate::rule::{Anchor, Rule, client};

const CODES: Anchor = page("authorization-code-protection");
const CODES_NOW: Anchor = security("authorization-code-protection");
const RESOURCE: Anchor = page("resource-parameter-implementation");
const RESOURCE_NOW: Anchor = index("resource-parameter-implementation");
const CANONICAL: Anchor = page("canonical-server-uri");
const CANONICAL_NOW: Anchor = index("canonical-server-uri");
const REDIRECTION: Anchor = page("open-redirection");
const REDIRECTION_NOW: Anchor = security("open-redirection");

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("oauth.pkce")
        .says(R2025_03_26, page("implementation-requirements"), "A client MUST protect authorization codes by PKCE.")
        .says(R2025_06_18, CODES, "A client MUST protect authorization codes by PKCE.")
        .says(R2026_07_28, CODES_NOW, "A client MUST protect authorization codes by PKCE.")
        .declared(),
    client("oauth.pkce-s256")
        .says(R2025_11_25, CODES, "A client MUST use the challenge method S256 where it can.")
        .says(R2026_07_28, CODES_NOW, "A client MUST use the challenge method S256 where it can.")
        .declared(),
    client("oauth.pkce-verified")
        .says(R2025_11_25, CODES, "A client MUST NOT go on with an authorization server whose metadata names no PKCE method.")
        .says(R2026_07_28, CODES_NOW, "A client MUST NOT go on with an authorization server whose metadata names no PKCE method.")
        .declared(),
    client("oauth.resource-parameter")
        .says(R2025_06_18, RESOURCE, "A client MUST send `resource` in authorization and in token requests, supported or not.")
        .says(R2026_07_28, RESOURCE_NOW, "A client MUST send `resource` in authorization and in token requests, supported or not.")
        .declared(),
    client("oauth.resource-canonical")
        .says(R2025_06_18, RESOURCE, "`resource` MUST be the canonical URI of the MCP server that the token is for.")
        .says(R2026_07_28, RESOURCE_NOW, "`resource` MUST be the canonical URI of the MCP server that the token is for.")
        .declared(),
    client("oauth.resource-specific")
        .says(R2025_06_18, CANONICAL, "A client SHOULD name the MCP server by the most specific URI that it can.")
        .says(R2026_07_28, CANONICAL_NOW, "A client SHOULD name the MCP server by the most specific URI that it can.")
        .declared(),
    client("oauth.uppercase-accepted")
        .says(R2025_06_18, CANONICAL, "A client SHOULD take a server's URI with upper-case letters in scheme and host.")
        .says(R2026_07_28, CANONICAL_NOW, "A client SHOULD take a server's URI with upper-case letters in scheme and host.")
        .declared(),
    client("oauth.resource-without-slash")
        .says(R2025_06_18, CANONICAL, "A client SHOULD write a server's URI without a trailing slash that means nothing.")
        .says(R2026_07_28, CANONICAL_NOW, "A client SHOULD write a server's URI without a trailing slash that means nothing.")
        .declared(),
    client("oauth.redirect-secure")
        .says(R2025_03_26, page("security-considerations"), "A redirect URI MUST be https, or on localhost.")
        .says(R2025_06_18, page("communication-security"), "A redirect URI MUST be https, or on localhost.")
        .says(R2026_07_28, security("communication-security"), "A redirect URI MUST be https, or on localhost.")
        .declared(),
    client("oauth.redirect-registered")
        .says(R2025_06_18, REDIRECTION, "A client MUST have its redirect URIs registered.")
        .says(R2026_07_28, REDIRECTION_NOW, "A client MUST have its redirect URIs registered.")
        .declared(),
    client("oauth.state-verified")
        .says(R2025_06_18, REDIRECTION, "A client SHOULD send a state and discard an answer without it or with another.")
        .says(R2026_07_28, REDIRECTION_NOW, "A client SHOULD send a state and discard an answer without it or with another.")
        .declared(),
    client("oauth.response-issuer-checked")
        .says(
            R2026_07_28,
            index("authorization-response-validation"),
            "A client MUST compare `iss` of the answer, errors included, with the issuer that it recorded before, as it stands.",
        )
        .declared(),
];
