//! One file per case as it ends, for `--save-trace` or because it shows why a check failed; `--trace` reads one. Must not know the content of traces.

use std::collections::BTreeSet;
use std::io::{BufWriter, ErrorKind, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use judge::check::{EndedCase, TraceSink};
use report::{Outcome, Report};
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

/// How many bytes of traces are kept without `--save-trace`, roughly.
const KEPT: usize = 256 << 20;

/// Only its owner may read a folder of traces.
const PRIVATE: u32 = 0o700;

/// A folder of traces, and the first thing that went wrong with it.
pub(crate) struct Traces {
    folder: Folder,
    failed: Arc<Mutex<Option<(PathBuf, std::io::Error)>>>,
}

/// Where traces go.
enum Folder {
    /// All of them to the directory of `--save-trace`.
    Named(PathBuf),
    /// Those that show why a check failed to a temporary directory, made for the first of them. It is removed again where
    /// none is left.
    Temporary(Arc<OnceLock<Option<PathBuf>>>),
}

impl Traces {
    /// Saves traces to an existing directory; without one, those of cases that break a MUST to a temporary one.
    pub(crate) fn into(folder: Option<&Path>) -> Self {
        let folder =
            folder.map_or_else(|| Folder::Temporary(Arc::default()), |folder| Folder::Named(folder.to_owned()));
        Self { folder, failed: Arc::default() }
    }

    /// Writes `TRANSPORT-REVISION-NUMBER-CASE.jsonl` when a case ends, with secrets redacted.
    pub(crate) fn keep(&self) -> TraceSink {
        match &self.folder {
            Folder::Named(folder) => {
                let (folder, failed) = (folder.clone(), self.failed.clone());
                TraceSink::new(move |kept| {
                    let path = folder.join(kept.file_name());
                    if let Err(error) = write(&path, &kept) {
                        failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((path, error));
                    }
                })
            }
            Folder::Temporary(folder) => {
                let (folder, room) = (folder.clone(), AtomicUsize::new(KEPT));
                TraceSink::of_failing(move |kept| {
                    let weight = kept.trace.weight();
                    let fits = room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| room.checked_sub(weight));
                    let folder = fits.ok().and_then(|_| folder.get_or_init(temporary).as_ref());
                    // Where it cannot be written, the report names no trace.
                    if let Some(path) = folder.map(|folder| folder.join(kept.file_name()))
                        && write(&path, &kept).is_err()
                    {
                        let _ = std::fs::remove_file(&path);
                    }
                })
            }
        }
    }

    /// Reports the first trace that could not be written. Names in the report the folder, and only traces that are there; of a
    /// temporary folder only those stay that show why the check failed.
    pub(crate) fn outcome(self, report: &mut Report) -> Result<(), Exit> {
        if let Some((path, error)) = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(output::unwritable(&path, &error.to_string()));
        }
        let folder = match &self.folder {
            Folder::Named(folder) => Some(folder.clone()),
            Folder::Temporary(folder) => folder.get().cloned().flatten(),
        };
        if let (Folder::Temporary(_), Some(folder)) = (&self.folder, &folder) {
            prune(folder, report);
        }
        let exists = |name: &String| folder.as_ref().is_some_and(|folder| folder.join(name).is_file());
        let mut is_named = false;
        for evidence in report.results.iter_mut().chain(&mut report.unconfirmed).flat_map(|one| &mut one.evidence) {
            evidence.trace = evidence.trace.take().filter(exists);
            is_named |= evidence.trace.is_some();
        }
        report.traces = folder.filter(|_| is_named).map(|folder| folder.to_string_lossy().into_owned());
        Ok(())
    }
}

impl Drop for Traces {
    /// Removes a temporary folder in which nothing is kept: after a check that passed, or had no end.
    fn drop(&mut self) {
        if let Folder::Temporary(folder) = &self.folder
            && let Some(Some(folder)) = folder.get()
        {
            // Fails where a trace is in it.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Removes the traces that no finding at MUST level names.
fn prune(folder: &Path, report: &Report) {
    let failing = report.results.iter().filter(|finding| finding.outcome == Outcome::Fail);
    let named: BTreeSet<&str> =
        failing.flat_map(|finding| &finding.evidence).filter_map(|evidence| evidence.trace.as_deref()).collect();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if !named.contains(entry.file_name().to_string_lossy().as_ref()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Makes a new folder, `proof-` and a number, that only its owner may read, if it can.
fn temporary() -> Option<PathBuf> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let seed = u64::from(since.subsec_nanos()) ^ (u64::from(std::process::id()) << 32);
    // A folder that exists is not used, so that nobody can prepare one.
    (0..16).find_map(|turn| {
        let folder = std::env::temp_dir().join(format!("proof-{:x}", seed.wrapping_add(turn)));
        std::fs::DirBuilder::new().mode(PRIVATE).create(&folder).ok().map(|()| folder)
    })
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
