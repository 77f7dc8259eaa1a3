//! Rows: one line of the list for each exchange, and the table that holds them. Pure values; what becomes a row is decided by
//! [`super::assemble`].

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};
use wire::{Level, Revision};

/// The names of the columns, in the order in which [`Row::to_json`] has them.
pub const COLUMNS: [&str; 17] = [
    "n", "target", "session", "kind", "dir", "at", "took", "status", "method", "name", "size", "parts", "findings",
    "level", "rev", "id", "parent",
];

/// How many changes are remembered for those who follow.
const LOG: usize = 1 << 16;
/// How many of the first and of the last frames of one row are remembered.
const PARTS: usize = 512;

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$of])* $variant),+ }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word in rows and filters.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}

words! {
    /// What a row is about.
    RowKind {
        /// A request with what belongs to it.
        Call = "call",
        /// A notification.
        Note = "note",
        /// A line on stderr.
        Stderr = "stderr",
        /// An HTTP exchange without a message.
        Http = "http",
        /// Bytes that are no valid message, or an answer to no request.
        Bytes = "bytes",
        /// A process ended, a connection failed or was cut.
        End = "end",
        /// A fact about our own side.
        Mark = "mark",
        /// A message between an app and its host, or what the app was stopped from.
        App = "app",
    }
}

words! {
    /// Which way it went.
    Direction {
        /// From the client to the server.
        Out = "out",
        /// From the server to the client.
        In = "in",
    }
}

words! {
    /// What came of it.
    Status {
        /// In order.
        Ok = "ok",
        /// An error of any kind.
        Error = "error",
        /// Nothing yet.
        Pending = "pending",
        /// The answer came after nobody waited for it.
        Late = "late",
        /// Cancelled before it was answered.
        Cancelled = "cancelled",
        /// Nothing for long, or the connection ended without an answer.
        Hung = "hung",
    }
}

/// The word of a level in rows and filters.
pub const fn level_word(level: Level) -> &'static str {
    match level {
        Level::Must => "must",
        Level::Should => "should",
        Level::May => "may",
        Level::Safety => "safety",
    }
}

/// One line of the list.
#[derive(Clone, Debug)]
pub struct Row {
    /// The target, from 1.
    pub target: u32,
    /// The session, from 1.
    pub session: u32,
    /// What it is about.
    pub kind: RowKind,
    /// Which way it went.
    pub direction: Direction,
    /// When it began, in microseconds since the launch.
    pub at: u64,
    /// How long it took, in microseconds.
    pub took: Option<u64>,
    /// What came of it.
    pub status: Status,
    /// The method, or an empty text.
    pub method: Box<str>,
    /// The tool, prompt, URI, level or path.
    pub name: Box<str>,
    /// Bytes of all its messages.
    pub size: u64,
    /// Its frames.
    pub parts: Parts,
    /// The rules of its findings, one entry each.
    pub rules: Vec<Arc<str>>,
    /// The level of the worst.
    pub level: Option<Level>,
    /// The revision that is spoken.
    pub revision: Option<Revision>,
    /// The id as JSON text.
    pub id: Box<str>,
    /// The row that it belongs to; 0 for none.
    pub parent: u64,
    /// Whether secrets in it were replaced.
    pub redacted: bool,
    /// The number of its last change.
    changed: u64,
}

impl Row {
    /// A row of one session without anything in it.
    pub fn new(target: u32, session: u32, kind: RowKind, direction: Direction, at: u64) -> Self {
        Self {
            target,
            session,
            kind,
            direction,
            at,
            took: None,
            status: Status::Ok,
            method: "".into(),
            name: "".into(),
            size: 0,
            parts: Parts::default(),
            rules: Vec::new(),
            level: None,
            revision: None,
            id: "".into(),
            parent: 0,
            redacted: false,
            changed: 0,
        }
    }

    /// The row as the page gets it.
    pub fn to_json(&self, n: u64) -> Value {
        json!([
            n,
            self.target,
            self.session,
            self.kind.as_str(),
            self.direction.as_str(),
            self.at,
            self.took,
            self.status.as_str(),
            self.method,
            self.name,
            self.size,
            self.parts.count(),
            self.rules.len(),
            self.level.map_or("", level_word),
            self.revision.map_or("", Revision::as_str),
            self.id,
            self.parent,
        ])
    }
}

/// The frames of a row, by their index in the session. Of a long row, the first and the last ones are known.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    first: Vec<u32>,
    last: VecDeque<u32>,
    count: usize,
}

impl Parts {
    /// Adds a frame, unless it is the last one already.
    pub fn push(&mut self, frame: u32) {
        if self.last.back().or(self.first.last()) == Some(&frame) {
            return;
        }
        self.count += 1;
        if self.first.len() < PARTS {
            self.first.push(frame);
            return;
        }
        if self.last.len() == PARTS {
            self.last.pop_front();
        }
        self.last.push_back(frame);
    }

    /// How many frames there are, known or not.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// The known frames, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.first.iter().chain(&self.last).copied()
    }

    /// The newest frame.
    pub fn newest(&self) -> Option<u32> {
        self.last.back().or(self.first.last()).copied()
    }
}

