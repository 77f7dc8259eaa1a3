//! Whose request it is, where issuers name users in unusual ways: two users are never taken for one.

use std::sync::atomic::{AtomicUsize, Ordering};

use gateway::settings::{AnswerSettings, IdempotencySettings, Settings};
use serde_json::{Value, json};
use wire::Revision;

use super::scene::Scene;

#[tokio::test]
async fn users_of_one_client_are_not_taken_for_each_other() {
    let answers = AnswerSettings { idempotency: Some(IdempotencySettings::default()), ..AnswerSettings::default() };
    let runs = AtomicUsize::new(0);
    let scene = Scene::open(Revision::NEWEST, Settings { answers, ..Settings::default() }, move |call, _| {
        let run = runs.fetch_add(usize::from(call.message.method() == Some("tools/call")), Ordering::Relaxed);
        json!({ "content": [{ "type": "text", "text": format!("run {run}") }], "tools": [] })
    });
    let scene = scene.await;
    let claims = |sub: &Value| json!({ "sub": sub, "client_id": "web" });
    let mut before = Vec::new();
    for sub in [
        json!(7),
        json!(8),
        json!("7"),
        json!(18_446_744_073_709_551_616.0),
        json!(18_446_744_073_709_551_620.0),
        json!(true),
        json!(false),
        json!(["ann"]),
        json!(["bob"]),
        json!({ "id": 1 }),
        json!({ "id": 2 }),
        json!(""),
        Value::Null,
        json!("Ann"),
        json!("ann"),
        json!("ann\u{7f}"),
        json!("ann\u{200b}"),
        json!("\u{e9}"),
        json!("e\u{301}"),
        json!("ann\"]"),
    ] {
        let client = scene.client(Revision::NEWEST, claims(&sub));
        let key = json!({ "name": "write", "arguments": {}, "_meta": { "dev.proofhouse/idempotencyKey": "k" } });
        let answer = client.ask("tools/call", key).await;
        let text = answer["result"]["content"][0]["text"].clone();
        assert!(text.is_string() && !before.contains(&text), "{sub} gets what is another's: {answer}");
        before.push(text);
    }
    // One user is one user.
    for sub in [json!(7), json!("ann")] {
        let client = scene.client(Revision::NEWEST, claims(&sub));
        let key = json!({ "name": "write", "arguments": {}, "_meta": { "dev.proofhouse/idempotencyKey": "k" } });
        assert!(before.contains(&client.ask("tools/call", key).await["result"]["content"][0]["text"]), "{sub}");
    }
    scene.end().await;
}
