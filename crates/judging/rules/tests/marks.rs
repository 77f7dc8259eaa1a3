//! Fixtures hold only marks that somebody writes, and what a client did well is well until the moment that we kill it.

use std::fs;
use std::path::{Path, PathBuf};

use rules::judge::{judge, revision_of};
use rules::{View, all_rules};
use wire::Party;
use wire::trace::mark::Writer;
use wire::trace::{Content, Frame, Limit, Mark, Signal, Trace, file};

/// Every fixture with the rule to which it belongs.
fn fixtures() -> Vec<(String, PathBuf, Trace)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let entries = |path: &Path| {
        let entries = fs::read_dir(path).expect("fixtures");
        entries.map(|entry| entry.expect("an entry").path()).collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    for folder in entries(&root) {
        let rule = folder.file_name().and_then(|name| name.to_str()).expect("a rule's id").to_owned();
        for path in entries(&folder) {
            let trace = file::read(&fs::read_to_string(&path).expect("a text")).expect("a trace");
            found.push((rule.clone(), path, trace));
        }
    }
    assert!(found.len() > 2000, "{} fixtures", found.len());
    found
}

/// What is wrong with a mark in a trace of this subject.
fn complaint(mark: &Mark, subject: Party) -> Option<String> {
    let writer = if subject == Party::Client { Writer::CheckClient } else { Writer::Check };
    let Some(kind) = mark.kind() else { return Some(format!("nobody writes `{}` {}", mark.name(), mark.value())) };
    if !kind.declaration().written_by.contains(&writer) {
        return Some(format!("{} does not write `{}`", writer.as_str(), mark.name()));
    }
    let Mark::Stimulus(stimulus) = mark else { return None };
    let written = stimulus.kind().is_some_and(|kind| kind.declaration().written_by.contains(&writer));
    (!written).then(|| format!("{} does not write the stimulus {}", writer.as_str(), mark.value()))
}

#[test]
fn fixtures_hold_only_marks_that_are_written() {
    let mut wrong = Vec::new();
    for (_, path, trace) in fixtures() {
        for frame in &trace.frames {
            if let Content::Mark(mark) = &frame.content {
                wrong.extend(complaint(mark, trace.header.subject).map(|why| format!("{}: {why}", path.display())));
            }
            // A client's own end is written by what runs it, which has no connection.
            let own_end = matches!(frame.content, Content::Exit { .. }) && frame.from == Party::Client;
            if own_end && frame.connection != 0 {
                wrong.push(format!("{}: a client's end on connection {}", path.display(), frame.connection));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A trace as it would be had we killed the client after its first `kept` frames.
fn killed_after(trace: &Trace, kept: usize) -> Trace {
    let mut frames = trace.frames[..kept].to_vec();
    // Long after: what had time to be done had its time.
    let at = frames.last().map_or(0, |frame| frame.done).saturating_add(60_000_000);
    let kill = Frame::new(Party::Client, Content::Mark(Mark::Signal(Signal::Kill)));
    frames.push(Frame { at, done: at, connection: 0, ..kill });
    Trace { header: trace.header.clone(), frames }
}

/// A trace as the recorder would write it had it reached its limit after its first `kept` frames.
fn cut_after(trace: &Trace, kept: usize) -> Trace {
    let (first, rest) = trace.frames.split_at(kept);
    let mut frames = first.to_vec();
    let at = frames.last().map_or(0, |frame| frame.at);
    let connection = rest.first().map_or(1, |frame| frame.connection);
    let limit = Frame::new(Party::Client, Content::Mark(Mark::Limit(Limit::Trace)));
    frames.push(Frame { at, done: at, connection, ..limit });
    let light = |content: &Content| {
        matches!(content, Content::Mark(_) | Content::Opened | Content::Closed(_) | Content::Exit { .. })
    };
    frames
        .extend(rest.iter().filter(|frame| light(&frame.content)).map(|frame| Frame { cause: None, ..frame.clone() }));
    Trace { header: trace.header.clone(), frames }
}

/// Judges every trace that holds as it would be had it ended early in this way, after each of its frames.
fn hold_when_cut(how: &str, cut: fn(&Trace, usize) -> Trace, is_due: fn(&Trace) -> bool) {
    let mut wrong = Vec::new();
    let mut tried = 0;
    for (id, path, trace) in fixtures() {
        let holds = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("holds"));
        if !holds || !is_due(&trace) {
            continue;
        }
        let rule = all_rules().find(|rule| rule.id == id).expect("a rule");
        let revision = revision_of(&trace).expect("a revision");
        for kept in 0..=trace.frames.len() {
            let trace = cut(&trace, kept);
            let events = trace.events();
            let verdict = judge(rule, &View::new(&trace, &events, revision));
            tried += 1;
            if verdict.is_broken() {
                wrong.push(format!("{}, {how} after {kept} frames: {verdict:?}", path.display()));
            }
        }
    }
    assert!(tried > 1000, "{tried}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_client_is_not_blamed_for_what_we_kept_it_from_doing() {
    hold_when_cut("killed", killed_after, |trace| trace.header.subject == Party::Client);
}

#[test]
fn what_the_trace_had_no_room_for_is_not_blamed() {
    hold_when_cut("full", cut_after, |_| true);
}
