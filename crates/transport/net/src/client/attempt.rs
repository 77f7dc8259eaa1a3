//! One revision offered on a connection of its own, and what came of it. What follows from that is detection's business.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use wire::trace::{Closed, Content, Event, Trace, header};
use wire::{Era, Kind, Party, RequestId, Revision};

use super::{Address, ChildView, ConnectOptions, Connection, Exchange, OpenError, SendError};
use crate::tap::Tap;

/// Tells the attempts side by side how fast the first of them were answered.
pub(crate) type Pace = Arc<watch::Sender<Firsts>>;

/// For each era, the time from the start of an attempt to its answer: of the first attempt that got one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Firsts {
    legacy: Option<Duration>,
    modern: Option<Duration>,
}

impl Firsts {
    pub(crate) const fn is_none(self) -> bool {
        self.legacy.is_none() && self.modern.is_none()
    }

    /// Notes an answer after `time`; whether it was the era's first.
    fn note(&mut self, era: Era, time: Duration) -> bool {
        let first = match era {
            Era::Legacy => &mut self.legacy,
            Era::Modern => &mut self.modern,
        };
        let is_first = first.is_none();
        first.get_or_insert(time);
        is_first
    }

    /// How long an attempt of `era` is given once others were answered: then it meets silence, which a legacy server may
    /// well answer `server/discover` with. What the other era's answer tells of `initialize` is little: a server may
    /// refuse the one at once and take its time over the other (an SDK is known that waits for a second).
    fn patience(self, era: Era) -> Option<Duration> {
        let (first, grace) = match (era, self.legacy, self.modern) {
            (Era::Legacy, Some(first), _) => (first, 1),
            (Era::Legacy, None, other) => (other?, 4),
            (Era::Modern, other, own) => (own.or(other)?, 1),
        };
        Some(first * 2 + Duration::from_secs(grace))
    }
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The result of `initialize` or `server/discover`.
    Result(Value),
    /// The error object that came instead.
    Error(Value),
    /// No answer.
    Nothing(OpenError),
}

#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) revision: Revision,
    pub(crate) outcome: Outcome,
    /// The HTTP status of the response, where there was no MCP result in it.
    status: Option<u16>,
    /// Where a redirect leads.
    location: Option<String>,
    pub(crate) trace: Option<Trace>,
}

impl Attempt {
    const fn of(revision: Revision, outcome: Outcome) -> Self {
        Self { revision, outcome, status: None, location: None, trace: None }
    }

    /// Not made: the others met with silence for all the time there was.
    pub(crate) fn in_vain(address: &Address, revision: Revision, after: Duration) -> Self {
        let error = OpenError::Timeout { at: address.to_string(), waited_for: "answer", after };
        Self::of(revision, Outcome::Nothing(error))
    }

    pub(crate) fn redirect(&self) -> Option<String> {
        self.location.clone()
    }

    pub(crate) const fn exited(&self) -> bool {
        matches!(self.outcome, Outcome::Nothing(OpenError::Exited { .. }))
    }

    pub(crate) const fn is_unauthorized(&self) -> bool {
        matches!(self.outcome, Outcome::Nothing(OpenError::Unauthorized { .. }))
    }

    /// The statuses after which a client is to try HTTP+SSE.
    pub(crate) const fn suggests_old_transport(&self) -> bool {
        matches!(self.status, Some(400 | 404 | 405))
    }
}

/// Opens a connection, says the revision's first words and listens.
pub(crate) async fn attempt(
    address: &Address,
    revision: Revision,
    tap: Tap,
    options: &ConnectOptions,
    pace: &Pace,
) -> Attempt {
    let begun = Instant::now();
    let mut attempt = match Connection::open(address, revision, &tap, options).await {
        Err(error) => Attempt::of(revision, Outcome::Nothing(error)),
        Ok(connection) => {
            let attempt = converse(address, &connection, pace, begun).await;
            connection.close().await;
            attempt
        }
    };
    attempt.trace = Some(tap.finish());
    attempt
}

