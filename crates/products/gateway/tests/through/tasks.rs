//! Rows 60a–60g of the translation table: tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use net::service::{Answer, Call, Reply, RpcError};
use net::upstream::Response;
use serde_json::{Value, json};
use wire::meta;
use wire::revision::{R2025_06_18, R2025_11_25, R2026_07_28};

use crate::raw::{Raw, next};
use crate::scene::Scene;
use crate::script::Script;

fn task() -> Value {
    json!({ "taskId": "t1", "status": "working", "ttl": 1000, "pollInterval": 10,
        "createdAt": "2025-11-25T00:00:00Z", "lastUpdatedAt": "2025-11-25T00:00:00Z" })
}

#[tokio::test]
async fn row_60a_a_call_is_no_task_in_the_other_era() {
    let plain = json!({ "content": [], "resultType": "complete" });
    let scene = Scene::scripted(Script::fixed(R2026_07_28, json!({}), plain)).await;
    let client = scene.raw(R2025_11_25, json!({})).await;
    let answer = client.call("tools/call", json!({ "name": "a", "task": { "ttl": 5 } })).await;
    assert_eq!(scene.seen.last("tools/call").message["params"].get("task"), None);
    assert_eq!(answer["result"]["content"], json!([]), "{answer}");
    assert_eq!(answer["result"]["_meta"][meta::LOSSES][0]["row"], "60a", "{answer}");
    for (seen, spoken, made) in [
        (R2026_07_28, R2025_11_25, json!({ "task": task() })),
        (R2025_06_18, R2025_11_25, json!({ "task": task() })),
        (R2025_11_25, R2026_07_28, json!({ "resultType": "task", "taskId": "t1" })),
    ] {
        let scene = Scene::scripted(Script::fixed(spoken, json!({}), made)).await;
        let refused = scene.raw(seen, json!({})).await.tool("a").await;
        assert_eq!(refused["error"]["code"], -32603, "{seen} at {spoken}: {refused}");
        assert_eq!(refused["error"]["data"][meta::LOSSES][0]["row"], "60a", "{refused}");
    }
}

/// A task of the extension, with what belongs to its status.
fn modern_task(status: &str, more: Value) -> Value {
    let mut task = json!({ "taskId": "t1", "status": status, "ttlMs": 60_000, "pollIntervalMs": 10,
        "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z", "resultType": "complete" });
    task.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
    task
}

/// A server of 2026-07-28 with the tasks extension: every call becomes a task, or is refused to who does not know tasks. `get`
/// makes the task of the n-th `tasks/get`.
fn task_server(get: impl Fn(usize) -> Value + Send + Sync + 'static) -> Script {
    let (looks, declared) = (AtomicUsize::new(0), json!({ "tools": {}, "extensions": { meta::TASKS_EXTENSION: {} } }));
    Script::new(R2026_07_28, declared, move |call: Call| {
        let extensions = call.client_capabilities().and_then(|declared| declared.get("extensions"));
        let is_list = call.message.method() == Some("tools/list");
        if extensions.and_then(|all| all.get(meta::TASKS_EXTENSION)).is_none() && !is_list {
            let needs = json!({ "requiredCapabilities": { "extensions": { meta::TASKS_EXTENSION: {} } } });
            return Answer::error(Some(call.id()), &RpcError::new(-32021, "missing").with_data(needs)).into();
        }
        let body = match call.message.method().unwrap_or_default() {
            "tools/call" => modern_task("working", json!({ "resultType": "task" })),
            "tools/list" => json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "tools": [{ "name": "a", "inputSchema": { "type": "object" } }] }),
            "tasks/get" => get(looks.fetch_add(1, Ordering::SeqCst)),
            _ => json!({ "resultType": "complete" }),
        };
        Answer::result(call.id(), &body).into()
    })
}

/// The answer to a call that is to become a task.
async fn begun(client: &Raw) -> Value {
    client.call("tools/call", json!({ "name": "a", "arguments": {}, "task": { "ttl": 60_000 } })).await
}

fn done(is_error: bool) -> Value {
    let result = json!({ "content": [{ "type": "text", "text": "done" }], "isError": is_error,
        "resultType": "complete" });
    modern_task("completed", json!({ "result": result }))
}

#[tokio::test]
async fn row_60a_a_task_of_the_extension_is_one_of_2025_11_25() {
    let scene = Scene::scripted(task_server(|_| modern_task("working", json!({})))).await;
    let client = scene.raw(R2025_11_25, json!({})).await;
    let expected = json!({ "cancel": {}, "requests": { "tools": { "call": {} } } });
    assert_eq!(client.opening["capabilities"]["tasks"], expected, "{}", client.opening);
    let answer = begun(&client).await;
    let expected = json!({ "taskId": "t1", "status": "working", "ttl": 60_000, "pollInterval": 10,
        "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z" });
    assert_eq!(answer["result"]["task"], expected, "{answer}");
    assert_eq!(scene.losses(), [""; 0]);
    assert_eq!(scene.seen.last("tools/call").message["params"].get("task"), None);
}

