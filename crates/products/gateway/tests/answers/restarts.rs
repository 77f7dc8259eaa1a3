//! A gateway that is killed and starts again, with a store.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use net::service::{Call, Reply};
use serde_json::{Value, json};
use wire::Revision;

use super::scene::{result, text, upstream};

const PATIENCE: Duration = Duration::from_secs(20);

/// The binary with a configuration file.
pub(crate) struct Gateway {
    process: Child,
    pub(crate) address: String,
}

impl Drop for Gateway {
    // As `kill -9` does it.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Gateway {
    pub(crate) fn start(folder: &Path) -> Self {
        let log = folder.join("log");
        let mut command = Command::new(env!("CARGO_BIN_EXE_proof-gateway"));
        command.arg("--config").arg(folder.join("gateway.yaml")).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(File::create(&log).expect("a log"));
        let mut gateway = Self { process: command.spawn().expect("it starts"), address: String::new() };
        let begun = Instant::now();
        loop {
            let told = std::fs::read_to_string(&log).expect("a log");
            if let Some(url) = told.split_whitespace().find(|word| word.ends_with("/mcp")) {
                url.trim_start_matches("http://").trim_end_matches("/mcp").clone_into(&mut gateway.address);
                return gateway;
            }
            assert!(begun.elapsed() < PATIENCE, "it does not say where it listens: {told}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Sends a call of `write` with a key, and gives the response; nothing where the connection ends before.
fn write(address: &str, key: &str) -> Option<Value> {
    let meta = json!({
        wire::meta::PROTOCOL_VERSION: "2026-07-28",
        wire::meta::CLIENT_INFO: { "name": "a", "version": "1" },
        wire::meta::CLIENT_CAPABILITIES: {},
    });
    let params = json!({ "name": "write", "arguments": { "text": key, "idempotency_key": key }, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\n\
         mcp-name: write\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).ok()?;
    serde_json::from_str(&response[response.find('{')?..=response.rfind('}')?]).ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_ran_before_kill_9_does_not_run_again() {
    let hangs = |call: Call| -> Reply {
        if call.message.text().contains("hangs") {
            return Reply::later(std::future::pending());
        }
        result(&call, "written", json!({}))
    };
    let (server, seen) = upstream(Revision::R2026_07_28, Arc::new(hangs)).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = format!(
        "listen: 127.0.0.1:0\nstore: store\nidempotency: {{ writes: require }}\nupstreams:\n  a:\n    url: http://{}/mcp\n",
        server.local_addr()
    );
    std::fs::write(folder.path().join("gateway.yaml"), file).expect("written");
    let gateway = Gateway::start(folder.path());
    assert_eq!(text(&write(&gateway.address, "done").expect("an answer")), "written");
    let address = gateway.address.clone();
    let waiting = tokio::task::spawn_blocking(move || write(&address, "hangs"));
    seen.wait_for("write", 2).await;
    drop(gateway);
    assert!(waiting.await.expect("it ends").is_none(), "it was killed");
    let gateway = Gateway::start(folder.path());
    assert_eq!(text(&write(&gateway.address, "done").expect("an answer")), "written");
    let blocked = write(&gateway.address, "hangs").expect("an answer");
    assert_eq!(blocked["error"]["data"]["failure"], "idempotency-unknown", "{blocked}");
    assert_eq!(seen.calls("write"), 2);
    assert_eq!(text(&write(&gateway.address, "new").expect("an answer")), "written");
    assert_eq!(seen.calls("write"), 3);
}
