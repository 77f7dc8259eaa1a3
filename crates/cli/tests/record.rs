//! `proof record` as a process: what crosses is what was said, all of it is written down, and neither side notices.

#[path = "shared/canned.rs"]
mod canned;
#[path = "shared/ran.rs"]
mod ran;
#[path = "shared/serving.rs"]
mod serving;
#[path = "shared/signal.rs"]
mod signal;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use canned::{canned, fetched};
use ran::{PROOF, ends_with, proof};
use serving::Serving;
use tempfile::TempDir;
use wire::Party;
use wire::trace::{Content, Trace, file};

struct Recording {
    folder: TempDir,
}

impl Recording {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("case.jsonl")
    }

    fn of(&self, command: &[&str]) -> Command {
        let mut recorder = Command::new(PROOF);
        recorder.arg("record").arg("-o").arg(self.path()).arg("--").args(command);
        recorder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        recorder
    }

    /// What the command says to `input`, recorded.
    fn ran(&self, command: &[&str], input: &[u8]) -> std::process::Output {
        let mut child = self.of(command).spawn().expect("the binary runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_vec();
        let feeding = std::thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().expect("it ends");
        feeding.join().expect("it was fed");
        output
    }

    fn trace(&self) -> Trace {
        read(&self.path())
    }
}

fn read(path: &Path) -> Trace {
    let bytes = std::fs::read(path).expect("a recording");
    let (trace, truncated) = file::read_repaired(bytes).expect("a trace");
    assert_eq!(truncated, None);
    trace
}

fn lines(trace: &Trace, of: Party) -> Vec<u8> {
    let mut all = Vec::new();
    for frame in trace.frames.iter().filter(|frame| frame.from == of) {
        if let Content::Line { bytes, terminated } = &frame.content {
            all.extend_from_slice(bytes);
            all.extend(terminated.then_some(b'\n'));
        }
    }
    all
}

#[test]
fn bytes_pass_unchanged_and_are_recorded() {
    let recording = Recording::new();
    let input = [
        "{\"jsonrpc\":\"2.0\", \"id\":1,\"method\":\"ping\"}\r\n".as_bytes(),
        b"no JSON at all\n",
        &[0xff, 0x00, b'\n'],
        "x".repeat(300_000).as_bytes(),
        b"\n\nwithout an end",
    ]
    .concat();
    let ran = recording.ran(&["sh", "-c", "cat; echo to the log >&2; exit 7"], &input);
    assert_eq!(ran.status.code(), Some(7));
    assert_eq!(ran.stdout, input);
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "to the log\n");
    let trace = recording.trace();
    assert_eq!(lines(&trace, Party::Client), input);
    assert_eq!(lines(&trace, Party::Server), input);
    let has = |content: &Content| trace.frames.iter().any(|frame| frame.content == *content);
    assert!(has(&Content::Stderr(b"to the log".to_vec())));
    assert!(has(&Content::Exit { code: Some(7), signal: None }));
}

#[test]
fn secrets_reach_the_server_but_not_the_file() {
    let recording = Recording::new();
    let said = r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"password":"open sesame 1","plain":"kept"}}"#;
    let mut command = recording.of(&["sh", "-c", "cat; echo $WEATHER_API_KEY", "--api-key=given-to-it-9"]);
    let mut child = command.env("WEATHER_API_KEY", "from-outside-77").spawn().expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    writeln!(stdin, "{said}\ngiven-to-it-9").expect("it reads");
    drop(stdin);
    let ran = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), format!("{said}\ngiven-to-it-9\nfrom-outside-77\n"));
    let text = std::fs::read_to_string(recording.path()).expect("a recording");
    for secret in ["sesame", "from-outside-77", "given-to-it-9"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert!(text.contains("kept"), "{text}");
}

#[test]
fn an_empty_recording_leaves_no_file_and_overwrites_none() {
    let recording = Recording::new();
    let folder = recording.folder.path();
    let there = || std::fs::read_dir(folder).expect("a folder").count();
    let unstarted = || recording.ran(&["no-such-program-here"], b"");
    let told = ends_with(3, &unstarted());
    assert!(told.contains("no-such-program-here") && !told.contains("no messages"), "{told}");
    assert_eq!(there(), 0);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    ends_with(2, &proof(folder, &["record", "-o", "case.jsonl", "--http", &address, "--to", "http://127.0.0.1:1/"]));
    assert_eq!(there(), 0);
    // Whoever was there before stays, even where it is as empty as ours would be.
    let of_another = std::fs::File::create(recording.path());
    of_another.expect("it can be written");
    ends_with(3, &unstarted());
    assert_eq!((there(), std::fs::read(recording.path()).expect("it is there").len()), (1, 0));
}

