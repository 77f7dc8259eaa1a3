//! The store behind the sessions, and attacks on codes and tokens: what comes twice, or from somebody else, ends the session.

use std::time::Duration;

use gateway::settings::StoreSettings;
use oauth::random;
use serde_json::json;
use tokio::time::sleep;

use crate::browser::{Page, post};
use crate::scene::{REDIRECT, Scene, Tokens, claims};

fn is_refused(page: &Page, error: &str, attack: &str) {
    assert!(page.status == 400 && page.json()["error"] == error, "{attack}: {} {}", page.status, page.body);
    assert!(!page.body.contains("access_token"), "{attack}");
}

#[tokio::test]
async fn a_code_that_comes_twice_ends_the_tokens_that_it_gave() {
    let scene = Scene::new().await;
    let program = scene.program().await;
    let code = scene.code(&program).await;
    let tokens = Tokens::of(&scene.redeem(&program, &code).await);
    assert_eq!(scene.call(&tokens.access).await, (200, true));
    is_refused(&scene.redeem(&program, &code).await, "invalid_grant", "a replayed code");
    assert_eq!(scene.call(&tokens.access).await, (401, false), "the access token ended");
    is_refused(&scene.refresh(&program, &tokens.refresh, &[]).await, "invalid_grant", "the refresh token ended");
}

/// A code stays used after its session: here, the session is shorter than the code.
#[tokio::test]
async fn a_code_counts_once_even_if_its_session_is_over_first() {
    let folder = tempfile::tempdir().expect("a folder");
    for keeps in [false, true] {
        let scene = Scene::with(|settings| {
            settings.bridge.as_mut().expect("a bridge").access_token = Duration::from_secs(1);
            settings.store = keeps.then(|| StoreSettings::Folder(folder.path().to_owned()));
        });
        let mut scene = scene.await;
        let metadata =
            json!({ "client_name": "x", "redirect_uris": [REDIRECT], "grant_types": ["authorization_code"] });
        let mut program = scene.program().await;
        program.id = scene.register(&metadata).await.json()["client_id"].as_str().expect("an id").to_owned();
        let code = scene.code(&program).await;
        assert!(Tokens::of(&scene.redeem(&program, &code).await).refresh.is_empty());
        sleep(Duration::from_millis(2100)).await;
        if keeps {
            scene.restart().await;
        }
        is_refused(&scene.redeem(&program, &code).await, "invalid_grant", "a code whose session is over");
    }
}

/// What a configuration takes away is gone at the next refresh: scopes, a kind of clients, the provider.
#[tokio::test]
async fn a_refresh_token_does_not_outlive_the_configuration_that_it_is_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut scene =
        Scene::with(|settings| settings.store = Some(StoreSettings::Folder(folder.path().to_owned()))).await;
    let program = scene.program().await;
    let tokens = scene.tokens(&program).await;
    let bridge = |scene: &mut Scene| scene.settings.bridge.take().expect("a bridge");
    let (whole, mut fewer) = (scene.settings.bridge.clone(), bridge(&mut scene));
    fewer.scopes.clear();
    scene.settings.bridge = Some(fewer);
    scene.restart().await;
    let next = Tokens::of(&scene.refresh(&program, &tokens.refresh, &[]).await);
    assert_eq!((next.scope.as_str(), tokens.scope.as_str()), ("read", "read write"), "`write` is not offered any more");
    let mut closed = whole.clone().expect("a bridge");
    closed.registration = false;
    scene.settings.bridge = Some(closed);
    scene.restart().await;
    is_refused(&scene.refresh(&program, &next.refresh, &[]).await, "invalid_grant", "a kind of clients that is gone");
    let mut moved = whole.clone().expect("a bridge");
    moved.provider.issuer = "https://other.example".to_owned();
    scene.settings.bridge = Some(moved);
    scene.restart().await;
    is_refused(&scene.refresh(&program, &next.refresh, &[]).await, "invalid_grant", "a user of another provider");
    scene.settings.bridge = whole;
    scene.restart().await;
    assert_eq!(Tokens::of(&scene.refresh(&program, &next.refresh, &[]).await).scope, "read write");
}

