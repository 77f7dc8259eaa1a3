//! The tokens that servers behind the gateway get: whose they are, how they are kept and renewed, and what a client learns where
//! there is none. Over real HTTP, between an issuer and a server that accepts its tokens.

mod assertions;
mod introspection;
mod issuer;
mod scene;
mod verifier;

use std::collections::HashSet;
use std::time::Duration;

use futures_util::future::join_all;
use gateway::settings::{CacheSettings, CredentialGrant, Settings};
use oauth::Credential;
use oauth::jose::{JwkSet, Jws, Signer};
use serde_json::json;
use tokio::time::{Instant, sleep};
use wire::Revision;

use self::issuer::{Issuer, Mood};
use self::scene::{SECRET, Scene, call, echo, failure, ran, response};

use CredentialGrant::{ClientCredentials, TokenExchange};

const BASIC: &str = "Basic Z2F0ZXdheTpzM2NyM3QrdmFsdWU=";

fn users(names: &[&str]) -> HashSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[tokio::test]
async fn each_user_reaches_the_server_by_a_token_of_their_own() {
    let scene = Scene::new(TokenExchange).await;
    let tokens = [scene.token("ann", ""), scene.token("bob", "")];
    for (user, token) in [("ann", &tokens[0]), ("bob", &tokens[1]), ("ann", &tokens[0]), ("bob", &tokens[1])] {
        assert!(ran(&call(&scene, token).await), "{user}");
        assert_eq!(scene.users(), users(&[user]), "no other token was used");
    }
    // A session of an older revision, and the stream that it opens, are the user's, too.
    for (user, token) in [("ann", &tokens[0]), ("bob", &tokens[1])] {
        for revision in [Revision::R2025_11_25, Revision::NEWEST] {
            let client = scene.client(revision, token).await;
            assert!(echo(&client, "heard").await.contains("heard"), "{user}");
            assert_eq!(scene.users(), users(&[user]), "{revision}");
        }
    }
    scene.issuer.with(|state| {
        assert_eq!(state.tokens.len(), 2, "each token is got once");
        for posted in &state.tokens {
            let form = |name: &str| posted.form.get(name).map(String::as_str);
            assert_eq!(form("grant_type"), Some("urn:ietf:params:oauth:grant-type:token-exchange"));
            assert!(tokens.iter().any(|token| form("subject_token") == Some(token)));
            assert_eq!(form("subject_token_type"), Some("urn:ietf:params:oauth:token-type:access_token"));
            assert_eq!((form("resource"), form("scope")), (Some("https://crm.example"), Some("crm.read crm.write")));
            // As the issuer's metadata says.
            assert_eq!((form("client_id"), form("client_secret")), (Some("gateway"), Some(SECRET)));
            assert_eq!(posted.authorization, None);
        }
    });
    scene.door.with(|door| {
        for token in &tokens {
            assert!(door.headers.iter().all(|value| !value.contains(token.as_str())), "a client's token crossed");
        }
    });
    let status = scene.gateway.status().to_string();
    assert!(status.contains("\"tokens\":2") && !status.contains("up.") && !status.contains(SECRET), "{status}");
}

#[tokio::test]
async fn a_narrow_token_does_not_use_what_a_wide_one_of_the_same_user_got() {
    let scene = Scene::new(TokenExchange).await;
    for scope in ["read", "read write", "read"] {
        assert!(ran(&call(&scene, &scene.token("ann", scope)).await));
    }
    // Another token of the same scopes is the same user's; the order of scopes says nothing.
    assert!(ran(&call(&scene, &scene.token("ann", "write read")).await));
    scene.issuer.with(|state| assert_eq!(state.tokens.len(), 2));
    assert_eq!(scene.door.with(|door| door.tokens.iter().cloned().collect::<HashSet<_>>().len()), 2);
}