#[tokio::test]
async fn row_60a_a_plain_result_is_a_task_that_is_done() {
    let declared = json!({ "tools": {}, "extensions": { meta::TASKS_EXTENSION: {} } });
    let plain = json!({ "resultType": "complete", "content": [{ "type": "text", "text": "at once" }] });
    let scene = Scene::scripted(Script::fixed(R2026_07_28, declared, plain)).await;
    let client = scene.raw(R2025_11_25, json!({})).await;
    let answer = begun(&client).await;
    assert_eq!(answer["result"]["task"]["status"], "working", "{answer}");
    let which = json!({ "taskId": answer["result"]["task"]["taskId"] });
    let state = client.call("tasks/get", which.clone()).await;
    assert_eq!((&state["result"]["status"], &state["result"]["ttl"]), (&json!("completed"), &json!(60_000)), "{state}");
    let result = client.call("tasks/result", which.clone()).await;
    assert_eq!(result["result"]["content"][0]["text"], "at once", "{result}");
    assert_eq!(result["result"]["_meta"][meta::RELATED_TASK], which, "{result}");
    let over = client.call("tasks/cancel", which.clone()).await;
    assert_eq!(over["error"]["code"], -32602, "{over}");
    assert_eq!(scene.seen.of("tasks/get").len() + scene.seen.of("tasks/cancel").len(), 0);
}

#[tokio::test]
async fn row_60b_state_and_result_of_a_task() {
    let scene = Scene::scripted(task_server(|look| match look {
        0 => modern_task("working", json!({ "statusMessage": "half" })),
        _ => done(true),
    }))
    .await;
    let client = scene.raw(R2025_11_25, json!({})).await;
    begun(&client).await;
    let which = json!({ "taskId": "t1" });
    let state = client.call("tasks/get", which.clone()).await;
    let expected = json!({ "taskId": "t1", "status": "working", "ttl": 60_000, "pollInterval": 10, "statusMessage": "half",
        "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z" });
    assert_eq!(state["result"], expected);
    let result = client.call("tasks/result", which.clone()).await;
    assert_eq!(result["result"]["content"][0]["text"], "done", "{result}");
    assert_eq!(result["result"]["_meta"], json!({ meta::RELATED_TASK: which }), "{result}");
    assert_eq!(result["result"].get("resultType"), None, "{result}");
    let state = client.call("tasks/get", which).await;
    assert_eq!(state["result"]["status"], "failed", "a tool's error is a failed task there: {state}");
    assert_eq!(state["result"].get("result"), None, "{state}");
    let unnamed = client.call("tasks/get", json!({})).await;
    assert_eq!(unnamed["error"]["code"], -32602, "{unnamed}");
}

#[tokio::test]
async fn row_60b_a_failed_task_answers_with_its_error() {
    let error = json!({ "code": -32050, "message": "broke", "data": { "n": 1 } });
    let failed = modern_task("failed", json!({ "error": error }));
    let scene = Scene::scripted(task_server(move |_| failed.clone())).await;
    let client = scene.raw(R2025_11_25, json!({})).await;
    begun(&client).await;
    let answer = client.call("tasks/result", json!({ "taskId": "t1" })).await;
    assert_eq!(answer["error"], error, "{answer}");
}

#[tokio::test]
async fn row_60c_a_task_asks_on_the_stream_of_its_result() {
    let answered = Arc::new(AtomicBool::new(false));
    let form = json!({ "method": "elicitation/create", "params": { "mode": "form", "message": "who?",
        "requestedSchema": { "type": "object", "properties": { "n": { "type": "string" } } } } });
    let (was_answered, inner) = (
        Arc::clone(&answered),
        task_server({
            let answered = Arc::clone(&answered);
            move |_| {
                if answered.load(Ordering::SeqCst) {
                    return done(false);
                }
                modern_task("input_required", json!({ "inputRequests": { "k1": form } }))
            }
        }),
    );
    let scene =
        Scene::scripted(inner.watching("tasks/update", move || was_answered.store(true, Ordering::SeqCst))).await;
    let client = scene.raw(R2025_11_25, json!({ "elicitation": {} })).await;
    begun(&client).await;
    let mut stream = client.start(&client.request("tasks/result", json!({ "taskId": "t1" })), &[]).await;
    let question = asked(&mut stream).await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    assert_eq!(question["params"]["_meta"][meta::RELATED_TASK], json!({ "taskId": "t1" }), "{question}");
    let answer = json!({ "action": "accept", "content": { "n": "me" } });
    client.post(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }), &[]).await;
    let result = next(&mut stream).await.expect("a result");
    assert_eq!(result["result"]["content"][0]["text"], "done", "{result}");
    let update = scene.seen.last("tasks/update").message;
    assert_eq!(update["params"]["inputResponses"], json!({ "k1": answer }), "{update}");
    assert_eq!(update["params"]["taskId"], "t1");
    assert_eq!(scene.seen.of("tasks/update").len(), 1, "each question is answered once");
}

