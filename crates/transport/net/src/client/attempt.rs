//! One revision offered on a connection of its own, and the outcome. What follows from it is decided in [`super::detect`].

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use wire::trace::{Closed, Content, Event, Trace, header};
use wire::{Era, Kind, Message, Party, RequestId, Revision};

use super::negotiation::{Negotiation, first_request, suggests_old_transport};
use super::{Address, ChildView, ConnectOptions, Connection, Exchange, OpenError, SendError};
use crate::tap::Tap;

/// Tells concurrent attempts how fast the first of them were answered.
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

    /// Records an answer after `time`; whether it was the era's first.
    fn note(&mut self, era: Era, time: Duration) -> bool {
        let first = match era {
            Era::Legacy => &mut self.legacy,
            Era::Modern => &mut self.modern,
        };
        let is_first = first.is_none();
        first.get_or_insert(time);
        is_first
    }

    /// The timeout of an attempt of `era` once others were answered: legacy servers may ignore `server/discover`. An answer
    /// in the modern era says little about `initialize`: one known SDK refuses the former at once and takes a second for
    /// the latter.
    fn patience(self, era: Era) -> Option<Duration> {
        let (first, grace) = match (era, self.legacy, self.modern) {
            (Era::Legacy, Some(first), _) => (first, 1),
            (Era::Legacy, None, other) => (other?, 4),
            (Era::Modern, other, own) => (own.or(other)?, 1),
        };
        Some(first * 2 + Duration::from_secs(grace))
    }
}

/// How long a child may take to end here. Whether it ends as it should is examined later, with longer timeouts.
pub(crate) const SHUTDOWN: Duration = Duration::from_millis(300);

/// A revision to offer.
pub(crate) struct Offer {
    pub(crate) revision: Revision,
    /// What our side says that it can do.
    pub(crate) capabilities: Value,
    /// How long an answer is waited for.
    pub(crate) patience: Duration,
    /// Whether the connection is kept where the server agrees.
    pub(crate) keep: bool,
}

/// A connection on which the first request of a revision was put, and the server agreed to it. Nothing else was said.
pub struct Greeted {
    /// The revision.
    pub revision: Revision,
    /// The connection. Dropped, a child process is killed.
    pub connection: Connection,
    /// Where its frames are recorded.
    pub tap: Tap,
    /// The answer. The request had the id 1.
    pub answer: Message,
    /// The time from the start to the answer.
    pub took: Duration,
}

impl Greeted {
    /// Ends it in order, but does not wait long.
    pub async fn close(self) {
        self.connection.close_within(SHUTDOWN).await;
    }
}

/// The outcome of an attempt.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The answer to the first request.
    Answer(Message),
    /// No answer.
    NoAnswer(OpenError),
}

#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) revision: Revision,
    pub(crate) outcome: Outcome,
    /// The HTTP status of the response, where it held no result.
    status: Option<u16>,
    /// Where a redirect leads.
    location: Option<String>,
    pub(crate) trace: Option<Trace>,
}

impl Attempt {
    const fn of(revision: Revision, outcome: Outcome) -> Self {
        Self { revision, outcome, status: None, location: None, trace: None }
    }

    /// Not made: all of the time was spent on attempts without an answer.
    pub(crate) fn skipped(address: &Address, revision: Revision, after: Duration) -> Self {
        let error = OpenError::Timeout { at: address.to_string(), waited_for: "answer", after };
        Self::of(revision, Outcome::NoAnswer(error))
    }

    pub(crate) fn redirect(&self) -> Option<String> {
        self.location.clone()
    }

    pub(crate) const fn exited(&self) -> bool {
        matches!(self.outcome, Outcome::NoAnswer(OpenError::Exited { .. }))
    }

    pub(crate) const fn timed_out(&self) -> bool {
        matches!(self.outcome, Outcome::NoAnswer(OpenError::Timeout { .. }))
    }

    /// The revisions of its own era that the answer names.
    pub(crate) fn named(&self) -> Vec<Revision> {
        let era = self.revision.era();
        let Outcome::Answer(answer) = &self.outcome else { return Vec::new() };
        let (Negotiation::Introduced(named) | Negotiation::VersionRefused(named)) = Negotiation::read(answer, era)
        else {
            return Vec::new();
        };
        named
            .iter()
            .filter_map(|version| version.parse().ok())
            .filter(|revision: &Revision| revision.era() == era)
            .collect()
    }

    pub(crate) const fn is_unauthorized(&self) -> bool {
        matches!(self.outcome, Outcome::NoAnswer(OpenError::Unauthorized { .. }))
    }

