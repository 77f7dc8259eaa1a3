//! A client with faults on its connection: a [`Connector`] that wraps another one and alters what goes out and what comes
//! in. The client knows nothing of it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use ::client::{BoxFuture, Carrier, Connector, Direct, Opening};
use net::client::{Connection, Exchange, OpenError, Outgoing, SendError};
use serde_json::Value;
use wire::message::{self, Packet};
use wire::{Era, Kind as MessageKind, Message, Transport};

use super::{Fault, Kind, is};

/// How late a cancelled question is answered: too late to have crossed the cancellation.
const LATE_ANSWER: Duration = Duration::from_millis(700);

/// Connections with these faults; plain ones where there are none.
pub fn connector(faults: &[&'static Fault]) -> Arc<dyn Connector> {
    if faults.is_empty() {
        return Arc::new(Direct);
    }
    Arc::new(FaultHooks(Arc::new(Shared { faults: faults.to_vec(), ..Shared::default() })))
}

/// What the sessions of one client share.
#[derive(Default)]
struct Shared {
    faults: Vec<&'static Fault>,
    /// The additional messages were sent.
    added: AtomicBool,
    /// Nothing is sent any more.
    choked: AtomicBool,
    /// The first cursor that went out.
    cursor: OnceLock<Value>,
}

/// Opens plain connections and wraps them.
struct FaultHooks(Arc<Shared>);

impl Connector for FaultHooks {
    fn open<'a>(&'a self, opening: Opening<'a>) -> BoxFuture<'a, Result<Arc<dyn Carrier>, OpenError>> {
        let state = State { era: opening.revision.era(), questions: BTreeSet::new(), cancelled: BTreeSet::new() };
        Box::pin(async move {
            let inner = Direct.open(opening).await?;
            let session = Session { inner, shared: self.0.clone(), state: Mutex::new(state) };
            Ok(Arc::new(FaultyCarrier(Arc::new(session))) as Arc<dyn Carrier>)
        })
    }
}

/// Where a message goes.
#[derive(Clone, Copy)]
pub(super) struct Channel {
    pub(super) era: Era,
    pub(super) transport: Transport,
}

/// One message, and what goes out around it.
#[derive(Default)]
struct Plan {
    before: Vec<Outgoing>,
    /// The message itself, unless it is suppressed.
    message: Option<Outgoing>,
    after: Vec<Outgoing>,
}

struct State {
    era: Era,
    /// The server's open questions, by id as JSON.
    questions: BTreeSet<String>,
    /// Our cancelled requests.
    cancelled: BTreeSet<String>,
}

struct Session {
    inner: Arc<dyn Carrier>,
    shared: Arc<Shared>,
    state: Mutex<State>,
}

impl Session {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&self) -> Channel {
        Channel { era: self.state().era, transport: self.inner.connection().transport() }
    }

    fn faults(&self) -> impl Iterator<Item = &'static Fault> {
        self.shared.faults.iter().copied()
    }

    /// Keeps in mind what a message means for later ones.
    fn note(&self, message: &Value) {
        let mut state = self.state();
        if is(message, "initialize") {
            state.era = Era::Legacy;
        } else if is(message, "notifications/cancelled") {
            state.cancelled.insert(message["params"]["requestId"].to_string());
        } else if super::answers(message) {
            state.questions.remove(&message["id"].to_string());
        }
    }

    async fn send(&self, outgoing: Outgoing) -> Result<Exchange, SendError> {
        let message = outgoing.body().and_then(|body| serde_json::from_slice::<Value>(body).ok());
        let Some(message) = message else { return self.inner.send(outgoing).await };
        self.note(&message);
        // A request's response is not waited for; all else must not be overtaken by what is sent next.
        let waits = message.get("method").is_none() || message.get("id").is_none();
        let plan = self.shared.plan(self.place(), message, outgoing);
        for one in plan.before {
            self.send_one(one, waits).await?;
        }
        let mut carrying = Exchange::none();
        if let Some(one) = plan.message {
            carrying = self.send_one(one, waits).await?;
        }
        for one in plan.after {
            self.send_one(one, waits).await?;
        }
        Ok(carrying)
    }

    async fn send_one(&self, outgoing: Outgoing, waits: bool) -> Result<Exchange, SendError> {
        let exchange = self.inner.send(outgoing).await?;
        if waits {
            exchange.head(self.inner.connection().limits().request).await;
        }
        Ok(exchange)
    }
}

struct FaultyCarrier(Arc<Session>);

impl FaultyCarrier {
    /// The server cancelled a question that is still open.
    fn question_cancelled(&self, id: &Value) {
        let retort = self.0.faults().find_map(|fault| match fault.kind {
            Kind::AnswersCancelled(answer) => Some(answer(id)),
            _ => None,
        });
        if let Some(text) = retort {
            let session = self.0.clone();
            tokio::spawn(async move {
                tokio::time::sleep(LATE_ANSWER).await;
                // Nothing to do where the connection is over.
                drop(session.send(Outgoing::message(text)).await);
            });
        }
    }
}

impl Carrier for FaultyCarrier {
    fn connection(&self) -> &Connection {
        self.0.inner.connection()
    }

    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<Exchange, SendError>> {
        Box::pin(self.0.send(outgoing))
    }

