//! `--fault`: what the client does wrong then, seen from its server's side.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::faults::client::{self as faults, Fault};
use wire::{Revision, Transport};

use crate::harness::{Serving, client, legacy, on, script};

#[test]
fn every_fault_names_a_client_rule_that_applies() {
    let all: Vec<&Fault> = faults::all().collect();
    assert!(all.len() >= 60, "{}", all.len());
    for fault in all {
        let rule = rules::find(fault.rule).unwrap_or_else(|| panic!("{}: no rule {}", fault.name, fault.rule));
        assert_ne!(rule.role, rules::Role::Server, "{}: {} binds servers", fault.name, fault.rule);
        let shows = |transport| Revision::ALL.into_iter().any(|revision| fault.applies.covers(revision, transport));
        assert!(Transport::ALL.into_iter().any(shows), "{} shows nowhere", fault.name);
    }
}

#[test]
fn faults_are_listed_and_their_names_known() {
    let ran = client(&["--list-faults"]).ends_with(0);
    for fault in faults::all() {
        assert!(ran.stdout.contains(&format!("{}  {}\n", fault.name, fault.rule)), "{}", fault.name);
    }
    client(&["tools", "--fault", "bathes", "--url", "http://127.0.0.1:1"]).ends_with(2).says(&["`batches`"]);
}

/// What everybody is asked for here, so that nearly every fault has its chance.
const TOUR: [&[&str]; 5] = [
    &["call", "ask_in_turn", "--progress"],
    &["call", "list_roots"],
    &["resources"],
    &["call", "sample"],
    &["call", "route", "region=eu"],
];
const ANSWERS: [&str; 8] =
    ["--answer", "name=Ada", "--answer", "colour=red", "--say", "hello", "--root", env!("CARGO_MANIFEST_DIR")];

/// Faults that show only to servers that do what the reference server does not; they have tests of their own below.
const ELSEWHERE: [&str; 15] = [
    "ping-unanswered",
    "ping-refused",
    "ping-result-not-empty",
    "unknown-method-served",
    "error-code-text",
    "result-type-ignored",
    "result-type-required",
    "empty-cursor-ends",
    "short-page-ends",
    "keeps-nothing",
    "timeouts-not-cancelled",
    "state-invented",
    "retry-time-ignored",
    "never-resumes",
    "resumes-without-event-id",
];

/// Faults of what the client is only asked for, or only does, in scenarios: `client_faults` plays them there.
const IN_SCENARIOS: [&str; 36] = [
    "completes-every-keystroke",
    "progress-stands-still",
    "progress-token-unknown",
    "roots-change-untold",
    "roots-refusal-code",
    "mode-refusal-code",
    "rejection-code",
    "unbalanced-accepted",
    "tasks-undeclared",
    "task-ids-counted",
    "tasks-begin-as-over",
    "task-times-missing",
    "task-request-ignored",
    "task-result-nameless",
    "task-list-empty",
    "task-cancelled-late",
    "task-unknown-odd",
    "task-answers-nameless",
    "task-named-twice",
    "task-cursor-altered",
    "tasks-polled-without-pause",
    "answers-cancelled-request",
    "fails-on-late-response",
    "cursor-kept",
    "cursor-trimmed",
    "state-trimmed",
    "id-zero-ignored",
    "id-as-text",
    "listening-unanswered",
    "undeclared-tools-served",
    "resumes-after-first-event",
    "names-percent-encoded",
    "arguments-percent-encoded",
    "defaults-ignored",
    "lookalikes-sent-plain",
    "names-lowered",
];

fn here(transport: Transport) -> impl Iterator<Item = (&'static Fault, Revision)> {
    let revision = move |fault: &Fault| {
        [Revision::R2025_11_25, Revision::R2026_07_28].into_iter().find(|r| fault.applies.covers(*r, transport))
    };
    // Nobody demands a token here: those on the way to one are played by `client_faults`.
    let on_the_way = |fault: &&Fault| fault.rule.starts_with("oauth.");
    faults::all()
        .filter(move |fault| !on_the_way(fault) && !ELSEWHERE.contains(&fault.name))
        .filter(|fault| !IN_SCENARIOS.contains(&fault.name))
        .filter_map(move |fault| Some((fault, revision(fault)?)))
}

#[test]
fn over_stdio_every_fault_changes_what_the_server_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let said = |revision: Revision, more: &[&str]| said_over_stdio(&log, revision, more);
    let clean = [Revision::R2025_11_25, Revision::R2026_07_28].map(|revision| (revision, said(revision, &[])));
    assert!(clean.iter().all(|(_, text)| text.contains("ended")));
    assert_eq!(unseen(Transport::Stdio, &clean, said), [""; 0]);
}

