//! Who gets in, and what each may use: access tokens of every kind of wrongness, and rules, over every transport.

mod audit;
mod tls;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use client::{Client, ClientError, Options};
use gateway::Gateway;
use gateway::access::TokenGuard;
use gateway::settings::{
    AccessRule, AuditSettings, AuthSettings, ConditionText, Effect, ServerSettings, Sessions, Settings, Target,
    UpstreamSettings,
};
use net::Children;
use net::client::{Address, HttpAddress};
use net::server::http::{self, OtherTransports, Server};
use net::service::Service;
use oauth::jose::Signer;
use oauth::now;
use oauth::resource::Source;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;
use wire::Revision;

const LOCAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const ISSUER: &str = "https://auth.example";

/// A gateway with `/mcp` and `/other/mcp` in front of a reference server, an issuer's key, and what is not to be dropped.
struct Scene {
    server: Server,
    gateway: Gateway,
    signer: Signer,
    _upstream: Server,
    _folder: TempDir,
}

fn rule(effect: Effect, tools: &[&str]) -> AccessRule {
    let tools = Some(tools.iter().map(|name| (*name).to_owned()).collect());
    AccessRule { effect, tools, prompts: None, resources: None, scopes: Vec::new(), condition: None }
}

fn when(rule: AccessRule, text: &str) -> AccessRule {
    AccessRule { condition: Some(ConditionText { text: text.to_owned(), line: 1, column: 1 }), ..rule }
}

/// `echo` for everybody, `sum` for the team `data`, the counter for who has the scope.
fn rules() -> Vec<AccessRule> {
    let nothing = AccessRule { tools: None, ..rule(Effect::Allow, &[]) };
    vec![
        rule(Effect::Allow, &["echo"]),
        when(rule(Effect::Allow, &["sum"]), "claims.team == 'data'"),
        AccessRule {
            resources: Some(vec!["proof://counter".to_owned()]),
            scopes: vec!["counter".to_owned()],
            ..nothing
        },
    ]
}

impl Scene {
    async fn new(access: Option<Vec<AccessRule>>) -> Self {
        Self::with(access, None).await
    }

    async fn with(access: Option<Vec<AccessRule>>, audit: Option<AuditSettings>) -> Self {
        let upstream = reference::Server::new(reference::Options::default()).http(LOCAL).await.expect("a free port");
        let (signer, folder) = (Signer::fresh(), tempfile::tempdir().expect("a folder"));
        let keys = folder.path().join("keys.json");
        std::fs::write(&keys, json!({ "keys": [signer.public()] }).to_string()).expect("a file");
        let at = Url::parse(&format!("http://{}/mcp", upstream.local_addr())).expect("a URL");
        let upstreams = vec![UpstreamSettings {
            name: "a".to_owned(),
            target: Target::Http(HttpAddress::new(at)),
            revision: None,
            sessions: Sessions::default(),
            credentials: None,
            assertion: None,
        }];
        let auth = AuthSettings {
            issuer: ISSUER.to_owned(),
            keys: Some(Source::File(keys)),
            introspection: None,
            audience: None,
            public_url: None,
            scopes: vec!["mcp".to_owned()],
            egress: None,
        };
        let all = || vec!["a".to_owned()];
        let servers = vec![ServerSettings::everything("default", all()), ServerSettings::everything("other", all())];
        let settings = Settings { upstreams, servers, access, auth: Some(auth.clone()), audit, ..Settings::default() };
        let gateway = Gateway::new(&settings, &Children::new()).expect("valid settings");
        let guard = TokenGuard::start(&gateway, &auth).await.expect("keys");
        let options = http::Options { path: String::new(), guard: Some(Arc::new(guard)), ..http::Options::default() };
        let server = http::listen(Arc::new(gateway.clone()), LOCAL, options.clone()).await.expect("a free port");
        let endpoints = gateway.endpoints().into_iter().map(|endpoint| {
            let options = http::Options {
                path: endpoint.path,
                prefix: endpoint.prefix,
                other_transports: OtherTransports { sse: true, websocket: true },
                ..options.clone()
            };
            (endpoint.service as Arc<dyn Service>, options)
        });
        server.endpoints().set(endpoints.collect());
        Self { server, gateway, signer, _upstream: upstream, _folder: folder }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.server.local_addr())
    }

    fn claims(&self) -> Value {
        json!({ "iss": ISSUER, "aud": self.url("/mcp"), "exp": now() + 60, "sub": "me", "scope": "mcp" })
    }

    fn token(&self, change: impl FnOnce(&mut Value)) -> String {
        let mut claims = self.claims();
        change(&mut claims);
        self.signer.sign(json!({ "typ": "at+jwt" }), &claims)
    }

    async fn try_client(&self, address: &str, revision: Revision, token: &str) -> Result<Client, ClientError> {
        let url = Url::parse(address).expect("a URL");
        let mut http = HttpAddress::new(url);
        http.headers.push(("authorization".to_owned(), format!("Bearer {token}")));
        let address = match http.url.scheme() {
            "ws" => Address::WebSocket(http),
            _ if http.url.path().ends_with("/sse") => Address::Sse(http),
            _ => Address::Http(http),
        };
        let options = Options { revision: Some(revision), ..Options::new(address, &Children::new()) };
        Client::connect(options).await
    }

    async fn client(&self, revision: Revision, token: &str) -> Client {
        self.try_client(&self.url("/mcp"), revision, token).await.expect("it is let in")
    }
}

