//! Which connection of a trace an HTTP request belongs to. Sockets say little: a client opens several and drops them at
//! will. A session is a connection, and so is everything that one client sends outside sessions.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyper::HeaderMap;
use hyper::http::request::Parts;
use wire::http::SESSION_ID;
use wire::message::{Packet, parse};
use wire::trace::{Closed, Content};
use wire::{Kind, Party, RequestId};

use super::ConnectionRecorder;
use crate::tap::{Tap, Written};

/// How many ids of one client are remembered.
const IDS: usize = 1 << 14;

/// The taps of one listener, for each transport one.
#[derive(Debug)]
pub struct HttpRecorder {
    http: Tap,
    sse: Tap,
    websocket: Tap,
    /// Whether clients may come one after the other.
    several: bool,
    /// Who answers.
    far: Party,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By session id, or by where an HTTP+SSE endpoint is.
    sessions: HashMap<String, ConnectionRecorder>,
    /// What comes outside sessions.
    bare: Option<Bare>,
    /// What is asked of the authorization server.
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

/// What a path leads to, as far as the trace is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExchangeRole {
    /// Streamable HTTP, and whatever else is asked of the same origin.
    Http,
    /// The event stream of HTTP+SSE.
    Stream,
    /// Where an HTTP+SSE client posts.
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
    /// Everything goes into one trace, which is of one client.
    pub fn one(tap: &Tap) -> Self {
        Self::new([tap, tap, tap].map(Clone::clone), false)
    }

    /// Everything goes into one trace, as what is asked of an origin that is not the server's.
    pub fn elsewhere(tap: &Tap) -> Self {
        Self { far: Party::Other, ..Self::one(tap) }
    }

    /// A trace each for Streamable HTTP, HTTP+SSE and WebSocket, of clients that may come one after the other.
    pub fn apart(http: &Tap, sse: &Tap, websocket: &Tap) -> Self {
        Self::new([http, sse, websocket].map(Clone::clone), true)
    }

    fn new([http, sse, websocket]: [Tap; 3], several: bool) -> Self {
        Self { http, sse, websocket, several, far: Party::Server, state: Mutex::default() }
    }

    pub(crate) fn socket(&self) -> Socket<'_> {
        self.state().sockets += 1;
        Socket(self)
    }

    /// The time that a request which comes now is written down with.
    pub(crate) fn now(&self, role: ExchangeRole) -> u64 {
        match role {
            ExchangeRole::Http | ExchangeRole::Issuer => self.http.now(),
            ExchangeRole::Stream | ExchangeRole::Messages => self.sse.now(),
            ExchangeRole::Socket => self.websocket.now(),
        }
    }

    /// Says of every connection that its client is gone. To be called once no socket can be open any more.
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

    /// The pen for a request that came at `at`.
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
            ExchangeRole::Stream => state.open(&self.sse, self.far, at),
            // It is open once the handshake is over.
            ExchangeRole::Socket => ConnectionRecorder::next(&self.websocket),
            ExchangeRole::Issuer => state.issuer(&self.http, at),
            ExchangeRole::Http if opens(body) => state.open(&self.http, self.far, at),
            ExchangeRole::Http => state.bare(&self.http, self, body, at),
            ExchangeRole::Messages => state.bare(&self.sse, self, body, at),
        }
    }

    /// Whether an HTTP+SSE client posts to `head`'s target, as far as anything told.
    pub(crate) fn is_endpoint(&self, head: &Parts) -> bool {
        head.uri.path_and_query().is_some_and(|target| self.state().sessions.contains_key(target.as_str()))
    }

    /// Takes note of the name that a response gives to a connection.
    pub(crate) fn named(&self, connection: &ConnectionRecorder, name: &str) {
        self.state().sessions.entry(name.to_owned()).or_insert_with(|| connection.clone());
    }

    /// A session was ended by its client.
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
    /// A connection that began when its first request came.
    fn open(&mut self, tap: &Tap, far: Party, at: u64) -> ConnectionRecorder {
        let connection = ConnectionRecorder::next(tap).of(far);
        connection.write_since(at, Party::Client, 0, Content::Opened, Written::NONE);
        self.open.push(connection.clone());
        connection
    }

    /// The connection of all that an authorization server is asked.
    fn issuer(&mut self, tap: &Tap, at: u64) -> ConnectionRecorder {
        if let Some(connection) = &self.issuer {
            return connection.clone();
        }
        let connection = self.open(tap, Party::AuthorizationServer, at);
        self.issuer = Some(connection.clone());
        connection
    }

    /// The connection of what comes outside sessions. A client that went and counts its ids anew is another one, where
    /// several may come.
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
