//! Everything that can be done, on the reference server, in both eras.

use console::hub::Bounds;
use serde_json::{Value, json};
use wire::Revision;

use super::support::{Page, connected, empty, server_at};

/// The text of the last message of a row.
fn last_message(row: &Value) -> Value {
    let parts = row["parts"].as_array().expect("parts");
    let message = parts.iter().rev().find(|part| part["type"] == "message").expect("a message");
    serde_json::from_str(message["text"].as_str().expect("a text")).expect("JSON")
}

async fn answered(page: &Page, tool: &str, arguments: Value) -> Value {
    let n = page.call(tool, arguments).await;
    last_message(&page.row_with(&n, "ok").await)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_is_called_in_both_eras() {
    for revision in [Revision::NEWEST, Revision::R2025_11_25, Revision::R2025_03_26] {
        let page = connected(revision).await;
        let state = page.get("/api/state").await.json();
        assert_eq!(state["targets"][0]["revision"], revision.as_str());
        assert!(state["targets"][0]["server"]["name"].is_string(), "{state}");
        let listed = page.act("/api/list", json!({ "target": 1, "what": "tools" })).await;
        assert!(listed["items"].as_array().is_some_and(|items| items.len() > 5), "{listed}");
        assert_eq!(listed["error"], Value::Null);
        let answer = answered(&page, "echo", json!({ "message": "hällo" })).await;
        assert!(answer["result"]["content"].to_string().contains("hällo"), "{answer}");
        let failed = page.call("no-such-tool", json!({})).await;
        page.row_with(&failed, "error").await;
        let names: Vec<_> = page.rows("method:tools/call").await.iter().map(|row| row[9].clone()).collect();
        assert_eq!(names, ["echo", "no-such-tool"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_go_out_as_they_were_typed() {
    let page = connected(Revision::R2025_11_25).await;
    let body = r#"{"target":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"a","n":1.10,"m":9007199254740993123}}}"#;
    let head = format!(
        "POST /api/request HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json",
        page.address, page.token
    );
    let n = page.send(&head, body).await.json()["row"].clone();
    let row = page.get(&format!("/api/row/{n}")).await.json();
    let sent =
        row["parts"].as_array().expect("parts").iter().find(|part| part["role"] == "request").expect("a request");
    let text = sent["text"].as_str().expect("a text");
    assert!(text.contains("1.10") && text.contains("9007199254740993123"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_is_in_the_row_and_a_call_is_cancelled() {
    for revision in [Revision::NEWEST, Revision::R2025_11_25] {
        let page = connected(revision).await;
        let n = page.call("slow", json!({ "steps": 3, "delay_ms": 20 })).await;
        let row = page.row_with(&n, "ok").await;
        let progress = row["parts"].as_array().expect("parts").iter();
        let progress =
            progress.filter(|part| part["text"].as_str().is_some_and(|text| text.contains("notifications/progress")));
        assert_eq!(progress.count(), 3, "{row}");
        let n = page.call("slow", json!({ "steps": 100, "delay_ms": 500 })).await;
        page.act("/api/cancel", json!({ "row": n })).await;
        page.row_with(&n, "cancelled").await;
        assert_eq!(page.post("/api/cancel", json!({ "row": n })).await.status, 409);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_the_server_is_answered_on_the_page() {
    for revision in [Revision::NEWEST, Revision::R2025_11_25] {
        let page = connected(revision).await;
        let n = page.call("ask", json!({})).await;
        let asked = page.until("a question", |state| state["questions"][0].is_object()).await["questions"][0].clone();
        assert_eq!((&asked["kind"], &asked["target"]), (&json!("form"), &json!(1)));
        assert!(asked["schema"]["properties"]["name"].is_object(), "{asked}");
        let answer =
            json!({ "question": asked["question"], "result": { "action": "accept", "content": { "name": "Ada" } } });
        page.act("/api/answer", answer.clone()).await;
        let row = page.row_with(&n, "ok").await;
        assert!(last_message(&row)["result"].to_string().contains("Ada") || revision == Revision::NEWEST, "{row}");
        assert_eq!(page.post("/api/answer", answer).await.status, 409);
        page.until("no question is left", |state| state["questions"] == json!([])).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_are_read_and_subscribed_to() {
    for revision in [Revision::NEWEST, Revision::R2025_11_25] {
        let page = connected(revision).await;
        let on = |on: bool| json!({ "target": 1, "uri": "proof://counter", "on": on });
        assert_eq!(page.act("/api/subscribe", on(true)).await["subscribed"], json!(["proof://counter"]));
        answered(&page, "touch_resource", json!({ "uri": "proof://counter" })).await;
        let mut updates = 0;
        for _ in 0..200 {
            updates = page.rows("method:notifications/resources/updated name:proof://counter").await.len();
            if updates > 0 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        assert_eq!(updates, 1);
        assert_eq!(page.act("/api/subscribe", on(false)).await["subscribed"], json!([]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn raw_text_is_sent_unread_and_its_answer_is_paired() {
    let page = connected(Revision::R2025_11_25).await;
    let text = r#"{"jsonrpc":"2.0","id":"mine","method":"tools/list"}"#;
    let n = page.act("/api/raw", json!({ "target": 1, "text": text })).await["row"].clone();
    let row = page.row_with(&n, "ok").await;
    assert_eq!(row["row"][15], "\"mine\"");
    let n = page.act("/api/raw", json!({ "target": 1, "text": "{no json" })).await["row"].clone();
    page.row_with(&n, "error").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_is_connected_again_at_another_revision() {
    let page = connected(Revision::NEWEST).await;
    page.act("/api/connect", json!({ "target": 1, "revision": "2025-06-18" })).await;
    let is_old =
        |state: &Value| state["targets"][0]["revision"] == "2025-06-18" && state["targets"][0]["state"] == "open";
    let state = page.until("the older revision", is_old).await;
    assert_eq!(state["sessions"].as_array().map(Vec::len), Some(2));
    page.act("/api/disconnect", json!({ "target": 1 })).await;
    page.until("it is closed", |state| state["targets"][0]["state"] == "closed").await;
    assert_eq!(page.post("/api/list", json!({ "target": 1, "what": "tools" })).await.status, 409);
    assert_eq!(page.post("/api/connect", json!({ "target": 1, "revision": "1999-01-01" })).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_being_made_can_be_given_up() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let page = empty(Bounds::default()).await;
    page.console.add_server(server_at(silent.local_addr().expect("an address")));
    let is = |phase: &'static str| move |state: &Value| state["targets"][0]["state"] == phase;
    page.until("it connects", is("connecting")).await;
    let begun = std::time::Instant::now();
    page.act("/api/disconnect", json!({ "target": 1 })).await;
    page.until("it is given up", is("closed")).await;
    // Another attempt does not wait for the one before, either.
    page.act("/api/connect", json!({ "target": 1 })).await;
    page.act("/api/connect", json!({ "target": 1, "revision": "2025-06-18" })).await;
    page.until("it connects", is("connecting")).await;
    page.act("/api/disconnect", json!({ "target": 1 })).await;
    page.until("it is given up", is("closed")).await;
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(page.post("/api/disconnect", json!({ "target": 1 })).await.status, 409);
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_levels_and_completions_are_looked_at_before_they_are_sent() {
    let page = connected(Revision::R2025_11_25).await;
    page.act("/api/list", json!({ "target": 1, "what": "tools" })).await;
    let check = json!({ "target": 1, "tool": "slow", "arguments": { "steps": "many" } });
    let errors = page.act("/api/check", check).await;
    assert_eq!(errors["errors"][0]["pointer"], "/steps", "{errors}");
    assert_eq!(page.act("/api/level", json!({ "target": 1, "level": "debug" })).await["level"], "debug");
    assert_eq!(page.post("/api/level", json!({ "target": 1, "level": "loud" })).await.status, 400);
    let completed = page.get("/api/complete?filter=method:too&at=10").await.json();
    assert_eq!(completed["items"][0]["text"], "tools/list", "{completed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_way_to_a_server_is_walked_step_by_step() {
    let page = connected(Revision::NEWEST).await;
    let works = page.act("/api/doctor", json!({ "target": 1 })).await;
    assert_eq!((&works["works"], &works["failed"]), (&json!(true), &Value::Null), "{works}");
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
    let number = page.console.offer_server("closed", server_at(free));
    let fails = page.act("/api/doctor", json!({ "target": number })).await;
    assert_eq!((&fails["works"], &fails["failed"]), (&json!(false), &json!("tcp")), "{fails}");
    assert_eq!(fails["steps"][1]["fix"], "start the server, check host and port", "{fails}");
    let missing = page.post("/api/doctor", json!({ "target": 99 })).await;
    assert_eq!(missing.status, 404);
}
