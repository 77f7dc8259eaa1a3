//! Content negotiation and the security headers: `Accept`, `Content-Type`, `Host`, `Origin`. Knows no message.

use std::net::IpAddr;

use hyper::HeaderMap;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderValue, ORIGIN};
use wire::http;

/// Whether the client accepts `kind`. A client without `Accept` accepts anything (RFC 9110, 12.5.1).
pub(super) fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let mut values = headers.get_all(ACCEPT).iter().map(|value| value.to_str().unwrap_or_default());
    match (values.next(), values.next()) {
        (None, _) => true,
        (Some(only), None) => http::accepts(only, kind),
        (Some(first), Some(second)) => {
            let all: Vec<_> = [first, second].into_iter().chain(values).collect();
            http::accepts(&all.join(","), kind)
        }
    }
}

/// Whether the body is declared to be JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    declared.is_some_and(|value| http::has_media_type(value, http::JSON))
}

/// Who may call a server at one of its addresses.
#[derive(Clone, Copy)]
pub(super) struct Access<'a> {
    /// The address that the connection came to; `None` where there is no socket.
    pub(super) local: Option<IpAddr>,
    /// Whether it came with TLS: a page that did not is another origin.
    pub(super) secure: bool,
    /// Further host names.
    pub(super) hosts: &'a [String],
    /// Further origins of pages.
    pub(super) origins: &'a [String],
}

impl Access<'_> {
    /// Whether `Host` names this server and `Origin`, if present, a page of this machine: anything else may be DNS rebinding.
    pub(super) fn is_trusted(self, headers: &HeaderMap) -> bool {
        let trusted = |origin: &HeaderValue| {
            let ours = |authority| self.is_ours(authority) && (self.may_be(origin) || is_loopback(authority));
            self.is_listed(origin) || authority(origin).is_some_and(ours)
        };
        self.is_trusted_host(headers) && headers.get_all(ORIGIN).iter().all(trusted)
    }

    /// The same where no preflight protects the server (WebSocket): `Origin` must be this very server, or be allowed. Another
    /// port is another origin.
    pub(super) fn is_trusted_for_sockets(self, headers: &HeaderMap) -> bool {
        let host = headers.get(HOST).map(HeaderValue::as_bytes);
        let trusted = |origin: &HeaderValue| {
            let own = |authority: &str| {
                Some(authority.as_bytes()) == host || self.hosts.iter().any(|host| host.eq_ignore_ascii_case(authority))
            };
            self.is_listed(origin) || (self.may_be(origin) && authority(origin).is_some_and(own))
        };
        self.is_trusted_host(headers) && headers.get_all(ORIGIN).iter().all(trusted)
    }

    fn is_trusted_host(self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|value| value.to_str().ok());
        hosts.next().is_none() && host.is_some_and(|host| self.is_ours(host))
    }

    /// Whether the scheme of a page may be ours. Without TLS, a proxy in front of us may have added it.
    fn may_be(self, origin: &HeaderValue) -> bool {
        !self.secure || origin.as_bytes().starts_with(b"https://")
    }

    fn is_listed(self, origin: &HeaderValue) -> bool {
        self.origins.iter().any(|listed| listed.as_bytes() == origin.as_bytes())
    }

    /// Whether an authority names this server. A loopback name does only on loopback: elsewhere it is forged.
    fn is_ours(self, authority: &str) -> bool {
        let Some(name) = host_name(authority) else { return false };
        let local = self.local.map(|local| local.to_canonical());
        let named = name.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        (is_loopback(authority) && local.is_none_or(|local| local.is_loopback()))
            || (named.is_some() && named == local)
            || self.hosts.iter().any(|host| host.eq_ignore_ascii_case(name) || host.eq_ignore_ascii_case(authority))
    }
}

/// Whether an authority names the machine that it is used on.
fn is_loopback(authority: &str) -> bool {
    host_name(authority).is_some_and(|name| {
        let address = name.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        name.eq_ignore_ascii_case("localhost") || address.is_some_and(|address| address.is_loopback())
    })
}

