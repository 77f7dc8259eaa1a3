//! `proof test`: plays the cases of a file against a server and tells what is not as expected. Nothing here prints.
//!
//! A file is read once ([`read`]) into a [`Suite`], played at every place of its matrix ([`play`]), and what it got at one place
//! is compared with what it got at the others ([`alike`]).

mod alike;
mod coverage;
mod judge;
mod matcher;
mod model;
mod outcome;
mod plan;
mod play;
mod read;
mod scripted;
mod snapshots;

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use net::Children;
use net::client::Address;
use wire::Revision;

use crate::advice::{Advice, Words};
pub use coverage::{Coverage, Part};
pub use outcome::{Failure, Hindrance, Place, Played, Tally, Tried, Verdict};
pub use plan::Suite;
pub use play::run;
pub use read::{load, parse};
pub use scripted::{Consent, Scripted, model_message};

/// The schema of test files, for editors.
pub const SCHEMA: &str = include_str!("../../../../../docs/test.schema.json");

/// What is tried in place of the server that a file names: where it is, and what ends it when dropped.
pub struct Standin {
    /// Where it is reached.
    pub address: Address,
    /// Held as long as it is needed.
    pub held: Box<dyn Any + Send + Sync>,
}

/// A stand-in on its way, or why there is none.
pub type Coming = Pin<Box<dyn Future<Output = Result<Standin, String>> + Send>>;

/// Which cases are tried, and how.
#[derive(Clone)]
pub struct Options {
    /// Only cases whose name has this in it.
    pub filter: Option<String>,
    /// Only cases with one of these tags, where any are named.
    pub tags: Vec<String>,
    /// Only every N-th case: the shard from 1, and of how many.
    pub shard: Option<(usize, usize)>,
    /// Whether a file ends with the first failure.
    pub fail_fast: bool,
    /// How long a request may take that has no time of its own.
    pub timeout: Duration,
    /// How many independent cases are tried side by side.
    pub jobs: usize,
    /// Whether snapshots are written down instead of compared.
    pub update: bool,
    /// Whether the server is asked for its lists at the end, to see what no case touched.
    pub coverage: bool,
    /// Starts what stands in for the servers that files name.
    pub standin: Option<Arc<dyn Fn() -> Coming + Send + Sync>>,
    /// The revisions to try at instead of those that files name, where any are named.
    pub revisions: Vec<Revision>,
    /// Advice in the words of the program.
    pub words: Words,
    /// Owns the servers that are started.
    pub children: Children,
    /// Who is told of every case that ended.
    pub watch: Arc<dyn Fn(&Tried) + Send + Sync>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            filter: None,
            tags: Vec::new(),
            shard: None,
            fail_fast: false,
            timeout: Duration::from_secs(30),
            jobs: 8,
            update: false,
            coverage: false,
            standin: None,
            revisions: Vec::new(),
            words: Advice::to_string,
            children: Children::new(),
            watch: Arc::new(|_| ()),
        }
    }
}
