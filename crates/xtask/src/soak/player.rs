//! One of the clients of a soak: what it does next is thrown by rng, what it must get back is not. It speaks both eras
//! over one connection, and opens others for streams.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use super::http::{Connection, Reply, find};
use super::requests::{self, Session};
use super::{Counts, Plan};

/// How many sessions a client has in use.
const MOST_SESSIONS: usize = 24;
/// How many streams a session may have that belong to no request; the server ends the oldest of more.
const MOST_LISTENING: usize = 3;
/// In how many steps of ten thousand each thing is done; in all others it is a request.
const LISTEN: u64 = 300;
const SUBSCRIBE: u64 = 300;
const CUT: u64 = 250;
const RESUME: u64 = 80;
const ABANDON: u64 = 40;
const CANCEL: u64 = 40;
const TOGGLE: u64 = 3;

/// A random sequence that can be had again (splitmix64).
struct Rng(u64);

impl Rng {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }

    fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }
}

/// A session in use.
struct Live {
    session: Session,
    used: Instant,
    listening: usize,
}

/// A stream that is held open and not read.
struct Open {
    connection: Connection,
    /// The session it belongs to, in the legacy era.
    session: Option<String>,
}

/// A client.
pub(super) struct Player<'p> {
    plan: &'p Plan,
    counts: &'p Counts,
    rng: Rng,
    connection: Connection,
    sessions: Vec<Live>,
    streams: Vec<Open>,
    next: u64,
    opened: u64,
    made: u64,
}

impl<'p> Player<'p> {
    pub(super) fn new(plan: &'p Plan, counts: &'p Counts, number: u64) -> anyhow::Result<Self> {
        let rng = Rng(plan.seed.wrapping_mul(1_000_003).wrapping_add(number));
        let connection = Connection::open(plan.address)?;
        let (sessions, streams) = (Vec::new(), Vec::new());
        Ok(Self { plan, counts, rng, connection, sessions, streams, next: 1, opened: 0, made: 0 })
    }

    /// Makes this client's share of sessions and requests.
    pub(super) fn play(&mut self) -> anyhow::Result<()> {
        let (sessions, requests) = (self.plan.sessions / self.plan.players, self.plan.requests / self.plan.players);
        while self.made < requests && !self.counts.is_over() {
            if self.opened * requests <= self.made * sessions && self.opened < sessions {
                self.open()?;
            }
            self.step()?;
        }
        Ok(())
    }

    fn step(&mut self) -> anyhow::Result<()> {
        let mut roll = self.rng.below(10_000);
        let mut is = |share: u64| {
            let hit = roll < share;
            roll = roll.wrapping_sub(share);
            hit
        };
        let most = self.plan.streams / self.plan.players;
        let room = (self.streams.len() as u64) < most;
        if is(LISTEN) && room {
            self.listen()
        } else if is(SUBSCRIBE) && room {
            self.subscribe()
        } else if is(CUT) {
            self.cut();
            Ok(())
        } else if is(RESUME) {
            self.resume()
        } else if is(ABANDON) {
            self.abandon()
        } else if is(CANCEL) {
            self.cancel()
        } else if is(TOGGLE) {
            self.legacy(requests::TOGGLE)
        } else if self.rng.below(2) == 0 {
            let choice = self.rng.index(usize::MAX);
            self.legacy(requests::usual(choice))
        } else {
            let choice = self.rng.index(usize::MAX);
            self.modern(requests::usual(choice))
        }
    }

