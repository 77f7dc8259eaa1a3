//! Servers at several addresses of one gateway: what each shows, over which transports, and that another configuration is taken
//! over without cutting a request.

mod acceptance;
mod admin;
mod examples;
mod live;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use client::{Client, ClientEvent, Options, Topics};
use gateway::settings::{Change, Pattern, Selection, ServerSettings, Sessions, Settings, Target, UpstreamSettings};
use gateway::{Gateway, Pages};
use net::Children;
use net::client::{Address, HttpAddress};
use net::server::http::{self, OtherTransports, Server};
use net::service::Service;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;
use url::Url;
use wire::Revision;

const LOCAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A gateway in front of two equal reference servers.
struct Scene {
    gateway: Gateway,
    server: Server,
    upstreams: Vec<Server>,
}

fn at(scheme: &str, address: SocketAddr, path: &str) -> Url {
    Url::parse(&format!("{scheme}://{address}{path}")).expect("a URL")
}

fn upstream(name: &str, server: &Server) -> UpstreamSettings {
    let target = Target::Http(HttpAddress::new(at("http", server.local_addr(), "/mcp")));
    UpstreamSettings {
        name: name.to_owned(),
        target,
        revision: None,
        sessions: Sessions::default(),
        credentials: None,
        assertion: None,
    }
}

fn pattern(text: &str) -> Pattern {
    Pattern { upstream: None, text: text.to_owned() }
}

/// `/mcp` shows everything, `/few/mcp` a part of `b` with changes.
fn servers() -> Vec<ServerSettings> {
    let all = || vec!["a".to_owned(), "b".to_owned()];
    let pin = json!({ "a": 40 }).as_object().cloned().unwrap_or_default();
    let change =
        Change { name: Some("add_to_forty".to_owned()), description: Some("Adds.".to_owned()), title: None, pin };
    let few = ServerSettings {
        tools: Selection {
            only: Some(vec![pattern("ech*"), pattern("sum")]),
            hide: Vec::new(),
            change: vec![(pattern("sum"), change)],
        },
        resources: Selection { only: Some(vec![pattern("proof://counter")]), ..Selection::default() },
        instructions: Some("Few tools.".to_owned()),
        ..ServerSettings::everything("few", vec!["b".to_owned()])
    };
    vec![ServerSettings::everything("default", all()), few]
}

impl Scene {
    async fn new(revision: Revision) -> Self {
        let mut upstreams = Vec::new();
        for _ in 0..2 {
            let options = reference::Options { revisions: vec![revision], ..reference::Options::default() };
            upstreams.push(reference::Server::new(options).http(LOCAL).await.expect("a free port"));
        }
        let settings = Settings {
            upstreams: vec![upstream("a", &upstreams[0]), upstream("b", &upstreams[1])],
            servers: servers(),
            ..Settings::default()
        };
        let gateway = Gateway::new(&settings, &Children::new()).expect("valid addresses");
        let options = http::Options {
            path: String::new(),
            layer: Some(Arc::new(Pages::new(gateway.clone()))),
            ..http::Options::default()
        };
        let server = http::listen(Arc::new(gateway.clone()), LOCAL, options).await.expect("a free port");
        let scene = Self { gateway, server, upstreams };
        scene.update();
        scene
    }

    fn settings(&self, servers: Vec<ServerSettings>) -> Settings {
        let upstreams = vec![upstream("a", &self.upstreams[0]), upstream("b", &self.upstreams[1])];
        Settings { upstreams, servers, ..Settings::default() }
    }

    fn update(&self) {
        let endpoints = self.gateway.endpoints().into_iter().map(|endpoint| {
            let options = http::Options {
                path: endpoint.path,
                prefix: endpoint.prefix,
                other_transports: OtherTransports { sse: true, websocket: true },
                ..http::Options::default()
            };
            (endpoint.service as Arc<dyn Service>, options)
        });
        self.server.endpoints().set(endpoints.collect());
    }

    fn http(&self, path: &str) -> Address {
        Address::Http(HttpAddress::new(at("http", self.server.local_addr(), path)))
    }

    async fn get(&self, path: &str, host: &str) -> String {
        let mut stream = tokio::net::TcpStream::connect(self.server.local_addr()).await.expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let mut response = String::new();
        stream.read_to_string(&mut response).await.expect("it answers");
        response
    }
}

async fn connect(address: Address, revision: Revision) -> Client {
    let options = Options { revision: Some(revision), ..Options::new(address, &Children::new()) };
    Client::connect(options).await.unwrap_or_else(|error| panic!("a client of {revision}: {error}"))
}

