//! The extension `io.modelcontextprotocol/tasks` over one channel. The core schema does not know it, so that these tests
//! say themselves what its messages look like.

use std::sync::Arc;
use std::time::Duration;

use net::server::stdio::Limits;
use reference::catalogue::{Catalogue, Outcome, Question, TaskSupport, Tool, ask_in_turn};
use reference::{Options, Server, tasks};
use serde_json::{Value, json};
use wire::revision::R2026_07_28;

use crate::line_client::{LineClient, client_capabilities};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// `params` of a request that declares the extension.
pub fn declaring(mut params: Value) -> Value {
    let mut capabilities = client_capabilities();
    capabilities["extensions"] = json!({ EXTENSION: {} });
    params["_meta"] = json!({ "io.modelcontextprotocol/clientCapabilities": capabilities });
    params
}

fn start_with(catalogue: Catalogue, limits: tasks::Limits) -> LineClient {
    let options = Options { catalogue: Arc::new(catalogue), tasks: limits, ..Options::default() };
    LineClient::with(Server::new(options), R2026_07_28, Limits::default())
}

fn start() -> LineClient {
    start_with(Catalogue::official(), tasks::Limits::default())
}

async fn ask(talk: &mut LineClient, method: &str, params: Value) -> Value {
    let mut result = talk.result(method, declaring(params)).await;
    if let Some(members) = result.as_object_mut() {
        members.remove("_meta");
    }
    result
}

async fn begin(talk: &mut LineClient, tool: &str, arguments: Value) -> Value {
    let task = ask(talk, "tools/call", json!({ "name": tool, "arguments": arguments })).await;
    let members: Vec<_> = task.as_object().unwrap().keys().collect();
    let flat = ["resultType", "taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"];
    assert_eq!(members, flat, "{task}");
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")));
    task
}

fn id(task: &Value) -> Value {
    json!({ "taskId": task["taskId"] })
}

