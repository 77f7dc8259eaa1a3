//! Who hears of changes: legacy sessions, modern subscriptions, and nobody who did not ask.

use net::server::stdio::Limits;
use reference::{Options, Server};
use serde_json::{Value, json};
use wire::revision::{R2025_11_25, R2026_07_28};
use wire::{Era, Revision};

use crate::line_client::LineClient;

async fn toggle(talk: &mut LineClient, tool: &str) -> Vec<Value> {
    let id = talk.send("tools/call", json!({ "name": tool })).await;
    talk.until(id).await
}

#[tokio::test]
async fn legacy_sessions_hear_of_changed_lists() {
    for revision in Revision::ALL.into_iter().filter(|r| r.era() == Era::Legacy) {
        let mut talk = LineClient::start(revision).await;
        for (tool, kind, list, name) in [
            ("toggle_tool", "tools", "tools/list", "extra"),
            ("toggle_prompt", "prompts", "prompts/list", "extra_prompt"),
            ("toggle_resource", "resources", "resources/list", "extra"),
        ] {
            for there in [true, false] {
                let all = toggle(&mut talk, tool).await;
                assert_eq!(all[0]["method"], format!("notifications/{kind}/list_changed"));
                assert_eq!(all.len(), 2);
                let mut params = json!({});
                let mut found = false;
                loop {
                    let page = talk.result(list, params).await;
                    found |= page[kind].as_array().unwrap().iter().any(|item| item["name"] == name);
                    let Some(cursor) = page.get("nextCursor") else { break };
                    params = json!({ "cursor": cursor });
                }
                assert_eq!(found, there, "{name}");
            }
        }
    }
}

#[tokio::test]
async fn legacy_sessions_subscribe_to_resources() {
    for revision in Revision::ALL.into_iter().filter(|r| r.era() == Era::Legacy) {
        let mut talk = LineClient::start(revision).await;
        talk.call("touch_resource", json!({})).await;
        let uri = json!({ "uri": "proof://counter" });
        assert_eq!(talk.result("resources/subscribe", uri.clone()).await, json!({}));
        let touched = toggle(&mut talk, "touch_resource").await;
        assert_eq!(touched[0]["method"], "notifications/resources/updated");
        assert_eq!(touched[0]["params"], uri);
        let read = talk.result("resources/read", uri.clone()).await;
        assert_eq!(read["contents"][0]["text"], "2\n");
        assert_eq!(talk.result("resources/unsubscribe", uri).await, json!({}));
        assert_eq!(toggle(&mut talk, "touch_resource").await.len(), 1);
        let error = talk.error("resources/subscribe", json!({ "uri": "proof://nowhere" })).await;
        assert_eq!(error["code"], -32002);
    }
}

#[tokio::test]
async fn nothing_is_sent_before_the_client_is_ready() {
    let server = Server::new(Options::default());
    let mut unready = LineClient::with(server.clone(), R2025_11_25, Limits::default());
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    unready.result("initialize", params).await;
    let mut other = LineClient::with(server, R2025_11_25, Limits::default());
    other.shake_hands(json!({})).await;
    toggle(&mut other, "toggle_tool").await;
    unready.assert_quiet().await;
}

#[tokio::test]
async fn a_subscription_gets_what_it_asked_for_and_nothing_else() {
    let mut talk = LineClient::start(R2026_07_28).await;
    let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["proof://counter", "proof://nowhere"] });
    let id = talk.send("subscriptions/listen", json!({ "notifications": filter })).await;
    let first = talk.next().await;
    let subscription = json!({ "io.modelcontextprotocol/subscriptionId": id });
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["_meta"], subscription);
    let honoured = json!({ "toolsListChanged": true, "resourceSubscriptions": ["proof://counter"] });
    assert_eq!(first["params"]["notifications"], honoured);
    for (tool, heard) in [
        ("toggle_prompt", None),
        ("toggle_tool", Some("notifications/tools/list_changed")),
        ("toggle_resource", None),
        ("touch_resource", Some("notifications/resources/updated")),
    ] {
        let all = toggle(&mut talk, tool).await;
        let changes: Vec<_> = all.iter().filter_map(|message| message["method"].as_str()).collect();
        assert_eq!(changes, Vec::from_iter(heard), "{tool}");
        if heard.is_some() {
            assert_eq!(all[0]["params"]["_meta"], subscription);
        }
    }
    talk.cancel(id).await;
    assert_eq!(toggle(&mut talk, "toggle_tool").await.len(), 1, "a cancelled subscription is silent");
}

