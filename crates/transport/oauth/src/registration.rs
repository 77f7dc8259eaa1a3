//! The client's identity at an issuer: registered beforehand, known by the address of a document, or registered dynamically
//! (RFC 7591). The identity at one issuer is never sent to another.

use serde_json::{Value, json};
use url::Url;
use wire::Revision;

use super::backend::WebRequest;
use super::error::{Advice, OAuthError, quoted};
use super::metadata::Issuer;
use super::options::{Client, Credential, Grant, Options};
use super::secret::Secret;
use super::token_endpoint::Method;
use super::verifier::Verifier;
use super::web::{Web, is_loopback};

/// The client that `issuer` knows already; `None` where it must be registered.
pub(crate) fn known_client(
    options: &Options,
    verifier: &dyn Verifier,
    issuer: &Issuer,
    stored: Option<&Client>,
) -> Result<Option<Client>, OAuthError> {
    if let Some(client) = &options.client {
        let verified = client.issuer.as_ref().map_or(Ok(()), |only| verifier.registration(&issuer.id, only));
        let untrusted = |error| OAuthError::new(format!("{error}"), &issuer.id, "a client of that issuer");
        return verified.map(|()| Some(client.clone())).map_err(untrusted);
    }
    if let Some(document) = options.document.as_ref().filter(|_| issuer.accepts_client_documents) {
        if !(document.scheme() == "https" || is_loopback(document)) || document.path() == "/" {
            let what = "the address of a client's document has https and a path";
            return Err(OAuthError::at(what, document, "such an address"));
        }
        return Ok(Some(Client::new(document.as_str(), Credential::None)));
    }
    Ok(stored.cloned())
}

/// Registers the client.
pub(crate) async fn register(
    web: &Web,
    options: &Options,
    issuer: &Issuer,
    redirect: &str,
    scopes: Option<&[String]>,
) -> Result<Client, OAuthError> {
    let Some(endpoint) = issuer.registration_endpoint.as_ref().filter(|_| options.grant == Grant::Code) else {
        let what = "the issuer does not know this client, and offers no registration";
        return Err(OAuthError::new(what, &issuer.id, Advice::BringClient));
    };
    let method = method(issuer);
    let body = registration_request(options.rules(), method, redirect, scopes);
    registered(web, (issuer, endpoint), &body, redirect).await
}

/// Registers a service, which can keep a secret, under `name`.
pub(crate) async fn register_service(
    web: &Web,
    issuer: &Issuer,
    (name, redirect): (&str, &str),
    scopes: Option<&[String]>,
) -> Result<Client, OAuthError> {
    let Some(endpoint) = &issuer.registration_endpoint else {
        let what = "the issuer does not know this service, and offers no registration";
        return Err(OAuthError::new(what, &issuer.id, Advice::BringClient));
    };
    let listed = issuer.client_authentication.as_deref();
    let takes = |method: &Method| listed.is_none_or(|listed| listed.iter().any(|one| one == method.as_str()));
    let method = [Method::Basic, Method::Post, Method::None].into_iter().find(takes).unwrap_or(Method::Basic);
    let mut body = registration_request(Revision::NEWEST, method, redirect, scopes);
    body["client_name"] = name.into();
    // An application of the web may have a redirect to this machine only while it is tried out.
    body["application_type"] = if is_loopback_text(redirect) { "native" } else { "web" }.into();
    registered(web, (issuer, endpoint), &body, redirect).await
}

fn is_loopback_text(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| is_loopback(&url))
}

async fn registered(
    web: &Web,
    (issuer, endpoint): (&Issuer, &Url),
    body: &Value,
    redirect: &str,
) -> Result<Client, OAuthError> {
    let response = web.send(WebRequest::post(endpoint, "application/json", body.to_string())).await?;
    let object = response.object();
    let advice = Advice::BringClient;
    if !(200..300).contains(&response.status) {
        let error = object.as_ref().and_then(|object| object["error"].as_str()).unwrap_or("no reason given");
        let what = format!("the issuer refuses the registration: HTTP {}, {}", response.status, quoted(error));
        return Err(OAuthError::at(what, endpoint, advice));
    }
    let id = object.as_ref().and_then(|object| object["client_id"].as_str()).filter(|id| !id.is_empty());
    let (Some(object), Some(id)) = (&object, id) else {
        return Err(OAuthError::at("the registration returns no client_id", endpoint, advice));
    };
    let text = |member: &str| object[member].as_str().filter(|text| !text.is_empty());
    let secret = |member: &str| text(member).map(|secret| web.secrets.heard(Secret::new(secret)));
    // Opens the registration itself (RFC 7592), which is not used.
    let _ = secret("registration_access_token");
    let credential = secret("client_secret").map_or(Credential::None, Credential::Secret);
    Ok(Client {
        id: id.to_owned(),
        credential,
        issuer: Some(issuer.id.clone()),
        method: text("token_endpoint_auth_method").map(str::to_owned),
        redirect: Some(redirect.to_owned()),
    })
}

/// The best method of a native application, which cannot keep a secret from its user.
fn method(issuer: &Issuer) -> Method {
    let listed = issuer.client_authentication.as_deref();
    let takes = |method: &Method| listed.is_none_or(|listed| listed.iter().any(|one| one == method.as_str()));
    [Method::None, Method::Basic, Method::Post].into_iter().find(takes).unwrap_or(Method::None)
}

fn registration_request(revision: Revision, method: Method, redirect: &str, scopes: Option<&[String]>) -> Value {
    let mut body = json!({
        "client_name": "proofhouse",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method.as_str(),
    });
    // Older revisions do not mention it; OpenID providers demand it for redirects to loopback.
    if revision >= Revision::R2025_11_25 {
        body["application_type"] = "native".into();
    }
    if let Some(scopes) = scopes {
        body["scope"] = scopes.join(" ").into();
    }
    body
}