#[test]
fn an_unused_proxy_leaves_no_file() {
    let recording = Recording::new();
    let mut recorder = Command::new(PROOF);
    recorder.args(["record", "--http", "127.0.0.1:0", "--to", "http://127.0.0.1:1/mcp", "-o"]).arg(recording.path());
    let mut serving = Serving::start(&mut recorder);
    assert!(recording.path().exists());
    signal::send("INT", &serving.child);
    assert_eq!(serving.child.wait().expect("it ends").code(), Some(0));
    assert!(!recording.path().exists());
}

#[test]
fn a_second_recording_gets_a_new_file() {
    let recording = Recording::new();
    recording.ran(&["cat"], b"first\n");
    let ran = recording.ran(&["cat"], b"second\n");
    assert!(String::from_utf8_lossy(&ran.stderr).replace("\n       ", " ").contains("case-2.jsonl"));
    assert_eq!(lines(&recording.trace(), Party::Client), b"first\n");
    assert_eq!(lines(&read(&recording.folder.path().join("case-2.jsonl")), Party::Client), b"second\n");
}

#[test]
fn failures_to_start_or_write_are_reported() {
    let recording = Recording::new();
    let ran = recording.ran(&["/no/such/server"], b"");
    assert_eq!(ran.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&ran.stderr).replace("\n       ", " ").contains("/no/such/server"));
    let ran = Command::new(PROOF).args(["record", "-o", "/no/such/folder/x.jsonl", "--", "cat"]).output();
    let ran = ran.expect("the binary runs");
    assert_eq!(ran.status.code(), Some(2));
    assert!(
        ran.stdout.is_empty()
            && String::from_utf8_lossy(&ran.stderr).replace("\n       ", " ").contains("cannot write")
    );
}

