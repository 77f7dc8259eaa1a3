//! Results that need no edit pass as they come: large ones in bounded memory, the first event at once. Tests of memory share
//! this process: they run one after the other, in one test.

mod raw;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::timeout;

use self::raw::{Respond, Scene, read_request, read_until};

const MIB: usize = 1 << 20;
const SIZE: usize = 100 * MIB;
/// What passes may cost this much memory; the test's own buffers included.
const MOST: u64 = 24 << 10;

const HEAD: &str = r#"{"jsonrpc":"2.0","id":"c","result":{"resultType":"complete","content":[{"type":"text","text":""#;
const TAIL: &str = r#""}]}}"#;

/// How a server sends its result.
#[derive(Clone, Copy, Debug)]
enum Form {
    Json,
    ChunkedJson,
    Event,
    EventAfterProgress,
}

const PROGRESS: &str = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"p\",\"progress\":1}}\n\n";

async fn respond(form: Form, mut stream: TcpStream) {
    let (before, after) = match form {
        Form::Json | Form::ChunkedJson => (HEAD.to_owned(), TAIL.to_owned()),
        Form::Event => (format!("data: {HEAD}"), format!("{TAIL}\n\n")),
        Form::EventAfterProgress => (format!("{PROGRESS}data: {HEAD}"), format!("{TAIL}\n\n")),
    };
    let length = before.len() + SIZE + after.len();
    let kind = if matches!(form, Form::Json | Form::ChunkedJson) { "application/json" } else { "text/event-stream" };
    let framing = match form {
        Form::Json => format!("Content-Length: {length}"),
        _ => "Transfer-Encoding: chunked".to_owned(),
    };
    let chunked = !matches!(form, Form::Json);
    let mut head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{framing}\r\n\r\n").into_bytes();
    let piece = vec![b'x'; MIB];
    let pieces = std::iter::repeat_n(&piece[..], SIZE / MIB);
    for part in [before.as_bytes()].into_iter().chain(pieces).chain([after.as_bytes()]) {
        if chunked {
            head.extend_from_slice(format!("{:x}\r\n", part.len()).as_bytes());
        }
        head.extend_from_slice(part);
        if chunked {
            head.extend_from_slice(b"\r\n");
        }
        if stream.write_all(&head).await.is_err() {
            return;
        }
        head.clear();
    }
    if chunked {
        let _ = stream.write_all(b"0\r\n\r\n").await;
    }
}

