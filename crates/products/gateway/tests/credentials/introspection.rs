//! Tokens that the gateway must ask their issuer about (RFC 7662).

use std::time::Duration;

use futures_util::future::join_all;
use gateway::settings::{CredentialGrant, Settings};
use oauth::now;
use oauth::resource::Introspection;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::issuer::Issuer;
use crate::scene::{ISSUER, Scene, call, ran, response, secret_client};

const TTL: Duration = Duration::from_millis(400);

fn introspected(settings: &mut Settings, issuer: &Issuer) {
    let endpoint = issuer.url("/introspect").parse().expect("a URL");
    let timeout = Duration::from_millis(700);
    let introspection = Introspection { endpoint, client: secret_client(), ttl: TTL, timeout, egress: None };
    settings.auth.as_mut().expect("it is there").introspection = Some(introspection);
}

fn active() -> Value {
    json!({ "active": true, "sub": "ann", "aud": "gateway", "exp": now() + 60, "scope": "mcp", "token_type": "Bearer" })
}

/// A gateway that asks about opaque tokens; this one is good.
async fn scene() -> Scene {
    let scene = Scene::with(CredentialGrant::ClientCredentials, introspected).await;
    scene.issuer.with(|state| state.opaque.insert("good".to_owned(), active()));
    scene
}

async fn status(scene: &Scene, token: &str) -> String {
    let params = json!({ "name": "echo", "arguments": { "message": "heard" } });
    let response = response(scene, token, "tools/call", params).await;
    let end = response.find("\r\n\r\n").unwrap_or(response.len());
    response[..end].to_ascii_lowercase()
}

#[tokio::test]
async fn an_opaque_token_counts_as_its_issuer_says() {
    let scene = scene().await;
    assert!(ran(&call(&scene, "good").await));
    assert!(ran(&call(&scene, "good").await));
    scene.issuer.with(|state| {
        assert_eq!(state.introspections.len(), 1, "the verdict is kept for a short time");
        let posted = &state.introspections[0];
        assert_eq!(posted.form["token"], "good");
        assert_eq!(posted.authorization.as_deref(), Some(crate::BASIC));
    });
    // Signed tokens are looked at by the keys, as before.
    assert!(ran(&call(&scene, &scene.token("ann", "")).await));
    scene.issuer.with(|state| assert_eq!(state.introspections.len(), 1));
    scene.door.with(|door| assert!(door.headers.iter().all(|value| !value.contains("good"))));
}

#[tokio::test]
async fn a_token_is_refused_unless_everything_about_it_is_right() {
    let scene = scene().await;
    let change = |name: &str, value: Value| {
        let mut claims = active();
        claims[name] = value;
        claims
    };
    let bad = [
        ("inactive", change("active", json!(false))),
        ("other-server", change("aud", json!("files"))),
        ("no-audience", change("aud", Value::Null)),
        ("other-issuer", change("iss", json!("https://evil.example"))),
        ("expired", change("exp", json!(now() - 60))),
        ("no-end", change("exp", Value::Null)),
        ("not-yet", change("nbf", json!(now() + 600))),
        ("bound", change("cnf", json!({ "jkt": "x" }))),
        ("refresh", change("token_use", json!("refresh_token"))),
    ];
    for (name, claims) in &bad {
        scene.issuer.with(|state| state.opaque.insert((*name).to_owned(), claims.clone()));
    }
    let right_issuer = change("iss", json!(ISSUER));
    scene.issuer.with(|state| state.opaque.insert("right".to_owned(), right_issuer));
    assert!(ran(&call(&scene, "right").await));
    for name in bad.iter().map(|(name, _)| *name).chain(["unknown"]) {
        let head = status(&scene, name).await;
        assert!(head.starts_with("http/1.1 401") && head.contains("invalid_token"), "{name}: {head}");
        assert!(!head.contains(&format!("\"{name}\"")), "{head}");
    }
    let asked = scene.issuer.with(|state| state.introspections.len());
    assert!(status(&scene, "unknown").await.starts_with("http/1.1 401"));
    scene.issuer.with(|state| assert_eq!(state.introspections.len(), asked, "a refusal is kept, too"));
}

#[tokio::test]
async fn a_revoked_token_is_refused_after_the_verdict_is_old() {
    let scene = scene().await;
    assert!(ran(&call(&scene, "good").await));
    scene.issuer.with(|state| state.opaque.clear());
    sleep(TTL * 2).await;
    assert!(status(&scene, "good").await.starts_with("http/1.1 401"));
}

/// What an issuer says slowly is older when it comes.
#[tokio::test]
async fn a_slow_answer_counts_no_longer_than_a_quick_one() {
    let scene = scene().await;
    scene.issuer.with(|state| state.delay = TTL * 3 / 4);
    assert!(ran(&call(&scene, "good").await));
    scene.issuer.with(|state| {
        state.opaque.clear();
        state.delay = Duration::ZERO;
    });
    sleep(TTL / 2).await;
    assert!(status(&scene, "good").await.starts_with("http/1.1 401"));
}

#[tokio::test]
async fn an_issuer_that_cannot_be_asked_lets_nobody_in_and_blames_no_token() {
    let scene = scene().await;
    for refusal in [500, 401, 302] {
        scene.issuer.with(|state| state.introspection_status = Some(refusal));
        let token = format!("t{refusal}");
        scene.issuer.with(|state| state.opaque.insert(token.clone(), active()));
        let head = status(&scene, &token).await;
        assert!(head.starts_with("http/1.1 503") && head.contains("retry-after: 1"), "{refusal}: {head}");
        assert!(!head.contains("www-authenticate"), "another token would not help: {head}");
    }
    scene.issuer.with(|state| (state.introspection_status, state.delay) = (None, Duration::from_secs(5)));
    let begin = Instant::now();
    assert!(status(&scene, "good").await.starts_with("http/1.1 503"));
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
}

#[tokio::test]
async fn requests_with_one_token_ask_once() {
    let scene = scene().await;
    assert!(ran(&call(&scene, &scene.token("ann", "")).await));
    scene.issuer.with(|state| state.delay = Duration::from_millis(200));
    let answers = join_all((0..8).map(|_| call(&scene, "good"))).await;
    assert!(answers.iter().all(ran), "{answers:?}");
    scene.issuer.with(|state| assert_eq!(state.introspections.len(), 1));
}
