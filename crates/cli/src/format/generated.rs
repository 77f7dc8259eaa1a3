//! The summary of `proof generate`.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use suite::generate::{Case, Generated, Verdict};
use unicode_width::UnicodeWidthStr as _;

use report::render::text::{WIDTH, wrap};

/// How many lines of one kind are shown.
const SHOWN: usize = 40;

/// As text.
pub(crate) fn human(made: &Generated, path: Option<&Path>) -> String {
    let tally = made.tally();
    let text = |name: &str| made.server.as_ref().and_then(|server| server[name].as_str()).unwrap_or("?");
    let file = path.map_or_else(|| "the file".to_owned(), |path| path.display().to_string());
    let (name, version) = (wire::escape::snippet(text("name"), 60), wire::escape::snippet(text("version"), 40));
    let (revision, transport) = (made.revision, made.transport);
    let cases = if tally.played == 1 { "case" } else { "cases" };
    let of = format!("{} {cases} for {name} {version} at {revision} over {transport}, all pass", tally.played);
    let mut out = String::new();
    line(&mut out, 0, &format!("{}: {of}", wire::escape::line(&file)));
    let fitting = tally.played - tally.refused - tally.accepted;
    let valid = if fitting == 1 { "valid request, which expects" } else { "valid requests, which expect" };
    let _ = writeln!(out, "  {fitting:>5} {valid} the answer seen both times");
    let inconclusive = tally.refused - tally.conclusive;
    let _ = writeln!(out, "  {:>5} invalid {} that the server refuses", tally.refused, requests(tally.refused));
    if inconclusive > 0 {
        let _ = writeln!(out, "  {inconclusive:>5}   of them inconclusive: the server also refuses the valid request");
    }
    let accepted = requests(tally.accepted);
    let _ = writeln!(out, "  {:>5} invalid {accepted} that the server accepts (xfail)", tally.accepted);
    let _ = writeln!(out, "  {:>5} written but skipped, {} not written", tally.skipped, tally.omitted);
    named(&mut out, "Invalid but accepted", made, &|case| case.verdict == Verdict::Accepted);
    let skipped = |case: &Case| match &case.verdict {
        Verdict::Skipped(why) => Some(why.clone()),
        _ => None,
    };
    counted(&mut out, "Skipped", made, &skipped);
    let left = |case: &Case| match &case.verdict {
        Verdict::Omitted(why) => Some(why.clone()),
        _ => None,
    };
    counted(&mut out, "Not written", made, &left);
    for note in &made.notes {
        line(&mut out, 0, &format!("note: {}", wire::escape::line(note)));
    }
    out
}

fn requests(count: usize) -> &'static str {
    if count == 1 { "request" } else { "requests" }
}

/// A line after `indent` spaces; the rest of a long line is indented further.
fn line(out: &mut String, indent: usize, text: &str) {
    if indent + text.width() <= WIDTH {
        let _ = writeln!(out, "{:indent$}{text}", "");
        return;
    }
    let mut lines = String::new();
    wrap(&mut lines, indent + 4, text);
    let _ = write!(out, "{:indent$}{}", "", lines.trim_start());
}

/// The names of cases.
fn named(out: &mut String, heading: &str, made: &Generated, select: &dyn Fn(&Case) -> bool) {
    let all: Vec<&Case> = made.cases.iter().filter(|case| select(case)).collect();
    if all.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{heading}");
    for case in all.iter().take(SHOWN) {
        line(out, 2, &case.planned.name);
    }
    if all.len() > SHOWN {
        let _ = writeln!(out, "  and {} more", all.len() - SHOWN);
    }
}

/// Reasons, each with its first case and the number of others.
fn counted(out: &mut String, heading: &str, made: &Generated, why: &dyn Fn(&Case) -> Option<String>) {
    let mut reasons: Vec<(String, &Case, usize)> = Vec::new();
    for case in &made.cases {
        let Some(reason) = why(case) else { continue };
        match reasons.iter_mut().find(|(known, ..)| *known == reason) {
            Some((.., count)) => *count += 1,
            None => reasons.push((reason, case, 1)),
        }
    }
    if reasons.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{heading}");
    for (reason, first, count) in reasons.iter().take(SHOWN) {
        let others = if *count > 1 { format!(", and {} more", count - 1) } else { String::new() };
        line(out, 2, &wire::escape::snippet(reason, 160));
        line(out, 4, &format!("{}{others}", first.planned.name));
    }
    if reasons.len() > SHOWN {
        let _ = writeln!(out, "  and {} more reasons", reasons.len() - SHOWN);
    }
}

/// One JSON document.
pub(crate) fn json(made: &Generated, path: &Path) -> String {
    let tally = made.tally();
    let cases: Vec<Value> = made.cases.iter().map(one).collect();
    let document = json!({
        "schema": "proof.generate/1",
        "proof": env!("CARGO_PKG_VERSION"),
        "file": path.to_string_lossy(),
        "server": made.server,
        "revision": made.revision.as_str(),
        "transport": made.transport.to_string(),
        "summary": {
            "played": tally.played,
            "refused": tally.refused,
            "conclusive": tally.conclusive,
            "accepted": tally.accepted,
            "skipped": tally.skipped,
            "left": tally.omitted,
        },
        "cases": cases,
        "notes": made.notes,
    });
    format!("{}\n", wire::escape::json(&serde_json::to_string_pretty(&document).unwrap_or_default()))
}

fn one(case: &Case) -> Value {
    let (verdict, why) = match &case.verdict {
        Verdict::Expect { .. } => ("expected", None),
        Verdict::Accepted => ("accepted", None),
        Verdict::Skipped(why) => ("skipped", Some(why)),
        Verdict::Omitted(why) => ("left", Some(why)),
    };
    json!({
        "name": case.planned.name,
        "primitive": case.planned.primitive,
        "constraint": case.planned.constraint,
        "violation": case.planned.violation,
        "sort": case.planned.sort,
        "negative": case.planned.is_negative(),
        "conclusive": case.conclusive,
        "verdict": verdict,
        "why": why,
    })
}
