//! A gateway with users, a server that accepts tokens of its own authorization server alone, that authorization server, and
//! the issuer of clients' tokens, where users sign in.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use gateway::Gateway;
use gateway::access::TokenGuard;
use gateway::settings::{
    AuthSettings, ConsentLogin, ConsentSettings, CredentialGrant, CredentialSettings, ServerSettings, Sessions,
    Settings, Target, UpstreamSettings,
};
use net::Children;
use net::client::HttpAddress;
use net::server::http::{
    self, Denied, Grant, Guard, GuardRequest, GuardResponse, Head, HeaderMap, HttpFuture, Server, StatusCode,
};
use net::service::Service;
use oauth::jose::Signer;
use oauth::resource::Source;
use oauth::{Client, Credential, Secret, now};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;
use wire::Message;

use crate::browser::{Browser, Page};
use crate::provider::Provider;

const LOCAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const KEY: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";

/// Lets tokens `up.ACCOUNT.NUMBER` in, and says who issues them.
#[derive(Clone, Debug, Default)]
struct Door(Arc<Mutex<(Vec<String>, Value)>>);

impl Door {
    fn with<T>(&self, work: impl FnOnce(&mut (Vec<String>, Value)) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Guard for Door {
    fn owns(&self, path: &str) -> bool {
        path.starts_with("/.well-known/oauth-protected-resource")
    }

    fn serve(&self, _: GuardRequest) -> HttpFuture<'_, GuardResponse> {
        let body = self.with(|(_, metadata)| metadata.to_string().into_bytes());
        let (status, headers) = (StatusCode::OK, HeaderMap::new());
        Box::pin(async move { GuardResponse { status, headers, body } })
    }

    fn admit<'g>(&'g self, head: Head<'g>) -> HttpFuture<'g, Result<Grant, Denied>> {
        let token = head.headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let token = token.strip_prefix("Bearer ").unwrap_or_default().to_owned();
        let user = token.strip_prefix("up.").and_then(|rest| rest.split('.').next()).map(str::to_owned);
        self.with(|(tokens, _)| tokens.push(token));
        let denied =
            Denied { status: StatusCode::UNAUTHORIZED, challenge: "Bearer".to_owned(), nonce: None, error: None };
        let result = user.map(|subject| Grant { subject, ..Grant::default() }).ok_or(denied);
        Box::pin(async move { result })
    }

    fn permits(&self, _: &Grant, _: Head<'_>, _: &Message) -> Result<(), Denied> {
        Ok(())
    }
}

pub(crate) struct Scene {
    pub(crate) crm: Provider,
    pub(crate) issuer: Provider,
    pub(crate) gateway: Gateway,
    door: Door,
    address: SocketAddr,
    signer: Arc<Signer>,
    settings: Settings,
    running: Vec<Server>,
    folder: TempDir,
}

/// How users show who they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Login {
    Page,
    Issuer,
}

impl Scene {
    pub(crate) async fn new(login: Login) -> Self {
        Self::with(login, |_, _| ()).await
    }

    pub(crate) async fn with(login: Login, change: impl FnOnce(&mut Settings, &Provider)) -> Self {
        let (crm, issuer, door) = (Provider::start().await, Provider::start().await, Door::default());
        let options = http::Options { guard: Some(Arc::new(door.clone())), ..http::Options::default() };
        let service: Arc<dyn Service> = Arc::new(reference::Server::new(reference::Options::default()));
        let upstream = http::listen(service, LOCAL, options).await.expect("a free port");
        let url = format!("http://{}/mcp", upstream.local_addr());
        door.with(|(_, metadata)| *metadata = json!({ "resource": url, "authorization_servers": [crm.url("")] }));
        let (signer, folder) = (Arc::new(Signer::fresh()), tempfile::tempdir().expect("a folder"));
        let keys = folder.path().join("keys.json");
        std::fs::write(&keys, json!({ "keys": [signer.public()] }).to_string()).expect("a file");
        let client = |id: &str| Client {
            method: Some("client_secret_post".to_owned()),
            ..Client::new(id, Credential::Secret(Secret::new("s3cret")))
        };
        let upstreams = vec![named_crm(&url)];
        let auth = AuthSettings {
            issuer: issuer.url(""),
            keys: Some(Source::File(keys)),
            introspection: None,
            audience: Some("gateway".to_owned()),
            public_url: None,
            scopes: Vec::new(),
            egress: None,
        };
        let consents = ConsentSettings {
            folder: Some(folder.path().join("consents")),
            keys: vec![Secret::new(KEY)],
            login: match login {
                Login::Page => ConsentLogin::Page,
                Login::Issuer => ConsentLogin::Client { client: client("gateway"), scopes: Vec::new() },
            },
            wait: std::time::Duration::from_mins(1),
        };
        let servers = vec![ServerSettings::everything("default", vec!["crm".to_owned()])];
        let (auth, consents) = (Some(auth), Some(consents));
        let mut settings = Settings { upstreams, servers, auth, consents, ..Settings::default() };
        change(&mut settings, &crm);
        let (signs, name) = (Arc::clone(&signer), issuer.url(""));
        issuer.mints(move |user, _| token(&signs, &name, user));
        let (gateway, server) = serve(&settings).await;
        let address = server.local_addr();
        let running = vec![upstream, server];
        Self { crm, issuer, gateway, door, address, signer, settings, running, folder }
    }

