//! What changed between two reports: findings, coverage, runs, rules. Data only.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use crate::Outcome;
use crate::saved::{Finding, Report, Run};

/// The name and version of the format.
pub const FORMAT: &str = "proof.diff/1";

/// What changed from one report to another.
#[derive(Debug, Serialize)]
pub struct Comparison<'r> {
    /// Findings: rules that are broken.
    pub findings: Findings<'r>,
    /// Rules that both reports have, in runs that both have.
    pub coverage: Coverage<'r>,
    /// Transports at revisions.
    pub runs: Changed<TransportRevision<'r>>,
    /// Rules that only one of them has. A rule may also be missing because it was not selected.
    pub rules: Changed<&'r str>,
    /// Whether the newer report judged nothing at all.
    #[serde(skip)]
    pub is_vacuous: bool,
    /// Whether a run of the newer report ended early, and none of the older.
    #[serde(skip)]
    pub is_cut_short: bool,
}

/// What became of findings.
#[derive(Debug, Serialize)]
pub struct Findings<'r> {
    /// Broken now and not before, or a SHOULD before and a MUST now.
    pub new: Vec<&'r Finding>,
    /// Broken before, and seen to be kept now.
    #[serde(rename = "mended")]
    pub fixed: Vec<&'r Finding>,
    /// Broken before and now.
    pub remaining: Vec<&'r Finding>,
}

/// What became of rules that were judged.
#[derive(Debug, Serialize)]
pub struct Coverage<'r> {
    /// Judged before, and no longer.
    pub lost: Vec<Shift<'r>>,
    /// Judged now, and not before.
    pub gained: Vec<Shift<'r>>,
}

/// A rule that is judged in one report only.
#[derive(Debug, Serialize)]
pub struct Shift<'r> {
    /// What became of it before.
    pub was: Outcome,
    /// As it stands now.
    #[serde(flatten)]
    pub now: &'r Finding,
}

/// What only one of two reports has.
#[derive(Debug, Serialize)]
pub struct Changed<T> {
    /// Only the older.
    pub removed: Vec<T>,
    /// Only the newer.
    pub added: Vec<T>,
}

/// A transport at a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TransportRevision<'r> {
    /// What carried the messages.
    pub transport: &'r str,
    /// The revision spoken.
    pub revision: &'r str,
}

impl Comparison<'_> {
    /// Whether the newer report is worse where the specification says MUST, or says too little to tell.
    pub fn is_worse(&self) -> bool {
        self.is_vacuous || self.is_cut_short || self.findings.new.iter().any(|finding| finding.level == "MUST")
    }
}

/// Compares two reports.
pub fn compare<'r>(old: &'r Report, new: &'r Report) -> Comparison<'r> {
    let before: HashMap<_, _> = old.results.iter().map(|finding| (finding.key(), finding)).collect();
    let mut findings = Findings { new: Vec::new(), fixed: Vec::new(), remaining: Vec::new() };
    let mut coverage = Coverage { lost: Vec::new(), gained: Vec::new() };
    for now in &new.results {
        let was = before.get(&now.key()).map(|finding| finding.outcome);
        findings.sort(was, now);
        if let Some(was) = was {
            coverage.sort(was, now);
        }
    }
    Comparison {
        findings,
        coverage,
        runs: runs(old, new),
        rules: rules(old, new),
        is_vacuous: new.judged() == 0,
        is_cut_short: new.was_cut_short() && !old.was_cut_short(),
    }
}

impl<'r> Findings<'r> {
    fn sort(&mut self, was: Option<Outcome>, now: &'r Finding) {
        match (was, now.outcome) {
            (Some(Outcome::Fail), Outcome::Fail | Outcome::Warn) | (Some(Outcome::Warn), Outcome::Warn) => {
                self.remaining.push(now);
            }
            (_, Outcome::Fail | Outcome::Warn) => self.new.push(now),
            (Some(Outcome::Fail | Outcome::Warn), Outcome::Pass) => self.fixed.push(now),
            _ => {}
        }
    }
}

impl<'r> Coverage<'r> {
    fn sort(&mut self, was: Outcome, now: &'r Finding) {
        match (was.is_judged(), now.outcome.is_judged()) {
            (true, false) => self.lost.push(Shift { was, now }),
            (false, true) => self.gained.push(Shift { was, now }),
            _ => {}
        }
    }
}

fn runs<'r>(old: &'r Report, new: &'r Report) -> Changed<TransportRevision<'r>> {
    let only = |these: &'r [Run], those: &[Run]| {
        let missing = these.iter().filter(|run| !those.iter().any(|other| other.place() == run.place()));
        missing.map(|run| TransportRevision { transport: &run.transport, revision: &run.revision }).collect()
    };
    Changed { removed: only(&old.runs, &new.runs), added: only(&new.runs, &old.runs) }
}

fn rules<'r>(old: &'r Report, new: &'r Report) -> Changed<&'r str> {
    let ids = |report: &'r Report| report.results.iter().map(|finding| finding.rule.as_str()).collect::<BTreeSet<_>>();
    let (old, new) = (ids(old), ids(new));
    Changed { removed: old.difference(&new).copied().collect(), added: new.difference(&old).copied().collect() }
}
