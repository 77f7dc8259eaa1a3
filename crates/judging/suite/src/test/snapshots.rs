//! Saved results, without secrets: one JSON file next to the test file, by case name.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use wire::redact::Redactor;

use super::Options;
use super::judge::failure;
use super::outcome::Failure;
use super::plan::Case;
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
    /// Reads the snapshots of a test file; with `update` starts without any. `Err` says why they cannot be read.
    pub(super) fn open(tests: &Path, options: &Options) -> Result<Self, String> {
        let &Options { update, words, .. } = options;
        // One mask for all secrets: a placeholder of this run would differ in every snapshot.
        let redactor = options.redactor.clone().masked();
        let path = tests.with_extension("snap.json");
        let kept = match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(format!("cannot read the snapshots {}: {error}", path.display())),
            Ok(_) if update => BTreeMap::new(),
            Ok(bytes) => serde_json::from_slice::<BTreeMap<String, Value>>(&bytes).map_err(|error| {
                let advice = words(&Advice::ReplaceSnapshots);
                format!("the snapshots {} are damaged: {error}; {advice}", path.display())
            })?,
        };
        let kept = kept.into_iter().map(|(name, value)| (name, redactor.redact_value(&value))).collect();
        Ok(Self { path, kept: Mutex::new(kept), update, words, redactor })
    }

    /// Compares the result of a case with its snapshot, or records it.
    pub(super) fn judge(&self, case: &Case, result: &Value) -> Option<Failure> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let result = &self.redactor.redact_value(result);
        if self.update {
            kept.insert(case.name.clone(), result.clone());
            return None;
        }
        match kept.get(&case.name) {
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
        kept.retain(|name, _| cases.iter().any(|case| case.expect.snapshot && case.name == *name));
        if !self.update || kept.is_empty() && !self.path.exists() {
            return Ok(());
        }
        let text = serde_json::to_string_pretty(&*kept).unwrap_or_default() + "\n";
        fs::write(&self.path, text)
            .map_err(|error| format!("cannot write the snapshots {}: {error}", self.path.display()))
    }
}
