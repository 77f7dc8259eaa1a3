//! What one token began, no token of another subject continues: on every transport, and for everything that comes back.

use oauth::jose::Signer;
use oauth::now;
use serde_json::{Value, json};

use super::resource::{ISSUER, PING, with_keys};
use crate::frames::{Socket, shake_hands};
use crate::wire_http::{Client, modern_headers, modern_request};

const SERVER: &str = "urn:this-server";

/// A token with these claims about its subject.
fn bearer(signer: &Signer, about: &Value) -> String {
    let mut claims = json!({ "iss": ISSUER, "aud": SERVER, "exp": now() + 60, "scope": "mcp", "jti": oauth::random() });
    claims.as_object_mut().unwrap().extend(about.as_object().unwrap().clone());
    format!("Bearer {}", signer.sign(json!({}), &claims))
}

#[tokio::test]
async fn an_sse_session_is_its_subjects_own() {
    let (server, signer, _directory) = with_keys(Some(SERVER)).await;
    let (one, two) = (bearer(&signer, &json!({ "sub": "one" })), bearer(&signer, &json!({ "sub": "two" })));
    let opening = [("Host", server.host.as_str()), ("Accept", "text/event-stream"), ("Authorization", &one)];
    let mut stream = server.bare("GET", "/sse", &opening, "").await;
    let endpoint = stream.event().await.unwrap().data.unwrap();
    let anonymous = bearer(&signer, &json!({}));
    for (token, status) in [(&two, 404), (&anonymous, 404), (&bearer(&signer, &json!({ "sub": "one" })), 202)] {
        let forged = [("Authorization", token.as_str()), ("Proof-Subject", "one")];
        let reply = server.plain("POST", &endpoint, "application/json", &forged, PING).await;
        assert_eq!(reply.status, status, "{}", reply.text);
    }
    assert_eq!(stream.message().await.unwrap()["id"], 1, "one answer came, and no other");
}

#[tokio::test]
async fn tokens_without_a_subject_share_no_session() {
    let (server, signer, _directory) = with_keys(Some(SERVER)).await;
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string();
    for (about, other) in [
        (json!({}), json!({})),
        (json!({ "sub": "me" }), json!({ "client_id": "me" })),
        (json!({ "client_id": "me" }), json!({})),
    ] {
        let (one, two) = (bearer(&signer, &about), bearer(&signer, &other));
        let begun = server.post(&[("Authorization", &one)], &initialize).await;
        let session = begun.header("mcp-session-id").unwrap();
        for (token, status) in [(&two, 404), (&one, 200)] {
            let reply = server.post(&[("Authorization", token), ("Mcp-Session-Id", session)], PING).await;
            assert_eq!(reply.status, status, "{about} {other}: {}", reply.text);
        }
    }
}

/// The result or the error of a modern call with a token.
async fn called(server: &Client, token: &str, params: Value) -> Value {
    let request = modern_request("tools/call", params);
    let headers = modern_headers(&request);
    let mut headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    headers.push(("Authorization", token));
    server.post(&headers, &request.to_string()).await.json()
}

#[tokio::test]
async fn a_request_state_is_its_subjects_own() {
    let (server, signer, _directory) = with_keys(Some(SERVER)).await;
    let bearer = |about: Value| bearer(&signer, &about);
    let one = bearer(json!({ "sub": "one" }));
    let asked = called(&server, &one, json!({ "name": "ask_in_turn" })).await;
    let state = asked["result"]["requestState"].as_str().unwrap_or_else(|| panic!("{asked}"));
    let answer = json!({ "name": { "action": "accept", "content": { "name": "Ada" } } });
    let answered = json!({ "name": "ask_in_turn", "inputResponses": answer, "requestState": state });
    for stranger in [json!({ "sub": "two" }), json!({ "client_id": "one" }), json!({})] {
        let refused = called(&server, &bearer(stranger.clone()), answered.clone()).await;
        assert_eq!(refused["error"]["code"], -32602, "{stranger}: {refused}");
    }
    let continued = called(&server, &bearer(json!({ "sub": "one" })), answered).await;
    assert!(continued["result"]["inputRequests"]["colour"].is_object(), "{continued}");
}

#[tokio::test]
async fn what_a_websocket_asked_belongs_to_whose_token_opened_it() {
    let (server, signer, _directory) = with_keys(Some(SERVER)).await;
    let [one, two] = ["one", "two"].map(|name| bearer(&signer, &json!({ "sub": name })));
    let open = async |token: &str| Socket(shake_hands(&server, &[("Authorization", token)]).await.into_socket());
    let call = |params: Value| modern_request("tools/call", params);
    let asked = open(&one).await.ask(&call(json!({ "name": "ask_in_turn" }))).await;
    let state = asked["result"]["requestState"].as_str().unwrap_or_else(|| panic!("{asked}"));
    let answer = json!({ "name": { "action": "accept", "content": { "name": "Ada" } } });
    let answered = json!({ "name": "ask_in_turn", "inputResponses": answer, "requestState": state });
    assert_eq!(open(&two).await.ask(&call(answered.clone())).await["error"]["code"], -32602);
    let continued = open(&one).await.ask(&call(answered)).await;
    assert!(continued["result"]["inputRequests"]["colour"].is_object(), "{continued}");
}

#[tokio::test]
async fn without_tokens_nothing_is_anybodys() {
    let unguarded = Client::serving(reference::Options::default()).await;
    let asked = unguarded.modern("tools/call", json!({ "name": "ask_in_turn" })).await.whole().await.json();
    let state = asked["result"]["requestState"].clone();
    let answer = json!({ "name": { "action": "accept", "content": { "name": "Ada" } } });
    let answered = json!({ "name": "ask_in_turn", "inputResponses": answer, "requestState": state });
    let request = modern_request("tools/call", answered);
    let headers = modern_headers(&request);
    let mut headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    // Nobody but a guard says whose a request is.
    headers.push(("Proof-Subject", "somebody"));
    let continued = unguarded.post(&headers, &request.to_string()).await.json();
    assert!(continued["result"]["inputRequests"]["colour"].is_object(), "{continued}");
}
