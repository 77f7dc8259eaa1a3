//! Traces that go on and on: the same exchange over and over, each time with ids and exchanges of its own. What judging
//! them takes may grow with the square of their length, for rules compare; no faster.

use std::time::{Duration, Instant};

use rules::{Rule, View, judge};
use serde_json::Value;
use wire::Revision;
use wire::trace::{Content, Trace, file};

/// How many frames the long traces have at least.
const LONG: usize = 400;
/// No rule may take longer on one of them, in a debug build on a busy machine. Many rules compare pairs, so their work grows
/// with the square of the frames; with the cube it would be minutes.
const PATIENCE: Duration = Duration::from_secs(4);

#[test]
fn long_traces() {
    let mut slow = Vec::new();
    // Every fixture would take minutes; neighbours are alike.
    for text in super::corpus().iter().step_by(if super::number("FUZZ_ROUNDS").is_some() { 1 } else { 120 }) {
        let Ok(trace) = file::read(text) else { continue };
        let trace = grown(&trace);
        let revision = trace.header.revision.unwrap_or(Revision::NEWEST);
        let events = trace.events();
        let begun = Instant::now();
        let view = View::new(&trace, &events, revision);
        let view_took = begun.elapsed();
        assert!(view_took < PATIENCE, "{} frames took {view_took:?} to arrange", trace.frames.len());
        for rule in rules::all_rules() {
            slow.push((timed(rule, &view), rule.id));
        }
    }
    slow.sort();
    let (slowest, id) = slow.last().copied().unwrap_or_default();
    println!(
        "long traces: {} of them, the slowest rule took {slowest:.1?} ({id})",
        slow.len() / rules::all_rules().count()
    );
    assert!(slowest < PATIENCE, "{:?}", &slow[slow.len().saturating_sub(10)..]);
}

fn timed(rule: &Rule, view: &View<'_>) -> Duration {
    let begun = Instant::now();
    let _ = judge(rule, view);
    begun.elapsed()
}

/// The frames after the handshake again and again, each time with ids and exchanges that were not there before.
fn grown(trace: &Trace) -> Trace {
    let mut long = trace.clone();
    let exchanges = trace.frames.iter().map(|frame| frame.exchange).max().unwrap_or(0);
    for round in 1.. {
        if long.frames.len() >= LONG || trace.frames.is_empty() {
            break;
        }
        let base = long.frames.len();
        for frame in &trace.frames {
            let mut frame = frame.clone();
            frame.at += round * 10_000;
            frame.done += round * 10_000;
            frame.cause = frame.cause.map(|cause| cause + base);
            if frame.exchange > 0 {
                frame.exchange += round as u32 * exchanges;
            }
            renumber(&mut frame.content, round);
            long.frames.push(frame);
        }
    }
    long
}

fn renumber(content: &mut Content, round: u64) {
    let (Content::Line { bytes, .. } | Content::Body { bytes, .. } | Content::WebSocket { bytes, .. }) = content else {
        return;
    };
    let Ok(mut value) = serde_json::from_slice::<Value>(bytes) else { return };
    if let Some(id) = value.get("id").and_then(Value::as_u64) {
        value["id"] = (id + round * 1000).into();
        *bytes = value.to_string().into_bytes();
    }
}
