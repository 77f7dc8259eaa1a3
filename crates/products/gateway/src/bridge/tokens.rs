//! The token endpoint (OAuth 2.1, 3.2 and 4.3): codes and refresh tokens for access tokens that the gateway signs. What comes a
//! second time, or from another client than it was given to, ends its session. The provider's tokens are not here.

use net::server::http::{GuardRequest, GuardResponse, StatusCode};
use oauth::jose::sha256;
use oauth::{now, random};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::form::Form;
use super::ledger::{Advanced, Begun};
use super::sealing::Purpose;
use super::{Access, Bridge, SESSION, reply};

/// What a code stands for.
#[derive(Serialize, Deserialize)]
pub(super) struct Code {
    pub(super) access: Access,
    /// A digest of the redirect address.
    pub(super) redirect: String,
    /// PKCE's.
    pub(super) challenge: String,
    pub(super) refreshes: bool,
    /// When it was made, and until when it counts, in seconds since 1970.
    pub(super) made: u64,
    pub(super) until: u64,
}

/// What a refresh token stands for.
#[derive(Serialize, Deserialize)]
struct Refresh {
    access: Access,
    generation: u64,
    /// When its session ends.
    until: u64,
}

/// Why there is no token: the OAuth error and the reason.
type Refusal = (&'static str, &'static str);

const AWAY: Refusal = ("temporarily_unavailable", "sessions cannot be kept at this moment");
const BAD_CODE: Refusal = ("invalid_grant", "the code is unknown, too old, used, or not for this request");
const BAD_REFRESH: Refusal = ("invalid_grant", "the refresh token is unknown, too old, used, or not for this client");

impl Bridge {
    /// Answers a token request.
    pub(super) async fn token(&self, request: &GuardRequest) -> GuardResponse {
        let answered = match Form::of_body(request) {
            // A secret would protect nothing here, and a client that sends one takes us for another server.
            Some(form) if request.headers.contains_key("authorization") || form.text("client_secret").is_some() => {
                Err(("invalid_client", "clients have no secret here"))
            }
            Some(form) => self.granted(&form).await,
            None => Err(("invalid_request", "the body must be a form, with each parameter once")),
        };
        match answered {
            Ok(tokens) => reply::json(StatusCode::OK, &tokens),
            Err((error, why)) => {
                tracing::info!(error, "a client gets no token: {why}");
                let status = match error {
                    "invalid_client" => StatusCode::UNAUTHORIZED,
                    "temporarily_unavailable" => StatusCode::SERVICE_UNAVAILABLE,
                    _ => StatusCode::BAD_REQUEST,
                };
                reply::error(status, error, why)
            }
        }
    }

    async fn granted(&self, form: &Form) -> Result<Value, Refusal> {
        let client = form.text("client_id").ok_or(("invalid_request", "client_id is missing"))?;
        match form.text("grant_type") {
            Some("authorization_code") => self.by_code(client, form).await,
            Some("refresh_token") => self.by_refresh(client, form).await,
            Some(_) => Err(("unsupported_grant_type", "grant_type must be authorization_code or refresh_token")),
            None => Err(("invalid_request", "grant_type is missing")),
        }
    }

    async fn by_code(&self, client: &str, form: &Form) -> Result<Value, Refusal> {
        let code = form.text("code").ok_or(("invalid_request", "code is missing"))?;
        let code: Code =
            self.sealing.open(Purpose::Code, "", code).filter(|code: &Code| code.until > now()).ok_or(BAD_CODE)?;
        if code.access.provider != self.settings.provider.issuer {
            return Err(BAD_CODE);
        }
        let lasts = if code.refreshes { self.settings.session } else { self.settings.access_token };
        let until = now() + lasts.as_secs();
        let session = code.access.session.as_str();
        // Used up first: a wrong attempt shows that the code has leaked, and a second one must fail, too.
        match self.ledger.begin(session, code.made, (&code.access.subject, until)).await {
            Begun::New => {}
            Begun::Again => {
                tracing::warn!("a code was used twice: its session has ended");
                return Err(BAD_CODE);
            }
            Begun::Unavailable => return Err(AWAY),
        }
        let is_client = code.access.client == sha256(client);
        let is_redirect = form.text("redirect_uri").is_some_and(|redirect| code.redirect == sha256(redirect));
        let is_verified = form.text("code_verifier").is_some_and(|verifier| is_answer(verifier, &code.challenge));
        if !(is_client && is_redirect && is_verified && is_same_resource(form, &code.access)) {
            self.ledger.end(session).await;
            tracing::warn!(is_client, is_redirect, is_verified, "a code was used wrongly: its session has ended");
            return Err(BAD_CODE);
        }
        let refresh = code.refreshes.then_some(0);
        let scopes = code.access.scopes.clone();
        self.tokens(client, &code.access, &scopes, (refresh, until))
    }

