//! Calls with an idempotency key.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use gateway::settings::{AnswerSettings, IdempotencySettings, Writes};
use net::service::{Answer, Call, Reply, RpcError};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use wire::{Era, Revision};

use super::scene::{Scene, allow, result, text};

fn settings() -> AnswerSettings {
    AnswerSettings { idempotency: Some(IdempotencySettings::default()), ..AnswerSettings::default() }
}

fn required() -> AnswerSettings {
    let idempotency = IdempotencySettings { writes: Writes::Require, ..IdempotencySettings::default() };
    AnswerSettings { idempotency: Some(idempotency), ..AnswerSettings::default() }
}

/// Every call has another result.
fn counting() -> impl Fn(Call) -> Reply + Send + Sync + 'static {
    let count = AtomicUsize::new(0);
    move |call: Call| result(&call, &count.fetch_add(1, Ordering::Relaxed).to_string(), json!({}))
}

fn keyed(key: &str) -> Value {
    json!({ "amount": 5, "idempotency_key": key })
}

#[tokio::test]
async fn a_key_runs_a_call_once_wherever_it_stands() {
    for (upstream, revision) in [
        (Revision::R2026_07_28, Revision::R2026_07_28),
        (Revision::R2025_11_25, Revision::R2025_11_25),
        (Revision::R2025_11_25, Revision::R2026_07_28),
        (Revision::R2026_07_28, Revision::R2024_11_05),
    ] {
        let scene = Scene::open(upstream, settings(), counting()).await;
        let client = scene.client("/mcp", revision, "").await;
        let first = client.call("write", keyed("k")).await;
        assert_eq!(text(&first), "0", "{revision}");
        assert_eq!(client.call("write", keyed("k")).await["result"], first["result"]);
        let params = |arguments: Value| json!({ "name": "write", "arguments": arguments });
        let header = [("idempotency-key", "k")];
        let again = client.ask("tools/call", params(json!({ "amount": 5 })), &header).await;
        assert_eq!(again["result"], first["result"]);
        let quoted = [("idempotency-key", "\"k\"")];
        assert_eq!(text(&client.ask("tools/call", params(json!({ "amount": 5 })), &quoted).await), "0");
        let mut meta = params(json!({ "amount": 5 }));
        meta["_meta"] = json!({ "dev.proofhouse/idempotencyKey": "k" });
        assert_eq!(text(&client.ask("tools/call", meta, &[]).await), "0");
        let conflict = client.call("write", json!({ "amount": 6, "idempotency_key": "k" })).await;
        let data = &conflict["error"]["data"];
        assert_eq!((&data["category"], &data["failure"]), (&json!("INVALID_INPUT"), &json!("idempotency-conflict")));
        assert_eq!((&data["outcome"], &data["retryable"]), (&json!("not run"), &json!(false)));
        // Another session is no other principal.
        let other = scene.client("/mcp", revision, "").await;
        assert_eq!(text(&other.call("write", keyed("k")).await), "0");
        assert_eq!(scene.seen.calls("write"), 1);
        assert_eq!(text(&client.call("write", json!({ "amount": 5 })).await), "1", "without a key, it runs");
        scene.end().await;
    }
}

#[tokio::test]
async fn the_server_gets_the_argument_only_where_its_tool_has_it() {
    let scene = Scene::open(Revision::R2026_07_28, settings(), counting()).await;
    let client = scene.client("/mcp", Revision::R2026_07_28, "").await;
    client.call("write", keyed("k")).await;
    client.call("create", keyed("k")).await;
    let arguments = |tool: &str| scene.seen.of("tools/call", tool)[0]["params"]["arguments"].clone();
    assert_eq!((arguments("write"), arguments("create")), (json!({ "amount": 5 }), keyed("k")));
    scene.end().await;
}

/// The result of one principal, at one server, is nobody else's, however the key is guessed.
#[tokio::test]
async fn a_key_is_of_one_principal_and_one_server() {
    let echo = |call: Call| result(&call, "secret of mine", json!({}));
    let scene = Scene::guarded(Revision::R2026_07_28, settings(), None, echo).await;
    let me = scene.client("/mcp", Revision::R2026_07_28, "me").await;
    me.call("write", keyed("k")).await;
    assert_eq!(scene.seen.calls("write"), 1);
    let you = scene.client("/mcp", Revision::R2026_07_28, "you").await;
    you.call("write", keyed("k")).await;
    assert_eq!(scene.seen.calls("write"), 2, "it ran for the other one, and nothing was told");
    let conflict = you.call("write", json!({ "amount": 6, "idempotency_key": "mine" })).await;
    assert!(conflict["result"].is_object());
    let elsewhere = scene.client("/other/mcp", Revision::R2026_07_28, "me").await;
    elsewhere.call("write", keyed("k")).await;
    assert_eq!(scene.seen.calls("write"), 4);
    // Another token of the same subject is the same principal.
    scene.client("/mcp", Revision::R2026_07_28, "me").await.call("write", keyed("k")).await;
    assert_eq!(scene.seen.calls("write"), 4);
    scene.end().await;
}

