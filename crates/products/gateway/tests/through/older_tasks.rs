//! Rows 60a–60d of the translation table: tasks of a server of 2025-11-25 for a client of 2026-07-28.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::iter;
use gateway::settings::{Limits, TaskSettings};
use net::service::{Answer, Call, Reply, RpcError};
use serde_json::{Value, json};
use wire::meta;
use wire::revision::{R2025_06_18, R2025_11_25, R2026_07_28};

use crate::raw::Raw;
use crate::scene::Scene;
use crate::script::Script;

const MOMENT: &str = "2025-11-25T00:00:00Z";

/// What a client declares that follows tasks and can be asked.
fn able() -> Value {
    json!({ "extensions": { meta::TASKS_EXTENSION: {} }, "elicitation": {} })
}

fn declared() -> Value {
    json!({ "tools": {}, "tasks": { "cancel": {}, "requests": { "tools": { "call": {} } } } })
}

fn task(status: &str) -> Value {
    json!({ "taskId": "t1", "status": status, "ttl": 60_000, "pollInterval": 10,
        "createdAt": MOMENT, "lastUpdatedAt": MOMENT })
}

/// A server of 2025-11-25 whose tool `must` runs only as a task and `may` can; `answer` answers what is asked about a task.
fn server(answer: impl Fn(&Call) -> Reply + Send + Sync + 'static) -> Script {
    Script::new(R2025_11_25, declared(), move |call: Call| {
        let tool = |name: &str, support: &str| json!({ "name": name, "inputSchema": { "type": "object" }, "execution": { "taskSupport": support } });
        let body = match call.message.method().unwrap_or_default() {
            "tools/list" => json!({ "tools": [tool("must", "required"), tool("may", "optional")] }),
            "tools/call" if call.message.body_member("task").is_none() => done("plain"),
            "tools/call" => {
                let related = json!({ meta::RELATED_TASK: { "taskId": "t1" }, "x/y": 1 });
                json!({ "task": task("working"), "_meta": related })
            }
            _ => return answer(&call),
        };
        Answer::result(call.id(), &body).into()
    })
}

