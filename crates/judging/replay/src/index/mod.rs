//! The requests of a recording and their answers, by request key. Messages stay in the file; their locations are in a
//! [`SpillStore`], so that memory does not grow with the recording.

mod builder;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use serde_json::{Value, json};
use serde_json_path::JsonPath;
use wire::Message;
use wire::trace::Header;

use super::request_key::{Key, digest};
use super::scan::{BadRecording, Location, TruncatedLine, scan};
use super::spill::{List, SpillStore, Table};
use builder::Label;

pub(super) use builder::Builder;

/// How many different methods are indexed.
const MAX_METHODS: usize = 1 << 12;

/// One request and its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) request: Location,
    /// What the server sent before the answer, in order: notifications, requests, results that ask for input.
    preceding: List,
    /// `None` where the recording ends before the client answered a question.
    pub(super) answer: Option<Location>,
}

impl Entry {
    /// How many messages precede the answer.
    pub(super) const fn preceding_len(self) -> u64 {
        self.preceding.len()
    }
}

/// Size of an [`Entry`] in the store, in bytes.
const ENTRY_BYTES: usize = 3 * Location::BYTES;

/// All answered requests of a recording.
#[derive(Debug, Default)]
pub(super) struct Index {
    store: SpillStore,
    /// The entries by request key.
    entries: Table,
    /// The first entry of each request key, by method and name.
    families: Table,
    /// The first entry of each family, by method.
    methods: Table,
    /// Every entry, in the order of the answers.
    all: List,
    /// How many requests of each method were answered.
    pub(super) counts: BTreeMap<String, usize>,
    /// The first result of `initialize`.
    pub(super) legacy: Option<Value>,
    /// The first result of `server/discover`.
    pub(super) modern: Option<Value>,
    /// Where added frames continue.
    pub(super) tail: Tail,
    /// Whether the last line lacks its line feed.
    pub(super) lacks_line_feed: bool,
}

/// The highest time, connection and exchange in the file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tail {
    pub(super) at: u64,
    pub(super) connection: u32,
    pub(super) exchange: u32,
}

/// The entries of one list, read on demand.
#[derive(Clone, Copy)]
pub(super) struct Entries<'i> {
    index: &'i Index,
    list: List,
}

impl<'i> Entries<'i> {
    pub(super) const fn len(self) -> u64 {
        self.list.len()
    }

    pub(super) const fn is_empty(self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn at(self, number: u64) -> io::Result<Option<Entry>> {
        let at = self.list.at(&self.index.store, number)?;
        at.map(|at| self.index.entry(at)).transpose()
    }

    pub(super) fn iter(self) -> impl Iterator<Item = io::Result<Entry>> + 'i {
        self.list.iter(&self.index.store).map(move |at| self.index.entry(at?))
    }
}

impl Index {
    /// Reads a recording once, from start to end.
    pub(super) fn read(
        file: &File,
        volatile: &[JsonPath],
    ) -> Result<(Self, Header, Option<TruncatedLine>), BadRecording> {
        let mut builder = Builder::new(volatile);
        let (header, truncated) = scan(file, |location, frame| builder.add(location, frame))?;
        let mut index = builder.finish().map_err(BadRecording::IndexFull)?;
        index.lacks_line_feed = lacks_line_feed(file)?;
        Ok((index, header, truncated))
    }

    /// Whether no request was answered.
    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.legacy.is_none() && self.modern.is_none()
    }

    /// The entries with this request key.
    pub(super) fn entries(&self, key: &Key) -> io::Result<Entries<'_>> {
        self.lookup(&self.entries, key)
    }

    /// Every entry, in the order of the answers.
    pub(super) const fn all(&self) -> Entries<'_> {
        Entries { index: self, list: self.all }
    }

    /// The first entry of each request key with this method and name.
    pub(super) fn family(&self, family: &Key) -> io::Result<Entries<'_>> {
        self.lookup(&self.families, family)
    }

    /// The first entry of each name of a method.
    pub(super) fn method(&self, method: &str) -> io::Result<Entries<'_>> {
        self.lookup(&self.methods, &method_key(method))
    }

    /// The location of the message at `number` among those that precede an answer.
    pub(super) fn preceding(&self, entry: Entry, number: u64) -> io::Result<Option<Location>> {
        let at = entry.preceding.at(&self.store, number)?;
        at.map(|at| self.store.read(at).map(Location::from_bytes)).transpose()
    }

    fn lookup(&self, table: &Table, key: &Key) -> io::Result<Entries<'_>> {
        Ok(Entries { index: self, list: table.list(&self.store, key)? })
    }

    fn entry(&self, at: u64) -> io::Result<Entry> {
        let bytes: [u8; ENTRY_BYTES] = self.store.read(at)?;
        let third = |number: usize| std::array::from_fn(|byte| bytes[number * Location::BYTES + byte]);
        let answer = Location::from_bytes(third(1));
        Ok(Entry {
            request: Location::from_bytes(third(0)),
            answer: (answer != Location::NONE).then_some(answer),
            preceding: List::from_bytes(third(2)),
        })
    }

    /// Adds an exchange.
    fn add(&mut self, label: &Label, entry: Entry) -> io::Result<()> {
        let (count, known) = (self.counts.len(), self.counts.get_mut(&label.method));
        match known {
            Some(count) => *count += 1,
            None if count < MAX_METHODS => _ = self.counts.insert(label.method.clone(), 1),
            None => return Ok(()),
        }
        let answer = entry.answer.unwrap_or(Location::NONE);
        let bytes = [entry.request.to_bytes(), answer.to_bytes(), entry.preceding.to_bytes()].concat();
        let store = &mut self.store;
        let at = store.append(&bytes)?;
        self.all.push(store, at)?;
        if self.entries.push(store, &label.key, at)? && self.families.push(store, &label.family, at)? {
            self.methods.push(store, &method_key(&label.method), at)?;
        }
        Ok(())
    }

    /// Adds a message that precedes an answer.
    fn add_preceding(&mut self, preceding: &mut List, location: Location) -> io::Result<()> {
        let at = self.store.append(&location.to_bytes())?;
        preceding.push(&mut self.store, at)
    }
}

fn method_key(method: &str) -> Key {
    digest(&json!([method]))
}

/// Whether a result asks the client for input before the request continues (2026-07-28).
fn asks_client(message: &Message) -> bool {
    message.text().contains("input_required")
        && message.result().and_then(|result| result.get("resultType")).is_some_and(|kind| kind == "input_required")
}

/// Whether the last line of a file lacks its line feed.
pub(super) fn lacks_line_feed(file: &File) -> io::Result<bool> {
    let mut last = [b'\n'];
    if let Some(at) = file.metadata()?.len().checked_sub(1) {
        file.read_exact_at(&mut last, at)?;
    }
    Ok(last != [b'\n'])
}
