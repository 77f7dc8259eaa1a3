//! Rows 1–10 of the translation table: opening and negotiation.

use serde_json::json;
use wire::revision::{R2025_06_18, R2025_11_25, R2026_07_28};
use wire::{Revision, meta};

use crate::raw::Raw;
use crate::scene::Scene;
use crate::script::Script;

/// A server that answers everything with an empty list of tools.
fn server(revision: Revision) -> Script {
    Script::fixed(revision, json!({ "tools": {} }), json!({ "tools": [], "resultType": "complete" }))
}

#[tokio::test]
async fn row_01_the_gateway_answers_initialize_and_sends_its_own() {
    let scene = Scene::scripted(server(R2026_07_28)).await;
    let client = scene.raw(R2025_06_18, json!({})).await;
    assert_eq!(client.opening["protocolVersion"], "2025-06-18");
    assert_eq!(client.opening["serverInfo"]["name"], "scripted");
    assert_eq!(scene.seen.of("initialize").len(), 0, "{:?}", scene.seen.methods());
    let scene = Scene::scripted(server(R2025_06_18)).await;
    let client = scene.raw(R2026_07_28, json!({})).await;
    client.call("tools/list", json!({})).await;
    client.call("tools/list", json!({})).await;
    let initialize = scene.seen.of("initialize");
    assert_eq!(initialize.len(), 1);
    assert_eq!(initialize[0].message["params"]["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn row_02_initialized_comes_before_the_first_request() {
    let scene = Scene::scripted(server(R2025_11_25)).await;
    scene.raw(R2026_07_28, json!({})).await.call("tools/list", json!({})).await;
    let methods = scene.seen.methods();
    let at = |name: &str| methods.iter().position(|method| method == name);
    assert!(at("initialize") < at("notifications/initialized"), "{methods:?}");
    assert!(at("notifications/initialized") < at("tools/list"), "{methods:?}");
    let scene = Scene::scripted(server(R2026_07_28)).await;
    scene.raw(R2025_11_25, json!({})).await.call("tools/list", json!({})).await;
    assert_eq!(scene.seen.of("notifications/initialized").len(), 0);
}

#[tokio::test]
async fn row_03_the_gateway_answers_discover() {
    let scene = Scene::scripted(server(R2025_11_25)).await;
    let answer = scene.raw(R2026_07_28, json!({})).await.call("server/discover", json!({})).await;
    let result = &answer["result"];
    assert_eq!(result["supportedVersions"].as_array().map(Vec::len), Some(5), "{answer}");
    assert_eq!((&result["capabilities"], &result["ttlMs"]), (&json!({ "tools": {} }), &json!(0)));
    assert_eq!(result["_meta"][meta::SERVER_INFO]["name"], "scripted");
}

#[tokio::test]
async fn row_04_an_unknown_revision_gets_an_offer_or_the_list() {
    let scene = Scene::scripted(server(R2025_11_25)).await;
    let offered = Raw::asking_for("1999-01-01", scene.url(), R2025_11_25, json!({})).await;
    assert_eq!(offered.opening["protocolVersion"], "2025-11-25");
    let fresh = scene.raw(R2026_07_28, json!({})).await;
    let mut request = fresh.request("tools/list", json!({}));
    request["params"]["_meta"][meta::PROTOCOL_VERSION] = json!("2099-01-01");
    let refused = fresh.post(&request, &[]).await;
    assert_eq!((refused.status, &refused.response()["error"]["code"]), (400, &json!(-32022)), "{refused:?}");
    assert_eq!(refused.response()["error"]["data"]["supported"].as_array().map(Vec::len), Some(5), "{refused:?}");
}

#[tokio::test]
async fn row_05_each_hop_has_its_own_revision() {
    const NAME: &str = "mcp-protocol-version";
    let scene = Scene::scripted(server(R2026_07_28)).await;
    scene.raw(R2025_06_18, json!({})).await.call("tools/list", json!({})).await;
    assert_eq!(scene.seen.last("tools/list").headers[NAME], "2026-07-28");
    let scene = Scene::scripted(server(R2025_06_18)).await;
    let client = scene.raw(R2026_07_28, json!({})).await;
    client.call("tools/list", json!({})).await;
    assert_eq!(scene.seen.last("tools/list").headers[NAME], "2025-06-18");
    let refused = client.post(&client.request("tools/list", json!({})), &[(NAME, "2025-06-18")]).await;
    assert_eq!((refused.status, &refused.response()["error"]["code"]), (400, &json!(-32020)), "{refused:?}");
}

#[tokio::test]
async fn row_06_a_server_learns_what_this_client_can_do() {
    let declared = json!({ "roots": { "listChanged": true }, "sampling": {}, "tasks": {} });
    let scene = Scene::scripted(server(R2026_07_28)).await;
    scene.raw(R2025_11_25, declared.clone()).await.tool("a").await;
    let meta = &scene.seen.last("tools/call").message["params"]["_meta"];
    assert_eq!(meta[meta::CLIENT_CAPABILITIES], json!({ "roots": {}, "sampling": {} }));
    let scene = Scene::scripted(server(R2025_11_25)).await;
    scene.raw(R2026_07_28, json!({ "sampling": {}, "extensions": {} })).await.tool("a").await;
    scene.raw(R2026_07_28, json!({ "elicitation": {} })).await.tool("a").await;
    let told = |n: usize| scene.seen.of("initialize")[n].message["params"]["capabilities"].clone();
    let all: Vec<_> = (0..scene.seen.of("initialize").len()).map(told).collect();
    assert!(all.contains(&json!({ "sampling": {} })) && all.contains(&json!({ "elicitation": {} })), "{all:?}");
}

#[tokio::test]
async fn row_07_a_capability_that_is_not_shown_is_named() {
    let declared = json!({ "tools": { "listChanged": true }, "extensions": { "own/x": {} } });
    let scene = Scene::scripted(Script::fixed(R2026_07_28, declared, json!({}))).await;
    let client = scene.raw(R2025_11_25, json!({})).await;
    assert_eq!(client.opening["capabilities"], json!({ "tools": { "listChanged": true } }));
    assert_eq!(client.opening["_meta"][meta::LOSSES][0]["row"], "7");
    assert_eq!(scene.losses(), ["7"]);
    let answer = scene.raw(R2026_07_28, json!({})).await.call("server/discover", json!({})).await;
    assert_eq!(answer["result"]["_meta"].get(meta::LOSSES), None, "{answer}");
}

#[tokio::test]
async fn row_08_each_side_learns_the_name_of_the_other() {
    let scene = Scene::scripted(server(R2026_07_28)).await;
    scene.raw(R2025_11_25, json!({})).await.tool("a").await;
    let meta = &scene.seen.last("tools/call").message["params"]["_meta"];
    assert_eq!(meta[meta::CLIENT_INFO]["name"], "raw");
    let scene = Scene::scripted(server(R2025_11_25)).await;
    let answer = scene.raw(R2026_07_28, json!({})).await.tool("a").await;
    assert_eq!(answer["result"]["_meta"][meta::SERVER_INFO]["name"], "scripted", "{answer}");
    assert_eq!(scene.seen.last("initialize").message["params"]["clientInfo"]["name"], "raw");
}

#[tokio::test]
async fn row_09_the_gateway_answers_ping() {
    let scene = Scene::scripted(server(R2026_07_28)).await;
    let answer = scene.raw(R2025_11_25, json!({})).await.call("ping", json!({})).await;
    assert_eq!(answer["result"], json!({}));
    let scene = Scene::scripted(server(R2025_11_25)).await;
    let client = scene.raw(R2026_07_28, json!({})).await;
    client.tool("a").await;
    let refused = client.post(&client.request("ping", json!({})), &[]).await;
    assert_eq!((refused.status, &refused.response()["error"]["code"]), (404, &json!(-32601)), "{refused:?}");
    assert_eq!(scene.seen.of("ping").len(), 0);
}

#[tokio::test]
async fn row_10_an_unknown_method_passes() {
    for (seen, spoken) in [(R2025_11_25, R2026_07_28), (R2026_07_28, R2025_11_25)] {
        let result = json!({ "resultType": "complete", "own": [1.50, { "a": null }] });
        let scene = Scene::scripted(Script::fixed(spoken, json!({}), result.clone())).await;
        let answer = scene.raw(seen, json!({})).await.call("own/method", json!({ "n": 1 })).await;
        assert_eq!(answer["result"]["own"], result["own"], "{seen} at {spoken}: {answer}");
        assert_eq!(scene.seen.last("own/method").message["params"]["n"], 1);
    }
}
