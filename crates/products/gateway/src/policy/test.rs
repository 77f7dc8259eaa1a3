//! Runs the cases, and reports what differs. Decides nothing itself.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gateway::access::Decider;
use serde_json::{Value, json};

use super::cases::{Case, Cases};
use super::{name_of, point_note, word};

/// What became of a case.
pub(super) struct Outcome {
    allowed: bool,
    decider: Decider,
    expected: bool,
}

impl Outcome {
    pub(super) const fn is_expected(&self) -> bool {
        self.expected
    }
}

/// Decides every case.
pub(super) fn run(cases: &Cases) -> Vec<Outcome> {
    let run = |case: &Case| {
        let (allowed, decider) = cases.rules.policy.decide(&case.request);
        let by_the_right = case.decider.as_ref().is_none_or(|expected| *expected == name_of(&decider));
        Outcome { expected: allowed == case.allowed && by_the_right, allowed, decider }
    };
    cases.list.iter().map(run).collect()
}

/// The numbers of the rules that decided no case.
fn unused(cases: &Cases, outcomes: &[Outcome]) -> Vec<usize> {
    let used: BTreeSet<usize> = outcomes
        .iter()
        .filter_map(|outcome| match outcome.decider {
            Decider::Rule(rule) => Some(rule),
            _ => None,
        })
        .collect();
    (1..=cases.rules.count()).filter(|rule| !used.contains(rule)).collect()
}

fn by(decider: &Value) -> String {
    match decider.as_u64() {
        Some(rule) => format!("by rule {rule}"),
        None if decider == "token" => "by the token".to_owned(),
        None => "by no rule".to_owned(),
    }
}

pub(super) fn as_text(cases: &Cases, outcomes: &[Outcome]) -> String {
    let mut out = String::new();
    for (index, (case, outcome)) in cases.list.iter().zip(outcomes).enumerate() {
        if outcome.expected {
            continue;
        }
        let expected = case.decider.as_ref().map(|decider| format!(" {}", by(decider))).unwrap_or_default();
        let (wanted, got) = (word(case.allowed), word(outcome.allowed));
        let reason = cases.rules.reason(&outcome.decider);
        let _ = writeln!(
            out,
            "error: {}: expected {wanted}{expected}, got {got}: {reason} – {}:{}:{}\n  try: proof-gateway policy explain {} --case {}",
            case.title,
            cases.file,
            case.at.line,
            case.at.column,
            cases.file,
            index + 1
        );
    }
    let wrong = outcomes.iter().filter(|outcome| !outcome.expected).count();
    let all = if outcomes.len() == 1 { "1 case".to_owned() } else { format!("{} cases", outcomes.len()) };
    let _ = writeln!(out, "{all}: {} as expected, {wrong} not", outcomes.len() - wrong);
    if let Some(note) = point_note(&cases.rules) {
        let _ = writeln!(out, "{note}");
    }
    let unused = unused(cases, outcomes);
    if !unused.is_empty() {
        let places: Vec<_> = unused.iter().map(|rule| format!("{rule} ({})", cases.rules.place(*rule))).collect();
        let _ = writeln!(out, "rules that decided no case: {}", places.join(", "));
    }
    out
}

pub(super) fn as_json(cases: &Cases, outcomes: &[Outcome]) -> String {
    let case = |(case, outcome): (&Case, &Outcome)| {
        json!({
            "case": case.title,
            "line": case.at.line,
            "passed": outcome.expected,
            "expected": { "decision": word(case.allowed), "rule": case.decider },
            "actual": {
                "decision": word(outcome.allowed),
                "rule": name_of(&outcome.decider),
                "reason": cases.rules.reason(&outcome.decider),
            },
        })
    };
    let wrong = outcomes.iter().filter(|outcome| !outcome.expected).count();
    let report = json!({
        "file": cases.file,
        "config": cases.rules.file,
        "passed": outcomes.len() - wrong,
        "failed": wrong,
        "unused_rules": unused(cases, outcomes),
        "authzen_asked": cases.rules.policy.settings().authzen.as_ref().map(|_| false),
        "cases": cases.list.iter().zip(outcomes).map(case).collect::<Vec<_>>(),
    });
    format!("{report:#}\n")
}
