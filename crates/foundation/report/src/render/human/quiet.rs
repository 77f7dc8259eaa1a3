//! What a verbose report adds: rules that were not exercised, by reason, rules that passed, and how many do not apply.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use wire::Level;

use crate::render::groups::{Group, grouped, places};
use crate::render::text::{Paint, count, hanging, wrap};
use crate::{Outcome, Report};

/// Where a rule's level stands, and how wide its column is.
const INDENT: usize = 4;
const LEVEL: usize = 8;

/// The width of the column of numbers.
const NUMBER: usize = 6;

/// Findings that say the same, with what they say.
type Reason<'r> = (&'r str, Vec<Group<'r>>);

/// The rules that were not exercised, then those that passed, then the number of those that do not apply.
pub(super) fn rules(out: &mut String, report: &Report, paint: Paint) {
    let missing = reasons(report, Outcome::NotExercised);
    if !missing.is_empty() {
        let _ = writeln!(out, "{}", paint.bold(&heading("Not exercised", &missing)));
        for (why, groups) in &missing {
            wrap(out, INDENT / 2, &wire::escape::line(why));
            for group in groups {
                rule(out, report, group);
            }
        }
        out.push('\n');
    }
    let mut passed = grouped(report.results.iter().filter(|finding| finding.outcome == Outcome::Pass));
    passed.sort_by_key(|group| rank(group.first.level));
    if !passed.is_empty() {
        let _ = writeln!(out, "{}", paint.green(&format!("Passed: {}", count(passed.len(), "rule"))));
        for group in &passed {
            rule(out, report, group);
        }
        out.push('\n');
    }
    let mut others = reasons(report, Outcome::NotApplicable);
    others.sort_by_key(|(_, groups)| std::cmp::Reverse(groups.len()));
    if !others.is_empty() {
        let _ = writeln!(out, "{}", paint.dim(&heading("Not applicable", &others)));
        for (why, groups) in &others {
            let number = groups.len();
            hanging(out, 0, (&format!("{number:>4}  "), NUMBER), &wire::escape::line(why));
        }
        out.push('\n');
    }
}

/// `Not exercised: 12 rules, by reason`
fn heading(what: &str, reasons: &[Reason<'_>]) -> String {
    let rules: BTreeSet<_> = reasons.iter().flat_map(|(_, groups)| groups).map(|group| group.first.rule).collect();
    format!("{what}: {}, by reason", count(rules.len(), "rule"))
}

/// A rule in one line, with the runs where they are not all.
fn rule(out: &mut String, report: &Report, group: &Group<'_>) {
    let level = format!("{:LEVEL$}", group.first.level.as_str());
    let runs = if group.all.len() < report.runs.len() { format!(" ({})", places(&group.all)) } else { String::new() };
    hanging(out, INDENT, (&level, LEVEL), &format!("{}{runs}", group.first.rule));
}

/// Each reason for an outcome with its rules, MUST first; the reason with most of them first.
fn reasons(report: &Report, outcome: Outcome) -> Vec<Reason<'_>> {
    let mut reasons: Vec<Reason<'_>> = Vec::new();
    for group in grouped(report.results.iter().filter(|finding| finding.outcome == outcome)) {
        let why = group.first.message.as_str();
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, groups)) => groups.push(group),
            None => reasons.push((why, vec![group])),
        }
    }
    for (_, groups) in &mut reasons {
        groups.sort_by_key(|group| rank(group.first.level));
    }
    let must = |groups: &[Group<'_>]| groups.iter().filter(|group| group.first.level == Level::Must).count();
    reasons.sort_by_key(|(_, groups)| std::cmp::Reverse((must(groups), groups.len())));
    reasons
}

/// What matters most comes first.
const fn rank(level: Level) -> u8 {
    match level {
        Level::Must => 0,
        Level::Safety => 1,
        _ => 2,
    }
}
