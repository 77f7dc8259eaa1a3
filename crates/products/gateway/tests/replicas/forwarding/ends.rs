//! A gateway that ends or is silent while it has something that clients need.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::time::sleep;

use super::{Group, answered};

/// A lease, the time for which an address is remembered, and some grace.
const FORGOTTEN: Duration = Duration::from_secs(9);
/// For so long, a store that is used for the first time counts as one that lost its memory.
const REMEMBERS: Duration = Duration::from_millis(3500);

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_is_killed_leaves_no_request_without_an_answer() {
    let group = Group::start("").await;
    let session = group.open(0, "ann").await;
    let parked = group.modern(0, "ann").tool("ask").await;
    let far = group.at(1, "ann", &session);
    let slow = json!({ "name": "slow", "arguments": { "ms": 20_000 } });
    let kill = async {
        while group.asker.ran("slow") == 0 {
            sleep(Duration::from_millis(20)).await;
        }
        sleep(Duration::from_millis(500)).await;
        group.scene.replicas[0].kill();
        Instant::now()
    };
    let (got, killed) = tokio::join!(far.request("tools/call", slow), kill);
    assert!(killed.elapsed() < Duration::from_secs(5), "{:?}", killed.elapsed());
    assert_eq!((got.failure(), got.message["error"]["data"]["outcome"].as_str()), ("replica-lost", Some("unknown")));
    // Its lease is not over: it may come back.
    let again = far.tool("slow").await;
    assert_eq!((again.status, again.failure()), (503, "replica-away"), "{again:?}");
    assert_eq!(again.message["error"]["data"]["outcome"], "not run");
    sleep(FORGOTTEN.saturating_sub(killed.elapsed())).await;
    assert_eq!(far.tool("slow").await.status, 404);
    assert_eq!(far.listen().await.status.as_u16(), 404);
    let late = group.modern(2, "ann").request("tools/call", answered(&parked.message)).await;
    assert_eq!((late.failure(), late.message["error"]["data"]["outcome"].as_str()), ("state-expired", Some("unknown")));
    assert_eq!((group.asker.ran("slow"), group.asker.ran("ask")), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_process_at_the_address_has_no_sessions() {
    let group = Group::start("").await;
    let session = group.open(0, "ann").await;
    let far = group.at(1, "ann", &session);
    assert_eq!(far.tool("slow").await.text(), "done");
    group.scene.replicas[0].kill();
    group.scene.replicas[0].start_again().await;
    group.scene.replicas[0].uses_store().await;
    // No lease need end for that.
    assert_eq!(far.tool("slow").await.status, 404);
    let next = group.open(0, "ann").await;
    assert_eq!(group.at(1, "ann", &next).tool("slow").await.text(), "done");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_is_asked_to_end_is_forgotten_at_once() {
    let group = Group::start("").await;
    let session = group.open(0, "ann").await;
    sleep(REMEMBERS).await;
    assert!(group.scene.replicas[0].ends().await);
    sleep(Duration::from_millis(1200)).await;
    assert_eq!(group.at(1, "ann", &session).tool("slow").await.status, 404);
}

/// A store that has known its gateways for long says at once that one is not there.
#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_has_just_begun_knows_that_another_has_ended() {
    let group = Group::start("").await;
    let session = group.open(0, "ann").await;
    sleep(REMEMBERS).await;
    assert!(group.scene.replicas[0].ends().await);
    group.scene.replicas[1].kill();
    group.scene.replicas[1].start_again().await;
    group.scene.replicas[1].uses_store().await;
    let got = group.at(1, "ann", &session).tool("slow").await;
    assert_eq!(got.status, 404, "{got:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_is_silent_is_given_up() {
    let group = Group::start("").await;
    let session = group.open(0, "ann").await;
    let far = group.at(1, "ann", &session);
    assert_eq!(far.tool("slow").await.text(), "done");
    group.scene.replicas[0].signal("STOP");
    sleep(Duration::from_millis(300)).await;
    let begun = Instant::now();
    let got = far.tool("slow").await;
    group.scene.replicas[0].signal("CONT");
    assert_eq!(got.failure(), "replica-lost", "{got:?}");
    assert!(begun.elapsed() < Duration::from_secs(16), "{:?}", begun.elapsed());
}

/// A request may take longer than a gateway is silent: it says that it is there.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_call_is_waited_for() {
    let group = Group::start("").await;
    let session = group.open(0, "ann").await;
    let ids = json!({ "name": "read", "arguments": { "ms": 9000 } });
    let got = group.at(1, "ann", &session).request("tools/call", ids).await;
    assert!(got.text().starts_with("read "), "{got:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_away_or_forgets_ends_no_session() {
    let group = Group::start("").await;
    let session = group.open(0, "ann").await;
    let far = group.at(1, "ann", &session);
    assert_eq!(far.tool("slow").await.text(), "done");
    group.scene.break_connections();
    group.scene.redis.signal("STOP");
    sleep(Duration::from_millis(1200)).await;
    assert_eq!(far.tool("slow").await.text(), "done", "what is known holds while the store is away");
    group.scene.redis.signal("CONT");
    for replica in &group.scene.replicas {
        replica.uses_store().await;
    }
    assert!(group.scene.redis.ask("FLUSHALL").await.is_some());
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(4) {
        let got = far.tool("slow").await;
        assert!(got.text() == "done" || got.failure() == "replica-away", "{got:?}");
        sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(far.tool("slow").await.text(), "done");
}
