//! Options of `proof scan`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use wire::Revision;

use super::address::target;
use super::output::{Destination, Format, also};
use super::reach::Reach;

/// Find hidden text and injections in what servers tell a model
#[derive(Args)]
#[command(group = ArgGroup::new("configurations").args(["config", "all_clients"]).multiple(true))]
#[command(after_help = "\
Examples:
  proof scan -- npx -y my-server@1.2.3
  proof scan http://127.0.0.1:3000/mcp
  proof scan tools.json session.trace.jsonl
  proof scan --config ~/.cursor/mcp.json
  proof scan --config .mcp.json --start
  proof scan --all-clients
  proof scan --classes
  proof scan --also sarif=scan.sarif tools.json
  proof scan --intrusive --plant ./data -- ./server ./data

Nothing is uploaded, and no tool is called without --intrusive. Servers of a
configuration are started only with --start. Suppress a finding in .proof/scan.toml, with a reason.

--intrusive calls tools with commands, paths and addresses as arguments. They
prove a weakness by harmless marks: a file in a temporary folder, a request to
a listener on this machine, the text of a planted file. A weak server runs,
writes and reads what it is sent: scan only servers that you own, with data that
you can lose. Each answer may take --timeout seconds [10], all of it 30 times.

Exit codes: 0 clean; 1 a finding at or above --fail-on, or an incomplete scan;
2 usage error or unreadable file; 3 no MCP answer; 4 bug in proof.")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option")]
pub(crate) struct ScanArgs {
    /// Server URLs, and files: results of lists, snapshots, traces
    #[arg(value_name = "TARGET", value_parser = target)]
    pub(crate) targets: Vec<String>,
    /// Server command and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Scan a file, whatever its name (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Selection")]
    pub(crate) from: Vec<PathBuf>,
    /// Scan every server of a client's configuration (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Selection")]
    pub(crate) config: Vec<PathBuf>,
    /// Scan the configuration of every MCP client of this user
    #[arg(long, help_heading = "Selection")]
    pub(crate) all_clients: bool,
    /// Start the servers of the configurations and read their lists
    #[arg(long, requires = "configurations", help_heading = "Selection")]
    pub(crate) start: bool,
    /// Revision to use [default: the newest of both]
    #[arg(long, value_name = "R", help_heading = "Connection")]
    pub(crate) revision: Option<Revision>,
    #[command(flatten)]
    pub(crate) reach: Reach,
    /// Also call tools with harmful-looking arguments; only for servers that you own
    #[arg(long, conflicts_with = "configurations", help_heading = "Intrusive")]
    pub(crate) intrusive: bool,
    /// Folder that the server serves: plant canary files in it and next to it
    #[arg(long, value_name = "DIR", requires = "intrusive", help_heading = "Intrusive")]
    pub(crate) plant: Option<PathBuf>,
    /// Serve a site for the server to fetch, at this address of this machine
    #[arg(long, value_name = "IP:PORT", requires = "intrusive", value_parser = loopback, help_heading = "Intrusive")]
    pub(crate) site: Option<SocketAddr>,
    /// Which tools may be called
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        default_value = "unmarked",
        requires = "intrusive",
        help_heading = "Intrusive"
    )]
    pub(crate) call: ScanCall,
    /// Environment variable with a valid token whose audience is another server
    #[arg(long, value_name = "VAR", requires = "intrusive", help_heading = "Intrusive")]
    pub(crate) other_audience_env: Option<String>,
    /// Print which rules cover which class of vulnerability, and scan nothing
    #[arg(
        long,
        conflicts_with_all = ["targets", "command", "from", "configurations", "also", "suppressions", "intrusive"],
        help_heading = "Selection"
    )]
    pub(crate) classes: bool,
    /// Lowest severity that fails the scan
    #[arg(long, value_enum, value_name = "SEVERITY", default_value = "high", help_heading = "Output")]
    pub(crate) fail_on: FailOn,
    /// Suppressions [default: .proof/scan.toml, if it exists]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) suppressions: Option<PathBuf>,
    /// Report format
    #[arg(long, value_enum, default_value = "human", help_heading = "Output")]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) to: Destination,
    /// Also write the report in another format (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", value_parser = also::<Format>, help_heading = "Output")]
    pub(crate) also: Vec<(Format, PathBuf)>,
}

/// Which tools an intrusive scan may call.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScanCall {
    /// Tools that are not marked as destructive
    Unmarked,
    /// All tools
    All,
}

/// The lowest severity that fails a scan.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Every finding
    Info,
    /// Low and above
    Low,
    /// Medium and above
    Medium,
    /// High alone
    High,
}

/// An address of this machine alone.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text.parse().map_err(|_| "expected IP:PORT, such as 127.0.0.2:8080".to_owned())?;
    let is_local = address.ip().is_loopback() && address.port() > 0;
    if is_local { Ok(address) } else { Err("expected an address of this machine, such as 127.0.0.2:8080".to_owned()) }
}
