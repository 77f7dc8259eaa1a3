//! Where the gateway connects to: names that lead inside, names that change, redirects, proxies.

use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gateway::Gateway;
use gateway::access::TokenGuard;
use gateway::settings::{AuthSettings, Settings, Target};
use net::Children;
use net::client::HttpAddress;
use net::egress::{Egress, EgressRules, Resolve, Resolving};
use oauth::resource::Source;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use wire::Revision;

use crate::scene::{LOCAL, Scene, address, call, named, script};
use crate::scripted::{self, answer, read, server, write};

/// Leads to whatever it holds.
struct Leads(Mutex<&'static str>);

impl Resolve for Leads {
    fn resolve<'a>(&'a self, _: &'a str, port: u16) -> Resolving<'a> {
        let ip = *self.0.lock().unwrap();
        Box::pin(async move { Ok(vec![SocketAddr::new(ip.parse().unwrap(), port)]) })
    }
}

fn leads(to: &'static str) -> Arc<Leads> {
    Arc::new(Leads(Mutex::new(to)))
}

fn rules(allows_private: bool) -> EgressRules {
    EgressRules { place: "upstreams.one.egress".to_owned(), allows_private, ..EgressRules::default() }
}

fn guarded(url: &str, allows_private: bool, resolver: Arc<Leads>) -> HttpAddress {
    HttpAddress { egress: Some(Egress::new(rules(allows_private)).resolving(resolver)), ..address(url) }
}

/// A server of MCP on this machine; its port.
async fn reference() -> (net::server::http::Server, u16) {
    let other_transports = net::server::http::OtherTransports { sse: true, websocket: true };
    let http = net::server::http::Options {
        other_transports,
        hosts: vec!["inside.example".to_owned()],
        ..net::server::http::Options::default()
    };
    let options = reference::Options { http, ..reference::Options::default() };
    let server = reference::Server::new(options).http(LOCAL).await.unwrap();
    let port = server.local_addr().port();
    (server, port)
}

/// Counts the connections that come.
async fn canary() -> (SocketAddr, Arc<AtomicUsize>, JoinHandle<()>) {
    let listener = TcpListener::bind(LOCAL).await.unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::<AtomicUsize>::default());
    let counter = Arc::clone(&count);
    let task = tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    (address, count, task)
}

#[tokio::test]
async fn a_name_that_leads_inside_is_connected_to_over_no_transport() {
    let (canary, count, _task) = canary().await;
    let port = canary.port();
    let of = |scheme: &str, path: &str| {
        guarded(&format!("{scheme}://inside.example:{port}/{path}"), false, leads("127.0.0.1"))
    };
    for target in [
        Target::Http(of("http", "mcp")),
        Target::StreamableHttp(of("http", "mcp")),
        Target::Sse(of("http", "sse")),
        Target::WebSocket(of("ws", "ws")),
    ] {
        let what = format!("{target:?}");
        let scene = Scene::of(target).await;
        let error = scene.try_client(Revision::R2025_11_25).await.err().expect("it is not there").to_string();
        assert!(error.contains("`upstreams.one.egress` does not allow its address"), "{what}: {error}");
        assert!(!error.contains("its address 127"), "addresses are for the log: {error}");
        scene.end().await;
    }
    assert_eq!(count.load(Ordering::Relaxed), 0, "it was connected to");
}

/// A name leads to the server at first, and elsewhere later.
#[tokio::test]
async fn a_name_that_changes_is_checked_again() {
    let (_server, port) = reference().await;
    let resolver = leads("127.0.0.1");
    let url = format!("http://inside.example:{port}/mcp");
    let scene = Scene::of(Target::Http(guarded(&url, true, Arc::clone(&resolver)))).await;
    let client = scene.client(Revision::R2025_11_25).await;
    let echoed = call(&client, "echo", json!({ "message": "heard" })).await;
    assert!(echoed.contains("heard"), "{echoed}");
    *resolver.0.lock().unwrap() = "169.254.169.254";
    // Idle connections are not used any more after 2 s.
    sleep(Duration::from_millis(2500)).await;
    let refused = call(&client, "echo", json!({ "message": "heard" })).await;
    for part in ["egress-refused", "not run", "does not allow its address"] {
        assert!(refused.contains(part), "no {part}: {refused}");
    }
    assert!(!refused.contains("169.254"), "{refused}");
    *resolver.0.lock().unwrap() = "127.0.0.1";
    sleep(Duration::from_secs(1)).await;
    let echoed = call(&client, "echo", json!({ "message": "again" })).await;
    assert!(echoed.contains("again"), "{echoed}");
    scene.end().await;
}

