//! Decides which connection of a trace an HTTP request belongs to. A session is a connection, and so is everything that one
//! client sends outside sessions; sockets do not matter, because a client opens and closes several at will.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyper::HeaderMap;
use hyper::http::request::Parts;
use wire::http::SESSION_ID;
use wire::message::{Packet, parse};
use wire::trace::{Closed, Content};
use wire::{Kind, Party, RequestId};

use super::{ConnectionRecorder, Held, Room};
use crate::tap::{Tap, Written};

/// How many request ids of one client are kept.
const IDS: usize = 1 << 14;
/// How many connections are told apart; what comes after them counts as outside sessions.
const CONNECTIONS: usize = 1 << 16;

/// Records one listener, with a tap for each transport.
#[derive(Debug)]
pub struct HttpRecorder {
    http: Tap,
    sse: Tap,
    websocket: Tap,
    /// Whether several clients may connect one after the other.
    several: bool,
    /// The answering party.
    far: Party,
    room: Room,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By session id, or by the target of an HTTP+SSE endpoint.
    sessions: HashMap<String, ConnectionRecorder>,
    /// The requests outside sessions.
    bare: Option<Bare>,
    /// The requests to the authorization server.
    issuer: Option<ConnectionRecorder>,
    /// Every connection that is not closed.
    open: Vec<ConnectionRecorder>,
    sockets: usize,
    /// How often the last socket was closed.
    departures: u64,
}

/// Everything that one client sends outside sessions.
#[derive(Debug)]
struct Bare {
    connection: ConnectionRecorder,
    ids: HashSet<RequestId>,
    departures: u64,
}

/// Which part an exchange has in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExchangeRole {
    /// Streamable HTTP, and any other request to the same origin.
    Http,
    /// The event stream of HTTP+SSE.
    Stream,
    /// A POST of an HTTP+SSE client.
    Messages,
    /// WebSocket.
    Socket,
    /// An authorization server at the same origin.
    Issuer,
}

/// A socket that is open.
#[derive(Debug)]
pub(crate) struct Socket<'t>(&'t HttpRecorder);

impl Drop for Socket<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.sockets -= 1;
        if state.sockets == 0 {
            state.departures += 1;
        }
    }
}

impl HttpRecorder {
    /// Records everything in one trace of one client.
    pub fn one(tap: &Tap) -> Self {
        Self::new([tap, tap, tap].map(Clone::clone), false)
    }

    /// Records everything in one trace, as requests to an origin that is not the server's.
    pub fn elsewhere(tap: &Tap) -> Self {
        Self { far: Party::Other, ..Self::one(tap) }
    }

    /// One trace each for Streamable HTTP, HTTP+SSE and WebSocket, of clients that may connect one after the other.
    pub fn apart(http: &Tap, sse: &Tap, websocket: &Tap) -> Self {
        Self::new([http, sse, websocket].map(Clone::clone), true)
    }

    fn new([http, sse, websocket]: [Tap; 3], several: bool) -> Self {
        Self { http, sse, websocket, several, far: Party::Server, room: Room::default(), state: Mutex::default() }
    }

