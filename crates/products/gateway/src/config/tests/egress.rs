//! `egress`: what is read, which place counts for which URL, and what is refused.

use net::HttpAddress;
use net::egress::{Egress, EgressRules, HostPattern};
use oauth::resource::Source;
use url::Url;

use super::{FULL, mentions, settings, upstream};
use crate::settings::{Settings, Target};

fn address(settings: &Settings, index: usize) -> &HttpAddress {
    match &settings.upstreams[index].target {
        Target::Http(address) | Target::StreamableHttp(address) | Target::Sse(address) => address,
        other => panic!("{other:?}"),
    }
}

fn rules(place: &str, hosts: &[&str], ports: &[u16], allows_private: bool) -> EgressRules {
    EgressRules {
        place: place.to_owned(),
        schemes: Some(vec!["https".to_owned()]),
        hosts: Some(hosts.iter().map(|host| HostPattern::parse(host).expect("a host")).collect()),
        ports: Some(ports.to_vec()),
        allows_private,
        named: Vec::new(),
    }
}

fn of(rules: &EgressRules, urls: &[&str]) -> Egress {
    let urls: Vec<_> = urls.iter().map(|url| Url::parse(url).expect("a URL")).collect();
    Egress::new(rules.naming(&urls))
}

#[test]
fn everything_that_the_gateway_fetches_has_rules() {
    let settings = settings(FULL);
    let all = rules("egress", &["*.example", "mcp.example"], &[443, 8443], false);
    let crm = rules("upstreams.crm.egress", &["crm.example", "auth.example"], &[443], true);
    assert_eq!(address(&settings, 1).egress, Some(of(&all, &["https://docs.example"])));
    assert_eq!(address(&settings, 2).egress, Some(of(&crm, &["https://crm.example"])));
    let credentials = settings.upstreams[2].credentials.as_ref().expect("credentials");
    let urls = ["https://crm.example", "https://auth.example", "https://auth.example"];
    assert_eq!(credentials.egress, Some(of(&crm, &urls)));
    let auth = settings.auth.as_ref().expect("auth");
    assert!(matches!(auth.keys, Some(Source::Address(_))));
    assert_eq!(auth.egress, Some(of(&all, &["https://auth.example"])));
    let introspection = auth.introspection.as_ref().expect("introspection");
    assert_eq!(introspection.egress, Some(of(&all, &["https://auth.example"])));
    let authzen = settings.authzen.as_ref().expect("authzen");
    assert_eq!(authzen.address.egress, Some(of(&all, &["https://pdp.example"])));
    assert_eq!(settings.telemetry.expect("telemetry").otlp.egress, Some(of(&all, &["https://collector.example"])));
}

#[test]
fn without_egress_names_may_lead_into_private_networks() {
    let settings = settings(&upstream("url: 'http://tools:3000'"));
    let usual = EgressRules { place: "egress".to_owned(), allows_private: true, ..EgressRules::default() };
    assert_eq!(address(&settings, 0).egress, Some(of(&usual, &["http://tools:3000"])));
}

/// Anything that is left out of an `egress` is not restricted, and private addresses are refused.
#[test]
fn members_have_defaults() {
    let settings = settings(&format!("{}egress: {{}}\n", upstream("url: 'http://tools:3000'")));
    let empty = EgressRules { place: "egress".to_owned(), ..EgressRules::default() };
    assert_eq!(address(&settings, 0).egress, Some(of(&empty, &["http://tools:3000"])));
}

#[test]
fn egress_is_checked() {
    let file = |members: &str| format!("{}egress: {{ {members} }}\n", upstream("url: 'https://mcp.example'"));
    let part = |members: &str, parts: &[&str]| mentions(&file(members), parts);
    part("hosts: ['http://mcp.example']", &["`http://mcp.example` is not a host", "without a scheme and a port"]);
    part("hosts: ['*']", &["`*` is not a host"]);
    part("schemes: [htps]", &["`htps` is not a scheme of a URL here", "https"]);
    part("ports: [0]", &["an entry of `ports` is not a port", "1 to 65535"]);
    part("ports: [65536]", &["an entry of `ports` is not a port"]);
    part("private: deny", &["`deny` is not a value of `private`"]);
    part("host: [a]", &["the key `host` is unknown here", "hosts"]);
    mentions(&upstream("command: [x], egress: {}"), &["`egress` needs a `url`"]);
}

#[test]
fn an_address_that_its_own_rules_forbid_is_a_mistake() {
    let file = |egress: &str, more: &str| {
        format!("{}egress: {{ {egress} }}\n{more}\n", upstream("url: 'https://mcp.example'"))
    };
    mentions(
        &file("hosts: [other.example]", ""),
        &["`egress` does not allow the host of this URL: the host is not in `hosts`", "gateway.yaml:2:"],
    );
    mentions(&file("schemes: [http]", ""), &["the scheme https is not in `schemes`"]);
    mentions(&file("ports: [8443]", ""), &["the port 443 is not in `ports`"]);
    let auth = "auth: { issuer: x, keys: 'https://auth.example/k' }";
    mentions(&file("hosts: [mcp.example]", auth), &["the host is not in `hosts`", "gateway.yaml:4:"]);
    let otlp = "telemetry: { otlp: 'https://otlp.example' }";
    mentions(&file("hosts: [mcp.example]", otlp), &["the host is not in `hosts`", "gateway.yaml:4:"]);
}