async fn listed(client: &Client, method: &str, member: &str, key: &str) -> Vec<String> {
    let items = client.list(method, member).await.expect("a list").items;
    items.iter().filter_map(|item| item[key].as_str().map(str::to_owned)).collect()
}

async fn call(client: &Client, tool: &str, arguments: Value) -> String {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let answer = client.call_unseen(tool, arguments).await;
    answer.map_or_else(|error| error.to_string(), |message| message.text().to_owned())
}

/// Status, headers and body of a request of 2025-11-25 to `path`.
async fn post(scene: &Scene, path: &str, headers: &str) -> String {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } } })
    .to_string();
    post_body(scene, path, headers, &body).await
}

async fn post_body(scene: &Scene, path: &str, headers: &str, body: &str) -> String {
    let (address, length) = (scene.server.local_addr(), body.len());
    ask(
        scene,
        &format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\naccept: application/json, text/event-stream\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        ),
    )
    .await
}

async fn ask(scene: &Scene, request: &str) -> String {
    let mut stream = TcpStream::connect(scene.server.local_addr()).await.expect("it listens");
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("it answers");
    response
}

fn bearer(token: &str) -> String {
    format!("authorization: Bearer {token}\r\n")
}

#[tokio::test]
async fn only_a_good_token_gets_in() {
    let scene = Scene::new(None).await;
    let good = scene.token(|_| ());
    assert!(post(&scene, "/mcp", &bearer(&good)).await.starts_with("HTTP/1.1 200"));
    // Once more: the verdict is kept by now.
    assert!(post(&scene, "/mcp", &bearer(&good)).await.starts_with("HTTP/1.1 200"));
    let other_key = Signer::fresh().sign(json!({ "typ": "at+jwt" }), &scene.claims());
    let plain = |header: Value| {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}.", part(&header), part(&scene.claims()))
    };
    let mut bad = vec![
        ("another issuer", scene.token(|claims| claims["iss"] = json!("https://evil.example"))),
        ("another server", scene.token(|claims| claims["aud"] = json!("https://files.example/mcp"))),
        ("another endpoint", scene.token(|claims| claims["aud"] = json!(scene.url("/other/mcp")))),
        ("no audience", scene.token(|claims| claims["aud"] = Value::Null)),
        ("expired", scene.token(|claims| claims["exp"] = json!(now() - 60))),
        ("no end", scene.token(|claims| claims["exp"] = Value::Null)),
        ("not yet", scene.token(|claims| claims["nbf"] = json!(now() + 600))),
        ("bound to a key", scene.token(|claims| claims["cnf"] = json!({ "jkt": "x" }))),
        ("another key", other_key),
        ("no signature", plain(json!({ "alg": "none", "typ": "at+jwt" }))),
        ("an empty signature", plain(json!({ "alg": "ES256", "typ": "at+jwt" }))),
        ("an identity token", scene.signer.sign(json!({ "typ": "id+jwt" }), &scene.claims())),
        ("no token", "opaque".to_owned()),
    ];
    let forged = good.rsplit_once('.').expect("three parts").0.to_owned();
    bad.push((
        "the signature of another text",
        format!("{forged}.{}", good.rsplit_once('.').expect("three").1.chars().rev().collect::<String>()),
    ));
    for (why, token) in bad {
        let response = post(&scene, "/mcp", &bearer(&token)).await;
        assert!(response.starts_with("HTTP/1.1 401"), "{why}: {response}");
        assert!(response.contains("error=\"invalid_token\"") && !response.contains(&token), "{why}: {response}");
    }
    for (why, headers) in [
        ("nothing", String::new()),
        ("another scheme", format!("authorization: Basic {good}\r\n")),
        ("two tokens", bearer(&good) + &bearer(&good)),
        ("a header of ours", "proof-subject: me\r\n".to_owned()),
    ] {
        assert!(post(&scene, "/mcp", &headers).await.starts_with("HTTP/1.1 401"), "{why}");
    }
    // Never from the query (RFC 6750, 2.3 is not for us).
    assert!(post(&scene, &format!("/mcp?access_token={good}"), "").await.starts_with("HTTP/1.1 401"));
    // A foreign `Host` says nothing about which server this is.
    let elsewhere = scene.token(|claims| claims["aud"] = json!("http://localhost:1/mcp"));
    let response = post(&scene, "/mcp", &(bearer(&elsewhere) + "x-forwarded-host: localhost:1\r\n")).await;
    assert!(response.starts_with("HTTP/1.1 401"), "{response}");
}

