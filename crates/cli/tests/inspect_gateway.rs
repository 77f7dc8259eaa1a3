//! `proof inspect --gateway` on a running gateway: both sides of calls on the page, for those with its token alone, and what is
//! said where no gateway can be watched.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use client::{Client, Options};
use gateway::Gateway;
use gateway::settings::{Sessions, Settings, Target, UpstreamSettings};
use net::client::{Address, HttpAddress};
use net::server::http::{self, Server};
use net::{Children, LocalListener};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use url::Url;
use wire::Revision;

const PROOF: &str = env!("CARGO_BIN_EXE_proof");
const LOCAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const PATIENCE: Duration = Duration::from_mins(1);

/// A gateway to `weather` and `files` in this process, and what serves it.
struct Scene {
    gateway: Gateway,
    server: Server,
    _upstreams: Vec<Server>,
}

fn url(server: &Server) -> Url {
    Url::parse(&format!("http://{}/mcp", server.local_addr())).expect("a URL")
}

impl Scene {
    async fn new() -> Self {
        let mut upstreams = Vec::new();
        for _ in 0..2 {
            upstreams
                .push(reference::Server::new(reference::Options::default()).http(LOCAL).await.expect("a free port"));
        }
        let upstream = |name: &str, server: &Server| UpstreamSettings {
            name: name.to_owned(),
            target: Target::Http(HttpAddress::new(url(server))),
            revision: None,
            sessions: Sessions::default(),
            credentials: None,
            assertion: None,
        };
        let both = vec![upstream("weather", &upstreams[0]), upstream("files", &upstreams[1])];
        let settings = Settings { upstreams: both, ..Settings::default() };
        let gateway = Gateway::new(&settings, &Children::new()).expect("valid addresses");
        let server = http::listen(Arc::new(gateway.clone()), LOCAL, http::Options::default()).await.expect("a port");
        Self { gateway, server, _upstreams: upstreams }
    }

    /// Calls a tool as a client does.
    async fn call(&self, tool: &str, message: &str) {
        let address = Address::Http(HttpAddress::new(url(&self.server)));
        let options = Options { revision: Some(Revision::NEWEST), ..Options::new(address, &Children::new()) };
        let client = Client::connect(options).await.expect("it connects");
        let arguments = json!({ "message": message }).as_object().cloned().unwrap_or_default();
        let answer = client.call_unseen(tool, arguments).await.expect("an answer");
        assert!(answer.text().contains("result"), "{}", answer.text());
    }

    /// Shows its traffic at a socket, as `proof-gateway` does.
    fn shows_at(&self, folder: &Path, process: u32) {
        let listener = LocalListener::bind(&socket(folder, process)).expect("a socket");
        let (gateway, at) = (self.gateway.clone(), url(&self.server).to_string());
        tokio::spawn(async move {
            while let Ok(mut stream) = listener.accept().await {
                assert_eq!(word(&mut stream).await, b"live\n");
                let Some(watcher) = gateway.watch_live() else { return };
                let mut line = json!({ "process": process, "at": at, "now": watcher.now() }).to_string();
                while stream.write_all(format!("{line}\n").as_bytes()).await.is_ok() {
                    line = watcher.next().await;
                }
            }
        });
    }
}

/// What is asked: five bytes, or none where only the socket was tried.
async fn word(stream: &mut UnixStream) -> Vec<u8> {
    let mut word = Vec::new();
    let _ = stream.take(5).read_to_end(&mut word).await;
    word
}

fn socket(folder: &Path, process: u32) -> std::path::PathBuf {
    let sockets = folder.join("proof-gateway");
    let _ = std::fs::DirBuilder::new().mode(0o700).create(&sockets);
    sockets.join(format!("{process}.sock"))
}

