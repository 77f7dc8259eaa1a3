//! The authorization endpoint (OAuth 2.1, 4.1; RFC 7636, 8707, 9207): a browser is asked, sent to the provider, and comes back.
//! Until its user has allowed a client, no browser is sent anywhere. Must not know what tokens look like.

use net::server::http::{GuardRequest, GuardResponse, HeaderMap, HeaderValue, StatusCode};
use oauth::jose::sha256;
use oauth::{SavedLogin, now, random};
use serde_json::{Map, Value};
use url::Url;

use super::form::{Form, cookie};
use super::ledger::CODE;
use super::paths::CALLBACK;
use super::sealing::Purpose;
use super::tokens::Code;
use super::{Access, Allowed, Bridge, Question, reply};

/// How long a user may take to answer and to sign in, in seconds.
const PATIENCE: u64 = 600;
/// How long a challenge is: SHA-256 in base64.
const CHALLENGE: usize = 43;
/// How long the name of a browser is.
const RANDOM: usize = 43;
/// The longest `state` of a client, and the longest cookie.
const LONGEST_STATE: usize = 1024;
const LONGEST_COOKIE: usize = 3900;
/// The most bytes of claims that are passed on.
const LONGEST_CLAIMS: usize = 2048;
/// The longest name of a user (OpenID Connect Core 1.0, 2).
const LONGEST_SUBJECT: usize = 255;
/// The cookie that names a browser, and what stands before the name of a login's; with https, no other host can set them.
const COOKIES: [(&str, &str, &str); 2] =
    [("https://", "__Host-proof-bridge", "__Host-proof-login-"), ("http://", "proof-bridge", "proof-login-")];

impl Bridge {
    /// A browser comes with a client's request: its user is asked.
    pub(super) async fn ask(&self, request: &GuardRequest, resources: &[String]) -> GuardResponse {
        let Some(form) = Form::of_query(request) else {
            return reply::problem(StatusCode::BAD_REQUEST, "A parameter stands in it twice.");
        };
        let question = match self.question(&form, resources).await {
            Ok(question) => question,
            Err(why) => return reply::problem(StatusCode::BAD_REQUEST, why),
        };
        let browser = self.browser(&request.headers).unwrap_or_else(random);
        let Some(sealed) = self.sealing.seal(Purpose::Question, &browser, &question) else {
            return reply::problem(StatusCode::INTERNAL_SERVER_ERROR, "The gateway has no random numbers.");
        };
        let mut response = reply::question(&question, &sealed);
        Self::set_cookie(&mut response, self.cookie_names().0, &browser, PATIENCE);
        response
    }

