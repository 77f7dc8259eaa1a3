//! The rules of one place of a configuration. Pure.

use std::net::IpAddr;

use url::{Host, Url};

use super::reach::is_metadata;
use super::{EgressPart, EgressRefusal, Reach};

/// Which hosts, schemes, ports and addresses may be connected to. What is `None` is not restricted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EgressRules {
    /// Where they stand in the configuration, for errors.
    pub place: String,
    /// `http`, `https`, `ws`, `wss`.
    pub schemes: Option<Vec<String>>,
    /// Hosts.
    pub hosts: Option<Vec<HostPattern>>,
    /// Ports.
    pub ports: Option<Vec<u16>>,
    /// Whether names may stand for addresses of this machine and of private networks. Never for link-local ones.
    pub allows_private: bool,
    /// Hosts that the configuration itself names: an IP address or `localhost` among them leads where it says.
    pub named: Vec<String>,
}

/// A host, or all names below a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostPattern {
    /// Exactly this host, in the normal form of URLs.
    Exact(String),
    /// Names that end in this: a dot and a domain.
    Suffix(String),
}

impl HostPattern {
    /// A host as it stands in a URL, without port, or `*.` and a domain.
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix("*.") {
            Some(domain) => match Host::parse(domain).ok()? {
                Host::Domain(domain) if is_name(&domain) => Some(Self::Suffix(format!(".{domain}"))),
                _ => None,
            },
            None => match Host::parse(text).ok()? {
                Host::Domain(domain) if is_name(&domain) => Some(Self::Exact(domain)),
                Host::Domain(_) => None,
                Host::Ipv4(ip) => Some(Self::Exact(ip.to_string())),
                Host::Ipv6(ip) => Some(Self::Exact(ip.to_string())),
            },
        }
    }

    fn fits(&self, host: &str) -> bool {
        match self {
            Self::Exact(name) => name == host,
            Self::Suffix(suffix) => host.len() > suffix.len() && host.ends_with(suffix.as_str()),
        }
    }
}

fn is_name(domain: &str) -> bool {
    !domain.contains('*') && !domain.starts_with('.') && !domain.contains("..")
}

impl EgressRules {
    /// The same for connections to these URLs of the configuration.
    #[must_use]
    pub fn naming<'u>(&self, urls: impl IntoIterator<Item = &'u Url>) -> Self {
        let hosts = urls.into_iter().filter_map(|url| url.host_str()).map(|host| plain(host).to_owned());
        let mut rules = self.clone();
        rules.named.extend(hosts);
        rules
    }

    /// Refuses a URL by its spelling; what its name stands for is looked at when it is connected to.
    pub fn check_url(&self, url: &Url) -> Result<(), EgressRefusal> {
        self.check(url.scheme(), plain(url.host_str().unwrap_or_default()), url.port_or_known_default().unwrap_or(0))
    }

    pub(super) fn check(&self, scheme: &str, host: &str, port: u16) -> Result<(), EgressRefusal> {
        let refuse = |part, why| Err(self.refusal(part, host, None, why));
        if self.schemes.as_ref().is_some_and(|schemes| !schemes.iter().any(|known| known == scheme)) {
            return refuse(EgressPart::Scheme, format!("the scheme {scheme} is not in `schemes`"));
        }
        if self.hosts.as_ref().is_some_and(|hosts| !hosts.iter().any(|known| known.fits(host))) {
            return refuse(EgressPart::Host, "the host is not in `hosts`".to_owned());
        }
        if self.ports.as_ref().is_some_and(|ports| !ports.contains(&port)) {
            return refuse(EgressPart::Port, format!("the port {port} is not in `ports`"));
        }
        Ok(())
    }

    /// Whether `host` may be connected to at `ip`.
    pub(super) fn permits(&self, host: &str, ip: IpAddr) -> bool {
        let is_named = self.named.iter().any(|named| named == host);
        if is_named && host.parse::<IpAddr>().is_ok_and(|written| written == ip) {
            return true;
        }
        if ip.to_canonical().is_unspecified() {
            return false;
        }
        if is_named && host == "localhost" && ip.is_loopback() {
            return true;
        }
        Reach::of(ip) == Reach::Public || (self.allows_private && !is_metadata(ip))
    }

    pub(super) fn refused_address(&self, host: &str, ip: IpAddr) -> EgressRefusal {
        let (kind, advice) = match Reach::of(ip) {
            _ if ip.to_canonical().is_unspecified() => ("no address to connect to", ""),
            _ if is_metadata(ip) => ("a link-local or metadata address", ""),
            Reach::Machine => ("an address of this machine", "; `private: allow` would allow it"),
            _ => ("an address of a private network", "; `private: allow` would allow it"),
        };
        let why = format!("its address {ip} is {kind}{advice}");
        self.refusal(EgressPart::Address, host, Some(ip), why)
    }

    fn refusal(&self, part: EgressPart, host: &str, address: Option<IpAddr>, why: String) -> EgressRefusal {
        EgressRefusal { part, host: host.to_owned(), address, place: self.place.clone(), why }
    }
}

