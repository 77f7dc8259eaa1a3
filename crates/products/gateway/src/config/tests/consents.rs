//! `consents`.

use std::time::Duration;

use super::{FULL, mentions, settings, upstream};
use crate::settings::ConsentLogin;

const AUTH: &str = "auth: { issuer: i, keys: \"https://i.example/jwks\" }\n";
const KEYS: &str = "keys: [{ from_env: CONSENT_KEY }]";

fn file(consents: &str) -> String {
    format!("{}{AUTH}consents: {{ {consents} }}\n", upstream("command: [x]"))
}

#[test]
fn consents_are_read() {
    let full = settings(FULL).consents.expect("consents");
    assert!(full.folder.as_ref().is_some_and(|folder| folder.ends_with("consents")));
    assert_eq!((full.keys.len(), full.wait), (1, Duration::from_mins(5)));
    let ConsentLogin::Client { client, scopes } = &full.login else { panic!("{full:?}") };
    assert_eq!((client.id.as_str(), scopes.as_slice()), ("gateway", ["openid".to_owned()].as_slice()));
    assert!(!format!("{full:?}").contains("AQEB"));
    let least = settings(&file(&format!("folder: c, {KEYS}, login: page"))).consents.expect("consents");
    assert_eq!((least.login, least.wait), (ConsentLogin::Page, Duration::from_mins(10)));
}

#[test]
fn consents_are_checked() {
    for (members, parts) in [
        (format!("{KEYS}, login: page"), &["`consents` has no `folder`", "store: redis://redis.example"][..]),
        ("folder: c, login: page".to_owned(), &["`consents` has no `keys`", "from_env"]),
        (format!("folder: c, {KEYS}"), &["`consents` has no `login`", "login: page"]),
        (format!("folder: c, {KEYS}, login: none"), &["`login` is neither `page` nor a mapping"]),
        (format!("folder: c, {KEYS}, login: {{ scopes: [a] }}"), &["`login` has no `client`"]),
        (format!("folder: c, {KEYS}, login: page, wait: 2h"), &["`wait` is longer than 1 h"]),
        ("folder: c, keys: [], login: page".to_owned(), &["`keys` is empty"]),
        ("folder: c, keys: [abc], login: page".to_owned(), &["`keys` stands in the file", "from_env"]),
        (
            "folder: c, keys: [{ from_env: FILES_KEY }], login: page".to_owned(),
            &["a key of `keys` is not 32 bytes in base64", "openssl rand"],
        ),
    ] {
        mentions(&file(&members), parts);
    }
    let without = format!("{}consents: {{ folder: c, {KEYS}, login: page }}\n", upstream("command: [x]"));
    mentions(&without, &["the file has no `auth`"]);
}

#[test]
fn consents_are_in_the_store_of_several_gateways_where_they_have_no_folder() {
    let auth = "auth: { issuer: i, keys: \"https://i.example/jwks\", public_url: \"https://mcp.example\" }\n";
    let text = |auth: &str, store: &str| {
        format!("{}{auth}store: {store}\nconsents: {{ {KEYS}, login: page }}\n", upstream("command: [x]"))
    };
    for store in ["redis://redis.example", "{ url: \"rediss://redis.example\" }"] {
        assert_eq!(settings(&text(auth, store)).consents.expect("consents").folder, None);
        mentions(&text(AUTH, store), &["`consents` in a shared `store` need `public_url` in `auth`"]);
    }
    mentions(&text(auth, "./store"), &["`consents` has no `folder`"]);
}
