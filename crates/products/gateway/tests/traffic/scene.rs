//! A server of 2026-07-28 over HTTP, written by hand, whose next answers a test sets; a gateway in front of it that asks for
//! tokens; clients that show status and headers.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gateway::access::TokenGuard;
use gateway::settings::{
    AccessRule, AnswerSettings, AuditSettings, AuthSettings, CacheRule, CacheSettings, Effect, Sessions, Settings,
    Target, TrafficSettings, UpstreamSettings,
};
use gateway::{Gateway, Pages};
use net::Children;
use net::client::HttpAddress;
use net::server::http::{self, Server};
use oauth::jose::Signer;
use oauth::now;
use oauth::resource::Source;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use url::Url;
use wire::{Revision, meta};

const LOCAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const ISSUER: &str = "https://auth.example";
const PATIENCE: Duration = Duration::from_secs(30);

/// What the server does with a call of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// It answers.
    Answer,
    /// It answers with `isError`.
    Fail,
    /// It answers with a JSON-RPC error.
    Refuse,
    /// It answers after this time.
    Slow(Duration),
    /// It reads the call and closes the connection.
    Cut,
    /// The same after a notification.
    CutAfterProgress,
    /// It answers with a status and no message, and perhaps `Retry-After`.
    Status(u16, Option<u32>),
}

/// What the server got, and what it does next.
#[derive(Clone, Default)]
pub(crate) struct Script(Arc<State>);

#[derive(Default)]
struct State {
    calls: Mutex<Vec<String>>,
    next: Mutex<VecDeque<Act>>,
    running: AtomicUsize,
    most: AtomicUsize,
    hang_up: Notify,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Script {
    /// What it does with the next calls; after that, it answers.
    pub(crate) fn next(&self, acts: &[Act]) {
        *lock(&self.0.next) = acts.iter().copied().collect();
    }

    /// The tools that were called since the last time.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.0.calls))
    }

    /// How many calls it has at this moment, and how many it had at most.
    pub(crate) fn running(&self) -> (usize, usize) {
        (self.0.running.load(Ordering::SeqCst), self.0.most.load(Ordering::SeqCst))
    }

    /// Closes the connections of slow calls.
    pub(crate) fn hang_up(&self) {
        self.0.hang_up.notify_waiters();
    }

    /// Waits until it has so many calls.
    pub(crate) async fn wait_for(&self, calls: usize) {
        let until = async {
            while self.running().0 != calls {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, until).await.expect("so many calls");
    }
}

fn tools() -> Value {
    let tool = |name: &str, annotations: Value| json!({ "name": name, "inputSchema": { "type": "object" }, "annotations": annotations });
    json!([
        tool("read", json!({ "readOnlyHint": true })),
        tool("repeat", json!({ "idempotentHint": true })),
        tool("write", json!({ "readOnlyHint": false, "destructiveHint": true })),
        tool("plain", json!({})),
        tool("secret", json!({ "readOnlyHint": true })),
    ])
}

/// One request with its body, or nothing at the end of the connection.
async fn read(stream: &mut TcpStream) -> Option<Value> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
            if body.len() >= length.map_or(0, |length| length.parse().expect("a length")) {
                return serde_json::from_str(body).ok();
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

async fn answer(stream: &mut TcpStream, status: &str, headers: &str, body: &str) {
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
}

async fn serve(mut stream: TcpStream, script: Script) {
    let Some(message) = read(&mut stream).await else { return };
    let modern = |mut body: Value| {
        body["resultType"] = json!("complete");
        body["ttlMs"] = json!(0);
        body["cacheScope"] = json!("private");
        json!({ "jsonrpc": "2.0", "id": message["id"], "result": body }).to_string()
    };
    let body = match message["method"].as_str().unwrap_or_default() {
        "server/discover" => modern(json!({ "supportedVersions": [Revision::R2026_07_28.as_str()],
            "capabilities": { "tools": {} }, "_meta": { meta::SERVER_INFO: { "name": "hand", "version": "1" } } })),
        "tools/list" => modern(json!({ "tools": tools() })),
        "tools/call" => {
            let act = lock(&script.0.next).pop_front().unwrap_or(Act::Answer);
            lock(&script.0.calls).push(message["params"]["name"].as_str().unwrap_or_default().to_owned());
            let running = script.0.running.fetch_add(1, Ordering::SeqCst) + 1;
            script.0.most.fetch_max(running, Ordering::SeqCst);
            let done = called(&mut stream, &message, act, &modern, &script.0.hang_up).await;
            script.0.running.fetch_sub(1, Ordering::SeqCst);
            match done {
                Some(body) => body,
                None => return,
            }
        }
        _ => json!({ "jsonrpc": "2.0", "id": message["id"], "error": { "code": -32601, "message": "no" } }).to_string(),
    };
    answer(&mut stream, "200 OK", "", &body).await;
}

/// The body that answers a call; nothing where the connection ends without one.
async fn called(
    stream: &mut TcpStream,
    message: &Value,
    act: Act,
    modern: &impl Fn(Value) -> String,
    hang_up: &Notify,
) -> Option<String> {
    let done = json!({ "content": [{ "type": "text", "text": "done" }] });
    match act {
        Act::Answer => Some(modern(done)),
        Act::Fail => Some(modern(json!({ "content": [{ "type": "text", "text": "failed" }], "isError": true }))),
        Act::Refuse => {
            let error = json!({ "code": -32602, "message": "refused" });
            Some(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }).to_string())
        }
        Act::Slow(time) => {
            let mut byte = [0];
            // A client that leaves closes the connection.
            tokio::select! {
                () = tokio::time::sleep(time) => Some(modern(done)),
                _ = stream.read(&mut byte) => None,
                () = hang_up.notified() => None,
            }
        }
        Act::Cut => None,
        Act::CutAfterProgress => {
            let note = json!({ "jsonrpc": "2.0", "method": "notifications/progress",
                "params": { "progressToken": message["params"]["_meta"]["progressToken"], "progress": 1 } });
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            let _ = stream.write_all(format!("{head}data: {note}\n\n").as_bytes()).await;
            None
        }
        Act::Status(status, after) => {
            let after = after.map(|after| format!("retry-after: {after}\r\n")).unwrap_or_default();
            answer(stream, &format!("{status} No"), &after, "no").await;
            None
        }
    }
}

