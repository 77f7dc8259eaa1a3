//! How a server is reached: what every verb that talks to one takes, and what it means.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use net::client::{Address, Command, HttpAddress};
use wire::Transport;
use wire::redact::Secrets;

use super::oauth::OAuthArgs;
use crate::exit::{Exit, usage};

/// The server that a verb is about, by its address or its command, and how it is reached.
#[derive(Args)]
#[group(skip)]
pub(crate) struct ServerArgs {
    /// The server's address: http(s):// or ws(s)://
    #[arg(value_name = "URL", conflicts_with = "command")]
    url: Option<String>,
    /// The server's command and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

impl ServerArgs {
    /// Whom the user named.
    pub(crate) fn named(&self) -> Target<'_> {
        Target { url: self.url.as_deref(), command: &self.command }
    }

    /// Whether the user named none.
    pub(crate) const fn is_unnamed(&self) -> bool {
        self.url.is_none() && self.command.is_empty()
    }

    /// The address that the user named, if any.
    pub(crate) fn address(&self) -> Result<Option<Address>, Exit> {
        self.reach.address(self.named())
    }

    /// What the command line hands in for the server that must not come out again.
    pub(crate) fn secrets(&self) -> Secrets {
        self.reach.secrets(self.named())
    }
}

/// Arguments of every verb that reaches a server. They may stand before and after the name of what to do there.
#[derive(Args)]
pub(crate) struct Reach {
    /// How to reach a URL [default: found out]
    #[arg(long, global = true, value_name = "stdio|http|sse|ws", help_heading = "Reaching the server")]
    pub(crate) transport: Option<Transport>,
    /// A header for every HTTP request (again for more)
    #[arg(long, global = true, value_name = "K: V", help_heading = "Reaching the server")]
    pub(crate) header: Vec<String>,
    /// The variable with the bearer token
    #[arg(long, global = true, value_name = "VAR", help_heading = "Reaching the server")]
    pub(crate) bearer_env: Option<String>,
    /// A variable for the command's environment (again for more)
    #[arg(long, global = true, value_name = "K=V", help_heading = "Reaching the server")]
    pub(crate) env: Vec<String>,
    /// The command's working directory
    #[arg(long, global = true, value_name = "DIR", help_heading = "Reaching the server")]
    pub(crate) cwd: Option<PathBuf>,
    /// Seconds for one answer [default: 60]
    #[arg(long, global = true, value_name = "S", value_parser = seconds, help_heading = "Reaching the server")]
    pub(crate) timeout: Option<Duration>,
    /// Certificates (PEM) to trust beside the system's
    #[arg(long, global = true, value_name = "FILE", help_heading = "Reaching the server")]
    pub(crate) ca_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) oauth: OAuthArgs,
}

/// Whom the user named.
#[derive(Clone, Copy)]
pub(crate) struct Target<'t> {
    pub(crate) url: Option<&'t str>,
    pub(crate) command: &'t [String],
}

impl Reach {
    /// The address that the user named, by a URL or a command, if any.
    pub(crate) fn address(&self, target: Target<'_>) -> Result<Option<Address>, Exit> {
        if let Some(url) = target.url {
            return self.http_address(url).map(Some);
        }
        let Some((program, arguments)) = target.command.split_first() else { return Ok(None) };
        if let Some(transport) = self.transport.filter(|&transport| transport != Transport::Stdio) {
            return Err(unreachable(program, transport));
        }
        if let Some(cwd) = self.cwd.as_deref().filter(|cwd| !cwd.is_dir()) {
            let what = format!("--cwd: there is no directory {}", crate::verb::output::shown(cwd));
            return Err(usage(&what, "the path of a directory to run the command in"));
        }
        Ok(Some(Address::Stdio(Command {
            program: program.clone(),
            args: arguments.to_vec(),
            env: variables(&self.env)?,
            cwd: self.cwd.clone(),
        })))
    }