    /// Ends the gateway, and starts another one on the same folder, at another address.
    pub(crate) async fn restart(&mut self) {
        self.gateway.shutdown().await;
        let (gateway, server) = serve(&self.settings).await;
        self.address = server.local_addr();
        self.gateway = gateway;
        self.running.push(server);
    }

    /// All consents, as those who run the gateway see them.
    pub(crate) async fn list(&self) -> Value {
        self.gateway.list_consents().await.expect("there is no store")["consents"].take()
    }

    /// A user's token for the gateway.
    pub(crate) fn token(&self, user: &str) -> String {
        token(&self.signer, &self.issuer.url(""), user)
    }

    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).expect("a URL")
    }

    /// The accounts whose tokens reached the server since the last look.
    pub(crate) fn accounts(&self) -> Vec<String> {
        let tokens = self.door.with(|(tokens, _)| std::mem::take(tokens));
        let mut accounts: Vec<_> =
            tokens.iter().map(|token| token.split('.').nth(1).unwrap_or("nobody").to_owned()).collect();
        accounts.sort();
        accounts.dedup();
        accounts
    }

    /// The bytes of the file of consents.
    pub(crate) fn file(&self) -> Vec<u8> {
        std::fs::read(self.folder.path().join("consents").join("consents.redb")).unwrap_or_default()
    }

    /// A call of `echo` by a client of 2026-07-28.
    pub(crate) async fn call(&self, user: &str) -> Value {
        self.call_with(user, &json!({}), &json!({})).await
    }

    /// The same with other members of `params`, by a client that declares these capabilities.
    pub(crate) async fn call_with(&self, user: &str, more: &Value, capabilities: &Value) -> Value {
        let mut params = json!({ "name": "echo", "arguments": { "message": "heard" } });
        params.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let name = params["name"].as_str().unwrap_or_default();
        let more = format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {name}\r\n");
        message_in(&self.post(user, &body, &more).await)
    }

    /// A call of `echo` by a client of 2025-11-25 that declares these capabilities.
    pub(crate) async fn legacy_call(&self, user: &str, capabilities: &Value) -> Value {
        let info = json!({ "name": "c", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "clientInfo": info, "capabilities": capabilities });
        let begin = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let begun = self.post(user, &begin.to_string(), "").await;
        assert!(message_in(&begun)["result"]["capabilities"]["tools"].is_object(), "{begun}");
        let session = begun.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session");
        let more = format!("mcp-protocol-version: 2025-11-25\r\nmcp-session-id: {session}\r\n");
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.post(user, &ready.to_string(), &more).await;
        let params = json!({ "name": "echo", "arguments": { "message": "heard" } });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        message_in(&self.post(user, &call.to_string(), &more).await)
    }

    async fn post(&self, user: &str, body: &str, more: &str) -> String {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\nconnection: close\r\naccept: application/json, text/event-stream\r\n\
             content-type: application/json\r\ncontent-length: {}\r\nauthorization: Bearer {}\r\n{more}\r\n",
            self.address,
            body.len(),
            self.token(user)
        );
        let mut stream = TcpStream::connect(self.address).await.expect("it listens");
        stream.write_all((head + body).as_bytes()).await.expect("it reads");
        let mut response = String::new();
        stream.read_to_string(&mut response).await.expect("it answers");
        response
    }

    /// The address that a user has to open before a call can run.
    pub(crate) async fn link(&self, user: &str) -> Url {
        let refused = self.call(user).await;
        assert_eq!(refused["error"]["data"]["failure"], "consent-needed", "{refused}");
        assert_eq!(refused["error"]["data"]["outcome"], "not run");
        Url::parse(refused["error"]["data"]["url"].as_str().expect("an address")).expect("a URL")
    }

    /// A browser on its way: it has opened the link and is at the server's authorization server, which sends it back to this
    /// address.
    pub(crate) async fn underway(&self, user: &str) -> (Browser, Url) {
        let (mut browser, link) = (Browser::default(), self.link(user).await);
        let opened = browser.get(&link).await;
        let sent = if opened.status == 303 {
            // To sign in first.
            self.issuer.with(|state| user.clone_into(&mut state.account));
            let back = Browser::default().get(&opened.location()).await.location();
            browser.get(&back).await
        } else {
            let form = [("ticket", opened.field("ticket")), ("token", opened.field("token"))];
            let form: Vec<_> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
            browser.post(&self.url("/consent"), &form).await
        };
        assert_eq!(sent.status, 303, "{}", sent.body);
        let back = Browser::default().get(&sent.location()).await.location();
        (browser, back)
    }

    /// A user consents.
    pub(crate) async fn consent(&self, user: &str) -> Page {
        let (mut browser, back) = self.underway(user).await;
        browser.get(&back).await
    }
}

