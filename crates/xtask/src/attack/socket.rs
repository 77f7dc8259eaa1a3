//! One TCP connection on which anything may be sent, and a reader of HTTP/1.1 responses. It is strict where our own server
//! must be exact and knows no message.

use std::borrow::Cow;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::Value;

/// How long an answer is waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How long nothing comes before nothing is expected.
pub(super) const SILENCE: Duration = Duration::from_millis(250);
const SHORT: Duration = Duration::from_millis(20);

/// A response.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &'_ str| line.split_once(':').is_some_and(|(found, _)| found.eq_ignore_ascii_case(name));
        self.head.lines().find(|line| named(line))?.split_once(':').map(|(_, value)| value.trim())
    }

    pub(super) fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }

    pub(super) fn json(&self) -> anyhow::Result<Value> {
        serde_json::from_slice(&self.body).with_context(|| format!("no JSON in {} {:?}", self.status, self.text()))
    }
}

/// A connection, and what came on it and was not yet read.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    came: Vec<u8>,
    over: bool,
    /// What ended the connection, where that was no orderly close.
    broken: Option<ErrorKind>,
}

impl Connection {
    pub(super) fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE).context("no connection")?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream, came: Vec::new(), over: false, broken: None })
    }

    /// Sends bytes; whether all were taken. A server may close a connection while a refused request is still being sent.
    pub(super) fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// The next whole response; `None` where the server closes first.
    pub(super) fn reply(&mut self) -> anyhow::Result<Option<Reply>> {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some((reply, length)) = parse(&self.came, self.over)? {
                self.came.drain(..length);
                return Ok(Some(reply));
            }
            if self.over {
                return Ok(None);
            }
            if Instant::now() > until {
                bail!("no answer within {} s", PATIENCE.as_secs());
            }
            self.read();
        }
    }

    /// The response, which must come.
    pub(super) fn answer(&mut self) -> anyhow::Result<Reply> {
        self.reply()?.context("the connection was closed without an answer")
    }

    /// The head of the next response, whose body may never end.
    pub(super) fn head(&mut self) -> anyhow::Result<Reply> {
        let head = self.until("\r\n\r\n", PATIENCE)?;
        let status = head.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
        Ok(Reply { status: status.context("no status line")?, head, body: Vec::new() })
    }

    /// Waits until a text has come; all that came, taken from the connection.
    pub(super) fn until(&mut self, text: &str, patience: Duration) -> anyhow::Result<String> {
        let until = Instant::now() + patience;
        loop {
            if let Some(at) = find(&self.came, text.as_bytes()) {
                let rest = self.came.split_off(at + text.len());
                let whole = std::mem::replace(&mut self.came, rest);
                return Ok(String::from_utf8_lossy(&whole).into_owned());
            }
            if self.over || Instant::now() > until {
                let end = match self.broken {
                    Some(kind) => format!("the connection broke: {kind}"),
                    None if self.over => "the connection was closed".to_owned(),
                    None => format!("none within {} s", patience.as_secs()),
                };
                bail!("{text:?} did not come, but {:?}; {end}", brief(&self.came));
            }
            self.read();
        }
    }

    /// At least so many bytes, or what came until the connection was closed or silent for `silence`.
    pub(super) fn take(&mut self, count: usize, silence: Duration) -> Vec<u8> {
        let mut last = Instant::now();
        while self.came.len() < count && !self.over && last.elapsed() < silence {
            let before = self.came.len();
            self.read();
            if self.came.len() > before {
                last = Instant::now();
            }
        }
        let count = count.min(self.came.len());
        self.came.drain(..count).collect()
    }

    /// Reads and drops at least so many bytes, or what came until the connection was closed or silent for `silence`; how many.
    pub(super) fn skip(&mut self, count: usize, silence: Duration) -> usize {
        let (mut last, mut skipped) = (Instant::now(), std::mem::take(&mut self.came).len());
        while skipped < count && !self.over && last.elapsed() < silence {
            self.read();
            if !self.came.is_empty() {
                last = Instant::now();
                skipped += self.came.len();
                self.came.clear();
            }
        }
        skipped
    }

    /// All that comes until the server closes or is silent for a while.
    pub(super) fn rest(&mut self, silence: Duration) -> Vec<u8> {
        self.take(64 << 20, silence)
    }

    /// Whether the server closes the connection within this time. What it sends before is read and dropped.
    pub(super) fn closes_within(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while !self.over && Instant::now() < until {
            self.read();
            self.came.clear();
        }
        self.over
    }

    fn read(&mut self) {
        let mut chunk = vec![0; 256 << 10];
        // A time-out of zero is an error, and this one is not.
        let _ = self.stream.set_read_timeout(Some(SHORT));
        match self.stream.read(&mut chunk) {
            Ok(0) => self.over = true,
            Ok(count) => self.came.extend_from_slice(&chunk[..count]),
            // A read with a time-out is also interrupted when the process was stopped and goes on.
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {}
            Err(error) => {
                self.over = true;
                self.broken = Some(error.kind());
            }
        }
    }
}

