//! A server that answers as a test says and notes what it got, a gateway that asks for tokens, and clients of tenants.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use gateway::Gateway;
use gateway::access::TokenGuard;
use gateway::settings::{AuthSettings, Sessions, Settings, Target, UpstreamSettings};
use net::Children;
use net::client::HttpAddress;
use net::server::http::{self, HeaderMap, HeaderName, HeaderValue, Method, Server};
use net::service::{Answer, Call, Opening, Reply, Service};
use net::upstream::{HttpUpstream, Response};
use oauth::jose::Signer;
use oauth::now;
use oauth::resource::Source;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;
use wire::http::modern_headers;
use wire::message::{Packet, parse};
use wire::{Era, Revision, meta};

const LOCAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const ISSUER: &str = "https://auth.example";
const PATIENCE: Duration = Duration::from_secs(20);

/// A request that the server got.
#[derive(Clone, Debug)]
pub(crate) struct Got {
    pub(crate) text: String,
    pub(crate) message: Value,
    headers: HeaderMap,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Everything that came, in one text.
    pub(crate) fn all(&self) -> String {
        let values = self.headers.values().map(|value| String::from_utf8_lossy(value.as_bytes()));
        values.chain([self.text.as_str().into()]).collect::<Vec<_>>().join("\n")
    }

    /// What the gateway says of the principal in `_meta`.
    pub(crate) fn told(&self, name: &str) -> &Value {
        &self.message["params"]["_meta"][format!("dev.proofhouse/{name}")]
    }
}

#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<Got>>>);

impl Seen {
    pub(crate) fn of(&self, method: &str) -> Vec<Got> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter(|got| got.message["method"] == method).cloned().collect()
    }
}

type Answering = Arc<dyn Fn(&Call, &Got) -> Value + Send + Sync>;

struct Upstream {
    revision: Revision,
    seen: Seen,
    answer: Answering,
}

impl Service for Upstream {
    fn call(&self, call: Call) -> Reply {
        let headers = call.context.headers.clone().unwrap_or_default();
        let got = Got { text: call.message.text().to_owned(), message: call.message.value().clone(), headers };
        self.seen.0.lock().unwrap_or_else(PoisonError::into_inner).push(got.clone());
        if call.message.string_member("name").as_deref() == Some("asks") {
            return asked(call);
        }
        let server = json!({ "name": "scripted", "version": "1" });
        let capabilities = json!({ "tools": {}, "resources": {}, "prompts": {} });
        let mut body = match call.message.method().unwrap_or_default() {
            "initialize" => {
                let params = call.message.params().cloned().unwrap_or_default();
                let (capable, client) = (params["capabilities"].clone(), params["clientInfo"].clone());
                if let Some(session) = &call.context.session {
                    let _ = session.open(Opening { revision: self.revision, capabilities: capable, client });
                }
                json!({ "protocolVersion": self.revision.as_str(), "serverInfo": server, "capabilities": capabilities })
            }
            "server/discover" => json!({ "supportedVersions": [self.revision.as_str()],
                "capabilities": capabilities, "_meta": { meta::SERVER_INFO: server } }),
            "resources/templates/list" => json!({ "resourceTemplates": [] }),
            _ => (self.answer)(&call, &got),
        };
        if self.revision.era() == Era::Modern
            && let Some(body) = body.as_object_mut()
        {
            for (name, value) in [("resultType", "complete"), ("cacheScope", "private")] {
                body.entry(name).or_insert_with(|| json!(value));
            }
            body.entry("ttlMs").or_insert_with(|| json!(0));
        }
        Answer::result(call.id(), &body).into()
    }

    fn revisions(&self) -> &[Revision] {
        std::slice::from_ref(&self.revision)
    }
}

/// A server's question, and a result that repeats the answer.
fn asked(call: Call) -> Reply {
    Reply::later(async move {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "string" } } });
        let form = json!({ "message": "Is it ann@example.org?", "requestedSchema": schema });
        let answer = call.link.request("elicitation/create", form).await;
        let text = answer.map_or_else(|_| "no answer".to_owned(), |message| message.text().to_owned());
        Answer::result(call.id(), &json!({ "content": [{ "type": "text", "text": format!("answered: {text}") }] }))
    })
}

/// A gateway in front of one server.
pub(crate) struct Scene {
    server: Server,
    gateway: Gateway,
    pub(crate) seen: Seen,
    pub(crate) signer: Signer,
    upstream: Server,
    _folder: TempDir,
}