/// All rows, and which changed when. Rows are numbered from 1.
#[derive(Debug)]
pub struct Table {
    rows: VecDeque<Row>,
    first: u64,
    seq: u64,
    /// Number of the change, number of the row.
    log: VecDeque<(u64, u64)>,
    limit: usize,
}

impl Table {
    /// A table that keeps at most `limit` rows.
    pub fn new(limit: usize) -> Self {
        Self { rows: VecDeque::new(), first: 1, seq: 0, log: VecDeque::new(), limit: limit.max(1) }
    }

    /// The number of the oldest row.
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// The number that the next row will have.
    pub fn next(&self) -> u64 {
        self.first + self.rows.len() as u64
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The number of the last change.
    pub const fn seq(&self) -> u64 {
        self.seq
    }

    /// The row of this number, unless it was dropped.
    pub fn get(&self, n: u64) -> Option<&Row> {
        self.rows.get(usize::try_from(n.checked_sub(self.first)?).ok()?)
    }

    /// All rows with their numbers, oldest first; also from the end.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &Row)> {
        self.rows.iter().enumerate().map(|(index, row)| (self.first + index as u64, row))
    }

    /// Adds a row; the oldest goes where there are too many.
    pub fn push(&mut self, row: Row) -> u64 {
        if self.rows.len() == self.limit {
            self.drop_oldest();
        }
        let n = self.next();
        self.rows.push_back(row);
        self.touch(n);
        n
    }

    /// Changes a row, if it is still there.
    pub fn change(&mut self, n: u64, change: impl FnOnce(&mut Row)) {
        let index = n.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
        if let Some(row) = index.and_then(|index| self.rows.get_mut(index)) {
            change(row);
            self.touch(n);
        }
    }

    /// Drops the oldest row.
    pub fn drop_oldest(&mut self) {
        if self.rows.pop_front().is_some() {
            self.first += 1;
        }
    }

    fn touch(&mut self, n: u64) {
        self.seq += 1;
        let seq = self.seq;
        if let Some(row) = n.checked_sub(self.first).and_then(|index| self.rows.get_mut(usize::try_from(index).ok()?)) {
            row.changed = seq;
        }
        if self.log.len() == LOG {
            self.log.pop_front();
        }
        self.log.push_back((seq, n));
    }

    /// The rows that changed after `seq`, in the order of their last change: its number and the row's. At most `most`.
    pub fn since(&self, seq: u64, most: usize) -> Vec<(u64, u64)> {
        let logged = self.log.front().is_some_and(|(oldest, _)| *oldest <= seq + 1);
        if logged || self.seq <= seq {
            let from = self.log.partition_point(|(change, _)| *change <= seq);
            let is_last = |&&(change, n): &&(u64, u64)| self.get(n).is_some_and(|row| row.changed == change);
            return self.log.range(from..).filter(is_last).take(most).copied().collect();
        }
        let changed = self.iter().filter(|(_, row)| row.changed > seq);
        let mut all: Vec<(u64, u64)> = changed.map(|(n, row)| (row.changed, n)).collect();
        all.sort_unstable();
        all.truncate(most);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row::new(1, 1, RowKind::Note, Direction::In, 0)
    }

    #[test]
    fn a_row_has_a_value_for_each_column() {
        assert_eq!(row().to_json(7).as_array().map(Vec::len), Some(COLUMNS.len()));
    }

    #[test]
    fn changes_come_once_and_in_order() {
        let mut table = Table::new(10);
        for _ in 0..3 {
            table.push(row());
        }
        table.change(1, |row| row.size = 9);
        assert_eq!(table.since(0, 99), [(2, 2), (3, 3), (4, 1)]);
        assert_eq!(table.since(3, 99), [(4, 1)]);
        assert_eq!(table.since(4, 99), []);
        assert_eq!(table.since(0, 1), [(2, 2)]);
    }

    #[test]
    fn changes_that_are_no_longer_logged_are_found_in_the_rows() {
        let mut table = Table::new(10);
        table.push(row());
        for _ in 0..LOG {
            table.change(1, |row| row.size += 1);
        }
        table.push(row());
        assert_eq!(table.since(0, 99), [(LOG as u64 + 1, 1), (LOG as u64 + 2, 2)]);
    }

    #[test]
    fn the_oldest_row_goes_first_and_numbers_stay() {
        let mut table = Table::new(3);
        for _ in 0..5 {
            table.push(row());
        }
        assert_eq!((table.first(), table.next(), table.len()), (3, 6, 3));
        assert!(table.get(2).is_none() && table.get(3).is_some());
        table.change(1, |_| panic!("it is gone"));
        assert_eq!(table.since(0, 99).iter().map(|(_, n)| *n).collect::<Vec<_>>(), [3, 4, 5]);
    }

    #[test]
    fn a_long_row_knows_its_first_and_last_frames() {
        let mut parts = Parts::default();
        for frame in 0..5000 {
            parts.push(frame);
            parts.push(frame);
        }
        let known: Vec<u32> = parts.iter().collect();
        assert_eq!((parts.count(), known.len(), known[0], parts.newest()), (5000, 2 * PARTS, 0, Some(4999)));
    }
}
