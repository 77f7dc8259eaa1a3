//! The marks that live checks of clients wrote, against those that are declared.

use std::collections::BTreeSet;
use std::path::Path;

use wire::trace::mark::{Declaration, Writer};
use wire::trace::{Content, Mark, MarkKind, StimulusKind, Trace, file};

/// Marks that take a client with a fault, or more than is kept.
pub(crate) const IN_TROUBLE: [MarkKind; 3] = [MarkKind::Unanswered, MarkKind::Signal, MarkKind::Limit];

/// The traces of a folder.
pub(crate) fn traces(folder: &Path) -> Vec<Trace> {
    let entries = std::fs::read_dir(folder).expect("a folder of traces");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.map(|path| file::read(&std::fs::read_to_string(path).expect("a text")).expect("a trace")).collect()
}

/// What `check-client` is declared to write and these traces do not hold: in trouble, or without any.
pub(crate) fn missing(traces: &[Trace], in_trouble: bool) -> Vec<&'static str> {
    let seen: BTreeSet<&str> = traces.iter().flat_map(|trace| &trace.frames).flat_map(names).collect();
    let due = |declared: Declaration| declared.written_by.contains(&Writer::CheckClient);
    let marks = MarkKind::ALL.into_iter().filter(|kind| IN_TROUBLE.contains(kind) == in_trouble);
    let stimuli = StimulusKind::ALL.into_iter().filter(|_| !in_trouble).map(StimulusKind::declaration);
    let declared = marks.map(MarkKind::declaration).chain(stimuli).filter(|declared| due(*declared));
    declared.map(|declared| declared.name).filter(|name| !seen.contains(name)).collect()
}

fn names(frame: &wire::trace::Frame) -> Vec<&'static str> {
    let Content::Mark(mark) = &frame.content else { return Vec::new() };
    let stimulus = if let Mark::Stimulus(what) = mark { what.kind().map(StimulusKind::as_str) } else { None };
    mark.kind().map(MarkKind::as_str).into_iter().chain(stimulus).collect()
}
