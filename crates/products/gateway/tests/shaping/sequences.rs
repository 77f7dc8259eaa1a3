//! `sequences`: what must not be called after something else.

use std::time::Duration;

use gateway::settings::{SequenceRule, SequenceScope, Settings};
use serde_json::{Value, json};
use wire::Revision;

use super::scene::{Raw, Scene};

const LEGACY: Revision = Revision::R2025_11_25;
const MODERN: Revision = Revision::NEWEST;

async fn scene(back: Revision, per: SequenceScope, ttl: Duration) -> Scene {
    let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let rule = SequenceRule { after: texts(&["read_*"]), deny: texts(&["send_*"]), ttl, per };
    let settings = Settings { sequences: vec![rule], ..Settings::default() };
    Scene::open(back, settings, |call, _| match call.message.method().unwrap_or_default() {
        "tools/list" => {
            let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
            json!({ "tools": [tool("read_secret"), tool("send_mail"), tool("other")] })
        }
        _ => json!({ "content": [{ "type": "text", "text": "done" }] }),
    })
    .await
}

async fn client(scene: &Scene, revision: Revision, subject: &str) -> Raw {
    let client = scene.client(revision, json!({ "sub": subject }));
    if revision == LEGACY {
        client.initialize().await;
    }
    client
}

async fn call(client: &Raw, tool: &str) -> Value {
    client.ask("tools/call", json!({ "name": tool, "arguments": {} })).await
}

#[track_caller]
fn denied(answer: &Value) {
    let data = &answer["error"]["data"];
    assert_eq!((&data["failure"], &data["outcome"]), (&json!("sequence-denied"), &json!("not run")), "{answer}");
    assert!(data["retry_after_ms"].as_u64().is_some_and(|left| (1..=60_000).contains(&left)), "{answer}");
}

/// Neither another session nor another revision leads around it, and no principal stops another one.
#[tokio::test]
async fn after_one_tool_the_other_is_denied_to_its_principal() {
    for back in [MODERN, LEGACY] {
        let scene = scene(back, SequenceScope::Principal, Duration::from_mins(1)).await;
        let ann = client(&scene, MODERN, "ann").await;
        for tool in ["send_mail", "read_secret", "other"] {
            assert!(call(&ann, tool).await.to_string().contains("done"), "{tool}");
        }
        denied(&call(&ann, "send_mail").await);
        denied(&call(&client(&scene, LEGACY, "ann").await, "send_mail").await);
        for revision in [MODERN, LEGACY] {
            assert!(call(&client(&scene, revision, "bob").await, "send_mail").await.to_string().contains("done"));
        }
        // Another spelling is another tool, which no list has.
        let answer = call(&ann, "SEND_mail").await;
        assert_eq!(answer["error"]["data"]["failure"], "item-unknown", "{answer}");
        assert_eq!(scene.seen.of("tools/call").len(), 5);
        scene.end().await;
    }
}

#[tokio::test]
async fn sessions_and_chains_are_apart_where_the_rule_says_so() {
    let by_session = scene(LEGACY, SequenceScope::Session, Duration::from_mins(1)).await;
    let (one, two) = (client(&by_session, LEGACY, "ann").await, client(&by_session, LEGACY, "ann").await);
    call(&one, "read_secret").await;
    denied(&call(&one, "send_mail").await);
    assert!(call(&two, "send_mail").await.to_string().contains("done"));
    by_session.end().await;
    let by_chain = scene(MODERN, SequenceScope::Chain, Duration::from_mins(1)).await;
    let ann = client(&by_chain, MODERN, "ann").await;
    let in_chain =
        |tool: &str, chain: &str| json!({ "name": tool, "arguments": {}, "_meta": { "dev.proofhouse/chain": chain } });
    ann.ask("tools/call", in_chain("read_secret", "x")).await;
    denied(&ann.ask("tools/call", in_chain("send_mail", "x")).await);
    assert!(ann.ask("tools/call", in_chain("send_mail", "y")).await.to_string().contains("done"));
    let wrong = json!({ "name": "send_mail", "arguments": {}, "_meta": { "dev.proofhouse/chain": 7 } });
    assert_eq!(ann.ask("tools/call", wrong).await["error"]["data"]["failure"], "params-invalid");
    by_chain.end().await;
}

#[tokio::test]
async fn it_is_over_when_its_time_is() {
    let scene = scene(MODERN, SequenceScope::Principal, Duration::from_millis(300)).await;
    let ann = client(&scene, MODERN, "ann").await;
    call(&ann, "read_secret").await;
    denied(&call(&ann, "send_mail").await);
    tokio::time::sleep(Duration::from_millis(350)).await;
    assert!(call(&ann, "send_mail").await.to_string().contains("done"));
    scene.end().await;
}

/// Two calls at the same time: the one that is denied after the other is not let through because both began.
#[tokio::test]
async fn calls_at_the_same_time_are_in_an_order() {
    let scene = scene(MODERN, SequenceScope::Principal, Duration::from_mins(1)).await;
    let ann = client(&scene, MODERN, "ann").await;
    let (_, mails) = tokio::join!(call(&ann, "read_secret"), async {
        let mut mails = Vec::new();
        for _ in 0..20 {
            mails.push(call(&ann, "send_mail").await);
        }
        mails
    });
    let order: Vec<_> = mails.iter().map(|mail| mail["error"].is_null()).collect();
    // Once denied, it stays so.
    assert!(order.windows(2).all(|pair| pair[0] || !pair[1]), "{order:?}");
    denied(&call(&ann, "send_mail").await);
    scene.end().await;
}
