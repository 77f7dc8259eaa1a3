//! Users consent once in a browser, and the gateway calls a server in their name from then on: how it comes about, how long it
//! lasts, and who cannot take part. Over real HTTP, with browsers by plain requests.

mod attacks;
mod browser;
mod provider;
mod scene;

use std::time::Duration;

use futures_util::future::join_all;
use gateway::settings::Target;
use net::client::HttpAddress;
use net::server::http::{self, OtherTransports};
use reference::authorization::{Development, TokenGuard, Tokens};
use serde_json::json;
use tokio::time::sleep;

use self::browser::Browser;
use self::scene::{Login, Scene, ran};

#[tokio::test]
async fn a_user_consents_once() {
    for login in [Login::Page, Login::Issuer] {
        let mut scene = Scene::new(login).await;
        assert!(scene.link("ann").await == scene.link("ann").await, "one question at a time");
        let done = scene.consent("ann").await;
        assert_eq!(done.status, 200, "{}", done.body);
        assert!(done.body.contains("is connected") && done.head.contains("frame-ancestors 'none'"));
        scene.accounts();
        for _ in 0..3 {
            let answer = scene.call("ann").await;
            assert!(ran(&answer), "{answer}");
        }
        assert_eq!(scene.accounts(), ["ann-at-crm"]);
        scene.link("bob").await;
        assert!(scene.accounts().is_empty(), "nothing was sent without bob's consent");
        scene.crm.with(|state| {
            assert_eq!((state.tokens.len(), state.registrations), (1, 1));
            assert_eq!(state.tokens[0]["client_id"], "registered");
            for refresh in state.refresh.keys() {
                assert!(!scene.file().windows(refresh.len()).any(|part| part == refresh.as_bytes()));
            }
        });
        // It outlives the gateway, and so does the access token.
        scene.restart().await;
        let answer = scene.call("ann").await;
        assert!(ran(&answer), "{answer}");
        assert_eq!(scene.crm.with(|state| state.tokens.len()), 1);
        scene.link("bob").await;
        let status = scene.gateway.status().to_string() + &scene.list().await.to_string();
        assert!(status.contains("authorization-code") && !status.contains("up.") && !status.contains("s3cret"));
    }
}

#[tokio::test]
async fn a_client_that_shows_addresses_is_asked() {
    let scene = Scene::new(Login::Page).await;
    let able = json!({ "elicitation": { "url": {} } });
    let asked = scene.call_with("ann", &json!({}), &able).await;
    let request = &asked["result"]["inputRequests"]["consent"];
    assert_eq!(
        (&asked["result"]["resultType"], &request["method"]),
        (&json!("input_required"), &json!("elicitation/create"))
    );
    assert_eq!(request["params"]["mode"], "url");
    assert!(request["params"]["url"].as_str().expect("an address").starts_with(scene.url("/consent?ticket=").as_str()));
    let retry = |action: &str| json!({ "requestState": asked["result"]["requestState"], "inputResponses": { "consent": { "action": action } } });
    let declined = scene.call_with("ann", &retry("decline"), &able).await;
    assert_eq!(declined["error"]["data"]["failure"], "consent-needed", "{declined}");
    let early = scene.call_with("ann", &retry("accept"), &able).await;
    assert_eq!(early["result"]["resultType"], "input_required", "{early}");
    assert_eq!(scene.consent("ann").await.status, 200);
    let answer = scene.call_with("ann", &retry("accept"), &able).await;
    assert!(ran(&answer), "{answer}");

    // A client of 2025-11-25 gets -32042 where it can open addresses, and an error with the address otherwise.
    for (able, code) in [(true, -32042), (false, -32600)] {
        let capabilities = if able { json!({ "elicitation": { "url": {} } }) } else { json!({}) };
        let answer = scene.legacy_call("bob", &capabilities).await;
        let error = &answer["error"];
        assert_eq!(error["code"], code, "{error}");
        let url = scene.link("bob").await;
        assert_eq!(error["data"]["url"], url.as_str());
        if able {
            let elicitation = &error["data"]["elicitations"][0];
            assert_eq!((&elicitation["mode"], &elicitation["url"]), (&json!("url"), &json!(url.as_str())));
            assert!(elicitation["elicitationId"].is_string() && elicitation["message"].is_string());
        }
    }
}

#[tokio::test]
async fn who_did_not_consent_can_begin_and_sees_other_servers() {
    let scene = Scene::with(Login::Page, |settings, _| {
        let mut open = settings.upstreams[0].clone();
        "open".clone_into(&mut open.name);
        open.credentials = None;
        let Target::StreamableHttp(address) = &mut open.target else { panic!("an address") };
        address.headers.push(("authorization".to_owned(), "Bearer up.all.1".to_owned()));
        settings.upstreams.push(open);
        settings.servers[0].upstreams.push("open".to_owned());
    })
    .await;
    let refused = scene.legacy_call("ann", &json!({})).await;
    assert!(refused["error"].is_null() && ran(&refused), "the other server has it: {refused}");
    assert_eq!(scene.accounts(), ["all"]);
    let named = scene.call_with("ann", &json!({ "name": "crm_echo" }), &json!({})).await;
    assert_eq!(named["error"]["data"]["failure"], "consent-needed", "the name may be one of the missing list: {named}");
}