#[tokio::test]
async fn who_may_no_longer_use_a_tool_gets_no_kept_result() {
    let echo = |call: Call| result(&call, "secret", json!({}));
    let scene = Scene::guarded(Revision::R2026_07_28, settings(), Some(vec![allow(&["write"])]), echo).await;
    let client = scene.client("/mcp", Revision::R2026_07_28, "me").await;
    assert_eq!(text(&client.call("write", keyed("k")).await), "secret");
    let mut settings = scene.settings.clone();
    settings.access = Some(vec![allow(&["read"])]);
    scene.gateway.reload(&settings).expect("valid settings");
    let denied = client.call("write", keyed("k")).await;
    assert!(denied["error"]["message"].as_str().is_some_and(|text| text.contains("Unknown tool")), "{denied}");
    scene.gateway.reload(&scene.settings).expect("valid settings");
    assert_eq!(text(&client.call("write", keyed("k")).await), "secret");
    assert_eq!(scene.seen.calls("write"), 1, "what is kept outlives another configuration");
    scene.end().await;
}

/// A hundred clients at once, of two revisions: one run.
#[tokio::test]
async fn calls_at_the_same_time_wait_for_one() {
    let gate = Arc::new(Semaphore::new(0));
    let opened = Arc::clone(&gate);
    let slow = move |call: Call| {
        let gate = Arc::clone(&gate);
        Reply::later(async move {
            let _ = gate.acquire().await;
            match result(&call, "once", json!({})) {
                Reply::Now(answer) => answer,
                Reply::Later(answer) => answer.await,
            }
        })
    };
    let scene = Scene::open(Revision::R2026_07_28, settings(), slow).await;
    let modern = scene.client("/mcp", Revision::R2026_07_28, "").await;
    let legacy = scene.client("/mcp", Revision::R2025_06_18, "").await;
    let calls = join_all((0..50).flat_map(|_| [modern.call("write", keyed("k")), legacy.call("write", keyed("k"))]));
    let open = async {
        scene.seen.wait("write").await;
        let conflict = modern.call("write", json!({ "idempotency_key": "k" })).await;
        assert_eq!(conflict["error"]["data"]["failure"], "idempotency-conflict", "while it runs, too");
        opened.add_permits(100);
    };
    let (answers, ()) = tokio::join!(calls, open);
    assert!(answers.iter().all(|answer| text(answer) == "once"));
    assert_eq!(scene.seen.calls("write"), 1);
    scene.end().await;
}

/// The case that keys are for: the client has lost the connection and does not know what came of its call.
#[tokio::test]
async fn a_client_that_leaves_finds_the_result() {
    let gate = Arc::new(Semaphore::new(0));
    let opened = Arc::clone(&gate);
    let slow = move |call: Call| {
        let gate = Arc::clone(&gate);
        Reply::later(async move {
            let _ = gate.acquire().await;
            Answer::result(
                call.id(),
                &json!({ "resultType": "complete", "content": [{ "type": "text", "text": "done" }] }),
            )
        })
    };
    let scene = Scene::open(Revision::R2026_07_28, settings(), slow).await;
    let client = scene.client("/mcp", Revision::R2026_07_28, "").await;
    tokio::select! {
        _ = client.call("write", keyed("k")) => panic!("it is answered"),
        () = scene.seen.wait("write") => {}
    }
    drop(client);
    tokio::time::sleep(Duration::from_millis(200)).await;
    opened.add_permits(10);
    let client = scene.client("/mcp", Revision::R2026_07_28, "").await;
    assert_eq!(text(&client.call("write", keyed("k")).await), "done");
    assert_eq!(scene.seen.calls("write"), 1);
    scene.end().await;
}

#[tokio::test]
async fn nothing_runs_again_while_its_outcome_is_unknown() {
    let scene = Scene::open(Revision::R2026_07_28, settings(), |_| Reply::later(std::future::pending())).await;
    let client = scene.client("/mcp", Revision::R2026_07_28, "").await;
    let (first, ()) = tokio::join!(client.call("write", keyed("k")), async {
        scene.seen.wait("write").await;
        scene.end_upstream().await;
    });
    assert_eq!(first["error"]["data"]["outcome"], "unknown", "{first}");
    let second = client.call("write", keyed("k")).await;
    let data = &second["error"]["data"];
    assert_eq!((&data["failure"], &data["outcome"]), (&json!("idempotency-unknown"), &json!("unknown")), "{second}");
    assert_eq!((&data["retryable"], &data["category"]), (&json!(false), &json!("UPSTREAM_FAILURE")));
    // What never got there may be sent again with the same key.
    for _ in 0..2 {
        let refused = client.call("write", keyed("l")).await;
        assert_eq!(refused["error"]["data"]["outcome"], "not run", "{refused}");
    }
    scene.end().await;
}

