//! For people: 80 columns, readable without colour; the most severe first, of one severity by place.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use guard::scan::{Kind, Severity};
use report::render::text::{Paint, WIDTH, marked, wrap};

use super::{ScanView, Shown, place};

/// How many findings are shown of each rule.
const NAMED: usize = 12;
/// How far the body of a finding stands in.
const INDENT: usize = 8;

/// The report as text.
pub(crate) fn human(view: &ScanView, paint: Paint) -> String {
    let mut out = String::new();
    wrap(&mut out, 0, &view.scope());
    for note in &view.notes {
        wrap(&mut out, 0, note);
    }
    out.push('\n');
    for severity in Severity::ALL.into_iter().rev() {
        let mut named = BTreeMap::new();
        let of_severity = |shown: &&Shown| shown.finding.severity == severity && shown.accepted.is_none();
        let mut all: Vec<_> = view.findings.iter().filter(of_severity).collect();
        all.sort_by(|a, b| order(a).cmp(&order(b)));
        for shown in all {
            let count = named.entry(shown.finding.rule.id).or_insert(0_usize);
            *count += 1;
            if *count <= NAMED {
                finding(&mut out, shown, paint);
            }
        }
        for (id, count) in named.iter().filter(|(_, count)| **count > NAMED) {
            let more = count - NAMED;
            wrap(&mut out, INDENT, &format!("and {more} more of {id} ({severity}): --format json lists them"));
            out.push('\n');
        }
    }
    for (rule, counts) in &view.more {
        let number: usize = counts.values().sum();
        wrap(&mut out, 0, &format!("{rule}: {number} more findings are counted but not listed in any format."));
    }
    for what in &view.incomplete {
        wrap(&mut out, 0, &format!("Incomplete: {what}."));
    }
    for fingerprint in &view.unused {
        wrap(&mut out, 0, &format!("Unused suppression: {} was not found.", wire::escape::line(fingerprint)));
    }
    let line = format!("{}.", view.summary());
    let has_findings = view.findings.iter().any(|shown| shown.accepted.is_none());
    let line = match (view.fails(), has_findings) {
        (true, _) => paint.red(&line),
        (false, true) => paint.yellow(&line),
        (false, false) => paint.green(&line),
    };
    let _ = writeln!(out, "{line}");
    out
}

/// Where a finding stands among those of its severity.
fn order(shown: &Shown) -> (&str, Kind, &str, &str, usize) {
    let place = &shown.finding.place;
    (&place.server, place.kind, &place.item, &place.pointer, place.span.start)
}

fn finding(out: &mut String, shown: &Shown, paint: Paint) {
    let finding = &shown.finding;
    let word = finding.severity.as_str().to_uppercase();
    let word = match finding.severity {
        Severity::High => paint.red(&word),
        Severity::Medium => paint.yellow(&word),
        _ => paint.dim(&word),
    };
    let _ = writeln!(out, "{word}  {}  weight {}", paint.bold(finding.rule.id), finding.weight);
    wrap(out, INDENT, &place(&finding.place));
    if !finding.excerpt.is_empty() {
        for (line, marks) in marked(&finding.excerpt, Some(finding.caret.clone()), WIDTH - INDENT - 2) {
            let _ = writeln!(out, "{:INDENT$}{} {line}", "", paint.dim(">"));
            if !marks.is_empty() {
                let _ = writeln!(out, "{:INDENT$}  {}", "", paint.red(&marks));
            }
        }
    }
    wrap(out, INDENT, &format!("what: {}", wire::escape::line(&finding.message)));
    if let Some(decoded) = &finding.decoded {
        wrap(out, INDENT, &format!("decoded: {}", wire::escape::line(decoded)));
    }
    wrap(out, INDENT, &format!("fix: {}", finding.rule.fix));
    if let Some(date) = &shown.expired {
        wrap(out, INDENT, &format!("its suppression expired on {date}"));
    }
    wrap(out, INDENT, &format!("fingerprint: {}", shown.fingerprint));
    out.push('\n');
}
