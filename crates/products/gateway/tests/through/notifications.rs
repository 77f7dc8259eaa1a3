//! Rows 53–59 of the translation table: notifications.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use net::service::{Answer, Call, Reply, RpcError};
use serde_json::{Value, json};
use wire::meta;
use wire::revision::{R2024_11_05, R2025_06_18, R2025_11_25, R2026_07_28};

use crate::raw::next;
use crate::scene::Scene;
use crate::script::Script;
use crate::transport::change_tools;

#[tokio::test]
async fn row_53_a_change_reaches_every_subscription() {
    for spoken in [R2025_11_25, R2026_07_28] {
        let scene = Scene::through(spoken).await;
        let client = scene.raw(R2026_07_28, json!({})).await;
        let listen = client.request("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
        let mut stream = client.start(&listen, &[]).await;
        let acknowledged = next(&mut stream).await.expect("an acknowledgement");
        assert_eq!(acknowledged["params"]["notifications"], json!({ "toolsListChanged": true }));
        let received = tokio::spawn(async move { next(&mut stream).await });
        change_tools(&client, &received).await;
        let change = received.await.expect("it ends").expect("a message");
        assert_eq!(change["method"], "notifications/tools/list_changed", "{spoken}");
        assert_eq!(change["params"]["_meta"][meta::SUBSCRIPTION_ID], listen["id"], "{change}");
        scene.end().await;
    }
}

#[tokio::test]
async fn row_54_subscriptions_to_resources_cross() {
    let declared = json!({ "resources": { "subscribe": true } });
    let scene = Scene::scripted(Script::new(R2026_07_28, declared.clone(), |_| Reply::later(std::future::pending())));
    let scene = scene.await;
    let client = scene.raw(R2025_11_25, json!({})).await;
    let subscribed = client.call("resources/subscribe", json!({ "uri": "a://1" })).await;
    assert_eq!(subscribed["result"], json!({}), "{subscribed}");
    let listen = scene.seen.wait("subscriptions/listen").await.message;
    assert_eq!(listen["params"]["notifications"], json!({ "resourceSubscriptions": ["a://1"] }));
    let scene = Scene::scripted(Script::new(R2025_11_25, declared, |call: Call| {
        if call.message.params().is_some_and(|params| params["uri"] == "a://bad") {
            return Answer::error(Some(call.id()), &RpcError::new(-32002, "no")).into();
        }
        Answer::result(call.id(), &json!({})).into()
    }))
    .await;
    let client = scene.raw(R2026_07_28, json!({})).await;
    let filter = json!({ "notifications": { "resourceSubscriptions": ["a://1", "a://bad"] } });
    let mut stream = client.start(&client.request("subscriptions/listen", filter), &[]).await;
    let acknowledged = next(&mut stream).await.expect("an acknowledgement");
    assert_eq!(acknowledged["params"]["notifications"], json!({ "resourceSubscriptions": ["a://1"] }));
    assert_eq!(scene.seen.of("resources/subscribe").len(), 2);
}

#[tokio::test]
async fn row_55_a_subscription_ends_with_its_result() {
    let scene = Scene::scripted(Script::fixed(R2025_11_25, json!({}), json!({}))).await;
    let client = scene.raw(R2026_07_28, json!({})).await;
    let listen = client.request("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    let mut stream = client.start(&listen, &[]).await;
    let first = next(&mut stream).await.expect("an acknowledgement");
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["notifications"], json!({}), "the server declares no changes");
    let ((), last) = tokio::join!(scene.end(), async {
        let mut last = Value::Null;
        while let Some(message) = next(&mut stream).await {
            last = message;
        }
        last
    });
    assert_eq!(last["id"], listen["id"], "{last}");
    assert_eq!(last["result"]["_meta"][meta::SUBSCRIPTION_ID], listen["id"], "{last}");
}

#[tokio::test]
async fn row_56_progress_without_its_text_says_so() {
    // 2024-11-05 has no Streamable HTTP: its client is on a pipe.
    let scene = Scene::scripted(Script::new(R2025_11_25, json!({}), |call: Call| {
        let token = call.message.meta().and_then(|meta| meta.get("progressToken")).cloned();
        let params = json!({ "progressToken": token, "progress": 1, "message": "half" });
        let _ = call.link.notify("notifications/progress", params);
        Answer::result(call.id(), &json!({ "content": [] })).into()
    }))
    .await;
    let opening = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": R2024_11_05.as_str(), "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } } });
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "a", "_meta": { "progressToken": "p" } } });
    let lines = scene.over_stdio(&[opening, initialized, call]).await;
    let progress = &lines[1]["params"];
    assert_eq!((&progress["progressToken"], progress.get("message")), (&json!("p"), None), "{lines:?}");
    assert_eq!(progress["_meta"][meta::LOSSES][0]["row"], "56", "{lines:?}");
    assert_eq!(scene.losses(), ["56"]);
}

