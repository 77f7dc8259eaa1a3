//! For people: what is not as expected, with the difference and where it was expected; then one line of sums.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;
use similar::{ChangeTag, TextDiff};
use wire::escape;
use workbench::test::{Failure, Place, Played, Tally, Tried, Verdict};

use super::super::text::{Paint, wrap};

/// How many lines of a difference are shown.
const LINES: usize = 60;

/// How it is shown.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    pub(crate) paint: Paint,
    /// Whether every case is listed.
    pub(crate) verbose: bool,
}

pub(crate) fn render(played: &[Played], elapsed: Duration, style: Style) -> String {
    let mut out = String::new();
    for file in played {
        let name = escape::line(&file.path.to_string_lossy()).into_owned();
        for place in &file.places {
            of_place(&mut out, &name, place, style);
        }
    }
    let Tally { passed, failed, expected_failures, skipped } = Tally::of(played);
    let mut words = vec![style.paint.green(&format!("{passed} passed"))];
    if failed > 0 {
        words.push(style.paint.red(&format!("{failed} failed")));
    }
    if expected_failures > 0 {
        words.push(format!("{expected_failures} failed as expected"));
    }
    if skipped > 0 {
        words.push(format!("{skipped} skipped"));
    }
    let _ = writeln!(out, "{} in {:.2} s", words.join(", "), elapsed.as_secs_f64());
    out
}

fn of_place(out: &mut String, file: &str, place: &Place, style: Style) {
    let mut inside = String::new();
    if let Some(why) = &place.hindered {
        let _ = writeln!(inside, "  {}", style.paint.red("not tried"));
        for line in why.to_string().lines() {
            let _ = writeln!(inside, "    {}", escape::line(line));
        }
    }
    for case in &place.cases {
        of_case(&mut inside, file, case, style);
    }
    let (tried, place) = (place.cases.len(), super::place(place));
    let _ = writeln!(out, "{} – {place}, {tried} case{}", style.paint.bold(file), if tried == 1 { "" } else { "s" });
    out.push_str(&inside);
    if !inside.is_empty() {
        out.push('\n');
    }
}

fn of_case(out: &mut String, file: &str, case: &Tried, style: Style) {
    let paint = style.paint;
    let name = escape::line(&case.name);
    let took = paint.dim(&format!("{:.0} ms", case.elapsed.as_secs_f64() * 1000.0));
    let mut told = |word: &str, why: &str| {
        let _ = writeln!(out, "  {word:<5}  {name}");
        wrap(out, 9, &escape::line(why));
    };
    match &case.verdict {
        Verdict::Passed | Verdict::Skipped(_) | Verdict::ExpectedFailure(_) if !style.verbose => {}
        Verdict::Passed => _ = writeln!(out, "  {}     {name}  {took}", paint.green("ok")),
        Verdict::Skipped(why) => told("skip", why),
        Verdict::ExpectedFailure(why) => told("xfail", why),
        Verdict::Failed(failures) => {
            let _ = writeln!(out, "  {}   {name}  {took}", paint.red("FAIL"));
            for failure in failures {
                of_failure(out, file, failure, paint);
            }
        }
    }
}

fn of_failure(out: &mut String, file: &str, failure: &Failure, paint: Paint) {
    let at = failure.path.as_ref().map(|path| format!("  at {}", escape::line(path))).unwrap_or_default();
    let _ = writeln!(out, "    {}", paint.dim(&format!("{file}:{}:{}{at}", failure.at.line, failure.at.column)));
    if let (Some(wanted), Some(found)) = (&failure.exactly, &failure.value) {
        let (wanted, found) = (lines(wanted), lines(found));
        if wanted.lines().count() > 1 || found.lines().count() > 1 {
            difference(out, &wanted, &found, paint);
            return;
        }
    }
    for (word, text) in [("expected", &failure.wanted), ("found", &failure.found)] {
        let text: Vec<String> = text.lines().map(|line| escape::line(line).into_owned()).collect();
        let _ = writeln!(out, "      {word:<9} {}", text.join("\n                "));
    }
}

/// A value as lines: a text as it is, anything else as JSON.
fn lines(value: &Value) -> String {
    let text = match value {
        Value::String(text) if text.contains('\n') => text.clone(),
        value => serde_json::to_string_pretty(value).unwrap_or_default(),
    };
    let shown = |line: &str| {
        let cut: String = line.chars().take(200).collect();
        escape::line(&cut).into_owned() + if cut.len() < line.len() { "…" } else { "" }
    };
    text.lines().map(shown).collect::<Vec<_>>().join("\n")
}

fn difference(out: &mut String, wanted: &str, found: &str, paint: Paint) {
    let _ = writeln!(out, "      {} {}", paint.green("- expected"), paint.red("+ found"));
    let diff = TextDiff::from_lines(wanted, found);
    let mut shown = 0;
    for group in diff.grouped_ops(2) {
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            shown += 1;
            if shown > LINES {
                out.push_str("      …\n");
                return;
            }
            let line = change.value().trim_end_matches('\n');
            let _ = match change.tag() {
                ChangeTag::Equal => writeln!(out, "        {line}"),
                ChangeTag::Delete => writeln!(out, "      {}", paint.green(&format!("- {line}"))),
                ChangeTag::Insert => writeln!(out, "      {}", paint.red(&format!("+ {line}"))),
            };
        }
    }
}
