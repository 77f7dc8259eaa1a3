//! `--save-trace` writes one file per case as it ends; `--trace` reads one. Must not know the content of traces.

use std::io::{BufWriter, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use judge::check::{EndedCase, TraceSink};
use wire::trace::Trace;
use wire::trace::file::{read_repaired, write_frame, write_header};

use crate::exit::{Exit, tell, usage};
use crate::verb::{given_file, output};

/// The maximum size of a trace in bytes: several times that of a case. The whole trace is held in memory.
const LIMIT: u64 = 512 << 20;

const READABLE: &str = "check the path and its permissions";

/// Reads a trace to judge. A truncated last line is ignored, with a note.
pub(crate) fn trace(path: &Path) -> Result<Trace, Exit> {
    let shown = output::shown(path);
    let bytes = given_file::bytes(path, LIMIT).map_err(|error| {
        let larger = error.kind() == ErrorKind::FileTooLarge;
        let advice = if larger { "keep the header and the lines of fewer connections (`conn`)" } else { READABLE };
        usage(&format!("cannot read {shown}: {error}"), advice)
    })?;
    let (trace, truncated) = read_repaired(&bytes).map_err(|bad| {
        let what = format!("cannot judge {shown}: {}", wire::escape::line(&bad.to_string()));
        usage(&what, "`proof help traces` describes the format")
    })?;
    if let Some(truncated) = truncated {
        tell(format_args!("note: {shown}: ignoring truncated line {} ({} bytes)", truncated.line, truncated.bytes));
    }
    Ok(trace)
}

/// A folder of traces, and the first thing that went wrong with it.
pub(crate) struct Traces {
    folder: PathBuf,
    failed: Arc<Mutex<Option<(PathBuf, std::io::Error)>>>,
}

impl Traces {
    /// Saves traces to an existing directory.
    pub(crate) fn into(folder: PathBuf) -> Self {
        Self { folder, failed: Arc::default() }
    }

    /// Writes `TRANSPORT-REVISION-NUMBER-CASE.jsonl` when a case ends, with secrets redacted.
    pub(crate) fn keep(&self) -> TraceSink {
        let (folder, failed) = (self.folder.clone(), self.failed.clone());
        TraceSink::new(move |kept| {
            // Names of scenarios may contain a slash.
            let case = kept.case.replace('/', "-");
            let name = format!("{}-{}-{:03}-{case}.jsonl", kept.place.transport, kept.place.revision, kept.number);
            let path = folder.join(name);
            if let Err(error) = write(&path, &kept) {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((path, error));
            }
        })
    }

    /// Reports the first trace that could not be written.
    pub(crate) fn outcome(&self) -> Result<(), Exit> {
        match self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some((path, error)) => Err(output::unwritable(&path, &error.to_string())),
            None => Ok(()),
        }
    }
}

/// Redacts and writes frame by frame, without a second copy of the trace.
fn write(path: &Path, kept: &EndedCase<'_>) -> std::io::Result<()> {
    let mut file = BufWriter::new(output::private(path)?);
    writeln!(file, "{}", write_header(&kept.redactor.redact_header(&kept.trace.header)))?;
    for frame in &kept.trace.frames {
        writeln!(file, "{}", write_frame(&kept.redactor.redact_frame(frame)))?;
    }
    file.flush()
}
