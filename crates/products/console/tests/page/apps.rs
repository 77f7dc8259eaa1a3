//! Apps of servers: read, served on another origin under a strict policy, their messages taken down.

use serde_json::{Value, json};
use wire::Revision;
use wire::revision::{R2025_11_25, R2026_07_28};

use crate::support::{Answer, Page, connected, request_at};

const APP: &str = "ui://proof-reference/weather.html";

async fn opened(page: &Page, more: Value) -> Answer {
    let mut body = json!({ "act": "open", "target": 1, "uri": APP, "allow": false, "page": "http://127.0.0.1:4000" });
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    page.post("/api/app", body).await
}

/// The address of the listener of an app, and the path of its page.
fn place(opened: &Value) -> (std::net::SocketAddr, String) {
    let url = opened["url"].as_str().and_then(|url| url.strip_prefix("http://")).expect("an address");
    let (host, path) = url.split_once('/').expect("a path");
    (host.parse().expect("a host"), format!("/{path}"))
}

async fn apps_at(revision: Revision) -> Page {
    let page = connected(revision).await;
    let list = page.post("/api/list", json!({ "target": 1, "what": "tools" })).await.json();
    let weather = list["items"].as_array().and_then(|tools| tools.iter().find(|tool| tool["name"] == "get_weather"));
    assert_eq!(weather.map(|tool| &tool["_meta"]["ui"]["resourceUri"]), Some(&json!(APP)), "{revision}");
    page
}

#[tokio::test]
async fn an_app_is_served_on_an_origin_of_its_own_with_nothing_permitted() {
    for revision in [R2025_11_25, R2026_07_28] {
        let page = apps_at(revision).await;
        let document = page.get("/").await;
        let opened = opened(&page, json!({})).await.json();
        let (address, path) = place(&opened);
        assert_ne!(address, page.address);
        let policy = document.header("content-security-policy").expect("a policy");
        assert!(policy.ends_with(&format!("; frame-src http://{address}")), "{policy}");
        let app = request_at(address, &format!("GET {path} HTTP/1.1\r\nHost: {address}"), "").await;
        assert_eq!((app.status, app.header("content-type")), (200, Some("text/html; charset=utf-8")));
        assert!(String::from_utf8_lossy(&app.body).contains("ui/initialize"));
        let policy = app.header("content-security-policy").expect("a policy");
        for part in
            ["sandbox allow-scripts; default-src 'none'", "connect-src 'none'", "frame-ancestors http://127.0.0.1:4000"]
        {
            assert!(policy.contains(part), "{policy}");
        }
        assert_eq!(app.header("x-frame-options"), None);
        assert_eq!((&opened["asks"], &opened["allowed"]), (&json!(false), &json!(false)));
    }
}

#[tokio::test]
async fn the_origin_of_apps_serves_nothing_else_and_no_other_host() {
    let page = apps_at(R2025_11_25).await;
    let opened = opened(&page, json!({})).await.json();
    let (address, path) = place(&opened);
    let status = |head: String| async move { request_at(address, &head, "").await.status };
    for other in ["/", "/app/", "/app/x", "/api/state", "/index.html", "/app.js"] {
        assert_eq!(status(format!("GET {other} HTTP/1.1\r\nHost: {address}")).await, 404, "{other}");
    }
    for host in ["evil.example", "localhost", "127.0.0.1"] {
        assert_eq!(status(format!("GET {path} HTTP/1.1\r\nHost: {host}")).await, 403, "{host}");
    }
    assert_eq!(page.get(&path).await.status, 404, "the page's own origin does not serve it");
    page.post("/api/app", json!({ "act": "close", "app": opened["app"] })).await;
    assert_eq!(status(format!("GET {path} HTTP/1.1\r\nHost: {address}")).await, 404, "it is closed");
}

