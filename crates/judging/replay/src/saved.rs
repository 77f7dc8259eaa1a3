//! Simulated answers that are kept in a file beside the recording, and given again. The recording itself holds only what a
//! server said, so that `proof check --trace` judges nothing that was made up.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use serde_json_path::JsonPath;
use wire::redact::Redactor;
use wire::trace::file::{write_frame, write_header};
use wire::trace::{Content, Frame, Header};
use wire::{Message, Party, Transport};

use super::BadRecording;
use super::index::{Builder, lacks_line_feed};
use super::request_key::{ENVELOPE, Key};
use super::scan::{Location, scan};

/// How long the file may become, in bytes. Answers beyond it are given and not kept.
const LONGEST: u64 = 1 << 30;
/// The case in the header of such a file.
const CASE: &str = "simulated";

/// The file of kept answers.
pub(super) struct Saved(Mutex<Kept>);

struct Kept {
    file: File,
    builder: Builder<'static>,
    redactor: Redactor,
    next_id: u64,
    /// Set after a failed write: nothing more is kept.
    failed: bool,
    warn: fn(&str),
}

/// Where the answers beside a recording are kept: `weather.simulated.jsonl` beside `weather.jsonl`.
pub fn saved_path(recording: &Path) -> PathBuf {
    let mut name = recording.file_stem().map_or_else(OsString::new, OsString::from);
    name.push(".simulated.jsonl");
    recording.with_file_name(name)
}

impl Saved {
    /// Reads the file at `path`, or begins it.
    pub(super) fn open(path: &Path, volatile: &[JsonPath], warn: fn(&str)) -> Result<Self, BadRecording> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(io::Error::other("not a regular file").into());
        }
        if about.len() == 0 {
            let (subject, transport) = (Party::Server, Transport::Stdio);
            let header = Header { subject, transport, revision: None, case: CASE.to_owned() };
            file.write_all(format!("{}\n", write_header(&header)).as_bytes())?;
            file.rewind()?;
        }
        let mut builder = Builder::new(volatile.to_vec());
        let mut next_id = 1;
        let (found, truncated) = scan(&file, |location, frame| {
            next_id += 1;
            builder.add(location, frame)
        })?;
        if found.case != CASE {
            let why = "this file is a recording; simulated answers need a file of their own".to_owned();
            return Err(BadRecording::InvalidLine { line: 1, why });
        }
        if let Some(truncated) = truncated {
            file.set_len(truncated.offset)?;
        } else if lacks_line_feed(&file)? {
            file.write_all(b"\n")?;
        }
        Ok(Self(Mutex::new(Kept { file, builder, redactor: net::new_redactor(), next_id, failed: false, warn })))
    }

    /// The kept result of the request with this key.
    pub(super) fn result(&self, key: &Key) -> Result<Option<Value>, String> {
        let kept = self.lock();
        let entry = kept.builder.index().entries(key).and_then(|entries| entries.at(0));
        let Some(answer) = entry.map_err(|error| error.to_string())?.and_then(|entry| entry.answer) else {
            return Ok(None);
        };
        Ok(answer.load(&kept.file)?.result().cloned())
    }

    /// Keeps a result. A file that cannot be written is reported once.
    pub(super) fn add(&self, request: &Message, result: &Value) {
        let mut kept = self.lock();
        if kept.failed {
            return;
        }
        if let Err(error) = kept.add(request, result) {
            (kept.warn)(&format!("cannot keep simulated answers any more: {error}"));
            kept.failed = true;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn add(&mut self, request: &Message, result: &Value) -> io::Result<()> {
        let id = format!("simulated {}", self.next_id);
        self.next_id += 1;
        let mut params = request.params().cloned().unwrap_or_else(|| json!({}));
        if let Value::Object(members) = &mut params {
            members.retain(|name, _| !ENVELOPE.contains(&name.as_str()));
        }
        let question = json!({ "jsonrpc": "2.0", "id": id, "method": request.method(), "params": params });
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        let frames = [(Party::Client, question), (Party::Server, answer)].map(|(from, message)| {
            let bytes = message.to_string().into_bytes();
            self.redactor.redact_frame(&Frame::new(from, Content::Line { bytes, terminated: true }))
        });
        let lines = frames.each_ref().map(|frame| format!("{}\n", write_frame(frame)));
        let mut offset = self.file.metadata()?.len();
        if offset + lines.iter().map(|line| line.len() as u64).sum::<u64>() > LONGEST {
            return Err(io::Error::other("the file is as long as it may be (1 GiB)"));
        }
        self.file.write_all(lines.concat().as_bytes())?;
        for (frame, line) in frames.iter().zip(&lines) {
            let length = u32::try_from(line.len()).unwrap_or(u32::MAX);
            self.builder.add(Location { offset, length, part: 0 }, frame)?;
            offset += line.len() as u64;
        }
        Ok(())
    }
}