    /// What to ask the user; why a request cannot be used. No error goes to the client: anyone may be one, and a redirect that
    /// nobody allowed leads where an attacker likes.
    async fn question(&self, form: &Form, resources: &[String]) -> Result<Question, &'static str> {
        let id = form.text("client_id").ok_or("It names no client (client_id).")?;
        let unknown = "The client is unknown here: it must register again, or its document cannot be used.";
        let client = self.clients.find(&self.sealing, id).await.ok_or(unknown)?;
        let redirect = form.text("redirect_uri").ok_or("It names no redirect address (redirect_uri).")?;
        if !client.lands_at(redirect) {
            return Err("The redirect address is not one that the client registered.");
        }
        let is_code = form.text("response_type") == Some("code");
        if !is_code || form.text("response_mode").is_some_and(|mode| mode != "query") {
            return Err("It asks for a response that is not supported: response_type must be code.");
        }
        let challenge = form.text("code_challenge").filter(|_| form.text("code_challenge_method") == Some("S256"));
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let challenge = challenge.filter(|text| text.len() == CHALLENGE && text.bytes().all(letter));
        let challenge = challenge.ok_or("It has no code_challenge with the method S256 (PKCE).")?;
        let resource = target(form.text("resource"), resources)?;
        let state = form.text("state").map(str::to_owned);
        if state.as_ref().is_some_and(|state| state.len() > LONGEST_STATE) {
            return Err("Its state is longer than 1024 characters.");
        }
        Ok(Question {
            client: id.to_owned(),
            name: client.name,
            refreshes: client.refreshes,
            redirect: redirect.to_owned(),
            state,
            challenge: challenge.to_owned(),
            resource,
            scopes: self.scopes(form.text("scope")),
            until: now() + PATIENCE,
        })
    }

    /// The scopes that are granted: those that every token has, and those of the request that are offered. Others are left out,
    /// and the token response says so (RFC 6749, 3.3).
    fn scopes(&self, asked: Option<&str>) -> Vec<String> {
        let asked: Vec<_> = asked.unwrap_or_default().split_ascii_whitespace().collect();
        let granted = |scope: &&String| self.required.contains(scope) || asked.contains(&scope.as_str());
        self.offered().filter(granted).cloned().collect()
    }

    /// A user answers. The form is sealed for the browser that got it: no other page and no other browser can send it.
    pub(super) async fn answered(&self, request: &GuardRequest) -> GuardResponse {
        let form = Form::of_body(request).unwrap_or_default();
        let browser = self.browser(&request.headers);
        let question = browser.as_deref().zip(form.text("request"));
        let question =
            question.and_then(|(browser, text)| self.sealing.open::<Question>(Purpose::Question, browser, text));
        let (Some(question), Some(browser)) = (question.filter(|question| question.until > now()), browser) else {
            let what = "It belongs to another browser, or it is too old. Start again in your program.";
            return reply::problem(StatusCode::FORBIDDEN, what);
        };
        if form.text("answer") != Some("allow") {
            return self.respond(&question, &[("error", "access_denied")]);
        }
        self.sign_in(question, &browser).await
    }

    /// Sends a browser to the provider.
    async fn sign_in(&self, question: Question, browser: &str) -> GuardResponse {
        let (url, login) = match self.login.begin(&self.callback()).await {
            Ok(begun) => begun,
            Err(error) => {
                tracing::warn!("users cannot sign in at the provider: {}", error.what());
                return reply::problem(StatusCode::BAD_GATEWAY, "The provider cannot be reached. Try again later.");
            }
        };
        let (name, place) = self.login_cookie(browser, login.state());
        let sealed = self.sealing.seal(Purpose::Login, &place, &Allowed { question, login });
        match sealed.filter(|sealed| sealed.len() + name.len() <= LONGEST_COOKIE) {
            Some(sealed) => {
                let mut response = reply::redirect(url.as_str());
                Self::set_cookie(&mut response, &name, &sealed, PATIENCE);
                response
            }
            None => reply::problem(
                StatusCode::BAD_REQUEST,
                "The request of your program is too long: its redirect address and state do not fit into a cookie.",
            ),
        }
    }

    /// A browser comes back from the provider: the one that was sent, with the response to the request that it was sent for.
    pub(super) async fn came_back(&self, request: &GuardRequest) -> GuardResponse {
        let form = Form::of_query(request).unwrap_or_default();
        let browser = self.browser(&request.headers);
        let allowed = browser.as_deref().zip(form.text("state")).and_then(|(browser, state)| {
            let (name, place) = self.login_cookie(browser, state);
            let sealed = cookie(&request.headers, &name)?;
            let allowed = self.sealing.open::<Allowed>(Purpose::Login, &place, sealed)?;
            (allowed.question.until > now() && allowed.login.state() == state).then_some((name, allowed))
        });
        // A cookie can be sent again, so the gateway remembers which logins it took.
        let allowed =
            allowed.filter(|(_, allowed)| self.logins.take(&sha256(allowed.login.state()), allowed.question.until));
        let Some((name, Allowed { question, login })) = allowed else {
            let what = "It belongs to another browser, or it was used before. Start again in your program.";
            return reply::problem(StatusCode::FORBIDDEN, what);
        };
        let mut response = self.signed_in(&question, login, request).await;
        Self::set_cookie(&mut response, &name, "", 0);
        response
    }

    async fn signed_in(&self, question: &Question, login: SavedLogin, request: &GuardRequest) -> GuardResponse {
        // What a request says of its host counts for nothing.
        let Ok(mut url) = Url::parse(&self.callback()) else {
            return reply::problem(StatusCode::INTERNAL_SERVER_ERROR, "The gateway has no address.");
        };
        url.set_query(request.uri.query());
        let Some(_room) = self.logins.room().await else {
            tracing::warn!("a user did not sign in: too many users sign in at this moment");
            return self.respond(question, &[("error", "temporarily_unavailable")]);
        };
        let claims = match self.login.complete(login, &self.callback(), &url).await {
            Ok(claims) => claims,
            Err(error) => {
                tracing::warn!("a user did not sign in: {}", error.what());
                return self.respond(question, &[("error", "access_denied")]);
            }
        };
        let code = self.code(question, &claims).and_then(|code| self.sealing.seal(Purpose::Code, "", &code));
        match code {
            Some(code) => self.respond(question, &[("code", &code)]),
            None => self.respond(question, &[("error", "server_error")]),
        }
    }

    /// A code for a user with these claims.
    fn code(&self, question: &Question, claims: &Value) -> Option<Code> {
        let subject = claims.get("sub").and_then(Value::as_str).filter(|sub| sub.len() <= LONGEST_SUBJECT)?;
        let passed = |name: &String| Some((name.clone(), claims.get(name)?.clone()));
        let passed: Map<String, Value> = self.settings.claims.iter().filter_map(passed).collect();
        if Value::Object(passed.clone()).to_string().len() > LONGEST_CLAIMS {
            tracing::warn!("a user cannot sign in: `claims` of the identity token have more than 2048 bytes");
            return None;
        }
        let access = Access {
            client: sha256(&question.client),
            provider: self.settings.provider.issuer.clone(),
            subject: subject.to_owned(),
            resource: question.resource.clone(),
            scopes: question.scopes.clone(),
            claims: passed,
            session: random(),
        };
        let (made, redirect) = (now(), sha256(&question.redirect));
        let (challenge, refreshes) = (question.challenge.clone(), question.refreshes);
        Some(Code { access, redirect, challenge, refreshes, made, until: made + CODE })
    }

    /// Sends the browser back to the client that its user allowed or refused.
    fn respond(&self, question: &Question, parameters: &[(&str, &str)]) -> GuardResponse {
        let Ok(mut url) = Url::parse(&question.redirect) else {
            return reply::problem(StatusCode::BAD_REQUEST, "The redirect address is not a URL.");
        };
        url.query_pairs_mut().extend_pairs(parameters).append_pair("iss", &self.issuer);
        if let Some(state) = &question.state {
            url.query_pairs_mut().append_pair("state", state);
        }
        reply::redirect(url.as_str())
    }

    fn callback(&self) -> String {
        format!("{}{CALLBACK}", self.issuer)
    }

    fn cookie_names(&self) -> (&'static str, &'static str) {
        let own = COOKIES.iter().find(|(scheme, ..)| self.issuer.starts_with(scheme)).unwrap_or(&COOKIES[0]);
        (own.1, own.2)
    }

    /// The cookie of a login, and what its text is sealed for.
    fn login_cookie(&self, browser: &str, state: &str) -> (String, String) {
        let digest = sha256(&format!("{browser} {state}"));
        (format!("{}{}", self.cookie_names().1, &digest[..16]), digest)
    }

    /// The name of a browser, which only it and the gateway know.
    fn browser(&self, headers: &HeaderMap) -> Option<String> {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let value = cookie(headers, self.cookie_names().0)?;
        (value.len() == RANDOM && value.bytes().all(letter)).then(|| value.to_owned())
    }

    fn set_cookie(response: &mut GuardResponse, name: &str, value: &str, age: u64) {
        let secure = if name.starts_with("__Host-") { "; Secure" } else { "" };
        let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={age}{secure}");
        if let Ok(text) = HeaderValue::from_str(&text) {
            response.headers.append("set-cookie", text);
        }
    }
}

/// What the token will be for (RFC 8707). Without a name, only one server can be meant.
fn target(asked: Option<&str>, resources: &[String]) -> Result<String, &'static str> {
    match asked {
        Some(asked) => {
            let known = resources.iter().find(|own| *own == asked).cloned();
            known.ok_or("Its resource is not a server of this gateway.")
        }
        None if resources.len() == 1 => Ok(resources[0].clone()),
        None => Err("It names no server (resource), and this gateway has several."),
    }
}
