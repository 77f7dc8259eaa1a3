//! What `ready` looks at: the configuration, the servers behind it, and what a running gateway answers. Judges nothing.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use gateway::Gateway;
use gateway::audit::{Verified, VerifyError, verify};
use gateway::settings::{CommandLimits, Sessions, Settings, Target as UpstreamTarget, UpstreamSettings};
use net::process::Command;
use net::server::http::{HeaderMap, HeaderValue, Method};
use net::server::stdio;
use net::service::Service;
use net::upstream::HttpUpstream;
use net::{Children, HttpAddress};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex};
use tokio::time::timeout;
use url::Url;
use wire::meta;

use super::Target;
use crate::args;
use crate::tell::Failure;

/// How long each step may take.
const CONNECT: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(30);
/// The largest page that is read, in bytes.
const PAGE: usize = 8 << 20;
/// The most pages of a list.
const PAGES: usize = 100;
/// A tool that no server has.
const UNKNOWN_TOOL: &str = "proof_ready_no_such_tool";

/// Status and body of a page, or why there is none.
pub(super) type Page = Result<(u16, String), String>;

/// All of it.
pub(super) struct Facts {
    /// The configuration, where there is one.
    pub(super) settings: Option<Settings>,
    pub(super) tools: Result<Vec<Value>, String>,
    /// The result of `server/discover`.
    pub(super) discovered: Result<Value, String>,
    /// The response to a call of a tool that does not exist.
    pub(super) unknown_tool: Result<Value, String>,
    pub(super) health: Page,
    pub(super) ready: Page,
    pub(super) metrics: Page,
    /// The response to a request without a token.
    pub(super) anonymous: Page,
    /// What the audit log is, where one is configured.
    pub(super) audit: Option<Result<Verified, VerifyError>>,
}

/// Looks at everything.
pub(super) async fn look(target: &Target, admin: Option<&Url>) -> Result<Facts, Failure> {
    let (settings, endpoint) = match target {
        Target::File(file) => {
            let settings = args::read(file)?;
            let path = settings.servers.first().map_or_else(|| "/mcp".to_owned(), |server| server.path());
            let endpoint = base(&settings).and_then(|url| url.join(&path).ok());
            (Some(settings), endpoint)
        }
        Target::Url(url) => (None, Some(url.clone())),
        Target::Command(_) => (None, None),
    };
    let pages = admin
        .cloned()
        .or_else(|| settings.as_ref()?.admin.and_then(|admin| at(admin, "http")))
        .or_else(|| endpoint.clone());
    let behind = match (&settings, target) {
        (Some(settings), _) => settings.clone(),
        (None, Target::Command(command)) => only(started(command)),
        (None, _) => only(endpoint.clone().map(HttpAddress::new).map(UpstreamTarget::Http)),
    };
    let [health, ready, metrics] = ["/health", "/ready", "/metrics"].map(|path| page(pages.as_ref(), path));
    let (health, ready, metrics) = tokio::join!(health, ready, metrics);
    let (tools, discovered, unknown_tool) = servers(behind).await;
    let audit = settings.as_ref().and_then(|settings| settings.audit.as_ref());
    Ok(Facts {
        tools,
        discovered,
        unknown_tool,
        health,
        ready,
        metrics,
        anonymous: anonymous(endpoint.as_ref()).await,
        audit: audit.map(|audit| verify(&audit.folder, None)),
        settings,
    })
}

/// Where clients reach a gateway. With TLS that is a name, which its certificate has.
fn base(settings: &Settings) -> Option<Url> {
    let address = settings.listen.unwrap_or_else(args::default_address);
    if settings.tls.is_none() {
        return at(address, "http");
    }
    let public = settings.auth.as_ref().and_then(|auth| Url::parse(auth.public_url.as_ref()?).ok());
    public.or_else(|| at(address, "https"))
}

/// Where a gateway that listens there is reached from this machine.
fn at(address: SocketAddr, scheme: &str) -> Option<Url> {
    let ip = if address.ip().is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { address.ip() };
    // Port 0 says only that some port is taken.
    let known = (address.port() != 0).then(|| SocketAddr::new(ip, address.port()))?;
    Url::parse(&format!("{scheme}://{known}/")).ok()
}

/// A server that is a command.
fn started(command: &[String]) -> Option<UpstreamTarget> {
    let (program, arguments) = command.split_first()?;
    let command = Command::new(program, arguments.iter().cloned());
    Some(UpstreamTarget::Command { command, inherit: Vec::new(), limits: CommandLimits::default() })
}

/// A gateway to this server alone.
fn only(target: Option<UpstreamTarget>) -> Settings {
    let upstream = |target| UpstreamSettings {
        name: "target".to_owned(),
        target,
        revision: None,
        sessions: Sessions::default(),
        credentials: None,
        assertion: None,
    };
    Settings { upstreams: target.map(upstream).into_iter().collect(), ..Settings::default() }
}