    pub(crate) fn socket(&self) -> Socket<'_> {
        self.state().sockets += 1;
        Socket(self)
    }

    /// Room for something whose end has not come.
    pub(crate) fn hold(&self) -> Held {
        self.room.clone().hold()
    }

    /// The current time in the trace of `role`.
    pub(crate) fn now(&self, role: ExchangeRole) -> u64 {
        match role {
            ExchangeRole::Http | ExchangeRole::Issuer => self.http.now(),
            ExchangeRole::Stream | ExchangeRole::Messages => self.sse.now(),
            ExchangeRole::Socket => self.websocket.now(),
        }
    }

    /// Records for every connection that its client is gone. Call it when no socket can be open any more.
    pub fn finish(&self) {
        let mut state = self.state();
        for connection in std::mem::take(&mut state.open) {
            connection.closed(Party::Client, Closed::End);
        }
    }

    /// Whether every socket that was opened is closed again.
    pub fn is_deserted(&self) -> bool {
        self.state().sockets == 0
    }

    /// The connection of a request that came at `at`.
    pub(crate) fn connection(
        &self,
        role: ExchangeRole,
        head: &Parts,
        body: Option<&[u8]>,
        at: u64,
    ) -> ConnectionRecorder {
        let mut state = self.state();
        let named = match role {
            ExchangeRole::Http => session(&head.headers).map(str::to_owned),
            ExchangeRole::Messages => head.uri.path_and_query().map(ToString::to_string),
            ExchangeRole::Stream | ExchangeRole::Socket | ExchangeRole::Issuer => None,
        };
        if let Some(connection) = named.and_then(|name| state.sessions.get(&name).cloned()) {
            return connection;
        }
        match role {
            ExchangeRole::Stream if state.has_room() => state.open(&self.sse, self.far, at),
            // It opens when the handshake is complete.
            ExchangeRole::Socket => ConnectionRecorder::next(&self.websocket),
            ExchangeRole::Issuer => state.issuer(&self.http, at),
            ExchangeRole::Http if opens(body) && state.has_room() => state.open(&self.http, self.far, at),
            ExchangeRole::Http => state.bare(&self.http, self, body, at),
            ExchangeRole::Stream | ExchangeRole::Messages => state.bare(&self.sse, self, body, at),
        }
    }

    /// Whether `head`'s target is known as an HTTP+SSE endpoint.
    pub(crate) fn is_endpoint(&self, head: &Parts) -> bool {
        head.uri.path_and_query().is_some_and(|target| self.state().sessions.contains_key(target.as_str()))
    }

    /// Keeps the name that a response gives to a connection.
    pub(crate) fn named(&self, connection: &ConnectionRecorder, name: &str) {
        let mut state = self.state();
        if state.sessions.len() >= CONNECTIONS {
            return;
        }
        state.sessions.entry(name.to_owned()).or_insert_with(|| connection.clone());
    }

    /// Records that the client ended its session.
    pub(crate) fn ended(&self, connection: &ConnectionRecorder) {
        let mut state = self.state();
        let before = state.open.len();
        state.open.retain(|open| open.number != connection.number);
        if state.open.len() < before {
            connection.closed(Party::Client, Closed::End);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_room(&self) -> bool {
        self.open.len() < CONNECTIONS
    }

    /// A connection that began when its first request came.
    fn open(&mut self, tap: &Tap, far: Party, at: u64) -> ConnectionRecorder {
        let connection = ConnectionRecorder::next(tap).of(far);
        connection.write_since(at, Party::Client, 0, Content::Opened, Written::NONE);
        self.open.push(connection.clone());
        connection
    }

    /// The connection of all requests to an authorization server.
    fn issuer(&mut self, tap: &Tap, at: u64) -> ConnectionRecorder {
        if let Some(connection) = &self.issuer {
            return connection.clone();
        }
        let connection = self.open(tap, Party::AuthorizationServer, at);
        self.issuer = Some(connection.clone());
        connection
    }

    /// The connection of requests outside sessions. Where several clients may connect, one that left and starts its ids over
    /// is another client.
    fn bare(&mut self, tap: &Tap, recorder: &HttpRecorder, body: Option<&[u8]>, at: u64) -> ConnectionRecorder {
        let id = body.and_then(asked);
        let departures = self.departures;
        let known = self.bare.as_ref().filter(|bare| {
            let went = bare.departures != departures;
            !(recorder.several && went && id.as_ref().is_some_and(|id| bare.ids.contains(id)))
        });
        let connection = if let Some(bare) = known {
            bare.connection.clone()
        } else {
            let connection = self.open(tap, recorder.far, at);
            self.bare = Some(Bare { connection: connection.clone(), ids: HashSet::new(), departures });
            connection
        };
        if let Some(bare) = &mut self.bare {
            bare.departures = departures;
            bare.ids.extend(id.filter(|_| bare.ids.len() < IDS));
        }
        connection
    }
}

/// The session that headers name.
pub(crate) fn session(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_ID)?.to_str().ok()
}

/// The id of a request.
fn asked(body: &[u8]) -> Option<RequestId> {
    match parse(body).ok()? {
        Packet::Message(message) if message.kind() == Kind::Request => message.id().cloned(),
        _ => None,
    }
}

/// Whether a body opens a session.
fn opens(body: Option<&[u8]>) -> bool {
    let Some(Ok(Packet::Message(message))) = body.map(parse) else { return false };
    message.kind() == Kind::Request && message.method() == Some("initialize")
}
