//! `proof replay`: a recording as a server. It answers what was asked in the recording as it was answered there, over any
//! transport and in any revision, and says so in every answer; nothing but `--miss live` reaches anybody else.
//!
//! What is the same request is decided in [`key`], what a recording holds in [`index`], how a text is made to fit another
//! revision in [`fit`], and what comes of what was never asked in [`miss`].

mod chance;
mod fit;
mod greeting;
mod index;
mod key;
mod ledger;
mod live;
mod miss;
mod questions;
mod scan;
mod serve;
mod simulate;
#[cfg(test)]
mod tests;
mod turns;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json_path::JsonPath;
use wire::Revision;
use wire::trace::Header;

pub use fit::TAG;
pub use live::LiveServer;
pub use miss::Miss;
pub use scan::{BadRecording, Torn};

use index::Index;
use live::Live;
use turns::Turns;

/// How a recording is replayed.
#[derive(Clone, Debug)]
pub struct Options {
    /// What of a request's arguments does not count.
    pub volatile: Vec<JsonPath>,
    /// What comes of a request that was not recorded.
    pub miss: Miss,
    /// What everything that is drawn depends on.
    pub seed: u64,
    /// How long each answer takes at least.
    pub latency: Duration,
    /// How many of a hundred requests fail.
    pub errors: f64,
    /// How many of a hundred requests are never answered.
    pub drops: f64,
    /// The revisions served, newest first.
    pub revisions: Vec<Revision>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            volatile: Vec::new(),
            miss: Miss::Error,
            seed: 1,
            latency: Duration::ZERO,
            errors: 0.0,
            drops: 0.0,
            revisions: Revision::ALL.into_iter().rev().collect(),
        }
    }
}

/// A recording that answers. Clones are the same server.
#[derive(Clone)]
pub struct Replay(Arc<State>);

struct State {
    options: Options,
    recording: Arc<Recording>,
    /// Where clients without a session stand.
    turns: Turns,
    /// The server that knows what is not recorded.
    live: Option<Live>,
}

/// A file and what stands where in it.
struct Recording {
    header: Header,
    index: Index,
    torn: Option<Torn>,
    file: File,
}

/// What there is to be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// How many answered requests there are, by method.
    pub answers: BTreeMap<String, usize>,
    /// The last line, where it is torn.
    pub torn: Option<Torn>,
}

impl Replay {
    /// Reads a recording through once, in the memory of its longest line.
    pub fn open(path: &Path, options: Options) -> Result<Self, BadRecording> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(std::io::Error::other("it is no ordinary file").into());
        }
        let (index, header, torn) = Index::of(&file, &options.volatile)?;
        if index.is_empty() {
            return Err(BadRecording::Nothing);
        }
        let live = match &options.miss {
            Miss::Live(server) => Some(Live::new((**server).clone(), path, &index, torn, &options.volatile)?),
            Miss::Error | Miss::Simulate => None,
        };
        let recording = Arc::new(Recording { header, index, torn, file });
        Ok(Self(Arc::new(State { options, recording, turns: Turns::default(), live })))
    }

    /// Another server of the same recording, whom nobody has asked anything yet, and which asks nobody else.
    pub fn anew(&self) -> Self {
        let State { options, recording, .. } = &*self.0;
        let (options, recording) = (options.clone(), recording.clone());
        Self(Arc::new(State { options, recording, turns: Turns::default(), live: None }))
    }

    /// Ends what was started for what was not recorded.
    pub async fn close(&self) {
        if let Some(live) = &self.0.live {
            live.close().await;
        }
    }

    /// What the recording says of itself.
    pub fn header(&self) -> &Header {
        &self.0.recording.header
    }

    /// What there is to be replayed.
    pub fn contents(&self) -> Contents {
        Contents { answers: self.0.recording.index.counts.clone(), torn: self.0.recording.torn }
    }
}