fn logging(revision: wire::Revision) -> Script {
    Script::new(revision, json!({ "logging": {} }), |call: Call| {
        if call.message.method() == Some("tools/call") {
            for level in ["debug", "warning"] {
                let _ = call.link.notify("notifications/message", json!({ "level": level, "data": level }));
            }
        }
        Answer::result(call.id(), &json!({ "content": [], "resultType": "complete" })).into()
    })
}

#[tokio::test]
async fn row_57_the_level_of_the_session_goes_with_each_request() {
    let scene = Scene::scripted(logging(R2026_07_28)).await;
    let client = scene.raw(R2025_11_25, json!({})).await;
    client.tool("a").await;
    let level = |scene: &Scene| scene.seen.last("tools/call").message["params"]["_meta"].get(meta::LOG_LEVEL).cloned();
    assert_eq!(level(&scene), None);
    client.call("logging/setLevel", json!({ "level": "notice" })).await;
    client.tool("a").await;
    assert_eq!(level(&scene), Some(json!("notice")));
}

#[tokio::test]
async fn row_57_a_request_hears_what_it_asked_for() {
    let scene = Scene::scripted(logging(R2025_11_25)).await;
    let client = scene.raw(R2026_07_28, json!({})).await;
    let params = json!({ "name": "a", "_meta": { (meta::LOG_LEVEL): "info" } });
    let got = client.post(&client.request("tools/call", params), &[]).await;
    assert_eq!(got.messages.len(), 2, "{got:?}");
    assert_eq!(got.messages[0]["params"]["level"], "warning", "{got:?}");
    assert_eq!(scene.seen.last("logging/setLevel").message["params"]["level"], "info");
    let silent = client.post(&client.request("tools/call", json!({ "name": "a" })), &[]).await;
    assert_eq!(silent.messages.len(), 1, "{silent:?}");
}

#[tokio::test]
async fn row_57_a_message_of_no_request_is_counted() {
    let scene = Scene::scripted(Script::new(R2025_11_25, json!({}), |call: Call| {
        let session = call.context.session.clone();
        tokio::spawn(async move {
            for _ in 0..40 {
                tokio::time::sleep(Duration::from_millis(50)).await;
                let message = json!({ "level": "error", "data": "d" });
                let _ = session.as_ref().map(|session| session.notify("notifications/message", Some(message)));
            }
        });
        Answer::result(call.id(), &json!({ "content": [] })).into()
    }))
    .await;
    scene.raw(R2026_07_28, json!({})).await.tool("a").await;
    for _ in 0..40 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        if scene.losses() == ["57"] {
            return;
        }
    }
    panic!("not counted: {:?}", scene.losses());
}

struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn row_58_a_cancelled_request_ends_at_the_server() {
    for (seen, spoken) in [(R2026_07_28, R2025_11_25), (R2026_07_28, R2026_07_28), (R2025_11_25, R2026_07_28)] {
        let ended = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&ended);
        let scene = Scene::scripted(Script::new(spoken, json!({}), move |_| {
            let dropped = Dropped(Arc::clone(&flag));
            Reply::later(async move {
                let _dropped = dropped;
                std::future::pending().await
            })
        }))
        .await;
        let client = Arc::new(scene.raw(seen, json!({})).await);
        let request = client.request("tools/call", json!({ "name": "a" }));
        let calling = {
            let (client, request) = (Arc::clone(&client), request.clone());
            tokio::spawn(async move { client.post(&request, &[]).await })
        };
        scene.seen.wait("tools/call").await;
        if seen == R2026_07_28 {
            calling.abort();
        } else {
            let params = json!({ "requestId": request["id"], "reason": "enough" });
            let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            client.post(&cancel, &[]).await;
        }
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if ended.load(Ordering::Relaxed) {
                break;
            }
        }
        assert!(ended.load(Ordering::Relaxed), "{seen} at {spoken}: the server goes on");
    }
}

#[tokio::test]
async fn row_59_a_change_of_roots_ends_here_and_is_not_promised() {
    for spoken in [R2025_06_18, R2026_07_28] {
        let scene =
            Scene::scripted(Script::fixed(spoken, json!({}), json!({ "content": [], "resultType": "complete" })));
        let scene = scene.await;
        let client = scene.raw(R2025_11_25, json!({ "roots": { "listChanged": true } })).await;
        client.tool("a").await;
        let changed = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" });
        assert_eq!(client.post(&changed, &[]).await.status, 202);
        client.tool("a").await;
        assert_eq!(scene.seen.of("notifications/roots/list_changed").len(), 0);
        for initialize in scene.seen.of("initialize") {
            assert_eq!(initialize.message["params"]["capabilities"], json!({ "roots": {} }), "{spoken}");
        }
    }
}
