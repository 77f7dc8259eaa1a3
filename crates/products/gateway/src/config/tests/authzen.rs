//! `authzen`: what is read, and what is refused.

use std::time::Duration;

use super::{FULL, SECRET, mentions, settings, upstream};
use crate::config::read_policy;
use crate::settings::{AuthzenMapping, AuthzenSettings};

fn file(members: &str) -> String {
    let auth = "auth: { issuer: x, keys: 'https://auth.example/k' }";
    format!("{}{auth}\nauthzen: {{ {members} }}\n", upstream("command: [x]"))
}

#[test]
fn the_decision_point_is_read() {
    let all = settings(FULL).authzen.expect("authzen");
    assert_eq!(all.address.url.as_str(), "https://pdp.example/tenant");
    assert_eq!(all.address.headers, [("Authorization".to_owned(), format!("Bearer {SECRET}"))]);
    assert!(all.address.egress.is_some() && all.address.ca.is_some() && all.discover);
    let claims = [("team", "team"), ("roles", "groups")].map(|(name, claim)| (name.to_owned(), claim.to_owned()));
    assert_eq!((all.mapping.subject.as_str(), all.mapping.subject_type.as_str()), ("client_id", "identity"));
    assert_eq!(
        (all.mapping.claims.as_slice(), all.mapping.arguments.as_slice()),
        (&claims[..], &["path".to_owned()][..])
    );
    assert_eq!((all.timeout, all.cache), (Duration::from_millis(250), Some(Duration::from_secs(10))));
    assert_eq!((all.cache_entries, all.batch, all.answer_bytes, all.at_once), (5000, 100, 256 << 10, 8));
    let least = settings(&file("url: 'http://127.0.0.1:8181'")).authzen.expect("authzen");
    assert_eq!(*least, AuthzenSettings::new(least.address.clone()));
    assert_eq!((least.cache, least.batch, least.discover), (None, 50, false));
    assert!(settings(&upstream("command: [x]")).authzen.is_none());
}

#[test]
fn the_decision_point_is_checked() {
    let part = |members: &str, parts: &[&str]| mentions(&file(members), parts);
    part("cache: 10s", &["`authzen` has no `url`"]);
    part("url: 'ws://x'", &["is not an http or https URL without query and fragment"]);
    part("url: 'https://x?a=b'", &["is not an http or https URL without query and fragment"]);
    part("url: 'http://x'", &["`url` of `authzen` is not an https URL, nor one on this machine"]);
    part("url: 'http://localhost', ca: a.pem", &["`ca` needs an https `url`"]);
    part("url: 'http://localhost', timeout: 61s", &["`timeout` is too long"]);
    part("url: 'http://localhost', cache: 6m", &["`cache` is too long"]);
    part("url: 'http://localhost', cache_entries: 5", &["`cache_entries` needs `cache`"]);
    part("url: 'http://localhost', batch: 1001", &["not a whole number from 1 to 1000"]);
    part("url: 'http://localhost', batch: 0", &["not a whole number from 1 to 1000"]);
    part("url: 'http://localhost', discover: yes please", &["`discover` is a text, not true or false"]);
    part("url: 'http://localhost', arguments: []", &["`arguments` is empty"]);
    part("url: 'http://localhost', claims: [team]", &["`claims` is a list, not a mapping"]);
    part("url: 'http://localhost', claims: { scopes: scope }", &["`scopes` is always in `subject.properties`"]);
    part("url: 'http://localhost', claim: { a: b }", &["the key `claim` is unknown here"]);
    let without =
        |members: &str| format!("{}authzen: {{ url: 'http://localhost', {members} }}\n", upstream("command: [x]"));
    for members in ["subject: sub", "subject_type: user", "claims: { team: team }"] {
        mentions(&without(members), &["needs tokens, and the file has no `auth`"]);
    }
    let outside = "egress: { hosts: [x] }\nauthzen: { url: 'https://pdp.example' }";
    mentions(&format!("{}{outside}\n", upstream("command: [x]")), &["the host is not in `hosts`"]);
}

/// Tests of access rules need none of its secrets.
#[test]
fn what_is_asked_is_known_without_secrets() {
    let members = "url: 'https://pdp.example', headers: { A: { from_env: NOT_SET } }, arguments: [path]";
    let policy = read_policy(&file(members), "gateway.yaml").expect("a good file");
    let point = policy.authzen.expect("a decision point");
    assert_eq!(point.url, "https://pdp.example/");
    assert_eq!(point.mapping, AuthzenMapping { arguments: vec!["path".to_owned()], ..AuthzenMapping::default() });
}
