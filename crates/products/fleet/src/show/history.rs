//! `proof fleet history` and `proof fleet diff`: what changed over time.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use report::render::text::wrap;

use crate::dates;
use crate::gate::{GateKind, Outcome};
use crate::state::Record;
use crate::words::counted;

/// A result in a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// The server.
    pub server: String,
    /// The gate.
    pub gate: GateKind,
    /// What came of it.
    pub outcome: Outcome,
    /// In one sentence.
    pub summary: String,
    /// The score, where there is one.
    pub score: Option<f64>,
    /// When, in seconds since 1970.
    pub at: i64,
    /// The run.
    pub run: Option<i64>,
}

impl Past {
    /// Of the record of a result.
    pub fn of(server: &str, record: Record, run: Option<i64>) -> Self {
        let Record { gate, judged, at, .. } = record;
        let server = server.to_owned();
        Self { server, gate, outcome: judged.outcome, summary: judged.summary, score: judged.score, at, run }
    }
}

/// A move of a server from stage to stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// When, in seconds since 1970.
    pub at: i64,
    /// From which stage.
    pub from: i64,
    /// To which.
    pub to: i64,
}

/// Marks of a trend, the oldest first.
const TREND: usize = 20;

/// The history of one server: moves, trends of gates, and results, the newest first.
pub fn history(name: &str, moves: &[Move], past: &[Past], notes: &[(i64, String, String)]) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", wire::escape::line(name));
    for one in moves {
        let word = if one.to > one.from { "rose" } else { "fell" };
        let _ = writeln!(out, "  {}  {word} from {} to {}", dates::minute(one.at), one.from, one.to);
    }
    for (at, author, text) in notes {
        wrap(&mut out, 2, &wire::escape::line(&format!("{}  {author}: {text}", dates::minute(*at))));
    }
    if past.is_empty() {
        out.push_str("  no result yet\n");
        return out;
    }
    out.push_str("\ntrend, the newest last (+ pass, x fail, ? incomplete, - nothing to run)\n");
    let mut by_gate: BTreeMap<GateKind, Vec<&Past>> = BTreeMap::new();
    for one in past {
        by_gate.entry(one.gate).or_default().push(one);
    }
    for (gate, list) in &by_gate {
        let signs: String = list.iter().take(TREND).rev().map(|one| sign(one.outcome)).collect();
        let _ = writeln!(out, "  {gate:<9}  {signs}");
    }
    out.push_str("\nresults, the newest first\n");
    for one in past {
        let run = one.run.map_or_else(String::new, |run| format!(" run {run}"));
        let text = format!("{}{run}  {} {}: {}", dates::minute(one.at), one.gate, one.outcome.as_str(), one.summary);
        wrap(&mut out, 2, &wire::escape::line(&text));
    }
    out
}

const fn sign(outcome: Outcome) -> char {
    match outcome {
        Outcome::Pass => '+',
        Outcome::Fail => 'x',
        Outcome::Incomplete => '?',
        Outcome::Skipped => '-',
    }
}

/// A change between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The server and the gate.
    pub of: (String, GateKind),
    /// Before; `None` where there was no result.
    pub before: Option<Outcome>,
    /// After.
    pub after: Option<Outcome>,
    /// What is said of it now.
    pub summary: String,
}

impl Change {
    /// Whether a gate was green and is not any more.
    pub fn is_worse(&self) -> bool {
        self.before == Some(Outcome::Pass) && self.after != Some(Outcome::Pass)
    }
}

/// How gates stood at one time: by server and gate, the outcome and what is said of it.
pub type Ends = BTreeMap<(String, GateKind), (Outcome, String)>;

/// Of each gate, the newest result until a time.
pub fn newest_until(past: &[Past], until: i64) -> Ends {
    let mut found: BTreeMap<(String, GateKind), &Past> = BTreeMap::new();
    for one in past.iter().filter(|one| one.at <= until) {
        let kept = found.entry((one.server.clone(), one.gate)).or_insert(one);
        if kept.at < one.at {
            *kept = one;
        }
    }
    found.into_iter().map(|(of, one)| (of, (one.outcome, one.summary.clone()))).collect()
}

/// What changed between two times.
pub fn changes(old: &Ends, new: &Ends) -> Vec<Change> {
    let keys: std::collections::BTreeSet<_> = old.keys().chain(new.keys()).cloned().collect();
    let change = |of: (String, GateKind)| {
        let (before, after) = (old.get(&of), new.get(&of));
        let summary = after.map_or_else(String::new, |(_, summary)| summary.clone());
        Change { of, before: before.map(|one| one.0), after: after.map(|one| one.0), summary }
    };
    keys.into_iter().map(change).filter(|change| change.before != change.after).collect()
}

/// The changes for people.
pub fn diff(changes: &[Change]) -> String {
    let mut out = String::new();
    let word = |outcome: Option<Outcome>| outcome.map_or("not run", Outcome::as_str);
    for change in changes {
        let (server, gate) = &change.of;
        let why = if change.summary.is_empty() { String::new() } else { format!(": {}", change.summary) };
        let text = format!("{server} {gate}: {} → {}{why}", word(change.before), word(change.after));
        wrap(&mut out, 0, &wire::escape::line(&text));
    }
    let worse = changes.iter().filter(|change| change.is_worse()).count();
    let _ = writeln!(out, "{}, {worse} for the worse", counted(changes.len(), "change"));
    out
}
