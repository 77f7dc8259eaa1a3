//! `proof record`: options as typed.

use std::path::PathBuf;

use clap::Args;
use wire::redact::Secrets;

/// Arguments of `record`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof record -o weather.jsonl -- node weather.js
  proof replay weather.jsonl --stdio
  proof check --trace weather.jsonl

Write it where a client is told the server's command: neither side notices.
Secrets are replaced before anything is written. The exit code is the
server's; 2 where the file cannot be written, 3 where the server does not
start.")]
pub(crate) struct RecordArgs {
    /// Write the recording to this file. If it is there, -2, -3 and so on is
    /// added to its name: nothing is overwritten
    #[arg(long, short, value_name = "FILE", required = true)]
    pub(crate) output: PathBuf,
    /// The server's command, after `--`
    #[arg(value_name = "COMMAND", last = true, required = true)]
    pub(crate) command: Vec<String>,
}

impl RecordArgs {
    /// What must not come out: what the command is given, and what its environment holds.
    pub(crate) fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        secrets.arguments(self.command.iter().map(String::as_str));
        for (name, value) in std::env::vars_os() {
            secrets.variable(&name.to_string_lossy(), &value.to_string_lossy());
        }
        secrets
    }
}
