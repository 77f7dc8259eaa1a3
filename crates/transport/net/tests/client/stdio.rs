//! Child processes as servers: handshake, garbage, and every way of ending.

use std::time::{Duration, Instant};

use super::end::{SHORT, SOON, marks, open, open_with, options, shell};
use net::client::Signal;
use net::{Connection, Limits, OpenError, Tap};
use serde_json::{Value, json};
use wire::trace::{Content, Header, Trace};
use wire::{Party, RequestId, Revision, Transport};

/// A server in shell: answers each request with an empty result of the same id.
const ECHO: &str =
    r#"while read -r l; do i=${l##*\"id\":}; i=${i%%,*}; echo "{\"jsonrpc\":\"2.0\",\"id\":$i,\"result\":{}}"; done"#;

fn limits() -> Limits {
    Limits { shutdown: Duration::from_millis(150), request: Duration::from_secs(5), ..Limits::default() }
}

fn exit(trace: &Trace) -> (Option<i32>, Option<i32>) {
    let exits: Vec<_> = trace
        .frames
        .iter()
        .filter_map(|f| match f.content {
            Content::Exit { code, signal } => Some((code, signal)),
            _ => None,
        })
        .collect();
    assert_eq!(exits.len(), 1, "{trace:?}");
    exits[0]
}

fn alive(process: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z"))
}

