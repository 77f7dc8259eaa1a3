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

/// A legacy server over stdio that repeats what it was given (a variable and an argument), in all the usual encodings,
/// under innocent names: in a result, as a tool's name, on stderr, in errors.
const PARROT: &str = r#"
import base64, json, os, sys, urllib.parse
key, word = os.environ["VENDOR_KEY"], sys.argv[2]
wrapped = lambda text: base64.b64encode(f"u:{text}!".encode()).decode()
said = [f"{k} or {json.dumps(k)[1:-1]} or {urllib.parse.quote(k, safe='')} or {wrapped(k)} or {k[:-2]}…" for k in (key, word)]
said = " and ".join(said)
for line in sys.stdin:
    print("got " + said, file=sys.stderr, flush=True)
    try:
        request = json.loads(line)
    except ValueError:
        continue
    if not isinstance(request, dict) or "id" not in request:
        continue
    method = request.get("method")
    answer = {"jsonrpc": "2.0", "id": request["id"]}
    if method == "initialize" and not sys.argv[3:]:
        answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "instructions": said,
            "serverInfo": {"name": key, "version": word}}
    elif method == "ping":
        answer["result"] = {key: 1}
    elif method == "tools/list":
        tool = {"name": key, "description": said, "inputSchema": {"type": "object", "title": said}}
        answer["result"] = {"tools": [tool, tool]}
    else:
        answer["error"] = {"code": -32000, "message": said}
    print(json.dumps(answer), flush=True)
"#;

const VARIABLE: &str = "correct 'horse' \"battery\" stäple/9";
const ARGUMENT: &str = "hunter2hunter2";

/// What would give one of them away, in whatever encoding.
fn parts() -> [&'static str; 7] {
    ["horse", "battery", "stäple", "st%C3%A4ple", "hunter2hunt", "aHVudGVyMmh1bnRlc", "odW50ZXIyaHVudGVy"]
}

#[test]
fn repeated_by_a_command_appear_nowhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let variable = format!("VENDOR_KEY={VARIABLE}");
    for (format, mute) in [("human", false), ("json", false), ("sarif", false), ("human", true)] {
        let traces = folder.path().join(format!("{format}-{mute}"));
        let traces = traces.to_string_lossy();
        let few = "tools.*,ping.*,errors.*,shape.*,lifecycle.version-*";
        let options = ["check", "--format", format, "--only", few, "--verbose", "--save-trace", &traces];
        let target = [
            "--revision",
            "2025-11-25",
            "--timeout",
            "20",
            "--env",
            &variable,
            "--",
            "python3",
            "-c",
            PARROT,
            "--password",
            ARGUMENT,
        ];
        let more: &[&str] = if mute { &["mute"] } else { &[] };
        let ran = proof(&[&options, &target[..], more].concat());
        // A greeting that is refused is judged, too, where the revision is named.
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        let files = std::fs::read_dir(&*traces).expect("traces").flatten();
        let files: Vec<_> = files.map(|entry| std::fs::read_to_string(entry.path()).expect("a trace")).collect();
        assert!(mute || files.len() > 3, "{} traces", files.len());
        for text in files.iter().chain([&ran.stdout, &ran.stderr]) {
            let found: Vec<_> = parts().into_iter().filter(|part| text.contains(part)).collect();
            assert!(found.is_empty(), "{found:?} in {text}");
        }
        assert!(mute || ran.stdout.contains("listed before"), "the report quotes the server: {}", ran.stdout);
    }
}

#[test]
fn have_one_placeholder_in_a_report_and_its_traces() {
    let folder = tempfile::tempdir().expect("a folder");
    let traces = folder.path().join("traces");
    let options =
        ["check", "--format", "json", "--only", "ping.*", "--revision", "2025-11-25", "--env", "VENDOR_KEY=x"];
    let kept = ["--save-trace", &traces.to_string_lossy(), "--", "python3", "-c", PARROT, "--password", ARGUMENT];
    let ran = proof(&[&options[..], &kept].concat());
    let report: Value = serde_json::from_str(&ran.stdout).expect("a report");
    let target = report["subject"]["target"].as_str().expect("a target");
    let (_, pseudonym) = target.rsplit_once(' ').expect("words");
    assert!(pseudonym.len() == ARGUMENT.len() && pseudonym != ARGUMENT, "{target}");
    assert_eq!(report["subject"]["version"], pseudonym, "{}", report["subject"]);
    for file in std::fs::read_dir(&traces).expect("traces").flatten() {
        let text = std::fs::read_to_string(file.path()).expect("a trace");
        assert!(text.contains(pseudonym), "{pseudonym} in {text}");
    }
}

#[test]
fn appear_in_no_report_trace_or_message() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = indiscreet();
    let header = format!("Authorization: Bearer {SECRET}");
    let few = "tools.*,ping.*,errors.*,shape.*,lifecycle.version-*";
    for format in ["json", "human", "junit", "sarif", "markdown", "tap", "html"] {
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
