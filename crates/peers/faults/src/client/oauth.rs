//! On the way to a token, and with one (basic/authorization).

use serde_json::json;
use wire::revision::{R2025_06_18, R2025_11_25};

use super::authorization::{Decision, Step};
use super::{Fault, Kind, drop_member, fault, is};

const NOBODY: &str = "https://nobody.invalid";

pub(super) const FAULTS: &[Fault] = &[
    way(
        "pkce-left-out",
        "oauth.pkce",
        "requests an authorization code without PKCE",
        Kind::Seeks(|_, asked| asked.retain(|(name, _)| !name.starts_with("code_"))),
    ),
    way(
        "pkce-plain",
        "oauth.pkce-s256",
        "uses the PKCE method `plain`",
        Kind::Seeks(|_, asked| set(asked, "code_challenge_method", "plain")),
    )
    .since(R2025_11_25),
    way(
        "pkce-unasked",
        "oauth.pkce-verified",
        "continues where the issuer does not declare PKCE",
        Kind::Waives(Decision::Pkce),
    )
    .since(R2025_11_25)
    .seen_in("auth/pkce-unsaid"),
    way(
        "resource-left-out",
        "oauth.resource-parameter",
        "omits the `resource` parameter",
        Kind::Seeks(|_, asked| asked.retain(|(name, _)| name != "resource")),
    ),
    way(
        "resource-elsewhere",
        "oauth.resource-canonical",
        "requests a token for another server",
        Kind::Seeks(|_, asked| set(asked, "resource", NOBODY)),
    ),
    way(
        "scope-greedy",
        "oauth.scope-from-challenge",
        "asks for more scope than the refusal names",
        Kind::Seeks(|what, asked| {
            if what == Step::Authorization {
                set(asked, "scope", "mcp:read mcp:call");
            }
        }),
    )
    .since(R2025_11_25)
    .seen_in("auth/scope-from-www-authenticate"),
    way(
        "state-ignored",
        "oauth.state-verified",
        "accepts an authorization response with another `state`",
        Kind::Waives(Decision::State),
    )
    .seen_in("auth/state-wrong"),
    way(
        "iss-ignored",
        "oauth.response-issuer-checked",
        "accepts an authorization response of another issuer",
        Kind::Waives(Decision::ResponseIssuer),
    )
    .modern()
    .seen_in("auth/iss-wrong-issuer"),
    way(
        "issuer-ignored",
        "oauth.issuer-validated",
        "accepts metadata of another issuer",
        Kind::Waives(Decision::MetadataIssuer),
    )
    .since(R2025_11_25)
    .seen_in("auth/metadata-issuer-mismatch"),
    way(
        "client-id-shared",
        "oauth.credentials-per-issuer",
        "uses the client id of one issuer with another",
        Kind::Waives(Decision::Registration),
    )
    .modern()
    .seen_in("auth/issuer-moves"),
    way(
        "redirect-without-https",
        "oauth.redirect-secure",
        "registers a redirect URI without https",
        Kind::Registers(|document| document["redirect_uris"] = json!(["http://app.example/callback"])),
    ),
    way(
        "redirect-unregistered",
        "oauth.redirect-registered",
        "registers another redirect URI than it uses",
        Kind::Registers(|document| document["redirect_uris"] = json!(["http://127.0.0.1/elsewhere"])),
    ),
    way(
        "application-type-unsaid",
        "oauth.application-type",
        "registers without `application_type`",
        Kind::Registers(|document| {
            drop_member(document, "application_type");
        }),
    )
    .modern(),
    way(
        "token-left-out",
        "oauth.token-every-request",
        "makes calls without the token",
        Kind::Carries(
            |message, outgoing| {
                if is(message, "tools/call") { outgoing.without("authorization") } else { outgoing }
            },
        ),
    ),
    way(
        "token-in-query",
        "oauth.token-not-in-query",
        "sends the token in the query of calls",
        Kind::Carries(|message, outgoing| {
            if is(message, "tools/call") { outgoing.query("access_token=not-for-everybody") } else { outgoing }
        }),
    ),
];

/// A fault that shows where a server demands tokens.
const fn way(name: &'static str, rule: &'static str, about: &'static str, kind: Kind) -> Fault {
    fault(name, rule, about, kind).http().since(R2025_06_18).seen_in("auth/metadata-default")
}

fn set(asked: &mut [(String, String)], name: &str, value: &str) {
    for (_, own) in asked.iter_mut().filter(|(own, _)| own == name) {
        value.clone_into(own);
    }
}
