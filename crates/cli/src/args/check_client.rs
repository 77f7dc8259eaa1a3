//! `proof check-client`: options as typed, and what they mean.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use judge::Reproduce;
use judge::check::TraceSink;
use judge::check::options::matches;
use judge::check_client::all;
use judge::check_client::options::{Options, SERVER, URL};
use wire::Transport;
use wire::redact::Secrets;

use super::address::socket;
use super::line::{reproduce, shown};
use super::meant;
use super::output::OutputArgs;
use super::reach::{seconds, variables};
use super::select::{SelectArgs, revisions};
use crate::exit::{Exit, usage};
use crate::run::Run;

/// How long one scenario may take unless told otherwise.
const SCENARIO: Duration = Duration::from_secs(30);

/// How much of one scenario is kept: several are judged at once.
const TRACE: usize = 24 << 20;

/// How many clients run side by side unless told otherwise: each is a program that starts.
const JOBS: usize = 8;

/// Judge a client
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof check-client -- ./my-client                   the URL goes last
  proof check-client -- ./my-client --server {url}
  proof check-client -- ./my-client --run '{server}'  over stdio
  proof check-client --listen 127.0.0.1:3000          for a client by hand
  proof check-client --stdio-wrap -- ./my-server      between a client and it

The client reads what to do in PROOF_SCENARIO and PROOF_REVISION, or in
MCP_CONFORMANCE_SCENARIO as in the official suite; --list-scenarios tells what
there is. One that reads neither is judged by what it does by itself.

Exit codes: 0 clean; 1 a new finding at or above --fail-on; 2 usage;
3 no word from the client; 4 our own bug.")]
#[group(skip)]
#[command(override_usage = "\
proof check-client [OPTIONS] -- <COMMAND>...
       proof check-client [OPTIONS] --listen <ADDR>
       proof check-client [OPTIONS] --stdio-wrap -- <COMMAND>...
       proof check-client --list-scenarios")]
#[command(group(clap::ArgGroup::new("way").required(true).args(["listen", "command", "list"])))]
pub(crate) struct CheckClientArgs {
    /// The client's command, after `--`; {url} or {server} is its server
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Serve at this address, show what comes, and judge it on Ctrl-C
    #[arg(long, value_name = "ADDR", value_parser = socket, help_heading = "Without a script")]
    pub(crate) listen: Option<SocketAddr>,
    /// Be the server that a client starts: COMMAND is the real one
    #[arg(long, requires = "command", conflicts_with = "listen", help_heading = "Without a script")]
    pub(crate) stdio_wrap: bool,
    /// List the scenarios, and what each of them asks of a client
    #[arg(long = "list-scenarios", help_heading = "What to judge")]
    pub(crate) list: bool,

    /// Play these scenarios only: names or globs
    #[arg(long, value_name = "NAME|GLOB", value_delimiter = ',', help_heading = "What to judge")]
    pub(crate) scenario: Vec<String>,
    /// Revisions to judge at [default: all that the client speaks]
    #[arg(long, value_name = "R[,R]|all", value_delimiter = ',', help_heading = "What to judge")]
    pub(crate) revision: Vec<String>,
    /// What to serve over [default: http; with {server} stdio]
    #[arg(long, value_name = "stdio|http|sse|ws", value_delimiter = ',', help_heading = "What to judge")]
    pub(crate) transport: Vec<Transport>,
    #[command(flatten)]
    pub(crate) select: SelectArgs,

    /// A variable for the command's environment (again for more)
    #[arg(long, value_name = "K=V", help_heading = "Running the client")]
    pub(crate) env: Vec<String>,
    /// The command's working directory
    #[arg(long, value_name = "DIR", help_heading = "Running the client")]
    pub(crate) cwd: Option<PathBuf>,
    /// Seconds that one scenario may take [default: 30]
    #[arg(long, value_name = "S", value_parser = seconds, help_heading = "Running the client")]
    pub(crate) timeout: Option<Duration>,
    /// How many clients run side by side [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Running the client")]
    pub(crate) jobs: Option<u16>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Be the stdio server that a client under test starts
#[derive(Args)]
pub(crate) struct BridgeArgs {
    /// Where the process that answers is found
    pub(crate) path: PathBuf,
}

impl CheckClientArgs {
    /// How the user named the client.
    pub(crate) fn target(&self, run: &Run) -> String {
        format!("-- {}", shown(&self.command, &run.redactor_of(&self.secrets())))
    }

    /// Makes the command lines that reproduce findings of a client that is named like this.
    pub(crate) fn reproduce(&self, run: &Run, target: &str) -> Reproduce {
        reproduce("check-client", run.redactor_of(&self.secrets()).redact_text(target).into_owned())
    }

    /// What the command line hands in that must not come out again.
    pub(crate) fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        for (name, value) in self.env.iter().filter_map(|pair| pair.split_once('=')) {
            secrets.variable(name, value);
        }
        secrets.arguments(self.command.iter().map(String::as_str));
        secrets
    }

    /// What the options mean, or the exit code after saying what is wrong with them. `bridge` is the command of the server
    /// that a client starts.
    pub(crate) fn meaning(&self, run: &Run, bridge: Vec<String>, keep: TraceSink) -> Result<Options, Exit> {
        Ok(Options {
            words: self.command.clone(),
            target: self.target(run),
            reproduce: self.reproduce(run, &self.target(run)),
            env: variables(&self.env)?,
            cwd: self.cwd.clone(),
            bridge,
            revisions: revisions(&self.revision)?,
            transports: self.transports()?,
            scenarios: self.scenarios()?,
            selection: self.select.meaning()?,
            timeout: self.timeout.unwrap_or(SCENARIO),
            jobs: self.jobs.map_or(JOBS, usize::from),
            trace_bytes: TRACE,
            children: run.children.clone(),
            secrets: self.secrets(),
            redactor: run.redactor(),
            keep,
        })
    }

    fn transports(&self) -> Result<Vec<Transport>, Exit> {
        let names = |what: &str| self.command.iter().any(|word| word.contains(what));
        let default = if names(SERVER) && !names(URL) { Transport::Stdio } else { Transport::StreamableHttp };
        let transports = if self.transport.is_empty() { vec![default] } else { self.transport.clone() };
        if transports.contains(&Transport::Stdio) && !names(SERVER) {
            let what =
                "over stdio a client starts its server, and the command does not say where that one's command goes";
            return Err(usage(what, "write {server} there: proof check-client -- ./my-client --run '{server}'"));
        }
        Ok(transports)
    }

    fn scenarios(&self) -> Result<Vec<String>, Exit> {
        for pattern in &self.scenario {
            if !all().any(|scenario| matches(pattern, scenario.name)) {
                return Err(unknown(pattern));
            }
        }
        Ok(self.scenario.clone())
    }
}

/// Says that there is no such scenario, and which may have been meant.
fn unknown(name: &str) -> Exit {
    let what = format!("no scenario is called `{}`", wire::escape::line(name));
    match meant(name, all().map(|scenario| scenario.name)) {
        Some(meant) => usage(&what, &format!("`{meant}`; --list-scenarios lists every one")),
        None => usage(&what, "--list-scenarios lists every one; globs such as `hostile.*` name many"),
    }
}
