//! Attacks on a consent: each is refused, and nothing is connected by it.

use gateway::settings::{ContextKind, ContextSettings, ContextValue, CredentialSettings, Settings};
use oauth::{Client, Credential, Secret};
use serde_json::json;
use url::Url;

use crate::browser::Browser;
use crate::scene::{Login, Scene, ran};

fn credentials(settings: &mut Settings) -> &mut CredentialSettings {
    settings.upstreams[0].credentials.as_mut().expect("credentials")
}

/// The same address with another value of a parameter; without one, without the parameter.
fn with(url: &Url, name: &str, value: Option<&str>) -> Url {
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    let mut changed = url.clone();
    changed.query_pairs_mut().clear().extend_pairs(pairs.iter().filter(|(key, _)| key != name));
    if let Some(value) = value {
        changed.query_pairs_mut().append_pair(name, value);
    }
    changed
}

/// Nobody is connected.
async fn none_is_connected(scene: &Scene, attack: &str) {
    assert_eq!(scene.list().await, json!([]), "{attack}");
    scene.link("ann").await;
    assert!(scene.accounts().is_empty(), "{attack}");
}

#[tokio::test]
async fn a_response_counts_once_from_its_browser_and_unchanged_alone() {
    for login in [Login::Page, Login::Issuer] {
        type Attack = fn(&Url) -> Url;
        let cases: [(&str, bool, Attack); 7] = [
            ("a stolen response in another browser", false, Url::clone),
            ("a foreign state", true, |url| with(url, "state", Some(&oauth::random()))),
            ("no state", true, |url| with(url, "state", None)),
            ("another issuer", true, |url| with(url, "iss", Some("https://evil.example"))),
            ("no issuer, where it is announced", true, |url| with(url, "iss", None)),
            ("an injected code", true, |url| with(url, "code", Some("stolen"))),
            ("two codes", true, |url| Url::parse(&format!("{url}&code=stolen")).expect("a URL")),
        ];
        for (attack, keeps_cookie, change) in cases {
            let scene = Scene::new(login).await;
            let (mut browser, back) = scene.underway("ann").await;
            if !keeps_cookie {
                browser = Browser::default();
            }
            let page = browser.get(&change(&back)).await;
            assert!(page.status >= 400, "{attack}: {}", page.body);
            assert!(!page.body.contains("evil.example") && !page.body.contains("stolen"), "{attack}");
            none_is_connected(&scene, attack).await;
            if attack != "a foreign state" && attack != "no state" {
                let (mut browser, _) = scene.underway("ann").await;
                assert_eq!(browser.get(&back).await.status, 403, "{attack}: the state was used up");
                none_is_connected(&scene, attack).await;
            }
        }
    }
}

#[tokio::test]
async fn a_replayed_response_connects_nothing() {
    let scene = Scene::new(Login::Page).await;
    let (mut browser, back) = scene.underway("ann").await;
    assert_eq!(browser.get(&back).await.status, 200);
    let listed = scene.list().await;
    assert_eq!(browser.get(&back).await.status, 403);
    assert_eq!(scene.list().await, listed);
    assert_eq!(scene.crm.asked("authorization_code"), 1, "the code was sent once");
}

/// The response must come to the redirect address of its own request: that of a login is no consent.
#[tokio::test]
async fn a_response_at_another_address_is_refused() {
    let scene = Scene::new(Login::Issuer).await;
    let (mut browser, back) = scene.underway("ann").await;
    let mut moved = back.clone();
    moved.set_path("/consent/login");
    assert_eq!(browser.get(&moved).await.status, 403);
    none_is_connected(&scene, "consent as login").await;
    let mut browser = Browser::default();
    let sent = browser.get(&scene.link("ann").await).await;
    scene.issuer.with(|state| "ann".clone_into(&mut state.account));
    let mut back = Browser::default().get(&sent.location()).await.location();
    back.set_path("/consent");
    assert_eq!(browser.get(&back).await.status, 404, "not the page of a ticket, either");
    back.set_path("/consent/callback");
    assert_eq!(browser.get(&back).await.status, 403);
    none_is_connected(&scene, "login as consent").await;
}

