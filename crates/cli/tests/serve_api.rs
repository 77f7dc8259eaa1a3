//! `proof serve --openapi`: the examples, in front of an API that a test plays.

#[path = "shared/ran.rs"]
mod ran;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use ran::{PROOF, ends_with, proof};
use serde_json::{Value, json};

fn example(file: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/factory").join(file);
    path.display().to_string()
}

/// An API that answers as `answer` says, to the head and the body of each request.
fn api(answer: impl Fn(&str, &str) -> (u16, Value) + Send + 'static) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let got = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&got);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let request = request(&mut stream);
            let (head, body) = request.split_once("\r\n\r\n").unwrap_or((&request, ""));
            let (status, said) = answer(head, body);
            all.lock().expect("no panic").push(request.clone());
            let said = said.to_string();
            let head = format!(
                "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                said.len()
            );
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(said.as_bytes()));
        }
    });
    (url, got)
}

fn request(stream: &mut TcpStream) -> String {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        match stream.read(&mut piece) {
            Ok(count) if count > 0 => bytes.extend_from_slice(&piece[..count]),
            _ => return text,
        }
    }
}

/// `proof client VERB…` with the server of an example.
fn client(folder: &str, description: &str, url: &str, verb: &[&str]) -> Output {
    let (openapi, config) = (example(&format!("{folder}/{description}")), example(&format!("{folder}/api.yaml")));
    let mut command = Command::new(PROOF);
    command.arg("client").args(verb).args([
        "--inherit-env",
        "all",
        "--",
        PROOF,
        "serve",
        "--stdio",
        "--openapi",
        &openapi,
    ]);
    command.args(["--config", &config, "--base-url", url]);
    for (name, value) in [
        ("TWILIO_ACCOUNT_SID", "AC0123456789"),
        ("TWILIO_AUTH_TOKEN", "auth-token-1"),
        ("SEARCH_CONSOLE_CLIENT_ID", "robot"),
        ("SEARCH_CONSOLE_CLIENT_SECRET", "client-secret-1"),
        ("CLOSEBOT_API_KEY", "closebot-key-1"),
    ] {
        command.env(name, value);
    }
    command.output().expect("the binary runs")
}

#[test]
fn a_form_is_sent_with_basic_and_the_secret_comes_back_nowhere() {
    let (url, got) = api(|head, _| (201, json!({ "sid": "SM1", "status": "queued", "echo": head })));
    let arguments = json!({ "AccountSid": "AC0123456789", "To": "+4915", "Body": "a & b", "MediaUrl": ["https://a.example/1", "https://a.example/2"] });
    let ran = client("twilio", "openapi.json", &url, &["call", "create_message", "--args", &arguments.to_string()]);
    let said = ends_with(0, &ran);
    assert!(said.contains("queued") && said.contains("[credential]"), "{said}");
    assert!(!said.contains("auth-token-1") && !said.contains("QUMwMTIz"), "{said}");
    let request = got.lock().expect("no panic")[0].clone();
    assert!(request.starts_with("POST /2010-04-01/Accounts/AC0123456789/Messages.json HTTP/1.1"), "{request}");
    assert!(request.contains("authorization: Basic QUMwMTIzNDU2Nzg5OmF1dGgtdG9rZW4tMQ=="), "{request}");
    assert!(request.contains("i-twilio-idempotency-token: "), "{request}");
    let body = "To=%2B4915&Body=a%20%26%20b&MediaUrl=https%3A%2F%2Fa.example%2F1&MediaUrl=https%3A%2F%2Fa.example%2F2";
    assert!(request.ends_with(body), "{request}");
}

#[test]
fn a_token_is_fetched_and_a_refusal_is_a_failure_with_advice() {
    let (url, got) = api(|head, _| {
        if head.starts_with("POST /token") {
            return (200, json!({ "access_token": "fetched-token-1", "token_type": "Bearer", "expires_in": 3600 }));
        }
        (429, json!({ "error": { "message": "quota of fetched-token-1 is used up" } }))
    });
    let config = std::fs::read_to_string(example("google-console/api.yaml")).expect("an example");
    let folder = tempfile::tempdir().expect("a folder");
    let config_file = folder.path().join("api.yaml");
    let config = config.replace("    scopes:", &format!("    token_url: {url}/token\n    scopes:"));
    std::fs::write(&config_file, config.replace("limits:", "retries: { attempts: 1 }\nlimits:")).expect("written");
    let mut command = Command::new(PROOF);
    command.args([
        "client",
        "call",
        "sites_list",
        "--inherit-env",
        "all",
        "--",
        PROOF,
        "serve",
        "--stdio",
        "--openapi",
    ]);
    command.arg(example("google-console/openapi.json")).arg("--config").arg(&config_file).args(["--base-url", &url]);
    command.env("SEARCH_CONSOLE_CLIENT_ID", "robot").env("SEARCH_CONSOLE_CLIENT_SECRET", "client-secret-1");
    let said = ends_with(1, &command.output().expect("the binary runs"));
    assert!(said.contains("HTTP 429") && said.contains("quota of [credential] is used up"), "{said}");
    assert!(!said.contains("client-secret-1") && !said.contains("fetched-token-1"), "{said}");
    let lines: Vec<_> =
        got.lock().expect("no panic").iter().map(|one| one.lines().next().unwrap_or_default().to_owned()).collect();
    assert_eq!(lines, ["POST /token HTTP/1.1", "GET /webmasters/v3/sites HTTP/1.1"]);
}

