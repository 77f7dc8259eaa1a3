//! Finds the issuer of tokens for a server: from the refusal to the resource's metadata, from there to the issuer's. The order
//! of addresses is the specification's; each document is checked against the address that led to it.

use url::Url;
use wire::{Party, Revision};

use super::backend::WebRequest;
use super::challenge::AuthChallenge;
use super::error::{Advice, OAuthError, quoted};
use super::metadata::{Issuer, Resource};
use super::web::Web;

const RESOURCE: &str = "oauth-protected-resource";
const OAUTH: &str = "oauth-authorization-server";
const OPENID: &str = "openid-configuration";

/// The issuer of a server's tokens.
#[derive(Clone, Debug)]
pub(crate) struct Discovered {
    /// The resource identifier, exactly as published; unused before 2025-06-18.
    pub(crate) resource: Option<String>,
    /// The scopes that the resource's metadata lists.
    pub(crate) scopes: Option<Vec<String>>,
    /// The issuer.
    pub(crate) issuer: Issuer,
}

/// Finds the issuer for the server at `url`. Where several are named, one of `preferred` wins, else the first.
pub(crate) async fn discover(
    web: &Web,
    url: &Url,
    challenge: &AuthChallenge,
    revision: Option<Revision>,
    preferred: &[&str],
) -> Result<Discovered, OAuthError> {
    let rules = revision.unwrap_or(Revision::NEWEST);
    let by_origin =
        async || Ok(Discovered { resource: None, scopes: None, issuer: issuer_at_origin(web, url, rules).await? });
    if rules <= Revision::R2025_03_26 && challenge.metadata.is_none() {
        return by_origin().await;
    }
    let Some(resource) = resource(web, url, challenge).await? else {
        // The server may be older than this metadata.
        if revision.is_none() && challenge.metadata.is_none() {
            return by_origin().await;
        }
        let what = "the server demands a token and does not say who issues one";
        return Err(OAuthError::at(what, url, Advice::BringToken));
    };
    let chosen = resource.servers.iter().find(|server| preferred.contains(&server.as_str()));
    let name = chosen.unwrap_or(&resource.servers[0]).clone();
    let issuer = issuer(web, &name, rules).await?;
    Ok(Discovered { resource: Some(resource.id), scopes: resource.scopes, issuer })
}

/// The issuer called `named`, for the server at `url`. A server that publishes metadata must name it, too.
pub(crate) async fn discover_named(web: &Web, url: &Url, named: &str) -> Result<Discovered, OAuthError> {
    let resource = resource(web, url, &AuthChallenge::default()).await?;
    if let Some(resource) = resource.as_ref().filter(|resource| resource.servers.iter().all(|server| server != named)) {
        let what = format!("the server does not name this authorization server, but {}", quoted(&resource.servers[0]));
        return Err(OAuthError::new(what, named, Advice::NameIssuer));
    }
    let issuer = issuer(web, named, Revision::NEWEST).await?;
    let (id, scopes) = resource.map(|resource| (resource.id, resource.scopes)).unzip();
    Ok(Discovered { resource: id, scopes: scopes.flatten(), issuer })
}

/// The document that the challenge names, else the one for the endpoint, else the one for the whole origin.
pub(crate) async fn resource(web: &Web, url: &Url, challenge: &AuthChallenge) -> Result<Option<Resource>, OAuthError> {
    let addresses = match &challenge.metadata {
        Some(named) => vec![parse_url(named, "the address of the server's metadata")?],
        None => resource_addresses(url),
    };
    for address in &addresses {
        let Some(read) = resource_at(web, url, address).await? else { continue };
        if !read.covers(url) {
            let what = format!("the server's metadata is for another resource: {}", quoted(&read.id));
            return Err(OAuthError::at(what, address, "address the server as its metadata names it"));
        }
        if read.is_exactly(url) {
            return Ok(Some(read));
        }
        return wider(web, url, address, read).await.map(Some);
    }
    Ok(None)
}

async fn resource_at(web: &Web, url: &Url, address: &Url) -> Result<Option<Resource>, OAuthError> {
    let response = web.send(WebRequest::get(address, party(url, address))).await?;
    let Some(document) = response.object().filter(|_| response.status == 200) else { return Ok(None) };
    let read = Resource::read(&document).map_err(|why| {
        OAuthError::at(format!("the server's metadata cannot be used: {why}"), address, "fix the server's metadata")
    })?;
    Ok(Some(read))
}

/// The metadata of a resource that is more than the server at `url`, read at `address`. Only that resource's own place may
/// say so (RFC 9728, 3.3): one path of an origin must not get a token that is good for its other paths.
async fn wider(web: &Web, url: &Url, address: &Url, read: Resource) -> Result<Resource, OAuthError> {
    let id = parse_url(&read.id, "the server's resource")?;
    let own = well_known(&id, RESOURCE, id.path());
    if own == *address {
        return Ok(read);
    }
    let confirmed = resource_at(web, url, &own).await?.filter(|confirmed| confirmed.id == read.id);
    confirmed.ok_or_else(|| {
        let what = format!("the server's metadata is for more than this server: {}", quoted(&read.id));
        OAuthError::at(what, address, "name the whole address of the server as `resource` in its metadata")
    })
}

