//! `proof serve --openapi` and its callers: what is kept for one, what becomes a task, and who must consent first.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

const PROOF: &str = env!("CARGO_BIN_EXE_proof");

/// An API: `/large` has a long answer, `/slow` none before its connection is closed, which it reports.
fn api() -> (String, mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let (closed, reports) = mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let closed = closed.clone();
            std::thread::spawn(move || {
                let mut piece = [0; 4096];
                let count = stream.read(&mut piece).unwrap_or(0);
                if String::from_utf8_lossy(&piece[..count]).starts_with("GET /slow") {
                    while stream.read(&mut piece).is_ok_and(|count| count > 0) {}
                    let _ = closed.send(());
                    return;
                }
                let body = json!({ "text": "x".repeat(2000) }).to_string();
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.pets+json\r\nConnection: close\r\n";
                let _ = stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
            });
        }
    });
    (url, reports)
}

fn write(folder: &Path, settings: &str) {
    let answer = json!({ "200": { "description": "It" } });
    let get = |id: &str, security: Value| {
        json!({ "get": {
        "operationId": id, "description": "Get what is there", "responses": answer, "security": security,
    } })
    };
    let description = json!({
        "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" },
        "components": { "securitySchemes": { "user": { "type": "oauth2", "flows": {} } } },
        "paths": {
            "/large": get("large", json!([])), "/slow": get("slow", json!([])), "/mine": get("mine", json!([{ "user": [] }])),
        },
    });
    std::fs::write(folder.join("pets.json"), description.to_string()).expect("written");
    std::fs::write(folder.join("client"), "robot\n").expect("written");
    std::fs::write(folder.join("api.yaml"), settings).expect("written");
}

/// `proof serve --openapi pets.json --config api.yaml`.
fn serve(folder: &Path, url: &str, transport: &[&str]) -> Command {
    let mut command = Command::new(PROOF);
    command.current_dir(folder).arg("serve").args(transport);
    command.args(["--openapi", "pets.json", "--config", "api.yaml", "--base-url", url]);
    command
}

/// A server that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A client over stdio that has shaken hands at 2025-11-25.
struct Stdio11 {
    _server: Server,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    next: u64,
}

impl Stdio11 {
    fn start(folder: &Path, url: &str, capabilities: &Value) -> Self {
        let mut command = serve(folder, url, &["--stdio"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().expect("the binary runs");
        let (to, from) = (server.stdin.take().expect("piped"), server.stdout.take().expect("piped"));
        let mut client = Self { _server: Server(server), to, from: BufReader::new(from), next: 0 };
        let about = json!({ "name": "test", "version": "1" });
        let opening = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": about });
        client.request("initialize", &opening);
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to, "{message}").expect("it reads");
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).expect("it answers") > 0, "the server ended");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == id {
                return message;
            }
        }
    }

    fn call(&mut self, tool: &str) -> Value {
        self.request("tools/call", &json!({ "name": tool, "arguments": {} }))
    }
}

/// A request over HTTP; the session of the answer, and its message.
fn post(address: &str, session: Option<&str>, message: &Value) -> (Option<String>, Value) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let (body, session) = (message.to_string(), session.map(|id| format!("Mcp-Session-Id: {id}\r\n")));
    let session = session.unwrap_or_default();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: \
         application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n{session}Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).expect("it reads");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("it answers");
    let id = said
        .lines()
        .find_map(|line| line.to_lowercase().starts_with("mcp-session-id: ").then(|| line[16..].to_owned()));
    let json = said.find("{\"").and_then(|at| serde_json::Deserializer::from_str(&said[at..]).into_iter().next()?.ok());
    (id, json.unwrap_or_default())
}

fn session(address: &str) -> String {
    let about = json!({ "name": "test", "version": "1" });
    let opening = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about });
    let (id, _) = post(address, None, &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening }));
    let id = id.expect("a session");
    post(address, Some(&id), &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    id
}

#[test]
fn what_is_kept_for_one_session_is_not_there_for_another() {
    let (folder, (url, _)) = (tempfile::tempdir().expect("a folder"), api());
    write(folder.path(), "limits: { inline_bytes: 256 }\n");
    let mut command = serve(folder.path(), &url, &["--http", "127.0.0.1:0"]);
    let mut server = Server(command.stderr(Stdio::piped()).spawn().expect("the binary runs"));
    let mut said = BufReader::new(server.0.stderr.take().expect("piped"));
    let address = loop {
        let mut line = String::new();
        assert!(said.read_line(&mut line).expect("it says where it listens") > 0);
        if let Some(at) = line.split_whitespace().find_map(|word| word.strip_prefix("http://")?.strip_suffix("/mcp")) {
            break at.to_owned();
        }
    };
    let [ann, bob] = [(); 2].map(|()| session(&address));
    let call =
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "large", "arguments": {} } });
    let (_, answer) = post(&address, Some(&ann), &call);
    let content = answer["result"]["content"].as_array().expect("blocks").clone();
    let link = content.iter().find(|block| block["type"] == "resource_link").expect("a link");
    let read = json!({ "jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": { "uri": link["uri"] } });
    let own = post(&address, Some(&ann), &read).1;
    let found = &own["result"]["contents"][0];
    assert_eq!((found["text"].as_str().map(str::len), &found["mimeType"]), (Some(2011), &link["mimeType"]), "{own}");
    assert_eq!(found["mimeType"], "application/vnd.pets+json");
    let other = post(&address, Some(&bob), &read).1;
    assert_eq!((&other["error"]["code"], other.get("result")), (&json!(-32002), None), "{other}");
}

