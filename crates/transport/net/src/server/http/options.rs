//! Options of the HTTP endpoints: transports, access, bounds. Knows no request.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::bearer::Bearer;
use super::guard::Guard;
use super::layer::Layer;
use super::routing::Router;
use crate::server::batch::BatchBounds;
use crate::server::recorder::HttpRecorder;
use crate::server::tls::ServerTls;

/// Where the old HTTP+SSE transport opens its stream.
pub const SSE_PATH: &str = "/sse";
/// Where an HTTP+SSE client posts; the first event of the stream names it.
pub const MESSAGES_PATH: &str = "/messages";
/// Where a WebSocket is opened.
pub const WEBSOCKET_PATH: &str = "/ws";

/// Which transports are served in addition to Streamable HTTP.
#[derive(Clone, Copy, Debug, Default)]
pub struct OtherTransports {
    /// The old HTTP+SSE at [`SSE_PATH`].
    pub sse: bool,
    /// WebSocket at [`WEBSOCKET_PATH`].
    pub websocket: bool,
}

/// A JSON document at a path of its own, for everybody: no token is asked for.
#[derive(Clone, Debug)]
pub struct Document {
    /// The path, such as `/.well-known/mcp-manifest.json`.
    pub path: String,
    /// The text.
    pub text: Bytes,
}

/// How the endpoints behave.
#[derive(Clone, Debug)]
pub struct Options {
    /// The path of the Streamable HTTP endpoint.
    pub path: String,
    /// Additional transports.
    pub other_transports: OtherTransports,
    /// What stands before the paths of the additional transports: `/files` for `/files/sse`.
    pub prefix: String,
    /// Host names that are allowed in `Host` and `Origin`, in addition to the address that a connection came to. Loopback names
    /// are allowed only on loopback.
    pub hosts: Vec<String>,
    /// Origins of pages that are allowed, letter by letter (`https://app.example:8443`), in addition to this machine's.
    pub origins: Vec<String>,
    /// Open a WebSocket also at the path of Streamable HTTP, for a request that asks for one, and at `/ws` below it.
    pub sockets_at_path: bool,
    /// Refuse a legacy request of a session at 2025-06-18 or later that lacks `MCP-Protocol-Version`.
    pub strict: bool,
    /// Answer a legacy request that fails with the status 400, or 500 for an internal error, instead of 200.
    pub error_status: bool,
    /// The token that every request must carry, if any.
    pub bearer: Option<Bearer>,
    /// Admits requests, in addition to the bearer token.
    pub guard: Option<Arc<dyn Guard>>,
    /// A layer around the endpoints.
    pub layer: Option<Arc<dyn Layer>>,
    /// Sends admitted requests to other servers that must answer them.
    pub router: Option<Arc<dyn Router>>,
    /// Documents that are served as they are.
    pub documents: Vec<Document>,
    /// Speaks TLS. The options of further endpoints of the listener must have it, too.
    pub tls: Option<Arc<ServerTls>>,
    /// Records everything that crosses.
    pub recorder: Option<Arc<HttpRecorder>>,
    /// Bounds.
    pub limits: Limits,
}

/// Bounds of the endpoints.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The largest body or WebSocket message, in bytes.
    pub body: usize,
    /// How long a body may take to arrive.
    pub body_time: Duration,
    /// How long the head of a request may take, and how long a connection may be idle.
    pub head_time: Duration,
    /// The most bytes of a head.
    pub head: usize,
    /// The most header fields.
    pub headers: usize,
    /// The most connections at once. One address may have three quarters of them.
    pub connections: usize,
    /// The most TLS handshakes under way at once. One address may have three quarters of them.
    pub handshakes: usize,
    /// How long a TLS handshake may take.
    pub handshake_time: Duration,
    /// The most sessions at once of Streamable HTTP, and the most of the other transports together. One subject, or one
    /// address where requests need no token, may have three quarters of them.
    pub sessions: usize,
    /// After how long without a request or an open stream a session ends. Where the session is its connection: without a
    /// message of the client or a request that is being answered.
    pub idle: Duration,
    /// The most requests of one session being answered at once. Each request in a batch counts.
    pub in_flight: usize,
    /// Bounds of a batch.
    pub batch: BatchBounds,
    /// How many events one stream keeps for a slow client or for resumption.
    pub events: usize,
    /// How many bytes of events one stream keeps, or may wait for an HTTP+SSE or WebSocket peer that does not read.
    pub event_bytes: usize,
    /// How many ended streams one session keeps for resumption.
    pub streams: usize,
    /// How many bytes of events the streams of all sessions keep together. The oldest ended streams make room.
    pub kept_bytes: usize,
    /// After how long of silence a stream carries a comment, and a WebSocket a ping. A WebSocket peer that stays silent for
    /// as long again is dropped.
    pub keep_alive: Duration,
    /// How long a peer may take to read some of what is written to it, and an HTTP+SSE or WebSocket peer a whole message.
    pub write_time: Duration,
    /// The `retry` of event streams: how long a client waits before it resumes.
    pub retry: Duration,
    /// How long to wait at shutdown for requests that are being answered.
    pub grace: Duration,
}

impl Options {
    /// The scheme of the addresses of the endpoints.
    pub const fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            path: "/mcp".to_owned(),
            other_transports: OtherTransports::default(),
            prefix: String::new(),
            hosts: Vec::new(),
            origins: Vec::new(),
            sockets_at_path: false,
            strict: false,
            error_status: false,
            bearer: None,
            guard: None,
            layer: None,
            router: None,
            documents: Vec::new(),
            tls: None,
            recorder: None,
            limits: Limits::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 4 << 20,
            body_time: Duration::from_secs(30),
            head_time: Duration::from_mins(1),
            head: 64 << 10,
            headers: 100,
            connections: 16_384,
            handshakes: 1024,
            handshake_time: Duration::from_secs(10),
            sessions: 16_384,
            idle: Duration::from_mins(30),
            in_flight: 256,
            batch: BatchBounds::default(),
            events: 1024,
            event_bytes: 8 << 20,
            streams: 8,
            kept_bytes: 128 << 20,
            keep_alive: Duration::from_secs(15),
            write_time: Duration::from_secs(30),
            retry: Duration::from_millis(500),
            grace: Duration::from_secs(2),
        }
    }
}