/// What a token is exchanged for may hang on any claim, also on one that the gateway does not know.
#[tokio::test]
async fn a_token_for_one_organization_is_not_used_for_another() {
    let scene = Scene::new(TokenExchange).await;
    for more in [
        json!({ "org": "a" }),
        json!({ "org": "b" }),
        json!({ "org": ["a"] }),
        json!({ "authorization_details": [{ "org": "a" }] }),
    ] {
        for _ in 0..2 {
            assert!(ran(&call(&scene, &scene.token_with("ann", "read", &more)).await));
        }
    }
    // Times and names of one token decide nothing.
    let later = json!({ "org": "a", "iat": oauth::now(), "auth_time": 1, "sid": "x" });
    assert!(ran(&call(&scene, &scene.token_with("ann", "read", &later)).await));
    scene.issuer.with(|state| assert_eq!(state.tokens.len(), 4));
    assert_eq!(scene.door.with(|door| door.tokens.iter().cloned().collect::<HashSet<_>>().len()), 4);
}

#[tokio::test]
async fn lists_and_results_of_one_user_are_not_shown_to_another() {
    let rules = "upstreams: { a: { command: [x] } }\ncache: { rules: [{ lists: [tools], ttl: 5m, shared: true }] }\n";
    let shared = gateway::config::read(rules, "gateway.yaml").expect("rules").answers.cache.expect("a cache");
    for cache in [None, Some(shared), Some(CacheSettings::default())] {
        let scene =
            Scene::with(TokenExchange, |settings: &mut Settings, _: &Issuer| settings.answers.cache = cache).await;
        for user in ["ann", "bob"] {
            let listed = response(&scene, &scene.token(user, ""), "tools/list", json!({})).await;
            assert!(listed.contains("\"echo\""), "{listed}");
            assert_eq!(scene.users(), users(&[user]), "the list is this user's");
        }
    }
}

#[tokio::test]
async fn a_user_who_may_not_is_told_so_and_nobody_else_notices() {
    let scene = Scene::new(TokenExchange).await;
    scene.issuer.with(|state| state.barred = vec!["bob".to_owned()]);
    let bob = scene.token("bob", "");
    for _ in 0..3 {
        let refused = call(&scene, &bob).await;
        assert_eq!(failure(&refused), ("exchange-denied", "PERMISSION_DENIED", false), "{refused}");
        assert_eq!(refused["error"]["data"]["oauth_error"], "invalid_target");
        assert_eq!(refused["error"]["data"]["upstream"], "crm");
        assert!(!refused.to_string().contains(&bob));
    }
    scene.issuer.with(|state| assert_eq!(state.tokens.len(), 1, "a refusal is kept for a while"));
    assert_eq!(scene.users(), users(&[]), "nothing was sent");
    assert!(ran(&call(&scene, &scene.token("ann", "")).await), "the server is not taken for broken");
    // With another token of the same user it is tried again.
    scene.issuer.with(|state| state.barred.clear());
    assert!(ran(&call(&scene, &scene.token("bob", "")).await));
}

#[tokio::test]
async fn what_the_issuer_answers_is_not_trusted() {
    for (mood, expected) in [
        (Mood::Echoes, ("no-server-token", "UPSTREAM_FAILURE", true)),
        (Mood::OtherKind, ("no-server-token", "UPSTREAM_FAILURE", true)),
        (Mood::Redirects, ("no-server-token", "UPSTREAM_FAILURE", true)),
        (Mood::Fails, ("no-server-token", "UPSTREAM_FAILURE", true)),
        (Mood::Declines("invalid_client"), ("gateway-not-accepted", "UPSTREAM_FAILURE", false)),
        (Mood::Declines("invalid_grant"), ("exchange-denied", "PERMISSION_DENIED", false)),
        (Mood::Declines("Something Else"), ("exchange-denied", "PERMISSION_DENIED", false)),
    ] {
        let scene = Scene::new(TokenExchange).await;
        scene.issuer.with(|state| state.mood = Some(mood.clone()));
        let token = scene.token("ann", "");
        let refused = call(&scene, &token).await;
        assert_eq!(failure(&refused), expected, "{mood:?}: {refused}");
        let shown = refused.to_string() + &scene.gateway.status().to_string();
        assert!(!shown.contains(&token) && !shown.contains(SECRET) && !shown.contains("Something"), "{shown}");
        assert_eq!(scene.users(), users(&[]), "{mood:?}: nothing reached the server");
    }
}

