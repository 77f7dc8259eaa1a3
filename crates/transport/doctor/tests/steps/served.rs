//! Servers that say what a test wants, and a walk to them.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use doctor::{Options, Report, Words, examine};
use net::client::{Address, Command, HttpAddress};
use url::Url;
use wire::redact::Secrets;

/// A request: its first line, its headers in lower case, its body.
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Asked {
    /// Whether it is a GET of this path.
    pub(crate) fn gets(&self, path: &str) -> bool {
        self.line == format!("GET {path} HTTP/1.1")
    }

    /// The answer to it in JSON-RPC: `{id}` stands for its id.
    pub(crate) fn answer(&self, result: &str) -> String {
        let id = self.body.split("\"id\":").nth(1).and_then(|rest| rest.split([',', '}']).next()).unwrap_or("null");
        json(200, &format!(r#"{{"jsonrpc":"2.0","id":{id},{result}}}"#))
    }
}

/// A response of JSON.
pub(crate) fn json(status: u16, body: &str) -> String {
    response(status, "Content-Type: application/json\r\n", body)
}

/// A response with these headers.
pub(crate) fn response(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

/// A server; where it is, without a path.
pub(crate) fn served(answer: impl Fn(&Asked, &str) -> String + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = format!("http://{}", listener.local_addr().expect("bound"));
    let (answer, origin) = (Arc::new(answer), at.clone());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (answer, origin) = (answer.clone(), origin.clone());
            std::thread::spawn(move || one(stream, answer.as_ref(), &origin));
        }
    });
    at
}

fn one(mut stream: TcpStream, answer: &dyn Fn(&Asked, &str) -> String, origin: &str) {
    let mut bytes = Vec::new();
    let asked = loop {
        let mut piece = [0; 4096];
        let Ok(count) = stream.read(&mut piece) else { return };
        bytes.extend_from_slice(&piece[..count]);
        // A TLS record: as servers of plain HTTP do, it answers without waiting for more.
        if bytes.first() == Some(&0x16) {
            let _ = stream.write_all(response(400, "", "").as_bytes());
            return;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            if count == 0 {
                return;
            }
            continue;
        };
        let lower = head.to_ascii_lowercase();
        let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            let line = head.lines().next().unwrap_or_default().to_owned();
            break Asked { line, head: lower, body: body.to_owned() };
        }
    };
    let _ = stream.write_all(answer(&asked, origin).as_bytes());
}

/// A server of the legacy era in order, asked for at `/mcp`.
pub(crate) fn healthy(asked: &Asked) -> String {
    const GREETING: &str = r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"well","version":"1.2"}}"#;
    const TOOLS: &str = r#""result":{"tools":[{"name":"look","inputSchema":{"type":"object"}}]}"#;
    if !asked.line.starts_with("POST /mcp ") {
        return response(404, "", "");
    }
    if asked.body.contains("\"initialize\"") {
        asked.answer(GREETING)
    } else if asked.body.contains("tools/list") {
        asked.answer(TOOLS)
    } else if asked.body.contains("\"id\"") {
        asked.answer(r#""error":{"code":-32601,"message":"unknown method"}"#)
    } else {
        response(202, "", "")
    }
}

/// Walks to a URL, with a second for each step.
pub(crate) async fn to_url(url: &str) -> Report {
    to(Address::Http(HttpAddress::new(Url::parse(url).expect("a URL")))).await
}

/// Walks to a shell script.
pub(crate) async fn to_script(script: &str) -> Report {
    to_command("sh", &["-c", script]).await
}

pub(crate) async fn to_command(program: &str, args: &[&str]) -> Report {
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    to(Address::Stdio(Command { program: program.to_owned(), args, env: Vec::new(), cwd: None })).await
}

pub(crate) async fn to(address: Address) -> Report {
    to_with(address, &Secrets::default()).await
}

pub(crate) async fn to_with(address: Address, secrets: &Secrets) -> Report {
    let words = Words {
        connecting: net::client::Advice::to_string,
        asking: client::Advice::to_string,
        authorizing: |advice| advice.to_string(),
        sign_in: "sign in",
    };
    let children = net::Children::new();
    let options = Options {
        address,
        children: children.clone(),
        step: Duration::from_secs(3),
        authorizer: None,
        redactor: net::new_redactor().knowing(secrets),
        words,
        observer: Arc::new(|_| ()),
    };
    let report = examine(options).await;
    children.kill_all();
    report
}

/// The steps as `name outcome`, one for each.
pub(crate) fn outcomes(report: &Report) -> Vec<String> {
    report.steps.iter().map(|step| format!("{} {}", step.name.as_str(), step.outcome.as_str())).collect()
}

/// The only step that failed, with all that was seen and the fix.
#[track_caller]
pub(crate) fn only_failure(report: &Report) -> (&'static str, String, String) {
    let failed: Vec<_> = report.steps.iter().filter(|step| step.fix.is_some()).collect();
    assert_eq!(failed.len(), 1, "{report:#?}");
    assert!(!report.works(), "{report:#?}");
    (failed[0].name.as_str(), failed[0].seen.join("\n"), failed[0].fix.clone().unwrap_or_default())
}

/// Checks the only step that failed: its name, and a text in what was seen and in the fix.
#[track_caller]
pub(crate) fn fails_at(report: &Report, step: &str, seen: &str, fix: &str) {
    let (name, all, remedy) = only_failure(report);
    assert_eq!(name, step, "{report:#?}");
    assert!(all.contains(seen), "no `{seen}` in {report:#?}");
    assert!(remedy.contains(fix), "no `{fix}` in {report:#?}");
}
