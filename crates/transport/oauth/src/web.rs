//! Which addresses may be requested, and with which timeout. Only this machine is requested without TLS, and only where the MCP
//! server is on it, too: a remote server must not choose requests to local ports.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;
use url::{Host, Url};
use wire::Party;

use super::backend::{Backend, MAX_BODY, NetBackend, WebRequest, WebResponse};
use super::error::OAuthError;
use super::verifier::{StrictVerifier, Verifier};

const UNREACHED: &str = "see whether the server is up and speaks HTTP";

/// Sends requests, and verifies responses.
#[derive(Clone, Debug)]
pub(crate) struct Web {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) verifier: Arc<dyn Verifier>,
    /// How long one response may take.
    pub(crate) limit: Duration,
    /// Whether this machine may be requested, without TLS.
    pub(crate) allows_loopback: bool,
}

/// Whether a URL leads to this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// The JSON object at `url`: keys, or what a client says about itself. `local`: whether it may be on this machine.
pub async fn fetch(url: &Url, allows_loopback: bool, limit: Duration) -> Result<Value, OAuthError> {
    let backend = Arc::new(NetBackend { ca: None, connect: limit, tap: None });
    let web = Web { backend, verifier: Arc::new(StrictVerifier), limit, allows_loopback };
    let response = web.send(WebRequest::get(url, Party::Other)).await?;
    let status = response.status;
    let nothing = || OAuthError::at(format!("no JSON object there: HTTP {status}"), url, "another address");
    response.object().filter(|_| status == 200).ok_or_else(nothing)
}

impl Web {
    /// Refuses an address that is not allowed.
    pub(crate) fn check_url(&self, url: &Url) -> Result<(), OAuthError> {
        match (url.scheme(), is_loopback(url)) {
            ("http" | "https", true) if !self.allows_loopback => Err(OAuthError::at(
                "a server elsewhere sends us to an address of this machine",
                url,
                "fix the server's metadata",
            )),
            ("https", _) | ("http", true) => Ok(()),
            _ => {
                Err(OAuthError::at("this address is not protected by https", url, "an authorization server with https"))
            }
        }
    }

    /// Sends a request and waits for the whole response.
    pub(crate) async fn send(&self, request: WebRequest) -> Result<WebResponse, OAuthError> {
        self.check_url(&request.url)?;
        let url = request.url.clone();
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
