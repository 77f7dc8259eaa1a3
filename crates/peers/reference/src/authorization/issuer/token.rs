//! The token endpoint (OAuth 2.1, 3.2 and 4). A code is good once; a refresh token is, too, and whoever shows one again
//! ends all that came of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use net::server::http::{GuardRequest, GuardResponse};
use net::server::http::{HeaderValue, StatusCode};
use oauth::{jose, random};
use serde_json::json;
use subtle::ConstantTimeEq as _;

use super::authorize::{scopes, target};
use super::client::{Authentication, Registered};
use super::extended::JWT_BEARER;
use super::form::{Form, decoded};
use super::metadata::takes;
use super::{Code, Grant, Issuer, OFFLINE};
use crate::authorization::proof::{Flaw, Shown};
use crate::authorization::{CALL, READ, reply};

/// An error and a word for people.
pub(super) type Fault = (&'static str, &'static str);

impl Issuer {
    /// Answers a token request.
    pub(super) fn token(&self, tenant: &'static str, asked: &GuardRequest, audiences: &[String]) -> GuardResponse {
        let form = asked.headers.get("content-type").and_then(|kind| kind.to_str().ok());
        let form = form.filter(|kind| wire::http::has_media_type(kind, "application/x-www-form-urlencoded"));
        let Some(form) = form.and_then(|_| Form::read(&asked.body)) else {
            return reply::error(StatusCode::BAD_REQUEST, "invalid_request", "a form is wanted, each parameter once");
        };
        let Some((id, client)) = self.authenticated(tenant, asked, &form) else {
            return unknown_client();
        };
        let key = match self.shown_key(asked) {
            Ok(key) => key,
            Err(flaw) => return self.unproved(flaw),
        };
        let granted = match form.text("grant_type") {
            Some(other) if !takes(self.development.extension, other) => {
                Err(("unsupported_grant_type", "this grant is not supported"))
            }
            Some("authorization_code") => self.by_code(tenant, &id, &form, audiences),
            // A client that shows a secret may come with another key (RFC 9449, 5).
            Some("refresh_token") => self.by_refresh(tenant, &id, &form).map(|grant| {
                let key = grant.key.filter(|_| matches!(client.authentication, Authentication::None));
                Grant { key, ..grant }
            }),
            Some("client_credentials") => by_client(tenant, &id, &client, &form, audiences),
            Some(JWT_BEARER) => self.by_assertion(&id, &form, asked.host(), audiences),
            Some(_) => Err(("unsupported_grant_type", "this grant is not supported")),
            None => Err(("invalid_request", "no grant_type is named")),
        };
        // A key that was named beforehand, or that a public client's token was bound to, is the one that it stays bound to.
        let other = ("invalid_grant", "it is bound to another key");
        let granted = granted.and_then(|grant| {
            let same = grant.key.is_none() || grant.key == key;
            if same { Ok(Grant { key, ..grant }) } else { Err(other) }
        });
        match granted {
            Ok(grant) => self.hand_out(asked.host(), grant, &client),
            Err((error, why)) => reply::error(StatusCode::BAD_REQUEST, error, why),
        }
    }

    /// The fingerprint of the key that is shown along with a request, where tokens are bound to one.
    fn shown_key(&self, asked: &GuardRequest) -> Result<Option<String>, Flaw> {
        let Some((proofs, _)) = &self.proofs else { return Ok(None) };
        let at = format!("http://{}{}", asked.host(), asked.uri.path());
        let shown = Shown { method: &asked.method, at: &at, headers: &asked.headers, token: None };
        proofs.key(&shown).map(Some)
    }

    /// A refusal of who does not show a key as it is wanted.
    fn unproved(&self, flaw: Flaw) -> GuardResponse {
        let mut refused = reply::error(StatusCode::BAD_REQUEST, flaw.error(), flaw.as_str());
        let nonce = self.proofs.as_ref().and_then(|(proofs, _)| HeaderValue::from_str(proofs.nonce()).ok());
        if let Some(nonce) = nonce.filter(|_| flaw == Flaw::Nonce) {
            refused.headers.insert("dpop-nonce", nonce);
        }
        refused
    }

    /// Who asks, where that is proved in just one way.
    fn authenticated(&self, tenant: &str, asked: &GuardRequest, form: &Form) -> Option<(String, Registered)> {
        if let Some(assertion) = form.text("client_assertion") {
            return self.signed(tenant, asked, form, assertion);
        }
        let named = form.text("client_id").or_else(|| self.implied(form)).map(str::to_owned);
        let (id, password) = match asked.headers.get("authorization") {
            Some(header) => {
                let (id, password) = basic(header)?;
                let alone = form.text("client_secret").is_none() && named.is_none_or(|named| named == id);
                (id, Some(password).filter(|_| alone)?)
            }
            None => return self.named(tenant, named?, form.text("client_secret")),
        };
        self.named(tenant, id, Some(&password))
    }

