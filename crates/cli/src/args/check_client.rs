//! Options of `proof check-client`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use judge::Reproduce;
use judge::check::TraceSink;
use judge::check::options::matches;
use judge::check_client::options::{Options, SERVER, URL};
use judge::check_client::{Ending, all};
use report::CommandRedactor;
use wire::Transport;
use wire::redact::Secrets;

use super::address::socket;
use super::line::{command_words, reproduce, shown};
use super::output::OutputArgs;
use super::reach::{inherited, seconds, variables};
use super::select::{SelectArgs, revisions};
use super::suggestion;
use crate::exit::{Exit, usage};
use crate::run::Run;

/// The default timeout of a scenario.
const SCENARIO: Duration = Duration::from_secs(30);

/// How long a quick check takes at most.
const QUICK: Duration = Duration::from_mins(1);

/// The maximum size of a scenario's trace in bytes: several are judged at once.
const TRACE: usize = 24 << 20;

/// The largest default number of parallel clients: each is a process.
const JOBS: usize = 8;

/// The default number of parallel clients: as many as the machine has cores, so that none seems slow.
fn jobs() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(JOBS)
}

/// Check a client against the specification
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof check-client -- ./my-client                   Append the server's URL
  proof check-client -- ./my-client --server {url}    Insert the server's URL
  proof check-client -- ./my-client --run '{server}'  Check over stdio
  proof check-client --listen 3000                    Wait for a client
  proof check-client --stdio-wrap -- ./my-server      Sit between a client and
                                                      its server

proof runs the client once per scenario (--list-scenarios). The client finds
the scenario in PROOF_SCENARIO and PROOF_REVISION, or in
MCP_CONFORMANCE_SCENARIO as in the official suite. A client that reads neither
is checked by what it does on its own.

Exit codes: 0 clean; 1 a new finding at or above --fail-on; 2 usage error;
3 no message from the client; 4 bug in proof.")]
#[group(skip)]
#[command(override_usage = "\
proof check-client [OPTIONS] -- <COMMAND>...
       proof check-client [OPTIONS] --listen <ADDR>
       proof check-client [OPTIONS] --stdio-wrap -- <COMMAND>...
       proof check-client --list-scenarios")]
#[command(group(clap::ArgGroup::new("way").required(true).args(["listen", "command", "list"])))]
pub(crate) struct CheckClientArgs {
    /// Client command, after `--`; {url} or {server} stands for the server
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Serve at this address, show the traffic, and judge it on Ctrl-C
    #[arg(long, value_name = "ADDR", value_parser = socket, help_heading = "Modes")]
    pub(crate) listen: Option<SocketAddr>,
    /// Run as a client's server, and pass everything on to COMMAND
    #[arg(long, requires = "command", conflicts_with = "listen", help_heading = "Modes")]
    pub(crate) stdio_wrap: bool,
    /// List the scenarios and what each of them expects of a client
    #[arg(long = "list-scenarios", help_heading = "Selection")]
    pub(crate) list: bool,

    /// Run only these scenarios: names or globs
    #[arg(long, value_name = "NAME|GLOB", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) scenario: Vec<String>,
    /// Run a selection of about 30 scenarios, at the newest revision of each era, for at most a minute
    #[arg(long, conflicts_with_all = ["scenario", "listen", "stdio_wrap"], help_heading = "Selection")]
    pub(crate) quick: bool,
    /// Check these revisions [default: all that the client supports]
    #[arg(long, value_name = "R[,R]|all", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) revision: Vec<String>,
    /// Transports to serve [default: http; with {server}: stdio]
    #[arg(long, value_name = "stdio|http|sse|ws", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) transport: Vec<Transport>,
    #[command(flatten)]
    pub(crate) select: SelectArgs,

    /// Set an environment variable of the command (repeatable)
    #[arg(long, value_name = "K=V", help_heading = "Client process")]
    pub(crate) env: Vec<String>,
    /// Pass this variable on to the command, or `all` (repeatable)
    /// [default with --stdio-wrap: all]
    #[arg(long, value_name = "K[,K]|all", value_delimiter = ',', help_heading = "Client process")]
    pub(crate) inherit_env: Vec<String>,
    /// Working directory of the command
    #[arg(long, value_name = "DIR", help_heading = "Client process")]
    pub(crate) cwd: Option<PathBuf>,
    /// Timeout of a scenario in seconds [default: 30]
    #[arg(long, value_name = "S", value_parser = seconds, help_heading = "Client process")]
    pub(crate) timeout: Option<Duration>,
    /// Number of clients in parallel [default: the number of cores, at most 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Client process")]
    pub(crate) jobs: Option<u16>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Serve a client under test over stdio
#[derive(Args)]
pub(crate) struct BridgeArgs {
    /// Socket of the process that answers
    pub(crate) path: PathBuf,
}

impl CheckClientArgs {
    /// The client's command as typed.
    pub(crate) fn target(&self, run: &Run) -> String {
        format!("-- {}", shown(&self.command, &run.redactor_of(&self.secrets())))
    }

