//! WebSocket: handshakes that are none, and frames that break the framing (RFC 6455). The server refuses or closes, and never
//! acts on a frame that it must not accept.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::json;

use super::request::{Request, call, initialize};
use super::socket::{Connection, PATIENCE, SILENCE, find, head};
use super::target::Target;
use super::trial::{Attempt, Trial};

const NO_SWITCH: &str = "no 101";
const CLOSES: &str = "the connection ends and the message is not answered";
const MOST: u64 = 96;
const MARK: &str = "broken-frame";
const MASK: [u8; 4] = [1, 2, 3, 4];

/// An open WebSocket.
pub(super) struct Socket {
    pub(super) connection: Connection,
}

impl Socket {
    /// Opens a WebSocket as an honest client does.
    pub(super) fn open(target: &Target) -> anyhow::Result<Self> {
        let mut connection = Connection::open(target.address)?;
        connection.send(&Request::upgrade("/ws", &target.host()).bearing(target.token.as_deref()).bytes());
        let reply = connection.answer()?;
        ensure!(reply.status == 101, "the handshake got {}", reply.status);
        Ok(Self { connection })
    }

    /// Sends a text frame.
    pub(super) fn text(&mut self, text: &[u8]) -> bool {
        self.connection.send(&frame(0x81, text, Some(MASK)))
    }

    /// All that comes until the server is silent.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        self.connection.rest(SILENCE)
    }
}

/// A frame: first byte, payload, mask.
pub(super) fn frame(first: u8, payload: &[u8], mask: Option<[u8; 4]>) -> Vec<u8> {
    let bit = if mask.is_some() { 0x80 } else { 0 };
    let mut out = vec![first];
    match payload.len() {
        short @ 0..126 => out.push(bit + short as u8),
        long @ 126..0x1_0000 => {
            out.push(bit + 126);
            out.extend((long as u16).to_be_bytes());
        }
        huge => {
            out.push(bit + 127);
            out.extend((huge as u64).to_be_bytes());
        }
    }
    match mask {
        None => out.extend(payload),
        Some(mask) => {
            out.extend(mask);
            out.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        }
    }
    out
}

pub(super) fn run(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let serve = Target::serve(trial.plan)?;
    let mut attempts = handshakes(&serve);
    for (what, bytes) in frames() {
        let serve = &serve;
        attempts.push(Attempt::new(what, "serve /ws", CLOSES, move || closes(serve, &bytes)));
    }
    trial.play(&attempts, 8);
    drop(attempts);
    trial.one("a ping with 125 bytes", "serve /ws", "the pong has the same bytes", || {
        let mut socket = Socket::open(&serve)?;
        socket.connection.send(&frame(0x89, &[b'p'; 125], Some(MASK)));
        ensure!(find(&socket.rest(), &[b'p'; 125]).is_some(), "no pong");
        Ok(())
    });
    trial.one("10,000 pings that nobody reads", "serve /ws", "bounded, and the server answers others", || {
        let mut socket = Socket::open(&serve)?;
        for _ in 0..10_000 {
            socket.connection.send(&frame(0x89, &[b'p'; 125], Some(MASK)));
        }
        serve.honest()
    });
    trial.sound(&serve, MOST);
    Ok(())
}

fn handshakes(serve: &Target) -> Vec<Attempt<'_>> {
    let good = || Request::upgrade("/ws", &serve.host());
    let key = "Sec-WebSocket-Key";
    let version = "Sec-WebSocket-Version";
    let bad = [
        ("no key", good().without(key)),
        ("an empty key", good().with(key, "")),
        ("a short key", good().with(key, "AAAA")),
        ("a long key", good().with(key, &"A".repeat(4000))),
        ("a key that is no Base64", good().with(key, "!!!!!!!!!!!!!!!!!!!!!!==")),
        ("two keys", good().plus(key, "AAAAAAAAAAAAAAAAAAAAAA==")),
        ("no version", good().without(version)),
        ("version 8", good().with(version, "8")),
        ("version 14", good().with(version, "14")),
        ("version 13, 8", good().with(version, "13, 8")),
        ("no Upgrade", good().without("Upgrade")),
        ("Upgrade: h2c", good().with("Upgrade", "h2c")),
        ("Upgrade: websockets", good().with("Upgrade", "websockets")),
        ("no Connection", good().without("Connection")),
        ("Connection: close", good().with("Connection", "close")),
        ("Connection: keep-alive", good().with("Connection", "keep-alive")),
        ("at /mcp, no key", Request::upgrade("/mcp", &serve.host()).without(key)),
        ("at /mcp, version 8", Request::upgrade("/mcp", &serve.host()).with(version, "8")),
        ("at /mcp/", Request::upgrade("/mcp/", &serve.host())),
        ("at /sse", Request::upgrade("/sse", &serve.host())),
        ("at /ws/", Request::upgrade("/ws/", &serve.host())),
        ("at //ws", Request::upgrade("//ws", &serve.host())),
        ("at /%77s", Request::upgrade("/%77s", &serve.host())),
    ];
    let mut attempts: Vec<Attempt<'_>> = bad
        .into_iter()
        .map(|(what, request)| {
            let run = move || {
                let Some(reply) = head(serve.address, &request.bytes())? else { return Ok(()) };
                ensure!(reply.status != 101, "it switched");
                Ok(())
            };
            Attempt::new(what, "handshake", NO_SWITCH, run)
        })
        .collect();
    for method in ["POST", "PUT", "HEAD", "OPTIONS"] {
        let text = String::from_utf8_lossy(&good().bytes()).replacen("GET", method, 1);
        let run = move || {
            let mut connection = Connection::open(serve.address)?;
            connection.send(text.as_bytes());
            let came = connection.rest(SILENCE);
            ensure!(!came.starts_with(b"HTTP/1.1 101"), "it switched");
            Ok(())
        };
        attempts.push(Attempt::new(format!("{method} in place of GET"), "handshake", NO_SWITCH, run));
    }
    attempts
}

