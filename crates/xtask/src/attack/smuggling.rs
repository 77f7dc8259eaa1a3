//! Request smuggling: messages whose end two readers could see at different places. At the server, the hidden request must
//! not be answered; behind the recorder, the server must see one request for each that was accepted.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::ensure;

use super::request::{Request, call};
use super::socket::{Connection, SILENCE, find};
use super::target::Target;
use super::trial::{Attempt, Trial};

const UNSEEN: &str = "the hidden request is not answered, and the connection ends";
const ONE: &str = "the server behind sees no hidden request, and one framing";
const MOST: u64 = 64;
/// What the hidden request is known by.
const MARK: &str = "hidden-request";

/// Ways to frame a body. `LEN` is the length of the whole body, `END` the chunked end and the hidden request.
const FRAMINGS: &[(&str, &str)] = &[
    ("CL.TE", "Content-Length: LEN\r\nTransfer-Encoding: chunked"),
    ("TE.CL", "Transfer-Encoding: chunked\r\nContent-Length: 5"),
    ("TE.TE, the second unknown", "Transfer-Encoding: chunked\r\nTransfer-Encoding: x"),
    ("TE.TE, the first unknown", "Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\nContent-Length: LEN"),
    ("chunked, identity", "Transfer-Encoding: chunked, identity\r\nContent-Length: LEN"),
    ("identity", "Transfer-Encoding: identity\r\nContent-Length: 5"),
    ("a blank before the colon", "Transfer-Encoding : chunked\r\nContent-Length: 5"),
    ("a tab before the value", "Transfer-Encoding:\tchunked\r\nContent-Length: 5"),
    ("a vertical tab in the value", "Transfer-Encoding:\u{b}chunked\r\nContent-Length: 5"),
    ("quotes", "Transfer-Encoding: \"chunked\"\r\nContent-Length: 5"),
    ("a prefix", "Transfer-Encoding: xchunked\r\nContent-Length: 5"),
    ("a suffix", "Transfer-Encoding: chunkedx\r\nContent-Length: 5"),
    ("obs-fold", "Transfer-Encoding:\r\n chunked\r\nContent-Length: 5"),
    ("obs-fold in a length", "Content-Length: 5\r\n 0"),
    ("a bare LF before TE", "X: y\nTransfer-Encoding: chunked\r\nContent-Length: 5"),
    ("a bare CR before TE", "X: y\rTransfer-Encoding: chunked\r\nContent-Length: 5"),
    ("a NUL in a name", "Transfer\0-Encoding: chunked\r\nContent-Length: 5"),
    ("two lengths", "Content-Length: 5\r\nContent-Length: LEN"),
    ("two lengths, turned", "Content-Length: LEN\r\nContent-Length: 5"),
    ("a list of lengths", "Content-Length: 5, LEN"),
    ("a signed length", "Content-Length: +5"),
    ("a negative length", "Content-Length: -5"),
    ("a hexadecimal length", "Content-Length: 0x5"),
    ("a length with a blank", "Content-Length: 5 5"),
    ("a length with underscores", "Content-Length: 5_0"),
    ("a length past 64 bits", "Content-Length: 18446744073709551621"),
    ("an empty length", "Content-Length:"),
    ("HTTP/1.0 with chunks", "HTTP/1.0"),
];

/// Bodies in chunks whose sizes readers disagree on. After each comes the hidden request.
const CHUNKS: &[(&str, &str)] = &[
    ("a size past 64 bits", "10000000000000000\r\n"),
    ("a negative size", "-1\r\n"),
    ("a size with 0x", "0x0\r\n\r\n"),
    ("a size with a plus", "+0\r\n\r\n"),
    ("a size with a blank inside", "0 0\r\n\r\n"),
    ("an empty size", "\r\n\r\n"),
    ("a bare LF after the size", "0\n\n"),
    ("a bare CR after the size", "0\r\r"),
    ("a bare LF in an extension", "0;a\nb\r\n\r\n"),
    ("a chunk longer than its size", "1\r\nabc\r\n0\r\n\r\n"),
    ("no line end after a chunk", "1\r\na0\r\n\r\n"),
    ("two bytes in place of the line end", "1\r\naXX0\r\n\r\n"),
    ("letters as a size", "zz\r\n\r\n"),
];

