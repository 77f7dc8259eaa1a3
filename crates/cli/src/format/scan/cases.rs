//! The scan as cases: one for each finding, one for each rule without any, one for each part that could not be read.

use guard::scan::{RULES, Rule};
use report::render::text::count;

use super::{ScanView, Shown, place};

/// One case. It fails only where it fails the scan.
pub(super) struct Case<'v> {
    /// The rule, or what the case is about instead.
    pub(super) class: &'v str,
    pub(super) name: String,
    pub(super) outcome: Outcome,
    /// The severity, where something was found.
    pub(super) severity: Option<&'static str>,
    /// What was found, in one sentence.
    pub(super) message: String,
    /// More of it: name and text.
    pub(super) details: Vec<(&'static str, String)>,
}

impl Case<'_> {
    /// More of it, as text.
    pub(super) fn details(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.details.iter().map(|(name, text)| (*name, text.as_str()))
    }
}

/// What a case comes to.
pub(super) enum Outcome {
    Passed,
    /// Found, below the severity that fails the scan.
    Warning,
    /// Accepted by a person, and why.
    Suppressed(String),
    Failed,
    /// Not read.
    Incomplete,
}

/// All cases, in the order of the rules.
pub(super) fn cases(view: &ScanView) -> Vec<Case<'_>> {
    let mut all = Vec::new();
    for rule in RULES {
        let before = all.len();
        let shown = view.findings.iter().filter(|shown| shown.finding.rule.id == rule.id);
        all.extend(shown.map(|shown| found(view, shown)));
        all.extend(more(view, rule));
        // A rule that tried nothing has passed nothing.
        let tried = view.tried.get(rule.id);
        if all.len() == before && (!rule.is_active() || tried.is_some()) {
            let times = tried.map(|times| format!(" ({})", count(*times, "attempt"))).unwrap_or_default();
            let name = format!("no finding: {}{times}", rule.title);
            all.push(Case { outcome: Outcome::Passed, ..bare(rule.id, name) });
        }
    }
    let unread = |what: &'_ String| Case {
        outcome: Outcome::Incomplete,
        message: format!("incomplete: {what}"),
        ..bare("incomplete", "everything was read".to_owned())
    };
    all.extend(view.incomplete.iter().map(unread));
    all
}

const fn bare(class: &str, name: String) -> Case<'_> {
    Case { class, name, outcome: Outcome::Passed, severity: None, message: String::new(), details: Vec::new() }
}

fn found<'v>(view: &ScanView, shown: &'v Shown) -> Case<'v> {
    let finding = &shown.finding;
    let outcome = match &shown.accepted {
        Some((reason, expires)) => Outcome::Suppressed(format!("suppressed until {expires}: {reason}")),
        None if shown.fails(view) => Outcome::Failed,
        None => Outcome::Warning,
    };
    let mut details = Vec::new();
    if !finding.excerpt.is_empty() {
        details.push(("excerpt", finding.excerpt.clone()));
    }
    details.extend(finding.decoded.iter().map(|text| ("decoded", text.clone())));
    details.push(("fix", finding.rule.fix.to_owned()));
    details.extend(shown.expired.iter().map(|date| ("suppression expired", date.clone())));
    details.push(("fingerprint", shown.fingerprint.clone()));
    Case {
        outcome,
        severity: Some(finding.severity.as_str()),
        message: finding.message.clone(),
        details,
        ..bare(finding.rule.id, place(&finding.place))
    }
}

/// Findings that are only counted, by severity.
fn more<'v>(view: &ScanView, rule: &'v Rule) -> impl Iterator<Item = Case<'v>> {
    let counts = view.more.get(rule.id).into_iter().flatten();
    let fail_on = view.fail_on;
    let case = move |(severity, number): (&guard::scan::Severity, &usize)| Case {
        outcome: if *severity >= fail_on { Outcome::Failed } else { Outcome::Warning },
        severity: Some(severity.as_str()),
        message: format!("{number} more findings are counted but not listed"),
        ..bare(rule.id, format!("{number} more of severity {severity}"))
    };
    counts.map(case).collect::<Vec<_>>().into_iter()
}
