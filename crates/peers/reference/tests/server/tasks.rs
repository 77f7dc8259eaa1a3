//! Tasks at 2025-11-25, over one channel: from the call to its result, through questions, cancellation and the end of time.

use std::time::Duration;

use net::server::stdio::Limits;
use reference::{Options, Server, tasks};
use serde_json::{Value, json};
use wire::revision::{R2024_11_05, R2025_03_26, R2025_06_18, R2025_11_25};

use crate::line_client::{LineClient, client_capabilities};

const RELATED: &str = "io.modelcontextprotocol/related-task";
const STATUS: &str = "notifications/tasks/status";

/// Begins a task and gives it as it stands at its beginning.
async fn begin(talk: &mut LineClient, tool: &str, arguments: Value, task: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments, "task": task, "_meta": { "progressToken": "p" } });
    let mut result = talk.result("tools/call", params).await;
    assert_eq!(result["_meta"][RELATED]["taskId"], result["task"]["taskId"]);
    assert!(result.get("content").is_none(), "{result}");
    result["task"].take()
}

fn id(task: &Value) -> Value {
    json!({ "taskId": task["taskId"] })
}

/// A slow call that nobody waits for to the end.
async fn begin_long(talk: &mut LineClient) -> Value {
    begin(talk, "slow", json!({ "steps": 100, "delay_ms": 10_000 }), json!({})).await
}

async fn start_with(limits: tasks::Limits) -> LineClient {
    let options = Options { tasks: limits, ..Options::default() };
    let mut talk = LineClient::with(Server::new(options), R2025_11_25, Limits::default());
    talk.shake_hands(client_capabilities()).await;
    talk
}

#[tokio::test]
async fn tasks_are_declared_where_there_are_any() {
    for revision in [R2024_11_05, R2025_03_26, R2025_06_18, R2025_11_25] {
        let mut talk = LineClient::fresh(revision);
        let hello = talk.shake_hands(client_capabilities()).await;
        let tasks = &hello["result"]["capabilities"]["tasks"];
        let full = json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
        assert_eq!(*tasks, if revision == R2025_11_25 { full } else { Value::Null });
        assert!(hello["result"]["capabilities"].get("extensions").is_none());
        let list = talk.result("tools/list", json!({})).await;
        let support = |name: &str| {
            let tool = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name)?;
            Some(tool.pointer("/execution/taskSupport").cloned().unwrap_or_default())
        };
        if revision == R2025_11_25 {
            assert_eq!(support("slow"), Some(json!("optional")));
            assert_eq!(support("buy"), Some(json!("required")));
        } else {
            assert_eq!((support("slow"), support("buy")), (Some(Value::Null), None));
            // Who declares nothing takes no notice of the wish for a task.
            let call = json!({ "name": "echo", "arguments": { "message": "a" }, "task": "nonsense" });
            assert!(talk.result("tools/call", call).await.get("content").is_some(), "{revision}");
        }
        assert_eq!(support("echo"), Some(Value::Null));
    }
}

#[tokio::test]
async fn a_call_becomes_a_task_and_gives_its_result_later() {
    let mut talk = LineClient::start(R2025_11_25).await;
    let task = begin(&mut talk, "slow", json!({ "steps": 2, "delay_ms": 300 }), json!({ "ttl": 9000 })).await;
    assert_eq!((&task["status"], &task["ttl"]), (&json!("working"), &json!(9000)));
    assert!(task["taskId"].as_str().unwrap().len() >= 22, "{task}");
    let now = talk.result("tasks/get", id(&task)).await;
    assert_eq!((&now["status"], &now["createdAt"]), (&json!("working"), &task["createdAt"]));
    assert!(now.get("_meta").is_none(), "the task is named already");
    let asked = talk.send("tasks/result", id(&task)).await;
    let all = talk.until(asked).await;
    let methods: Vec<_> = all.iter().map(|message| message["method"].as_str().unwrap_or("")).collect();
    assert_eq!(methods, ["notifications/progress", "notifications/progress", STATUS, ""]);
    assert_eq!(all[0]["params"]["_meta"][RELATED], id(&task));
    assert_eq!(all[2]["params"]["status"], "completed");
    assert!(all[2]["params"].get("_meta").is_none());
    let result = &all[3]["result"];
    assert_eq!(result["content"][0]["text"], "Took 2 steps");
    assert_eq!(result["_meta"][RELATED], id(&task));
    assert_eq!(talk.result("tasks/result", id(&task)).await, *result, "as often as it is asked for");
    assert_eq!(talk.result("tasks/get", id(&task)).await["status"], "completed");
}

