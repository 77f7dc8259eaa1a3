//! A finding for people: what the rule says, each different defect with what was sent and what came back, how to fix it and how
//! to see it again.

use std::fmt::Write as _;
use std::ops::Range;

use crate::render::detail::{curl, secret_note};
use crate::render::groups::{Broken, Defect, places};
use crate::render::phrases::WHOLE;
use crate::render::text::{Paint, WIDTH, hanging, marked, wrap};
use crate::{Disposition, Evidence, Finding, ReportView};

/// Where a finding's text begins, and where what follows a label.
const INDENT: usize = 6;
const LABEL: usize = 11;

/// How a line of known findings begins.
const KNOWN: &str = "KNOWN  ";

/// How many defects of one rule are shown.
const SHOWN: usize = 4;

/// A broken rule in full.
pub(super) fn rule(out: &mut String, view: &ReportView<'_>, rule: &Broken<'_>, word: &str, paint: Paint) {
    let first = rule.first;
    let _ = writeln!(out, "{word}  {}  {}", paint.bold(first.rule), first.level.as_str());
    wrap(out, INDENT, &places(&rule.all));
    if let Some(sentence) = view.sentence(first) {
        wrap(out, INDENT, sentence);
    }
    let known = rule.defects.partition_point(|defect| !defect.known);
    let (new, known) = rule.defects.split_at(known);
    for (at, one) in new.iter().take(SHOWN).enumerate() {
        out.push('\n');
        let number = (new.len() > 1).then(|| (at + 1, new.len()));
        defect(out, view, rule, one, (number, paint));
    }
    if new.len() > SHOWN {
        let more = new.len() - SHOWN;
        wrap(out, INDENT, &format!("and {more} other defects under this rule: --format json lists all"));
    }
    out.push('\n');
    for one in known {
        let line = format!("The baseline knows another defect under this rule, at {}.", one.key.site());
        wrap(out, INDENT, &wire::escape::line(&line));
    }
    out.push_str(if known.is_empty() { "" } else { "\n" });
    if !rule.reported_under.is_empty() {
        wrap(
            out,
            INDENT,
            &format!("Other defects of this rule are reported under {}.", rule.reported_under.join(", ")),
        );
        out.push('\n');
    }
    consequences(out, view, rule);
    ways_out(out, view, first, paint);
    out.push('\n');
}

/// What else is broken for the same cause, once each.
fn consequences(out: &mut String, view: &ReportView<'_>, rule: &Broken<'_>) {
    let mut named = Vec::new();
    let before = out.len();
    for finding in rule.all.iter().flat_map(|finding| view.consequences(finding)) {
        if !named.contains(&finding.rule) {
            named.push(finding.rule);
            let line = format!("Also breaks {} ({}): {}", finding.rule, finding.level.as_str(), finding.message);
            wrap(out, INDENT, &wire::escape::line(&line));
        }
    }
    if out.len() > before {
        out.push('\n');
    }
}

/// One way in which the rule is broken.
fn defect(
    out: &mut String,
    view: &ReportView<'_>,
    rule: &Broken<'_>,
    defect: &Defect<'_>,
    (number, paint): (Option<(usize, usize)>, Paint),
) {
    let number = number.map_or(String::new(), |(at, all)| format!("{at} of {all}: "));
    wrap(out, INDENT, &wire::escape::line(&format!("{number}{}", defect.message)));
    if defect.of.len() < rule.all.len() {
        labelled(out, "in:", &places(&defect.of), paint);
    }
    if let Some(evidence) = defect.evidence {
        event(out, view, evidence, paint);
    }
    if let Some(more) = defect.more() {
        wrap(out, INDENT, &more);
    }
}

/// What was sent, what came back, and where both stand.
fn event(out: &mut String, view: &ReportView<'_>, evidence: &Evidence, paint: Paint) {
    let (sent, returned) = labels(view, evidence);
    if let Some(before) = &evidence.sent {
        let label = if before.answered { sent } else { "last sent:" };
        folded(out, label, (&wire::escape::line(&before.text), None), paint);
    }
    if !evidence.excerpt.is_empty() {
        quote(out, returned, evidence, paint);
    }
    if let Some(trace) = &evidence.trace {
        labelled(out, "at:", &wire::escape::line(&format!("event {} of {trace}", evidence.event)), paint);
    }
}