pub(super) fn run(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let serve = Target::serve(plan)?;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let behind = listener(Arc::clone(&seen))?;
    let file = plan.folder.join("smuggling.jsonl").display().to_string();
    let url = format!("http://127.0.0.1:{behind}/mcp");
    let record = Target::start(plan, "record", &["record", "-o", &file, "--http", "127.0.0.1:0", "--to", &url], &[])?;
    let mut attempts = Vec::new();
    for path in ["/mcp", "/messages", "/sse", "/nowhere"] {
        for (what, bytes) in tricks(path, &serve.host()) {
            let serve = &serve;
            attempts.push(Attempt::new(what, format!("serve {path}"), UNSEEN, move || unseen(serve, &bytes)));
        }
    }
    trial.play(&attempts, 8);
    let mut attempts = Vec::new();
    for (what, bytes) in tricks("/mcp", &record.host()) {
        let (record, seen) = (&record, &seen);
        attempts
            .push(Attempt::new(what, "record, and the server behind", ONE, move || passed_once(record, seen, &bytes)));
    }
    // One after the other: what the server behind sees belongs to the last.
    trial.play(&attempts, 1);
    drop(attempts);
    trial.sound(&serve, MOST);
    trial.one("no panic in the log", "record", "none", || record.log_is_sound());
    trial.memory("memory afterwards", "record", record.peak(), MOST);
    Ok(())
}

/// The header that numbers attempts, in lower case as it is looked for.
const ATTEMPT: &str = "x-attempt: ";

fn tricks(path: &str, host: &str) -> Vec<(String, Vec<u8>)> {
    let hidden = Request::post("/mcp", host, &call(MARK, "ping", serde_json::json!({}))).bytes();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
    );
    let end = [b"0\r\n\r\n", hidden.as_slice()].concat();
    let numbered = |number: usize| format!("{head}{ATTEMPT}{number}\r\n");
    let framed = FRAMINGS.iter().enumerate().map(|(number, (name, lines))| {
        let head = numbered(number);
        let lines = lines.replace("LEN", &end.len().to_string());
        let text = if lines == "HTTP/1.0" {
            head.replace("HTTP/1.1", "HTTP/1.0")
                + "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\nContent-Length: 5"
        } else {
            head.clone() + &lines
        };
        ((*name).to_owned(), [text.as_bytes(), b"\r\n\r\n", &end].concat())
    });
    let chunked = CHUNKS.iter().enumerate().map(|(number, (name, chunk))| {
        let head = numbered(FRAMINGS.len() + number);
        let text = format!("{head}Transfer-Encoding: chunked\r\n\r\n{chunk}");
        ((*name).to_owned(), [text.as_bytes(), &hidden].concat())
    });
    framed.chain(chunked).collect()
}

/// Where the framing is clear after all (a tab is a blank, `5` is the length of the chunked end), the second request is
/// no hidden one: then one response answers the first, and it is a success or a refusal that closes the connection.
fn unseen(serve: &Target, bytes: &[u8]) -> anyhow::Result<()> {
    let mut connection = Connection::open(serve.address)?;
    connection.send(bytes);
    let came = connection.rest(SILENCE);
    ensure!(find(&came, MARK.as_bytes()).is_none(), "the hidden request was answered");
    Ok(())
}

fn passed_once(record: &Target, seen: &Mutex<Vec<u8>>, bytes: &[u8]) -> anyhow::Result<()> {
    seen.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let mut connection = Connection::open(record.address)?;
    connection.send(bytes);
    connection.rest(SILENCE);
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let text = String::from_utf8_lossy(&seen).to_ascii_lowercase();
    // What an attempt before this one caused may arrive only now. A hidden request has no number.
    let attempt = |request: &str| Some(request.split_once(ATTEMPT)?.1.split("\r\n").next()?.to_owned());
    let own = attempt(&String::from_utf8_lossy(bytes));
    let is_ours = |request: &&str| attempt(request).is_none_or(|number| Some(number) == own);
    let requests = || text.split("post /").skip(1).filter(|request| request.contains("http/1.1\r\n")).filter(is_ours);
    // Hidden bytes may pass as the body of one request, whose length covers them.
    for request in requests() {
        let head = request.split("\r\n\r\n").next().unwrap_or_default();
        let framings = head.matches("\r\ncontent-length:").count() + head.matches("\r\ntransfer-encoding:").count();
        ensure!(framings <= 1, "passed on with {framings} framings");
    }
    ensure!(requests().count() <= 1, "two requests passed on");
    Ok(())
}

/// A server that keeps what it reads and answers each connection once.
fn listener(seen: Arc<Mutex<Vec<u8>>>) -> anyhow::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().filter_map(Result::ok) {
            let seen = Arc::clone(&seen);
            std::thread::spawn(move || {
                let _ = stream.set_read_timeout(Some(Duration::from_millis(100)));
                let mut chunk = [0; 16 << 10];
                while let Ok(count) = stream.read(&mut chunk) {
                    if count == 0 {
                        break;
                    }
                    seen.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&chunk[..count]);
                }
                let _ = stream.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
            });
        }
    });
    Ok(port)
}
