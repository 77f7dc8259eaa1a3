//! The files that `proof eval` reads: cases, tools, answers.

use std::path::{Path, PathBuf};

use eval::case::{self, CaseFile};
use eval::import::{self, Format, Unreadable};
use eval::{Catalogue, Sample};
use serde_json::Value;
use wire::escape;

use crate::args::eval::{CallsFormat, ScoreArgs};
use crate::exit::{Exit, tell, usage};
use crate::verb::{given_file, output};

/// How large files may be, in bytes.
pub(super) const CASES: u64 = 8 << 20;
const TOOLS: u64 = 64 << 20;
pub(super) const ANSWERS: u64 = 512 << 20;

/// Reads a file of cases.
pub(super) fn cases(path: &Path) -> Result<CaseFile, Exit> {
    let text = given_file::text(path, CASES).map_err(|error| unreadable(path, &error.to_string()))?;
    case::parse(&text, &path.display().to_string()).map_err(|errors| {
        tell(errors);
        Exit::Usage
    })
}

/// Reads the tools that the model was offered: of the option, or else those that the case file names, relative to it.
pub(super) fn tools(cases: &Path, file: &CaseFile, given: Option<&Path>) -> Result<Option<Catalogue>, Exit> {
    let named = file.tools.as_ref().map(|name| cases.parent().unwrap_or(Path::new("")).join(name));
    let Some(path) = given.map(Path::to_owned).or(named) else { return Ok(None) };
    let bad = |why: &str| {
        let what = format!("no list of tools in {}: {}", output::shown(&path), escape::line(why));
        usage(&what, "a result of `proof client tools --json`, a snapshot, or the `tools` of a request")
    };
    let text = given_file::text(&path, TOOLS).map_err(|error| unreadable(&path, &error.to_string()))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| bad(&error.to_string()))?;
    Catalogue::read(&value).map(Some).map_err(|why| bad(&why))
}

/// Reads answers from all files.
pub(super) fn samples(paths: &[PathBuf], args: &ScoreArgs) -> Result<Vec<Sample>, Exit> {
    let mut all = Vec::new();
    for path in paths {
        let bytes = given_file::bytes(path, ANSWERS).map_err(|error| unreadable(path, &error.to_string()))?;
        all.extend(import::read(&bytes, args.from.map(format)).map_err(|error| bad(path, &error))?);
    }
    for sample in all.iter_mut().filter(|sample| sample.case.is_none()) {
        sample.case.clone_from(&args.case);
    }
    Ok(all)
}

pub(super) const fn format(format: CallsFormat) -> Format {
    match format {
        CallsFormat::Lines => Format::Lines,
        CallsFormat::Events => Format::Events,
        CallsFormat::Answer => Format::Answer,
        CallsFormat::Trace => Format::Trace,
        CallsFormat::Spans => Format::Spans,
    }
}

/// Reports a file that holds something else.
pub(super) fn bad(path: &Path, error: &Unreadable) -> Exit {
    let line = error.line.map_or_else(String::new, |line| format!(":{line}"));
    usage(&format!("{} – {}{line}", escape::line(&error.what), output::shown(path)), &error.remedy)
}

/// Reports a file that cannot be read.
pub(super) fn unreadable(path: &Path, why: &str) -> Exit {
    usage(&format!("cannot read {}: {}", output::shown(path), escape::line(why)), "check the path and its permissions")
}
