//! Options of `proof eval export-tools`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::tools::ToolsArgs;
use crate::args::output::Destination;

/// Print a server's tools in the form of a model's API
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof eval export-tools --format openai --strict -- npx -y my-server
  proof eval export-tools --format anthropic http://127.0.0.1:3000/mcp
  proof eval export-tools --format gemini --tools tools.json
  proof eval export-tools --format openai --report report.json -- ./my-server

Prints the value of `tools` in a request. What the API does not check, and what
cannot be strict, is listed on stderr.

Guide: https://github.com/proofhouse/proofhouse/blob/main/docs/eval.md

Exit codes: 0 exported; 1 with --strict: a tool cannot be strict, and was
exported without; 2 usage error or unreadable file; 3 no MCP answer;
4 bug in proof.")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) tools: ToolsArgs,
    /// API that the tools are for
    #[arg(long, value_enum, value_name = "API", help_heading = "Output")]
    pub(crate) format: ApiFormat,
    /// Make schemas strict, so that OpenAI's APIs hold the model to them
    #[arg(long, help_heading = "Output")]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) to: Destination,
    /// Also write names and remarks of all tools to FILE as JSON
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
}

/// An API that takes tools.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApiFormat {
    /// OpenAI's Responses API
    #[value(name = "openai")]
    OpenAi,
    /// OpenAI's Chat Completions, and servers that speak it
    #[value(name = "openai-chat")]
    OpenAiChat,
    /// Anthropic's Messages
    Anthropic,
    /// Gemini's function declarations
    Gemini,
}