/// An attacker asks, and gets somebody else to open the link (MCP 2025-11-25, elicitation: phishing).
#[tokio::test]
async fn the_user_who_opens_a_link_must_be_the_one_who_was_asked() {
    let scene = Scene::new(Login::Issuer).await;
    let link = scene.link("eve").await;
    let mut victim = Browser::default();
    let sent = victim.get(&link).await;
    scene.issuer.with(|state| "ann".clone_into(&mut state.account));
    let back = Browser::default().get(&sent.location()).await.location();
    let page = victim.get(&back).await;
    assert_eq!(page.status, 403);
    assert!(page.body.contains("signed in as another user"), "{}", page.body);
    assert_eq!(scene.crm.with(|state| state.tokens.len()), 0, "the victim was not sent on");
    // A login of the attacker's own browser does not help the victim's browser on.
    let mut attacker = Browser::default();
    let sent = attacker.get(&link).await;
    scene.issuer.with(|state| "eve".clone_into(&mut state.account));
    let back = Browser::default().get(&sent.location()).await.location();
    assert_eq!(victim.get(&back).await.status, 403);
    // Nor is there a page whose button passes by the login.
    let form = [("ticket", link.query().and_then(|query| query.strip_prefix("ticket=")).unwrap_or_default())];
    assert_eq!(victim.post(&scene.url("/consent"), &form).await.status, 403);
    none_is_connected(&scene, "phishing").await;
}

#[tokio::test]
async fn a_page_without_login_says_whose_requests_it_is_about_and_takes_its_own_form_alone() {
    let scene = Scene::new(Login::Page).await;
    let link = scene.link("<b>eve</b>").await;
    let mut browser = Browser::default();
    let page = browser.get(&link).await;
    assert!(page.body.contains("&lt;b&gt;eve&lt;/b&gt;") && !page.body.contains("<b>eve"), "{}", page.body);
    assert!(page.body.contains("Go on only if that is you"));
    let (ticket, token) = (page.field("ticket"), page.field("token"));
    let (ticket, token, url) = (ticket.as_str(), token.as_str(), scene.url("/consent"));
    let mut other = Browser::default();
    other.get(&link).await;
    for (what, browser, form) in [
        ("no token", &mut browser.clone(), vec![("ticket", ticket)]),
        ("an invented token", &mut browser.clone(), vec![("ticket", ticket), ("token", "x")]),
        ("the token of another browser", &mut other, vec![("ticket", ticket), ("token", token)]),
        ("no cookie", &mut Browser::default(), vec![("ticket", ticket), ("token", token)]),
        ("another ticket", &mut browser.clone(), vec![("ticket", "x"), ("token", token)]),
        ("two tickets", &mut browser.clone(), vec![("ticket", "x"), ("ticket", ticket), ("token", token)]),
    ] {
        assert_eq!(browser.post(&url, &form).await.status, 403, "{what}");
    }
    let body = format!("ticket={ticket}&token={token}");
    let port = url.port().expect("one") ^ 1;
    for origin in [
        format!("origin: http://127.0.0.1:{port}\r\n"),
        format!("origin: http://localhost:{port}\r\n"),
        "origin: http://127.0.0.1\r\n".to_owned(),
        "origin: null\r\n".to_owned(),
        String::new(),
    ] {
        assert_eq!(browser.post_from(&url, &body, &origin).await.status, 403, "a page elsewhere: {origin}");
    }
    // Somebody who knows the ticket and sets the cookie, as a page of another port can.
    let cookie = "A".repeat(43);
    let made = oauth::jose::sha256(&json!(["proof-gateway.consent.form", cookie, ticket]).to_string());
    let mut victim = Browser { cookie: Some(format!("proof-consent={cookie}")) };
    assert_eq!(victim.post(&url, &[("ticket", ticket), ("token", &made)]).await.status, 403, "a form nobody got");
    assert_eq!(browser.get(&scene.url("/consent?ticket=guessed")).await.status, 404);
    assert_eq!(browser.get(&scene.url("/consent")).await.status, 404);
    none_is_connected(&scene, "forms").await;
}