#[tokio::test]
async fn several_subscriptions_are_told_apart() {
    let mut talk = LineClient::start(R2026_07_28).await;
    let mut ids = Vec::new();
    for filter in [json!({ "promptsListChanged": true }), json!({ "promptsListChanged": true }), json!({})] {
        ids.push(talk.send("subscriptions/listen", json!({ "notifications": filter })).await);
        talk.next().await;
    }
    let all = toggle(&mut talk, "toggle_prompt").await;
    let mut heard: Vec<_> = all[..all.len() - 1]
        .iter()
        .map(|message| message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].as_i64().unwrap())
        .collect();
    heard.sort_unstable();
    assert_eq!(heard, ids[..2]);
}

#[tokio::test]
async fn a_server_that_ends_says_so() {
    let mut talk = LineClient::start(R2026_07_28).await;
    let params = talk.dress(json!({ "notifications": { "toolsListChanged": true } }));
    let request = json!({ "jsonrpc": "2.0", "id": "sub", "method": "subscriptions/listen", "params": params });
    talk.write(&request).await;
    talk.next().await;
    let rest = talk.close().await;
    assert_eq!(rest.len(), 2, "{rest:?}");
    let subscription = &json!("sub");
    assert_eq!(rest[0]["method"], "notifications/cancelled");
    assert_eq!(&rest[0]["params"]["requestId"], subscription);
    assert_eq!(&rest[0]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], subscription);
    crate::schema::check(R2026_07_28, None, &rest[0]);
    assert_eq!(&rest[1]["id"], subscription);
    assert_eq!(&rest[1]["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], subscription);
    crate::schema::check(R2026_07_28, Some("subscriptions/listen"), &rest[1]);
}

#[tokio::test]
async fn a_filter_must_be_one() {
    let mut talk = LineClient::start(R2026_07_28).await;
    for params in [
        json!({}),
        json!({ "notifications": true }),
        json!({ "notifications": { "toolsListChanged": 1 } }),
        json!({ "notifications": { "resourceSubscriptions": "proof://counter" } }),
    ] {
        assert_eq!(talk.error("subscriptions/listen", params.clone()).await["code"], -32602, "{params}");
    }
}

#[tokio::test]
async fn a_filter_is_bounded_and_names_nothing_twice() {
    let mut talk = LineClient::start(R2026_07_28).await;
    let many = vec!["proof://counter"; 16_385];
    let long = vec!["x".repeat(600 << 10); 2];
    for filter in [json!({ "resourceSubscriptions": many }), json!({ "resourceSubscriptions": long })] {
        assert_eq!(talk.error("subscriptions/listen", json!({ "notifications": filter })).await["code"], -32603);
    }
    let filter = json!({ "resourceSubscriptions": many[..16_384] });
    talk.send("subscriptions/listen", json!({ "notifications": filter })).await;
    let honoured = &talk.next().await["params"]["notifications"];
    assert_eq!(*honoured, json!({ "resourceSubscriptions": ["proof://counter"] }));
}

#[tokio::test]
async fn a_connection_has_as_many_subscriptions_as_requests_in_flight() {
    let server = Server::new(Options::default());
    let mut talk = LineClient::with(server, R2026_07_28, Limits { in_flight: 3, ..Limits::default() });
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(talk.send("subscriptions/listen", params.clone()).await);
        assert_eq!(talk.next().await["method"], "notifications/subscriptions/acknowledged");
    }
    let id = talk.send("subscriptions/listen", params.clone()).await;
    let refused = talk.until(id).await;
    assert_eq!(refused.last().expect("an answer")["error"]["code"], -32603);
    assert_eq!(toggle(&mut talk, "toggle_tool").await.len(), 4, "three subscriptions hear of it");
    talk.cancel(ids[0]).await;
    talk.send("subscriptions/listen", params).await;
    assert_eq!(talk.next().await["method"], "notifications/subscriptions/acknowledged");
}
