//! The pages `basic/authorization`. The server's side is that of an OAuth resource server: it refuses requests without a valid token
//! and says where to get one. A server that demands no token is not bound by any of it: the verdict is `NotSeen`. What
//! binds the client is in [`client`]; what binds authorization servers is not our concern.

pub(crate) mod client;
pub(crate) mod legacy_metadata;
pub(crate) mod metadata;
pub(crate) mod scopes;
pub(crate) mod tokens;

use wire::Transport;
use wire::http::{Challenge, challenges};
use wire::trace::StimulusKind;

use crate::rule::{Anchor, at};
use crate::view::{Exchange, View};

/// Authorization is defined over Streamable HTTP alone.
const HTTP: &[Transport] = &[Transport::StreamableHttp];

/// The page up to 2025-11-25.
const fn page(section: &'static str) -> Anchor {
    at("basic/authorization", section)
}

/// The page's beginning from 2026-07-28 on.
const fn index(section: &'static str) -> Anchor {
    at("basic/authorization/index", section)
}

/// The page on discovery from 2026-07-28 on.
const fn discovery(section: &'static str) -> Anchor {
    at("basic/authorization/authorization-server-discovery", section)
}

/// The page on security from 2026-07-28 on.
const fn security(section: &'static str) -> Anchor {
    at("basic/authorization/security-considerations", section)
}

/// The bearer token that a request carries.
fn bearer<'v>(x: &Exchange<'v>) -> Option<&'v str> {
    let (scheme, token) = x.request_header("authorization")?.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Whether a request says nothing about who sends it.
fn is_bare(x: &Exchange<'_>) -> bool {
    x.request_header("authorization").is_none() && query_token(x).is_none()
}

/// The access token in the query of a request's target.
fn query_token<'v>(x: &Exchange<'v>) -> Option<&'v str> {
    let (_, query) = x.request?.2.split_once('?')?;
    query.split('&').find_map(|pair| pair.strip_prefix("access_token="))
}

/// The method of the one request that an exchange carries.
fn asks<'v>(x: &Exchange<'v>) -> Option<&'v str> {
    x.question()?.message.method()
}

/// Whether a method is the first that may be said: it depends on no session.
fn is_greeting(method: &str) -> bool {
    matches!(method, "initialize" | "server/discover")
}

/// Requests at the endpoint that were answered 401, by a server that goes by bearer tokens: others may have passwords or
/// keys of their own, which is no business of these pages.
fn refused<'a, 'v>(view: &'a View<'v>) -> Vec<&'a Exchange<'v>> {
    let all = view.endpoint_exchanges();
    let bearers = takes_bearers(view, &all);
    all.into_iter().filter(|x| bearers && x.status() == Some(401)).collect()
}

/// Whether anything shows that a bearer token is what a server goes by: a challenge, one that is served, its metadata.
fn takes_bearers(view: &View<'_>, all: &[&Exchange<'_>]) -> bool {
    all.iter().any(|x| x.status() == Some(401) && !bearer_challenges(x).is_empty())
        || all.iter().any(|x| bearer(x).is_some() && x.served())
        || metadata::is_published(view)
}

/// Whether a request of this method was answered 401 for lack of a token.
fn is_demanded(view: &View<'_>, method: &str) -> bool {
    refused(view).iter().any(|x| is_bare(x) && asks(x) == Some(method))
}

/// Requests with a token that a probe made up, where the same request without any was answered 401.
fn with_token_of<'a, 'v>(view: &'a View<'v>, stimulus: StimulusKind) -> Vec<&'a Exchange<'v>> {
    let begun: Vec<(usize, u32)> =
        view.stimulated(stimulus).map(|event| (event, view.frame(event).connection)).collect();
    let made_up = |x: &Exchange<'_>| {
        let sent = x.request.map_or(0, |(event, ..)| event);
        bearer(x).is_some() && begun.iter().any(|(event, connection)| *event < sent && *connection == x.connection)
    };
    let all = view.endpoint_exchanges().into_iter();
    all.filter(|x| made_up(x) && asks(x).is_some_and(|method| is_demanded(view, method))).collect()
}

/// Whether a status says nothing about tokens: a proxy's, a busy server's.
const fn is_unrelated_to_tokens(status: u16) -> bool {
    matches!(status, 407 | 408 | 429 | 501..)
}

/// The challenges of a response for which a bearer token would do, or one bound to a key.
fn bearer_challenges(x: &Exchange<'_>) -> Vec<Challenge> {
    let all = x.response.map(|(_, _, headers)| challenges(headers)).unwrap_or_default();
    all.into_iter().filter(|challenge| challenge.is("bearer") || challenge.is("dpop")).collect()
}

/// A parameter of any such challenge.
fn challenged(x: &Exchange<'_>, parameter: &str) -> Option<String> {
    bearer_challenges(x).iter().find_map(|challenge| challenge.parameter(parameter).map(str::to_owned))
}

/// An absolute URL in its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Address<'t> {
    scheme: &'t str,
    authority: &'t str,
    /// Path and query.
    target: &'t str,
    fragment: Option<&'t str>,
}

impl<'t> Address<'t> {
    /// `None` for what is not an absolute `http` or `https` URL.
    fn of(text: &'t str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let known = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
        let (rest, fragment) = rest.split_once('#').map_or((rest, None), |(rest, fragment)| (rest, Some(fragment)));
        let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let plain = !authority.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control());
        (known && plain).then_some(Self { scheme, authority, target, fragment })
    }

    fn is_secure(&self) -> bool {
        self.scheme.eq_ignore_ascii_case("https")
    }

    fn is_local(&self) -> bool {
        is_loopback(self.authority)
    }

    /// Whether it leads where a request went, as far as its `Host` tells.
    fn is_at(&self, host: &str) -> bool {
        let plain = |authority: &str| {
            let lower = authority.to_ascii_lowercase();
            let port = if self.is_secure() { ":443" } else { ":80" };
            lower.strip_suffix(port).map_or(lower.clone(), str::to_owned)
        };
        plain(self.authority) == plain(host)
    }
}

/// The name in `name`, `name:port`, `[v6]` or `[v6]:port`.
fn host_name(authority: &str) -> &str {
    match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((v6, _)) => v6,
        None => authority.rsplit_once(':').map_or(authority, |(name, _)| name),
    }
}

fn is_loopback(authority: &str) -> bool {
    let name = host_name(authority).to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || name.parse::<core::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::{Address, is_loopback};

    #[test]
    fn urls_are_taken_apart() {
        let url = Address::of("HTTPS://A.example:443/x?y#z").expect("a URL");
        assert_eq!((url.target, url.fragment), ("/x?y", Some("z")));
        assert!(url.is_secure() && url.is_at("a.example") && !url.is_at("b.example") && !url.is_local());
        assert!(Address::of("http://a.example").is_some_and(|url| url.target.is_empty() && url.is_at("A.example:80")));
        for none in ["", "/path", "a.example/x", "ftp://a.example", "https://", "https:///x", "https://a b/"] {
            assert_eq!(Address::of(none), None, "{none}");
        }
    }

    #[test]
    fn loopback_is_known_by_its_names() {
        for local in ["localhost", "LOCALHOST:1", "127.0.0.1:80", "127.9.9.9", "[::1]:8", "[::1]", "x.localhost"] {
            assert!(is_loopback(local), "{local}");
        }
        for other in ["a.example", "127.0.0.1.a.example", "10.0.0.1:80", "[2001:db8::1]", "localhost.a.example", ""] {
            assert!(!is_loopback(other), "{other}");
        }
    }
}