/// How a scene is made.
#[derive(Default)]
pub(crate) struct Options<'o> {
    pub(crate) traffic: Option<TrafficSettings>,
    pub(crate) denied: &'o [&'o str],
    pub(crate) cached: &'o [&'o str],
    pub(crate) audit: Option<&'o Path>,
}

pub(crate) struct Scene {
    pub(crate) gateway: Gateway,
    pub(crate) script: Script,
    settings: Settings,
    server: Server,
    signer: Signer,
    upstream: (SocketAddr, Mutex<Option<JoinHandle<()>>>),
    _folder: TempDir,
}

fn access(effect: Effect, tools: &[&str]) -> AccessRule {
    let tools = Some(tools.iter().map(|name| (*name).to_owned()).collect());
    AccessRule { effect, tools, prompts: None, resources: None, scopes: Vec::new(), condition: None }
}

fn cache(tools: &[&str]) -> CacheSettings {
    let rule = CacheRule {
        tools: tools.iter().map(|name| (*name).to_owned()).collect(),
        resources: Vec::new(),
        lists: Vec::new(),
        ttl: Duration::from_mins(5),
        shared: false,
        invalidated_by: Vec::new(),
    };
    CacheSettings { rules: vec![rule], ..CacheSettings::default() }
}

impl Scene {
    pub(crate) async fn new(options: Options<'_>) -> Self {
        let script = Script::default();
        let listener = TcpListener::bind(LOCAL).await.expect("a free port");
        let at = listener.local_addr().expect("an address");
        let (signer, folder) = (Signer::fresh(), tempfile::tempdir().expect("a folder"));
        let keys = folder.path().join("keys.json");
        std::fs::write(&keys, json!({ "keys": [signer.public()] }).to_string()).expect("a file");
        let target = Target::Http(HttpAddress::new(Url::parse(&format!("http://{at}/mcp")).expect("a URL")));
        let upstreams = vec![UpstreamSettings {
            name: "hand".to_owned(),
            target,
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
            scopes: Vec::new(),
            egress: None,
        };
        let rules = vec![access(Effect::Deny, options.denied), access(Effect::Allow, &["*"])];
        let answers = AnswerSettings { cache: Some(cache(options.cached)), ..AnswerSettings::default() };
        let settings = Settings {
            upstreams,
            auth: Some(auth.clone()),
            access: Some(rules).filter(|_| !options.denied.is_empty()),
            answers: if options.cached.is_empty() { AnswerSettings::default() } else { answers },
            audit: options.audit.map(|folder| AuditSettings::new(folder.to_owned())),
            traffic: options.traffic,
            ..Settings::default()
        };
        let gateway = Gateway::new(&settings, &Children::new()).expect("valid settings");
        let guard = Arc::new(TokenGuard::start(&gateway, &auth).await.expect("keys"));
        let layer = Arc::new(Pages::new(gateway.clone()));
        let http_options = http::Options { guard: Some(guard), layer: Some(layer), ..http::Options::default() };
        let server = http::listen(Arc::new(gateway.clone()), LOCAL, http_options).await.expect("a free port");
        let upstream = (at, Mutex::new(Some(Self::accept(listener, script.clone()))));
        Self { gateway, script, settings, server, signer, upstream, _folder: folder }
    }

    fn accept(listener: TcpListener, script: Script) -> JoinHandle<()> {
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, script.clone()));
            }
        })
    }

    /// The server takes no connections any more.
    pub(crate) async fn stop_upstream(&self) {
        let task = lock(&self.upstream.1).take().expect("it runs");
        task.abort();
        let _ = task.await;
    }

    /// It takes them again, at the same address.
    pub(crate) async fn start_upstream(&self) {
        let listener = TcpListener::bind(self.upstream.0).await.expect("the port is free");
        *lock(&self.upstream.1) = Some(Self::accept(listener, self.script.clone()));
    }

    /// Other limits of traffic from now on.
    pub(crate) fn change(&self, traffic: Option<TrafficSettings>) {
        let settings = Settings { traffic, ..self.settings.clone() };
        let reloaded = self.gateway.reload(&settings).expect("valid settings");
        assert_eq!((reloaded.kept, reloaded.begun), (1, 0));
    }

    /// A member of what the status says of traffic.
    pub(crate) fn status(&self, pointer: &str) -> Value {
        self.gateway.status().pointer(&format!("/traffic{pointer}")).cloned().unwrap_or_default()
    }

    /// The response to an HTTP request: status, head, body.
    pub(crate) async fn http(&self, first: &str, headers: &str, body: &str) -> Got {
        let mut stream = TcpStream::connect(self.server.local_addr()).await.expect("it listens");
        let length = body.len();
        let text = format!(
            "{first} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n{headers}content-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(text.as_bytes()).await.expect("it reads");
        let mut bytes = Vec::new();
        tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("in time").expect("it answers");
        Got::of(&String::from_utf8_lossy(&bytes))
    }

    /// The `Authorization` of a principal.
    pub(crate) fn authorization(&self, subject: &str) -> String {
        let claims = json!({ "iss": ISSUER, "aud": "gateway", "exp": now() + 300, "sub": subject });
        format!("authorization: Bearer {}\r\n", self.signer.sign(json!({ "typ": "at+jwt" }), &claims))
    }

    /// A request of a client of 2026-07-28.
    pub(crate) async fn ask(&self, subject: &str, method: &str, mut params: Value) -> Got {
        let revision = Revision::R2026_07_28.as_str();
        params["_meta"][meta::PROTOCOL_VERSION] = json!(revision);
        params["_meta"][meta::CLIENT_INFO] = json!({ "name": "c", "version": "1" });
        params["_meta"][meta::CLIENT_CAPABILITIES] = json!({});
        let name = params["name"].as_str().map(|name| format!("mcp-name: {name}\r\n")).unwrap_or_default();
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let authorization = self.authorization(subject);
        let headers = format!("{authorization}mcp-protocol-version: {revision}\r\nmcp-method: {method}\r\n{name}");
        self.http("POST /mcp", &headers, &message.to_string()).await
    }

    /// A call of a tool.
    pub(crate) async fn call(&self, subject: &str, tool: &str) -> Got {
        self.ask(subject, "tools/call", json!({ "name": tool, "arguments": {} })).await
    }

    /// Several calls at the same time.
    pub(crate) async fn calls(&self, subject: &str, tool: &str, count: usize) -> Vec<Got> {
        futures_util::future::join_all((0..count).map(|_| self.call(subject, tool))).await
    }

    pub(crate) async fn end(self) {
        self.server.shutdown().await;
        self.gateway.shutdown().await;
    }
}

