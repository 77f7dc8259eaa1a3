//! How much the store takes. What comes from a server under test, or from a worker, is a stranger's.

use serde_json::Value;

use crate::StoreError;

/// The most bytes of an artefact.
pub const ARTEFACT_BYTES: usize = 16 << 20;
/// The most findings of one result.
pub const FINDINGS: usize = 1000;
/// The most jobs in one call of `enqueue`.
pub const JOBS_AT_ONCE: usize = 100_000;
/// The most rows of one answer.
pub const LISTED: u32 = 10_000;
/// The most bytes of a note, a payload or a summary.
pub const TEXT_BYTES: usize = 64 << 10;
/// The most bytes of a reason, a message, an error.
pub(crate) const SENTENCE: usize = 4 << 10;
/// The most bytes of a place.
pub(crate) const PLACE: usize = 1 << 10;
/// The most bytes of a name.
pub(crate) const NAME: usize = 256;
/// The most bytes of a key or digest.
pub(crate) const KEY: usize = 128;
/// The most tags of a server.
pub(crate) const TAGS: usize = 64;

/// Refuses a text that is too long, or that Postgres cannot keep.
pub(crate) fn text(name: &str, text: &str, most: usize) -> Result<(), StoreError> {
    if text.len() > most {
        return Err(StoreError::invalid(format!("{name} has {} bytes", text.len()), format!("use at most {most}")));
    }
    if text.contains('\0') {
        return Err(StoreError::invalid(format!("{name} contains a zero byte"), "remove it"));
    }
    Ok(())
}

/// The same, and refuses an empty one.
pub(crate) fn name(of: &str, name: &str, most: usize) -> Result<(), StoreError> {
    if name.is_empty() {
        return Err(StoreError::invalid(format!("{of} is empty"), "give one"));
    }
    text(of, name, most)
}

/// The same for a text that may be missing.
pub(crate) fn optional(name: &str, value: Option<&str>, most: usize) -> Result<(), StoreError> {
    value.map_or(Ok(()), |value| text(name, value, most))
}

/// The text of a JSON value that is not too long.
pub(crate) fn json(name: &str, value: &Value) -> Result<String, StoreError> {
    let written = value.to_string();
    text(name, &written, TEXT_BYTES)?;
    Ok(written)
}

/// How many there are, as the store keeps it.
pub(crate) fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A duration in milliseconds.
pub(crate) fn millis(time: std::time::Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_or_empty_is_refused_with_a_number() {
        assert_eq!(name("the name", "a", 1), Ok(()));
        assert!(name("the name", "", 1).is_err());
        let error = text("the note", "abc", 2).expect_err("too long").to_string();
        assert_eq!(error, "the note has 3 bytes – use at most 2");
        assert!(text("the note", "a\0", 9).is_err());
        let long = Value::from("x".repeat(TEXT_BYTES));
        assert!(json("the summary", &long).is_err());
        assert!(json("the summary", &Value::Null).is_ok());
    }
}
