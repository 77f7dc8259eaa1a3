//! Which addresses may be requested, and with which timeout. Where the user sent us, we may go; where a server sends us, only
//! as far as the server itself is away: a remote one must not choose requests to this machine or into a private network.

use std::sync::Arc;
use std::time::Duration;

use net::client::{Dialer, HttpAddress};
use net::egress::{Egress, Reach};
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use url::{Host, Url};
use wire::Party;

use super::backend::{Backend, MAX_BODY, NetBackend, WebRequest, WebResponse};
use super::error::{Advice, OAuthError};
use super::secret::SecretListener;
use super::verifier::{StrictVerifier, Verifier};

const UNREACHED: &str = "see whether the server is up and speaks HTTP";

/// Sends requests, and verifies responses.
#[derive(Clone, Debug)]
pub(crate) struct Web {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) verifier: Arc<dyn Verifier>,
    /// How long one response may take.
    pub(crate) limit: Duration,
    /// The addresses that the user named: their origins may be anywhere. The first one is the MCP server's.
    pub(crate) named: Vec<Url>,
    /// How far requests to other origins may go, once that is known: as far as the first address is away.
    pub(crate) reach: OnceCell<Reach>,
    /// Hears the secrets in responses.
    pub(crate) secrets: SecretListener,
}

/// Whether a URL leads to this machine, by its spelling alone.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// The JSON object at `url`, no farther than `reach`: keys, or what a client says about itself.
pub async fn fetch(url: &Url, reach: Reach, limit: Duration) -> Result<Value, OAuthError> {
    fetch_within(url, reach, limit, None).await
}

/// The same, where connections may lead no farther than `egress`.
pub async fn fetch_within(
    url: &Url,
    reach: Reach,
    limit: Duration,
    egress: Option<Egress>,
) -> Result<Value, OAuthError> {
    let backend = Arc::new(NetBackend::plain(limit, egress));
    let verifier = Arc::new(StrictVerifier);
    let secrets = SecretListener::default();
    let web = Web { backend, verifier, limit, named: Vec::new(), reach: OnceCell::from(reach), secrets };
    let response = web.send(WebRequest::get(url, Party::Other)).await?;
    let status = response.status;
    let nothing = || OAuthError::at(format!("no JSON object there: HTTP {status}"), url, "another address");
    response.object().filter(|_| status == 200).ok_or_else(nothing)
}

/// Refuses an address without TLS; only this machine needs none.
pub(crate) fn check_scheme(url: &Url) -> Result<(), OAuthError> {
    if url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url)) {
        return Ok(());
    }
    Err(OAuthError::at("this address is not protected by https", url, "an authorization server with https"))
}

impl Web {
    /// Refuses an address that is not allowed; how far its name may lead otherwise.
    pub(crate) async fn check_url(&self, url: &Url) -> Result<Reach, OAuthError> {
        check_scheme(url)?;
        if self.named.iter().any(|named| named.origin() == url.origin()) {
            return Ok(Reach::Machine);
        }
        let reach = *self.reach.get_or_init(|| self.measured()).await;
        let needed = match url.host() {
            Some(Host::Ipv4(ip)) => Reach::of(ip.into()),
            Some(Host::Ipv6(ip)) => Reach::of(ip.into()),
            _ if is_loopback(url) => Reach::Machine,
            _ => Reach::Public,
        };
        if needed <= reach {
            return Ok(reach);
        }
        let place = if needed == Reach::Machine { "this machine" } else { "a private network" };
        let what = format!("a server elsewhere sends us to an address of {place}");
        Err(OAuthError::at(what, url, Advice::NameIssuer))
    }

    /// How far away the MCP server is. A name counts as private if all of its addresses are. No name counts as this machine,
    /// because its owner decides where it leads.
    async fn measured(&self) -> Reach {
        let Some(home) = self.named.first() else { return Reach::Public };
        match home.host() {
            Some(Host::Ipv4(ip)) => return Reach::of(ip.into()),
            Some(Host::Ipv6(ip)) => return Reach::of(ip.into()),
            _ if is_loopback(home) => return Reach::Machine,
            _ => {}
        }
        let Ok(dialer) = Dialer::new(&HttpAddress::new(home.clone()), self.limit) else { return Reach::Public };
        let addresses = timeout(self.limit, dialer.resolve()).await.ok().and_then(Result::ok).unwrap_or_default();
        let nearest = addresses.iter().map(|address| Reach::of(address.ip())).min();
        nearest.unwrap_or(Reach::Public).min(Reach::Private)
    }

    /// Sends a request and waits for the whole response.
    pub(crate) async fn send(&self, request: WebRequest) -> Result<WebResponse, OAuthError> {
        let reach = self.check_url(&request.url).await?;
        let (url, request) = (request.url.clone(), WebRequest { reach, ..request });
        match timeout(self.limit, self.backend.send(request)).await {
            Ok(Ok(response)) if response.body.len() > MAX_BODY => {
                Err(OAuthError::at("the answer is longer than 1 MiB", &url, UNREACHED))
            }
            Ok(response) => response.map_err(|why| OAuthError::at(why, &url, UNREACHED)),
            Err(_) => Err(OAuthError::at(
                format!("no answer within {:.0} s", self.limit.as_secs_f64()),
                &url,
                "see whether the server is up",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn leads_to(home: &str, url: &str) -> Option<Reach> {
        let backend = Arc::new(NetBackend::plain(Duration::from_secs(1), None));
        let named = vec![Url::parse(home).expect("a URL")];
        let (verifier, limit) = (Arc::new(StrictVerifier), Duration::from_secs(1));
        let secrets = SecretListener::default();
        let web = Web { backend, verifier, limit, named, reach: OnceCell::new(), secrets };
        web.check_url(&Url::parse(url).expect("a URL")).await.ok()
    }

    #[tokio::test]
    async fn a_server_sends_us_no_farther_than_it_is_away() {
        let (public, private, machine) = ("https://1.1.1.1/mcp", "https://10.0.0.9/mcp", "http://127.0.0.1:3000/mcp");
        let names = ["https://as.example", "https://9.9.9.9"];
        let privates = ["https://10.0.0.1", "https://[fd00::1]", "https://169.254.169.254", "https://[::ffff:a00:1]"];
        let machines = ["https://127.0.0.1", "https://localhost", "https://0.0.0.0", "https://[::]", "https://[::1]"]
            .into_iter()
            .chain(["https://[::ffff:127.0.0.1]", "https://[::7f00:1]", "https://2130706433", "http://127.0.0.1:9"]);
        for (url, needed) in names
            .map(|url| (url, Reach::Public))
            .into_iter()
            .chain(privates.map(|url| (url, Reach::Private)))
            .chain(machines.map(|url| (url, Reach::Machine)))
        {
            for (home, reach) in [(public, Reach::Public), (private, Reach::Private), (machine, Reach::Machine)] {
                let expected = (needed <= reach).then_some(reach);
                assert_eq!(leads_to(home, url).await, expected, "{home} sends us to {url}");
            }
        }
        for home in [public, private, machine] {
            assert_eq!(leads_to(home, home).await, Some(Reach::Machine), "where the user sent us");
            assert_eq!(leads_to(home, "http://as.example").await, None, "no TLS");
        }
    }
}
