//! `proof replay`: serves a recording. Each request gets its recorded answer, over any transport and in any revision, marked
//! with its origin. Only `--miss live` connects to another server. [`saved`] keeps simulated answers.
//!
//! [`request_key`] decides when two requests are equal, [`index`] finds the answers, [`wire::translate`] converts them to the
//! client's revision, and [`miss`] answers unrecorded requests. [`prune`] drops calls that failed from a recording, and
//! [`verify`] makes the recorded calls again.

mod failure_rates;
mod free_text;
mod greeting;
mod index;
mod likeness;
mod live;
mod miss;
mod objects;
mod provenance;
mod prune;
mod questions;
mod request_key;
mod saved;
mod scan;
mod serve;
mod session_state;
mod simulate;
mod simulated;
mod spill;
#[cfg(test)]
mod tests;
mod verify;
mod words;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json_path::JsonPath;
use wire::Revision;
use wire::trace::Header;

pub use free_text::{TEXT_TAG, TextPrompt, TextWriter, Writing};
pub use live::LiveServer;
pub use miss::Miss;
pub use provenance::TAG;
pub use prune::{Pruned, prune};
pub use saved::saved_path;
pub use scan::{BadRecording, TruncatedLine};
pub use verify::{Class, RecordedCall, Verified, recorded_calls, verify};

use index::Index;
use live::Live;
use saved::Saved;
use session_state::SessionState;
use simulated::Lanes;

/// How a recording is replayed.
#[derive(Clone, Debug)]
pub struct Options {
    /// The parts of a request's arguments that are ignored.
    pub volatile: Vec<JsonPath>,
    /// How requests that were not recorded are answered.
    pub miss: Miss,
    /// The seed of simulated failures and answers.
    pub seed: u64,
    /// The delay of each answer.
    pub latency: Duration,
    /// The percentage of requests that fail.
    pub errors: f64,
    /// The percentage of requests that are never answered.
    pub drops: f64,
    /// The revisions to serve, newest first.
    pub revisions: Vec<Revision>,
    /// Hears what goes wrong without an effect on answers.
    pub warn: fn(&str),
}

impl Default for Options {
    fn default() -> Self {
        Self {
            volatile: Vec::new(),
            miss: Miss::default(),
            seed: 1,
            latency: Duration::ZERO,
            errors: 0.0,
            drops: 0.0,
            revisions: Revision::ALL.into_iter().rev().collect(),
            warn: |_| {},
        }
    }
}

/// A server that answers from a recording. Clones share their state.
#[derive(Clone)]
pub struct Replay(Arc<State>);

struct State {
    options: Options,
    recording: Arc<Recording>,
    /// Shared by clients without a session.
    sessionless: SessionState,
    /// The server for unrecorded requests.
    live: Option<Live>,
    /// The simulated answers that are kept.
    saved: Option<Saved>,
    lanes: Lanes,
}

/// A file and its index.
struct Recording {
    header: Header,
    index: Index,
    truncated: Option<TruncatedLine>,
    file: File,
}

/// A summary of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The number of answered requests, by method.
    pub answers: BTreeMap<String, usize>,
    /// The last line, if it is truncated.
    pub truncated: Option<TruncatedLine>,
}

impl Replay {
    /// Reads a recording once, with one line in memory.
    pub fn open(path: &Path, options: Options) -> Result<Self, BadRecording> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(std::io::Error::other("not a regular file").into());
        }
        let (index, header, truncated) = Index::read(&file, &options.volatile)?;
        if index.is_empty() {
            return Err(BadRecording::NoAnswers);
        }
        let live =
            options.miss.live.as_ref().map(|server| {
                Live::new((**server).clone(), (path, &index, truncated), &options.volatile, options.warn)
            });
        let live = live.transpose()?;
        let saved = options.miss.save.as_ref().map(|path| {
            let bad = |bad: BadRecording| BadRecording::Saved { path: path.clone(), why: bad.to_string() };
            Saved::open(path, &options.volatile, options.warn).map_err(bad)
        });
        let saved = saved.transpose()?;
        let recording = Arc::new(Recording { header, index, truncated, file });
        Ok(Self(Arc::new(State {
            options,
            recording,
            sessionless: SessionState::default(),
            live,
            saved,
            lanes: Lanes::default(),
        })))
    }

    /// A server of the same recording with new state, without the live server and the answers that were kept.
    pub fn fresh_copy(&self) -> Self {
        let State { options, recording, .. } = &*self.0;
        let (options, recording) = (options.clone(), recording.clone());
        let (sessionless, lanes) = (SessionState::default(), Lanes::default());
        Self(Arc::new(State { options, recording, sessionless, live: None, saved: None, lanes }))
    }

    /// Closes the connection to the live server.
    pub async fn close(&self) {
        if let Some(live) = &self.0.live {
            live.close().await;
        }
    }

    /// The header of the recording.
    pub fn header(&self) -> &Header {
        &self.0.recording.header
    }

    /// A summary of the recording.
    pub fn contents(&self) -> Contents {
        Contents { answers: self.0.recording.index.counts.clone(), truncated: self.0.recording.truncated }
    }
}