#[tokio::test]
async fn a_code_is_for_one_client_one_address_and_one_verifier() {
    let other = random();
    for (attack, changed) in [
        ("another verifier", ("code_verifier", other.as_str())),
        ("no verifier", ("code_verifier", "")),
        ("another redirect address", ("redirect_uri", "http://127.0.0.1/other")),
        ("another port than in the request", ("redirect_uri", "http://127.0.0.1:7/callback")),
        ("no redirect address", ("redirect_uri", "")),
        ("another resource", ("resource", "https://evil.example/mcp")),
    ] {
        let scene = Scene::new().await;
        let program = scene.program().await;
        let code = scene.code(&program).await;
        is_refused(&scene.redeem_with(&program, &code, &[changed]).await, "invalid_grant", attack);
        is_refused(&scene.redeem(&program, &code).await, "invalid_grant", "it was used up");
    }
    let scene = Scene::new().await;
    let (program, thief) = (scene.program().await, scene.program().await);
    let code = scene.code(&program).await;
    is_refused(
        &scene.redeem_with(&program, &code, &[("client_id", &thief.id)]).await,
        "invalid_grant",
        "a stolen code",
    );
    let changed = format!("{}{}", &code[..code.len() - 2], if code.ends_with("AA") { "BB" } else { "AA" });
    is_refused(&scene.redeem(&program, &changed).await, "invalid_grant", "an altered code");
    for (attack, form, error) in [
        ("no grant", vec![("client_id", program.id.as_str())], "invalid_request"),
        ("another grant", vec![("client_id", &program.id), ("grant_type", "password")], "unsupported_grant_type"),
        ("no client", vec![("grant_type", "authorization_code")], "invalid_request"),
        ("twice", vec![("client_id", &program.id), ("client_id", &thief.id)], "invalid_request"),
    ] {
        is_refused(&post(&scene.url("/oauth/token"), &form, "").await, error, attack);
    }
    let secret = [("client_id", program.id.as_str()), ("client_secret", "x"), ("grant_type", "refresh_token")];
    assert_eq!(post(&scene.url("/oauth/token"), &secret, "").await.status, 401, "clients have no secret");
}

#[tokio::test]
async fn a_refresh_token_that_comes_twice_ends_the_session() {
    let scene = Scene::new().await;
    let program = scene.program().await;
    let first = scene.tokens(&program).await;
    let second = Tokens::of(&scene.refresh(&program, &first.refresh, &[]).await);
    is_refused(&scene.refresh(&program, &first.refresh, &[]).await, "invalid_grant", "a stolen refresh token");
    is_refused(&scene.refresh(&program, &second.refresh, &[]).await, "invalid_grant", "the newest one ended, too");
    for token in [&first.access, &second.access] {
        assert_eq!(scene.call(token).await, (401, false));
    }
}

#[tokio::test]
async fn a_refresh_token_is_for_one_client_and_one_server() {
    let scene = Scene::new().await;
    let (program, thief) = (scene.program().await, scene.program().await);
    let tokens = scene.tokens(&program).await;
    let wrong = [("resource", "https://evil.example/mcp")];
    is_refused(&scene.refresh(&program, &tokens.refresh, &wrong).await, "invalid_target", "another resource");
    for text in [&tokens.access, &program.id, &random()] {
        is_refused(&scene.refresh(&program, text, &[]).await, "invalid_grant", "something else");
    }
    is_refused(&scene.refresh(&thief, &tokens.refresh, &[]).await, "invalid_grant", "another client");
    assert_eq!(scene.call(&tokens.access).await, (401, false), "it was stolen: the session has ended");
}

/// Refresh tokens, codes and tokens of another gateway are not accepted as access tokens.
#[tokio::test]
async fn only_access_tokens_of_this_gateway_let_in() {
    let (scene, other) = (Scene::new().await, Scene::new().await);
    let program = scene.program().await;
    let code = scene.code(&program).await;
    assert_eq!(scene.call(&code).await, (401, false));
    let tokens = Tokens::of(&scene.redeem(&program, &code).await);
    assert_eq!((scene.call(&tokens.refresh).await, scene.call(&program.id).await), ((401, false), (401, false)));
    let foreign = other.tokens(&other.program().await).await;
    assert_eq!(scene.call(&foreign.access).await, (401, false), "the same key, another issuer");
    assert_eq!(claims(&foreign.access)["aud"], json!(other.resource()));
}

/// With a folder, sessions go on after a restart, and what was used stays used. Without one, all of them end.
#[tokio::test]
async fn a_restart_forgets_no_used_code() {
    let folder = tempfile::tempdir().expect("a folder");
    for keeps in [true, false] {
        let store = keeps.then(|| StoreSettings::Folder(folder.path().to_owned()));
        let mut scene = Scene::with(|settings| settings.store = store).await;
        let program = scene.program().await;
        let code = scene.code(&program).await;
        let first = Tokens::of(&scene.redeem(&program, &code).await);
        // Without a folder, codes count that are not older than the gateway: by whole seconds.
        sleep(Duration::from_millis(1100)).await;
        scene.restart().await;
        assert_eq!(scene.call(&first.access).await.0, if keeps { 200 } else { 401 });
        let refreshed = scene.refresh(&program, &first.refresh, &[]).await;
        assert_eq!(refreshed.status, if keeps { 200 } else { 400 }, "{}", refreshed.body);
        is_refused(&scene.redeem(&program, &code).await, "invalid_grant", "a code from before the restart");
        assert_eq!(scene.call(&first.access).await, (401, false));
    }
}
