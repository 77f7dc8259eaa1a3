//! `auth.bridge`.

use std::time::Duration;

use super::{BRIDGED, SECRET, mentions, settings, upstream};

const PROVIDER: &str =
    "provider: { issuer: \"https://i.example\", client: { id: g, secret: { from_env: FILES_KEY } } }";
const KEYS: &str = "keys: [{ from_env: CONSENT_KEY }]";
const URL: &str = "public_url: \"https://mcp.example\"";

fn file(auth: &str, bridge: &str) -> String {
    format!("{}auth: {{ {auth}, bridge: {{ {bridge} }} }}\n", upstream("command: [x]"))
}

#[test]
fn a_bridge_is_read() {
    let full = settings(BRIDGED);
    let (auth, bridge) = (full.auth.expect("tokens"), full.bridge.expect("a bridge"));
    assert_eq!((auth.issuer.as_str(), auth.keys.is_none()), ("https://mcp.example", true));
    assert_eq!((bridge.provider.issuer.as_str(), bridge.keys.len()), ("https://idp.example/tenant", 1));
    assert_eq!((bridge.registration, bridge.documents), (true, false));
    assert_eq!((bridge.access_token, bridge.session), (Duration::from_mins(5), Duration::from_hours(12)));
    assert_eq!((bridge.scopes.len(), bridge.claims.len(), bridge.redirect_schemes.len()), (1, 2, 1));
    assert!(!format!("{bridge:?}").contains(SECRET) && !format!("{bridge:?}").contains("AQEB"));
    let least = settings(&file("public_url: \"http://127.0.0.1:3000\"", &format!("{PROVIDER}, {KEYS}")));
    let least = least.bridge.expect("a bridge");
    assert_eq!((least.registration, least.documents), (true, true));
    assert_eq!((least.access_token, least.session), (Duration::from_mins(10), Duration::from_hours(8)));
    assert_eq!(settings(&upstream("command: [x]")).bridge, None);
}

#[test]
fn a_bridge_is_checked() {
    for (bridge, parts) in [
        (KEYS.to_owned(), &["`bridge` has no `provider`"][..]),
        (PROVIDER.to_owned(), &["`bridge` has no `keys`"]),
        (format!("{PROVIDER}, keys: []"), &["`keys` is empty"]),
        (format!("{PROVIDER}, keys: [abc]"), &["`keys` stands in the file"]),
        (format!("{PROVIDER}, keys: [{{ from_env: FILES_KEY }}]"), &["is not 32 bytes in base64", "openssl rand"]),
        (format!("{PROVIDER}, {KEYS}, registration: false, documents: false"), &["there are no clients"]),
        (format!("{PROVIDER}, {KEYS}, claims: [sub]"), &["`sub` is not a claim to pass on"]),
        (format!("{PROVIDER}, {KEYS}, claims: [cnf]"), &["`cnf` is not a claim to pass on"]),
        (format!("{PROVIDER}, {KEYS}, redirect_schemes: [javascript]"), &["`javascript` is not a scheme of a program"]),
        (format!("{PROVIDER}, {KEYS}, redirect_schemes: [https]"), &["`https` is not a scheme of a program"]),
        (format!("{PROVIDER}, {KEYS}, access_token: 2h"), &["`access_token` is longer than 1 h"]),
        (format!("{PROVIDER}, {KEYS}, session: 10ms"), &["`session` is shorter than 1 s"]),
        (format!("{PROVIDER}, {KEYS}, scopes: ['a b']"), &["`a b` is not a scope"]),
        (format!("{KEYS}, provider: {{ issuer: \"http://i.example\" }}"), &["not an https URL", "has no `client`"]),
    ] {
        mentions(&file(URL, &bridge), parts);
    }
    let bridge = format!("{PROVIDER}, {KEYS}");
    for (auth, parts) in [
        (format!("{URL}, issuer: i"), &["`issuer` cannot be used with `bridge`"][..]),
        (format!("{URL}, keys: k.json"), &["`keys` cannot be used with `bridge`"]),
        ("scopes: [a]".to_owned(), &["`auth` has no `public_url`"]),
        ("public_url: \"http://mcp.example\"".to_owned(), &["`public_url` must have https"]),
    ] {
        mentions(&file(&auth, &bridge), parts);
    }
    let login = "login: { client: { id: g, secret: { from_env: FILES_KEY } } }";
    let consents = format!("consents: {{ folder: c, {KEYS}, {login} }}\n");
    mentions(&format!("{}{consents}", file(URL, &bridge)), &["users cannot sign in with `login`", "without `bridge`"]);
    let page = format!("consents: {{ folder: c, {KEYS}, login: page }}\n");
    mentions(
        &format!("{}{page}", file(URL, &bridge)),
        &["`login: page` does not check who consents", "without `bridge`"],
    );
    let local = file("public_url: \"http://127.0.0.1:3000\"", &bridge);
    assert!(settings(&format!("{local}{page}")).consents.is_some(), "on one machine, a page is enough");
}