/// This process's own memory, in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Reads everything; how many `x` came, the last bytes, and the most memory in between.
async fn drain(mut stream: TcpStream) -> (usize, String, u64) {
    let (mut count, mut last, mut most, mut reads) = (0, Vec::new(), 0, 0_u32);
    let mut chunk = vec![0; 64 << 10];
    while let Ok(Ok(size @ 1..)) = timeout(Duration::from_secs(20), stream.read(&mut chunk)).await {
        count += chunk[..size].iter().map(|byte| usize::from(*byte == b'x')).sum::<usize>();
        last.extend_from_slice(&chunk[..size]);
        last.drain(..last.len().saturating_sub(200));
        reads += 1;
        if reads.is_multiple_of(64) {
            most = most.max(memory());
        }
    }
    (count, String::from_utf8_lossy(&last).into_owned(), most)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_of_100_mib_passes_in_bounded_memory() {
    for form in [Form::Json, Form::ChunkedJson, Form::Event, Form::EventAfterProgress] {
        let scene = Scene::new(Arc::new(move |stream| respond(form, stream).boxed())).await;
        // Connections and buffers that are made once are made before anything is measured. To its end: two calls under way
        // would not have the same id at the server, which answers this one only.
        drain(scene.call().await).await;
        let before = memory();
        let (count, last, most) = drain(scene.call().await).await;
        // A head has some, too: `text/event-stream`, `x-accel-buffering`.
        assert!((SIZE..SIZE + 20).contains(&count), "{form:?}: {count} of {SIZE} bytes, then {last:?}");
        assert!(last.contains(TAIL), "{form:?}: {last:?}");
        let more = most.saturating_sub(before);
        assert!(more < MOST, "{form:?}: {more} KiB more");
        scene.gateway.shutdown().await;
    }
}

#[tokio::test]
async fn the_first_event_is_flushed_at_once() {
    let (seen, half) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let respond: Respond = {
        let (seen, half) = (Arc::clone(&seen), Arc::clone(&half));
        Arc::new(move |mut stream| {
            let (seen, half) = (Arc::clone(&seen), Arc::clone(&half));
            async move {
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
                stream.write_all(format!("{head}{PROGRESS}").as_bytes()).await.expect("it reads");
                seen.notified().await;
                // As much of an event as is held, and its end only once the client has seen the beginning.
                let begun = format!("data: {HEAD}{}begun", "x".repeat(200 << 10));
                stream.write_all(begun.as_bytes()).await.expect("it reads");
                half.notified().await;
                stream.write_all(format!("{TAIL}\n\n").as_bytes()).await.expect("it reads");
            }
            .boxed()
        })
    };
    let scene = Scene::new(respond).await;
    let mut stream = scene.call().await;
    let first = read_until(&mut stream, "notifications/progress").await;
    assert!(!first.contains("result"), "{first}");
    seen.notify_one();
    read_until(&mut stream, "begun").await;
    half.notify_one();
    read_until(&mut stream, TAIL).await;
}

/// A result that comes in one piece, whatever its size, leaves its connection free for the next call.
#[tokio::test]
async fn calls_one_after_the_other_share_a_connection() {
    for size in [100, 70 << 10, 300 << 10] {
        let connections = Arc::new(AtomicUsize::new(0));
        let respond: Respond = {
            let connections = Arc::clone(&connections);
            Arc::new(move |mut stream| {
                connections.fetch_add(1, Ordering::Relaxed);
                async move {
                    let body = format!("{HEAD}{}{TAIL}", "x".repeat(size));
                    let length = body.len();
                    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length:";
                    let response = format!("{head} {length}\r\n\r\n{body}");
                    while stream.write_all(response.as_bytes()).await.is_ok()
                        && read_request(&mut stream).await.is_some()
                    {}
                }
                .boxed()
            })
        };
        let scene = Scene::new(respond).await;
        for _ in 0..8 {
            read_until(&mut scene.call().await, TAIL).await;
        }
        assert_eq!(connections.load(Ordering::Relaxed), 1, "{size} bytes");
    }
}

#[tokio::test]
async fn a_small_result_that_breaks_off_is_an_error() {
    let respond: Respond = Arc::new(|mut stream| {
        async move {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n";
            stream.write_all(format!("{head}{HEAD}").as_bytes()).await.expect("it reads");
        }
        .boxed()
    });
    let scene = Scene::new(respond).await;
    let came = read_until(&mut scene.call().await, "\"outcome\"").await;
    assert!(came.contains("the outcome is unknown"), "{came}");
}

#[tokio::test]
async fn a_large_result_that_breaks_off_breaks_the_clients_connection() {
    let respond: Respond = Arc::new(|mut stream| {
        async move {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
            let half = "x".repeat(200 << 10);
            stream.write_all(format!("{head}data: {HEAD}{half}").as_bytes()).await.expect("it reads");
        }
        .boxed()
    });
    let scene = Scene::new(respond).await;
    let (_, last, _) = drain(scene.call().await).await;
    // The last chunk of a body that came whole is empty.
    assert!(!last.ends_with("0\r\n\r\n"), "{last}");
}

#[tokio::test]
async fn a_large_message_that_is_no_result_is_read_whole() {
    let other =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1,"message":""#;
    let respond: Respond = Arc::new(move |mut stream| {
        async move {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
            let half = "x".repeat(200 << 10);
            let text = format!("{head}data: {other}{half}\"}}}}\n\ndata: {HEAD}{half}{TAIL}\n\n");
            stream.write_all(text.as_bytes()).await.expect("it reads");
        }
        .boxed()
    });
    let scene = Scene::new(respond).await;
    let (count, last, _) = drain(scene.call().await).await;
    assert!((400 << 10..(400 << 10) + 20).contains(&count), "{count}");
    assert!(last.contains(TAIL), "{last:?}");
}
