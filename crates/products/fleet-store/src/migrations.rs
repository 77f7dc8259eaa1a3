//! The tables, as numbered steps for both databases. A store that is newer than this program is refused.

use crate::StoreError;
use crate::bounds::count;
use crate::sql::{Dialect, Failure, Sql};

/// Each step, in order. A step that was published never changes.
const STEPS: &[&str] = &[include_str!("migrations/1.sql"), include_str!("migrations/2.sql")];

/// The version of the tables that this program writes.
pub const SCHEMA_VERSION: i64 = 2;

/// One program at a time: any number will do, as long as all use the same.
const LOCK: &str = "SELECT 1 FROM (SELECT pg_advisory_xact_lock(6011424)) AS taken";

/// Brings the tables up to date.
pub(crate) fn migrate(sql: &mut dyn Sql, place: &str) -> Result<(), Failure> {
    migrate_by(sql, place, STEPS)
}

fn migrate_by(sql: &mut dyn Sql, place: &str, steps: &[&str]) -> Result<(), Failure> {
    sql.begin(true)?;
    let migrated = step_by_step(sql, place, steps);
    sql.batch(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    migrated
}

fn step_by_step(sql: &mut dyn Sql, place: &str, steps: &[&str]) -> Result<(), Failure> {
    if sql.dialect() == Dialect::Postgres {
        sql.query(LOCK, &[])?;
    }
    sql.batch("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)")?;
    let found = sql.query("SELECT COALESCE(MAX(version), 0) FROM schema_version", &[])?;
    let found = found.first().map_or(Ok(0), |row| row.integer(0))?;
    let known = count(steps.len());
    if found > known {
        return Err(StoreError::Newer { place: place.to_owned(), found, known }.into());
    }
    for (at, step) in steps.iter().enumerate().skip(usize::try_from(found).unwrap_or_default()) {
        sql.batch(&step.replace("{id}", sql.dialect().id()))?;
        sql.execute("INSERT INTO schema_version (version) VALUES ($1)", &[(count(at) + 1).into()])?;
        crate::reached("step-migrated");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Location;
    use crate::sql::connect;

    #[test]
    fn a_store_of_each_earlier_version_is_brought_up_to_date_and_a_newer_one_is_refused() {
        assert_eq!(SCHEMA_VERSION, count(STEPS.len()));
        let folder = tempfile::tempdir().expect("a folder");
        for from in 0..=STEPS.len() {
            let location = Location::Sqlite(folder.path().join(format!("{from}.db")));
            let mut sql = connect(&location, Duration::from_secs(1)).expect("a connection");
            migrate_by(&mut *sql, "here", &STEPS[..from]).expect("the earlier version");
            migrate(&mut *sql, "here").expect("up to date");
            migrate(&mut *sql, "here").expect("still up to date");
            let versions = sql.query("SELECT version FROM schema_version ORDER BY version", &[]).expect("versions");
            assert_eq!(versions.len(), STEPS.len(), "from {from}");
            sql.query("SELECT key FROM job", &[]).expect("the table of jobs");
            sql.execute("INSERT INTO schema_version (version) VALUES ($1)", &[99.into()]).expect("a newer program");
            let refused = migrate(&mut *sql, "here").expect_err("newer");
            assert!(matches!(refused, Failure::Caller(StoreError::Newer { found: 99, .. })), "{refused:?}");
        }
    }

    #[test]
    fn a_step_that_fails_leaves_nothing_behind() {
        let folder = tempfile::tempdir().expect("a folder");
        let location = Location::Sqlite(folder.path().join("a.db"));
        let mut sql = connect(&location, Duration::from_secs(1)).expect("a connection");
        let steps = ["CREATE TABLE a (b BIGINT); CREATE TABLE a (b BIGINT)"];
        assert!(migrate_by(&mut *sql, "here", &steps).is_err());
        assert!(sql.query("SELECT b FROM a", &[]).is_err(), "half a step is there");
        migrate(&mut *sql, "here").expect("the real steps");
    }
}
