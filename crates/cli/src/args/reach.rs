//! Options of every verb that connects to a server.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use net::Environment;
use net::client::{Address, Command, HttpAddress};
use wire::Transport;
use wire::redact::Secrets;

use super::address::target;
use super::oauth::OAuthArgs;
use super::{dashes, without_dashes};
use crate::exit::{Exit, tell, usage};

/// The target of a verb, by its URL or its command, and how to connect to it.
#[derive(Args)]
#[group(skip)]
pub(crate) struct ServerArgs {
    /// Server URL: http(s):// or ws(s)://, or host:port
    #[arg(value_name = "URL", value_parser = target, conflicts_with = "command")]
    url: Option<String>,
    /// Server URL, as an option
    #[arg(long = "url", value_name = "URL", value_parser = target, hide = true, conflicts_with_all = ["url", "command"])]
    url_option: Option<String>,
    /// Server command and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

impl ServerArgs {
    /// The target as typed.
    pub(crate) fn named(&self) -> Target<'_> {
        Target { url: self.url.as_deref().or(self.url_option.as_deref()), command: &self.command }
    }

    /// Whether no target is given.
    pub(crate) const fn is_unnamed(&self) -> bool {
        self.url.is_none() && self.url_option.is_none() && self.command.is_empty()
    }

    /// The address of the target, if one is given.
    pub(crate) fn address(&self) -> Result<Option<Address>, Exit> {
        self.reach.address(self.named())
    }

    /// The secrets on the command line, to be redacted in all output.
    pub(crate) fn secrets(&self) -> Secrets {
        self.reach.secrets(self.named())
    }
}

/// Connection options; `proof client` accepts them before and after its verb.
#[derive(Args)]
pub(crate) struct Reach {
    /// Transport for the URL [default: detected]
    #[arg(long, global = true, value_name = "stdio|http|sse|ws", help_heading = "Connection")]
    pub(crate) transport: Option<Transport>,
    /// Add a header to every HTTP request (repeatable)
    #[arg(long, global = true, value_name = "K: V", help_heading = "Connection")]
    pub(crate) header: Vec<String>,
    /// Environment variable with the bearer token
    #[arg(long, global = true, value_name = "VAR", help_heading = "Connection")]
    pub(crate) bearer_env: Option<String>,
    /// Set an environment variable of the command (repeatable)
    #[arg(long, global = true, value_name = "K=V", help_heading = "Connection")]
    pub(crate) env: Vec<String>,
    /// Pass this variable on to the command, or `all` (repeatable)
    #[arg(long, global = true, value_name = "K[,K]|all", value_delimiter = ',', help_heading = "Connection")]
    pub(crate) inherit_env: Vec<String>,
    /// Working directory of the command
    #[arg(long, global = true, value_name = "DIR", help_heading = "Connection")]
    pub(crate) cwd: Option<PathBuf>,
    /// Timeout of an answer in seconds [default: 60]
    #[arg(long, global = true, value_name = "S", value_parser = seconds, help_heading = "Connection")]
    pub(crate) timeout: Option<Duration>,
    /// Wait up to S seconds until the URL answers
    #[arg(long, global = true, value_name = "S", value_parser = seconds, help_heading = "Connection")]
    pub(crate) wait: Option<Duration>,
    /// Trust these certificates (PEM) in addition to the system's
    #[arg(long, global = true, value_name = "FILE", help_heading = "Connection")]
    pub(crate) ca_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) oauth: OAuthArgs,
}

/// A target as typed.
#[derive(Clone, Copy)]
pub(crate) struct Target<'t> {
    pub(crate) url: Option<&'t str>,
    pub(crate) command: &'t [String],
}

impl Reach {
    /// The address of a target, if one is given.
    pub(crate) fn address(&self, target: Target<'_>) -> Result<Option<Address>, Exit> {
        if let Some(url) = target.url {
            let address = self.http_address(url)?;
            self.await_url(&address)?;
            return Ok(Some(address));
        }
        let Some((program, arguments)) = target.command.split_first() else { return Ok(None) };
        if self.wait.is_some() {
            let what = "--wait needs a URL: proof starts the command itself";
            return Err(usage(what, "--timeout S, which includes the start of a command"));
        }
        if let Some(transport) = self.transport.filter(|&transport| transport != Transport::Stdio) {
            return Err(wrong_transport(program, transport));
        }
        if let Some(cwd) = self.cwd.as_deref().filter(|cwd| !cwd.is_dir()) {
            let what = format!("--cwd: {} is not a directory", crate::verb::output::shown(cwd));
            return Err(usage(&what, "use the path of an existing directory"));
        }
        Ok(Some(Address::Stdio(Command {
            program: program.clone(),
            args: arguments.to_vec(),
            env: variables(&self.env)?,
            cwd: self.cwd.clone(),
        })))
    }

    /// Waits until a server answers, if `--wait` is given.
    fn await_url(&self, address: &Address) -> Result<(), Exit> {
        let (Some(patience), Address::Http(http) | Address::Sse(http) | Address::WebSocket(http)) =
            (self.wait, address)
        else {
            return Ok(());
        };
        if net::client::is_up_within(&http.url, patience) {
            return Ok(());
        }
        Err(unanswered(&http.url, patience))
    }