async fn converse(address: &Address, connection: &Connection, pace: &Pace, begun: Instant) -> Attempt {
    let (id, revision) = (RequestId::from(1), connection.revision());
    let words = first_words(revision);
    let exchange = match connection.send(&words).await {
        Ok(exchange) => exchange,
        Err(SendError::Open(error)) => return Attempt::of(revision, Outcome::Nothing(error)),
        Err(_) => Exchange::none(),
    };
    let answer = tokio::select! {
        answer = connection.response(&id, connection.limits().request) => answer,
        () = overdue(pace, revision.era(), begun) => None,
        () = connection.echoed(&words) => {
            return Attempt::of(revision, Outcome::Nothing(OpenError::Echo { at: address.to_string() }));
        }
    };
    let outcome = match answer.or_else(|| exchange.nameless_error()) {
        None => Outcome::Nothing(why(address, connection, &exchange, begun).await),
        Some(answer) => {
            pace.send_if_modified(|firsts| firsts.note(revision.era(), begun.elapsed()));
            let value = |value: Option<&Value>| value.cloned().unwrap_or_default();
            match answer.kind() {
                Kind::Result => return Attempt::of(revision, Outcome::Result(value(answer.result()))),
                _ => Outcome::Error(value(answer.error())),
            }
        }
    };
    let (status, location) = (exchange.status(), location(&exchange).await);
    Attempt { status, location, ..Attempt::of(revision, outcome) }
}

/// Resolves once an attempt of `era` has had the time that the answers to the others leave it.
async fn overdue(pace: &Pace, era: Era, begun: Instant) {
    let mut pace = pace.subscribe();
    loop {
        let patience = pace.borrow_and_update().patience(era);
        tokio::select! {
            // The sender lives as long as the attempts do.
            _ = pace.changed() => {}
            () = sleep_until(begun + patience.unwrap_or_default()), if patience.is_some() => return,
        }
    }
}

fn first_words(revision: Revision) -> String {
    let client = json!({ "name": "proofhouse", "version": env!("CARGO_PKG_VERSION") });
    let (method, params) = match revision.era() {
        Era::Legacy => {
            let version = revision.as_str();
            ("initialize", json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client }))
        }
        Era::Modern => {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": revision.as_str(),
                "io.modelcontextprotocol/clientInfo": client,
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            ("server/discover", json!({ "_meta": meta }))
        }
    };
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

/// Where a redirect leads.
pub async fn location(exchange: &Exchange) -> Option<String> {
    let (status, headers) = exchange.head(Duration::ZERO).await?;
    (300..400).contains(&status).then(|| header(&headers, "location").map(str::to_owned))?
}

/// Why there was no answer to the first words on `connection`, which `exchange` carried.
pub async fn why(address: &Address, connection: &Connection, exchange: &Exchange, begun: Instant) -> OpenError {
    let at = address.to_string();
    let (waited_for, after) = ("answer", begun.elapsed());
    match (address, exchange.status()) {
        (Address::Stdio(_), _) => {
            let exited = connection.exited(Duration::from_millis(300)).await;
            let (stderr, came) = (
                connection.child().map(ChildView::stderr_tail).unwrap_or_default(),
                garbage(&connection.tap().snapshot()),
            );
            match (exited, came) {
                (None, None) if connection.is_flooded() => OpenError::Flood { at },
                (None, None) if connection.is_over() => OpenError::Hung { at },
                (None, None) => OpenError::Timeout { at, waited_for, after },
                (Some(_), Some(came)) if stderr.trim().is_empty() => OpenError::NotMcp { at, came },
                (None, Some(came)) => OpenError::NotMcp { at, came },
                (Some(status), _) => {
                    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
                    OpenError::Exited { at, code: status.code(), signal, stderr }
                }
            }
        }
        (_, Some(status)) if !(200..300).contains(&status) => {
            exchange.finished(Duration::from_millis(200)).await;
            let snippet = shown(&exchange.body().unwrap_or_default());
            match address {
                Address::Http(_) if status == 401 => {
                    OpenError::Unauthorized { at, revisions: vec![connection.revision()], snippet }
                }
                _ => OpenError::Http { at, status, snippet },
            }
        }
        (Address::WebSocket(_), _) => match garbage(&connection.tap().snapshot()) {
            Some(came) => OpenError::NotMcp { at, came },
            None if connection.is_flooded() => OpenError::Flood { at },
            None => OpenError::Timeout { at, waited_for, after },
        },
        (_, Some(_)) if exchange.closed() == Some(Closed::End) && exchange.body().is_some() => {
            OpenError::NotMcp { at, came: shown(&exchange.body().unwrap_or_default()) }
        }
        _ if connection.is_flooded() => OpenError::Flood { at },
        _ => exchange.failure(at, after, waited_for),
    }
}

/// The first thing the peer said that is no message.
fn garbage(trace: &Trace) -> Option<String> {
    let said = trace.frames.iter().filter(|frame| frame.from == Party::Server);
    said.filter(|frame| matches!(Event::of(frame), Event::Malformed(_))).find_map(|frame| match &frame.content {
        Content::Line { bytes, .. } | Content::WebSocket { bytes, .. } => Some(shown(bytes)),
        _ => None,
    })
}

/// The beginning of what came.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 10)]).trim().to_owned();
    if text.is_empty() { "an empty body".to_owned() } else { text }
}
