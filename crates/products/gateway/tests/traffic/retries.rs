//! What the gateway sends again, and what it never does.

use std::path::Path;
use std::time::Duration;

use gateway::settings::{BreakerSettings, RetrySettings, TrafficSettings};
use serde_json::{Value, json};

use crate::scene::{Act, Options, Scene};

fn retries(most: u32, budget_percent: u32) -> TrafficSettings {
    let (backoff, longest_backoff) = (Duration::from_millis(20), Duration::from_secs(2));
    let retries = RetrySettings { most, budget_percent, backoff, longest_backoff };
    TrafficSettings { retries: Some(retries), ..TrafficSettings::default() }
}

async fn scene(traffic: TrafficSettings) -> Scene {
    Scene::new(Options { traffic: Some(traffic), ..Options::default() }).await
}

/// Whatever the server does with a call that may write, it gets it once.
#[tokio::test]
async fn only_what_does_no_harm_is_sent_again() {
    let scene = scene(retries(2, 100)).await;
    let failing = [
        Act::Cut,
        Act::CutAfterProgress,
        Act::Status(502, None),
        Act::Status(503, None),
        Act::Status(429, None),
        Act::Status(500, None),
        Act::Status(404, None),
        Act::Refuse,
    ];
    for act in failing {
        for tool in ["write", "plain", "unknown"] {
            scene.script.next(&[act]);
            let got = scene.call("ann", tool).await;
            assert!(got.message["error"].is_object(), "{tool} {act:?}: {got:?}");
            assert_eq!(scene.script.take(), [tool], "{act:?}");
        }
        let again = [Act::Cut, Act::Status(502, None), Act::Status(503, None), Act::Status(429, None)].contains(&act);
        for tool in ["read", "repeat"] {
            scene.script.next(&[act]);
            let got = scene.call("ann", tool).await;
            assert_eq!(scene.script.take().len(), if again { 2 } else { 1 }, "{tool} {act:?}: {got:?}");
            assert_eq!(got.message["result"].is_object(), again, "{tool} {act:?}: {got:?}");
        }
    }
    assert_eq!(scene.status("/retries_total"), 8);
    scene.end().await;
}

#[tokio::test]
async fn one_request_is_sent_again_so_often() {
    let scene = scene(retries(2, 100)).await;
    scene.script.next(&[Act::Cut; 4]);
    let got = scene.call("ann", "read").await;
    assert_eq!((got.failure(), &got.data()["outcome"]), ("no-answer", &json!("unknown")));
    assert_eq!(scene.script.take().len(), 3);
    // What the server asks for is longer than the longest pause.
    scene.script.next(&[Act::Status(503, Some(60))]);
    let got = scene.call("ann", "read").await;
    assert_eq!((got.failure(), &got.data()["retry_after_ms"]), ("status-failed", &json!(60_000)));
    scene.script.next(&[Act::Status(503, Some(1))]);
    let begun = std::time::Instant::now();
    scene.call("ann", "read").await.worked();
    assert!(begun.elapsed() >= Duration::from_secs(1));
    scene.end().await;
}

/// A call that may write, and that the server did not get, is sent when the server is there again; then it has it once.
#[tokio::test]
async fn what_the_server_did_not_get_is_sent_again() {
    let traffic = retries(5, 100);
    let backoff = Duration::from_millis(300);
    let retries = traffic.retries.map(|retries| RetrySettings { backoff, ..retries });
    let scene = scene(TrafficSettings { retries, ..TrafficSettings::default() }).await;
    scene.call("ann", "write").await.worked();
    scene.script.take();
    scene.stop_upstream().await;
    let back = async {
        tokio::time::sleep(Duration::from_millis(400)).await;
        scene.start_upstream().await;
    };
    let (got, ()) = tokio::join!(scene.call("ann", "write"), back);
    got.worked();
    assert_eq!(scene.script.take(), ["write"]);
    assert!(scene.status("/retries_total").as_u64().is_some_and(|count| count > 0));
    scene.end().await;
}

/// What was sent once and may have run is not "not run" because the server did not get it the second time.
#[tokio::test]
async fn what_may_have_run_is_not_called_not_run() {
    let traffic = retries(2, 100);
    let backoff = Duration::from_millis(300);
    let retries = traffic.retries.map(|retries| RetrySettings { backoff, ..retries });
    let scene = scene(TrafficSettings { retries, ..TrafficSettings::default() }).await;
    // From now on, the gateway knows what the tools do.
    scene.script.next(&[Act::Cut, Act::Answer, Act::Slow(Duration::from_mins(1))]);
    scene.call("ann", "read").await.worked();
    let ends = async {
        scene.script.wait_for(1).await;
        scene.stop_upstream().await;
        scene.script.hang_up();
    };
    let (got, ()) = tokio::join!(scene.call("ann", "read"), ends);
    assert_eq!((got.failure(), &got.data()["outcome"]), ("no-answer", &json!("unknown")), "{got:?}");
    assert_eq!(scene.script.take(), ["read", "read", "read"]);
    assert_eq!(scene.status("/retries_total"), 3, "two did not get there");
    scene.end().await;
}

/// While everything fails, no more than the budget is sent in addition.
#[tokio::test]
async fn an_outage_is_not_multiplied() {
    let scene = scene(retries(2, 10)).await;
    let calls = 60;
    scene.script.next(&[Act::Cut; 200]);
    for _ in 0..calls {
        assert_eq!(scene.call("ann", "read").await.failure(), "no-answer");
    }
    let sent = scene.script.take().len();
    // Ten are saved at first, and every tenth request adds one.
    assert!((calls + 10..=calls + 16).contains(&sent), "{sent}");
    assert!(scene.status("/retries_refused_total").as_u64().is_some_and(|count| count > 0));
    scene.end().await;
}

#[tokio::test]
async fn nothing_is_sent_again_once_the_breaker_is_open() {
    let breakers = BreakerSettings { failures: 2, of: 5, ..BreakerSettings::default() };
    let scene = scene(TrafficSettings { breakers: Some(breakers), ..retries(5, 100) }).await;
    scene.script.next(&[Act::Cut; 9]);
    let got = scene.call("ann", "read").await;
    // The outcome of what was sent is what counts.
    assert_eq!((got.failure(), &got.data()["outcome"]), ("no-answer", &json!("unknown")));
    assert_eq!(scene.script.take().len(), 2);
    scene.end().await;
}

fn records(folder: &Path) -> Vec<Value> {
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path()).collect();
    files.sort();
    let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap_or_default()).collect::<String>();
    texts.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[tokio::test]
async fn the_audit_log_says_how_often() {
    let folder = tempfile::tempdir().expect("a folder");
    let traffic = Some(retries(2, 100));
    let scene = Scene::new(Options { traffic, audit: Some(folder.path()), ..Options::default() }).await;
    scene.script.next(&[Act::Cut, Act::Cut, Act::Answer]);
    scene.call("ann", "read").await.worked();
    scene.call("ann", "write").await.worked();
    scene.end().await;
    let all = records(folder.path());
    let of = |tool: &str| all.iter().find(|record| record["tool_name"] == tool).unwrap_or_else(|| panic!("{all:?}"));
    assert_eq!((&of("read")["attempts"], &of("read")["status"]), (&json!(3), &json!("ok")));
    assert_eq!(of("write").get("attempts"), None);
}
