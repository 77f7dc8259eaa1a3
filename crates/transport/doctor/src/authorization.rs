//! From a demand for a token to a token: the documents that name the authorization server, each address that is asked, whether
//! a client can register, and the token. Nothing is registered unless the caller brought an authorizer.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use net::client::{HttpAddress, Refusal};
use oauth::{
    AuthChallenge, Backend, Discovery, IssuerMetadata, NetBackend, OAuthError, ResourceMetadata, Responding, WebRequest,
};
use wire::trace::header;

use crate::Options;
use crate::http::Answered;
use crate::network::url_of;
use crate::step::StepName;
use crate::walk::{Finding, Walk};

/// How many scopes are shown.
const SCOPES: usize = 12;
/// The steps of this part.
const PART: [StepName; 4] = [StepName::Resource, StepName::Issuer, StepName::Registration, StepName::Token];

/// Goes the way to a token, where one is required. `None` where the way ends.
pub(crate) async fn walk(walk: &mut Walk, answered: &Answered) -> Option<()> {
    if !answered.demands_token() {
        walk.skip_rest(&PART, "the server answers without it");
        return Some(());
    }
    let http = url_of(&walk.options.address)?.clone();
    let challenge = AuthChallenge::read(answered.status, &answered.headers).unwrap_or_default();
    let seen = Arc::new(Requests::new(&http, walk.step_limit()));
    let discovery = Discovery::new(http.url.clone(), seen.clone(), walk.step_limit());
    let options = walk.options.clone();
    let resource = walk.take(StepName::Resource, resource(&options, &discovery, &seen, &challenge)).await?;
    let issuer = walk.take(StepName::Issuer, issuer(&options, &discovery, &seen, resource.as_ref())).await?;
    // The ids that clients bring need no registration.
    let registration = registration(&options, issuer.as_ref(), resource.as_ref(), &challenge);
    walk.take(StepName::Registration, async { registration }).await?;
    walk.take(StepName::Token, token(&options, &http, answered)).await
}

fn failed(options: &Options, error: &OAuthError) -> Finding {
    Finding::failed(error.what(), (options.words.authorizing)(error.advice())).and(format!("at {}", error.place()))
}

/// What the server publishes about itself; `Some(None)` where it is of the time before these documents.
async fn resource(
    options: &Options,
    discovery: &Discovery,
    seen: &Requests,
    challenge: &AuthChallenge,
) -> (Finding, Option<Option<ResourceMetadata>>) {
    let said = match &challenge.metadata {
        Some(at) => format!("WWW-Authenticate names {at}"),
        None => "WWW-Authenticate names no metadata; the usual addresses are tried".to_owned(),
    };
    match discovery.resource(challenge).await {
        Ok(Some(found)) => {
            let line = format!("authorization server: {}", found.servers.join(", "));
            let lines = std::iter::once(said).chain(seen.take()).collect();
            (Finding::ok(line).after(lines), Some(Some(found)))
        }
        Ok(None) => {
            let lines: Vec<_> = std::iter::once(said).chain(seen.take()).collect();
            // Servers of 2025-03-26 have their authorization server at their own origin.
            if challenge.metadata.is_none() && matches!(discovery.issuer_at_origin().await, Ok(Some(_))) {
                let line = "none; the server's own origin is an authorization server, as in revision 2025-03-26";
                seen.take();
                return (Finding::skipped(line).after(lines), Some(None));
            }
            let lines = lines.into_iter().chain(seen.take()).collect();
            let fix = "publish protected resource metadata (RFC 9728) at the first of these addresses, and name it in \
                       WWW-Authenticate; until then, send a token of your own";
            (Finding::failed("no metadata says who issues tokens", fix).after(lines), None)
        }
        Err(error) => {
            let lines = std::iter::once(said).chain(seen.take()).collect();
            (failed(options, &error).after(lines), None)
        }
    }
}

async fn issuer(
    options: &Options,
    discovery: &Discovery,
    seen: &Requests,
    resource: Option<&ResourceMetadata>,
) -> (Finding, Option<Option<IssuerMetadata>>) {
    let found = match resource.and_then(|resource| resource.servers.first()) {
        Some(named) => discovery.issuer(named).await.map(Some),
        None => discovery.issuer_at_origin().await,
    };
    let lines = seen.take();
    match found {
        Err(error) => (failed(options, &error).after(lines), None),
        Ok(found) => {
            let line = found.as_ref().map_or_else(|| "none".to_owned(), |found| format!("issuer {}", found.id));
            (Finding::ok(line).after(lines), Some(found))
        }
    }
}

