//! A gateway that asks for tokens, between clients, an issuer, and a reference server that accepts tokens of its own alone.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use client::{Client, Options};
use gateway::Gateway;
use gateway::access::TokenGuard;
use gateway::settings::{
    AuthSettings, CredentialGrant, CredentialSettings, ServerSettings, Sessions, Settings, Target, UpstreamSettings,
};
use net::Children;
use net::client::{Address, HttpAddress};
use net::server::http::{
    self, Denied, Grant, Guard, GuardRequest, GuardResponse, Head, HeaderMap, HttpFuture, Server, StatusCode,
};
use net::service::Service;
use oauth::jose::Signer;
use oauth::resource::Source;
use oauth::{Credential, Secret, now};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;
use wire::{Message, Revision};

use crate::issuer::Issuer;

const LOCAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
pub(crate) const ISSUER: &str = "https://auth.example";
pub(crate) const SECRET: &str = "s3cr3t value";

/// What the reference server was sent, and what it does about it.
#[derive(Debug, Default)]
pub(crate) struct Door {
    /// The header values of all requests.
    pub(crate) headers: Vec<String>,
    /// The token of each request.
    pub(crate) tokens: Vec<String>,
    /// Tokens that it no longer accepts.
    pub(crate) revoked: HashSet<String>,
    /// It wants this scope, which no token has.
    pub(crate) wants_scope: Option<&'static str>,
    pub(crate) refuses_all: bool,
    /// What it says of itself (RFC 9728).
    pub(crate) metadata: Option<Value>,
}

/// Lets tokens of the issuer for this server in: `up.USER.NUMBER`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Doorkeeper(pub(crate) Arc<Mutex<Door>>);

impl Doorkeeper {
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Door) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Guard for Doorkeeper {
    fn owns(&self, path: &str) -> bool {
        path.starts_with("/.well-known/oauth-protected-resource") && self.with(|door| door.metadata.is_some())
    }

    fn serve(&self, _: GuardRequest) -> HttpFuture<'_, GuardResponse> {
        let body = self.with(|door| door.metadata.clone()).unwrap_or_default().to_string().into_bytes();
        let (status, headers) = (StatusCode::OK, HeaderMap::new());
        Box::pin(async move { GuardResponse { status, headers, body } })
    }

    fn admit<'g>(&'g self, head: Head<'g>) -> HttpFuture<'g, Result<Grant, Denied>> {
        let token = head.headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let token = token.strip_prefix("Bearer ").unwrap_or_default().to_owned();
        let denied = |status, challenge: String| Err(Denied { status, challenge, nonce: None, error: None });
        let result = self.with(|door| {
            let values = head.headers.values().filter_map(|value| value.to_str().ok().map(str::to_owned));
            door.headers.extend(values);
            door.tokens.push(token.clone());
            let user = token.strip_prefix("up.").and_then(|rest| rest.split('.').next());
            match (user, door.wants_scope) {
                (Some(user), None) if !door.revoked.contains(&token) && !door.refuses_all => {
                    Ok(Grant { subject: user.to_owned(), ..Grant::default() })
                }
                (Some(_), Some(scope)) => {
                    let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
                    denied(StatusCode::FORBIDDEN, challenge)
                }
                _ => denied(StatusCode::UNAUTHORIZED, "Bearer error=\"invalid_token\"".to_owned()),
            }
        });
        Box::pin(async move { result })
    }

    fn permits(&self, _: &Grant, _: Head<'_>, _: &Message) -> Result<(), Denied> {
        Ok(())
    }
}

pub(crate) struct Scene {
    pub(crate) issuer: Issuer,
    pub(crate) door: Doorkeeper,
    pub(crate) gateway: Gateway,
    pub(crate) server: Server,
    signer: Signer,
    upstream: Server,
    _folder: TempDir,
}

pub(crate) fn secret_client() -> oauth::Client {
    oauth::Client::new("gateway", Credential::Secret(Secret::new(SECRET)))
}

impl Scene {
    pub(crate) async fn new(grant: CredentialGrant) -> Self {
        Self::with(grant, |_, _| ()).await
    }

