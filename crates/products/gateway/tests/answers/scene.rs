//! A server that answers as a test says and counts its requests, a gateway that asks for tokens or not, and clients that send
//! what a test says.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use gateway::Gateway;
use gateway::access::TokenGuard;
use gateway::settings::{
    AccessRule, AnswerSettings, AuthSettings, CommandLimits, Effect, ServerSettings, Sessions, Settings, Target,
    UpstreamSettings,
};
use net::Children;
use net::client::HttpAddress;
use net::process::Command;
use net::server::http::{self, HeaderMap, HeaderName, HeaderValue, Method, Server};
use net::service::{Answer, Call, Link, Opening, Reply, Service};
use net::upstream::{HttpUpstream, Response};
use oauth::jose::Signer;
use oauth::now;
use oauth::resource::Source;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;
use url::Url;
use wire::http::modern_headers;
use wire::message::{Packet, parse};
use wire::meta::SUBSCRIPTION_ID;
use wire::{Era, RequestId, Revision, meta};

const LOCAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const ISSUER: &str = "https://auth.example";
const PATIENCE: Duration = Duration::from_secs(20);

/// The requests that a server got, and where it announces changes.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<Value>>>, Arc<Mutex<Vec<(RequestId, Link)>>>, Arc<Notify>);

impl Seen {
    /// The requests for an item, in order.
    pub(crate) fn of(&self, method: &str, name: &str) -> Vec<Value> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |message: &&Value| {
            let params = &message["params"];
            message["method"] == method && (name.is_empty() || params["name"] == name || params["uri"] == name)
        };
        all.iter().filter(is_it).cloned().collect()
    }

    /// Takes note of a request.
    pub(crate) fn note(&self, call: &Call) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(call.message.value().clone());
    }

    /// Answers a request to follow changes, until the stream ends.
    pub(crate) fn follow(&self, call: Call) -> Reply {
        self.1.lock().unwrap_or_else(PoisonError::into_inner).push((call.id().clone(), call.link.clone()));
        let subscription = json!({ SUBSCRIPTION_ID: call.id().to_value() });
        let body = json!({ "_meta": subscription, "notifications": call.message.value()["params"]["notifications"] });
        let _ = call.link.notify("notifications/subscriptions/acknowledged", body);
        let end = Arc::clone(&self.2);
        Reply::later(async move {
            tokio::select! {
                () = call.link.closing() => {}
                () = end.notified() => {}
            }
            Answer::result(call.id(), &json!({ "resultType": "complete" }))
        })
    }

    /// How many calls of a tool there were.
    pub(crate) fn calls(&self, name: &str) -> usize {
        self.of("tools/call", name).len()
    }

    /// Announces a change to all who follow changes; waits until somebody does.
    pub(crate) async fn announce(&self, method: &str, params: Value) {
        for _ in 0..500 {
            let links = self.1.lock().unwrap_or_else(PoisonError::into_inner).clone();
            for (id, link) in &links {
                let mut params = params.clone();
                params["_meta"][SUBSCRIPTION_ID] = id.to_value();
                let _ = link.notify(method, params);
            }
            if !links.is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("nobody follows changes");
    }

    /// Ends all streams of changes, as a proxy does it.
    pub(crate) fn end_streams(&self) {
        self.1.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.2.notify_waiters();
    }

    /// Whether somebody follows changes.
    pub(crate) fn is_followed(&self) -> bool {
        !self.1.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Waits until there was a call of a tool.
    pub(crate) async fn wait(&self, name: &str) {
        self.wait_for(name, 1).await;
    }

    /// Waits until there were so many.
    pub(crate) async fn wait_for(&self, name: &str, count: usize) {
        for _ in 0..1000 {
            if self.calls(name) >= count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("no call of {name}");
    }
}

pub(crate) type Answering = Arc<dyn Fn(Call) -> Reply + Send + Sync>;

struct Upstream {
    revision: Revision,
    seen: Seen,
    answer: Answering,
}

/// The tools of the server: `read` and `usage` only read, `write` and `create` do not say so.
fn tools() -> Value {
    let reads = json!({ "readOnlyHint": true });
    let schema = json!({ "type": "object" });
    let keyed = json!({ "type": "object", "properties": { "idempotency_key": { "type": "string" } } });
    json!([
        { "name": "read", "inputSchema": schema, "annotations": reads },
        { "name": "usage", "inputSchema": schema, "annotations": reads },
        { "name": "write", "inputSchema": schema },
        { "name": "create", "inputSchema": keyed, "outputSchema": schema, "annotations": { "readOnlyHint": false } },
    ])
}

impl Service for Upstream {
    fn call(&self, call: Call) -> Reply {
        self.seen.note(&call);
        let server = json!({ "name": "scripted", "version": "1" });
        let capabilities = json!({ "tools": { "listChanged": true }, "resources": { "subscribe": true, "listChanged": true },
            "prompts": {} });
        let modern = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private" });
        let with = |mut body: Value| {
            if self.revision.era() == Era::Modern {
                body.as_object_mut().expect("an object").extend(modern.as_object().cloned().unwrap_or_default());
            }
            Answer::result(call.id(), &body).into()
        };
        match call.message.method().unwrap_or_default() {
            "initialize" => {
                let params = call.message.params().cloned().unwrap_or_default();
                let (capable, client) = (params["capabilities"].clone(), params["clientInfo"].clone());
                if let Some(session) = &call.context.session {
                    let _ = session.open(Opening { revision: self.revision, capabilities: capable, client });
                }
                let body = json!({ "protocolVersion": self.revision.as_str(), "serverInfo": server,
                    "capabilities": capabilities });
                Answer::result(call.id(), &body).into()
            }
            "server/discover" => with(json!({ "supportedVersions": [self.revision.as_str()],
                "capabilities": capabilities, "_meta": { meta::SERVER_INFO: server } })),
            "tools/list" if call.message.body_member("cursor").is_none() => with(json!({ "tools": tools() })),
            "subscriptions/listen" => self.seen.follow(call),
            "resources/templates/list" => with(json!({ "resourceTemplates": [] })),
            _ => (self.answer)(call),
        }
    }

    fn revisions(&self) -> &[Revision] {
        std::slice::from_ref(&self.revision)
    }
}

/// A server, and what it gets.
pub(crate) async fn upstream(revision: Revision, answer: Answering) -> (Server, Seen) {
    let seen = Seen::default();
    let service = Upstream { revision, seen: seen.clone(), answer };
    (http::listen(Arc::new(service), LOCAL, http::Options::default()).await.expect("a free port"), seen)
}

/// A gateway with `/mcp` and `/other/mcp` in front of one server.
pub(crate) struct Scene {
    server: Server,
    pub(crate) gateway: Gateway,
    pub(crate) settings: Settings,
    pub(crate) seen: Seen,
    signer: Signer,
    upstream: Mutex<Option<Server>>,
    _folder: TempDir,
}

impl Scene {
    /// Clients need no token.
    pub(crate) async fn open(
        revision: Revision,
        answers: AnswerSettings,
        answer: impl Fn(Call) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::new(revision, answers, false, None, Arc::new(answer)).await
    }

    /// Clients need a token.
    pub(crate) async fn guarded(
        revision: Revision,
        answers: AnswerSettings,
        access: Option<Vec<AccessRule>>,
        answer: impl Fn(Call) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::new(revision, answers, true, access, Arc::new(answer)).await
    }

    /// Clients need a token, and interceptors look at their calls.
    pub(crate) async fn intercepted(
        revision: Revision,
        change: impl FnOnce(&mut Settings),
        answer: impl Fn(Call) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let (upstream, seen) = upstream(revision, Arc::new(answer)).await;
        let at = Url::parse(&format!("http://{}/mcp", upstream.local_addr())).expect("a URL");
        let target = Target::Http(HttpAddress::new(at));
        Self::changed(target, (Some(upstream), seen), AnswerSettings::default(), true, change).await
    }

    async fn new(
        revision: Revision,
        answers: AnswerSettings,
        guarded: bool,
        access: Option<Vec<AccessRule>>,
        answer: Answering,
    ) -> Self {
        let (upstream, seen) = upstream(revision, answer).await;
        let at = Url::parse(&format!("http://{}/mcp", upstream.local_addr())).expect("a URL");
        let target = Target::Http(HttpAddress::new(at));
        Self::of(target, (Some(upstream), seen), answers, guarded, access).await
    }

    /// In front of a shell script.
    pub(crate) async fn script(text: &str, answers: AnswerSettings) -> Self {
        let command = Command::new("sh", ["-c", text]);
        let target = Target::Command { command, inherit: Vec::new(), limits: CommandLimits::default() };
        Self::of(target, (None, Seen::default()), answers, false, None).await
    }

    async fn of(
        target: Target,
        (upstream, seen): (Option<Server>, Seen),
        answers: AnswerSettings,
        guarded: bool,
        access: Option<Vec<AccessRule>>,
    ) -> Self {
        Self::changed(target, (upstream, seen), answers, guarded, |settings| settings.access = access).await
    }

    pub(crate) async fn changed(
        target: Target,
        (upstream, seen): (Option<Server>, Seen),
        answers: AnswerSettings,
        guarded: bool,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let (signer, folder) = (Signer::fresh(), tempfile::tempdir().expect("a folder"));
        let keys = folder.path().join("keys.json");
        std::fs::write(&keys, json!({ "keys": [signer.public()] }).to_string()).expect("a file");
        let upstreams = vec![UpstreamSettings {
            name: "a".to_owned(),
            target,
            revision: None,
            sessions: Sessions::default(),
            credentials: None,
            assertion: None,
        }];
        let auth = guarded.then(|| AuthSettings {
            issuer: ISSUER.to_owned(),
            keys: Some(Source::File(keys)),
            introspection: None,
            audience: Some("gateway".to_owned()),
            public_url: None,
            scopes: Vec::new(),
            egress: None,
        });
        let all = || vec!["a".to_owned()];
        let servers = vec![ServerSettings::everything("default", all()), ServerSettings::everything("other", all())];
        let mut settings = Settings { upstreams, servers, auth: auth.clone(), answers, ..Settings::default() };
        change(&mut settings);
        let gateway = Gateway::new(&settings, &Children::new()).expect("valid settings");
        let mut options = http::Options { path: String::new(), ..http::Options::default() };
        if let Some(auth) = &auth {
            options.guard = Some(Arc::new(TokenGuard::start(&gateway, auth).await.expect("keys")));
        }
        let server = http::listen(Arc::new(gateway.clone()), LOCAL, options.clone()).await.expect("a free port");
        let endpoints = gateway.endpoints().into_iter().map(|endpoint| {
            let options = http::Options { path: endpoint.path, prefix: endpoint.prefix, ..options.clone() };
            (endpoint.service as Arc<dyn Service>, options)
        });
        server.endpoints().set(endpoints.collect());
        Self { server, gateway, settings, seen, signer, upstream: Mutex::new(upstream), _folder: folder }
    }

    fn token(&self, subject: &str) -> String {
        let claims = json!({ "iss": ISSUER, "aud": "gateway", "exp": now() + 60, "sub": subject });
        self.signer.sign(json!({ "typ": "at+jwt" }), &claims)
    }

    /// A client of one principal at one server.
    pub(crate) async fn client(&self, path: &str, revision: Revision, subject: &str) -> Raw {
        self.capable(path, revision, subject, json!({})).await
    }

    /// The same; it declares what it can be asked.
    pub(crate) async fn capable(&self, path: &str, revision: Revision, subject: &str, capabilities: Value) -> Raw {
        let url = Url::parse(&format!("http://{}{path}", self.server.local_addr())).expect("a URL");
        let token = Some(subject).filter(|subject| !subject.is_empty()).map(|subject| self.token(subject));
        Raw::open(&url, revision, token, capabilities).await
    }

    /// Ends the server behind the gateway.
    pub(crate) async fn end_upstream(&self) {
        let upstream = self.upstream.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(upstream) = upstream {
            upstream.shutdown().await;
        }
    }

    pub(crate) async fn end(self) {
        self.server.shutdown().await;
        self.gateway.shutdown().await;
    }
}

/// A client of one revision.
pub(crate) struct Raw {
    http: HttpUpstream,
    revision: Revision,
    headers: HashMap<String, String>,
    capabilities: Value,
    name: String,
    next: AtomicI64,
}

impl Raw {
    /// At an address, without a token (2026-07-28).
    pub(crate) async fn at(url: &str) -> Self {
        Self::open(&Url::parse(url).expect("a URL"), Revision::R2026_07_28, None, json!({})).await
    }

    async fn open(url: &Url, revision: Revision, token: Option<String>, capabilities: Value) -> Self {
        let http = HttpUpstream::new(&HttpAddress::new(url.clone()), PATIENCE).expect("a valid address");
        let mut headers = HashMap::from([
            ("accept".to_owned(), "application/json, text/event-stream".to_owned()),
            ("content-type".to_owned(), "application/json".to_owned()),
        ]);
        headers.extend(token.map(|token| ("authorization".to_owned(), format!("Bearer {token}"))));
        let (name, next) = ("raw".to_owned(), AtomicI64::new(1));
        let mut client = Self { http, revision, headers, capabilities, name, next };
        if revision.era() == Era::Legacy {
            let params = json!({ "protocolVersion": revision.as_str(), "capabilities": client.capabilities,
                "clientInfo": { "name": "raw", "version": "1" } });
            let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
            let mut response = client.start(&message, &[]).await;
            let session = response.header("mcp-session-id").map(str::to_owned).expect("a session");
            read(&mut response).await;
            client.headers.insert("mcp-session-id".to_owned(), session);
            client.start(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }), &[]).await;
        }
        client
    }

    /// The same client under another name (2026-07-28).
    pub(crate) fn called(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    async fn start(&self, message: &Value, headers: &[(&str, &str)]) -> Response {
        let mut all = HeaderMap::new();
        let mut insert = |name: &str, value: &str| {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            all.insert(name, HeaderValue::from_str(value).expect("a value"));
        };
        self.headers.iter().for_each(|(name, value)| insert(name, value));
        if self.revision.era() == Era::Modern
            && let Ok(Packet::Message(message)) = parse(message.to_string().as_bytes())
        {
            for (name, value) in modern_headers(&message, None) {
                insert(&name, &value);
            }
        }
        for (name, value) in headers {
            insert(name, value);
        }
        let sent = self.http.send(Method::POST, all, Bytes::from(message.to_string()));
        tokio::time::timeout(PATIENCE, sent).await.expect("in time").expect("it answers")
    }

    /// The response to a request, with headers in addition.
    pub(crate) async fn ask(&self, method: &str, mut params: Value, headers: &[(&str, &str)]) -> Value {
        if self.revision.era() == Era::Modern {
            params["_meta"][meta::PROTOCOL_VERSION] = json!(self.revision.as_str());
            params["_meta"][meta::CLIENT_INFO] = json!({ "name": self.name, "version": "1" });
            params["_meta"][meta::CLIENT_CAPABILITIES] = self.capabilities.clone();
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let response = read(&mut self.start(&message, headers).await).await;
        assert_eq!(response["id"], id, "{response}");
        response
    }

    /// The response to a call of a tool whose question for roots the client answers (before 2026-07-28).
    pub(crate) async fn answering_roots(&self, tool: &str) -> Value {
        let params = json!({ "name": tool, "arguments": {} });
        let message = json!({ "jsonrpc": "2.0", "id": 9000, "method": "tools/call", "params": params });
        let mut response = self.start(&message, &[]).await;
        loop {
            let event = tokio::time::timeout(PATIENCE, response.next_event(16 << 20)).await.expect("in time");
            let data = event.expect("a stream").expect("no end").data.unwrap_or_default();
            let Ok(message) = serde_json::from_str::<Value>(&data) else { continue };
            if message["method"] != "roots/list" {
                return message;
            }
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "roots": [] } });
            self.start(&answer, &[]).await;
        }
    }

    /// The response to a call of a tool.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }), &[]).await
    }
}