impl Scene {
    pub(crate) async fn open(
        revision: Revision,
        settings: Settings,
        answer: impl Fn(&Call, &Got) -> Value + Send + Sync + 'static,
    ) -> Self {
        let seen = Seen::default();
        let service = Upstream { revision, seen: seen.clone(), answer: Arc::new(answer) };
        let upstream = http::listen(Arc::new(service), LOCAL, http::Options::default()).await.expect("a free port");
        Self::before(upstream, seen, settings).await
    }

    /// In front of a server that offers what a catalogue says; nothing of what it gets is seen.
    pub(crate) async fn of_catalogue(catalogue: &Path, settings: Settings) -> Self {
        let catalogue = Arc::new(reference::catalogue::Catalogue::load(catalogue).expect("a catalogue"));
        let options = reference::Options { catalogue, ..reference::Options::default() };
        let upstream = reference::Server::new(options).http(LOCAL).await.expect("a free port");
        Self::before(upstream, Seen::default(), settings).await
    }

    /// In front of the reference server at one revision; nothing of what it gets is seen.
    pub(crate) async fn of_reference(revision: Revision, settings: Settings) -> Self {
        let options = reference::Options { revisions: vec![revision], ..reference::Options::default() };
        let upstream = reference::Server::new(options).http(LOCAL).await.expect("a free port");
        Self::before(upstream, Seen::default(), settings).await
    }

    async fn before(upstream: Server, seen: Seen, settings: Settings) -> Self {
        let (signer, folder) = (Signer::fresh(), tempfile::tempdir().expect("a folder"));
        let keys = folder.path().join("keys.json");
        std::fs::write(&keys, json!({ "keys": [signer.public()] }).to_string()).expect("a file");
        let at = Url::parse(&format!("http://{}/mcp", upstream.local_addr())).expect("a URL");
        let target = Target::Http(HttpAddress::new(at));
        let auth = AuthSettings {
            issuer: ISSUER.to_owned(),
            keys: Some(Source::File(keys)),
            introspection: None,
            audience: Some("gateway".to_owned()),
            public_url: None,
            scopes: Vec::new(),
            egress: None,
        };
        let one = UpstreamSettings {
            name: "a".to_owned(),
            target,
            revision: None,
            sessions: Sessions::default(),
            credentials: None,
            assertion: None,
        };
        let settings = Settings { upstreams: vec![one], auth: Some(auth.clone()), ..settings };
        let gateway = Gateway::new(&settings, &Children::new()).expect("valid settings");
        let guard = Arc::new(TokenGuard::start(&gateway, &auth).await.expect("keys"));
        let options = http::Options { guard: Some(guard), ..http::Options::default() };
        let server = http::listen(Arc::new(gateway.clone()), LOCAL, options).await.expect("a free port");
        Self { server, gateway, seen, signer, upstream, _folder: folder }
    }

    /// The usual claims of a token, with these.
    pub(crate) fn claims(claims: &Value) -> Value {
        let mut all = json!({ "iss": ISSUER, "aud": "gateway", "exp": now() + 60, "sub": "ann" });
        all.as_object_mut().expect("claims").extend(claims.as_object().cloned().unwrap_or_default());
        all
    }

    /// A client with these claims in its token, in addition to the usual ones.
    pub(crate) fn client(&self, revision: Revision, claims: Value) -> Raw {
        self.bearing(revision, &self.signer.sign(json!({ "typ": "at+jwt" }), &Self::claims(&claims)))
    }

    /// A client with this token.
    pub(crate) fn bearing(&self, revision: Revision, token: &str) -> Raw {
        let url = Url::parse(&format!("http://{}/mcp", self.server.local_addr())).expect("a URL");
        Raw::new(&url, revision, token)
    }

    /// All that the gateway answers to the bytes of an HTTP request.
    pub(crate) async fn bytes(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.server.local_addr()).await.expect("it listens");
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let mut response = Vec::new();
        let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut response)).await.expect("it answers");
        String::from_utf8_lossy(&response).into_owned()
    }

    pub(crate) fn host(&self) -> String {
        self.server.local_addr().to_string()
    }

    pub(crate) async fn end(self) {
        self.server.shutdown().await;
        self.gateway.shutdown().await;
        self.upstream.shutdown().await;
    }
}

/// A client of one revision.
pub(crate) struct Raw {
    http: HttpUpstream,
    revision: Revision,
    headers: Mutex<HashMap<String, String>>,
    next: AtomicI64,
    capabilities: Value,
}

