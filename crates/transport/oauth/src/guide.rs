//! The way to a token one step at a time, for people who want to see each: what is asked, what comes back, where it ends. The
//! rules are those by which an [`Authorizer`](super::Authorizer) goes; nothing is stored.

use std::sync::{Arc, Mutex, PoisonError};

use net::client::{Authorizing, Refusal};
use url::Url;
use wire::trace::Headers;

use super::agent::RedirectListener;
use super::authorize::{Request, RequestParts};
use super::backend::NetBackend;
use super::challenge::AuthChallenge;
use super::discovery::{self, Discovered};
use super::error::{Advice, OAuthError, quoted};
use super::flow::{token_request, verify_pkce};
use super::issuer_trust::trust;
use super::metadata::{Issuer, Resource};
use super::options::{Client, Credential, Options};
use super::registration::{known_client, register};
use super::secret::Secret;
use super::sign_in::first_response;
use super::token_endpoint::Token;
use super::verifier::StrictVerifier;
use super::web::{Web, check_scheme};

/// How many scopes are shown.
const SCOPES: usize = 12;

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuideStep {
    /// A request without a token, which the server refuses.
    Challenge,
    /// The server's metadata as a protected resource.
    Resource,
    /// The authorization server's metadata.
    Issuer,
    /// The client's id.
    Registration,
    /// The consent of the user in a browser.
    Authorization,
    /// The code in exchange for a token.
    Token,
    /// The refresh token in exchange for another token.
    Refresh,
}

/// A token that a guide got, for the connections that use it; refreshed by the guide alone.
#[derive(Clone)]
pub struct GuidedToken {
    resource: Url,
    access: Arc<Mutex<Secret>>,
}

impl std::fmt::Debug for GuidedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("GuidedToken").field(&self.resource.as_str()).finish()
    }
}

impl net::client::Authorizer for GuidedToken {
    fn headers(&self, _method: &str, url: &Url) -> Headers {
        if url.origin() != self.resource.origin() {
            return Headers::new();
        }
        let access = self.access.lock().unwrap_or_else(PoisonError::into_inner);
        vec![("authorization".to_owned(), format!("Bearer {}", access.reveal()))]
    }

    fn refused<'a>(&'a self, refusal: &'a Refusal) -> Authorizing<'a> {
        Box::pin(async move { Err(format!("HTTP {}: the server refuses the token that it required", refusal.status)) })
    }
}

/// What a guide knows so far. A step that is taken again forgets what came of later ones.
pub struct Guide {
    web: Web,
    url: Url,
    options: Options,
    challenge: AuthChallenge,
    resource: Option<Resource>,
    found: Option<Discovered>,
    listener: Option<RedirectListener>,
    client: Option<Client>,
    authorized: Option<(Request, Secret)>,
    token: Option<(Token, GuidedToken)>,
}

impl std::fmt::Debug for Guide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Guide").field(&self.url.as_str()).finish()
    }
}

/// The lines that say what a step found.
type Seen = Result<Vec<String>, OAuthError>;

impl Guide {
    /// For the MCP server at `url`, which must have https or be on this machine. Sends nothing yet.
    pub fn new(url: Url, options: Options) -> Result<Self, OAuthError> {
        check_scheme(&url)?;
        let named = std::iter::once(url.clone()).chain(options.named_addresses()).collect();
        let (backend, verifier) = (Arc::new(NetBackend::new(&options)), Arc::new(StrictVerifier));
        let (limit, secrets) = (options.timeout, options.secrets.clone());
        let web = Web { backend, verifier, limit, named, reach: tokio::sync::OnceCell::new(), secrets };
        let (challenge, resource, found, listener) = (AuthChallenge::default(), None, None, None);
        Ok(Self {
            web,
            url,
            options,
            challenge,
            resource,
            found,
            listener,
            client: None,
            authorized: None,
            token: None,
        })
    }

    /// Takes a step and says what it found. `answer` brings the address that the browser was sent to, where the browser itself
    /// cannot come back.
    pub async fn take(&mut self, step: GuideStep, answer: impl Future<Output = String>) -> Seen {
        match step {
            GuideStep::Challenge => self.challenge().await,
            GuideStep::Resource => self.resource().await,
            GuideStep::Issuer => self.issuer().await,
            GuideStep::Registration => self.registration().await,
            GuideStep::Authorization => self.authorization(answer).await,
            GuideStep::Token => self.token().await,
            GuideStep::Refresh => self.refresh().await,
        }
    }

    /// The token, once there is one.
    pub fn guided_token(&self) -> Option<GuidedToken> {
        self.token.as_ref().map(|(_, guided)| guided.clone())
    }

    /// Whether the token can be refreshed.
    pub fn has_refresh_token(&self) -> bool {
        self.token.as_ref().is_some_and(|(token, _)| token.refresh.is_some())
    }

