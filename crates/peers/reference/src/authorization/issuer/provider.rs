//! An enterprise's identity provider, at which a user signed in once: it exchanges the user's identity token for an assertion
//! that the issuer takes (RFC 8693, and the extension on authorization managed by an enterprise). Nobody signs in here.

use net::server::http::StatusCode;
use net::server::http::{GuardRequest, GuardResponse};
use oauth::{now, random};
use serde_json::{Value, json};

use super::authorize::{scopes, target};
use super::extended::Extended;
use super::form::Form;
use super::token::{Fault, basic};
use super::{Issuer, Page, USER};
use crate::authorization::{CALL, Extension, READ, reply};
use oauth::resource::{TokenRequirements, vouched};

/// The client as the provider knows it.
pub(super) const CLIENT: &str = "scenario-sign-in-client";
/// The path of the provider, which is an issuer of its own.
const PATH: &str = "/idp";
/// How long an assertion is good, in seconds.
const LASTS: u64 = 300;

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
/// The type that an assertion says it is of.
pub(super) const ASSERTION: &str = "oauth-id-jag+jwt";

/// The provider's page at `path`.
pub(super) fn page(path: &str) -> Option<Page> {
    match path {
        "/idp/.well-known/openid-configuration" | "/.well-known/openid-configuration/idp" => Some(Page::Provider),
        "/idp/token" => Some(Page::Exchange),
        _ => None,
    }
}

/// The provider's name, where the server is called `host`.
pub(super) fn name(host: &str) -> String {
    super::name(host, PATH)
}

/// Where it exchanges tokens.
pub(super) fn token_endpoint(host: &str) -> String {
    format!("{}/token", name(host))
}

/// What it says about itself.
pub(super) fn document(host: &str) -> Value {
    json!({
        "issuer": name(host),
        "token_endpoint": token_endpoint(host),
        "grant_types_supported": [EXCHANGE],
        "response_types_supported": [],
        "token_endpoint_auth_methods_supported": ["none"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    })
}

impl Extended {
    /// The identity token of a user who signed in, good until then.
    pub(super) fn signed_in(&self, host: &str, until: u64) -> String {
        let claims = json!({ "iss": name(host), "sub": USER, "aud": CLIENT, "iat": now(), "exp": until });
        self.signer.sign(json!({ "typ": "JWT" }), &claims)
    }
}

impl Issuer {
    /// Whether there is such a provider.
    pub(super) fn has_provider(&self) -> bool {
        self.development.extension == Some(Extension::Enterprise)
    }

    /// Answers a token exchange.
    pub(super) fn exchange(&self, asked: &GuardRequest, audiences: &[String]) -> GuardResponse {
        let form = asked.headers.get("content-type").and_then(|kind| kind.to_str().ok());
        let form = form.filter(|kind| wire::http::has_media_type(kind, "application/x-www-form-urlencoded"));
        let form = form.and_then(|_| Form::read(&asked.body));
        let exchanged = form
            .ok_or(("invalid_request", "a form is wanted, each parameter once"))
            .and_then(|form| self.exchanged(asked, &form, audiences));
        match exchanged {
            Ok(answer) => reply::json(StatusCode::OK, &answer),
            Err((error, why)) => reply::error(StatusCode::BAD_REQUEST, error, why),
        }
    }

    fn exchanged(&self, asked: &GuardRequest, form: &Form, audiences: &[String]) -> Result<Value, Fault> {
        let extended = self.extended.as_ref().ok_or(("unsupported_grant_type", "nothing is exchanged here"))?;
        let host = asked.host();
        if form.text("grant_type") != Some(EXCHANGE) {
            return Err(("unsupported_grant_type", "tokens are exchanged here, and nothing else"));
        }
        if form.text("requested_token_type") != Some(ID_JAG) || form.text("subject_token_type") != Some(ID_TOKEN) {
            return Err(("invalid_request", "an identity token is exchanged for an assertion, and both are named"));
        }
        let subject = form.text("subject_token").ok_or(("invalid_request", "no subject_token is there"))?;
        let wanted = TokenRequirements {
            issuers: vec![name(host)],
            audiences: vec![CLIENT.to_owned()],
            key: None,
            certificate: None,
        };
        let bad = ("invalid_grant", "this is no identity token of ours, or not for you");
        let claims = vouched(subject, &["", "jwt"], &extended.keys, &wanted).map_err(|_| bad)?;
        // Who does not say who it is is the one that the token is for: nobody else was given it.
        if asker(asked, form).is_some_and(|id| id != CLIENT) {
            return Err(bad);
        }
        let audience = form.text("audience").ok_or(("invalid_request", "no audience is named"))?;
        if !super::assertion::is_named(audience, &self.names(host)) {
            return Err(("invalid_target", "this authorization server is not known here"));
        }
        let resource = form.text("resource").ok_or(("invalid_request", "no resource is named"))?;
        let resource = target(Some(resource), audiences)?;
        let scope = scopes(form.text("scope"), &[READ, CALL])?.join(" ");
        let now = now();
        let assertion = json!({
            "iss": name(host), "sub": claims["sub"], "aud": audience, "resource": resource, "client_id": extended.id(),
            "jti": random(), "iat": now, "exp": now + LASTS, "scope": scope,
        });
        Ok(json!({
            "issued_token_type": ID_JAG,
            "access_token": extended.signer.sign(json!({ "typ": ASSERTION }), &assertion),
            "token_type": "N_A",
            "scope": scope,
            "expires_in": LASTS,
        }))
    }
}

/// Who asks, where that is said.
fn asker(asked: &GuardRequest, form: &Form) -> Option<String> {
    let by_header = asked.headers.get("authorization").and_then(basic).map(|(id, _)| id);
    by_header.or_else(|| form.text("client_id").map(str::to_owned))
}