#[tokio::test]
async fn too_little_scope_is_403_and_names_what_is_needed() {
    let scene = Scene::new(None).await;
    let token = scene.token(|claims| claims["scope"] = json!("other"));
    let response = post(&scene, "/mcp", &bearer(&token)).await;
    assert!(response.starts_with("HTTP/1.1 403"), "{response}");
    assert!(response.contains("error=\"insufficient_scope\"") && response.contains("scope=\"mcp\""), "{response}");
}

#[tokio::test]
async fn clients_learn_where_tokens_come_from() {
    let scene = Scene::new(None).await;
    let address = scene.server.local_addr();
    for endpoint in ["/mcp", "/other/mcp"] {
        let response = post(&scene, endpoint, "").await;
        let at = format!("http://{address}/.well-known/oauth-protected-resource{endpoint}");
        assert!(response.contains(&format!("resource_metadata=\"{at}\"")), "{response}");
        let path = format!("/.well-known/oauth-protected-resource{endpoint}");
        let document =
            ask(&scene, &format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")).await;
        let body = document.split("\r\n\r\n").nth(1).expect("a body");
        let body: Value = serde_json::from_str(body).expect("JSON");
        assert_eq!(body["resource"], scene.url(endpoint), "{body}");
        assert_eq!((&body["authorization_servers"], &body["scopes_supported"]), (&json!([ISSUER]), &json!(["mcp"])));
    }
    let unknown = format!(
        "GET /.well-known/oauth-protected-resource/none/mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
    );
    assert!(!ask(&scene, &unknown).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn every_transport_asks_for_a_token() {
    let scene = Scene::new(None).await;
    let good = scene.token(|_| ());
    let websocket = format!("ws://{}/ws", scene.server.local_addr());
    for (address, revision) in [
        (scene.url("/mcp"), Revision::R2026_07_28),
        (scene.url("/mcp"), Revision::R2025_06_18),
        (scene.url("/sse"), Revision::R2024_11_05),
        (websocket, Revision::R2025_11_25),
    ] {
        let client = scene.try_client(&address, revision, &good).await.expect("it is let in");
        assert!(call(&client, "echo", json!({ "message": "hello" })).await.contains("hello"), "{address}");
        client.close().await;
        let error = scene.try_client(&address, revision, "opaque").await.err().expect("it is not let in");
        assert!(error.to_string().contains("HTTP 401"), "{address}: {error}");
    }
}

#[tokio::test]
async fn rules_say_what_each_client_sees_and_may_use() {
    let scene = Scene::new(Some(rules())).await;
    for revision in [Revision::R2026_07_28, Revision::R2025_06_18] {
        let sales = scene.client(revision, &scene.token(|claims| claims["team"] = json!("sales"))).await;
        let data = scene.client(revision, &scene.token(|claims| claims["team"] = json!("data"))).await;
        let scoped = scene.client(revision, &scene.token(|claims| claims["scope"] = json!("mcp counter"))).await;
        assert_eq!(listed(&sales, "tools/list", "tools", "name").await, ["echo"]);
        assert_eq!(listed(&data, "tools/list", "tools", "name").await, ["echo", "sum"]);
        assert_eq!(listed(&sales, "resources/list", "resources", "uri").await, [""; 0]);
        assert_eq!(listed(&scoped, "resources/list", "resources", "uri").await, ["proof://counter"]);
        assert_eq!(listed(&scoped, "prompts/list", "prompts", "name").await, [""; 0]);
        assert_eq!(listed(&scoped, "resources/templates/list", "resourceTemplates", "uriTemplate").await, [""; 0]);
        let (four, sum) = (json!({ "a": 1, "b": 3 }), "sum");
        assert!(call(&data, sum, four.clone()).await.contains('4'));
        // What is not allowed reads exactly as what does not exist.
        let denied = call(&sales, sum, four.clone()).await;
        let unknown = call(&sales, "smu", four).await;
        assert_eq!(denied.replace("sum", "X"), unknown.replace("smu", "X"));
        assert!(scoped.read("proof://counter").await.is_ok());
        let (denied, unknown) = (sales.read("proof://counter").await, sales.read("proof://retnuoc").await);
        let text = |result: Result<_, ClientError>| result.expect_err("an error").to_string();
        assert_eq!(text(denied).replace("counter", "X"), text(unknown).replace("retnuoc", "X"));
        for client in [sales, data, scoped] {
            client.close().await;
        }
    }
}

/// One subject with two tokens: what one of them may is nothing to the other, whatever is kept.
#[tokio::test]
async fn two_tokens_of_one_subject_are_two_grants() {
    let scene = Scene::new(Some(rules())).await;
    let (more, less) = (scene.token(|claims| claims["scope"] = json!("mcp counter")), scene.token(|_| ()));
    for _ in 0..2 {
        for (token, seen) in [(&more, 1), (&less, 0)] {
            let client = scene.client(Revision::R2026_07_28, token).await;
            assert_eq!(listed(&client, "resources/list", "resources", "uri").await.len(), seen);
            assert_eq!(client.read("proof://counter").await.is_ok(), seen == 1);
            client.close().await;
        }
    }
}

/// In a session each request counts by its own token, over HTTP+SSE as well.
#[tokio::test]
async fn a_condition_looks_at_arguments_and_fails_closed() {
    let rules = vec![when(rule(Effect::Allow, &["echo"]), "arguments.message.startsWith('public')")];
    let scene = Scene::new(Some(rules)).await;
    for revision in [Revision::R2026_07_28, Revision::R2025_06_18] {
        let client = scene.client(revision, &scene.token(|_| ())).await;
        assert_eq!(listed(&client, "tools/list", "tools", "name").await, ["echo"]);
        assert!(call(&client, "echo", json!({ "message": "public news" })).await.contains("public news"));
        for arguments in [json!({ "message": "secret" }), json!({ "message": 1 }), json!({})] {
            let answer = call(&client, "echo", arguments.clone()).await;
            assert!(answer.contains("Unknown tool: echo"), "{arguments}: {answer}");
        }
        client.close().await;
    }
}

/// A chain of calls whose token ends after the second one.
#[tokio::test]
async fn a_token_that_ends_in_a_chain_is_401_with_an_error_as_its_body() {
    let scene = Scene::new(None).await;
    // Clocks may be five seconds apart.
    let token = bearer(&scene.token(|claims| claims["exp"] = json!(now() - 3)));
    let opened = post(&scene, "/mcp", &token).await;
    let session = opened.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session");
    let headers = format!("{token}mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n");
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    post_body(&scene, "/mcp", &headers, &ready).await;
    let body = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "echo", "arguments": { "message": "hello" } } })
    .to_string();
    for _ in 0..2 {
        let answer = post_body(&scene, "/mcp", &headers, &body).await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("hello"), "{answer}");
    }
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    let answer = post_body(&scene, "/mcp", &headers, &body).await;
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 401") && head.contains("error=\"invalid_token\""), "{answer}");
    let body: Value = serde_json::from_str(body).unwrap_or_else(|why| panic!("{why}: {answer}"));
    assert_eq!((&body["error"]["code"], body.get("id")), (&json!(-32600), None), "{body}");
    let data = &body["error"]["data"];
    assert_eq!((&data["category"], &data["retryable"]), (&json!("PERMISSION_DENIED"), &json!(false)), "{body}");
}

