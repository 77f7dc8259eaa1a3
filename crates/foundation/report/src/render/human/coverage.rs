//! What was not exercised, and what would change that, the commonest first.

use std::collections::BTreeSet;

use crate::render::text::{count, hanging, wrap};
use crate::{Outcome, ReportView};

/// How many reasons are listed, and how many rules share one that is worth a line.
const SHOWN: usize = 4;
const SHARED: usize = 3;

/// The width of the column of numbers.
const NUMBER: usize = 6;

/// Which tools were left alone, what rules that were not exercised are about, and the reasons that many of them share.
pub(super) fn advice(out: &mut String, view: &ReportView<'_>, verbose: bool) {
    if let Some(tools) = view.tools_unknown() {
        let words = format!("Warning: --allow-tool or --hints names {tools}. `proof client tools` lists them.");
        wrap(out, 0, &wire::escape::line(&words));
    }
    if let Some(tools) = view.tools_not_called() {
        let words = format!(
            "Not called: {tools} (readOnlyHint is not true). Allow some with --allow-tool <NAME>, or all with --call all."
        );
        wrap(out, 0, &wire::escape::line(&words));
    }
    if let Some(tools) = view.tools_called_by_name() {
        let words = format!("Called: {tools}. Forbid it with --call read-only, or all calls with --call none.");
        wrap(out, 0, &wire::escape::line(&words));
    }
    let reasons = reasons(view);
    if reasons.is_empty() {
        return;
    }
    let rules: BTreeSet<&str> = reasons.iter().flat_map(|(_, rules)| rules).copied().collect();
    let areas = areas(&rules).into_iter().map(|(area, number)| format!("{area} {number}")).collect::<Vec<_>>();
    let number = count(rules.len(), "rule");
    // The verbose report has said why, rule by rule.
    let hint = if verbose { "" } else { " (--verbose says why)" };
    wrap(out, 0, &format!("{number} not exercised in any run{hint}: {}.", areas.join(", ")));
    for (why, rules) in reasons.iter().filter(|(_, rules)| rules.len() >= SHARED).take(SHOWN) {
        hanging(out, 0, (&format!("{:>4}  ", rules.len()), NUMBER), &wire::escape::line(why));
    }
    out.push('\n');
}

/// What rules are about, by the first part of their ids, the commonest first.
fn areas<'r>(rules: &BTreeSet<&'r str>) -> Vec<(&'r str, usize)> {
    let mut areas: Vec<(&str, usize)> = Vec::new();
    for rule in rules {
        let area = rule.split('.').next().unwrap_or(rule);
        match areas.iter_mut().find(|(known, _)| *known == area) {
            Some((_, number)) => *number += 1,
            None => areas.push((area, 1)),
        }
    }
    areas.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    areas
}

/// Each reason for which rules were not exercised in any run, with those rules; most rules first.
fn reasons<'r>(view: &ReportView<'r>) -> Vec<(&'r str, BTreeSet<&'r str>)> {
    let results = &view.report.results;
    let judged: BTreeSet<&str> = results.iter().filter(|f| f.outcome.is_judged()).map(|f| f.rule).collect();
    let mut reasons: Vec<(&str, BTreeSet<&str>)> = Vec::new();
    let missing = results.iter().filter(|f| f.outcome == Outcome::NotExercised && !judged.contains(f.rule));
    for finding in missing {
        match reasons.iter_mut().find(|(why, _)| *why == finding.message) {
            Some((_, rules)) => _ = rules.insert(finding.rule),
            None => reasons.push((&finding.message, BTreeSet::from([finding.rule]))),
        }
    }
    reasons.sort_by_key(|(_, rules)| std::cmp::Reverse(rules.len()));
    reasons
}
