//! `proof generate`: options as typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use suite::generate::{CallPolicy, Depth, Known};
use wire::Revision;

use super::check::{CallArg, read};
use super::reach::ServerArgs;
use crate::exit::{Exit, usage};

/// Make a test file from a live server
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof generate -o weather.mcp.yaml -- node weather.js
  proof test weather.mcp.yaml
  proof generate --depth full --call all -o all.mcp.yaml -- ./my-server
  proof generate --arguments known.json -o t.mcp.yaml http://127.0.0.1:3000/mcp

Every case is played twice, and once more by the rules of proof test: what is
expected is what was the same each time. What breaks a constraint must be
refused; where the server accepts it, the case is marked `xfail: accepted` and
told. Only tools that their server marks with readOnlyHint are called, unless
--call all or --allow-tool says otherwise. docs/generate.md tells more.

Exit codes: 0 written; 1 nothing to write; 2 usage; 3 no MCP answer; 4 our own
bug.")]
pub(crate) struct GenerateArgs {
    /// The revision to speak [default: the newest that both know]
    #[arg(long, value_name = "R", help_heading = "Reaching the server")]
    pub(crate) revision: Option<Revision>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Which tools may be called
    #[arg(long, value_enum, value_name = "WHICH", default_value = "safe", help_heading = "What may be done")]
    call: CallArg,
    /// A tool that may be called although it does not say that it only reads
    #[arg(long, value_name = "NAME", help_heading = "What may be done")]
    allow_tool: Vec<String>,
    /// Seconds that a call may take; a case that takes longer is skipped
    #[arg(long, value_name = "S", default_value = "2", value_parser = super::reach::seconds, help_heading = "What may be done")]
    pub(crate) slowest: Duration,

    /// How many cases are thought of
    #[arg(long, value_enum, default_value = "standard", help_heading = "What is made")]
    depth: DepthArg,
    /// Draw arguments from this seed; 0 draws nothing
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "What is made")]
    pub(crate) seed: u64,
    /// Arguments that mean something to the server (JSON; docs/generate.md)
    #[arg(long, value_name = "FILE", help_heading = "What is made")]
    arguments: Option<PathBuf>,

    /// Write the test file here instead of to stdout
    #[arg(long, short, value_name = "FILE", help_heading = "What comes out")]
    pub(crate) output: Option<PathBuf>,
    /// Write over a file that was edited, or is none of ours
    #[arg(long, requires = "output", help_heading = "What comes out")]
    pub(crate) force: bool,
    /// How it is told what was made
    #[arg(long, value_enum, default_value = "human", requires = "output", help_heading = "What comes out")]
    pub(crate) format: GenerateFormat,
}

/// How many cases are thought of.
#[derive(Clone, Copy, ValueEnum)]
enum DepthArg {
    /// Typical calls, and each argument's constraints broken once
    Basic,
    /// Also edges, enumerations, more types, nested arguments
    Standard,
    /// All that can be made
    Full,
}

/// How it is told what was made.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GenerateFormat {
    /// For people
    Human,
    /// One JSON document: proof.generate/1
    Json,
}

impl GenerateArgs {
    /// Which tools may be called.
    pub(crate) fn calls(&self) -> CallPolicy {
        match self.call {
            CallArg::None => CallPolicy::None,
            CallArg::All => CallPolicy::All,
            CallArg::Safe => CallPolicy::Safe(self.allow_tool.iter().cloned().collect()),
        }
    }

    /// How many cases are thought of, and its name.
    pub(crate) const fn depth(&self) -> (Depth, &'static str) {
        match self.depth {
            DepthArg::Basic => (Depth::Basic, "basic"),
            DepthArg::Standard => (Depth::Standard, "standard"),
            DepthArg::Full => (Depth::Full, "full"),
        }
    }

    /// What arguments are known.
    pub(crate) fn known(&self) -> Result<Known, Exit> {
        let Some(path) = &self.arguments else { return Ok(Known::default()) };
        Known::parse(&read(path)?).map_err(|why| {
            let what = format!("{} holds no arguments: {why}", crate::verb::output::shown(path));
            usage(&what, "{\"TOOL\": {\"ARGUMENT\": value}, \"*\": {\"ARGUMENT\": value}}")
        })
    }
}
