//! A secret that the user hands in for the server, and that the server sends back, appears nowhere.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;

use serde_json::{Value, json};
use wire::trace::file;

use crate::harness::proof;

const SECRET: &str = "secretQ7wZ2mLk9pXv4RtYb8Nc";

/// A legacy server that repeats the Authorization header wherever it can: in a header, in a result, in errors.
fn indiscreet() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream));
        }
    });
    format!("http://{address}/mcp")
}

fn serve(mut stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut head, mut length, mut heard) = (String::new(), 0, String::new());
    while reader.read_line(&mut head).ok()? > 2 {
        let line = head.lines().last()?.to_owned();
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => value.trim().clone_into(&mut heard),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (status, answer) =
        if request["id"].is_null() { ("202 Accepted", None) } else { ("200 OK", Some(answer(&request, &heard))) };
    let answer = answer.map(|answer| answer.to_string()).unwrap_or_default();
    let kind = if answer.is_empty() { "" } else { "Content-Type: application/json\r\n" };
    let head = format!(
        "HTTP/1.1 {status}\r\n{kind}X-Heard: {heard}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        answer.len()
    );
    stream.write_all((head + &answer).as_bytes()).ok()
}

fn answer(request: &Value, heard: &str) -> Value {
    let id = &request["id"];
    let result = match request["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": format!("heard {heard}"), "version": "1"}, "instructions": heard}),
        "ping" => json!({"authorization": heard}),
        "tools/list" => {
            let tool =
                json!({"name": "a tool", "description": format!("for {heard}"), "inputSchema": {"type": "object"}});
            json!({"tools": [tool, tool]})
        }
        method => {
            let message = format!("{method} is unknown to {heard}");
            return json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": message}});
        }
    };
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

#[test]
fn appear_in_no_report_trace_or_message() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = indiscreet();
    let header = format!("Authorization: Bearer {SECRET}");
    let few = "tools.*,ping.*,errors.*,shape.*,lifecycle.version-*";
    for format in ["json", "human"] {
        let traces = folder.path().join(format);
        let ran = proof(&[
            "check",
            "--timeout",
            "3",
            "--header",
            &header,
            "--format",
            format,
            "--only",
            few,
            "--verbose",
            "--revision",
            "2025-11-25",
            "--save-trace",
            &traces.to_string_lossy(),
            &url,
        ]);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        assert!(!ran.stdout.contains(SECRET), "{}", ran.stdout);
        assert!(!ran.stderr.contains(SECRET), "{}", ran.stderr);
        assert!(ran.stdout.contains("a tool"), "the report quotes the server: {}", ran.stdout);
        assert!(read_traces(&traces) > 3);
    }
}

/// How many traces there are; each can be read, tells that the header was sent, and not what it was.
fn read_traces(folder: &Path) -> usize {
    let files: Vec<_> = std::fs::read_dir(folder).expect("traces").flatten().map(|entry| entry.path()).collect();
    let mut sent = 0;
    for path in &files {
        let text = std::fs::read_to_string(path).expect("a trace");
        assert!(!text.contains(SECRET), "{}", path.display());
        file::read(&text).unwrap_or_else(|bad| panic!("{}: {bad}", path.display()));
        let header = text.to_ascii_lowercase().matches("\"authorization: bearer ").count();
        sent += header;
    }
    assert!(sent > 3, "the header was sent {sent} times");
    files.len()
}