#[tokio::test]
async fn a_refused_token_is_replaced_once_and_the_request_repeated_once() {
    let scene = Scene::new(TokenExchange).await;
    let token = scene.token("ann", "");
    assert!(ran(&call(&scene, &token).await));
    let used = scene.door.with(|door| std::mem::take(&mut door.tokens)).pop().expect("a token");
    scene.door.with(|door| door.revoked.insert(used.clone()));
    assert!(ran(&call(&scene, &token).await), "it is repeated with a new token");
    let tokens = scene.door.with(|door| std::mem::take(&mut door.tokens));
    assert_eq!(tokens.len(), 2, "{tokens:?}");
    assert!(tokens[0] == used && tokens[1] != used);
    // A server that refuses every token gets no token request for each call.
    scene.door.with(|door| door.refuses_all = true);
    let asked = scene.issuer.with(|state| state.tokens.len());
    for _ in 0..3 {
        let refused = call(&scene, &token).await;
        assert_eq!(failure(&refused), ("server-token-refused", "UPSTREAM_FAILURE", false), "{refused}");
    }
    assert_eq!(scene.issuer.with(|state| state.tokens.len()), asked, "not within 10 s");
    assert_eq!(scene.door.with(|door| door.tokens.len()), 3, "each was sent once");
}

#[tokio::test]
async fn a_missing_scope_is_named() {
    let scene = Scene::new(ClientCredentials).await;
    let token = scene.token("ann", "");
    assert!(ran(&call(&scene, &token).await));
    scene.door.with(|door| (door.tokens.clear(), door.wants_scope = Some("crm.admin crm.read")).0);
    let refused = call(&scene, &token).await;
    assert_eq!(failure(&refused), ("server-wants-scope", "PERMISSION_DENIED", false), "{refused}");
    assert_eq!(refused["error"]["data"]["required_scopes"], json!(["crm.admin", "crm.read"]));
    assert_eq!(scene.door.with(|door| door.tokens.len()), 1, "another token of the same scopes would not help");
}

#[tokio::test]
async fn one_token_of_the_gateway_serves_all_and_is_asked_for_once() {
    let scene = Scene::with(ClientCredentials, |settings, issuer| {
        let credentials = settings.upstreams[0].credentials.as_mut().expect("credentials");
        let endpoint = issuer.url("/token").parse().expect("a URL");
        (credentials.issuer, credentials.token_endpoint) = (None, Some(endpoint));
        (credentials.audience, credentials.resource) = (Some("crm".to_owned()), None);
    })
    .await;
    scene.issuer.with(|state| state.delay = Duration::from_millis(200));
    let tokens: Vec<_> = ["ann", "bob", "eve", "ann"].map(|user| scene.token(user, "")).into();
    let answers = join_all(tokens.iter().map(|token| call(&scene, token))).await;
    assert!(answers.iter().all(ran), "{answers:?}");
    assert_eq!(scene.users(), users(&["gateway"]));
    scene.issuer.with(|state| {
        assert_eq!(state.tokens.len(), 1, "whoever comes meanwhile waits for the same token");
        let posted = &state.tokens[0];
        assert_eq!(posted.form["grant_type"], "client_credentials");
        assert_eq!((posted.form["audience"].as_str(), posted.form.get("resource")), ("crm", None));
        // Without metadata, by header (RFC 6749, 2.3.1).
        assert_eq!(posted.authorization.as_deref(), Some(BASIC));
        assert!(!posted.form.contains_key("subject_token") && !posted.form.contains_key("client_secret"));
    });
}

