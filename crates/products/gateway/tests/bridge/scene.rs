//! A gateway that issues tokens to its clients, the provider where users sign in, a server behind it, and a program that
//! registers and gets its tokens as clients do.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use gateway::Gateway;
use gateway::access::TokenGuard;
use gateway::settings::{AuthSettings, BridgeSettings, Sessions, Settings, Target, UpstreamSettings};
use net::Children;
use net::client::HttpAddress;
use net::server::http::{self, Server};
use net::service::Service;
use oauth::jose::sha256;
use oauth::{Client, Credential, LoginSource, Secret, random};
use serde_json::{Value, json};
use url::Url;

use crate::browser::{Browser, Page, post, send};
use crate::provider::Provider;

const KEY: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
pub(crate) const REDIRECT: &str = "http://127.0.0.1/callback";

pub(crate) struct Scene {
    pub(crate) provider: Provider,
    pub(crate) gateway: Gateway,
    pub(crate) settings: Settings,
    pub(crate) address: SocketAddr,
    running: Vec<Server>,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        Self::with(|_| ()).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let provider = Provider::start().await;
        let address = free_address();
        let mut settings = settings(&provider, &format!("http://{address}"));
        let local = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        let service: Arc<dyn Service> = Arc::new(reference::Server::new(reference::Options::default()));
        let upstream = http::listen(service, local, http::Options::default()).await.expect("a free port");
        let url = Url::parse(&format!("http://{}/mcp", upstream.local_addr())).expect("a URL");
        let (target, sessions) = (Target::StreamableHttp(HttpAddress::new(url)), Sessions::default());
        let name = "a".to_owned();
        settings.upstreams =
            vec![UpstreamSettings { name, target, revision: None, sessions, credentials: None, assertion: None }];
        change(&mut settings);
        let (gateway, server) = serve(&settings, address).await;
        Self { provider, gateway, settings, address, running: vec![upstream, server] }
    }

    /// Ends the gateway and starts another one with the same settings, at the same address.
    pub(crate) async fn restart(&mut self) {
        if let Some(server) = self.running.pop() {
            server.shutdown().await;
        }
        self.gateway.shutdown().await;
        let (gateway, server) = serve(&self.settings, self.address).await;
        self.gateway = gateway;
        self.running.push(server);
    }

    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).expect("a URL")
    }

    /// Registers a program.
    pub(crate) async fn program(&self) -> Program {
        self.program_at(REDIRECT).await
    }

    /// The same with another redirect address.
    pub(crate) async fn program_at(&self, redirect: &str) -> Program {
        let metadata = json!({ "client_name": "A <b>program</b>", "redirect_uris": [redirect],
            "grant_types": ["authorization_code", "refresh_token"], "token_endpoint_auth_method": "none" });
        let page = self.register(&metadata).await;
        assert_eq!(page.status, 201, "{}", page.body);
        let id = page.json()["client_id"].as_str().expect("an id").to_owned();
        Program { id, redirect: redirect.to_owned(), verifier: random(), state: random(), resource: self.resource() }
    }

    pub(crate) async fn register(&self, metadata: &Value) -> Page {
        let headers = "content-type: application/json\r\n";
        send("POST", &self.url("/oauth/register"), headers, &metadata.to_string()).await
    }

    pub(crate) fn resource(&self) -> String {
        self.url("/mcp").into()
    }

    /// The address that a program opens in a browser.
    pub(crate) fn ask(&self, program: &Program) -> Url {
        self.ask_with(program, &[])
    }

    /// The same with other parameters; an empty one is left out.
    pub(crate) fn ask_with(&self, program: &Program, changed: &[(&str, &str)]) -> Url {
        let challenge = sha256(&program.verifier);
        let own = [
            ("response_type", "code"),
            ("client_id", &program.id),
            ("redirect_uri", &program.redirect),
            ("state", &program.state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", &program.resource),
            ("scope", "read write other"),
        ];
        let own = own.into_iter().filter(|(name, _)| changed.iter().all(|(other, _)| other != name));
        let mut url = self.url("/oauth/authorize");
        let changed = changed.iter().copied().filter(|(_, value)| !value.is_empty());
        url.query_pairs_mut().extend_pairs(own.chain(changed));
        url
    }

    /// A browser whose user has allowed a program, and the address at the provider that it was sent to.
    pub(crate) async fn allowed(&self, program: &Program) -> (Browser, Url) {
        let mut browser = Browser::default();
        let page = browser.get(&self.ask(program)).await;
        assert_eq!(page.status, 200, "{}", page.body);
        let sent = self.answer(&mut browser, &page, "allow").await;
        assert_eq!(sent.status, 303, "{}", sent.body);
        (browser, sent.location())
    }

    /// Answers the page.
    pub(crate) async fn answer(&self, browser: &mut Browser, page: &Page, answer: &str) -> Page {
        let request = page.field("request");
        browser.post(&self.url("/oauth/authorize"), &[("request", &request), ("answer", answer)]).await
    }

    /// Where the provider sends the browser back to.
    pub(crate) async fn back(&self, at_provider: &Url) -> Url {
        Browser::default().get(at_provider).await.location()
    }

    /// The response that reaches a program.
    pub(crate) async fn response(&self, program: &Program) -> Url {
        let (mut browser, at_provider) = self.allowed(program).await;
        let back = self.back(&at_provider).await;
        let page = browser.get(&back).await;
        assert_eq!(page.status, 303, "{}", page.body);
        page.location()
    }

    /// A code for a program.
    pub(crate) async fn code(&self, program: &Program) -> String {
        parameter(&self.response(program).await, "code").expect("a code")
    }

    pub(crate) async fn redeem(&self, program: &Program, code: &str) -> Page {
        self.redeem_with(program, code, &[]).await
    }

    /// The same with other parameters; an empty one is left out.
    pub(crate) async fn redeem_with(&self, program: &Program, code: &str, changed: &[(&str, &str)]) -> Page {
        let own = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("client_id", &program.id),
            ("redirect_uri", &program.redirect),
            ("code_verifier", &program.verifier),
            ("resource", &program.resource),
        ];
        let own = own.into_iter().filter(|(name, _)| changed.iter().all(|(other, _)| other != name));
        let changed = changed.iter().copied().filter(|(_, value)| !value.is_empty());
        let form: Vec<_> = own.chain(changed).collect();
        post(&self.url("/oauth/token"), &form, "").await
    }

    pub(crate) async fn refresh(&self, program: &Program, token: &str, more: &[(&str, &str)]) -> Page {
        let mut form = vec![("grant_type", "refresh_token"), ("refresh_token", token)];
        form.push(("client_id", &program.id));
        form.extend(more);
        post(&self.url("/oauth/token"), &form, "").await
    }

    /// The tokens of a program, from the beginning.
    pub(crate) async fn tokens(&self, program: &Program) -> Tokens {
        let code = self.code(program).await;
        Tokens::of(&self.redeem(program, &code).await)
    }

    /// The status of a call of `echo` with a token, and whether it ran.
    pub(crate) async fn call(&self, token: &str) -> (u16, bool) {
        let params = json!({ "name": "echo", "arguments": { "message": "heard" },
            "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {} } });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let headers = format!(
            "accept: application/json, text/event-stream\r\ncontent-type: application/json\r\nmcp-name: echo\r\n\
             mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nauthorization: Bearer {token}\r\n"
        );
        let page = send("POST", &self.url("/mcp"), &headers, &body).await;
        (page.status, page.body.contains("heard"))
    }
}