fn done(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// A server whose task stands as `status` says, with this result.
fn ended(status: &'static str, result: Result<Value, RpcError>) -> Script {
    server(move |call| match (call.message.method(), &result) {
        (Some("tasks/result"), Err(error)) => Answer::error(Some(call.id()), error).into(),
        (Some("tasks/result"), Ok(result)) => Answer::result(call.id(), result).into(),
        _ => Answer::result(call.id(), &task(status)).into(),
    })
}

/// The id of the task that a call becomes.
async fn begun(client: &Raw, tool: &str) -> String {
    let answer = client.tool(tool).await;
    assert_eq!(answer["result"]["resultType"], "task", "{answer}");
    answer["result"]["taskId"].as_str().expect("an id").to_owned()
}

async fn about(client: &Raw, method: &str, task: &str) -> Value {
    client.call(method, json!({ "taskId": task })).await
}

/// The task when it stands so.
async fn when(client: &Raw, task: &str, status: &str) -> Value {
    for _ in 0..200 {
        let answer = about(client, "tasks/get", task).await;
        if answer["result"]["status"] == status {
            return answer["result"].clone();
        }
        assert!(answer["result"]["status"] == "working", "{answer}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the task is never {status}");
}

#[tokio::test]
async fn row_60a_a_call_of_a_tool_that_must_be_a_task_is_one_of_the_extension() {
    let scene = Scene::through(R2025_11_25).await;
    let client = scene.raw(R2026_07_28, able()).await;
    let discovered = client.call("server/discover", json!({})).await;
    assert_eq!(discovered["result"]["capabilities"]["extensions"], json!({ meta::TASKS_EXTENSION: {} }));
    assert_eq!(discovered["result"]["capabilities"].get("tasks"), None, "{discovered}");
    let answer = client.tool("buy").await;
    let made = &answer["result"];
    assert_eq!((&made["resultType"], &made["status"]), (&json!("task"), &json!("working")), "{answer}");
    assert!(made["ttlMs"].is_u64() && made["pollIntervalMs"].is_u64() && made["createdAt"].is_string(), "{answer}");
    for old in ["task", "ttl", "pollInterval"] {
        assert_eq!(made.get(old), None, "{answer}");
    }
    assert!(!scene.losses().contains(&"60a"), "{:?}", scene.losses());
    scene.end().await;
}

#[tokio::test]
async fn row_60a_the_task_has_an_id_of_the_gateway_and_keeps_what_else_is_said() {
    let scene = Scene::scripted(ended("working", Ok(json!({})))).await;
    let client = scene.raw(R2026_07_28, able()).await;
    let answer = client.tool("must").await;
    let mut made = answer["result"].clone();
    let id = made["taskId"].take();
    assert!(id.as_str().is_some_and(|id| id.starts_with("proof-gateway-task.")), "{answer}");
    assert_eq!(made["_meta"]["x/y"], 1, "{answer}");
    assert_eq!(made["_meta"].get(meta::RELATED_TASK), None, "{answer}");
    made.as_object_mut().expect("an object").remove("_meta");
    assert_eq!(
        made,
        json!({ "resultType": "task", "taskId": null, "status": "working", "ttlMs": 60_000, "pollIntervalMs": 10,
            "createdAt": MOMENT, "lastUpdatedAt": MOMENT })
    );
    assert_eq!(scene.seen.last("tools/call").message["params"]["task"], json!({}));
    let text = scene.seen.last("tools/call").text;
    assert!(!text.contains("extensions"), "the server learns nothing of the extension: {text}");
}

#[tokio::test]
async fn row_60a_a_tool_that_may_be_a_task_is_one_if_it_takes_long() {
    let long = TaskSettings { tools: vec!["may".to_owned()], ..TaskSettings::default() };
    for (settings, is_task) in [(TaskSettings::default(), false), (long, true)] {
        let scene = Scene::tasked(ended("working", Ok(done("done"))), None, settings).await;
        let client = scene.raw(R2026_07_28, able()).await;
        let answer = client.tool("may").await;
        assert_eq!(answer["result"]["resultType"] == "task", is_task, "{answer}");
        assert_eq!(scene.seen.last("tools/call").message["params"].get("task").is_some(), is_task);
        // Who does not know the extension gets the result.
        let plain = scene.raw(R2026_07_28, json!({})).await.tool("may").await;
        assert_eq!(plain["result"]["content"][0]["text"], "plain", "{plain}");
        scene.end().await;
    }
}

#[tokio::test]
async fn row_60a_a_server_that_declares_no_tasks_makes_none() {
    // Its tools say that they run as tasks, which counts for nothing (2025-11-25, basic/utilities/tasks).
    let inner = ended("working", Ok(done("done")));
    let silent =
        Script::new(R2025_11_25, json!({ "tools": {} }), move |call| net::service::Service::call(&inner, call));
    let scene = Scene::scripted(silent).await;
    let client = scene.raw(R2026_07_28, able()).await;
    let discovered = client.call("server/discover", json!({})).await;
    assert_eq!(discovered["result"]["capabilities"].get("extensions"), None, "{discovered}");
    assert_ne!(client.tool("may").await["result"]["resultType"], "task");
    let unknown = about(&client, "tasks/get", "t1").await;
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
}

#[tokio::test]
async fn row_60b_a_task_that_is_over_holds_its_result() {
    let result = json!({ "content": [], "structuredContent": { "n": 1 }, "isError": true,
        "_meta": { meta::RELATED_TASK: { "taskId": "t1" }, "x/y": 1 } });
    for status in ["completed", "failed"] {
        let scene = Scene::scripted(ended(status, Ok(result.clone()))).await;
        let client = scene.raw(R2026_07_28, able()).await;
        let id = begun(&client, "must").await;
        for _ in 0..2 {
            let state = about(&client, "tasks/get", &id).await["result"].clone();
            assert_eq!((&state["status"], &state["resultType"]), (&json!("completed"), &json!("complete")), "{state}");
            assert_eq!((&state["taskId"], &state["ttlMs"]), (&json!(id), &json!(60_000)), "{state}");
            let held = &state["result"];
            assert_eq!((&held["isError"], &held["structuredContent"]), (&json!(true), &json!({ "n": 1 })), "{state}");
            assert_eq!((held["_meta"].get(meta::RELATED_TASK), &held["_meta"]["x/y"]), (None, &json!(1)), "{state}");
        }
        assert_eq!(scene.seen.last("tasks/get").message["params"], json!({ "taskId": "t1" }));
    }
}

#[tokio::test]
async fn row_60b_a_task_that_failed_holds_its_error() {
    let error = RpcError::new(-32050, "broke").with_data(json!({ "n": 1 }));
    let scene = Scene::scripted(ended("failed", Err(error))).await;
    let client = scene.raw(R2026_07_28, able()).await;
    let id = begun(&client, "must").await;
    let state = about(&client, "tasks/get", &id).await["result"].clone();
    assert_eq!(state["status"], "failed", "{state}");
    assert_eq!(state["error"], json!({ "code": -32050, "message": "broke", "data": { "n": 1 } }), "{state}");
    assert_eq!(state.get("result"), None, "{state}");
}

/// A server of 2025-11-25 as a shell script. Its task asks on the stream of its result, and is done with the answer. Calls of
/// `hang` are not answered, and `crash` ends it.
const CHILD: &str = r#"
status=input_required
say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  case $line in
    *'"id":"q1"'*'"accept"'*) status=completed; id=$result; say '"result":{"content":[{"type":"text","text":"accepted"}]}'; continue ;;
    *'"id":"q1"'*) status=completed; id=$result; say '"result":{"content":[{"type":"text","text":"not answered"}]}'; continue ;;
    *'"id":'*) id=${line#*'"id":'}; id=${id%%[!0-9]*} ;;
    *) continue ;;
  esac
  case $line in
    *'"initialize"'*) say '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"tools/list"'*) say '"result":{"tools":[{"name":"must","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}},{"name":"hang","inputSchema":{"type":"object"}},{"name":"crash","inputSchema":{"type":"object"}}]}' ;;
    *'"hang"'*) ;;
    *'"crash"'*) exit 3 ;;
    *'"tools/call"'*) say '"result":{"task":{"taskId":"t1","status":"working","ttl":60000,"createdAt":"2025-11-25T00:00:00Z","lastUpdatedAt":"2025-11-25T00:00:00Z"}}' ;;
    *'"tasks/get"'*) say "\"result\":{\"taskId\":\"t1\",\"status\":\"$status\",\"ttl\":60000,\"createdAt\":\"2025-11-25T00:00:00Z\",\"lastUpdatedAt\":\"2025-11-25T00:00:00Z\"}" ;;
    *'"tasks/result"'*) result=$id; echo '{"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{}},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}}' ;;
    *) say '"error":{"code":-32601,"message":"Method not found"}' ;;
  esac