/// What the request and the quoted event are called: a server returns what was sent to it; a client sends.
fn labels(view: &ReportView<'_>, evidence: &Evidence) -> (&'static str, &'static str) {
    let of_subject = evidence.from.is_empty() || evidence.from == view.report.subject.kind;
    let is_answer = evidence.sent.as_ref().is_some_and(|sent| sent.answered);
    match (view.report.subject.kind, of_subject, is_answer) {
        ("client", true, _) => ("served:", "client:"),
        ("client", false, _) => ("client:", "served:"),
        (_, true, true) => ("sent:", "returned:"),
        (_, true, false) => ("sent:", "server:"),
        // The end of a connection is nothing that was sent.
        (_, false, _) if evidence.excerpt.starts_with("closed: ") => ("sent:", "seen:"),
        (_, false, _) => ("sent:", "sent:"),
    }
}

/// The excerpt with a caret line under its offending part.
pub(super) fn quote(out: &mut String, label: &str, evidence: &Evidence, paint: Paint) {
    folded(out, label, (&evidence.excerpt, evidence.caret.clone()), paint);
}

/// A quotation folded to the width of the page: it may have no spaces.
fn folded(out: &mut String, label: &str, (text, caret): (&str, Option<Range<usize>>), paint: Paint) {
    let mut label = label;
    for (line, marks) in marked(text, caret, WIDTH - INDENT - LABEL) {
        let line = format!("{:INDENT$}{}{line}", "", paint.dim(&format!("{label:LABEL$}")));
        let _ = writeln!(out, "{}", line.trim_end());
        label = "";
        if !marks.is_empty() {
            let _ = writeln!(out, "{:width$}{}", "", paint.red(&marks), width = INDENT + LABEL);
        }
    }
}

/// How to fix it, where it is said, and how to see it again.
fn ways_out(out: &mut String, view: &ReportView<'_>, first: &Finding, paint: Paint) {
    if let Some(rule) = view.rule(first).filter(|rule| !rule.fix.is_empty()) {
        labelled(out, "fix:", rule.fix, paint);
    }
    let whole = |out: &mut String, label: &str, text: &str| {
        let label = paint.dim(&format!("{label:LABEL$}"));
        let _ = writeln!(out, "{:INDENT$}{label}{}", "", wire::escape::line(text));
    };
    whole(out, "spec:", &first.url);
    if let Some(repro) = &first.repro {
        whole(out, "reproduce:", repro);
    }
    if let Some(curl) = curl(first) {
        whole(out, "curl:", curl);
    }
    if let Some(note) = secret_note(first) {
        labelled(out, "", note, paint);
    }
}

fn labelled(out: &mut String, label: &str, text: &str, paint: Paint) {
    hanging(out, INDENT, (&paint.dim(&format!("{label:LABEL$}")), LABEL), text);
}

/// Known findings, those of one reason together.
pub(super) fn known<'r>(out: &mut String, view: &ReportView<'r>, paint: Paint) {
    let mut reasons: Vec<(&str, Vec<&'r Finding>)> = Vec::new();
    for finding in &view.report.results {
        let Disposition::Known(reason) = view.disposition(finding) else { continue };
        let reason = reason.unwrap_or("no reason given");
        match reasons.iter_mut().find(|(one, _)| *one == reason) {
            Some((_, findings)) => findings.push(finding),
            None => reasons.push((reason, vec![finding])),
        }
    }
    for (reason, findings) in &reasons {
        let mut rules: Vec<_> = findings.iter().map(|finding| finding.rule).collect();
        rules.dedup();
        hanging(out, 0, (&paint.dim(KNOWN), KNOWN.len()), &rules.join(", "));
        wrap(out, KNOWN.len(), &wire::escape::line(reason));
        let mut whole: Vec<_> = findings.iter().filter(|one| view.is_known_whole(one)).map(|one| one.rule).collect();
        whole.dedup();
        if !whole.is_empty() {
            let all = whole.len() == rules.len();
            let which = if all { "Each".to_owned() } else { whole.join(", ") };
            wrap(out, KNOWN.len(), &format!("{which}: {WHOLE} (no `defects` in the entry)."));
        }
    }
    if !reasons.is_empty() {
        out.push('\n');
    }
}