async fn send(url: Option<&Url>, path: Option<&str>, body: Option<Value>) -> Page {
    let url = url.ok_or("no address is known: a command has none, and port 0 stands for any")?;
    let mut url = url.clone();
    if let Some(path) = path {
        url.set_path(path);
    }
    let mut headers = HeaderMap::new();
    headers.insert("accept", HeaderValue::from_static("application/json, text/event-stream"));
    let (method, body) = match body {
        None => (Method::GET, String::new()),
        Some(body) => {
            headers.insert("content-type", HeaderValue::from_static("application/json"));
            (Method::POST, body.to_string())
        }
    };
    let failed = || format!("nothing answers at {}", url.as_str());
    let http = HttpUpstream::new(&HttpAddress::new(url.clone()), CONNECT).map_err(|_| failed())?;
    let asked = async {
        let mut response = http.send(method, headers, body.into()).await.map_err(|_| failed())?;
        let status = response.status.as_u16();
        let body = response.whole(PAGE).await.map_err(|_| format!("no whole answer from {}", url.as_str()))?;
        Ok((status, String::from_utf8_lossy(&body).into_owned()))
    };
    timeout(PATIENCE, asked).await.unwrap_or_else(|_| Err(failed()))
}

async fn page(url: Option<&Url>, path: &str) -> Page {
    send(url, Some(path), None).await
}

/// Asks to open a session without a token.
async fn anonymous(endpoint: Option<&Url>) -> Page {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": { "name": "proof-ready", "version": env!("CARGO_PKG_VERSION") } } });
    send(endpoint, None, Some(body)).await
}

type Behind = (Result<Vec<Value>, String>, Result<Value, String>, Result<Value, String>);

/// Asks the servers behind a configuration, through a gateway in this process that records nothing and refuses nobody.
async fn servers(settings: Settings) -> Behind {
    let children = Children::new();
    let quiet = Settings {
        auth: None,
        access: None,
        authzen: None,
        audit: None,
        record: None,
        telemetry: None,
        budgets: None,
        slo: None,
        ..settings
    };
    let gateway = match Gateway::new(&quiet, &children) {
        Ok(gateway) => gateway,
        Err(error) => return (Err(error.to_string()), Err(error.to_string()), Err(error.to_string())),
    };
    let (mut tools, mut discovered, mut unknown) = (Ok(Vec::new()), Err(String::new()), Err(String::new()));
    for endpoint in gateway.endpoints() {
        let service = endpoint.service as Arc<dyn Service>;
        let list = tools_of(&service).await;
        tools = match (tools, list) {
            (Ok(mut all), Ok(more)) => {
                all.extend(more);
                Ok(all)
            }
            (Err(why), _) | (_, Err(why)) => Err(why),
        };
        if discovered.is_err() {
            discovered = ask(&service, "server/discover", json!({})).await;
        }
        if unknown.is_err() {
            unknown = ask(&service, "tools/call", json!({ "name": UNKNOWN_TOOL, "arguments": {} })).await;
        }
    }
    gateway.shutdown().await;
    children.kill_all();
    (tools, discovered, unknown)
}

/// All pages of the tools.
async fn tools_of(service: &Arc<dyn Service>) -> Result<Vec<Value>, String> {
    let (mut tools, mut params) = (Vec::new(), json!({}));
    for _ in 0..PAGES {
        let response = ask(service, "tools/list", params).await?;
        let next = response.pointer("/result/nextCursor").filter(|next| next.is_string()).cloned();
        tools.extend(listed(&response)?);
        match next {
            Some(next) => params = json!({ "cursor": next }),
            None => return Ok(tools),
        }
    }
    Err(format!("tools/list has more than {PAGES} pages"))
}

/// The tools of a response; an error where it names none or not all.
fn listed(response: &Value) -> Result<Vec<Value>, String> {
    let result = response.get("result");
    if let Some(missing) = result.and_then(|result| result.get("_meta")?.as_object()?.values().find_map(missing_of)) {
        return Err(format!("not all servers answered: {missing}"));
    }
    let tools = result.and_then(|result| result.get("tools")?.as_array().cloned());
    tools.ok_or_else(|| match response.pointer("/error/message").and_then(Value::as_str) {
        Some(message) => format!("the tools cannot be listed: {message}"),
        None => "the tools cannot be listed".to_owned(),
    })
}

/// What a list of the gateway says in `_meta` of servers that did not answer: a list of objects with their names.
fn missing_of(value: &Value) -> Option<String> {
    let names: Vec<_> = value.as_array()?.iter().filter_map(|one| one.get("server")?.as_str()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// One request of 2026-07-28, over a stream in memory.
async fn ask(service: &Arc<dyn Service>, method: &str, mut params: Value) -> Result<Value, String> {
    params["_meta"] = json!({
        meta::PROTOCOL_VERSION: "2026-07-28", meta::CLIENT_CAPABILITIES: {},
        meta::CLIENT_INFO: { "name": "proof-ready", "version": env!("CARGO_PKG_VERSION") },
    });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let (ours, theirs) = duplex(64 << 10);
    let (reader, writer) = tokio::io::split(theirs);
    let serving =
        stdio::serve_until(Arc::clone(service), reader, writer, stdio::Limits::default(), std::future::pending());
    let asking = async {
        let (reader, mut writer) = tokio::io::split(ours);
        writer.write_all(format!("{request}\n").as_bytes()).await.map_err(|error| error.to_string())?;
        let mut lines = BufReader::new(reader).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            if message.get("id") == Some(&json!(1)) && message.get("method").is_none() {
                return Ok(message);
            }
        }
        Err("no answer".to_owned())
    };
    tokio::select! {
        answer = timeout(PATIENCE, asking) => answer.unwrap_or_else(|_| Err(format!("no answer to {method} in time"))),
        _ = serving => Err(format!("no answer to {method}")),
    }
}
