//! A client of every revision, through the gateway, to the reference server at every revision. What the client sees is what
//! a server of its own revision would show it, except for the losses that the tests name.

mod bounds;
mod envelope;
mod long_calls;
mod notifications;
mod older_tasks;
mod opening;
mod primitives;
mod raw;
mod rounds;
mod scene;
mod script;
mod tasks;
mod transport;

use client::Params;
use serde_json::{Map, Value, json};
use wire::Revision;

use crate::scene::{Answers, Scene};

fn arguments(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// Results without what no two servers have in common.
fn comparable(mut result: Value) -> Value {
    if let Some(members) = result.as_object_mut() {
        for name in ["_meta", "ttlMs", "cacheScope"] {
            members.remove(name);
        }
    }
    result
}

#[tokio::test]
async fn every_revision_sees_its_own_through_every_other() {
    // 2024-11-05 has no Streamable HTTP.
    let all = || Revision::ALL.into_iter().filter(|revision| *revision != Revision::R2024_11_05);
    for seen in all() {
        let direct = Scene::direct(seen).await;
        let native = conversation(&direct.client(seen, Answers::None).await).await;
        for spoken in all() {
            let scene = Scene::through(spoken).await;
            let through = conversation(&scene.client(seen, Answers::None).await).await;
            for (name, value) in &native {
                // A server of an older revision has less to offer: what it offers is the same.
                if seen.at_least(spoken) && seen != spoken {
                    continue;
                }
                // Row 35: a link is text for a client that knows no links; a server of its revision leaves it out.
                if name == "content" && !seen.at_least(Revision::R2025_06_18) && seen != spoken {
                    continue;
                }
                let what = format!("{name}: a client of {seen} at a server of {spoken}");
                let through = through.get(name).cloned().unwrap_or_default();
                match (value.as_array(), through.as_array()) {
                    // A server of a newer revision has tools that one of the client's has not.
                    (Some(items), Some(through)) => {
                        for item in items {
                            let same = through.iter().find(|other| other["name"] == item["name"]);
                            assert_eq!(same.map(without_tasks), Some(without_tasks(item)), "{what}");
                        }
                    }
                    _ => assert_eq!(&through, value, "{what}"),
                }
            }
            scene.end().await;
        }
        direct.end().await;
    }
}

/// Row 60: what a tool says of tasks is not the same in the other era.
fn without_tasks(item: &Value) -> Value {
    let mut item = item.clone();
    if let Some(members) = item.as_object_mut() {
        members.remove("execution");
    }
    item
}

/// What a client sees of a server.
async fn conversation(client: &client::Client) -> Map<String, Value> {
    let mut seen = Map::new();
    let mut keep = |name: &str, result: Result<wire::Message, client::ClientError>| {
        let value = match result {
            Ok(message) => comparable(message.result().or(message.error()).cloned().unwrap_or_default()),
            Err(error) => json!(error.to_string()),
        };
        seen.insert(name.to_owned(), value);
    };
    let call = |name: &'static str, given: Value| async move { client.call_unseen(name, arguments(&given)).await };
    keep("echo", call("echo", json!({ "message": "ü \u{1f600} \\ \"" })).await);
    keep("sum", call("sum", json!({ "a": 1.5, "b": 2 })).await);
    keep("fails", call("fail", json!({ "reason": "so" })).await);
    keep("content", call("get_everything", json!({})).await);
    keep("slow", call("slow", json!({ "steps": 2, "delay_ms": 1 })).await);
    keep("unknown", call("no-such-tool", json!({})).await);
    keep("resource", client.read("proof://counter").await);
    keep("missing", client.read("proof://no-such-resource").await);
    for (method, key) in [("tools/list", "tools"), ("prompts/list", "prompts"), ("resources/list", "resources")] {
        let listed = client.list(method, key).await.map(|listed| listed.items);
        seen.insert(method.to_owned(), listed.map_or_else(|error| json!(error.to_string()), Value::Array));
    }
    seen
}

#[tokio::test]
async fn row_45_a_modern_server_asks_a_legacy_client() {
    for seen in [Revision::R2025_06_18, Revision::R2025_11_25] {
        let scene = Scene::through(Revision::R2026_07_28).await;
        asked(&scene, seen).await;
        scene.end().await;
    }
}

#[tokio::test]
async fn row_48_a_legacy_server_asks_a_modern_client() {
    for spoken in [Revision::R2025_06_18, Revision::R2025_11_25] {
        let scene = Scene::through(spoken).await;
        asked(&scene, Revision::R2026_07_28).await;
        scene.end().await;
    }
}

#[tokio::test]
async fn questions_within_one_era_reach_the_client_that_called() {
    for revision in [Revision::R2025_06_18, Revision::R2025_11_25, Revision::R2026_07_28] {
        let scene = Scene::through(revision).await;
        asked(&scene, revision).await;
        scene.end().await;
    }
}

/// Tools that ask get their answers, one at a time and two at once.
async fn asked(scene: &Scene, revision: Revision) {
    let client = scene.client(revision, Answers::All).await;
    for (tool, expected) in [("ask", "Ada"), ("ask_two", "Ada"), ("ask_in_turn", "Ada"), ("list_roots", "file:///")] {
        let answer = client.call_unseen(tool, Map::new()).await;
        let text = answer.as_ref().map_or_else(ToString::to_string, |message| message.text().to_owned());
        assert!(text.contains(expected), "{tool} at {revision}: {text}");
    }
}

#[tokio::test]
async fn row_06_a_client_that_cannot_be_asked_is_not_asked() {
    for (seen, spoken) in
        [(Revision::R2026_07_28, Revision::R2025_11_25), (Revision::R2025_11_25, Revision::R2026_07_28)]
    {
        let scene = Scene::through(spoken).await;
        let client = scene.client(seen, Answers::None).await;
        let answer = client.call_unseen("ask", Map::new()).await;
        let refused = answer.as_ref().map_or(true, |message| {
            message.error().is_some() || message.result().is_some_and(|result| result["isError"] == true)
        });
        assert!(refused, "{answer:?}");
        scene.end().await;
    }
}

#[tokio::test]
async fn row_56_progress_reaches_the_client_that_wants_it() {
    for (seen, spoken) in [
        (Revision::R2026_07_28, Revision::R2025_11_25),
        (Revision::R2025_11_25, Revision::R2026_07_28),
        (Revision::R2025_03_26, Revision::R2025_03_26),
    ] {
        let scene = Scene::through(spoken).await;
        let client = scene.watching_client(seen).await;
        client.call_unseen("slow", arguments(&json!({ "steps": 3, "delay_ms": 5 }))).await.expect("it ends");
        let progress = scene.notifications("notifications/progress");
        assert_eq!(progress.len(), 3, "{seen} at {spoken}: {progress:?}");
        scene.end().await;
    }
}

#[tokio::test]
async fn a_member_that_stands_twice_is_refused() {
    let scene = Scene::through(Revision::R2025_11_25).await;
    let client = scene.client(Revision::R2025_11_25, Answers::None).await;
    let twice = Params::new().with("name", json!("echo")).with_raw("arguments", r#"{"message":"a","message":"b"}"#);
    let answer =
        client.request("tools/call", &twice).await.map_or_else(|error| error.to_string(), |m| m.text().to_owned());
    assert!(answer.contains("stands twice"), "{answer}");
    scene.end().await;
}

#[tokio::test]
async fn the_outcome_is_definite_when_an_upstream_is_gone() {
    let scene = Scene::through(Revision::R2025_11_25).await;
    let client = scene.client(Revision::R2025_11_25, Answers::None).await;
    client.call_unseen("echo", arguments(&json!({ "message": "a" }))).await.expect("it is there");
    scene.end_upstream().await;
    let answer = client.call_unseen("echo", arguments(&json!({ "message": "a" }))).await;
    let text = answer.map_or_else(|error| error.to_string(), |message| message.text().to_owned());
    assert!(text.contains("was not reached") || text.contains("outcome is unknown"), "{text}");
    scene.end().await;
}