/// A host of a URL without the brackets of IPv6.
pub(super) fn plain(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn rules(hosts: &[&str], allows_private: bool) -> EgressRules {
        let hosts = hosts.iter().map(|host| HostPattern::parse(host).expect("a host")).collect();
        EgressRules { place: "egress".to_owned(), hosts: Some(hosts), allows_private, ..EgressRules::default() }
    }

    fn checks(rules: &EgressRules, url: &str) -> Option<EgressPart> {
        rules.check_url(&Url::parse(url).expect("a URL")).err().map(|refusal| refusal.part)
    }

    #[test]
    fn hosts_are_exact_or_below_a_domain() {
        let rules = rules(&["mcp.example", "*.corp.example", "10.0.0.1", "[::1]"], false);
        for url in [
            "https://mcp.example",
            "https://MCP.example",
            "https://a.corp.example",
            "https://a.b.corp.example",
            "https://10.0.0.1",
            "https://012.0.0.1",
            "https://167772161",
            "https://[0:0::1]",
        ] {
            assert_eq!(checks(&rules, url), None, "{url}");
        }
        for url in [
            "https://a.mcp.example",
            "https://mcp.example.",
            "https://corp.example",
            "https://evilcorp.example",
            "https://a.corp.example.evil.example",
            "https://10.0.0.2",
            "https://[::ffff:10.0.0.1]",
        ] {
            assert_eq!(checks(&rules, url), Some(EgressPart::Host), "{url}");
        }
        for text in ["*", "*.", "*.10.0.0.1", "a b", "", "*.*.example", "mcp.example:443", "http://a"] {
            assert_eq!(HostPattern::parse(text), None, "{text}");
        }
    }

    #[test]
    fn schemes_and_ports_are_those_that_are_listed() {
        let rules = EgressRules {
            schemes: Some(vec!["https".to_owned()]),
            ports: Some(vec![443, 8443]),
            ..EgressRules::default()
        };
        for (url, part) in [
            ("https://a.example", None),
            ("https://a.example:8443/x", None),
            ("http://a.example:443", Some(EgressPart::Scheme)),
            ("wss://a.example", Some(EgressPart::Scheme)),
            ("https://a.example:22", Some(EgressPart::Port)),
        ] {
            assert_eq!(checks(&rules, url), part, "{url}");
        }
    }

    /// Every address that a name must not stand for, in every spelling that stands for it.
    #[test]
    fn names_lead_to_public_addresses() {
        let near = ["127.0.0.1", "127.8.8.8", "::1", "10.1.2.3", "192.168.0.1", "172.16.0.9", "100.64.0.1", "fc00::1"];
        let near = near.into_iter().chain(["fd12::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1"]);
        let never = ["0.0.0.0", "::", "169.254.169.254", "169.254.0.1", "fe80::1", "::ffff:169.254.169.254"];
        let never = never.into_iter().chain(["64:ff9b::a9fe:a9fe", "fd00:ec2::254", "100.100.100.200", "::ffff:0:0"]);
        let (strict, lax) = (EgressRules::default(), EgressRules { allows_private: true, ..EgressRules::default() });
        for address in near {
            assert!(!strict.permits("a.example", ip(address)), "{address}");
            assert!(lax.permits("a.example", ip(address)), "{address}");
        }
        for address in never {
            assert!(!strict.permits("a.example", ip(address)), "{address}");
            assert!(!lax.permits("a.example", ip(address)), "{address}");
        }
        for address in ["1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"] {
            assert!(strict.permits("a.example", ip(address)), "{address}");
        }
    }

    #[test]
    fn what_the_configuration_writes_as_an_address_leads_there() {
        let urls = ["http://127.0.0.1:3000", "http://localhost:1", "http://169.254.1.2", "http://name.example"];
        let urls = urls.map(|url| Url::parse(url).expect("a URL"));
        let rules = EgressRules::default().naming(&urls);
        for (host, address, permitted) in [
            ("127.0.0.1", "127.0.0.1", true),
            ("169.254.1.2", "169.254.1.2", true),
            ("localhost", "127.0.0.1", true),
            ("localhost", "::1", true),
            ("localhost", "10.0.0.1", false),
            ("localhost", "169.254.169.254", false),
            ("127.0.0.2", "127.0.0.2", false),
            ("127.0.0.1", "10.0.0.1", false),
            ("name.example", "127.0.0.1", false),
            ("name.example", "10.0.0.1", false),
        ] {
            assert_eq!(rules.permits(host, ip(address)), permitted, "{host} {address}");
        }
        assert!(!EgressRules::default().permits("localhost", ip("127.0.0.1")), "the configuration does not name it");
    }
}
