//! Leases: given for a time, renewed, and taken back when they are over.

use std::time::Duration;

use super::{Held, Job, LEASED, Lease, job};
use crate::bounds::{self, NAME};
use crate::rows;
use crate::sql::{Dialect, Failure, Sql};
use crate::{Millis, Store, StoreError};

/// The shortest and the longest lease.
const LEASE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_hours(24));

impl Store {
    /// Leases the next job, after it took back those whose lease is over. A worker that holds a job gets the same one again: the
    /// answer to its first request was lost.
    pub async fn lease(&self, worker: &str, time: Duration, now: Millis) -> Result<Option<Job>, StoreError> {
        bounds::name("the name of a worker", worker, NAME)?;
        let (worker, until) = (worker.to_owned(), until(time, now)?);
        self.write(move |sql| lease(sql, &worker, until, now)).await
    }

    /// Holds a lease for longer.
    pub async fn renew(&self, lease: &Lease, time: Duration, now: Millis) -> Result<Held, StoreError> {
        let (lease, until) = (lease.clone(), until(time, now)?);
        self.write(move |sql| match standing(sql, &lease)? {
            Standing::Held => {
                sql.execute("UPDATE job SET leased_until = $1 WHERE id = $2", &[until.into(), lease.job.into()])?;
                Ok(Held::Until(until))
            }
            Standing::Cancelled => Ok(Held::Cancelled),
            Standing::Done | Standing::Lost => Ok(Held::Lost),
        })
        .await
    }

    /// Takes back jobs whose lease is over. How many.
    pub async fn reclaim(&self, now: Millis) -> Result<u64, StoreError> {
        self.write(move |sql| reclaim(sql, now)).await
    }
}

fn until(time: Duration, now: Millis) -> Result<Millis, StoreError> {
    if time < LEASE.0 || time > LEASE.1 {
        let what = format!("a lease of {:.1} s is asked for", time.as_secs_f64());
        return Err(StoreError::invalid(what, "use 0.1 s to 24 hours"));
    }
    Ok(now + bounds::millis(time))
}

fn lease(sql: &mut dyn Sql, worker: &str, until: Millis, now: Millis) -> Result<Option<Job>, Failure> {
    reclaim(sql, now)?;
    let again =
        format!("UPDATE job SET leased_until = $1 WHERE leased_by = $2 AND state = 'leased' RETURNING {LEASED}");
    let held = sql.query(&again, &[until.into(), worker.into()])?;
    if !held.is_empty() {
        return rows::one(held, job);
    }
    let next = next(sql.dialect());
    let text = format!(
        "UPDATE job SET state = 'leased', attempt = attempt + 1, leased_by = $1, leased_until = $2 \
         WHERE id = ({next}) RETURNING {LEASED}"
    );
    let leased = sql.query(&text, &[worker.into(), until.into(), now.into()])?;
    if !leased.is_empty() {
        crate::reached("job-leased");
    }
    rows::one(leased, job)
}

fn reclaim(sql: &mut dyn Sql, now: Millis) -> Result<u64, Failure> {
    const ERROR: &str = "error = 'the worker ' || leased_by || ' did not end it before its lease was over'";
    let over = over(sql.dialect());
    let failed = format!(
        "UPDATE job SET state = 'failed', ended = $1, {ERROR} WHERE id IN ({over}) AND attempt >= max_attempts"
    );
    let ready = format!("UPDATE job SET state = 'ready', run_at = $1, {ERROR} WHERE id IN ({over})");
    Ok(sql.execute(&failed, &[now.into()])? + sql.execute(&ready, &[now.into()])?)
}

/// The next job to lease, without those that other workers are getting at this moment.
fn next(dialect: Dialect) -> String {
    let skip = dialect.skip_locked();
    format!(
        "SELECT id FROM job WHERE state = 'ready' AND run_at <= $3 ORDER BY priority DESC, run_at, id LIMIT 1{skip}"
    )
}

/// The jobs whose lease is over. Each row is taken first, so that a worker which ends its job at this moment is not overruled.
fn over(dialect: Dialect) -> String {
    format!("SELECT id FROM job WHERE state = 'leased' AND leased_until < $1{}", dialect.skip_locked())
}

/// What a lease is worth.
pub(super) enum Standing {
    Held,
    Cancelled,
    /// The job ended, and this lease ended it.
    Done,
    Lost,
}

/// Takes the row of the job, and compares the lease with it.
pub(super) fn standing(sql: &mut dyn Sql, lease: &Lease) -> Result<Standing, Failure> {
    let text = format!("SELECT state, leased_by, attempt FROM job WHERE id = $1{}", sql.dialect().for_update());
    let found = sql.query(&text, &[lease.job.into()])?;
    let Some(row) = found.first() else { return Ok(Standing::Lost) };
    if row.optional_text(1)?.as_ref() != Some(&lease.worker) || row.integer(2)? != i64::from(lease.attempt) {
        return Ok(Standing::Lost);
    }
    Ok(match row.text(0)?.as_str() {
        "leased" => Standing::Held,
        "cancelled" => Standing::Cancelled,
        "done" => Standing::Done,
        _ => Standing::Lost,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Location;
    use crate::migrations::migrate;
    use crate::sql::connect;

    #[test]
    fn no_lease_looks_at_every_job_or_sorts_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let location = Location::Sqlite(folder.path().join("a.db"));
        let mut sql = connect(&location, Duration::from_secs(1)).expect("a connection");
        migrate(&mut *sql, "here").expect("tables");
        for (text, index) in [(next(Dialect::Sqlite), "job_ready"), (over(Dialect::Sqlite), "job_leased")] {
            let plan = sql.query(&format!("EXPLAIN QUERY PLAN {text}"), &[]).expect("a plan");
            let plan: Vec<_> = plan.iter().map(|row| row.text(3).expect("a text")).collect();
            assert!(plan.len() == 1 && plan[0].contains(index), "{text}: {plan:?}");
        }
    }
}
