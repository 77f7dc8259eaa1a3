//! Attacks on the way to a code: none of them gets one, and none sends a browser where an attacker likes.

use serde_json::{Value, json};

use crate::browser::{Browser, post};
use crate::scene::{Scene, parameter, with};

/// A page of the gateway that leads nowhere.
fn is_dead_end(page: &crate::browser::Page, status: u16, attack: &str) {
    assert_eq!((page.status, page.has_location()), (status, false), "{attack}: {}", page.body);
    assert!(!page.body.contains("name=\"request\"") && !page.body.contains("evil"), "{attack}: {}", page.body);
}

/// Whatever is wrong with a request, it sends no browser anywhere: anyone may register an address.
#[tokio::test]
async fn a_bad_request_leads_nowhere() {
    let scene = Scene::new().await;
    let program = scene.program().await;
    let long = "s".repeat(1025);
    for (attack, changed) in [
        ("another redirect address", ("redirect_uri", "https://evil.example/cb")),
        ("a longer path", ("redirect_uri", "http://127.0.0.1/callback/evil")),
        ("another host on loopback", ("redirect_uri", "http://localhost/callback")),
        ("a user name", ("redirect_uri", "http://127.0.0.1@evil.example/callback")),
        ("no redirect address", ("redirect_uri", "")),
        ("no client", ("client_id", "")),
        ("an invented client", ("client_id", "dcr.evil")),
        ("a client of the provider", ("client_id", "gateway")),
        ("no PKCE", ("code_challenge", "")),
        ("PKCE by the verifier itself", ("code_challenge_method", "plain")),
        ("PKCE without a method, which means plain", ("code_challenge_method", "")),
        ("an invalid challenge", ("code_challenge", "evil")),
        ("another server", ("resource", "https://evil.example/mcp")),
        ("a token in the address", ("response_type", "token")),
        ("no response type", ("response_type", "")),
        ("a response in the fragment", ("response_mode", "fragment")),
        ("a long state", ("state", &long)),
    ] {
        let page = Browser::default().get(&scene.ask_with(&program, &[changed])).await;
        is_dead_end(&page, 400, attack);
    }
    let mut twice = scene.ask(&program);
    twice.query_pairs_mut().append_pair("redirect_uri", "https://evil.example/cb");
    is_dead_end(&Browser::default().get(&twice).await, 400, "two redirect addresses");
    assert!(scene.provider.with(|state| state.asked.is_empty()));
}

/// A program on this computer has another port each time; nothing else of its address may change.
#[tokio::test]
async fn a_port_on_loopback_is_free() {
    let scene = Scene::new().await;
    let program = scene.program().await;
    let other_port = scene.ask_with(&program, &[("redirect_uri", "http://127.0.0.1:4711/callback")]);
    assert_eq!(Browser::default().get(&other_port).await.status, 200);
    let web = scene.program_at("https://app.example/cb").await;
    let page = Browser::default().get(&scene.ask_with(&web, &[("redirect_uri", "https://app.example:4711/cb")])).await;
    is_dead_end(&page, 400, "a port elsewhere");
}

/// Without an answer in the same browser, no browser goes to the provider, and no response of it counts.
#[tokio::test]
async fn the_question_cannot_be_skipped() {
    let scene = Scene::new().await;
    let program = scene.program().await;
    let (mut attacker, mut victim) = (Browser::default(), Browser::default());
    let page = attacker.get(&scene.ask(&program)).await;
    let request = page.field("request");
    let form = [("request", request.as_str()), ("answer", "allow")];
    let at = scene.url("/oauth/authorize");
    is_dead_end(&victim.post(&at, &form).await, 403, "a form of another browser, without a cookie");
    victim.get(&scene.ask(&program)).await;
    is_dead_end(&victim.post(&at, &form).await, 403, "a form of another browser, with a cookie");
    let invented = [("request", "evil"), ("answer", "allow")];
    is_dead_end(&victim.post(&at, &invented).await, 403, "an invented form");
    // Every port of a host reads and sets the cookies of all, so a page of another one has them, too.
    let port = scene.address.port() ^ 1;
    for origin in [
        "https://evil.example".to_owned(),
        format!("http://127.0.0.1:{port}"),
        format!("http://localhost:{port}"),
        "http://127.0.0.1".to_owned(),
        format!("https://{}", scene.address),
        "null".to_owned(),
    ] {
        let foreign = attacker.post_from(&at, &form, &origin).await;
        assert_eq!((foreign.status, foreign.has_location()), (403, false), "a form of a page of {origin}");
        for path in ["/oauth/token", "/oauth/register"] {
            assert_eq!(attacker.post_from(&scene.url(path), &[], &origin).await.status, 403, "{path} from {origin}");
        }
    }
    let cookie = attacker.cookies.iter().map(|(name, value)| format!("cookie: {name}={value}\r\n"));
    is_dead_end(&post(&at, &form, &cookie.collect::<String>()).await, 403, "a form of an unknown page");
    let as_query = with(&with(&at, "request", Some(&request)), "answer", Some("allow"));
    is_dead_end(&attacker.get(&as_query).await, 400, "a form in a link");
    assert!(scene.provider.with(|state| state.asked.is_empty()));
    // The code of a real login, without a question before it.
    let back = with(&scene.url("/oauth/callback"), "code", Some("evil"));
    for state in [None, Some("evil"), Some(request.as_str())] {
        let page = attacker.get(&with(&back, "state", state)).await;
        is_dead_end(&page, 403, "a response without a request");
    }
}

