//! What one principal has opened, got or been promised, in the hands of another.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gateway::settings::{AnswerSettings, CacheRule, CacheSettings, IdempotencySettings, Settings};
use serde_json::{Value, json};
use wire::Revision;

use crate::scene::Scene;

const MODERN: Revision = Revision::NEWEST;
const LEGACY: Revision = Revision::R2025_11_25;

/// A server whose every answer is another.
async fn counting(settings: Settings, more: Value) -> Scene {
    let calls = AtomicUsize::new(0);
    Scene::open(MODERN, settings, move |call, _| match call.message.method() {
        Some("tools/list") => json!({ "tools": [
            { "name": "read", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } },
            { "name": "write", "inputSchema": { "type": "object" } },
        ] }),
        Some("tools/call") => {
            let number = calls.fetch_add(1, Ordering::Relaxed);
            let mut result = json!({ "content": [{ "type": "text", "text": format!("answer {number}") }] });
            result.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
            result
        }
        _ => json!({}),
    })
    .await
}

fn said(answer: &Value) -> String {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}")).to_owned()
}

fn cached(shared: bool) -> Settings {
    let rule = CacheRule {
        tools: vec!["read".to_owned()],
        resources: Vec::new(),
        lists: Vec::new(),
        ttl: Duration::from_mins(1),
        shared,
        invalidated_by: Vec::new(),
    };
    let cache = Some(CacheSettings { rules: vec![rule], ..CacheSettings::default() });
    Settings { answers: AnswerSettings { cache, ..AnswerSettings::default() }, ..Settings::default() }
}

#[tokio::test]
async fn a_session_serves_only_who_opened_it() {
    let scene = Scene::open(LEGACY, Settings::default(), |_, _| json!({ "tools": [] })).await;
    let owner = scene.client(LEGACY, json!({}));
    owner.initialize().await;
    let list = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/list" }).to_string();
    assert_eq!(owner.status(&list, &[]).await.0, 200);
    for claims in [
        json!({ "sub": "bob" }),
        json!({ "sub": "Ann" }),
        json!({ "sub": "ann " }),
        json!({ "sub": "ann\u{200b}" }),
        json!({ "sub": Value::Null, "client_id": "ann" }),
        json!({ "sub": ["ann"] }),
        json!({ "sub": "" }),
    ] {
        let thief = scene.client(LEGACY, claims.clone());
        thief.keep(owner.session());
        assert_eq!(thief.status(&list, &[]).await.0, 404, "{claims}");
        let token = scene.signer.sign(json!({ "typ": "at+jwt" }), &Scene::claims(&claims));
        for method in ["GET", "DELETE"] {
            let (host, session) = (scene.host(), owner.session());
            let request = format!(
                "{method} /mcp HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\naccept: text/event-stream\r\n\
                authorization: Bearer {token}\r\nmcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n\r\n"
            );
            let response = scene.bytes(&request).await;
            assert!(response.starts_with("HTTP/1.1 404"), "{method} {claims}: {response}");
        }
    }
    for session in ["", "none", &owner.session().to_uppercase(), &format!("{}x", owner.session())] {
        let thief = scene.client(LEGACY, json!({ "sub": "bob" }));
        thief.keep(session.to_owned());
        assert!(matches!(thief.status(&list, &[]).await.0, 400 | 404), "{session:?}");
    }
    assert_eq!(owner.status(&list, &[]).await.0, 200, "nobody ended it");
    scene.end().await;
}

#[tokio::test]
async fn a_cached_answer_is_not_anothers() {
    for more in [json!({}), json!({ "cacheScope": "private", "ttlMs": 60_000 })] {
        let scene = counting(cached(false), more).await;
        let read = json!({ "name": "read", "arguments": { "a": 1 } });
        let mut before = Vec::new();
        for sub in [json!("ann"), json!("bob"), json!(7), json!(8), json!("7"), json!(["ann"])] {
            let answer = said(
                &scene.client(MODERN, json!({ "sub": sub, "client_id": "web" })).ask("tools/call", read.clone()).await,
            );
            assert!(!before.contains(&answer), "{sub} gets {answer}");
            before.push(answer);
        }
        let again = said(&scene.client(MODERN, json!({ "client_id": "web" })).ask("tools/call", read).await);
        assert_eq!(again, before[0], "it is kept");
        scene.end().await;
    }
}

