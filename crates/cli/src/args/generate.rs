//! Options of `proof generate`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use suite::generate::{CallPolicy, Depth, Known};
use wire::Revision;

use super::check::{CallArg, read};
use super::reach::ServerArgs;
use crate::exit::{Exit, usage};

/// Generate a test file from a running server
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof generate -o weather.mcp.yaml -- node weather.js
  proof test weather.mcp.yaml
  proof generate --depth full --call all -o all.mcp.yaml -- ./my-server
  proof generate --arguments known.json -o t.mcp.yaml http://127.0.0.1:3000/mcp

proof runs every case twice, and once more as `proof test` does; the file
expects what was the same each time. A case that violates a constraint must be
refused; where the server accepts it, the case is marked `xfail: accepted` and
reported. Only tools that read are called (readOnlyHint, or no annotations and a
name such as get_user), unless you pass --call all or --allow-tool. The second time, the command gets another USER, LANG and TZ:
what depends on the machine is not expected.

Exit codes: 0 written; 1 nothing to write; 2 usage error; 3 no MCP answer;
4 bug in proof.")]
pub(crate) struct GenerateArgs {
    /// Revision to use [default: the newest that both support]
    #[arg(long, value_name = "R", help_heading = "Connection")]
    pub(crate) revision: Option<Revision>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Which tools may be called
    #[arg(long, value_enum, value_name = "WHICH", default_value = "safe", help_heading = "Execution")]
    call: CallArg,
    /// Call this tool, too, although it may do more than read (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Execution")]
    allow_tool: Vec<String>,
    /// Skip cases whose answer takes longer, in seconds
    #[arg(long, value_name = "S", default_value = "2", value_parser = super::reach::seconds, help_heading = "Execution")]
    pub(crate) slowest: Duration,

    /// How many cases to generate
    #[arg(long, value_enum, default_value = "standard", help_heading = "Generation")]
    depth: DepthArg,
    /// Seed for random arguments; 0 disables randomness
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Generation")]
    pub(crate) seed: u64,
    /// Arguments with a meaning to the server (JSON; proof help arguments)
    #[arg(long, value_name = "FILE", help_heading = "Generation")]
    arguments: Option<PathBuf>,

    /// Write the test file to FILE instead of stdout
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite a file that was edited or that proof did not write
    #[arg(long, requires = "output", help_heading = "Output")]
    pub(crate) force: bool,
    /// Format of the summary
    #[arg(long, value_enum, default_value = "human", requires = "output", help_heading = "Output")]
    pub(crate) format: GenerateFormat,
}

/// How many cases to generate.
#[derive(Clone, Copy, ValueEnum)]
enum DepthArg {
    /// Typical calls, and each constraint violated once
    Basic,
    /// Also limits, enumerations, more types, nested arguments
    Standard,
    /// Every case that proof can make
    Full,
}

/// The format of the summary.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GenerateFormat {
    /// Text
    Human,
    /// One JSON document: proof.generate/1
    Json,
}

impl GenerateArgs {
    /// Which tools may be called.
    pub(crate) fn calls(&self) -> CallPolicy {
        self.call.policy(&self.allow_tool)
    }

    /// How many cases to generate, and the option's name for it.
    pub(crate) const fn depth(&self) -> (Depth, &'static str) {
        match self.depth {
            DepthArg::Basic => (Depth::Basic, "basic"),
            DepthArg::Standard => (Depth::Standard, "standard"),
            DepthArg::Full => (Depth::Full, "full"),
        }
    }

    /// The arguments in the file of `--arguments`.
    pub(crate) fn known(&self) -> Result<Known, Exit> {
        let Some(path) = &self.arguments else { return Ok(Known::default()) };
        Known::parse(&read(path)?).map_err(|why| {
            let what = format!("{} is not a valid arguments file: {why}", crate::verb::output::shown(path));
            usage(&what, "{\"TOOL\": {\"ARGUMENT\": value}, \"*\": {\"ARGUMENT\": value}}")
        })
    }
}
