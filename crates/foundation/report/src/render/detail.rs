//! A finding at length, in plain lines: for formats that have a place for a text but no shape for evidence.

use std::fmt::Write as _;

use workbench::report::{Evidence, Finding};

use super::escape::plain;
use super::text::marked;

/// How wide quotations are folded.
const WIDTH: usize = 76;

/// What was found, the events that show it with carets, the rule, its address, and how to see it again.
pub(crate) fn detail(finding: &Finding) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", plain(&finding.message));
    for evidence in &finding.evidence {
        quote(&mut out, evidence);
    }
    if let Some(sentence) = sentence(finding) {
        let _ = writeln!(out, "rule: {sentence}");
    }
    let _ = writeln!(out, "see: {}", plain(&finding.url));
    if let Some(repro) = &finding.repro {
        let _ = writeln!(out, "again: {}", plain(repro));
    }
    out
}

/// The rule's own words at the finding's revision.
pub(crate) fn sentence(finding: &Finding) -> Option<&'static str> {
    let rule = rules::find(finding.rule)?;
    Some(rule.sentence_at(finding.revision).or_else(|| rule.newest().map(|(_, sentence)| sentence))?.text)
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