#[tokio::test]
async fn errors_of_the_server_and_failures_of_the_tool_are_outcomes() {
    let failing = |call: Call| match call.message.string_member("name").as_deref() {
        Some("write") => result(&call, "no money", json!({ "isError": true })),
        Some("create") => Answer::error(Some(call.id()), &RpcError::internal("a bug")).into(),
        _ => Answer::error(Some(call.id()), &RpcError::invalid_params("amount is negative")).into(),
    };
    let scene = Scene::open(Revision::R2026_07_28, settings(), failing).await;
    let client = scene.client("/mcp", Revision::R2026_07_28, "").await;
    for (tool, runs) in [("write", 1), ("create", 1), ("usage", 2)] {
        let first = client.call(tool, keyed("k")).await;
        let second = client.call(tool, keyed("k")).await;
        assert_eq!((&first["result"], &first["error"]), (&second["result"], &second["error"]));
        assert_eq!(scene.seen.calls(tool), runs, "{tool}");
    }
    scene.end().await;
}

#[tokio::test]
async fn calls_that_may_write_need_a_key_where_the_file_says_so() {
    for revision in [Revision::R2026_07_28, Revision::R2025_06_18] {
        let scene = Scene::open(revision, required(), counting()).await;
        let client = scene.client("/mcp", revision, "").await;
        for tool in ["write", "create", "unlisted"] {
            let refused = client.call(tool, json!({ "amount": 5 })).await;
            let error = &refused["error"];
            assert_eq!((&error["code"], &error["data"]["category"]), (&json!(-32602), &json!("INVALID_INPUT")));
            assert_eq!(error["data"]["failure"], "idempotency-key-missing", "{refused}");
            assert_eq!(scene.seen.calls(tool), 0);
        }
        assert_eq!(text(&client.call("read", json!({})).await), "0");
        assert_eq!(text(&client.call("write", keyed("k")).await), "1");
        scene.end().await;
    }
}

#[tokio::test]
async fn a_key_that_is_none_is_refused() {
    let scene = Scene::open(Revision::R2026_07_28, settings(), counting()).await;
    let client = scene.client("/mcp", Revision::R2026_07_28, "").await;
    for arguments in [
        json!({ "idempotency_key": "" }),
        json!({ "idempotency_key": 7 }),
        json!({ "idempotency_key": "a b" }),
        json!({ "idempotency_key": "x".repeat(256) }),
    ] {
        let refused = client.call("write", arguments.clone()).await;
        assert_eq!(refused["error"]["data"]["failure"], "idempotency-key-invalid", "{arguments}: {refused}");
    }
    let params = json!({ "name": "write", "arguments": keyed("a") });
    let two = client.ask("tools/call", params, &[("idempotency-key", "b")]).await;
    assert_eq!(two["error"]["data"]["failure"], "idempotency-key-invalid", "{two}");
    assert_eq!(scene.seen.calls("write"), 0);
    scene.end().await;
}

/// A question in the middle of a call (2026-07-28): the key stays with the call until its end.
#[tokio::test]
async fn a_call_with_a_question_runs_once() {
    let asking = |call: Call| {
        if call.message.body_member("inputResponses").is_some() {
            return result(&call, "done", json!({}));
        }
        let question = json!({ "method": "elicitation/create", "params": { "mode": "form", "message": "Sure?",
            "requestedSchema": { "type": "object", "properties": {} } } });
        let body = json!({ "resultType": "input_required", "inputRequests": { "q": question }, "requestState": "s" });
        Answer::result(call.id(), &body).into()
    };
    let scene = Scene::open(Revision::R2026_07_28, settings(), asking).await;
    let client = scene.capable("/mcp", Revision::R2026_07_28, "", json!({ "elicitation": { "form": {} } })).await;
    for _ in 0..2 {
        let asked = client.call("write", keyed("k")).await;
        assert_eq!(asked["result"]["requestState"], "s", "{asked}");
    }
    assert_eq!(scene.seen.calls("write"), 1);
    let params = json!({ "name": "write", "arguments": keyed("k"), "requestState": "s",
        "inputResponses": { "q": { "action": "accept", "content": {} } } });
    for _ in 0..2 {
        assert_eq!(text(&client.ask("tools/call", params.clone(), &[]).await), "done");
    }
    assert_eq!(text(&client.call("write", keyed("k")).await), "done");
    assert_eq!(scene.seen.calls("write"), 2, "one call, in two rounds");
    scene.end().await;
}

#[tokio::test]
async fn a_client_of_another_revision_gets_the_result_in_its_form() {
    let structured = |call: Call| result(&call, "done", json!({ "structuredContent": { "a": 1 } }));
    let scene = Scene::open(Revision::R2026_07_28, settings(), structured).await;
    let modern = scene.client("/mcp", Revision::R2026_07_28, "").await;
    let legacy = scene.client("/mcp", Revision::R2024_11_05, "").await;
    assert_eq!(modern.call("write", keyed("k")).await["result"]["structuredContent"], json!({ "a": 1 }));
    let old = legacy.call("write", keyed("k")).await;
    assert_eq!(text(&old), "done");
    assert!(old["result"].get("resultType").is_none() && Revision::R2024_11_05.era() == Era::Legacy, "{old}");
    assert_eq!(scene.seen.calls("write"), 1);
    scene.end().await;
}
