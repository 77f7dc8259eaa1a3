//! What `proof generate` made, told.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use workbench::generate::{Case, Generated, Verdict};

/// How many lines of one sort are shown.
const SHOWN: usize = 40;

/// For people.
pub(crate) fn human(made: &Generated, path: Option<&Path>) -> String {
    let tally = made.tally();
    let text = |name: &str| made.server.as_ref().and_then(|server| server[name].as_str()).unwrap_or("?");
    let file = path.map_or_else(|| "the file".to_owned(), |path| path.display().to_string());
    let mut out = format!(
        "{}: {} cases for {} {} at {} over {}, all pass\n",
        wire::escape::line(&file),
        tally.played,
        wire::escape::snippet(text("name"), 60),
        wire::escape::snippet(text("version"), 40),
        made.revision,
        made.transport
    );
    let fitting = tally.played - tally.refused - tally.accepted;
    let _ = writeln!(out, "  {fitting:>5} fit, and expect what was seen each time");
    let beside = tally.refused - tally.conclusive;
    let _ = writeln!(out, "  {:>5} break something and are refused", tally.refused);
    if beside > 0 {
        let _ = writeln!(out, "  {beside:>5}   of them prove little: their like that fits is refused, too");
    }
    let _ = writeln!(out, "  {:>5} break something and are accepted (xfail)", tally.accepted);
    let _ = writeln!(out, "  {:>5} are written and skipped, {} not written", tally.skipped, tally.left);
    let why = |case: &Case| match &case.verdict {
        Verdict::Accepted => Some(String::new()),
        Verdict::Skipped(why) | Verdict::Left(why) => Some(why.clone()),
        Verdict::Expect { .. } => None,
    };
    list(&mut out, "Accepted, and must not be", made, &|case| why(case).filter(|_| case.verdict == Verdict::Accepted));
    list(&mut out, "Skipped", made, &|case| why(case).filter(|_| matches!(case.verdict, Verdict::Skipped(_))));
    list(&mut out, "Not written", made, &|case| why(case).filter(|_| matches!(case.verdict, Verdict::Left(_))));
    for note in &made.notes {
        let _ = writeln!(out, "note: {}", wire::escape::line(note));
    }
    out
}

fn list(out: &mut String, heading: &str, made: &Generated, why: &dyn Fn(&Case) -> Option<String>) {
    let all: Vec<(&Case, String)> = made.cases.iter().filter_map(|case| Some((case, why(case)?))).collect();
    if all.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{heading}");
    for (case, why) in all.iter().take(SHOWN) {
        let why = if why.is_empty() { String::new() } else { format!(" – {}", wire::escape::snippet(why, 160)) };
        let _ = writeln!(out, "  {}{why}", case.planned.name);
    }
    if all.len() > SHOWN {
        let _ = writeln!(out, "  and {} more", all.len() - SHOWN);
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
            "left": tally.left,
        },
        "cases": cases,
        "notes": made.notes,
    });
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn one(case: &Case) -> Value {
    let (verdict, why) = match &case.verdict {
        Verdict::Expect { .. } => ("expected", None),
        Verdict::Accepted => ("accepted", None),
        Verdict::Skipped(why) => ("skipped", Some(why)),
        Verdict::Left(why) => ("left", Some(why)),
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
