//! Options of `proof inspect`.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use wire::Revision;

use super::address::{socket, target};
use super::reach::ServerArgs;

/// What says where a server is or how to reach it: an entry of a client says that itself.
const ELSEWHERE: [&str; 10] =
    ["url", "command", "trace", "attach", "gateway", "header", "bearer_env", "env", "cwd", "transport"];

/// Where the traffic of a gateway is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GatewayTraffic {
    /// A running gateway: the only one, or the one of this process.
    Running(Option<u32>),
    /// The folder of its recordings.
    Recorded(PathBuf),
}

fn gateway(text: &str) -> Result<GatewayTraffic, String> {
    match text.parse::<u32>() {
        Ok(0) => Err("expected the number of a process, or a folder".to_owned()),
        Ok(process) => Ok(GatewayTraffic::Running(Some(process))),
        Err(_) if text.is_empty() => Ok(GatewayTraffic::Running(None)),
        Err(_) => Ok(GatewayTraffic::Recorded(PathBuf::from(text))),
    }
}

/// Read, try and keep MCP traffic on a page in the browser
#[derive(Args)]
#[command(override_usage = "\
proof inspect [OPTIONS] <URL>
       proof inspect [OPTIONS] -- <COMMAND>...
       proof inspect [OPTIONS] --beside <TARGET> <URL>
       proof inspect [OPTIONS] --from-client <CLIENT> [NAME]
       proof inspect [OPTIONS] --wrap -- <COMMAND>...
       proof inspect [OPTIONS] --trace <FILE>
       proof inspect [OPTIONS] --attach <FILE>
       proof inspect [OPTIONS] --gateway [PID|DIR]")]
#[command(after_help = "\
Examples:
  proof inspect -- npx -y my-server
  proof inspect http://127.0.0.1:3000/mcp
  proof inspect --from-client claude-code weather
  proof inspect --beside http://127.0.0.1:3001/mcp http://127.0.0.1:3000/mcp
  proof inspect --beside-revision 2025-11-25 -- node server.js
  proof inspect --wrap -- node server.js  # in a client's configuration
  proof inspect --trace session.jsonl
  proof inspect --attach running.jsonl    # what `proof record` writes
  proof inspect --gateway                 # a gateway that runs on this machine
  proof inspect --gateway traces          # what `proof gateway --record traces` writes

Prints the address of the page; open it in a browser on this machine. Its
fragment is the token of this launch: with it, anyone can use the server as you
can. Secrets in the traffic are replaced. Ctrl-C ends the server.

Guide: https://github.com/proofhouse/proofhouse/blob/main/docs/inspect.md

Exit codes: 2 usage error; 130 after Ctrl-C; 4 bug in proof. With --wrap: the
server's own; 3 the server does not start.")]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Revision to begin with [default: the newest that both support]
    #[arg(long, value_name = "R", help_heading = "Connection")]
    pub(crate) revision: Option<Revision>,
    /// Connect to a second server, to compare both: its URL, or its command as one text.
    /// Headers and credentials are sent to it only at the origin of the first
    #[arg(long, value_name = "TARGET", value_parser = target, conflicts_with_all = ["from_client", "wrap", "trace", "attach"], help_heading = "Connection")]
    pub(crate) beside: Option<String>,
    /// Revision of the second server; without --beside, the first one once more
    #[arg(long, value_name = "R", conflicts_with_all = ["from_client", "wrap", "trace", "attach"], help_heading = "Connection")]
    pub(crate) beside_revision: Option<Revision>,
    /// Offer the servers of this client's configuration, or connect to one of them
    #[arg(long, value_names = ["CLIENT", "NAME"], num_args = 1..=2, conflicts_with_all = ELSEWHERE)]
    pub(crate) from_client: Vec<String>,
    /// Stand between a client and its server: the command runs as if the client had
    /// started it, and the address of the page is printed on stderr
    #[arg(long, requires = "command", conflicts_with_all = ["from_client", "trace", "attach", "gateway", "revision"])]
    pub(crate) wrap: bool,
    /// Show this trace; no server is started
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "command", "revision"])]
    pub(crate) trace: Option<PathBuf>,
    /// Show this recording while `proof record` writes it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "command", "revision", "trace"])]
    pub(crate) attach: Option<PathBuf>,
    /// Show what crosses a gateway that runs as this user, by its process where several do;
    /// or, from DIR, what `proof gateway --record DIR` writes
    #[arg(long, value_name = "PID|DIR", num_args = 0..=1, default_missing_value = "", value_parser = gateway,
        conflicts_with_all = ["url", "command", "revision", "trace", "attach"])]
    pub(crate) gateway: Option<GatewayTraffic>,
    /// Serve the page at ADDR, a loopback address; port 0 picks a free port
    #[arg(long, value_name = "ADDR", value_parser = socket, default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))]
    pub(crate) http: SocketAddr,
    /// Do not declare MCP Apps (io.modelcontextprotocol/ui), and show no apps
    #[arg(long, conflicts_with_all = ["wrap", "trace", "attach", "gateway"])]
    pub(crate) no_apps: bool,
    /// Keep at most MIB MiB of traffic on disk; older traffic is dropped
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..=65_536))]
    pub(crate) keep: u64,
}
