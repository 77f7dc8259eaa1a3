//! Content negotiation and the security headers: `Accept`, `Content-Type`, `Host`, `Origin`. Knows no message.

use std::net::{Ipv4Addr, Ipv6Addr};

use hyper::HeaderMap;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, ORIGIN};
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

/// Whether `Host` names this server and `Origin`, if present, its own page: anything else may be DNS rebinding.
pub(super) fn is_trusted(headers: &HeaderMap, allowed: &[String]) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next().and_then(|value| value.to_str().ok());
    let trusted_host = hosts.next().is_none() && host.is_some_and(|host| is_ours(host, allowed));
    let trusted_origins = headers.get_all(ORIGIN).iter().all(|value| {
        let authority = value.to_str().ok().and_then(|text| text.split_once("://")).map(|(_, authority)| authority);
        authority.is_some_and(|authority| is_ours(authority, allowed))
    });
    trusted_host && trusted_origins
}

fn is_ours(authority: &str, allowed: &[String]) -> bool {
    let Some(name) = host_name(authority) else { return false };
    let loopback = name.eq_ignore_ascii_case("localhost")
        || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || name.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback());
    loopback || allowed.iter().any(|host| host.eq_ignore_ascii_case(name) || host.eq_ignore_ascii_case(authority))
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
