//! A web server whose answers are a function of the request. It remembers what it was asked and can go on without end.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::attack::socket::find;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    /// Method and path, without the query.
    pub(crate) fn path(&self) -> (&str, &str) {
        let mut words = self.head.split_whitespace();
        let method = words.next().unwrap_or_default();
        (method, words.next().unwrap_or_default().split('?').next().unwrap_or_default())
    }

    /// A parameter of the query, percent-decoded.
    pub(crate) fn query(&self, name: &str) -> Option<String> {
        let target = self.head.split_whitespace().nth(1)?;
        let pairs = target.split_once('?')?.1.split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(found, _)| *found == name).map(|(_, value)| decoded(value))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    }

    /// All of it, for a search.
    pub(crate) fn text(&self) -> String {
        format!("{}\n{}", self.head, String::from_utf8_lossy(&self.body))
    }
}

fn decoded(text: &str) -> String {
    let (mut out, mut bytes) = (Vec::new(), text.bytes());
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let digits: String = bytes.by_ref().take(2).map(char::from).collect();
                out.extend(u8::from_str_radix(&digits, 16));
            }
            other => out.push(other),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// What is sent: first bytes, and a part that is repeated until the peer has enough.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent {
    pub(crate) first: Vec<u8>,
    pub(crate) endless: Vec<u8>,
    /// A pause before each repetition.
    pub(crate) pause: Duration,
    /// A whole response after which the connection is kept.
    pub(crate) kept: bool,
}

impl Sent {
    /// A response with a body.
    pub(crate) fn response(status: &str, headers: &str, body: &[u8]) -> Self {
        let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
        Self { first: [head.as_bytes(), body].concat(), kept: true, ..Self::default() }
    }

    pub(crate) fn json(value: &serde_json::Value) -> Self {
        Self::response("200 OK", "Content-Type: application/json\r\n", value.to_string().as_bytes())
    }

    /// A response whose body never ends.
    pub(crate) fn endless(kind: &str, first: &[u8], part: &[u8], pause: Duration) -> Self {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n");
        Self { first: [head.as_bytes(), first].concat(), endless: part.to_vec(), pause, kept: false }
    }
}

/// A running web server.
#[derive(Debug)]
pub(crate) struct Web {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Web {
    /// Starts a server on loopback. It lives as long as this program.
    pub(crate) fn start(respond: impl Fn(&Seen, SocketAddr) -> Sent + Send + Sync + 'static) -> anyhow::Result<Self> {
        Self::listen("127.0.0.1:0", respond)
    }

    /// Starts a server at an address.
    pub(crate) fn listen(
        address: &str,
        respond: impl Fn(&Seen, SocketAddr) -> Sent + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (kept, respond) = (Arc::clone(&seen), Arc::new(respond));
        std::thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                let (kept, respond) = (Arc::clone(&kept), Arc::clone(&respond));
                std::thread::spawn(move || serve(stream, address, &kept, &*respond));
            }
        });
        Ok(Self { address, seen })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What it was asked so far. A connection without a request counts as an empty one.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(
    mut stream: TcpStream,
    address: SocketAddr,
    kept: &Mutex<Vec<Seen>>,
    respond: &dyn Fn(&Seen, SocketAddr) -> Sent,
) {
    let _ = stream.set_read_timeout(Some(Duration::from_mins(1)));
    let _ = stream.set_write_timeout(Some(Duration::from_mins(1)));
    let mut came = Vec::new();
    let mut first = true;
    loop {
        let seen = read(&mut stream, &mut came);
        if first || seen.is_some() {
            let noted = seen.clone().unwrap_or_else(|| Seen { head: String::new(), body: came.clone() });
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(noted);
        }
        first = false;
        let Some(seen) = seen else { return };
        let sent = respond(&seen, address);
        if stream.write_all(&sent.first).is_err() {
            return;
        }
        while !sent.endless.is_empty() {
            std::thread::sleep(sent.pause);
            if stream.write_all(&sent.endless).is_err() {
                return;
            }
        }
        if !sent.kept {
            return;
        }
    }
}

fn read(stream: &mut TcpStream, came: &mut Vec<u8>) -> Option<Seen> {
    let mut chunk = [0; 16 << 10];
    loop {
        if let Some(end) = find(came, b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&came[..end]).into_owned();
            let seen = Seen { head, body: Vec::new() };
            let length = seen.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0_usize);
            if came.len() >= end + 4 + length {
                let body = came[end + 4..end + 4 + length].to_vec();
                came.drain(..end + 4 + length);
                return Some(Seen { body, ..seen });
            }
        }
        match stream.read(&mut chunk) {
            Ok(count) if count > 0 => came.extend_from_slice(&chunk[..count]),
            _ => return None,
        }
    }
}