    async fn by_refresh(&self, client: &str, form: &Form) -> Result<Value, Refusal> {
        let refresh = form.text("refresh_token").ok_or(("invalid_request", "refresh_token is missing"))?;
        let refresh: Option<Refresh> = self.sealing.open(Purpose::Refresh, "", refresh);
        let Refresh { access, generation, until } = refresh.filter(|one| one.until > now()).ok_or(BAD_REFRESH)?;
        if access.client != sha256(client) {
            self.ledger.end(&access.session).await;
            tracing::warn!("a refresh token came from another client: its session has ended");
            return Err(BAD_REFRESH);
        }
        // What was sealed before a change of the configuration does not outlive it.
        if access.provider != self.settings.provider.issuer || !self.clients.allows(client) {
            tracing::info!("a refresh token is refused: its provider or its client is not in use any more");
            return Err(BAD_REFRESH);
        }
        if !is_same_resource(form, &access) {
            return Err(("invalid_target", "the refresh token is for another resource"));
        }
        let asked: Option<Vec<&str>> = form.text("scope").map(|scope| scope.split_ascii_whitespace().collect());
        let is_more = |asked: &Vec<&str>| asked.iter().any(|scope| !access.scopes.iter().any(|own| own == scope));
        if asked.as_ref().is_some_and(is_more) {
            return Err(("invalid_scope", "the user did not allow these scopes"));
        }
        match self.ledger.advance(&access.session, generation).await {
            Advanced::Yes => {}
            Advanced::Ended => {
                tracing::warn!("a refresh token was used twice, or its session is over");
                return Err(BAD_REFRESH);
            }
            Advanced::Unavailable => return Err(AWAY),
        }
        let narrowed = |scope: &&String| asked.as_ref().is_none_or(|asked| asked.contains(&scope.as_str()));
        let offered = |scope: &&String| self.offered().any(|one| one == *scope);
        let scopes: Vec<_> = access.scopes.iter().filter(narrowed).filter(offered).cloned().collect();
        self.tokens(client, &access, &scopes, (Some(generation.saturating_add(1)), until))
    }

    /// The response with an access token, and with the refresh token of this number.
    fn tokens(
        &self,
        client: &str,
        access: &Access,
        scopes: &[String],
        (refresh, until): (Option<u64>, u64),
    ) -> Result<Value, Refusal> {
        let now = now();
        let lasts = self.settings.access_token.as_secs().min(until.saturating_sub(now)).max(1);
        let mut claims = Value::Object(access.claims.clone());
        for (name, value) in [
            ("iss", json!(self.issuer)),
            ("sub", json!(access.subject)),
            ("aud", json!(access.resource)),
            ("client_id", json!(client)),
            ("scope", json!(scopes.join(" "))),
            ("iat", json!(now)),
            ("exp", json!(now + lasts)),
            ("jti", json!(random())),
            (SESSION, json!(access.session)),
        ] {
            claims[name] = value;
        }
        let kid = self.keys.keys.first().and_then(|key| key.kid.as_deref());
        let token = self.signer.sign(json!({ "typ": "at+jwt", "kid": kid }), &claims);
        let mut response =
            json!({ "access_token": token, "token_type": "Bearer", "expires_in": lasts, "scope": scopes.join(" ") });
        if let Some(generation) = refresh {
            let next = Refresh { access: access.clone(), generation, until };
            let sealed = self.sealing.seal(Purpose::Refresh, "", &next);
            response["refresh_token"] = json!(sealed.ok_or(("server_error", "the gateway has no random numbers"))?);
        }
        Ok(response)
    }
}

/// Whether a verifier belongs to a challenge (RFC 7636, 4.1 and 4.6).
fn is_answer(verifier: &str, challenge: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    (43..=128).contains(&verifier.len()) && verifier.bytes().all(letter) && sha256(verifier) == challenge
}

/// Whether a token request is for what the user allowed; where it does not say, it is.
fn is_same_resource(form: &Form, access: &Access) -> bool {
    form.text("resource").is_none_or(|resource| resource == access.resource)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verifier_is_the_one_of_its_challenge() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        // RFC 7636, appendix B.
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert!(is_answer(verifier, challenge));
        for bad in ["", challenge, &verifier[1..], &verifier.to_uppercase(), &format!("{verifier}x"), &"a".repeat(129)]
        {
            assert!(!is_answer(bad, challenge), "{bad}");
            assert!(!is_answer(bad, &sha256(bad)) || bad.len() >= 43, "{bad}: too short");
        }
    }
}