#[tokio::test]
async fn a_task_that_asks_asks_whoever_waits_for_its_result() {
    let mut talk = LineClient::start(R2025_11_25).await;
    let task = begin(&mut talk, "buy", json!({}), json!({})).await;
    let status = loop {
        let message = talk.next().await;
        if message["method"] == STATUS {
            break message;
        }
    };
    assert_eq!(status["params"]["status"], "input_required");
    assert_eq!(talk.result("tasks/get", id(&task)).await["status"], "input_required");
    talk.assert_quiet().await;
    let first = talk.send("tasks/result", id(&task)).await;
    let question = talk.next().await;
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["_meta"][RELATED], id(&task));
    // Who asks anew may not read the old stream any more: the question moves.
    let second = talk.send("tasks/result", id(&task)).await;
    let moved = [talk.next().await, talk.next().await];
    let cancelled = moved.iter().find(|message| message["method"] == "notifications/cancelled").unwrap();
    assert_eq!(cancelled["params"]["requestId"], question["id"]);
    let again = moved.iter().find(|message| message["method"] == "elicitation/create").unwrap();
    let answer = json!({ "action": "accept", "content": { "goods": "eggs" }, "_meta": { RELATED: id(&task) } });
    talk.write(&json!({ "jsonrpc": "2.0", "id": again["id"], "result": answer })).await;
    let mut results = Vec::new();
    let mut states = Vec::new();
    while results.len() < 2 {
        let message = talk.next().await;
        if message["method"] == STATUS {
            states.push(message["params"]["status"].clone());
        } else if message.get("result").is_some() {
            results.push(message);
        }
    }
    assert_eq!(states, [json!("working"), json!("completed")]);
    for result in results {
        assert!(result["id"] == first || result["id"] == second);
        assert_eq!(result["result"]["content"][0]["text"], "Bought at the market: eggs");
    }
}

#[tokio::test]
async fn a_question_that_is_not_answered_stays_open() {
    let mut talk = LineClient::start(R2025_11_25).await;
    let task = begin(&mut talk, "buy", json!({}), json!({})).await;
    let waiting = talk.send("tasks/result", id(&task)).await;
    let question = loop {
        let message = talk.next().await;
        if message["method"] == "elicitation/create" {
            break message;
        }
    };
    talk.cancel(waiting).await;
    let cancelled = talk.next().await;
    assert_eq!(cancelled["params"]["requestId"], question["id"]);
    assert_eq!(talk.result("tasks/get", id(&task)).await["status"], "input_required");
    let waiting = talk.send("tasks/result", id(&task)).await;
    let question = talk.next().await;
    let unfit = json!({ "action": "accept", "content": { "goods": "" } });
    talk.write(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": unfit })).await;
    let all = talk.until(waiting).await;
    assert_eq!(all.last().unwrap()["result"]["isError"], true);
    let failed = talk.result("tasks/get", id(&task)).await;
    assert_eq!(failed["status"], "failed");
    assert!(failed["statusMessage"].is_string());
}

#[tokio::test]
async fn a_cancelled_task_stays_cancelled_and_says_nothing_more() {
    let mut talk = LineClient::start(R2025_11_25).await;
    let task = begin(&mut talk, "slow", json!({ "steps": 100, "delay_ms": 30 }), json!({})).await;
    let waiting = talk.send("tasks/result", id(&task)).await;
    let cancel = talk.send("tasks/cancel", id(&task)).await;
    let mut open = vec![waiting, cancel];
    let mut told = false;
    while !open.is_empty() {
        let message = talk.next().await;
        told |= message["method"] == STATUS && message["params"]["status"] == "cancelled";
        assert!(!(told && message["method"] == "notifications/progress"), "progress after the end");
        if message.get("method").is_none() {
            open.retain(|id| message["id"] != *id);
            if message["id"] == waiting {
                assert_eq!(message["error"]["code"], -32602);
            } else {
                assert_eq!(message["result"]["status"], "cancelled");
            }
        }
    }
    assert!(told);
    talk.assert_quiet().await;
    assert_eq!(talk.result("tasks/get", id(&task)).await["status"], "cancelled");
    assert_eq!(talk.error("tasks/cancel", id(&task)).await["code"], -32602, "it is over");
    assert_eq!(talk.error("tasks/result", id(&task)).await["code"], -32602);
}

#[tokio::test]
async fn a_cancelled_task_takes_its_question_back() {
    let mut talk = LineClient::start(R2025_11_25).await;
    let task = begin(&mut talk, "buy", json!({}), json!({})).await;
    let waiting = talk.send("tasks/result", id(&task)).await;
    let question = loop {
        let message = talk.next().await;
        if message["method"] == "elicitation/create" {
            break message["id"].clone();
        }
    };
    let cancel = talk.send("tasks/cancel", id(&task)).await;
    let mut seen = Vec::new();
    while seen.len() < 4 {
        seen.push(talk.next().await);
    }
    assert!(seen.iter().any(|message| message["params"]["requestId"] == question), "{seen:?}");
    for id in [waiting, cancel] {
        assert!(seen.iter().any(|message| message["id"] == id), "{seen:?}");
    }
}

#[tokio::test]
async fn what_was_wrong_is_told_by_the_task() {
    let mut talk = LineClient::start(R2025_11_25).await;
    let task = begin(&mut talk, "slow", json!({ "steps": 0 }), json!({})).await;
    let waiting = talk.send("tasks/result", id(&task)).await;
    let all = talk.until(waiting).await;
    assert_eq!(all.last().unwrap()["result"]["isError"], true, "a model is to see it");
    assert_eq!(talk.result("tasks/get", id(&task)).await["status"], "failed");
}

#[tokio::test]
async fn tools_say_whether_they_run_as_tasks() {
    let mut talk = LineClient::start(R2025_11_25).await;
    let forbidden = json!({ "name": "echo", "arguments": { "message": "a" }, "task": {} });
    assert_eq!(talk.error("tools/call", forbidden).await["code"], -32601);
    assert_eq!(talk.error("tools/call", json!({ "name": "buy" })).await["code"], -32601);
    assert_eq!(talk.call("slow", json!({ "steps": 1 })).await["content"][0]["text"], "Took 1 steps");
    for bad in [json!("soon"), json!([]), json!({ "ttl": "long" }), json!({ "ttl": -1 }), json!({ "ttl": 1.5 })] {
        let params = json!({ "name": "slow", "task": bad });
        assert_eq!(talk.error("tools/call", params).await["code"], -32602, "{bad}");
    }
    let long = begin(&mut talk, "slow", json!({ "steps": 1 }), json!({ "ttl": u64::MAX })).await;
    assert_eq!(long["ttl"], 3_600_000, "no longer than we keep anything");
}

#[tokio::test]
async fn unknown_tasks_are_invalid_params() {
    let mut talk = LineClient::start(R2025_11_25).await;
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        for params in [json!({ "taskId": "nobody" }), json!({ "taskId": "" }), json!({ "taskId": 5 }), json!({})] {
            assert_eq!(talk.error(method, params.clone()).await["code"], -32602, "{method} {params}");
        }
    }
    assert_eq!(talk.error("tasks/list", json!({ "cursor": "x" })).await["code"], -32602);
}

