//! The options of `proof serve` for a REST API.

use std::path::PathBuf;

use clap::Args;

/// A REST API instead of a catalogue.
#[derive(Args)]
#[command(next_help_heading = "REST APIs")]
pub(crate) struct ApiArgs {
    /// Serve the API that this OpenAPI description describes: one tool for each
    /// operation
    #[arg(long, value_name = "FILE|URL", conflicts_with = "catalog")]
    pub(crate) openapi: Option<String>,
    /// How to call the API: credentials, choice of tools, answers, limits
    #[arg(long, value_name = "FILE", requires = "openapi")]
    pub(crate) config: Option<PathBuf>,
    /// Where the API is, instead of where its description says
    #[arg(long, value_name = "URL", requires = "openapi")]
    pub(crate) base_url: Option<String>,
    /// Change the description by an OpenAPI Overlay first; may be given often
    #[arg(long, value_name = "FILE", requires = "openapi")]
    pub(crate) overlay: Vec<PathBuf>,
    /// Print the tools and what to improve in the description; serve nothing
    #[arg(long, requires = "openapi", conflicts_with_all = ["stdio", "http"])]
    pub(crate) check: bool,
}