/// Where a rule shares results, nobody chooses what others get.
#[tokio::test]
async fn a_shared_answer_is_not_one_that_a_client_has_shaped() {
    let scene = counting(cached(true), json!({})).await;
    let poisoner = scene.client(MODERN, json!({ "sub": "mallory" }));
    let read = || json!({ "name": "read", "arguments": {} });
    let mut poisoned = Vec::new();
    poisoned.push(said(&poisoner.ask_with("tools/call", read(), &[("mcp-param-x", "evil")]).await));
    for meta in [json!({ "x/evil": 1 }), json!({ "progressToken": "evil words" }), json!({ "tracestate": "evil=1" })] {
        let mut params = read();
        params["_meta"] = meta;
        poisoned.push(said(&poisoner.ask("tools/call", params).await));
    }
    let victim = scene.client(MODERN, json!({ "sub": "ann" }));
    let answer = said(&victim.ask("tools/call", read()).await);
    assert!(!poisoned.contains(&answer), "{answer} of {poisoned:?}");
    scene.end().await;
}

#[tokio::test]
async fn a_key_repeats_nothing_for_another() {
    let answers = AnswerSettings { idempotency: Some(IdempotencySettings::default()), ..AnswerSettings::default() };
    let scene = counting(Settings { answers, ..Settings::default() }, json!({})).await;
    let write = || json!({ "name": "write", "arguments": {}, "_meta": { "dev.proofhouse/idempotencyKey": "k" } });
    let first = said(&scene.client(MODERN, json!({})).ask("tools/call", write()).await);
    assert_eq!(said(&scene.client(MODERN, json!({})).ask("tools/call", write()).await), first);
    for claims in
        [json!({ "sub": "bob" }), json!({ "sub": 7, "client_id": "web" }), json!({ "sub": 8, "client_id": "web" })]
    {
        assert_ne!(said(&scene.client(MODERN, claims.clone()).ask("tools/call", write()).await), first, "{claims}");
    }
    // The same key for another call is no way to learn what the first one said.
    let mut other = write();
    other["arguments"] = json!({ "a": 1 });
    let refused = scene.client(MODERN, json!({})).ask("tools/call", other).await;
    assert!(refused["error"].is_object() && !refused.to_string().contains(&first), "{refused}");
    scene.end().await;
}

/// Row 60a: the id of a task of an older server is of use to who began it, and to nobody else.
#[tokio::test]
async fn a_task_of_an_older_server_is_its_principals() {
    let scene = Scene::of_reference(LEGACY, Settings::default()).await;
    let able = || json!({ "extensions": { wire::meta::TASKS_EXTENSION: {} }, "elicitation": {} });
    let owner = scene.client(MODERN, json!({})).able(able());
    let begun = owner.ask("tools/call", json!({ "name": "buy", "arguments": {} })).await;
    let id = begun["result"]["taskId"].as_str().unwrap_or_else(|| panic!("no task: {begun}")).to_owned();
    for claims in [json!({ "sub": "bob" }), json!({ "sub": "Ann" }), json!({ "sub": Value::Null, "client_id": "ann" })]
    {
        let thief = scene.client(MODERN, claims.clone()).able(able());
        for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
            let refused = thief.ask(method, json!({ "taskId": id, "inputResponses": { "elicitation-1": {} } })).await;
            assert_eq!(refused["error"]["data"]["failure"], "task-unknown", "{method} {claims}: {refused}");
        }
    }
    let mut state = Value::Null;
    for _ in 0..100 {
        state = owner.ask("tasks/get", json!({ "taskId": id })).await["result"].take();
        if state["status"] == "input_required" {
            break;
        }
        assert_eq!(state["status"], "working", "nobody cancelled it: {state}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(state["inputRequests"]["elicitation-1"].is_object(), "nobody answered it: {state}");
    scene.end().await;
}
