//! A gateway that serves one client over its standard streams, in front of an HTTP server.

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::scripted::{self, Request, STREAM, answer, json_answer, read, write};

struct Talk {
    gateway: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Talk {
    fn start(url: &str) -> Self {
        let mut gateway = Command::new(env!("CARGO_BIN_EXE_proof-gateway"))
            .args(["--stdio", url])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (stdin, stdout) = (gateway.stdin.take().unwrap(), gateway.stdout.take().unwrap());
        Self { gateway, stdin, lines: BufReader::new(stdout).lines() }
    }

    /// Sends a request and returns the next line that answers it.
    async fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.stdin.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        loop {
            let line = self.lines.next_line().await.unwrap().expect("an answer");
            let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
            if answer["id"] == id {
                return answer;
            }
        }
    }

    async fn initialize(&mut self) {
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "c", "version": "1" } });
        let answer = self.ask(0, "initialize", params).await;
        assert!(answer["result"].is_object(), "{answer}");
    }
}

/// A result over several lines, as JSON allows it.
fn pretty(request: &Request, result: &Value) -> String {
    let message = json!({ "jsonrpc": "2.0", "id": request.message()["id"], "result": result });
    serde_json::to_string_pretty(&message).unwrap()
}

/// A server of 2025-06-18 with sessions. It answers calls with JSON over several lines: as a body, or as an event of several
/// data lines where the tool is named `stream`. What it was asked, in order.
async fn server() -> (String, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let kept = Arc::clone(&seen);
    let origin = scripted::http(move |mut stream| {
        let seen = Arc::clone(&kept);
        async move {
            while let Some(request) = read(&mut stream).await {
                let method = if request.is("POST") { request.method() } else { request.head[..3].to_owned() };
                seen.lock().unwrap().push(method.clone());
                let opening = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                    "serverInfo": { "name": "pretty", "version": "1" } });
                let called = json!({ "content": [{ "type": "text", "text": "two\nlines" }] });
                let text = match method.as_str() {
                    "GET" => answer("405 Method Not Allowed", "", ""),
                    "initialize" => json_answer("mcp-session-id: s\r\n", &request.result(&opening)),
                    "tools/call" if request.message()["params"]["name"] == "stream" => {
                        let data = pretty(&request, &called).replace('\n', "\ndata: ");
                        return write(&mut stream, &format!("{STREAM}data: {data}\n\n")).await;
                    }
                    "tools/call" => json_answer("", &pretty(&request, &called)),
                    "notifications/initialized" | "DEL" => answer("202 Accepted", "", ""),
                    _ => answer("400 Bad Request", "", ""),
                };
                write(&mut stream, &text).await;
            }
        }
    });
    (format!("{}/mcp", origin.await), seen)
}

#[tokio::test]
async fn a_message_over_several_lines_is_one_line_on_stdout() {
    let (url, _) = server().await;
    let mut client = Talk::start(&url);
    client.initialize().await;
    for (id, tool) in [(1, "body"), (2, "stream")] {
        let answer = client.ask(id, "tools/call", json!({ "name": tool, "arguments": {} })).await;
        assert_eq!(answer["result"]["content"][0]["text"], "two\nlines", "{answer}");
    }
}

/// The session ends with the client and with the gateway at once: neither may wait for the other to do it.
#[tokio::test]
async fn the_session_of_a_client_that_leaves_is_ended() {
    let (url, seen) = server().await;
    for round in 1..=12 {
        let mut client = Talk::start(&url);
        client.initialize().await;
        let Talk { mut gateway, stdin, lines } = client;
        drop(stdin);
        assert!(gateway.wait().await.unwrap().success());
        drop(lines);
        let ended = seen.lock().unwrap().iter().filter(|method| *method == "DEL").count();
        assert_eq!(ended, round, "{seen:?}");
    }
}
