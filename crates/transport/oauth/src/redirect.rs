//! Redirect addresses of clients, as an authorization server sees them: which ones may be registered, and when the address of a
//! request is a registered one (OAuth 2.1, 2.3.1; RFC 8252, 7).

use url::Url;

use crate::web::is_loopback;

/// Schemes that no program may claim for itself: browsers act on them, or other servers answer there.
const COMMON: [&str; 14] = [
    "http",
    "https",
    "ws",
    "wss",
    "ftp",
    "file",
    "blob",
    "data",
    "about",
    "javascript",
    "vbscript",
    "view-source",
    "filesystem",
    "mailto",
];

/// Whether a program may have a scheme for itself (RFC 8252, 7.1): lower case, and none that browsers know.
pub fn is_private_scheme(scheme: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte);
    scheme.as_bytes().first().is_some_and(u8::is_ascii_lowercase)
        && scheme.bytes().all(letter)
        && !COMMON.contains(&scheme)
}

/// Whether a client may register an address: https, or http on loopback, or one of these schemes of programs; without user
/// name, fragment and control characters.
pub fn is_registrable(text: &str, schemes: &[String]) -> bool {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    let fits = |url: &Url| {
        let web = url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url));
        let own = schemes.iter().any(|scheme| scheme == url.scheme()) && is_private_scheme(url.scheme());
        // The written scheme counts, too: systems find programs by it.
        let written = text.split_once(':').is_some_and(|(scheme, _)| scheme == url.scheme());
        (web || own) && written && url.fragment().is_none() && url.username().is_empty() && url.password().is_none()
    };
    is_plain && Url::parse(text).is_ok_and(|url| fits(&url))
}

/// Whether a request's address is the registered one: letter by letter, but for the port on loopback, which no program can
/// choose beforehand (RFC 8252, 7.3).
pub fn is_same(registered: &str, asked: &str) -> bool {
    let but_for_port = || without_port(registered).is_some_and(|own| Some(own) == without_port(asked));
    registered == asked || but_for_port()
}

/// What stands before and after the port in an address on loopback; `None` for any other. Nothing is normalized: another
/// spelling of an address is another address.
fn without_port(text: &str) -> Option<(&str, &str)> {
    Url::parse(text).ok().filter(|url| url.scheme() == "http" && is_loopback(url))?;
    let authority = text.strip_prefix("http://")?;
    let (authority, rest) = authority.split_at(authority.find(['/', '?', '#']).unwrap_or(authority.len()));
    let end = if authority.starts_with('[') { authority.find(']')? + 1 } else { 0 };
    let (host, port) = authority.split_at(authority[end..].find(':').map_or(authority.len(), |colon| end + colon));
    port.trim_start_matches(':').bytes().all(|byte| byte.is_ascii_digit()).then_some((host, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_addresses_can_be_registered() {
        let own = ["cursor".to_owned(), "com.example.app".to_owned(), "javascript".to_owned(), "https".to_owned()];
        for good in [
            "https://app.example/cb",
            "http://127.0.0.1/cb",
            "http://localhost:1/cb",
            "http://[::1]/cb?x=1",
            "cursor://cb/oauth",
            "com.example.app:/cb",
        ] {
            assert!(is_registrable(good, &own), "{good}");
        }
        for bad in [
            "http://app.example/cb",
            "javascript:alert(1)",
            "data:text/html,x",
            "vscode://cb",
            "https://app.example/#x",
            "https://me:pw@app.example/",
            "https://app.example/\u{e9}",
            "https://app.example/ x",
            "Cursor://cb",
            "HTTP://127.0.0.1/cb",
            "http://127.0.0.1@evil.example/cb",
            "//app.example/cb",
            "",
        ] {
            assert!(!is_registrable(bad, &own), "{bad}");
        }
        assert!(!is_registrable("cursor://cb", &[]));
    }

    #[test]
    fn an_address_is_the_registered_one_but_for_the_port_on_loopback() {
        for (registered, asked) in [
            ("https://app.example/cb", "https://app.example/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1:1234/cb"),
            ("http://127.0.0.1:7/cb", "http://127.0.0.1/cb"),
            ("http://localhost:7/cb", "http://localhost:8/cb"),
            ("http://[::1]:9/cb?x=1", "http://[::1]/cb?x=1"),
        ] {
            assert!(is_same(registered, asked), "{registered} {asked}");
        }
        for (registered, asked) in [
            ("https://app.example/cb", "https://app.example/cb/"),
            ("https://app.example/cb", "https://app.example:8443/cb"),
            ("https://app.example/cb", "https://app.example/cb?x"),
            ("https://app.example/cb", "https://APP.example/cb"),
            ("http://127.0.0.1/cb", "http://localhost/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1/other"),
            ("http://127.0.0.1/cb", "http://127.0.0.1@evil.example/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1:80@127.0.0.1/cb"),
            ("http://127.0.0.1/cb", "http://127.1/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1/x/../cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1/%63b"),
            ("http://127.0.0.1/cb", "HTTP://127.0.0.1/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1/cb#"),
            ("http://127.0.0.1/cb", "http://evil.example/cb"),
            ("cursor://cb", "cursor://cb2"),
        ] {
            assert!(!is_same(registered, asked), "{registered} {asked}");
        }
    }
}
