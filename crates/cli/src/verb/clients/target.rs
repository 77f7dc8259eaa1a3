//! The server that `proof add` is given: a command, a URL, a description of an API, a line for Claude Code, or a `server.json`.

use std::path::Path;
use std::time::Duration;

use clients::server::Transport;
use clients::{Launch, Scope, Server, check, claude_command, registry};
use serde_json::Value;

use super::{api, connect};
use crate::args::clients::AddArgs;
use crate::exit::{Exit, usage};
use crate::verb::{given_file, output};

/// The largest `server.json`.
const LARGEST: u64 = 4 << 20;

/// What is added.
pub(super) struct Target {
    pub(super) name: String,
    /// The ways to reach it, the best first.
    pub(super) launches: Vec<Launch>,
    pub(super) scope: Option<Scope>,
}

/// Reads the arguments.
pub(super) fn read(args: &AddArgs) -> Result<Target, Exit> {
    let target = found(args)?;
    let checked = check::name(&target.name).and_then(|()| target.launches.iter().try_for_each(check::launch));
    checked.map_err(|invalid| usage(&invalid.what, invalid.remedy))?;
    Ok(target)
}

fn found(args: &AddArgs) -> Result<Target, Exit> {
    if let Some(line) = &args.from_claude {
        let read = claude_command::read(line).map_err(|(what, remedy)| usage(&what, remedy))?;
        let name = args.name.clone().unwrap_or(read.server.name);
        return Ok(Target { name, launches: vec![read.server.launch], scope: read.scope });
    }
    let given = args.target.as_deref();
    if let Some(place) = &args.registry {
        return published(args, given.unwrap_or_default(), place);
    }
    if args.command.is_empty()
        && let Some(file) = args.url.as_deref().or(given).filter(|text| api::is_file(text))
    {
        return api::target(args, given.filter(|_| args.url.is_some()), Path::new(file));
    }
    if args.api_config.is_some() {
        return Err(usage("--api-config is for an OpenAPI description", "proof add ./openapi.yaml --api-config FILE"));
    }
    let (name, url) = match (given, &args.url) {
        (Some(url), None) if url.contains("://") => (None, Some(url)),
        (name, url) => (name, url.as_deref()),
    };
    let named =
        |otherwise: &dyn Fn() -> String| args.name.clone().or(name.map(str::to_owned)).unwrap_or_else(otherwise);
    if let Some(url) = url {
        if args.transport.as_deref() == Some("stdio") || !args.env.is_empty() {
            return Err(usage(
                "--transport stdio and --env are for commands",
                "leave them out, or put a command after `--`",
            ));
        }
        let name = named(&|| name_of_url(url));
        return Ok(Target { name, launches: vec![remote(args, url)?], scope: None });
    }
    if args.command.is_empty() {
        let what = "no server is given";
        let remedy = match name {
            Some(name) if name.contains('/') => {
                "give its server.json: --registry FILE, or --registry with the registry's URL".to_owned()
            }
            Some(name) => {
                format!("add its command or its URL: proof add {} -- npx -y package@1.2.3", wire::escape::line(name))
            }
            None => "proof add NAME -- npx -y package@1.2.3".to_owned(),
        };
        return Err(usage(what, &remedy));
    }
    if !args.header.is_empty() || args.transport.as_deref().is_some_and(|transport| transport != "stdio") {
        return Err(usage("--header and --transport http are for URLs", "leave them out, or give a URL"));
    }
    let launch = Launch::Stdio {
        command: args.command[0].clone(),
        args: args.command[1..].to_vec(),
        env: variables(&args.env)?,
    };
    let name = named(&|| name_of_command(&launch));
    Ok(Target { name, launches: vec![launch], scope: None })
}

fn remote(args: &AddArgs, url: &str) -> Result<Launch, Exit> {
    let transport = if args.transport.as_deref() == Some("sse") { Transport::Sse } else { Transport::Http };
    Ok(Launch::Remote { transport, url: url.to_owned(), headers: headers(&args.header)? })
}

