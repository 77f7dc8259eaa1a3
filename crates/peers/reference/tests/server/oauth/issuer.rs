//! The authorization server for development, asked by who does not keep to the rules.

use oauth::jose;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use url::form_urlencoded::Serializer;
use url::{Url, form_urlencoded};

use super::{OURS, development, local_development};
use crate::wire_http::{Client, Reply};

const FORM: &str = "application/x-www-form-urlencoded";
const VERIFIER: &str = "a-verifier-that-is-long-enough-to-be-one-43chars";
const REDIRECT: &str = "http://127.0.0.1:1/cb";

fn form(pairs: &[(&str, &str)]) -> String {
    Serializer::new(String::new()).extend_pairs(pairs).finish()
}

async fn register(server: &Client) -> String {
    let body = json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"] });
    let reply = server.plain("POST", "/register", "application/json", &[], &body.to_string()).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    assert!(reply.json().get("client_secret").is_none());
    reply.json()["client_id"].as_str().unwrap().to_owned()
}

/// An authorization request with some of its parameters replaced; empty ones are left out.
async fn authorize(server: &Client, client: &str, changed: &[(&str, &str)]) -> Reply {
    let challenge = jose::sha256(VERIFIER);
    let mut pairs = vec![
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", REDIRECT),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("state", "s t"),
    ];
    for (name, value) in changed {
        pairs.retain(|(other, _)| other != name);
        pairs.push((name, value));
    }
    pairs.retain(|(_, value)| !value.is_empty());
    server.plain("GET", &format!("/authorize?{}", form(&pairs)), "", &[], "").await
}

fn answer(reply: &Reply, name: &str) -> Option<String> {
    let location = Url::parse(reply.header("location")?).unwrap();
    location.query_pairs().find(|(other, _)| other == name).map(|(_, value)| value.into_owned())
}

async fn code(server: &Client, client: &str) -> String {
    answer(&authorize(server, client, &[]).await, "code").unwrap()
}