    fn named(&self, tenant: &str, id: String, password: Option<&str>) -> Option<(String, Registered)> {
        let client = self.known(tenant, &id).filter(|client| client.is_proved_by(password))?;
        Some((id, client))
    }

    fn by_code(&self, tenant: &str, id: &str, form: &Form, audiences: &[String]) -> Result<Grant, Fault> {
        let bad = ("invalid_grant", "the code is not good, not for you, or not with this verifier");
        let code = form.text("code").ok_or(("invalid_request", "no code is there"))?;
        let code = self.redeemed(code).ok_or(bad)?;
        let verifier = form.text("code_verifier").ok_or(bad)?;
        let proved = bool::from(jose::sha256(verifier).as_bytes().ct_eq(code.challenge.as_bytes()));
        let same =
            code.grant.client == id && code.grant.tenant == tenant && form.text("redirect_uri") == Some(&code.redirect);
        if !proved || !same {
            return Err(bad);
        }
        if form.text("resource").is_some() && target(form.text("resource"), audiences)? != code.grant.resource {
            return Err(("invalid_target", "the code is for another resource"));
        }
        Ok(code.grant)
    }

    /// What a code stands for, the first time. One that was redeemed before ends all that it gave (OAuth 2.1, 4.1.3).
    fn redeemed(&self, code: &str) -> Option<Code> {
        let mut state = self.state();
        let found = state.codes.take(code);
        match &found {
            Some(found) => state.redeemed.put(code.to_owned(), found.grant.family.clone()),
            None => {
                if let Some(consent) = state.redeemed.find(code) {
                    state.revoke(&consent);
                }
            }
        }
        found
    }

    fn by_refresh(&self, tenant: &str, id: &str, form: &Form) -> Result<Grant, Fault> {
        let bad = ("invalid_grant", "the refresh token is not good, or not for you");
        let token = form.text("refresh_token").ok_or(("invalid_request", "no refresh_token is there"))?;
        let mut state = self.state();
        if let Some(family) = state.spent.find(token) {
            state.revoke(&family);
            return Err(bad);
        }
        let grant =
            state.refreshes.find(token).filter(|grant| grant.client == id && grant.tenant == tenant).ok_or(bad)?;
        if form.text("resource").is_some_and(|resource| resource != grant.resource) {
            return Err(("invalid_target", "the refresh token is for another resource"));
        }
        let kept: Vec<&str> = grant.scopes.iter().map(String::as_str).collect();
        let narrowed = form.text("scope").map(|asked| scopes(Some(asked), &kept)).transpose()?;
        state.refreshes.take(token);
        state.spent.put(token.to_owned(), grant.family.clone());
        drop(state);
        let scopes = narrowed.unwrap_or_else(|| grant.scopes.clone());
        Ok(Grant { scopes, ..grant })
    }

    fn hand_out(&self, host: &str, grant: Grant, client: &Registered) -> GuardResponse {
        let mut answer = json!({
            "access_token": self.access(host, &grant).reveal(),
            "token_type": if grant.key.is_some() { "DPoP" } else { "Bearer" },
            "expires_in": self.development.lasts,
            "scope": grant.scopes.join(" "),
        });
        let comes_back = client.refreshes || grant.scopes.iter().any(|scope| scope == OFFLINE);
        if comes_back && !client.own_name {
            let token = random();
            answer["refresh_token"] = token.as_str().into();
            self.state().refreshes.put(token, grant);
        }
        reply::json(StatusCode::OK, &answer)
    }
}

/// A client in its own name.
fn by_client(
    tenant: &'static str,
    id: &str,
    client: &Registered,
    form: &Form,
    audiences: &[String],
) -> Result<Grant, Fault> {
    let proved = matches!(client.authentication, Authentication::Secret(_) | Authentication::Key);
    if !client.own_name || !proved {
        return Err(("unauthorized_client", "this client may not act in its own name"));
    }
    let scopes = scopes(form.text("scope"), &[READ, CALL])?;
    let resource = target(form.text("resource"), audiences)?;
    // No user may have the same name.
    let subject = format!("client:{id}");
    Ok(Grant { tenant, client: id.to_owned(), subject, scopes, resource, family: random(), key: None })
}

fn unknown_client() -> GuardResponse {
    let mut refused =
        reply::error(StatusCode::UNAUTHORIZED, "invalid_client", "this client is not known, or not proved");
    refused.headers.insert("www-authenticate", HeaderValue::from_static("Basic realm=\"token\""));
    refused
}

/// Id and password in a header (RFC 6749, 2.3.1).
pub(super) fn basic(header: &HeaderValue) -> Option<(String, String)> {
    let (scheme, text) = header.to_str().ok()?.split_once(' ')?;
    let text = BASE64.decode(text.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let text = String::from_utf8(text).ok()?;
    let (id, password) = text.split_once(':')?;
    Some((decoded(id), decoded(password)))
}
