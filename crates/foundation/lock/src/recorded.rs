//! A surface out of a trace or a recording. Must not know files.

use std::collections::HashMap;
use std::fmt;

use wire::message::{Message, Packet};
use wire::trace::{Party, Trace};
use wire::{Kind as Shape, RequestId, Revision, meta};

use crate::strict::{Integers, Unreadable, read};
use crate::{Change, Entry, Identity, Kind, Surface, Unlockable, unstable};

/// What a trace shows of a server.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The first complete listing of each kind.
    pub surface: Surface,
    /// What differs in later listings of the same trace.
    pub unstable: Vec<Change>,
}

/// Why nothing can be locked of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unrecorded {
    /// It holds no answered list.
    Nothing,
    /// A list ends before its last page.
    Incomplete(Kind),
    /// An answer that two readers may read differently.
    Ambiguous(String, Unreadable),
    /// A listing that cannot be locked.
    Unlockable(Unlockable),
}

impl fmt::Display for Unrecorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("it holds no answer to a list request"),
            Self::Incomplete(kind) => write!(f, "it holds only some pages of `{}`", kind.method()),
            Self::Ambiguous(method, why) => write!(f, "the answer to `{method}` is ambiguous: {why}"),
            Self::Unlockable(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for Unrecorded {}

/// One listing: its pages in order, and whether the last one came.
#[derive(Default)]
struct Listing {
    pages: Vec<String>,
    is_complete: bool,
}

/// A request that was not answered yet.
enum PendingRequest {
    Introduction,
    Page(Kind, usize),
}

#[derive(Default)]
struct Reader {
    pending: HashMap<(u32, RequestId), PendingRequest>,
    /// The newest listing of each kind on each connection.
    newest: HashMap<(u32, Kind), usize>,
    listings: Vec<(Kind, Listing)>,
    introductions: Vec<String>,
}

impl Reader {
    fn note(&mut self, connection: u32, message: &Message) {
        let Some(id) = message.id().cloned() else { return };
        if message.kind() == Shape::Request {
            let method = message.method().unwrap_or_default();
            if matches!(method, "initialize" | "server/discover") {
                self.pending.insert((connection, id), PendingRequest::Introduction);
            } else if let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.method() == method) {
                let is_first = message.params().is_none_or(|params| params.get("cursor").is_none());
                let newest = self.newest.get(&(connection, kind)).copied().filter(|_| !is_first);
                let listing = newest.unwrap_or_else(|| {
                    self.listings.push((kind, Listing::default()));
                    self.listings.len() - 1
                });
                self.newest.insert((connection, kind), listing);
                self.pending.insert((connection, id), PendingRequest::Page(kind, listing));
            }
            return;
        }
        let Some(request) = self.pending.remove(&(connection, id)) else { return };
        let Some(result) = message.result().filter(|_| message.kind() == Shape::Result) else { return };
        let text = message.body_text().unwrap_or_default().to_owned();
        match request {
            PendingRequest::Introduction => self.introductions.push(text),
            PendingRequest::Page(kind, listing) if result.get(kind.list()).is_some_and(serde_json::Value::is_array) => {
                let listing = &mut self.listings[listing].1;
                listing.is_complete = result.get("nextCursor").is_none();
                listing.pages.push(text);
            }
            PendingRequest::Page(..) => {}
        }
    }
}

/// What `trace` shows of the server.
pub fn recorded(trace: &Trace) -> Result<Recorded, Unrecorded> {
    let mut reader = Reader::default();
    for (frame, event) in trace.frames.iter().zip(trace.events()) {
        if ![frame.from, frame.to].contains(&Party::Server) {
            continue;
        }
        match event.packet() {
            Some(Packet::Message(message)) => reader.note(frame.connection, message),
            Some(Packet::Batch(all)) => all.iter().flatten().for_each(|one| reader.note(frame.connection, one)),
            None => {}
        }
    }
    let mut surface = introduced(trace, &reader)?;
    let mut others = Vec::new();
    for kind in Kind::ALL {
        let answered = reader.listings.iter().filter(|(other, listing)| *other == kind && !listing.pages.is_empty());
        let mut complete = answered.clone().filter(|(_, listing)| listing.is_complete);
        let Some((_, first)) = complete.next() else {
            if answered.count() > 0 {
                return Err(Unrecorded::Incomplete(kind));
            }
            continue;
        };
        list(&mut surface, kind, first)?;
        others.extend(complete.map(|(_, listing)| (kind, listing)));
    }
    let entry = |surface: &Surface| {
        Entry::new(Identity::default(), None, surface).map_err(|why| match why {
            Unlockable::Nothing => Unrecorded::Nothing,
            why @ Unlockable::Nameless(_) => Unrecorded::Unlockable(why),
        })
    };
    let first = entry(&surface)?;
    let mut differing = surface.repeated_names();
    for (kind, listing) in others {
        let mut other = bare(&surface);
        list(&mut other, kind, listing)?;
        differing.extend(unstable(&first, &entry(&other)?, "a later listing"));
    }
    Ok(Recorded { surface, unstable: differing })
}

/// The introduction alone.
fn bare(surface: &Surface) -> Surface {
    let mut bare = Surface::default();
    bare.server.clone_from(&surface.server);
    bare.revision.clone_from(&surface.revision);
    bare.capabilities.clone_from(&surface.capabilities);
    bare.instructions.clone_from(&surface.instructions);
    bare
}

fn list(surface: &mut Surface, kind: Kind, listing: &Listing) -> Result<(), Unrecorded> {
    for page in &listing.pages {
        surface.add_text(kind, page).map_err(|why| Unrecorded::Ambiguous(kind.method().to_owned(), why))?;
    }
    Ok(())
}

/// The introduction of the server, and the revision: that of the trace, or the one that the introduction names.
fn introduced(trace: &Trace, reader: &Reader) -> Result<Surface, Unrecorded> {
    let mut surface = Surface::default();
    let ambiguous = |why| Unrecorded::Ambiguous("server/discover` or `initialize".to_owned(), why);
    if let Some(text) = reader.introductions.first() {
        let result = read(text, Integers::Digits).map_err(ambiguous)?;
        let named: Option<Revision> = result["protocolVersion"].as_str().and_then(|name| name.parse().ok());
        let is_modern = result["_meta"].get(meta::SERVER_INFO).is_some() || result.get("supportedVersions").is_some();
        let newest = || if is_modern { Revision::ALL.last().copied() } else { None };
        if let Some(revision) = named.or(trace.header.revision).or_else(newest) {
            surface.introduce(revision, Some(&result));
        }
    }
    Ok(surface)
}