/// Where a resource's metadata may be, in the order to look.
fn resource_addresses(url: &Url) -> Vec<Url> {
    let mut addresses = vec![well_known(url, RESOURCE, url.path())];
    let root = well_known(url, RESOURCE, "");
    if addresses[0] != root {
        addresses.push(root);
    }
    addresses
}

/// The metadata of the issuer that is called `named`.
pub(crate) async fn issuer(web: &Web, named: &str, revision: Revision) -> Result<Issuer, OAuthError> {
    let base = parse_url(named, "the issuer's name")?;
    if base.query().is_some() || base.fragment().is_some() {
        return Err(OAuthError::at("an issuer's name holds no query", &base, "fix the server's metadata"));
    }
    for address in issuer_addresses(&base) {
        if let Some(issuer) = document(web, &address, named, revision).await? {
            return Ok(issuer);
        }
    }
    let what = "the authorization server publishes no metadata";
    Err(OAuthError::at(what, &base, Advice::CheckServerOrBringToken))
}

/// Where an issuer's metadata may be, in the order to look.
fn issuer_addresses(base: &Url) -> Vec<Url> {
    let path = base.path().trim_end_matches('/');
    if path.is_empty() {
        return vec![well_known(base, OAUTH, ""), well_known(base, OPENID, "")];
    }
    let mut appended = base.clone();
    appended.set_path(&format!("{path}/.well-known/{OPENID}"));
    vec![well_known(base, OAUTH, path), well_known(base, OPENID, path), appended]
}

/// At 2025-03-26 the server's own origin issues tokens, at fixed paths unless it says otherwise.
async fn issuer_at_origin(web: &Web, url: &Url, revision: Revision) -> Result<Issuer, OAuthError> {
    if let Some(issuer) = published_at_origin(web, url, revision).await? {
        return Ok(issuer);
    }
    Issuer::with_default_endpoints(&url.origin().ascii_serialization())
        .ok_or_else(|| OAuthError::at("there is no authorization server", url, Advice::BringToken))
}

/// The same, where it publishes its metadata.
pub(crate) async fn published_at_origin(
    web: &Web,
    url: &Url,
    revision: Revision,
) -> Result<Option<Issuer>, OAuthError> {
    let origin = url.origin().ascii_serialization();
    document(web, &well_known(url, OAUTH, ""), &origin, revision).await
}

/// The document at `address`, if there is one. Its issuer must be exactly `named`: a server that speaks for another issuer is
/// after its tokens.
async fn document(web: &Web, address: &Url, named: &str, revision: Revision) -> Result<Option<Issuer>, OAuthError> {
    let request = WebRequest::get(address, Party::AuthorizationServer).with("mcp-protocol-version", revision.as_str());
    let response = web.send(request).await?;
    let Some(document) = response.object().filter(|_| response.status == 200) else { return Ok(None) };
    let advice = "fix the authorization server's metadata";
    let read = Issuer::read(&document).map_err(|why| {
        OAuthError::at(format!("the authorization server's metadata cannot be used: {why}"), address, advice)
    })?;
    let verified = web.verifier.metadata_issuer(named, &read.id);
    verified.map_err(|error| OAuthError::at(error.to_string(), address, advice))?;
    Ok(Some(read))
}

fn parse_url(text: &str, what: &str) -> Result<Url, OAuthError> {
    Url::parse(text)
        .map_err(|_| OAuthError::new(format!("{what} is not a URL"), quoted(text), "fix the server's metadata"))
}

fn well_known(base: &Url, suffix: &str, path: &str) -> Url {
    let mut address = base.clone();
    address.set_path(&format!("/.well-known/{suffix}{}", path.trim_end_matches('/')));
    address.set_query(None);
    address.set_fragment(None);
    address
}

/// The party that answers at `address`: the server, where the origin is its own.
fn party(url: &Url, address: &Url) -> Party {
    if url.origin() == address.origin() { Party::Server } else { Party::Other }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(of: impl Fn(&Url) -> Vec<Url>, url: &str) -> Vec<String> {
        of(&Url::parse(url).expect("a URL")).into_iter().map(String::from).collect()
    }

    #[test]
    fn addresses_are_tried_in_order() {
        let known = "https://a.example/.well-known";
        assert_eq!(
            addresses(resource_addresses, "https://a.example/deep/mcp?x#y"),
            [format!("{known}/oauth-protected-resource/deep/mcp"), format!("{known}/oauth-protected-resource")]
        );
        assert_eq!(addresses(resource_addresses, "https://a.example"), [format!("{known}/oauth-protected-resource")]);
        assert_eq!(
            addresses(issuer_addresses, "https://a.example/"),
            [format!("{known}/oauth-authorization-server"), format!("{known}/openid-configuration")]
        );
        assert_eq!(
            addresses(issuer_addresses, "https://a.example/tenant"),
            [
                format!("{known}/oauth-authorization-server/tenant"),
                format!("{known}/openid-configuration/tenant"),
                "https://a.example/tenant/.well-known/openid-configuration".to_owned()
            ]
        );
    }
}