/// The next request of a server.
async fn asked(stream: &mut Response) -> Value {
    loop {
        let message = next(stream).await.expect("a question");
        if message.get("method").is_some() && message.get("id").is_some() {
            return message;
        }
        assert!(message.get("method").is_some(), "{message}");
    }
}

#[tokio::test]
async fn row_60d_a_cancelled_task_stays_cancelled() {
    // The server goes on, as it may.
    let scene = Scene::scripted(task_server(|look| match look {
        0 => modern_task("working", json!({})),
        _ => done(false),
    }))
    .await;
    let client = scene.raw(R2025_11_25, json!({})).await;
    begun(&client).await;
    let which = json!({ "taskId": "t1" });
    let cancelled = client.call("tasks/cancel", which.clone()).await;
    assert_eq!(cancelled["result"]["status"], "cancelled", "{cancelled}");
    assert_eq!(scene.seen.last("tasks/cancel").message["params"]["taskId"], "t1");
    let state = client.call("tasks/get", which.clone()).await;
    assert_eq!(state["result"], cancelled["result"], "{state}");
    for method in ["tasks/cancel", "tasks/result"] {
        let refused = client.call(method, which.clone()).await;
        assert_eq!(refused["error"]["code"], -32602, "{method}: {refused}");
    }
    assert_eq!(scene.seen.of("tasks/cancel").len(), 1);
}

#[tokio::test]
async fn row_60d_a_task_that_is_done_is_not_cancelled() {
    let scene = Scene::scripted(task_server(|_| done(false))).await;
    let client = scene.raw(R2025_11_25, json!({})).await;
    begun(&client).await;
    let refused = client.call("tasks/cancel", json!({ "taskId": "t1" })).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(scene.seen.of("tasks/cancel").len(), 0);
}

#[tokio::test]
async fn row_60f_a_client_without_tasks_waits_for_the_end() {
    for seen in [R2025_06_18, R2025_11_25] {
        let scene = Scene::scripted(task_server(|look| match look {
            0 => modern_task("working", json!({})),
            _ => done(false),
        }))
        .await;
        let client = scene.raw(seen, json!({})).await;
        let answer = client.tool("a").await;
        assert_eq!(answer["result"]["content"][0]["text"], "done", "{seen}: {answer}");
        assert_eq!(scene.seen.of("tasks/cancel").len(), 0, "it has ended by itself");
    }
}

#[tokio::test]
async fn row_60f_a_call_that_is_given_up_cancels_its_task() {
    let scene = Scene::scripted(task_server(|_| modern_task("working", json!({})))).await;
    let client = scene.raw(R2025_11_25, json!({})).await;
    let request = client.request("tools/call", json!({ "name": "a", "arguments": {} }));
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": request["id"] } });
    let stream = client.start(&request, &[]);
    let cancelling = async {
        scene.seen.wait("tasks/get").await;
        client.post(&cancel, &[]).await;
        scene.seen.wait("tasks/cancel").await
    };
    tokio::select! {
        seen = cancelling => assert_eq!(seen.message["params"]["taskId"], "t1"),
        () = async { drop(stream.await); tokio::time::sleep(Duration::from_secs(5)).await } => panic!("no cancellation"),
    }
}

#[tokio::test]
async fn row_33_tools_say_that_they_may_become_tasks() {
    let scene = Scene::scripted(task_server(|_| done(false))).await;
    let listed = scene.raw(R2025_11_25, json!({})).await.call("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"][0]["execution"], json!({ "taskSupport": "optional" }), "{listed}");
    let listed = scene.raw(R2025_06_18, json!({})).await.call("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"][0].get("execution"), None, "{listed}");
}

