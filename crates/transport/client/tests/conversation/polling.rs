//! When the client polls its tasks, seen from the server: after longer and longer pauses, or as the server says.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use client::{Client, Options};
use serde_json::{Map, Value, json};
use wire::Revision;

use super::fake::{Answer, Fake};
use super::options;

/// A server whose task ends at its `polls`-th poll and says `more` of itself, and the times of creation and polls.
fn task(polls: usize, more: Value) -> (Fake, Arc<Mutex<Vec<Instant>>>) {
    let times: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let seen = Arc::clone(&times);
    let fake = Fake::start(move |asked| {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut shown = json!({ "taskId": "one", "status": "working" });
        if let (Some(shown), Some(more)) = (shown.as_object_mut(), more.as_object()) {
            shown.extend(more.clone());
        }
        match asked.method() {
            "initialize" => {
                let capabilities = json!({ "tools": {}, "tasks": { "requests": { "tools": { "call": {} } } } });
                asked.result(&json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities,
                                      "serverInfo": { "name": "fake", "version": "1" } }))
            }
            "tools/call" => {
                seen.push(Instant::now());
                asked.result(&json!({ "task": shown }))
            }
            "tasks/get" => {
                seen.push(Instant::now());
                if seen.len() > polls {
                    shown["status"] = json!("completed");
                }
                asked.result(&shown)
            }
            "tasks/result" => asked.result(&json!({ "content": [] })),
            _ => Answer::status(202),
        }
    });
    (fake, times)
}

/// The pauses before each poll, in milliseconds.
async fn pauses(polls: usize, more: Value) -> Vec<u128> {
    let (fake, times) = task(polls, more);
    let options = Options { revision: Some(Revision::R2025_11_25), ..options(&fake) };
    let client = Client::connect(options).await.expect("it is let in");
    client.call_as_task("t", Map::new()).await.expect("the task ends");
    client.close().await;
    let times = times.lock().unwrap_or_else(PoisonError::into_inner);
    times.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect()
}

#[tokio::test]
async fn polls_come_after_longer_and_longer_pauses() {
    let seen = pauses(2, json!({})).await;
    // A busy machine delays a poll, and never advances it.
    assert!(seen.len() == 2 && seen[0] >= 950 && seen[1] >= 1950, "{seen:?}");
}

#[tokio::test]
async fn polls_come_as_the_server_says() {
    let began = Instant::now();
    let seen = pauses(3, json!({ "pollInterval": 40 })).await;
    assert!(seen.len() == 3 && seen.iter().all(|pause| *pause >= 35), "{seen:?}");
    assert!(began.elapsed() < Duration::from_secs(1), "the first pauses of its own add up to 7 s");
}
