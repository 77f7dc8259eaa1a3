//! Everything that crossed: frames go to the ring on disk, rows to the table, and those who follow are woken. One lock; what is
//! done under it is short. Knows no HTTP and sends nothing.

mod sessions;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;
use wire::redact::Redactor;
use wire::trace::file::{read_frame, write_frame};
use wire::trace::{Content, Frame, Header};

use crate::assemble::Assembler;
use crate::judging::Finding;
use crate::query::Bodies;
use crate::ring::{Piece, Place, Ring};
use crate::rows::{Direction, Row, RowKind, Status, Table};

pub use sessions::SessionState;

/// After how long without a sign of life a request hangs, in microseconds, where its client's timeout is not known.
const HUNG: u64 = 60_000_000;
/// How much longer a request may take whose client's timeout is known: the client gives it up first.
const GRACE: u64 = 5_000_000;
/// How much of a session is judged: beyond that, its findings stay as they are.
const JUDGED_FRAMES: usize = 20_000;
const JUDGED_BYTES: usize = 16 << 20;

/// Bounds of what is kept.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bytes of frames on disk.
    pub ring: u64,
    /// Rows in memory.
    pub rows: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { ring: 256 << 20, rows: 250_000 }
    }
}

/// What changed, by numbers that only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version {
    /// The last change of the table.
    pub seq: u64,
    /// The last change of targets, sessions, questions or findings.
    pub state: u64,
}

/// The store of one run.
pub struct Hub {
    inner: Mutex<Inner>,
    version: watch::Sender<Version>,
    redactor: Redactor,
    begun: Instant,
    /// When it began, in microseconds since 1970.
    wall: u64,
}

/// What the lock protects.
pub(crate) struct Inner {
    pub(crate) table: Table,
    pub(crate) ring: Ring,
    pub(crate) sessions: Vec<Session>,
    /// Why frames are not written any more.
    pub(crate) failed: Option<String>,
    /// How many frames could not be written.
    pub(crate) unwritten: u64,
}

/// One session: one trace.
pub(crate) struct Session {
    pub(crate) target: u32,
    pub(crate) header: Header,
    pub(crate) began: u64,
    pub(crate) ended: Option<u64>,
    pub(crate) assembler: Assembler,
    /// After how long without a sign of life its requests hang, in microseconds.
    patience: u64,
    /// Its frames, but for those that were dropped.
    pub(crate) stored: VecDeque<Stored>,
    pub(crate) dropped: u32,
    pub(crate) rows: u64,
    /// Its beginning, which is judged, and the row of each frame.
    pub(crate) judged: Vec<Frame>,
    pub(crate) owners: Vec<u64>,
    judged_bytes: usize,
    /// Why it is not judged any further.
    pub(crate) unjudged: Option<String>,
    /// Whether frames came since it was judged.
    pub(crate) is_fresh: bool,
    /// Whether it holds the connections of many clients, recorded by another clock.
    pub(crate) is_shared: bool,
    /// Whether only messages are seen, and those before it are not known.
    pub(crate) begins_late: bool,
    pub(crate) findings: Vec<Placed>,
}

/// A frame of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    /// Where it is; `None` where it could not be written.
    pub(crate) place: Option<Place>,
    /// Whether secrets in it were replaced.
    pub(crate) redacted: bool,
}

/// A finding with its place in the list.
#[derive(Clone, Debug)]
pub struct Placed {
    /// What was found.
    pub finding: Finding,
    /// Its row.
    pub row: u64,
    /// Its frame within the session.
    pub frame: u32,
}

impl Inner {
    /// The place of a frame of a session, if it is still kept.
    pub(crate) fn piece(&self, session: u32, frame: u32) -> Option<Piece> {
        self.ring.piece(self.stored(session, frame)?.place?)
    }

    fn stored(&self, session: u32, frame: u32) -> Option<&Stored> {
        let session = self.session(session)?;
        session.stored.get(frame.checked_sub(session.dropped)? as usize)
    }

    /// The session of this number.
    pub(crate) fn session(&self, number: u32) -> Option<&Session> {
        self.sessions.get((number as usize).checked_sub(1)?)
    }

    /// The same, to be changed.
    pub(crate) fn session_mut(&mut self, number: u32) -> Option<&mut Session> {
        self.sessions.get_mut((number as usize).checked_sub(1)?)
    }

    fn append(&mut self, line: &str) -> Option<Place> {
        match self.ring.append(line.as_bytes()) {
            Ok(place) => {
                self.failed = None;
                Some(place)
            }
            Err(error) => {
                self.failed = Some(error.to_string());
                self.unwritten += 1;
                None
            }
        }
    }

    /// Forgets the places and rows whose bytes went.
    fn forget(&mut self) {
        for session in &mut self.sessions {
            while let Some(stored) = session.stored.front()
                && stored.place.is_none_or(|place| !self.ring.holds(place))
            {
                session.stored.pop_front();
                session.dropped += 1;
            }
        }
        for _ in 0..self.without_bytes() {
            self.table.drop_oldest();
        }
    }

