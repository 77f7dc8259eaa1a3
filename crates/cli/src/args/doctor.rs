//! Options of `proof doctor`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use wire::redact::Secrets;

use super::address::target;
use super::output::Destination;
use super::reach::{Reach, Target};

/// Find the step at which a connection to a server fails, and what fixes it
#[derive(Args)]
#[command(override_usage = "\
proof doctor [OPTIONS] <URL>
       proof doctor [OPTIONS] -- <COMMAND>...
       proof doctor [OPTIONS] <NAME>
       proof doctor [OPTIONS]")]
#[command(mut_arg("timeout", |timeout| timeout.help("Timeout of each step in seconds [default: 10; with NAME, 30 for the answer]")))]
#[command(after_help = "\
Examples:
  proof doctor https://mcp.example.com/mcp
  proof doctor http://127.0.0.1:3000/mcp --oauth=browser
  proof doctor -- npx -y my-server
  proof doctor weather --client claude-code  # an entry of a configuration
  proof doctor                               # all entries; starts nothing

A URL: name, connection, certificate, HTTP, metadata documents, registration,
token, handshake of each era, first list. A command: program, start, stdout,
stderr, end, handshake, first list. All steps together take at most four times
the timeout. Nothing is registered without --oauth, and no tool is called.

With NAME, the entries of that name are examined and started as their clients
would. An entry of a project's file is started only where you agree on the
terminal or with --trust-project: the author of the project wrote it.

Exit codes: 0 everything works; 1 an entry has a fault, or was not started;
2 usage error, or no such server; 3 a step failed, or no answer; 4 bug in proof.
Without NAME, 0 says only that no entry has a fault.")]
pub(crate) struct DoctorArgs {
    /// Server URL, or the name of a server in configurations of clients
    #[arg(value_name = "URL|NAME", value_parser = target, conflicts_with = "command")]
    pub(crate) target: Option<String>,
    /// Server URL, as an option
    #[arg(long = "url", value_name = "URL", value_parser = target, hide = true, conflicts_with_all = ["target", "command"])]
    url_option: Option<String>,
    /// Server command and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    #[command(flatten)]
    pub(crate) reach: Reach,
    /// Clients, by the ids of `proof clients` [default: all]
    #[arg(long, value_name = "ID[,ID]", value_delimiter = ',', help_heading = "Configurations")]
    pub(crate) client: Vec<String>,
    /// Start entries of the project's files, too, without a question
    #[arg(long, help_heading = "Configurations")]
    pub(crate) trust_project: bool,
    /// Folder with Claude Code's managed files [default: the system's]
    #[arg(long, value_name = "DIR", help_heading = "Configurations")]
    pub(crate) managed: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value = "human", conflicts_with = "json", help_heading = "Output")]
    format: DoctorFormat,
    /// Print one JSON document: the same as --format json
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    pub(crate) to: Destination,
}

/// A format of what was found.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DoctorFormat {
    /// Text for people
    Human,
    /// One JSON document
    Json,
}

impl DoctorArgs {
    /// The URL, if the target is one.
    pub(crate) fn url(&self) -> Option<&str> {
        let target = self.target.as_deref().filter(|target| target.contains("://"));
        target.or(self.url_option.as_deref())
    }

    /// The name of a configured server, if the target is one.
    pub(crate) fn name(&self) -> Option<&str> {
        self.target.as_deref().filter(|target| !target.contains("://"))
    }

    /// The URL or command, as typed.
    pub(crate) fn named(&self) -> Target<'_> {
        Target { url: self.url(), command: &self.command }
    }

    /// The secrets on the command line.
    pub(crate) fn secrets(&self) -> Secrets {
        self.reach.secrets(self.named())
    }

    /// Whether one JSON document is printed.
    pub(crate) fn is_json(&self) -> bool {
        self.json || self.format == DoctorFormat::Json
    }
}
