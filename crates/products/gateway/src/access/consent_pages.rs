//! The pages where users consent: a ticket is opened, its user signs in or reads whose requests it is about, and the browser
//! goes to the server's authorization server and comes back. Only the user who was asked may open a ticket, and every
//! response must come from the browser that was sent. Knows no message.

use std::sync::Arc;

use net::server::http::{GuardRequest, GuardResponse, HeaderMap, HeaderValue, Method, StatusCode};
use oauth::{ConsentClient, ConsentPlace, random};
use serde_json::json;
use url::Url;

use super::TokenGuard;
use super::consent_html::{Page, page};
use crate::consents::{CALLBACK, ConsentUser, Consents, DOCUMENT, LOGIN, NAME, PAGE, Purpose, Returned};
use crate::context::claim_text;
use crate::shared::Away;

/// The name of the cookie that a browser is known by; with https, no other host can set it.
const COOKIES: [(&str, &str); 2] = [("https://", "__Host-proof-consent"), ("http://", "proof-consent")];
/// How long a random value is.
const RANDOM: usize = 43;

/// A parameter that stands once.
fn parameter<'q>(pairs: &'q [(String, String)], name: &str) -> Option<&'q str> {
    let mut found = pairs.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
    found.next().filter(|_| found.next().is_none())
}

fn pairs(text: &[u8]) -> Vec<(String, String)> {
    url::form_urlencoded::parse(text).into_owned().collect()
}

/// Where a browser is sent, and what for.
struct Sending<'s> {
    consents: &'s Consents,
    ticket: &'s str,
    browser: &'s str,
}

impl TokenGuard {
    /// Whether a page of consents is there.
    pub(super) fn owns_consent_page(&self, path: &str) -> bool {
        self.consents().is_some() && [PAGE, CALLBACK, LOGIN, DOCUMENT].contains(&path)
    }

    fn consents(&self) -> Option<&Arc<Consents>> {
        self.gateway.consents()
    }

    /// Answers at one of these pages.
    pub(super) async fn consent_page(&self, request: GuardRequest) -> GuardResponse {
        let Some(consents) = self.consents().cloned() else { return page(StatusCode::NOT_FOUND, &Page::Unknown) };
        match (request.uri.path(), &request.method) {
            (PAGE, &Method::GET) => self.opened(&consents, &request).await,
            (PAGE, &Method::POST) if self.is_foreign_post(&request, true) => {
                page(StatusCode::FORBIDDEN, &Page::Foreign)
            }
            (PAGE, &Method::POST) => self.agreed(&consents, &request).await,
            (LOGIN, &Method::GET) => self.signed_in(&consents, &request).await,
            (CALLBACK, &Method::GET) => self.came_back(&consents, &request).await,
            (DOCUMENT, &Method::GET) => document(&consents),
            _ => page(StatusCode::METHOD_NOT_ALLOWED, &Page::Unknown),
        }
    }

    /// A browser opens a ticket.
    async fn opened(&self, consents: &Consents, request: &GuardRequest) -> GuardResponse {
        let query = pairs(request.uri.query().unwrap_or_default().as_bytes());
        let id = parameter(&query, "ticket").unwrap_or_default();
        let ticket = match consents.ticket_of(id).await {
            Ok(Some(ticket)) => ticket,
            Ok(None) => return page(StatusCode::NOT_FOUND, &Page::Unknown),
            Err(Away) => return away(),
        };
        let browser = browser_of(consents, &request.headers).unwrap_or_else(random);
        let sending = Sending { consents, ticket: id, browser: &browser };
        let mut response = if let Some(login) = &consents.login {
            self.send(&sending, login, Purpose::Login).await
        } else {
            let (user, upstream) = (ticket.place.user(), ticket.place.upstream.as_str());
            let token = consents.form_token(&browser, id);
            page(StatusCode::OK, &Page::Question { user: &user, upstream, ticket: id, token: &token })
        };
        set_cookie(consents, &mut response.headers, &browser);
        response
    }

    /// A user who read whose requests it is about goes on.
    async fn agreed(&self, consents: &Consents, request: &GuardRequest) -> GuardResponse {
        let form = pairs(&request.body);
        let id = parameter(&form, "ticket").unwrap_or_default();
        let browser = browser_of(consents, &request.headers).unwrap_or_default();
        let token = parameter(&form, "token").unwrap_or_default();
        let is_ours = !browser.is_empty() && consents.is_form_token(token, &browser, id);
        let Ok(ticket) = consents.ticket_of(id).await else { return away() };
        // Where users sign in, nobody gets on without that.
        let Some(ticket) = ticket.filter(|_| is_ours && consents.login.is_none()) else {
            return page(StatusCode::FORBIDDEN, &Page::Foreign);
        };
        self.go_on(&Sending { consents, ticket: id, browser: &browser }, &ticket.credentials).await
    }

