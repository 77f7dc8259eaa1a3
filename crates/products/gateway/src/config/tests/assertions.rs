//! `assertions` of the file and `assertion` of upstreams.

use std::time::Duration;

use super::{FULL, mentions, settings};
use crate::settings::Target;

const AUTH: &str = "auth: { issuer: i, keys: \"https://i.example/jwks\" }\n";
const KEYS: &str = "assertions: { issuer: \"https://mcp.example\", keys: [{ from_file: audit.key }] }\n";

/// A file whose upstream has these members, and keys.
fn file(members: &str) -> String {
    format!("upstreams:\n  a: {{ {members} }}\n{AUTH}{KEYS}")
}

fn assertion(members: &str) -> String {
    file(&format!("url: \"https://a.example/mcp\", assertion: {{ {members} }}"))
}

#[test]
fn assertions_are_read() {
    let full = settings(FULL);
    let keys = full.assertions.as_ref().expect("keys");
    assert_eq!((keys.issuer.as_str(), keys.keys.len(), keys.keys[0].algorithm), ("https://mcp.example", 1, "EdDSA"));
    assert!(keys.published.contains("\"crv\":\"Ed25519\"") && keys.published.contains(&keys.keys[0].id));
    assert!(!keys.published.contains("\"d\"") && !format!("{full:?}").contains("PRIVATE KEY"));
    let assertion = full.upstreams[2].assertion.as_ref().expect("an assertion");
    assert_eq!((assertion.header.as_str(), assertion.audience.as_str()), ("x-gateway-assertion", "crm"));
    assert_eq!(
        (assertion.lifetime, assertion.claims.join(" ")),
        (Duration::from_secs(45), "sub scope tenant_id".to_owned())
    );
    assert_eq!((&assertion.issuer, &assertion.key), (&keys.issuer, &keys.keys[0]));
}

#[test]
fn the_least_has_defaults() {
    let read = settings(&assertion("")).upstreams.remove(0);
    assert!(matches!(read.target, Target::StreamableHttp(_)), "HTTP+SSE is not tried");
    let read = read.assertion.expect("an assertion");
    assert_eq!((read.header.as_str(), read.audience.as_str()), ("authorization", "https://a.example/mcp"));
    assert_eq!((read.lifetime, read.claims), (Duration::from_secs(30), vec!["sub".to_owned()]));
    let text = format!("upstreams:\n  a: {{ url: \"http://127.0.0.1:9/mcp\", assertion: {{ claims: [] }} }}\n{KEYS}");
    assert!(
        settings(&text).upstreams[0].assertion.as_ref().is_some_and(|read| read.claims.is_empty()),
        "without `auth`"
    );
}

#[test]
fn an_assertion_is_checked() {
    for (members, parts) in [
        ("lifetime: 2m", &["`lifetime` is not 1 to 60 whole seconds", "30s"][..]),
        ("lifetime: 1500ms", &["`lifetime` is not 1 to 60 whole seconds"]),
        ("claims: [exp]", &["`exp` cannot be one of `claims`"]),
        ("claims: [sub, sub]", &["`sub` cannot be one of `claims`"]),
        ("claims: [sub_id]", &["`sub_id` cannot be one of `claims`"]),
        ("header: Cookie", &["the header `cookie` has another meaning"]),
        ("header: Mcp-Name", &["the header `mcp-name` has another meaning"]),
        ("key: x", &["the key `key` is unknown here"]),
    ] {
        mentions(&assertion(members), parts);
    }
    for (upstream, part) in [
        ("command: [x], assertion: {}", "`assertion` needs a `url`"),
        ("url: \"wss://a.example/ws\", assertion: {}", "with Streamable HTTP"),
        ("url: \"https://a.example/mcp\", transport: sse, assertion: {}", "with Streamable HTTP"),
        ("url: \"http://a.example/mcp\", assertion: {}", "`assertion` needs an https `url`"),
        ("url: \"https://a.example/mcp\", headers: { authorization: x }, assertion: {}", "has another value already"),
        (
            "url: \"https://a.example/mcp\", headers: { X-A: x }, assertion: { header: x-a }",
            "has another value already",
        ),
        (
            "url: \"https://a.example/mcp\", assertion: {}, credentials: { grant: client-credentials, issuer: \"https://i.example\", client: { id: g, secret: { from_env: FILES_KEY } } }",
            "add header: X-Gateway-Assertion",
        ),
    ] {
        mentions(&file(upstream), &[part]);
    }
    let text = format!("{}context: {{ tenant_id: {{ header: X-T }} }}\n", assertion("header: X-T"));
    mentions(&text, &["the upstream `a` sets the header `x-t` itself"]);
    let without_auth = format!("upstreams:\n  a: {{ url: \"https://a.example/mcp\", assertion: {{}} }}\n{KEYS}");
    mentions(&without_auth, &["the file has no `auth`", "claims: []"]);
    let without_keys = format!("upstreams:\n  a: {{ url: \"https://a.example/mcp\", assertion: {{}} }}\n{AUTH}");
    mentions(&without_keys, &["the file has no `assertions`", "keys: [{ from_file: PATH }]"]);
}

#[test]
fn keys_are_checked() {
    for (members, parts) in [
        ("keys: [{ from_file: audit.key }]", &["`assertions` has no `issuer`"][..]),
        ("issuer: \"https://mcp.example\"", &["`assertions` has no `keys`"]),
        ("issuer: \"http://mcp.example\", keys: [{ from_file: audit.key }]", &["`issuer` is not an https URL"]),
        ("issuer: \"https://mcp.example?a\", keys: [{ from_file: audit.key }]", &["`issuer` is not an https URL"]),
        ("issuer: \"https://mcp.example\", keys: []", &["`keys` has 0 entries"]),
        ("issuer: \"https://mcp.example\", keys: [abc]", &["`keys` stands in the file", "from_file"]),
        (
            "issuer: \"https://mcp.example\", keys: [{ from_env: FILES_KEY }]",
            &["a key of `keys` is not a private key that can sign here", "openssl genpkey"],
        ),
        (
            "issuer: \"https://mcp.example\", keys: [{ from_file: audit.key }, { from_file: audit.key }]",
            &["a key of `keys` stands there twice"],
        ),
    ] {
        mentions(&format!("upstreams:\n  a: {{ command: [x] }}\nassertions: {{ {members} }}\n"), parts);
    }
}
