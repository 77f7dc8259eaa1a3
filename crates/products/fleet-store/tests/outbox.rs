//! Messages to webhooks on SQLite: what happened is there with it, passed on once, and due again until it arrives.

mod shared;

use fleet_store::{GateOutcome, NewDelivery, ResultKey, What};
use shared::{Fleet, open, report};

fn message(event: &str) -> NewDelivery {
    NewDelivery { hook: "ops".to_owned(), event: event.to_owned(), body: "{}".to_owned() }
}

fn pause(attempt: u32) -> i64 {
    i64::from(attempt) * 100
}

#[tokio::test]
async fn a_stage_and_a_gate_that_turns_red_are_written_down_with_the_change() {
    let fleet = Fleet::new().await;
    let (server, version) = fleet.version("a").await;
    let store = &fleet.store;
    let record = async |key: &str, outcome: GateOutcome| {
        let of = ResultKey { version, gate: "scan".to_owned(), key: key.to_owned() };
        store.record(&of, None, &report(outcome), 5).await.expect("recorded");
    };
    record("1", GateOutcome::Pass).await;
    record("2", GateOutcome::Fail).await;
    record("3", GateOutcome::Fail).await;
    record("2", GateOutcome::Fail).await;
    store.record_stage(server, 4, None, 6).await.expect("a stage");
    store.record_stage(server, 4, None, 7).await.expect("the same stage");
    // Another connection sees it: it does not depend on this process.
    let happened = open(&fleet.folder).await.happened().await.expect("a list");
    let kinds: Vec<_> = happened.iter().map(|one| (one.server.as_str(), one.at, &one.what)).collect();
    let [("a", 5, What::Gate { gate, summary, .. }), ("a", 6, What::Stage { from: 0, to: 4, .. })] = kinds[..] else {
        panic!("{kinds:?}")
    };
    assert_eq!((gate.as_str(), &summary["cases"]), ("scan", &serde_json::json!(3)));
    // Green, then red once more: a new event.
    let passed: Vec<_> = happened.iter().map(|one| one.id).collect();
    store.pass_on(&passed, &[], 8).await.expect("passed on");
    assert_eq!(store.happened().await.expect("a list"), []);
    record("4", GateOutcome::Pass).await;
    record("5", GateOutcome::Fail).await;
    assert_eq!(store.happened().await.expect("a list").len(), 1);
}

#[tokio::test]
async fn a_message_is_due_until_it_arrives_and_is_made_once_for_each_event() {
    let fleet = Fleet::new().await;
    let (store, hooks) = (&fleet.store, ["ops".to_owned()]);
    let take = async |now: i64| store.take_delivery(&hooks, pause, now).await.expect("an answer");
    for now in [10, 20] {
        store.pass_on(&[], &[message("stage:1"), message("stage:2")], now).await.expect("queued");
    }
    assert_eq!(store.take_delivery(&["other".to_owned()], pause, 20).await, Ok(None));
    let first = take(20).await.expect("a message");
    assert_eq!((first.is.event.as_str(), first.attempt, first.due), ("stage:1", 1, Some(120)));
    // The process that took it was killed: it is due again after the pause, and not before.
    let second = take(20).await.expect("a message");
    store.delivered(second.id, 21).await.expect("noted");
    assert_eq!(take(119).await, None);
    let again = open(&fleet.folder).await.take_delivery(&hooks, pause, 120).await.expect("an answer").expect("again");
    assert_eq!((again.id, again.attempt, again.due), (first.id, 2, Some(320)));
    store.undelivered(again.id, "it answers 503", false).await.expect("noted");
    let waiting = store.undelivered_messages(9).await.expect("a list");
    assert_eq!(waiting.len(), 1);
    assert_eq!((waiting[0].error.as_deref(), waiting[0].due), (Some("it answers 503"), Some(320)));
    store.undelivered(again.id, "given up", true).await.expect("noted");
    assert_eq!(take(9000).await, None);
    assert_eq!(store.undelivered_messages(9).await.expect("a list")[0].due, None);
    store.pass_on(&[], &[message("stage:1")], 9001).await.expect("queued");
    assert_eq!(take(9001).await, None, "an event has one message");
}
