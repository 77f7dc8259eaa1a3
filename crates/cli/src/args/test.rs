//! `proof test`: options as typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use serde_json_path::JsonPath;

use super::import::ImportArgs;

/// Test a server by cases of your own
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  proof test                            every *.mcp.yaml below this directory
  proof test weather.mcp.yaml -v        one file, every case listed
  proof test --filter forecast          cases with that in their name
  proof test --watch                    again whenever a file changes
  proof test --coverage                 which tools and arguments no case uses
  proof test --update                   write snapshots anew
  proof test --replay weather.jsonl     against a recording of the server
  proof test --format junit --output tests.xml
  proof test import -o t.mcp.yaml jest.json    from mcp-jest or mcp-assert

A file names a server and cases: docs/test.md tells how, docs/test.schema.json
completes them in an editor.

Exit codes: 0 all as expected; 1 not so; 2 usage or a file with mistakes;
3 a server could not be reached; 4 our own bug.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that may be given or not")]
pub(crate) struct TestArgs {
    #[command(subcommand)]
    pub(crate) action: Option<TestAction>,

    /// Test files, or directories to look for *.mcp.yaml in [default: .]
    #[arg(value_name = "FILE|DIR")]
    pub(crate) paths: Vec<PathBuf>,

    /// Try only cases with this in their name
    #[arg(long, value_name = "TEXT", help_heading = "What is tried")]
    pub(crate) filter: Option<String>,
    /// Try only cases with this tag (again for more)
    #[arg(long, value_name = "TAG", help_heading = "What is tried")]
    pub(crate) tag: Vec<String>,
    /// Try the Nth of M parts of every file's cases
    #[arg(long, value_name = "N/M", value_parser = shard, help_heading = "What is tried")]
    pub(crate) shard: Option<(usize, usize)>,
    /// End each file at its first failure, and go on to no other
    #[arg(long, help_heading = "What is tried")]
    pub(crate) fail_fast: bool,
    /// Seconds for an answer, where a file says nothing
    #[arg(long, value_name = "S", default_value = "30", value_parser = super::reach::seconds, help_heading = "What is tried")]
    pub(crate) timeout: Duration,
    /// How many independent cases are tried side by side
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = jobs, help_heading = "What is tried")]
    pub(crate) jobs: usize,
    /// Try them again whenever a file changes, until interrupted
    #[arg(long, conflicts_with_all = ["output", "update"], help_heading = "What is tried")]
    pub(crate) watch: bool,
    /// Write snapshots anew instead of comparing them
    #[arg(long, help_heading = "What is tried")]
    pub(crate) update: bool,

    /// Try a recording instead of the server that a file names
    #[arg(long, value_name = "FILE", help_heading = "Without the server")]
    pub(crate) replay: Option<PathBuf>,
    /// Reach the recording over this transport
    #[arg(long, value_enum, default_value = "stdio", requires = "replay", help_heading = "Without the server")]
    pub(crate) over: Over,
    /// Try at these revisions, whatever a file names
    #[arg(
        long,
        value_name = "R[,R]|all",
        value_delimiter = ',',
        requires = "replay",
        help_heading = "Without the server"
    )]
    pub(crate) revision: Vec<String>,
    /// Leave what this JSONPath leads to in a request's arguments out when it is
    /// looked up (again for more)
    #[arg(long, value_name = "PATH", value_parser = super::replay::path, requires = "replay", help_heading = "Without the server")]
    pub(crate) volatile: Vec<JsonPath>,

    /// Tell what of the server no case touches (not in junit, tap and sarif)
    #[arg(long, help_heading = "What comes out")]
    pub(crate) coverage: bool,
    /// The report's format
    #[arg(long, value_enum, default_value = "human", help_heading = "What comes out")]
    pub(crate) format: TestFormat,
    /// Write the report to a file instead of stdout
    #[arg(long, value_name = "FILE", help_heading = "What comes out")]
    pub(crate) output: Option<PathBuf>,
    /// List every case (human format)
    #[arg(long, short, help_heading = "What comes out")]
    pub(crate) verbose: bool,
    /// Print the JSON Schema of test files, and nothing else
    #[arg(long, exclusive = true, help_heading = "What comes out")]
    pub(crate) schema: bool,
}

/// What else is done with test files.
#[derive(Subcommand)]
pub(crate) enum TestAction {
    /// Make a test file from tests for mcp-jest or mcp-assert
    Import(ImportArgs),
}

/// How a recording is reached.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Over {
    /// As a child process
    Stdio,
    /// Streamable HTTP
    Http,
    /// The old HTTP+SSE, at 2024-11-05
    Sse,
    /// WebSocket
    Ws,
}

/// The report's format.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// For people
    Human,
    /// One JSON document: proof.test/1
    Json,
    /// JUnit XML: Jenkins, GitLab and most others show it
    Junit,
    /// TAP version 14
    Tap,
    /// SARIF 2.1.0: code scanning marks lines of the test file
    Sarif,
    /// For a comment on a pull request
    Markdown,
    /// A page for a browser that needs nothing else
    Html,
}

/// `2/3`
fn shard(text: &str) -> Result<(usize, usize), &'static str> {
    let numbers = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    numbers.filter(|(part, of)| (1..=*of).contains(part)).ok_or("not N/M, such as 1/3, 2/3 and 3/3")
}

fn jobs(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|jobs| (1..=256).contains(jobs)).ok_or("between 1 and 256")
}
