//! Saved results, without secrets: one JSON file next to the test file, by case name.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value};
use wire::redact::Redactor;

use super::Options;
use super::judge::failure;
use super::outcome::Failure;
use super::plan::{Case, Snapshot};
use crate::advice::{Advice, Words};

/// The snapshots of a file.
#[derive(Debug)]
pub(super) struct Snapshots {
    path: PathBuf,
    kept: Mutex<BTreeMap<String, Value>>,
    update: bool,
    words: Words,
    redactor: Redactor,
}

impl Snapshots {
    /// Reads the snapshots of a test file. `Err` says why they cannot be read; with `update` damaged ones are replaced.
    pub(super) fn open(tests: &Path, options: &Options) -> Result<Self, String> {
        let &Options { update, words, .. } = options;
        // One mask for all secrets: a placeholder of this run would differ in every snapshot.
        let redactor = options.redactor.clone().masked();
        let path = tests.with_extension("snap.json");
        let kept = match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(format!("cannot read the snapshots {}: {error}", path.display())),
            Ok(bytes) => match serde_json::from_slice::<BTreeMap<String, Value>>(&bytes) {
                Ok(kept) => kept,
                Err(_) if update => BTreeMap::new(),
                Err(error) => {
                    let advice = words(&Advice::ReplaceSnapshots);
                    return Err(format!("the snapshots {} are damaged: {error}; {advice}", path.display()));
                }
            },
        };
        let kept = kept.into_iter().map(|(name, value)| (name, redactor.redact_value(&value))).collect();
        Ok(Self { path, kept: Mutex::new(kept), update, words, redactor })
    }

    /// Compares the result of a case with its snapshot, or records it.
    pub(super) fn judge(&self, case: &Case, snapshot: &Snapshot, result: &Value) -> Option<Failure> {
        let result = match part(snapshot, result) {
            Ok(part) => self.redactor.redact_value(&part),
            Err(path) => {
                let missing = failure(case.at, "a value for the snapshot".to_owned(), "nothing".to_owned());
                return Some(Failure { path: Some(path.to_owned()), ..missing });
            }
        };
        let (result, name) = (&result, case.snapshot_name().unwrap_or(&case.name));
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if self.update {
            kept.insert(name.to_owned(), result.clone());
            return None;
        }
        match kept.get(name) {
            None => {
                let expected = "the value in the snapshot".to_owned();
                let advice = (self.words)(&Advice::WriteSnapshot);
                Some(failure(case.at, expected, format!("no snapshot yet: {advice}")))
            }
            Some(expected) => super::compare::difference(expected, result).map(|(path, one, other)| Failure {
                path: Some(path),
                expected_value: Some(one),
                value: Some(other),
                ..failure(case.at, "the value in the snapshot".to_owned(), "another value".to_owned())
            }),
        }
    }

    /// Writes the snapshots, without those of removed cases.
    pub(super) fn save(&self, cases: &[Case]) -> Result<(), String> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|name, _| cases.iter().any(|case| case.snapshot_name() == Some(name)));
        if !self.update || kept.is_empty() && !self.path.exists() {
            return Ok(());
        }
        let text = serde_json::to_string_pretty(&*kept).unwrap_or_default() + "\n";
        fs::write(&self.path, text)
            .map_err(|error| format!("cannot write the snapshots {}: {error}", self.path.display()))
    }
}

/// The parts of a result that are compared, by their path; `Err` is a path where nothing stands.
fn part<'s>(snapshot: &'s Snapshot, result: &Value) -> Result<Value, &'s str> {
    if snapshot.of.is_empty() {
        return Ok(result.clone());
    }
    let mut parts = Map::new();
    for (text, path) in &snapshot.of {
        let found: Vec<Value> = path.query(result).all().into_iter().cloned().collect();
        if found.is_empty() {
            return Err(text);
        }
        parts.insert(text.clone(), found.into());
    }
    Ok(parts.into())
}
