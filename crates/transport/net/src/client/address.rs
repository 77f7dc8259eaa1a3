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

/// What `localhost:3000`, `192.0.2.1:8080/mcp` and `:3000` stand for: HTTP, on this machine where no host is named, and at `/mcp`
/// where no path is. `None` for any other text.
pub fn without_scheme(text: &str) -> Option<Url> {
    let (authority, rest) = text.split_at(text.find(['/', '?', '#']).unwrap_or(text.len()));
    let (host, port) = authority.rsplit_once(':')?;
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_in_brackets = host.starts_with('[') && host.ends_with(']');
    let is_name = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    if !is_port || !(is_in_brackets || is_name) {
        return None;
    }
    let host = if host.is_empty() { "127.0.0.1" } else { host };
    let mut url = Url::parse(&format!("http://{host}:{port}{rest}")).ok()?;
    if !rest.starts_with('/') {
        url.set_path("/mcp");
    }
    Some(url)
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

#[cfg(test)]
mod tests {
    use super::without_scheme;

    #[test]
    fn a_host_and_a_port_stand_for_a_url() {
        let url = |text: &str| without_scheme(text).map(String::from);
        for (text, meant) in [
            ("localhost:3000", "http://localhost:3000/mcp"),
            ("127.0.0.1:3000/mcp", "http://127.0.0.1:3000/mcp"),
            ("127.0.0.1:3000/", "http://127.0.0.1:3000/"),
            (":3000", "http://127.0.0.1:3000/mcp"),
            (":3000/a?b=c", "http://127.0.0.1:3000/a?b=c"),
            ("[::1]:3000", "http://[::1]:3000/mcp"),
            ("my-server_1.local:80?key=x", "http://my-server_1.local/mcp?key=x"),
        ] {
            assert_eq!(url(text).as_deref(), Some(meant), "{text}");
        }
        for text in [
            "",
            ":",
            "3000",
            "localhost",
            "localhost:",
            "localhost:+1",
            "localhost:70000",
            "http://localhost:3000",
            "me:secret@localhost:3000",
            "a=b:1",
            "::1",
            "./server:1",
        ] {
            assert_eq!(url(text), None, "{text}");
        }
    }
}
