//! Rows 26–32 of the translation table: results and errors.

use net::service::{Answer, RpcError};
use serde_json::{Value, json};
use wire::meta;
use wire::revision::{R2025_06_18, R2025_11_25, R2026_07_28};

use crate::scene::Scene;
use crate::script::Script;

fn refusing(revision: wire::Revision, code: i64, data: Value) -> Script {
    Script::new(revision, json!({}), move |call| {
        Answer::error(Some(call.id()), &RpcError::new(code, "Refused").with_data(data.clone())).into()
    })
}

#[tokio::test]
async fn row_26_several_servers_answer_under_the_gateways_name() {
    let tools = |name: &str| {
        let result = json!({ "tools": [{ "name": name, "inputSchema": { "type": "object" } }] });
        Script::fixed(R2025_11_25, json!({ "tools": {} }), result)
    };
    let scene = Scene::two(tools("a"), tools("b")).await;
    let listed = scene.raw(R2026_07_28, json!({})).await.call("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(2), "{listed}");
    assert_eq!(listed["result"]["_meta"][meta::SERVER_INFO]["name"], "proof-gateway");
}

#[tokio::test]
async fn row_28_a_cursor_belongs_to_its_server() {
    let page = || {
        Script::fixed(
            R2026_07_28,
            json!({ "tools": {} }),
            json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": [], "nextCursor": "c 1" }),
        )
    };
    let scene = Scene::scripted(page()).await;
    let client = scene.raw(R2025_11_25, json!({})).await;
    let listed = client.call("tools/list", json!({ "cursor": "c 0" })).await;
    assert_eq!(listed["result"]["nextCursor"], "c 1", "{listed}");
    assert_eq!(scene.seen.last("tools/list").message["params"]["cursor"], "c 0");
    let last = || Script::fixed(R2025_11_25, json!({ "tools": {} }), json!({ "tools": [] }));
    let scene = Scene::two(last(), last()).await;
    let refused = scene.raw(R2025_11_25, json!({})).await.call("tools/list", json!({ "cursor": "c 0" })).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

#[tokio::test]
async fn row_30_urls_to_open_become_questions() {
    let elicitation = json!({ "mode": "url", "message": "m", "url": "https://x.example/", "elicitationId": "e1" });
    let scene = Scene::scripted(refusing(R2025_11_25, -32042, json!({ "elicitations": [elicitation] }))).await;
    let able = scene.raw(R2026_07_28, json!({ "elicitation": { "form": {}, "url": {} } })).await;
    let asked = able.tool("a").await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let question = &asked["result"]["inputRequests"]["e1"];
    assert_eq!(question["params"], json!({ "mode": "url", "message": "m", "url": "https://x.example/" }));
    let refused = scene.raw(R2026_07_28, json!({ "elicitation": {} })).await.tool("a").await;
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    assert_eq!(refused["error"]["data"]["requiredCapabilities"], json!({ "elicitation": { "url": {} } }));
    let same = scene.raw(R2025_11_25, json!({})).await.tool("a").await;
    assert_eq!(same["error"]["code"], -32042, "a client of 2025-11-25 knows it: {same}");
}

#[tokio::test]
async fn row_31_what_concerns_the_gateway_is_no_error_of_the_client() {
    for code in [-32020, -32022] {
        let scene = Scene::scripted(refusing(R2026_07_28, code, json!({ "supported": [] }))).await;
        let refused = scene.raw(R2025_11_25, json!({})).await.tool("a").await;
        assert_eq!(refused["error"]["code"], -32603, "{refused}");
    }
}

#[tokio::test]
async fn row_32_other_errors_pass_as_they_are() {
    for (seen, spoken) in [(R2025_06_18, R2026_07_28), (R2026_07_28, R2025_06_18)] {
        for code in [-32602, -32021, -32603, 7] {
            let scene = Scene::scripted(refusing(spoken, code, json!({ "n": 1 }))).await;
            let refused = scene.raw(seen, json!({})).await.tool("a").await;
            let expected = json!({ "code": code, "message": "Refused", "data": { "n": 1 } });
            assert_eq!(refused["error"], expected, "{seen} at {spoken}");
        }
        let failed = json!({ "content": [{ "type": "text", "text": "t" }], "isError": true, "resultType": "complete" });
        let scene = Scene::scripted(Script::fixed(spoken, json!({}), failed)).await;
        let answer = scene.raw(seen, json!({})).await.tool("a").await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    }
}
