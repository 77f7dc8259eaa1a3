//! Tasks of both kinds, on the reference server, as the page asks for them.

use serde_json::{Value, json};
use wire::Revision;

use super::support::{Page, connected};

async fn begin(page: &Page, revision: Revision, steps: u32) -> Value {
    let mut params = json!({ "name": "slow", "arguments": { "steps": steps, "delay_ms": 50 } });
    let is_modern = revision == Revision::NEWEST;
    if !is_modern {
        params["task"] = json!({ "ttl": 60_000 });
    }
    let body = json!({ "target": 1, "method": "tools/call", "params": params, "task": is_modern });
    let n = page.act("/api/request", body).await["row"].clone();
    page.row_with(&n, "ok").await;
    n
}

async fn tasks(page: &Page) -> Vec<Value> {
    page.get("/api/tasks?target=1").await.json()["tasks"].as_array().expect("tasks").clone()
}

async fn ask(page: &Page, method: &str, task: &Value) -> Value {
    let body = json!({ "target": 1, "method": method, "params": { "taskId": task["task"] } });
    page.act("/api/request", body).await["row"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_each_kind_is_followed_from_its_call_to_its_result() {
    for revision in [Revision::NEWEST, Revision::R2025_11_25] {
        let page = connected(revision).await;
        let n = begin(&page, revision, 4).await;
        let [task] = &tasks(&page).await[..] else { panic!("one task") };
        assert_eq!((&task["row"], &task["name"], &task["asked"]), (&n, &json!("slow"), &json!("out")), "{task}");
        assert!(task["created"].is_string() && task["ttl"].is_u64() && task["poll"].is_u64(), "{task}");
        let changes = page.get("/api/state").await.json()["tasks"].as_u64().expect("a number");
        let method = if revision == Revision::NEWEST { "tasks/get" } else { "tasks/result" };
        let shown = loop {
            let row = ask(&page, method, task).await;
            page.row_with(&row, "ok").await;
            let shown = tasks(&page).await.remove(0);
            if shown["result"] != 0 {
                break shown;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        };
        let result = page.get(&format!("/api/row/{}", shown["result"])).await.json();
        assert!(result.to_string().contains("Took 4 steps"), "{result}");
        assert!(page.get("/api/state").await.json()["tasks"].as_u64() > Some(changes), "the page learns of it");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_cancelled_and_those_of_the_server_are_listed() {
    let page = connected(Revision::R2025_11_25).await;
    begin(&page, Revision::R2025_11_25, 100).await;
    let task = tasks(&page).await.remove(0);
    let row = ask(&page, "tasks/cancel", &task).await;
    page.row_with(&row, "ok").await;
    assert_eq!(tasks(&page).await[0]["status"], "cancelled");
    let listed = page.act("/api/list", json!({ "target": 1, "what": "tasks" })).await;
    assert_eq!((listed["items"].as_array().map(Vec::len), &listed["error"]), (Some(1), &Value::Null), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_asking_for_it_no_call_becomes_a_task() {
    for revision in [Revision::NEWEST, Revision::R2025_11_25] {
        let page = connected(revision).await;
        let n = page.call("slow", json!({ "steps": 1, "delay_ms": 1 })).await;
        let row = page.row_with(&n, "ok").await;
        assert!(row.to_string().contains("Took 1 steps"), "{row}");
        assert_eq!(tasks(&page).await, Vec::<Value>::new());
        let sent = row["parts"].to_string();
        assert!(!sent.contains("io.modelcontextprotocol/tasks"), "the extension is not declared: {sent}");
    }
    let page = connected(Revision::NEWEST).await;
    let wrong = json!({ "target": 1, "method": "tools/call", "params": { "name": "slow" }, "task": "yes" });
    assert_eq!(page.post("/api/request", wrong).await.status, 400);
    assert_eq!(page.get("/api/tasks?target=x").await.status, 400);
    assert_eq!(page.get("/api/tasks?target=9").await.json()["tasks"], json!([]));
}
