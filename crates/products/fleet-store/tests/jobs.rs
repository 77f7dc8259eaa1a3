//! Jobs on SQLite: leases, retries, cancellation, and their one result. Times are made up.

mod shared;

use std::time::Duration;

use fleet_store::{Ended, GateOutcome, Held, Job, Lease, NewJob, Retry, State, Store, StoreError, Which};
use shared::{Fleet, job, open, report};

const LEASE: Duration = Duration::from_secs(10);

async fn lease(store: &Store, worker: &str, now: i64) -> Option<Job> {
    store.lease(worker, LEASE, now).await.expect("an answer")
}

#[tokio::test]
async fn the_same_work_is_queued_once_and_not_at_all_when_it_is_done() {
    let fleet = Fleet::new().await;
    let (store, (_, version)) = (&fleet.store, fleet.version("a").await);
    let jobs = [job(version, "1"), job(version, "2"), job(version, "1")];
    let first = store.enqueue(&jobs, 0).await.expect("queued");
    assert_eq!((first.added, first.queued, first.recorded), (2, 1, 0));
    let held = lease(store, "w", 0).await.expect("a job");
    let again = store.enqueue(&jobs, 0).await.expect("queued");
    assert_eq!((again.added, again.queued), (0, 3));
    let ended = store.finish(&held.lease, &report(GateOutcome::Pass), 5).await.expect("an answer");
    let Ended::Recorded(result) = ended else { panic!("{ended:?}") };
    let after = store.enqueue(&jobs, 0).await.expect("queued");
    assert_eq!((after.added, after.queued, after.recorded), (0, 1, 2));
    // The answer was lost, and the worker asks again.
    let again = store.finish(&held.lease, &report(GateOutcome::Fail), 6).await;
    assert_eq!(again, Ok(Ended::Already(result)));
}

#[tokio::test]
async fn jobs_are_leased_by_priority_and_time_each_to_one_worker() {
    let fleet = Fleet::new().await;
    let (_, version) = fleet.version("a").await;
    let urgent = NewJob { priority: 5, ..job(version, "urgent") };
    let later = NewJob { run_at: 1000, priority: 9, ..job(version, "later") };
    fleet.store.enqueue(&[job(version, "usual"), later, urgent], 0).await.expect("queued");
    let other = open(&fleet.folder).await;
    let keys = [
        lease(&fleet.store, "a", 0).await,
        lease(&other, "b", 0).await,
        lease(&fleet.store, "c", 999).await,
        lease(&other, "c", 1000).await,
    ];
    let keys = keys.map(|job| job.map(|job| job.result.key));
    assert_eq!(keys.each_ref().map(Option::as_deref), [Some("urgent"), Some("usual"), None, Some("later")]);
    let counts = fleet.store.counts(None).await.expect("counts");
    assert_eq!((counts.leased, counts.next), (3, Some(10_000)));
}

#[tokio::test]
async fn many_workers_at_once_never_get_the_same_job() {
    let fleet = Fleet::new().await;
    let (_, version) = fleet.version("a").await;
    let jobs: Vec<_> = (0..40).map(|at| job(version, &at.to_string())).collect();
    fleet.store.enqueue(&jobs, 0).await.expect("queued");
    let mut tasks = tokio::task::JoinSet::new();
    for worker in 0..8 {
        let store = open(&fleet.folder).await;
        tasks.spawn(async move {
            let mut keys = Vec::new();
            while let Some(job) = lease(&store, &format!("w{worker}-{}", keys.len()), 0).await {
                keys.push(job.result.key);
            }
            keys
        });
    }
    let mut keys: Vec<_> = tasks.join_all().await.concat();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 40);
}

#[tokio::test]
async fn a_lease_that_is_over_goes_to_the_next_and_the_first_worker_can_end_nothing() {
    let fleet = Fleet::new().await;
    let (store, (_, version)) = (&fleet.store, fleet.version("a").await);
    store.enqueue(&[job(version, "1")], 0).await.expect("queued");
    let first = lease(store, "slow", 0).await.expect("a job").lease;
    assert_eq!(store.renew(&first, LEASE, 9000).await, Ok(Held::Until(19_000)));
    assert_eq!(lease(store, "next", 19_000).await, None);
    let second = lease(store, "next", 19_001).await.expect("the job").lease;
    assert_eq!((second.job, second.attempt), (first.job, 2));
    assert_eq!(store.renew(&first, LEASE, 19_002).await, Ok(Held::Lost));
    assert_eq!(store.finish(&first, &report(GateOutcome::Pass), 19_003).await, Ok(Ended::Lost));
    assert_eq!(store.fail(&first, "late", Retry::Later, 19_003).await, Ok(Held::Lost));
    assert_eq!(store.result(version, "1").await, Ok(None));
    let forged = Lease { attempt: 1, ..second.clone() };
    assert_eq!(store.finish(&forged, &report(GateOutcome::Pass), 19_004).await, Ok(Ended::Lost));
    let ended = store.finish(&second, &report(GateOutcome::Pass), 19_004).await;
    assert!(matches!(ended, Ok(Ended::Recorded(_))), "{ended:?}");
}