/// Looks at a task until it stands as wished.
async fn until(talk: &mut LineClient, task: &Value, status: &str) -> Value {
    for _ in 0..250 {
        let now = ask(talk, "tasks/get", id(task)).await;
        assert_eq!(now["resultType"], "complete");
        if now["status"] == status {
            return now;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the task never is {status}");
}

async fn update(talk: &mut LineClient, task: &Value, answers: Value) -> Value {
    ask(talk, "tasks/update", json!({ "taskId": task["taskId"], "inputResponses": answers })).await
}

#[tokio::test]
async fn the_extension_is_announced_and_wants_to_be_declared() {
    let mut talk = start();
    let capabilities = talk.result("server/discover", json!({})).await["capabilities"].take();
    assert_eq!(capabilities["extensions"], json!({ EXTENSION: {} }));
    assert!(capabilities.get("tasks").is_none());
    let task = begin(&mut talk, "slow_compute", json!({ "seconds": 60 })).await;
    let listen = json!({ "notifications": { "taskIds": [task["taskId"]] } });
    let required = json!({ "name": "failing_job" });
    for (method, params) in [
        ("tasks/get", id(&task)),
        ("tasks/cancel", id(&task)),
        ("tasks/update", json!({ "taskId": task["taskId"], "inputResponses": {} })),
        ("subscriptions/listen", listen),
        ("tools/call", required),
    ] {
        let error = talk.error(method, params).await;
        assert_eq!(error["code"], -32021, "{method}");
        assert_eq!(error["data"]["requiredCapabilities"], json!({ "extensions": { EXTENSION: {} } }), "{method}");
    }
    assert_eq!(ask(&mut talk, "tasks/get", id(&task)).await["status"], "working", "nobody touched it");
    let call = talk.call("slow_compute", json!({ "seconds": 0, "label": "It" })).await;
    assert_eq!((&call["resultType"], call.get("taskId")), (&json!("complete"), None));
}

#[tokio::test]
async fn a_server_without_such_tools_knows_nothing_of_tasks() {
    let mut talk = start_with(Catalogue::new("bare", "1"), tasks::Limits::default());
    let discovered = talk.result("server/discover", json!({})).await;
    assert!(discovered["capabilities"].get("extensions").is_none());
    for method in ["tasks/get", "tasks/update", "tasks/cancel", "tasks/list"] {
        assert_eq!(talk.error(method, declaring(json!({ "taskId": "a" }))).await["code"], -32601, "{method}");
    }
}

#[tokio::test]
async fn a_task_ends_with_what_the_call_would_have_given() {
    let mut talk = start();
    let task = begin(&mut talk, "slow_compute", json!({ "seconds": 0.05, "label": "This" })).await;
    assert_eq!(ask(&mut talk, "tasks/get", id(&task)).await["taskId"], task["taskId"], "at once");
    let done = until(&mut talk, &task, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "This took 0.05 seconds");
    assert!(done.get("error").is_none() && done.get("inputRequests").is_none());
    let broken = begin(&mut talk, "protocol_error_job", json!({})).await;
    let broken = until(&mut talk, &broken, "failed").await;
    assert_eq!(broken["error"]["code"], -32603);
    assert!(broken["statusMessage"].is_string() && broken.get("result").is_none());
    let failing = begin(&mut talk, "failing_job", json!({})).await;
    assert_eq!(until(&mut talk, &failing, "completed").await["result"]["isError"], true);
}

#[tokio::test]
async fn a_wish_for_a_task_means_nothing_here() {
    let mut talk = start();
    let greet = json!({ "name": "greet", "arguments": { "name": "Ada" }, "task": { "ttl": 60 } });
    assert_eq!(ask(&mut talk, "tools/call", greet).await["content"][0]["text"], "Hello, Ada!");
    for method in ["tasks/list", "tasks/result"] {
        assert_eq!(talk.error(method, declaring(json!({ "taskId": "a" }))).await["code"], -32601);
    }
}

#[tokio::test]
async fn questions_are_answered_one_by_one() {
    let mut talk = start();
    let task = begin(&mut talk, "multi_input", json!({})).await;
    let asking = until(&mut talk, &task, "input_required").await;
    let open = |task: &Value| task["inputRequests"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(open(&asking), ["user_name", "confirm"]);
    assert_eq!(asking["inputRequests"]["confirm"]["method"], "elicitation/create");
    let ack = json!({ "resultType": "complete" });
    let accept = |content: Value| json!({ "action": "accept", "content": content });
    // What nobody asked is passed over; what does not answer is refused, and so is what came with it.
    assert_eq!(update(&mut talk, &task, json!({ "unknown": { "ignored": true } })).await, ack);
    let unfit = json!({ "user_name": accept(json!({ "name": "Ada" })), "confirm": accept(json!({ "confirm": 5 })) });
    let unfit = json!({ "taskId": task["taskId"], "inputResponses": unfit });
    assert_eq!(talk.error("tasks/update", declaring(unfit)).await["code"], -32602);
    assert_eq!(open(&ask(&mut talk, "tasks/get", id(&task)).await).len(), 2);
    assert_eq!(update(&mut talk, &task, json!({ "user_name": accept(json!({ "name": "Ada" })) })).await, ack);
    let half = ask(&mut talk, "tasks/get", id(&task)).await;
    assert_eq!((&half["status"], open(&half)), (&json!("input_required"), vec!["confirm".to_owned()]));
    let again = json!({ "user_name": accept(json!({ "name": "Eve" })), "confirm": accept(json!({ "confirm": true })) });
    assert_eq!(update(&mut talk, &task, again).await, ack);
    let done = until(&mut talk, &task, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "Ada: yes", "the first answer counts");
    assert_eq!(update(&mut talk, &task, json!({ "confirm": {} })).await, ack, "nothing is open");
}

#[tokio::test]
async fn what_must_be_known_first_is_asked_first() {
    let mut talk = start();
    let first = ask(&mut talk, "tools/call", json!({ "name": "test_tool_with_task" })).await;
    assert_eq!((&first["resultType"], first.get("taskId")), (&json!("input_required"), None));
    let answers = json!({ "user_name": { "action": "accept", "content": { "name": "Alice" } } });
    let retry = json!({
        "name": "test_tool_with_task", "inputResponses": answers, "requestState": first["requestState"],
    });
    let task = ask(&mut talk, "tools/call", retry).await;
    assert_eq!((&task["resultType"], task.get("requestState")), (&json!("task"), None));
    let done = until(&mut talk, &task, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "Hello, Alice!");
}

#[tokio::test]
async fn cancelling_is_acknowledged_however_the_task_stands() {
    let mut talk = start();
    let task = begin(&mut talk, "slow_compute", json!({ "seconds": 60 })).await;
    for _ in 0..2 {
        assert_eq!(ask(&mut talk, "tasks/cancel", id(&task)).await, json!({ "resultType": "complete" }));
        let now = ask(&mut talk, "tasks/get", id(&task)).await;
        assert_eq!(now["status"], "cancelled");
        assert!(now.get("error").is_none() && now.get("result").is_none());
    }
    let task = begin(&mut talk, "confirm_delete", json!({ "filename": "a" })).await;
    until(&mut talk, &task, "input_required").await;
    ask(&mut talk, "tasks/cancel", id(&task)).await;
    assert!(ask(&mut talk, "tasks/get", id(&task)).await.get("inputRequests").is_none());
}

#[tokio::test]
async fn bad_requests_are_invalid_params() {
    let mut talk = start();
    let task = begin(&mut talk, "slow_compute", json!({ "seconds": 60 })).await;
    for (method, params) in [
        ("tasks/get", json!({ "taskId": "nobody" })),
        ("tasks/get", json!({})),
        ("tasks/cancel", json!({ "taskId": 5 })),
        ("tasks/update", json!({ "taskId": "nobody", "inputResponses": {} })),
        ("tasks/update", id(&task)),
        ("tasks/update", json!({ "taskId": task["taskId"], "inputResponses": [1] })),
    ] {
        assert_eq!(talk.error(method, declaring(params.clone())).await["code"], -32602, "{method} {params}");
    }
}

#[tokio::test]
async fn a_task_that_cannot_ask_fails() {
    let mut talk = start();
    let capabilities = json!({ "extensions": { EXTENSION: {} } });
    let meta = json!({ "io.modelcontextprotocol/clientCapabilities": capabilities });
    let call = json!({ "name": "confirm_delete", "arguments": { "filename": "a" }, "_meta": meta });
    let task = talk.result("tools/call", call).await;
    let failed = until(&mut talk, &task, "failed").await;
    assert_eq!(failed["error"]["code"], -32021);
    assert_eq!(failed["error"]["data"]["requiredCapabilities"], json!({ "elicitation": { "form": {} } }));
}

#[tokio::test]
async fn whoever_follows_a_task_is_told_how_it_stands() {
    let mut talk = start();
    let task = begin(&mut talk, "confirm_delete", json!({ "filename": "a" })).await;
    until(&mut talk, &task, "input_required").await;
    let filter = json!({ "notifications": { "taskIds": [task["taskId"], "nobody"] } });
    let listening = talk.send("subscriptions/listen", declaring(filter)).await;
    let acknowledged = talk.next().await;
    assert_eq!(acknowledged["params"]["notifications"], json!({ "taskIds": [task["taskId"]] }));
    let mut told = vec![talk.next().await];
    let answers = json!({ "confirm": { "action": "accept", "content": { "confirm": true } } });
    let answers = declaring(json!({ "taskId": task["taskId"], "inputResponses": answers }));
    let updating = talk.send("tasks/update", answers).await;
    while told.len() < 3 {
        let message = talk.next().await;
        if message["id"] != updating {
            told.push(message);
        }
    }
    for (message, status) in told.iter().zip(["input_required", "working", "completed"]) {
        assert_eq!(message["method"], "notifications/tasks");
        assert_eq!(message["params"]["status"], status);
        assert_eq!(message["params"]["_meta"], json!({ "io.modelcontextprotocol/subscriptionId": listening }));
    }
    assert!(told[0]["params"]["inputRequests"].is_object());
    assert_eq!(told[2]["params"]["result"]["content"][0]["text"], "a would be gone now");
}

#[tokio::test]
async fn progress_is_not_for_tasks() {
    let mut talk = start_with(Catalogue::standard(), tasks::Limits::default());
    let mut call = declaring(json!({ "name": "slow", "arguments": { "steps": 2, "delay_ms": 10 } }));
    call["_meta"]["progressToken"] = json!("p");
    let task = talk.result("tools/call", call).await;
    // Whatever precedes an answer would be noticed here.
    until(&mut talk, &task, "completed").await;
}

#[tokio::test]
async fn a_full_server_answers_as_a_call_what_it_can() {
    let limits = tasks::Limits { in_all: 1, ttl: Duration::from_secs(2), ..Default::default() };
    let mut talk = start_with(Catalogue::official(), limits);
    begin(&mut talk, "slow_compute", json!({ "seconds": 60 })).await;
    let call = json!({ "name": "slow_compute", "arguments": { "seconds": 0 } });
    assert_eq!(ask(&mut talk, "tools/call", call).await["resultType"], "complete");
    let error = talk.error("tools/call", declaring(json!({ "name": "failing_job" }))).await;
    assert_eq!(error["code"], -32603);
    tokio::time::sleep(Duration::from_millis(2100)).await;
    begin(&mut talk, "slow_compute", json!({ "seconds": 60 })).await;
}

/// A catalogue of one tool, whose calls run as tasks.
fn only(tool: Tool) -> LineClient {
    let tools = vec![tool.tasks(TaskSupport::Optional)];
    start_with(Catalogue { tools, ..Catalogue::new("one", "1") }, tasks::Limits::default())
}

#[tokio::test]
async fn no_two_questions_of_a_task_share_a_key() {
    let question = || Question::form("name", "And?", json!({ "type": "object", "properties": {} }));
    let tool = Tool::later("twice", "Asks twice", move |server, invocation| async move {
        match ask_in_turn(&server, &invocation, vec![vec![question()], vec![question()]]).await {
            Ok(answers) => Outcome::text(format!("{} answers", answers.len())),
            Err(unanswered) => unanswered.into(),
        }
    });
    let mut talk = only(tool);
    let task = begin(&mut talk, "twice", json!({})).await;
    let mut keys = Vec::new();
    for _ in 0..2 {
        let asking = until(&mut talk, &task, "input_required").await;
        let key = asking["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
        update(&mut talk, &task, json!({ key.as_str(): { "action": "decline" } })).await;
        keys.push(key);
    }
    assert_ne!(keys[0], keys[1]);
    let done = until(&mut talk, &task, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "2 answers");
}

#[tokio::test]
async fn a_task_whose_tool_breaks_down_fails() {
    let mut talk = only(Tool::later("broken", "Breaks down", |_, invocation| async move {
        assert!(invocation.text("never").is_some(), "this is meant to break down");
        Outcome::text("unreachable")
    }));
    let task = begin(&mut talk, "broken", json!({})).await;
    assert_eq!(until(&mut talk, &task, "failed").await["error"]["code"], -32603);
}