#[test]
fn all_119_operations_are_tools_in_14_groups() {
    let ran = proof(Path::new("."), &["serve", "--check", "--openapi", &example("closebot/openapi.json")]);
    let said = ends_with(1, &ran);
    assert!(said.starts_with("CloseBot (modelled): 119 tools\n"), "{said}");
    assert_eq!(said.lines().filter(|line| line.ends_with(')') && !line.starts_with(' ')).count(), 14, "{said}");
    assert!(said.contains("119 tools cannot be called: it needs credentials for `key`"), "{said}");
    assert!(said.contains("many-tools"), "{said}");
    let (url, got) = api(|_, _| (200, json!({ "items": [{ "id": "b1" }], "next_cursor": "c2" })));
    let arguments = json!({ "filter": { "name": "x" }, "limit": 1 }).to_string();
    let said = ends_with(0, &client("closebot", "openapi.json", &url, &["call", "list_bots", "--args", &arguments]));
    assert!(said.contains("cursor=c2"), "{said}");
    let request = got.lock().expect("no panic")[0].clone();
    assert!(request.starts_with("GET /bots?limit=1&filter%5Bname%5D=x HTTP/1.1"), "{request}");
    assert!(request.contains("x-cb-key: closebot-key-1"), "{request}");
}

#[test]
fn what_cannot_be_served_says_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("api.yaml", "limits: { second: 3 }\n");
    write("slip.yaml", "shape: [{ tools: 'lsit_*', limit: 1 }]\n");
    write("bad.json", "{\"openapi\": ");
    write(
        "pets.json",
        "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"P\",\"version\":\"1\"},\"paths\":{\"/p\":{\"get\":{\"responses\":{}}}}}",
    );
    write(
        "relative.json",
        "{\"openapi\":\"3.1.0\",\"servers\":[{\"url\":\"/v1\"}],\"paths\":{\"/p\":{\"get\":{\"responses\":{}}}}}",
    );
    for (arguments, part) in [
        (&["--openapi", "gone.json"][..], "gone.json cannot be read"),
        (&["--openapi", "bad.json"], "bad.json:1:"),
        (&["--openapi", "api.yaml"], "no OpenAPI description"),
        (&["--openapi", "pets.json"], "--base-url"),
        (&["--openapi", "relative.json"], "--base-url"),
        (&["--openapi", "pets.json", "--config", "api.yaml"], "api.yaml:1:11"),
        (
            &["--openapi", "pets.json", "--base-url", "http://127.0.0.1:1", "--config", "slip.yaml"],
            "shape: `lsit_*` fits no tool",
        ),
        (&["--openapi", "pets.json", "--base-url", "ftp://x"], "neither http nor https"),
        (&["--openapi", "http://127.0.0.1:1/api.json"], "cannot be read"),
        (&["--config", "api.yaml"], "--openapi"),
        (&["--openapi", "pets.json", "--catalog", "standard"], "cannot be used with"),
    ] {
        let all: Vec<_> = ["serve", "--stdio"].iter().chain(arguments).copied().collect();
        let said = ends_with(2, &proof(folder.path(), &all));
        assert!(said.contains(part) && said.contains("try"), "{arguments:?}: {said}");
    }
}

#[test]
fn a_check_ends_with_1_where_nothing_can_be_called() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("slip.yaml", "pagination: [{ tools: pets, off: true }]\n");
    write(
        "pets.json",
        "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"P\",\"version\":\"1\"},\"paths\":{\"/p\":{\"get\":{\"description\":\"Lists pets.<!-- hidden -->\",\"responses\":{}}}}}",
    );
    let check = ["serve", "--check", "--openapi", "pets.json"];
    let base = ["--base-url", "http://127.0.0.1:1"];
    ends_with(0, &proof(folder.path(), &[&check[..], &base].concat()));
    for more in [&[][..], &[&base[..], &["--config", "slip.yaml"]].concat()] {
        let said = ends_with(1, &proof(folder.path(), &[&check[..], more].concat()));
        assert!(said.contains("It cannot be called yet: "), "{said}");
    }
}

