//! Judging a recording: the rules read its trace as they would read a probe's.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use rules::judge::revision_of;
use wire::framing::sse::Block;
use wire::redact::Redactor;
use wire::trace::{Content, Trace};
use wire::{Revision, Transport};

use crate::Advice;
use crate::judging::{
    Checked, Judged, RedactedSink, Reproduce, RunId, Selection, Sources, TraceSink, identity, part, spoken,
};
use report::{Report, Subject};

/// What a recording is called as a case.
const CASE: &str = "recording";

/// Why a recording cannot be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingError {
    /// It does not show which revision was spoken, and none was named.
    UnknownRevision,
    /// Several revisions were spoken, and none of those that were named.
    OtherRevisions,
}

impl RecordingError {
    /// What is wrong with it.
    pub const fn what(self) -> &'static str {
        match self {
            Self::UnknownRevision => "it does not show which revision was spoken",
            Self::OtherRevisions => "several revisions were spoken in it, and none of those that are named",
        }
    }

    /// What a person can do about it, if anything.
    pub const fn advice(self) -> Option<Advice> {
        match self {
            Self::UnknownRevision => Some(Advice::NameRevision),
            Self::OtherRevisions => None,
        }
    }
}

/// Judges a recording, at the revisions named or at the one it was spoken in. `target` is how the
/// command line names it.
pub fn recorded(
    trace: &Trace,
    target: &str,
    by: &Selection,
    revisions: &[Revision],
    keep: &TraceSink,
    (redactor, reproduce): (&Redactor, &Reproduce),
) -> Result<Checked, RecordingError> {
    let parts = parts(trace, revisions);
    if parts.is_empty() {
        return Err(if revisions.is_empty() {
            RecordingError::UnknownRevision
        } else {
            RecordingError::OtherRevisions
        });
    }
    let target = redactor.redact_text(target).into_owned();
    let mut results = Vec::new();
    let mut runs = Vec::new();
    let sink = RedactedSink { keep: keep.clone(), redactor: redactor.clone() };
    for (revision, trace) in &parts {
        let revision = *revision;
        let place = RunId { transport: trace.header.transport, revision };
        let mut judged = Judged::new(CASE, Vec::new(), trace, revision, by);
        judged.keep(&sink, place, trace);
        results.extend(Sources::new(&[judged], place, reproduce, redactor).findings());
        let (transport, scenarios) = (place.transport, Vec::new());
        runs.push(report::Run { transport, revision, probes: 0, elapsed_ms: 0, cut_short: None, scenarios });
    }
    let (name, version) = introduced(trace, redactor);
    let subject = Subject { kind: trace.header.subject.as_str(), target, name, version };
    Ok(Checked { report: Report::new(subject, runs, results) })
}

/// How the judged party introduces itself, as it may be shown. Frame by frame: a long recording need not be there twice.
fn introduced(trace: &Trace, redactor: &Redactor) -> (Option<String>, Option<String>) {
    let of_frame = |frame| {
        let frames = vec![redactor.redact_frame(frame)];
        identity(&Trace { header: trace.header.clone(), frames })
    };
    let mut told = trace.frames.iter().map(of_frame);
    told.find(|(name, version)| name.is_some() || version.is_some()).unwrap_or_default()
}

/// What is judged at which revision: all of it at the one that was spoken, or at those that are named; where several were
/// spoken, or over several transports, at each of them the connections that spoke it there.
fn parts<'t>(trace: &'t Trace, named: &[Revision]) -> Vec<(Revision, Cow<'t, Trace>)> {
    let spoken = if trace.header.revision.is_none() { spoken(trace) } else { BTreeMap::new() };
    let other = other_transports(trace);
    let mut groups: BTreeMap<(Transport, Revision), BTreeSet<u32>> = BTreeMap::new();
    for (&revision, connections) in &spoken {
        for &connection in connections {
            let transport = other.get(&connection).copied().unwrap_or(trace.header.transport);
            groups.entry((transport, revision)).or_default().insert(connection);
        }
    }
    if groups.len() > 1 || groups.keys().any(|(transport, _)| *transport != trace.header.transport) {
        let wanted = groups.iter().filter(|((_, revision), _)| named.is_empty() || named.contains(revision));
        let of_group = |(&(transport, at), connections)| {
            let mut part = part(trace, at, connections);
            part.header.transport = transport;
            (at, Cow::Owned(part))
        };
        return wanted.map(of_group).collect();
    }
    let whole = |revision| (revision, Cow::Borrowed(trace));
    if named.is_empty() {
        revision_of(trace).map(whole).into_iter().collect()
    } else {
        named.iter().copied().map(whole).collect()
    }
}

/// The connections on which something else than Streamable HTTP was spoken, though the recording is of that: one address may
/// serve several transports, and a recorder before it learns which it is as they are used.
fn other_transports(trace: &Trace) -> BTreeMap<u32, Transport> {
    if trace.header.transport != Transport::StreamableHttp {
        return BTreeMap::new();
    }
    let other = |content: &Content| match content {
        Content::WebSocket { .. } => Some(Transport::WebSocket),
        Content::Sse(block) => {
            let endpoint = Block::parse(block).event.as_deref() == Some("endpoint");
            endpoint.then_some(Transport::HttpSse)
        }
        _ => None,
    };
    trace.frames.iter().filter_map(|frame| Some((frame.connection, other(&frame.content)?))).collect()
}
