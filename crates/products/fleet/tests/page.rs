//! The page of `proof fleet ui`: who gets in, what it answers, what it does, and that names which attack stay text.

#[path = "shared/scene.rs"]
mod scene;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fleet::ui::{Options, Ui};
use net::server::http::Server;
use scene::{Ended, Scene, now};
use serde_json::{Value, json};

/// One server that breaks a rule, and one whose words attack.
const FLEET: &str = "\
name: <b>demo</b>
store: results
defaults: { source: examples, stage: conforms }
servers:
  - { name: broken, owner: ada@example.com, command: [proof, serve, --stdio, --catalog, weather.yaml, --fault, wrong-id] }
  - { name: hostile, owner: '<img src=x onerror=alert(1)>', tags: ['\"><script>'], note: \"a\\u202eb\", command: [does-not-exist] }
stages:
  - { name: listed, gates: [listed] }
  - { name: starts, gates: [starts] }
  - { name: conforms, gates: [conforms] }
dashboards:
  - { name: red, filter: 'is:failed' }
limits: { seconds: 240 }
";

/// The folder of an inspector is its owner's alone, and the inspector is found by it if this program is killed.
fn is_private_and_marked() {
    use std::os::unix::fs::PermissionsExt as _;
    let mark = net::process::marked(fleet::compute::JOBS);
    let entries = std::fs::read_dir(std::env::temp_dir()).expect("the temporary folder").flatten();
    let own = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&mark)).map(|entry| entry.path());
    let folder = own.into_iter().find(|path| path.join("trace.jsonl").is_file()).expect("the folder of the inspector");
    let mode = std::fs::metadata(&folder).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
    if cfg!(target_os = "linux") {
        let variable = format!("TMPDIR={}", folder.display());
        let processes = std::fs::read_dir("/proc").expect("processes").flatten();
        let mut environments = processes.filter_map(|one| std::fs::read(one.path().join("environ")).ok());
        assert!(environments.any(|all| all.split(|byte| *byte == 0).any(|text| text == variable.as_bytes())));
    }
}

/// A page that is served, and what it needs to stay alive.
struct Page {
    ui: Arc<Ui>,
    address: SocketAddr,
    token: String,
    _serving: Server,
    _folder: tempfile::TempDir,
    _children: Ended,
}

async fn opened(text: &str) -> Page {
    let Scene { folder, fleet, keeping, runner, _children: children } = Scene::open(text).await;
    let options = Options { fleet, keeping, runner, clock: now, actor: "test".to_owned(), tell: |_| {}, version: "0" };
    let ui = Ui::open(options).await.expect("a page");
    let serving = ui.listen(([127, 0, 0, 1], 0).into()).await.expect("a free port");
    let (address, token) = (serving.local_addr(), ui.token().reveal().to_owned());
    Page { ui, address, token, _serving: serving, _folder: folder, _children: children }
}

impl Page {
    async fn send(&self, head: &str, body: &str) -> (u16, String, String) {
        let request = format!("{head}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let address = self.address;
        tokio::task::spawn_blocking(move || exchange(address, &request)).await.expect("an answer")
    }

    fn head(&self, method: &str, path: &str) -> String {
        format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}", self.address, self.token)
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        let (status, _, body) = self.send(&self.head("GET", path), "").await;
        (status, serde_json::from_str(&body).unwrap_or_else(|error| panic!("{path}: {error}: {body}")))
    }

