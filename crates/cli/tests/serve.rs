//! `proof serve` as a process: its command line, several transports at once, and how it ends.

#[path = "shared/signal.rs"]
mod signal;

use std::fs::Permissions;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use rcgen::{CertificateParams, KeyPair};

struct Serving {
    child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Serving {
    fn start(arguments: &[&str]) -> Self {
        Self::of(Command::new(env!("CARGO_BIN_EXE_proof")).arg("serve").args(arguments))
    }

    fn of(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        Self { child, stderr }
    }

    fn said(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).expect("a line");
        line
    }

    /// The address in the first line.
    fn address(&mut self) -> String {
        let line = self.said();
        let address =
            line.strip_prefix("serving http://").and_then(|rest| rest.split_once("/mcp")).map(|(host, _)| host);
        address.unwrap_or_else(|| panic!("{line:?}")).to_owned()
    }

    fn tell(&mut self, message: &str) {
        let stdin = self.child.stdin.as_mut().expect("a pipe");
        writeln!(stdin, "{message}").expect("it reads");
    }

    fn signal(&self, name: &str) {
        signal::send(name, &self.child);
    }

    #[track_caller]
    fn ends_well(&mut self) {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(5) {
            if let Some(status) = self.child.try_wait().expect("a child") {
                assert_eq!(status.code(), Some(0));
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("it does not end");
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the server says to a request until it closes, or until it has been silent for a moment.
fn asked(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_millis(700))).expect("a timeout");
    stream.write_all(request.replace("HOST", address).as_bytes()).expect("it reads");
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said);
    String::from_utf8_lossy(&said).into_owned()
}

fn post(headers: &str, body: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

#[test]
fn options_that_need_a_listener_are_refused_without_one() {
    for (arguments, named) in [
        (&["--sse", "--stdio"][..], "--http"),
        (&["--ws", "--stdio"], "--http"),
        (&["--error-status", "--stdio"], "--http"),
        (&["--tls-cert", "a.pem", "--http", "127.0.0.1:0"], "--tls-key"),
        (&["--bearer-env", "PATH", "--stdio"], "--http"),
        (&["--sse"], "--http"),
        (&[], "--stdio"),
        (&["--http", "nowhere"], "--http"),
    ] {
        let ran = Command::new(env!("CARGO_BIN_EXE_proof")).arg("serve").args(arguments).output().expect("it runs");
        assert_eq!(ran.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8_lossy(&ran.stderr).replace("\n       ", " ");
        assert!(said.contains(named), "{arguments:?}: {said}");
    }
}

#[test]
fn a_token_is_required() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof"));
    command.args(["serve", "--http", "127.0.0.1:0", "--sse", "--ws", "--bearer-env", "TOKEN_OF_THIS_TEST"]);
    let mut serving = Serving::of(command.env("TOKEN_OF_THIS_TEST", "open-sesame-0123"));
    let address = serving.address();
    assert!(serving.said().starts_with("every request needs the bearer token"));
    let metadata = format!("http://{address}/.well-known/oauth-protected-resource/mcp");
    let refused = asked(&address, &post("", INITIALIZE));
    assert!(refused.starts_with("HTTP/1.1 401") && refused.contains(&metadata), "{refused}");
    let wrong = asked(&address, &post("Authorization: Bearer open-sesame-012\r\n", INITIALIZE));
    assert!(wrong.starts_with("HTTP/1.1 401") && wrong.contains("invalid_token"), "{wrong}");
    let right = asked(&address, &post("Authorization: Bearer open-sesame-0123\r\n", INITIALIZE));
    assert!(right.starts_with("HTTP/1.1 200") && right.contains("protocolVersion"), "{right}");
    let get = |path: &str| asked(&address, &format!("GET {path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n"));
    for path in ["/mcp", "/sse", "/ws"] {
        let refused = get(path);
        assert!(refused.starts_with("HTTP/1.1 401"), "{path}: {refused}");
    }
    let document = get("/.well-known/oauth-protected-resource/mcp");
    assert!(document.starts_with("HTTP/1.1 200") && document.contains("authorization_servers"), "{document}");
    let at_root = get("/.well-known/oauth-protected-resource");
    assert_eq!(at_root.split("\r\n\r\n").nth(1), document.split("\r\n\r\n").nth(1), "the same at the root");
    serving.signal("TERM");
    serving.ends_well();
}

#[test]
fn an_invalid_token_is_refused_at_the_start() {
    for (token, why) in
        [(None, "is not set"), (Some("two words"), "is not a valid token"), (Some(""), "is not a valid token")]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proof"));
        command.args(["serve", "--http", "127.0.0.1:0", "--bearer-env", "TOKEN_OF_THIS_TEST"]);
        command.env_remove("TOKEN_OF_THIS_TEST").envs(token.map(|token| ("TOKEN_OF_THIS_TEST", token)));
        let ran = command.output().expect("it runs");
        let said = String::from_utf8_lossy(&ran.stderr).replace("\n       ", " ");
        assert_eq!(ran.status.code(), Some(2), "{said}");
        assert!(said.contains(why) && said.contains("try:"), "{said}");
        assert!(!said.contains("two words"), "{said}");
    }
}

#[test]
fn a_port_is_enough_and_messages_are_printed_on_request() {
    let mut serving = Serving::start(&["--http", "0", "--verbose"]);
    let address = serving.address();
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let answer = asked(&address, &post("", INITIALIZE));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let lines: Vec<String> = (0..3).map(|_| serving.said()).collect();
    assert!(lines[1].contains("client  initialize #1") && lines[2].contains("server  result #1"), "{lines:?}");
    serving.signal("TERM");
    serving.ends_well();
}

#[test]
fn a_directory_is_served() {
    let folder = tempfile::tempdir().expect("there is room");
    std::fs::write(folder.path().join("a b.txt"), "I am a file").expect("it is ours");
    let path = folder.path().to_str().expect("a text");
    let mut serving = Serving::start(&["--stdio", "--resources", path]);
    serving.tell(INITIALIZE);
    serving.tell(READY);
    serving.tell(r#"{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"file:///a%20b.txt"}}"#);
    let mut lines =
        BufReader::new(serving.child.stdout.take().expect("a pipe")).lines().map(|line| line.expect("text"));
    let answer = lines.find(|line| line.contains(r#""id":2"#)).expect("an answer");
    assert!(answer.contains("I am a file"), "{answer}");
    drop(serving.child.stdin.take());
    serving.ends_well();

    let nowhere = folder.path().join("nowhere");
    let ran = Command::new(env!("CARGO_BIN_EXE_proof")).args(["serve", "--stdio", "--resources"]).arg(nowhere).output();
    let ran = ran.expect("it runs");
    let said = String::from_utf8_lossy(&ran.stderr).replace("\n       ", " ");
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot serve") && said.contains("nowhere`") && said.contains("try:"), "{said}");
}

#[test]
fn a_changed_catalogue_is_served_and_a_broken_one_is_not() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("tools.yaml");
    let written = |text: &str| std::fs::write(&path, text).expect("it is ours");
    let catalogue = |tool: &str| {
        let answers = format!("inputSchema: {{ type: object }}\n    answers: [{{ text: I am {tool} }}]");
        format!("name: s\nversion: '1'\ntools:\n  - name: {tool}\n    description: d\n    {answers}\n")
    };
    written(&catalogue("first"));
    let mut serving = Serving::start(&["--http", "127.0.0.1:0", "--catalog", path.to_str().expect("a text")]);
    let address = serving.address();
    let call = |tool: &str| {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{{}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"t","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        );
        let headers = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n");
        asked(&address, &post(&headers, &body))
    };
    assert!(call("first").contains("I am first"), "{}", call("first"));
    written(&catalogue("second"));
    assert!(serving.said().ends_with("tools.yaml changed: serving the new version\n"));
    assert!(call("second").contains("I am second"), "{}", call("second"));
    assert!(!call("first").contains("I am first"));
    written("name: s\nversion: '1'\ntuls: []\nmore: [\n");
    // How many lines it takes depends on the length of the path.
    let mut mistakes = vec![serving.said()];
    while !mistakes.last().is_some_and(|line| line.ends_with("has mistakes: still serving the version before\n")) {
        mistakes.push(serving.said());
        assert!(mistakes.len() < 10, "{mistakes:?}");
    }
    assert!(mistakes[0].starts_with("error: "), "{mistakes:?}");
    assert!(call("second").contains("I am second"));
    // Nothing is lost with the file.
    std::fs::remove_file(&path).expect("it is ours");
    std::thread::sleep(Duration::from_secs(1));
    assert!(call("second").contains("I am second"));
    written(&catalogue("third"));
    assert!(serving.said().ends_with("tools.yaml changed: serving the new version\n"));
    assert!(call("third").contains("I am third"));
    serving.signal("TERM");
    serving.ends_well();
}

#[test]
fn one_server_over_every_transport() {
    let mut serving = Serving::start(&["--http", "127.0.0.1:0", "--sse", "--ws", "--stdio"]);
    let address = serving.address();
    assert!(serving.said().starts_with(&format!("serving http://{address}/sse ")));
    assert!(serving.said().starts_with(&format!("serving ws://{address}/ws ")));
    assert!(serving.said().starts_with("serving stdin and stdout "));
    let mut stdout = BufReader::new(serving.child.stdout.take().expect("a pipe"));
    let mut heard = || {
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        line
    };
    serving.tell(INITIALIZE);
    assert!(heard().contains(r#""protocolVersion":"2025-11-25""#));
    serving.tell(READY);
    serving.tell(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    assert!(heard().contains(r#""id":2"#));

    let stream = asked(&address, "GET /sse HTTP/1.1\r\nHost: HOST\r\n\r\n");
    assert!(stream.contains("event: endpoint") && stream.contains("data: /messages?session="), "{stream}");
    let key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    let upgrade =
        format!("GET /ws HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n{key}\r\n\r\n");
    assert!(asked(&address, &upgrade).starts_with("HTTP/1.1 101 "));

    // What a client over HTTP changes, the one over stdio is told of.
    let opened = asked(&address, &post("", INITIALIZE));
    let session = opened.split("mcp-session-id: ").nth(1).and_then(|rest| rest.lines().next()).expect("a session");
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"toggle_tool","arguments":{}}}"#;
    let answer = asked(&address, &post(&format!("Mcp-Session-Id: {session}\r\n"), call));
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(heard().contains("notifications/tools/list_changed"));

    drop(serving.child.stdin.take());
    serving.ends_well();
}

#[test]
fn strict_requires_the_version_in_every_request() {
    for (strict, expected) in [(true, "HTTP/1.1 400 "), (false, "HTTP/1.1 200 ")] {
        let more: &[&str] = if strict { &["--strict"] } else { &[] };
        let mut serving = Serving::start(&[&["--http", "127.0.0.1:0"], more].concat());
        let address = serving.address();
        let opened = asked(&address, &post("", INITIALIZE));
        let session = opened.split("mcp-session-id: ").nth(1).and_then(|rest| rest.lines().next()).expect("a session");
        let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
        let answer = asked(&address, &post(&format!("Mcp-Session-Id: {session}\r\n"), ping));
        assert!(answer.starts_with(expected), "strict is {strict}: {answer}");
    }
}

#[test]
fn strict_holds_over_stdio_too() {
    let mut serving = Serving::start(&["--stdio", "--strict"]);
    serving.tell(INITIALIZE);
    serving.tell(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
    serving.tell(READY);
    serving.tell(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    serving.tell(r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#);
    drop(serving.child.stdin.take());
    let mut said = String::new();
    serving.child.stdout.take().expect("a pipe").read_to_string(&mut said).expect("it ends");
    let said: Vec<&str> = said.lines().collect();
    assert_eq!(said.len(), 4, "{said:?}");
    assert!(said[1].contains("-32600") && said[1].contains("notifications/initialized"), "{said:?}");
    assert!(said[2].contains("-32600") && said[2].contains("had this id"), "{said:?}");
    assert_eq!(said[3], r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    serving.ends_well();
}

/// A certificate for 127.0.0.1 and its key, in files.
fn certificate(folder: &Path) -> (String, String) {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("a name");
    let certificate = params.self_signed(&key).expect("a certificate");
    let written = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("it can be written");
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("they can be set");
        path.to_string_lossy().into_owned()
    };
    (written("cert.pem", certificate.pem()), written("key.pem", key.serialize_pem()))
}

#[test]
fn with_a_certificate_it_serves_https_and_wss() {
    let folder = tempfile::tempdir().expect("a folder");
    let (certificate, key) = certificate(folder.path());
    let tls = ["--http", "127.0.0.1:0", "--ws", "--sse", "--tls-cert", &certificate, "--tls-key", &key];
    let mut serving = Serving::start(&tls);
    let addresses = [serving.said(), serving.said(), serving.said()];
    let url = |scheme: &str| {
        let words = addresses.iter().flat_map(|line| line.split_whitespace());
        let found: Vec<_> = words.filter(|word| word.starts_with(&format!("{scheme}://"))).collect();
        assert!(!found.is_empty(), "{scheme}: {addresses:?}");
        found[0].to_owned()
    };
    let (https, wss) = (url("https"), url("wss"));
    for url in [https.clone(), wss, https.replace("https", "wss"), https.replace("https", "wss") + "/ws"] {
        let call = ["client", "call", "echo", "message=over TLS", &url, "--ca-file", &certificate];
        let ran = Command::new(env!("CARGO_BIN_EXE_proof")).args(call).output().expect("it runs");
        let said = String::from_utf8_lossy(&ran.stdout).into_owned()
            + &String::from_utf8_lossy(&ran.stderr).replace("\n       ", " ");
        assert!(ran.status.success() && said.contains("over TLS"), "{url}: {said}");
    }
    let plain = asked(https.trim_start_matches("https://").trim_end_matches("/mcp"), &post("", INITIALIZE));
    assert!(!plain.contains("200 OK"), "{plain}");
    serving.signal("TERM");
    serving.ends_well();
}

#[test]
fn files_that_are_no_certificate_are_refused_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let (certificate, key) = certificate(folder.path());
    for (named, of, why) in [(&key, &key, "holds no certificate"), (&certificate, &certificate, "holds no private key")]
    {
        let tls = ["serve", "--http", "127.0.0.1:0", "--tls-cert", named, "--tls-key", of];
        let ran = Command::new(env!("CARGO_BIN_EXE_proof")).args(tls).output().expect("it runs");
        let said = String::from_utf8_lossy(&ran.stderr).replace("\n       ", " ");
        assert!(ran.status.code() == Some(2) && said.contains(why), "{said}");
    }
}

#[test]
fn a_signal_ends_it_cleanly() {
    for signal in ["INT", "TERM"] {
        let mut serving = Serving::start(&["--http", "127.0.0.1:0", "--sse", "--ws"]);
        let address = serving.address();
        let mut stream = TcpStream::connect(&address).expect("it listens");
        write!(stream, "GET /sse HTTP/1.1\r\nHost: {address}\r\n\r\n").expect("it reads");
        let mut first = [0; 12];
        stream.read_exact(&mut first).expect("a status line");
        serving.signal(signal);
        serving.ends_well();
        let mut rest = String::new();
        stream.read_to_string(&mut rest).expect("the stream was ended, not cut");
        assert!(rest.ends_with("0\r\n\r\n"), "{rest:?}");
    }
    // What is under way over stdio is answered before the end.
    let mut serving = Serving::start(&["--stdio"]);
    serving.tell(INITIALIZE);
    serving.tell(READY);
    serving.tell(
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow","arguments":{"steps":1,"delay_ms":250}}}"#,
    );
    serving.tell(r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#);
    let mut stdout = BufReader::new(serving.child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains(r#""id":3"#) {
        line.clear();
        stdout.read_line(&mut line).expect("a line");
    }
    serving.signal("TERM");
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("it ends");
    assert!(rest.contains(r#""id":2"#), "{rest:?}");
    serving.ends_well();
}