async fn redeem(server: &Client, client: &str, code: &str, changed: &[(&str, &str)]) -> Reply {
    let mut pairs = vec![
        ("grant_type", "authorization_code"),
        ("client_id", client),
        ("code", code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
    ];
    for (name, value) in changed {
        pairs.retain(|(other, _)| other != name);
        pairs.push((name, value));
    }
    server.plain("POST", "/token", FORM, &[], &form(&pairs)).await
}

#[tokio::test]
async fn an_authorization_request_must_be_right() {
    let server = development(600).await;
    let client = register(&server).await;
    let good = authorize(&server, &client, &[]).await;
    assert_eq!((good.status, answer(&good, "state").as_deref()), (302, Some("s t")));
    assert_eq!(answer(&good, "iss").unwrap(), format!("http://{}", server.host));
    for (name, value) in
        [("client_id", "other"), ("client_id", ""), ("redirect_uri", "https://evil.example/cb"), ("redirect_uri", "")]
    {
        let refused = authorize(&server, &client, &[(name, value)]).await;
        assert_eq!((refused.status, refused.header("location")), (400, None), "{name}={value}");
    }
    for (name, value, error) in [
        ("response_type", "token", "unsupported_response_type"),
        ("code_challenge", "", "invalid_request"),
        ("code_challenge", "short", "invalid_request"),
        ("code_challenge_method", "plain", "invalid_request"),
        ("code_challenge_method", "", "invalid_request"),
        ("scope", "mcp:read admin", "invalid_scope"),
        ("resource", "https://other.example", "invalid_target"),
    ] {
        let refused = authorize(&server, &client, &[(name, value)]).await;
        assert_eq!(answer(&refused, "error").as_deref(), Some(error), "{name}={value}");
        assert!(answer(&refused, "code").is_none() && answer(&refused, "iss").is_some());
    }
    let twice = server.plain("GET", "/authorize?state=a&state=b", "", &[], "").await;
    assert_eq!(twice.status, 400);
}

#[tokio::test]
async fn a_code_is_good_once_and_for_who_asked() {
    let server = development(600).await;
    let (client, other) = (register(&server).await, register(&server).await);
    for changed in [
        ("code_verifier", "another-verifier-that-is-long-enough-to-be-one"),
        ("code_verifier", ""),
        ("redirect_uri", "http://127.0.0.1:2/cb"),
        ("client_id", &other),
        ("code", "made-up"),
    ] {
        let code = code(&server, &client).await;
        let refused = redeem(&server, &client, &code, &[changed]).await;
        assert_eq!((refused.status, &refused.json()["error"]), (400, &json!("invalid_grant")), "{changed:?}");
    }
    let code = code(&server, &client).await;
    let tokens = redeem(&server, &client, &code, &[]).await;
    assert_eq!((tokens.status, tokens.header("cache-control")), (200, Some("no-store")));
    assert_eq!(redeem(&server, &client, &code, &[]).await.status, 400, "a code is good once");
    let unknown = redeem(&server, "nobody", &code, &[]).await;
    assert_eq!((unknown.status, &unknown.json()["error"]), (401, &json!("invalid_client")));
    let json = server.plain("POST", "/token", "application/json", &[], "{}").await;
    assert_eq!(json.status, 400);
}

async fn refresh(server: &Client, client: &str, token: &Value, scope: &str) -> Reply {
    let mut pairs =
        vec![("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token.as_str().unwrap())];
    if !scope.is_empty() {
        pairs.push(("scope", scope));
    }
    server.plain("POST", "/token", FORM, &[], &form(&pairs)).await
}

#[tokio::test]
async fn who_shows_a_refresh_token_twice_ends_all_that_came_of_it() {
    let server = development(600).await;
    let (client, other) = (register(&server).await, register(&server).await);
    let first = redeem(&server, &client, &code(&server, &client).await, &[]).await.json()["refresh_token"].clone();
    assert_eq!(refresh(&server, &other, &first, "").await.status, 400, "it is not for another");
    assert_eq!(refresh(&server, &client, &first, "mcp:call").await.status, 400, "it brings no more than was granted");
    let second = refresh(&server, &client, &first, "").await;
    assert_eq!(second.status, 200);
    let second = second.json()["refresh_token"].clone();
    assert_ne!(first, second);
    assert_eq!(refresh(&server, &client, &first, "").await.status, 400);
    assert_eq!(refresh(&server, &client, &second, "").await.status, 400, "the thief and the robbed are one");
}

/// Whether an access token is still accepted.
async fn opens(server: &Client, token: &Value) -> bool {
    let bearer = format!("Bearer {}", token.as_str().unwrap());
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    // 400: let in, and then without a session.
    server.post(&[("Authorization", &bearer)], ping).await.status == 400
}

#[tokio::test]
async fn a_code_or_refresh_token_that_comes_again_ends_all_tokens_of_its_consent() {
    let server = development(600).await;
    let (client, other) = (register(&server).await, register(&server).await);
    let bystander = redeem(&server, &client, &code(&server, &client).await, &[]).await.json();
    // Whoever shows the code again, by whatever client and with whatever verifier.
    for replayed_by in [&client, &other] {
        let code = code(&server, &client).await;
        let given = redeem(&server, &client, &code, &[]).await.json();
        assert!(opens(&server, &given["access_token"]).await);
        let again = redeem(&server, replayed_by, &code, &[("code_verifier", "another")]).await;
        assert_eq!((again.status, &again.json()["error"]), (400, &json!("invalid_grant")));
        assert!(!opens(&server, &given["access_token"]).await, "the access token has ended");
        assert_eq!(refresh(&server, &client, &given["refresh_token"], "").await.status, 400, "and the refresh token");
    }
    let first = redeem(&server, &client, &code(&server, &client).await, &[]).await.json();
    let second = refresh(&server, &client, &first["refresh_token"], "").await.json();
    assert!(opens(&server, &second["access_token"]).await);
    assert_eq!(refresh(&server, &client, &first["refresh_token"], "").await.status, 400);
    assert!(!opens(&server, &first["access_token"]).await && !opens(&server, &second["access_token"]).await);
    assert!(opens(&server, &bystander["access_token"]).await, "another consent goes on");
}

#[tokio::test]
async fn a_client_in_its_own_name_is_no_user() {
    let server = development(600).await;
    let pairs = [("grant_type", "client_credentials"), ("client_id", OURS.0), ("client_secret", OURS.1)];
    let given = server.plain("POST", "/token", FORM, &[], &form(&pairs)).await.json();
    let claims = given["access_token"].as_str().unwrap().split('.').nth(1).and_then(jose::decode).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!(claims["sub"], format!("client:{}", OURS.0));
}

#[tokio::test]
async fn a_document_is_never_fetched_from_this_machine_unless_that_is_configured() {
    let server = development(600).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:7f00:1]", "[::1]", "10.0.0.1", "169.254.169.254"] {
        for scheme in ["http", "https"] {
            let id = format!("{scheme}://{host}:{port}/client.json");
            let refused = authorize(&server, &id, &[]).await;
            assert_eq!((refused.status, refused.header("location")), (400, None), "{id}");
        }
    }
    let connected = tokio::time::timeout(std::time::Duration::from_millis(20), listener.accept()).await;
    assert!(connected.is_err(), "something was fetched");
}

#[tokio::test]
async fn both_issuers_keep_their_clients_apart() {
    let server = development(600).await;
    let client = register(&server).await;
    let query = form(&[("client_id", &client), ("redirect_uri", REDIRECT), ("response_type", "code")]);
    let other = server.plain("GET", &format!("/tenant/authorize?{query}"), "", &[], "").await;
    assert_eq!((other.status, other.header("location")), (400, None));
    for (path, issuer) in
        [("/.well-known/oauth-authorization-server", ""), ("/tenant/.well-known/openid-configuration", "/tenant")]
    {
        let found = server.plain("GET", path, "", &[], "").await.json();
        assert_eq!(found["issuer"], format!("http://{}{issuer}", server.host));
        let keys = Url::parse(found["jwks_uri"].as_str().unwrap()).unwrap();
        let keys = server.plain("GET", keys.path(), "", &[], "").await;
        assert!(keys.json()["keys"][0].get("d").is_none() && keys.json()["keys"][0]["x"].is_string());
    }
}

#[tokio::test]
async fn what_cannot_be_registered_is_not() {
    let server = development(600).await;
    for body in [
        json!([]),
        json!({}),
        json!({ "redirect_uris": ["http://evil.example/cb"] }),
        json!({ "redirect_uris": ["javascript:alert(1)"] }),
        json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "tls_client_auth" }),
    ] {
        let refused = server.plain("POST", "/register", "application/json", &[], &body.to_string()).await;
        assert_eq!(refused.status, 400, "{body}");
    }
    let long = server.plain("POST", "/register", "application/json", &[], &"x".repeat(70 << 10)).await;
    assert_eq!(long.status, 413);
    let foreign = server.plain("POST", "/register", "text/plain", &[("Origin", "https://evil.example")], "{}").await;
    assert_eq!(foreign.status, 403);
}

