//! A call with a key runs once, whichever replica gets it.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::redis::Redis;
use crate::scene::{Outcome, Scene};

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_one_call_at_all_replicas() {
    let scene = Scene::ready(3).await;
    let first = scene.write(0, "ann", "k", json!({})).await;
    assert!(first.text().starts_with("ann "), "{first:?}");
    for replica in 0..3 {
        assert_eq!(scene.write(replica, "ann", "k", json!({})).await.text(), first.text(), "replica {replica}");
        let other = scene.write(replica, "ann", "k", json!({ "bytes": 1 })).await;
        assert_eq!(other.failure(), "idempotency-conflict", "replica {replica}");
    }
    assert_eq!(scene.ledger.ran("ann", "k"), 1);
    // The same text of another principal is another key.
    let other = scene.write(1, "bob", "k", json!({})).await;
    assert!(other.text().starts_with("bob "), "{other:?}");
    assert_eq!(scene.write(2, "bob", "k", json!({})).await.text(), other.text());
    assert_eq!(scene.ledger.ran("bob", "k"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_runs_elsewhere_is_waited_for() {
    let scene = Scene::ready(3).await;
    // Longer than a lease: the owner says that it still runs.
    let time = json!({ "ms": 8000 });
    let calls = (0..6).map(|number| scene.write(number % 3, "ann", "slow", time.clone()));
    let all = futures_util::future::join_all(calls).await;
    assert!(all[0].text().starts_with("ann "), "{all:?}");
    assert!(all.iter().all(|outcome| outcome.text() == all[0].text()), "{all:?}");
    assert_eq!(scene.ledger.ran("ann", "slow"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_replica_is_killed_does_not_run_again() {
    let scene = Scene::ready(2).await;
    let (killed, ()) = tokio::join!(scene.write(0, "ann", "k", json!({ "ms": 9000 })), async {
        scene.ledger.wait_for("ann", "k").await;
        scene.replicas[0].kill();
    });
    assert!(matches!(killed, Outcome::Broken), "{killed:?}");
    let again = scene.write(1, "ann", "k", json!({ "ms": 9000 })).await;
    assert_eq!(again.failure(), "idempotency-unknown", "{again:?}");
    assert_eq!(scene.ledger.ran("ann", "k"), 1);
    scene.replicas[0].start_again().await;
    scene.replicas[0].uses_store().await;
    let again = scene.write(0, "ann", "k", json!({ "ms": 9000 })).await;
    assert_eq!(again.failure(), "idempotency-unknown", "{again:?}");
    assert_eq!(scene.ledger.ran("ann", "k"), 1);
}

/// A replica that is stopped for longer than its lease is taken for dead; what it says afterwards still counts.
#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_wakes_up_corrects_what_was_unknown() {
    let scene = Scene::ready(2).await;
    let time = json!({ "ms": 300 });
    let (first, second) = tokio::join!(scene.write(0, "ann", "k", time.clone()), async {
        scene.ledger.wait_for("ann", "k").await;
        scene.replicas[0].signal("STOP");
        let second = scene.write(1, "ann", "k", time.clone()).await;
        scene.replicas[0].signal("CONT");
        second
    });
    assert_eq!(second.failure(), "idempotency-unknown", "{second:?}");
    assert!(first.text().starts_with("ann "), "{first:?}");
    assert_eq!(scene.write(1, "ann", "k", time).await.text(), first.text());
    assert_eq!(scene.ledger.ran("ann", "k"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_store_calls_are_refused_before_they_run() {
    let scene = Scene::ready(2).await;
    let kept = scene.write(0, "ann", "kept", json!({})).await;
    scene.redis.signal("STOP");
    let begun = Instant::now();
    let refused = scene.write(0, "ann", "new", json!({})).await;
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    assert_eq!(refused.failure(), "store-away", "{refused:?}");
    let Outcome::Response { status, retry_after, .. } = refused else { panic!("{refused:?}") };
    assert_eq!((status, retry_after), (429, Some(2)));
    // What is known for certain needs no store.
    assert_eq!(scene.write(0, "ann", "kept", json!({})).await.text(), kept.text());
    assert_eq!(scene.ledger.ran("ann", "new"), 0);
    scene.redis.signal("CONT");
    scene.recovered().await;
    let ran = scene.write(1, "ann", "other", json!({})).await;
    assert!(ran.text().starts_with("ann "), "{ran:?}");
    assert!(scene.replicas[0].page("/metrics").await.contains("\nidempotency_conflicts_total 0\n"));
}

/// Every replica writes again what it knows, before any of them takes a new key.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_forgot_everything_is_told_again() {
    let scene = Scene::ready(3).await;
    let kept = scene.write(0, "ann", "kept", json!({})).await;
    let slow = json!({ "ms": 5000 });
    let (running, early) = tokio::join!(scene.write(1, "ann", "runs", slow.clone()), async {
        scene.ledger.wait_for("ann", "runs").await;
        assert!(scene.redis.ask("FLUSHALL").await.is_some());
        let early = scene.write(2, "ann", "kept", json!({})).await;
        scene.recovered().await;
        assert_eq!(scene.write(2, "ann", "kept", json!({})).await.text(), kept.text());
        assert_eq!(scene.write(2, "ann", "runs", slow.clone()).await.text().split(' ').next(), Some("ann"));
        early
    });
    assert!(early.failure() == "store-recovering" || early.text() == kept.text(), "{early:?}");
    assert!(running.text().starts_with("ann "), "{running:?}");
    assert_eq!((scene.ledger.ran("ann", "kept"), scene.ledger.ran("ann", "runs")), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_connection_costs_nothing() {
    let scene = Scene::ready(2).await;
    for round in 0..5 {
        scene.break_connections();
        let key = format!("k{round}");
        let [first, second] = [scene.insist(0, "ann", &key).await, scene.insist(1, "ann", &key).await];
        assert!(first.text().starts_with("ann "), "{first:?}");
        assert_eq!(second.text(), first.text());
        assert_eq!(scene.ledger.ran("ann", &key), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_on_loss_local_each_replica_goes_on_alone() {
    let store = "{ url: URL, on_loss: local }";
    let scene = Scene::start(2, Redis::start().await, store, "").await;
    scene.recovered().await;
    scene.redis.signal("STOP");
    let first = scene.write(0, "ann", "k", json!({})).await;
    assert!(first.text().starts_with("ann "), "{first:?}");
    assert_eq!(scene.write(0, "ann", "k", json!({})).await.text(), first.text());
    assert_eq!(scene.ledger.ran("ann", "k"), 1);
    scene.redis.signal("CONT");
    scene.recovered().await;
    let begun = Instant::now();
    while scene.write(1, "ann", "k", json!({})).await.text() != first.text() {
        assert!(begun.elapsed() < Duration::from_secs(10), "the other replica does not learn of it");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_is_too_large_is_not_shared_and_does_not_run_again() {
    let scene = Scene::ready(2).await;
    let large = json!({ "bytes": 5 << 20 });
    let first = scene.write(0, "ann", "k", large.clone()).await;
    assert!(first.text().len() > 5 << 20);
    assert_eq!(scene.write(1, "ann", "k", large.clone()).await.failure(), "idempotency-too-large");
    assert_eq!(scene.write(0, "ann", "k", large).await.failure(), "idempotency-too-large");
    assert_eq!(scene.ledger.ran("ann", "k"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_password_comes_from_elsewhere_and_is_not_printed() {
    let password = "s3cr3t-of-the-store";
    let store = "{ url: URL, password: { from_env: STORE_PASSWORD } }";
    let scene = Scene::start(1, Redis::guarded(Some(password)).await, store, "").await;
    scene.recovered().await;
    let wrong = Scene::start(1, Redis::guarded(Some("another")).await, store, "").await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(wrong.write(0, "ann", "k", json!({})).await.failure(), "store-away");
    for log in [&scene.replicas[0].log, &wrong.replicas[0].log] {
        let log = std::fs::read_to_string(log).expect("a log");
        assert!(!log.contains(password), "{log}");
    }
}
