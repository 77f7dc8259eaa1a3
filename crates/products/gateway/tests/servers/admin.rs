//! The pages for those who run the program, at an address of their own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

/// The address in a line such as `http://127.0.0.1:3000/mcp leads to a`.
fn address(line: &str) -> String {
    let url = line.split_whitespace().find_map(|word| word.strip_prefix("http://")).unwrap_or_else(|| panic!("{line}"));
    url.split('/').next().unwrap_or_default().to_owned()
}

fn ask(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(stream, "{request} HTTP/1.1\r\nhost: {address}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        .expect("sent");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("it answers");
    response
}

#[test]
fn clients_find_no_names_where_the_pages_have_an_address_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("gateway.yaml");
    let text = "listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nready: all\nupstreams:\n  secret-name:\n    url: http://127.0.0.1:9/mcp\n";
    std::fs::write(&file, text).expect("written");
    let mut gateway = Command::new(env!("CARGO_BIN_EXE_proof-gateway"))
        .arg("--config")
        .arg(&file)
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(gateway.stderr.take().expect("stderr")).lines().map_while(Result::ok);
    let mut line = |part: &str| lines.find(|line| line.contains(part)).unwrap_or_else(|| panic!("no line with {part}"));
    let admin = address(&line("/metrics"));
    let clients = address(&line("leads to"));
    let begins = |answer: &str, status: &str| answer.starts_with(&format!("HTTP/1.1 {status}"));
    assert!(begins(&ask(&clients, "GET /health"), "200"));
    let ready = ask(&clients, "GET /ready");
    assert!(begins(&ready, "503") && !ready.contains("secret-name"), "{ready}");
    let metrics = ask(&clients, "GET /metrics");
    assert!(begins(&metrics, "404"), "{metrics}");
    assert!(begins(&ask(&admin, "GET /health"), "200"));
    let ready = ask(&admin, "GET /ready");
    assert!(begins(&ready, "503") && ready.contains("secret-name"), "{ready}");
    let metrics = ask(&admin, "GET /metrics");
    assert!(begins(&metrics, "200") && metrics.contains("translation_loss_total"), "{metrics}");
    // No server is reached there.
    for path in ["/mcp", "/", "/sse", "/ws"] {
        let answer = ask(&admin, &format!("POST {path}"));
        assert!(begins(&answer, "404"), "{path}: {answer}");
    }
    gateway.kill().expect("it is there");
    gateway.wait().expect("it ends");
}