    async fn challenge(&mut self) -> Seen {
        let (status, headers) = first_response(&self.web, &self.url, false).await?;
        let Some(challenge) = AuthChallenge::read(status, &headers) else {
            let what = format!("the server does not ask for a token: HTTP {status}");
            let advice = "connect without one, or answer requests without a token with 401";
            return Err(OAuthError::at(what, &self.url, advice));
        };
        if challenge.bound {
            let what = "the server only takes tokens that are bound to a key, and each request needs a proof";
            return Err(OAuthError::at(what, &self.url, Advice::AuthorizeRequests));
        }
        let named = challenge.metadata.as_deref().map_or_else(
            || "WWW-Authenticate names no metadata; the usual addresses are tried".to_owned(),
            |at| format!("resource_metadata: {}", quoted(at)),
        );
        let lines = vec![format!("HTTP {status}"), named, scopes("scope", challenge.scopes.as_deref())];
        self.challenge = challenge;
        Ok(lines)
    }

    async fn resource(&mut self) -> Seen {
        self.resource = discovery::resource(&self.web, &self.url, &self.challenge).await?;
        if let Some(found) = &self.resource {
            let servers = found.servers.iter().take(SCOPES).map(|one| quoted(one)).collect::<Vec<_>>().join(", ");
            return Ok(vec![
                format!("resource: {}", quoted(&found.id)),
                format!("authorization_servers: {servers}"),
                scopes("scopes_supported", found.scopes.as_deref()),
            ]);
        }
        if self.challenge.metadata.is_some() {
            let what = "there is no metadata where WWW-Authenticate says that it is";
            return Err(OAuthError::at(what, &self.url, "publish it there, as JSON with status 200"));
        }
        Ok(vec!["none; the server's own origin is tried as the authorization server, as in 2025-03-26".to_owned()])
    }

    async fn issuer(&mut self) -> Seen {
        let rules = self.options.rules();
        let issuer = match self.resource.as_ref() {
            Some(resource) => {
                let preferred = self.options.issuer.as_deref();
                let chosen = resource.servers.iter().find(|server| Some(server.as_str()) == preferred);
                discovery::issuer(&self.web, chosen.unwrap_or(&resource.servers[0]), rules).await?
            }
            None => self.issuer_at_origin().await?,
        };
        trust(&self.options, None, self.url.as_str(), &issuer.id).await?;
        let (resource, scopes) = self.resource.as_ref().map(|one| (one.id.clone(), one.scopes.clone())).unzip();
        let lines = issuer_lines(&issuer);
        let found = Discovered { resource, scopes: scopes.flatten(), issuer };
        verify_pkce(&self.web, rules, &found)?;
        self.found = Some(found);
        Ok(lines)
    }

    async fn issuer_at_origin(&self) -> Result<Issuer, OAuthError> {
        let published = discovery::published_at_origin(&self.web, &self.url, self.options.rules()).await?;
        let what = "neither the server nor its origin says who issues tokens";
        published.ok_or_else(|| OAuthError::at(what, &self.url, Advice::BringToken))
    }

    async fn registration(&mut self) -> Seen {
        let found = self.found.as_ref().ok_or_else(|| self.too_early("the authorization server's metadata"))?;
        let earlier = self.client.take().and_then(|client| client.redirect);
        let listener = RedirectListener::open(&self.options.agent, earlier.as_deref()).await?;
        let redirect = listener.redirect();
        let wanted = self.wanted_scopes();
        let known = known_client(&self.options, self.web.verifier.as_ref(), &found.issuer, None)?;
        let how = match (&known, &self.options.client) {
            (Some(_), Some(_)) => "the client that you gave",
            (Some(_), None) => "the address of the client's metadata document",
            (None, _) => "registered just now (RFC 7591)",
        };
        let client = match known {
            Some(client) => client,
            None => register(&self.web, &self.options, &found.issuer, &redirect, wanted.as_deref()).await?,
        };
        let credential = match client.credential {
            Credential::None => "none: a public client",
            Credential::Secret(_) => "a password, concealed",
            Credential::Key { .. } => "a private key, concealed",
        };
        let lines = vec![
            format!("client_id: {}, {how}", quoted(&client.id)),
            format!("redirect_uri: {redirect}"),
            format!("credential: {credential}"),
        ];
        (self.listener, self.client) = (Some(listener), Some(Client { redirect: Some(redirect), ..client }));
        Ok(lines)
    }

    async fn authorization(&mut self, answer: impl Future<Output = String>) -> Seen {
        let missing = || self.too_early("the client's id");
        let (found, client) = self.found.as_ref().zip(self.client.as_ref()).ok_or_else(missing)?;
        // A second try listens where the client said that it would.
        let listener = match self.listener.take() {
            Some(listener) => listener,
            None => RedirectListener::open(&self.options.agent, client.redirect.as_deref()).await?,
        };
        let redirect = listener.redirect();
        if client.redirect.as_ref() != Some(&redirect) {
            let what = "the port to which the browser is to come back is in use by another program now";
            return Err(OAuthError::new(what, redirect, "end that program, or register the client again"));
        }
        let (scopes, resource) = (self.wanted_scopes(), found.resource.as_deref());
        let (issuer, verifier) = (&found.issuer, &self.web.verifier);
        let parts =
            RequestParts { issuer, client: &client.id, redirect, resource, scopes: scopes.as_deref(), verifier };
        let request = Request::new(parts)?;
        self.web.secrets.hear(&request.code_verifier);
        self.web.secrets.hear(&Secret::new(request.state()));
        let response_url = tokio::select! {
            came = listener.visit(&self.web, &request) => came?,
            given = answer => Url::parse(given.trim()).map_err(|_| {
                let what = "what was pasted is not an address";
                OAuthError::at(what, &request.url, "paste all of the address that the browser was sent to")
            })?,
        };
        let code = self.web.secrets.heard(request.code(&response_url)?);
        self.authorized = Some((request, code));
        Ok(vec!["the browser came back with a code; `state` and `iss` are right".to_owned()])
    }