/// Waits until `there` or fails.
#[track_caller]
fn until(what: &str, mut there: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !there() {
        assert!(begun.elapsed() < Duration::from_secs(10), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A recorded echo that was asked for `count` lines and gave them back.
fn echoed(recording: &Recording, count: usize) -> Child {
    let mut child = recording.of(&["cat"]).spawn().expect("the binary runs");
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let stdin = child.stdin.as_mut().expect("a pipe");
    for number in 0..count {
        writeln!(stdin, "{{\"line\":{number}}}").expect("it reads");
        let mut line = String::new();
        stdout.read_line(&mut line).expect("it answers");
        assert_eq!(line, format!("{{\"line\":{number}}}\n"));
    }
    child
}

#[test]
fn a_killed_recorder_has_written_every_message() {
    let recording = Recording::new();
    let mut child = echoed(&recording, 50);
    child.kill().expect("it is there");
    child.wait().expect("it ends");
    let (trace, _) = file::read_repaired(std::fs::read(recording.path()).expect("a recording")).expect("a trace");
    let count = |of| trace.frames.iter().filter(|f| f.from == of && matches!(f.content, Content::Line { .. })).count();
    assert_eq!(count(Party::Client), 50);
    // What was last passed on may not have been written down yet.
    assert!((49..=50).contains(&count(Party::Server)), "{}", count(Party::Server));
}

#[test]
fn a_signal_is_passed_on_and_no_child_survives() {
    let recording = Recording::new();
    let mut child = recording
        .of(&["sh", "-c", "trap 'echo told; exit 5' TERM; echo up; while :; do sleep 0.05; done"])
        .spawn()
        .expect("the binary runs");
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("it says that it is up");
    signal::send("TERM", &child);
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(5));
    line.clear();
    stdout.read_line(&mut line).expect("its last word");
    assert_eq!(line, "told\n");
}

#[test]
fn the_end_of_the_client_is_the_end_of_the_server() {
    let recording = Recording::new();
    let mut child = echoed(&recording, 1);
    drop(child.stdin.take());
    until("the recorder outlives its client", || child.try_wait().expect("a child").is_some());
    assert_eq!(child.wait().expect("it ended").code(), Some(0));
}

/// `proof` with these arguments, listening.
fn listening(arguments: &[&str]) -> Serving {
    Serving::start(Command::new(PROOF).args(arguments))
}

/// Host and port.
fn host(serving: &Serving) -> &str {
    serving.url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).map_or("", |(host, _)| host)
}

fn tested(folder: &Path, server: &str, more: &[&str]) {
    let cases = format!(
        "server: {{ url: 'http://{server}/mcp' }}\nmatrix: {{ revisions: [2025-11-25, 2026-07-28] }}\ncases:\n  \
         - {{ name: echo, call: echo, arguments: {{ message: hello }}, expect: {{ '$.content[0].text': {{ contains: \
         hello }} }} }}\n  - {{ name: progress, call: slow, arguments: {{ steps: 2 }}, expect: {{ progress: 2 }} }}\n  \
         - {{ name: tools, list: tools, volatile: [$.tools] }}\n"
    );
    let file = folder.join("cases.mcp.yaml");
    std::fs::write(&file, cases).expect("it can be written");
    ends_with(0, &proof(folder, &[&["test", &*file.to_string_lossy()], more].concat()));
}

#[test]
fn proxied_traffic_is_recorded_and_can_be_replayed() {
    let recording = Recording::new();
    let folder = recording.folder.path();
    let file = recording.path().to_string_lossy().into_owned();
    let server = listening(&["serve", "--http", "127.0.0.1:0"]);
    let proxy = listening(&["record", "-o", &file, "--http", "127.0.0.1:0", "--to", &server.url]);
    tested(folder, host(&proxy), &[]);
    ended(proxy);
    drop(server);
    let trace = recording.trace();
    let has = |wanted: fn(&Content) -> bool| trace.frames.iter().any(|frame| wanted(&frame.content));
    assert!(has(|content| matches!(content, Content::Sse(_))), "progress is streamed");
    assert!(has(|content| matches!(content, Content::Request { method, .. } if method == "DELETE")));
    // Each of its connections is judged at the revision that it spoke.
    let ran = Command::new(PROOF).args(["check", "--format", "json", "--trace", &file]).output();
    let ran = ran.expect("the binary runs");
    let report = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.status.code(), Some(0), "{report}");
    let report: serde_json::Value = serde_json::from_str(&report).expect("a report");
    let runs = report["runs"].as_array().expect("runs").iter().map(|run| run["revision"].clone());
    assert_eq!(runs.collect::<Vec<_>>(), ["2025-11-25", "2026-07-28"]);
    // The server is gone.
    for over in ["http", "stdio", "ws"] {
        tested(folder, "127.0.0.1:1", &["--replay", &file, "--over", over]);
    }
}

/// Ends a recorder and waits for it.
fn ended(mut proxy: Serving) {
    signal::send("TERM", &proxy.child);
    assert_eq!(proxy.child.wait().expect("it ends").code(), Some(0));
}

/// A test file with one case for a server, which is reached as `server` says, at these revisions.
fn cases_for(folder: &Path, server: &str, revisions: &str) -> String {
    let text = format!(
        "server: {server}\nmatrix: {{ revisions: [{revisions}] }}\ncases:\n  - {{ name: echo, call: echo, arguments: {{ \
         message: hello }}, expect: {{ '$.content[0].text': {{ contains: hello }} }} }}\n  - {{ name: progress, call: slow, \
         arguments: {{ steps: 2 }}, expect: {{ progress: 2 }} }}\n"
    );
    let file = folder.join("over.mcp.yaml");
    std::fs::write(&file, text).expect("it can be written");
    file.to_string_lossy().into_owned()
}

#[track_caller]
fn assert_clean(arguments: &[&str]) -> String {
    let ran = Command::new(PROOF).args(arguments).output().expect("the binary runs");
    let told = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.status.code(), Some(0), "{told}{}", String::from_utf8_lossy(&ran.stderr));
    told
}

