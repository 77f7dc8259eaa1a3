//! `proof replay`: options as typed, and what they mean.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgGroup, Args, ValueEnum};
use net::client::Address;
use replay::{self, LiveServer, Miss};
use serde_json_path::JsonPath;
use wire::redact::Secrets;

use super::address::socket;
use super::reach::{Reach, Target};
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
  proof replay weather.jsonl --live URL --oauth        asks it with a token

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
    #[arg(long, help_heading = "Where it is served")]
    pub(crate) stdio: bool,
    /// Listen for Streamable HTTP at http://ADDR/mcp; port 0 picks a free one
    #[arg(long, value_name = "ADDR", value_parser = socket, help_heading = "Where it is served")]
    pub(crate) http: Option<SocketAddr>,
    /// Serve Streamable HTTP at this path instead of /mcp
    #[arg(long, default_value = "/mcp", requires = "http", value_parser = super::endpoint, help_heading = "Where it is served")]
    pub(crate) path: String,
    /// Serve the old HTTP+SSE (2024-11-05) at http://ADDR/sse too
    #[arg(long, requires = "http", help_heading = "Where it is served")]
    pub(crate) sse: bool,
    /// Serve WebSocket at ws://ADDR/ws too, every revision
    #[arg(long, requires = "http", help_heading = "Where it is served")]
    pub(crate) ws: bool,

    #[command(flatten)]
    pub(crate) meaning: MeaningArgs,
}

/// How a recording is to be read.
#[derive(Args)]
#[command(group(ArgGroup::new("asked").args(["live", "command"])), mut_args(of_the_live_server))]
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
    #[arg(long, value_name = "URL", help_heading = "What is answered")]
    pub(crate) live: Option<String>,
    /// The command of a server to ask what was not recorded, after `--`
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<String>,
    #[command(flatten)]
    pub(crate) reach: Reach,
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

/// What every verb says of the server is said of the live one here, and is nothing without it.
fn of_the_live_server(arg: Arg) -> Arg {
    match arg.get_help_heading() {
        Some("Reaching the server") => arg.help_heading("Reaching the live server").requires("asked"),
        Some("Getting a token") => arg.help_heading("Getting a token for the live server").requires("asked"),
        _ => arg,
    }
}

impl MeaningArgs {
    /// Whom the user named to be asked.
    fn named(&self) -> Target<'_> {
        Target { url: self.live.as_deref(), command: &self.command }
    }

    /// The live server's address, or the exit code where what is said of it does not fit.
    pub(crate) fn asked(&self) -> Result<Option<Address>, Exit> {
        let address = self.reach.address(self.named())?;
        match (self.miss, &address) {
            (Some(MissArg::Live), None) => Err(usage("--miss live names no server", "--live URL, or -- COMMAND")),
            (Some(MissArg::Error | MissArg::Simulate), Some(_)) => {
                Err(usage("there is a live server that would never be asked", "--miss live, or no server"))
            }
            _ => Ok(address),
        }
    }

    /// What the options mean, where `live` is to be asked.
    pub(crate) fn options(&self, live: Option<LiveServer>) -> replay::Options {
        let miss = match (live, self.miss) {
            (Some(live), _) => Miss::Live(Box::new(live)),
            (None, Some(MissArg::Simulate)) => Miss::Simulate,
            (None, _) => Miss::Error,
        };
        replay::Options {
            volatile: self.volatile.clone(),
            miss,
            seed: self.seed,
            latency: Duration::from_millis(self.latency.into()),
            errors: self.error_rate,
            drops: self.drop_rate,
            ..replay::Options::default()
        }
    }

    /// What must not come out: what is handed in for the live server, and what a command has in its environment.
    pub(crate) fn secrets(&self) -> Secrets {
        let mut secrets = self.reach.secrets(self.named());
        if !self.command.is_empty() {
            for (name, value) in std::env::vars_os() {
                secrets.variable(&name.to_string_lossy(), &value.to_string_lossy());
            }
        }
        secrets
    }
}

/// A JSONPath.
pub(super) fn path(text: &str) -> Result<JsonPath, String> {
    JsonPath::parse(text).map_err(|error| format!("{error}; try: $.member or $.list[0].member"))
}

fn percent(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|percent| (0.0..=100.0).contains(percent)).ok_or("a number from 0 to 100")
}