done
"#;

#[tokio::test]
async fn row_60c_over_a_pipe_a_question_is_the_tasks_that_it_names() {
    let scene = Scene::child(CHILD).await;
    let client = scene.raw(R2026_07_28, able()).await;
    let id = begun(&client, "must").await;
    let hangs = client.request("tools/call", json!({ "name": "hang", "arguments": {} }));
    let following = async {
        // The other call is under way in the same process.
        tokio::time::sleep(Duration::from_millis(200)).await;
        let asking = when(&client, &id, "input_required").await;
        let answer = json!({ "taskId": id, "inputResponses": { "elicitation-1": { "action": "accept" } } });
        client.call("tasks/update", answer).await;
        (asking, when(&client, &id, "completed").await)
    };
    let (asking, over) = tokio::select! {
        got = client.post(&hangs, &[]) => panic!("it is answered: {got:?}"),
        followed = following => followed,
    };
    assert_eq!(asking["inputRequests"]["elicitation-1"]["params"]["message"], "who?", "{asking}");
    assert_eq!(over["result"]["content"][0]["text"], "accepted", "{over}");
    scene.end().await;
}

#[tokio::test]
async fn row_60b_a_task_whose_server_has_ended_is_a_failed_one_with_an_unknown_outcome() {
    let scene = Scene::child(CHILD).await;
    let client = scene.raw(R2026_07_28, able()).await;
    let id = begun(&client, "must").await;
    client.tool("crash").await;
    for _ in 0..2 {
        let state = about(&client, "tasks/get", &id).await["result"].clone();
        assert_eq!((&state["status"], &state["taskId"]), (&json!("failed"), &json!(id)), "{state}");
        assert_eq!(state["error"]["data"]["outcome"], "unknown", "{state}");
        assert!(state["ttlMs"].is_u64() && state["createdAt"].is_string() && state["lastUpdatedAt"].is_string());
    }
    for method in ["tasks/cancel", "tasks/update"] {
        let refused = client.call(method, json!({ "taskId": id, "inputResponses": {} })).await;
        assert_eq!(refused["error"]["data"]["outcome"], "unknown", "{method}: {refused}");
    }
    // Another process has a task of the same name, which is another client's.
    let other = begun(&client, "must").await;
    assert_eq!(about(&client, "tasks/get", &id).await["result"]["status"], "failed");
    when(&client, &other, "input_required").await;
    scene.end().await;
}