#[test]
fn http_sse_and_websockets_are_proxied_and_recorded() {
    let recording = Recording::new();
    let folder = recording.folder.path();
    let file = recording.path().to_string_lossy().into_owned();
    let server = listening(&["serve", "--http", "127.0.0.1:0", "--sse", "--ws"]);
    let proxy = listening(&["record", "-o", &file, "--http", "127.0.0.1:0", "--to", &server.url]);
    let at = host(&proxy);
    let cases = cases_for(folder, &format!("{{ url: 'http://{at}/sse', transport: sse }}"), "2024-11-05");
    assert_clean(&["test", &cases]);
    let cases = cases_for(folder, &format!("{{ url: 'ws://{at}/ws' }}"), "2025-11-25, 2026-07-28");
    assert_clean(&["test", &cases]);
    let cases = cases_for(folder, &format!("{{ url: 'http://{at}/mcp' }}"), "2025-06-18");
    assert_clean(&["test", &cases]);
    ended(proxy);
    drop(server);
    let report = assert_clean(&["check", "--format", "json", "--fail-on", "should", "--trace", &file]);
    let report: serde_json::Value = serde_json::from_str(&report).expect("a report");
    let run = |run: &serde_json::Value| format!("{} {}", run["transport"], run["revision"]).replace('"', "");
    let mut runs: Vec<_> = report["runs"].as_array().expect("runs").iter().map(run).collect();
    runs.sort();
    assert_eq!(runs, ["http 2025-06-18", "sse 2024-11-05", "ws 2025-11-25", "ws 2026-07-28"]);
    // Every message of a conversation is on its own connection, and every connection has its end.
    let trace = recording.trace();
    for connection in 1..=trace.frames.iter().map(|frame| frame.connection).max().expect("frames") {
        let mut of_it = trace.frames.iter().filter(|frame| frame.connection == connection && frame.exchange == 0);
        assert!(of_it.any(|frame| matches!(frame.content, Content::Closed(_))), "connection {connection}");
    }
    for over in ["stdio", "http", "sse", "ws"] {
        assert_clean(&["test", &cases, "--replay", &file, "--over", over]);
    }
    let both = ["test", &cases, "--replay", &file, "--over", "sse", "--revision", "2025-11-25"];
    let ran = Command::new(PROOF).args(both).output().expect("the binary runs");
    assert_eq!(ran.status.code(), Some(2), "HTTP+SSE is of one revision");
}

/// A stream of HTTP+SSE, and where it says to post.
fn stream_of(address: &str) -> (BufReader<std::net::TcpStream>, String) {
    let mut stream = std::net::TcpStream::connect(address).expect("it listens");
    write!(stream, "GET /sse HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\n\r\n").expect("it reads");
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    while !line.starts_with("data: ") {
        line.clear();
        assert!(stream.read_line(&mut line).expect("it answers") > 0, "an endpoint");
    }
    let endpoint = line.trim_start_matches("data: ").trim().to_owned();
    (stream, endpoint)
}

#[test]
fn clients_of_http_sse_are_recorded_apart() {
    let recording = Recording::new();
    let file = recording.path().to_string_lossy().into_owned();
    let server = listening(&["serve", "--http", "127.0.0.1:0", "--sse"]);
    let to = format!("http://{}/sse", host(&server));
    let proxy = listening(&["record", "-o", &file, "--http", "127.0.0.1:0", "--to", &to]);
    let address = host(&proxy).to_owned();
    let mut streams = [stream_of(&address), stream_of(&address)];
    for (stream, endpoint) in &mut streams {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let mut post = std::net::TcpStream::connect(&address).expect("it listens");
        let head = format!("POST {endpoint} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json");
        write!(post, "{head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()).expect("it reads");
        let mut line = String::new();
        while !line.contains("\"id\":1") {
            line.clear();
            assert!(stream.read_line(&mut line).expect("it answers") > 0, "an answer");
        }
    }
    drop(proxy);
    let frames = recording.trace().frames;
    for connection in [1, 2] {
        let of_it = || frames.iter().filter(|frame| frame.connection == connection);
        assert_eq!(of_it().filter(|frame| matches!(frame.content, Content::Sse(_))).count(), 2, "{frames:?}");
        assert_eq!(
            of_it()
                .filter(|frame| matches!(frame.content, Content::Body { .. } if frame.from == Party::Client))
                .count(),
            1
        );
    }
}

/// What a server says once to whoever comes, and what it was asked.
fn saying_once(answer: impl FnOnce(&str) -> Vec<u8> + Send + 'static) -> (String, std::thread::JoinHandle<String>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it listens").to_string();
    let at = address.clone();
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody comes");
        let mut lines = BufReader::new(stream.try_clone().expect("a handle")).lines();
        let head: Vec<String> = lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        stream.write_all(&answer(&at)).expect("it is read");
        head.join("\n")
    });
    (address, asked)
}

