//! How a client asks for authorization and takes the answer.

use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};

use super::authorization_requests::{
    pkce, pkce_s256, pkce_verified, redirect_registered, redirect_secure, response_issuer, state_verified,
};
use super::resource_names::{
    resource_canonical, resource_parameter, resource_specific, uppercase_accepted, without_slash,
};
use crate::basic::authorization::{HTTP, index, page, security};
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
        .on(HTTP)
        .says(R2025_03_26, page("implementation-requirements"), "A client MUST protect authorization codes by PKCE.")
        .says(R2025_06_18, CODES, "A client MUST protect authorization codes by PKCE.")
        .says(R2026_07_28, CODES_NOW, "A client MUST protect authorization codes by PKCE.")
        .how("Reads `code_challenge` of every authorization request and `code_verifier` of every request that redeems a code. Holds where such a request was granted.")
        .fix("Send a fresh `code_challenge` with each authorization request and its verifier, of 43 to 128 characters, with the code.")
        .judge(pkce),
    client("oauth.pkce-s256")
        .on(HTTP)
        .says(R2025_11_25, CODES, "A client MUST use the challenge method S256 where it can.")
        .says(R2026_07_28, CODES_NOW, "A client MUST use the challenge method S256 where it can.")
        .how("Reads `code_challenge_method` of authorization requests to a server whose metadata lists S256.")
        .fix("Send `code_challenge_method=S256` and the SHA-256 hash of the verifier.")
        .judge(pkce_s256),
    client("oauth.pkce-verified")
        .on(HTTP)
        .says(R2025_11_25, CODES, "A client MUST NOT continue with an authorization server whose metadata names no PKCE method.")
        .says(R2026_07_28, CODES_NOW, "A client MUST NOT continue with an authorization server whose metadata names no PKCE method.")
        .how("Checks whether the client asks for authorization where the metadata has no `code_challenge_methods_supported`.")
        .fix("Stop where `code_challenge_methods_supported` is absent from the metadata.")
        .judge(pkce_verified),
    client("oauth.resource-parameter")
        .on(HTTP)
        .says(R2025_06_18, RESOURCE, "A client MUST send `resource` in authorization and in token requests, supported or not.")
        .says(R2026_07_28, RESOURCE_NOW, "A client MUST send `resource` in authorization and in token requests, supported or not.")
        .how("Looks for `resource` in authorization requests and in token requests, those that renew a token included. Grants by assertion name their resource elsewhere.")
        .fix("Send `resource` with both, whether or not the authorization server knows it.")
        .judge(resource_parameter),
    client("oauth.resource-canonical")
        .on(HTTP)
        .says(R2025_06_18, RESOURCE, "`resource` MUST be the canonical URI of the MCP server that the token is for.")
        .says(R2026_07_28, RESOURCE_NOW, "`resource` MUST be the canonical URI of the MCP server that the token is for.")
        .how("Compares `resource` with the host and path of the MCP endpoint and with `resource` of the metadata: it must be an absolute URI without a fragment that leads there.")
        .fix("Send the URI of the MCP server as its metadata has it.")
        .judge(resource_canonical),
    client("oauth.resource-specific")
        .on(HTTP)
        .says(R2025_06_18, CANONICAL, "A client SHOULD name the MCP server by the most specific URI that it can.")
        .says(R2026_07_28, CANONICAL_NOW, "A client SHOULD name the MCP server by the most specific URI that it can.")
        .how("Checks whether `resource` has the whole path of the MCP endpoint, or is what the metadata says.")
        .fix("Send the endpoint's URI with its path rather than its origin alone.")
        .judge(resource_specific),
    client("oauth.uppercase-accepted")
        .on(HTTP)
        .says(R2025_06_18, CANONICAL, "A client SHOULD take a server's URI with upper-case letters in scheme and host.")
        .says(R2026_07_28, CANONICAL_NOW, "A client SHOULD take a server's URI with upper-case letters in scheme and host.")
        .how("Gives the client metadata whose `resource` is the server's URI with upper-case letters in scheme or host, and checks whether it continues.")
        .fix("Compare scheme and host without regard to case.")
        .judge(uppercase_accepted),
    client("oauth.resource-without-slash")
        .on(HTTP)
        .says(R2025_06_18, CANONICAL, "A client SHOULD write a server's URI without a trailing slash that means nothing.")
        .says(R2026_07_28, CANONICAL_NOW, "A client SHOULD write a server's URI without a trailing slash that means nothing.")
        .how("Reads how `resource` ends. A slash that the endpoint itself or the metadata has means something.")
        .fix("Cut off a slash that a URL library has added.")
        .judge(without_slash),
    client("oauth.redirect-secure")
        .on(HTTP)
        .says(R2025_03_26, page("security-considerations"), "A redirect URI MUST be https, or on localhost.")
        .says(R2025_06_18, page("communication-security"), "A redirect URI MUST be https, or on localhost.")
        .says(R2026_07_28, security("communication-security"), "A redirect URI MUST be https, or on localhost.")
        .how("Reads `redirect_uri` of authorization requests and `redirect_uris` of registrations.")
        .fix("Use https, or http on loopback.")
        .judge(redirect_secure),
    client("oauth.redirect-registered")
        .on(HTTP)
        .says(R2025_06_18, REDIRECTION, "A client MUST have its redirect URIs registered.")
        .says(R2026_07_28, REDIRECTION_NOW, "A client MUST have its redirect URIs registered.")
        .how("Compares `redirect_uri` with those of the client's registration, or of its document where the authorization server fetched it. The port of an address on loopback may differ.")
        .fix("Register every address that the user may be sent back to.")
        .judge(redirect_registered),
    client("oauth.state-verified")
        .on(HTTP)
        .says(R2025_06_18, REDIRECTION, "A client SHOULD send a state and discard an answer without it or with another.")
        .says(R2026_07_28, REDIRECTION_NOW, "A client SHOULD send a state and discard an answer without it or with another.")
        .how("Looks for `state` in authorization requests, and whether a code is redeemed that came back with another state or none. Holds where such an answer was discarded.")
        .fix("Make a fresh state for each request and drop every answer that does not bring it back.")
        .judge(state_verified),
    client("oauth.response-issuer-checked")
        .on(HTTP)
        .says(
            R2026_07_28,
            index("authorization-response-validation"),
            "A client MUST compare `iss` of the answer, errors included, with the issuer that it recorded before, as it stands.",
        )
        .how("Checks whether a code is redeemed that came back with another `iss` than the metadata's issuer, or without one though the metadata promises it. Holds where such an answer was rejected.")
        .fix("Compare `iss`, decoded and otherwise as it stands, with the issuer recorded beforehand.")
        .judge(response_issuer),
];