    /// A user comes back from the issuer of clients' tokens. The token says who it is, and is forgotten.
    async fn signed_in(&self, consents: &Consents, request: &GuardRequest) -> GuardResponse {
        let Some(login) = &consents.login else { return page(StatusCode::NOT_FOUND, &Page::Unknown) };
        let (returned, url, browser) = match returned(consents, request, LOGIN, Purpose::Login).await {
            Ok(Some(returned)) => returned,
            Ok(None) => return page(StatusCode::FORBIDDEN, &Page::Foreign),
            Err(Away) => return away(),
        };
        let token = match login.complete(returned.request, &url).await {
            Ok(consented) => consented.token(),
            Err(error) => {
                tracing::warn!(
                    "a user could not sign in for a consent: {}",
                    error.declined().unwrap_or_else(|| error.what())
                );
                return page(StatusCode::BAD_GATEWAY, &Page::Failed);
            }
        };
        let endpoints = self.gateway.endpoints();
        let audiences = endpoints.iter().flat_map(|endpoint| self.audiences(&endpoint.path)).collect();
        let granted = self.tokens.grant(token.access.reveal(), audiences, None).await;
        let tenant_claim = self.gateway.tenant_claim();
        let is_it = granted.is_ok_and(|grant| {
            let tenant = tenant_claim.and_then(|claim| claim_text(grant.claims.get(&claim)?));
            ConsentUser { principal: grant.subject, tenant } == returned.of.place.user()
        });
        if !is_it {
            tracing::warn!(
                upstream = returned.of.place.upstream,
                "a consent was opened by another user than was asked"
            );
            return page(StatusCode::FORBIDDEN, &Page::OtherUser);
        }
        let sending = Sending { consents, ticket: &returned.ticket, browser: &browser };
        self.go_on(&sending, &returned.of.credentials).await
    }

    async fn go_on(
        &self,
        sending: &Sending<'_>,
        credentials: &std::sync::Weak<crate::credentials::Credentials>,
    ) -> GuardResponse {
        // Without its upstream, the question is pointless.
        let Some(credentials) = credentials.upgrade() else { return page(StatusCode::NOT_FOUND, &Page::Unknown) };
        match credentials.consent_client() {
            Some(client) => self.send(sending, client, Purpose::Consent).await,
            None => page(StatusCode::NOT_FOUND, &Page::Unknown),
        }
    }

    /// Sends a browser to an authorization server.
    async fn send(&self, sending: &Sending<'_>, client: &ConsentClient, purpose: Purpose) -> GuardResponse {
        let Sending { consents, ticket, browser } = *sending;
        let path = if purpose == Purpose::Login { LOGIN } else { CALLBACK };
        let (redirect, document) = (consents.url(path), consents.url(DOCUMENT));
        let resource = self.login_resource().filter(|_| purpose == Purpose::Login);
        let place = ConsentPlace {
            redirect: redirect.as_ref().map(Url::as_str).unwrap_or_default(),
            document: document.as_ref(),
            name: NAME,
            resource: resource.as_deref(),
        };
        let asked = match client.begin(place).await {
            Ok(asked) => asked,
            Err(error) => {
                tracing::warn!("users cannot consent: {}", error.declined().unwrap_or_else(|| error.what()));
                return page(StatusCode::BAD_GATEWAY, &Page::Failed);
            }
        };
        let url = asked.url().to_string();
        match (consents.send(ticket, browser, (purpose, asked)).await, HeaderValue::from_str(&url)) {
            (Err(Away), _) => away(),
            (Ok(true), Ok(location)) => {
                let mut response = page(StatusCode::SEE_OTHER, &Page::Sent);
                response.headers.insert("location", location);
                response
            }
            _ => page(StatusCode::NOT_FOUND, &Page::Unknown),
        }
    }

