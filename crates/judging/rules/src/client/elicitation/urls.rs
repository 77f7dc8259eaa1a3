//! The page `client/elicitation`: the addresses to which a server sends users.

use serde_json::Value;
use wire::Kind;
use wire::error_code::URL_ELICITATION_REQUIRED;
use wire::revision::R2025_11_25;

use super::{ELICIT, here};
use crate::reading::content::{scheme, uri_fault};
use crate::reading::questions::questions;
use crate::rule::{Rule, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{MessageAt, View};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    server("elicitation.url-valid")
        .says(R2025_11_25, here("url-mode-elicitation-requests"), "The `url` of an elicitation MUST be a valid URL.")
        .how("Reads the `url` of every elicitation in mode `url`, those listed in an error -32042 included: an absolute URI, \
              with a host if it is an HTTP URL.")
        .fix("Give the whole address, scheme and host included, with everything escaped that must be.")
        .judge(valid),
    server("elicitation.url-no-secrets")
        .says(
            R2025_11_25,
            here("safe-url-handling"),
            "The `url` of an elicitation MUST NOT carry secrets of the user, nor grant access to anyone who opens it.",
        )
        .how("Looks for a password before the host, and for parameters that are called `password`, `access_token`, \
              `api_key`, `client_secret` or the like. Other parameters may hide something too.")
        .fix("Let the page find out who opens it, and keep what you know of the user on the server.")
        .judge(no_secrets),
    server("elicitation.url-https")
        .says(
            R2025_11_25,
            here("safe-url-handling"),
            "Outside development, the `url` of an elicitation SHOULD be one of HTTPS.",
        )
        .how("Looks at the scheme. Addresses that only make sense in development (loopback, private networks, reserved \
              names) are passed over, and so are schemes other than those of HTTP.")
        .fix("Serve the page over HTTPS.")
        .judge(https),
];

const UNSEEN: &str = "the server sent the user to no address";

/// Every address to which the server sends the user: the message, where it stands, and what stands there.
fn addresses<'v>(view: &View<'v>) -> Vec<(MessageAt<'v>, String, &'v Value)> {
    let requested =
        questions(view, ELICIT).into_iter().filter(|question| question.param("mode").is_some_and(|m| m == "url"));
    let mut all: Vec<_> =
        requested.filter_map(|question| Some((question.sent, question.at("/url"), question.param("url")?))).collect();
    if view.revision() == R2025_11_25 {
        all.extend(required(view));
    }
    all
}

/// Those that an error says must be visited first.
fn required<'v>(view: &View<'v>) -> Vec<(MessageAt<'v>, String, &'v Value)> {
    let errors = view.by_subject().filter(|sent| sent.message.kind() == Kind::Error && view.is_current(*sent));
    let listed = errors.filter(|sent| sent.message.error_code() == Some(URL_ELICITATION_REQUIRED)).flat_map(|sent| {
        let list = sent.message.error().and_then(|error| error.pointer("/data/elicitations")?.as_array());
        let each = list.into_iter().flatten().enumerate();
        each.filter_map(move |(place, one)| {
            Some((sent, format!("/error/data/elicitations/{place}/url"), one.get("url")?))
        })
    });
    listed.collect()
}

fn judged(view: &View<'_>, judge: impl Fn(&str) -> Option<Result<(), String>>) -> Verdict {
    let each = addresses(view).into_iter().filter_map(|(sent, pointer, url)| {
        let kept = judge(url.as_str()?)?;
        Some((sent.event, kept.map_err(|why| sent.breach(pointer, why))))
    });
    Verdict::of(each.collect::<Vec<(usize, Kept)>>(), UNSEEN)
}

/// What stands between scheme and path: `user:password@host:port`.
fn authority(url: &str) -> Option<&str> {
    let rest = url.split_once(':')?.1.strip_prefix("//")?;
    Some(&rest[..rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len())])
}

fn host(url: &str) -> Option<&str> {
    let place = authority(url)?.rsplit('@').next().unwrap_or_default();
    match place.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => place.split(':').next(),
    }
    .filter(|host| !host.is_empty())
}

fn is_scheme(url: &str, name: &str) -> bool {
    scheme(url).is_some_and(|scheme| scheme.eq_ignore_ascii_case(name))
}

fn valid(view: &View<'_>) -> Verdict {
    judged(view, |url| {
        let hostless = (is_scheme(url, "http") || is_scheme(url, "https")) && host(url).is_none();
        let fault = uri_fault(url).or_else(|| hostless.then(|| "it has no host".to_owned()));
        Some(fault.map_or(Ok(()), |why| Err(format!("`{}` is not a valid URL: {why}", url.escape_debug()))))
    })
}

/// What a parameter is called, without case and punctuation, that holds a secret.
const SECRETS: [&str; 9] = [
    "password",
    "passwd",
    "accesstoken",
    "refreshtoken",
    "bearertoken",
    "apikey",
    "apitoken",
    "clientsecret",
    "secretkey",
];

fn no_secrets(view: &View<'_>) -> Verdict {
    judged(view, |url| {
        let before_host = authority(url).and_then(|authority| authority.rsplit_once('@'));
        if before_host.is_some_and(|(user, _)| user.split_once(':').is_some_and(|(_, password)| !password.is_empty())) {
            return Some(Err("a password stands before the host".to_owned()));
        }
        let parameters = url.split(['?', '&', '#']).skip(1).filter_map(|pair| pair.split_once('='));
        let secret = parameters.filter(|(_, value)| !value.is_empty()).find(|(name, _)| {
            let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
            SECRETS.contains(&plain.to_ascii_lowercase().as_str())
        });
        Some(secret.map_or(Ok(()), |(name, _)| Err(format!("the parameter `{}` is a secret", name.escape_debug()))))
    })
}

/// Whether a host is one of a developer's own: loopback, a private network, a name that no public server has.
fn is_development(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let octets: Option<Vec<u8>> = host.split('.').map(|part| part.parse().ok()).collect();
    let private = match octets.as_deref() {
        Some([127 | 10 | 0, _, _, _] | [192, 168, _, _] | [169, 254, _, _]) => true,
        Some([172, second, _, _]) => (16..32).contains(second),
        _ => false,
    };
    let reserved = ["localhost", "local", "test", "internal", "invalid", "example", "lan", "home.arpa"];
    private
        || host.contains(':')
        || !host.contains('.')
        || reserved.iter().any(|name| host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.')))
        || ["example.com", "example.net", "example.org"].iter().any(|name| host.ends_with(name))
}

fn https(view: &View<'_>) -> Verdict {
    judged(view, |url| {
        if is_scheme(url, "https") {
            return Some(Ok(()));
        }
        let host = host(url).filter(|host| is_scheme(url, "http") && !is_development(host))?;
        Some(Err(format!("the user is sent to {} without encryption", host.escape_debug())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_where_they_stand() {
        assert_eq!(host("https://user:word@a.example:8080/x?y@z"), Some("a.example"));
        assert_eq!(host("http://[::1]:80/"), Some("::1"));
        assert_eq!(host("https:///path"), None);
        assert_eq!(host("mailto:a@b.example"), None);
    }

    #[test]
    fn development_is_told_by_the_host() {
        for own in
            ["localhost", "app.localhost", "127.0.0.1", "172.20.0.3", "10.1.2.3", "::1", "web", "shop.example.com"]
        {
            assert!(is_development(own), "{own}");
        }
        for public in ["mcp.acme.dev", "172.32.0.1", "8.8.8.8", "latest.io", "example.community.dev"] {
            assert!(!is_development(public), "{public}");
        }
    }
}
