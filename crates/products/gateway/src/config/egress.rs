//! Reads where the gateway may connect to: `egress`, of the file and of an upstream. An address of the file that its own rules
//! forbid is a mistake in the file.

use document::{Content, Entry, Position, nearest, quoted};
use net::egress::{Egress, EgressRules, HostPattern};
use url::Url;

use super::Reader;

const MEMBERS: &[&str] = &["hosts", "schemes", "ports", "private"];
const SCHEMES: [&str; 4] = ["http", "https", "ws", "wss"];

/// What holds for a file without `egress`: names may lead into private networks, and never to link-local addresses.
pub(super) fn without_section() -> EgressRules {
    EgressRules { place: "egress".to_owned(), allows_private: true, ..EgressRules::default() }
}

impl Reader<'_> {
    /// The rules of an `egress`, which errors call `place`.
    pub(super) fn egress(&mut self, entry: &Entry, place: &str) -> Option<EgressRules> {
        let members = self.members(&quoted(place), entry.at, &entry.node, MEMBERS)?;
        let hosts = members.get("hosts").map(|entry| self.egress_hosts(entry));
        let schemes = members.get("schemes").map(|entry| self.schemes(entry));
        let ports = members.get("ports").map(|entry| self.ports(entry, 1));
        let allows_private = members.get("private").and_then(|entry| self.private(entry)).unwrap_or(false);
        Some(EgressRules { place: place.to_owned(), schemes, hosts, ports, allows_private, named: Vec::new() })
    }

    /// Where connections to `urls` may lead: each is a URL of the file with its place.
    pub(super) fn egress_to(&mut self, rules: &EgressRules, urls: &[(&Url, Position)]) -> Egress {
        for (url, at) in urls {
            if let Err(refusal) = rules.check_url(url) {
                let what = format!("`{}` does not allow the host of this URL: {}", rules.place, refusal.why);
                self.error(*at, what, format!("change the URL, or `{}`", rules.place));
            }
        }
        Egress::new(rules.naming(urls.iter().map(|(url, _)| *url)))
    }

    fn egress_hosts(&mut self, entry: &Entry) -> Vec<HostPattern> {
        let mut hosts = Vec::new();
        for (text, at) in self.texts(entry, "[mcp.example, \"*.corp.example\"]") {
            if let Some(host) = HostPattern::parse(text) {
                hosts.push(host);
            } else {
                let what = format!("{} is not a host", quoted(text));
                self.error(at, what, "mcp.example, or \"*.corp.example\": without a scheme and a port");
            }
        }
        hosts
    }

    fn schemes(&mut self, entry: &Entry) -> Vec<String> {
        let mut schemes = Vec::new();
        for (text, at) in self.texts(entry, "[https]") {
            if SCHEMES.contains(&text) {
                schemes.push(text.to_owned());
            } else {
                let what = format!("{} is not a scheme of a URL here", quoted(text));
                self.error(at, what, nearest(text, SCHEMES.into_iter()));
            }
        }
        schemes
    }

    /// Port numbers from `least`.
    pub(super) fn ports(&mut self, entry: &Entry, least: u16) -> Vec<u16> {
        let name = quoted(&entry.key);
        let Content::List(items) = &entry.node.content else {
            self.wrong_type(&name, entry.at, &entry.node, "a list", "a list: [443]");
            return Vec::new();
        };
        let mut ports = Vec::new();
        for item in items {
            let port = match &item.content {
                Content::Number(number) => number.as_u64().and_then(|port| u16::try_from(port).ok()),
                _ => None,
            };
            if let Some(port) = port.filter(|port| *port >= least) {
                ports.push(port);
            } else {
                let what = format!("an entry of {name} is not a port");
                self.error(item.at, what, format!("a number from {least} to 65535"));
            }
        }
        ports
    }

    fn private(&mut self, entry: &Entry) -> Option<bool> {
        match self.text(entry)? {
            "allow" => Some(true),
            "refuse" => Some(false),
            text => {
                let known = nearest(text, ["allow", "refuse"].into_iter());
                self.error(entry.at, format!("{} is not a value of `private`", quoted(text)), known);
                None
            }
        }
    }
}