    /// How many of the oldest rows have nothing left on disk. A row without frames goes with the next one that has some.
    fn without_bytes(&self) -> usize {
        let mut count = 0;
        for (index, (_, row)) in self.table.iter().enumerate() {
            let Some(newest) = row.parts.newest() else { continue };
            let dropped = self.session(row.session).map_or(0, |session| session.dropped);
            if newest >= dropped {
                break;
            }
            count = index + 1;
        }
        count
    }
}

/// How many bytes are read from the ring in one turn, and at most of one row for one term.
const READ: usize = 1 << 20;
const READ_OF_ROW: usize = 64 << 20;
/// What reading a frame costs besides its bytes.
const READ_COST: usize = 256;

/// Reads the frames of rows from the ring.
pub(crate) struct Frames<'i> {
    inner: &'i Inner,
    read: Cell<usize>,
}

impl<'i> Frames<'i> {
    pub(crate) const fn new(inner: &'i Inner) -> Self {
        Self { inner, read: Cell::new(0) }
    }
}

impl Bodies for Frames<'_> {
    fn contain(&self, row: &Row, bytes: &[u8]) -> bool {
        let before = self.read.get();
        let pieces = row.parts.iter().filter_map(|frame| self.inner.piece(row.session, frame));
        let read = |piece: Piece| {
            let line = piece.read().ok()?;
            self.read.set(self.read.get() + line.len() + READ_COST);
            Some(line)
        };
        let mut lines = pieces.take_while(|_| self.read.get() - before < READ_OF_ROW).filter_map(read);
        lines.any(|line| memchr::memmem::find(&line, bytes).is_some())
    }

    fn is_tired(&self) -> bool {
        self.read.get() >= READ
    }
}