/// Frames that a server must fail on, each around a request that it must not answer.
fn frames() -> Vec<(String, Vec<u8>)> {
    let message = call(MARK, "ping", json!({})).to_string().into_bytes();
    let text = |first: u8| frame(first, &message, Some(MASK));
    let mut bad = vec![
        ("no mask".to_owned(), frame(0x81, &message, None)),
        ("binary".to_owned(), text(0x82)),
        ("a continuation of nothing".to_owned(), text(0x80)),
        ("a new text within a message".to_owned(), [frame(0x01, b"{", Some(MASK)), text(0x81)].concat()),
        ("a fragmented ping".to_owned(), [frame(0x09, b"p", Some(MASK)), text(0x81)].concat()),
        ("a fragmented close".to_owned(), [frame(0x08, b"", Some(MASK)), text(0x81)].concat()),
        ("a ping of 126 bytes".to_owned(), [frame(0x89, &[b'p'; 126], Some(MASK)), text(0x81)].concat()),
        ("a close of one byte".to_owned(), [frame(0x88, b"x", Some(MASK)), text(0x81)].concat()),
        ("a close with code 999".to_owned(), [frame(0x88, &999_u16.to_be_bytes(), Some(MASK)), text(0x81)].concat()),
        ("a message after a close".to_owned(), [frame(0x88, &1000_u16.to_be_bytes(), Some(MASK)), text(0x81)].concat()),
        ("a text that is no UTF-8".to_owned(), [frame(0x81, b"\xff\xfe", Some(MASK)), text(0x81)].concat()),
        (
            "a surrogate across fragments".to_owned(),
            [frame(0x01, b"\xed\xa0", Some(MASK)), frame(0x80, b"\x80", Some(MASK)), text(0x81)].concat(),
        ),
        ("a length of 2^63".to_owned(), [&[0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4][..], &message].concat()),
        ("a length of 1 GB".to_owned(), [&[0x81, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0, 1, 2, 3, 4][..], &message].concat()),
        ("a message of 5 MB".to_owned(), [frame(0x81, &vec![b' '; 5 << 20], Some(MASK)), text(0x81)].concat()),
        ("fragments of 5 MB in all".to_owned(), fragments(5 << 20)),
        ("HTTP in place of frames".to_owned(), b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec()),
    ];
    for opcode in [3_u8, 4, 5, 6, 7, 11, 12, 13, 14, 15] {
        bad.push((format!("opcode {opcode}"), text(0x80 | opcode)));
    }
    for bit in [0x40_u8, 0x20, 0x10, 0x70] {
        bad.push((format!("reserved bits {bit:#x}"), text(0x81 | bit)));
    }
    bad
}

fn fragments(bytes: usize) -> Vec<u8> {
    let part = frame(0x00, &vec![b' '; 64 << 10], Some(MASK));
    [frame(0x01, b" ", Some(MASK)), part.repeat(bytes >> 16), frame(0x80, b" ", Some(MASK))].concat()
}

fn closes(serve: &Target, bytes: &[u8]) -> anyhow::Result<()> {
    let mut socket = Socket::open(serve)?;
    socket.text(initialize().to_string().as_bytes());
    socket.connection.until("serverInfo", PATIENCE).context("an honest initialize")?;
    socket.rest();
    // The server may close while this is being sent.
    socket.connection.send(bytes);
    let came = socket.connection.rest(Duration::from_millis(1500));
    ensure!(find(&came, MARK.as_bytes()).is_none(), "the message was answered");
    ensure!(socket.connection.closes_within(Duration::from_secs(3)), "the connection stays open");
    Ok(())
}
