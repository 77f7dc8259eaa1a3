//! The scenarios in which a server demands tokens, and an authorization server stands beside it. Where the official suite
//! has the same, they have its names.

use faults::server::quirks;
use oauth::Secret;
use reference::authorization::{Binding, Development, Extension};
use reference::catalogue::Catalogue;
use serde_json::{Value, json};
use wire::Era::Modern;
use wire::Transport;
use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25};

use super::super::evidence::{client as sent, issuer_with_slash, server};
use super::super::scenario::{Scenario, scenario};

/// The client that is known beforehand, and its password, which opens nothing else.
const CLIENT: (&str, &str) = ("scenario-client", "scenario-password");
/// The address that the official suite takes for a client's document.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

pub(super) const AUTHORIZED: &[&Scenario] = &[
    &way("auth/metadata-default", "Find the authorization server from the 401, get a token, list the tools and call one.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN]).shows(&[server(&["HTTP 401", "resource_metadata="])]),
    &way("auth/metadata-var1", "The same. The 401 names no metadata, and the issuer has only OpenID Connect metadata.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::CHALLENGE_WITHOUT_METADATA, quirks::OPENID_ALONE]).shows(&[server(&["HTTP 401", "www-authenticate: Bearer"]).without(&["resource_metadata"]), sent(&["openid-configuration"])]),
    &way("auth/metadata-var2", "The same. The resource's metadata is at the root, and the issuer has a path.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::CHALLENGE_WITHOUT_METADATA, quirks::RESOURCE_AT_ROOT, quirks::TENANT_ALONE]).shows(&[sent(&["GET /.well-known/oauth-protected-resource\n"]), server(&["/tenant"])]),
    &way("auth/metadata-var3", "The same. The resource's metadata is at another path, the issuer's after the issuer's path.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::RESOURCE_ELSEWHERE, quirks::OPENID_APPENDED]).shows(&[sent(&["/elsewhere/resource.json"])]),
    &way("auth/basic-cimd", "The same. The client is identified by the URL of its metadata document.")
        .demands(|| Development { document: Some(DOCUMENT.to_owned()), lands_anywhere: true, ..Development::default() })
        .since(R2025_11_25).shows(&[sent(&["conformance-test.local"])]),
    &way("auth/scope-from-www-authenticate", "The same, with the scope that the 401 names.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN])
        .since(R2025_11_25).shows(&[server(&["HTTP 401", "scope="])]),
    &way("auth/scope-from-scopes-supported", "The same, with the scopes that the metadata lists.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::SCOPE_UNNAMED_IN_CHALLENGE])
        .since(R2025_11_25).shows(&[server(&["HTTP 401", "www-authenticate: Bearer"]).without(&["scope="]), server(&["scopes_supported"])]),
    &way("auth/scope-omitted-when-undefined", "The same, without scope, because none is named anywhere.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::SCOPE_UNNAMED_IN_CHALLENGE, quirks::SCOPES_UNSAID])
        .since(R2025_11_25).shows(&[server(&["HTTP 401", "www-authenticate: Bearer"]).without(&["scope="]), server(&[r#""authorization_servers""#]).without(&["scopes_supported"])]),
    &way("auth/scope-step-up", "List the tools, then call `add_numbers`. The call needs more scope: get a new token and retry.")
        .offers(|_| Catalogue::client_scenarios_with_writing_tool())
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN])
        .since(R2025_11_25)
        .shows(&[
            server(&["HTTP 401", "scope=\"mcp:read\""]),
            server(&["HTTP 403", "insufficient_scope", "scope=\"mcp:call\""]),
            sent(&["scope=", "mcp%3Acall"]),
            // The call succeeds, which takes the larger token.
            server(&["The sum is"]),
        ]),
    &way("auth/scope-retry-limit", "List the tools. No scope is ever enough: give up after a few attempts.")
        .wrong(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::SCOPE_NEVER_ENOUGH])
        .since(R2025_11_25).shows(&[server(&["HTTP 403", "insufficient_scope"]).times(2)]),
    &way("auth/token-endpoint-auth-basic", "Get a token. The issuer accepts client secrets only in a header.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::BASIC_ALONE]).shows(&[server(&[r#""token_endpoint_auth_methods_supported":["client_secret_basic"]"#])]),
    &way("auth/token-endpoint-auth-post", "Get a token. The issuer accepts client secrets only in the form.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::POST_ALONE]).shows(&[server(&[r#""token_endpoint_auth_methods_supported":["client_secret_post"]"#])]),
    &way("auth/token-endpoint-auth-none", "Get a token. The issuer accepts no client secrets.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::NONE_ALONE]).shows(&[server(&[r#""token_endpoint_auth_methods_supported":["none"]"#])]),
    &way(
        "auth/pre-registration",
        "Get a token as the client that the context names, by `client_id` and `client_secret`.",
    )
    .tries(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::REGISTRATION_UNSAID, quirks::BASIC_ALONE])
    .demands(known)
    .tells(client).shows(&[server(&[r#""token_endpoint""#]).without(&["registration_endpoint"])]),
    &way("auth/client-credentials-basic", "Get a token with client credentials: the context names the client.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::REGISTRATION_UNSAID, quirks::BASIC_ALONE])
        .demands(known)
        .tells(client)
        .since(R2025_11_25)
        .optional().shows(&[server(&[r#""token_endpoint""#]).without(&["registration_endpoint"]), sent(&["client_credentials"])]),
    &way("auth/client-credentials-post", "The same. The issuer accepts client secrets only in the form.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::REGISTRATION_UNSAID, quirks::POST_ALONE])
        .demands(known)
        .tells(client)
        .since(R2025_11_25)
        .optional().shows(&[server(&[r#""token_endpoint""#]).without(&["registration_endpoint"]), sent(&["client_credentials"])]),
    &extension(
        "auth/client-credentials-jwt",
        "Get a token with client credentials, by assertions signed with the key in the context.",
    )
    .demands(|| by(Extension::Key)).shows(&[server(&[r#""token_endpoint""#]).without(&["registration_endpoint"]), sent(&["client_assertion"])]),
    &extension(
        "auth/enterprise-managed-authorization",
        "Exchange the user's identity token in the context for an assertion, and the assertion for a token.",
    )
    .demands(|| by(Extension::Enterprise)).shows(&[sent(&["token-exchange"])]),
    &extension("auth/wif-jwt-bearer", "Get a token for a workload's assertion: `valid_jwt` in the context.")
        .demands(|| by(Extension::Workload)).shows(&[sent(&["jwt-bearer"])]),
    &extension("auth/dpop", "Get a token that is bound to a key, and prove with every request that you have the key.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN])
        .demands(|| Development { binding: Binding::Bound, ..Development::default() }).shows(&[sent(&["\ndpop: "])]),
    &extension("auth/dpop-nonce", "The same. Proofs need a nonce, which the server gives in a refusal.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN])
        .demands(|| Development { binding: Binding::WithNonce, ..Development::default() }).shows(&[server(&["\ndpop-nonce: "])]),
    &way(
        "auth/token-expires",
        "Get a token and list the tools. Wait three seconds, list them again, and renew the token.",
    )
    .tries(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::TOKENS_AGE]).shows(&[server(&["HTTP 401", "invalid_token"])]),
    &way(
        "auth/issuer-moves",
        "Get a token and list the tools. Wait three seconds, and list something else: the server now has another issuer.",
    )
    .tries(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::ISSUER_MOVES])
    .era(Modern).shows(&[sent(&["/elsewhere/moved.json"])]),
    &way("auth/resource-in-capitals", "Get a token. The metadata writes the server's address in capitals.")
        .wrong(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::RESOURCE_IN_CAPITALS]).shows(&[server(&[r#""resource":"HTTP://"#])]),
    &way("auth/resource-mismatch", "The metadata belongs to another server: do not get a token.")
        .wrong(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::RESOURCE_MISMATCH]).shows(&[server(&[r#""resource":"https://nobody.invalid/mcp""#])]),
    &way("auth/offline-access-scope", "Get a token. The issuer supports `offline_access`: ask for it, if you want to.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN])
        .era(Modern).shows(&[server(&[r#""scopes_supported""#, "offline_access"])]),
    &way(
        "auth/offline-access-not-supported",
        "Get a token. The issuer does not support `offline_access`: do not ask for it.",
    )
    .tries(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::OFFLINE_UNSAID])
    .era(Modern).shows(&[server(&[r#""scopes_supported""#, r#""issuer""#]).without(&["offline_access"])]),
    &way("auth/iss-supported", "Get a token. The authorization response has `iss`, as the issuer's metadata promises.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN])
        .era(Modern).shows(&[server(&[r#""authorization_response_iss_parameter_supported":true"#]), server(&["\nlocation: ", "iss="])]),
    &way("auth/iss-not-advertised", "Get a token. The metadata does not promise `iss`, and the authorization response has none.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::ISS_UNSAID, quirks::ISS_MISSING])
        .era(Modern).shows(&[server(&[r#""authorization_response_iss_parameter_supported":false"#]), server(&["\nlocation: ", "code="]).without(&["iss="])]),
    &way("auth/iss-supported-missing", "The authorization response has no `iss`, though the metadata promises it: reject the response.")
        .wrong(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::ISS_MISSING])
        .era(Modern).shows(&[server(&[r#""authorization_response_iss_parameter_supported":true"#]), server(&["\nlocation: ", "code="]).without(&["iss="])]),
    &way("auth/iss-wrong-issuer", "The authorization response names another issuer: reject it.")
        .wrong(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::ISS_OF_ANOTHER])
        .era(Modern).shows(&[server(&[r#""authorization_response_iss_parameter_supported":true"#]), server(&["\nlocation: ", "iss=https%3A%2F%2Fnobody.invalid"])]),
    &way("auth/iss-unexpected", "The authorization response names another issuer, and the metadata promised no `iss`: reject it.")
        .wrong(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::ISS_UNSAID, quirks::ISS_OF_ANOTHER])
        .era(Modern).shows(&[server(&[r#""authorization_response_iss_parameter_supported":false"#]), server(&["\nlocation: ", "iss=https%3A%2F%2Fnobody.invalid"])]),
    &way("auth/iss-normalized", "The authorization response adds a slash to the issuer: reject it.")
        .wrong(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::ISS_WITH_SLASH])
        .era(Modern).shows(&[server(&["\nlocation: "]).and(issuer_with_slash)]),
    &way("auth/metadata-issuer-mismatch", "The issuer's metadata names another issuer: do not get a token.")
        .wrong(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::ISSUER_OF_ANOTHER])
        .since(R2025_11_25).shows(&[server(&[r#""issuer":"https://nobody.invalid""#])]),
    &way("auth/state-missing", "The authorization response has no `state`: reject it.")
        .wrong(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::STATE_MISSING]).shows(&[server(&["\nlocation: ", "code="]).without(&["state="])]),
    &way("auth/state-wrong", "The authorization response has another `state`: reject it.")
        .wrong(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::STATE_OF_ANOTHER]).shows(&[server(&["\nlocation: ", "state="])]),
    &way("auth/pkce-unsaid", "The issuer's metadata names no PKCE method: do not get a token.")
        .wrong(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::PKCE_UNSAID])
        .since(R2025_11_25).shows(&[server(&[r#""authorization_endpoint""#]).without(&["code_challenge_methods_supported"])]),
    &way("auth/registration-refused", "The issuer refuses to register the client: report it, and exit.")
        .wrong(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::REGISTRATION_REFUSED]).shows(&[server(&["invalid_redirect_uri"])]),
    &way("auth/2025-03-26-oauth-metadata-backcompat", "Get a token. The server is its own issuer.")
        .tries(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::RESOURCE_NOWHERE])
        .since(R2025_03_26)
        .until(R2025_03_26).shows(&[sent(&["/.well-known/oauth-authorization-server"])]),
    &way("auth/2025-03-26-oauth-endpoint-fallback", "Get a token at `/authorize`, `/token` and `/register`.")
        .tries(&[quirks::RESOURCE_NOWHERE, quirks::ISSUER_NOWHERE])
        .since(R2025_03_26)
        .until(R2025_03_26).shows(&[server(&["HTTP 404"]), sent(&["POST /register"])]),
];

/// A server whose tools anybody with a token of its authorization server may call.
const fn way(name: &'static str, asks: &'static str) -> Scenario {
    scenario(name, asks)
        .offers(|_| Catalogue::client_scenarios())
        .demands(Development::default)
        .on(&[Transport::StreamableHttp])
        .since(R2025_06_18)
}

/// One whose tokens only a client that knows an extension can get.
const fn extension(name: &'static str, asks: &'static str) -> Scenario {
    way(name, asks).tries(&[quirks::DOCUMENTS_NOT_TAKEN, quirks::REGISTRATION_UNSAID]).since(R2025_11_25).optional()
}

fn by(extension: Extension) -> Development {
    Development { extension: Some(extension), ..Development::default() }
}

fn known() -> Development {
    let client = Some((CLIENT.0.to_owned(), Secret::new(CLIENT.1)));
    Development { client, lands_anywhere: true, ..Development::default() }
}

fn client() -> Value {
    json!({ "client_id": CLIENT.0, "client_secret": CLIENT.1 })
}
