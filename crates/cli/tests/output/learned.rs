//! Secrets that a run learns: tokens that it fetches, and what it records under a secret name.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::printed::Printed;

/// A server that demands a token, issues it itself, and repeats every secret that it issued.
const TATTLER: &str = r#"
import http.server, json, urllib.parse
ACCESS, REFRESH, CLIENT = "opal-horse-battery", "ruby-horse-battery", "jade-horse-battery"
SAID = f"it is {ACCESS} and {REFRESH} and {CLIENT}"

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *words):
        pass
    def reply(self, status, body=None, **headers):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def do_DELETE(self):
        self.reply(405)
    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if "oauth-protected-resource" in url.path:
            return self.reply(200, {"resource": BASE + "/mcp", "authorization_servers": [BASE]})
        if "oauth-authorization-server" in url.path:
            return self.reply(200, {"issuer": BASE, "authorization_endpoint": BASE + "/authorize",
                "token_endpoint": BASE + "/token", "registration_endpoint": BASE + "/register",
                "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["client_secret_post"]})
        if url.path == "/authorize":
            asked = dict(urllib.parse.parse_qsl(url.query))
            return self.reply(302, Location=asked["redirect_uri"] + "?" + urllib.parse.urlencode({"code": "c0de", "state": asked["state"]}))
        self.reply(405 if url.path == "/mcp" else 404)
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/register":
            return self.reply(201, {"client_id": "somebody", "client_secret": CLIENT, "token_endpoint_auth_method": "client_secret_post",
                "redirect_uris": json.loads(body)["redirect_uris"]})
        if self.path == "/token":
            return self.reply(200, {"access_token": ACCESS, "refresh_token": REFRESH, "token_type": "Bearer", "expires_in": 3600})
        if self.headers.get("Authorization") != "Bearer " + ACCESS:
            return self.reply(401, {}, WWW_Authenticate=f'Bearer resource_metadata="{BASE}/.well-known/oauth-protected-resource/mcp"')
        try:
            request = json.loads(body)
        except ValueError:
            return self.reply(400)
        if not isinstance(request, dict):
            return self.reply(400)
        if "id" not in request:
            return self.reply(202)
        results = {
            "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "instructions": SAID,
                "serverInfo": {"name": "tattler", "version": "1"}},
            "tools/list": {"tools": [{"name": "say", "description": SAID, "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": SAID}]},
        }
        answer = {"jsonrpc": "2.0", "id": request["id"]}
        if request["method"] in results:
            answer["result"] = results[request["method"]]
        else:
            answer["error"] = {"code": -32601, "message": SAID}
        self.reply(200, answer)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
BASE = f"http://127.0.0.1:{server.server_port}"
print(BASE + "/mcp", flush=True)
server.serve_forever()
"#;

struct Tattler {
    child: Child,
    url: String,
}

impl Tattler {
    fn start() -> Self {
        let mut command = Command::new("python3");
        command.args(["-c", TATTLER]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("python runs");
        let mut url = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut url).expect("a line");
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Tattler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn proof(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proof"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command
}

/// The text of every file in a folder and below.
fn files(folder: &Path) -> String {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let text = |path: &Path| if path.is_dir() { files(path) } else { fs::read_to_string(path).unwrap_or_default() };
    entries.map(|entry| text(&entry.path())).collect()
}

#[test]
fn tokens_that_a_run_fetches_are_concealed_in_every_verb() {
    let server = Tattler::start();
    let url = server.url.as_str();
    let check = ["check", url, "--revision", "2025-11-25", "--timeout", "5", "--only", "ping.*"];
    let verbs: [&[&str]; 7] = [
        &["client", "call", "say", url],
        &["client", "call", "say", url, "--json"],
        &["client", "raw", "no/such", url],
        &["client", "discover", url],
        &["snapshot", url],
        &["snapshot", url, "--output", "s.json"],
        &[&check[..], &["--save-trace", "traces", "--format", "json"]].concat(),
    ];
    for verb in verbs {
        let folder = tempfile::tempdir().expect("a folder");
        for cached in [&[][..], &["--oauth-cache", "../cache"], &["--oauth-cache", "../cache"]] {
            let inner = folder.path().join("inner");
            fs::create_dir_all(&inner).expect("a folder");
            let ran = Printed::by(proof(&inner, verb).arg("--oauth").args(cached));
            let text = format!("{}{}{}", ran.stdout, ran.stderr, files(&inner));
            assert!(text.contains("it is ") && text.contains(" and "), "{verb:?}: {text}");
            assert!(!text.contains("horse-battery"), "{verb:?} {cached:?}: {text}");
            fs::remove_dir_all(&inner).expect("it was there");
        }
    }
}

#[test]
fn a_replay_adds_no_token_that_it_fetched() {
    let server = Tattler::start();
    let folder = tempfile::tempdir().expect("a folder");
    let lines = [
        r#"{"trace":"proof.trace/1","subject":"server","transport":"stdio"}"#,
        r#"{"from":"client","line":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}}"#,
        r#"{"from":"server","line":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}}"#,
        r#"{"from":"client","line":{"jsonrpc":"2.0","id":2,"method":"tools/list"}}"#,
        r#"{"from":"server","line":{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"say","inputSchema":{"type":"object"}}]}}}"#,
    ];
    fs::write(folder.path().join("r.jsonl"), lines.join("\n") + "\n").expect("a file");
    let replay = [env!("CARGO_BIN_EXE_proof"), "replay", "r.jsonl", "--live", &server.url, "--oauth"];
    let call = ["client", "--revision", "2025-11-25", "call", "say", "--"];
    let ran = Printed::by(&mut proof(folder.path(), &[&call[..], &replay].concat()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let added = files(folder.path());
    assert!(added.contains("it is ") && !added.contains("horse-battery"), "{added}");
}

#[test]
fn a_recording_conceals_what_it_saw_under_a_secret_name() {
    let folder = tempfile::tempdir().expect("a folder");
    // The server repeats every line.
    let mut recorder = proof(folder.path(), &["record", "-o", "r.jsonl", "--", "cat"]);
    let mut child = recorder.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"early","arguments":{"note":"is hunter2hunter2"}}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"login","arguments":{"password":"hunter2hunter2"}}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"late","arguments":{"note":"was hunter2hunter2"}}}"#,
    ] {
        writeln!(stdin, "{line}").expect("it reads");
        // Each line comes back before the next, so that the recording has them in this order.
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
    let recorded = files(folder.path());
    assert!(recorded.contains("is hunter2hunter2") && recorded.contains("\"note\":\"was "), "{recorded}");
    assert!(!recorded.contains("was hunter2hunter2"), "{recorded}");
    assert_eq!(recorded.matches("hunter2hunter2").count(), 2, "before it was known: {recorded}");
}
