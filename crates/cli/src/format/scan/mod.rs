//! The report of a scan, in every format. Must not know where the scanned came from.

mod cases;
pub(crate) mod classes;
mod html;
mod human;
mod json;
mod junit;
mod markdown;
mod sarif;
mod tap;

pub(crate) use html::html;
pub(crate) use human::human;
pub(crate) use json::json;
pub(crate) use junit::junit;
pub(crate) use markdown::markdown;
pub(crate) use sarif::sarif;
pub(crate) use tap::tap;

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use guard::scan::{Finding, Kind, Place, Scan, Severity};
use report::render::text::count;
use wire::redact::Redactor;

/// A finding that a person accepted.
pub(crate) struct Accepted {
    pub(crate) fingerprint: String,
    pub(crate) reason: String,
    pub(crate) expires: String,
    pub(crate) is_expired: bool,
}

/// A finding as reports show it.
pub(crate) struct Shown {
    pub(crate) finding: Finding,
    pub(crate) fingerprint: String,
    /// Why it is accepted, until when.
    pub(crate) accepted: Option<(String, String)>,
    /// When the acceptance ended.
    pub(crate) expired: Option<String>,
}

impl Shown {
    /// Whether it fails the scan.
    pub(crate) fn fails(&self, view: &ScanView) -> bool {
        self.accepted.is_none() && self.finding.severity >= view.fail_on
    }
}

/// What a format is made from.
pub(crate) struct ScanView {
    pub(crate) findings: Vec<Shown>,
    pub(crate) more: BTreeMap<&'static str, BTreeMap<Severity, usize>>,
    pub(crate) items: BTreeMap<Kind, usize>,
    pub(crate) servers: Vec<String>,
    pub(crate) strings: usize,
    pub(crate) incomplete: Vec<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) fail_on: Severity,
    /// By rule that calls the server, how often it tried.
    pub(crate) tried: BTreeMap<&'static str, usize>,
    /// Fingerprints that are accepted and were not found.
    pub(crate) unused: Vec<String>,
}

impl ScanView {
    /// Puts a scan and what was accepted together, with secrets redacted.
    pub(crate) fn new(
        scan: Scan,
        accepted: &[Accepted],
        fail_on: Severity,
        notes: Vec<String>,
        redactor: &Redactor,
    ) -> Self {
        let mut used = HashSet::new();
        let shown = |finding: Finding, used: &mut HashSet<String>| {
            let fingerprint = finding.fingerprint();
            let entry = accepted.iter().find(|one| one.fingerprint == fingerprint);
            used.extend(entry.map(|entry| entry.fingerprint.clone()));
            let holds = entry.filter(|entry| !entry.is_expired);
            Shown {
                accepted: holds.map(|entry| (entry.reason.clone(), entry.expires.clone())),
                expired: entry.filter(|entry| entry.is_expired).map(|entry| entry.expires.clone()),
                finding: redacted(finding, redactor),
                fingerprint,
            }
        };
        let findings = scan.findings.into_iter().map(|finding| shown(finding, &mut used)).collect();
        let unused = accepted.iter().map(|one| one.fingerprint.clone()).filter(|one| !used.contains(one)).collect();
        Self {
            findings,
            more: scan.more,
            items: scan.items,
            servers: scan.servers,
            strings: scan.strings,
            incomplete: scan.incomplete,
            notes,
            fail_on,
            tried: scan.tried,
            unused,
        }
    }

    /// Whether the scan fails: a finding that counts, or a part that was not read.
    pub(crate) fn fails(&self) -> bool {
        !self.incomplete.is_empty() || self.failing() > 0
    }

    /// How many findings fail the scan, with those that are only counted.
    pub(crate) fn failing(&self) -> usize {
        let counted = self.more.values().flatten().filter(|(severity, _)| **severity >= self.fail_on);
        let counted: usize = counted.map(|(_, number)| number).sum();
        self.findings.iter().filter(|shown| shown.fails(self)).count() + counted
    }

    /// How many findings a person accepted.
    pub(crate) fn accepted(&self) -> usize {
        self.findings.iter().filter(|shown| shown.accepted.is_some()).count()
    }

    /// All findings of a severity that nobody accepted, with those that are only counted.
    pub(crate) fn number(&self, severity: Severity) -> usize {
        let shown = self.findings.iter().filter(|one| one.accepted.is_none() && one.finding.severity == severity);
        shown.count() + self.more.values().filter_map(|counts| counts.get(&severity)).sum::<usize>()
    }

    /// What was read: `2 servers: 5 tools, 1 prompt`.
    pub(crate) fn scope(&self) -> String {
        let plural = |kind: &Kind, number: usize| match kind {
            Kind::Instructions => count(number, "text").replace("text", "instruction text"),
            kind => count(number, kind.as_str()),
        };
        let items: Vec<String> = self.items.iter().map(|(kind, number)| plural(kind, *number)).collect();
        format!("{}: {}", count(self.servers.len(), "server"), items.join(", "))
    }

    /// All of it in one line.
    pub(crate) fn summary(&self) -> String {
        let counts: Vec<String> = Severity::ALL
            .iter()
            .rev()
            .map(|severity| (self.number(*severity), severity))
            .filter(|(number, _)| *number > 0)
            .map(|(number, severity)| format!("{number} {severity}"))
            .collect();
        let found = if counts.is_empty() { "no finding".to_owned() } else { counts.join(", ") };
        let accepted = match self.accepted() {
            0 => String::new(),
            number => format!(", {number} suppressed"),
        };
        let fail = format!("fails on {}", self.fail_on);
        match (self.failing(), self.incomplete.is_empty()) {
            (0, true) => format!("Passed: {found}{accepted} ({fail})"),
            (0, false) => format!("Failed: incomplete; {found}{accepted}"),
            (_, true) => format!("Failed: {found}{accepted} ({fail})"),
            (_, false) => format!("Failed: {found}{accepted}; incomplete ({fail})"),
        }
    }
}

/// A finding without secrets. Where one is replaced, the caret would point elsewhere.
fn redacted(mut finding: Finding, redactor: &Redactor) -> Finding {
    let redact = |text: &str| redactor.redact_text(text).into_owned();
    let excerpt = redact(&finding.excerpt);
    if excerpt != finding.excerpt {
        finding.caret = 0..0;
    }
    finding.excerpt = excerpt;
    finding.decoded = finding.decoded.as_deref().map(redact);
    finding.message = redact(&finding.message);
    finding
}

/// `tool add of calculator, /description, bytes 8-11`
pub(crate) fn place(place: &Place) -> String {
    let escaped = |text: &str| wire::escape::snippet(text, 80);
    if place.server.is_empty() {
        return "all servers together".to_owned();
    }
    let item = if place.item.is_empty() { String::new() } else { format!(" {}", escaped(&place.item)) };
    let mut out = format!("{}{item} of {}", place.kind.as_str(), escaped(&place.server));
    if !place.pointer.is_empty() {
        let _ = write!(out, ", {}", escaped(&place.pointer));
    }
    if !place.span.is_empty() {
        let _ = write!(out, ", bytes {}-{}", place.span.start, place.span.end);
    }
    out
}