/// Where the address of the API leads nowhere that is allowed, every call would be refused: that is a problem, not a success.
#[test]
fn a_check_ends_with_1_where_calls_would_be_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("private.yaml", "network: { private: allow }\n");
    write("named.yaml", "base_url: http://localhost:1/v1\n");
    let check = |server: &str, more: &[&str]| {
        let description = json!({ "openapi": "3.1.0", "servers": [{ "url": server }], "paths": { "/p": { "get": {
            "description": "Lists all the pets of the shop", "responses": {} } } } });
        write("pets.json", &description.to_string());
        proof(folder.path(), &[&["serve", "--check", "--openapi", "pets.json"][..], more].concat())
    };
    for (server, what, remedy) in [
        ("http://127.0.0.1:1/v1", "an address of this machine", "try: --base-url http://127.0.0.1:1/v1, or `network:"),
        ("http://localhost:1", "an address of this machine", "try: --base-url http://localhost:1/, or `network:"),
        ("https://10.1.2.3", "an address of a private network", "try: --base-url https://10.1.2.3/, or `network:"),
        ("http://[::1]:1", "an address of this machine", "try: --base-url http://[::1]:1/, or `network:"),
        (
            "http://169.254.169.254",
            "a link-local or metadata address",
            "try: --base-url http://169.254.169.254/ 0 sugg",
        ),
    ] {
        let said = ends_with(1, &check(server, &[]));
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("1 tool cannot be called: requests to `") && said.contains(what), "{server}: {said}");
        assert!(said.contains(remedy) && !said.contains("would allow it"), "{server}: {said}");
    }
    for (server, more) in [
        ("http://127.0.0.1:1/v1", &["--base-url", "http://127.0.0.1:1/v1"][..]),
        ("http://localhost:1", &["--config", "named.yaml"]),
        ("http://localhost:1", &["--config", "private.yaml"]),
        ("https://1.1.1.1", &[]),
        ("https://api.invalid", &[]),
    ] {
        let said = ends_with(0, &check(server, more));
        assert!(!said.contains("cannot be called"), "{server}: {said}");
    }
}

/// What is too large for the list of tools is there as a whole, for who asks for it.
#[test]
fn the_schema_of_a_large_answer_is_a_resource() {
    let folder = tempfile::tempdir().expect("a folder");
    let many: serde_json::Map<String, Value> =
        (0..300).map(|at| (format!("member_{at}"), json!({ "type": "string" }))).collect();
    let answers = |schema: Value| json!({ "200": { "content": { "application/json": { "schema": schema } } } });
    let description = json!({ "openapi": "3.1.0", "paths": {
        "/large": { "get": { "operationId": "large", "responses": answers(json!({ "$ref": "#/components/schemas/L" })) } },
        "/small": { "get": { "operationId": "small", "responses": answers(json!({ "type": "object" })) } },
        "/list": { "get": { "operationId": "list", "responses": answers(json!({ "type": "array", "items": {} })) } },
        "/none": { "get": { "operationId": "none", "responses": {} } },
    }, "components": { "schemas": { "L": { "type": "object", "required": ["member_7"], "properties": many } } } });
    std::fs::write(folder.path().join("api.json"), description.to_string()).expect("written");
    let client = |verb: &[&str]| {
        let server = ["--", PROOF, "serve", "--stdio", "--openapi", "api.json", "--base-url", "http://127.0.0.1:1"];
        proof(folder.path(), &[&["client"], verb, &server].concat())
    };
    let said = ends_with(0, &client(&["read", "answer-schema://api/large"]));
    assert!(said.contains("member_299") && said.contains("\"required\":[\"member_7\"]"), "{said}");
    for absent in ["small", "list", "none", "other"] {
        let said = client(&["read", &format!("answer-schema://api/{absent}")]);
        assert_ne!(said.status.code(), Some(0), "{absent}");
    }
}

/// Served to a whole check, an API is a clean server.
#[test]
fn a_check_of_a_served_api_is_clean() {
    let (url, _) = api(|_, _| (200, json!({ "items": [], "next_cursor": null })));
    let mut command = Command::new(PROOF);
    command.args([
        "check",
        "--inherit-env",
        "all",
        "--",
        PROOF,
        "serve",
        "--stdio",
        "--openapi",
        &example("closebot/openapi.json"),
    ]);
    command
        .args(["--config", &example("closebot/api.yaml"), "--base-url", &url])
        .env("CLOSEBOT_API_KEY", "closebot-key-1");
    let said = ends_with(0, &command.output().expect("the binary runs"));
    assert!(said.contains("Score 100/100") && said.contains("Passed: no rule is broken"), "{said}");
}

#[test]
fn a_proposal_is_an_overlay_that_serve_takes() {
    let folder = tempfile::tempdir().expect("a folder");
    let description = example("closebot/openapi.json");
    let said =
        ends_with(0, &proof(folder.path(), &["factory", "init", &description, "-o", "few.json", "--most", "12"]));
    assert!(said.starts_with("12 of 119 operations proposed as tools\n"), "{said}");
    let overlay = std::fs::read_to_string(folder.path().join("few.json")).expect("written");
    let overlay: Value = serde_json::from_str(&overlay).expect("JSON");
    assert_eq!(overlay["actions"].as_array().map(Vec::len), Some(13), "{overlay}");

    let serve = ["serve", "--openapi", &description, "--overlay", "few.json", "--check"];
    let said = ends_with(1, &proof(folder.path(), &serve));
    assert!(said.contains(": 12 tools\n"), "{said}");

    let piped = proof(folder.path(), &["factory", "init", &description]);
    let overlay: Value = serde_json::from_slice(&piped.stdout).expect("nothing but the proposal");
    assert_eq!(overlay["overlay"], "1.0.0");
    ends_with(2, &proof(folder.path(), &["factory", "init", "missing.yaml"]));
}