    pub(crate) fn suggests_old_transport(&self) -> bool {
        self.status.is_some_and(suggests_old_transport)
    }

    pub(crate) const fn is_answered(&self) -> bool {
        matches!(self.outcome, Outcome::Answer(_))
    }

    /// The result that names the revision which was offered, if it is one.
    pub(crate) fn agreement(&self) -> Option<&Message> {
        let Outcome::Answer(answer) = &self.outcome else { return None };
        (answer.kind() == Kind::Result && self.named().contains(&self.revision)).then_some(answer)
    }

    pub(crate) fn has_result(&self) -> bool {
        matches!(&self.outcome, Outcome::Answer(answer) if answer.kind() == Kind::Result)
    }
}

/// Opens a connection, sends the first request of the revision and waits for the answer. The connection ends then, unless
/// the server agrees and it is to be kept.
pub(crate) async fn attempt(
    address: &Address,
    offer: &Offer,
    tap: Tap,
    options: &ConnectOptions,
    pace: &Pace,
) -> (Attempt, Option<Greeted>) {
    let (begun, revision) = (Instant::now(), offer.revision);
    let mut attempt = match Connection::open(address, revision, &tap, options).await {
        Err(error) => Attempt::of(revision, Outcome::NoAnswer(error)),
        Ok(connection) => {
            let attempt = converse(address, &connection, offer, pace, begun).await;
            if let Some(answer) = attempt.agreement().filter(|_| offer.keep).cloned() {
                let greeted = Greeted { revision, connection, tap, answer, took: begun.elapsed() };
                return (attempt, Some(greeted));
            }
            connection.close_within(SHUTDOWN).await;
            attempt
        }
    };
    attempt.trace = Some(tap.finish());
    (attempt, None)
}

async fn converse(address: &Address, connection: &Connection, offer: &Offer, pace: &Pace, begun: Instant) -> Attempt {
    let (id, revision) = (RequestId::from(1), connection.revision());
    let text = first_message(1, revision, &offer.capabilities);
    let exchange = match connection.send(&text).await {
        Ok(exchange) => exchange,
        Err(SendError::Open(error)) => return Attempt::of(revision, Outcome::NoAnswer(error)),
        Err(_) => Exchange::none(),
    };
    let answer = tokio::select! {
        answer = connection.response(&id, offer.patience) => answer,
        () = overdue(pace, revision.era(), begun) => None,
        () = connection.echoed(&text) => {
            return Attempt::of(revision, Outcome::NoAnswer(OpenError::Echo { at: address.to_string() }));
        }
    };
    let outcome = match answer.or_else(|| exchange.error_without_id()) {
        None => Outcome::NoAnswer(failure_of(address, connection, &exchange, begun).await),
        Some(answer) => {
            pace.send_if_modified(|firsts| firsts.note(revision.era(), begun.elapsed()));
            if answer.kind() == Kind::Result {
                return Attempt::of(revision, Outcome::Answer(answer));
            }
            Outcome::Answer(answer)
        }
    };
    let (status, location) = (exchange.status(), redirect_target(&exchange).await);
    Attempt { status, location, ..Attempt::of(revision, outcome) }
}

/// Resolves when an attempt of `era` has had the time that the answers to the others allow.
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

/// The first request of a revision.
pub(crate) fn first_message(id: i64, revision: Revision, capabilities: &Value) -> String {
    let client = json!({ "name": "proofhouse", "version": env!("CARGO_PKG_VERSION") });
    let (method, params) = first_request(revision, &client, capabilities);
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// The target of a redirect.
pub async fn redirect_target(exchange: &Exchange) -> Option<String> {
    let (status, headers) = exchange.head(Duration::ZERO).await?;
    (300..400).contains(&status).then(|| header(&headers, "location").map(str::to_owned))?
}

/// Why there was no answer to the first request on `connection`, which `exchange` carried.
pub async fn failure_of(address: &Address, connection: &Connection, exchange: &Exchange, begun: Instant) -> OpenError {
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

/// The first line or frame of the peer that is not a message.
fn garbage(trace: &Trace) -> Option<String> {
    let sent = trace.frames.iter().filter(|frame| frame.from == Party::Server);
    sent.filter(|frame| matches!(Event::of(frame), Event::Malformed(_))).find_map(|frame| match &frame.content {
        Content::Line { bytes, .. } | Content::WebSocket { bytes, .. } => Some(shown(bytes)),
        _ => None,
    })
}

/// The beginning of what was received.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 10)]).trim().to_owned();
    if text.is_empty() { "an empty body".to_owned() } else { text }
}