/// Sends one request on a connection of its own and reads the response; `None` where the server closes without one.
pub(super) fn exchange(address: SocketAddr, bytes: &[u8]) -> anyhow::Result<Option<Reply>> {
    let mut connection = Connection::open(address)?;
    connection.send(bytes);
    connection.reply()
}

/// Sends one request and reads the head of the response; `None` where the server closes without one.
pub(super) fn head(address: SocketAddr, bytes: &[u8]) -> anyhow::Result<Option<Reply>> {
    let mut connection = Connection::open(address)?;
    connection.send(bytes);
    match connection.head() {
        Err(_) if connection.over => Ok(None),
        other => other.map(Some),
    }
}

/// Sends one request and reads the response, which must come.
pub(super) fn answer(address: SocketAddr, bytes: &[u8]) -> anyhow::Result<Reply> {
    exchange(address, bytes)?.context("the connection was closed without an answer")
}

/// The first whole response and its length; `None` where it is not yet whole. At the end of a connection (`over`), a body
/// without a length is whole.
fn parse(bytes: &[u8], over: bool) -> anyhow::Result<Option<(Reply, usize)>> {
    let Some(end) = find(bytes, b"\r\n\r\n") else { return Ok(None) };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
    let Some(status) = status else { bail!("no status line: {:?}", brief(bytes)) };
    let mut reply = Reply { status, head, body: Vec::new() };
    let rest = &bytes[end + 4..];
    if status < 200 || status == 204 || status == 304 {
        return Ok(Some((reply, end + 4)));
    }
    let length = if reply.header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
        match chunked(rest) {
            Some((body, length)) => {
                reply.body = body;
                length
            }
            None => return Ok(None),
        }
    } else if let Some(length) = reply.header("content-length").and_then(|value| value.parse::<usize>().ok()) {
        let Some(body) = rest.get(..length) else { return Ok(None) };
        reply.body = body.to_vec();
        length
    } else if over {
        reply.body = rest.to_vec();
        rest.len()
    } else {
        return Ok(None);
    };
    Ok(Some((reply, end + 4 + length)))
}

fn chunked(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let end = at + find(&bytes[at..], b"\r\n")?;
        let size =
            usize::from_str_radix(std::str::from_utf8(&bytes[at..end]).ok()?.split(';').next()?.trim(), 16).ok()?;
        body.extend_from_slice(bytes.get(end + 2..end + 2 + size)?);
        at = end + 2 + size;
        bytes.get(at..at + 2)?;
        at += 2;
        if size == 0 {
            return Some((body, at));
        }
    }
}

/// Where `part` first stands in `whole`.
pub(super) fn find(whole: &[u8], part: &[u8]) -> Option<usize> {
    whole.windows(part.len().max(1)).position(|window| window == part)
}

/// The beginning of what came, for an error.
pub(super) fn brief(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(160)]).into_owned();
    text.replace(['\r', '\n'], " ")
}
