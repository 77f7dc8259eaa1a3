//! The requests that a soak makes, as bytes, in both eras. It knows which features the reference server has.

use std::fmt::Write as _;

/// The legacy revisions that run over Streamable HTTP.
pub(super) const LEGACY: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];

/// Requests that are answered at once: method and `params`. Most are calls, as in life.
const USUAL: &[(&str, &str)] = &[
    ("tools/call", r#""name":"echo","arguments":{"message":"hello, hello"}"#),
    ("tools/call", r#""name":"sum","arguments":{"a":2,"b":40}"#),
    ("tools/call", r#""name":"echo","arguments":{"message":"again"}"#),
    ("tools/list", ""),
    ("resources/read", r#""uri":"proof://docs/welcome""#),
    ("resources/list", ""),
    ("prompts/get", r#""name":"code_review","arguments":{"code":"x"}"#),
    ("prompts/list", ""),
];

/// Brings a tool in or takes it away; all clients are notified.
pub(super) const TOGGLE: (&str, &str) = ("tools/call", r#""name":"toggle_tool","arguments":{}"#);

/// One of the usual requests.
pub(super) const fn usual(choice: usize) -> (&'static str, &'static str) {
    USUAL[choice % USUAL.len()]
}

/// A session and what a request in it must say.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) session: String,
    pub(super) revision: &'static str,
}

fn post(fields: &str, body: &str) -> Vec<u8> {
    let accept = "application/json, text/event-stream";
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    format!("{head}accept: {accept}\r\n{fields}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn fields(session: &Session) -> String {
    format!("mcp-session-id: {}\r\nmcp-protocol-version: {}\r\n", session.session, session.revision)
}

/// `initialize`
pub(super) fn hello(revision: &str) -> Vec<u8> {
    let params =
        format!(r#""protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"soak","version":"1"}}"#);
    post("", &format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{{params}}}}}"#))
}

/// `notifications/initialized`
pub(super) fn ready(session: &Session) -> Vec<u8> {
    post(&fields(session), r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
}

/// A request in a session.
pub(super) fn legacy(session: &Session, id: u64, (method, params): (&str, &str)) -> Vec<u8> {
    post(&fields(session), &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#))
}

/// A request that stands alone.
pub(super) fn modern(id: u64, (method, params): (&str, &str)) -> Vec<u8> {
    let name = params.split_once(r#""name":""#).or_else(|| params.split_once(r#""uri":""#));
    let name = name.and_then(|(before, rest)| before.is_empty().then(|| rest.split('"').next()).flatten());
    let mut fields = format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n");
    if let Some(name) = name {
        let _ = write!(fields, "mcp-name: {name}\r\n");
    }
    let meta = concat!(
        r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":"p","#,
        r#""io.modelcontextprotocol/clientInfo":{"name":"soak","version":"1"},"#,
        r#""io.modelcontextprotocol/clientCapabilities":{}}"#
    );
    let comma = if params.is_empty() { "" } else { "," };
    post(&fields, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{comma}{meta}}}}}"#))
}

/// A call that reports progress before it answers, `delay` milliseconds after each step.
pub(super) fn slow(steps: u32, delay: u32) -> String {
    format!(r#""name":"slow","arguments":{{"steps":{steps},"delay_ms":{delay}}}"#)
}

/// What makes a legacy call tell its progress.
pub(super) const TOLD: &str = r#","_meta":{"progressToken":"p"}"#;

/// A request for changes, in the modern era.
pub(super) const LISTEN: (&str, &str) = ("subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#);

/// Opens a stream of a session, after the event `last` where there is one.
pub(super) fn get(session: &Session, last: Option<&str>) -> Vec<u8> {
    let last = last.map(|id| format!("last-event-id: {id}\r\n")).unwrap_or_default();
    let fields = fields(session);
    format!("GET /mcp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n{fields}{last}\r\n").into_bytes()
}

/// Ends a session.
pub(super) fn delete(session: &Session) -> Vec<u8> {
    format!("DELETE /mcp HTTP/1.1\r\nhost: localhost\r\n{}\r\n", fields(session)).into_bytes()
}
