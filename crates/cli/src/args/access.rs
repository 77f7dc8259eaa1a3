//! Options that widen who may call a server of ours over HTTP.

use clap::Args;
use url::Url;

/// Names and pages that are allowed in addition to this machine's.
#[derive(Args)]
pub(crate) struct AccessArgs {
    /// Also accept this name in the Host header (repeatable)
    #[arg(long, value_name = "NAME", requires = "http", value_parser = host)]
    pub(crate) allow_host: Vec<String>,
    /// Also accept pages of this origin, such as https://app.example (repeatable)
    #[arg(long, value_name = "ORIGIN", requires = "http", value_parser = origin)]
    pub(crate) allow_origin: Vec<String>,
}

/// A host name, with or without a port.
fn host(text: &str) -> Result<String, &'static str> {
    let fits = Url::parse(&format!("http://{text}/")).is_ok_and(|url| url.path() == "/" && url.username().is_empty());
    if fits {
        Ok(text.to_owned())
    } else {
        Err("expected a name as clients call it, such as mcp.example or mcp.example:3000")
    }
}

/// An origin as browsers write it.
fn origin(text: &str) -> Result<String, &'static str> {
    let origin = Url::parse(text).ok().map(|url| url.origin().ascii_serialization());
    let expected = "expected a scheme, a host and perhaps a port, such as https://app.example:8443";
    origin.filter(|origin| origin == text && origin != "null").ok_or(expected)
}