/// What the proxy before `server` says to a GET.
fn passed_on(file: &str, server: &str) -> (String, String) {
    use std::io::Read as _;
    let to = format!("http://{server}/sse");
    let proxy = listening(&["record", "-o", file, "--http", "127.0.0.1:0", "--to", &to]);
    let address = host(&proxy).to_owned();
    let mut stream = std::net::TcpStream::connect(&address).expect("it listens");
    write!(stream, "GET /sse HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("it answers");
    drop(proxy);
    (address, said)
}

#[test]
fn an_endpoint_at_the_server_is_rewritten_to_the_proxy() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n: hello\n\n";
    for (endpoint, leads_back) in
        [("http://HERE/messages/7?a=b", true), ("/messages/7", false), ("http://127.0.0.2/m", false)]
    {
        let recording = Recording::new();
        let file = recording.path().to_string_lossy().into_owned();
        let (server, asked) = saying_once(move |here| {
            let endpoint = endpoint.replace("HERE", here);
            format!("{head}event: endpoint\ndata: {endpoint}\n\ndata: after\n\n").into_bytes()
        });
        let (proxy, said) = passed_on(&file, &server);
        let told = endpoint.replace("HERE", if leads_back { &proxy } else { &server });
        assert!(said.contains(&format!("event: endpoint\ndata: {told}\n\n")), "{said}");
        assert!(said.contains(": hello\n\n") && said.contains("data: after\n\n"), "{said}");
        assert!(asked.join().expect("it was asked").contains(&format!("host: {server}")));
        // What is written down is what the server said.
        let blocks: Vec<u8> = recording
            .trace()
            .frames
            .into_iter()
            .filter_map(|frame| match frame.content {
                Content::Sse(block) => Some(block),
                _ => None,
            })
            .flatten()
            .collect();
        let endpoint = endpoint.replace("HERE", &server);
        assert_eq!(
            String::from_utf8_lossy(&blocks),
            format!(": hello\n\nevent: endpoint\ndata: {endpoint}\n\ndata: after\n\n")
        );
    }
}

#[test]
fn a_long_first_event_passes_whole() {
    let recording = Recording::new();
    let file = recording.path().to_string_lossy().into_owned();
    let event = format!("data: {}\n\ndata: after\n\n", "x".repeat(300_000));
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{event}");
    let (server, _) = saying_once(move |_| answer.into_bytes());
    let (_, said) = passed_on(&file, &server);
    assert_eq!(said.matches('x').count(), 300_000 + "text".matches('x').count());
    assert!(said.contains("data: after\n\n"));
    let blocks = recording.trace().frames.into_iter().filter_map(|frame| match frame.content {
        Content::Sse(block) => Some(block),
        _ => None,
    });
    assert_eq!(String::from_utf8(blocks.flatten().collect()).expect("text"), event);
}

#[test]
fn empty_streams_and_refused_websockets_are_recorded() {
    for (answer, status) in [
        ("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n: half a com", 200),
        ("HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno", 405),
    ] {
        let recording = Recording::new();
        let file = recording.path().to_string_lossy().into_owned();
        let (server, _) = saying_once(move |_| answer.as_bytes().to_vec());
        let (_, said) = passed_on(&file, &server);
        assert!(said.starts_with(&format!("HTTP/1.1 {status}")), "{said}");
        assert!(said.contains("half a com") || said.contains("no"), "{said}");
        let trace = recording.trace();
        assert!(
            trace
                .frames
                .iter()
                .any(|frame| matches!(&frame.content, Content::Request { method, .. } if method == "GET"))
        );
        let told = |frame: &wire::trace::Frame| matches!(frame.content, Content::Response { status: told, .. } if told == status);
        assert!(trace.frames.iter().any(told), "{:?}", trace.frames);
    }
}

