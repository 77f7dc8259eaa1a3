//! Where a server is, and what is sent with every request to it. Values only.

use std::path::PathBuf;

use url::{Position, Url};
use wire::Transport;

use crate::egress::Egress;
use crate::process::Command;

/// Where a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A program to start.
    Stdio(Command),
    /// A Streamable HTTP endpoint.
    Http(HttpAddress),
    /// The event stream of the old HTTP+SSE transport.
    Sse(HttpAddress),
    /// A WebSocket.
    WebSocket(HttpAddress),
}

impl Address {
    /// The transport that reaches it.
    pub const fn transport(&self) -> Transport {
        match self {
            Self::Stdio(_) => Transport::Stdio,
            Self::Http(_) => Transport::StreamableHttp,
            Self::Sse(_) => Transport::HttpSse,
            Self::WebSocket(_) => Transport::WebSocket,
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stdio(command) => command.fmt(f),
            Self::Http(http) | Self::Sse(http) | Self::WebSocket(http) => http.url.fmt(f),
        }
    }
}

/// A URL, and what is sent with every request to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAddress {
    /// `http`, `https`, `ws` or `wss`.
    pub url: Url,
    /// Additional headers; they replace ours of the same name.
    pub headers: Vec<(String, String)>,
    /// A PEM file of certificates to trust in addition to the system's.
    pub ca: Option<PathBuf>,
    /// The certificate that we show to a server that asks for one.
    pub identity: Option<Identity>,
    /// Where connections may lead; anywhere without this.
    pub egress: Option<Egress>,
}

/// A certificate of our own, in PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The certificate, then those of its issuers.
    pub certificate: PathBuf,
    /// Its private key; unencrypted.
    pub key: PathBuf,
}

impl HttpAddress {
    /// `url` without additional headers or certificates.
    pub const fn new(url: Url) -> Self {
        Self { url, headers: Vec::new(), ca: None, identity: None, egress: None }
    }

    /// The `Authorization` among the additional headers.
    pub fn authorization(&self) -> Option<&str> {
        wire::trace::header(&self.headers, "authorization")
    }

    /// The bearer token in it.
    pub fn bearer(&self) -> Option<&str> {
        let (scheme, token) = self.authorization()?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    }

    /// The request target that the `endpoint` event of HTTP+SSE names. Another origin is refused: messages could be sent
    /// anywhere.
    pub(crate) fn endpoint(&self, named: &str) -> Result<String, String> {
        let url = self.url.join(named.trim()).map_err(|e| format!("the endpoint `{named}` is no URL: {e}"))?;
        if url.origin() != self.url.origin() {
            return Err(format!("the endpoint `{named}` is on another origin"));
        }
        Ok(url[Position::BeforePath..Position::AfterQuery].to_owned())
    }

    /// Path and query of `url` where it is absolute and on the same origin.
    pub fn own_target(&self, url: &str) -> Option<String> {
        let url = Url::parse(url).ok().filter(|url| url.origin() == self.url.origin())?;
        Some(url[Position::BeforePath..Position::AfterQuery].to_owned())
    }
}
