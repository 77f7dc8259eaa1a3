//! What an app may load and reach: the Content-Security-Policy of its page, made from what its server asks for. Nothing is permitted
//! unless the user allowed it. Pure.

use serde_json::Value;
use url::Url;

/// The most domains of one list, and the longest of them.
const MOST: usize = 50;
const LONGEST: usize = 255;
/// What is asked for and never given.
const NOT_GIVEN: [&str; 4] = ["camera", "microphone", "geolocation", "clipboardWrite"];

/// The domains that a server asks for, for its app.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Domains {
    /// What scripts may connect to.
    pub(crate) connect: Vec<String>,
    /// Where images, scripts, styles, fonts and media may come from.
    pub(crate) resource: Vec<String>,
    /// What else is asked for, or is not a domain: it is never given.
    pub(crate) refused: Vec<String>,
}

impl Domains {
    /// Of `_meta.ui` of a page.
    pub(crate) fn read(ui: &Value) -> Self {
        let mut domains = Self::default();
        let csp = &ui["csp"];
        domains.connect = domains.list(&csp["connectDomains"], &["https", "wss", "http", "ws"]);
        domains.resource = domains.list(&csp["resourceDomains"], &["https", "http"]);
        for member in ["frameDomains", "baseUriDomains"] {
            if csp[member].as_array().is_some_and(|list| !list.is_empty()) {
                domains.refused.push(member.to_owned());
            }
        }
        let wanted = |name: &&str| !ui["permissions"][*name].is_null();
        domains.refused.extend(NOT_GIVEN.into_iter().filter(wanted).map(str::to_owned));
        domains
    }

    fn list(&mut self, list: &Value, schemes: &[&str]) -> Vec<String> {
        let mut taken = Vec::new();
        for one in list.as_array().into_iter().flatten() {
            match one.as_str().and_then(|text| source(text, schemes)) {
                Some(source) if taken.len() < MOST => taken.push(source),
                _ if self.refused.len() < MOST => {
                    self.refused.push(one.as_str().map_or_else(|| one.to_string(), str::to_owned));
                }
                _ => {}
            }
        }
        taken
    }

    /// Whether anything is asked for that the user may allow.
    pub(crate) const fn are_asked_for(&self) -> bool {
        !self.connect.is_empty() || !self.resource.is_empty()
    }
}

/// A text as a source of a policy: a scheme, a host that may begin with `*.`, a port. `None` for all else, such as keywords.
fn source(text: &str, schemes: &[&str]) -> Option<String> {
    // A parser of addresses leaves line breaks and tabs out.
    if text.len() > LONGEST || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    let (scheme, rest) = text.split_once("://")?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let wildcard = rest.starts_with("*.");
    let url = Url::parse(&format!("{scheme}://{}", rest.strip_prefix("*.").unwrap_or(rest))).ok()?;
    let host = url.host_str().filter(|host| host.bytes().all(is_of_host))?;
    let is_origin = matches!(url.path(), "" | "/")
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    // `https://*.com` would be nearly everything.
    let is_narrow = !wildcard || host.contains('.');
    if !is_origin || !is_narrow || !schemes.contains(&url.scheme()) {
        return None;
    }
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{}://{}{host}{port}", url.scheme(), if wildcard { "*." } else { "" }))
}

const fn is_of_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.')
}

/// The policy of an app's page. Its scripts are in its markup, so that they must be permitted there; `page` may show it in a frame.
pub(crate) fn policy(allowed: Option<&Domains>, page: Option<&str>, report: &str) -> String {
    let none = Domains::default();
    let Domains { connect, resource, .. } = allowed.unwrap_or(&none);
    let from = |more: &str| [more.to_owned(), resource.join(" ")].join(" ").trim().to_owned();
    let connect = if connect.is_empty() { "'none'".to_owned() } else { connect.join(" ") };
    let ancestors = page.map(|page| format!("frame-ancestors {page}; ")).unwrap_or_default();
    format!(
        "sandbox allow-scripts; default-src 'none'; script-src {}; style-src {}; img-src {}; font-src {}; media-src {}; \
         connect-src {connect}; frame-src 'none'; worker-src 'none'; object-src 'none'; base-uri 'none'; \
         form-action 'none'; {ancestors}report-uri {report}",
        from("'unsafe-inline'"),
        from("'unsafe-inline'"),
        from("data: blob:"),
        from("data:"),
        from("data: blob:"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_is_permitted_unless_it_was_asked_for_and_allowed() {
        let domains = Domains::read(&json!({ "csp": { "connectDomains": ["https://api.example.com"] } }));
        assert!(domains.are_asked_for());
        for shown in [policy(None, None, "/r"), policy(Some(&Domains::default()), None, "/r")] {
            assert!(shown.contains("connect-src 'none'; "), "{shown}");
            assert!(!shown.contains("http"), "{shown}");
        }
        let allowed = policy(Some(&domains), Some("http://127.0.0.1:4000"), "/r");
        assert!(allowed.contains("connect-src https://api.example.com; "), "{allowed}");
        assert!(allowed.contains("frame-ancestors http://127.0.0.1:4000; report-uri /r"), "{allowed}");
        assert!(allowed.contains("img-src data: blob:; "), "{allowed}");
    }

    #[test]
    fn only_origins_become_sources() {
        let csp = json!({ "csp": { "resourceDomains": [
            "https://cdn.example.com", "https://*.example.com/", "http://127.0.0.1:8080", "HTTPS://CDN.example.ORG",
        ] } });
        let domains = Domains::read(&csp);
        assert!(domains.refused.is_empty());
        let expected =
            ["https://cdn.example.com", "https://*.example.com", "http://127.0.0.1:8080", "https://cdn.example.org"];
        assert_eq!(domains.resource, expected);
        for wrong in [
            "*",
            "'unsafe-eval'",
            "data:",
            "https:",
            "https://*",
            "https://*.com",
            "https://a.example;script-src *",
            "https://a.example script-src",
            "https://a.example/path",
            "https://a.example?x",
            "https://u@a.example",
            "javascript://a.example",
            "https://[::1]",
            "https://a.*.example",
            "file:///etc",
            "",
            "wss://a.example",
            "https://a.example,https://b.example",
            "https://a.example\n",
        ] {
            let domains = Domains::read(&json!({ "csp": { "resourceDomains": [wrong] } }));
            assert_eq!((domains.resource.len(), domains.refused.len()), (0, 1), "{wrong:?}");
        }
    }

    #[test]
    fn what_is_never_given_is_named_and_lists_have_a_limit() {
        let many: Vec<String> = (0..1000).map(|n| format!("https://a{n}.example")).collect();
        let domains = Domains::read(&json!({
            "csp": { "connectDomains": many, "frameDomains": ["https://a.example"] }, "permissions": { "camera": {} },
        }));
        assert_eq!(domains.connect.len(), MOST);
        assert_eq!(domains.refused.len(), MOST + 2);
        assert_eq!(domains.refused[MOST..], ["frameDomains", "camera"]);
        assert_eq!(Domains::read(&json!(null)), Domains::default());
        assert_eq!(Domains::read(&json!({ "csp": { "connectDomains": {} } })), Domains::default());
    }
}