#[tokio::test]
async fn what_crosses_is_rows_of_the_app_and_a_call_has_its_request_as_parent() {
    let page = apps_at(R2025_11_25).await;
    let opened = opened(&page, json!({})).await.json();
    let note = |messages: Value| json!({ "act": "note", "app": opened["app"], "messages": messages });
    let message = |from: &str, value: Value| json!({ "from": from, "text": value.to_string() });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "get_weather" } });
    let rows = page.post("/api/app", note(json!([message("app", call)]))).await.json();
    let parent = rows["rows"][0].as_u64().expect("a row");
    let params = json!({ "name": "get_weather", "arguments": { "location": "Oslo" } });
    let sent = json!({ "target": 1, "method": "tools/call", "params": params, "parent": parent });
    let row = page.post("/api/request", sent).await.json()["row"].clone();
    page.post("/api/app", note(json!([message("host", json!({ "jsonrpc": "2.0", "id": 2, "result": {} }))]))).await;
    let list = page.get("/api/rows?filter=kind:app").await.json();
    let of_app = list["rows"].as_array().expect("rows");
    assert_eq!(of_app.len(), 1, "{list}");
    assert_eq!(
        (&of_app[0][7], &of_app[0][8], &of_app[0][9]),
        (&json!("ok"), &json!("tools/call"), &json!("get_weather"))
    );
    let list = page.get(&format!("/api/rows?filter=row:{row}")).await.json();
    assert_eq!((&list["rows"][0][3], &list["rows"][0][16]), (&json!("call"), &json!(parent)));
    let state = page.get("/api/state").await.json();
    let session = state["sessions"].as_array().and_then(|all| all.iter().find(|one| one["app"] == true)).cloned();
    assert_eq!(
        session.map(|one| (one["session"].clone(), one["judged"].clone())),
        Some((opened["session"].clone(), json!(false)))
    );
}

#[tokio::test]
async fn what_a_policy_stopped_is_counted_up_to_a_limit() {
    let page = apps_at(R2025_11_25).await;
    let opened = opened(&page, json!({})).await.json();
    let (address, path) = place(&opened);
    let path = path.replace("/app/", "/report/");
    let report =
        json!({ "csp-report": { "effective-directive": "connect-src", "blocked-uri": "https://evil.example/" } })
            .to_string();
    for _ in 0..205 {
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nOrigin: null\r\nContent-Type: application/csp-report");
        let answer = request_at(address, &head, &report).await;
        assert_eq!(answer.status, 204);
    }
    let state = page.get("/api/state").await.json();
    assert_eq!(state["apps"][0]["blocked"], 200);
    let list = page.get("/api/rows?filter=method:blocked&count=1").await.json();
    assert_eq!((&list["matched"], &list["rows"][0][9]), (&json!(200), &json!("connect-src https://evil.example/")));
}

#[tokio::test]
async fn what_is_no_app_is_not_opened() {
    let page = apps_at(R2025_11_25).await;
    for (more, status, what) in [
        (json!({ "uri": "proof://docs/readme" }), 400, "ui://"),
        (json!({ "uri": "ui://nowhere" }), 502, "Resource not found"),
        (json!({ "page": "javascript:x" }), 400, "origin"),
    ] {
        let answer = opened(&page, more).await;
        assert_eq!(answer.status, status, "{}", answer.json());
        assert!(answer.json()["error"]["what"].as_str().is_some_and(|text| text.contains(what)), "{}", answer.json());
    }
    for wrong in
        [json!({ "act": "note", "app": "none", "messages": [] }), json!({ "act": "note" }), json!({ "act": "dance" })]
    {
        assert!(page.post("/api/app", wrong.clone()).await.status >= 400, "{wrong}");
    }
}

#[tokio::test]
async fn the_oldest_app_makes_room() {
    let page = apps_at(R2025_11_25).await;
    let mut all = Vec::new();
    for _ in 0..10 {
        all.push(opened(&page, json!({})).await.json());
    }
    let state = page.get("/api/state").await.json();
    let open = state["apps"].as_array().map(|apps| apps.iter().map(|app| app["app"].clone()).collect::<Vec<_>>());
    assert_eq!(open, Some(all[2..].iter().map(|one| one["app"].clone()).collect()));
}
