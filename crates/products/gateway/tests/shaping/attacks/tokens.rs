//! Tokens that must open nothing, and servers that must not get them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gateway::settings::Settings;
use oauth::jose::Signer;
use oauth::now;
use ring::hmac;
use serde_json::{Value, json};
use wire::Revision;

use crate::scene::Scene;

const TYPE: &str = "at+jwt";

async fn scene() -> Scene {
    Scene::open(Revision::NEWEST, Settings::default(), |_, _| json!({ "content": [], "tools": [] })).await
}

fn encoded(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

/// Fails unless the token is refused, is not repeated, and no server hears of it.
async fn refused(scene: &Scene, what: &str, token: &str) {
    let client = scene.bearing(Revision::NEWEST, token);
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "x", "arguments": {} } });
    let (status, body) = client.status(&call.to_string(), &[]).await;
    assert_eq!(status, 401, "{what}: {body}");
    assert!(token.len() < 8 || !body.contains(token), "{what}: {body}");
    assert!(scene.seen.of("tools/call").is_empty(), "{what}");
}

async fn opens(scene: &Scene, token: &str) {
    let client = scene.bearing(Revision::NEWEST, token);
    let answer = client.ask("tools/call", json!({ "name": "x", "arguments": {} })).await;
    assert!(answer["result"].is_object(), "{answer}");
}

#[tokio::test]
async fn a_token_whose_claims_are_wrong_opens_nothing() {
    let scene = scene().await;
    for (name, value) in [
        ("exp", json!(now() - 60)),
        ("exp", json!(0)),
        ("exp", json!(-1)),
        ("exp", json!((now() + 60).to_string())),
        ("exp", Value::Null),
        ("nbf", json!(now() + 600)),
        ("nbf", json!("0")),
        ("iss", json!("https://auth.example/")),
        ("iss", json!("https://AUTH.example")),
        ("iss", json!("https://auth.example.evil")),
        ("iss", json!(["https://auth.example"])),
        ("iss", Value::Null),
        ("aud", json!("files")),
        ("aud", json!("Gateway")),
        ("aud", json!("gateway/")),
        ("aud", json!("gatewa")),
        ("aud", json!(["files"])),
        ("aud", json!([["gateway"]])),
        ("aud", json!({ "gateway": true })),
        ("aud", json!("*")),
        ("aud", Value::Null),
        ("cnf", json!({ "jkt": "x" })),
        ("cnf", json!({ "x5t#S256": "x" })),
    ] {
        let claims = Scene::claims(&json!({ name: value }));
        refused(&scene, &format!("{name} {value}"), &scene.signer.sign(json!({ "typ": TYPE }), &claims)).await;
    }
    opens(&scene, &scene.signer.sign(json!({ "typ": TYPE }), &Scene::claims(&json!({})))).await;
    scene.end().await;
}

