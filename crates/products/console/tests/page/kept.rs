//! What is kept: test files, traces, bounds, findings.

use console::hub::Bounds;
use serde_json::json;
use wire::trace::file;
use wire::trace::{Content, Frame, Header};
use wire::{Party, Revision, Trace, Transport};

use super::support::{connected, empty};

fn line(from: Party, text: impl Into<Vec<u8>>) -> Frame {
    Frame::new(from, Content::Line { bytes: text.into(), terminated: true })
}

fn trace(frames: Vec<Frame>) -> Trace {
    Trace { header: Header::server(Transport::Stdio, Revision::R2025_11_25, "test"), frames }
}

#[tokio::test(flavor = "multi_thread")]
async fn marked_rows_become_a_test_file() {
    let page = connected(Revision::NEWEST).await;
    let n = page.call("echo", json!({ "message": "a" })).await;
    page.row_with(&n, "ok").await;
    let made = page.act("/api/tests", json!({ "rows": [n, 99_999] })).await;
    let text = made["text"].as_str().expect("a text");
    assert!(text.contains(r#"tools/call {"name":"echo","arguments":{"message":"a"}} true"#), "{text}");
    assert!(!text.contains("_meta"), "{text}");
    assert_eq!((&made["cases"], &made["left_out"][0]["row"]), (&json!(1), &json!(99_999)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_with_a_placeholder_in_place_of_a_secret_is_no_test() {
    let page = empty(Bounds::default()).await;
    let open = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
    let agreed = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","sessionToken":"Zx81kkPq"}}"#;
    let call = |id: u32, arguments: &str| {
        let params = format!(r#"{{"name":"log_in","arguments":{arguments}}}"#);
        line(Party::Client, format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#))
    };
    let answer =
        |id: u32, result: &str| line(Party::Server, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    let frames = vec![
        line(Party::Client, open),
        line(Party::Server, agreed),
        call(2, r#"{"user":"ada","password":"correct horse"}"#),
        answer(2, r#"{"content":[]}"#),
        call(3, r#"{"user":"ada"}"#),
        answer(3, r#"{"content":[],"structuredContent":{"token":"Zx81kkPq"}}"#),
        call(4, r#"{"user":"ada"}"#),
        answer(4, r#"{"content":[]}"#),
    ];
    page.console.add_trace("t", &trace(frames));
    let made = page.act("/api/tests", json!({ "rows": [2, 3, 4] })).await;
    assert_eq!(made["cases"], 1, "{made}");
    let left_out = json!([
        { "row": 2, "why": "a secret in its request was replaced" },
        { "row": 3, "why": "a secret in its answer was replaced" },
    ]);
    assert_eq!(made["left_out"], left_out);
    let none = page.post("/api/tests", json!({ "rows": [2] })).await;
    let what = none.json()["error"]["what"].clone();
    assert_eq!((none.status, what.as_str().is_some_and(|what| what.contains("was replaced"))), (409, true), "{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_saved_trace_reads_back_and_opens_again() {
    let page = connected(Revision::R2025_11_25).await;
    let n = page.call("echo", json!({ "message": "a" })).await;
    page.row_with(&n, "ok").await;
    let session = page.get("/api/state").await.json()["targets"][0]["session"].clone();
    let saved = page.get(&format!("/api/trace?session={session}")).await;
    assert!(saved.header("content-disposition").is_some_and(|value| value.starts_with("attachment")));
    let trace = file::read(&String::from_utf8(saved.body).expect("text")).expect("a trace");
    let again = empty(Bounds::default()).await;
    again.console.add_trace("saved.jsonl", &trace);
    let (live, read) = (page.rows("kind:call").await, again.rows("kind:call").await);
    let about = |row: &serde_json::Value| (row[7].clone(), row[8].clone(), row[9].clone(), row[15].clone());
    assert_eq!(live.iter().map(about).collect::<Vec<_>>(), read.iter().map(about).collect::<Vec<_>>());
    assert_eq!(again.get("/api/state").await.json()["targets"][0]["state"], "file");
    assert_eq!(again.post("/api/request", json!({ "target": 1, "method": "ping" })).await.status, 409);
    assert_eq!(again.post("/api/connect", json!({ "target": 1 })).await.status, 409);
}

#[tokio::test(flavor = "multi_thread")]
async fn findings_come_by_themselves_and_stand_at_their_rows() {
    let page = empty(Bounds::default()).await;
    let frames = vec![
        line(Party::Client, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
        Frame::new(Party::Server, Content::Stderr(b"x".to_vec())),
    ];
    page.console.add_trace("t", &trace(frames));
    page.until("a finding", |state| state["findings"] == 1).await;
    let found = page.rows("finding:test.*").await;
    assert_eq!((found.len(), &found[0][3], &found[0][13]), (1, &json!("stderr"), &json!("should")));
    let row = page.get("/api/row/2").await.json();
    assert_eq!((&row["findings"][0]["rule"], &row["findings"][0]["part"]), (&json!("test.stderr"), &json!(0)));
    assert_eq!(page.get("/api/findings").await.json()["findings"][0]["row"], 2);
    assert_eq!(page.get("/api/rule/test.stderr").await.json()["text"], "what it says");
    assert_eq!(page.get("/api/rule/other").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_nowhere() {
    let page = empty(Bounds::default()).await;
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","arguments":{{"token":"{secret}"}}}}}}"#
    );
    let frames =
        vec![line(Party::Client, call), Frame::new(Party::Server, Content::Stderr(secret.as_bytes().to_vec()))];
    page.console.add_trace(secret, &trace(frames));
    let row = page.get("/api/row/1").await;
    assert_eq!(row.json()["redacted"], true);
    for path in ["/api/row/1", "/api/row/1/part/0", "/api/row/2", "/api/rows", "/api/trace?session=1", "/api/state"] {
        let text = String::from_utf8_lossy(&page.get(path).await.body).into_owned();
        assert!(!text.contains(secret), "{path}: {text}");
    }
    assert!(page.rows(&format!("body:{secret}")).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_error_quotes_a_secret() {
    let page = connected(Revision::NEWEST).await;
    page.act("/api/list", json!({ "target": 1, "what": "tools" })).await;
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let mut answers = Vec::new();
    for (path, body) in [
        ("/api/connect", json!({ "target": 1, "revision": secret })),
        ("/api/level", json!({ "target": 1, "level": secret })),
        ("/api/list", json!({ "target": 1, "what": secret })),
        ("/api/check", json!({ "target": 1, "tool": secret, "arguments": {} })),
        ("/api/check", json!({ "target": 1, "tool": "slow", "arguments": { (secret): 1, "steps": secret } })),
    ] {
        answers.push((path.to_owned(), page.post(path, body).await));
    }
    let filter = format!("/api/rows?filter=status:{secret}");
    for path in [format!("/api/rule/{secret}"), filter, format!("/api/rows?from={secret}")] {
        answers.push((path.clone(), page.get(&path).await));
    }
    for (path, answer) in answers {
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(answer.status >= 400 || answer.json()["errors"][0].is_object(), "{path}: {text}");
        assert!(!text.contains(secret), "{path}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn old_traffic_makes_room_and_that_is_said() {
    let bounds = Bounds { ring: 64 << 10, rows: 250_000 };
    let page = empty(bounds).await;
    let note = |n: usize| {
        line(
            Party::Server,
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":"{n}{}"}}}}"#,
                "x".repeat(200)
            ),
        )
    };
    page.console.add_trace("t", &trace((0..1000).map(note).collect()));
    let state = page.get("/api/state").await.json();
    let (used, dropped) = (state["ring"]["used"].as_u64(), state["ring"]["dropped_rows"].as_u64());
    assert!(used.is_some_and(|used| used <= 64 << 10) && dropped.is_some_and(|dropped| dropped > 700), "{state}");
    assert_eq!(state["first"].as_u64(), dropped.map(|dropped| dropped + 1));
    assert_eq!(page.get("/api/row/1").await.status, 404);
    let rows = page.get("/api/rows?from=-1&count=1").await.json();
    assert_eq!((&rows["rows"][0][0], &rows["total"]), (&json!(1000), &json!(1000 - dropped.unwrap_or(0))));
    let saved = page.get("/api/trace?session=1").await;
    let kept = file::read(&String::from_utf8(saved.body).expect("text")).expect("a trace").frames;
    // That its beginning is missing is said first.
    assert!(matches!(kept[0].content, Content::Mark(_)), "{:?}", kept[0]);
    assert_eq!(kept.len() as u64, 1001 - dropped.unwrap_or(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_have_a_limit_in_memory() {
    let page = empty(Bounds { ring: 256 << 20, rows: 100 }).await;
    let frames = (0..300).map(|n| Frame::new(Party::Server, Content::Stderr(format!("{n}").into_bytes())));
    page.console.add_trace("t", &trace(frames.collect()));
    let rows = page.rows("").await;
    assert_eq!((rows.len(), &rows[0][9]), (100, &json!("200")));
    assert_eq!(page.get("/api/state").await.json()["ring"]["dropped_rows"], 200);
}