    async fn token(&mut self) -> Seen {
        // A code is good for one exchange.
        let authorized = self.authorized.take();
        let missing = || self.too_early("a code");
        let (request, code) = authorized.ok_or_else(missing)?;
        let (found, client) = self.found.as_ref().zip(self.client.as_ref()).ok_or_else(missing)?;
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code.reveal()),
            ("redirect_uri", &request.redirect),
            ("code_verifier", request.code_verifier.reveal()),
        ];
        form.extend(found.resource.as_deref().map(|resource| ("resource", resource)));
        let token = token_request(&self.web, client, &found.issuer).token(&form, None).await?;
        let lines = token_lines(&token);
        let access = Arc::new(Mutex::new(token.access.clone()));
        let guided = GuidedToken { resource: self.url.clone(), access };
        self.token = Some((token, guided));
        Ok(lines)
    }

    async fn refresh(&mut self) -> Seen {
        let missing = || self.too_early("a refresh token");
        let (found, client) = self.found.as_ref().zip(self.client.as_ref()).ok_or_else(missing)?;
        let (old, guided) = self.token.as_ref().ok_or_else(missing)?;
        let refresh = old.refresh.clone().ok_or_else(missing)?;
        let mut form = vec![("grant_type", "refresh_token"), ("refresh_token", refresh.reveal())];
        form.extend(found.resource.as_deref().map(|resource| ("resource", resource)));
        let new = token_request(&self.web, client, &found.issuer).token(&form, None).await?;
        let replaced = new.access != old.access;
        let mut lines = token_lines(&new);
        lines.push(if replaced { "another token than before" } else { "the same token as before" }.to_owned());
        lines.push(
            match &new.refresh {
                Some(one) if *one != refresh => "another refresh token: the old one was used up",
                _ => "the refresh token stays",
            }
            .to_owned(),
        );
        *guided.access.lock().unwrap_or_else(PoisonError::into_inner) = new.access.clone();
        // Members that the response omits stay unchanged.
        let kept = Token {
            refresh: new.refresh.clone().or(Some(refresh)),
            scopes: new.scopes.clone().or(old.scopes.clone()),
            ..new
        };
        let guided = guided.clone();
        self.token = Some((kept, guided));
        Ok(lines)
    }

    /// The scopes that the challenge names, else those of the metadata.
    fn wanted_scopes(&self) -> Option<Vec<String>> {
        let listed = || self.found.as_ref().and_then(|found| found.scopes.clone());
        self.challenge.scopes.clone().or_else(listed).filter(|scopes| !scopes.is_empty())
    }

    fn too_early(&self, what: &str) -> OAuthError {
        OAuthError::at(format!("this step needs {what}"), &self.url, "take the steps before it first")
    }
}

fn scopes(name: &str, scopes: Option<&[String]>) -> String {
    let Some(scopes) = scopes else { return format!("{name}: not named") };
    let shown: Vec<_> = scopes.iter().take(SCOPES).map(String::as_str).collect();
    format!("{name}: {}", quoted(&shown.join(" ")))
}

fn issuer_lines(issuer: &Issuer) -> Vec<String> {
    let endpoint = |name: &str, url: Option<&Url>| format!("{name}: {}", url.map_or("none", Url::as_str));
    let methods = issuer.challenge_methods.as_ref().map_or_else(|| "not named".to_owned(), |all| all.join(" "));
    vec![
        format!("issuer: {}", quoted(&issuer.id)),
        endpoint("authorization_endpoint", issuer.authorization_endpoint.as_ref()),
        endpoint("token_endpoint", Some(&issuer.token_endpoint)),
        endpoint("registration_endpoint", issuer.registration_endpoint.as_ref()),
        format!("code_challenge_methods_supported: {}", quoted(&methods)),
        format!("client metadata documents: {}", if issuer.accepts_client_documents { "accepted" } else { "no" }),
    ]
}

fn token_lines(token: &Token) -> Vec<String> {
    let lasts = token.expires.map_or_else(
        || "expires_in: not named".to_owned(),
        |expires| format!("expires in {} s", expires.saturating_sub(super::now())),
    );
    let refresh = if token.refresh.is_some() { "refresh_token: issued, concealed" } else { "refresh_token: none" };
    vec![
        "access_token: issued, concealed".to_owned(),
        lasts,
        scopes("scope", token.scopes.as_deref()),
        refresh.to_owned(),
    ]
}
