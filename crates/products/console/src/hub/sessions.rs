//! The sessions of a hub: what is judged of them, what is found, and their traces as files.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::{Value, json};
use wire::trace::file::{read_frame, write_frame, write_header};
use wire::trace::{Content, Frame, Header, Limit, Mark};
use wire::{Party, Trace};

use super::{HUNG, Hub, Inner, JUDGED_BYTES, JUDGED_FRAMES, Placed, Session, Stored};
use crate::assemble::Assembler;
use crate::judging::Finding;
use crate::ring::Piece;

/// What is shown of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionState {
    /// Its number.
    pub session: u32,
    /// The number of its target.
    pub target: u32,
    /// The transport; `None` where only messages are seen.
    pub transport: Option<wire::Transport>,
    /// When it began and ended, in microseconds since the launch.
    pub began: u64,
    /// See above.
    pub ended: Option<u64>,
    /// How many rows it made.
    pub rows: u64,
    /// Why it is not judged any further.
    pub unjudged: Option<String>,
    /// Whether it holds what crosses between an app and the page.
    pub is_of_app: bool,
}

impl SessionState {
    /// As the page gets it.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "session": self.session, "target": self.target,
            "transport": self.transport.map_or("messages", wire::Transport::as_str), "began": self.began,
            "ended": self.ended, "rows": self.rows, "judged": self.unjudged.is_none(), "why": self.unjudged,
            "app": self.is_of_app,
        })
    }
}

impl Session {
    pub(super) const fn new(target: u32, header: Header, began: u64, assembler: Assembler) -> Self {
        Self {
            target,
            header,
            began,
            ended: None,
            assembler,
            patience: HUNG,
            stored: VecDeque::new(),
            dropped: 0,
            rows: 0,
            judged: Vec::new(),
            owners: Vec::new(),
            judged_bytes: 0,
            unjudged: None,
            is_fresh: false,
            is_shared: false,
            begins_late: false,
            findings: Vec::new(),
        }
    }

    /// Remembers a frame to be judged, and its row.
    pub(super) fn note(&mut self, frame: Frame, row: u64) {
        if self.unjudged.is_some() {
            return;
        }
        self.judged_bytes += frame.content.weight();
        if self.judged.len() >= JUDGED_FRAMES || self.judged_bytes > JUDGED_BYTES {
            self.unjudged = Some(format!("only its first {} frames are judged", self.judged.len()));
            return;
        }
        self.is_fresh = true;
        self.judged.push(frame);
        self.owners.push(row);
    }
}

impl Inner {
    pub(crate) fn session_states(&self) -> Vec<SessionState> {
        let state = |(index, session): (usize, &Session)| SessionState {
            session: u32::try_from(index + 1).unwrap_or(u32::MAX),
            target: session.target,
            transport: Some(session.header.transport).filter(|_| !session.begins_late),
            began: session.began,
            ended: session.ended,
            rows: session.rows,
            unjudged: session.unjudged.clone(),
            is_of_app: session.assembler.has_app(),
        };
        self.sessions.iter().enumerate().map(state).collect()
    }
}

impl Hub {
    /// The sessions to which something came since they were judged: number, trace, and whether it is over.
    pub(crate) fn to_judge(&self) -> Vec<(u32, Trace, bool)> {
        let mut inner = self.inner();
        let mut wanted = Vec::new();
        for (index, session) in inner.sessions.iter_mut().enumerate().filter(|(_, session)| session.is_fresh) {
            session.is_fresh = false;
            let trace = Trace { header: session.header.clone(), frames: session.judged.clone() };
            // What was cut off says nothing about what comes later.
            let over = session.ended.is_some() && session.unjudged.is_none();
            wanted.push((u32::try_from(index + 1).unwrap_or(u32::MAX), trace, over));
        }
        wanted
    }

    /// Replaces the findings of a session.
    pub(crate) fn found(&self, number: u32, findings: Vec<Finding>) {
        let mut guard = self.inner();
        let Some(session) = guard.session_mut(number) else { return };
        let place = |finding: Finding| {
            let row = session.owners.get(finding.event).copied().unwrap_or(0);
            Placed { row, frame: u32::try_from(finding.event).unwrap_or(u32::MAX), finding }
        };
        let placed: Vec<Placed> = findings.into_iter().map(place).collect();
        let before = std::mem::replace(&mut session.findings, placed.clone());
        let changed = before.len() != placed.len() || before.iter().zip(&placed).any(|(a, b)| a.finding != b.finding);
        if !changed {
            return;
        }
        let mut rows: BTreeMap<u64, Vec<&Placed>> = before.iter().map(|one| (one.row, Vec::new())).collect();
        for one in &placed {
            rows.entry(one.row).or_default().push(one);
        }
        for (n, found) in rows {
            let rules: Vec<Arc<str>> = found.iter().map(|one| one.finding.rule.clone()).collect();
            let level = found.iter().map(|one| one.finding.level).min();
            if guard.table.get(n).is_some_and(|row| row.rules != rules || row.level != level) {
                guard.table.change(n, |row| {
                    row.rules = rules;
                    row.level = level;
                });
            }
        }
        let seq = guard.table.seq();
        drop(guard);
        self.rows_changed(seq);
        self.state_changed();
    }

    /// Judges nothing of a session, for this reason.
    pub(crate) fn leave_unjudged(&self, number: u32, why: &str) {
        if let Some(session) = self.inner().session_mut(number) {
            session.unjudged.get_or_insert_with(|| why.to_owned());
        }
    }

    /// Drops what was kept to judge sessions of a target before `newest` that are over and judged.
    pub(crate) fn release(&self, target: u32, newest: u32) {
        let mut inner = self.inner();
        for (index, session) in inner.sessions.iter_mut().enumerate() {
            if session.target == target && index + 1 < newest as usize && session.ended.is_some() && !session.is_fresh {
                session.judged = Vec::new();
                session.unjudged.get_or_insert_with(|| "it is over".to_owned());
            }
        }
    }

    /// The trace of a session as a file: the header, and the frames that are still kept. Where frames are missing, before the
    /// first one or from some place on, a mark says so: what comes after it must not be judged.
    pub(crate) fn trace_file(&self, number: u32) -> Option<TraceFile> {
        let inner = self.inner();
        let session = inner.session(number)?;
        let header =
            Header { revision: session.header.revision.or(session.assembler.revision()), ..session.header.clone() };
        let place = |stored: &Stored| stored.place.and_then(|place| inner.ring.piece(place));
        let pieces: Vec<Piece> = session.stored.iter().map_while(place).collect();
        let (begins_late, ends_early) =
            (session.begins_late || session.dropped > 0, pieces.len() < session.stored.len());
        drop(inner);
        let first = begins_late.then(|| limit(pieces.first()));
        let last = ends_early.then(|| limit(pieces.last()));
        let header = write_header(&self.redactor().redact_header(&header));
        Some(TraceFile { before: std::iter::once(header).chain(first).collect(), pieces, after: last })
    }
}

/// The lines of a trace.
#[derive(Debug)]
pub(crate) struct TraceFile {
    pub(crate) before: Vec<String>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) after: Option<String>,
}

/// The line that says that frames are missing, at the time of a frame beside it.
fn limit(beside: Option<&Piece>) -> String {
    let line = beside.and_then(|piece| piece.read().ok()).unwrap_or_default();
    let at = read_frame(&String::from_utf8_lossy(&line)).map_or(0, |frame| frame.at);
    let content = Content::Mark(Mark::Limit(Limit::Trace));
    write_frame(&Frame { at, done: at, ..Frame::new(Party::Client, content) })
}