#[test]
fn a_proxy_refuses_foreign_hosts_and_reports_a_lost_server() {
    let recording = Recording::new();
    let file = recording.path().to_string_lossy().into_owned();
    let to = "http://127.0.0.1:1/mcp";
    let proxy = listening(&["record", "-o", &file, "--http", "127.0.0.1:0", "--to", to]);
    let asked = |named: &str| {
        use std::io::Read as _;
        let mut stream = std::net::TcpStream::connect(host(&proxy)).expect("it listens");
        let request = format!("GET /mcp HTTP/1.1\r\nHost: {named}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut said = String::new();
        stream.read_to_string(&mut said).expect("it answers");
        said
    };
    assert!(asked("evil.example").starts_with("HTTP/1.1 403"));
    let page = format!("{}\r\nOrigin: http://evil.example\r\nX-Marker: of-the-page", host(&proxy));
    assert!(asked(&page).starts_with("HTTP/1.1 403"));
    assert!(
        asked(&format!("{}\r\nUpgrade: websocket\r\nOrigin: http://localhost:1", host(&proxy)))
            .starts_with("HTTP/1.1 403")
    );
    assert!(asked(host(&proxy)).starts_with("HTTP/1.1 502"));
    let requests = |frame: &&wire::trace::Frame| matches!(frame.content, Content::Request { .. });
    assert_eq!(recording.trace().frames.iter().filter(requests).count(), 1, "only what was let in is recorded");
}

/// Probes that share no session are one conversation to a proxy: what they do to one another is no fault of the server.
#[test]
fn a_check_through_a_proxy_is_clean_and_so_is_its_recording() {
    let recording = Recording::new();
    let file = recording.path().to_string_lossy().into_owned();
    let server = listening(&["serve", "--http", "127.0.0.1:0"]);
    let mut proxy = listening(&["record", "-o", &file, "--http", "127.0.0.1:0", "--to", &server.url]);
    let check = |target: &[&str]| {
        let only = ["check", "--only", "http.*", "--fail-on", "should"];
        let ran = Command::new(PROOF).args(only).args(target).output().expect("the binary runs");
        assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stdout));
    };
    check(&[&proxy.url]);
    signal::send("TERM", &proxy.child);
    assert_eq!(proxy.child.wait().expect("it ends").code(), Some(0));
    check(&["--trace", &file]);
}

/// What cannot be redacted is not recorded: the server is asked for plain bytes, and compressed ones pass unrecorded.
#[test]
fn a_compressed_body_is_not_recorded() {
    let recording = Recording::new();
    let file = recording.path().to_string_lossy().into_owned();
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n";
    let (to, asked) = canned(head, b"squeezed-secret".to_vec());
    let proxy = listening(&["record", "-o", &file, "--http", "127.0.0.1:0", "--to", &to]);
    assert!(String::from_utf8_lossy(&fetched(host(&proxy))).contains("squeezed-secret"));
    let request = asked.recv().expect("it was asked").to_ascii_lowercase();
    assert!(request.contains("accept-encoding: identity\r\n") && !request.contains("gzip"), "{request}");
    let bodies = |frame: &wire::trace::Frame| match &frame.content {
        Content::Body { bytes, complete } => Some((bytes.len(), *complete)),
        _ => None,
    };
    let found: Vec<_> = recording.trace().frames.iter().filter_map(bodies).collect();
    assert_eq!(found, [(0, false)]);
}

#[test]
fn a_long_body_passes_and_its_beginning_is_recorded() {
    const LONG: usize = (16 << 20) + 1000;
    let recording = Recording::new();
    let file = recording.path().to_string_lossy().into_owned();
    let (to, _asked) = canned("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", vec![b' '; LONG]);
    let proxy = listening(&["record", "-o", &file, "--http", "127.0.0.1:0", "--to", &to]);
    assert!(fetched(host(&proxy)).len() > LONG);
    let frames = recording.trace().frames;
    let cut = |frame: &wire::trace::Frame| match &frame.content {
        Content::Body { bytes, complete: false } => bytes.len() <= 16 << 20 && bytes.len() > 15 << 20,
        _ => false,
    };
    assert!(frames.iter().any(cut));
    assert!(frames.iter().any(|frame| matches!(frame.content, Content::Mark(_))));
}
