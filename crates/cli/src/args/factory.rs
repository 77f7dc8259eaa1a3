//! Options of `proof factory`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Prepare a REST API that `serve --openapi` serves
#[derive(Args)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  proof factory init openapi.yaml -o tools.overlay.json
  proof serve --openapi openapi.yaml --overlay tools.overlay.json --check
  proof serve --openapi openapi.yaml --overlay tools.overlay.json

Guide: https://github.com/proofhouse/proofhouse/blob/main/docs/factory.md")]
pub(crate) struct FactoryArgs {
    #[command(subcommand)]
    pub(crate) verb: FactoryVerb,
}

/// What is prepared.
#[derive(Subcommand)]
pub(crate) enum FactoryVerb {
    /// Propose few tools of a large API, each with its reason
    Init(InitArgs),
}

/// Propose few tools of a large API, each with its reason
#[derive(Args)]
#[command(after_help = "\
Examples:
  proof factory init openapi.yaml -o tools.overlay.json
  proof factory init --most 12 https://api.example/openapi.json

The proposal is an OpenAPI Overlay: it makes its operations tools, and no
others. Change it as you like. Models choose worse among many tools, and some
clients drop those after the fortieth.

Exit codes: 0 written; 1 nothing to propose; 2 usage error; 4 bug in proof.")]
pub(crate) struct InitArgs {
    /// The OpenAPI description: a file or a URL
    #[arg(value_name = "FILE|URL")]
    pub(crate) description: String,
    /// How many tools to propose at most
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u8).range(1..=40))]
    pub(crate) most: u8,
    /// Change the description by an OpenAPI Overlay first; may be given often
    #[arg(long, value_name = "FILE")]
    pub(crate) overlay: Vec<PathBuf>,
    /// Write the proposal to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
