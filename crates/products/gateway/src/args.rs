//! The command line: what it says, as settings.

use std::io::Read as _;
use std::net::{Ipv4Addr, SocketAddr};

use clap::{CommandFactory as _, Parser, Subcommand};
use gateway::settings::{CommandLimits, RecordSettings, Sessions, Settings, Target, UpstreamSettings};
use net::HttpAddress;
use net::process::Command;
use url::Url;
use wire::Revision;

use crate::audit_command::AuditArgs;
use crate::consents_command::ConsentsArgs;
use crate::errors_command::ErrorsArgs;
use crate::init::InitArgs;
use crate::policy::PolicyArgs;
use crate::ready::ReadyArgs;
use crate::tell::Failure;
use crate::watch::{Question, WatchArgs};

/// One address for many MCP servers: every client speaks its own revision, every server its own
///
/// Serves http://127.0.0.1:3000/mcp until it gets a signal.
#[derive(Parser)]
#[command(
    name = "proof-gateway",
    version,
    after_help = "Examples:
  proof-gateway -- npx -y @modelcontextprotocol/server-everything stdio
  proof-gateway https://docs.example/mcp http://127.0.0.1:8080/mcp
  proof-gateway --stdio https://docs.example/mcp   (for clients that only start commands)
  proof-gateway --config gateway.yaml
  proof-gateway init --from claude_desktop_config.json
  proof-gateway status                             (also: top, slo, tail, reload)
  proof-gateway audit verify /var/log/gateway
  proof-gateway ready gateway.yaml                 (is it ready for production?)
  proof-gateway policy test cases.yaml             (do the access rules say what they should?)
  proof-gateway errors                             (what each error means, and what to do)",
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) action: Option<Action>,
    /// Endpoints to serve: Streamable HTTP, HTTP+SSE, or WebSocket (ws, wss)
    #[arg(value_name = "URL", conflicts_with = "config", value_parser = url)]
    urls: Vec<Url>,
    /// Program to start and serve
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "config")]
    command: Vec<String>,
    /// Read the servers from this file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<std::path::PathBuf>,
    /// Check the configuration and exit
    #[arg(long)]
    pub(crate) check_config: bool,
    /// Address to listen on [default: 127.0.0.1:3000]
    #[arg(long, value_name = "ADDR", conflicts_with = "stdio")]
    http: Option<SocketAddr>,
    /// Serve on stdin and stdout instead of HTTP
    #[arg(long)]
    pub(crate) stdio: bool,
    /// Revision to speak with the servers [default: the newest one that they speak]
    #[arg(long, value_name = "REVISION", conflicts_with = "config")]
    revision: Option<Revision>,
    /// Pass this environment variable on to the program (repeatable)
    #[arg(long, value_name = "NAME", requires = "command")]
    inherit_env: Vec<String>,
    /// Give each client session a session with the server
    #[arg(long, conflicts_with = "config")]
    session_per_client: bool,
    /// Also accept this name in the Host header (repeatable)
    #[arg(long, value_name = "NAME", conflicts_with = "stdio")]
    allow_host: Vec<String>,
    /// Also accept pages of this origin, such as https://app.example (repeatable)
    #[arg(long, value_name = "ORIGIN", conflicts_with = "stdio")]
    allow_origin: Vec<String>,
    /// Record the traffic with clients to files in this folder
    #[arg(long, value_name = "FOLDER")]
    record: Option<std::path::PathBuf>,
    /// Log more (repeatable)
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// What else than to serve.
#[derive(Subcommand, Debug)]
pub(crate) enum Action {
    /// Write a first gateway.yaml
    Init(InitArgs),
    /// Show what a running gateway serves, and the state of its upstreams
    Status(WatchArgs),
    /// Show the most frequent requests, with their times
    Top(WatchArgs),
    /// Show objectives, burn rates and alerts of each tool
    Slo(WatchArgs),
    /// Print each request as it ends
    Tail(WatchArgs),
    /// Read the configuration again
    Reload(WatchArgs),
    /// Verify an audit log, or make the key that signs one
    Audit(AuditArgs),
    /// Test access rules, or explain how they decide on a request
    Policy(PolicyArgs),
    /// Print the failures of the gateway, and what a client does about each kind
    Errors(ErrorsArgs),
    /// List or revoke consents that users gave in a browser
    Consents(ConsentsArgs),
    /// Answer the questions of a checklist before production, with evidence
    Ready(ReadyArgs),
}

impl Action {
    /// What is asked of a running gateway.
    pub(crate) const fn question(&self) -> Option<(Question, &WatchArgs)> {
        match self {
            Self::Init(_) | Self::Audit(_) | Self::Policy(_) | Self::Errors(_) | Self::Consents(_) | Self::Ready(_) => {
                None
            }
            Self::Status(watch) => Some((Question::Status, watch)),
            Self::Top(watch) => Some((Question::Top, watch)),
            Self::Slo(watch) => Some((Question::Slo, watch)),
            Self::Tail(watch) => Some((Question::Tail, watch)),
            Self::Reload(watch) => Some((Question::Reload, watch)),
        }
    }
}

/// The longest file.
const MOST: usize = 4 << 20;

