//! A recording that is still being written, such as that of `proof record` between a real client and its server. Its frames are
//! shown as they are appended.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use console::Console;
use net::open_regular;
use wire::trace::file::{read_frame, read_header};

use crate::exit::{Exit, tell, usage};
use crate::verb::output;

/// How often it is looked for more.
const LOOK: Duration = Duration::from_millis(100);
/// How much is read at a time.
const CHUNK: usize = 1 << 20;
/// The longest line: a message of 16 MiB, in the escapes of a text.
const LONGEST: usize = 128 << 20;

/// A recording and what was read of its next line.
pub(super) struct Attached {
    file: File,
    rest: Vec<u8>,
    /// Where the next line begins in `rest`.
    at: usize,
    /// Lines before it.
    lines: usize,
    shown: String,
}

impl Attached {
    /// Opens a recording, whose header must be there.
    pub(super) fn open(path: &Path) -> Result<(Self, wire::trace::Header), Exit> {
        let shown = output::shown(path);
        let unreadable = |error: &io::Error| {
            usage(&format!("cannot read {shown}: {error}"), "check the path; start `proof record -o FILE` first")
        };
        let file = open_regular(path).map_err(|error| unreadable(&error))?;
        let mut attached = Self { file, rest: Vec::new(), at: 0, lines: 0, shown: shown.clone() };
        attached.read().map_err(|error| unreadable(&error))?;
        let line = attached.line().unwrap_or_default();
        let header = read_header(&String::from_utf8_lossy(&line)).map_err(|why| {
            let what = format!("{shown} is no recording: {}", wire::escape::line(&why));
            usage(&what, "start `proof record -o FILE` first, and name that file")
        })?;
        Ok((attached, header))
    }

    /// Shows frames as they come, until the file cannot be read any further.
    pub(super) async fn follow(mut self, console: Arc<Console>, session: u32) {
        loop {
            while let Some(line) = self.line() {
                let text = String::from_utf8_lossy(&line);
                match read_frame(&text) {
                    Ok(frame) => console.hub().take(session, &frame),
                    Err(_) if text.trim().is_empty() => {}
                    Err(why) => return self.stop(&format!("line {}: {}", self.lines, wire::escape::line(&why))),
                }
                // A long recording must not keep the page waiting.
                tokio::task::yield_now().await;
            }
            match self.read() {
                Ok(0) => tokio::time::sleep(LOOK).await,
                Ok(_) if self.rest.len() > LONGEST => return self.stop("a line is too long"),
                Ok(_) => {}
                Err(error) => return self.stop(&error.to_string()),
            }
        }
    }

    fn stop(&self, why: &str) {
        tell(format_args!(
            "error: {}: {why}; nothing more of it is shown\n  try: attach to another recording",
            self.shown
        ));
    }

    fn read(&mut self) -> io::Result<usize> {
        self.rest.drain(..self.at);
        self.at = 0;
        self.file.by_ref().take(CHUNK as u64).read_to_end(&mut self.rest)
    }

    /// The next whole line.
    fn line(&mut self) -> Option<Vec<u8>> {
        let rest = &self.rest[self.at..];
        let line = rest[..rest.iter().position(|byte| *byte == b'\n')?].to_vec();
        self.at += line.len() + 1;
        self.lines += 1;
        Some(line)
    }
}
