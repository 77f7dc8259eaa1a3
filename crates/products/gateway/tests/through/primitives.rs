//! Rows 33–44 of the translation table: tools, prompts, resources, completion, and what servers ask of clients.

use net::service::{Answer, Reply};
use serde_json::{Map, json};
use wire::meta;
use wire::revision::{R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};

use crate::scene::{Answers, Scene};
use crate::script::Script;

#[tokio::test]
async fn row_33_a_list_names_what_it_lost() {
    let tool = json!({ "name": "a", "inputSchema": { "type": "object" }, "icons": [{ "src": "https://x.example/i" }] });
    let listed = json!({ "tools": [tool], "resultType": "complete", "ttlMs": 0, "cacheScope": "private" });
    let server = || Script::fixed(R2026_07_28, json!({ "tools": {} }), listed.clone());
    let scene = Scene::scripted(server()).await;
    let answer = scene.raw(R2025_06_18, json!({})).await.call("tools/list", json!({})).await;
    assert_eq!(answer["result"]["tools"], json!([{ "name": "a", "inputSchema": { "type": "object" } }]), "{answer}");
    assert_eq!(answer["result"]["_meta"][meta::LOSSES][0]["row"], "33", "{answer}");
    assert_eq!(scene.losses(), ["33"]);
    let whole = scene.raw(R2025_11_25, json!({})).await.call("tools/list", json!({})).await;
    assert_eq!(whole["result"], json!({ "tools": [tool] }), "nothing is lost");
    let several = Scene::two(server(), Script::fixed(R2025_11_25, json!({}), json!({}))).await;
    let answer = several.raw(R2025_06_18, json!({})).await.call("tools/list", json!({})).await;
    assert_eq!(answer["result"]["_meta"][meta::LOSSES][0]["row"], "33", "{answer}");
}

#[tokio::test]
async fn row_36_a_list_is_that_of_the_principals_session() {
    let scene = Scene::scripted(Script::fixed(R2025_11_25, json!({ "tools": {} }), json!({ "tools": [] }))).await;
    for _ in 0..3 {
        scene.raw(R2026_07_28, json!({ "sampling": {} })).await.call("tools/list", json!({})).await;
    }
    let sessions: Vec<_> =
        scene.seen.of("tools/list").iter().map(|one| one.headers["mcp-session-id"].clone()).collect();
    assert_eq!(sessions.len(), 3);
    assert!(sessions.iter().all(|session| *session == sessions[0]), "{sessions:?}");
}

#[tokio::test]
async fn row_40_completion_passes_with_its_context() {
    let completed = json!({ "completion": { "values": ["v"] }, "resultType": "complete" });
    let params = json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "" },
        "context": { "arguments": { "b": "c" } } });
    for (seen, spoken) in [(R2026_07_28, R2025_03_26), (R2025_06_18, R2026_07_28)] {
        let scene = Scene::scripted(Script::fixed(spoken, json!({ "completions": {} }), completed.clone())).await;
        let answer = scene.raw(seen, json!({})).await.call("completion/complete", params.clone()).await;
        assert_eq!(answer["result"]["completion"]["values"], json!(["v"]), "{answer}");
        let sent = scene.seen.last("completion/complete").message;
        assert_eq!(sent["params"]["context"], params["context"], "{seen} at {spoken}");
    }
}

#[tokio::test]
async fn row_41_roots_are_asked_for_in_both_directions() {
    for (seen, spoken) in [(R2025_11_25, R2026_07_28), (R2026_07_28, R2025_11_25), (R2025_06_18, R2025_11_25)] {
        let scene = Scene::through(spoken).await;
        let answer = scene.client(seen, Answers::All).await.call_unseen("list_roots", Map::new()).await;
        let text = answer.as_ref().map_or_else(ToString::to_string, |message| message.text().to_owned());
        assert!(text.contains("file:///data"), "{seen} at {spoken}: {text}");
        scene.end().await;
    }
}

#[tokio::test]
async fn row_44_the_end_of_a_url_elicitation_has_no_form_in_2026_07_28() {
    let script = || {
        Script::new(R2025_11_25, json!({}), |call| {
            let _ = call.link.notify("notifications/elicitation/complete", json!({ "elicitationId": "e" }));
            Answer::result(call.id(), &json!({ "content": [] })).into()
        })
    };
    let scene = Scene::scripted(script()).await;
    let client = scene.raw(R2026_07_28, json!({})).await;
    let got = client.post(&client.request("tools/call", json!({ "name": "a" })), &[]).await;
    assert_eq!(got.messages.len(), 1, "{got:?}");
    assert_eq!(got.response()["result"]["_meta"][meta::LOSSES][0]["row"], "44", "{got:?}");
    let same = scene.raw(R2025_11_25, json!({ "elicitation": { "url": {} } })).await;
    let got = same.post(&same.request("tools/call", json!({ "name": "a" })), &[]).await;
    assert_eq!(got.messages.len(), 2, "{got:?}");
}

#[tokio::test]
async fn row_44_only_a_client_that_can_open_urls_is_asked_to() {
    let scene = Scene::scripted(Script::new(R2025_11_25, json!({}), |call| {
        Reply::later(async move {
            let params = json!({ "mode": "url", "message": "m", "url": "https://x.example/", "elicitationId": "e" });
            let answer = call.link.request("elicitation/create", params).await;
            let text = answer.map_or_else(|why| why.to_string(), |message| message.text().to_owned());
            Answer::result(call.id(), &json!({ "content": [{ "type": "text", "text": text }] }))
        })
    }))
    .await;
    let unable = scene.raw(R2026_07_28, json!({ "elicitation": {} })).await.tool("a").await;
    assert!(unable.to_string().contains("-32602"), "{unable}");
    let able = scene.raw(R2026_07_28, json!({ "elicitation": { "url": {} } })).await.tool("a").await;
    assert_eq!(able["result"]["resultType"], "input_required", "{able}");
    let old = scene.raw(R2025_06_18, json!({ "elicitation": {} })).await.tool("a").await;
    assert!(old.to_string().contains("-32602"), "{old}");
}