/// Where a gateway listens where nothing says otherwise.
pub(crate) fn default_address() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 3000).into()
}

fn url(text: &str) -> Result<Url, &'static str> {
    let url = net::client::without_scheme(text).map_or_else(|| Url::parse(text), Ok);
    let url = url.map_err(|_| "expected a URL, such as http://127.0.0.1:8080/mcp")?;
    match url.scheme() {
        "http" | "https" | "ws" | "wss" if url.username().is_empty() && url.password().is_none() => Ok(url),
        "http" | "https" | "ws" | "wss" => {
            Err("a URL with a password shows it in lists of processes: use a header in a file")
        }
        _ => Err("expected an http, https, ws or wss URL"),
    }
}

/// The text of a file.
pub(crate) fn text_of(file: &std::path::Path) -> Result<String, Failure> {
    let name = file.to_string_lossy();
    let bad = |why: String| {
        Failure::usage(
            format!("{name}: {why}"),
            "see https://github.com/proofhouse/proofhouse/blob/main/docs/gateway-config.md",
        )
    };
    let mut text = String::new();
    let opened = net::open_regular(file).map_err(|error| bad(error.to_string()))?;
    let limit = u64::try_from(MOST).unwrap_or(u64::MAX);
    opened.take(limit + 1).read_to_string(&mut text).map_err(|error| bad(error.to_string()))?;
    if text.len() > MOST {
        return Err(bad(format!("it has more than {MOST} bytes")));
    }
    Ok(text)
}

/// The settings of a file.
pub(crate) fn read(file: &std::path::Path) -> Result<Settings, Failure> {
    let text = text_of(file)?;
    let name = file.to_string_lossy();
    let settings = gateway::config::read(&text, &name).map_err(|errors| Failure::file(errors.to_string()))?;
    gateway::access::check_all(&settings).map_err(|error| {
        let (line, column) = error.at;
        let remedy = "an expression in CEL: claims.team == \"data\"";
        Failure::file(format!("error: {error} – {name}:{line}:{column}\n  try: {remedy}"))
    })?;
    Ok(settings)
}

impl Args {
    /// The settings that the command line and its file give.
    pub(crate) fn settings(&self) -> Result<Settings, Failure> {
        let mut settings = match &self.config {
            Some(file) => read(file)?,
            None => self.direct()?,
        };
        settings.listen = self.http.or(settings.listen);
        settings.hosts.extend(self.allow_host.iter().cloned());
        settings.origins.extend(self.allow_origin.iter().cloned());
        settings.record = self.record.clone().map(RecordSettings::new).or(settings.record);
        Ok(settings)
    }

    /// The servers on the command line itself.
    fn direct(&self) -> Result<Settings, Failure> {
        let sessions = if self.session_per_client { Sessions::PerClient } else { Sessions::PerPrincipal };
        let mut upstreams = Vec::new();
        if let Some((program, arguments)) = self.command.split_first() {
            let command = Command::new(program, arguments.iter().cloned());
            let (inherit, limits) = (self.inherit_env.clone(), CommandLimits::default());
            let target = Target::Command { command, inherit, limits };
            upstreams.push(self.upstream(name_of_command(&self.command), target, sessions));
        }
        for url in &self.urls {
            let name = url.host_str().unwrap_or("server").replace(|c: char| !c.is_ascii_alphanumeric(), "-");
            let address = HttpAddress::new(url.clone());
            let socket = matches!(url.scheme(), "ws" | "wss");
            let target = if socket { Target::WebSocket(address) } else { Target::Http(address) };
            upstreams.push(self.upstream(name, target, sessions));
        }
        if upstreams.is_empty() {
            let usage = Self::command().render_usage().to_string();
            return Err(Failure::usage("no server is named".to_owned(), &usage));
        }
        number_equal_names(&mut upstreams);
        Ok(Settings { upstreams, ..Settings::default() })
    }

    fn upstream(&self, name: String, target: Target, sessions: Sessions) -> UpstreamSettings {
        UpstreamSettings { name, target, revision: self.revision, sessions, credentials: None, assertion: None }
    }
}

/// A name for a program: its last part that is no option, without what a path or a package scope adds.
pub(crate) fn name_of_command(command: &[String]) -> String {
    let runner =
        |word: &&String| !matches!(word.as_str(), "npx" | "uvx" | "node" | "python" | "python3" | "uv" | "run");
    let word = command.iter().filter(|word| !word.starts_with('-')).find(runner).or(command.first());
    let word = word.map_or("server", String::as_str);
    let last = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let name: String = last.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(32).collect();
    name.trim_matches('-').to_owned()
}

fn number_equal_names(upstreams: &mut [UpstreamSettings]) {
    for index in 1..upstreams.len() {
        let (before, rest) = upstreams.split_at_mut(index);
        let taken = |name: &str| before.iter().any(|upstream| upstream.name == name);
        if taken(&rest[0].name) {
            // Of as many numbers as there are names before and one more, one is free.
            let mut numbered = (2..=index + 2).map(|number| format!("{}-{number}", rest[0].name));
            rest[0].name = numbered.find(|name| !taken(name)).unwrap_or_default();
        }
    }
}