/// A response.
#[derive(Clone, Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    /// The last message in it.
    pub(crate) message: Value,
}

impl Got {
    fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        let json = |line: &str| {
            let begin = line.find('{')?;
            serde_json::from_str(&line[begin..=line.rfind('}')?]).ok()
        };
        let message = body.lines().filter_map(json).next_back().unwrap_or_default();
        Self { status, head: head.to_lowercase(), body: body.to_owned(), message }
    }

    /// `data` of the error.
    pub(crate) fn data(&self) -> &Value {
        &self.message["error"]["data"]
    }

    pub(crate) fn failure(&self) -> &str {
        self.data()["failure"].as_str().unwrap_or_default()
    }

    #[track_caller]
    pub(crate) fn worked(&self) {
        assert!(self.message["result"].is_object(), "{self:?}");
    }

    /// It was refused as one too many, with the time to come again.
    #[track_caller]
    pub(crate) fn is_too_many(&self, failure: &str) -> u64 {
        assert_eq!((self.status, self.failure()), (429, failure), "{self:?}");
        let (data, code) = (self.data(), &self.message["error"]["code"]);
        assert_eq!(
            (&data["category"], &data["outcome"], code),
            (&json!("RESOURCE_EXHAUSTED"), &json!("not run"), &json!(-32603))
        );
        let after = data["retry_after_ms"].as_u64().expect("a time");
        let header = format!("\r\nretry-after: {}\r\n", after.div_ceil(1000));
        assert!(format!("{}\r\n", self.head).contains(&header), "{header} {self:?}");
        after
    }
}
