//! Options of `proof test`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, Args, Subcommand, ValueEnum};
use serde_json_path::JsonPath;

use super::import::ImportArgs;
use super::oauth::OAuthArgs;
use super::output::{Destination, also};
use super::test_call::SingleCallArgs;

/// Run test files against a server
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true, mut_args(of_this_verb))]
#[command(after_help = "\
Examples:
  proof test                         Run every *.mcp.yaml below this directory
  proof test weather.mcp.yaml -v     Run one file and list every case
  proof test --filter forecast       Run the cases with `forecast` in their name
  proof test --watch                 Run again whenever a file changes
  proof test --coverage              List tools and arguments that no case uses
  proof test --update                Rewrite the snapshots
  proof test --replay weather.jsonl  Run against a recording of the server
  proof test --call echo message=hi -- ./my-server
  proof test --format junit --output tests.xml
  proof test import -o t.mcp.yaml jest.json

A test file names a server and cases: `proof help test-files` shows one. --call
runs one case without a file; there, numbers, true, false and null are what
they look like, and NAME:=JSON is any value.

Exit codes: 0 all cases pass; 1 a case fails; 2 usage error or invalid file;
3 no connection to a server; 4 bug in proof.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that may be given or not")]
pub(crate) struct TestArgs {
    #[command(subcommand)]
    pub(crate) action: Option<TestAction>,

    /// Test files, or directories with *.mcp.yaml [default: .]; with --call:
    /// NAME=VALUE, and the server's URL
    #[arg(value_name = "FILE|DIR")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) single: SingleCallArgs,
    #[command(flatten)]
    pub(crate) oauth: OAuthArgs,

    /// Run only cases with TEXT in their name
    #[arg(long, value_name = "TEXT", help_heading = "Execution")]
    pub(crate) filter: Option<String>,
    /// Leave out cases with TEXT in their name (repeatable)
    #[arg(long, value_name = "TEXT", help_heading = "Execution")]
    pub(crate) skip: Vec<String>,
    /// Run only cases with this tag (repeatable)
    #[arg(long, value_name = "TAG", help_heading = "Execution")]
    pub(crate) tag: Vec<String>,
    /// Run the Nth of M parts of every file's cases
    #[arg(long, value_name = "N/M", value_parser = shard, help_heading = "Execution")]
    pub(crate) shard: Option<(usize, usize)>,
    /// Stop at the first failure
    #[arg(long, help_heading = "Execution")]
    pub(crate) fail_fast: bool,
    /// Pass this variable on to servers, or `all` (repeatable)
    #[arg(long, value_name = "K[,K]|all", value_delimiter = ',', help_heading = "Execution")]
    pub(crate) inherit_env: Vec<String>,
    /// Timeout of an answer in seconds, unless the file sets one
    #[arg(long, value_name = "S", default_value = "30", value_parser = super::reach::seconds, help_heading = "Execution")]
    pub(crate) timeout: Duration,
    /// Wait up to S seconds until the URLs of servers answer
    #[arg(long, value_name = "S", value_parser = super::reach::seconds, conflicts_with = "replay", help_heading = "Execution")]
    pub(crate) wait: Option<Duration>,
    /// Number of independent cases in parallel
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = jobs, help_heading = "Execution")]
    pub(crate) jobs: usize,
    /// Run again whenever a file changes, until interrupted
    #[arg(long, conflicts_with_all = ["output", "also", "update"], help_heading = "Execution")]
    pub(crate) watch: bool,
    /// Rewrite the snapshots instead of comparing them
    #[arg(long, help_heading = "Execution")]
    pub(crate) update: bool,

    /// Run against a recording instead of the file's server
    #[arg(long, value_name = "FILE", help_heading = "Replay")]
    pub(crate) replay: Option<PathBuf>,
    /// Transport to serve the recording over
    #[arg(long, value_enum, default_value = "stdio", requires = "replay", help_heading = "Replay")]
    pub(crate) over: Over,
    /// Run in these revisions instead of the file's
    #[arg(long, value_name = "R[,R]|all", value_delimiter = ',', requires = "replay", help_heading = "Replay")]
    pub(crate) revision: Vec<String>,
    /// Ignore arguments at this JSONPath when matching requests (repeatable)
    #[arg(long, value_name = "PATH", value_parser = super::replay::path, requires = "replay", help_heading = "Replay")]
    pub(crate) volatile: Vec<JsonPath>,

    /// List tools and arguments that no case uses (not in junit, tap, sarif)
    #[arg(long, help_heading = "Output")]
    pub(crate) coverage: bool,
    /// Report format
    #[arg(long, value_enum, default_value = "human", help_heading = "Output")]
    pub(crate) format: TestFormat,
    #[command(flatten)]
    pub(crate) to: Destination,
    /// Also write the report in another format (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", value_parser = also::<TestFormat>, help_heading = "Output")]
    pub(crate) also: Vec<(TestFormat, PathBuf)>,
    /// List every case, also those that pass
    #[arg(long, short, help_heading = "Output")]
    pub(crate) verbose: bool,
    /// Print the JSON Schema of test files
    #[arg(long, exclusive = true, help_heading = "Output")]
    pub(crate) schema: bool,
}

/// `import` connects to no server, so it has no options of a connection.
fn of_this_verb(arg: Arg) -> Arg {
    if arg.get_help_heading() == Some("Authorization") { arg.global(false) } else { arg }
}

/// Other actions on test files.
#[derive(Subcommand)]
pub(crate) enum TestAction {
    /// Convert tests for mcp-jest or mcp-assert
    Import(ImportArgs),
}

/// The transport of a served recording.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Over {
    /// A child process
    Stdio,
    /// Streamable HTTP
    Http,
    /// HTTP+SSE, only in 2024-11-05
    Sse,
    /// WebSocket
    Ws,
}

/// The report's format.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// Text
    Human,
    /// One JSON document: proof.test/1
    Json,
    /// JUnit XML, for most CI systems
    Junit,
    /// TAP version 14
    Tap,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Markdown, for a pull request comment
    Markdown,
    /// A self-contained HTML page
    Html,
}

/// `2/3`
fn shard(text: &str) -> Result<(usize, usize), &'static str> {
    let numbers = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    numbers.filter(|(part, of)| (1..=*of).contains(part)).ok_or("expected N/M, such as 1/3, 2/3 or 3/3")
}

fn jobs(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|jobs| (1..=256).contains(jobs)).ok_or("expected a number from 1 to 256")
}
