//! Jobs end: with their result in one transaction, or with an error and another attempt.

use std::time::Duration;

use super::leasing::{Standing, standing};
use super::{Ended, Held, Lease, Retry};
use crate::bounds::{self, SENTENCE, millis};
use crate::results::record;
use crate::rows::Row;
use crate::sql::{Failure, Sql};
use crate::{GateReport, Millis, Recorded, ResultKey, Store, StoreError};

/// The longest pause before another attempt.
const LONGEST: Duration = Duration::from_mins(10);

impl Store {
    /// Records the result of a job and ends it, in one transaction. Called again, it says `Already`.
    pub async fn finish(&self, lease: &Lease, report: &GateReport, now: Millis) -> Result<Ended, StoreError> {
        report.check()?;
        let (lease, report) = (lease.clone(), report.clone());
        self.write(move |sql| finish(sql, &lease, &report, now)).await
    }

    /// Ends an attempt without a result. `Held::Until` says when the next one may begin; `Held::Lost`, that no further attempt will begin.
    pub async fn fail(&self, lease: &Lease, error: &str, retry: Retry, now: Millis) -> Result<Held, StoreError> {
        bounds::text("the error of a job", error, SENTENCE)?;
        let (lease, error) = (lease.clone(), error.to_owned());
        self.write(move |sql| fail(sql, &lease, &error, retry, now)).await
    }
}

fn finish(sql: &mut dyn Sql, lease: &Lease, report: &GateReport, now: Millis) -> Result<Ended, Failure> {
    const OF: &str = "SELECT version, gate, key, run, max_attempts FROM job WHERE id = $1";
    const RESULT: &str = "SELECT id FROM gate_result WHERE version = $1 AND key = $2";
    const DONE: &str = "UPDATE job SET state = 'done', ended = $1, error = NULL WHERE id = $2";
    let is_held = match standing(sql, lease)? {
        Standing::Held => true,
        Standing::Done => false,
        Standing::Cancelled => return Ok(Ended::Cancelled),
        Standing::Lost => return Ok(Ended::Lost),
    };
    let found = sql.query(OF, &[lease.job.into()])?;
    let row = found.first().ok_or_else(|| Failure::garbled(0))?;
    let of = result_key(row)?;
    if !is_held {
        let result = sql.query(RESULT, &[of.version.into(), (&of.key).into()])?;
        return result.first().map_or(Ok(Ended::Lost), |row| Ok(Ended::Already(row.integer(0)?)));
    }
    let recorded = record(sql, &of, row.optional_integer(3)?, report, now)?;
    sql.execute(DONE, &[now.into(), lease.job.into()])?;
    crate::reached("job-done");
    Ok(match recorded {
        Recorded::New(id) => Ended::Recorded(id),
        Recorded::Already(id) => Ended::Already(id),
    })
}

fn result_key(row: &Row) -> Result<ResultKey, Failure> {
    Ok(ResultKey { version: row.integer(0)?, gate: row.text(1)?, key: row.text(2)? })
}

fn fail(sql: &mut dyn Sql, lease: &Lease, error: &str, retry: Retry, now: Millis) -> Result<Held, Failure> {
    const AGAIN: &str = "UPDATE job SET state = 'ready', run_at = $1, error = $2, \
        max_attempts = max_attempts + CAST($3 AS BIGINT) WHERE id = $4 AND (CAST($3 AS BIGINT) > 0 OR attempt < max_attempts)";
    const FAILED: &str = "UPDATE job SET state = 'failed', ended = $1, error = $2 WHERE id = $3";
    match standing(sql, lease)? {
        Standing::Held => {}
        Standing::Cancelled => return Ok(Held::Cancelled),
        Standing::Done | Standing::Lost => return Ok(Held::Lost),
    }
    let (run_at, more) = match retry {
        Retry::Later => (now + pause(lease.attempt), 0),
        Retry::Return => (now, 1_i64),
        Retry::Never => (now, -1),
    };
    if more >= 0 {
        let values = [run_at.into(), error.into(), more.into(), lease.job.into()];
        if sql.execute(AGAIN, &values)? > 0 {
            return Ok(Held::Until(run_at));
        }
    }
    sql.execute(FAILED, &[now.into(), error.into(), lease.job.into()])?;
    Ok(Held::Lost)
}

/// One second after the first attempt, four times as long after each further one.
fn pause(attempt: u32) -> Millis {
    let seconds = 4_u64.saturating_pow(attempt.saturating_sub(1));
    millis(Duration::from_secs(seconds).min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_ten_minutes() {
        assert_eq!([1, 2, 3, 5, 6, 900].map(pause), [1000, 4000, 16_000, 256_000, 600_000, 600_000]);
    }
}
