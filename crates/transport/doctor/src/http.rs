//! One HTTP request, and what came: an answer, a demand for a token, a redirect, a page. Must not decide on revisions: any
//! answer in MCP's manner will do.

use std::time::Duration;

use net::Tap;
use net::client::negotiation::{first_request, suggests_old_transport};
use net::client::{Address, ConnectOptions, Connection, Exchange, HttpAddress, Limits, OpenError, SendError, follow};
use serde_json::{Value, json};
use url::Host;
use wire::Revision;
use wire::http::media_type;
use wire::trace::{Header, Headers, header};

use crate::Options;
use crate::step::StepName;
use crate::walk::{Finding, Walk};

/// How many redirects within one origin are followed.
const REDIRECTS: usize = 3;
/// How long the rest of a body may take.
const BODY: Duration = Duration::from_millis(500);

/// What a server answered.
pub(crate) struct Answered {
    /// The status.
    pub(crate) status: u16,
    /// The headers.
    pub(crate) headers: Headers,
}

impl Answered {
    /// Whether it wants a token.
    pub(crate) const fn demands_token(&self) -> bool {
        matches!(self.status, 401 | 403)
    }
}

/// Sends one request; `None` where no client gets any further. The address of the walk becomes the one that answered.
pub(crate) async fn ask(walk: &mut Walk) -> Option<Answered> {
    let options = walk.options.clone();
    if let Address::WebSocket(_) = options.address {
        walk.note(StepName::Http, Finding::skipped("the handshake upgrades to a WebSocket"));
        return Some(Answered { status: 101, headers: Headers::new() });
    }
    let limit = walk.step_limit();
    let (answered, address) = walk.take(StepName::Http, asked(&options, limit)).await?;
    walk.options.address = address;
    Some(answered)
}

async fn asked(options: &Options, limit: Duration) -> (Finding, Option<(Answered, Address)>) {
    let (mut address, mut seen) = (options.address.clone(), Vec::new());
    for hop in 0..=REDIRECTS {
        let response = match sent(options, &address, limit).await {
            Ok(response) => response,
            Err(error) => return (failed(options, &error).after(seen), None),
        };
        let location = header(&response.headers, "location").filter(|_| (300..400).contains(&response.status));
        let Some(location) = location else {
            let (finding, goes_on) = read(options, &response);
            let goes_to = goes_to(&address, response.is_old);
            let (status, headers) = (response.status, response.headers);
            let answered = goes_on.then_some((Answered { status, headers }, goes_to));
            return (finding.after(seen), answered);
        };
        seen.push(format!("HTTP {}, redirected to {location}", response.status));
        match follow(&address, location, hop) {
            Ok(next) => address = next,
            Err(error) => return (failed(options, &error).after(seen), None),
        }
    }
    (Finding::failed("redirects without an end", "give the final URL").after(seen), None)
}

/// The address to go on with.
fn goes_to(address: &Address, is_old: bool) -> Address {
    match address {
        Address::Http(http) if is_old => Address::Sse(http.clone()),
        other => other.clone(),
    }
}

struct Response {
    status: u16,
    headers: Headers,
    body: String,
    /// Whether it is the stream of HTTP+SSE.
    is_old: bool,
}

/// Sends the first request of the legacy era, which servers of either era answer. Where that is no address for a POST, the
/// stream of HTTP+SSE is asked for.
async fn sent(options: &Options, address: &Address, limit: Duration) -> Result<Response, OpenError> {
    if let Address::Sse(http) = address {
        return opened(options, http, limit).await;
    }
    let revision = Revision::NEWEST_LEGACY;
    let tap = Tap::new(Header::server(address.transport(), revision, "doctor"));
    let connection = Connection::open(address, revision, &tap, &connect_options(options, limit)).await?;
    let exchange = match connection.send(&first_message(revision)).await {
        Ok(exchange) => exchange,
        Err(SendError::Open(error)) => return Err(error),
        Err(other) => return Err(OpenError::Reset { at: address.to_string(), why: other.to_string() }),
    };
    let Some((status, headers)) = exchange.head(limit).await else {
        let ended = exchange.closed().is_some();
        return Err(if ended { cut(address) } else { late(address, limit) });
    };
    let response = response_of(&exchange, status, headers).await;
    end_session(&connection).await;
    if let Address::Http(http) = address
        && suggests_old_transport(status)
        && !is_message(&response.body)
        && let Ok(old) = opened(options, http, limit / 3).await
        && old.status == 200
    {
        return Ok(old);
    }
    Ok(response)
}

/// Nothing that was begun stays.
async fn end_session(connection: &Connection) {
    connection.close_within(Duration::from_millis(300)).await;
}

async fn response_of(exchange: &Exchange, status: u16, headers: Headers) -> Response {
    exchange.finished(BODY).await;
    let mut body = String::from_utf8_lossy(&exchange.body().unwrap_or_default()).into_owned();
    if let Some(event) = exchange.events().into_iter().find_map(|event| event.data) {
        body = event;
    }
    Response { status, headers, body, is_old: false }
}

/// Opens the stream of HTTP+SSE, and waits for the address that it names.
async fn opened(options: &Options, http: &HttpAddress, limit: Duration) -> Result<Response, OpenError> {
    let (address, revision) = (Address::Sse(http.clone()), Revision::R2024_11_05);
    let tap = Tap::new(Header::server(address.transport(), revision, "doctor"));
    let with = |status: u16, kind: &str, body: String| Response {
        status,
        headers: vec![("content-type".to_owned(), kind.to_owned())],
        body,
        is_old: true,
    };
    match Connection::open(&address, revision, &tap, &connect_options(options, limit)).await {
        Ok(connection) => {
            end_session(&connection).await;
            Ok(with(200, "text/event-stream", String::new()))
        }
        Err(OpenError::Http { status: status @ (401 | 403), snippet, .. }) => Ok(with(status, "", snippet)),
        Err(OpenError::Unauthorized { snippet, .. }) => Ok(with(401, "", snippet)),
        Err(error) => Err(error),
    }
}