#[tokio::test]
async fn the_list_has_every_task_once() {
    let mut talk = start_with(tasks::Limits { per_page: 2, ..Default::default() }).await;
    let mut begun = Vec::new();
    for _ in 0..5 {
        begun.push(begin_long(&mut talk).await["taskId"].clone());
    }
    let mut listed = Vec::new();
    let mut params = json!({});
    loop {
        let page = talk.result("tasks/list", params).await;
        let tasks = page["tasks"].as_array().unwrap();
        assert!(tasks.len() <= 2);
        listed.extend(tasks.iter().map(|task| task["taskId"].clone()));
        let Some(cursor) = page.get("nextCursor") else { break };
        params = json!({ "cursor": cursor });
    }
    assert_eq!(listed, begun);
}

#[tokio::test]
async fn a_session_has_so_many_tasks_and_not_more() {
    let mut talk = start_with(tasks::Limits { per_session: 2, ..Default::default() }).await;
    for _ in 0..2 {
        begin_long(&mut talk).await;
    }
    let params = json!({ "name": "slow", "arguments": { "steps": 1 }, "task": {} });
    assert_eq!(talk.error("tools/call", params).await["code"], -32603);
    assert_eq!(talk.call("slow", json!({ "steps": 1 })).await["content"][0]["text"], "Took 1 steps");
}

#[tokio::test]
async fn a_task_is_gone_after_its_time() {
    let mut talk = LineClient::start(R2025_11_25).await;
    let task = begin(&mut talk, "slow", json!({ "steps": 1, "delay_ms": 10_000 }), json!({ "ttl": 80 })).await;
    let waiting = talk.send("tasks/result", id(&task)).await;
    let all = talk.until(waiting).await;
    assert_eq!(all[0]["params"]["status"], "failed", "{all:?}");
    assert!(all[1]["error"].is_object(), "{all:?}");
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(talk.error("tasks/get", id(&task)).await["code"], -32602);
    assert_eq!(talk.result("tasks/list", json!({})).await["tasks"], json!([]));
}

#[tokio::test]
async fn a_task_is_nobody_elses_and_ends_with_its_session() {
    let limits = tasks::Limits { in_all: 1, ..Default::default() };
    let server = Server::new(Options { tasks: limits, ..Options::default() });
    let mut one = LineClient::with(server.clone(), R2025_11_25, Limits::default());
    let mut other = LineClient::with(server, R2025_11_25, Limits::default());
    one.shake_hands(client_capabilities()).await;
    other.shake_hands(client_capabilities()).await;
    let task = begin_long(&mut one).await;
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        assert_eq!(other.error(method, id(&task)).await["code"], -32602, "{method}");
    }
    assert_eq!(other.result("tasks/list", json!({})).await["tasks"], json!([]));
    let call = json!({ "name": "slow", "arguments": { "steps": 1 }, "task": {} });
    assert_eq!(other.error("tools/call", call.clone()).await["code"], -32603, "the server is full");
    one.close().await;
    let mut tries = 0..50;
    while other.ask("tools/call", call.clone()).await.get("error").is_some() {
        assert!(tries.next().is_some(), "the task of a session that ended is kept");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
