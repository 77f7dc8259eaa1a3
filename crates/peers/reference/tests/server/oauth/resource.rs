//! Who is let in and what the others are told.

use net::server::http::OtherTransports;
use oauth::jose::{Jwk, Signer};
use oauth::now;
use reference::authorization::{Keys, Source, Tokens};
use serde_json::{Value, json};

use super::{development, guarded};
use crate::wire_http::{Client, modern_headers, modern_request};

pub(super) const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
pub(super) const ISSUER: &str = "https://as.example";

/// A server that takes the tokens of a signer of ours, which must have scope `mcp`.
pub(super) async fn with_keys(audience: Option<&str>) -> (Client, Signer, tempfile::TempDir) {
    let signer = Signer::fresh();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("jwks.json");
    let keys: Vec<Jwk> = signer.public().into_iter().collect();
    std::fs::write(&file, json!({ "keys": keys }).to_string()).unwrap();
    let keys = Keys::read(Source::File(file)).await.unwrap();
    let audience = audience.map(str::to_owned);
    let tokens = Tokens::From { keys, issuer: ISSUER.to_owned(), audience, scopes: vec!["mcp".to_owned()] };
    let all = OtherTransports { sse: true, websocket: true };
    (Client::serving(guarded(tokens, all)).await, signer, directory)
}

async fn status(server: &Client, signer: &Signer, claims: Value) -> (u16, Option<String>) {
    let token = format!("Bearer {}", signer.sign(json!({ "typ": "at+jwt" }), &claims));
    let reply = server.post(&[("Authorization", &token)], PING).await;
    (reply.status, reply.header("www-authenticate").map(str::to_owned))
}

#[tokio::test]
async fn only_tokens_of_the_issuer_for_this_server_let_in() {
    let (server, signer, _directory) = with_keys(None).await;
    let audience = format!("http://{}/mcp", server.host);
    let good = json!({ "iss": ISSUER, "aud": audience, "exp": now() + 60, "scope": "mcp more" });
    // 400: let in, and then without a session.
    assert_eq!(status(&server, &signer, good.clone()).await.0, 400);
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        claims
    };
    for (name, value) in [("iss", json!("https://x.example")), ("aud", json!("https://x.example")), ("exp", json!(1))] {
        let (status, challenge) = status(&server, &signer, with(name, value)).await;
        let challenge = challenge.unwrap();
        assert_eq!(status, 401, "{name}");
        assert!(
            challenge.contains("error=\"invalid_token\"") && challenge.contains("resource_metadata="),
            "{challenge}"
        );
    }
    assert_eq!(status(&server, &Signer::fresh(), good.clone()).await.0, 401, "signed by somebody else");
    let (little, challenge) = status(&server, &signer, with("scope", json!("more"))).await;
    assert_eq!(little, 403);
    let challenge = challenge.unwrap();
    assert!(challenge.contains("error=\"insufficient_scope\"") && challenge.contains("scope=\"mcp\""), "{challenge}");
}

#[tokio::test]
async fn the_audience_is_where_the_server_listens_whatever_the_client_calls_it() {
    let (server, signer, _directory) = with_keys(None).await;
    let port = server.host.rsplit(':').next().unwrap();
    let other = format!("127.0.0.1:{}", if port == "9999" { 9998 } else { 9999 });
    let local = format!("localhost:{port}");
    let token = |host: &str| {
        let claims = json!({ "iss": ISSUER, "aud": format!("http://{host}/mcp"), "exp": now() + 60, "scope": "mcp" });
        format!("Bearer {}", signer.sign(json!({}), &claims))
    };
    // 400: let in, and then without a session.
    for (called, aud, status) in [
        (&server.host, &server.host, 400),
        (&local, &server.host, 400),
        (&server.host, &local, 400),
        (&other, &other, 401),
        (&server.host, &other, 401),
        (&other, &server.host, 400),
    ] {
        let reply = server.post(&[("Host", called), ("Authorization", &token(aud))], PING).await;
        assert_eq!(reply.status, status, "called {called}, with a token for {aud}");
        let told = [("Host", called.as_str())];
        let document = server.bare("GET", "/.well-known/oauth-protected-resource/mcp", &told, "").await.whole().await;
        let own = if *called == other { &server.host } else { called };
        assert_eq!(document.json()["resource"], format!("http://{own}/mcp"));
    }
}

