//! The reference server's HTTP endpoint, given the bytes of whole connections: whatever comes, what goes back is HTTP that
//! carries well-formed messages, and every request that no reader can misunderstand is answered, with its own id.
//!
//! A byte 0xff ends one connection and begins the next. 31 zeros and a digit from 1 to 4 stand for the id of a session at
//! one of the legacy revisions, which the fuzzer could not guess.
#![no_main]

use std::sync::Arc;
use std::time::Duration;

use fuzz::answers::{Ledger, takes_time};
use fuzz::http::{Request, Response, requests, responses};
use fuzz::{Chunks, bounded, timeless};
use libfuzzer_sys::fuzz_target;
use net::server::http::{Endpoint, Options};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use wire::Kind;
use wire::framing::sse::{Block, Blocks};
use wire::message::{Packet, parse};

const MOST_CONNECTIONS: usize = 4;
/// How long a client stays that will come back, and one that will not. Longer than any timeout of the server's.
const STAYS: Duration = Duration::from_secs(5);
const STAYS_LAST: Duration = Duration::from_mins(10);
const ZEROS: &[u8] = b"0000000000000000000000000000000";

fuzz_target!(|input: &[u8]| {
    let Some((chunks, _, bytes)) = Chunks::split(input) else { return };
    bounded(4096 * bytes.len() + (16 << 20), || timeless(connections(&chunks, bytes)));
});

async fn connections(chunks: &Chunks, bytes: &[u8]) {
    let service = Arc::new(reference::Server::new(reference::Options::default()));
    let endpoint = Endpoint::new(service, Options::default());
    let bytes = with_sessions(&endpoint, bytes).await;
    let mut parts = bytes.split(|b| *b == 0xff).take(MOST_CONNECTIONS).peekable();
    while let Some(part) = parts.next() {
        let stays = if parts.peek().is_some() { STAYS } else { STAYS_LAST };
        let (said, ended) = converse(&endpoint, chunks, part, stays).await;
        let (asked, answered) = (requests(part), responses(&said, ended));
        complete(&asked, &answered);
        for (at, response) in answered.iter().enumerate() {
            judge(asked.get(at), response);
        }
    }
}

/// Writes `bytes` and gives what came back, and whether the server ended the connection.
async fn converse(endpoint: &Endpoint, chunks: &Chunks, bytes: &[u8], stays: Duration) -> (Vec<u8>, bool) {
    let (client, server) = duplex(1 << 20);
    let (mut reader, mut writer) = tokio::io::split(client);
    let mut said = Vec::new();
    let talk = async {
        for chunk in chunks.of(bytes) {
            if writer.write_all(chunk).await.is_err() {
                break;
            }
            tokio::task::yield_now().await;
        }
        let read = async { while reader.read_buf(&mut said).await.is_ok_and(|count| count > 0) {} };
        tokio::time::timeout(stays, read).await.is_ok()
    };
    let ended = tokio::select! {
        ended = talk => ended,
        // Cannot be: a served connection ends by being dropped, which `talk` sees. The branch lets it run.
        () = async { endpoint.serve(server).await; std::future::pending().await } => true,
    };
    (said, ended)
}

/// Puts the ids of real sessions where the input names them.
async fn with_sessions(endpoint: &Endpoint, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
    for (digit, revision) in (b'1'..).zip(revisions) {
        let name = [ZEROS, &[digit]].concat();
        let mut id = None;
        while let Some(at) = bytes.windows(name.len()).position(|window| window == name) {
            if id.is_none() {
                id = Some(open(endpoint, revision).await);
            }
            bytes[at..at + name.len()].copy_from_slice(id.as_deref().unwrap_or_default().as_bytes());
        }
    }
    bytes
}

/// Opens a session and says that the client is ready.
async fn open(endpoint: &Endpoint, revision: &str) -> String {
    let post = |session: &str, body: &str| {
        let fixed = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: */*\r\n";
        format!("{fixed}{session}content-length: {}\r\n\r\n{body}", body.len())
    };
    let capabilities = r#"{"sampling":{},"elicitation":{},"roots":{}}"#;
    let hello = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{capabilities},"clientInfo":{{"name":"f","version":"1"}}}}}}"#
    );
    let (said, ended) = converse(endpoint, &Chunks::ONE, post("", &hello).as_bytes(), STAYS).await;
    let answered = responses(&said, ended);
    let id = answered[0].field("mcp-session-id").expect("a session").to_owned();
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let ready = post(&format!("mcp-session-id: {id}\r\n"), ready);
    converse(endpoint, &Chunks::ONE, ready.as_bytes(), STAYS).await;
    id
}

/// No request is left without a response, but where the one before took the connection, or the request itself takes time.
fn complete(asked: &[Request<'_>], answered: &[Response]) {
    let Some(missing) = asked.get(answered.len()) else { return };
    let taken = answered.last().is_some_and(|before| {
        !before.complete || before.status >= 400 || before.field("connection").is_some_and(|value| value == "close")
    });
    let waits = match parse(missing.body) {
        Ok(Packet::Message(message)) => takes_time(&message),
        Ok(Packet::Batch(_)) => true,
        Err(_) => false,
    };
    assert!(taken || waits, "no response to {missing:?} after {answered:?}");
}

fn judge(asked: Option<&Request<'_>>, response: &Response) {
    assert!(response.status < 500, "{response:?}");
    let mut ledger = Ledger::default();
    let kind = response.field("content-type");
    let mut sent = Vec::new();
    match kind {
        Some("application/json") => sent.extend(ledger.received(&response.body)),
        Some("text/event-stream") => {
            let mut blocks = Blocks::new(usize::MAX);
            blocks.push(&response.body);
            while let Some(piece) = blocks.next_block() {
                let data = Block::parse(piece.bytes()).data.filter(|data| !data.is_empty());
                sent.extend(data.into_iter().flat_map(|data| ledger.received(data.as_bytes())));
            }
        }
        _ => assert!(response.body.is_empty(), "{response:?}"),
    }
    let Some(asked) = asked.filter(|asked| asked.method == "POST") else { return };
    let answers = sent.iter().filter(|message| message.kind().is_response());
    let ids: Vec<_> = answers.map(|answer| answer.id()).collect();
    match parse(asked.body) {
        Ok(Packet::Message(message)) if message.kind() == Kind::Request => {
            assert!(ids.len() <= 1, "{} answers to one request: {response:?}", ids.len());
            let refused = response.status >= 400 && ids.iter().all(|id| id.is_none());
            assert!(refused || ids.iter().all(|id| *id == message.id()), "another's answer: {response:?}");
            let cut = !response.complete || takes_time(&message);
            assert!(cut || response.status >= 400 || ids.len() == 1, "no answer: {response:?}");
        }
        Ok(Packet::Message(_)) => assert!(sent.is_empty() || response.status >= 400, "an answer to no request"),
        _ => {}
    }
}
