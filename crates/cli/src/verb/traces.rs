//! `--save-trace`: a file for each case, written as the case ends; `--trace`: one such file. What stands in it is not known
//! here.

use std::fs::File;
use std::io::{BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use judge::check::{EndedCase, TraceSink};
use wire::trace::Trace;
use wire::trace::file::{read_repaired, write_frame, write_header};

use crate::exit::{Exit, tell, usage};
use crate::verb::output;

/// How many bytes a trace may have that is judged: several times what a case keeps. All of it is in memory then.
const LIMIT: u64 = 512 << 20;

/// Reads a trace to be judged. A torn last line is left out, and told.
pub(crate) fn trace(path: &Path) -> Result<Trace, Exit> {
    let shown = output::shown(path);
    let unreadable = |error: std::io::Error| {
        usage(&format!("{shown} cannot be read: {error}"), "check the path and its permissions")
    };
    let file = File::open(path).map_err(unreadable)?;
    // Of what is no ordinary file nobody knows the length before its end.
    let told = file.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = Vec::new();
    if told <= LIMIT {
        file.take(LIMIT + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    if told.max(bytes.len() as u64) > LIMIT {
        let what = format!("{shown} is too long to be judged: it has more than {} MiB", LIMIT >> 20);
        return Err(usage(&what, "a part of it: the header and the lines of fewer connections (`conn`)"));
    }
    let (trace, torn) = read_repaired(&bytes).map_err(|bad| {
        let what = format!("{shown} is no trace that can be judged: {}", wire::escape::line(&bad.to_string()));
        usage(&what, "docs/trace.md describes the format")
    })?;
    if let Some(torn) = torn {
        tell(format_args!("note: {shown}: line {} is torn ({} bytes) and left out", torn.line, torn.bytes));
    }
    Ok(trace)
}

/// A folder of traces, and the first thing that went wrong with it.
pub(crate) struct Traces {
    folder: PathBuf,
    failed: Arc<Mutex<Option<(PathBuf, std::io::Error)>>>,
}

impl Traces {
    /// Traces in a folder that exists.
    pub(crate) fn into(folder: PathBuf) -> Self {
        Self { folder, failed: Arc::default() }
    }

    /// Writes `TRANSPORT-REVISION-NUMBER-CASE.jsonl` for every case that ends, secrets redacted.
    pub(crate) fn keep(&self) -> TraceSink {
        let (folder, failed) = (self.folder.clone(), self.failed.clone());
        TraceSink::new(move |kept| {
            // Names of scenarios may have a slash in them.
            let case = kept.case.replace('/', "-");
            let name = format!("{}-{}-{:03}-{case}.jsonl", kept.place.transport, kept.place.revision, kept.number);
            let path = folder.join(name);
            if let Err(error) = write(&path, &kept) {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((path, error));
            }
        })
    }

    /// Whether all were written; if not, says so.
    pub(crate) fn outcome(&self) -> Result<(), Exit> {
        match self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some((path, error)) => Err(output::unwritable(&path, &error.to_string())),
            None => Ok(()),
        }
    }
}

/// Frame by frame: redacted and written out, a long trace need not be there twice.
fn write(path: &Path, kept: &EndedCase<'_>) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "{}", write_header(&kept.redactor.redact_header(&kept.trace.header)))?;
    for frame in &kept.trace.frames {
        writeln!(file, "{}", write_frame(&kept.redactor.redact_frame(frame)))?;
    }
    file.flush()
}