/// The headers of `--header`.
fn headers(texts: &[String]) -> Result<Vec<(String, String)>, Exit> {
    let header = |text: &String| match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(usage(
            "invalid --header: expected `Name: value`",
            "--header 'X-Api-Key: ${KEY}', in single quotes, so that the shell leaves ${KEY} alone",
        )),
    };
    texts.iter().map(header).collect()
}

/// The variables of `--env`; one without a value refers to that of the same name.
pub(super) fn variables(texts: &[String]) -> Result<Vec<(String, String)>, Exit> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) if clients::reference::is_name(name) && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        None if clients::reference::is_name(text) => Ok((text.clone(), format!("${{{text}}}"))),
        _ => {
            let name = text.split('=').next().unwrap_or_default();
            let what = format!("invalid --env {}: expected K=V or K", wire::escape::line(name));
            Err(usage(&what, "--env 'NAME=${NAME}', in single quotes, so that the shell leaves ${NAME} alone"))
        }
    };
    texts.iter().map(pair).collect()
}

fn name_of_url(url: &str) -> String {
    let host = url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    let parts: Vec<&str> = host.split('.').collect();
    let inner = if parts.len() > 1 { &parts[..parts.len() - 1] } else { &parts[..] };
    let told = inner.iter().rev().find(|part| !matches!(**part, "mcp" | "api" | "www"));
    plain(told.or(inner.last()).copied().unwrap_or("server"))
}

fn name_of_command(launch: &Launch) -> String {
    let Launch::Stdio { command, .. } = launch else { return String::new() };
    let package = launch.package().map_or(command.as_str(), |package| package.name);
    let last = package.rsplit('/').next().unwrap_or(package);
    let bare = last.trim_start_matches("mcp-server-").trim_start_matches("server-").trim_end_matches("-mcp");
    plain(if bare.is_empty() { last } else { bare })
}

fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '-' }).collect()
}

fn published(args: &AddArgs, name: &str, place: &str) -> Result<Target, Exit> {
    let value = if place.contains("://") { connect::registry(place, name)? } else { document(Path::new(place))? };
    let broken = |why: &str| {
        let what = format!("{}: {}", wire::escape::line(place), wire::escape::line(why));
        usage(&what, "add the server by its command or URL")
    };
    let mut published = registry::read(&value).map_err(|why| broken(&why))?;
    if published.name != name {
        return Err(broken(&format!("it is the server.json of {}", published.name)));
    }
    // What the user gives is the user's choice, also of which variables are read.
    let (variables, headers) = (variables(&args.env)?, headers(&args.header)?);
    for launch in &mut published.launches {
        let (pairs, own) = match launch {
            Launch::Stdio { env, .. } => (env, &variables),
            Launch::Remote { headers: pairs, .. } => (pairs, &headers),
        };
        pairs.retain(|(name, _)| own.iter().all(|(other, _)| !other.eq_ignore_ascii_case(name)));
        pairs.extend(own.iter().cloned());
    }
    let name = args.name.clone().unwrap_or_else(|| published.short_name().to_owned());
    Ok(Target { name, launches: published.launches, scope: None })
}

fn document(path: &Path) -> Result<Value, Exit> {
    let shown = output::shown(path);
    let text = given_file::text(path, LARGEST)
        .map_err(|error| usage(&format!("cannot read {shown}: {error}"), "check the path and its permissions"))?;
    serde_json::from_str(&text).map_err(|error| usage(&format!("{shown} is no JSON: {error}"), "give a server.json"))
}

impl Target {
    /// The server by one of its ways.
    pub(super) fn server(&self, launch: &Launch) -> Server {
        Server { name: self.name.clone(), launch: launch.clone() }
    }
}

/// How long a registry may take.
pub(super) const REGISTRY: Duration = Duration::from_secs(20);