#[tokio::test]
async fn a_server_that_a_task_runs_in_is_not_idle() {
    let limits = Limits { idle: Duration::from_millis(10), ..Limits::default() };
    let scene = Scene::child_within(CHILD, limits).await;
    let client = scene.raw(R2026_07_28, able()).await;
    let id = begun(&client, "must").await;
    // The gateway looks for idle servers every five seconds.
    tokio::time::sleep(Duration::from_secs(6)).await;
    when(&client, &id, "input_required").await;
    scene.end().await;
}

#[tokio::test]
async fn row_60b_what_its_server_has_forgotten_is_unknown() {
    let scene = Scene::scripted(server(|call| {
        let gone = RpcError::invalid_params("no such task");
        Answer::error(Some(call.id()), &gone).into()
    }))
    .await;
    let client = scene.raw(R2026_07_28, able()).await;
    let id = begun(&client, "must").await;
    for _ in 0..2 {
        let unknown = about(&client, "tasks/get", &id).await;
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    }
    assert_eq!(scene.seen.of("tasks/get").len(), 1, "what its server has forgotten is not asked for again");
}

#[tokio::test]
async fn row_60c_a_task_asks_by_its_state_and_is_answered_by_an_update() {
    let scene = Scene::through(R2025_11_25).await;
    let client = scene.raw(R2026_07_28, able()).await;
    let id = begun(&client, "buy").await;
    let asking = when(&client, &id, "input_required").await;
    let requests = asking["inputRequests"].as_object().expect("requests").clone();
    let (key, request) = requests.iter().next().expect("one");
    assert_eq!((requests.len(), &request["method"]), (1, &json!("elicitation/create")), "{asking}");
    assert_eq!(request["params"]["message"], "What shall I buy at the market?", "{asking}");
    assert_eq!(request["params"].get("_meta"), None, "{asking}");
    let again = about(&client, "tasks/get", &id).await;
    assert_eq!(again["result"]["inputRequests"], asking["inputRequests"], "it is the same question");
    let answer = json!({ "action": "accept", "content": { "goods": "pears" } });
    let update = json!({ "taskId": id, "inputResponses": { key: answer, "none": answer } });
    let acknowledged = client.call("tasks/update", update.clone()).await;
    assert_eq!(acknowledged["result"]["resultType"], "complete", "{acknowledged}");
    let over = when(&client, &id, "completed").await;
    assert_eq!(over["result"]["content"][0]["text"], "Bought at the market: pears", "{over}");
    let late = client.call("tasks/update", update).await;
    assert_eq!(late["result"]["resultType"], "complete", "what is not open is ignored: {late}");
    assert_eq!(scene.losses(), [""; 0]);
    scene.end().await;
}

/// A server whose task asks for two names, one after the other, each by the question that its caller makes.
fn asking_twice(given: &Arc<std::sync::Mutex<Vec<Value>>>) -> Script {
    let (given, over) = (Arc::clone(given), Arc::new(AtomicUsize::new(0)));
    Script::new(R2025_11_25, declared(), move |call: Call| {
        let (given, over) = (Arc::clone(&given), Arc::clone(&over));
        match call.message.method().unwrap_or_default() {
            "tasks/result" => Reply::later(async move {
                for question in ["one", "two"] {
                    let form = json!({ "message": question, "requestedSchema": { "type": "object", "properties": {} },
                        "_meta": { meta::RELATED_TASK: { "taskId": "t1" } } });
                    let answer = call.link.request("elicitation/create", form).await.expect("an answer");
                    let said = answer.result().or(answer.error()).cloned().unwrap_or_default();
                    given.lock().expect("no panic").push(said);
                }
                over.store(1, Ordering::SeqCst);
                Answer::result(call.id(), &done("done"))
            }),
            "tools/list" => Answer::result(
                call.id(),
                &json!({ "tools": [{ "name": "must", "inputSchema": { "type": "object" },
                    "execution": { "taskSupport": "required" } }] }),
            )
            .into(),
            "tools/call" => Answer::result(call.id(), &json!({ "task": task("working") })).into(),
            _ => {
                let status = if over.load(Ordering::SeqCst) == 1 { "completed" } else { "input_required" };
                Answer::result(call.id(), &task(status)).into()
            }
        }
    })
}