#[tokio::test]
async fn a_token_is_looked_for_in_one_header_only() {
    let (server, signer, _directory) = with_keys(Some("urn:this-server")).await;
    let claims = json!({ "iss": ISSUER, "aud": "urn:this-server", "exp": now() + 60, "scope": "mcp" });
    let token = signer.sign(json!({}), &claims);
    let bearer = format!("Bearer {token}");
    assert_eq!(server.post(&[("Authorization", &bearer)], PING).await.status, 400);
    assert_eq!(server.post(&[("Authorization", &bearer), ("Authorization", &bearer)], PING).await.status, 401);
    let query = server.plain("POST", &format!("/mcp?access_token={token}"), "application/json", &[], PING).await;
    assert_eq!(query.status, 401);
    let none = server.post(&[], PING).await;
    assert_eq!((none.status, none.text.as_str()), (401, ""));
    assert!(!none.header("www-authenticate").unwrap().contains("error"), "nothing was tried yet");
    for scheme in ["Basic", "DPoP", "Bearer "] {
        assert_eq!(server.post(&[("Authorization", &format!("{scheme} {token}"))], PING).await.status, 401, "{scheme}");
    }
    for method in ["GET", "DELETE"] {
        assert_eq!(server.open(method, &[], "").await.head.status, 401, "{method}");
    }
}

/// A request of a client that knows tasks.
async fn about_tasks(server: &Client, token: &str, method: &str, params: Value) -> Value {
    let mut request = modern_request(method, params);
    request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let headers = modern_headers(&request);
    let mut headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    headers.push(("Authorization", token));
    server.post(&headers, &request.to_string()).await.json()
}

#[tokio::test]
async fn what_one_subject_has_another_does_not_see() {
    let (server, signer, _directory) = with_keys(Some("urn:this-server")).await;
    let bearer = |subject: &str| {
        let claims =
            json!({ "iss": ISSUER, "aud": "urn:this-server", "exp": now() + 60, "scope": "mcp", "sub": subject });
        format!("Bearer {}", signer.sign(json!({}), &claims))
    };
    let (one, two) = (bearer("one"), bearer("two"));
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string();
    let begun = server.post(&[("Authorization", &one), ("Proof-Subject", "two")], &initialize).await;
    let session = begun.header("mcp-session-id").unwrap();
    for (token, status) in [(&one, 200), (&two, 404), (&bearer("one"), 200)] {
        let reply = server.post(&[("Authorization", token), ("Mcp-Session-Id", session)], PING).await;
        assert_eq!(reply.status, status, "{}", reply.text);
    }
    let forged = [("Authorization", two.as_str()), ("Mcp-Session-Id", session), ("Proof-Subject", "one")];
    assert_eq!(server.post(&forged, PING).await.status, 404);
    let arguments = json!({ "name": "buy", "arguments": {} });
    let made = about_tasks(&server, &one, "tools/call", arguments).await;
    let id = made["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    let wanted = json!({ "taskId": id });
    assert!(about_tasks(&server, &one, "tasks/get", wanted.clone()).await["result"].is_object());
    assert!(about_tasks(&server, &two, "tasks/get", wanted).await["error"].is_object());
}

#[tokio::test]
async fn the_metadata_is_wherever_clients_look() {
    let server = development(600).await;
    let base = format!("http://{}", server.host);
    for (path, resource) in [("", "/mcp"), ("/mcp", "/mcp"), ("/sse", "/sse"), ("/ws", "/ws")] {
        let path = format!("/.well-known/oauth-protected-resource{path}");
        let reply = server.plain("GET", &path, "", &[], "").await;
        assert_eq!(reply.status, 200, "{path}");
        assert_eq!(reply.json()["resource"], format!("{base}{resource}"));
        assert_eq!(reply.json()["authorization_servers"], json!([base, format!("{base}/tenant")]));
        assert_eq!(server.plain("POST", &path, "", &[], "").await.status, 405);
    }
    let elsewhere = server.plain("GET", "/.well-known/oauth-protected-resource/other", "", &[], "").await;
    assert_eq!(elsewhere.status, 404);
    for path in ["/sse", "/ws", "/messages?session=1"] {
        let refused = server.plain("GET", path, "", &[], "").await;
        assert_eq!(refused.status, 401, "{path}");
    }
}

#[tokio::test]
async fn what_is_no_set_of_keys_is_told() {
    let directory = tempfile::tempdir().unwrap();
    for (text, why) in
        [("", "no JSON"), ("{}", "no set of keys"), (r#"{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}"#, "no public key")]
    {
        let file = directory.path().join("jwks.json");
        std::fs::write(&file, text).unwrap();
        let error = Keys::read(Source::File(file)).await.unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    assert!(Keys::read(Source::File(directory.path().join("none"))).await.is_err());
    let plain = Source::Address(url::Url::parse("http://as.example/jwks").unwrap());
    assert!(Keys::read(plain).await.unwrap_err().contains("https"));
}
