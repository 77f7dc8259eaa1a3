//! `proof eval cases`: what was recorded, as cases that expect it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use eval::case::{Draft, write};
use eval::{Sample, import, recording};
use report::render::text::count;
use wire::redact::Redactor;

use super::files::{ANSWERS, bad, format, unreadable};
use crate::args::eval::cases::CasesArgs;
use crate::exit::{Exit, tell, usage};
use crate::run::Run;
use crate::verb::{given_file, output};

/// Writes the cases.
pub(super) fn written(run: &Run, args: &CasesArgs) -> Result<Exit, Exit> {
    if let Some(path) = args.to.output.as_deref().filter(|path| path.symlink_metadata().is_ok()) {
        return Err(usage(&format!("{} exists already", output::shown(path)), "a new file for --output"));
    }
    let redactor = run.redactor();
    let (mut found, mut left_out) = (Found::default(), 0);
    for path in &args.files {
        let bytes = given_file::bytes(path, ANSWERS).map_err(|error| unreadable(path, &error.to_string()))?;
        let samples = import::read(&bytes, args.from.map(format)).map_err(|error| bad(path, &error))?;
        found.prompts(&bytes);
        for sample in samples {
            let is_usable = sample.calls.iter().all(|call| call.parse.is_usable());
            if is_usable && sample.broken.is_none() && !sample.is_partial && !sample.is_refusal {
                found.take(path, concealed(sample, &redactor));
            } else {
                left_out += 1;
            }
        }
    }
    if found.again + left_out > 0 {
        let (again, broken) = (count(found.again, "further answer"), count(left_out, "answer"));
        tell(format_args!("note: left out: {again} to a case, and {broken} without usable calls"));
    }
    let drafts: Vec<Draft<'_>> = found.samples.iter().map(|(name, sample)| found.draft(name, sample)).collect();
    if drafts.is_empty() {
        tell("error: no answer to make a case of\n  try: a recording with calls of tools");
        return Ok(Exit::Finding);
    }
    let text = write(&drafts, args.tools.as_deref());
    args.to.write(&text)?;
    Ok(Exit::Clean)
}

/// What looks like a secret does not get into a file that is to be committed.
fn concealed(mut sample: Sample, redactor: &Redactor) -> Sample {
    for call in &mut sample.calls {
        let text = serde_json::Value::Object(call.arguments.clone()).to_string();
        if let Ok(serde_json::Value::Object(arguments)) = serde_json::from_str(&redactor.redact_message(&text)) {
            call.arguments = arguments;
        }
    }
    sample
}

/// Answers by the names of their cases, in order.
#[derive(Default)]
struct Found {
    samples: Vec<(String, Sample)>,
    names: HashSet<String>,
    prompts: HashMap<String, String>,
    /// How many answers without a name each file has.
    unnamed: HashMap<String, usize>,
    /// Further answers to cases that have one.
    again: usize,
}

impl Found {
    /// Takes an answer. One without a name is called as its file.
    fn take(&mut self, path: &Path, sample: Sample) {
        let name = sample.case.clone().unwrap_or_else(|| {
            let stem = path.file_name().unwrap_or_default().to_string_lossy();
            let stem = stem.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("session").to_owned();
            let number = self.unnamed.entry(stem.clone()).or_default();
            *number += 1;
            if *number == 1 { stem } else { format!("{stem} {number}") }
        });
        if self.names.insert(name.clone()) {
            self.samples.push((name, sample));
        } else {
            self.again += 1;
        }
    }

    /// Remembers the prompts of a recording of `proof eval run`.
    fn prompts(&mut self, bytes: &[u8]) {
        if let Some(Ok(recording)) = std::str::from_utf8(bytes).ok().and_then(recording::read) {
            self.prompts.extend(recording.attempts.into_iter().map(|attempt| (attempt.case, attempt.prompt)));
        }
    }

    fn draft<'f>(&'f self, name: &str, sample: &'f Sample) -> Draft<'f> {
        Draft { name: name.to_owned(), prompt: self.prompts.get(name).map(String::as_str), sample }
    }
}