/// Whether `Origin` is the server's own page, as `Host` names it.
pub(super) fn is_own_page(headers: &HeaderMap) -> bool {
    let mut origins = headers.get_all(ORIGIN).iter();
    let own = origins.next().and_then(authority).map(str::as_bytes) == headers.get(HOST).map(HeaderValue::as_bytes);
    own && origins.next().is_none()
}

fn authority(origin: &HeaderValue) -> Option<&str> {
    origin.to_str().ok()?.split_once("://").map(|(_, authority)| authority)
}

/// The name in `name`, `name:port`, `[v6]` or `[v6]:port`; `None` for anything else.
fn host_name(authority: &str) -> Option<&str> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (name, port) = rest.split_once(']')?;
        return is_port(port).then_some(name);
    }
    match authority.split_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => Some(name),
        Some(_) => None,
        None => Some(authority),
    }
}

fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(host: &str, origin: Option<&str>) -> HeaderMap {
        let origin = origin.map(|origin| (ORIGIN, origin));
        let named = |(name, value): (_, &str)| (name, HeaderValue::from_str(value).unwrap());
        [(HOST, host)].into_iter().chain(origin).map(named).collect()
    }

    #[test]
    fn loopback_names_are_forged_where_the_connection_came_from_elsewhere() {
        let hosts = ["mcp.example".to_owned()];
        for (local, host, trusted) in [
            ("127.0.0.1", "localhost:3000", true),
            ("::ffff:127.0.0.1", "localhost:3000", true),
            ("::1", "127.0.0.1:3000", true),
            ("192.0.2.1", "localhost:3000", false),
            ("192.0.2.1", "127.0.0.1:3000", false),
            ("192.0.2.1", "[::1]:3000", false),
            ("192.0.2.1", "192.0.2.1:3000", true),
            ("::ffff:192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
            ("192.0.2.1", "mcp.example:3000", true),
            ("127.0.0.1", "192.0.2.1", false),
        ] {
            let access = Access { local: local.parse().ok(), secure: false, hosts: &hosts, origins: &[] };
            assert_eq!(access.is_trusted(&headers(host, None)), trusted, "{host} at {local}");
            assert_eq!(access.is_trusted_for_sockets(&headers(host, None)), trusted, "{host} at {local}");
        }
    }

    #[test]
    fn a_page_of_another_port_opens_no_socket() {
        let origins = ["https://app.example".to_owned()];
        let access = Access { local: None, secure: false, hosts: &[], origins: &origins };
        for (origin, page, socket) in [
            ("http://localhost:3000", true, true),
            ("http://localhost:5173", true, false),
            ("http://127.0.0.1:3000", true, false),
            ("https://app.example", true, true),
            ("https://app.example:1", false, false),
            ("https://APP.example", false, false),
            ("null", false, false),
        ] {
            let headers = headers("localhost:3000", Some(origin));
            assert_eq!(access.is_trusted(&headers), page, "{origin}");
            assert_eq!(access.is_trusted_for_sockets(&headers), socket, "{origin}");
        }
    }

    #[test]
    fn a_page_without_tls_is_another_origin() {
        let hosts = ["mcp.example".to_owned()];
        for (origin, secure, page, socket) in [
            ("https://mcp.example", true, true, true),
            ("http://mcp.example", true, false, false),
            ("http://mcp.example", false, true, true),
            ("https://mcp.example", false, true, true),
            ("http://localhost:5173", true, true, false),
            ("HTTPS://mcp.example", true, false, false),
        ] {
            let access = Access { local: "127.0.0.1".parse().ok(), secure, hosts: &hosts, origins: &[] };
            let headers = headers("mcp.example", Some(origin));
            assert_eq!(access.is_trusted(&headers), page, "{origin} {secure}");
            assert_eq!(access.is_trusted_for_sockets(&headers), socket, "{origin} {secure}");
        }
    }
}
