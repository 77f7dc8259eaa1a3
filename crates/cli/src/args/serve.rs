//! The options of `proof serve`.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::access::AccessArgs;
use super::address;
use super::faults::FaultArgs;
use super::serve_api::ApiArgs;
use super::serve_tokens::AuthArgs;

/// Run the reference server
#[derive(Args)]
#[group(skip)]
#[command(group(clap::ArgGroup::new("way").required(true).multiple(true).args(["stdio", "http", "list", "check"])))]
#[command(after_help = "\
Examples:
  proof serve --stdio
  proof serve --http 3000                       Serve http://127.0.0.1:3000/mcp
  proof serve --http 3000 --sse --ws            Add HTTP+SSE and WebSocket
  proof serve --http 3000 --verbose             Print every message
  proof serve --http 0 --stdio                  Serve both transports
  proof serve --http 3000 --tls-cert cert.pem --tls-key key.pem
  proof serve --stdio --resources docs          Add the files in docs
  proof serve --stdio --catalog weather.yaml    Serve your own catalogue
  proof serve --stdio --openapi api.json        Serve a REST API

All transports share one server: every client sees each change.
The server stops on Ctrl-C or SIGTERM, with --stdio also at the end of stdin.
The exit code is then 0.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that may be given or not")]
pub(crate) struct ServeArgs {
    /// Serve over stdin and stdout
    #[arg(long)]
    pub(crate) stdio: bool,
    /// Serve Streamable HTTP at http://ADDR/mcp: a port, or an address and a
    /// port; port 0 picks a free port
    #[arg(long, value_name = "ADDR", value_parser = address::socket)]
    pub(crate) http: Option<SocketAddr>,
    /// Serve Streamable HTTP at this path instead of /mcp
    #[arg(long, default_value = "/mcp", requires = "http", value_parser = endpoint)]
    pub(crate) path: String,
    /// Also serve HTTP+SSE (2024-11-05) at http://ADDR/sse
    #[arg(long, requires = "http")]
    pub(crate) sse: bool,
    /// Also serve WebSocket at ws://ADDR/ws, /mcp and /mcp/ws, in every revision
    #[arg(long, requires = "http")]
    pub(crate) ws: bool,
    /// Serve https and wss with this certificate, in PEM
    #[arg(long, value_name = "FILE", requires_all = ["http", "tls_key"], conflicts_with = "auth")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Refuse what clients must not do before 2026-07-28: requests before
    /// notifications/initialized, reused ids, a missing MCP-Protocol-Version
    #[arg(long)]
    pub(crate) strict: bool,
    /// Accept requests without `initialize`, and `initialize` without parameters;
    /// over HTTP only the latter
    #[arg(long, conflicts_with = "strict")]
    pub(crate) lenient_start: bool,
    /// Answer errors with HTTP status 400 or 500 instead of 200, before 2026-07-28
    #[arg(long, requires = "http")]
    pub(crate) error_status: bool,
    /// Require the bearer token in this environment variable
    #[arg(long, value_name = "VAR", requires = "http")]
    pub(crate) bearer_env: Option<String>,
    #[command(flatten)]
    pub(crate) auth: AuthArgs,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// End a session after this time without a request or an open stream
    #[arg(long, value_name = "SECONDS", default_value_t = 1800, requires = "http",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) idle: u32,
    /// Catalogue to serve: `standard` (every feature of the protocol), `official`
    /// (what the official conformance suite expects), or a YAML file
    #[arg(long, value_name = "NAME|FILE", default_value = "standard")]
    pub(crate) catalog: Catalog,
    /// Serve the files in DIR and below as read-only resources
    #[arg(long, value_name = "DIR")]
    pub(crate) resources: Option<PathBuf>,
    /// Publish a signed manifest at /.well-known/mcp-manifest.json; it needs no
    /// token
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) manifest: Option<PathBuf>,
    /// Print every message over HTTP to stderr
    #[arg(long, short, requires = "http")]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) faults: FaultArgs,
    #[command(flatten)]
    pub(crate) api: ApiArgs,
}

/// A path without escapes that no other endpoint uses.
pub(super) fn endpoint(path: &str) -> Result<String, &'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@/".contains(c);
    if !path.starts_with('/') || !path.chars().all(plain) {
        return Err("a path starts with / and has no query, space or percent sign, such as /some/deep/mcp");
    }
    let taken = ["/sse", "/messages", "/ws"].contains(&path) || path.starts_with("/.well-known/");
    if taken { Err("reserved for another endpoint; use a path such as /some/deep/mcp") } else { Ok(path.to_owned()) }
}

/// A built-in catalogue, or a file.
#[derive(Clone)]
pub(crate) enum Catalog {
    /// Every feature of the protocol.
    Standard,
    /// What the official conformance suite expects.
    Official,
    /// A YAML file; `./official` names a file, too.
    File(PathBuf),
}

impl FromStr for Catalog {
    type Err = Infallible;

    fn from_str(name: &str) -> Result<Self, Infallible> {
        Ok(match name {
            "standard" => Self::Standard,
            "official" => Self::Official,
            path => Self::File(path.into()),
        })
    }
}
