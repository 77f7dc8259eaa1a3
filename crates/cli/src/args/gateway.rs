//! Arguments of `proof gateway prove`. Everything else of `proof gateway` belongs to the program `proof-gateway`.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use super::address::url;
use super::output::Destination;

/// Compare servers directly and through the gateway, and write a certificate
///
/// Runs the same requests against each server directly and through `proof-gateway` with the same configuration, at every
/// revision and transport for clients, and compares the answers. Only tools that are annotated as read-only are called, unless
/// allowed.
#[derive(Parser, Debug)]
#[command(
    name = "proof gateway prove",
    after_help = "\
Examples:
  proof gateway prove --config gateway.yaml
  proof gateway prove -- npx -y @modelcontextprotocol/server-everything stdio
  proof gateway prove --format html --output certificate.html --config gateway.yaml"
)]
pub(crate) struct ProveArgs {
    /// Configuration of the gateway
    #[arg(long, value_name = "FILE", conflicts_with_all = ["urls", "command"], required_unless_present_any = ["urls", "command"])]
    pub(crate) config: Option<PathBuf>,
    /// Endpoints of servers
    #[arg(value_name = "URL", value_parser = url)]
    pub(crate) urls: Vec<url::Url>,
    /// Command of a server
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Revisions that clients speak, separated by commas, or `all` [default: all]
    #[arg(long, value_name = "R", value_delimiter = ',')]
    pub(crate) revision: Vec<String>,
    /// Also call this tool although it is not annotated as read-only (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_tool: Vec<String>,
    /// Do not run `proof check` on both sides
    #[arg(long)]
    pub(crate) no_check: bool,
    /// Pass this environment variable on to the command (repeatable)
    #[arg(long, value_name = "NAME", requires = "command")]
    pub(crate) inherit_env: Vec<String>,
    /// Format of the certificate
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, help_heading = "Output")]
    pub(crate) format: CertificateFormat,
    #[command(flatten)]
    pub(crate) to: Destination,
}

/// How a certificate is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CertificateFormat {
    /// For a terminal
    #[default]
    Human,
    /// For programs
    Json,
    /// A page
    Html,
}