/// The last message of a response.
async fn read(response: &mut Response) -> Value {
    if !response.is_event_stream() {
        let body = response.whole(16 << 20).await.expect("a body");
        return serde_json::from_slice(&body).unwrap_or_default();
    }
    let mut last = Value::Null;
    loop {
        let event = tokio::time::timeout(PATIENCE, response.next_event(16 << 20)).await.expect("in time");
        let Some(event) = event.ok().flatten() else { return last };
        if let Some(Ok(message)) = event.data.map(|data| serde_json::from_str(&data)) {
            last = message;
        }
    }
}

/// The result of a tool, or of another method: what it says, and members in addition.
pub(crate) fn result(call: &Call, text: &str, more: Value) -> Reply {
    let mut body = json!({ "content": [{ "type": "text", "text": text }] });
    if call.context.era() == Era::Modern {
        body["resultType"] = json!("complete");
    }
    if let (Some(body), Some(more)) = (body.as_object_mut(), more.as_object()) {
        body.extend(more.clone());
    }
    Answer::result(call.id(), &body).into()
}

/// The text of a result.
pub(crate) fn text(response: &Value) -> &str {
    response["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {response}"))
}

/// A rule that lets clients use some tools.
pub(crate) fn allow(tools: &[&str]) -> AccessRule {
    let tools = Some(tools.iter().map(|name| (*name).to_owned()).collect());
    AccessRule {
        effect: Effect::Allow,
        tools,
        prompts: None,
        resources: Some(vec!["*".to_owned()]),
        scopes: Vec::new(),
        condition: None,
    }
}
