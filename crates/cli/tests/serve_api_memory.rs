//! How much memory `proof serve --openapi` takes for a large file: the file once, and not once for each step on its way.

#![cfg(target_os = "linux")]

#[cfg(target_env = "gnu")]
#[path = "shared/serving.rs"]
mod serving;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

const PROOF: &str = env!("CARGO_BIN_EXE_proof");
/// The size of the file, and of its Base64.
const FILE: usize = 24 << 20;
const ENCODED: usize = FILE / 3 * 4;
/// What else a call takes.
const MORE: usize = 8 << 20;

/// An API with one file; `/chunked` does not say how long it is, and `/text` is short enough to go inline.
fn api() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        let body = vec![0xFB; FILE];
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut piece = [0; 4096];
            let count = stream.read(&mut piece).unwrap_or(0);
            let head = String::from_utf8_lossy(&piece[..count]).into_owned();
            let text = json!({ "text": "x".repeat(32 << 10) }).to_string();
            let (media, body) = if head.starts_with("GET /text") {
                ("application/json", text.as_bytes())
            } else {
                ("application/zip", &body[..])
            };
            let length = format!("Content-Length: {}\r\n", body.len());
            let length = if head.starts_with("GET /chunked") { "" } else { &length };
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nConnection: close\r\n{length}\r\n");
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        }
    });
    url
}

/// The description of that API.
fn describe(folder: &Path) {
    let get = |id: &str, content: Value| {
        let answer = json!({ "200": { "description": "It", "content": content } });
        json!({ "get": { "operationId": id, "description": "Get what is there", "responses": answer } })
    };
    let file = json!({ "application/zip": {} });
    let text = json!({ "application/json": { "schema": {
        "type": "object", "properties": { "text": { "type": "string" } },
    } } });
    let paths = json!({
        "/file": get("file", file.clone()), "/chunked": get("chunked", file), "/text": get("text", text),
    });
    let description = json!({ "openapi": "3.1.0", "info": { "title": "Files", "version": "1" }, "paths": paths });
    std::fs::write(folder.join("api.json"), description.to_string()).expect("written");
}

/// A server and its client.
struct Served {
    server: Child,
    from: BufReader<ChildStdout>,
    next: u64,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Served {
    fn start(folder: &Path, url: &str) -> Self {
        describe(folder);
        std::fs::write(folder.join("api.yaml"), "limits: { answer_bytes: 100000000 }\n").expect("written");
        let mut command = Command::new(PROOF);
        command.current_dir(folder).args(["serve", "--stdio", "--openapi", "api.json", "--config", "api.yaml"]);
        command.args(["--base-url", url]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().expect("the binary runs");
        let from = BufReader::new(server.stdout.take().expect("piped"));
        let mut served = Self { server, from, next: 0 };
        let about = json!({ "name": "test", "version": "1" });
        let opening = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about });
        served.request("initialize", &opening);
        served
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        writeln!(self.server.stdin.as_mut().expect("piped"), "{message}").expect("it reads");
        let mut line = String::new();
        assert!(self.from.read_line(&mut line).expect("it answers") > 0, "the server ended");
        serde_json::from_str(&line).expect("JSON")
    }

    /// The most memory that the server ever had, in bytes (proc(5), `VmHWM`).
    fn peak(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.server.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
        line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
    }
}

/// How many pages the kernel has given a process (proc(5), `stat`: field 10).
#[cfg(target_env = "gnu")]
fn faults(process: u32) -> usize {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    let (_, fields) = stat.rsplit_once(')').expect("a name");
    fields.split_whitespace().nth(7).expect("a field").parse().expect("a number")
}

/// The kernel gives pages by faults: without any, a call lives on what the one before it freed.
#[cfg(target_env = "gnu")]
#[test]
fn a_call_takes_no_memory_that_the_one_before_gave_back() {
    const CALLS: usize = 100;
    let folder = tempfile::tempdir().expect("a folder");
    describe(folder.path());
    let mut command = Command::new(PROOF);
    command.current_dir(folder.path()).args(["serve", "--http", "127.0.0.1:0", "--openapi", "api.json"]);
    let served = serving::Serving::start(command.args(["--base-url", &api()]));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "_meta": meta, "name": "text", "arguments": {} } })
    .to_string();
    let address = served.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: text\r\n\
         Content-Length: {}\r\n\r\n",
        call.len()
    );
    let mut stream = std::net::TcpStream::connect(&address).expect("it listens");
    let mut before = 0;
    for number in 0..CALLS + 20 {
        if number == 20 {
            before = faults(served.child.id());
        }
        stream.write_all(format!("{head}{call}").as_bytes()).expect("it reads");
        let answer = response(&mut stream);
        assert!(answer.starts_with("HTTP/1.1 200") && answer.len() > 64 << 10, "{}", &answer[..200]);
    }
    let faults = faults(served.child.id()) - before;
    assert!(faults < CALLS, "{faults} page faults in {CALLS} calls");
}

/// The next response on a connection that stays open.
#[cfg(target_env = "gnu")]
fn response(stream: &mut std::net::TcpStream) -> String {
    let (mut bytes, mut piece) = (Vec::new(), [0; 1 << 14]);
    loop {
        let count = stream.read(&mut piece).expect("it answers");
        assert!(count > 0, "the connection ended");
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        if body.len() >= length.parse().expect("a number") {
            return text.into_owned();
        }
    }
}

#[test]
fn a_large_file_is_held_once_and_copied_once_into_the_answer() {
    for tool in ["file", "chunked"] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut served = Served::start(folder.path(), &api());
        let before = served.peak();
        let answer = served.request("tools/call", &json!({ "name": tool, "arguments": {} }));
        let blocks = answer["result"]["content"].as_array().expect("blocks").clone();
        let link = blocks.iter().find(|block| block["type"] == "resource_link").expect("a link");
        // A body of unknown length has up to twice the room.
        let room = if tool == "file" { ENCODED } else { 2 * ENCODED };
        let called = served.peak() - before;
        assert!(called < room + MORE, "{tool}: {} MiB for a file of {}", called >> 20, FILE >> 20);
        let read = served.request("resources/read", &json!({ "uri": link["uri"] }));
        assert_eq!(read["result"]["contents"][0]["blob"].as_str().map(str::len), Some(ENCODED));
        let read = served.peak() - before;
        assert!(read < room + ENCODED + MORE, "{tool}: {} MiB after it was read", read >> 20);
    }
}