/// `proof inspect` and its page.
struct Page {
    child: Child,
    address: String,
    token: String,
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Page {
    fn open(folder: &Path, arguments: &[&str]) -> Self {
        let mut child = inspect(folder, arguments).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let (address, token) = line.trim().split_once("/#token=").unwrap_or_else(|| panic!("no address: {line}"));
        let address = address.strip_prefix("http://").expect("an address").to_owned();
        Self { child, address, token: token.to_owned() }
    }

    fn asked(&self, path: &str, token: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let host = &self.address;
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        (head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status"), body.to_owned())
    }

    fn get(&self, path: &str) -> Value {
        let (status, body) = self.asked(path, &self.token);
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"))
    }

    /// Asks again until it holds.
    async fn until(&self, path: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let answer = self.get(path);
            if holds(&answer) {
                return answer;
            }
            assert!(begun.elapsed() < PATIENCE, "{path}: {answer}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn inspect(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROOF);
    command.args(["inspect", "--gateway"]).args(arguments).env("XDG_RUNTIME_DIR", folder).stdin(Stdio::null());
    command
}

const CALLS: &str = "/api/rows?filter=method%3Atools%2Fcall";

#[tokio::test(flavor = "multi_thread")]
async fn both_sides_of_a_call_are_on_the_page() {
    let (scene, folder) = (Scene::new().await, tempfile::tempdir().expect("a folder"));
    scene.shows_at(folder.path(), 4711);
    let page = Page::open(folder.path(), &[]);
    scene.call("weather_echo", "how is it").await;
    scene.call("files_echo", "what is there").await;
    let all_answered = |answer: &Value| {
        let rows = answer["rows"].as_array().expect("rows");
        rows.len() == 4 && rows.iter().all(|row| row[7] == "ok")
    };
    let rows = page.until(CALLS, all_answered).await["rows"].clone();
    let state = page.get("/api/state");
    let label = |row: &Value| {
        let number = row[1].as_u64().and_then(|number| usize::try_from(number).ok()).expect("a target");
        state["targets"][number - 1]["label"].as_str().expect("a label").to_owned()
    };
    let seen: Vec<_> = rows.as_array().into_iter().flatten().map(|row| (label(row), row[9].clone())).collect();
    let clients = "clients without a sign-in at default";
    let expected =
        [(clients, "weather_echo"), ("upstream weather", "echo"), (clients, "files_echo"), ("upstream files", "echo")];
    assert_eq!(seen, expected.map(|(label, name)| (label.to_owned(), json!(name))));
    // What an upstream does is below the client's row.
    assert_eq!((&rows[1][16], &rows[3][16]), (&rows[0][0], &rows[2][0]));
    assert!(state["targets"].as_array().into_iter().flatten().all(|one| one["kind"] == "gateway"), "{state}");
    assert!(state["sessions"].as_array().into_iter().flatten().all(|one| one["judged"] == false), "{state}");
    // Nobody without the token of this launch sees any of it, and nothing can be sent.
    for token in ["", "0123456789abcdef0123456789abcdef"] {
        let (status, body) = page.asked(CALLS, token);
        assert!(status == 401 && !body.contains("echo"), "{status}: {body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_were_too_fast_and_the_end_are_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let listener = LocalListener::bind(&socket(folder.path(), 7)).expect("a socket");
    tokio::spawn(async move {
        let mut stream = listener.accept().await.expect("it connects");
        word(&mut stream).await;
        let lines = "{\"process\":7,\"at\":\"stdio\",\"now\":5}\n{\"missed\":12}\n{\"missed\":30}\n";
        stream.write_all(lines.as_bytes()).await.expect("it reads");
    });
    let page = Page::open(folder.path(), &["7"]);
    let rows = page
        .until("/api/rows?filter=kind%3Amark", |answer| answer["rows"].as_array().is_some_and(|rows| rows.len() == 3))
        .await;
    let names: Vec<_> = rows["rows"].as_array().into_iter().flatten().map(|row| row[9].clone()).collect();
    let expected = [
        "12 messages were too fast to be shown (12 so far)",
        "30 messages were too fast to be shown (42 so far)",
        "the gateway has ended",
    ];
    assert_eq!(names, expected.map(Value::from));
    page.until("/api/state", |state| state["targets"][0]["state"] == "closed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_watched_is_an_error_with_a_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let failed = |arguments: &[&str], expected: &str| {
        let output = inspect(folder.path(), arguments).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected) && said.contains("try: "), "{expected}: {said}");
    };
    failed(&[], "no gateway of this user runs");
    failed(&["12"], "no gateway of this user runs as process 12");
    let mut listeners = Vec::new();
    for process in [7, 8] {
        let listener = LocalListener::bind(&socket(folder.path(), process)).expect("a socket");
        listeners.push(tokio::spawn(async move {
            while let Ok(mut stream) = listener.accept().await {
                word(&mut stream).await;
                let _ = stream.write_all(b"{\"error\":\"unknown word\"}\n").await;
            }
        }));
    }
    failed(&[], "several gateways run: 7, 8");
    failed(&["8"], "the gateway shows nothing: unknown word");
    // Another user may have made it.
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path().join("proof-gateway"), open).expect("set");
    failed(&["8"], "others may open it");
}
