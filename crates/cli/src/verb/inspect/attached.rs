//! A recording that is still being written, such as that of `proof record` between a real client and its server. Its frames are
//! shown as they are appended.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use console::Console;
use wire::trace::file::{read_frame, read_header};

use super::growing::{Growing, Step};
use crate::exit::{Exit, tell, usage};
use crate::verb::output;

/// How often it is looked for more.
const LOOK: Duration = Duration::from_millis(100);

/// A recording, of which the header was read.
pub(super) struct Attached {
    lines: Growing,
    shown: String,
}

impl Attached {
    /// Opens a recording, whose header must be there.
    pub(super) fn open(path: &Path) -> Result<(Self, wire::trace::Header), Exit> {
        let shown = output::shown(path);
        let unreadable = |error: &io::Error| {
            usage(&format!("cannot read {shown}: {error}"), "check the path; start `proof record -o FILE` first")
        };
        let mut lines = Growing::open(path).map_err(|error| unreadable(&error))?;
        let line = match lines.step().map_err(|error| unreadable(&error))? {
            Step::Line(line) => line,
            Step::Read | Step::End => lines.buffered_line().unwrap_or_default(),
        };
        let header = read_header(&line).map_err(|why| {
            let what = format!("{shown} is no recording: {}", wire::escape::line(&why));
            usage(&what, "start `proof record -o FILE` first, and name that file")
        })?;
        Ok((Self { lines, shown }, header))
    }

    /// Shows frames as they come, until the file cannot be read any further.
    pub(super) async fn follow(mut self, console: Arc<Console>, session: u32) {
        loop {
            match self.lines.step() {
                Ok(Step::Line(text)) => {
                    match read_frame(&text) {
                        Ok(frame) => console.hub().take(session, &frame),
                        Err(_) if text.trim().is_empty() => {}
                        Err(why) => {
                            let line = self.lines.number();
                            return self.stop(&format!("line {line}: {}", wire::escape::line(&why)));
                        }
                    }
                    // A long recording must not keep the page waiting.
                    tokio::task::yield_now().await;
                }
                Ok(Step::Read) => {}
                Ok(Step::End) => tokio::time::sleep(LOOK).await,
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
}
