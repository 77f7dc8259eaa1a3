//! A finding at length, in plain lines: for formats that have a place for a text but no shape for evidence.

use std::fmt::Write as _;

use super::escape::plain;
use super::groups::defects;
use super::text::marked;
use crate::{Evidence, Finding, PLACEHOLDER, ReportView, Sent};

/// What stands below a command in which a secret was replaced.
const SECRET_NOTE: &str = "Put in the secret that was replaced by YOUR-SECRET-HERE.";

/// What stands below commands that open a session.
pub(crate) const SESSION_NOTE: &str = "SESSION-ID stands for the Mcp-Session-Id that the first response has.";

/// How wide quotations are folded.
const WIDTH: usize = 76;

/// Each different defect with what was sent and the event that shows it, the rule, how to fix it, and how to see it again.
pub(crate) fn detail(view: &ReportView<'_>, finding: &Finding) -> String {
    let mut out = String::new();
    let defects = defects(view, finding);
    for (at, defect) in defects.iter().enumerate() {
        let number = if defects.len() > 1 { format!("{} of {}: ", at + 1, defects.len()) } else { String::new() };
        let _ = writeln!(out, "{number}{}", plain(&defect.text()));
        if let Some(evidence) = defect.evidence {
            quote(&mut out, evidence);
        }
        if let Some(more) = defect.more() {
            let _ = writeln!(out, "{more}");
        }
    }
    if let Some(cause) = finding.consequence_of {
        let _ = writeln!(out, "same cause as {cause}");
    }
    if let Some(sentence) = view.sentence(finding) {
        let _ = writeln!(out, "rule: {sentence}");
    }
    if let Some(rule) = view.rule(finding).filter(|rule| !rule.fix.is_empty()) {
        let _ = writeln!(out, "fix: {}", rule.fix);
    }
    let _ = writeln!(out, "see: {}", plain(&finding.url));
    if let Some(repro) = &finding.repro {
        let _ = writeln!(out, "reproduce: {}", plain(repro));
    }
    if let Some(curl) = curl(finding) {
        let _ = writeln!(out, "curl: {}", plain(curl));
    }
    for command in curl_session(finding) {
        let _ = writeln!(out, "before it: {}", plain(command));
    }
    if !curl_session(finding).is_empty() {
        let _ = writeln!(out, "{SESSION_NOTE}");
    }
    if let Some(note) = secret_note(finding) {
        let _ = writeln!(out, "{note}");
    }
    out
}

/// The command that shows the first defect over HTTP, where one request does.
pub(crate) fn curl(finding: &Finding) -> Option<&str> {
    first_sent(finding)?.curl.as_deref()
}

/// The commands that open the session which that command names, if it names one.
pub(crate) fn curl_session(finding: &Finding) -> &[String] {
    first_sent(finding).map_or(&[], |sent| &sent.curl_session)
}

fn first_sent(finding: &Finding) -> Option<&Sent> {
    finding.evidence.first()?.sent.as_ref()
}

/// What a person has to put into a finding's commands, where secrets were replaced in them.
pub(crate) fn secret_note(finding: &Finding) -> Option<&'static str> {
    let session = curl_session(finding).iter().map(String::as_str);
    let mut commands = finding.repro.as_deref().into_iter().chain(curl(finding)).chain(session);
    commands.any(|command| command.contains(PLACEHOLDER)).then_some(SECRET_NOTE)
}

/// What was sent before an event, in one line.
pub(crate) fn sent(evidence: &Evidence) -> Option<String> {
    let before = evidence.sent.as_ref()?;
    let label = if before.answered { "sent" } else { "last sent" };
    Some(format!("{label}: {}", plain(&before.text)))
}

/// Which event it is.
pub(crate) fn event(evidence: &Evidence) -> String {
    let at = if evidence.pointer.is_empty() { String::new() } else { format!(" at {}", plain(&evidence.pointer)) };
    format!("event {} of case {}{at}", evidence.event, plain(&evidence.case))
}

fn quote(out: &mut String, evidence: &Evidence) {
    if let Some(sent) = sent(evidence) {
        let _ = writeln!(out, "{sent}");
    }
    let _ = writeln!(out, "{}:", event(evidence));
    for (line, marks) in marked(&plain(&evidence.excerpt), evidence.caret.clone(), WIDTH) {
        let _ = writeln!(out, "  {line}");
        if !marks.is_empty() {
            let _ = writeln!(out, "  {marks}");
        }
    }
}
