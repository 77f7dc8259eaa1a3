//! What servers say is text: whatever it holds, answers stay JSON, and nothing of it becomes a header or another message.

use console::hub::Bounds;
use serde_json::{Value, json};
use wire::trace::{Content, Frame, Header};
use wire::{Party, Revision, Trace, Transport};

use super::support::empty;

const HOSTILE: [&str; 14] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "\u{1b}]0;title\u{7}\u{1b}[2J",
    "\u{202e}gnp.exe\u{2066}",
    "a\r\nX-Evil: 1\r\n\r\n<h1>",
    "data: {}\n\nevent: bye\ndata: {}\n\n",
    "\n\nevent: state\n",
    "${jndi:ldap://x}",
    "{{constructor.constructor('alert(1)')()}}",
    "\u{0}\u{1}\u{7f}",
    "\u{2028}\u{2029}",
    "../../../../etc/passwd",
    "` | rm -rf ; $(reboot)",
];

#[tokio::test(flavor = "multi_thread")]
async fn hostile_texts_stay_texts() {
    let page = empty(Bounds::default()).await;
    let mut frames = Vec::new();
    for (id, text) in HOSTILE.iter().enumerate() {
        let call = json!({ "jsonrpc": "2.0", "id": text, "method": "tools/call", "params": { "name": text, "arguments": { (*text): text } } });
        let answer = json!({ "jsonrpc": "2.0", "id": text, "error": { "code": id, "message": text } });
        let log =
            json!({ "jsonrpc": "2.0", "method": text, "params": { "level": text, "logger": text, "data": text } });
        let line = |from, value: Value| {
            Frame::new(from, Content::Line { bytes: value.to_string().into_bytes(), terminated: true })
        };
        frames.extend([line(Party::Client, call), line(Party::Server, answer), line(Party::Server, log)]);
        frames.push(Frame::new(Party::Server, Content::Stderr(text.as_bytes().to_vec())));
        frames.push(Frame::new(Party::Server, Content::Raw([text.as_bytes(), b"\xff\xfe"].concat())));
        let headers = vec![((*text).to_owned(), (*text).to_owned())];
        frames.push(Frame {
            exchange: 1 + id as u32,
            ..Frame::new(
                Party::Client,
                Content::Request { method: "GET".to_owned(), target: (*text).to_owned(), headers },
            )
        });
    }
    let trace = Trace { header: Header::server(Transport::Stdio, Revision::R2025_11_25, "test"), frames };
    for label in HOSTILE {
        page.console.add_trace(label, &trace);
    }
    let mut feed = page.feed("from=0");
    let state = feed.next("state").await;
    assert_eq!(state["targets"].as_array().map(Vec::len), Some(HOSTILE.len()));
    let block = feed.next("rows").await;
    assert_eq!(block["rows"].as_array().map(Vec::len), Some(500));
    for n in 1..=HOSTILE.len() * 5 {
        for path in [format!("/api/row/{n}"), format!("/api/rows?from={n}&count=1")] {
            let answer = page.get(&path).await;
            assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")), "{path}");
            assert!(answer.header("x-evil").is_none(), "{path}");
            answer.json();
        }
        let part = page.get(&format!("/api/row/{n}/part/0")).await;
        assert_eq!(part.header("content-type"), Some("application/octet-stream"));
        assert_eq!(part.header("content-disposition"), Some("attachment; filename=\"part\""));
    }
    // The names are the servers' own, letter by letter.
    let rows = page.rows("kind:call target:1").await;
    let names: Vec<&str> = rows.iter().filter_map(|row| row[9].as_str()).collect();
    assert_eq!(names, HOSTILE);
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_that_are_no_numbers_are_not_found() {
    let page = empty(Bounds::default()).await;
    for path in [
        "/api/row/",
        "/api/row/x",
        "/api/row/-1",
        "/api/row/1/part/x",
        "/api/row/99999999999999999999",
        "/api/",
        "/api//state",
        "/../Cargo.toml",
        "/page/index.html",
    ] {
        assert_eq!(page.get(path).await.status, 404, "{path}");
    }
}
