//! Options of verbs that ask a model's endpoint.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use url::Url;

/// The endpoint, and how it is asked.
#[derive(Args)]
pub(crate) struct EndpointArgs {
    /// URL of the endpoint, such as https://api.openai.com/v1
    #[arg(long, value_name = "URL", required_unless_present = "offline", help_heading = "Model")]
    pub(crate) endpoint: Option<Url>,
    /// API that it speaks
    #[arg(long, value_enum, value_name = "API", required_unless_present = "offline", help_heading = "Model")]
    pub(crate) api: Option<DialectArg>,
    /// Model to ask
    #[arg(long, value_name = "NAME", required_unless_present = "offline", help_heading = "Model")]
    pub(crate) model: Option<String>,
    /// Environment variable with the key
    #[arg(long, value_name = "VAR", help_heading = "Model")]
    pub(crate) key_env: Option<String>,
    /// Allow an endpoint without TLS on another machine
    #[arg(long, help_heading = "Model")]
    pub(crate) allow_plain_http: bool,
    /// Set a member of every request (repeatable)
    #[arg(long, value_name = "NAME=JSON", help_heading = "Model")]
    pub(crate) set: Vec<String>,
    /// Timeout of an answer of the model in seconds
    #[arg(long, value_name = "S", default_value = "300", value_parser = crate::args::reach::seconds, help_heading = "Model")]
    pub(crate) answer_timeout: Duration,
    /// How often to send a request again after HTTP 408, 429 or 5xx
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u32).range(0..=20), help_heading = "Model")]
    pub(crate) retries: u32,
}

/// An API of models.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectArg {
    /// OpenAI's Responses API
    Responses,
    /// OpenAI's Chat Completions, and servers that speak it
    Chat,
    /// Anthropic's Messages
    Messages,
}

/// What a run may cost.
#[derive(Args)]
pub(crate) struct BudgetArgs {
    /// Stop before more dollars are spent; needs prices
    #[arg(long, value_name = "DOLLARS", value_parser = dollars, help_heading = "Budget")]
    pub(crate) max_cost: Option<f64>,
    /// Stop before more tokens are read and written
    #[arg(long, value_name = "N", help_heading = "Budget")]
    pub(crate) max_tokens: Option<u64>,
    /// Dollars per million tokens: read, written[, read from a cache]
    #[arg(long, value_name = "IN,OUT[,CACHED]", conflicts_with = "prices", help_heading = "Budget")]
    pub(crate) price: Option<String>,
    /// File with the prices of models: {"MODEL": {"input": 3, "output": 15}}
    #[arg(long, value_name = "FILE", help_heading = "Budget")]
    pub(crate) prices: Option<PathBuf>,
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(dollars) if dollars.is_finite() && dollars > 0.0 => Ok(dollars),
        _ => Err("expected a number of dollars above 0, such as 2.50".to_owned()),
    }
}
