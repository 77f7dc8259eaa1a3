//! The feed: what changes comes by itself, resumes where it was left, and loses nothing of a flood but the showing.

use std::time::{Duration, Instant};

use console::hub::Bounds;
use serde_json::{Value, json};
use wire::Revision;
use wire::trace::{Content, Frame, Header};
use wire::{Party, Transport};

use super::support::{Page, connected, empty};

fn note(n: usize) -> Frame {
    let text =
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":{n}}}}}"#);
    Frame::new(Party::Server, Content::Line { bytes: text.into_bytes(), terminated: true })
}

fn session(page: &Page) -> u32 {
    page.console.hub().begin(1, Header::server(Transport::Stdio, Revision::R2025_11_25, "test"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_seen_to_begin_and_to_end() {
    let page = connected(Revision::NEWEST).await;
    let seq = page.get("/api/state").await.json()["seq"].clone();
    let mut feed = page.feed(&format!("from={seq}&filter=tool:slow"));
    assert_eq!(feed.next("state").await["columns"][0], "n");
    assert_eq!(feed.next("rows").await["matched"], 0);
    page.call("slow", json!({ "steps": 4, "delay_ms": 50 })).await;
    let mut statuses = Vec::new();
    let mut appended = 0;
    while statuses.last() != Some(&json!("ok")) {
        let block = feed.next("rows").await;
        appended += block["appended"].as_u64().unwrap_or(0);
        statuses.extend(block["rows"].as_array().into_iter().flatten().map(|row| row[7].clone()));
    }
    assert_eq!((&statuses[0], appended), (&json!("pending"), 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_resumes_after_what_it_sent() {
    let page = empty(Bounds::default()).await;
    let session = session(&page);
    (0..10).for_each(|n| page.console.hub().take(session, &note(n)));
    let mut feed = page.feed("from=0");
    let first = feed.next("rows").await;
    assert_eq!((first["rows"].as_array().map(Vec::len), &first["moved"]), (Some(10), &json!(true)));
    drop(feed);
    (10..13).for_each(|n| page.console.hub().take(session, &note(n)));
    let mut again = page.feed(&format!("from={}", first["seq"]));
    let rest = again.next("rows").await;
    let numbers: Vec<&Value> = rest["rows"].as_array().into_iter().flatten().map(|row| &row[0]).collect();
    assert_eq!(numbers, [&json!(11), &json!(12), &json!(13)]);
    let mut none = page.feed(&format!("from={}", rest["seq"]));
    let none = none.next("rows").await;
    assert_eq!((&none["rows"], &none["moved"], &none["matched"]), (&json!([]), &json!(false), &json!(13)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_is_counted_in_full_and_kept_in_full() {
    let page = empty(Bounds::default()).await;
    let session = session(&page);
    let mut feed = page.feed("from=0");
    feed.next("rows").await;
    let hub = page.console.hub().clone();
    // Two seconds of 5,000 messages each, at that pace.
    let flood = tokio::task::spawn_blocking(move || {
        let begun = Instant::now();
        for n in 0..10_000_usize {
            hub.take(session, &note(n));
            let due = Duration::from_micros(200 * n as u64);
            std::thread::sleep(due.saturating_sub(begun.elapsed()));
        }
    });
    let (mut seen, mut skipped, mut matched, mut appended) = (0, 0, 0, 0);
    while matched < 10_000 {
        let block = feed.next("rows").await;
        let rows = block["rows"].as_array().map_or(0, Vec::len);
        assert!(rows <= 500, "{rows}");
        seen += rows as u64;
        skipped += block["skipped"].as_u64().unwrap_or(0);
        appended += block["appended"].as_u64().unwrap_or(0);
        matched = block["matched"].as_u64().unwrap_or(0);
    }
    flood.await.expect("it ends");
    assert_eq!((seen + skipped, appended), (10_000, 10_000));
    let saved = page.get(&format!("/api/trace?session={session}")).await;
    let text = String::from_utf8(saved.body).expect("text");
    let trace = wire::trace::file::read(&text).expect("a trace");
    assert_eq!(trace.frames.len(), 10_000);
    assert!(trace.frames.iter().enumerate().all(|(n, frame)| frame.content == note(n).content));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_no_longer_passes_goes() {
    let page = connected(Revision::NEWEST).await;
    let seq = page.get("/api/state").await.json()["seq"].clone();
    let mut feed = page.feed(&format!("from={seq}&filter=status:pending"));
    feed.next("rows").await;
    let n = page.call("slow", json!({ "steps": 1, "delay_ms": 200 })).await;
    let mut came = false;
    loop {
        let block = feed.next("rows").await;
        came |= block["rows"].as_array().into_iter().flatten().any(|row| row[0] == n);
        if block["gone"].as_array().into_iter().flatten().any(|gone| *gone == n) {
            assert!(came && block["moved"] == true, "{block}");
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_told_of_the_end() {
    let page = connected(Revision::R2025_11_25).await;
    let mut feed = page.feed("from=0");
    feed.next("state").await;
    page.console.close().await;
    feed.next("bye").await;
}