impl Raw {
    fn new(url: &Url, revision: Revision, token: &str) -> Self {
        let http = HttpUpstream::new(&HttpAddress::new(url.clone()), PATIENCE).expect("a valid address");
        let headers = HashMap::from([
            ("accept".to_owned(), "application/json, text/event-stream".to_owned()),
            ("content-type".to_owned(), "application/json".to_owned()),
            ("authorization".to_owned(), format!("Bearer {token}")),
        ]);
        Self { http, revision, headers: Mutex::new(headers), next: AtomicI64::new(1), capabilities: json!({}) }
    }

    /// The same client with these capabilities.
    pub(crate) fn able(self, capabilities: Value) -> Self {
        Self { capabilities, ..self }
    }

    /// The response to a request, and the questions that came before, each answered by `result` or, without one, not.
    pub(crate) async fn ask_answering(
        &self,
        method: &str,
        params: Value,
        result: Option<Value>,
    ) -> (Vec<Value>, Value) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut response = self.start(&message.to_string(), &[]).await;
        let mut questions = Vec::new();
        if !response.is_event_stream() {
            return (questions, read(&mut response).await);
        }
        loop {
            let event = tokio::time::timeout(PATIENCE, response.next_event(16 << 20)).await.expect("in time");
            let event = event.ok().flatten().expect("an answer");
            let Some(Ok(message)) = event.data.map(|data| serde_json::from_str::<Value>(&data)) else { continue };
            if message["method"].is_null() {
                return (questions, message);
            }
            if let Some(result) = &result {
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                self.start(&answer.to_string(), &[]).await;
            }
            questions.push(message);
        }
    }

    /// Begins a legacy session; returns the response.
    pub(crate) async fn initialize(&self) -> Value {
        let params = json!({ "protocolVersion": self.revision.as_str(), "capabilities": self.capabilities,
            "clientInfo": { "name": "raw", "version": "1" } });
        let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let mut response = self.start(&message.to_string(), &[]).await;
        let session = response.header("mcp-session-id").map(str::to_owned);
        let answer = read(&mut response).await;
        if let Some(session) = session {
            self.keep(session);
            self.start(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(), &[]).await;
        }
        answer
    }

    /// The session that it has begun.
    pub(crate) fn session(&self) -> String {
        let headers = self.headers.lock().unwrap_or_else(PoisonError::into_inner);
        headers.get("mcp-session-id").cloned().unwrap_or_default()
    }

    /// The status and the text of the response to a text, which is sent as it is.
    pub(crate) async fn status(&self, text: &str, headers: &[(&str, &str)]) -> (u16, String) {
        let mut response = self.start(text, headers).await;
        let body = response.whole(16 << 20).await.unwrap_or_default();
        (response.status.as_u16(), String::from_utf8_lossy(&body).into_owned())
    }

    /// Speaks in a session.
    pub(crate) fn keep(&self, session: String) {
        let mut headers = self.headers.lock().unwrap_or_else(PoisonError::into_inner);
        headers.insert("mcp-session-id".to_owned(), session);
    }

    /// The response to a text, which is sent as it is.
    pub(crate) async fn send(&self, text: &str) -> Value {
        read(&mut self.start(text, &[]).await).await
    }

    async fn start(&self, text: &str, headers: &[(&str, &str)]) -> Response {
        let mut all = HeaderMap::new();
        let mut insert = |name: &str, value: &str| {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            all.insert(name, HeaderValue::from_str(value).expect("a value"));
        };
        self.headers.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|(n, v)| insert(n, v));
        if self.revision.era() == Era::Modern
            && let Ok(Packet::Message(message)) = parse(text.as_bytes())
        {
            for (name, value) in modern_headers(&message, None) {
                insert(&name, &value);
            }
        }
        for (name, value) in headers {
            insert(name, value);
        }
        let sent = self.http.send(Method::POST, all, Bytes::from(text.to_owned()));
        tokio::time::timeout(PATIENCE, sent).await.expect("in time").expect("it answers")
    }

    /// The response to a request, with members of `_meta` and headers in addition.
    pub(crate) async fn ask_with(&self, method: &str, mut params: Value, headers: &[(&str, &str)]) -> Value {
        if self.revision.era() == Era::Modern {
            params["_meta"][meta::PROTOCOL_VERSION] = json!(self.revision.as_str());
            params["_meta"][meta::CLIENT_INFO] = json!({ "name": "raw", "version": "1" });
            params["_meta"][meta::CLIENT_CAPABILITIES] = self.capabilities.clone();
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let response = read(&mut self.start(&message.to_string(), headers).await).await;
        assert_eq!(response["id"], id, "{response}");
        response
    }

    pub(crate) async fn ask(&self, method: &str, params: Value) -> Value {
        self.ask_with(method, params, &[]).await
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
