//! The recording as a file: new ones replace nothing, and one that is resumed belongs to the same run.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use agent::Question;
use eval::recording::{self, Recording};
use serde_json::{Map, Value};
use wire::escape::snippet;

use super::super::files::{bad, unreadable};
use crate::args::eval::run::RunArgs;
use crate::exit::{Exit, usage};
use crate::verb::{given_file, output};

/// How large a recording may be, in bytes.
const LIMIT: u64 = 1 << 30;

/// Reads a recording.
pub(super) fn read(path: &Path) -> Result<Recording, Exit> {
    let text = given_file::text(path, LIMIT).map_err(|error| unreadable(path, &error.to_string()))?;
    match recording::read(&text) {
        Some(read) => read.map_err(|error| bad(path, &error)),
        None => Err(usage(
            &format!("{} is not a recording of `proof eval run`", output::shown(path)),
            "`proof eval score --calls FILE` scores answers of other sources",
        )),
    }
}

/// The file to append to, and what it holds.
pub(super) fn open(
    args: &RunArgs,
    header: &Map<String, Value>,
    questions: &[Question],
) -> Result<(File, Recording), Exit> {
    let Some(path) = &args.resume else {
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&args.record);
        let file = file.map_err(|error| {
            if error.kind() == std::io::ErrorKind::AlreadyExists {
                let path = output::shown(&args.record);
                return usage(
                    &format!("{path} exists"),
                    &format!("--record FILE with another name, or --resume {path}"),
                );
            }
            output::unwritable(&args.record, &error.to_string())
        })?;
        return locked(&args.record, file).map(|file| (file, Recording::default()));
    };
    let file = OpenOptions::new().append(true).open(path);
    let file = locked(path, file.map_err(|error| output::unwritable(path, &error.to_string()))?)?;
    let recording = read(path)?;
    let names = header.keys().chain(recording.header.keys());
    if let Some(name) = names.into_iter().find(|name| header.get(*name) != recording.header.get(*name)) {
        let what = format!("{} belongs to another run: `{}` differs", output::shown(path), snippet(name, 40));
        return Err(usage(&what, "the options of that run, or a new recording with --record"));
    }
    let changed = recording.attempts.iter().find(|attempt| {
        questions.iter().any(|question| question.case == attempt.case && question.prompt != attempt.prompt)
    });
    if let Some(attempt) = changed {
        let what = format!("the prompt of the case {} has changed since", snippet(&attempt.case, 60));
        return Err(usage(&what, "a new recording with --record"));
    }
    // What was being written when the run was killed.
    let cut = file.set_len(recording.length as u64);
    cut.map_err(|error| output::unwritable(path, &error.to_string()))?;
    Ok((file, recording))
}

/// Two runs must not append to one recording.
fn locked(path: &Path, file: File) -> Result<File, Exit> {
    match file.try_lock() {
        Err(std::fs::TryLockError::WouldBlock) => {
            let what = format!("another run is appending to {}", output::shown(path));
            Err(usage(&what, "wait for it, or --record with another name"))
        }
        // Some file systems have no locks.
        Ok(()) | Err(std::fs::TryLockError::Error(_)) => Ok(file),
    }
}
