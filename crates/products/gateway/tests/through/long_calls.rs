//! Calls that take long, as tasks of the gateway: to a client of either kind of tasks, whatever its server speaks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gateway::settings::TaskSettings;
use net::service::{Answer, Call, Reply, RpcError};
use serde_json::{Value, json};
use wire::meta::TASKS_EXTENSION;
use wire::revision::{R2025_06_18, R2025_11_25, R2026_07_28};
use wire::{Era, Revision};

use crate::raw::Raw;
use crate::scene::Scene;
use crate::script::Script;

/// How long a call of `slow` takes.
const SLOW: Duration = Duration::from_millis(700);

fn modern_tasks() -> Value {
    json!({ "extensions": { TASKS_EXTENSION: {} } })
}

/// Counts calls whose client does not wait any more.
struct GivenUp(Arc<AtomicUsize>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A server that knows no tasks: `slow` answers late, `never` does not, `fails` ends in an error, `asks` asks.
fn server(revision: Revision) -> Script {
    counting(revision, &Arc::default())
}

/// The same; `ended` counts the calls of `never` that were given up.
fn counting(revision: Revision, ended: &Arc<AtomicUsize>) -> Script {
    let ended = Arc::clone(ended);
    Script::new(revision, json!({ "tools": {} }), move |call: Call| {
        let modern = revision.era() == Era::Modern;
        let complete = move |mut body: Value| {
            if modern {
                body["resultType"] = json!("complete");
            }
            body
        };
        let id = call.id().clone();
        if call.message.method() == Some("tools/list") {
            let tool = |name: &&str| json!({ "name": name, "inputSchema": { "type": "object" } });
            let all = ["slow", "never", "fails", "asks", "fast"];
            let body =
                json!({ "tools": all.iter().map(tool).collect::<Vec<_>>(), "ttlMs": 60_000, "cacheScope": "private" });
            return Answer::result(&id, &complete(body)).into();
        }
        let name = call.message.string_member("name").map(std::borrow::Cow::into_owned).unwrap_or_default();
        let ended = Arc::clone(&ended);
        Reply::later(async move {
            // It ends with its call.
            let _call = call;
            match name.as_str() {
                "slow" => tokio::time::sleep(SLOW).await,
                "never" => {
                    let _ended = GivenUp(ended);
                    std::future::pending::<()>().await;
                }
                "fails" => return Answer::error(Some(&id), &RpcError::new(-32000, "broken")),
                "asks" => {
                    let question = json!({ "method": "elicitation/create", "params": { "message": "?",
                        "requestedSchema": { "type": "object", "properties": {} } } });
                    let asks = json!({ "resultType": "input_required", "inputRequests": { "q": question } });
                    return Answer::result(&id, &asks);
                }
                _ => {}
            }
            Answer::result(&id, &complete(json!({ "content": [{ "type": "text", "text": "done" }], "n": 1 })))
        })
    })
}

fn settings() -> TaskSettings {
    let tools = ["slow", "never", "fails", "asks"].map(str::to_owned).to_vec();
    TaskSettings { tools, poll: Duration::from_millis(200), ..TaskSettings::default() }
}

/// Calls a tool as a task, however a client of this revision does.
async fn begin(client: &Raw, tool: &str) -> Value {
    let began = Instant::now();
    let params = match client.revision.era() {
        Era::Legacy => json!({ "name": tool, "arguments": {}, "task": { "ttl": 60_000 } }),
        Era::Modern => json!({ "name": tool, "arguments": {} }),
    };
    let answer = client.call("tools/call", params).await;
    // 50 ms on a machine that does nothing else.
    assert!(began.elapsed() < SLOW / 2, "{:?}", began.elapsed());
    let task = if client.revision.era() == Era::Legacy { &answer["result"]["task"] } else { &answer["result"] };
    assert_eq!(task["status"], "working", "{answer}");
    task.clone()
}

/// Looks at a task until it is over.
async fn over(client: &Raw, id: &Value) -> Value {
    for _ in 0..100 {
        let state = client.call("tasks/get", json!({ "taskId": id })).await["result"].clone();
        if state["status"] != "working" {
            return state;
        }
        tokio::time::sleep(Duration::from_millis(210)).await;
    }
    panic!("it does not end");
}

async fn clients(scene: &Scene) -> [Raw; 2] {
    [scene.raw(R2025_11_25, json!({})).await, scene.raw(R2026_07_28, modern_tasks()).await]
}

#[tokio::test]
async fn a_long_call_is_a_task_of_the_clients_kind() {
    for spoken in [R2025_06_18, R2025_11_25, R2026_07_28] {
        for second in [None, Some(Script::fixed(R2025_06_18, json!({}), json!({})))] {
            let scene = Scene::tasked(server(spoken), second, settings()).await;
            let [legacy, modern] = clients(&scene).await;
            assert_eq!(legacy.opening["capabilities"]["tasks"]["requests"]["tools"]["call"], json!({}));
            let discovered = modern.call("server/discover", json!({})).await;
            assert_eq!(discovered["result"]["capabilities"]["extensions"][TASKS_EXTENSION], json!({}), "{discovered}");
            let listed = legacy.call("tools/list", json!({})).await;
            let support = |name: &str| {
                let mut tools = listed["result"]["tools"].as_array().expect("tools").iter();
                tools.find(|tool| tool["name"] == name).and_then(|tool| tool["execution"]["taskSupport"].as_str())
            };
            assert_eq!((support("slow"), support("fast")), (Some("optional"), None), "{listed}");
            let before = scene.seen.of("tools/call").len();
            let task = begin(&legacy, "slow").await;
            assert_eq!((&task["ttl"], &task["pollInterval"]), (&json!(60_000), &json!(200)), "{task}");
            let result = legacy.call("tasks/result", json!({ "taskId": task["taskId"] })).await;
            assert_eq!(result["result"]["content"][0]["text"], "done", "{result}");
            let related = &result["result"]["_meta"][wire::meta::RELATED_TASK]["taskId"];
            assert_eq!(
                (related, &over(&legacy, &task["taskId"]).await["status"]),
                (&task["taskId"], &json!("completed"))
            );
            let task = begin(&modern, "slow").await;
            assert_eq!((&task["resultType"], &task["ttlMs"]), (&json!("task"), &json!(900_000)), "{task}");
            let state = over(&modern, &task["taskId"]).await;
            assert_eq!((&state["status"], &state["resultType"]), (&json!("completed"), &json!("complete")), "{state}");
            assert_eq!((&state["result"]["content"][0]["text"], &state["result"]["n"]), (&json!("done"), &json!(1)));
            let calls = scene.seen.of("tools/call");
            assert_eq!(calls.len() - before, 2, "each call ran once");
            assert!(calls.iter().all(|call| call.message["params"].get("task").is_none()), "{calls:?}");
            scene.end().await;
        }
    }
}

#[tokio::test]
async fn the_other_name_asks_and_no_other_client_gets_a_task() {
    let scene = Scene::tasked(server(R2025_06_18), None, settings()).await;
    for revision in [R2025_11_25, R2026_07_28] {
        let client = scene.raw(revision, json!({})).await;
        let params = json!({ "name": "slow", "arguments": {}, "task_augment": true });
        let answer = client.call("tools/call", params).await;
        let task = if revision == R2025_11_25 { &answer["result"]["task"] } else { &answer["result"] };
        assert_eq!(task["status"], "working", "{answer}");
        assert_eq!(scene.seen.wait("tools/call").await.message["params"].get("task_augment"), None);
    }
    // Who does not take tasks, or calls a fast tool, waits as before.
    for (revision, capabilities, params) in [
        (R2026_07_28, json!({}), json!({ "name": "slow", "arguments": {} })),
        (R2025_11_25, json!({}), json!({ "name": "slow", "arguments": {} })),
        (R2025_06_18, json!({}), json!({ "name": "slow", "arguments": {}, "task": {} })),
        (R2026_07_28, modern_tasks(), json!({ "name": "fast", "arguments": {} })),
        (R2026_07_28, modern_tasks(), json!({ "name": "fast", "arguments": {}, "task_augment": true })),
    ] {
        let answer = scene.raw(revision, capabilities).await.call("tools/call", params.clone()).await;
        assert_eq!(answer["result"]["content"][0]["text"], "done", "{params}: {answer}");
    }
    scene.end().await;
}

#[tokio::test]
async fn a_server_that_makes_tasks_keeps_them() {
    let declared = json!({ "tools": {}, "tasks": { "requests": { "tools": { "call": {} } } } });
    let made = json!({ "task": { "taskId": "own", "status": "working", "ttl": 1000, "pollInterval": 10,
        "createdAt": "2025-11-25T00:00:00Z", "lastUpdatedAt": "2025-11-25T00:00:00Z" } });
    let script = Script::new(R2025_11_25, declared, move |call: Call| {
        let tools = json!({ "tools": [{ "name": "slow", "inputSchema": { "type": "object" } }] });
        let is_list = call.message.method() == Some("tools/list");
        Answer::result(call.id(), if is_list { &tools } else { &made }).into()
    });
    let scene = Scene::tasked(script, None, settings()).await;
    let client = scene.raw(R2025_11_25, json!({})).await;
    let answer = client.call("tools/call", json!({ "name": "slow", "arguments": {}, "task": {} })).await;
    assert_eq!(answer["result"]["task"]["taskId"], "own", "{answer}");
    scene.end().await;
}

#[tokio::test]
async fn a_cancelled_task_ends_its_call_and_has_no_result() {
    let ended = Arc::new(AtomicUsize::new(0));
    let scene = Scene::tasked(counting(R2025_06_18, &ended), None, settings()).await;
    for client in clients(&scene).await {
        let task = begin(&client, "never").await;
        scene.seen.wait("tools/call").await;
        let id = json!({ "taskId": task["taskId"] });
        let before = ended.load(Ordering::SeqCst);
        let answer = client.call("tasks/cancel", id.clone()).await;
        assert!(answer.get("error").is_none(), "{answer}");
        assert_eq!(over(&client, &task["taskId"]).await["status"], "cancelled");
        for _ in 0..200 {
            if ended.load(Ordering::SeqCst) > before {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(ended.load(Ordering::SeqCst), before + 1, "its server was told");
        if client.revision.era() == Era::Legacy {
            let refused = client.call("tasks/result", id.clone()).await;
            assert_eq!(refused["error"]["data"]["failure"], "task-cancelled", "{refused}");
            let again = client.call("tasks/cancel", id).await;
            assert_eq!(again["error"]["data"]["failure"], "task-over", "{again}");
        }
    }
    scene.end().await;
}

#[tokio::test]
async fn every_end_is_definite() {
    let scene = Scene::tasked(server(R2026_07_28), None, settings()).await;
    let [legacy, modern] = clients(&scene).await;
    let failed = begin(&legacy, "fails").await["taskId"].clone();
    assert_eq!(over(&legacy, &failed).await["status"], "failed");
    let result = legacy.call("tasks/result", json!({ "taskId": failed })).await;
    assert_eq!((&result["error"]["code"], &result["error"]["message"]), (&json!(-32000), &json!("broken")));
    let state = over(&modern, &begin(&modern, "fails").await["taskId"]).await;
    assert_eq!((&state["status"], &state["error"]["code"]), (&json!("failed"), &json!(-32000)), "{state}");
    // A question cannot reach a client that has its answer already.
    let state = over(&modern, &begin(&modern, "asks").await["taskId"]).await;
    assert_eq!(state["error"]["data"]["failure"], "task-unfinished", "{state}");
    for client in [&legacy, &modern] {
        let unknown = client.call("tasks/get", json!({ "taskId": "proof-gateway-call.00" })).await;
        assert_eq!(unknown["error"]["data"]["failure"], "task-unknown", "{unknown}");
    }
    scene.end().await;
}

#[tokio::test]
async fn looks_are_limited_and_tasks_are_bounded() {
    let tasks = TaskSettings { poll: Duration::from_secs(1), per_principal: 2, ..settings() };
    let scene = Scene::tasked(server(R2025_06_18), None, tasks).await;
    let [legacy, modern] = clients(&scene).await;
    let task = begin(&legacy, "never").await;
    let get = legacy.request("tasks/get", json!({ "taskId": task["taskId"] }));
    assert_eq!(legacy.post(&get, &[]).await.status, 200);
    let mut early = legacy.start(&get, &[]).await;
    assert_eq!((early.status.as_u16(), early.header("retry-after")), (429, Some("1")));
    let text = early.whole(1 << 20).await.expect("a body");
    let error: Value = serde_json::from_slice(&text).expect("JSON");
    let after = error["error"]["data"]["retry_after_ms"].as_u64();
    assert!(after.is_some_and(|ms| (500..=1000).contains(&ms)), "{error}");
    begin(&legacy, "never").await;
    // Who asked is refused, who takes either gets the result.
    let params = json!({ "name": "slow", "arguments": {}, "task": {} });
    let refused = legacy.start(&legacy.request("tools/call", params), &[]).await;
    assert_eq!(refused.status.as_u16(), 429);
    let answer = modern.call("tools/call", json!({ "name": "slow", "arguments": {} })).await;
    assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
    scene.end().await;
}

#[tokio::test]
async fn a_tool_that_proves_slow_becomes_one_that_is_a_task() {
    let tasks = TaskSettings { over: SLOW / 2, tools: Vec::new(), ..settings() };
    let scene = Scene::tasked(server(R2025_06_18), None, tasks).await;
    let modern = scene.raw(R2026_07_28, modern_tasks()).await;
    let calls = (0..10).map(|_| modern.call("tools/call", json!({ "name": "slow", "arguments": {} })));
    for answer in futures_util::future::join_all(calls).await {
        assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
    }
    begin(&modern, "slow").await;
    scene.end().await;
}
