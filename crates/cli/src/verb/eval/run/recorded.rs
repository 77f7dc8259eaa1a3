//! The recording of a run: one that is resumed belongs to the same run.

use std::fs::File;
use std::path::Path;

use agent::Question;
use eval::recording::{self, Recording};
use serde_json::{Map, Value};
use wire::escape::snippet;

use super::super::files::{bad, unreadable};
use super::super::kept;
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

/// Refuses a recording that could not be written or resumed, before a server is started.
pub(super) fn check(args: &RunArgs) -> Result<(), Exit> {
    match &args.resume {
        Some(path) => read(path).map(drop),
        None => kept::is_free(&args.record),
    }
}

/// The file to append to, and what it holds.
pub(super) fn open(
    args: &RunArgs,
    header: &Map<String, Value>,
    questions: &[Question],
) -> Result<(File, Recording), Exit> {
    let Some(path) = &args.resume else {
        return kept::created(&args.record).map(|file| (file, Recording::default()));
    };
    let file = kept::appended(path)?;
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