#[tokio::test]
async fn row_60e_lists_and_status_of_tasks_stay_in_their_era() {
    let scene = Scene::scripted(Script::fixed(R2026_07_28, json!({}), json!({}))).await;
    let client = scene.raw(R2025_11_25, json!({})).await;
    client.tool("a").await;
    assert_eq!(client.opening["capabilities"].get("tasks"), None);
    let refused = client.call("tasks/list", json!({})).await;
    assert_eq!(refused["error"]["code"], -32601, "{refused}");
    assert_eq!(scene.seen.of("tasks/list").len(), 0);
    let scene = Scene::scripted(Script::new(R2025_11_25, json!({}), |call: Call| {
        let _ = call.link.notify("notifications/tasks/status", task());
        Answer::result(call.id(), &json!({ "content": [] })).into()
    }))
    .await;
    let client = scene.raw(R2026_07_28, json!({})).await;
    let got = client.post(&client.request("tools/call", json!({ "name": "a" })), &[]).await;
    assert_eq!(got.messages.len(), 1, "{got:?}");
    assert_eq!(got.response()["result"]["_meta"][meta::LOSSES][0]["row"], "60e", "{got:?}");
}

#[tokio::test]
async fn a_subscription_to_tasks_passes_within_the_era() {
    let declared = json!({ "extensions": { meta::TASKS_EXTENSION: {} } });
    let scene = Scene::scripted(Script::new(R2026_07_28, declared.clone(), |call: Call| {
        let may = call.client_capabilities().is_some_and(|declared| declared.get("extensions").is_some());
        if !may {
            let data = json!({ "requiredCapabilities": {} });
            return Answer::error(Some(call.id()), &RpcError::new(-32021, "missing").with_data(data)).into();
        }
        let meta =
            json!({ meta::SUBSCRIPTION_ID: serde_json::from_str::<Value>(&call.id().to_json()).expect("an id") });
        let acknowledged = json!({ "_meta": meta, "notifications": { "taskIds": ["t1"] } });
        let _ = call.link.notify("notifications/subscriptions/acknowledged", acknowledged);
        let _ = call.link.notify("notifications/tasks", json!({ "_meta": meta, "taskId": "t1", "status": "working" }));
        Reply::later(std::future::pending())
    }))
    .await;
    let filter = json!({ "notifications": { "taskIds": ["t1", "none"] } });
    let client = scene.raw(R2026_07_28, declared).await;
    let listen = client.request("subscriptions/listen", filter.clone());
    let mut stream = client.start(&listen, &[]).await;
    let acknowledged = next(&mut stream).await.expect("an acknowledgement");
    assert_eq!(acknowledged["params"]["notifications"], json!({ "taskIds": ["t1"] }), "{acknowledged}");
    let status = next(&mut stream).await.expect("a status");
    assert_eq!((&status["method"], &status["params"]["taskId"]), (&json!("notifications/tasks"), &json!("t1")));
    assert_eq!(status["params"]["_meta"][meta::SUBSCRIPTION_ID], listen["id"], "{status}");
    let refused = scene.raw(R2026_07_28, json!({})).await.call("subscriptions/listen", filter).await;
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    assert_eq!(refused["error"]["data"], json!({ "requiredCapabilities": {} }), "{refused}");
}

#[tokio::test]
async fn row_60f_a_tool_that_must_be_a_task_is_waited_for() {
    for seen in [R2026_07_28, R2025_06_18] {
        let script = Script::new(R2025_11_25, json!({ "tools": {}, "tasks": {} }), |call: Call| {
            let tool = json!({ "name": "a", "inputSchema": { "type": "object" },
                "execution": { "taskSupport": "required" } });
            let body = match call.message.method().unwrap_or_default() {
                "tools/list" => json!({ "tools": [tool] }),
                "tasks/result" => json!({ "content": [{ "type": "text", "text": "done" }] }),
                _ => json!({ "task": task() }),
            };
            Answer::result(call.id(), &body).into()
        });
        let scene = Scene::scripted(script).await;
        let answer = scene.raw(seen, json!({})).await.tool("a").await;
        assert_eq!(answer["result"]["content"][0]["text"], "done", "{seen}: {answer}");
        assert_eq!(scene.seen.last("tools/call").message["params"]["task"], json!({}));
        assert_eq!(scene.seen.last("tasks/result").message["params"]["taskId"], "t1");
    }
}

#[tokio::test]
async fn row_60g_no_server_is_promised_tasks_of_the_client() {
    let declared = json!({ "sampling": {}, "tasks": { "requests": { "sampling": { "createMessage": {} } } } });
    for spoken in [R2025_11_25, R2026_07_28] {
        let result = json!({ "content": [], "resultType": "complete" });
        let scene = Scene::scripted(Script::fixed(spoken, json!({}), result)).await;
        scene.raw(R2025_11_25, declared.clone()).await.tool("a").await;
        for one in scene.seen.of("initialize").iter().chain(&scene.seen.of("tools/call")) {
            let text = one.message.to_string();
            assert!(!text.contains("tasks"), "{spoken}: {text}");
        }
    }
}