#[tokio::test]
async fn a_token_does_not_choose_how_it_is_verified() {
    let scene = scene().await;
    let (claims, key) = (Scene::claims(&json!({})), scene.signer.public().expect("a key"));
    let good = scene.signer.sign(json!({ "typ": TYPE }), &claims);
    let signature = good.rsplit('.').next().expect("three parts").to_owned();
    let text = |header: Value| format!("{}.{}", encoded(&header), encoded(&claims));
    let mut bad = Vec::new();
    for alg in ["none", "None", "nOnE", ""] {
        let text = text(json!({ "alg": alg, "typ": TYPE }));
        bad.push((format!("{alg:?} without a signature"), format!("{text}.")));
        bad.push((format!("{alg:?} with a signature"), format!("{text}.{signature}")));
    }
    let public = json!(key).to_string();
    for secret in [public.as_str(), "", "x"] {
        for alg in ["HS256", "ES256"] {
            let text = text(json!({ "alg": alg, "typ": TYPE }));
            let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), text.as_bytes());
            bad.push((
                format!("{alg} with {secret:?} as the secret"),
                format!("{text}.{}", URL_SAFE_NO_PAD.encode(tag)),
            ));
        }
    }
    let thief = Signer::fresh();
    let theirs = json!(thief.public().expect("a key"));
    for (what, header) in [
        ("another key", json!({ "typ": TYPE })),
        ("the key within", json!({ "typ": TYPE, "jwk": theirs })),
        ("an address of keys", json!({ "typ": TYPE, "jku": "http://127.0.0.1:9/keys" })),
        ("an address of certificates", json!({ "typ": TYPE, "x5u": "http://127.0.0.1:9/c" })),
        ("a path as key id", json!({ "typ": TYPE, "kid": "../../../dev/null" })),
    ] {
        bad.push((what.to_owned(), thief.sign(header, &claims)));
    }
    for (what, header) in [
        ("an extension that must be understood", json!({ "typ": TYPE, "crit": ["b64"], "b64": false })),
        ("an identity token", json!({ "typ": "id+jwt" })),
        ("a proof of possession", json!({ "typ": "dpop+jwt" })),
    ] {
        bad.push((what.to_owned(), scene.signer.sign(header, &claims)));
    }
    let changed = encoded(&Scene::claims(&json!({ "sub": "root" })));
    let header = good.split('.').next().expect("three parts");
    bad.push(("claims that were not signed".to_owned(), format!("{header}.{changed}.{signature}")));
    bad.push(("an empty signature".to_owned(), format!("{header}.{}.", encoded(&claims))));
    bad.push((
        "a signature of zeros".to_owned(),
        format!("{header}.{}.{}", encoded(&claims), URL_SAFE_NO_PAD.encode([0; 64])),
    ));
    bad.push(("a fourth part".to_owned(), format!("{good}.x")));
    for (what, token) in bad {
        refused(&scene, &what, &token).await;
    }
    opens(&scene, &good).await;
    scene.end().await;
}

#[tokio::test]
async fn a_token_counts_in_one_header_alone() {
    let scene = scene().await;
    let good = scene.signer.sign(json!({ "typ": TYPE }), &Scene::claims(&json!({})));
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let host = scene.host();
    for (what, path, headers) in [
        ("the query", format!("/mcp?access_token={good}"), String::new()),
        ("a cookie", "/mcp".to_owned(), format!("cookie: access_token={good}\r\n")),
        ("another header", "/mcp".to_owned(), format!("x-authorization: Bearer {good}\r\n")),
        ("another spelling", "/mcp".to_owned(), format!("authorization_: Bearer {good}\r\n")),
        ("another scheme", "/mcp".to_owned(), format!("authorization: Basic {good}\r\n")),
        ("no scheme", "/mcp".to_owned(), format!("authorization: {good}\r\n")),
        ("two headers", "/mcp".to_owned(), format!("authorization: Bearer {good}\r\nauthorization: Bearer {good}\r\n")),
        ("two tokens", "/mcp".to_owned(), format!("authorization: Bearer {good}, Bearer {good}\r\n")),
        ("a folded line", "/mcp".to_owned(), format!("authorization: Bearer\r\n {good}\r\n")),
        ("a header of ours", "/mcp".to_owned(), "proof-subject: ann\r\n".to_owned()),
    ] {
        let response = scene
            .bytes(&format!(
                "POST {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\naccept: application/json, text/event-stream\r\n\
                 content-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n{call}",
                call.len()
            ))
            .await;
        assert!(response.starts_with("HTTP/1.1 401") || response.starts_with("HTTP/1.1 400"), "{what}: {response}");
    }
    assert!(scene.seen.of("tools/list").is_empty());
    scene.end().await;
}

#[tokio::test]
async fn a_clients_token_reaches_no_server() {
    let scene = scene().await;
    let token = scene.signer.sign(json!({ "typ": TYPE }), &Scene::claims(&json!({})));
    let client = scene.bearing(Revision::NEWEST, &token);
    let headers = [("x-forwarded-authorization", token.as_str()), ("proxy-authorization", &token), ("cookie", &token)];
    client.ask_with("tools/call", json!({ "name": "x", "arguments": {} }), &headers).await;
    let got = scene.seen.of("tools/call").pop().expect("a call");
    assert!(!got.all().contains(&token), "{}", got.all());
    scene.end().await;
}