/// An attacker allows a program in the attacker's browser, and has a victim sign in: the victim's browser was not sent.
#[tokio::test]
async fn a_login_that_another_browser_began_is_refused() {
    let scene = Scene::new().await;
    let program = scene.program().await;
    let (mut attacker, at_provider) = scene.allowed(&program).await;
    let back = scene.back(&at_provider).await;
    let mut victim = Browser::default();
    is_dead_end(&victim.get(&back).await, 403, "a browser without a cookie");
    victim.get(&scene.ask(&program)).await;
    is_dead_end(&victim.get(&back).await, 403, "a browser with another cookie");
    // The attacker's sealed login in the victim's browser, which has another name.
    let sealed: Vec<_> = attacker.cookies.iter().filter(|(name, _)| name.contains("login")).collect();
    assert_eq!(sealed.len(), 1);
    victim.cookies.insert(sealed[0].0.clone(), sealed[0].1.clone());
    is_dead_end(&victim.get(&back).await, 403, "a foreign login");
    // The victim's response in the attacker's login for another state.
    let (mut other, at_other) = scene.allowed(&program).await;
    let state = parameter(&at_other, "state").expect("a state");
    is_dead_end(&attacker.get(&with(&back, "state", Some(&state))).await, 403, "the state of another login");
    assert_eq!(other.get(&scene.back(&at_other).await).await.status, 303, "its own login goes on");
    assert_eq!(attacker.get(&back).await.status, 303);
    assert!(attacker.cookies.keys().all(|name| !name.contains("login")), "a login counts once");
    is_dead_end(&attacker.get(&back).await, 403, "a second time");
    // A browser can be made to send its old cookie again.
    let (mut browser, at_provider) = scene.allowed(&program).await;
    let (back, mut again) = (scene.back(&at_provider).await, browser.clone());
    assert_eq!(browser.get(&back).await.status, 303);
    let asked = scene.provider.with(|state| state.tokens.len());
    for _ in 0..3 {
        is_dead_end(&again.get(&back).await, 403, "the old cookie again");
    }
    assert_eq!(scene.provider.with(|state| state.tokens.len()), asked, "the provider is asked once");
}

/// What the provider says counts only if it is for this gateway, this login and this moment.
#[tokio::test]
async fn an_identity_token_for_something_else_is_no_login() {
    type Lie = fn(&mut Value);
    let lies: [(&str, Lie); 7] = [
        ("another client", |claims| claims["aud"] = json!("other")),
        ("another login", |claims| claims["nonce"] = json!("other")),
        ("no login", |claims| _ = claims.as_object_mut().expect("an object").remove("nonce")),
        ("another issuer", |claims| claims["iss"] = json!("https://evil.example")),
        ("expired", |claims| claims["exp"] = json!(1)),
        ("several clients", |claims| claims["aud"] = json!(["gateway", "other"])),
        ("nobody", |claims| _ = claims.as_object_mut().expect("an object").remove("sub")),
    ];
    let scene = Scene::new().await;
    let program = scene.program().await;
    for (attack, lie) in lies {
        scene.provider.with(|state| state.lies = lie);
        let response = scene.response(&program).await;
        assert_eq!(parameter(&response, "error").as_deref(), Some("access_denied"), "{attack}: {response}");
        assert_eq!(parameter(&response, "code"), None, "{attack}");
    }
    for (attack, name, value) in
        [("another issuer", "iss", Some("https://evil.example")), ("no issuer", "iss", None), ("no code", "code", None)]
    {
        let (mut browser, at_provider) = scene.allowed(&program).await;
        let response = browser.get(&with(&scene.back(&at_provider).await, name, value)).await.location();
        assert_eq!(parameter(&response, "code"), None, "{attack}: {response}");
    }
}

/// Claims that say who, where and what come from the gateway, whatever the provider says.
#[tokio::test]
async fn claims_of_the_provider_do_not_replace_the_gateways() {
    let scene = Scene::with(|settings| {
        let bridge = settings.bridge.as_mut().expect("a bridge");
        bridge.claims = ["team", "scope", "client_id", "sid"].map(str::to_owned).into();
    });
    let scene = scene.await;
    scene.provider.with(|state| {
        state.lies = |claims| {
            claims["scope"] = json!("admin");
            claims["client_id"] = json!("evil");
            claims["sid"] = json!("evil");
        }
    });
    let program = scene.program().await;
    let tokens = scene.tokens(&program).await;
    let said = crate::scene::claims(&tokens.access);
    assert_eq!((&said["scope"], &said["client_id"]), (&json!("read write"), &json!(program.id)));
    assert_eq!((said["sid"] != "evil", &said["team"]), (true, &json!("data")));
}

/// Thousands of registrations leave the gateway as it was: their ids hold what there is to know.
#[tokio::test]
async fn a_flood_of_registrations_pushes_nobody_out() {
    let scene = Scene::new().await;
    let program = scene.program().await;
    for number in 0..500 {
        let metadata = json!({ "client_name": number.to_string(), "redirect_uris": ["https://evil.example/cb"] });
        assert_eq!(scene.register(&metadata).await.status, 201);
    }
    let large = json!({ "client_name": "n".repeat(60_000), "redirect_uris": ["https://evil.example/cb"] });
    let page = scene.register(&large).await;
    assert!(page.status == 201 && page.body.len() < 1500, "{} {}", page.status, page.body.len());
    let larger = json!({ "client_name": "n".repeat(70_000), "redirect_uris": ["https://evil.example/cb"] });
    assert_eq!(scene.register(&larger).await.status, 413);
    let tokens = scene.tokens(&program).await;
    assert_eq!(scene.call(&tokens.access).await, (200, true));
}