    fn http_address(&self, text: &str) -> Result<Address, Exit> {
        let shown = wire::escape::line(text);
        let url = url::Url::parse(text).ok().filter(|u| matches!(u.scheme(), "http" | "https" | "ws" | "wss"));
        let Some(url) = url.filter(|u| u.has_host()) else {
            if let Some(advice) = dashes::of_this_run().filter(|advice| advice.program == text) {
                return Err(without_dashes(&advice));
            }
            let what = format!("`{shown}` is not an http(s):// or ws(s):// URL");
            let remedy = match shown.trim() {
                text if text.is_empty() || text.contains("://") => {
                    "start the URL with http://, or put a command after `--`".to_owned()
                }
                port if port.bytes().all(|byte| byte.is_ascii_digit()) => {
                    let address = format!(":{port}");
                    let line = dashes::with_word(text, &address).unwrap_or(address);
                    format!("`{line}`, or put a command after `--`")
                }
                text => format!("put a command after `--`: -- {text}"),
            };
            return Err(usage(&what, &remedy));
        };
        let socket = matches!(url.scheme(), "ws" | "wss");
        let address = HttpAddress { headers: self.headers()?, ca: self.ca_file.clone(), ..HttpAddress::new(url) };
        match (self.transport, socket) {
            (Some(Transport::WebSocket) | None, true) => Ok(Address::WebSocket(address)),
            (Some(Transport::HttpSse), false) => Ok(Address::Sse(address)),
            (Some(Transport::StreamableHttp) | None, false) => Ok(Address::Http(address)),
            (Some(transport), _) => Err(wrong_transport(text, transport)),
        }
    }

    /// The headers for every HTTP request.
    pub(crate) fn headers(&self) -> Result<Vec<(String, String)>, Exit> {
        let mut headers = headers_of(&self.header)?;
        headers.extend(bearer(self.bearer_env.as_deref())?);
        Ok(headers)
    }

    /// The secrets on the command line, to be redacted in all output.
    pub(crate) fn secrets(&self, target: Target<'_>) -> Secrets {
        let mut secrets = Secrets::default();
        for (name, value) in self.header.iter().filter_map(|header| header.split_once(':')) {
            secrets.header(name, value);
        }
        if let Some(token) = self.bearer_env.as_ref().and_then(|variable| std::env::var(variable).ok()) {
            secrets.add(&token);
        }
        if let Some(password) = self.oauth.password() {
            secrets.add(&password);
        }
        for (name, value) in self.env.iter().filter_map(|pair| pair.split_once('=')) {
            secrets.handed_variable(name, value);
        }
        if !target.command.is_empty() {
            inherited(&mut secrets, &self.inherit_env);
        }
        secrets.arguments(target.command.iter().map(String::as_str));
        secrets.address(target.url.unwrap_or_default());
        secrets
    }
}

/// Reports that `--wait` was not long enough.
pub(crate) fn unanswered(url: &url::Url, patience: Duration) -> Exit {
    let seconds = patience.as_secs_f64();
    tell(format_args!(
        "error: nothing answered within {seconds} s\n  at {}\n  try: start the server, check host and port; or a longer --wait",
        wire::escape::line(url.as_str())
    ));
    Exit::NoAnswer
}

/// The part of our environment that `--inherit-env` leaves to children.
pub(crate) fn environment(names: &[String]) -> Environment {
    Environment::of(names)
}

/// Takes in what is secret in the variables that children inherit.
pub(crate) fn inherited(secrets: &mut Secrets, names: &[String]) {
    environment(names).add_secrets(secrets);
}

/// The header with the token of `--bearer-env`.
pub(crate) fn bearer(variable: Option<&str>) -> Result<Vec<(String, String)>, Exit> {
    let Some(variable) = variable else { return Ok(Vec::new()) };
    let Ok(token) = std::env::var(variable) else {
        let what = format!("environment variable {variable} is not set");
        return Err(usage(&what, "export it, then run the command again"));
    };
    if !is_header("Authorization", &token) {
        let what = format!("the value of {variable} is not valid in a header");
        return Err(usage(&what, "use a token of one line without control characters"));
    }
    Ok(vec![("Authorization".to_owned(), format!("Bearer {token}"))])
}

/// The headers of `--header`.
pub(crate) fn headers_of(texts: &[String]) -> Result<Vec<(String, String)>, Exit> {
    let header = |text: &String| match text.split_once(':') {
        Some((name, value)) if is_header(name.trim(), value.trim()) => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(usage("invalid --header: expected `Name: value`", "--header 'X-Api-Key: …'")),
    };
    texts.iter().map(header).collect()
}

/// The variables of `--env`.
pub(crate) fn variables(texts: &[String]) -> Result<Vec<(String, String)>, Exit> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(usage(&format!("invalid `--env {text}`: expected K=V"), "--env NAME=value")),
    };
    texts.iter().map(pair).collect()
}

/// A time in seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    if !(0.05..=3600.0).contains(&seconds) {
        return Err("expected 0.05 to 3600 seconds".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Whether this is a valid HTTP header: a token, and a value without control characters.
fn is_header(name: &str, value: &str) -> bool {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(token) && !value.chars().any(|c| c.is_control() && c != '\t')
}

/// Reports a transport that does not fit the target.
fn wrong_transport(target: &str, transport: Transport) -> Exit {
    let what = format!("cannot connect to `{}` over {transport}", wire::escape::line(target));
    usage(&what, "use http or sse with http://, ws with ws://, stdio with a command")
}
