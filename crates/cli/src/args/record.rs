//! Options of `proof record`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use net::Environment;
use url::Url;
use wire::redact::Secrets;

use super::access::AccessArgs;
use super::address::{socket, url};
use super::oauth::OAuthArgs;
use super::reach::environment;

/// Record the traffic between a client and a server
#[derive(Args)]
#[command(mut_arg("oauth", |arg| arg.requires("http").help("Get a token if the server requires one, and add it to every request")))]
#[command(after_help = "\
Examples:
  proof record -o weather.jsonl -- node weather.js
  proof record -o weather.jsonl --http 4000 \\
               http://127.0.0.1:3000/mcp
  proof record -o shop.jsonl --http 4000 --oauth https://shop.example/mcp
  proof replay weather.jsonl --stdio
  proof check --trace weather.jsonl

Configure the client with this command, or with the --http address, in place
of the server's. Secrets are redacted before anything is written.

Exit codes: the server's own; 2 the file cannot be written; 3 the server does
not start. With --http: 0 after Ctrl-C.")]
pub(crate) struct RecordArgs {
    /// Write the recording to FILE; if it exists, -2, -3, … is added to the name
    #[arg(long, short, value_name = "FILE", required = true)]
    pub(crate) output: PathBuf,
    /// Listen at ADDR, such as 4000, and pass everything on to URL; port 0 picks a
    /// free port
    #[arg(long, value_name = "ADDR", value_parser = socket, requires = "upstream", conflicts_with = "command")]
    pub(crate) http: Option<SocketAddr>,
    /// Server URL, with --http
    #[arg(value_name = "URL", value_parser = url, requires = "http", group = "upstream")]
    url: Option<Url>,
    /// Server URL, as an option
    #[arg(long, value_name = "URL", alias = "url", value_parser = url, requires = "http", group = "upstream", hide = true)]
    to: Option<Url>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Add the bearer token in this environment variable to every request
    #[arg(long, value_name = "VAR", requires = "http", help_heading = "Authorization")]
    pub(crate) bearer_env: Option<String>,
    #[command(flatten)]
    pub(crate) oauth: OAuthArgs,
    /// Pass only these variables on to the command [default: all]
    #[arg(long, value_name = "K[,K]|all", value_delimiter = ',', conflicts_with = "http")]
    pub(crate) inherit_env: Vec<String>,
    /// Server command and its arguments, after `--`
    #[arg(value_name = "COMMAND", last = true, required_unless_present = "http")]
    pub(crate) command: Vec<String>,
}

impl RecordArgs {
    /// The URL of the server, if it has one.
    pub(crate) fn upstream(&self) -> Option<&Url> {
        self.url.as_ref().or(self.to.as_ref())
    }

    /// The part of our environment that the server gets: all by default, because the client chose it for its server.
    pub(crate) fn environment(&self) -> Environment {
        if self.inherit_env.is_empty() { Environment::All } else { environment(&self.inherit_env) }
    }

    /// The secrets on the command line and in the environment, to be redacted.
    pub(crate) fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        secrets.arguments(self.command.iter().map(String::as_str));
        if let Some(url) = self.upstream() {
            secrets.address(url.as_str());
        }
        if let Some(token) = self.bearer_env.as_ref().and_then(|variable| std::env::var(variable).ok()) {
            secrets.add(&token);
        }
        if let Some(password) = self.oauth.password() {
            secrets.add(&password);
        }
        for (name, value) in std::env::vars_os() {
            secrets.variable(&name.to_string_lossy(), &value.to_string_lossy());
        }
        secrets
    }
}
