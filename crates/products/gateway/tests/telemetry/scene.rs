//! A server that keeps what it got, a gateway in front of it, and requests by hand.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};

use gateway::access::TokenGuard;
use gateway::settings::{AuthSettings, Sessions, Settings, Target, UpstreamSettings};
use gateway::{Gateway, Pages};
use net::Children;
use net::client::HttpAddress;
use net::server::http::{self, Server};
use net::service::{Answer, Call, Context, Opening, Reply, RpcError, Service};
use oauth::jose::Signer;
use oauth::now;
use oauth::resource::Source;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;
use wire::{Message, Revision};

pub(crate) const LOCAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const ISSUER: &str = "https://auth.example";

/// The texts of all requests that the server got, `tools/call` only.
pub(crate) type Seen = Arc<Mutex<Vec<Value>>>;

/// A server with the tools `echo` and `fails`.
struct Recorder {
    revision: Revision,
    seen: Seen,
}

impl Service for Recorder {
    fn call(&self, call: Call) -> Reply {
        let modern = call.context.session.is_none();
        let complete = |mut body: Value| {
            if modern {
                body["resultType"] = json!("complete");
            }
            body
        };
        let (server, capabilities) = (json!({ "name": "r", "version": "1" }), json!({ "tools": {} }));
        let id = call.id().clone();
        let body = match call.message.method().unwrap_or_default() {
            "initialize" => {
                let params = call.message.params().cloned().unwrap_or_default();
                let (client, theirs) = (params["clientInfo"].clone(), params["capabilities"].clone());
                if let Some(session) = &call.context.session {
                    let _ = session.open(Opening { revision: self.revision, capabilities: theirs, client });
                }
                json!({ "protocolVersion": self.revision.as_str(), "serverInfo": server, "capabilities": capabilities })
            }
            "server/discover" => complete(json!({ "supportedVersions": [self.revision.as_str()], "ttlMs": 0,
                "capabilities": capabilities, "cacheScope": "private", "_meta": { wire::meta::SERVER_INFO: server } })),
            "tools/list" => {
                let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
                complete(json!({ "tools": [tool("echo"), tool("fails")], "ttlMs": 0, "cacheScope": "private" }))
            }
            "tools/call" => {
                self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(call.message.value().clone());
                let content = json!([{ "type": "text", "text": "done" }]);
                match call.message.string_member("name").as_deref() {
                    Some("echo") => complete(json!({ "content": content })),
                    Some("fails") => complete(json!({ "content": content, "isError": true })),
                    _ => return Answer::error(Some(&id), &RpcError::new(-32602, "Unknown tool")).into(),
                }
            }
            _ => return Answer::error(Some(&id), &RpcError::new(-32601, "Unknown method")).into(),
        };
        Answer::result(&id, &body).into()
    }

    fn notice(&self, _: &Message, _: &Context) {}

    fn revisions(&self) -> &[Revision] {
        slice::from_ref(&self.revision)
    }
}

/// Servers that run.
pub(crate) struct Scene {
    pub(crate) gateway: Gateway,
    pub(crate) server: Server,
    pub(crate) seen: Seen,
    signer: Signer,
    _upstream: Server,
    _folder: TempDir,
}

/// A response, read by hand.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Got {
    /// A header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut named = self.head.lines().filter_map(|line| line.split_once(": "));
        named.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl Scene {
    /// A gateway with these settings, in front of a server of `revision`. With `tokens`, clients need one.
    pub(crate) async fn new(revision: Revision, tokens: bool, settings: Settings) -> Self {
        let seen = Seen::default();
        let recorder = Arc::new(Recorder { revision, seen: Arc::clone(&seen) });
        let upstream = http::listen(recorder, LOCAL, http::Options::default()).await.expect("a free port");
        let (signer, folder) = (Signer::fresh(), tempfile::tempdir().expect("a folder"));
        let keys = folder.path().join("keys.json");
        std::fs::write(&keys, json!({ "keys": [signer.public()] }).to_string()).expect("a file");
        let url = Url::parse(&format!("http://{}/mcp", upstream.local_addr())).expect("a URL");
        let upstreams = vec![UpstreamSettings {
            name: "up\"1".to_owned(),
            target: Target::Http(HttpAddress::new(url)),
            revision: None,
            sessions: Sessions::default(),
            credentials: None,
            assertion: None,
        }];
        let auth = AuthSettings {
            issuer: ISSUER.to_owned(),
            keys: Some(Source::File(keys)),
            introspection: None,
            audience: Some("gateway".to_owned()),
            public_url: None,
            scopes: vec!["mcp".to_owned()],
            egress: None,
        };
        let settings = Settings { upstreams, auth: Some(auth.clone()).filter(|_| tokens), ..settings };
        let gateway = Gateway::new(&settings, &Children::new()).expect("valid settings");
        let guard = TokenGuard::start(&gateway, &auth).await.expect("keys");
        let options = http::Options {
            layer: Some(Arc::new(Pages::new(gateway.clone()))),
            guard: Some(Arc::new(guard) as Arc<dyn http::Guard>).filter(|_| tokens),
            ..http::Options::default()
        };
        let server = http::listen(Arc::new(gateway.clone()), LOCAL, options).await.expect("a free port");
        Self { gateway, server, seen, signer, _upstream: upstream, _folder: folder }
    }

    /// A token with other claims.
    pub(crate) fn token(&self, change: impl FnOnce(&mut Value)) -> String {
        let mut claims = json!({ "iss": ISSUER, "aud": "gateway", "exp": now() + 60, "sub": "me", "scope": "mcp" });
        change(&mut claims);
        self.signer.sign(json!({ "typ": "at+jwt" }), &claims)
    }

    /// Sends a request and reads its whole response.
    pub(crate) async fn ask(&self, begin: &str, headers: &str, body: &str) -> Got {
        let (address, length) = (self.server.local_addr(), body.len());
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let request = format!(
            "{begin} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\naccept: application/json, text/event-stream\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let mut text = String::new();
        stream.read_to_string(&mut text).await.expect("it answers");
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Got { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// Calls a tool at 2026-07-28 with these members in `_meta`.
    pub(crate) async fn call(&self, tool: &str, meta: &Value, headers: &str) -> Got {
        let mut params = json!({ "name": tool, "arguments": { "secret": "hunter2" }, "_meta": {
            wire::meta::PROTOCOL_VERSION: "2026-07-28", wire::meta::CLIENT_CAPABILITIES: {},
            wire::meta::CLIENT_INFO: { "name": "c", "version": "1" } } });
        for (name, value) in meta.as_object().into_iter().flatten() {
            params["_meta"][name] = value.clone();
        }
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string();
        let headers =
            format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\n{headers}");
        self.ask("POST /mcp", &headers, &body).await
    }

    /// Opens a session of 2025-06-18 and returns its id.
    pub(crate) async fn open(&self, headers: &str) -> String {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "capabilities": {},
            "protocolVersion": "2025-06-18", "clientInfo": { "name": "c", "version": "1" } } });
        let got = self.ask("POST /mcp", headers, &body.to_string()).await;
        got.header("mcp-session-id").unwrap_or_else(|| panic!("{got:?}")).to_owned()
    }

    /// The page of metrics.
    pub(crate) async fn metrics(&self) -> String {
        self.ask("GET /metrics", "", "").await.body
    }

    pub(crate) async fn end(self) {
        self.server.shutdown().await;
        self.gateway.shutdown().await;
    }
}