/// How a client gets an id there, and which scopes it needs.
fn registration(
    options: &Options,
    issuer: Option<&IssuerMetadata>,
    resource: Option<&ResourceMetadata>,
    challenge: &AuthChallenge,
) -> (Finding, Option<()>) {
    let named = challenge.scopes.as_ref().map(|scopes| ("the challenge", scopes));
    let listed = resource.and_then(|resource| resource.scopes.as_ref()).map(|scopes| ("the server's metadata", scopes));
    let scopes = named.or(listed).map_or_else(
        || "scopes: none are named".to_owned(),
        |(by, scopes)| {
            let shown: Vec<_> = scopes.iter().take(SCOPES).map(String::as_str).collect();
            format!("scopes: {} (by {by})", shown.join(" "))
        },
    );
    let Some(issuer) = issuer else { return (Finding::skipped("unknown").and(scopes), Some(())) };
    let mut ways = Vec::new();
    if issuer.accepts_client_documents {
        ways.push("client metadata documents");
    }
    if issuer.registration_endpoint.is_some() {
        ways.push("dynamic registration");
    }
    let lacks_pkce = issuer.challenge_methods.as_ref().is_none_or(|methods| !methods.iter().any(|one| one == "S256"));
    let pkce = if lacks_pkce { "PKCE: S256 is not announced; strict clients go no further" } else { "PKCE: S256" };
    if ways.is_empty() && options.authorizer.is_none() {
        let fix = "register a client there by hand and give its id, or enable dynamic registration or client metadata \
                   documents at the authorization server";
        let seen = "clients cannot register themselves: no registration endpoint, no client metadata documents";
        // A token of another origin may still do.
        return (Finding::failed(seen, fix).and(pkce).and(scopes), has_token(options).then_some(()));
    }
    let way = if ways.is_empty() { "by hand only".to_owned() } else { ways.join(", ") };
    (Finding::ok(format!("registration: {way}")).and(pkce).and(scopes), Some(()))
}

fn has_token(options: &Options) -> bool {
    url_of(&options.address).is_some_and(|http| http.authorization().is_some())
}

/// Lets the authorizer get a token, which goes with every request from now on.
async fn token(options: &Options, http: &HttpAddress, answered: &Answered) -> (Finding, Option<()>) {
    if has_token(options) {
        let why = header(&answered.headers, "www-authenticate").unwrap_or("no WWW-Authenticate says why");
        let seen = format!("the server refuses the token that was sent: HTTP {}; {why}", answered.status);
        return (Finding::failed(seen, format!("get another token, for {}", http.url)), None);
    }
    let Some(authorizer) = &options.authorizer else {
        return (Finding::failed("no token was given", options.words.sign_in), None);
    };
    let Answered { status, headers } = answered;
    let refusal = Refusal { url: http.url.clone(), status: *status, headers: headers.clone(), before: 0 };
    match authorizer.refused(&refusal).await {
        Ok(()) => (Finding::ok("got one"), Some(())),
        Err(why) => (Finding::failed(why, options.words.sign_in), None),
    }
}

/// Sends the requests of a discovery, and notes each: where it went and what came.
#[derive(Debug)]
struct Requests {
    backend: NetBackend,
    noted: Mutex<Vec<String>>,
}

impl Requests {
    fn new(http: &HttpAddress, limit: Duration) -> Self {
        let options = oauth::Options { ca: http.ca.clone(), timeout: limit, ..oauth::Options::new(None) };
        Self { backend: NetBackend::new(&options), noted: Mutex::default() }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Backend for Requests {
    fn send(&self, request: WebRequest) -> Responding<'_> {
        Box::pin(async move {
            let (at, begun) = (request.url.clone(), Instant::now());
            let response = self.backend.send(request).await;
            let came = match &response {
                Ok(response) => {
                    let kind = header(&response.headers, "content-type").unwrap_or("no content type");
                    let redirect =
                        header(&response.headers, "location").filter(|_| (300..400).contains(&response.status));
                    let to = redirect.map(|to| format!(", to {to}; not followed")).unwrap_or_default();
                    format!("HTTP {}, {kind}{to}", response.status)
                }
                Err(why) => why.clone(),
            };
            let line = format!("{at}: {came}, {} ms", begun.elapsed().as_millis());
            self.noted.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            response
        })
    }
}