    fn http_address(&self, text: &str) -> Result<Address, Exit> {
        let shown = wire::escape::line(text);
        let url = url::Url::parse(text).ok().filter(|u| matches!(u.scheme(), "http" | "https" | "ws" | "wss"));
        let Some(url) = url.filter(|u| u.has_host()) else {
            let what = format!("`{shown}` is not an http(s):// or ws(s):// address");
            let has_port = url::Url::parse(&format!("http://{text}")).is_ok_and(|url| url.port().is_some());
            let remedy = match shown.trim() {
                said if said.is_empty() || said.contains("://") => {
                    "an address begins with http://, and a command goes after `--`".to_owned()
                }
                said if has_port => format!("`http://{said}`; a command goes after `--`"),
                said => format!("a command goes after `--`: -- {said}"),
            };
            return Err(usage(&what, &remedy));
        };
        let socket = matches!(url.scheme(), "ws" | "wss");
        let address = HttpAddress { url, headers: self.headers()?, ca: self.ca_file.clone() };
        match (self.transport, socket) {
            (Some(Transport::WebSocket) | None, true) => Ok(Address::WebSocket(address)),
            (Some(Transport::HttpSse), false) => Ok(Address::Sse(address)),
            (Some(Transport::StreamableHttp) | None, false) => Ok(Address::Http(address)),
            (Some(transport), _) => Err(unreachable(text, transport)),
        }
    }

    /// The headers for every HTTP request.
    pub(crate) fn headers(&self) -> Result<Vec<(String, String)>, Exit> {
        let mut headers = Vec::new();
        for text in &self.header {
            match text.split_once(':') {
                Some((name, value)) if is_header(name.trim(), value.trim()) => {
                    headers.push((name.trim().to_owned(), value.trim().to_owned()));
                }
                _ => return Err(usage("what --header names is not `Name: value`", "--header 'X-Api-Key: …'")),
            }
        }
        if let Some(variable) = &self.bearer_env {
            let Ok(token) = std::env::var(variable) else {
                return Err(usage(&format!("the environment has no variable {variable}"), "export it, then run again"));
            };
            if !is_header("Authorization", &token) {
                let what = format!("what {variable} holds cannot stand in a header");
                return Err(usage(&what, "a token is one line of plain characters"));
            }
            headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
        }
        Ok(headers)
    }

    /// What the command line hands in for the server that must not come out again.
    pub(crate) fn secrets(&self, target: Target<'_>) -> Secrets {
        let mut secrets = Secrets::default();
        for (name, value) in self.header.iter().filter_map(|header| header.split_once(':')) {
            secrets.header(name.trim(), value);
        }
        if let Some(token) = self.bearer_env.as_ref().and_then(|variable| std::env::var(variable).ok()) {
            secrets.add(&token);
        }
        if let Some(password) = self.oauth.password() {
            secrets.add(&password);
        }
        for (name, value) in self.env.iter().filter_map(|pair| pair.split_once('=')) {
            secrets.variable(name, value);
        }
        secrets.arguments(target.command.iter().map(String::as_str));
        secrets.address(target.url.unwrap_or_default());
        secrets
    }
}

/// The variables of `--env`.
pub(crate) fn variables(texts: &[String]) -> Result<Vec<(String, String)>, Exit> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(usage(&format!("`--env {text}` is not K=V"), "--env NAME=value")),
    };
    texts.iter().map(pair).collect()
}

/// A span of time as typed.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    if !(0.05..=3600.0).contains(&seconds) {
        return Err("between 0.05 and 3600 seconds".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Whether HTTP can carry it: a token, and a value without control characters.
fn is_header(name: &str, value: &str) -> bool {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(token) && !value.chars().any(|c| c.is_control() && c != '\t')
}

/// Says that a transport does not lead to a target.
fn unreachable(target: &str, transport: Transport) -> Exit {
    let what = format!("`{}` cannot be reached over {transport}", wire::escape::line(target));
    usage(&what, "http:// goes with http and sse, ws:// with ws, a command with stdio")
}