#[tokio::test]
async fn an_authorization_server_without_s256_gets_no_user() {
    for methods in [None, Some(json!(["plain"])), Some(json!([]))] {
        let scene = Scene::new(Login::Page).await;
        scene.crm.with(|state| state.methods.clone_from(&methods));
        let mut browser = Browser::default();
        let page = browser.get(&scene.link("ann").await).await;
        let form = [("ticket", page.field("ticket")), ("token", page.field("token"))];
        let form: Vec<_> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(browser.post(&scene.url("/consent"), &form).await.status, 502, "{methods:?}");
        assert_eq!(scene.crm.with(|state| state.registrations), 0);
        none_is_connected(&scene, "PKCE").await;
    }
}

/// A server that names another authorization server than the configuration gets neither credentials nor users.
#[tokio::test]
async fn credentials_go_to_the_configured_authorization_server_alone() {
    let scene = Scene::with(Login::Page, |settings, _| {
        let credentials = credentials(settings);
        credentials.issuer = Some("http://127.0.0.1:9".to_owned());
        credentials.client = Some(Client::new("gateway", Credential::Secret(Secret::new("s3cret"))));
    })
    .await;
    let mut browser = Browser::default();
    let page = browser.get(&scene.link("ann").await).await;
    let form = [("ticket", page.field("ticket")), ("token", page.field("token"))];
    let form: Vec<_> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(browser.post(&scene.url("/consent"), &form).await.status, 502);
    none_is_connected(&scene, "another issuer").await;
}

#[tokio::test]
async fn one_users_consent_is_of_no_use_to_another() {
    let scene = Scene::new(Login::Issuer).await;
    for user in ["ann", "bob"] {
        scene.crm.with(|state| state.account = format!("{user}-at-crm"));
        assert_eq!(scene.consent(user).await.status, 200);
    }
    scene.accounts();
    for _ in 0..2 {
        for user in ["ann", "bob"] {
            assert!(ran(&scene.call(user).await));
            assert_eq!(scene.accounts(), [format!("{user}-at-crm")]);
        }
    }
    scene.link("eve").await;
    assert!(scene.accounts().is_empty());
}

#[tokio::test]
async fn one_subject_in_two_tenants_is_two_users() {
    for login in [Login::Page, Login::Issuer] {
        let scene = Scene::with(login, |settings, _| {
            let values = vec![ContextValue::new(ContextKind::Tenant)];
            settings.context = Some(ContextSettings { upstreams: None, values });
        })
        .await;
        assert_eq!(scene.consent("ann@acme").await.status, 200);
        assert!(ran(&scene.call("ann@acme").await));
        assert_ne!(scene.link("ann@other").await, scene.link("bob@acme").await);
        scene.accounts();
        let link = scene.link("ann@other").await;
        assert!(scene.accounts().is_empty(), "the consent for acme was used for another tenant");
        let (mut browser, opened) = (Browser::default(), scene.list().await);
        assert_eq!((&opened[0]["tenant"], opened.as_array().map(Vec::len)), (&json!("acme"), Some(1)));
        let page = browser.get(&link).await;
        if login == Login::Page {
            assert!(page.body.contains("tenant other"), "{}", page.body);
        } else {
            scene.issuer.with(|state| "ann@acme".clone_into(&mut state.account));
            let back = Browser::default().get(&page.location()).await.location();
            assert_eq!(browser.get(&back).await.status, 403, "ann of acme opened what ann of another tenant was asked");
        }
        assert_eq!(scene.consent("ann@other").await.status, 200);
        assert!(ran(&scene.call("ann@other").await));
        assert_eq!(scene.list().await.as_array().map(Vec::len), Some(2));
    }
}
