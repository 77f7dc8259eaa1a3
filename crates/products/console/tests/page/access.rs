//! Who gets in: the holder of the token, from the page itself.

use console::hub::Bounds;
use serde_json::json;

use super::support::{Page, empty};

async fn status(page: &Page, head: &str) -> u16 {
    page.send(head, "").await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_token_opens_the_api() {
    let page = empty(Bounds::default()).await;
    let (host, token) = (page.address.to_string(), page.token.clone());
    for path in [
        "state",
        "rows",
        "row/1",
        "row/1/part/0",
        "feed",
        "findings",
        "rule/x",
        "trace?session=1",
        "complete",
        "nothing",
    ] {
        let path = format!("GET /api/{path} HTTP/1.1\r\nHost: {host}");
        for credentials in ["", "\r\nAuthorization: Bearer x", &format!("\r\nAuthorization: Basic {token}")] {
            assert_eq!(status(&page, &format!("{path}{credentials}")).await, 401, "{path}{credentials}");
        }
        let cookie = format!("{path}\r\nCookie: token={token}");
        assert_eq!(status(&page, &cookie).await, 401);
    }
    for action in
        ["request", "raw", "list", "cancel", "answer", "connect", "disconnect", "tests", "level", "subscribe", "check"]
    {
        let head = format!("POST /api/{action} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json");
        assert_eq!(page.send(&head, "{}").await.status, 401, "{action}");
    }
    assert_eq!(page.get("/api/state").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_pages_and_names_are_refused_even_with_the_token() {
    let page = empty(Bounds::default()).await;
    let (host, token) = (page.address.to_string(), page.token.clone());
    let other_port = format!("http://127.0.0.1:{}", page.address.port() ^ 1);
    let own = format!("http://{host}");
    for (host, origin, expected) in [
        (host.as_str(), None, 200),
        (host.as_str(), Some(own.as_str()), 200),
        (host.as_str(), Some(other_port.as_str()), 403),
        (host.as_str(), Some("http://localhost"), 403),
        (host.as_str(), Some("null"), 403),
        (host.as_str(), Some("https://evil.example"), 403),
        ("evil.example", None, 403),
        ("evil.example", Some("http://evil.example"), 403),
    ] {
        let origin_line = origin.map(|origin| format!("\r\nOrigin: {origin}")).unwrap_or_default();
        for path in ["/api/state", "/"] {
            let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}{origin_line}");
            assert_eq!(status(&page, &head).await, expected, "{head}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_keeps_the_page_to_itself() {
    let page = empty(Bounds::default()).await;
    for path in ["/", "/missing", "/api/state", "/api/nothing"] {
        let answer = page.get(path).await;
        let policy = answer.header("content-security-policy").unwrap_or_default().to_owned();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{path}");
        assert!(answer.header("access-control-allow-origin").is_none(), "{path}");
        assert!(!String::from_utf8_lossy(&answer.body).contains(&page.token), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_did_not_change_is_not_sent_again() {
    let page = empty(Bounds::default()).await;
    let first = page.get("/app.js").await;
    let tag = first.header("etag").expect("a tag").to_owned();
    assert_eq!((first.status, first.header("content-type")), (200, Some("text/javascript; charset=utf-8")));
    let head = format!("GET /app.js HTTP/1.1\r\nHost: {}\r\nIf-None-Match: \"x\", {tag}", page.address);
    let second = page.send(&head, "").await;
    assert_eq!((second.status, second.body.len()), (304, 0));
    // The policy of the document names the origin of apps, which is another one in each launch.
    let tag = page.get("/").await.header("etag").expect("a tag").to_owned();
    let head = format!("GET / HTTP/1.1\r\nHost: {}\r\nIf-None-Match: {tag}", page.address);
    assert_eq!(page.send(&head, "").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_request_is_said() {
    let page = empty(Bounds::default()).await;
    let (host, token) = (page.address, page.token.clone());
    let plain =
        format!("POST /api/list HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: text/plain");
    assert_eq!(page.send(&plain, "{}").await.status, 415);
    let delete = format!("DELETE /api/state HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}");
    assert_eq!(page.send(&delete, "").await.status, 405);
    let long = plain.replace("text/plain", "application/json");
    assert_eq!(page.send_declaring(&long, 5 << 20, "{").await.status, 413);
    for (path, body, expected) in [
        ("/api/request", json!({}), 400),
        ("/api/request", json!([]), 400),
        ("/api/request", json!({ "target": 9, "method": "ping" }), 404),
        ("/api/tests", json!({ "rows": [] }), 400),
        ("/api/answer", json!({ "question": 1, "result": {} }), 409),
        ("/api/unknown", json!({}), 404),
    ] {
        let answer = page.post(path, body.clone()).await;
        assert_eq!(answer.status, expected, "{path} {body}");
        let error = &answer.json()["error"];
        assert!(error["what"].is_string() && error["try"].is_string(), "{error}");
    }
    let wrong = page.get("/api/rows?filter=%C3%A4%20status:x").await;
    assert_eq!((wrong.status, &wrong.json()["error"]["position"]), (400, &json!(9)));
    assert_eq!(page.get("/api/rows?from=x").await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_have_a_limit() {
    let page = empty(Bounds::default()).await;
    let mut feeds = Vec::new();
    for _ in 0..16 {
        let mut feed = page.feed("from=0");
        feed.next("state").await;
        feeds.push(feed);
    }
    assert_eq!(page.get("/api/feed?from=0").await.status, 503);
    feeds.clear();
    // A feed that went leaves its place when that is noticed.
    for _ in 0..100 {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        let mut feed = page.feed("from=0");
        if feed.status().await == 200 {
            feed.next("state").await;
            return;
        }
    }
    panic!("no place is left");
}