/// The limits of a connection that serves one step.
pub(crate) fn connect_options(options: &Options, limit: Duration) -> ConnectOptions {
    let limits = Limits { connect: limit, request: limit, start: limit, message_bytes: 4 << 20, ..Limits::default() };
    ConnectOptions { authorizer: options.authorizer.clone(), ..ConnectOptions::new(limits, &options.children) }
}

/// The first request of a revision.
pub(crate) fn first_message(revision: Revision) -> String {
    let client = json!({ "name": "proofhouse", "version": env!("CARGO_PKG_VERSION") });
    let (method, params) = first_request(revision, &client, &json!({}));
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

/// What a response says, and whether a client gets any further with it.
fn read(options: &Options, response: &Response) -> (Finding, bool) {
    let Response { status, headers, body, .. } = response;
    let content = header(headers, "content-type").map(media_type).unwrap_or_default();
    let kind = if content.is_empty() { "no content type".to_owned() } else { content.clone() };
    let line = format!("HTTP {status}, {kind}");
    if response.is_old && *status == 200 {
        return (Finding::ok(line).and("the old HTTP+SSE transport answers here"), true);
    }
    if *status == 401 || (*status == 403 && !wire::http::challenges(headers).is_empty()) {
        return (Finding::ok(line).and("the server requires a token"), true);
    }
    if let Some(fix) = unspecified(&options.address).filter(|_| *status == 403) {
        let seen =
            "the server refuses this name: it is where a server listens, on every address, and not where to connect";
        return (Finding::failed(seen, fix).after(vec![line]), false);
    }
    if is_message(body) {
        return (Finding::ok(line), true);
    }
    let is_stream = (200..300).contains(status) && content == "text/event-stream" && !response.is_old;
    if is_stream {
        return (Finding::ok(line).and("the answer is a stream"), true);
    }
    let error = if (200..300).contains(status) {
        OpenError::NotMcp { at: options.address.to_string(), came: body.clone() }
    } else {
        OpenError::Http { at: options.address.to_string(), status: *status, snippet: body.clone() }
    };
    let finding = failed(options, &error).after(vec![line]);
    let finding = match between(headers) {
        Some(who) => finding.and(format!("{who} answered: a proxy may stand in between")),
        None => finding,
    };
    (finding, false)
}

/// Where to connect instead, for an address such as `0.0.0.0`.
fn unspecified(address: &Address) -> Option<String> {
    let (Address::Http(http) | Address::Sse(http)) = address else { return None };
    let loopback = match http.url.host()? {
        Host::Ipv4(ip) if ip.is_unspecified() => "127.0.0.1",
        Host::Ipv6(ip) if ip.is_unspecified() => "[::1]",
        _ => return None,
    };
    let mut url = http.url.clone();
    url.set_host(Some(loopback)).ok()?;
    Some(format!("connect to {url}; of a container, forward the port and connect to it outside"))
}

/// Who answered, where a header shows that it may not be the server itself.
fn between(headers: &Headers) -> Option<String> {
    if let Some(via) = header(headers, "via") {
        return Some(format!("`{via}`"));
    }
    let server = header(headers, "server")?;
    let known = [
        "cloudflare",
        "nginx",
        "apache",
        "envoy",
        "squid",
        "varnish",
        "awselb",
        "ngrok",
        "caddy",
        "haproxy",
        "zscaler",
    ];
    known.iter().any(|name| server.to_ascii_lowercase().contains(name)).then(|| format!("`{server}`"))
}

fn is_message(body: &str) -> bool {
    serde_json::from_str::<Value>(body).is_ok_and(|value| value.get("jsonrpc").is_some_and(|version| version == "2.0"))
}

/// A failed step, with the words for the error.
pub(crate) fn failed(options: &Options, error: &OpenError) -> Finding {
    let (what, lines) = redacted(options, error).with_last_lines();
    let finding = Finding::failed(what, (options.words.connecting)(&error.advice()));
    if lines.is_empty() {
        return finding;
    }
    let finding = finding.and("its last lines on stderr:");
    lines.into_iter().fold(finding, Finding::and)
}

/// The same error without secrets: its description shortens what a peer wrote, and half a secret is not recognized.
fn redacted(options: &Options, error: &OpenError) -> OpenError {
    let mut error = error.clone();
    if let OpenError::BadAddress { why: text, .. }
    | OpenError::NotStarted { why: text, .. }
    | OpenError::Exited { stderr: text, .. }
    | OpenError::Reset { why: text, .. }
    | OpenError::Dns { host: text, .. }
    | OpenError::Tls { why: text, .. }
    | OpenError::Http { snippet: text, .. }
    | OpenError::Unauthorized { snippet: text, .. }
    | OpenError::NotMcp { came: text, .. }
    | OpenError::RedirectLoop { to: text, .. }
    | OpenError::Redirected { to: text, .. }
    | OpenError::Declined { came: text, .. } = &mut error
    {
        *text = options.redactor.redact_text(text).into_owned();
    }
    error
}

fn cut(address: &Address) -> OpenError {
    OpenError::Reset { at: address.to_string(), why: "closed by the server".to_owned() }
}

fn late(address: &Address, after: Duration) -> OpenError {
    OpenError::Timeout { at: address.to_string(), waited_for: "answer", after }
}