#[test]
fn slow_calls_are_tasks_and_a_cancelled_one_ends_its_request() {
    let (folder, (url, closed)) = (tempfile::tempdir().expect("a folder"), api());
    write(folder.path(), "slow: [{ tools: slow, seconds: 60 }]\n");
    let mut client = Stdio11::start(folder.path(), &url, &json!({}));
    let tools = client.request("tools/list", &json!({}))["result"]["tools"].clone();
    let support = |name: &str| {
        let tool = tools.as_array().into_iter().flatten().find(|tool| tool["name"] == name);
        tool.expect("the tool").pointer("/execution/taskSupport").cloned()
    };
    assert_eq!((support("slow"), support("large")), (Some(json!("optional")), None));
    let begun = client.request("tools/call", &json!({ "name": "slow", "arguments": {}, "task": {} }));
    let task = &begun["result"]["task"];
    assert_eq!(task["status"], "working", "{begun}");
    assert!(task["ttl"].as_u64().is_some_and(|ttl| ttl >= 360_000), "it outlives the call: {task}");
    let named = json!({ "taskId": task["taskId"] });
    assert_eq!(client.request("tasks/get", &named)["result"]["status"], "working");
    assert!(closed.recv_timeout(Duration::from_millis(200)).is_err(), "the request is under way");
    assert_eq!(client.request("tasks/cancel", &named)["result"]["status"], "cancelled");
    closed.recv_timeout(Duration::from_secs(20)).expect("the request ends with its task");
    let refused = client.request("tools/call", &json!({ "name": "large", "arguments": {}, "task": {} }));
    assert_eq!(refused["error"]["code"], -32601, "{refused}");

    // At 2026-07-28 the server decides, where the client knows tasks.
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } },
    });
    let mut command = serve(folder.path(), &url, &["--stdio"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Server(command.spawn().expect("the binary runs"));
    let call = json!({ "_meta": meta, "name": "slow", "arguments": {} });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
    let mut to = server.0.stdin.take().expect("piped");
    writeln!(to, "{call}").expect("it reads");
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().expect("piped")).read_line(&mut line).expect("it answers");
    let begun: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(
        (&begun["result"]["resultType"], &begun["result"]["status"]),
        (&json!("task"), &json!("working")),
        "{begun}"
    );
}

const CONSENT: &str = "auth: { user: { grant: authorization_code, client_id: { file: client }, authorize_url: \
                       'https://as.example/a', token_url: 'https://as.example/t' } }\n";

#[test]
fn a_user_who_must_consent_is_sent_to_the_authorization_server() {
    let (folder, (url, _)) = (tempfile::tempdir().expect("a folder"), api());
    write(folder.path(), CONSENT);
    let mut plain = Stdio11::start(folder.path(), &url, &json!({}));
    let answer = plain.call("mine");
    let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
    assert!(answer["result"]["isError"] == true && text.contains("open https://as.example/a?"), "{answer}");
    assert_ne!(plain.call("large")["result"]["isError"], true);

    let mut asked = Stdio11::start(folder.path(), &url, &json!({ "elicitation": { "url": {} } }));
    let answer = asked.call("mine");
    assert_eq!(answer["error"]["code"], -32042, "{answer}");
    let elicitation = &answer["error"]["data"]["elicitations"][0];
    assert!(elicitation["url"].as_str().is_some_and(|url| url.starts_with("https://as.example/a?")), "{answer}");
    assert!(elicitation["elicitationId"].is_string() && elicitation["mode"] == "url", "{answer}");
}

#[test]
fn consents_need_users_on_this_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), CONSENT);
    let ran = serve(folder.path(), "http://127.0.0.1:1", &["--http", "0.0.0.0:0"]).output().expect("the binary runs");
    let said = String::from_utf8_lossy(&ran.stderr).replace("\n       ", " ");
    assert!(ran.status.code() == Some(2) && said.contains("consents come back to this machine"), "{said}");
}

#[test]
fn a_check_counts_tools_of_several_calls() {
    let folder = tempfile::tempdir().expect("a folder");
    let rule = "compose: [{ tool: both, description: Get both of them, steps: [{ call: large, capture: { a: $.text } }], \
                result: { a: '{{ vars.a }}' } }]\nslow: [{ tools: both }]\n";
    write(folder.path(), rule);
    let ran = serve(folder.path(), "http://127.0.0.1:1", &["--check"]).output().expect("the binary runs");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(said.starts_with("Pets: 4 tools, 1 of them of several calls\n"), "{said}");
    write(folder.path(), "slow: [{ tools: gone }]\n");
    let ran = serve(folder.path(), "http://127.0.0.1:1", &["--check"]).output().expect("the binary runs");
    assert!(String::from_utf8_lossy(&ran.stdout).contains("slow: `gone` fits no tool"));
}