/// The faults with which all that is said is as it is without any.
fn unseen(
    transport: Transport,
    clean: &[(Revision, String)],
    said: impl Fn(Revision, &[&str]) -> String,
) -> Vec<&'static str> {
    for (revision, text) in clean {
        assert!(said(*revision, &[]) == *text, "two runs are not alike: nothing could be told from a difference");
    }
    let as_ever = |(fault, revision): &(&Fault, Revision)| {
        let faulty = said(*revision, &["--fault", fault.name]);
        clean.iter().any(|(other, text)| other == revision && *text == faulty)
    };
    here(transport).filter(as_ever).map(|(fault, _)| fault.name).collect()
}

fn said_over_stdio(log: &Path, revision: Revision, more: &[&str]) -> String {
    let _ = std::fs::remove_file(log);
    let (log_name, proof) = (log.display(), env!("CARGO_BIN_EXE_proof"));
    let server = format!("tee -a {log_name} | {proof} serve --stdio; echo ended >> {log_name}");
    for words in TOUR {
        let revision = ["--revision", revision.as_str(), "--timeout", "2"];
        // Whatever comes of it: a server may well refuse what is wrong.
        client(&[words, &ANSWERS, &revision, more, &["--", "sh", "-c", &server]].concat());
    }
    // Who is killed cannot say that it ended; nobody writes any more after this.
    std::thread::sleep(Duration::from_millis(20));
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines().map(unsealed).collect::<Vec<_>>().join("\n")
}

#[test]
fn over_http_every_fault_changes_what_the_server_reads() {
    let serving = Serving::start();
    let proxy = Proxy::before(&serving.host);
    let said = |revision: Revision, more: &[&str]| {
        for words in TOUR {
            let way = ["--revision", revision.as_str(), "--timeout", "2", "--url", &proxy.url];
            client(&[words, &ANSWERS, more, &way].concat());
        }
        proxy.said()
    };
    let clean = [Revision::R2025_11_25, Revision::R2026_07_28].map(|revision| (revision, said(revision, &[])));
    assert_eq!(unseen(Transport::StreamableHttp, &clean, said), [""; 0]);
}

/// Passes everything on and keeps what clients say: every line, sorted, but for those that are never alike.
struct Proxy {
    url: String,
    said: Arc<Mutex<Vec<u8>>>,
}

impl Proxy {
    fn before(host: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let said: Arc<Mutex<Vec<u8>>> = Arc::default();
        let (kept, host) = (said.clone(), host.to_owned());
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(&host)) else { return };
                let (kept, back) = (kept.clone(), (server.try_clone(), client.try_clone()));
                std::thread::spawn(move || {
                    pass(client, server, |bytes| {
                        kept.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
                    });
                });
                if let (Ok(server), Ok(client)) = back {
                    std::thread::spawn(move || pass(server, client, |_| ()));
                }
            }
        });
        Self { url, said }
    }

    fn said(&self) -> String {
        std::thread::sleep(Duration::from_millis(20));
        let bytes = std::mem::take(&mut *self.said.lock().unwrap_or_else(PoisonError::into_inner));
        let text = String::from_utf8_lossy(&bytes)
            .replace("}POST", "}\nPOST")
            .replace("}GET", "}\nGET")
            .replace("}DELETE", "}\nDELETE");
        let secret = |line: &&str| line.to_ascii_lowercase().starts_with("mcp-session-id");
        // Which session it is differs; whether there is one does not. A sealed state is never the same.
        let plain = |line: &str| match line {
            line if secret(&line) => "mcp-session-id: …".to_owned(),
            line if line.starts_with("content-length") => String::new(),
            line => unsealed(line),
        };
        let mut lines: Vec<String> = text.lines().map(plain).collect();
        lines.sort();
        lines.join("\n")
    }
}

/// A line without what the server sealed: its length tells enough.
fn unsealed(line: &str) -> String {
    let Some((before, rest)) = line.split_once("\"requestState\":\"") else { return line.to_owned() };
    let Some((state, after)) = rest.split_once('"') else { return line.to_owned() };
    format!(
        "{before}\"requestState\":({} bytes{}){after}",
        state.len(),
        if state.ends_with('~') { ", altered" } else { "" }
    )
}

