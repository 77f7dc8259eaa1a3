//! Tasks over Streamable HTTP, in both eras: which stream carries what, and which header names the task.

use std::sync::Arc;
use std::time::Duration;

use reference::Options;
use reference::catalogue::Catalogue;
use serde_json::{Value, json};

use crate::tasks_modern::declaring;
use crate::wire_http::{Client, modern_headers, modern_request};

async fn begin(client: &Client, session: &str, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments, "task": {}, "_meta": { "progressToken": "p" } });
    let reply = client.ask(session, 1, "tools/call", params).await.whole().await;
    assert_eq!(reply.header("content-type"), Some("application/json"));
    json!({ "taskId": reply.json()["result"]["task"]["taskId"] })
}

#[tokio::test]
async fn the_stream_of_the_result_carries_the_question() {
    let client = Client::start().await;
    let session = client.initialize("2025-11-25").await;
    let task = begin(&client, &session, "buy", json!({ "shop": "the baker" })).await;
    let mut stream = client.ask(&session, 2, "tasks/result", task.clone()).await;
    let question = stream.message().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let get = client.ask(&session, 3, "tasks/get", task.clone()).await.whole().await;
    assert_eq!(get.header("content-type"), Some("application/json"), "who polls wants no stream");
    assert_eq!(get.json()["result"]["status"], "input_required");
    let answer = json!({ "action": "accept", "content": { "goods": "bread" } });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer });
    assert_eq!(client.post(&[("Mcp-Session-Id", &session)], &answer.to_string()).await.status, 202);
    let result = stream.message().await.unwrap();
    assert_eq!(result["result"]["content"][0]["text"], "Bought at the baker: bread");
    assert_eq!(result["result"]["_meta"]["io.modelcontextprotocol/related-task"], task);
}

#[tokio::test]
async fn progress_and_status_come_on_the_stream_of_nobodys_request() {
    let client = Client::start().await;
    let session = client.initialize("2025-11-25").await;
    let mut stream = client.open("GET", &[("Mcp-Session-Id", &session)], "").await;
    let task = begin(&client, &session, "slow", json!({ "steps": 1, "delay_ms": 50 })).await;
    let progress = stream.message().await.unwrap();
    assert_eq!(progress["method"], "notifications/progress");
    assert_eq!(progress["params"]["_meta"]["io.modelcontextprotocol/related-task"], task);
    let status = stream.message().await.unwrap();
    assert_eq!(status["method"], "notifications/tasks/status");
    assert_eq!((&status["params"]["taskId"], &status["params"]["status"]), (&task["taskId"], &json!("completed")));
}

#[tokio::test]
async fn a_task_is_its_sessions() {
    let client = Client::start().await;
    let (one, other) = (client.initialize("2025-11-25").await, client.initialize("2025-11-25").await);
    let task = begin(&client, &one, "slow", json!({ "steps": 100, "delay_ms": 10_000 })).await;
    for (session, known) in [(&one, true), (&other, false)] {
        let get = client.ask(session, 2, "tasks/get", task.clone()).await.whole().await.json();
        assert_eq!(get.get("result").is_some(), known);
        let list = client.ask(session, 3, "tasks/list", json!({})).await.whole().await.json();
        assert_eq!(list["result"]["tasks"].as_array().unwrap().len(), usize::from(known));
    }
    // Nor is it one of the modern era's, whose clients may know the id.
    let get = client.modern("tasks/get", declaring(task)).await.whole().await;
    assert_eq!(get.json()["error"]["code"], -32602);
}

async fn modern() -> (Client, Value) {
    let client = Client::serving(Options { catalogue: Arc::new(Catalogue::official()), ..Options::default() }).await;
    let call = declaring(json!({ "name": "slow_compute", "arguments": { "seconds": 60 } }));
    let reply = client.modern("tools/call", call).await.whole().await;
    assert_eq!(reply.status, 200);
    let task = json!({ "taskId": reply.json()["result"]["taskId"] });
    (client, task)
}

#[tokio::test]
async fn a_header_names_the_task() {
    let (client, task) = modern().await;
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let mut params = declaring(task.clone());
        params["inputResponses"] = json!({});
        assert_eq!(client.modern(method, params.clone()).await.whole().await.status, 200, "{method}");
        let request = modern_request(method, params);
        let full = modern_headers(&request);
        for name in [None, Some("another")] {
            let mut headers: Vec<_> = full.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            headers.retain(|(name, _)| !name.eq_ignore_ascii_case("mcp-name"));
            headers.extend(name.map(|name| ("Mcp-Name", name)));
            let reply = client.post(&headers, &request.to_string()).await;
            assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(-32020)), "{method} {name:?}");
        }
    }
}

#[tokio::test]
async fn who_does_not_declare_is_told_so() {
    let (client, task) = modern().await;
    let reply = client.modern("tasks/get", task).await.whole().await;
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(-32021)));
    let reply = client.modern("tasks/list", declaring(json!({}))).await.whole().await;
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (404, &json!(-32601)));
}

#[tokio::test]
async fn a_task_outlives_the_connection_that_began_it() {
    let (client, task) = modern().await;
    // Every request of these tests has a connection of its own.
    for _ in 0..2 {
        let get = client.modern("tasks/get", declaring(task.clone())).await.whole().await.json();
        assert_eq!(get["result"]["status"], "working");
    }
    let filter = declaring(json!({ "notifications": { "taskIds": [task["taskId"]] } }));
    let mut stream = client.modern("subscriptions/listen", filter).await;
    assert_eq!(stream.message().await.unwrap()["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(stream.message().await.unwrap()["params"]["status"], "working");
    client.modern("tasks/cancel", declaring(task.clone())).await.whole().await;
    assert_eq!(stream.message().await.unwrap()["params"]["status"], "cancelled");
}

#[tokio::test]
async fn a_server_that_ends_does_not_wait_for_its_tasks() {
    let (mut client, _) = modern().await;
    let shutdown = client.server.take().unwrap().shutdown();
    tokio::time::timeout(Duration::from_secs(5), shutdown).await.expect("the server ends");
}
