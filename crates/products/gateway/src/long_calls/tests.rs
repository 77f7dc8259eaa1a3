//! Tasks of the gateway: whose they are, how each ends, how often they are looked at.

use std::sync::Arc;
use std::time::{Duration, Instant};

use net::server::http::HeaderValue;
use tokio::task::JoinHandle;

use super::{Found, LongCalls, MOST_BYTES, MOST_OF_ONE, Owner, Standing, is_ours};
use crate::settings::TaskSettings;

const SECOND: Duration = Duration::from_secs(1);

fn owner(name: &str) -> Owner {
    ("s".to_owned(), Some(HeaderValue::from_str(name).expect("a name")))
}

fn known(found: Found) -> Standing {
    let Found::Known(standing) = found else { panic!("{found:?}") };
    standing
}

fn begin(all: &LongCalls, owner: &Owner) -> String {
    all.begin(owner, &TaskSettings::default(), None, Instant::now()).expect("room").0
}

/// Whether a call was given up.
async fn is_ended(running: JoinHandle<()>) -> bool {
    let ended = tokio::time::timeout(SECOND * 5, running).await;
    ended.is_ok_and(|ended| ended.is_err_and(|error| error.is_cancelled()))
}

#[tokio::test]
async fn a_task_is_its_owners_alone_and_has_one_end() {
    let (all, one, other) = (Arc::new(LongCalls::default()), owner("a"), owner("b"));
    let id = begin(&all, &one);
    assert!(is_ours(&id) && !is_ours("proof-gateway.1"));
    let now = Instant::now();
    assert!(matches!(all.look(&other, &id, SECOND, now), Found::Foreign));
    assert!(matches!(all.look(&("t".to_owned(), one.1.clone()), &id, SECOND, now), Found::Foreign));
    assert!(matches!(all.look(&one, "proof-gateway-call.1", SECOND, now), Found::Unknown));
    assert!(matches!(all.cancel(&other, &id), Err(Found::Foreign)));
    assert!(matches!(all.ended(&other, &id).await, Found::Foreign));
    let waiting = tokio::spawn({
        let (all, one, id) = (Arc::clone(&all), one.clone(), id.clone());
        async move { known(all.ended(&one, &id).await) }
    });
    tokio::task::yield_now().await;
    assert!(all.end(&id, "the answer".into(), None));
    assert_eq!(waiting.await.expect("no panic").answer.map(|(text, _)| text).as_deref(), Some("the answer"));
    // What comes later changes nothing.
    assert!(all.end(&id, "another".into(), Some(1)));
    let (standing, was_over) = all.cancel(&one, &id).expect("known");
    assert!(was_over && standing.task["status"] == "completed", "{standing:?}");
}

#[tokio::test]
async fn a_cancelled_task_ends_its_call_and_stays_cancelled() {
    let (all, one) = (LongCalls::default(), owner("a"));
    let id = begin(&all, &one);
    let running = tokio::spawn(std::future::pending::<()>());
    all.runs(&id, running.abort_handle());
    let (standing, was_over) = all.cancel(&one, &id).expect("known");
    assert!(!was_over && standing.task["status"] == "cancelled" && standing.answer.is_none());
    assert!(is_ended(running).await);
    assert!(all.end(&id, "too late".into(), None));
    assert_eq!(known(all.ended(&one, &id).await).task["status"], "cancelled");
}

#[test]
fn looks_come_once_a_second_and_later_ones_are_advised() {
    let (all, one, now) = (LongCalls::default(), owner("a"), Instant::now());
    let id = begin(&all, &one);
    let look = |ms: u64| all.look(&one, &id, SECOND, now + Duration::from_millis(ms));
    let advised = |ms: u64| known(look(ms)).task["pollIntervalMs"].as_u64();
    assert_eq!(advised(0), Some(1000));
    assert!(matches!(look(300), Found::TooEarly(early) if early == Duration::from_millis(700)));
    // A look that was refused advises nothing else.
    let intervals: Vec<_> = (1..8).map(|second| advised(1000 * second)).collect();
    assert_eq!(intervals, [2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000].map(Some));
}

#[test]
fn a_task_is_there_for_fifteen_minutes() {
    let (all, one, now) = (LongCalls::default(), owner("a"), Instant::now());
    let (id, standing) = all.begin(&one, &TaskSettings::default(), None, now).expect("room");
    assert_eq!(standing.task["ttlMs"], 900_000);
    let look = |seconds: u64| all.look(&one, &id, SECOND, now + SECOND * u32::try_from(seconds).expect("a number"));
    known(look(14 * 60 + 59));
    assert!(matches!(look(15 * 60), Found::Unknown));
}

#[tokio::test]
async fn tasks_end_with_their_time_and_are_bounded() {
    let (all, one, other) = (LongCalls::default(), owner("a"), owner("b"));
    let settings = TaskSettings { per_principal: 2, ..TaskSettings::default() };
    let (brief, standing) = all.begin(&one, &settings, Some(20), Instant::now()).expect("room");
    assert_eq!(standing.task["ttlMs"], 20);
    let running = tokio::spawn(std::future::pending::<()>());
    all.runs(&brief, running.abort_handle());
    // More than the configuration allows is not given.
    assert_eq!(all.begin(&one, &settings, Some(u64::MAX), Instant::now()).expect("room").1.task["ttlMs"], 900_000);
    assert!(all.begin(&one, &settings, None, Instant::now()).is_none(), "two are as many as it may have");
    assert!(all.begin(&other, &settings, None, Instant::now()).is_some());
    assert!(matches!(all.ended(&one, &brief).await, Found::Unknown), "its time is over");
    all.sweep();
    assert!(is_ended(running).await);
    let third = all.begin(&one, &settings, None, Instant::now()).expect("room again").0;
    let large: Arc<str> = "x".repeat(MOST_OF_ONE).into();
    assert!(!all.end(&third, format!("{large}x").into(), None), "more than one principal may have");
    assert!(all.end(&third, Arc::clone(&large), None));
    assert!(all.begin(&one, &settings, None, Instant::now()).is_none(), "its room is used up");
    for number in 1..MOST_BYTES / MOST_OF_ONE {
        assert!(all.end(&begin(&all, &owner(&number.to_string())), Arc::clone(&large), None));
    }
    let last = begin(&all, &other);
    assert!(!all.end(&last, large, None), "no room");
    assert!(all.end(&last, "x".into(), None), "a short answer always has");
}
