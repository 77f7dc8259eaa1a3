//! Jobs: what is queued, leased for a time, and ended together with its result. A lease that is over goes to the next worker.

mod ending;
mod leasing;
mod queueing;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rows::Row;
use crate::sql::Failure;
use crate::{Id, Millis, ResultKey};

/// A job to queue.
#[derive(Clone, Debug, PartialEq)]
pub struct NewJob {
    /// Which kind of work.
    pub kind: String,
    /// The result that it will have. No other unfinished job may have the same.
    pub result: ResultKey,
    /// The run that asks for it.
    pub run: Option<Id>,
    /// What the worker needs to know.
    pub payload: Value,
    /// Higher ones are leased first.
    pub priority: i64,
    /// From when on it may be leased.
    pub run_at: Millis,
    /// How often it may be leased.
    pub max_attempts: u32,
}

/// What became of jobs to queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enqueued {
    /// Queued now.
    pub added: u64,
    /// An unfinished job of the same key is there.
    pub queued: u64,
    /// The result is there.
    pub recorded: u64,
}

/// The right to end a job.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lease {
    /// The job.
    pub job: Id,
    /// Who has it.
    pub worker: String,
    /// How often the job was leased; one more for each lease.
    pub attempt: u32,
}

/// A leased job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The right to end it.
    pub lease: Lease,
    /// How long that lasts.
    pub until: Millis,
    /// Which kind of work.
    pub kind: String,
    /// The result that it will have.
    pub result: ResultKey,
    /// The run that asked for it.
    pub run: Option<Id>,
    /// What the worker needs to know.
    pub payload: Value,
    /// How often it may be leased.
    pub max_attempts: u32,
}

/// Whether a lease is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Held {
    /// Until then.
    Until(Millis),
    /// The job is cancelled.
    Cancelled,
    /// It is over: the job is another's, or has ended.
    Lost,
}

/// How a job was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// With this result.
    Recorded(Id),
    /// With this result, which was there before. Nothing was written.
    Already(Id),
    /// Not: it is cancelled.
    Cancelled,
    /// Not: the lease was over.
    Lost,
}

/// When a job that failed is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Retry {
    /// After a pause that grows with each attempt.
    Later,
    /// Not at all.
    Never,
    /// At once, and this attempt does not count: the worker stops.
    Return,
}

/// Which jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// One.
    Job(Id),
    /// Those of a run.
    Run(Id),
    /// All.
    All,
}

/// Where a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It waits.
    Ready,
    /// A worker has it.
    Leased,
    /// It has a result.
    Done,
    /// It failed for good, without a result.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl State {
    const fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Leased => "leased",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// How many jobs there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Waiting.
    pub ready: u64,
    /// With a worker.
    pub leased: u64,
    /// With a result.
    pub done: u64,
    /// Failed for good.
    pub failed: u64,
    /// Cancelled.
    pub cancelled: u64,
    /// When the next one may be leased, or the next lease ends.
    pub next: Option<Millis>,
}

impl Counts {
    /// Whether nothing is left to do.
    pub const fn is_empty(&self) -> bool {
        self.ready == 0 && self.leased == 0
    }
}

/// A job as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobState {
    /// Its number.
    pub id: Id,
    /// Which kind of work.
    pub kind: String,
    /// The result that it will have, or has.
    pub result: ResultKey,
    /// The run that asked for it.
    pub run: Option<Id>,
    /// Where it is.
    pub state: State,
    /// How often it was leased.
    pub attempt: u32,
    /// Who has it, or had it last.
    pub leased_by: Option<String>,
    /// Why it failed last.
    pub error: Option<String>,
}

/// A job that was leased, from its columns.
const LEASED: &str = "id, leased_by, attempt, leased_until, kind, version, gate, key, run, payload, max_attempts";

fn count(row: &Row, at: usize) -> Result<u32, Failure> {
    u32::try_from(row.integer(at)?).map_err(|_| Failure::garbled(at))
}

fn job(row: &Row) -> Result<Job, Failure> {
    Ok(Job {
        lease: Lease { job: row.integer(0)?, worker: row.text(1)?, attempt: count(row, 2)? },
        until: row.integer(3)?,
        kind: row.text(4)?,
        result: ResultKey { version: row.integer(5)?, gate: row.text(6)?, key: row.text(7)? },
        run: row.optional_integer(8)?,
        payload: row.json(9)?,
        max_attempts: count(row, 10)?,
    })
}

fn job_state(row: &Row) -> Result<JobState, Failure> {
    Ok(JobState {
        id: row.integer(0)?,
        kind: row.text(1)?,
        result: ResultKey { version: row.integer(2)?, gate: row.text(3)?, key: row.text(4)? },
        run: row.optional_integer(5)?,
        state: row.word(6)?,
        attempt: count(row, 7)?,
        leased_by: row.optional_text(8)?,
        error: row.optional_text(9)?,
    })
}
