//! The report as text: each failure with its difference and its place in the file, then one line of totals.

use std::fmt::Write as _;
use std::time::Duration;

use suite::test::{CaseResult, Failure, FileResult, MatrixRun, Tally, Verdict};
use wire::escape;

use super::coverage;
use super::difference::{self, Line};
use report::render::text::{Paint, wrap};

/// How the report is shown.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    pub(crate) paint: Paint,
    /// Whether every case is listed.
    pub(crate) verbose: bool,
}

pub(crate) fn render(played: &[FileResult], elapsed: Duration, style: Style) -> String {
    let mut out = String::new();
    for file in played {
        let name = escape::line(&file.path.to_string_lossy()).into_owned();
        for place in &file.runs {
            of_place(&mut out, &name, place, style);
        }
    }
    let tally = Tally::of(played);
    let mut words = super::sums(tally);
    words[0] = style.paint.green(&words[0]);
    if tally.failed > 0 {
        words[1] = style.paint.red(&words[1]);
    }
    let covered = coverage::lines(played);
    if !covered.is_empty() {
        let _ = writeln!(out, "\n{covered}");
    }
    let _ = writeln!(out, "{} in {:.2} s", words.join(", "), elapsed.as_secs_f64());
    out
}

fn of_place(out: &mut String, file: &str, place: &MatrixRun, style: Style) {
    let mut inside = String::new();
    if let Some(why) = &place.not_run {
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

fn of_case(out: &mut String, file: &str, case: &CaseResult, style: Style) {
    let paint = style.paint;
    let name = escape::line(&case.name);
    let took = paint.dim(&format!("{:.0} ms", case.elapsed.as_secs_f64() * 1000.0));
    let mut line = |word: &str, why: &str| {
        let _ = writeln!(out, "  {word:<5}  {name}");
        wrap(out, 9, &escape::line(why));
    };
    match &case.verdict {
        Verdict::Passed | Verdict::Skipped(_) | Verdict::ExpectedFailure(_) if !style.verbose => {}
        Verdict::Passed => _ = writeln!(out, "  {}     {name}  {took}", paint.green("ok")),
        Verdict::Skipped(why) => line("skip", why),
        Verdict::ExpectedFailure(why) => line("xfail", why),
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
    let lines = difference::of(failure);
    if !matches!(lines.first(), Some(Line::Labelled(..))) {
        let _ = writeln!(out, "      {} {}", paint.green("- expected"), paint.red("+ found"));
    }
    for line in lines {
        let _ = match line {
            Line::Same(line) => writeln!(out, "        {line}"),
            Line::Expected(line) => writeln!(out, "      {}", paint.green(&format!("- {line}"))),
            Line::Found(line) => writeln!(out, "      {}", paint.red(&format!("+ {line}"))),
            Line::Labelled(word, line) => writeln!(out, "      {word:<9} {line}"),
            Line::More => writeln!(out, "      …"),
        };
    }
}