async fn names(client: &Client) -> Vec<String> {
    let listed = client.list("tools/list", "tools").await.expect("a list").items;
    listed.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

async fn call(client: &Client, tool: &str, arguments: Value) -> String {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let answer = client.call_unseen(tool, arguments).await;
    answer.map_or_else(|error| error.to_string(), |message| message.text().to_owned())
}

#[tokio::test]
async fn each_address_shows_its_own_selection() {
    for revision in [Revision::R2025_11_25, Revision::R2026_07_28] {
        let scene = Scene::new(revision).await;
        for seen in [Revision::R2025_06_18, Revision::R2026_07_28] {
            let all = connect(scene.http("/mcp"), seen).await;
            let shown = names(&all).await;
            assert!(shown.contains(&"a_echo".to_owned()) && shown.contains(&"b_sum".to_owned()), "{shown:?}");
            assert!(call(&all, "b_echo", json!({ "message": "hi" })).await.contains("hi"));
            let few = connect(scene.http("/few/mcp"), seen).await;
            let mut shown = names(&few).await;
            shown.sort();
            assert_eq!(shown, ["add_to_forty", "echo"], "{seen} at {revision}");
            assert!(call(&few, "echo", json!({ "message": "hi" })).await.contains("hi"));
            for hidden in ["sum", "fail", "a_echo", "b_echo"] {
                let answer = call(&few, hidden, json!({ "a": 1, "b": 2 })).await;
                assert!(answer.contains("Unknown tool"), "{hidden}: {answer}");
            }
            let listed = few.list("resources/list", "resources").await.expect("a list").items;
            assert!(listed.iter().all(|one| one["uri"] == "proof://counter"), "{listed:?}");
            assert!(few.read("proof://counter").await.expect("shown").result().is_some());
            let hidden = few.read("proof://static/text").await;
            assert!(hidden.as_ref().map_or(true, |message| message.error().is_some()), "{hidden:?}");
        }
    }
}

#[tokio::test]
async fn a_pinned_argument_is_set_here_and_nowhere_else() {
    for revision in [Revision::R2025_11_25, Revision::R2026_07_28] {
        let scene = Scene::new(revision).await;
        let few = connect(scene.http("/few/mcp"), Revision::R2026_07_28).await;
        let tools = few.list("tools/list", "tools").await.expect("a list").items;
        let sum = tools.iter().find(|tool| tool["name"] == "add_to_forty").expect("renamed");
        assert_eq!(sum["description"], "Adds.");
        assert!(sum["inputSchema"]["properties"].get("a").is_none(), "{sum}");
        let answer = call(&few, "add_to_forty", json!({ "b": 2 })).await;
        assert!(answer.contains("\"42\"") || answer.contains(":42"), "{answer}");
        let answer = call(&few, "add_to_forty", json!({ "a": 1, "b": 2 })).await;
        assert!(answer.contains("is set by this server"), "{answer}");
    }
}

#[tokio::test]
async fn a_session_opens_only_its_own_server() {
    let scene = Scene::new(Revision::R2025_11_25).await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } } })
    .to_string();
    let post = async |path: &str, session: Option<&str>, body: &str| {
        let mut stream = tokio::net::TcpStream::connect(scene.server.local_addr()).await.expect("it listens");
        let session = session.map(|id| format!("mcp-session-id: {id}\r\n")).unwrap_or_default();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\naccept: application/json, text/event-stream\r\n{session}\
             content-type: application/json\r\nmcp-protocol-version: 2025-11-25\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n{body}",
            scene.server.local_addr(),
            body.len()
        );
        stream.write_all(head.as_bytes()).await.expect("it reads");
        let mut response = String::new();
        stream.read_to_string(&mut response).await.expect("it answers");
        response
    };
    let opened = post("/mcp", None, &body).await;
    let session =
        opened.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("mcp-session-id: ").map(str::to_owned));
    let session = session.unwrap_or_else(|| panic!("{opened}"));
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string();
    let foreign = post("/few/mcp", Some(session.trim()), &list).await;
    assert!(foreign.starts_with("HTTP/1.1 404"), "{foreign}");
    assert!(post("/none/mcp", None, &body).await.starts_with("HTTP/1.1 404"));
}