/// The token of a WebSocket is looked at once; when its time is over, so is what it may.
#[tokio::test]
async fn a_websocket_does_not_outlive_its_token() {
    let scene = Scene::new(None).await;
    // Clocks may be five seconds apart.
    let token = scene.token(|claims| claims["exp"] = json!(now() - 3));
    let address = format!("ws://{}/ws", scene.server.local_addr());
    let client = scene.try_client(&address, Revision::R2025_11_25, &token).await.expect("it is let in");
    assert!(call(&client, "echo", json!({ "message": "hello" })).await.contains("hello"));
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    let answer = call(&client, "echo", json!({ "message": "hello" })).await;
    assert!(answer.contains("The access token has expired"), "{answer}");
    client.close().await;
}

/// A resource has no arguments: a condition that looks at them cannot be decided, whatever else it demands.
#[tokio::test]
async fn a_condition_on_arguments_opens_no_resource() {
    let text = "claims.team == 'data' && arguments.path.startsWith('/data/')";
    let everything = AccessRule { tools: None, ..rule(Effect::Allow, &[]) };
    let scene = Scene::new(Some(vec![when(everything, text)])).await;
    for team in ["sales", "data"] {
        let token = scene.token(|claims| claims["team"] = json!(team));
        let client = scene.client(Revision::R2026_07_28, &token).await;
        assert_eq!(listed(&client, "resources/list", "resources", "uri").await, [""; 0], "{team}");
        assert!(client.read("proof://counter").await.is_err(), "{team}");
        // A tool may be called with such arguments: it is shown, and the call decides.
        assert!(listed(&client, "tools/list", "tools", "name").await.contains(&"echo".to_owned()), "{team}");
        client.close().await;
    }
}

/// Completion of a prompt's argument is decided by what is filled in so far, as the prompt itself is.
#[tokio::test]
async fn a_condition_on_arguments_decides_completion() {
    let text = "claims.team == 'data' && arguments.language.startsWith('r')";
    let everything = AccessRule { tools: None, ..rule(Effect::Allow, &[]) };
    let scene = Scene::new(Some(vec![when(everything, text)])).await;
    for revision in [Revision::R2026_07_28, Revision::R2025_06_18] {
        for (team, begun, may) in [("data", "ru", true), ("data", "py", false), ("sales", "ru", false)] {
            let client = scene.client(revision, &scene.token(|claims| claims["team"] = json!(team))).await;
            let prompt = json!({ "type": "ref/prompt", "name": "code_review" });
            let none = serde_json::Map::new();
            let answer = client.complete_value(prompt, ("language", begun), none).await;
            assert_eq!(answer.is_ok(), may, "{revision} {team} {begun}: {answer:?}");
            client.close().await;
        }
    }
}