    fn exchange(&mut self, request: &[u8]) -> anyhow::Result<Reply> {
        self.made += 1;
        self.counts.request();
        self.connection.exchange(request)
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Opens a session; where there are enough, one of them is deleted, or just left.
    fn open(&mut self) -> anyhow::Result<()> {
        let revision = requests::LEGACY[self.rng.index(requests::LEGACY.len())];
        let reply = self.exchange(&requests::hello(revision))?;
        let session = reply.session.clone().with_context(|| format!("no session: {}", describe(&reply)))?;
        let session = Session { session, revision };
        let reply = self.exchange(&requests::ready(&session))?;
        ensure!(reply.status == 202, "`notifications/initialized`: {}", describe(&reply));
        self.sessions.push(Live { session, used: Instant::now(), listening: 0 });
        self.opened += 1;
        self.counts.opened();
        if self.sessions.len() > MOST_SESSIONS {
            let at = self.rng.index(self.sessions.len());
            let live = self.sessions.swap_remove(at);
            if self.rng.below(2) == 0 {
                self.counts.left();
            } else {
                self.delete(&live)?;
            }
        }
        Ok(())
    }

    /// Deletes a session. Its streams must end with it.
    fn delete(&mut self, live: &Live) -> anyhow::Result<()> {
        let reply = self.exchange(&requests::delete(&live.session))?;
        let lapsed = reply.status == 404 && self.may_have_lapsed(live);
        ensure!(reply.status == 204 || lapsed, "DELETE: {}", describe(&reply));
        let of_it = |open: &mut Open| open.session.as_ref() == Some(&live.session.session);
        for mut open in self.streams.extract_if(.., of_it).collect::<Vec<_>>() {
            self.counts.stream_closed();
            while open.connection.chunk().context("a stream of a deleted session")?.is_some() {}
        }
        self.counts.deleted();
        Ok(())
    }

    /// Whether the session was out of use for so long that the server may have ended it: that is the client's doing.
    fn may_have_lapsed(&self, live: &Live) -> bool {
        live.used.elapsed() * 4 > Duration::from_secs(self.plan.idle.into()) * 3
    }

    /// One of the sessions; none where none is left.
    fn pick(&mut self) -> Option<usize> {
        (!self.sessions.is_empty()).then(|| self.rng.index(self.sessions.len()))
    }

    fn legacy(&mut self, what: (&str, &str)) -> anyhow::Result<()> {
        let Some(at) = self.pick() else { return self.modern(what) };
        let id = self.number();
        let request = requests::legacy(&self.sessions[at].session, id, what);
        let reply = self.exchange(&request)?;
        if reply.status == 404 && self.may_have_lapsed(&self.sessions[at]) {
            self.sessions.swap_remove(at);
            self.counts.lapsed();
            return Ok(());
        }
        self.sessions[at].used = Instant::now();
        is_result(&reply, id).with_context(|| format!("{} {}", what.0, what.1))
    }

    fn modern(&mut self, what: (&str, &str)) -> anyhow::Result<()> {
        let id = self.number();
        let reply = self.exchange(&requests::modern(id, what))?;
        is_result(&reply, id).with_context(|| format!("modern {} {}", what.0, what.1))
    }

    /// Opens a stream of a session and holds it.
    fn listen(&mut self) -> anyhow::Result<()> {
        let Some(at) = self.pick().filter(|at| self.sessions[*at].listening < MOST_LISTENING) else { return Ok(()) };
        let session = self.sessions[at].session.clone();
        let Some(connection) = self.stream(&requests::get(&session, None), Some(at))? else { return Ok(()) };
        self.sessions[at].listening += 1;
        self.hold(connection, Some(session.session));
        Ok(())
    }

    /// Asks for changes in the modern era and holds the stream.
    fn subscribe(&mut self) -> anyhow::Result<()> {
        let request = requests::modern(self.next, requests::LISTEN);
        if let Some(connection) = self.stream(&request, None)? {
            self.hold(connection, None);
        }
        Ok(())
    }

    fn hold(&mut self, connection: Connection, session: Option<String>) {
        self.counts.stream_opened();
        self.streams.push(Open { connection, session });
    }

    /// A stream on a connection of its own, its head read; none where its session has lapsed.
    fn stream(&mut self, request: &[u8], session: Option<usize>) -> anyhow::Result<Option<Connection>> {
        self.made += 1;
        self.counts.request();
        let mut connection = Connection::open(self.plan.address)?;
        let head = connection.begin(request)?;
        if head.status == 404 && session.is_some_and(|at| self.may_have_lapsed(&self.sessions[at])) {
            return Ok(None);
        }
        ensure!(head.status == 200, "a stream was refused with {}", head.status);
        if let Some(at) = session {
            self.sessions[at].used = Instant::now();
        }
        Ok(Some(connection))
    }

    /// Drops the connection of a stream.
    fn cut(&mut self) {
        if self.streams.is_empty() {
            return;
        }
        let at = self.rng.index(self.streams.len());
        let open = self.streams.swap_remove(at);
        let mut live = self.sessions.iter_mut();
        if let Some(live) = live.find(|live| open.session.as_ref() == Some(&live.session.session)) {
            live.listening -= 1;
        }
        self.counts.stream_closed();
    }

    /// Begins a slow call in a session, drops the connection after the first event that has an id, and goes on from there
    /// on another: the answer must come.
    fn resume(&mut self) -> anyhow::Result<()> {
        let Some(at) = self.pick() else { return Ok(()) };
        let (session, id) = (self.sessions[at].session.clone(), self.number());
        let call = requests::slow(3, 2) + requests::TOLD;
        let request = requests::legacy(&session, id, ("tools/call", &call));
        let Some(mut connection) = self.stream(&request, Some(at))? else { return Ok(()) };
        let last = loop {
            let chunk = connection.chunk()?.context("a call's stream ended before its first event")?;
            if let Some(last) = event_id(&chunk) {
                break last;
            }
        };
        drop(connection);
        let request = requests::get(&session, Some(&last));
        let mut connection = self.stream(&request, Some(at))?.context("the session is gone")?;
        let answer = format!(r#""id":{id},"result":"#);
        let mut came = Vec::new();
        while let Some(chunk) = connection.chunk()? {
            came.extend(chunk);
        }
        ensure!(find(&came, answer.as_bytes()).is_some(), "resumed after {last}, but no answer came");
        self.counts.resumed();
        Ok(())
    }

    /// Begins a slow call in a session, drops the connection and never comes back.
    fn abandon(&mut self) -> anyhow::Result<()> {
        let Some(at) = self.pick() else { return Ok(()) };
        let (session, id) = (self.sessions[at].session.clone(), self.number());
        let call = requests::slow(4, 10) + requests::TOLD;
        let request = requests::legacy(&session, id, ("tools/call", &call));
        drop(self.stream(&request, Some(at))?);
        Ok(())
    }

    /// Begins a slow call in the modern era and drops the connection, which cancels it.
    fn cancel(&mut self) -> anyhow::Result<()> {
        let id = self.number();
        let request = requests::modern(id, ("tools/call", &requests::slow(100, 50)));
        drop(self.stream(&request, None)?);
        Ok(())
    }
}

impl Drop for Player<'_> {
    fn drop(&mut self) {
        while !self.streams.is_empty() {
            self.cut();
        }
    }
}

/// The id of the first event in a chunk; our server sends each event as one.
fn event_id(chunk: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(chunk).ok()?;
    text.lines().find_map(|line| line.strip_prefix("id: ")).map(str::to_owned)
}

fn is_result(reply: &Reply, id: u64) -> anyhow::Result<()> {
    let begins = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#);
    // Where something precedes the answer, both come as events.
    let found = reply.body.starts_with(begins.as_bytes()) || find(&reply.body, begins.as_bytes()).is_some();
    if reply.status != 200 || !found {
        bail!("no result: {}", describe(reply));
    }
    Ok(())
}

fn describe(reply: &Reply) -> String {
    let body = String::from_utf8_lossy(&reply.body[..reply.body.len().min(300)]);
    format!("{} {}", reply.status, body.escape_debug())
}
