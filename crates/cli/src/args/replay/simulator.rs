//! Options of `proof replay` for a model that writes the free texts of simulated answers.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use url::Url;

use crate::args::eval::endpoint::{BudgetArgs, DialectArg, EndpointArgs};

/// The model, and how much it may be asked.
#[derive(Args)]
#[group(skip)]
pub(crate) struct SimulatorArgs {
    /// Have this endpoint of a model write the free texts of simulated answers
    #[arg(long, value_name = "URL", requires_all = ["simulator_model", "save"], help_heading = "Simulator")]
    pub(crate) simulator_endpoint: Option<Url>,
    /// Model to ask
    #[arg(long, value_name = "NAME", requires = "simulator_endpoint", help_heading = "Simulator")]
    pub(crate) simulator_model: Option<String>,
    /// API that the endpoint speaks
    #[arg(
        long,
        value_enum,
        value_name = "API",
        default_value = "chat",
        requires = "simulator_endpoint",
        help_heading = "Simulator"
    )]
    pub(crate) simulator_api: DialectArg,
    /// Environment variable with the key
    #[arg(long, value_name = "VAR", requires = "simulator_endpoint", help_heading = "Simulator")]
    pub(crate) simulator_key_env: Option<String>,
    /// Set a member of every request (repeatable)
    #[arg(long, value_name = "NAME=JSON", requires = "simulator_endpoint", help_heading = "Simulator")]
    pub(crate) simulator_set: Vec<String>,
    /// Timeout of an answer of the model in seconds
    #[arg(
        long,
        value_name = "S",
        default_value = "30",
        value_parser = crate::args::reach::seconds,
        requires = "simulator_endpoint",
        help_heading = "Simulator"
    )]
    pub(crate) simulator_timeout: Duration,
    /// How many answers the model is asked for at most
    #[arg(long, value_name = "N", default_value = "1000", requires = "simulator_endpoint", help_heading = "Simulator")]
    pub(crate) simulator_requests: u32,
    /// Allow an endpoint without TLS on another machine
    #[arg(long, requires = "simulator_endpoint", help_heading = "Simulator")]
    pub(crate) simulator_allow_plain_http: bool,
    /// PEM file of certificates to trust in addition to the system's
    #[arg(long, value_name = "FILE", requires = "simulator_endpoint", help_heading = "Simulator")]
    pub(crate) simulator_ca_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
}

impl SimulatorArgs {
    /// The same as options of an endpoint. A refusal is not tried again: a client waits for the answer.
    pub(crate) fn endpoint(&self) -> EndpointArgs {
        EndpointArgs {
            endpoint: self.simulator_endpoint.clone(),
            api: Some(self.simulator_api),
            model: self.simulator_model.clone(),
            key_env: self.simulator_key_env.clone(),
            allow_plain_http: self.simulator_allow_plain_http,
            set: self.simulator_set.clone(),
            answer_timeout: self.simulator_timeout,
            retries: 0,
        }
    }
}
