//! What is known of a fleet of servers, and the jobs that find it out: one store (SQLite or Postgres), leases, results that are
//! written once, a coordinator and workers. Must not know what a gate computes.

mod artefacts;
mod bounds;
mod coordinator;
mod error;
mod history;
mod inventory;
mod jobs;
mod location;
mod migrations;
mod outbox;
mod remote;
mod results;
mod rows;
mod sql;
mod store;
mod token;
mod worker;

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

pub use self::artefacts::{Artefact, Collected, ContentHash};
pub use self::bounds::{ARTEFACT_BYTES, FINDINGS, JOBS_AT_ONCE, LISTED, TEXT_BYTES};
pub use self::coordinator::Coordinator;
pub use self::error::StoreError;
pub use self::history::{NewRun, NewWaiver, Note, Run, StageEvent, Waiver};
pub use self::inventory::{NewServer, NewVersion, Server, Version};
pub use self::jobs::{Counts, Ended, Enqueued, Held, Job, JobState, Lease, NewJob, Retry, State, Which};
pub use self::location::{Location, PostgresAddress};
pub use self::migrations::SCHEMA_VERSION;
pub use self::outbox::{Delivery, Happened, NewDelivery, What};
pub use self::remote::Remote;
pub use self::results::{Finding, GateOutcome, GateReport, GateResult, NewFinding, Recorded, ResultKey};
pub use self::store::{Options, Store};
pub use self::token::Token;
pub use self::worker::{Outcome, Queue, Worked, WorkerOptions, work};

/// Milliseconds since 1970.
pub type Millis = i64;

/// The number of a row.
pub type Id = i64;

/// The time now, for callers at the edge of a program: the store itself takes times as arguments.
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Makes a folder that only its owner can read, with the folders above it. One that is there keeps its rights.
pub fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Something was reached that a test may want to stop at.
pub(crate) fn reached(point: &'static str) {
    tracing::trace!(target: "fleet_store::point", point);
}
