//! No replica answers from its cache what another one has changed.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::redis::Redis;
use crate::scene::Scene;

const CACHE: &str =
    "cache:\n  rules:\n    - { tools: [read], ttl: 5m, invalidated_by: [write] }\n    - { lists: [tools], ttl: 5m }\n";

async fn scene() -> Scene {
    let scene = Scene::start(2, Redis::start().await, "URL", CACHE).await;
    scene.recovered().await;
    // Its calls were writes, too: the others hear of them a moment later.
    tokio::time::sleep(Duration::from_secs(1)).await;
    scene
}

/// Waits until something holds: what is published takes a moment.
async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < Duration::from_secs(10), "{what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_at_one_replica_ends_what_the_others_keep() {
    let scene = scene().await;
    let before = [scene.read(0, "ann").await, scene.read(1, "ann").await];
    assert_ne!(before[0], before[1]);
    // Nothing else ends it.
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!([scene.read(0, "ann").await, scene.read(1, "ann").await], before);
    let wrote = scene.write(0, "bob", "k", json!({})).await;
    assert!(!wrote.text().is_empty(), "{wrote:?}");
    until("the other replica keeps it", async || scene.read(1, "ann").await != before[1]).await;
    assert_ne!(scene.read(0, "ann").await, before[0]);
}

/// No message says that the write has ended: what others keep ends when it begins, and they keep nothing while it may run.
#[tokio::test(flavor = "multi_thread")]
async fn a_replica_killed_in_a_write_leaves_nothing_stale() {
    let scene = scene().await;
    let kept = scene.read(1, "ann").await;
    assert_eq!(scene.read(1, "ann").await, kept);
    // One that is read before the write, and comes in its course.
    let (early, _) = tokio::join!(scene.read_slowly(1, "ann", 3000), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        tokio::join!(scene.write(0, "bob", "k", json!({ "ms": 12_000 })), async {
            scene.ledger.wait_for("bob", "k").await;
            scene.replicas[0].kill();
        })
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_ne!(scene.read(1, "ann").await, kept, "it is kept over a write");
    assert_ne!(scene.read_slowly(1, "ann", 3000).await, early, "what was read before the write is kept");
    let [first, second] = [scene.read(1, "ann").await, scene.read(1, "ann").await];
    assert_ne!(first, second, "it is kept while the write may still run");
}

/// It changes something while it cannot tell: the others learn it when it can.
#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_told_is_told_later() {
    let scene = Scene::start(2, Redis::start().await, "{ url: URL, on_loss: local }", CACHE).await;
    scene.recovered().await;
    scene.replicas[0].proxy.cut();
    until("it still has the store", async || scene.replicas[0].page("/metrics").await.contains("\nstore_up 0\n")).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let kept = scene.read(1, "ann").await;
    let wrote = scene.write(0, "bob", "k", json!({})).await;
    assert!(!wrote.text().is_empty(), "{wrote:?}");
    assert_eq!(scene.read(1, "ann").await, kept, "the replica that hears the store keeps nothing");
    scene.replicas[0].proxy.mend();
    until("it is kept over a write", async || scene.read(1, "ann").await != kept).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_store_nothing_is_answered_from_the_cache() {
    let scene = scene().await;
    let kept = scene.read(1, "ann").await;
    assert_eq!(scene.read(1, "ann").await, kept);
    scene.redis.signal("STOP");
    until("it is still kept", async || scene.read(1, "ann").await != kept).await;
    let away = [scene.read(1, "ann").await, scene.read(1, "ann").await];
    assert_ne!(away[0], away[1], "it is kept without the store");
    scene.redis.signal("CONT");
    until("it is not kept again", async || scene.read(1, "ann").await == scene.read(1, "ann").await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_one_replica_hears_ends_the_lists_of_all() {
    let scene = scene().await;
    for replica in [0, 1, 0, 1] {
        scene.list(replica, "ann").await;
    }
    until("nobody follows changes", async || scene.ledger.followers() >= 2).await;
    for replica in [0, 1] {
        scene.list(replica, "ann").await;
    }
    let lists = scene.ledger.lists();
    for replica in [0, 1] {
        scene.list(replica, "ann").await;
    }
    assert_eq!(scene.ledger.lists(), lists, "they are not kept");
    scene.ledger.announce_to_one();
    until("one of them keeps its list", async || {
        for replica in [0, 1] {
            scene.list(replica, "ann").await;
        }
        scene.ledger.lists() >= lists + 2
    })
    .await;
}