    /// What the token of a login is for: it is looked at as a client's token is. An audience that is no URI cannot be asked
    /// for (RFC 8707).
    fn login_resource(&self) -> Option<String> {
        match &self.settings.audience {
            Some(audience) => Some(audience.clone()).filter(|audience| Url::parse(audience).is_ok()),
            None => self.names(&self.gateway.endpoints().first()?.path).into_iter().next(),
        }
    }

    /// A user comes back from the server's authorization server.
    async fn came_back(&self, consents: &Consents, request: &GuardRequest) -> GuardResponse {
        let (returned, url) = match returned(consents, request, CALLBACK, Purpose::Consent).await {
            Ok(Some((returned, url, _))) => (returned, url),
            Ok(None) => return page(StatusCode::FORBIDDEN, &Page::Foreign),
            Err(Away) => return away(),
        };
        let credentials = returned.of.credentials.upgrade();
        let client = credentials.as_ref().and_then(|credentials| credentials.consent_client());
        let (Some(credentials), Some(client)) = (&credentials, client) else {
            return page(StatusCode::NOT_FOUND, &Page::Unknown);
        };
        let upstream = returned.of.place.upstream.as_str();
        let consented = match client.complete(returned.request, &url).await {
            Ok(consented) => consented,
            Err(error) => {
                tracing::warn!(upstream, "no consent: {}", error.declined().unwrap_or_else(|| error.what()));
                return page(StatusCode::BAD_GATEWAY, &Page::Failed);
            }
        };
        if !credentials.keep_consent(&returned.of.place, &consented).await {
            return page(StatusCode::INTERNAL_SERVER_ERROR, &Page::Failed);
        }
        credentials.finish_consent(&returned.ticket, &returned.of.place).await;
        self.gateway.announce_consent(&returned.of.place).await;
        tracing::info!(upstream, "a user has consented");
        page(StatusCode::OK, &Page::Done { upstream })
    }
}

/// The request that a response answers, the address of that response, and its browser. Taken once.
async fn returned(
    consents: &Consents,
    request: &GuardRequest,
    path: &str,
    purpose: Purpose,
) -> Result<Option<(Returned, Url, String)>, Away> {
    let text = request.uri.query().unwrap_or_default();
    let query = pairs(text.as_bytes());
    let browser = browser_of(consents, &request.headers).unwrap_or_default();
    let Some(state) = parameter(&query, "state") else { return Ok(None) };
    let returned = consents.take(state, &browser, purpose).await?;
    // What a request says of its host counts for nothing.
    let (Some(returned), Some(mut url)) = (returned, consents.url(path)) else { return Ok(None) };
    url.set_query(Some(text));
    Ok(Some((returned, url, browser)))
}

/// Nothing is known of links at this moment.
fn away() -> GuardResponse {
    page(StatusCode::SERVICE_UNAVAILABLE, &Page::Failed)
}

/// What the gateway says of itself as a client (a client ID metadata document).
fn document(consents: &Consents) -> GuardResponse {
    let address = |path: &str| consents.url(path).map(String::from).unwrap_or_default();
    let body = json!({
        "client_id": address(DOCUMENT),
        "client_name": NAME,
        "client_uri": consents.base().unwrap_or_default(),
        "redirect_uris": [address(CALLBACK)],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    });
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    GuardResponse { status: StatusCode::OK, headers, body: body.to_string().into_bytes() }
}

fn cookie_name(consents: &Consents) -> &'static str {
    let base = consents.base().unwrap_or_default();
    COOKIES.iter().find(|(scheme, _)| base.starts_with(scheme)).map_or(COOKIES[0].1, |(_, name)| name)
}

/// The cookie of a browser; none where it has several: somebody else set one.
fn browser_of(consents: &Consents, headers: &HeaderMap) -> Option<String> {
    let name = cookie_name(consents);
    let lines = headers.get_all("cookie").iter().filter_map(|value| value.to_str().ok());
    let cookies = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut own = cookies.filter(|(key, _)| *key == name).map(|(_, value)| value);
    let value = own.next().filter(|_| own.next().is_none())?;
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (value.len() == RANDOM && value.chars().all(letter)).then(|| value.to_owned())
}

fn set_cookie(consents: &Consents, headers: &mut HeaderMap, browser: &str) {
    let name = cookie_name(consents);
    let secure = if name.starts_with("__Host-") { "; Secure" } else { "" };
    let age = consents.settings.wait.as_secs();
    let cookie = format!("{name}={browser}; Path=/; HttpOnly; SameSite=Lax; Max-Age={age}{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        headers.insert("set-cookie", cookie);
    }
}
