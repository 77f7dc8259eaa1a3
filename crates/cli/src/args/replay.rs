//! Options of `proof replay`.

pub(crate) mod simulator;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgGroup, Args, ValueEnum};
use client::CallPolicy;
use net::client::Address;
use replay::{self, LiveServer, Miss, TextWriter};
use serde_json_path::JsonPath;
use wire::redact::Secrets;

use super::access::AccessArgs;
use super::address::{socket, target};
use super::check::CallArg;
use super::output::Destination;
use super::reach::{Reach, Target};
use crate::exit::{Exit, tell, usage};
use simulator::SimulatorArgs;

/// Serve a recording
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof replay weather.jsonl                        Serve over stdio
  proof replay weather.jsonl --http 127.0.0.1:3000  Serve over HTTP
  proof replay weather.jsonl --volatile '$.now'     Ignore the argument `now`
  proof replay weather.jsonl --miss simulate        Make up missing answers
  proof replay weather.jsonl -- node weather.js     Forward unrecorded requests
  proof replay weather.jsonl --live URL --oauth     Same, with authorization
  proof replay weather.jsonl --live URL --miss live,simulate --save
  proof replay weather.jsonl --miss simulate --save --simulator-endpoint URL \\
      --simulator-model NAME                        A model writes made-up texts
  proof replay weather.jsonl --verify --live URL    Call again: what has changed?
  proof replay weather.jsonl --prune good.jsonl     Drop calls that failed

A request gets the recorded answer to the same method, name and arguments.
Repeated requests get the recorded answers in order, then the last one again.
Every revision is served, whichever was recorded.

The server stops on Ctrl-C or SIGTERM, over stdio also at the end of stdin.
Exit codes: 0 stopped, pruned, or every call answered as before; 1 --verify: a
call does not work any more, or none was made; 2 usage error or invalid
recording; 3 --verify: the server does not answer.")]
pub(crate) struct ReplayArgs {
    /// Recording made by `proof record` or `--save-trace`
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Serve over stdin and stdout [default without --http]
    #[arg(long, help_heading = "Serving")]
    pub(crate) stdio: bool,
    /// Serve Streamable HTTP at http://ADDR/mcp; port 0 picks a free port
    #[arg(long, value_name = "ADDR", value_parser = socket, help_heading = "Serving")]
    pub(crate) http: Option<SocketAddr>,
    /// Serve Streamable HTTP at this path instead of /mcp
    #[arg(long, default_value = "/mcp", requires = "http", value_parser = super::serve::endpoint, help_heading = "Serving")]
    pub(crate) path: String,
    /// Also serve HTTP+SSE (2024-11-05) at http://ADDR/sse
    #[arg(long, requires = "http", help_heading = "Serving")]
    pub(crate) sse: bool,
    /// Also serve WebSocket at ws://ADDR/ws, in every revision
    #[arg(long, requires = "http", help_heading = "Serving")]
    pub(crate) ws: bool,
    #[command(flatten, next_help_heading = "Serving")]
    pub(crate) access: AccessArgs,

    #[command(flatten, next_help_heading = "Options")]
    pub(crate) meaning: MeaningArgs,
    #[command(flatten, next_help_heading = "Instead of serving")]
    pub(crate) task: TaskArgs,
}

/// What is done with a recording instead of serving it.
#[derive(Args)]
#[command(mut_arg("output", of_verify))]
pub(crate) struct TaskArgs {
    /// Make the recorded calls again at the live server, and report in which way
    /// they fail now
    #[arg(
        long,
        requires = "asked",
        conflicts_with_all = ["http", "stdio", "miss", "save", "prune", "latency", "error_rate", "drop_rate"]
    )]
    pub(crate) verify: bool,
    /// Which tools --verify may call
    #[arg(long, value_enum, value_name = "WHICH", default_value = "safe", requires = "verify")]
    call: CallArg,
    /// Call this tool, too, although it may do more than read (repeatable)
    #[arg(long, value_name = "NAME", requires = "verify")]
    allow_tool: Vec<String>,
    /// Format of the report of --verify
    #[arg(long, value_enum, default_value = "human", requires = "verify")]
    pub(crate) format: VerifyFormat,
    #[command(flatten)]
    pub(crate) to: Destination,
    /// Write the recording without calls that failed to the new file OUT
    #[arg(long, value_name = "OUT", conflicts_with_all = ["asked", "http", "stdio", "miss", "save"])]
    pub(crate) prune: Option<PathBuf>,
}

/// A server that stands in for the recorded one has no result to write.
fn of_verify(output: Arg) -> Arg {
    output
        .requires("verify")
        .help("Write the report of --verify to FILE instead of stdout")
        .help_heading("Instead of serving")
}

/// Format of the report of `--verify`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerifyFormat {
    /// Text
    Human,
    /// One JSON document: proof.replay-verify/1
    Json,
}

