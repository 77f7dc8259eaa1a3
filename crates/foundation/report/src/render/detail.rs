//! A finding at length, in plain lines: for formats that have a place for a text but no shape for evidence.

use std::fmt::Write as _;

use super::escape::plain;
use super::text::marked;
use crate::{Evidence, Finding, ReportView};

/// How wide quotations are folded.
const WIDTH: usize = 76;

/// What was found, the events that show it with carets, the rule, its address, and how to reproduce it.
pub(crate) fn detail(view: &ReportView<'_>, finding: &Finding) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", plain(&finding.message));
    for evidence in &finding.evidence {
        quote(&mut out, evidence);
    }
    if let Some(sentence) = view.sentence(finding) {
        let _ = writeln!(out, "rule: {sentence}");
    }
    let _ = writeln!(out, "see: {}", plain(&finding.url));
    if let Some(repro) = &finding.repro {
        let _ = writeln!(out, "reproduce: {}", plain(repro));
    }
    out
}

/// Which event it is.
pub(crate) fn event(evidence: &Evidence) -> String {
    let at = if evidence.pointer.is_empty() { String::new() } else { format!(" at {}", plain(&evidence.pointer)) };
    format!("event {} of case {}{at}", evidence.event, plain(&evidence.case))
}

fn quote(out: &mut String, evidence: &Evidence) {
    let _ = writeln!(out, "{}:", event(evidence));
    for (line, marks) in marked(&plain(&evidence.excerpt), evidence.caret.clone(), WIDTH) {
        let _ = writeln!(out, "  {line}");
        if !marks.is_empty() {
            let _ = writeln!(out, "  {marks}");
        }
    }
}
