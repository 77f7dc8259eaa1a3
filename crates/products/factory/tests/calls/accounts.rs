//! Service accounts, whose assertions an authorization server that the test plays verifies.

use std::fs;

use factory::{Base, Factory};
use oauth::jose::{JwkSet, Jws, Signer};
use openapi::model::{Method, Scheme};
use serde_json::{Value, json};

use crate::scene::{Got, Upstream, api, callable, config, http, object, ok, operation, secured, texts};

fn member(got: &Got, name: &str) -> Option<String> {
    let mut pairs = url::form_urlencoded::parse(got.body.as_bytes());
    pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

/// Takes assertions that one of these keys signed; repeats what it refuses.
fn token(got: &Got, keys: &JwkSet) -> Vec<u8> {
    let assertion = member(got, "assertion").unwrap_or_default();
    let is_signed = Jws::read(&assertion).is_ok_and(|jws| jws.verified(keys).is_ok());
    if is_signed && member(got, "grant_type").as_deref() == Some("urn:ietf:params:oauth:grant-type:jwt-bearer") {
        return ok(
            &json!({ "access_token": "token-of-account", "token_type": "Bearer", "expires_in": 3600 }).to_string()
        );
    }
    let body = json!({ "error": "invalid_grant", "error_description": assertion });
    http(400, "Content-Type: application/json\r\n", &body.to_string())
}

async fn started(keys: JwkSet) -> Upstream {
    Upstream::start(move |_, got| {
        if got.line == "POST /token" { token(got, &keys) } else { ok(&json!({ "head": got.head }).to_string()) }
    })
    .await
}

/// A call with this entry of `auth`, and what the files hold.
async fn called(upstream: &Upstream, entry: &str, files: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    let scheme = Scheme::OAuth { client_credentials: None, authorization_code: None };
    let settings = format!("auth: {{ robot: {{ {entry} }} }}");
    let base = Base::named(&upstream.url).expect("a URL");
    let factory = Factory::new(&api(&[("robot", scheme)]), base, config(&settings, folder.path().into()));
    let get = secured(operation(Method::Get, "/x", Vec::new()), &["robot"]);
    texts(&callable(&factory.expect("prepared"), get).call(object(json!({}))).await)
}

fn claims(got: &Got, keys: &JwkSet) -> (Value, Value) {
    let assertion = member(got, "assertion").expect("an assertion");
    let jws = Jws::read(&assertion).expect("signed");
    (jws.header.clone(), jws.verified(keys).expect("by the key").clone())
}

#[tokio::test]
async fn an_assertion_signed_with_the_key_is_worth_a_token() {
    let (signer, pem) = Signer::fresh_with_text();
    let keys = JwkSet { keys: signer.public().into_iter().collect() };
    let upstream = started(keys.clone()).await;
    let entry = format!(
        "client_id: {{ file: id }}, private_key: {{ file: key.pem }}, algorithm: ES256, key_id: k1, subject: ann, \
         scopes: [read, write], token_url: '{}/token'",
        upstream.url
    );
    let said = called(&upstream, &entry, &[("id", "robot"), ("key.pem", pem.reveal())]).await;
    assert!(said.contains("[credential]") && !said.contains("token-of-account"), "{said}");
    let got = upstream.got();
    assert_eq!(got[1].header("authorization"), Some("Bearer token-of-account"));
    let (header, claims) = claims(&got[0], &keys);
    assert_eq!((&header["alg"], &header["kid"]), (&json!("ES256"), &json!("k1")));
    assert_eq!((&claims["iss"], &claims["sub"]), (&json!("robot"), &json!("ann")));
    assert_eq!(claims["aud"], format!("{}/token", upstream.url));
    assert_eq!(claims["exp"].as_u64().zip(claims["iat"].as_u64()).map(|(end, begin)| end - begin), Some(300));
    assert_eq!((member(&got[0], "scope").as_deref(), member(&got[0], "client_id")), (Some("read write"), None));
}

#[tokio::test]
async fn a_key_file_of_google_is_enough() {
    let (signer, pem) = Signer::fresh_with_text();
    let keys = JwkSet { keys: signer.public().into_iter().collect() };
    let upstream = started(keys.clone()).await;
    let file = json!({
        "type": "service_account", "client_email": "robot@project.example", "private_key": pem.reveal(),
        "private_key_id": "k2", "token_uri": format!("{}/token", upstream.url),
    });
    let entry = "service_account: { file: key.json }, algorithm: ES256, scopes: [read]";
    called(&upstream, entry, &[("key.json", &file.to_string())]).await;
    let got = upstream.got();
    assert_eq!(got[1].header("authorization"), Some("Bearer token-of-account"));
    let (header, claims) = claims(&got[0], &keys);
    assert_eq!((&header["kid"], &claims["iss"]), (&json!("k2"), &json!("robot@project.example")));
    assert_eq!((&claims["scope"], claims.get("sub")), (&json!("read"), None));
    assert_eq!(member(&got[0], "scope"), None, "Google reads scopes from the claims");
}

#[tokio::test]
async fn a_refused_assertion_and_unusable_keys_are_shown_nowhere() {
    let (signer, _) = Signer::fresh_with_text();
    let upstream = started(JwkSet { keys: signer.public().into_iter().collect() }).await;
    let (_, other) = Signer::fresh_with_text();
    let entry = format!(
        "client_id: {{ file: id }}, private_key: {{ file: key.pem }}, algorithm: ES256, token_url: '{}/token'",
        upstream.url
    );
    let said = called(&upstream, &entry, &[("id", "robot"), ("key.pem", other.reveal())]).await;
    let sent = member(&upstream.got()[0], "assertion").expect("an assertion");
    assert!(said.contains("invalid_grant: [credential]…") && !said.contains(&sent[..40]), "{said}");

    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("id", "robot"), ("key.pem", other.reveal()), ("bad.json", "{\"private_key\":\"s3cr3t\"}")] {
        fs::write(folder.path().join(name), text).expect("written");
    }
    let api = api(&[("robot", Scheme::Bearer)]);
    for (entry, part) in [
        ("private_key: { file: key.pem }, token_url: 'https://as.example/t'", "auth.robot.client_id is missing"),
        ("client_id: { file: id }, private_key: { file: key.pem }", "has no `token_url`"),
        ("client_id: { file: id }, private_key: { file: id }, token_url: 'https://as.example/t'", "no private key"),
        ("client_id: { file: id }, private_key: { file: key.pem }, token_url: 'https://as.example/t'", "does not suit"),
        (
            "client_id: { file: id }, private_key: { file: key.pem }, algorithm: ES256, token_url: 'http://as.example/t'",
            "not protected",
        ),
        ("service_account: { file: id }", "auth.robot.service_account is not JSON"),
        ("service_account: { file: bad.json }", "has no `client_email`"),
    ] {
        let base = Base::named("https://api.example").expect("a URL");
        let settings = format!("auth: {{ robot: {{ {entry} }} }}");
        let error = Factory::new(&api, base, config(&settings, folder.path().into())).expect_err(entry).to_string();
        assert!(error.contains(part) && !error.contains("s3cr3t") && !error.contains("BEGIN"), "{entry}: {error}");
    }
}