fn pass(mut from: TcpStream, mut to: TcpStream, seen: impl Fn(&[u8])) {
    let mut chunk = [0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        seen(&chunk[..count]);
        if to.write_all(&chunk[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}

/// What a server of shell sees of the answer to its question with id 77.
fn answered(question: &str, fault: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let name = log.display();
    let cases = format!(
        r#"*tools/list*) answer '{{"tools":[{{"name":"t","inputSchema":{{"type":"object"}}}}]}}' ;;
        *tools/call*) call=$id; echo '{question}'; sleep 0.3; id=$call; answer '{{"content":[]}}' ;;
        *'"id":77'*) printf '%s\n' "$line" >> {name} ;;"#
    );
    let arguments: &[&str] = if fault.is_empty() { &["call", "t"] } else { &["call", "t", "--fault", fault] };
    on(arguments, &legacy(&cases));
    std::fs::read_to_string(log).unwrap_or_default()
}

#[test]
fn faults_alter_answers_to_the_server() {
    let ping = r#"{"jsonrpc":"2.0","id":77,"method":"ping"}"#;
    let asked = r#"{"jsonrpc":"2.0","id":77,"method":"elicitation/create","params":{}}"#;
    assert_eq!(answered(ping, ""), "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n");
    assert_eq!(answered(ping, "ping-unanswered"), "");
    assert!(answered(ping, "ping-refused").contains("\"error\""));
    assert!(answered(ping, "ping-result-not-empty").contains("\"pong\""));
    assert_eq!(answered(ping, "never-answers"), "");
    assert_eq!(answered(ping, "answers-twice").lines().count(), 2);
    assert!(answered(asked, "").contains("-32601"));
    assert!(answered(asked, "unknown-method-served").contains("-31999"));
    assert!(answered(asked, "error-code-text").contains("\"-32601\""));
}

#[test]
fn faults_accept_wrong_results() {
    let greeting = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#;
    let modern = |cases: &str| script(&format!("*server/discover*) answer '{greeting}' ;;\n{cases}"));
    let list =
        r#"*tools/list*) answer '{"resultType":"complete","tools":[{"name":"t","inputSchema":{"type":"object"}}]}' ;;"#;
    let text = r#""content":[{"type":"text","text":"x"}]"#;
    let odd = modern(&format!("{list}\n*tools/call*) answer '{{\"resultType\":\"odd\",{text}}}' ;;"));
    on(&["call", "t"], &odd).ends_with(3);
    on(&["call", "t", "--fault", "result-type-ignored"], &odd).prints("x\n");
    let bare = modern(&format!("{list}\n*tools/call*) answer '{{{text}}}' ;;"));
    on(&["call", "t"], &bare).prints("x\n");
    on(&["call", "t", "--fault", "result-type-required"], &bare).ends_with(3);
    let pages = modern(
        r#"*'"cursor"'*) answer '{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}' ;;
        *tools/list*) answer '{"tools":[],"nextCursor":""}' ;;"#,
    );
    on(&["tools"], &pages).prints("t\n\n1 tool\n");
    for fault in ["empty-cursor-ends", "short-page-ends", "reads-one-page"] {
        on(&["tools", "--fault", fault], &pages).prints("0 tools\n");
    }
    let stateless = modern(&format!(
        r#"{list}
        *inputResponses*requestState*) answer '{{"content":[{{"type":"text","text":"invented"}}]}}' ;;
        *inputResponses*) answer '{{{text}}}' ;;
        *tools/call*) answer '{{"resultType":"input_required","inputRequests":{{"r":{{"method":"roots/list"}}}}}}' ;;"#
    ));
    on(&["call", "t", "--root", "/"], &stateless).prints("x\n");
    on(&["call", "t", "--root", "/", "--fault", "state-invented"], &stateless).prints("invented\n");
}

#[test]
fn a_fault_times_out_without_a_cancellation() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let greeting = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#;
    let server = script(&format!(
        "*server/discover*) answer '{greeting}' ;;\n*notifications/cancelled*) echo told >> {} ;;\n*tools/list*) ;;",
        log.display()
    ));
    on(&["tools", "--timeout", "1.5", "--fault", "timeouts-not-cancelled"], &server).ends_with(3);
    assert!(!log.exists());
    on(&["tools", "--timeout", "1.5"], &server).ends_with(3);
    assert!(log.exists());
}

#[test]
fn a_fault_does_not_resume_streams() {
    let serving = Serving::with(&["--catalog", "official"]);
    let proxy = Proxy::before(&serving.host);
    let call = |more: &[&str]| {
        let words = ["call", "test_reconnection", "--revision", "2025-11-25", "--timeout", "1.5", "--url", &proxy.url];
        let ran = client(&[&words, more].concat());
        (ran, proxy.said())
    };
    let (ran, said) = call(&[]);
    let usual = ran.ends_with(0).took;
    assert!(said.contains("last-event-id"), "{said}");
    let (_, said) = call(&["--fault", "resumes-without-event-id"]);
    assert!(said.contains("GET ") && !said.contains("last-event-id"), "{said}");
    let (ran, said) = call(&["--fault", "never-resumes"]);
    assert!(!said.contains("GET ") && ran.code == Some(3), "{ran:?} {said}");
    let (ran, _) = call(&["--fault", "retry-time-ignored"]);
    assert!(ran.ends_with(0).took + Duration::from_millis(50) < usual, "it waits all the same");
}
