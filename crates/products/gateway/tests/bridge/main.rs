//! The gateway as an authorization server of its clients, in front of a provider that registers none: real HTTP on all sides.

mod attacks;
mod browser;
mod documents;
mod provider;
mod scene;
mod shared;
mod tokens;

use serde_json::json;

use crate::browser::{Browser, send};
use crate::provider::UPSTREAM_TOKEN;
use crate::scene::{Scene, Tokens, claims, parameter};

#[tokio::test]
async fn a_program_that_the_provider_does_not_know_gets_a_token_and_is_served() {
    let scene = Scene::new().await;
    assert_eq!(scene.call("nothing").await, (401, false));
    let metadata = send("GET", &scene.url("/.well-known/oauth-authorization-server"), "", "").await.json();
    let issuer = scene.url("").to_string().trim_end_matches('/').to_owned();
    assert_eq!(metadata["issuer"], issuer);
    assert_eq!(metadata["authorization_endpoint"], scene.url("/oauth/authorize").as_str());
    assert_eq!(metadata["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(metadata["scopes_supported"], json!(["read", "write", "admin"]));
    let resource = send("GET", &scene.url("/.well-known/oauth-protected-resource/mcp"), "", "").await.json();
    assert_eq!(
        (&resource["authorization_servers"], &resource["resource"]),
        (&json!([issuer]), &json!(scene.resource()))
    );

    let program = scene.program().await;
    let response = scene.response(&program).await;
    assert!(response.as_str().starts_with("http://127.0.0.1/callback?"), "{response}");
    assert_eq!(parameter(&response, "state").as_deref(), Some(program.state.as_str()));
    assert_eq!(parameter(&response, "iss"), Some(issuer.clone()));
    let tokens = Tokens::of(&scene.redeem(&program, &parameter(&response, "code").expect("a code")).await);
    assert_eq!(tokens.scope, "read write", "what is required, and what was asked for and is offered");
    let said = claims(&tokens.access);
    for (name, value) in [
        ("iss", json!(issuer)),
        ("sub", json!("ann")),
        ("aud", json!(scene.resource())),
        ("client_id", json!(program.id)),
        ("scope", json!("read write")),
        ("team", json!("data")),
    ] {
        assert_eq!(said[name], value, "{name}");
    }
    assert!(said.get("email").is_none(), "what is not configured is not passed on");
    assert_eq!(scene.call(&tokens.access).await, (200, true));
}

#[tokio::test]
async fn refresh_tokens_rotate_and_may_ask_for_less() {
    let scene = Scene::new().await;
    let program = scene.program().await;
    let mut tokens = scene.tokens(&program).await;
    for _ in 0..3 {
        let next = Tokens::of(&scene.refresh(&program, &tokens.refresh, &[]).await);
        assert_ne!(next.refresh, tokens.refresh);
        assert_eq!((scene.call(&next.access).await, next.scope.as_str()), ((200, true), "read write"));
        tokens = next;
    }
    let less = Tokens::of(&scene.refresh(&program, &tokens.refresh, &[("scope", "read")]).await);
    assert_eq!((less.scope.as_str(), &claims(&less.access)["scope"]), ("read", &json!("read")));
    let more = scene.refresh(&program, &less.refresh, &[("scope", "read admin")]).await;
    assert_eq!((more.status, &more.json()["error"]), (400, &json!("invalid_scope")));
    assert_eq!(Tokens::of(&scene.refresh(&program, &less.refresh, &[]).await).scope, "read write");
}

/// Who asks, for what, and where the answer goes; whatever it calls itself, it is text.
#[tokio::test]
async fn the_page_says_who_asks_and_cannot_be_framed() {
    let scene = Scene::new().await;
    let program = scene.program_at("https://app.example/cb").await;
    let page = Browser::default().get(&scene.ask(&program)).await;
    assert_eq!(page.status, 200);
    for part in ["A &lt;b&gt;program&lt;/b&gt;", "app.example", "read write", &scene.resource(), "not verified"] {
        assert!(page.body.contains(part), "no {part}: {}", page.body);
    }
    assert!(!page.body.contains("<b>program"), "{}", page.body);
    let policy = page.headers("content-security-policy").next().unwrap_or_default();
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!((page.headers("x-frame-options").next(), page.has_location()), (Some("DENY"), false));
    assert_eq!(page.headers("referrer-policy").next(), Some("same-origin"), "browsers post with their origin");
}

#[tokio::test]
async fn a_user_who_denies_sends_the_program_a_refusal() {
    let scene = Scene::new().await;
    let program = scene.program().await;
    let mut browser = Browser::default();
    let page = browser.get(&scene.ask(&program)).await;
    let refused = scene.answer(&mut browser, &page, "deny").await.location();
    assert_eq!(parameter(&refused, "error").as_deref(), Some("access_denied"));
    assert_eq!(parameter(&refused, "state").as_deref(), Some(program.state.as_str()));
    assert!(scene.provider.with(|state| state.asked.is_empty()), "nobody was sent to the provider");
}

/// Each program is asked about each time: that a user has allowed one says nothing about another, nor about tomorrow.
#[tokio::test]
async fn no_program_is_allowed_because_of_an_earlier_answer() {
    let scene = Scene::new().await;
    let (first, second) = (scene.program().await, scene.program_at("https://app.example/cb").await);
    let (mut browser, at_provider) = scene.allowed(&first).await;
    let back = scene.back(&at_provider).await;
    assert_eq!(browser.get(&back).await.status, 303);
    for program in [&first, &second] {
        let page = browser.get(&scene.ask(program)).await;
        assert_eq!((page.status, page.has_location()), (200, false));
        assert!(page.body.contains("Allow access?"), "{}", page.body);
    }
}

/// Tokens of the provider stay where they are: nothing that a program or a browser gets holds one, not even sealed ones.
#[tokio::test]
async fn the_providers_tokens_reach_nobody() {
    let scene = Scene::new().await;
    let program = scene.program().await;
    let code = scene.code(&program).await;
    let page = scene.redeem(&program, &code).await;
    let tokens = Tokens::of(&page);
    assert!(!page.body.contains(UPSTREAM_TOKEN) && !claims(&tokens.access).to_string().contains(UPSTREAM_TOKEN));
    let sent = scene.provider.with(|state| state.tokens.clone());
    assert_eq!(sent.len(), 1, "one token request");
    assert!(!sent[0].values().any(|value| *value == code || *value == program.verifier), "{sent:?}");
    let asked = scene.provider.with(|state| state.asked.clone());
    assert!(!asked[0].values().any(|value| *value == program.state || *value == program.id), "{asked:?}");
    assert_eq!(asked[0]["scope"], "openid profile");
}

/// What is needed in between is sealed in what others hold: another gateway with the same key goes on with it.
#[tokio::test]
async fn another_gateway_with_the_same_key_completes_a_login() {
    let mut scene = Scene::new().await;
    let program = scene.program().await;
    let mut browser = Browser::default();
    let page = browser.get(&scene.ask(&program)).await;
    scene.restart().await;
    let sent = scene.answer(&mut browser, &page, "allow").await.location();
    scene.restart().await;
    let back = scene.back(&sent).await;
    let response = browser.get(&back).await.location();
    let code = parameter(&response, "code").expect("a code");
    let tokens = Tokens::of(&scene.redeem(&program, &code).await);
    assert_eq!(scene.call(&tokens.access).await, (200, true));
}
