//! What must hold, and whether it did.

use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, Instant};

use crate::load::deadline;

/// How long after a fault its consequences may be felt.
const AFTERMATH: Duration = Duration::from_millis(500);

/// A call and what its client was told.
pub(crate) struct Call {
    pub(crate) key: String,
    pub(crate) upstream: &'static str,
    pub(crate) fault: &'static str,
    pub(crate) begun: Instant,
    pub(crate) ended: Instant,
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Ok,
    NotRun,
    Unknown,
    /// Nothing of these.
    Vague,
}

impl Call {
    fn outcome(&self) -> Outcome {
        let has = |part: &str| self.text.contains(part);
        if has(&format!("wrote {}", self.key)) {
            Outcome::Ok
        } else if has(r#""outcome":"not run""#) {
            Outcome::NotRun
        } else if has(r#""outcome":"unknown""#) || has("the outcome of the request is unknown") {
            Outcome::Unknown
        } else {
            Outcome::Vague
        }
    }
}

/// A time in which something was wrong with an upstream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trouble {
    pub(crate) upstream: &'static str,
    pub(crate) begun: Instant,
    pub(crate) ended: Instant,
}

impl Trouble {
    /// The fault of a call. A stopped child is found out by the call that it stops at.
    pub(crate) fn of(call: &Call) -> Option<Self> {
        let (upstream, begun, ended) = (call.upstream, call.begun, call.ended);
        (call.fault != "none").then_some(Self { upstream, begun, ended })
    }

    fn may_have_hit(&self, call: &Call) -> bool {
        self.upstream == call.upstream && self.begun <= call.ended && call.begun <= self.ended + AFTERMATH
    }
}

/// Counts of calls, and the invariants that were broken.
#[derive(Default)]
pub(crate) struct Tally {
    calls: usize,
    faulty: usize,
    ok: usize,
    not_run: usize,
    unknown: usize,
    unknown_and_written: usize,
    slowest: Duration,
    pub(crate) broken: Vec<String>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.faulty += other.faulty;
        self.ok += other.ok;
        self.not_run += other.not_run;
        self.unknown += other.unknown;
        self.unknown_and_written += other.unknown_and_written;
        self.slowest = self.slowest.max(other.slowest);
        self.broken.extend(other.broken);
    }

    /// Whether every kind of outcome was seen.
    pub(crate) const fn is_telling(&self) -> bool {
        self.faulty > 0 && self.ok > self.calls / 2 && self.not_run > 0 && self.unknown > self.unknown_and_written
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, faulty, ok, not_run, unknown, unknown_and_written, slowest, broken } = self;
        write!(
            f,
            "{calls} calls, {faulty} with a fault; {ok} ok, {not_run} not run, {unknown} unknown ({unknown_and_written} of \
             them had run); slowest answer {:.1} s; {} invariants broken",
            slowest.as_secs_f32(),
            broken.len()
        )
    }
}

/// Judges one seed. `left` are the processes that outlived the gateway.
pub(crate) fn judge(seed: u64, calls: &[Call], troubles: &[Trouble], keys: &[String], left: &[String]) -> Tally {
    let mut lines: HashMap<&str, usize> = HashMap::new();
    for key in keys {
        *lines.entry(key).or_default() += 1;
    }
    let mut tally = Tally::default();
    for call in calls {
        let (outcome, written) = (call.outcome(), lines.get(call.key.as_str()).copied().unwrap_or(0));
        let lasted = call.ended - call.begun;
        let hit = troubles.iter().any(|trouble| trouble.may_have_hit(call));
        let broken = [
            (lasted > deadline(), "I1: no answer in time"),
            (outcome == Outcome::Vague, "I1: no definite answer"),
            (written > 1, "I2: run more than once"),
            (outcome == Outcome::Ok && written != 1, "I3: answered, and not run"),
            (outcome == Outcome::NotRun && written != 0, "I3: run, and told as not run"),
            (outcome == Outcome::Unknown && !hit, "I4: unknown without a fault"),
            (outcome != Outcome::Ok && call.upstream == "calm", "I4: the fault of another server"),
        ];
        for (_, what) in broken.iter().filter(|(broken, _)| *broken) {
            let Call { key, upstream, fault, text, .. } = call;
            let line =
                format!("seed {seed}: {what}: {key} at {upstream} with {fault}, {written} lines, {lasted:?}: {text}");
            tally.broken.push(line);
        }
        tally.calls += 1;
        tally.faulty += usize::from(call.fault != "none");
        tally.ok += usize::from(outcome == Outcome::Ok);
        tally.not_run += usize::from(outcome == Outcome::NotRun);
        tally.unknown += usize::from(outcome == Outcome::Unknown);
        tally.unknown_and_written += usize::from(outcome == Outcome::Unknown && written == 1);
        tally.slowest = tally.slowest.max(lasted);
    }
    if !left.is_empty() {
        tally.broken.push(format!("seed {seed}: I7: processes are left: {}", left.join(", ")));
    }
    tally
}

/// Each breach is seen, and a good run has none.
#[test]
fn every_breach_is_seen() {
    let begun = Instant::now();
    let ended = begun + Duration::from_millis(10);
    let call = |upstream, fault, text: &str, ended| {
        let (key, text) = ("k".to_owned(), text.to_owned());
        Call { key, upstream, fault, begun, ended, text }
    };
    let broken = |call: Call, keys: &[&str]| {
        let troubles: Vec<_> = Trouble::of(&call).into_iter().collect();
        let keys: Vec<_> = keys.iter().map(|key| (*key).to_owned()).collect();
        judge(1, &[call], &troubles, &keys, &[]).broken.join("\n")
    };
    let (ok, not_run, unknown) = ("wrote k", r#"{"outcome":"not run"}"#, r#"{"outcome":"unknown"}"#);
    assert_eq!(broken(call("pipe", "none", ok, ended), &["k"]), "");
    assert_eq!(broken(call("pipe", "read-kill", unknown, ended), &[]), "");
    assert_eq!(broken(call("pipe", "read-kill", unknown, ended), &["k"]), "");
    assert_eq!(broken(call("pipe", "none", not_run, ended), &[]), "");
    let late = ended + deadline();
    for (call, keys, expected) in [
        (call("pipe", "none", ok, late), &["k"][..], "I1: no answer in time"),
        (call("pipe", "none", "wrote other", ended), &[], "I1: no definite answer"),
        (call("pipe", "read-kill", unknown, ended), &["k", "k"], "I2"),
        (call("pipe", "none", ok, ended), &[], "I3: answered, and not run"),
        (call("http", "none", not_run, ended), &["k"], "I3: run, and told as not run"),
        (call("http", "none", unknown, ended), &["k"], "I4: unknown without a fault"),
        (call("calm", "none", not_run, ended), &[], "I4: the fault of another server"),
    ] {
        let found = broken(call, keys);
        assert!(found.contains(expected), "no {expected:?} in {found:?}");
    }
    let left = judge(1, &[], &[], &[], &["17".to_owned()]).broken.join("");
    assert!(left.contains("I7"), "{left}");
}