    async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let head = format!("{}\r\nContent-Type: application/json", self.head("POST", path));
        let (status, _, body) = self.send(&head, &body.to_string()).await;
        (status, serde_json::from_str(&body).unwrap_or_else(|error| panic!("{path}: {error}: {body}")))
    }

    async fn until(&self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let (_, state) = self.get("/api/state").await;
            if holds(&state) {
                return state;
            }
            assert!(begun.elapsed() < Duration::from_mins(5), "{what}: {state}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

fn exchange(address: SocketAddr, request: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a socket");
    stream.write_all(request.as_bytes()).expect("a request");
    let mut bytes = Vec::new();
    // A server that refuses early may reset the connection after its answer.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, head.to_ascii_lowercase(), body.to_owned())
}

const READS: [&str; 8] = ["state", "servers", "match", "server?name=broken", "evidence", "report", "complete", "feed"];

#[tokio::test(flavor = "multi_thread")]
async fn only_the_token_opens_the_api_and_only_from_the_page_itself() {
    let page = opened(FLEET).await;
    let (host, token) = (page.address.to_string(), page.token.clone());
    for route in READS {
        let head = format!("GET /api/{route} HTTP/1.1\r\nHost: {host}");
        for credentials in ["", "\r\nAuthorization: Bearer x", &format!("\r\nCookie: token={token}")] {
            assert_eq!(page.send(&format!("{head}{credentials}"), "").await.0, 401, "{route}{credentials}");
        }
    }
    for action in ["run", "cancel", "inspect"] {
        let head = format!("POST /api/{action} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json");
        assert_eq!(page.send(&head, "{}").await.0, 401, "{action}");
        let foreign = format!("{head}\r\nAuthorization: Bearer {token}\r\nOrigin: https://evil.example");
        assert_eq!(page.send(&foreign, r#"{"kind":"changed"}"#).await.0, 403, "{action}");
        let form = format!(
            "POST /api/{action} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: text/plain"
        );
        assert_eq!(page.send(&form, "{}").await.0, 415, "{action}");
    }
    assert_eq!(page.get("/api/state").await.1["run"], Value::Null, "nothing was started");
    let own = format!("http://{host}");
    let other_port = format!("http://127.0.0.1:{}", page.address.port() ^ 1);
    for (host, origin, expected) in [
        (host.as_str(), own.as_str(), 200),
        (host.as_str(), other_port.as_str(), 403),
        (host.as_str(), "null", 403),
        ("evil.example", "http://evil.example", 403),
    ] {
        for path in ["/api/state", "/"] {
            let head =
                format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nOrigin: {origin}");
            assert_eq!(page.send(&head, "").await.0, expected, "{head}");
        }
    }
    let (status, head, body) = page.send(&format!("GET / HTTP/1.1\r\nHost: {host}"), "").await;
    assert!(
        status == 200 && head.contains("default-src 'none'") && head.contains("require-trusted-types-for"),
        "{head}"
    );
    assert!(head.contains("cross-origin-opener-policy: same-origin") && !head.contains("unsafe"), "{head}");
    assert!(body.contains("/fleet/app.js") && !body.contains(&token), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_request_is_said_and_bounds_hold() {
    let page = opened(FLEET).await;
    let long = "x".repeat(2001);
    for (path, status) in [
        ("/api/server", 400),
        ("/api/server?name=nothing", 404),
        ("/api/server?name=../../etc/passwd", 404),
        ("/api/match?filter=is:x", 400),
        (&*format!("/api/match?filter={long}"), 400),
        ("/api/evidence?server=broken&gate=conforms&rule=x&place=y", 404),
        ("/api/evidence?server=broken&gate=nothing&rule=x&place=y", 400),
        ("/api/report?server=broken&gate=conforms", 404),
        ("/api/nothing", 404),
        ("/index.html", 404),
        ("/fleet/../../Cargo.toml", 404),
    ] {
        let (found, answer) = page.get(path).await;
        assert_eq!(found, status, "{path}: {answer}");
        assert!(answer["error"]["what"].is_string() && answer["error"]["try"].is_string(), "{path}: {answer}");
    }
    for (path, body, status) in [
        ("/api/run", json!({}), 400),
        ("/api/run", json!({ "kind": "everything" }), 400),
        ("/api/run", json!({ "kind": "server", "server": "--again" }), 404),
        ("/api/run", json!({ "kind": "changed", "gate": "x" }), 400),
        ("/api/run", json!({ "kind": "shown", "filter": "is:x" }), 400),
        ("/api/run", json!([]), 400),
        ("/api/inspect", json!({ "server": "broken", "gate": "conforms", "trace": "/etc/passwd" }), 404),
        ("/api/nothing", json!({}), 404),
    ] {
        let (found, answer) = page.post(path, &body).await;
        assert_eq!(found, status, "{path} {body}: {answer}");
    }
    assert_eq!(page.post("/api/cancel", &json!({})).await.1["cancelled"], false);
    let head = format!("{}\r\nContent-Type: application/json", page.head("POST", "/api/run"));
    assert_eq!(page.send(&head, &" ".repeat(65 << 10)).await.0, 413);
    let complete = page.get("/api/complete?filter=owner:a&at=7").await.1;
    assert_eq!(complete["items"][0]["text"], "owner:ada@example.com", "{complete}");
    assert_eq!((&complete["from"], &complete["to"]), (&json!(0), &json!(7)));
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_attack_are_values_of_json_and_nothing_else() {
    let page = opened(FLEET).await;
    let (_, rows) = page.get("/api/servers").await;
    assert_eq!(rows["rows"][1][5], "<img src=x onerror=alert(1)>");
    let (_, server) = page.get("/api/server?name=hostile").await;
    assert_eq!((&server["tags"][0], &server["note"]), (&json!("\"><script>"), &json!("a\u{202e}b")));
    let (_, head, body) = page.send(&page.head("GET", "/api/server?name=hostile"), "").await;
    assert!(
        head.contains("content-type: application/json") && head.contains("x-content-type-options: nosniff"),
        "{head}"
    );
    assert!(!body.contains(&page.token));
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_have_a_limit_and_say_goodbye() {
    let page = opened(FLEET).await;
    let open = |page: &Page| {
        let mut stream = TcpStream::connect(page.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
        stream.write_all(format!("{}\r\n\r\n", page.head("GET", "/api/feed")).as_bytes()).expect("a request");
        let mut chunk = [0; 12];
        stream.read_exact(&mut chunk).expect("a status");
        (String::from_utf8_lossy(&chunk[9..]).into_owned(), stream)
    };
    let mut feeds: Vec<(String, TcpStream)> = (0..16).map(|_| open(&page)).collect();
    assert!(feeds.iter().all(|(status, _)| status == "200"));
    assert_eq!(open(&page).0, "503");
    let (_, mut last) = feeds.pop().expect("a feed");
    drop(feeds);
    page.ui.close().await;
    let text = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        let mut chunk = [0; 4096];
        while !text.contains("event: bye") {
            let count = last.read(&mut chunk).expect("the rest");
            assert!(count > 0, "no goodbye: {text}");
            text.push_str(&String::from_utf8_lossy(&chunk[..count]));
        }
        text
    });
    assert!(text.await.expect("a text").contains("event: state"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_from_the_page_shows_a_finding_its_evidence_and_its_trace() {
    let page = opened(FLEET).await;
    let (status, started) = page.post("/api/run", &json!({ "kind": "server", "server": "broken" })).await;
    assert_eq!((status, &started["started"]), (200, &json!("broken")));
    let (status, refused) = page.post("/api/run", &json!({ "kind": "due" })).await;
    assert_eq!(status, 409, "{refused}");
    let state = page.until("the run ends", |state| state["run"]["running"] == false).await;
    assert!(state["run"]["text"].as_str().is_some_and(|text| text.starts_with("1 of 1 server answered")), "{state}");
    let (_, matched) = page.get("/api/match?filter=gate:conf%20is:failed").await;
    assert_eq!(matched["matched"], json!([0]));
    let (_, server) = page.get("/api/server?name=broken").await;
    let gate = &server["gates"][2];
    let finding =
        gate["findings"].as_array().and_then(|all| all.iter().find(|one| one["fails"] == true)).expect("a finding");
    let escaped = |value: &Value| value.as_str().expect("a text").replace(' ', "%20");
    let path = format!(
        "/api/evidence?server=broken&gate=conforms&rule={}&place={}",
        escaped(&finding["rule"]),
        escaped(&finding["place"])
    );
    let (status, evidence) = page.get(&path).await;
    let facts = evidence["evidence"][0]["facts"].to_string();
    assert!(status == 200 && facts.contains("request") && facts.contains("response"), "{evidence}");
    let trace = &evidence["evidence"][0]["trace"];
    assert!(trace.as_str().is_some_and(|name| name.contains("shared-session")), "{evidence}");
    let (status, inspector) =
        page.post("/api/inspect", &json!({ "server": "broken", "gate": "conforms", "trace": trace })).await;
    assert_eq!(status, 200, "{inspector}");
    let url = inspector["address"].as_str().expect("an address");
    let (address, token) = url.strip_prefix("http://").and_then(|rest| rest.split_once("/#token=")).expect("a token");
    let head = format!(
        "GET /api/state HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    let parsed: SocketAddr = address.parse().expect("an address");
    let (status, _, body) = tokio::task::spawn_blocking(move || exchange(parsed, &head)).await.expect("an answer");
    assert!(status == 200 && body.contains("trace.jsonl"), "{body}");
    is_private_and_marked();
    let (_, report) = page.get("/api/report?server=broken&gate=conforms").await;
    assert!(report["schema"] == "proof.report/1" && report.get("kept_traces").is_none());
    page.ui.close().await;
    assert!(TcpStream::connect(parsed).is_err(), "the inspector is still there");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_ends_and_leaves_no_job() {
    let page = opened(FLEET).await;
    assert_eq!(page.post("/api/run", &json!({ "kind": "server", "server": "broken" })).await.0, 200);
    page.until("a gate runs", |state| state["left"].as_u64().is_some_and(|left| left > 0)).await;
    assert_eq!(page.post("/api/cancel", &json!({})).await.1["cancelled"], true);
    let state = page.until("the run ends", |state| state["run"]["running"] == false).await;
    assert!(state["run"]["text"].as_str().is_some_and(|text| text.starts_with("cancelled")), "{state}");
    assert_eq!(state["left"], 0, "{state}");
    let (_, server) = page.get("/api/server?name=broken").await;
    assert_eq!(server["gates"][2]["light"], "not-run", "nothing is recorded of a gate that was cancelled");
}