    /// Makes the command lines that reproduce findings of a client whose command comes after these options; of one that is
    /// started elsewhere, `None`.
    pub(crate) fn reproduce(&self, run: &Run, options: Option<&str>) -> Reproduce {
        let redactor = CommandRedactor::of(&run.redactor_of(&self.secrets()));
        let command = || redactor.text(&command_words(&self.command, &redactor));
        reproduce("check-client", options.map(|options| format!("{options}-- {}", command())).unwrap_or_default())
    }

    /// The secrets on the command line, to be redacted in all output.
    pub(crate) fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        for (name, value) in self.env.iter().filter_map(|pair| pair.split_once('=')) {
            secrets.handed_variable(name, value);
        }
        if !self.command.is_empty() {
            inherited(&mut secrets, &self.inherited());
        }
        secrets.arguments(self.command.iter().map(String::as_str));
        secrets
    }

    /// The names of `--inherit-env`. A client starts its server with the environment that it chose for it.
    pub(crate) fn inherited(&self) -> Vec<String> {
        let all = self.stdio_wrap && self.inherit_env.is_empty();
        if all { vec!["all".to_owned()] } else { self.inherit_env.clone() }
    }

    /// The options of the check, or the exit code after reporting an error. `bridge` is the command that a client starts as its
    /// server.
    pub(crate) fn options(&self, run: &Run, bridge: Vec<String>, keep: TraceSink) -> Result<Options, Exit> {
        Ok(Options {
            words: self.command.clone(),
            target: self.target(run),
            reproduce: self.reproduce(run, Some("")),
            env: variables(&self.env)?,
            cwd: self.cwd.clone(),
            bridge,
            revisions: revisions(&self.revision)?,
            transports: self.transports()?,
            scenarios: self.scenarios()?,
            quick: self.quick,
            max_time: self.quick.then_some(QUICK),
            ending: Ending::default(),
            selection: self.select.selection()?,
            timeout: self.timeout.unwrap_or(SCENARIO),
            jobs: self.jobs.map_or_else(jobs, usize::from),
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
            let what = "over stdio, the client must start the server, but its command does not contain {server}";
            return Err(usage(what, "proof check-client -- ./my-client --run '{server}'"));
        }
        Ok(transports)
    }

    /// The patterns of `--scenario`, with the present names of renamed scenarios.
    pub(crate) fn scenarios(&self) -> Result<Vec<String>, Exit> {
        let named = self.scenario.iter().map(|pattern| present_name(pattern));
        named
            .map(|name| if all().any(|one| matches(name, one.name)) { Ok(name.to_owned()) } else { Err(unknown(name)) })
            .collect()
    }
}

/// Scenarios that once had another name.
const RENAMED: [(&str, &str); 4] = [
    ("question-taken-back", "request-cancelled"),
    ("older-era", "legacy-fallback"),
    ("tasks-by-looking", "tasks-by-polling"),
    ("not-found-as-before", "old-not-found-code"),
];

fn present_name(name: &str) -> &str {
    RENAMED.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new)
}

/// Reports an unknown scenario, with a suggestion.
fn unknown(name: &str) -> Exit {
    let what = format!("unknown scenario `{}`", wire::escape::line(name));
    match suggestion(name, all().map(|scenario| scenario.name)) {
        Some(similar) => usage(&what, &format!("`{similar}`; --list-scenarios lists all scenarios")),
        None => usage(&what, "--list-scenarios lists all scenarios; a glob such as `hostile.*` selects several"),
    }
}

#[cfg(test)]
mod tests {
    use super::{RENAMED, all, present_name};

    #[test]
    fn old_names_select_existing_scenarios() {
        for (old, new) in RENAMED {
            assert_eq!(present_name(old), new);
            assert!(all().any(|scenario| scenario.name == new), "{new}");
            assert!(all().all(|scenario| scenario.name != old), "{old}");
        }
    }
}
