//! `proof replay`: options as typed, and what they mean.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use net::client::{Address, Command, HttpAddress};
use serde_json_path::JsonPath;
use url::Url;
use workbench::replay::{self, Miss};

use super::address::{socket, url};
use crate::exit::{Exit, usage};

/// Serve a recording
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof replay weather.jsonl                           over stdio
  proof replay weather.jsonl --http 127.0.0.1:3000     http://127.0.0.1:3000/mcp
  proof replay weather.jsonl --volatile '$.now'        whatever the time was
  proof replay weather.jsonl --miss simulate --seed 7  answers to all
  proof replay weather.jsonl -- node weather.js        asks it what is missing

A request is answered as the same one was in the recording: the same method,
name and arguments. Where it was answered several times, the answers come in
that order; the last one again from then on. Every revision is served,
whichever was recorded.

Ctrl-C or SIGTERM ends it, over stdio the end of stdin too; the exit code is
0, or 2 where the file is no recording.")]
pub(crate) struct ReplayArgs {
    /// The recording, as `proof record` and `--save-trace` write them
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Speak over stdin and stdout [default, unless there is --http]
    #[arg(long, help_heading = "How it is reached")]
    pub(crate) stdio: bool,
    /// Listen for Streamable HTTP at http://ADDR/mcp; port 0 picks a free one
    #[arg(long, value_name = "ADDR", value_parser = socket, help_heading = "How it is reached")]
    pub(crate) http: Option<SocketAddr>,
    /// Serve Streamable HTTP at this path instead of /mcp
    #[arg(long, default_value = "/mcp", requires = "http", value_parser = super::endpoint, help_heading = "How it is reached")]
    pub(crate) path: String,
    /// Serve the old HTTP+SSE (2024-11-05) at http://ADDR/sse too
    #[arg(long, requires = "http", help_heading = "How it is reached")]
    pub(crate) sse: bool,
    /// Serve WebSocket at ws://ADDR/ws too, every revision
    #[arg(long, requires = "http", help_heading = "How it is reached")]
    pub(crate) ws: bool,

    #[command(flatten)]
    pub(crate) meaning: MeaningArgs,
}

/// How a recording is to be read.
#[derive(Args)]
pub(crate) struct MeaningArgs {
    /// Leave what this JSONPath leads to in a request's arguments out of the
    /// comparison (again for more)
    #[arg(long, value_name = "PATH", value_parser = path, help_heading = "What is answered")]
    pub(crate) volatile: Vec<JsonPath>,
    /// What comes of a request that was not recorded [default: error, or live
    /// where there is a server]
    #[arg(long, value_enum, help_heading = "What is answered")]
    pub(crate) miss: Option<MissArg>,
    /// A server to ask what was not recorded; its answers are added to FILE
    #[arg(long, value_name = "URL", value_parser = url, conflicts_with = "command", help_heading = "What is answered")]
    pub(crate) live: Option<Url>,
    /// The command of a server to ask what was not recorded, after `--`
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<String>,
    /// What simulated answers and mishaps depend on
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "What is answered")]
    pub(crate) seed: u64,

    /// Milliseconds that every answer takes at least
    #[arg(long, value_name = "MS", default_value_t = 0, help_heading = "What goes wrong")]
    pub(crate) latency: u32,
    /// How many requests of a hundred fail
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent, help_heading = "What goes wrong")]
    pub(crate) error_rate: f64,
    /// How many requests of a hundred are never answered
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent, help_heading = "What goes wrong")]
    pub(crate) drop_rate: f64,
}

/// What comes of a request that was not recorded.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MissArg {
    /// An error that names the nearest recorded request
    Error,
    /// An answer made from the recorded schemas, and from --seed
    Simulate,
    /// What the server answers that --live or a command names
    Live,
}

impl MeaningArgs {
    /// What the options mean, or the exit code after saying what is wrong with them.
    pub(crate) fn options(&self) -> Result<replay::Options, Exit> {
        Ok(replay::Options {
            volatile: self.volatile.clone(),
            miss: self.miss()?,
            seed: self.seed,
            latency: Duration::from_millis(self.latency.into()),
            errors: self.error_rate,
            drops: self.drop_rate,
            ..replay::Options::default()
        })
    }

    fn miss(&self) -> Result<Miss, Exit> {
        let address = match (&self.live, self.command.split_first()) {
            (Some(url), _) => {
                let http = HttpAddress::new(url.clone());
                let socket = matches!(url.scheme(), "ws" | "wss");
                Some(if socket { Address::WebSocket(http) } else { Address::Http(http) })
            }
            (None, Some((program, arguments))) => Some(Address::Stdio(Command::new(program, arguments))),
            (None, None) => None,
        };
        match (self.miss, address) {
            (None | Some(MissArg::Live), Some(address)) => Ok(Miss::Live(address)),
            (None | Some(MissArg::Error), None) => Ok(Miss::Error),
            (Some(MissArg::Simulate), None) => Ok(Miss::Simulate),
            (Some(MissArg::Live), None) => Err(usage("--miss live names no server", "--live URL, or -- COMMAND")),
            (Some(_), Some(_)) => {
                Err(usage("there is a live server that would never be asked", "--miss live, or no server"))
            }
        }
    }
}

/// A JSONPath.
pub(super) fn path(text: &str) -> Result<JsonPath, String> {
    JsonPath::parse(text).map_err(|error| format!("{error}; try: $.member or $.list[0].member"))
}

fn percent(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|percent| (0.0..=100.0).contains(percent)).ok_or("a number from 0 to 100")
}