    /// The same with other settings.
    pub(crate) async fn with(grant: CredentialGrant, change: impl FnOnce(&mut Settings, &Issuer)) -> Self {
        let (issuer, door) = (Issuer::start().await, Doorkeeper::default());
        let options = http::Options { guard: Some(Arc::new(door.clone())), ..http::Options::default() };
        let service: Arc<dyn Service> = Arc::new(reference::Server::new(reference::Options::default()));
        let upstream = http::listen(service, LOCAL, options).await.expect("a free port");
        let (signer, folder) = (Signer::fresh(), tempfile::tempdir().expect("a folder"));
        let keys = folder.path().join("keys.json");
        std::fs::write(&keys, json!({ "keys": [signer.public()] }).to_string()).expect("a file");
        let url = Url::parse(&format!("http://{}/mcp", upstream.local_addr())).expect("a URL");
        let credentials = CredentialSettings {
            grant,
            issuer: Some(issuer.url("")),
            token_endpoint: None,
            client: Some(secret_client()),
            scopes: vec!["crm.read".to_owned(), "crm.write".to_owned()],
            audience: None,
            resource: Some("https://crm.example".to_owned()),
            egress: None,
        };
        let target = Target::StreamableHttp(HttpAddress::new(url));
        let (name, sessions) = ("crm".to_owned(), Sessions::default());
        let upstreams = vec![UpstreamSettings {
            name,
            target,
            revision: None,
            sessions,
            credentials: Some(credentials),
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
        let servers = vec![ServerSettings::everything("default", vec!["crm".to_owned()])];
        let mut settings = Settings { upstreams, servers, auth: Some(auth), ..Settings::default() };
        change(&mut settings, &issuer);
        let gateway = Gateway::new(&settings, &Children::new()).expect("valid settings");
        let auth = settings.auth.as_ref().expect("it is there");
        let guard = TokenGuard::start(&gateway, auth).await.expect("keys");
        let options = http::Options { path: String::new(), guard: Some(Arc::new(guard)), ..http::Options::default() };
        let server = http::listen(Arc::new(gateway.clone()), LOCAL, options.clone()).await.expect("a free port");
        let endpoints = gateway.endpoints().into_iter().map(|endpoint| {
            let options = http::Options { path: endpoint.path, prefix: endpoint.prefix, ..options.clone() };
            (endpoint.service as Arc<dyn Service>, options)
        });
        server.endpoints().set(endpoints.collect());
        Self { issuer, door, gateway, server, signer, upstream, _folder: folder }
    }

    /// The address of the server behind the gateway.
    pub(crate) fn server_url(&self) -> String {
        format!("http://{}/mcp", self.upstream.local_addr())
    }

    /// A user's token for the gateway.
    pub(crate) fn token(&self, user: &str, scope: &str) -> String {
        self.token_with(user, scope, &json!({}))
    }

    /// The same with more claims.
    pub(crate) fn token_with(&self, user: &str, scope: &str, more: &Value) -> String {
        let mut claims = json!({ "iss": ISSUER, "aud": "gateway", "exp": now() + 60, "sub": user, "scope": scope, "jti": oauth::random() });
        claims.as_object_mut().expect("claims").extend(more.as_object().cloned().unwrap_or_default());
        self.signer.sign(json!({ "typ": "at+jwt" }), &claims)
    }

    pub(crate) async fn client(&self, revision: Revision, token: &str) -> Client {
        let url = Url::parse(&format!("http://{}/mcp", self.server.local_addr())).expect("a URL");
        let mut http = HttpAddress::new(url);
        http.headers.push(("authorization".to_owned(), format!("Bearer {token}")));
        let options = Options { revision: Some(revision), ..Options::new(Address::Http(http), &Children::new()) };
        Client::connect(options).await.expect("it begins")
    }

    /// The users whose tokens reached the server since the last look.
    pub(crate) fn users(&self) -> HashSet<String> {
        let tokens = self.door.with(|door| std::mem::take(&mut door.tokens));
        tokens.iter().map(|token| token.split('.').nth(1).unwrap_or_default().to_owned()).collect()
    }
}

/// What `echo` answers to a client with a session.
pub(crate) async fn echo(client: &Client, text: &str) -> String {
    let arguments = json!({ "message": text }).as_object().cloned().unwrap_or_default();
    let answer = client.call_unseen("echo", arguments).await;
    answer.map_or_else(|error| error.to_string(), |message| message.text().to_owned())
}

/// The whole HTTP response to a request of 2026-07-28.
pub(crate) async fn response(scene: &Scene, token: &str, method: &str, params: Value) -> String {
    response_at(scene.server.local_addr(), token, (method, params), "").await
}

async fn response_at(address: SocketAddr, token: &str, (method, params): (&str, Value), more: &str) -> String {
    let mut params = params;
    let name = params["name"].as_str().map_or_else(String::new, |name| format!("mcp-name: {name}\r\n"));
    params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {} });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let length = body.len();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\nauthorization: Bearer {token}\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{name}{more}\r\n"
    );
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all((head + &body).as_bytes()).await.expect("it reads");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("it answers");
    response
}

/// The message in the response to a call of `echo`.
pub(crate) async fn call(scene: &Scene, token: &str) -> Value {
    call_with(scene.server.local_addr(), token, "heard", "").await
}

/// The same of a gateway at an address, with other arguments and further headers.
pub(crate) async fn call_with(address: SocketAddr, token: &str, text: &str, more: &str) -> Value {
    let params = json!({ "name": "echo", "arguments": { "message": text } });
    let response = response_at(address, token, ("tools/call", params), more).await;
    let begin = response.find("{\"").unwrap_or_else(|| panic!("no message: {response}"));
    let end = response.rfind('}').expect("it ends");
    serde_json::from_str(&response[begin..=end]).unwrap_or_else(|_| panic!("no message: {response}"))
}

/// Whether a call ran.
pub(crate) fn ran(message: &Value) -> bool {
    message["result"]["content"][0]["text"] == "heard"
}

/// The members of an error that programs read: its row, its category, and whether to try again.
pub(crate) fn failure(message: &Value) -> (&str, &str, bool) {
    let data = &message["error"]["data"];
    assert_eq!(data["outcome"], "not run", "{message}");
    let text = |name: &str| data[name].as_str().unwrap_or_default();
    (text("failure"), text("category"), data["retryable"] == true)
}