/// The server that users consent to.
fn named_crm(url: &str) -> UpstreamSettings {
    let credentials = CredentialSettings {
        grant: CredentialGrant::AuthorizationCode,
        issuer: None,
        token_endpoint: None,
        client: None,
        scopes: vec!["crm.read".to_owned()],
        audience: None,
        resource: None,
        egress: None,
    };
    let target = Target::StreamableHttp(HttpAddress::new(Url::parse(url).expect("a URL")));
    let (name, sessions, credentials) = ("crm".to_owned(), Sessions::default(), Some(credentials));
    UpstreamSettings { name, target, revision: None, sessions, credentials, assertion: None }
}

fn message_in(response: &str) -> Value {
    let begin = response.find("{\"").unwrap_or_else(|| panic!("no message: {response}"));
    let end = response.rfind('}').expect("it ends");
    serde_json::from_str(&response[begin..=end]).unwrap_or_else(|_| panic!("no message: {response}"))
}

/// A token of `USER` or of `USER@TENANT`.
fn token(signer: &Signer, issuer: &str, user: &str) -> String {
    let (user, tenant) = user.split_once('@').map_or((user, None), |(user, tenant)| (user, Some(tenant)));
    let mut claims = json!({ "iss": issuer, "aud": "gateway", "exp": now() + 60, "sub": user, "jti": oauth::random() });
    if let Some(tenant) = tenant {
        claims["tenant_id"] = json!(tenant);
    }
    signer.sign(json!({ "typ": "at+jwt" }), &claims)
}

async fn serve(settings: &Settings) -> (Gateway, Server) {
    let gateway = Gateway::new(settings, &Children::new()).expect("valid settings");
    let auth = settings.auth.as_ref().expect("it is there");
    let guard = TokenGuard::start(&gateway, auth).await.expect("keys");
    let options = http::Options { path: String::new(), guard: Some(Arc::new(guard)), ..http::Options::default() };
    let server = http::listen(Arc::new(gateway.clone()), LOCAL, options.clone()).await.expect("a free port");
    let endpoints = gateway.endpoints().into_iter().map(|endpoint| {
        let options = http::Options { path: endpoint.path, prefix: endpoint.prefix, ..options.clone() };
        (endpoint.service as Arc<dyn Service>, options)
    });
    server.endpoints().set(endpoints.collect());
    (gateway, server)
}

/// Whether a call ran.
pub(crate) fn ran(message: &Value) -> bool {
    message["result"]["content"][0]["text"] == "heard"
}
