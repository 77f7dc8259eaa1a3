//! Every answer: what a wrong one lacks, and next to it what the other run answered to the same case.

use std::collections::HashMap;
use std::fmt::Write as _;

use eval::score::Finding;
use eval::summary::Answered;
use report::render::html::text::Text;
use wire::escape::snippet;
use wire::redact::Redactor;

use super::super::{Report, redacted};
use super::{NAME, nth};

/// How many wrong and correct answers are shown, how many findings of one, and how much of a value.
const WRONG: usize = 1_000;
const RIGHT: usize = 2_000;
const FINDINGS: usize = 20;
const VALUE: usize = 400;

/// The answers of the other run, by case and attempt.
type Others<'r> = HashMap<(&'r str, usize), &'r Answered>;

/// The section.
pub(super) fn section(out: &mut String, report: &Report<'_>, redactor: &Redactor) {
    let answers = &report.scores.answers;
    if answers.is_empty() {
        return;
    }
    let others: Option<Others<'_>> = report
        .before
        .map(|before| before.answers.iter().map(|answer| ((answer.case.as_str(), answer.attempt), answer)).collect());
    let (right, wrong): (Vec<&Answered>, Vec<&Answered>) = answers.iter().partition(|answer| answer.scored.passes());
    // What the other run lacks is worth a look although this one is right.
    let (lost, right): (Vec<&Answered>, Vec<&Answered>) = right
        .into_iter()
        .partition(|answer| other(others.as_ref(), answer).is_some_and(|other| !other.scored.passes()));
    for (title, list) in [("Wrong answers", &wrong), ("Wrong in the other run alone", &lost)] {
        if list.is_empty() {
            continue;
        }
        let _ = writeln!(out, "<section>\n<h2>{title}</h2>");
        for answer in list.iter().take(WRONG) {
            of_case(out, report, answer, others.as_ref(), redactor);
        }
        if list.len() > WRONG {
            let _ = writeln!(out, "<p>and {} more (--format json)</p>", list.len() - WRONG);
        }
        out.push_str("</section>\n");
    }
    correct(out, &right);
}

fn other<'r>(others: Option<&Others<'r>>, answer: &Answered) -> Option<&'r Answered> {
    others?.get(&(answer.case.as_str(), answer.attempt)).copied()
}

fn of_case(out: &mut String, report: &Report<'_>, answer: &Answered, others: Option<&Others<'_>>, redactor: &Redactor) {
    let passes = answer.scored.passes();
    let (class, word) = if passes { ("p", "pass") } else { ("f", "FAIL") };
    let _ = writeln!(
        out,
        "<div class=\"case {class}\"><p><b>{word}</b> {}{} <span>{}:{}</span></p>",
        Text(&snippet(&answer.case, NAME)),
        nth(answer.attempt),
        Text(&report.file.to_string_lossy()),
        answer.line
    );
    if others.is_none() {
        side(out, None, answer, redactor);
    } else {
        out.push_str("<div class=\"sides\">\n");
        side(out, Some("this run"), answer, redactor);
        match other(others, answer) {
            Some(other) => side(out, Some("other run"), other, redactor),
            None => out.push_str("<div><p><small>other run</small> no answer</p></div>\n"),
        }
        out.push_str("</div>\n");
    }
    out.push_str("</div>\n");
}

/// One run's answer: the outcome, and expected against given.
fn side(out: &mut String, name: Option<&str>, answer: &Answered, redactor: &Redactor) {
    let scored = &answer.scored;
    let name = name.map(|name| format!("<small>{name}</small> ")).unwrap_or_default();
    let _ = writeln!(out, "<div><p>{name}{} <small>score {:.2}</small></p>", scored.outcome, scored.score);
    for finding in scored.findings.iter().take(FINDINGS) {
        difference(out, finding, redactor);
    }
    if scored.findings.len() > FINDINGS {
        let _ = writeln!(out, "<p><small>and {} more</small></p>", scored.findings.len() - FINDINGS);
    }
    for note in answer.notes.iter().take(FINDINGS) {
        let note = snippet(&redactor.redact_text(note), VALUE);
        let _ = writeln!(out, "<p><small>note: {}</small></p>", Text(&note));
    }
    out.push_str("</div>\n");
}

fn difference(out: &mut String, finding: &Finding, redactor: &Redactor) {
    let text = |text: &str| snippet(&redacted(redactor, finding, text), VALUE);
    let _ = writeln!(
        out,
        "<p class=\"place\"><code>{} {}</code> <small>{}</small></p>\n<pre><span class=\"p\">expected  {}</span>\n<span class=\"f\">given     {}</span>\n</pre>",
        Text(&snippet(&finding.tool, NAME)),
        Text(&snippet(&finding.pointer, NAME)),
        finding.outcome,
        Text(&text(&finding.expected)),
        Text(&text(&finding.actual))
    );
}

fn correct(out: &mut String, right: &[&Answered]) {
    if right.is_empty() {
        return;
    }
    let _ = writeln!(out, "<details><summary>{} correct</summary>\n<table>", right.len());
    for answer in right.iter().take(RIGHT) {
        let name = snippet(&answer.case, NAME);
        let _ = writeln!(out, "<tr class=\"p\"><td>pass</td><td>{}{}</td></tr>", Text(&name), nth(answer.attempt));
    }
    out.push_str("</table>\n");
    if right.len() > RIGHT {
        let _ = writeln!(out, "<p>and {} more</p>", right.len() - RIGHT);
    }
    out.push_str("</details>\n");
}