#[tokio::test]
async fn other_transports_are_served_below_each_address() {
    let scene = Scene::new(Revision::R2026_07_28).await;
    let address = scene.server.local_addr();
    for (prefix, tool) in [("", "b_echo"), ("/few", "echo")] {
        let sse = Address::Sse(HttpAddress::new(at("http", address, &format!("{prefix}/sse"))));
        let socket = Address::WebSocket(HttpAddress::new(at("ws", address, &format!("{prefix}/ws"))));
        for (over, revision) in [(sse, Revision::R2024_11_05), (socket, Revision::R2025_11_25)] {
            let client = connect(over.clone(), revision).await;
            assert!(call(&client, tool, json!({ "message": "hi" })).await.contains("hi"), "{over:?}");
        }
    }
}

#[tokio::test]
async fn another_configuration_is_taken_over_without_cutting_a_call() {
    let scene = Scene::new(Revision::R2025_11_25).await;
    let (sender, mut changes) = mpsc::unbounded_channel();
    let options = Options {
        revision: Some(Revision::R2025_11_25),
        observer: Arc::new(move |event| {
            if let ClientEvent::Notification { method, .. } = event {
                let _ = sender.send(method);
            }
        }),
        ..Options::new(scene.http("/few/mcp"), &Children::new())
    };
    let client = Client::connect(options).await.expect("a server");
    let topics = Topics { tools: true, ..Topics::default() };
    let _listening = client.listen(&topics).await.expect("it declares changes");
    let old = connect(scene.http("/mcp"), Revision::R2025_11_25).await;
    assert_eq!(names(&client).await.len(), 2);
    // A call that lasts longer than the change, at the upstream that goes.
    let slow = tokio::spawn(async move {
        let answer = call(&old, "a_slow", json!({ "steps": 4, "delay_ms": 150 })).await;
        (old, answer)
    });
    tokio::time::sleep(Duration::from_millis(150)).await;
    let few = ServerSettings {
        tools: Selection { only: Some(vec![pattern("fail")]), ..Selection::default() },
        ..ServerSettings::everything("few", vec!["b".to_owned()])
    };
    let mut settings = scene.settings(vec![few]);
    settings.upstreams.remove(0);
    let done = scene.gateway.reload(&settings).expect("valid addresses");
    scene.update();
    assert_eq!((done.kept, done.begun, done.ended), (1, 0, 1));
    assert_eq!(names(&client).await, ["fail"], "the same session sees what holds now");
    let announced = tokio::time::timeout(Duration::from_secs(5), changes.recv()).await.expect("in time");
    assert!(announced.is_some_and(|method| method.ends_with("/list_changed")));
    let (old, answer) = slow.await.expect("it ends");
    assert!(!answer.contains("error"), "{answer}");
    let later = call(&old, "a_echo", json!({ "message": "hi" })).await;
    assert!(later.contains("HTTP 404") || later.contains("session") || later.contains("not found"), "{later}");
}

#[tokio::test]
async fn pages_say_whether_it_lives_and_is_ready() {
    let scene = Scene::new(Revision::R2026_07_28).await;
    let host = scene.server.local_addr().to_string();
    assert!(scene.get("/health", &host).await.ends_with("ok\n"));
    assert!(scene.get("/ready", &host).await.starts_with("HTTP/1.1 200"));
    let client = connect(scene.http("/mcp"), Revision::R2026_07_28).await;
    call(&client, "a_echo", json!({ "message": "hi" })).await;
    let metrics = scene.get("/metrics", &host).await;
    assert!(metrics.contains("proof_gateway_requests_total{upstream=\"a\",method=\"tools/call\"} 1"), "{metrics}");
    for path in ["/health", "/ready", "/metrics"] {
        assert!(scene.get(path, "evil.example").await.starts_with("HTTP/1.1 403"), "{path}");
    }
    assert!(scene.get("/", &host).await.starts_with("HTTP/1.1 404"));
    let status = scene.gateway.status();
    assert_eq!(status["upstreams"][0]["state"], "connected", "{status}");
}

#[tokio::test]
async fn it_is_not_ready_while_no_upstream_answers() {
    let gone = {
        let server = reference::Server::new(reference::Options::default()).http(LOCAL).await.expect("a free port");
        let upstream = upstream("gone", &server);
        server.shutdown().await;
        upstream
    };
    let settings = Settings { upstreams: vec![gone], ..Settings::default() };
    let gateway = Gateway::new(&settings, &Children::new()).expect("a valid address");
    assert_eq!(gateway.is_ready(Duration::from_secs(5)).await, Err("gone".to_owned()));
    let status = gateway.status();
    assert_eq!(status["upstreams"][0]["state"], "failing", "{status}");
}
