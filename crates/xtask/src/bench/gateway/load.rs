//! Calls of `echo` at one endpoint: as fast as answers come, or at a constant rate whatever the answers do. Knows the two eras
//! and no server.

use std::net::SocketAddr;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use anyhow::ensure;

use super::histogram::Histogram;
use crate::soak::http::Connection;

/// How many connections call at a time.
pub(super) const CONNECTIONS: usize = 16;
/// Answers that come before anything is counted.
const WARM_UP: Duration = Duration::from_millis(300);
/// Ids have as many digits as this one: only they differ between two calls of a connection.
pub(super) const FIRST_ID: u64 = 1_000_000_000;

/// How many calls one caller makes at most, for ids that no other caller of this process uses.
const CALLS: u64 = 100_000;
static CALLERS: AtomicU64 = AtomicU64::new(0);

/// Which revision a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaks {
    Modern,
    Legacy,
}

impl Speaks {
    pub(super) const fn revision(self) -> &'static str {
        match self {
            Self::Modern => "2026-07-28",
            Self::Legacy => "2025-11-25",
        }
    }
}

/// Where calls go.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    pub(super) address: SocketAddr,
    pub(super) path: String,
    /// The name of the echo tool there.
    pub(super) tool: String,
    /// Further header lines, each with its line end.
    pub(super) headers: String,
}

impl Endpoint {
    /// A POST of `body`.
    pub(super) fn post(&self, more: &str, body: &str) -> Vec<u8> {
        let Self { address, path, headers, .. } = self;
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\n{headers}{more}Content-Length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }

    /// A request of a modern client.
    pub(super) fn modern(&self, method: &str, name: Option<&str>, params: &str) -> Vec<u8> {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
        let body = format!(r#"{{"jsonrpc":"2.0","id":{FIRST_ID},"method":"{method}","params":{{{meta}{params}}}}}"#);
        let name = name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
        self.post(&format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}"), &body)
    }

    /// Opens a legacy session; returns its header lines.
    pub(super) fn session(&self, connection: &mut Connection, capabilities: &str) -> anyhow::Result<String> {
        let opening = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"clientInfo":{{"name":"bench","version":"1"}}}}}}"#
        );
        let reply = connection.exchange(&self.post("", &opening))?;
        ensure!(reply.status == 200, "initialize: {} {}", reply.status, String::from_utf8_lossy(&reply.body));
        let mut headers = "MCP-Protocol-Version: 2025-11-25\r\n".to_owned();
        if let Some(session) = reply.session {
            headers = format!("{headers}Mcp-Session-Id: {session}\r\n");
        }
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let status = connection.exchange(&self.post(&headers, ready))?.status;
        ensure!((200..300).contains(&status), "notifications/initialized: {status}");
        Ok(headers)
    }

    /// A connection that calls `echo` with `size` bytes.
    fn caller(&self, speaks: Speaks, size: usize) -> anyhow::Result<Caller> {
        let mut connection = Connection::open(self.address)?;
        let message = "x".repeat(size);
        let arguments = format!(r#""name":"{}","arguments":{{"message":"{message}"}}"#, self.tool);
        let request = match speaks {
            Speaks::Modern => self.modern("tools/call", Some(&self.tool), &format!(",{arguments}")),
            Speaks::Legacy => {
                let session = self.session(&mut connection, "{}")?;
                let body =
                    format!(r#"{{"jsonrpc":"2.0","id":{FIRST_ID},"method":"tools/call","params":{{{arguments}}}}}"#);
                self.post(&session, &body)
            }
        };
        let digits = FIRST_ID.to_string();
        let at: Vec<_> = occurrences(&request, digits.as_bytes()).collect();
        ensure!(!at.is_empty(), "no id in the request");
        let mut caller =
            Caller { connection, request, at, next: FIRST_ID + CALLERS.fetch_add(1, Ordering::Relaxed) * CALLS, size };
        caller.call()?;
        Ok(caller)
    }
}

/// Where `wanted` begins in `bytes`.
fn occurrences(bytes: &[u8], wanted: &[u8]) -> impl Iterator<Item = usize> {
    bytes.windows(wanted.len()).enumerate().filter(move |(_, part)| *part == wanted).map(|(at, _)| at)
}

struct Caller {
    connection: Connection,
    request: Vec<u8>,
    /// Where the digits of the id begin: in the body, and in headers that differ from call to call.
    at: Vec<usize>,
    next: u64,
    size: usize,
}

impl Caller {
    fn call(&mut self) -> anyhow::Result<()> {
        let digits = self.next.to_string();
        for &at in &self.at {
            self.request[at..at + digits.len()].copy_from_slice(digits.as_bytes());
        }
        self.next += 1;
        let reply = self.connection.exchange(&self.request)?;
        let whole = reply.status == 200 && reply.body.len() > self.size;
        ensure!(
            whole,
            "status {}: {}",
            reply.status,
            String::from_utf8_lossy(&reply.body[..reply.body.len().min(300)])
        );
        Ok(())
    }
}

fn callers(endpoint: &Endpoint, speaks: Speaks, size: usize) -> anyhow::Result<Vec<Caller>> {
    (0..CONNECTIONS).map(|_| endpoint.caller(speaks, size)).collect()
}

/// Calls as fast as answers come. `used` tells the processor time that the server has used, in seconds; returns what one call
/// used, in microseconds, and the calls per second.
pub(super) fn closed(
    endpoint: &Endpoint,
    speaks: Speaks,
    size: usize,
    time: Duration,
    used: impl Fn() -> anyhow::Result<f64>,
) -> anyhow::Result<(f64, f64)> {
    let (stop, calls) = (AtomicBool::new(false), AtomicU64::new(0));
    let callers = callers(endpoint, speaks, size)?;
    scope(|threads| {
        let running: Vec<_> = callers
            .into_iter()
            .map(|mut caller| {
                let (stop, calls) = (&stop, &calls);
                threads.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        caller.call()?;
                        calls.fetch_add(1, Ordering::Relaxed);
                    }
                    anyhow::Ok(())
                })
            })
            .collect();
        sleep(WARM_UP);
        let (begun, first, before) = (Instant::now(), calls.load(Ordering::Relaxed), used()?);
        sleep(time);
        let (count, after) = ((calls.load(Ordering::Relaxed) - first) as f64, used()?);
        let seconds = begun.elapsed().as_secs_f64();
        stop.store(true, Ordering::Relaxed);
        running
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| anyhow::bail!("a caller failed")))?;
        ensure!(count > 0.0, "no call was answered");
        Ok(((after - before) * 1e6 / count, count / seconds))
    })
}

/// Calls at a constant rate. A call's time begins when it is due, not when a connection was free for it: a server that stalls
/// does not make the load wait with it.
pub(super) fn open(
    endpoint: &Endpoint,
    speaks: Speaks,
    size: usize,
    rate: u32,
    time: Duration,
) -> anyhow::Result<Histogram> {
    let callers = callers(endpoint, speaks, size)?;
    let (interval, count) = (Duration::from_secs(1) / rate, rate * time.as_secs() as u32);
    let warm = rate / 4;
    let ready = Barrier::new(CONNECTIONS);
    let begun = Instant::now() + Duration::from_millis(50);
    scope(|threads| {
        let running: Vec<_> = callers
            .into_iter()
            .enumerate()
            .map(|(number, mut caller)| {
                let ready = &ready;
                threads.spawn(move || {
                    let mut times = Histogram::default();
                    ready.wait();
                    for index in (number as u32..warm + count).step_by(CONNECTIONS) {
                        let due = begun + interval * index;
                        sleep(due.saturating_duration_since(Instant::now()));
                        caller.call()?;
                        if index >= warm {
                            times.add(due.elapsed());
                        }
                    }
                    anyhow::Ok(times)
                })
            })
            .collect();
        let mut all = Histogram::default();
        for thread in running {
            all.merge(&thread.join().unwrap_or_else(|_| anyhow::bail!("a caller failed"))?);
        }
        Ok(all)
    })
}