#[tokio::test]
async fn row_60c_no_key_is_used_twice_in_a_task() {
    let given = Arc::default();
    let scene = Scene::scripted(asking_twice(&given)).await;
    let client = scene.raw(R2026_07_28, able()).await;
    let id = begun(&client, "must").await;
    let mut keys = HashSet::new();
    for expected in ["one", "two"] {
        let asking = when(&client, &id, "input_required").await;
        let requests = asking["inputRequests"].as_object().expect("requests").clone();
        assert_eq!(requests.len(), 1, "{asking}");
        for (key, request) in requests {
            assert_eq!(request["params"]["message"], expected, "{request}");
            let answer = json!({ "action": "accept", "content": { "said": expected } });
            client.call("tasks/update", json!({ "taskId": id, "inputResponses": { &key: answer } })).await;
            assert!(keys.insert(key.clone()), "{key} is used twice");
        }
    }
    when(&client, &id, "completed").await;
    let said: Vec<_> = given.lock().expect("no panic").iter().map(|one| one["content"]["said"].clone()).collect();
    assert_eq!(said, ["one", "two"]);
    assert_eq!(scene.seen.of("tasks/result").len(), 1, "its stream stays open for all of its questions");
    for bad in [json!({ "taskId": id }), json!({ "taskId": id, "inputResponses": [] })] {
        let refused = client.call("tasks/update", bad).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
}

#[tokio::test]
async fn row_60c_what_the_client_cannot_be_asked_is_refused_and_the_task_goes_on() {
    let given = Arc::default();
    let scene = Scene::scripted(asking_twice(&given)).await;
    let client = scene.raw(R2026_07_28, json!({ "extensions": { meta::TASKS_EXTENSION: {} } })).await;
    let id = begun(&client, "must").await;
    let over = when(&client, &id, "completed").await;
    assert_eq!(over["result"]["content"][0]["text"], "done", "{over}");
    let codes: Vec<_> = given.lock().expect("no panic").iter().map(|one| one["code"].clone()).collect();
    assert_eq!(codes, [-32601, -32601]);
}

#[tokio::test]
async fn row_60c_a_task_that_needs_input_and_does_not_ask_is_one_that_works() {
    let scene = Scene::scripted(server(|call| match call.message.method() {
        Some("tasks/result") => Reply::later(std::future::pending()),
        _ => Answer::result(call.id(), &task("input_required")).into(),
    }))
    .await;
    let client = scene.raw(R2026_07_28, able()).await;
    let id = begun(&client, "must").await;
    let state = tokio::time::timeout(Duration::from_secs(5), about(&client, "tasks/get", &id)).await.expect("in time");
    assert_eq!(state["result"]["status"], "working", "{state}");
    assert!(state["result"]["statusMessage"].is_string() && state["result"].get("inputRequests").is_none(), "{state}");
}

#[tokio::test]
async fn row_60d_a_cancellation_is_the_servers_and_is_acknowledged() {
    let scene = Scene::through(R2025_11_25).await;
    let client = scene.raw(R2026_07_28, able()).await;
    let id = begun(&client, "buy").await;
    // The second time, the server says -32602: the task is over.
    for _ in 0..2 {
        let acknowledged = about(&client, "tasks/cancel", &id).await;
        assert_eq!(acknowledged["result"]["resultType"], "complete", "{acknowledged}");
        assert_eq!(acknowledged["result"].get("status"), None, "{acknowledged}");
    }
    let state = about(&client, "tasks/get", &id).await["result"].clone();
    assert_eq!(
        (&state["status"], state.get("result"), state.get("error")),
        (&json!("cancelled"), None, None),
        "{state}"
    );
    scene.end().await;
}

#[tokio::test]
async fn row_60d_other_errors_of_the_server_are_the_clients() {
    let scene =
        Scene::scripted(server(|call| Answer::error(Some(call.id()), &RpcError::internal("broken")).into())).await;
    let client = scene.raw(R2026_07_28, able()).await;
    let id = begun(&client, "must").await;
    let refused = about(&client, "tasks/cancel", &id).await;
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
    assert_eq!(scene.seen.last("tasks/cancel").message["params"], json!({ "taskId": "t1" }));
}

#[tokio::test]
async fn ids_that_the_gateway_did_not_give_are_of_no_task() {
    let scene = Scene::scripted(ended("completed", Ok(done("secret")))).await;
    let client = scene.raw(R2026_07_28, able()).await;
    let id = begun(&client, "must").await;
    let altered = format!("{}{}", &id[..id.len() - 1], if id.ends_with('0') { '1' } else { '0' });
    let random = format!("proof-gateway-task.{}", "0".repeat(48));
    for forged in ["t1", "proof-gateway-task.", &altered, &random, &id.to_uppercase(), &format!("{id}0")] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let refused = client.call(method, json!({ "taskId": forged, "inputResponses": {} })).await;
            assert_eq!(refused["error"]["code"], -32602, "{method} of {forged:?}: {refused}");
            assert_eq!(refused["error"]["data"]["failure"], "task-unknown", "{refused}");
        }
    }
    assert_eq!(scene.seen.of("tasks/get").len() + scene.seen.of("tasks/cancel").len(), 0);
    // Of an older client, it is nothing but a name that its server does not know.
    let legacy = scene.raw(R2025_11_25, json!({})).await;
    about(&legacy, "tasks/get", &id).await;
    assert_eq!(scene.seen.last("tasks/get").message["params"]["taskId"], json!(id));
}