/// A client of the gateway.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) id: String,
    pub(crate) redirect: String,
    pub(crate) verifier: String,
    pub(crate) state: String,
    pub(crate) resource: String,
}

pub(crate) struct Tokens {
    pub(crate) access: String,
    pub(crate) refresh: String,
    pub(crate) scope: String,
}

impl Tokens {
    pub(crate) fn of(page: &Page) -> Self {
        assert_eq!(page.status, 200, "{}", page.body);
        let response = page.json();
        let text = |name: &str| response[name].as_str().unwrap_or_default().to_owned();
        assert_eq!((text("token_type").as_str(), page.headers("cache-control").next()), ("Bearer", Some("no-store")));
        Self { access: text("access_token"), refresh: text("refresh_token"), scope: text("scope") }
    }
}

/// A parameter of an address.
pub(crate) fn parameter(url: &Url, name: &str) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// The same address with another value of a parameter; without one, without the parameter.
pub(crate) fn with(url: &Url, name: &str, value: Option<&str>) -> Url {
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    let mut changed = url.clone();
    changed.query_pairs_mut().clear().extend_pairs(pairs.iter().filter(|(key, _)| key != name));
    if let Some(value) = value {
        changed.query_pairs_mut().append_pair(name, value);
    }
    changed
}

/// The claims of a token, without a look at its signature.
pub(crate) fn claims(token: &str) -> Value {
    let part = token.split('.').nth(1).expect("claims");
    serde_json::from_slice(&oauth::jose::decode(part).expect("base64")).expect("JSON")
}

fn settings(provider: &Provider, public_url: &str) -> Settings {
    let client = Client {
        method: Some("client_secret_post".to_owned()),
        ..Client::new("gateway", Credential::Secret(Secret::new("s3cret")))
    };
    let bridge = BridgeSettings {
        provider: LoginSource {
            issuer: provider.url(""),
            client,
            scopes: vec!["profile".to_owned()],
            timeout: Duration::from_secs(5),
            egress: None,
        },
        claims: vec!["team".to_owned()],
        keys: vec![Secret::new(KEY)],
        scopes: vec!["write".to_owned(), "admin".to_owned()],
        registration: true,
        documents: true,
        redirect_schemes: Vec::new(),
        access_token: Duration::from_mins(1),
        session: Duration::from_mins(10),
        egress: None,
    };
    let auth = AuthSettings {
        issuer: public_url.to_owned(),
        keys: None,
        introspection: None,
        audience: None,
        public_url: Some(public_url.to_owned()),
        scopes: vec!["read".to_owned()],
        egress: None,
    };
    Settings { auth: Some(auth), bridge: Some(Box::new(bridge)), ..Settings::default() }
}

pub(crate) fn free_address() -> SocketAddr {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("an address")
}

pub(crate) async fn serve(settings: &Settings, address: SocketAddr) -> (Gateway, Server) {
    let gateway = Gateway::new(settings, &Children::new()).expect("valid settings");
    let auth = settings.auth.as_ref().expect("it is there");
    let guard = TokenGuard::start(&gateway, auth).await.expect("keys");
    let options = http::Options { path: String::new(), guard: Some(Arc::new(guard)), ..http::Options::default() };
    let server = http::listen(Arc::new(gateway.clone()), address, options.clone()).await.expect("a free port");
    let endpoints = gateway.endpoints().into_iter().map(|endpoint| {
        let options = http::Options { path: endpoint.path, prefix: endpoint.prefix, ..options.clone() };
        (endpoint.service as Arc<dyn Service>, options)
    });
    server.endpoints().set(endpoints.collect());
    (gateway, server)
}