#[tokio::test]
async fn a_browser_is_asked_and_never_agrees_by_itself() {
    let server = development(600).await;
    let client = register(&server).await;
    let query = form(&[
        ("client_id", &client),
        ("redirect_uri", REDIRECT),
        ("response_type", "code"),
        ("code_challenge", &jose::sha256(VERIFIER)),
        ("code_challenge_method", "S256"),
    ]);
    let target = format!("/authorize?{query}");
    for header in [("Accept", "text/html"), ("Sec-Fetch-Mode", "no-cors")] {
        let page = server.plain("GET", &target, "", &[header], "").await;
        assert_eq!((page.status, page.header("location")), (200, None), "{header:?}");
        assert_eq!(page.header("x-frame-options"), Some("DENY"));
        let key = page.text.split("value=\"").nth(1).unwrap().split('"').next().unwrap();
        let denied = server.plain("POST", "/authorize", FORM, &[], &format!("request={key}&answer=deny")).await;
        assert_eq!(answer(&denied, "error").as_deref(), Some("access_denied"));
    }
}

/// Serves `document` at some path on this machine, and says at which address.
async fn published(document: impl Fn(&str) -> Value) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let id = format!("http://{}/client.json", listener.local_addr().unwrap());
    let body = document(&id).to_string();
    tokio::spawn(async move {
        for _ in 0..4 {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut piece = [0; 4096];
            let _ = socket.read(&mut piece).await;
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = socket.write_all(format!("{head}{body}").as_bytes()).await;
        }
    });
    id
}

#[tokio::test]
async fn a_client_may_be_described_at_its_own_address() {
    let server = local_development().await;
    let described =
        |id: &str| json!({ "client_id": id, "client_name": "<b>me</b>\u{202e}!", "redirect_uris": [REDIRECT] });
    let id = published(described).await;
    let code = answer(&authorize(&server, &id, &[]).await, "code").unwrap();
    assert_eq!(redeem(&server, &id, &code, &[]).await.status, 200);
    let encoded: String = form_urlencoded::byte_serialize(id.as_bytes()).collect();
    let redirect: String = form_urlencoded::byte_serialize(REDIRECT.as_bytes()).collect();
    let target = format!(
        "/authorize?response_type=code&client_id={encoded}&redirect_uri={redirect}&code_challenge={}&code_challenge_method=S256",
        jose::sha256(VERIFIER)
    );
    let page = server.plain("GET", &target, "", &[("Accept", "text/html")], "").await;
    assert!(page.text.contains("&lt;b&gt;me") && !page.text.contains("<b>me"), "{}", page.text);
    assert!(page.text.contains("\\u{202e}!") && !page.text.contains('\u{202e}'), "{}", page.text);
    for wrong in [
        json!({ "client_id": "https://other.example/client.json", "client_name": "me", "redirect_uris": [REDIRECT] }),
        json!({ "client_name": "me", "redirect_uris": [REDIRECT] }),
        json!([]),
    ] {
        let id = published(|_| wrong.clone()).await;
        assert_eq!(authorize(&server, &id, &[]).await.status, 400, "{wrong}");
    }
    let secret = published(
        |id| json!({ "client_id": id, "client_name": "me", "redirect_uris": [REDIRECT], "client_secret": "x" }),
    )
    .await;
    assert_eq!(authorize(&server, &secret, &[]).await.status, 400);
}