#[tokio::test]
async fn a_request_is_answered_and_written_down() {
    let (connection, tap) = open(shell(ECHO), &limits()).await;
    connection.send(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#).await.unwrap();
    let answer = connection.response(&RequestId::from(7), SOON).await.unwrap();
    assert_eq!(answer.result(), Some(&json!({})));
    connection.close().await;
    let trace = tap.finish();
    let lines: Vec<_> = trace.frames.iter().filter(|f| matches!(f.content, Content::Line { .. })).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!((lines[0].from, lines[1].from), (Party::Client, Party::Server));
    assert!(lines[0].at <= lines[1].at && lines[1].exchange == 0 && lines[1].connection == 1);
    assert_eq!(marks(&trace), [("stdin-closed", Value::Null), ("survivors", json!(0))]);
    assert_eq!(exit(&trace), (Some(0), None));
}

#[tokio::test]
async fn memory_is_sampled_over_the_whole_group() {
    let script = r#"echo '{"jsonrpc":"2.0","method":"ready"}'; sleep 60 & exec sleep 60"#;
    let (connection, tap) = open(shell(script), &limits()).await;
    // A child that has just been made has a page or two.
    connection.wait_for(|message| message.method() == Some("ready"), SOON).await.expect("it starts");
    connection.child().unwrap().sample_memory();
    connection.kill().await;
    connection.child().unwrap().sample_memory();
    let trace = tap.finish();
    let samples: Vec<u64> =
        marks(&trace).into_iter().filter(|(name, _)| *name == "memory").filter_map(|(_, v)| v.as_u64()).collect();
    assert!(matches!(samples[..], [bytes] if bytes > 4096), "once while it ran, and not after: {samples:?}");
}

#[tokio::test]
async fn a_child_that_ignores_the_end_of_stdin_is_terminated() {
    let (connection, tap) = open(shell("exec sleep 60"), &limits()).await;
    connection.close().await;
    connection.close().await;
    let trace = tap.finish();
    assert_eq!(marks(&trace), [("stdin-closed", Value::Null), ("signal", json!("TERM")), ("survivors", json!(0))]);
    assert_eq!(exit(&trace), (None, Some(15)));
}

#[tokio::test]
async fn a_child_that_ignores_term_is_killed() {
    let (connection, tap) = open(shell("trap '' TERM; while :; do sleep 1; done"), &limits()).await;
    tokio::time::sleep(SHORT).await;
    connection.close().await;
    let trace = tap.finish();
    let expected =
        [("stdin-closed", Value::Null), ("signal", json!("TERM")), ("signal", json!("KILL")), ("survivors", json!(0))];
    assert_eq!(marks(&trace), expected);
    assert_eq!(exit(&trace), (None, Some(9)));
}

#[tokio::test]
async fn a_grandchild_that_survives_is_counted_and_killed() {
    // It holds the pipes open, as wrappers do, and reads nothing.
    let (connection, tap) = open(shell("sleep 61 & echo $! >&2; cat >/dev/null"), &limits()).await;
    tokio::time::sleep(SHORT).await;
    let grandchild: i32 = connection.child().unwrap().stderr_tail().trim().parse().unwrap();
    assert!(alive(grandchild));
    let begun = Instant::now();
    connection.close().await;
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert!(!alive(grandchild));
    let trace = tap.finish();
    assert_eq!(marks(&trace), [("stdin-closed", Value::Null), ("survivors", json!(1)), ("signal", json!("KILL"))]);
    assert_eq!(exit(&trace), (Some(0), None));
}

#[tokio::test]
async fn nothing_outlives_the_connection() {
    let (connection, _tap) = open(shell("sleep 62 & wait"), &limits()).await;
    let leader = connection.child().unwrap().process();
    let group = format!(" {leader} ");
    let members = || {
        std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter(|entry| {
                std::fs::read_to_string(entry.path().join("stat"))
                    .is_ok_and(|s| s.contains(&group) && !s.contains(") Z"))
            })
            .count()
    };
    tokio::time::sleep(SHORT).await;
    assert_eq!(members(), 2);
    drop(connection);
    tokio::time::sleep(SHORT).await;
    assert_eq!(members(), 0);
}

#[tokio::test]
async fn a_flood_of_garbage_is_bounded() {
    let begun = Instant::now();
    let (connection, tap) = open(shell("yes 'this is not a message' | head -c 100000000"), &limits()).await;
    assert!(connection.response(&RequestId::from(1), Duration::from_secs(5)).await.is_none());
    connection.close().await;
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    let trace = tap.finish();
    assert!(marks(&trace).contains(&("limit", json!("garbage"))), "{:?}", marks(&trace));
    assert!(trace.frames.len() < 400_000);
    // We stopped listening: nobody can say that the request was not answered.
    assert!(!marks(&trace).iter().any(|(name, _)| *name == "unanswered"));
}

#[tokio::test]
async fn a_line_without_end_is_bounded() {
    let few = Limits { message_bytes: 1 << 20, ..limits() };
    let (connection, tap) = open(shell("head -c 100000000 /dev/zero; sleep 9"), &few).await;
    assert!(connection.response(&RequestId::from(1), Duration::from_secs(5)).await.is_none());
    connection.close().await;
    let trace = tap.finish();
    assert!(marks(&trace).contains(&("limit", json!("message"))));
    let bytes: usize =
        trace.frames.iter().map(|f| if let Content::Line { bytes, .. } = &f.content { bytes.len() } else { 0 }).sum();
    assert!(bytes <= 1 << 20, "{bytes}");
}

#[tokio::test]
async fn ten_megabytes_are_one_message() {
    let program =
        r#"printf '{"jsonrpc":"2.0","id":1,"result":{"x":"'; head -c 10000000 /dev/zero | tr '\0' x; echo '"}}'"#;
    let (connection, _tap) = open(shell(program), &limits()).await;
    let answer = connection.response(&RequestId::from(1), Duration::from_secs(8)).await.unwrap();
    assert!(answer.text().len() > 10_000_000);
    connection.kill().await;
}

#[tokio::test]
async fn half_a_line_at_the_end_is_no_message() {
    let (connection, tap) = open(shell(r#"printf '{"jsonrpc":"2.0","method":"a"}\n{"jsonrpc"'"#), &limits()).await;
    connection.exited(SOON).await.unwrap();
    assert_eq!(connection.received().len(), 1);
    connection.close().await;
    let trace = tap.finish();
    let half = trace.frames.iter().find(|f| matches!(&f.content, Content::Line { terminated: false, .. })).unwrap();
    assert_eq!(half.content, Content::Line { bytes: br#"{"jsonrpc""#.to_vec(), terminated: false });
    // It ended by itself: we neither closed its stdin nor signalled it.
    assert_eq!(marks(&trace), [("survivors", json!(0))]);
}

#[tokio::test]
async fn raw_bytes_and_stderr_cross_as_they_are() {
    let (connection, tap) = open(shell("head -c 8 >&2; echo >&2; echo two >&2"), &limits()).await;
    connection.child().unwrap().write_raw(&[b"{\"ha", b"lf\n", b"x"], Duration::from_millis(5)).await.unwrap();
    connection.exited(SOON).await.unwrap();
    connection.close().await;
    let trace = tap.finish();
    let stderr = trace.frames.iter().filter(|f| matches!(f.content, Content::Stderr(_)));
    let stderr: Vec<_> = stderr.map(|f| f.content.clone()).collect();
    assert_eq!(stderr, ["{\"half", "x", "two"].map(|line| Content::Stderr(line.as_bytes().to_vec())));
    // A line is one frame however it was cut, and what never ended is one too.
    let ours = trace.frames.iter().filter(|f| f.from == Party::Client && matches!(f.content, Content::Line { .. }));
    let line = |text: &str, terminated| Content::Line { bytes: text.as_bytes().to_vec(), terminated };
    assert_eq!(ours.map(|f| f.content.clone()).collect::<Vec<_>>(), [line("{\"half", true), line("x", false)]);
}

#[tokio::test]
async fn a_line_in_pieces_is_written_at_a_stretch_and_down_before_its_answer() {
    // Answers before the line ends, as readers do that look for the end of the JSON.
    let answer = r#"head -c 4 >/dev/null; echo '{"jsonrpc":"2.0","method":"early"}'; head -n 2 >&2"#;
    let (connection, tap) = open(shell(answer), &limits()).await;
    let answering = {
        let connection = connection.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            connection.send("{}").await
        }
    };
    let writing = connection.child().unwrap().write_raw(&[b"{\"be", b"gun\n"], Duration::from_millis(200));
    let (wrote, answered) = tokio::join!(writing, answering);
    wrote.unwrap();
    answered.unwrap();
    connection.exited(SOON).await.unwrap();
    connection.close().await;
    let frames = tap.finish().frames;
    let lines = frames.iter().filter_map(|f| match &f.content {
        Content::Line { bytes, .. } => Some((f.from, String::from_utf8_lossy(bytes).into_owned())),
        _ => None,
    });
    let own = |text: &str| (Party::Client, text.to_owned());
    let early = (Party::Server, r#"{"jsonrpc":"2.0","method":"early"}"#.to_owned());
    assert_eq!(lines.collect::<Vec<_>>(), [own("{\"begun"), early, own("{}")]);
}

#[tokio::test]
async fn silence_is_unanswered_and_an_end_is_told_at_once() {
    let (connection, tap) = open(shell("cat >/dev/null"), &limits()).await;
    assert!(connection.response(&RequestId::from("x"), SHORT).await.is_none());
    connection.quiet("nothing", Duration::from_millis(5)).await;
    connection.child().unwrap().signal(Signal::Kill);
    assert!(connection.response(&RequestId::from(2), Duration::from_mins(1)).await.is_none());
    connection.exited(SOON).await.unwrap();
    let trace = tap.snapshot();
    let found = marks(&trace);
    assert_eq!(found[0].1["id"], json!("x"));
    assert_eq!(
        found.iter().map(|m| m.0).collect::<Vec<_>>(),
        ["unanswered", "window-opened", "window-closed", "signal", "unanswered"]
    );
    assert!(connection.send("{}").await.is_err());
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let tap = Tap::new(Header::server(Transport::Stdio, Revision::NEWEST, "test"));
    let missing = net::Address::Stdio(net::client::Command::new("proofhouse-no-such-program", ["--x"]));
    let error = Connection::open(&missing, Revision::NEWEST, &tap, &options(&limits())).await.err().unwrap();
    assert!(matches!(error, OpenError::NotStarted { .. }));
    let text = error.to_string();
    assert!(text.contains("was not found") && text.lines().count() == 3, "{text}");
}

#[tokio::test]
async fn a_child_that_does_not_read_cannot_hold_us() {
    let short = Limits { request: SHORT, ..limits() };
    let (connection, _tap) = open_with(shell("sleep 9"), Revision::NEWEST, &short).await;
    let big = format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, "x".repeat(1 << 20));
    assert!(matches!(connection.send(&big).await, Err(net::SendError::Timeout { .. })));
    connection.close().await;
}
