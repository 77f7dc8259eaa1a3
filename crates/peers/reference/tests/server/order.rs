//! What strict and lenient servers make of requests around the handshake, and which status an error has over HTTP.

use net::server::http;
use net::server::stdio::Limits;
use reference::{Handshake, Options, Server};
use serde_json::{Value, json};
use wire::{Era, Revision};

use crate::line_client::LineClient;
use crate::wire_http::Client;

fn legacy() -> impl Iterator<Item = Revision> {
    Revision::ALL.into_iter().filter(|revision| revision.era() == Era::Legacy)
}

fn talk(handshake: Handshake, revision: Revision) -> LineClient {
    LineClient::with(Server::new(Options { handshake, ..Options::default() }), revision, Limits::default())
}

fn greeting(revision: Revision) -> Value {
    json!({
        "protocolVersion": revision.as_str(),
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    })
}

#[tokio::test]
async fn a_strict_server_waits_for_the_notification() {
    for revision in legacy() {
        for (handshake, waits) in [(Handshake::Strict, true), (Handshake::Usual, false)] {
            let mut talk = talk(handshake, revision);
            talk.result("ping", json!({})).await;
            talk.result("initialize", greeting(revision)).await;
            let early = talk.ask("tools/list", json!({})).await;
            assert_eq!(early["error"]["code"] == -32600, waits, "{revision} {handshake:?}: {early}");
            talk.result("ping", json!({})).await;
            talk.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
            talk.result("tools/list", json!({})).await;
        }
    }
}

#[tokio::test]
async fn a_strict_server_refuses_an_id_that_was_used() {
    for revision in legacy() {
        for (handshake, refuses) in [(Handshake::Strict, true), (Handshake::Usual, false)] {
            let mut talk = talk(handshake, revision);
            talk.shake_hands(json!({})).await;
            let ping = json!({ "jsonrpc": "2.0", "id": "again", "method": "ping" });
            talk.write(&ping).await;
            assert_eq!(talk.next().await["result"], json!({}));
            talk.write(&ping).await;
            let second = talk.next().await;
            assert_eq!(second["error"]["code"] == -32600, refuses, "{revision} {handshake:?}: {second}");
            assert_eq!(second["id"], "again");
        }
    }
}

#[tokio::test]
async fn a_strict_server_forgets_ids_with_their_session() {
    let client = Client::serving(Options { handshake: Handshake::Strict, ..Options::default() }).await;
    let ping = json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" }).to_string();
    for _ in 0..2 {
        let session = client.initialize("2025-06-18").await;
        let id = ("Mcp-Session-Id", session.as_str());
        assert!(client.post(&[id], &ping).await.json()["result"].is_object());
        assert_eq!(client.post(&[id], &ping).await.json()["error"]["code"], -32600);
    }
}

#[tokio::test]
async fn a_lenient_server_needs_no_handshake() {
    let mut talk = talk(Handshake::Lenient, Revision::NEWEST_LEGACY);
    assert!(talk.result("tools/list", json!({})).await["tools"].is_array());
    let params = json!({ "name": "echo", "arguments": { "message": "early" } });
    assert_eq!(talk.result("tools/call", params).await["content"][0]["text"], "early");
    talk.write(&json!({ "jsonrpc": "2.0", "id": 90, "method": "initialize" })).await;
    assert_eq!(talk.next().await["result"]["protocolVersion"], Revision::NEWEST_LEGACY.as_str());
    let unnamed = json!({ "protocolVersion": "2025-06-18", "clientInfo": { "name": 1 } });
    assert_eq!(talk.error("initialize", unnamed).await["code"], -32602, "what is given must fit");
}

#[tokio::test]
async fn errors_have_a_status_where_that_is_wanted() {
    for (error_status, statuses) in [(true, [400, 500, 200]), (false, [200, 200, 200])] {
        let client = Client::with(http::Options { error_status, ..http::Options::default() }).await;
        let session = client.initialize("2025-06-18").await;
        let read =
            |uri: &str| json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": uri } });
        for (uri, status) in ["proof://nowhere", "proof://broken/1", "proof://docs/readme"].into_iter().zip(statuses) {
            let reply = client.post(&[("Mcp-Session-Id", &session)], &read(uri).to_string()).await;
            assert_eq!(reply.status, status, "{error_status} {uri}");
            assert_eq!(reply.json()["id"], 1, "the body is there all the same");
        }
    }
}
