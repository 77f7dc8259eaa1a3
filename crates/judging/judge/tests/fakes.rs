//! Checks a small legacy server over HTTP that does what the reference server never does: it asks for credentials, ends the
//! stream that GET opens, and answers on a stream that its client has to come back for. So the probes that want such a
//! server are seen to work.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::collections::BTreeMap;
use std::time::Duration;

use judge::check::hints::Hints;
use judge::check::{CallPolicy, Options, RevisionChoice, Selection, TraceSink, Watch, check};
use judge::{Advice, Reproduce};
use net::client::{Address, HttpAddress, Limits};
use net::{Children, new_redactor};
use report::Outcome;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use wire::Revision;
use wire::redact::Secrets;

const TOKEN: &str = "Bearer of-a-token";

/// What the fake does.
#[derive(Clone, Copy, Default)]
struct Habits {
    /// Refuses requests without the token.
    asks: bool,
    /// Says when to come back before it ends a stream.
    says_when: bool,
    /// Closes the stream of a ping's answer before the answer is there. Whether it has that for whoever comes back.
    sends_away: Option<KeepsWord>,
}

type KeepsWord = bool;

/// A request: head and body.
async fn read(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
            if body.len() >= length {
                return Some((head, serde_json::from_str(body).unwrap_or_default()));
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

fn answer(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
}

fn result(asked: &Value) -> String {
    let result = match asked["method"].as_str() {
        _ if asked.get("id").is_none() => return answer("202 Accepted", ""),
        Some("initialize") => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "serverInfo": { "name": "fake", "version": "1" },
        }),
        _ => json!({}),
    };
    answer("200 OK", &json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }).to_string())
}

const BEGIN: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// The stream that ends before the answer, and the one that brings it, or does not. The id of the event is that of the
/// request.
async fn away(socket: &mut TcpStream, asked: &Value) {
    let _ = socket.write_all(format!("{BEGIN}id: ping-{}\nretry: 100\ndata: \n\n", asked["id"]).as_bytes()).await;
}

async fn back(socket: &mut TcpStream, ping: &str, habits: Habits) {
    let id: Value = serde_json::from_str(ping).unwrap();
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": {} });
    let rest = if habits.sends_away == Some(true) { format!("id: 2\ndata: {answer}\n\n") } else { String::new() };
    let _ = socket.write_all(format!("{BEGIN}{rest}").as_bytes()).await;
}

/// A stream that ends soon, and one that takes it up again and goes on for longer than anybody listens.
async fn stream(socket: &mut TcpStream, head: &str, habits: Habits) {
    let (events, rest) = if head.contains("\nlast-event-id: ") {
        let change =
            json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": 1 } });
        (format!("id: 2\ndata: {change}\n\n"), Duration::from_secs(2))
    } else {
        let when = if habits.says_when { "retry: 100\n\n" } else { "" };
        (format!("id: 1\ndata: \n\n{when}"), Duration::from_millis(50))
    };
    let _ = socket.write_all(format!("{BEGIN}{events}").as_bytes()).await;
    tokio::time::sleep(rest).await;
}

async fn serve(mut socket: TcpStream, habits: Habits) {
    while let Some((head, asked)) = read(&mut socket).await {
        let named = head.contains(&format!("authorization: {}", TOKEN.to_ascii_lowercase()));
        let text = if habits.asks && !named {
            answer("401 Unauthorized", "")
        } else if let Some((_, ping)) = head.split_once("\nlast-event-id: ping-") {
            return back(&mut socket, ping.lines().next().unwrap(), habits).await;
        } else if habits.sends_away.is_some() && asked["method"] == "ping" {
            return away(&mut socket, &asked).await;
        } else if head.starts_with("get") {
            return stream(&mut socket, &head, habits).await;
        } else {
            result(&asked)
        };
        if socket.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// What becomes of the rules.
async fn outcomes(habits: Habits, rules: &[&str]) -> BTreeMap<&'static str, Outcome> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap()).parse().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(serve(socket, habits));
        }
    });
    let headers = vec![("Authorization".to_owned(), TOKEN.to_owned())];
    let options = Options {
        targets: vec![Address::Http(HttpAddress { headers, ..HttpAddress::new(url) })],
        target: String::new(),
        reproduce: Reproduce::new(|facts| facts.rule.to_owned()),
        words: Advice::to_string,
        revisions: RevisionChoice::These(vec![Revision::NEWEST_LEGACY]),
        selection: Selection { only: rules.iter().map(|&r| r.to_owned()).collect(), ..Selection::default() },
        calls: CallPolicy::default(),
        hints: Hints::default(),
        intrusive: false,
        jobs: 4,
        seed: 0,
        max_time: None,
        limits: Limits {
            request: Duration::from_millis(if habits.sends_away.is_some() { 500 } else { 8000 }),
            ..Limits::default()
        },
        keep: TraceSink::default(),
        children: Children::new(),
        secrets: Secrets::default(),
        redactor: new_redactor(),
    };
    let checked = check(options, Watch::nobody()).await.unwrap_or_else(|error| panic!("there is no report: {error}"));
    checked.report.results.into_iter().map(|finding| (finding.rule, finding.outcome)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_nobody_for_the_credentials_we_have_is_told_so() {
    let of =
        async |asks| outcomes(Habits { asks, says_when: true, ..Habits::default() }, &["http.authenticated"]).await;
    assert_eq!(of(true).await["http.authenticated"], Outcome::Pass);
    assert_eq!(of(false).await["http.authenticated"], Outcome::Warn);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listening_stream_that_ends_is_taken_up_again() {
    let of =
        async |says_when| outcomes(Habits { says_when, ..Habits::default() }, &["http.retry-before-disconnect"]).await;
    assert_eq!(of(true).await["http.retry-before-disconnect"], Outcome::Pass);
    assert_eq!(of(false).await["http.retry-before-disconnect"], Outcome::Warn);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_whose_stream_the_server_closes_is_come_back_for() {
    const RULES: [&str; 1] = ["http.stream-carries-response"];
    let of = async |keeps_word| outcomes(Habits { sends_away: Some(keeps_word), ..Habits::default() }, &RULES).await;
    assert_eq!(of(true).await[RULES[0]], Outcome::Pass);
    assert_eq!(of(false).await[RULES[0]], Outcome::Warn);
}