#[tokio::test]
async fn a_worker_whose_answer_was_lost_gets_the_same_job_again() {
    let fleet = Fleet::new().await;
    let (store, (_, version)) = (&fleet.store, fleet.version("a").await);
    store.enqueue(&[job(version, "1"), job(version, "2")], 0).await.expect("queued");
    let first = lease(store, "w", 0).await.expect("a job");
    let again = lease(store, "w", 5000).await.expect("a job");
    assert_eq!((&again.lease, again.until), (&first.lease, 15_000));
}

#[tokio::test]
async fn a_job_is_tried_later_and_later_and_then_no_more() {
    let fleet = Fleet::new().await;
    let (store, (_, version)) = (&fleet.store, fleet.version("a").await);
    store.enqueue(&[job(version, "1")], 0).await.expect("queued");
    let mut now = 0;
    for pause in [1000, 4000] {
        let held = lease(store, "w", now).await.expect("a job").lease;
        assert_eq!(store.fail(&held, "no luck", Retry::Later, now).await, Ok(Held::Until(now + pause)));
        assert_eq!(lease(store, "w", now + pause - 1).await, None);
        now += pause;
    }
    let held = lease(store, "w", now).await.expect("a job").lease;
    assert_eq!(held.attempt, 3);
    assert_eq!(store.fail(&held, "no luck at all", Retry::Later, now).await, Ok(Held::Lost));
    let failed = store.jobs(None, Some(State::Failed), 10).await.expect("jobs");
    assert_eq!(failed[0].error.as_deref(), Some("no luck at all"));
    // It may be queued once more, as new.
    assert_eq!(store.enqueue(&[job(version, "1")], 0).await.expect("queued").added, 1);
    let held = lease(store, "w", now).await.expect("a job").lease;
    assert_eq!(store.fail(&held, "hopeless", Retry::Never, now).await, Ok(Held::Lost));
    assert_eq!(store.counts(None).await.expect("counts").failed, 2);
}

#[tokio::test]
async fn a_job_that_kills_its_workers_fails_in_the_end_and_one_that_is_given_back_does_not() {
    let fleet = Fleet::new().await;
    let (store, (_, version)) = (&fleet.store, fleet.version("a").await);
    store.enqueue(&[NewJob { max_attempts: 1, ..job(version, "1") }], 0).await.expect("queued");
    let held = lease(store, "stopped", 0).await.expect("a job").lease;
    assert_eq!(store.fail(&held, "stopped", Retry::Return, 1).await, Ok(Held::Until(1)));
    lease(store, "killed", 1).await.expect("the job again");
    assert_eq!(store.reclaim(10_002).await, Ok(1));
    let failed = store.jobs(None, None, 10).await.expect("jobs");
    assert_eq!(failed[0].state, State::Failed);
    assert!(failed[0].error.as_deref().is_some_and(|error| error.contains("killed")), "{failed:?}");
}

#[tokio::test]
async fn what_is_cancelled_is_neither_leased_nor_recorded() {
    let fleet = Fleet::new().await;
    let (store, (_, version)) = (&fleet.store, fleet.version("a").await);
    store.enqueue(&[job(version, "1"), job(version, "2")], 0).await.expect("queued");
    let held = lease(store, "w", 0).await.expect("a job").lease;
    assert_eq!(store.cancel(Which::Run(7), 1).await, Ok(0));
    assert_eq!(store.cancel(Which::All, 1).await, Ok(2));
    assert_eq!(lease(store, "other", 2).await, None);
    assert_eq!(store.renew(&held, LEASE, 2).await, Ok(Held::Cancelled));
    assert_eq!(store.finish(&held, &report(GateOutcome::Pass), 3).await, Ok(Ended::Cancelled));
    assert_eq!(store.result(version, "1").await, Ok(None));
    let collected = store.collect_garbage(Duration::ZERO, 86_400_000).await.expect("garbage");
    assert_eq!(collected.jobs, 2);
}

#[tokio::test]
async fn senseless_jobs_and_leases_are_refused_whole() {
    let fleet = Fleet::new().await;
    let (store, (_, version)) = (&fleet.store, fleet.version("a").await);
    let never = NewJob { max_attempts: 0, ..job(version, "2") };
    assert!(matches!(store.enqueue(&[job(version, "1"), never], 0).await, Err(StoreError::Invalid { .. })));
    let nowhere = job(99, "2");
    assert!(store.enqueue(&[job(version, "1"), nowhere], 0).await.is_err());
    assert!(store.counts(None).await.expect("counts").is_empty(), "half of it was queued");
    for time in [Duration::ZERO, Duration::MAX] {
        assert!(matches!(store.lease("w", time, 0).await, Err(StoreError::Invalid { .. })));
    }
    assert!(matches!(store.lease("", LEASE, 0).await, Err(StoreError::Invalid { .. })));
}
