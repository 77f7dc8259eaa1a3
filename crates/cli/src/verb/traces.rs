//! `--save-trace`: a file for each case, written as the case ends. What stands in it is not known here.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use wire::trace::file::{write_frame, write_header};
use workbench::check::{Keep, Kept};

use crate::exit::Exit;
use crate::verb::output;

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
    pub(crate) fn keep(&self) -> Keep {
        let (folder, failed) = (self.folder.clone(), self.failed.clone());
        Keep::new(move |kept| {
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
fn write(path: &Path, kept: &Kept<'_>) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "{}", write_header(&kept.redactor.redact_header(&kept.trace.header)))?;
    for frame in &kept.trace.frames {
        writeln!(file, "{}", write_frame(&kept.redactor.redact_frame(frame)))?;
    }
    file.flush()
}
