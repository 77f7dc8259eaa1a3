//! `proof test`: runs the cases of a file against a server. Must not print.
//!
//! A file is read once ([`read`]) into a [`Suite`] and run in every combination of its matrix ([`play`]); the answers of
//! different runs are compared ([`compare`]).

mod compare;
mod coverage;
mod judge;
mod matcher;
mod model;
mod outcome;
mod plan;
mod play;
mod read;
mod redacted;
mod scripted;
mod snapshots;

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use net::Children;
use net::client::{Address, Authorizer};
use wire::Revision;
use wire::redact::Redactor;

use crate::advice::{Advice, Words};
pub use coverage::{Coverage, Part};
pub use outcome::{CaseResult, Failure, FileResult, MatrixRun, NotRun, Tally, Verdict};
pub use plan::Suite;
pub use play::run;
pub use read::{load, of_call, parse};
pub use scripted::{Consent, Scripted, model_message};

/// The schema of test files, for editors.
pub const SCHEMA: &str = include_str!("../../../../../docs/test.schema.json");

/// A replacement for the server of a file.
pub struct Standin {
    /// Its address.
    pub address: Address,
    /// Dropped when it is no longer needed.
    pub held: Box<dyn Any + Send + Sync>,
}

/// Starts a stand-in; `Err` says why that failed.
pub type StandinFuture = Pin<Box<dyn Future<Output = Result<Standin, String>> + Send>>;

/// The same address with credentials, or what supplies them for its requests; `Err` says why there are none.
pub type Authorized = Result<(Address, Option<Arc<dyn Authorizer>>), String>;

/// Gets credentials for a server that is reached by a URL.
pub type Authorize =
    Arc<dyn Fn(Address, Option<Revision>) -> Pin<Box<dyn Future<Output = Authorized> + Send>> + Send + Sync>;

/// Which cases to run, and how.
#[derive(Clone)]
pub struct Options {
    /// Only cases with this text in their name.
    pub filter: Option<String>,
    /// No case with one of these texts in its name.
    pub skip: Vec<String>,
    /// Only cases with one of these tags; empty for all.
    pub tags: Vec<String>,
    /// Only one shard of the cases: its number from 1, and the number of shards.
    pub shard: Option<(usize, usize)>,
    /// Whether to stop a file at the first failure.
    pub fail_fast: bool,
    /// The timeout of a request without one in the file.
    pub timeout: Duration,
    /// The number of independent cases in parallel.
    pub jobs: usize,
    /// Whether to write snapshots instead of comparing them.
    pub update: bool,
    /// Whether to read the server's lists at the end, to find parts that no case used.
    pub coverage: bool,
    /// Starts the stand-in for the servers of files.
    pub standin: Option<Arc<dyn Fn() -> StandinFuture + Send + Sync>>,
    /// Gets credentials for servers that are reached by a URL, unless their file names some.
    pub authorize: Option<Authorize>,
    /// The revisions to use instead of those of files; empty for those of files.
    pub revisions: Vec<Revision>,
    /// Advice in the words of the program.
    pub words: Words,
    /// Replaces secrets in snapshots and in the texts of failures.
    pub redactor: Redactor,
    /// Owns the servers that are started.
    pub children: Children,
    /// Called with every result of a case.
    pub watch: Arc<dyn Fn(&CaseResult) + Send + Sync>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            filter: None,
            skip: Vec::new(),
            tags: Vec::new(),
            shard: None,
            fail_fast: false,
            timeout: Duration::from_secs(30),
            jobs: 8,
            update: false,
            coverage: false,
            standin: None,
            authorize: None,
            revisions: Vec::new(),
            words: Advice::to_string,
            redactor: Redactor::masking(),
            children: Children::new(),
            watch: Arc::new(|_| ()),
        }
    }
}
