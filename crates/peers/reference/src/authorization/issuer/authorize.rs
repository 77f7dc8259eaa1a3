//! The authorization endpoint (OAuth 2.1, 4.1; RFC 7636, 8707, 9207). Programs are answered at once; who comes with a
//! browser is shown what is asked for first.

use net::server::http::StatusCode;
use net::server::http::{GuardRequest, GuardResponse};
use oauth::random;
use url::Url;

use super::client::Registered;
use super::form::Form;
use super::{Code, Grant, Issuer, OFFLINE, SCOPES, USER, consent, name};
use crate::authorization::{READ, reply};

/// How long a challenge is: SHA-256 in base64.
const CHALLENGE: usize = 43;

/// A request whose client and redirect address are known to be right: errors go there now.
struct Request<'f> {
    form: &'f Form,
    client: Registered,
    id: &'f str,
    redirect: &'f str,
    issuer: String,
}

impl Issuer {
    /// Answers an authorization request.
    pub(super) async fn authorize(
        &self,
        tenant: &'static str,
        asked: &GuardRequest,
        audiences: &[String],
    ) -> GuardResponse {
        let query = asked.uri.query().unwrap_or_default();
        let accept = asked.headers.get("accept").and_then(|accept| accept.to_str().ok());
        // A browser says so with all that it fetches: no page may have it agree in its user's name.
        let by_person = asked.headers.contains_key("sec-fetch-mode")
            || accept.is_some_and(|accept| wire::http::lists(accept, "text/html"));
        self.decide(tenant, asked.host(), query, audiences, by_person).await
    }

    /// Answers who was shown what is asked for.
    pub(super) async fn consented(
        &self,
        tenant: &'static str,
        asked: &GuardRequest,
        audiences: &[String],
    ) -> GuardResponse {
        let form = Form::read(&asked.body).unwrap_or_default();
        let pending = form.text("request").and_then(|key| self.state().pending.take(key));
        match (pending, form.text("answer")) {
            (Some(query), Some("allow")) => self.decide(tenant, asked.host(), &query, audiences, false).await,
            (Some(query), _) => self.declined(tenant, asked.host(), &query).await,
            (None, _) => reply::error(StatusCode::BAD_REQUEST, "invalid_request", "this page was answered already"),
        }
    }

    async fn declined(&self, tenant: &'static str, host: &str, query: &str) -> GuardResponse {
        let form = Form::read(query.as_bytes()).unwrap_or_default();
        match self.request(tenant, host, &form).await {
            Ok(request) => request.fail("access_denied", "the user does not agree"),
            Err(why) => reply::error(StatusCode::BAD_REQUEST, "invalid_request", why),
        }
    }

    async fn decide(
        &self,
        tenant: &'static str,
        host: &str,
        query: &str,
        audiences: &[String],
        by_person: bool,
    ) -> GuardResponse {
        let Some(form) = Form::read(query.as_bytes()) else {
            return reply::error(StatusCode::BAD_REQUEST, "invalid_request", "a parameter stands there twice");
        };
        let request = match self.request(tenant, host, &form).await {
            Ok(request) => request,
            // Nobody is sent to an address that is not the client's.
            Err(why) => return reply::error(StatusCode::BAD_REQUEST, "invalid_request", why),
        };
        if self.extended.is_some() {
            return request.fail("unauthorized_client", "no codes are handed out here");
        }
        let code = match request.code(tenant, audiences) {
            Ok(code) => code,
            Err((error, why)) => return request.fail(error, why),
        };
        if by_person {
            let key = random();
            self.state().pending.put(key.clone(), query.to_owned());
            return consent::page(&request.client.name, request.redirect, &code.grant, tenant, &key);
        }
        let key = random();
        self.state().codes.put(key.clone(), code);
        request.answer(&[("code", &key)])
    }

    async fn request<'f>(&self, tenant: &str, host: &str, form: &'f Form) -> Result<Request<'f>, &'static str> {
        let id = form.text("client_id").ok_or("no client is named")?;
        let client = self.client(tenant, id).await.ok_or("this client is not known")?;
        let redirect = form.text("redirect_uri").ok_or("no redirect address is named")?;
        if !client.lands_at(redirect) {
            return Err("this redirect address is not the client's");
        }
        Ok(Request { form, client, id, redirect, issuer: name(host, tenant) })
    }
}

impl Request<'_> {
    fn code(&self, tenant: &'static str, audiences: &[String]) -> Result<Code, (&'static str, &'static str)> {
        if self.form.text("response_type") != Some("code") {
            return Err(("unsupported_response_type", "only codes are handed out"));
        }
        let challenge = self.form.text("code_challenge").filter(|challenge| challenge.len() == CHALLENGE);
        let challenge = challenge.ok_or(("invalid_request", "a code_challenge is wanted"))?;
        if self.form.text("code_challenge_method") != Some("S256") {
            return Err(("invalid_request", "the code_challenge_method is S256"));
        }
        let resource = target(self.form.text("resource"), audiences)?;
        let scopes = scopes(self.form.text("scope"), &SCOPES)?;
        let (client, subject, family) = (self.id.to_owned(), USER.to_owned(), random());
        // Who names a key beforehand has to show that one.
        let key = self.form.text("dpop_jkt").map(str::to_owned);
        let grant = Grant { tenant, client, subject, scopes, resource, family, key };
        Ok(Code { grant, redirect: self.redirect.to_owned(), challenge: challenge.to_owned() })
    }

    fn fail(&self, error: &str, why: &str) -> GuardResponse {
        self.answer(&[("error", error), ("error_description", why)])
    }

    fn answer(&self, parameters: &[(&str, &str)]) -> GuardResponse {
        let Ok(mut url) = Url::parse(self.redirect) else { return reply::empty(StatusCode::BAD_REQUEST) };
        url.query_pairs_mut().extend_pairs(parameters).append_pair("iss", &self.issuer);
        if let Some(state) = self.form.text("state") {
            url.query_pairs_mut().append_pair("state", state);
        }
        reply::redirect(url.as_str())
    }
}

/// What the token will be for.
pub(super) fn target(asked: Option<&str>, audiences: &[String]) -> Result<String, (&'static str, &'static str)> {
    let known = |asked: &str| audiences.iter().find(|own| *own == asked).cloned();
    // Clients of 2025-03-26 do not say.
    asked.map_or_else(|| audiences.first().cloned(), known).ok_or(("invalid_target", "this resource is not known here"))
}

/// The scopes that are asked for, each once; the least where none is.
pub(super) fn scopes(asked: Option<&str>, known: &[&str]) -> Result<Vec<String>, (&'static str, &'static str)> {
    let mut scopes: Vec<String> = Vec::new();
    for scope in asked.unwrap_or(READ).split_ascii_whitespace() {
        if !known.contains(&scope) {
            return Err(("invalid_scope", "this scope is not known here"));
        }
        if !scopes.iter().any(|had| had == scope) {
            scopes.push(scope.to_owned());
        }
    }
    // Who asks for nothing but to come back wants at least to read.
    if scopes.iter().all(|scope| scope == OFFLINE) {
        scopes.push(READ.to_owned());
    }
    Ok(scopes)
}
