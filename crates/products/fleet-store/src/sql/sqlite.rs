//! SQLite: one connection, a journal that survives kills and power cuts, and one writer at a time.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, Statement, ToSql};

use super::{Dialect, Failure, Sql, Value};
use crate::StoreError;
use crate::rows::Row;

/// How long a statement waits for another process that writes.
const BUSY: Duration = Duration::from_secs(5);

pub(super) struct Sqlite(Connection);

impl Sqlite {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        create_private(path)?;
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY)?;
        // `synchronous = FULL`: what was acknowledged survives a power cut.
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")?;
        Ok(Self(connection))
    }
}

/// Makes the file readable by its owner alone. SQLite gives its journals the same rights.
fn create_private(path: &Path) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(StoreError::io(path.display(), &error).into()),
        _ => Ok(()),
    }
}

impl Sql for Sqlite {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn batch(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.0.execute_batch(text)?)
    }

    fn query(&mut self, text: &str, values: &[Value]) -> Result<Vec<Row>, Failure> {
        let mut statement = self.0.prepare(text)?;
        bind(&mut statement, values)?;
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let values = (0..columns).map(|at| row.get_ref(at).map_err(Failure::from).and_then(value));
            found.push(Row(values.collect::<Result<_, _>>()?));
        }
        Ok(found)
    }

    fn execute(&mut self, text: &str, values: &[Value]) -> Result<u64, Failure> {
        let mut statement = self.0.prepare(text)?;
        bind(&mut statement, values)?;
        Ok(statement.raw_execute()? as u64)
    }

    fn begin(&mut self, writes: bool) -> Result<(), Failure> {
        // A transaction that began by reading could not begin to write while another one does.
        self.batch(if writes { "BEGIN IMMEDIATE" } else { "BEGIN" })
    }
}

/// By name: SQLite numbers `$2` by where it stands.
fn bind(statement: &mut Statement<'_>, values: &[Value]) -> Result<(), Failure> {
    for (at, value) in values.iter().enumerate() {
        let index = statement.parameter_index(&format!("${}", at + 1))?;
        let index = index.ok_or_else(|| Failure::Refused(format!("a statement has no parameter {}", at + 1)))?;
        statement.raw_bind_parameter(index, value)?;
    }
    Ok(())
}

fn value(value: ValueRef<'_>) -> Result<Value, Failure> {
    match value {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(number) => Ok(Value::Integer(number)),
        ValueRef::Real(number) => Ok(Value::Real(number)),
        ValueRef::Text(text) => String::from_utf8(text.to_vec())
            .map(Value::Text)
            .map_err(|_| Failure::Refused("a text in the store is not UTF-8".to_owned())),
        ValueRef::Blob(_) => Err(Failure::Refused("the store holds bytes where a text should be".to_owned())),
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        let why = match &error {
            rusqlite::Error::SqliteFailure(_, Some(why)) => why.clone(),
            other => other.to_string(),
        };
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(why),
            _ => Self::Refused(why),
        }
    }
}
