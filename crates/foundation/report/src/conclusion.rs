//! Whether a check fails, and why. This is decided here and nowhere else: formats and the exit code receive the result.

use std::collections::BTreeMap;

use serde::Serialize;
use wire::Level;

use crate::Outcome;
use crate::render::text::count;

/// The lowest level of a broken rule that fails a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FailOn {
    /// A broken MUST or safety rule.
    #[default]
    Must,
    /// A broken SHOULD, too.
    Should,
}

/// What a check comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conclusion {
    /// Whether the check passes.
    pub passed: bool,
    /// What the process exits with: 0 if the check passes, 1 if it fails.
    pub exit_code: u8,
    /// The lowest level of a broken rule that fails the check.
    pub fail_on: FailOn,
    /// All of it in one line.
    pub summary: String,
    /// Why the check fails; empty if it passes.
    pub reasons: Vec<Reason>,
    /// How many rules and baseline entries the summary speaks of.
    pub counts: Counts,
}

/// One reason why a check fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// Which reason.
    pub kind: ReasonKind,
    /// The reason in words.
    pub message: String,
}

/// The reasons that a check can fail for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonKind {
    /// No rule was judged.
    NothingJudged,
    /// A run ended early, so that rules were not tested.
    CutShort,
    /// A MUST rule is broken.
    Must,
    /// A safety rule is broken.
    Safety,
    /// A SHOULD rule is broken, and the check fails on SHOULD.
    Should,
    /// An entry of the baseline is no longer broken.
    StaleBaseline,
}

/// Numbers behind the summary. A rule counts once, by the worst of what became of it in all runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Rules that fail the check.
    pub failing: usize,
    /// Broken rules that do not fail the check.
    pub warnings: usize,
    /// Broken rules of which the baseline knows all findings.
    pub known: usize,
    /// Baseline entries that are no longer broken.
    pub stale: usize,
}

/// What a broken rule weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// The baseline knows it.
    Known,
    /// It is below the level that fails the check.
    Warning,
    /// It fails the check.
    Failing,
}

impl Weight {
    /// What a finding weighs; nothing where the rule is not broken.
    pub(crate) fn of(outcome: Outcome, level: Level, known: bool, fail_on: FailOn) -> Option<Self> {
        match outcome {
            Outcome::Pass | Outcome::NotExercised | Outcome::NotApplicable => None,
            Outcome::Fail | Outcome::Warn if known => Some(Self::Known),
            Outcome::Fail => Some(Self::Failing),
            Outcome::Warn if fail_on == FailOn::Should && level == Level::Should => Some(Self::Failing),
            Outcome::Warn => Some(Self::Warning),
        }
    }
}

/// What the conclusion is drawn from, and nothing else.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts<'f> {
    /// `server` or `client`.
    pub(crate) subject: &'f str,
    pub(crate) fail_on: FailOn,
    /// Findings that were judged one way or the other.
    pub(crate) judged: usize,
    /// Runs that ended early.
    pub(crate) cut_short: usize,
    /// Stale entries of the baseline.
    pub(crate) stale: usize,
    /// Every broken rule, with the worst of its findings.
    pub(crate) broken: BTreeMap<&'f str, (Weight, Level)>,
}

impl<'f> Facts<'f> {
    /// Adds a broken rule's finding.
    pub(crate) fn add(&mut self, rule: &'f str, weight: Weight, level: Level) {
        let entry = self.broken.entry(rule).or_insert((weight, level));
        // The stronger level compares as less.
        if weight > entry.0 || (weight == entry.0 && level < entry.1) {
            *entry = (weight, level);
        }
    }

    fn number(&self, wanted: impl Fn(Weight, Level) -> bool) -> usize {
        self.broken.values().filter(|(weight, level)| wanted(*weight, *level)).count()
    }

    fn failing(&self, levels: &[Level]) -> usize {
        self.number(|weight, level| weight == Weight::Failing && levels.contains(&level))
    }
}

impl Conclusion {
    /// Decides.
    pub(crate) fn of(facts: &Facts<'_>) -> Self {
        let reasons = reasons(facts);
        let passed = reasons.is_empty();
        let counts = Counts {
            failing: facts.number(|weight, _| weight == Weight::Failing),
            warnings: facts.number(|weight, _| weight == Weight::Warning),
            known: facts.number(|weight, _| weight == Weight::Known),
            stale: facts.stale,
        };
        let summary = summary(&reasons, counts);
        Self { passed, exit_code: u8::from(!passed), fail_on: facts.fail_on, summary, reasons, counts }
    }

    /// Whether the check fails.
    pub const fn fails(&self) -> bool {
        !self.passed
    }

    /// The reason of a kind, where the check fails for it.
    pub fn reason(&self, kind: ReasonKind) -> Option<&str> {
        self.reasons.iter().find(|reason| reason.kind == kind).map(|reason| reason.message.as_str())
    }
}

fn reasons(facts: &Facts<'_>) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut add = |holds: bool, kind, message: String| {
        if holds {
            reasons.push(Reason { kind, message });
        }
    };
    let nothing = format!("no rule was judged, so this says nothing about the {}", facts.subject);
    add(facts.judged == 0, ReasonKind::NothingJudged, nothing);
    let cut = format!("{} ended early, so some rules were not tested", count(facts.cut_short, "run"));
    add(facts.cut_short > 0, ReasonKind::CutShort, cut);
    let broken = |number, level| format!("{} broken", count(number, &format!("{level} rule")));
    let must = facts.failing(&[Level::Must]);
    add(must > 0, ReasonKind::Must, broken(must, "MUST"));
    let safety = facts.failing(&[Level::Safety]);
    add(safety > 0, ReasonKind::Safety, broken(safety, "safety"));
    let should = facts.failing(&[Level::Should, Level::May]);
    add(should > 0, ReasonKind::Should, format!("{} (this check fails on SHOULD)", broken(should, "SHOULD")));
    let entries = if facts.stale == 1 { "entry is" } else { "entries are" };
    add(facts.stale > 0, ReasonKind::StaleBaseline, format!("{} baseline {entries} stale", facts.stale));
    reasons
}

fn summary(reasons: &[Reason], counts: Counts) -> String {
    let mut rest = Vec::new();
    if counts.warnings > 0 {
        rest.push(count(counts.warnings, "warning"));
    }
    if counts.known > 0 {
        rest.push(format!("{} known", counts.known));
    }
    let rest = rest.join(", ");
    let why: Vec<_> = reasons.iter().map(|reason| reason.message.as_str()).collect();
    match (why.join("; "), rest.as_str()) {
        (why, "") if why.is_empty() => "Passed: no rule is broken".to_owned(),
        (why, rest) if why.is_empty() => format!("Passed: {rest}"),
        (why, "") => format!("Failed: {why}"),
        (why, rest) => format!("Failed: {why} ({rest})"),
    }
}
