//! One connection to either database, as sync calls: the store's thread makes them. Knows no table.

mod postgres;
mod sqlite;

use std::time::Duration;

use crate::rows::Row;
use crate::{Location, StoreError};

/// A value of a parameter or column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&String> for Value {
    fn from(value: &String) -> Self {
        Self::Text(value.clone())
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

/// What the texts of statements differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// Takes the row for this transaction. SQLite has one writer: each row is taken already.
    pub(crate) const fn for_update(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => " FOR UPDATE",
        }
    }

    /// The same, and passes over rows that another transaction has.
    pub(crate) const fn skip_locked(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => " FOR UPDATE SKIP LOCKED",
        }
    }

    /// The type of a number that each row gets by itself.
    pub(crate) const fn id(self) -> &'static str {
        match self {
            Self::Sqlite => "INTEGER PRIMARY KEY AUTOINCREMENT",
            Self::Postgres => "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        }
    }
}

/// Why a statement did not do what it should.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The database is busy: it may work a moment later.
    Busy(String),
    /// The connection is of no use any more, or could not be made yet.
    Lost(String),
    /// It will not work again either.
    Refused(String),
    /// The caller's mistake.
    Caller(StoreError),
}

impl Failure {
    /// A column holds what the program never writes.
    pub(crate) fn garbled(column: usize) -> Self {
        Self::Refused(format!("column {column} of an answer holds what this program does not write"))
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Caller(error)
    }
}

/// A connection. Parameters are `$1`, `$2`, …
pub(crate) trait Sql {
    fn dialect(&self) -> Dialect;

    /// Runs statements without parameters.
    fn batch(&mut self, text: &str) -> Result<(), Failure>;

    /// Runs a statement and returns its rows.
    fn query(&mut self, text: &str, values: &[Value]) -> Result<Vec<Row>, Failure>;

    /// Runs a statement and returns how many rows it changed.
    fn execute(&mut self, text: &str, values: &[Value]) -> Result<u64, Failure>;

    /// Begins a transaction, which may only read where `writes` is not set.
    fn begin(&mut self, writes: bool) -> Result<(), Failure>;
}

/// How long one statement waits for a lock or an answer.
const STATEMENT: Duration = Duration::from_secs(20);

/// Connects, within `limit`.
pub(crate) fn connect(location: &Location, limit: Duration) -> Result<Box<dyn Sql>, Failure> {
    match location {
        Location::Sqlite(path) => Ok(Box::new(sqlite::Sqlite::open(path)?)),
        Location::Postgres(address) => Ok(Box::new(postgres::Postgres::connect(address, limit)?)),
    }
}
