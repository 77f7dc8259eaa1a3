//! A legacy client that opens a session for each call, as LangChain's adapter does: `initialize`, a stream, one call, DELETE, on
//! connections of its own. The memory of the gateway stays what it was.
//!
//! `CHURN_SESSIONS` says how many sessions there are after the first ones (3,000).

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::scene::{LOCAL, SOON};

/// After so many sessions everything that is made once has been made.
const WARM: usize = 1000;
const AT_ONCE: usize = 8;
/// How much more memory is no leak, in KiB: allocators do not give everything back.
const SLACK: u64 = 6 << 10;

/// The binary in front of one upstream.
struct Gateway {
    process: Child,
    host: String,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Gateway {
    fn start(upstream: &str, log: &std::path::Path) -> Self {
        let output = std::fs::File::create(log).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_proof-gateway"));
        command.args(["--http", "127.0.0.1:0", upstream]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
        // Dropped, it is waited for, also where this fails.
        let mut gateway = Self { process: command.spawn().unwrap(), host: String::new() };
        let begun = Instant::now();
        loop {
            let told = std::fs::read_to_string(log).unwrap();
            if let Some(url) = told.split_whitespace().find(|word| word.starts_with("http://")) {
                url.trim_start_matches("http://").split('/').next().unwrap().clone_into(&mut gateway.host);
                return gateway;
            }
            assert!(begun.elapsed() < SOON, "it does not say where it listens: {told}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Resident memory in KiB; `None` where the system does not say.
    fn memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().trim_end_matches(" kB").trim().parse().ok()
    }
}

/// One connection.
struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

impl Connection {
    async fn open(host: &str) -> Self {
        let stream = TcpStream::connect(host).await.expect("the gateway listens");
        Self { stream: BufReader::new(stream), host: host.to_owned() }
    }

    /// Sends a request and reads the head of its response: the status, the session, how long the body is.
    async fn send(&mut self, method: &str, session: Option<&str>, body: &str) -> (u16, Option<String>, Option<usize>) {
        let session = session.map_or_else(String::new, |session| {
            format!("mcp-session-id: {session}\r\nmcp-protocol-version: 2025-06-18\r\n")
        });
        let accept = if method == "GET" { "text/event-stream" } else { "application/json, text/event-stream" };
        let head = format!(
            "{method} /mcp HTTP/1.1\r\nhost: {}\r\naccept: {accept}\r\ncontent-type: application/json\r\n{session}\
             content-length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        self.stream.get_mut().write_all(head.as_bytes()).await.expect("the gateway reads");
        let (mut status, mut given, mut length) = (0, None, None);
        loop {
            let mut line = String::new();
            assert!(self.stream.read_line(&mut line).await.expect("a head") > 0, "the gateway closed the connection");
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(rest) = line.strip_prefix("http/1.1 ") {
                status = rest[..3].parse().expect("a status");
            } else if let Some(rest) = line.strip_prefix("mcp-session-id: ") {
                given = Some(rest.to_owned());
            } else if let Some(rest) = line.strip_prefix("content-length: ") {
                length = Some(rest.parse().expect("a length"));
            } else if line.is_empty() {
                return (status, given, length);
            }
        }
    }

    async fn body(&mut self, length: Option<usize>) -> String {
        let mut bytes = vec![0; length.unwrap_or(0)];
        if length.is_some() {
            self.stream.read_exact(&mut bytes).await.expect("a body");
        } else {
            // In chunks, up to the empty one.
            while !bytes.ends_with(b"\r\n0\r\n\r\n") && !bytes.ends_with(b"\n0\r\n\r\n") {
                assert!(self.stream.read_buf(&mut bytes).await.expect("chunks") > 0, "half a body");
            }
        }
        String::from_utf8(bytes).expect("text")
    }
}

async fn session(host: &str) {
    let mut posts = Connection::open(host).await;
    let client = json!({ "name": "churn", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let request = |id: u32, method: &str, params: &Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let (status, session, length) = posts.send("POST", None, &request(0, "initialize", &params).to_string()).await;
    let body = posts.body(length).await;
    let session = session.unwrap_or_else(|| panic!("no session: {status} {body}"));
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    let (status, _, length) = posts.send("POST", Some(&session), &initialized).await;
    assert_eq!(status, 202);
    posts.body(length.or(Some(0))).await;
    let mut listening = Connection::open(host).await;
    assert_eq!(listening.send("GET", Some(&session), "").await.0, 200);
    let call = request(1, "tools/call", &json!({ "name": "echo", "arguments": { "message": "churn" } }));
    let (status, _, length) = posts.send("POST", Some(&session), &call.to_string()).await;
    let body = posts.body(length).await;
    assert!(status == 200 && body.contains("churn"), "{status}: {body}");
    let (status, _, length) = posts.send("DELETE", Some(&session), "").await;
    assert!((200..300).contains(&status), "{status}");
    posts.body(length.or(Some(0))).await;
}

async fn sessions(host: &str, count: usize) {
    let left = AtomicUsize::new(count);
    join_all((0..AT_ONCE).map(|_| async {
        while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
            session(host).await;
        }
    }))
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_of_one_call_leave_no_memory_behind() {
    let count = std::env::var("CHURN_SESSIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(3000);
    let upstream = reference::Server::new(reference::Options::default()).http(LOCAL).await.expect("a free port");
    let folder = tempfile::tempdir().unwrap();
    let gateway = Gateway::start(&format!("http://{}/mcp", upstream.local_addr()), &folder.path().join("log"));
    sessions(&gateway.host, WARM).await;
    let (before, begun) = (gateway.memory(), Instant::now());
    sessions(&gateway.host, count).await;
    let (after, lasted) = (gateway.memory(), begun.elapsed());
    let Some((before, after)) = before.zip(after) else { return };
    println!(
        "churn: {count} sessions in {:.1} s; {:.1} MiB before, {:.1} MiB after",
        lasted.as_secs_f32(),
        before as f64 / 1024.0,
        after as f64 / 1024.0
    );
    assert!(after <= before + SLACK, "{before} KiB before, {after} KiB after {count} sessions");
}