#[tokio::test]
async fn a_client_may_prove_itself_by_a_key() {
    let (signer, pem) = Signer::fresh_with_text();
    let keys = JwkSet::read(&json!({ "keys": [signer.public()] })).expect("a key");
    let scene = Scene::with(ClientCredentials, |settings, _| {
        let key = Credential::Key { pem, alg: "ES256".to_owned() };
        settings.upstreams[0].credentials.as_mut().expect("credentials").client =
            Some(oauth::Client::new("gateway", key));
    })
    .await;
    assert!(ran(&call(&scene, &scene.token("ann", "")).await));
    scene.issuer.with(|state| {
        let posted = &state.tokens[0];
        let assertion = Jws::read(&posted.form["client_assertion"]).expect("a token");
        let claims = assertion.verified(&keys).expect("the gateway signed it");
        assert_eq!((&claims["iss"], &claims["sub"]), (&json!("gateway"), &json!("gateway")));
        assert_eq!(claims["aud"], json!(scene.issuer.url("")));
        assert_eq!(posted.authorization, None);
    });
}

#[tokio::test]
async fn a_token_is_renewed_while_calls_go_on() {
    let scene = Scene::new(ClientCredentials).await;
    scene.issuer.with(|state| state.mood = Some(Mood::Issues(4)));
    let token = scene.token("ann", "");
    assert!(ran(&call(&scene, &token).await));
    // From now on the issuer is slow; what waits for it is not a call.
    scene.issuer.with(|state| state.delay = Duration::from_millis(600));
    let (begin, mut longest) = (Instant::now(), Duration::ZERO);
    while begin.elapsed() < Duration::from_secs(7) {
        let sent = Instant::now();
        assert!(ran(&call(&scene, &token).await));
        longest = longest.max(sent.elapsed());
        sleep(Duration::from_millis(50)).await;
    }
    let asked = scene.issuer.with(|state| state.tokens.len());
    assert!((2..=4).contains(&asked), "{asked}");
    assert!(longest < Duration::from_millis(550), "a call waited {longest:?}");
}

#[tokio::test]
async fn a_server_says_what_it_is_called_and_cannot_choose_who_gets_credentials() {
    for (names_ours, runs) in [(true, true), (false, false)] {
        let scene = Scene::with(TokenExchange, |settings, _| {
            settings.upstreams[0].credentials.as_mut().expect("credentials").resource = None;
        })
        .await;
        let url = scene.server_url();
        let servers = if names_ours { scene.issuer.url("") } else { "https://evil.example".to_owned() };
        let metadata = json!({ "resource": url, "authorization_servers": [servers] });
        scene.door.with(|door| door.metadata = Some(metadata));
        let answer = call(&scene, &scene.token("ann", "")).await;
        assert_eq!(ran(&answer), runs, "{answer}");
        let resources: Vec<_> = scene.issuer.with(|state| {
            state.tokens.iter().map(|posted| posted.form.get("resource").cloned().unwrap_or_default()).collect()
        });
        assert_eq!(resources, if runs { vec![url] } else { Vec::new() });
    }
}

#[tokio::test]
async fn an_issuer_that_the_configuration_does_not_mean_gets_nothing() {
    let scene = Scene::with(TokenExchange, |settings, issuer| {
        // The metadata there names `issuer`, which is another name.
        let other = issuer.url("").replace("127.0.0.1", "localhost");
        settings.upstreams[0].credentials.as_mut().expect("credentials").issuer = Some(other);
    })
    .await;
    let refused = call(&scene, &scene.token("ann", "")).await;
    assert_eq!(failure(&refused).0, "no-server-token", "{refused}");
    scene.issuer.with(|state| assert!(state.tokens.is_empty()));
}