#[tokio::test]
async fn a_task_of_one_of_several_servers_is_followed_there() {
    let other = Script::new(R2025_06_18, json!({ "tools": {} }), |call: Call| {
        let tool = json!({ "name": "plain", "inputSchema": { "type": "object" } });
        Answer::result(call.id(), &json!({ "tools": [tool] })).into()
    });
    let other_seen = other.seen.clone();
    let scene = Scene::two(ended("completed", Ok(done("done"))), other).await;
    let client = scene.raw(R2026_07_28, able()).await;
    let id = begun(&client, "must").await;
    let state = about(&client, "tasks/get", &id).await;
    assert_eq!(state["result"]["result"]["content"][0]["text"], "done", "{state}");
    assert_eq!(other_seen.of("tasks/get").len(), 0);
    scene.end().await;
}

#[tokio::test]
async fn thousands_of_tasks_of_one_client_are_bounded_and_lose_no_result() {
    const CALLS: usize = 2500;
    let scene = Scene::scripted(ended("working", Ok(done("done")))).await;
    let client = &scene.raw(R2026_07_28, able()).await;
    let answers: Vec<Value> = iter(0..CALLS).map(|_| client.tool("must")).buffer_unordered(32).collect().await;
    let ids: HashSet<_> = answers.iter().filter_map(|answer| answer["result"]["taskId"].as_str()).collect();
    assert_eq!(ids.len(), 1024, "one principal's share");
    let waited = answers.iter().filter(|answer| answer["result"]["content"][0]["text"] == "done").count();
    assert_eq!(ids.len() + waited, CALLS, "the others are waited for (row 60f)");
    for id in ids.iter().take(3) {
        assert_eq!(about(client, "tasks/get", id).await["result"]["status"], "working");
    }
    scene.end().await;
}

#[tokio::test]
async fn requests_about_tasks_need_the_extension() {
    let scene = Scene::scripted(ended("working", Ok(done("done")))).await;
    let able = scene.raw(R2026_07_28, able()).await;
    let id = begun(&able, "must").await;
    let filter = json!({ "notifications": { "taskIds": [&id] } });
    let other = scene.raw(R2026_07_28, json!({ "elicitation": {} })).await;
    let about = |task: &str| json!({ "taskId": task, "inputResponses": {} });
    let requests = ["tasks/get", "tasks/update", "tasks/cancel"].into_iter();
    let requests = requests.flat_map(|method| [(method, about(&id)), (method, about("none"))]);
    for (method, params) in requests.chain([("subscriptions/listen", filter)]) {
        let refused = other.call(method, params).await;
        assert_eq!(refused["error"]["code"], -32021, "{method}: {refused}");
        let needed = &refused["error"]["data"]["requiredCapabilities"]["extensions"];
        assert_eq!(*needed, json!({ meta::TASKS_EXTENSION: {} }), "{refused}");
    }
    assert_eq!(scene.seen.of("tasks/get").len() + scene.seen.of("tasks/cancel").len(), 0);
}
