//! The scenarios in which a server demands tokens, and an authorization server stands beside it. Where the official suite
//! has the same, they have its names.

use oauth::Secret;
use reference::authorization::{Binding, Development, Extension};
use reference::catalogue::Catalogue;
use serde_json::{Value, json};
use wire::Era::Modern;
use wire::Transport;
use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25};

use super::scenario::{Scenario, scenario};

/// The client that is known beforehand, and its password, which opens nothing else.
const CLIENT: (&str, &str) = ("drill-client", "drill-password");
/// The address that the official suite takes for a client's document.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

pub(super) const AUTHORIZED: &[&Scenario] = &[
    &way("auth/metadata-default", "Get a token as the refusal shows the way, list the tools and call one.")
        .tries(&["documents-not-taken"]),
    &way("auth/metadata-var1", "The same. The refusal names no metadata, and the issuer's is OpenID Connect's.")
        .tries(&["documents-not-taken", "challenge-without-metadata", "openid-alone"]),
    &way("auth/metadata-var2", "The same. The resource's metadata is at the root, and the issuer has a path.")
        .tries(&["documents-not-taken", "challenge-without-metadata", "resource-at-root", "tenant-alone"]),
    &way("auth/metadata-var3", "The same. The resource's metadata is elsewhere, the issuer's after its path.")
        .tries(&["documents-not-taken", "resource-elsewhere", "openid-appended"]),
    &way("auth/basic-cimd", "The same. Who the client is is known by the address of its document.")
        .demands(|| Development { document: Some(DOCUMENT.to_owned()), lands_anywhere: true, ..Development::default() })
        .since(R2025_11_25),
    &way("auth/scope-from-www-authenticate", "The same, with the scope that the refusal names.")
        .tries(&["documents-not-taken"])
        .since(R2025_11_25),
    &way("auth/scope-from-scopes-supported", "The same, with the scopes that the metadata lists.")
        .tries(&["documents-not-taken", "challenge-without-scope"])
        .since(R2025_11_25),
    &way("auth/scope-omitted-when-undefined", "The same, with no scope, since none is named anywhere.")
        .tries(&["documents-not-taken", "challenge-without-scope", "scopes-unsaid"])
        .since(R2025_11_25),
    &way("auth/scope-step-up", "List the tools, then call `add_numbers`: that takes more scope. Get it.")
        .tries(&["documents-not-taken"])
        .since(R2025_11_25),
    &way("auth/scope-retry-limit", "List the tools. No scope is ever enough: give up after a few times.")
        .wrong(&["documents-not-taken", "scope-never-enough"])
        .since(R2025_11_25),
    &way("auth/token-endpoint-auth-basic", "Get a token. The issuer takes passwords in a header alone.")
        .tries(&["documents-not-taken", "basic-alone"]),
    &way("auth/token-endpoint-auth-post", "Get a token. The issuer takes passwords in the form alone.")
        .tries(&["documents-not-taken", "post-alone"]),
    &way("auth/token-endpoint-auth-none", "Get a token. The issuer takes no passwords.")
        .tries(&["documents-not-taken", "none-alone"]),
    &way(
        "auth/pre-registration",
        "Get a token as the client that the context names, by `client_id` and `client_secret`.",
    )
    .tries(&["documents-not-taken", "registration-unsaid", "basic-alone"])
    .demands(known)
    .tells(client),
    &way("auth/client-credentials-basic", "Get a token in the client's own name, as the context names it.")
        .tries(&["documents-not-taken", "registration-unsaid", "basic-alone"])
        .demands(known)
        .tells(client)
        .since(R2025_11_25)
        .optional(),
    &way("auth/client-credentials-post", "The same; the issuer takes passwords in the form alone.")
        .tries(&["documents-not-taken", "registration-unsaid", "post-alone"])
        .demands(known)
        .tells(client)
        .since(R2025_11_25)
        .optional(),
    &extension(
        "auth/client-credentials-jwt",
        "Get a token in the client's own name, by assertions signed with the key that the context holds.",
    )
    .demands(|| by(Extension::Key)),
    &extension(
        "auth/enterprise-managed-authorization",
        "Exchange the user's identity token that the context holds for an assertion, and that for a token.",
    )
    .demands(|| by(Extension::Enterprise)),
    &extension("auth/wif-jwt-bearer", "Get a token for a workload's assertion: the context has a good one in `valid_jwt`.")
        .demands(|| by(Extension::Workload)),
    &extension("auth/dpop", "Get a token that is bound to a key of yours, and prove with every request that you have it.")
        .tries(&["documents-not-taken"])
        .demands(|| Development { binding: Binding::Bound, ..Development::default() }),
    &extension("auth/dpop-nonce", "The same. Proofs have to have a nonce in them, which a refusal tells.")
        .tries(&["documents-not-taken"])
        .demands(|| Development { binding: Binding::WithNonce, ..Development::default() }),
    &way(
        "auth/token-expires",
        "Get a token and list the tools. Wait three seconds, and list them again: renew the token.",
    )
    .tries(&["documents-not-taken", "tokens-age"]),
    &way(
        "auth/issuer-moves",
        "Get a token and list the tools. Wait three seconds, and list something else: by then the server has another issuer.",
    )
    .tries(&["documents-not-taken", "issuer-moves"])
    .era(Modern),
    &way("auth/resource-in-capitals", "Get a token. The metadata writes the server's address in capitals.")
        .wrong(&["documents-not-taken", "resource-in-capitals"]),
    &way("auth/resource-mismatch", "The metadata is that of another server: get no token.")
        .wrong(&["documents-not-taken", "resource-of-another"]),
    &way("auth/offline-access-scope", "Get a token. The issuer knows `offline_access`: ask for it, if you want to.")
        .tries(&["documents-not-taken"])
        .era(Modern),
    &way(
        "auth/offline-access-not-supported",
        "Get a token. The issuer does not know `offline_access`: do not ask for it.",
    )
    .tries(&["documents-not-taken", "offline-unsaid"])
    .era(Modern),
    &way("auth/iss-supported", "Get a token. The answer says who gives it, as the issuer's metadata promises.")
        .tries(&["documents-not-taken"])
        .era(Modern),
    &way("auth/iss-not-advertised", "Get a token. Neither the metadata nor the answer says who gives it.")
        .tries(&["documents-not-taken", "iss-unsaid", "iss-missing"])
        .era(Modern),
    &way("auth/iss-supported-missing", "The answer does not say who gives it, though that was promised: drop it.")
        .wrong(&["documents-not-taken", "iss-missing"])
        .era(Modern),
    &way("auth/iss-wrong-issuer", "The answer is from another issuer: drop it.")
        .wrong(&["documents-not-taken", "iss-of-another"])
        .era(Modern),
    &way("auth/iss-unexpected", "The answer is from another issuer, and nobody promised to say: drop it.")
        .wrong(&["documents-not-taken", "iss-unsaid", "iss-of-another"])
        .era(Modern),
    &way("auth/iss-normalized", "The answer writes the issuer with a slash more: drop it.")
        .wrong(&["documents-not-taken", "iss-with-slash"])
        .era(Modern),
    &way("auth/metadata-issuer-mismatch", "The issuer's metadata is that of another: get no token.")
        .wrong(&["documents-not-taken", "issuer-of-another"])
        .since(R2025_11_25),
    &way("auth/state-missing", "The answer does not bring the `state` back: drop it.")
        .wrong(&["documents-not-taken", "state-missing"]),
    &way("auth/state-wrong", "The answer brings another `state`: drop it.")
        .wrong(&["documents-not-taken", "state-of-another"]),
    &way("auth/pkce-unsaid", "The issuer's metadata names no method of PKCE: get no token.")
        .wrong(&["documents-not-taken", "pkce-unsaid"])
        .since(R2025_11_25),
    &way("auth/registration-refused", "The issuer does not register the client: say so, and end.")
        .wrong(&["documents-not-taken", "registration-refused"]),
    &way("auth/2025-03-26-oauth-metadata-backcompat", "Get a token. The server is its own issuer.")
        .tries(&["documents-not-taken", "resource-nowhere"])
        .since(R2025_03_26)
        .until(R2025_03_26),
    &way("auth/2025-03-26-oauth-endpoint-fallback", "Get a token at `/authorize`, `/token` and `/register`.")
        .tries(&["resource-nowhere", "issuer-nowhere"])
        .since(R2025_03_26)
        .until(R2025_03_26),
];

/// A server whose tools anybody with a token of its authorization server may call.
const fn way(name: &'static str, asks: &'static str) -> Scenario {
    scenario(name, asks)
        .offers(|_| Catalogue::drill())
        .demands(Development::default)
        .on(&[Transport::StreamableHttp])
        .since(R2025_06_18)
}

/// One whose tokens only a client that knows an extension can get.
const fn extension(name: &'static str, asks: &'static str) -> Scenario {
    way(name, asks).tries(&["documents-not-taken", "registration-unsaid"]).since(R2025_11_25).optional()
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