impl Hub {
    /// An empty store. What `redactor` takes for a secret is replaced before it is kept.
    pub fn new(bounds: Bounds, redactor: Redactor) -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let inner = Inner {
            table: Table::new(bounds.rows),
            ring: Ring::new(bounds.ring),
            sessions: Vec::new(),
            failed: None,
            unwritten: 0,
        };
        Self {
            inner: Mutex::new(inner),
            version: watch::Sender::new(Version::default()),
            redactor: redactor.watching(),
            begun: Instant::now(),
            wall: u64::try_from(wall.as_micros()).unwrap_or(u64::MAX),
        }
    }

    /// Locks it.
    pub(crate) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Microseconds since the launch.
    pub fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// When it began, in microseconds since 1970.
    pub const fn wall(&self) -> u64 {
        self.wall
    }

    /// What replaces secrets.
    pub(crate) const fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Follows changes.
    pub fn follow(&self) -> watch::Receiver<Version> {
        self.version.subscribe()
    }

    /// Says that targets, sessions, questions or findings changed.
    pub(crate) fn state_changed(&self) {
        self.version.send_modify(|version| version.state += 1);
    }

    pub(crate) fn rows_changed(&self, seq: u64) {
        self.version.send_if_modified(|version| {
            let is_newer = seq > version.seq;
            version.seq = version.seq.max(seq);
            is_newer
        });
    }

    /// Begins a session of `target`; returns its number.
    pub fn begin(&self, target: u32, header: Header) -> u32 {
        self.begin_at(target, header, self.now())
    }

    /// Begins a session with the traffic of many clients, whose times count from its recorder's start. It is not judged: a
    /// trace has one revision, and clients may have several.
    pub fn begin_shared(&self, target: u32, header: Header) -> u32 {
        let number = self.begin_at(target, header, 0);
        if let Some(session) = self.inner().session_mut(number) {
            session.is_shared = true;
        }
        self.leave_unjudged(number, "it holds many clients: check the file with `proof check --trace`");
        number
    }

    /// Begins a session with the messages of many clients that are seen from now on. It is not judged: what was said before is
    /// not known.
    pub(crate) fn begin_in_the_middle(&self, target: u32, header: Header) -> u32 {
        let number = self.begin_at(target, header, 0);
        let began = self.now();
        if let Some(session) = self.inner().session_mut(number) {
            (session.is_shared, session.begins_late, session.began) = (true, true, began);
        }
        self.leave_unjudged(number, "what was said before is not known");
        number
    }

    fn begin_at(&self, target: u32, header: Header, began: u64) -> u32 {
        let mut inner = self.inner();
        let number = u32::try_from(inner.sessions.len() + 1).unwrap_or(u32::MAX);
        let assembler = Assembler::new(target, number, began);
        inner.sessions.push(Session::new(target, header, began, assembler));
        drop(inner);
        self.state_changed();
        number
    }

    /// Takes a frame of a session in.
    pub fn take(&self, session: u32, frame: &Frame) {
        self.record(session, frame);
    }

    /// The same; returns the row that it belongs to.
    pub(crate) fn record(&self, session: u32, frame: &Frame) -> Option<u64> {
        let redacted = self.redactor.redact_frame(frame);
        let was_redacted = redacted.content != frame.content;
        self.keep(session, redacted, was_redacted)
    }

    fn keep(&self, number: u32, frame: Frame, redacted: bool) -> Option<u64> {
        let line = write_frame(&frame);
        let mut guard = self.inner();
        let inner = &mut *guard;
        let dropped = inner.ring.dropped();
        let place = inner.append(&line);
        let ends = frame.exchange == 0 && matches!(&frame.content, Content::Closed(_) | Content::Exit { .. });
        let ended = ends.then(|| self.now());
        let Inner { table, sessions, .. } = inner;
        let session = sessions.get_mut((number as usize).wrapping_sub(1))?;
        session.stored.push_back(Stored { place, redacted });
        let next = table.next();
        let tasks = session.assembler.tasks().changes();
        let row = session.assembler.take(table, &frame, redacted);
        let is_of_task = session.assembler.tasks().changes() != tasks;
        session.rows += u64::from(table.next() > next);
        session.ended = session.ended.or(ended.filter(|_| !session.is_shared));
        session.note(frame, row.unwrap_or(0));
        if inner.ring.dropped() != dropped {
            inner.forget();
        }
        let seq = inner.table.seq();
        drop(guard);
        self.rows_changed(seq);
        if ended.is_some() || is_of_task {
            self.state_changed();
        }
        row
    }

    /// Ends a session: nothing more comes.
    pub fn end(&self, number: u32) {
        let now = self.now();
        let mut guard = self.inner();
        let Inner { table, sessions, .. } = &mut *guard;
        let Some(session) = sessions.get_mut((number as usize).wrapping_sub(1)) else { return };
        session.ended = session.ended.or(Some(now));
        session.is_fresh = true;
        session.assembler.end(table);
        let seq = table.seq();
        drop(guard);
        self.rows_changed(seq);
        self.state_changed();
    }

    /// Ends a session whose messages are not seen any more: what is open goes on, unseen.
    pub(crate) fn close(&self, number: u32) {
        let now = self.now();
        if let Some(session) = self.inner().session_mut(number) {
            session.ended = session.ended.or(Some(now));
        }
    }

    /// Adds a row that no frame caused: something that the client noticed.
    pub fn remark(&self, target: u32, session: u32, text: &str) {
        let mut row = Row::new(target, session, RowKind::Mark, Direction::Out, self.now());
        row.name = crate::naming::shortened(&self.redactor.redact_text(text));
        self.add(row);
    }

    /// Adds a row that no frame caused.
    pub(crate) fn add(&self, row: Row) {
        let mut inner = self.inner();
        inner.table.push(row);
        let seq = inner.table.seq();
        drop(inner);
        self.rows_changed(seq);
    }

    /// What has waited too long hangs from now on.
    pub fn hang(&self) {
        self.hang_at(self.now());
    }

    fn hang_at(&self, now: u64) {
        let mut guard = self.inner();
        let Inner { table, sessions, .. } = &mut *guard;
        for session in sessions.iter().filter(|session| session.ended.is_none() && !session.is_shared) {
            session.assembler.hang(table, now.saturating_sub(session.patience));
        }
        let seq = table.seq();
        drop(guard);
        self.rows_changed(seq);
    }

    /// The client of a session gives requests up after `timeout` without a sign of life.
    fn has_timeout(&self, number: u32, timeout: Duration) {
        let timeout = u64::try_from(timeout.as_micros()).unwrap_or(u64::MAX);
        if let Some(session) = self.inner().session_mut(number) {
            session.patience = timeout.saturating_add(GRACE);
        }
    }

    /// The newest row of a request of ours with this id.
    pub fn row_of(&self, session: u32, id: &str) -> Option<u64> {
        let inner = self.inner();
        let is = |row: &Row| row.session == session && row.direction == Direction::Out && &*row.id == id;
        inner.table.iter().rev().take(10_000).find(|(_, row)| is(row)).map(|(n, _)| n)
    }

    /// The frame, if it is still kept.
    pub fn frame(&self, session: u32, frame: u32) -> Option<Frame> {
        let piece = self.inner().piece(session, frame)?;
        let line = piece.read().ok()?;
        read_frame(std::str::from_utf8(&line).ok()?).ok()
    }

    /// Whether secrets in a frame were replaced.
    pub(crate) fn was_redacted(&self, session: u32, frame: u32) -> bool {
        self.inner().stored(session, frame).is_some_and(|stored| stored.redacted)
    }
}

/// Whether a row may still get an answer.
pub(crate) fn is_open(row: &Row) -> bool {
    row.kind == RowKind::Call && matches!(row.status, Status::Pending | Status::Hung)
}

/// A tap whose frames go into the hub, on connections of a client with this timeout.
pub(crate) fn tap(hub: &Arc<Hub>, target: u32, header: Header, timeout: Duration) -> (net::Tap, u32) {
    let number = hub.begin(target, Header { revision: None, case: "inspect".to_owned(), ..header.clone() });
    hub.has_timeout(number, timeout);
    let hub = hub.clone();
    (net::Tap::streaming(header, move |frame| hub.take(number, frame)), number)
}