    fn open_stream<'a>(&'a self, last_event_id: Option<&'a str>) -> BoxFuture<'a, Result<Exchange, SendError>> {
        let mut outgoing = Outgoing::bare("GET");
        if let Some(id) = last_event_id {
            if self.0.faults().any(|fault| matches!(fault.kind, Kind::NeverResumes)) {
                return Box::pin(async { Err(SendError::Closed) });
            }
            let after = self.0.faults().find_map(|fault| match fault.kind {
                Kind::ResumesAfter(after) => Some(after(id)),
                _ => None,
            });
            outgoing = outgoing.header("last-event-id", after.unwrap_or_else(|| id.to_owned()));
        }
        let outgoing = self.0.faults().fold(outgoing, |outgoing, fault| match fault.kind {
            Kind::Opens(open) => open(outgoing),
            _ => outgoing,
        });
        self.0.inner.send(outgoing)
    }

    fn received(&self, message: Message) -> Message {
        let message = self.0.inner.received(message);
        let id = message.value()["id"].to_string();
        match message.kind() {
            MessageKind::Request => _ = self.0.state().questions.insert(id),
            MessageKind::Notification if message.method() == Some("notifications/cancelled") => {
                let question = message.value()["params"]["requestId"].clone();
                let open = self.0.state().questions.remove(&question.to_string());
                if open {
                    self.question_cancelled(&question);
                }
            }
            MessageKind::Notification => {}
            MessageKind::Result | MessageKind::Error if self.0.state().cancelled.contains(&id) => {
                self.0.shared.choke();
            }
            MessageKind::Result | MessageKind::Error => return self.0.shared.misread(self.0.place(), message),
        }
        message
    }

    fn resume_delay(&self, stream: &Exchange) -> Duration {
        let at_once = |fault: &Fault| matches!(fault.kind, Kind::ResumesAtOnce | Kind::NeverResumes);
        if self.0.faults().any(at_once) { Duration::ZERO } else { self.0.inner.resume_delay(stream) }
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        if self.0.faults().any(|fault| matches!(fault.kind, Kind::Vanishes)) {
            return Box::pin(self.connection().kill());
        }
        self.0.inner.close()
    }
}

impl Shared {
    fn in_place(&self, place: Channel) -> impl Iterator<Item = &'static Fault> {
        self.faults.iter().copied().filter(move |fault| fault.shows_in(place))
    }

    /// An answer came to a cancelled request.
    fn choke(&self) {
        if self.faults.iter().any(|fault| matches!(fault.kind, Kind::Chokes)) {
            self.choked.store(true, Ordering::Relaxed);
        }
    }

    /// What the client reads instead of a response.
    fn misread(&self, place: Channel, answer: Message) -> Message {
        let mut value = answer.value().clone();
        let mut altered = false;
        for fault in self.in_place(place) {
            if let (Kind::Receives(alter), Some(result)) = (&fault.kind, value.get_mut("result")) {
                altered |= alter(result);
            }
        }
        match message::parse(value.to_string().as_bytes()) {
            Ok(Packet::Message(heard)) if altered => heard,
            _ => answer,
        }
    }

    /// What goes out for a message.
    fn plan(&self, place: Channel, mut message: Value, outgoing: Outgoing) -> Plan {
        if self.choked.load(Ordering::Relaxed) {
            return Plan::default();
        }
        let mut altered = false;
        for fault in self.in_place(place) {
            altered |= match fault.kind {
                Kind::Sends(alter) => alter(&mut message),
                Kind::KeepsCursor => self.keep_cursor(&mut message),
                _ => false,
            };
        }
        let outgoing = if altered { Outgoing::message(message.to_string()) } else { outgoing };
        let mut plan = self.replaced(place, &message, outgoing);
        if may_be_preceded(&message) && !self.added.swap(true, Ordering::Relaxed) {
            let more = self.in_place(place).filter_map(|fault| match fault.kind {
                Kind::AlsoSends(more) => Some(more()),
                _ => None,
            });
            plan.before.splice(0..0, more.flatten().map(Outgoing::message));
        }
        for fault in self.in_place(place) {
            if let Kind::Carries(carry) = fault.kind {
                plan.message = plan.message.map(|outgoing| carry(&message, outgoing));
            }
        }
        plan
    }

    /// The message, or what goes out in its place.
    fn replaced(&self, place: Channel, message: &Value, outgoing: Outgoing) -> Plan {
        let instead = self.in_place(place).find_map(|fault| match fault.kind {
            Kind::Instead(instead) => instead(message),
            _ => None,
        });
        let Some(instead) = instead else { return Plan { message: Some(outgoing), ..Plan::default() } };
        let is_it = |other: &String| serde_json::from_str::<Value>(other).is_ok_and(|other| other == *message);
        let at = instead.iter().position(is_it);
        let mut before: Vec<Outgoing> = instead.into_iter().map(Outgoing::message).collect();
        let after = at.map_or_else(Vec::new, |at| before.split_off(at + 1));
        let message = at.and_then(|_| before.pop());
        Plan { before, message, after }
    }

    /// Puts the first cursor that went out in place of any other.
    fn keep_cursor(&self, message: &mut Value) -> bool {
        let Some(cursor) = message.pointer_mut("/params/cursor") else { return false };
        let first = self.cursor.get_or_init(|| cursor.clone());
        let other = cursor != first;
        cursor.clone_from(first);
        other
    }
}

/// Whether a message is a request after the greeting.
fn may_be_preceded(message: &Value) -> bool {
    let method = message["method"].as_str().unwrap_or_default();
    message.get("id").is_some() && !["", "initialize", "server/discover"].contains(&method)
}