impl TaskArgs {
    /// The tools that may be called.
    pub(crate) fn calls(&self) -> CallPolicy {
        self.call.policy(&self.allow_tool)
    }
}

/// How requests are answered.
#[derive(Args)]
#[command(group(ArgGroup::new("asked").args(["live", "command"])), mut_args(of_their_servers))]
pub(crate) struct MeaningArgs {
    /// Ignore arguments at this JSONPath when matching requests (repeatable)
    #[arg(long, value_name = "PATH", value_parser = path, help_heading = "Answers")]
    pub(crate) volatile: Vec<JsonPath>,
    /// How to answer unrecorded requests, in order; `live,simulate` simulates where
    /// the server does not answer [default: error; with a server: live]
    #[arg(long, value_enum, value_delimiter = ',', help_heading = "Answers")]
    pub(crate) miss: Vec<MissArg>,
    /// Keep simulated answers in FILE's neighbour NAME.simulated.jsonl, and give
    /// them again
    #[arg(long, help_heading = "Answers")]
    pub(crate) save: bool,
    /// Forward unrecorded requests to this server, and add them to FILE
    #[arg(long, value_name = "URL", value_parser = target, help_heading = "Answers")]
    pub(crate) live: Option<String>,
    /// Command of the live server, after `--`
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<String>,
    #[command(flatten)]
    pub(crate) reach: Reach,
    #[command(flatten)]
    pub(crate) simulator: SimulatorArgs,
    /// Seed for simulated answers and failures
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Answers")]
    pub(crate) seed: u64,

    /// Delay every answer, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0, help_heading = "Simulated failures")]
    pub(crate) latency: u32,
    /// Fail this percentage of requests
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent, help_heading = "Simulated failures")]
    pub(crate) error_rate: f64,
    /// Never answer this percentage of requests
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent, help_heading = "Simulated failures")]
    pub(crate) drop_rate: f64,
}

/// How to answer unrecorded requests.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MissArg {
    /// Return an error that names the nearest recorded request
    Error,
    /// Make an answer from recorded calls, schemas and --seed
    Simulate,
    /// Forward to the server of --live or COMMAND
    Live,
}

/// The connection options are those of the live server here, and require one; the budget is that of the simulator's endpoint.
fn of_their_servers(arg: Arg) -> Arg {
    match arg.get_help_heading() {
        Some("Budget") => arg.help_heading("Simulator").requires("simulator_endpoint"),
        Some("Connection") => arg.help_heading("Live server: connection").requires("asked"),
        Some("Authorization") => arg.help_heading("Live server: authorization").requires("asked"),
        _ => arg,
    }
}

impl MeaningArgs {
    /// The live server as typed.
    fn named(&self) -> Target<'_> {
        Target { url: self.live.as_deref(), command: &self.command }
    }

    /// The live server's address, or the exit code after reporting an error.
    pub(crate) fn live_address(&self) -> Result<Option<Address>, Exit> {
        let address = self.reach.address(self.named())?;
        let is_order = matches!(self.miss[..], [] | [_] | [MissArg::Live, MissArg::Simulate]);
        match (&self.miss[..], &address) {
            _ if !is_order => Err(usage("no such order of --miss", "error, simulate, live, or live,simulate")),
            ([MissArg::Live, ..], None) => Err(usage("--miss live needs a server", "--live URL, or -- COMMAND")),
            ([MissArg::Error | MissArg::Simulate], Some(_)) => {
                Err(usage("the live server is unused with this --miss", "--miss live, or no server"))
            }
            _ if self.save && !self.simulates() => {
                Err(usage("--save keeps simulated answers, and there are none", "--miss simulate, or no --save"))
            }
            _ => Ok(address),
        }
    }

    fn simulates(&self) -> bool {
        self.miss.contains(&MissArg::Simulate)
    }

    /// The options of a replay of `recording`, with `live` for unrecorded requests, and the writer of free texts.
    pub(crate) fn options(
        &self,
        recording: &Path,
        live: Option<LiveServer>,
        writer: Option<Arc<dyn TextWriter>>,
    ) -> replay::Options {
        let save = self.save.then(|| replay::saved_path(recording));
        let miss = Miss { live: live.map(Box::new), simulate: self.simulates(), save, writer };
        replay::Options {
            volatile: self.volatile.clone(),
            miss,
            seed: self.seed,
            latency: Duration::from_millis(self.latency.into()),
            errors: self.error_rate,
            drops: self.drop_rate,
            warn: |what| tell(format_args!("warning: {what}")),
            ..replay::Options::default()
        }
    }

    /// The secrets of the live server and in its environment, to be redacted.
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
    JsonPath::parse(text).map_err(|error| format!("{error}; expected a path such as $.member or $.list[0].member"))
}

fn percent(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|percent| (0.0..=100.0).contains(percent)).ok_or("expected a number from 0 to 100")
}