/// What redirects, and what it redirects to.
async fn redirecting() -> (String, Arc<AtomicUsize>, JoinHandle<()>) {
    let (canary, count, task) = canary().await;
    let origin = scripted::http(move |mut stream| async move {
        while read(&mut stream).await.is_some() {
            let location = format!("location: http://{canary}/mcp\r\n");
            write(&mut stream, &answer("307 Temporary Redirect", &location, "")).await;
        }
    });
    (origin.await, count, task)
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (origin, count, _task) = redirecting().await;
    for target in [Target::Http(address(&origin)), Target::Sse(address(&origin))] {
        let scene = Scene::of(target).await;
        let error = scene.try_client(Revision::R2025_11_25).await.err().expect("nothing is there").to_string();
        assert!(error.contains("HTTP status 307") || error.contains("HTTP 307"), "{error}");
        scene.end().await;
    }
    assert_eq!(count.load(Ordering::Relaxed), 0, "a redirect was followed");
}

fn auth(url: &str, egress: Option<Egress>) -> AuthSettings {
    AuthSettings {
        issuer: "https://auth.example".to_owned(),
        keys: Some(Source::Address(url.parse().unwrap())),
        introspection: None,
        audience: None,
        public_url: None,
        scopes: Vec::new(),
        egress,
    }
}

#[tokio::test]
async fn keys_are_fetched_from_no_redirect_and_from_nowhere_inside() {
    let settings = Settings { upstreams: vec![named("one", script(&server("a", "")))], ..Settings::default() };
    let gateway = Gateway::new(&settings, &Children::new()).unwrap();
    let (origin, count, _task) = redirecting().await;
    let error = TokenGuard::start(&gateway, &auth(&origin, None)).await.expect_err("no keys");
    assert!(error.contains("HTTP status 307") || error.contains("HTTP 307"), "{error}");
    // The same address, which the rules do not name.
    let egress = Some(Egress::new(rules(false)));
    let error = TokenGuard::start(&gateway, &auth(&origin, egress)).await.expect_err("no keys");
    assert!(error.contains("does not allow a connection to `127.0.0.1`"), "{error}");
    assert_eq!(count.load(Ordering::Relaxed), 0, "a redirect was followed");
}

/// The program itself, with a file: a proxy of the environment gets nothing, an address of the file works under strict rules.
#[tokio::test]
async fn an_address_of_the_file_works_and_a_proxy_of_the_environment_is_not_used() {
    let (_server, port) = reference().await;
    let (proxy, count, _task) = canary().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.yaml");
    let text =
        format!("egress: {{ private: refuse }}\nupstreams: {{ one: {{ url: 'http://127.0.0.1:{port}/mcp' }} }}\n");
    std::fs::write(&file, text).unwrap();
    let mut gateway = Command::new(env!("CARGO_BIN_EXE_proof-gateway"));
    gateway.arg("--stdio").arg("--config").arg(&file).stdin(Stdio::piped()).stdout(Stdio::piped());
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        gateway.env(name, format!("http://{proxy}"));
    }
    let answer = tokio::task::spawn_blocking(move || {
        let mut gateway = gateway.stderr(Stdio::null()).spawn().unwrap();
        let meta = json!({ wire::meta::PROTOCOL_VERSION: "2026-07-28", wire::meta::CLIENT_CAPABILITIES: {},
            wire::meta::CLIENT_INFO: { "name": "c", "version": "1" } });
        let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": "echo", "arguments": { "message": "heard" }, "_meta": meta } });
        let mut stdin = gateway.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, format!("{call}\n").as_bytes()).unwrap();
        let (mut lines, mut answers) = (String::new(), String::new());
        let mut stdout = std::io::BufReader::new(gateway.stdout.take().unwrap());
        while !answers.contains("\"id\":2") && std::io::BufRead::read_line(&mut stdout, &mut lines).unwrap() > 0 {
            answers.push_str(&std::mem::take(&mut lines));
        }
        drop(stdin);
        gateway.wait().unwrap();
        answers
    });
    let answer = answer.await.unwrap();
    assert!(answer.contains("heard"), "{answer}");
    assert_eq!(count.load(Ordering::Relaxed), 0, "the proxy was used");
}
