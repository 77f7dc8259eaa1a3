//! Jobs are queued, counted, listed and cancelled.

use super::{Counts, Enqueued, JobState, NewJob, State, Which, job_state};
use crate::bounds::{self, JOBS_AT_ONCE, NAME};
use crate::rows::{self, optional};
use crate::sql::{Failure, Sql, Value};
use crate::{Id, LISTED, Millis, Store, StoreError};

/// The most attempts of a job.
const ATTEMPTS: u32 = 1000;

impl NewJob {
    fn check(&self) -> Result<(), StoreError> {
        bounds::name("the kind of a job", &self.kind, NAME)?;
        self.result.check()?;
        bounds::json("the payload of a job", &self.payload)?;
        if !(1..=ATTEMPTS).contains(&self.max_attempts) {
            let what = format!("a job may have {} attempts", self.max_attempts);
            return Err(StoreError::invalid(what, format!("use 1 to {ATTEMPTS}")));
        }
        Ok(())
    }
}

impl Store {
    /// Queues jobs, all or none. What is queued already, or has its result, is passed over: call it again after any failure.
    pub async fn enqueue(&self, jobs: &[NewJob], _now: Millis) -> Result<Enqueued, StoreError> {
        if jobs.len() > JOBS_AT_ONCE {
            let what = format!("{} jobs are queued at once", jobs.len());
            return Err(StoreError::invalid(what, format!("queue at most {JOBS_AT_ONCE}")));
        }
        jobs.iter().try_for_each(NewJob::check)?;
        let jobs = jobs.to_vec();
        self.write(move |sql| {
            let mut enqueued = Enqueued::default();
            for job in &jobs {
                enqueue(sql, job, &mut enqueued)?;
            }
            crate::reached("jobs-queued");
            Ok(enqueued)
        })
        .await
    }

    /// Cancels what has not ended. Workers learn it when they renew. How many.
    pub async fn cancel(&self, which: Which, now: Millis) -> Result<u64, StoreError> {
        let (condition, id) = match which {
            Which::Job(id) => ("AND id = $2", Some(id)),
            Which::Run(id) => ("AND run = $2", Some(id)),
            Which::All => ("", None),
        };
        let text =
            format!("UPDATE job SET state = 'cancelled', ended = $1 WHERE state IN ('ready', 'leased') {condition}");
        let mut values = vec![Value::from(now)];
        values.extend(id.map(Value::from));
        self.write(move |sql| sql.execute(&text, &values)).await
    }

    /// How many jobs there are, of a run or in all.
    pub async fn counts(&self, run: Option<Id>) -> Result<Counts, StoreError> {
        self.read(move |sql| counts(sql, run)).await
    }

    /// The jobs of a run or all, in one state or any, the newest first.
    pub async fn jobs(&self, run: Option<Id>, state: Option<State>, most: u32) -> Result<Vec<JobState>, StoreError> {
        const JOB: &str = "SELECT id, kind, version, gate, key, run, state, attempt, leased_by, error FROM job";
        let state = state.map_or_else(String::new, |state| format!("AND state = '{}'", state.word()));
        let (condition, values) = of_run(run);
        let text = format!("{JOB} WHERE {condition} {state} ORDER BY id DESC LIMIT {}", most.min(LISTED));
        self.read(move |sql| rows::all(sql.query(&text, &values)?, job_state)).await
    }
}

fn of_run(run: Option<Id>) -> (&'static str, Vec<Value>) {
    (run.map_or("1 = 1", |_| "run = $1"), run.map(Value::from).into_iter().collect())
}

fn enqueue(sql: &mut dyn Sql, job: &NewJob, enqueued: &mut Enqueued) -> Result<(), Failure> {
    const RECORDED: &str = "SELECT 1 FROM gate_result WHERE version = $1 AND key = $2";
    const QUEUE: &str = "INSERT INTO job (kind, version, gate, key, run, payload, priority, run_at, max_attempts, state) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'ready') \
        ON CONFLICT (version, key) WHERE state IN ('ready', 'leased') DO NOTHING";
    let of = &job.result;
    if !sql.query(RECORDED, &[of.version.into(), (&of.key).into()])?.is_empty() {
        enqueued.recorded += 1;
        return Ok(());
    }
    let values = [
        (&job.kind).into(),
        of.version.into(),
        (&of.gate).into(),
        (&of.key).into(),
        optional(job.run),
        bounds::json("the payload of a job", &job.payload)?.into(),
        job.priority.into(),
        job.run_at.into(),
        i64::from(job.max_attempts).into(),
    ];
    match sql.execute(QUEUE, &values)? {
        0 => enqueued.queued += 1,
        _ => enqueued.added += 1,
    }
    Ok(())
}

pub(crate) fn counts(sql: &mut dyn Sql, run: Option<Id>) -> Result<Counts, Failure> {
    let (condition, values) = of_run(run);
    let text = format!("SELECT state, COUNT(*) FROM job WHERE {condition} GROUP BY state");
    let mut counts = Counts::default();
    for row in sql.query(&text, &values)? {
        let number = row.integer(1)?.unsigned_abs();
        match row.word(0)? {
            State::Ready => counts.ready = number,
            State::Leased => counts.leased = number,
            State::Done => counts.done = number,
            State::Failed => counts.failed = number,
            State::Cancelled => counts.cancelled = number,
        }
    }
    for text in [
        format!("SELECT MIN(run_at) FROM job WHERE {condition} AND state = 'ready'"),
        format!("SELECT MIN(leased_until) FROM job WHERE {condition} AND state = 'leased'"),
    ] {
        let next = sql.query(&text, &values)?.first().map_or(Ok(None), |row| row.optional_integer(0))?;
        counts.next = counts.next.into_iter().chain(next).min();
    }
    Ok(counts)
}
