//! `proof record`: options as typed.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use url::Url;
use wire::redact::Secrets;

use super::address::{socket, url};

/// Write down what crosses between a client and a server
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof record -o weather.jsonl -- node weather.js
  proof record -o weather.jsonl --http 127.0.0.1:4000 \\
               --to http://127.0.0.1:3000/mcp
  proof replay weather.jsonl --stdio
  proof check --trace weather.jsonl

Write it where a client is told the server's command, or its address: neither
side notices. Secrets are replaced before anything is written. The exit code
is the server's; 2 where the file cannot be written, 3 where the server does
not start. With --http, Ctrl-C ends it, with exit code 0.")]
pub(crate) struct RecordArgs {
    /// Write the recording to this file. If it is there, -2, -3 and so on is
    /// added to its name: nothing is overwritten
    #[arg(long, short, value_name = "FILE", required = true)]
    pub(crate) output: PathBuf,
    /// Listen here and pass everything on to --to; port 0 picks a free one
    #[arg(long, value_name = "ADDR", value_parser = socket, requires = "to", conflicts_with = "command")]
    pub(crate) http: Option<SocketAddr>,
    /// The server's address
    #[arg(long, value_name = "URL", value_parser = url, requires = "http")]
    pub(crate) to: Option<Url>,
    /// The server's command, after `--`
    #[arg(value_name = "COMMAND", last = true, required_unless_present = "http")]
    pub(crate) command: Vec<String>,
}

impl RecordArgs {
    /// What must not come out: what the command is given, and what its environment holds.
    pub(crate) fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        secrets.arguments(self.command.iter().map(String::as_str));
        if let Some(url) = &self.to {
            secrets.address(url.as_str());
        }
        for (name, value) in std::env::vars_os() {
            secrets.variable(&name.to_string_lossy(), &value.to_string_lossy());
        }
        secrets
    }
}