#[tokio::test]
async fn a_token_is_renewed_once_for_all_and_before_it_ends() {
    let scene = Scene::new(Login::Page).await;
    scene.crm.with(|state| state.life = 12);
    assert_eq!(scene.consent("ann").await.status, 200);
    assert!(ran(&scene.call("ann").await));
    // Many requests find the token too old at once, and the refresh token is good once.
    sleep(Duration::from_secs(11)).await;
    let answers = join_all((0..20).map(|_| scene.call("ann"))).await;
    assert!(answers.iter().all(ran), "{:?}", answers.iter().find(|answer| !ran(answer)));
    assert_eq!(scene.crm.asked("refresh_token"), 1);
    // In the background, after 62 to 75 % of its life: no request waits.
    sleep(Duration::from_millis(9_200)).await;
    assert!(ran(&scene.call("ann").await));
    for _ in 0..50 {
        if scene.crm.asked("refresh_token") == 2 {
            break;
        }
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(scene.crm.asked("refresh_token"), 2);
    assert!(ran(&scene.call("ann").await));
}

/// A client that leaves must not cost its user the next refresh token: the one before is worth nothing.
#[tokio::test]
async fn a_request_that_is_given_up_loses_no_refresh_token() {
    let scene = Scene::new(Login::Page).await;
    scene.crm.with(|state| state.life = 11);
    assert_eq!(scene.consent("ann").await.status, 200);
    assert!(ran(&scene.call("ann").await));
    // The token in use is too old, and the conversation with the server is there.
    sleep(Duration::from_millis(10_100)).await;
    scene.crm.with(|state| (state.life, state.delay) = (600, Duration::from_millis(600)));
    let given_up = tokio::time::timeout(Duration::from_millis(300), scene.call("ann")).await;
    assert!(given_up.is_err());
    sleep(Duration::from_millis(600)).await;
    assert!(ran(&scene.call("ann").await));
    assert_eq!(scene.crm.asked("refresh_token"), 1);
}

#[tokio::test]
async fn a_consent_that_ended_is_asked_for_again() {
    let mut scene = Scene::new(Login::Page).await;
    scene.crm.with(|state| state.life = 11);
    assert_eq!(scene.consent("ann").await.status, 200);
    // The user withdraws it at the authorization server.
    scene.crm.with(|state| state.refresh.clear());
    sleep(Duration::from_secs(2)).await;
    scene.restart().await;
    scene.link("ann").await;
    scene.link("ann").await;
    assert_eq!(scene.crm.asked("refresh_token"), 1, "what was refused is not tried again");
    scene.crm.with(|state| "ann-again".clone_into(&mut state.account));
    assert_eq!(scene.consent("ann").await.status, 200);
    scene.accounts();
    assert!(ran(&scene.call("ann").await));
    assert_eq!(scene.accounts(), ["ann-again"]);
    // Those who run the gateway end it: a token in use counts no more.
    let listed = scene.list().await;
    let id = listed[0]["id"].as_str().expect("an id").to_owned();
    assert_eq!((&listed[0]["upstream"], &listed[0]["opens"]), (&json!("crm"), &json!(true)));
    for (id, is_there) in [("another", false), (id.as_str(), true), (id.as_str(), false)] {
        assert_eq!(scene.gateway.revoke_consent(id).await, Some(is_there), "{id}");
    }
    scene.link("ann").await;
    assert!(scene.accounts().is_empty());
}

#[tokio::test]
async fn the_gateway_is_known_by_its_metadata_document() {
    let scene = Scene::new(Login::Page).await;
    scene.crm.with(|state| state.registers = false);
    let (mut browser, back) = scene.underway("ann").await;
    assert_eq!(browser.get(&back).await.status, 200);
    assert!(ran(&scene.call("ann").await));
    let (id, redirect) = scene.crm.with(|state| {
        assert_eq!(state.registrations, 0);
        (state.tokens[0]["client_id"].clone(), state.tokens[0]["redirect_uri"].clone())
    });
    assert_eq!(id, scene.url("/consent/client.json").as_str());
    let page = Browser::default().get(&scene.url("/consent/client.json")).await;
    let document: serde_json::Value = serde_json::from_str(&page.body).expect("a document");
    assert_eq!((&document["client_id"], &document["redirect_uris"]), (&json!(id), &json!([redirect])));
    assert_eq!(document["token_endpoint_auth_method"], "none");
}

/// The issuer of `proof serve --auth dev`: registration, consent, PKCE, refresh tokens that count once.
#[tokio::test]
async fn a_consent_at_the_authorization_server_for_development() {
    let catalogue = std::sync::Arc::clone(&reference::Options::default().catalogue);
    let tokens = Tokens::Ours(Development { lasts: 11, ..Development::default() });
    let guard = TokenGuard::new(tokens, "/mcp", OtherTransports::default(), catalogue);
    let options = http::Options { guard: Some(std::sync::Arc::new(guard)), ..http::Options::default() };
    let service = std::sync::Arc::new(reference::Server::new(reference::Options::default()));
    let server = http::listen(service, ([127, 0, 0, 1], 0).into(), options).await.expect("a free port");
    let url = url::Url::parse(&format!("http://{}/mcp", server.local_addr())).expect("a URL");
    let mut scene = Scene::with(Login::Issuer, |settings, _| {
        settings.upstreams[0].target = Target::StreamableHttp(HttpAddress::new(url));
        let credentials = settings.upstreams[0].credentials.as_mut().expect("credentials");
        credentials.scopes = ["mcp:read", "mcp:call"].map(str::to_owned).to_vec();
    })
    .await;
    let done = scene.consent("ann").await;
    assert_eq!(done.status, 200, "{}", done.body);
    assert!(ran(&scene.call("ann").await));
    for _ in 0..2 {
        sleep(Duration::from_secs(2)).await;
        scene.restart().await;
        let answer = scene.call("ann").await;
        assert!(ran(&answer), "renewed by its refresh token: {answer}");
    }
    scene.link("bob").await;
}
